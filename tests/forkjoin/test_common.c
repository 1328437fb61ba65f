/* SPDX-License-Identifier: MIT */
/*
 * The common pool: FJ-05 to FJ-07. Each test has a process of its own, in which it is made anew.
 */
#define _GNU_SOURCE
#include "forkjoin.h"
#include "rota_test_internal.h"

#include <stdlib.h>

static void set_parallelism(const char *value)
{
    test_check(value != NULL ? setenv("ROTA_COMMON_PARALLELISM", value, 1) == 0
                             : unsetenv("ROTA_COMMON_PARALLELISM") == 0);
}

/* -- Its size ----------------------------------------------------------------------------- */

struct setting {
    const char *value;
    unsigned parallelism; /* 0: as if it were not set */
};

static void look_at_size(void *arg)
{
    const struct setting *setting = arg;
    unsigned usual = rota_cpu_count() > 1 ? rota_cpu_count() - 1 : 1;

    set_parallelism(setting->value);
    test_check(rota_common_pool() != NULL);
    test_check(rota_common_pool() == rota_common_pool());
    test_check(test_fj_stats(rota_common_pool()).parallelism
               == (setting->parallelism != 0 ? setting->parallelism : usual));
    test_check(test_fj_stats(rota_common_pool()).threads == 0);
}

/* FJ-05, FJ-07, FAULT-18 */
TEST(its_size_is_what_the_environment_says)
{
    static struct setting settings[] = {
        {NULL, 0},        {"9", 9},    {"1", 1},          {"3", 3},
        {"32767", 32767}, {"0", 1},    {"", 0},           {"x", 0},
        {"-1", 0},        {"3x", 0},   {" 3", 0},         {"3 ", 0},
        {"32768", 0},     {"0x10", 0}, {"4294967297", 0}, {"99999999999999999999999", 0},
    };

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        assert_int_equal(test_in_child(look_at_size, &settings[i]), 0);
}

/* -- It cannot be shut down --------------------------------------------------------------- */

static void is_there_still(rota_executor *pool)
{
    atomic_uint runs = 0;
    rota_future *future;

    test_check(rota_executor_state_of(pool) == ROTA_RUNNING);
    test_check(!rota_is_shutdown(pool) && !rota_is_terminated(pool));
    test_check(rota_submit(pool, test_count, &runs, &future) == ROTA_OK);
    test_check(rota_future_get(future, NULL) == ROTA_OK);
    rota_future_unref(future);
    test_check(atomic_load(&runs) == 1);
}

static void try_to_end_it(void *parallelism)
{
    rota_task_list list = {NULL, 77};

    set_parallelism(parallelism);
    rota_executor *pool = rota_common_pool();
    test_check(rota_shutdown(pool) == ROTA_ENOTSUP);
    is_there_still(pool);
    test_check(rota_shutdown_now(pool, &list) == ROTA_ENOTSUP);
    test_check(rota_shutdown_now(pool, NULL) == ROTA_ENOTSUP);
    is_there_still(pool);
    test_check(rota_close(pool) == ROTA_ENOTSUP);
    test_check(rota_close_within(pool, 0, NULL) == ROTA_ENOTSUP);
    test_check(rota_executor_free(pool) == ROTA_EBUSY);
    test_check(list.count == 77);
    is_there_still(pool);
    test_check(rota_await_termination(pool, 0) == ROTA_ETIMEDOUT);
    test_check(rota_await_termination(pool, ROTA_SEC(60)) == ROTA_ETIMEDOUT); /* it is quiet */
}

static void await_its_end(void *arg)
{
    test_gate *gate = arg;

    test_check(rota_await_termination(rota_common_pool(), ROTA_FOREVER) == ROTA_ETIMEDOUT);
    test_check(atomic_load(&gate->ended) == 1);
}

static void wait_until_it_is_quiet(void *arg)
{
    rota_ns start;
    test_gate gate;

    set_parallelism("1");
    test_gate_init(&gate);
    test_occupy(rota_common_pool(), &gate, 1);
    test_check(rota_await_termination(rota_common_pool(), 0) == ROTA_ETIMEDOUT);
    test_thread *thread = test_thread_start(await_its_end, &gate);
    test_await_parked(test_thread_handle(thread));
    test_gate_open(&gate);
    test_thread_join(thread);
    start = rota_now();
    test_check(rota_await_termination(rota_common_pool(), ROTA_HOURS(1)) == ROTA_ETIMEDOUT);
    test_check(rota_now() - start < ROTA_SEC(60)); /* there is nothing to wait for */
}

