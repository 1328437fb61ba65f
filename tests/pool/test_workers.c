/* SPDX-License-Identifier: MIT */
/*
 * Workers: when they come, how long they stay, who takes the place of one that was torn away, and
 * what disturbs them.
 */
#include "pools.h"
#include "queues.h"
#include "rota_test_internal.h"

/* -- Keep-alive: in virtual time ---------------------------------------------------------- */

/* All of max run, then wait: nobody is busy. */
static void fill_and_empty(rota_executor *pool, unsigned max)
{
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, max);
    assert_int_equal(test_stats(pool).threads, max);
    test_gate_open(&gate);
    test_await_count(&gate.ended, max);
    test_await_waiting(pool, max);
    assert_int_equal(gate.interrupted, 0);
}

/* POOL-24, POOL-44 */
TEST(idle_threads_above_core_go_after_the_keep_alive_and_no_others)
{
    test_clock_install();
    rota_executor *pool = test_pool((rota_pool_options){
        .core_threads = 4, .max_threads = 8, .keep_alive = ROTA_MS(12), .queue = test_handoff()});

    fill_and_empty(pool, 8);
    test_clock_await_waiting(8);
    test_clock_advance(ROTA_MS(12) - 1);
    assert_int_equal(test_clock_waiting(), 8);
    assert_int_equal(test_stats(pool).threads, 8);
    test_clock_advance(1);
    test_await_threads(pool, 4);
    test_await_waiting(pool, 4);
    test_clock_advance(ROTA_HOURS(1000));
    assert_int_equal(test_stats(pool).threads, 4);
    assert_int_equal(test_clock_waiting(), 0);
    assert_int_equal(test_stats(pool).largest, 8);
    assert_ok(rota_close(pool));
    test_clock_remove();
}

/* POOL-43 */
TEST(core_threads_stay_for_ever_unless_they_may_time_out)
{
    test_clock_install();
    rota_executor *pool =
        test_pool((rota_pool_options){.core_threads = 3, .keep_alive = ROTA_MS(1)});
    unsigned started;

    assert_ok(rota_pool_prestart(pool, &started));
    test_await_waiting(pool, 3);
    test_clock_advance(ROTA_HOURS(10000));
    assert_int_equal(test_stats(pool).threads, 3);
    assert_ok(rota_pool_set_core_may_time_out(pool, true));
    test_await_threads(pool, 0); /* they have been idle for long */
    assert_ok(rota_close(pool));
    test_clock_remove();
}

/* POOL-43, POOL-29: what they completed stays counted. */
TEST(core_threads_that_timed_out_come_back_on_demand)
{
    test_clock_install();
    rota_executor *pool = test_pool((rota_pool_options){
        .core_threads = 3, .keep_alive = ROTA_MS(30), .core_may_time_out = true});
    atomic_uint runs = 0;

    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 1; i <= 3; i++) {
            assert_ok(rota_execute(pool, test_count, &runs));
            assert_int_equal(test_stats(pool).threads, i);
        }
        test_clock_await_waiting(3);
        test_clock_advance(ROTA_MS(30) - 1);
        assert_int_equal(test_stats(pool).threads, 3);
        test_clock_advance(1);
        test_await_threads(pool, 0);
        assert_int_equal(test_stats(pool).completed, 3 * (round + 1));
    }
    assert_int_equal(runs, 9);
    assert_ok(rota_shutdown(pool));
    assert_true(test_options(pool).core_may_time_out);
    assert_ok(rota_close(pool));
    test_clock_remove();
}

/* POOL-42: INT64_MAX is never. */
TEST(with_an_endless_keep_alive_no_thread_goes)
{
    test_clock_install();
    rota_executor *pool = test_pool(
        (rota_pool_options){.max_threads = 2, .keep_alive = ROTA_FOREVER, .queue = test_handoff()});

    fill_and_empty(pool, 2);
    test_clock_advance(ROTA_HOURS(1000000));
    assert_int_equal(test_stats(pool).threads, 2);
    assert_int_equal(test_clock_waiting(), 0);
    assert_ok(rota_close(pool));
    test_clock_remove();
}

static bool is_empty_soon(void *pool)
{
    test_clock_advance(ROTA_MS(1));
    return test_stats(pool).threads == 0;
}

static bool has_three_soon(void *pool)
{
    test_clock_advance(ROTA_MS(1));
    return test_stats(pool).threads == 3;
}

