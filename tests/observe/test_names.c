/* SPDX-License-Identifier: MIT */
/*
 * Names of tasks: what becomes of text that is none, or too long, or changes; how names are written in
 * metrics and in a trace; when there are too many; cells that are used anew, and threads' records.
 */
#define _GNU_SOURCE
#include "observing.h"

#include <stdlib.h>

TEST_FIXTURE(.setup = observing_before, .teardown = observing_after);

static atomic_uint runs;

/* A task of that name has run. */
static void run_named(rota_executor *pool, const char *name)
{
    const rota_call call = {.fn = test_count, .arg = &runs, .name = name};
    uint64_t before = test_stats(pool).completed;
    rota_future *future;

    assert_ok(rota_submit_call(pool, &call, &future));
    assert_ok(rota_future_get(future, NULL)); /* figures alone order nothing */
    rota_future_unref(future);
    test_await_completed(pool, before + 1);
}

static void assert_known_as(const char *name, const char *expected)
{
    rota_executor *pool = observing_pool();

    run_named(pool, name);
    if (observing_task(pool, expected).completed != 1)
        fail_msg("not known as \"%s\"", expected);
    assert_ok(rota_close(pool));
}

/* -- Text ------------------------------------------------------------------------------------ */

TEST(names_are_whole_characters_that_control_nothing)
{
    assert_known_as(NULL, "");
    assert_known_as("", "");
    assert_known_as("plain", "plain");
    assert_known_as("a\nb\tc\x7f", "a?b?c?");
    assert_known_as("gr\xc3\xb6\xc3\x9f", "gr\xc3\xb6\xc3\x9f");
    assert_known_as("bad \xff \xc3+ \xed\xa0\x80", "bad ? ?+ ???");
    assert_known_as("\xc2\x85", "??");
    assert_known_as("ends in the midst \xe2\x82", "ends in the midst ??");
}

TEST(long_names_are_cut_between_characters)
{
    assert_known_as("0123456789012345678901234567890", "0123456789012345678901234567890");
    assert_known_as("01234567890123456789012345678901", "0123456789012345678901234567890");
    assert_known_as("012345678901234567890123456789\xc3\xb6", "012345678901234567890123456789");
    assert_known_as("0123456789012345678901234567\xf0\x9f\x98\x80", "0123456789012345678901234567");
    assert_known_as("012345678901234567890123456\xf0\x9f\x98\x80z",
                    "012345678901234567890123456\xf0\x9f\x98\x80");
}

/* A name is not copied when a task is submitted; but it is compared, and not only its place. */
TEST(other_text_at_the_same_place_is_another_name)
{
    rota_executor *pool = observing_pool();
    char name[ROTA_NAME_SIZE] = "first";

    run_named(pool, name);
    strcpy(name, "second");
    run_named(pool, name);
    run_named(pool, name);
    strcpy(name, "first");
    run_named(pool, name);
    assert_int_equal(observing_task(pool, "first").completed, 2);
    assert_int_equal(observing_task(pool, "second").completed, 2);
    assert_ok(rota_close(pool));
}

TEST(the_same_text_at_another_place_is_the_same_name)
{
    rota_executor *pool = observing_pool();
    char name[] = "same", copy[] = "same";

    run_named(pool, name);
    run_named(pool, copy);
    assert_int_equal(observing_task(pool, "same").completed, 2);
    assert_ok(rota_close(pool));
}

/* -- How they are written -------------------------------------------------------------------- */

TEST(names_are_escaped_in_metrics)
{
    rota_executor *pool = observing_pool();
    char *text;

    assert_ok(rota_executor_set_name(pool, "a\"b\\c{}"));
    run_named(pool, "d\"e\\f,\n");
    text = observing_printed(rota_metrics_print);
    assert_non_null(strstr(text, "rota_executor_threads{executor=\"a\\\"b\\\\c{}\",id=\""));
    assert_non_null(strstr(text, ",task=\"d\\\"e\\\\f,?\"} 1\n"));
    free(text);
    assert_ok(rota_close(pool));
}

static void *name_thread_and_count(void *name)
{
    test_check(pthread_setname_np(pthread_self(), name) == 0);
    return test_count(&runs);
}

