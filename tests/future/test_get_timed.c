/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a future with a limit, and what a wait keeps alive.
 */
#include "pools.h"
#include "rota_test_internal.h"

#include "future/future_state.h"

static int value;

static bool has_no_actions(rota_future *future)
{
    return rota__load_acquire(&future->actions) == 0;
}

/* -- One look ----------------------------------------------------------------------------- */

/* FUT-09, GEN-04, FAULT-06: without a timeout there is no wait, and no memory is used. */
TEST(no_timeout_is_one_look)
{
    const rota_ns timeouts[] = {0, -1, INT64_MIN};
    void *result = TEST_UNTOUCHED;
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    test_memory_fail_at(1, true);
    for (int i = 0; i < 300; i++)
        assert_status(rota_future_get_timed(promise, timeouts[i % 3], &result), ROTA_ETIMEDOUT);
    assert_int_equal(test_memory_asked(), 0);
    test_memory_fail_at(0, false);
    assert_ptr_equal(result, TEST_UNTOUCHED);
    assert_int_equal(rota_future_state_of(promise), ROTA_FUTURE_PENDING);
    rota_promise_complete(promise, &value);
    for (int i = 0; i < 3; i++)
        assert_ok(rota_future_get_timed(promise, timeouts[i], &result)); /* FUT-07 */
    assert_ptr_equal(result, &value);
    rota_future_unref(promise);
}

/* FUT-18: a wait that lasts needs no memory either: what it needs is on the stack. */
TEST(a_wait_needs_no_memory)
{
    test_getter getter;
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    test_memory_fail_at(1, true);
    test_getter_start(&getter, promise, ROTA_HOURS(1));
    rota_promise_complete(promise, &value);
    test_getter_ends(&getter, ROTA_OK, &value);
    assert_int_equal(test_memory_asked(), 0);
    test_memory_fail_at(0, false);
    rota_future_unref(promise);
}

/* -- Time --------------------------------------------------------------------------------- */

/* FUT-08, GEN-06, FAULT-28: not a nanosecond early, and the future is as before. */
TEST_WITH(test_virtual_time, a_timeout_is_never_early)
{
    test_getter getter;
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    test_getter_start(&getter, promise, ROTA_MS(12));
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_MS(12) - 1);
    rota__unpark(test_thread_handle(getter.thread)); /* for no reason: it waits again */
    test_await_parked(test_thread_handle(getter.thread));
    test_clock_await_waiting(1);
    assert_false(has_no_actions(promise));
    test_clock_advance(1);
    test_getter_ends(&getter, ROTA_ETIMEDOUT, TEST_UNTOUCHED);
    assert_true(has_no_actions(promise)); /* FUT-19, OWN-14 */
    assert_int_equal(rota_future_state_of(promise), ROTA_FUTURE_PENDING);
    assert_true(rota_promise_complete(promise, NULL));
    rota_future_unref(promise);
}

/* FUT-19: each leaves at its own time, wherever it stands among the others. */
TEST_WITH(test_virtual_time, those_whose_time_is_up_leave_the_others)
{
    const rota_ns timeouts[] = {30, 10, 50, 20, 40};
    test_getter getters[5];
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    for (int i = 0; i < 5; i++)
        test_getter_start(&getters[i], promise, timeouts[i]);
    for (rota_ns now = 10; now <= 30; now += 10) {
        test_clock_advance(10);
        for (int i = 0; i < 5; i++) {
            if (timeouts[i] == now)
                test_getter_ends(&getters[i], ROTA_ETIMEDOUT, TEST_UNTOUCHED);
        }
    }
    rota_promise_complete(promise, &value);
    test_getter_ends(&getters[2], ROTA_OK, &value);
    test_getter_ends(&getters[4], ROTA_OK, &value);
    rota_future_unref(promise);
}

/* GEN-04, FAULT-06: ROTA_FOREVER has no deadline, and the longest of the others does not wrap. */
TEST_WITH(test_virtual_time, long_timeouts_do_not_wrap)
{
    test_getter getters[2];
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    test_getter_start(&getters[0], promise, INT64_MAX);
    test_getter_start(&getters[1], promise, INT64_MAX - 1);
    assert_int_equal(test_clock_waiting(), 0);
    test_clock_advance(ROTA_HOURS(1000000));
    rota_promise_complete(promise, &value);
    test_getter_ends(&getters[0], ROTA_OK, &value);
    test_getter_ends(&getters[1], ROTA_OK, &value);
    rota_future_unref(promise);
}