/* POOL-42 */
TEST(a_shorter_keep_alive_is_also_for_threads_that_wait_already)
{
    test_clock_install();
    rota_executor *pool = test_pool((rota_pool_options){
        .max_threads = 3, .keep_alive = ROTA_HOURS(24), .queue = test_handoff()});
    rota_ns begin;

    fill_and_empty(pool, 3);
    test_clock_await_waiting(3);
    begin = test_clock_now();
    assert_ok(rota_pool_set_keep_alive(pool, ROTA_MS(2)));
    test_until(is_empty_soon, pool);
    assert_in_range(test_clock_now() - begin, ROTA_MS(2), ROTA_HOURS(1));
    assert_ok(rota_close(pool));
    test_clock_remove();
}

/* POOL-42: 0 is at once, also for threads that wait already; those of the core stay. */
TEST(without_a_keep_alive_from_now_on_surplus_threads_go)
{
    test_clock_install();
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1,
                                                        .max_threads = 4,
                                                        .keep_alive = ROTA_HOURS(24),
                                                        .queue = test_handoff()});
    test_gate gate;

    fill_and_empty(pool, 4);
    test_clock_await_waiting(4);
    assert_ok(rota_pool_set_keep_alive(pool, 0));
    test_await_threads(pool, 1); /* though no time passes */
    test_gate_init(&gate);
    test_occupy(pool, &gate, 3);
    test_gate_open(&gate);
    test_await_threads(pool, 1);
    assert_ok(rota_close(pool));
    test_clock_remove();
}

/* POOL-42: 1 in the options is 0 in the setter. */
TEST(with_no_keep_alive_a_surplus_thread_goes_right_after_its_task)
{
    rota_executor *pool = test_pool((rota_pool_options){
        .core_threads = 1, .max_threads = 3, .keep_alive = 1, .queue = test_handoff()});
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 3);
    test_gate_open(&gate);
    test_await_threads(pool, 1);
    assert_ok(rota_pool_set_core_threads(pool, 0));
    test_await_threads(pool, 0);
    assert_ok(rota_close(pool));
}

/* POOL-25: the last one does not go while there is something to do. */
TEST(no_task_is_left_without_a_thread_when_threads_time_out)
{
    rota_executor *pool = test_pool((rota_pool_options){.max_threads = 1, .keep_alive = 1});
    atomic_uint runs = 0;

    for (unsigned i = 0; i < 2000; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    test_await_completed(pool, 2000);
    test_await_threads(pool, 0);
    assert_int_equal(runs, 2000);
    assert_ok(rota_close(pool));
}

/* -- Resizing ----------------------------------------------------------------------------- */

/* POOL-40: "workers are started for what is queued, at most the increase". */
TEST(a_larger_core_brings_threads_for_what_is_queued)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1, .max_threads = 9});
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < 3; i++)
        assert_ok(rota_execute(pool, test_wait_at, &gate));
    assert_ok(rota_pool_set_core_threads(pool, 3));
    test_await_count(&gate.begun, 3);
    assert_int_equal(test_stats(pool).threads, 3);
    assert_ok(rota_pool_set_core_threads(pool, 9)); /* one is queued */
    test_await_count(&gate.begun, 4);
    assert_in_range(test_stats(pool).threads, 4, 5); /* one may come too late for it */
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
}

/* POOL-40 */
TEST(a_larger_core_brings_no_threads_for_nothing)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1, .max_threads = 9});

    assert_ok(rota_pool_set_core_threads(pool, 9));
    assert_int_equal(test_stats(pool).threads, 0);
    assert_ok(rota_close(pool));
}

/* POOL-40, POOL-24 */
TEST(with_a_smaller_core_idle_threads_go_after_the_keep_alive)
{
    test_clock_install();
    rota_executor *pool =
        test_pool((rota_pool_options){.core_threads = 5, .keep_alive = ROTA_MS(10)});
    unsigned started;

    assert_ok(rota_pool_prestart(pool, &started));
    test_await_waiting(pool, 5);
    assert_ok(rota_pool_set_core_threads(pool, 2));
    test_clock_await_waiting(5);
    assert_int_equal(test_stats(pool).threads, 5);
    test_clock_advance(ROTA_MS(10));
    test_await_threads(pool, 2);
    assert_ok(rota_close(pool));
    test_clock_remove();
}

