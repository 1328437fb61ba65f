/* SPDX-License-Identifier: MIT */
/*
 * invoke_all with an executor that runs nothing by itself: calls are refused, run and discarded at
 * chosen moments, in all orders.
 */
#include "invocation.h"

/* The first `runs` have succeeded, the rest are cancelled. */
static void assert_futures(const struct invocation *self, size_t runs)
{
    for (size_t i = 0; i < CALLS; i++)
        assert_status(rota_future_get_timed(self->futures[i], 0, NULL),
                      i < runs ? ROTA_OK : ROTA_ECANCELED);
}

/* EXEC-06, EXEC-16: what was submitted is cancelled, the rest discarded, and there are no futures. */
TEST(a_refusal_cancels_them_all)
{
    be_refused_in_every_way(rota_invoke_all);
}

/* -- Time --------------------------------------------------------------------------------- */

/* Time passes while the executor takes the task of number `at`, after it ran so many. */
static void let_time_pass(size_t at, size_t ran, rota_ns advance)
{
    size_t submitted = at + 1;
    struct invocation self;

    start(&self, rota_invoke_all);
    self.at = at;
    self.count = ran;
    self.advance = advance;
    self.timeout = ROTA_SEC(10);
    invoke(&self);
    assert_status(self.status, ran == CALLS ? ROTA_OK : ROTA_ETIMEDOUT);
    assert_int_equal(test_manual_count(self.manual), submitted - ran);
    assert_each_once(&self, ran);
    assert_futures(&self, ran);
    end(&self);
}

/* EXEC-07, EXEC-08: between any two submissions; what is done is done, the rest is cancelled. */
TEST(time_that_is_up_between_submissions_ends_it)
{
    test_clock_install();
    for (size_t at = 0; at < CALLS; at++) {
        for (size_t ran = 0; ran <= at + 1; ran++) {
            let_time_pass(at, ran, ROTA_SEC(10));
            let_time_pass(at, ran, ROTA_HOURS(10));
        }
    }
    test_clock_remove();
}

/* GEN-06: a nanosecond before the time is up the next call is still submitted. */
TEST(until_the_time_is_up_calls_are_submitted)
{
    struct invocation self;

    test_clock_install();
    start(&self, rota_invoke_all);
    self.timeout = ROTA_SEC(10);
    self.at = 0;
    self.advance = ROTA_SEC(10) - 1;
    test_thread *caller = test_thread_start(invoke, &self);
    test_manual_await_count(self.manual, CALLS);
    test_clock_await_waiting(1);
    for (size_t i = 0; i < 2; i++)
        test_manual_run(self.manual, 0);
    test_clock_advance(1);
    test_thread_join(caller);
    assert_status(self.status, ROTA_ETIMEDOUT);
    assert_each_once(&self, 2);
    assert_futures(&self, 2);
    end(&self);
    test_clock_remove();
}

/* EXEC-08, INT-04: without time nothing is submitted, even by the interrupted. */
TEST(without_time_nothing_is_submitted)
{
    const rota_ns timeouts[] = {0, -1, INT64_MIN};

    for (size_t i = 0; i < 3; i++) {
        struct invocation self;

        start(&self, rota_invoke_all);
        self.timeout = timeouts[i];
        rota_thread_interrupt(rota_thread_self());
        invoke(&self);
        assert_true(rota_interrupted());
        assert_status(self.status, ROTA_ETIMEDOUT);
        assert_int_equal(test_manual_count(self.manual), 0);
        assert_each_once(&self, 0);
        assert_futures(&self, 0);
        end(&self);
    }
}

/* -- Orders ------------------------------------------------------------------------------- */

/* EXEC-05: in whatever order they end, by body or by discard, it waits for the last. */
TEST(it_waits_for_the_last_in_any_order)
{
    for (size_t nth = 0; nth < ORDERS; nth++) {
        struct invocation self;
        size_t places[CALLS];

        order_of(nth, places);
        start(&self, rota_invoke_all);
        test_thread *caller = test_thread_start(invoke, &self);
        test_manual_await_count(self.manual, CALLS);
        for (size_t i = 0; i < CALLS; i++) {
            test_await_parked(test_thread_handle(caller));
            if (nth % 2 == 0 || i != 1)
                test_manual_run(self.manual, places[i]);
            else
                test_manual_discard(self.manual, places[i]);
        }
        test_thread_join(caller);
        assert_ok(self.status);
        assert_each_once(&self, nth % 2 == 0 ? CALLS : CALLS - 1);
        for (size_t i = 0; i < CALLS; i++)
            assert_status(rota_future_get_timed(self.futures[i], 0, NULL),
                          self.probes[i].runs == 1 ? ROTA_OK : ROTA_ECANCELED);
        end(&self);
    }
}

/* EXEC-05: whoever completes or cancels a future by hand ends it as well; nothing runs then. */
TEST(futures_may_be_ended_by_hand)
{
    struct invocation self;

    start(&self, rota_invoke_all);
    test_thread *caller = test_thread_start(invoke, &self);
    test_manual_await_count(self.manual, CALLS);
    for (size_t i = 0; i < CALLS; i++) {
        rota_task *task = test_manual_take(self.manual, 0);
        rota_future *future = rota_task_future(task);

        assert_true(i == 0   ? rota_promise_complete(future, &self.probes[0])
                    : i == 1 ? rota_promise_fail(future, 7)
                             : rota_future_cancel_now(future));
        rota_task_run(task);
    }
    test_thread_join(caller);
    assert_ok(self.status);
    assert_each_once(&self, 0);
    assert_int_equal(rota_future_state_of(self.futures[0]), ROTA_FUTURE_SUCCEEDED);
    assert_int_equal(rota_future_error(self.futures[1]), 7);
    assert_int_equal(rota_future_state_of(self.futures[3]), ROTA_FUTURE_CANCELED);
    end(&self);
    assert_int_equal(self.probes[0].frees, 1); /* the future owned it */
}

/* EXEC-06, INT-03: interrupted after some have ended: the rest is cancelled, nothing returned. */
TEST(an_interrupt_ends_the_wait)
{
    for (size_t ran = 0; ran < CALLS; ran++) {
        struct invocation self;

        start(&self, rota_invoke_all);
        test_thread *caller = test_thread_start(invoke, &self);
        test_manual_await_count(self.manual, CALLS);
        for (size_t i = 0; i < ran; i++)
            test_manual_run(self.manual, 0);
        rota_thread_interrupt(test_thread_handle(caller));
        test_thread_join(caller);
        assert_no_futures(&self, ROTA_EINTERRUPTED);
        assert_each_once(&self, ran);
        end(&self);
    }
}
