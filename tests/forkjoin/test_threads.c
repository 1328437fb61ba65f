/* SPDX-License-Identifier: MIT */
/*
 * Workers come and go: when they are idle, when they cannot be made, when a task ends its thread.
 */
#include "forkjoin.h"
#include "rota_test_internal.h"

#include <errno.h>

/* -- Idle workers ------------------------------------------------------------------------- */

static rota_executor *impatient(unsigned parallelism)
{
    return test_forkjoin((rota_forkjoin_options){.parallelism = parallelism, .keep_alive = 1});
}

/* FJ-15 */
TEST(idle_workers_go_and_are_made_again)
{
    rota_executor *pool = impatient(2);
    atomic_uint runs = 0;

    for (unsigned i = 1; i <= 20; i++) {
        assert_ok(rota_execute(pool, test_count, &runs));
        assert_ok(rota_execute(pool, test_count, &runs));
        test_await_count(&runs, 2 * i);
        test_fj_await_threads(pool, 0);
    }
    assert_ok(rota_close(pool));
}

/* Both have run something, and sleep. */
static void run_and_rest(rota_executor *pool)
{
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 2);
    test_gate_open(&gate);
    test_fj_await_active(pool, 0);
}

/* FJ-15: "default 60 s"; not before, and nobody looks meanwhile. */
TEST_WITH(test_virtual_time, idle_workers_go_when_their_time_is_up)
{
    rota_executor *pool = test_forkjoin_of(2);

    for (int i = 0; i < 2; i++) {
        run_and_rest(pool);
        test_clock_await_waiting(2);
        test_clock_advance(ROTA_SEC(60) - 1);
        assert_int_equal(test_clock_waiting(), 2);
        assert_int_equal(test_fj_stats(pool).threads, 2);
        test_clock_advance(1);
        test_fj_await_threads(pool, 0);
    }
    assert_ok(rota_close(pool));
}

/* FJ-15, GEN-15: without a time to go at they sleep until they are called. */
TEST_WITH(test_virtual_time, idle_workers_that_may_stay_wait_for_no_time)
{
    rota_executor *pool =
        test_forkjoin((rota_forkjoin_options){.parallelism = 2, .keep_alive = ROTA_FOREVER});

    run_and_rest(pool);
    assert_int_equal(test_clock_waiting(), 0);
    test_clock_advance(ROTA_HOURS(1000));
    assert_int_equal(test_fj_stats(pool).threads, 2);
    run_and_rest(pool);
    assert_int_equal(test_fj_stats(pool).threads, 2);
    assert_ok(rota_close(pool));
}

static void invoke_fib(void *pool)
{
    test_fib_task f = {ROTA_FJ(test_fib), 16, 0};

    test_check(rota_invoke(pool, &f.task) == ROTA_OK);
    test_check(f.value == 987);
}

/* FJ-08, FJ-15: they go and come in the midst of the work. */
TEST(work_is_done_by_workers_that_come_and_go)
{
    rota_executor *pool = impatient(3);

    for (int i = 0; i < 20; i++)
        invoke_fib(pool);
    test_fj_await_threads(pool, 0);
    assert_ok(rota_close(pool));
}

/* -- Callbacks ---------------------------------------------------------------------------- */

struct callbacks {
    atomic_uint starts, exits, refusals;
    unsigned allowed; /* threads, then no more */
};

static void count_start(void *ctx)
{
    atomic_fetch_add(&((struct callbacks *)ctx)->starts, 1);
}

static void count_exit(void *ctx)
{
    atomic_fetch_add(&((struct callbacks *)ctx)->exits, 1);
}

static int create_some(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                       void *arg, void *ctx)
{
    struct callbacks *callbacks = ctx;

    if (callbacks->allowed == 0) {
        atomic_fetch_add(&callbacks->refusals, 1);
        return EAGAIN;
    }
    callbacks->allowed--;
    return pthread_create(out, attr, start, arg);
}

static rota_executor *with_callbacks(struct callbacks *callbacks, unsigned parallelism)
{
    return test_forkjoin((rota_forkjoin_options){.parallelism = parallelism,
                                                 .threads = {.create = create_some,
                                                             .on_start = count_start,
                                                             .on_exit = count_exit,
                                                             .ctx = callbacks}});
}

TEST(every_thread_is_told_of_its_start_and_end)
{
    struct callbacks callbacks = {.allowed = 9};
    rota_executor *pool = with_callbacks(&callbacks, 3);
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 3);
    assert_int_equal(callbacks.starts, 3);
    assert_int_equal(callbacks.exits, 0);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(callbacks.starts, 3);
    assert_int_equal(callbacks.exits, 3);
}

struct leaver {
    rota_executor *pool;
    int awaited, closed;
};

static void await_own_pool(void *ctx)
{
    struct leaver *leaver = ctx;

    leaver->awaited = rota_await_termination(leaver->pool, ROTA_FOREVER);
    leaver->closed = rota_close(leaver->pool);
}