/* POOL-41, INT-09 */
TEST(with_a_smaller_max_threads_go_when_they_are_idle_and_not_before)
{
    rota_executor *pool = test_pool(
        (rota_pool_options){.core_threads = 1, .max_threads = 6, .queue = test_handoff()});
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 6);
    assert_ok(rota_pool_set_max_threads(pool, 2));
    assert_int_equal(test_stats(pool).threads, 6);
    assert_int_equal(test_stats(pool).active, 6);
    test_gate_open(&gate);
    test_await_threads(pool, 2); /* although the keep-alive is a minute */
    assert_int_equal(gate.interrupted, 0);
    assert_ok(rota_close(pool));
}

/* POOL-41: those that are idle already. */
TEST(with_a_smaller_max_idle_threads_go_at_once)
{
    rota_executor *pool = test_pool((rota_pool_options){.max_threads = 6, .queue = test_handoff()});

    fill_and_empty(pool, 6);
    assert_ok(rota_pool_set_max_threads(pool, 1));
    test_await_threads(pool, 1);
    assert_ok(rota_close(pool));
}

/* POOL-41 */
TEST(with_a_larger_max_the_next_saturated_submission_adds_a_thread)
{
    rota_executor *pool = test_small_pool(1, 1, 1);
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_execute(pool, test_wait_at, &gate));
    assert_status(rota_execute(pool, test_wait_at, &gate), ROTA_EREJECTED);
    assert_ok(rota_pool_set_max_threads(pool, 2));
    assert_int_equal(test_stats(pool).threads, 1);
    test_occupy(pool, &gate, 1);
    assert_int_equal(test_stats(pool).threads, 2);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(gate.ended, 3);
}

/* POOL-41, POOL-42, POOL-43, POOL-47: everything in turn, n = 3. */
TEST(a_pool_follows_every_change_of_its_settings)
{
    test_clock_install();
    rota_executor *pool = test_pool((rota_pool_options){
        .core_threads = 3, .max_threads = 9, .keep_alive = ROTA_HOURS(1), .queue = test_array(9)});
    test_gate gate;

    test_gate_init(&gate);
    for (int i = 0; i < 18; i++)
        assert_ok(rota_execute(pool, test_wait_at, &gate));
    test_await_count(&gate.begun, 9);
    assert_int_equal(test_stats(pool).submitted, 18);
    assert_status(rota_execute(pool, test_wait_at, &gate), ROTA_EREJECTED);
    assert_ok(rota_pool_set_max_threads(pool, 12));
    test_occupy(pool, &gate, 3);
    assert_int_equal(test_stats(pool).largest, 12);
    assert_ok(rota_pool_set_max_threads(pool, 6));
    assert_int_equal(test_stats(pool).threads, 12);
    test_gate_open(&gate);
    test_await_completed(pool, 21);
    test_await_threads(pool, 6);
    assert_ok(rota_pool_set_keep_alive(pool, ROTA_MS(1)));
    test_until(has_three_soon, pool);
    test_clock_advance(ROTA_HOURS(1));
    assert_int_equal(test_stats(pool).threads, 3);
    assert_ok(rota_pool_set_core_may_time_out(pool, true));
    test_until(is_empty_soon, pool);
    assert_int_equal(gate.interrupted, 0);
    assert_int_equal(test_stats(pool).submitted, 21);
    assert_ok(rota_close(pool));
    test_clock_remove();
}

/* -- Before there are tasks --------------------------------------------------------------- */

static void starts(rota_executor *pool, int (*start)(rota_executor *, unsigned *), unsigned count,
                   unsigned threads)
{
    unsigned started = 99;

    assert_ok(start(pool, &started));
    assert_int_equal(started, count);
    assert_int_equal(test_stats(pool).threads, threads);
}

/* POOL-38 */
TEST(prestart_one_starts_one_below_core)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2, .max_threads = 6});

    starts(pool, rota_pool_prestart_one, 1, 1);
    starts(pool, rota_pool_prestart_one, 1, 2);
    starts(pool, rota_pool_prestart_one, 0, 2);
    assert_ok(rota_pool_set_core_threads(pool, 4));
    starts(pool, rota_pool_prestart_one, 1, 3);
    starts(pool, rota_pool_prestart_one, 1, 4);
    starts(pool, rota_pool_prestart_one, 0, 4);
    assert_ok(rota_close(pool));
}

