/* SPDX-License-Identifier: MIT */
/*
 * run.c - runs the registered tests through cmocka, each inside its fixture. leftovers.c ends what a
 * test has left; then the memory in use must be as before the test.
 */
#include "rota_test.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Not in the library as it is shipped, which a ROTA_TEST_PUBLIC test is linked to. */
__attribute__((weak)) void rota__blocks_flush(void);

/* -- Registration --------------------------------------------------------------------------- */

static test_case *cases; /* by file and line */
static bool (*before_all)(void);

static bool stands_before(const test_case *a, const test_case *b)
{
    int order = strcmp(a->file, b->file);

    return order != 0 ? order < 0 : a->line < b->line;
}

/* The compiler may call constructors in any order, so that the line decides. */
void test_register(test_case *test)
{
    test_case **at = &cases;

    while (*at != NULL && stands_before(*at, test))
        at = &(*at)->next;
    test->next = *at;
    *at = test;
}

void test_register_before(bool (*before)(void))
{
    before_all = before;
}

/* -- One test ------------------------------------------------------------------------------- */

/* One test in one kind: cmocka's initial state. */
typedef struct run {
    const test_case *test;
    test_kind kind;
    char *name; /* allocated, if it contains the kind's name */
} run;

static const run *current;
static bool has_returned; /* false: an assertion failed, or the test was skipped */
static size_t live_before;

static void flush_cache(void)
{
    if (rota__blocks_flush != NULL)
        rota__blocks_flush();
}

static int set_up(void **state)
{
    const test_fixture *fixture;

    current = *state;
    fixture = current->test->fixture;
    has_returned = false;
    flush_cache();
    live_before = test_memory_live();
    *state = (void *)(uintptr_t)current->kind.value;
    int status = fixture->setup != NULL ? fixture->setup(state) : 0;
    test_leftovers_begin();
    return status;
}

/*
 * After a failed assertion threads may still use variables of the test. The teardown runs where the
 * frame of run_current was. The gap keeps it from writing over the frame of the test.
 */
enum { FRAME_GAP = 1 << 16 };

static void run_current(void **state)
{
    const test_fixture *fixture = current->test->fixture;
    volatile char gap[FRAME_GAP];

    gap[0] = 0;
    if (fixture->call != NULL)
        fixture->call(current->test->run, state);
    else
        current->test->run(state);
    has_returned = gap[0] == 0;
}

time_t test_seconds_to_free = 10;

/* A thread that has left its pool may still give back its blocks, so that this waits. */
static int compare_memory(void)
{
    time_t end = time(NULL) + test_seconds_to_free;

    flush_cache();
    while (test_memory_live() > live_before && time(NULL) < end) {
        sched_yield();
        flush_cache();
    }
    size_t live = test_memory_live();
    if (live <= live_before) /* less, if an earlier test's threads have freed theirs meanwhile */
        return 0;
    print_error("%zu blocks in use before the test, %zu after\n", live_before, live);
    return -1;
}

static int tear_down(void **state)
{
    const test_fixture *fixture = current->test->fixture;
    bool have_ended = test_leftovers_end(!has_returned);
    int status = fixture->teardown != NULL ? fixture->teardown(state) : 0;

    if (!have_ended)
        return -1;
    if (status != 0 || !has_returned || rota__blocks_flush == NULL)
        return status;
    return fixture->keeps_memory || current->kind.keeps_memory ? 0 : compare_memory();
}

const test_fixture test_keeping_memory = {.keeps_memory = true};

/* -- Groups of tests ------------------------------------------------------------------------ */

static size_t count_cases(void)
{
    size_t count = 0;

    for (const test_case *test = cases; test != NULL; test = test->next)
        count++;
    return count;
}

static char *name_in_kind(const test_case *test, const test_kind *kind)
{
    size_t size = strlen(kind->name) + strlen(test->name) + sizeof ": ";
    char *name = malloc(size);

    test_check(name != NULL);
    snprintf(name, size, "%s: %s", kind->name, test->name);
    return name;
}

static bool belongs(const test_case *test, const test_fixture *fixture, const test_kind *kind)
{
    if (fixture == NULL)
        return test->fixture->kind == NULL;
    return test->fixture == fixture && (test->needs & ~kind->able) == 0;
}

/* The tests of a fixture with kinds, in one of them; NULL: all tests without kinds. */
static int run_group(const char *title, const test_fixture *fixture, test_kind kind)
{
    size_t most = count_cases(), count = 0;
    run *runs = calloc(most + 1, sizeof *runs);
    struct CMUnitTest *tests = calloc(most + 1, sizeof *tests);

    test_check(runs != NULL && tests != NULL);
    for (const test_case *test = cases; test != NULL; test = test->next) {
        if (!belongs(test, fixture, &kind))
            continue;
        run *one = &runs[count];
        *one = (run){test, kind, fixture != NULL ? name_in_kind(test, &kind) : NULL};
        const char *name = one->name != NULL ? one->name : test->name;
        tests[count++] = (struct CMUnitTest){name, run_current, set_up, tear_down, one};
    }
    int failed = count > 0 ? _cmocka_run_group_tests(title, tests, count, NULL, NULL) : 0;
    for (size_t i = 0; i < count; i++)
        free(runs[i].name);
    free(tests);
    free(runs);
    return failed;
}

static int run_kinds(const test_fixture *fixture)
{
    int failed = 0;

    for (size_t i = 0; fixture->kind(i).name != NULL; i++)
        failed += run_group(fixture->kind(i).name, fixture, fixture->kind(i));
    return failed;
}

static bool is_first_of_its_fixture(const test_case *test)
{
    const test_case *other = cases;

    while (other->fixture != test->fixture)
        other = other->next;
    return other == test;
}

int test_run_list(test_case *list)
{
    int failed;

    cases = list;
    failed = run_group("tests", NULL, (test_kind){.name = NULL});
    for (const test_case *test = cases; test != NULL; test = test->next) {
        if (test->fixture->kind != NULL && is_first_of_its_fixture(test))
            failed += run_kinds(test->fixture);
    }
    return failed;
}

int test_run_all(void)
{
    return before_all == NULL || before_all() ? test_run_list(cases) : 0;
}
