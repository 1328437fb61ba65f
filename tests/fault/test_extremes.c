/* SPDX-License-Identifier: MIT */
/*
 * Names, stacks and settings beyond all measure, tasks that need more stack than there is, and tasks
 * that submit without end. (FAULT-17, FAULT-18, FAULT-23, FAULT-26, FAULT-37, FAULT-40, FAULT-42)
 */
#define _GNU_SOURCE
#include "forkjoin.h"
#include "rota_test_internal.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* -- The environment ---------------------------------------------------------------------- */

static void common_pool_is_usual(void *value)
{
    unsigned usual = rota_cpu_count() > 1 ? rota_cpu_count() - 1 : 1;

    test_check(setenv("ROTA_COMMON_PARALLELISM", value, 1) == 0);
    test_check(test_fj_stats(rota_common_pool()).parallelism == usual);
}

/* FAULT-08, FAULT-18 */
TEST(a_setting_of_ten_kilobytes_is_ignored)
{
    char digits[10240], letters[10240], odd[] = "1e99";

    memset(digits, '9', sizeof digits);
    memset(letters, '\xff', sizeof letters);
    digits[sizeof digits - 1] = letters[sizeof letters - 1] = '\0';
    assert_int_equal(test_in_child(common_pool_is_usual, digits), 0);
    assert_int_equal(test_in_child(common_pool_is_usual, letters), 0);
    assert_int_equal(test_in_child(common_pool_is_usual, odd), 0);
}

/* -- Names -------------------------------------------------------------------------------- */

enum { MEGABYTE = 1 << 20 };

static void *ask_name(void *name)
{
    test_check(pthread_getname_np(pthread_self(), name, 16) == 0);
    return NULL;
}

static void worker_is_named(const char *pattern, const char *expected)
{
    rota_executor *pool =
        test_pool((rota_pool_options){.core_threads = 1, .threads = {.name = pattern}});
    char name[16];

    assert_ok(rota_execute(pool, ask_name, name));
    assert_ok(rota_close(pool));
    if (test_is_linux())
        assert_string_equal(name, expected);
}

/* FACT-08, FAULT-17 */
TEST(a_name_of_a_megabyte_is_cut)
{
    char *name = malloc(MEGABYTE), mine[16];

    assert_non_null(name);
    memset(name, 'x', MEGABYTE);
    name[MEGABYTE - 1] = '\0';
    worker_is_named(name, "xxxxxxxxxxxxxxx");
    memcpy(name + MEGABYTE - 3, "%u", 2);
    worker_is_named(name, "xxxxxxxxxxxxxxx");
    memcpy(name, "%u", 2);
    name[MEGABYTE - 3] = name[MEGABYTE - 2] = 'x';
    worker_is_named(name, "0xxxxxxxxxxxxxx");
    free(name);
    ask_name(mine);
    worker_is_named("", mine); /* as its maker */
}

/* POOL-63, FAULT-17: "%n" is no name. */
TEST(a_format_is_no_name)
{
    rota_pool_options options = {.core_threads = 1, .threads = {.name = "%n"}};
    rota_executor *pool = NULL;

    assert_status(rota_pool_new(&options, &pool), ROTA_EINVAL);
    options.threads.name = "%s%s%s%s%s%s%n";
    assert_status(rota_pool_new(&options, &pool), ROTA_EINVAL);
    assert_null(pool);
}

/* -- Stacks ------------------------------------------------------------------------------- */

/* FAULT-26: more than there are addresses: the task is not taken, and the next settings are. */
TEST(an_absurd_stack_refuses_the_task)
{
    const size_t sizes[] = {sizeof(size_t) > 4 ? SIZE_MAX >> 17 : SIZE_MAX / 8 * 7,
                            SIZE_MAX / 4 * 3, SIZE_MAX};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        rota_threads threads = {.stack_size = sizes[i]};
        rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1, .threads = threads});
        atomic_uint runs = 0;

        assert_status(rota_execute(pool, test_count, &runs), ROTA_EAGAIN);
        assert_ok(rota_pool_set_threads(pool, &(rota_threads){.stack_size = 0}));
        assert_ok(rota_execute(pool, test_count, &runs));
        assert_ok(rota_close(pool));
        assert_int_equal(runs, 1);
    }
}

/* FAULT-26: the least there is serves a small task; less is no stack. */
TEST(the_least_stack_is_enough_for_a_pool)
{
    size_t least = rota__os_min_stack_size();
    rota_pool_options options = {.core_threads = 1, .threads = {.stack_size = least - 1}};
    rota_executor *pool = NULL;
    atomic_uint runs = 0;

    assert_status(rota_pool_new(&options, &pool), ROTA_EINVAL);
    if (!TEST_FORKS_ARE_FOLLOWED)
        skip(); /* a sanitizer needs more */
    options.threads.stack_size = least;
    pool = test_pool(options);
    assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_close(pool));
    assert_int_equal(runs, 1);
}

static void *ask_guard(void *out)
{
    pthread_attr_t attributes;

    test_check(pthread_getattr_np(pthread_self(), &attributes) == 0);
    test_check(pthread_attr_getguardsize(&attributes, out) == 0);
    pthread_attr_destroy(&attributes);
    return NULL;
}

static rota_executor *small_stacks(int kind)
{
    const rota_threads threads = {.stack_size = 256 << 10};
    rota_executor *executor = NULL;

    if (kind == 0)
        return test_pool((rota_pool_options){.core_threads = 1, .threads = threads});
    if (kind == 1)
        return test_sched((rota_sched_options){.core_threads = 1, .threads = threads});
    if (kind == 2)
        return test_forkjoin((rota_forkjoin_options){.parallelism = 1, .threads = threads});
    assert_ok(rota_thread_per_task(&threads, &executor));
    return executor;
}