/* POOL-38 */
TEST(prestart_starts_all_that_core_has)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2, .max_threads = 6});
    unsigned started = 99;

    starts(pool, rota_pool_prestart_one, 1, 1);
    starts(pool, rota_pool_prestart, 1, 2);
    starts(pool, rota_pool_prestart, 0, 2);
    assert_ok(rota_pool_set_core_threads(pool, 6));
    starts(pool, rota_pool_prestart, 4, 6);
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_pool_prestart(pool, &started));
    assert_int_equal(started, 0);
    assert_ok(rota_close(pool));
}

/* POOL-21: they fetch from the queue. */
TEST(prestarted_threads_run_what_comes)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 3});
    atomic_uint runs = 0;

    starts(pool, rota_pool_prestart, 3, 3);
    test_await_waiting(pool, 3);
    for (int i = 0; i < 30; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    test_await_completed(pool, 30);
    assert_int_equal(test_stats(pool).largest, 3);
    assert_ok(rota_close(pool));
    assert_int_equal(runs, 30);
}

/* -- Threads that a task ends ------------------------------------------------------------- */

static void *end_thread(void *arg)
{
    pthread_exit(arg);
}

static void *cancel_thread(void *arg)
{
    pthread_cancel(pthread_self());
    pthread_testcancel();
    return arg;
}

static void tear(rota_fn *fn)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2});
    rota_future *future;
    atomic_uint runs = 0;

    for (unsigned i = 1; i <= 20; i++) {
        assert_ok(rota_submit(pool, fn, NULL, &future));
        assert_ok(rota_execute(pool, fn, NULL));
        assert_ok(rota_execute(pool, test_count, &runs));
        assert_status(rota_future_get(future, NULL), ROTA_EFAILED);
        assert_int_equal(rota_future_error(future), ROTA_ECANCELED);
        rota_future_unref(future);
    }
    test_await_completed(pool, 60);
    test_await_waiting(pool, 2);
    assert_int_equal(test_stats(pool).threads, 2); /* POOL-31: settles at the same value */
    assert_int_equal(test_stats(pool).largest, 2);
    assert_int_equal(runs, 20);
    assert_ok(rota_close(pool));
}

/* GEN-14, POOL-30, POOL-31, FAULT-35 */
TEST(a_worker_whose_task_ends_its_thread_is_replaced)
{
    tear(end_thread);
    tear(cancel_thread);
}

/* POOL-30 */
TEST(an_ended_thread_is_not_replaced_beyond_core_if_nothing_is_queued)
{
    rota_executor *pool = test_pool((rota_pool_options){.max_threads = 1});

    assert_ok(rota_execute(pool, end_thread, NULL));
    test_await_completed(pool, 1);
    test_await_threads(pool, 0);
    assert_ok(rota_close(pool));
}

/* POOL-26, POOL-52: what is queued still runs. */
TEST(a_torn_worker_of_a_pool_that_is_shut_down_is_replaced_for_what_is_queued)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < 5; i++) {
        assert_ok(rota_execute(pool, end_thread, NULL));
        assert_ok(rota_execute(pool, test_count, &runs));
    }
    assert_ok(rota_shutdown(pool));
    test_gate_open(&gate);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_int_equal(runs, 5);
    assert_int_equal(test_stats(pool).completed, 11);
    assert_ok(rota_executor_free(pool));
}

/* -- What disturbs nobody ----------------------------------------------------------------- */

struct hook {
    rota_queue *gate; /* what the hook waits at */
    atomic_uint begun, ended;
    int status;
};

static void wait_in_hook(struct hook *hook)
{
    void *element;

    atomic_fetch_add(&hook->begun, 1);
    hook->status = rota_queue_take(hook->gate, &element);
    atomic_fetch_add(&hook->ended, 1);
}

static void wait_before(rota_executor *ex, rota_task *task, void *ctx)
{
    wait_in_hook(ctx);
}

static void wait_after(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    wait_in_hook(ctx);
}

static void change_all(rota_executor *pool)
{
    assert_ok(rota_pool_set_keep_alive(pool, ROTA_MS(5)));
    assert_ok(rota_pool_set_keep_alive(pool, ROTA_MS(2)));
    assert_ok(rota_pool_set_core_may_time_out(pool, true));
    assert_ok(rota_pool_set_max_threads(pool, 3));
    assert_ok(rota_pool_set_core_threads(pool, 0));
    assert_ok(rota_pool_set_max_threads(pool, 1));
    assert_ok(rota_shutdown(pool));
}

