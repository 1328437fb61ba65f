/* SPDX-License-Identifier: MIT */
/*
 * Submissions that meet several states of a pool one after the other, and small questions that no
 * other test asks.
 */
#include "pools.h"

/* POOL-08, POOL-41 */
TEST(the_maximum_is_what_was_last_set)
{
    static const unsigned wanted[] = {5, 4};
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2, .max_threads = 3});

    assert_int_equal(test_options(pool).max_threads, 3);
    for (int i = 0; i < 2; i++) {
        assert_ok(rota_pool_set_max_threads(pool, wanted[i]));
        assert_int_equal(test_options(pool).max_threads, wanted[i]);
        assert_int_equal(test_stats(pool).max_threads, wanted[i]);
    }
    assert_ok(rota_close(pool));
}

struct priority {
    int policy;
    struct sched_param param;
};

static void *look_at_priority(void *arg)
{
    struct priority *priority = arg;

    test_check(pthread_getschedparam(pthread_self(), &priority->policy, &priority->param) == 0);
    return NULL;
}

/* FACT-12 */
TEST(a_worker_has_the_usual_priority)
{
    struct priority worker = {.policy = -1}, usual = worker;
    rota_executor *single;

    assert_ok(rota_single_thread(&single));
    assert_ok(rota_execute(single, look_at_priority, &worker));
    assert_ok(rota_close(single));
    look_at_priority(&usual);
    assert_int_equal(worker.policy, usual.policy);
    assert_int_equal(worker.param.sched_priority, usual.param.sched_priority);
}

/* -- Refused ------------------------------------------------------------------------------ */

enum { WAYS = 7, INVOKES = 2 };

static void every_way_is_refused(rota_executor *pool, test_probe *probe)
{
    rota_call call = test_probe_call(probe);
    rota_future *future = TEST_UNTOUCHED;

    assert_status(rota_execute(pool, call.fn, probe), ROTA_EREJECTED);
    assert_status(rota_submit(pool, call.fn, probe, &future), ROTA_EREJECTED);
    assert_status(rota_submit(pool, call.fn, probe, NULL), ROTA_EREJECTED);
    assert_status(rota_submit_call(pool, &call, &future), ROTA_EREJECTED);
    assert_status(rota_submit_call(pool, &call, NULL), ROTA_EREJECTED);
    assert_status(rota_invoke_all(pool, &call, 1, ROTA_FOREVER, &future), ROTA_EREJECTED);
    assert_status(rota_invoke_any(pool, &call, 1, ROTA_FOREVER, &future), ROTA_EREJECTED);
    assert_ptr_equal(future, TEST_UNTOUCHED);
}

/* One task runs and one is queued, both deaf to interrupts. */
static void fill(rota_executor *pool, test_gate *gate, bool executes_first)
{
    test_gate_init(gate);
    for (int i = 0; i < 2; i++) {
        if ((i == 0) == executes_first)
            assert_ok(rota_execute(pool, test_wait_at, gate));
        else
            assert_ok(rota_submit(pool, test_wait_at, gate, NULL));
    }
    test_await_count(&gate->begun, 1);
}

static void refuses_from_full_to_its_end(bool executes_first, bool now)
{
    rota_executor *pool = test_small_pool(1, 1, 1);
    test_probe probe = {.error = 0};
    test_gate gate;

    fill(pool, &gate, executes_first);
    every_way_is_refused(pool, &probe);
    assert_ok(now ? rota_shutdown_now(pool, NULL) : rota_shutdown(pool));
    every_way_is_refused(pool, &probe);
    test_gate_open(&gate);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    every_way_is_refused(pool, &probe);
    assert_int_equal(test_stats(pool).submitted, 2);
    assert_int_equal(test_stats(pool).completed, now ? 1 : 2); /* but for what was drained */
    assert_int_equal(test_stats(pool).rejected, 3 * WAYS);
    assert_ok(rota_executor_free(pool));
    assert_int_equal(gate.interrupted, now);
    assert_int_equal(probe.runs, 0);
    assert_int_equal(probe.discards, 3 * INVOKES); /* EXEC-16 */
}

/* POOL-12, REJ-02 */
TEST(every_way_in_is_refused_when_full_shut_down_or_terminated)
{
    for (int i = 0; i < 4; i++)
        refuses_from_full_to_its_end(i & 1, i & 2);
}

/* -- Taken back --------------------------------------------------------------------------- */

static void is_cancelled_for_all(rota_future *future)
{
    assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
    assert_status(rota_future_get_timed(future, ROTA_HOURS(1), NULL), ROTA_ECANCELED);
    assert_true(rota_future_is_done(future));
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_CANCELED);
    rota_future_unref(future);
}

/* FUT-11, FUT-14 */
TEST(a_running_and_a_queued_task_can_be_cancelled)
{
    rota_executor *pool = test_small_pool(1, 1, 10);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *running, *queued;
    test_gate gate;

    test_gate_init(&gate);
    assert_ok(rota_submit(pool, test_wait_at, &gate, &running));
    test_await_count(&gate.begun, 1);
    assert_ok(rota_submit_call(pool, &call, &queued));
    assert_true(rota_future_cancel(running));
    assert_true(rota_future_cancel(queued));
    is_cancelled_for_all(running);
    is_cancelled_for_all(queued);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(gate.interrupted, 0);
    assert_int_equal(probe.runs, 0);
}

/* OWN-04, OWN-07: nobody has the futures, and each task of the list is discarded. */
TEST(what_is_handed_over_though_nobody_holds_it_is_discarded_once)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future;
    rota_task_list list;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < 10; i++) {
        assert_ok(rota_submit_call(pool, &call, &future));
        rota_future_unref(future);
    }
    assert_ok(rota_shutdown_now(pool, &list));
    assert_int_equal(list.count, 10);
    assert_int_equal(probe.discards, 0);
    for (size_t i = 0; i < list.count; i++)
        rota_task_discard(list.tasks[i]);
    rota_task_list_free(&list);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(probe.discards, 10);
    assert_int_equal(probe.runs, 0);
}