enum { KINDS = 4 };

/* FAULT-37 */
TEST(every_stack_has_a_guard)
{
    for (int kind = 0; kind < KINDS; kind++) {
        rota_executor *executor = small_stacks(kind);
        size_t guard = 0;

        assert_ok(rota_execute(executor, ask_guard, &guard));
        assert_ok(rota_close(executor));
        assert_true(guard > 0);
    }
}

static atomic_bool is_deep_enough;

static int go_deeper(int depth)
{
    volatile char frame[1000];

    frame[0] = (char)depth;
    return atomic_load(&is_deep_enough) ? 0 : go_deeper(depth + 1) + frame[0];
}

static void *overflow(void *arg)
{
    go_deeper(0);
    return arg;
}

static void run_overflow(void *kind)
{
    rota_executor *executor = small_stacks(*(int *)kind);

    test_check(rota_execute(executor, overflow, NULL) == ROTA_OK);
    rota_close(executor);
}

/* FAULT-37 */
TEST(a_task_that_overflows_its_stack_is_stopped_by_the_guard)
{
    if (!TEST_FORKS_ARE_FOLLOWED) /* a sanitizer has its own way to say so */
        skip();
    for (int kind = 0; kind < KINDS; kind++)
        assert_int_equal(test_in_child(run_overflow, &kind), -SIGSEGV);
}

/* -- A factory that is not careful -------------------------------------------------------- */

static int create_and_scribble(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                               void *arg, void *ctx)
{
    pthread_t thread;
    int error = pthread_create(&thread, attr, start, arg);

    memset(out, 0xa5, sizeof *out);
    return error;
}

/* FAULT-23: the library goes by what the thread itself says. */
TEST(what_a_factory_writes_is_not_relied_on)
{
    rota_executor *pool = test_pool(
        (rota_pool_options){.core_threads = 3, .threads = {.create = create_and_scribble}});
    atomic_uint runs = 0;

    for (int i = 0; i < 10; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_close(pool));
    assert_int_equal(runs, 10);
}

static int refuse_oddly(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                        void *arg, void *status)
{
    return *(int *)status;
}

/* FAULT-23 */
TEST(whatever_a_factory_returns_but_0_is_a_refusal)
{
    int statuses[] = {-1, 1, 12345678, INT_MIN, INT_MAX};

    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        rota_threads threads = {.create = refuse_oddly, .ctx = &statuses[i]};
        rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1, .threads = threads});
        atomic_uint runs = 0;

        assert_status(rota_execute(pool, test_count, &runs), ROTA_EAGAIN);
        assert_ok(rota_close(pool));
        assert_int_equal(runs, 0);
    }
}

/* -- Tasks that submit without end -------------------------------------------------------- */

enum { ROOM = 64, OFFERS = 100000, MOST_BYTES = 256 << 10 };

struct flood {
    rota_executor *pool;
    atomic_uint offered, accepted, ran;
    atomic_size_t most; /* bytes in use */
};

static void note_memory(struct flood *flood)
{
    size_t now = test_memory_bytes(), most = atomic_load(&flood->most);

    while (now > most && !atomic_compare_exchange_weak(&flood->most, &most, now))
        continue;
}

/* Two more for each that runs. */
static void *multiply(void *arg)
{
    struct flood *flood = arg;

    for (int i = 0; i < 2 && atomic_fetch_add(&flood->offered, 1) < OFFERS; i++)
        atomic_fetch_add(&flood->accepted, rota_execute(flood->pool, multiply, flood) == ROTA_OK);
    note_memory(flood);
    atomic_fetch_add(&flood->ran, 1);
    return NULL;
}

/* FAULT-42: with room for few the rest is rejected, and needs no memory. */
TEST(a_flood_of_submits_is_bounded_by_the_queue)
{
    struct flood flood = {.pool = test_small_pool(2, 2, ROOM), .accepted = 1};
    size_t before = test_memory_bytes();

    assert_ok(rota_execute(flood.pool, multiply, &flood));
    test_await_count(&flood.offered, OFFERS);
    assert_ok(rota_close(flood.pool));
    assert_int_equal(flood.ran, flood.accepted);
    assert_true(flood.accepted < OFFERS);
    assert_true(flood.most - before < MOST_BYTES);
}

/* -- Tasks that come again without end ---------------------------------------------------- */

enum { BOUND = 64 + 1, GIVE_UP = 1000000 };

struct chain {
    rota_executor *pool;
    atomic_uint links;
    atomic_uint outsider; /* after so many of them it ran; 0: not yet */
};

static void *next_link(void *arg)
{
    struct chain *chain = arg;
    unsigned links = atomic_fetch_add(&chain->links, 1) + 1;

    if (atomic_load(&chain->outsider) == 0 && links < GIVE_UP)
        test_check(rota_execute(chain->pool, next_link, chain) == ROTA_OK);
    return NULL;
}

static void *come_from_outside(void *arg)
{
    struct chain *chain = arg;

    atomic_store(&chain->outsider, atomic_load(&chain->links));
    return NULL;
}

/*
 * FAULT-40: its one worker always has something of its own to do: who comes from outside has a
 * turn.
 */
TEST(a_task_from_outside_is_not_starved)
{
    for (int round = 0; round < 20; round++) {
        struct chain chain = {.pool = test_forkjoin_of(1)};
        unsigned links;

        assert_ok(rota_execute(chain.pool, next_link, &chain));
        test_await_count(&chain.links, 1);
        assert_ok(rota_execute(chain.pool, come_from_outside, &chain));
        links = atomic_load(&chain.links);
        test_await_count(&chain.outsider, 1);
        assert_ok(rota_close(chain.pool));
        assert_in_range(chain.outsider, 1, links + BOUND);
    }
}