static void hook_is_left_alone(rota_hooks hooks)
{
    struct hook hook = {.gate = test_array(1)};
    atomic_uint runs = 0;

    hooks.ctx = &hook;
    rota_executor *pool =
        test_pool((rota_pool_options){.core_threads = 1, .max_threads = 2, .hooks = hooks});
    assert_ok(rota_execute(pool, test_count, &runs));
    test_await_count(&hook.begun, 1);
    test_queue_await_waiting(hook.gate, 1);
    assert_int_equal(test_stats(pool).active, 1);
    change_all(pool);
    assert_int_equal(hook.ended, 0);
    assert_ok(rota_queue_put(hook.gate, &hook));
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_ok(hook.status);
    assert_int_equal(runs, 1);
    assert_ok(rota_executor_free(pool));
    assert_ok(rota_queue_free(hook.gate));
}

/* POOL-37, INT-09, POOL-22, POOL-23 */
TEST(a_hook_that_waits_is_not_disturbed_by_settings_and_shutdown)
{
    hook_is_left_alone((rota_hooks){.before_execute = wait_before});
    hook_is_left_alone((rota_hooks){.after_execute = wait_after});
}

static void *take_from(void *gate)
{
    void *element = NULL;

    test_check(rota_queue_take(gate, &element) == ROTA_OK);
    return element;
}

/* INT-09 */
TEST(a_task_that_waits_is_not_disturbed_by_settings_and_shutdown)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1, .max_threads = 2});
    rota_queue *gate = test_array(1);
    rota_future *future;
    void *result;

    assert_ok(rota_submit(pool, take_from, gate, &future));
    test_queue_await_waiting(gate, 1);
    change_all(pool);
    assert_ok(rota_queue_put(gate, &future));
    assert_ok(rota_future_get(future, &result));
    assert_ptr_equal(result, &future);
    rota_future_unref(future);
    assert_ok(rota_close(pool));
    assert_ok(rota_queue_free(gate));
}

enum { CHANGERS = 10 };

struct changer {
    rota_executor *pool;
    test_barrier *all;
    atomic_uint interrupted;
};

static void *change_core(void *arg)
{
    struct changer *changer = arg;

    test_barrier_wait(changer->all);
    for (int i = 0; i < 20; i++) {
        test_check(rota_pool_set_core_threads(changer->pool, CHANGERS) == ROTA_OK);
        test_check(rota_pool_set_core_threads(changer->pool, 1) == ROTA_OK);
    }
    test_barrier_wait(changer->all);
    atomic_fetch_add(&changer->interrupted, rota_is_interrupted());
    return NULL;
}

/* INT-09, POOL-23, FAULT-14 */
TEST(tasks_that_change_their_own_pool_never_see_an_interrupt)
{
    rota_executor *pool = test_pool((rota_pool_options){
        .core_threads = CHANGERS, .max_threads = CHANGERS, .queue = test_handoff()});
    test_barrier all;
    struct changer changer = {.pool = pool, .all = &all};

    test_barrier_init(&all, CHANGERS + 1);
    for (int i = 0; i < CHANGERS; i++)
        assert_ok(rota_execute(pool, change_core, &changer));
    test_barrier_wait(&all);
    assert_int_equal(test_stats(pool).threads, CHANGERS);
    test_barrier_wait(&all);
    assert_ok(rota_close(pool));
    assert_int_equal(changer.interrupted, 0);
}

static void *interrupt_self(void *arg)
{
    rota_thread_interrupt(rota_thread_self());
    return arg;
}

static void *is_interrupted(void *arg)
{
    return rota_is_interrupted() ? arg : NULL;
}

/* INT-07 */
TEST(no_task_sees_an_interrupt_that_was_left_by_another_or_by_the_pool)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    rota_future *future;
    void *result;

    for (unsigned i = 0; i < 50; i++) {
        assert_ok(rota_execute(pool, interrupt_self, NULL));
        assert_ok(rota_pool_set_keep_alive(pool, ROTA_MS(100 - i)));
        assert_ok(rota_submit(pool, is_interrupted, pool, &future));
        assert_ok(rota_future_get(future, &result));
        assert_null(result);
        rota_future_unref(future);
    }
    assert_ok(rota_close(pool));
}

/* OWN-15 */
TEST(an_idle_worker_holds_no_task)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);

    assert_ok(rota_submit_call(pool, &call, NULL));
    test_await_waiting(pool, 1);
    assert_int_equal(probe.frees, 1);
    assert_ok(rota_close(pool));
}