/* Also those of threads, of which the library knows only when they first write. */
TEST(names_are_escaped_in_a_trace)
{
    rota_executor *pool = observing_pool();
    char *text;

    assert_ok(rota_observe(false));
    assert_ok(rota_execute(pool, name_thread_and_count, "t\"\\\x01\xff"));
    test_await_completed(pool, 1);
    assert_ok(rota_executor_set_name(pool, "a\"b\\c"));
    assert_ok(rota_recorder_start(NULL));
    run_named(pool, "d\"e\\f\x1f");
    text = observing_printed(rota_recorder_print);
    assert_non_null(strstr(text, "\"name\":\"d\\\"e\\\\f?\",\"cat\":\"a\\\"b\\\\c\""));
    if (test_is_linux())
        assert_non_null(strstr(text, "\"args\":{\"name\":\"t\\\"\\\\??\"}"));
    free(text);
    assert_ok(rota_close(pool));
}

/* -- Cells ----------------------------------------------------------------------------------- */

static bool lacks_memory; /* while a task is run by who submits it */

static int run_it_here(rota_executor *ex, rota_task *task, void *ctx)
{
    test_memory_fail_at(lacks_memory, true);
    int status = rota_reject_caller_runs(ex, task, ctx);
    test_memory_fail_at(0, false);
    return status;
}

/* Its one thread waits at the gate, so that this thread runs all else. */
static rota_executor *busy_pool(test_gate *gate)
{
    rota_executor *pool = test_pool((rota_pool_options){
        .core_threads = 1, .max_threads = 1, .queue = test_handoff(), .on_reject = run_it_here});

    test_gate_init(gate);
    test_occupy(pool, gate, 1);
    return pool;
}

static void run_named_here(rota_executor *pool, const char *name)
{
    assert_ok(
        rota_submit_call(pool, &(rota_call){.fn = test_count, .arg = &runs, .name = name}, NULL));
}

static void close_busy(rota_executor *pool, test_gate *gate)
{
    test_gate_open(gate);
    assert_ok(rota_close(pool));
}

/* The next whose tasks have the same places in a thread's cache. */
static rota_executor *busy_pool_like(uint32_t number, test_gate *gate)
{
    for (;;) {
        rota_executor *pool = busy_pool(gate);
        if ((pool->number - number) % ROTA__CELL_CACHE == 0)
            return pool;
        close_busy(pool, gate);
    }
}

/*
 * A thread has a cell of an executor that is gone. Without memory it uses that anew, for tasks of another
 * name: what its cache knows of it must not be taken for that executor's tasks of the old name.
 */
TEST(a_cell_that_is_used_anew_is_not_mistaken)
{
    static const char before[] = "used before", anew[] = "used anew";
    test_gate gate;
    rota_executor *pool = busy_pool(&gate);
    uint32_t number = pool->number;

    run_named_here(pool, before);
    close_busy(pool, &gate);
    pool = busy_pool_like(number, &gate);
    lacks_memory = true;
    run_named_here(pool, anew);
    lacks_memory = false;
    run_named_here(pool, before);
    assert_int_equal(observing_task(pool, anew).completed, 1);
    assert_int_equal(observing_task(pool, before).completed, 1);
    close_busy(pool, &gate);
}

/* Without memory a task runs all the same, and is not timed. */
TEST(without_memory_a_task_is_missed)
{
    test_gate gate;
    rota_executor *pool = busy_pool(&gate);
    unsigned before = atomic_load(&runs);

    lacks_memory = true;
    run_named_here(pool, "missed");
    lacks_memory = false;
    assert_int_equal(runs, before + 1);
    assert_null(observing_task(pool, "missed").name);
    run_named_here(pool, "missed");
    assert_int_equal(observing_task(pool, "missed").completed, 1);
    close_busy(pool, &gate);
}

/* -- Many ------------------------------------------------------------------------------------ */

/* The last test: a process has so many names and no more. */
TEST(names_beyond_the_most_are_other)
{
    static char names[ROTA_OBSERVED_NAMES + 2][ROTA_NAME_SIZE];
    rota_executor *pool = observing_pool();
    observing_search search = {.name = "other"};

    for (unsigned i = 0; i < ROTA_OBSERVED_NAMES; i++) {
        snprintf(names[i], sizeof names[i], "many %u", i);
        run_named(pool, names[i]);
    }
    assert_ok(rota_figures_by_task(pool, observing_compare, &search));
    uint64_t others = search.found.completed;
    assert_int_equal(search.visited + others, ROTA_OBSERVED_NAMES + (others > 0));

    run_named(pool, "one more");
    run_named(pool, "other"); /* its own name */
    assert_int_equal(observing_task(pool, "other").completed, others + 2);
    assert_null(observing_task(pool, "one more").name);
    run_named(pool, "many 0");
    assert_int_equal(observing_task(pool, "many 0").completed, 2);
    assert_ok(rota_close(pool));
}