/* FJ-06: "behaves as await_quiescence and then reports not terminated". */
TEST(to_await_its_end_is_to_wait_until_it_is_quiet)
{
    assert_int_equal(test_in_child(wait_until_it_is_quiet, NULL), 0);
}

/* FJ-06 */
TEST(it_cannot_be_ended)
{
    assert_int_equal(test_in_child(try_to_end_it, "2"), 0);
    assert_int_equal(test_in_child(try_to_end_it, "0"), 0);
}

/* -- Forks from outside ------------------------------------------------------------------- */

struct look {
    rota_fj task; /* first */
    rota_executor *pool;
    pthread_t thread;
    unsigned runs;
    int code;
};

static void look_around(rota_fj *task)
{
    struct look *look = (struct look *)task;

    look->pool = rota_fj_pool();
    look->thread = pthread_self();
    look->runs++;
    rota_fj_fail(task, look->code);
}

/* Who joins it runs it as one of the pool, if there is a place, or as a stranger. */
static void has_seen_a_pool(const struct look *look)
{
    bool is_here = pthread_equal(look->thread, pthread_self());

    test_check(look->pool == rota_common_pool() || (is_here && look->pool == NULL));
}

enum { MANY = 500 };

static void fork_outside(void *arg)
{
    static struct look looks[MANY];

    for (int i = 0; i < MANY; i++) {
        looks[i] = (struct look){.task = ROTA_FJ(look_around), .code = i % 5};
        rota_fork(&looks[i].task);
        test_check(!rota_unfork(&looks[i].task)); /* it is not in a deque of the caller's */
    }
    for (int i = 0; i < MANY; i++) {
        struct look *look = &looks[i * 7 % MANY];
        test_check(rota_join(&look->task) == (look->code != 0 ? ROTA_EFAILED : ROTA_OK));
        test_check(look->runs == 1);
        has_seen_a_pool(look);
        test_check(rota_fj_error(&look->task) == look->code);
    }
    test_check(rota_fj_pool() == NULL);
}

static void fork_outside_with(void *parallelism)
{
    set_parallelism(parallelism);
    fork_outside(NULL);
    fork_outside(NULL);
}

/* FJT-02, FJ-05, FJ-10 */
TEST(forks_from_outside_go_there)
{
    assert_int_equal(test_in_child(fork_outside_with, NULL), 0);
    assert_int_equal(test_in_child(fork_outside_with, "0"), 0);
    assert_int_equal(test_in_child(fork_outside_with, "3"), 0);
}

static void *fork_in_task(void *arg)
{
    fork_outside(arg);
    return NULL;
}

static void fork_in_a_thread_pool(void *arg)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});

    test_check(rota_execute(pool, fork_in_task, NULL) == ROTA_OK);
    test_check(rota_close(pool) == ROTA_OK);
}

/* A worker of a thread pool is outside, too. */
TEST(forks_from_a_thread_pool_go_there)
{
    assert_int_equal(test_in_child(fork_in_a_thread_pool, NULL), 0);
}

static void cancel_from_outside(void *arg)
{
    struct look queued = {.task = ROTA_FJ(look_around)}, before = queued;

    set_parallelism("0");
    rota_fork(&queued.task);
    test_check(queued.runs == 0);
    test_check(rota_fj_cancel(&queued.task));
    test_check(rota_join(&queued.task) == ROTA_ECANCELED);
    test_check(rota_fj_cancel(&before.task));
    rota_fork(&before.task);
    test_check(rota_join(&before.task) == ROTA_ECANCELED);
    test_check(queued.runs + before.runs == 0);
    test_check(test_fj_stats(rota_common_pool()).submissions == 0);
}

/* FJT-07, FJT-08 */
TEST(forks_from_outside_can_be_cancelled)
{
    assert_int_equal(test_in_child(cancel_from_outside, NULL), 0);
}

/* -- Several who join --------------------------------------------------------------------- */

struct shared {
    rota_fj task; /* first */
    test_gate gate;
    atomic_uint joined;
};

static void wait_at_gate(rota_fj *task)
{
    test_wait_at(&((struct shared *)task)->gate);
}