/* OWN-11: a thread that leaves is the pool's still. */
TEST(on_exit_cannot_wait_for_the_end_of_its_pool)
{
    struct leaver leaver = {.awaited = ROTA_OK};
    atomic_uint runs = 0;

    leaver.pool = test_forkjoin((rota_forkjoin_options){
        .parallelism = 1, .threads = {.on_exit = await_own_pool, .ctx = &leaver}});
    assert_ok(rota_execute(leaver.pool, test_count, &runs));
    assert_ok(rota_close(leaver.pool));
    assert_status(leaver.awaited, ROTA_EDEADLOCK);
    assert_status(leaver.closed, ROTA_EDEADLOCK);
}

/* -- A factory that fails ----------------------------------------------------------------- */

/* FJ-31, FJ-35 */
TEST(without_threads_the_callers_do_the_work)
{
    struct callbacks callbacks = {.allowed = 0};
    rota_executor *pool = with_callbacks(&callbacks, 2);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future = TEST_UNTOUCHED;

    assert_status(rota_execute(pool, call.fn, &probe), ROTA_EAGAIN);
    assert_status(rota_submit_call(pool, &call, &future), ROTA_EAGAIN);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_int_equal(probe.runs + probe.discards, 0);
    invoke_fib(pool);
    assert_true(callbacks.refusals > 0);
    assert_int_equal(test_fj_stats(pool).threads, 0);
    callbacks.allowed = 5;
    assert_ok(rota_submit_call(pool, &call, &future));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
    assert_ok(rota_close(pool));
    assert_int_equal(probe.runs, 1);
}

/* FJ-31: "fewer workers, no crash, no busy loop". */
TEST(with_fewer_workers_than_wanted_all_is_done)
{
    struct callbacks callbacks = {.allowed = 1};
    rota_executor *pool = with_callbacks(&callbacks, 4);
    atomic_uint runs = 0;

    for (int i = 0; i < 100; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    invoke_fib(pool);
    test_fj_inside(pool, invoke_fib, pool);
    assert_int_equal(test_fj_stats(pool).threads, 1);
    assert_ok(rota_close(pool));
    assert_int_equal(runs, 100);
}

/* FJ-31: "no busy loop": who cannot be had is asked for with what comes, and not in between. */
TEST(who_cannot_be_had_is_not_asked_for_again_and_again)
{
    enum { TASKS = 50 };
    struct callbacks callbacks = {.allowed = 1};
    rota_executor *pool = with_callbacks(&callbacks, 4);
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < TASKS; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    test_gate_open(&gate);
    assert_ok(rota_await_quiescence(pool, ROTA_FOREVER));
    assert_ok(rota_close(pool));
    assert_int_equal(runs, TASKS);
    assert_in_range(callbacks.refusals, 1, 4 * TASKS); /* as they come, and as they go */
}

enum { WAITING = 10 };

static void wait_for_tasks(void *pool)
{
    test_fj_await_submissions(pool, WAITING);
}

static void take_part(void *pool)
{
    test_fj_taking_part(pool, wait_for_tasks, pool);
}

/* FJ-31: who goes, and is left with tasks for which no worker can be made, asks for one once for each
   that it runs, and goes when there is none, or the pool is stopped. */
TEST(who_is_left_with_tasks_does_not_ask_on_and_on)
{
    for (int is_stopped = 0; is_stopped < 2; is_stopped++) {
        struct callbacks callbacks = {.allowed = 0};
        rota_executor *pool = with_callbacks(&callbacks, 1);
        test_thread *caller = test_thread_start(take_part, pool);
        atomic_uint runs = 0;
        test_gate gate;

        test_gate_init(&gate);
        test_fj_await_active(pool, 1);
        assert_ok(rota_execute(pool, test_wait_at, &gate));
        for (int i = 1; i < WAITING; i++)
            assert_ok(rota_execute(pool, test_count, &runs));
        test_await_count(&gate.begun, 1); /* by the caller, which has left */
        if (is_stopped)
            assert_ok(rota_shutdown_now(pool, NULL));
        test_gate_open(&gate);
        test_thread_join(caller);
        assert_int_equal(runs, is_stopped ? 0 : WAITING - 1);
        assert_in_range(callbacks.refusals, 1, is_stopped ? 4 : 2 * WAITING);
        assert_ok(rota_close(pool));
    }
}

static void block_without_thread(void *arg)
{
    test_check(rota_block_begin() == ROTA_EAGAIN);
    test_check(test_fj_stats(arg).running == 1);
    test_check(rota_block_begin() == ROTA_EAGAIN); /* nothing was begun */
}

/* "ROTA_EAGAIN when the system refuses one" */
TEST(without_a_thread_nobody_stands_in)
{
    struct callbacks callbacks = {.allowed = 1};
    rota_executor *pool = with_callbacks(&callbacks, 1);

    test_fj_inside(pool, block_without_thread, pool);
    assert_ok(rota_close(pool));
}