/* GEN-05, GEN-06, FAULT-28: the same by the system's clock. */
TEST(a_timeout_is_never_early_by_the_real_clock)
{
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    for (rota_ns timeout = 1; timeout < ROTA_MS(20); timeout *= 7) {
        rota_ns before = rota_now();
        assert_status(rota_future_get_timed(promise, timeout, NULL), ROTA_ETIMEDOUT);
        assert_true(rota_now() - before >= timeout);
    }
    rota_future_unref(promise);
}

/* -- Done at the last moment -------------------------------------------------------------- */

/* Completes the promise up to where its waiters are woken; returns the only one. */
static rota__getter *complete_but_for_waking(rota_future *promise)
{
    enum { DONE = 2 }; /* as in actions.c */

    assert_int_equal(future_begin_completing(promise), FUTURE_WAS_PENDING);
    promise->result = &value;
    future_end_completing(promise, FUTURE_NORMAL);
    rota__action *only = (rota__action *)rota__load_acquire(&promise->actions);
    assert_null(only->next);
    rota__store_release(&promise->actions, DONE);
    return ROTA__CONTAINER(only, rota__getter, action);
}

/* FUT-07, INT-05: one that is interrupted too late gets the result, and the flag stays. */
TEST(an_interrupt_that_comes_too_late_stays)
{
    test_getter getter;
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    test_getter_start(&getter, promise, ROTA_FOREVER);
    rota__getter *waiting = complete_but_for_waking(promise);
    rota_thread_interrupt(test_thread_handle(getter.thread));
    test_await_parked(test_thread_handle(getter.thread)); /* until it is woken */
    rota__waiter_wake(&waiting->waiter);
    test_thread_join(getter.thread);
    assert_ok(getter.status);
    assert_ptr_equal(getter.result, &value);
    assert_true(getter.interrupted);
    rota_future_unref(promise);
}

/* FUT-07: one whose time is up too late gets the result, too. */
TEST_WITH(test_virtual_time, a_timeout_that_comes_too_late_does_not_count)
{
    test_getter getter;
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    test_getter_start(&getter, promise, ROTA_MS(5));
    test_clock_await_waiting(1);
    rota__getter *waiting = complete_but_for_waking(promise);
    test_clock_advance(ROTA_MS(5));
    test_await_parked(test_thread_handle(getter.thread)); /* until it is woken */
    rota__waiter_wake(&waiting->waiter);
    test_getter_ends(&getter, ROTA_OK, &value);
    rota_future_unref(promise);
}

/* -- What a wait keeps alive -------------------------------------------------------------- */

/* OWN-10, OWN-20: the last holder lets go of a promise; who waits is told, and used it safely. */
TEST(a_dropped_promise_wakes_who_waits)
{
    test_getter getters[2];
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    test_getter_start(&getters[0], promise, ROTA_FOREVER);
    test_getter_start(&getters[1], promise, ROTA_HOURS(1));
    rota_future_unref(promise);
    test_getter_ends(&getters[0], ROTA_ECANCELED, TEST_UNTOUCHED);
    test_getter_ends(&getters[1], ROTA_ECANCELED, TEST_UNTOUCHED);
}

/* OWN-02, OWN-10: a task whose future nobody holds still runs, and who waits gets its result. */
TEST(a_wait_keeps_the_future_of_a_task)
{
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    test_getter getter;
    rota_future *future;

    rota_task *task = test_task(call, &future);
    test_getter_start(&getter, future, ROTA_FOREVER);
    rota_future_unref(future);
    rota_task_run(task);
    test_getter_ends(&getter, ROTA_OK, &probe);
    assert_int_equal(probe.frees, 1);
}

/* OWN-09, OWN-20: a task dropped unrun wakes who waits. */
TEST(a_discarded_task_wakes_who_waits)
{
    test_probe probe = {.error = 0};
    test_getter getter;
    rota_future *future;

    rota_task *task = test_task(test_probe_call(&probe), &future);
    test_getter_start(&getter, future, ROTA_FOREVER);
    rota_future_unref(future);
    rota_task_discard(task);
    test_getter_ends(&getter, ROTA_ECANCELED, TEST_UNTOUCHED);
    assert_int_equal(probe.discards, 1);
    assert_int_equal(probe.runs, 0);
}