static void join_shared(void *arg)
{
    struct shared *shared = arg;

    test_check(rota_join(&shared->task) == ROTA_OK);
    test_check(atomic_load(&shared->gate.ended) == 1);
    atomic_fetch_add(&shared->joined, 1);
}

enum { JOINERS = 4 };

static void join_together(void *arg)
{
    struct shared shared = {.task = ROTA_FJ(wait_at_gate)};
    test_thread *threads[JOINERS];

    set_parallelism("1");
    test_gate_init(&shared.gate);
    rota_fork(&shared.task);
    test_await_count(&shared.gate.begun, 1);
    for (int i = 0; i < JOINERS; i++)
        threads[i] = test_thread_start(join_shared, &shared);
    test_check(!rota_fj_is_done(&shared.task));
    test_gate_open(&shared.gate);
    for (int i = 0; i < JOINERS; i++)
        test_thread_join(threads[i]);
    test_check(atomic_load(&shared.joined) == JOINERS);
}

/* FJT-23 */
TEST(all_who_join_are_woken)
{
    for (int i = 0; i < 20; i++)
        assert_int_equal(test_in_child(join_together, NULL), 0);
}

static void join_interrupted(void *arg)
{
    struct shared *shared = arg;

    test_check(rota_join(&shared->task) == ROTA_OK);
    test_check(atomic_load(&shared->gate.ended) == 1);
    test_check(rota_interrupted()); /* left for who asks */
}

static void interrupt_a_joiner(void *arg)
{
    struct shared shared = {.task = ROTA_FJ(wait_at_gate)};

    set_parallelism("1");
    test_gate_init(&shared.gate);
    rota_fork(&shared.task);
    test_await_count(&shared.gate.begun, 1);
    test_thread *joiner = test_thread_start(join_interrupted, &shared);
    test_await_parked(test_thread_handle(joiner));
    rota_thread_interrupt(test_thread_handle(joiner));
    test_await_parked(test_thread_handle(joiner)); /* again */
    test_gate_open(&shared.gate);
    test_thread_join(joiner);
    test_check(atomic_load(&shared.gate.interrupted) == 0);
}

/* INT-11, FJT-03: of one that sleeps in it, too. */
TEST(an_interrupt_does_not_end_a_join)
{
    assert_int_equal(test_in_child(interrupt_a_joiner, NULL), 0);
}

/* -- Without threads: FJ-07 --------------------------------------------------------------- */

static void *call_fib(void *arg)
{
    test_fib_task f = {ROTA_FJ(test_fib), 12, 0};

    test_check(rota_invoke(rota_common_pool(), &f.task) == ROTA_OK);
    test_check(f.value == 144);
    return arg;
}

static void *get_another(void *arg)
{
    rota_future *future;

    test_check(rota_submit(rota_common_pool(), call_fib, NULL, &future) == ROTA_OK);
    test_check(rota_future_get(future, NULL) == ROTA_OK);
    rota_future_unref(future);
    return arg;
}

static void sum_up(size_t begin, size_t end, void *ctx)
{
    atomic_fetch_add((atomic_size_t *)ctx, end - begin);
}

static void work_without_threads(void *arg)
{
    rota_future *future;
    void *result = NULL;
    atomic_size_t sum = 0;

    set_parallelism("0");
    call_fib(NULL);
    test_check(rota_submit(rota_common_pool(), get_another, &sum, &future) == ROTA_OK);
    test_check(!rota_future_is_done(future));
    test_check(rota_future_get(future, &result) == ROTA_OK);
    test_check(result == &sum);
    rota_future_unref(future);
    test_check(rota_parallel_for(NULL, 0, 1000, 1, sum_up, &sum) == ROTA_OK);
    test_check(atomic_load(&sum) == 1000);
    test_check(test_fj_stats(rota_common_pool()).threads == 0);
}

/* FJ-07, PAR-07 */
TEST(without_threads_who_waits_does_the_work)
{
    assert_int_equal(test_in_child(work_without_threads, NULL), 0);
}

static void wait_without_joining(void *arg)
{
    atomic_uint runs = 0;

    set_parallelism("1");
    test_check(rota_execute(rota_common_pool(), test_count, &runs) == ROTA_OK);
    test_await_count(&runs, 1);
}

/* FJ-14, FJ-05 */
TEST(with_one_thread_tasks_run_that_nobody_joins)
{
    assert_int_equal(test_in_child(wait_without_joining, NULL), 0);
}
