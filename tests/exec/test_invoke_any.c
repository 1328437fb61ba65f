/* SPDX-License-Identifier: MIT */
/*
 * invoke_any with an executor that runs nothing by itself: calls are refused, succeed, fail and are
 * discarded at chosen moments, in all orders.
 */
#include "invocation.h"

/* All fail but the one of number `good`. */
static void start_any(struct invocation *self, size_t good)
{
    start(self, rota_invoke_any);
    for (size_t i = 0; i < CALLS; i++)
        self->probes[i].error = i == good ? 0 : 100 + (int)i;
}

static void assert_succeeded(const struct invocation *self, size_t winner)
{
    void *result = NULL;

    assert_ok(self->status);
    assert_ok(rota_future_get_timed(self->futures[0], 0, &result));
    assert_ptr_equal(result, &self->probes[winner]);
    assert_int_equal(self->probes[winner].frees, 0); /* EXEC-15 */
}

static void assert_failed(const struct invocation *self, size_t last)
{
    assert_status(self->status, ROTA_EFAILED);
    assert_int_equal(rota_future_state_of(self->futures[0]), ROTA_FUTURE_FAILED);
    assert_int_equal(rota_future_error(self->futures[0]), 100 + last);
}

/* EXEC-16: the submitted are cancelled, the rest discarded: ROTA_EAGAIN from rota_invoke_any. */
TEST(a_refusal_cancels_them_all)
{
    be_refused_in_every_way(rota_invoke_any);
}

/* -- The first success -------------------------------------------------------------------- */

/* EXEC-09, EXEC-10: a success keeps all that were not submitted yet from ever being so. */
TEST(a_success_ends_the_submissions)
{
    for (size_t at = 0; at < CALLS; at++) {
        for (size_t good = 0; good <= at; good++) {
            struct invocation self;

            start_any(&self, good);
            self.at = at;
            self.count = 1;
            self.places[0] = good;
            invoke(&self);
            assert_succeeded(&self, good);
            assert_each_once(&self, 1);
            assert_int_equal(test_manual_count(self.manual), at); /* cancelled */
            end(&self);
        }
    }
}

static void run_at_once(size_t nth, void *arg)
{
    struct invocation *self = arg;

    test_manual_run(self->manual, 0);
}

/* EXEC-10: a failure does not: the next call is submitted, and so on to the first success. */
TEST(a_failure_does_not_end_the_submissions)
{
    for (size_t good = 0; good <= CALLS; good++) { /* CALLS: none */
        struct invocation self;

        start_any(&self, good);
        test_manual_on_taken(self.manual, run_at_once, &self);
        self.status = rota_invoke_any(self.executor, self.calls, CALLS, ROTA_FOREVER, self.futures);
        if (good < CALLS)
            assert_succeeded(&self, good);
        else
            assert_failed(&self, CALLS - 1);
        assert_each_once(&self, good < CALLS ? good + 1 : CALLS);
        end(&self);
    }
}

/* -- Orders ------------------------------------------------------------------------------- */

/* EXEC-11: if all fail it is the one that failed last, in whatever order they did. */
TEST(it_is_the_last_that_failed)
{
    for (size_t nth = 0; nth < ORDERS; nth++) {
        struct invocation self;

        start_any(&self, NONE);
        self.at = CALLS - 1;
        self.count = CALLS;
        size_t last = order_of(nth, self.places);
        invoke(&self);
        assert_failed(&self, last);
        assert_each_once(&self, CALLS);
        end(&self);
    }
}

/* EXEC-09: the caller sleeps through failures, and returns with the first success. */
TEST(it_waits_for_a_success_in_any_order)
{
    for (size_t nth = 0; nth < ORDERS; nth++) {
        for (size_t good = 0; good < CALLS; good++) {
            struct invocation self;
            size_t ran = 0;

            start_any(&self, good);
            order_of(nth, self.places);
            test_thread *caller = test_thread_start(invoke, &self);
            test_manual_await_count(self.manual, CALLS);
            while (self.probes[good].runs == 0) {
                test_await_parked(test_thread_handle(caller));
                test_manual_run(self.manual, self.places[ran++]);
            }
            test_thread_join(caller);
            assert_succeeded(&self, good);
            assert_each_once(&self, ran);
            end(&self);
        }
    }
}

/* EXEC-15: cancelled ones count for nothing; if all are, ROTA_ECANCELED from rota_invoke_any. */
TEST(cancelled_ones_do_not_count)
{
    for (size_t failed = 0; failed <= CALLS; failed++) { /* CALLS: none */
        struct invocation self;

        start_any(&self, NONE);
        test_thread *caller = test_thread_start(invoke, &self);
        test_manual_await_count(self.manual, CALLS);
        for (size_t i = 0; i < CALLS; i++) {
            if (i == failed)
                test_manual_run(self.manual, 0);
            else
                test_manual_discard(self.manual, 0);
        }
        test_thread_join(caller);
        if (failed < CALLS)
            assert_failed(&self, failed);
        else
            assert_no_futures(&self, ROTA_ECANCELED);
        assert_each_once(&self, failed < CALLS);
        end(&self);
    }
}

/* -- Time and interrupts ------------------------------------------------------------------ */

/* EXEC-08, EXEC-12: time that is up between submissions ends it, unless there is a success. */
TEST(time_that_is_up_between_submissions_ends_it)
{
    test_clock_install();
    for (size_t at = 0; at < CALLS; at++) {
        for (size_t good = 0; good < 2; good++) {
            struct invocation self;

            start_any(&self, good == 0 ? 0 : NONE);
            self.timeout = ROTA_SEC(10);
            self.advance = ROTA_SEC(10);
            self.at = at;
            self.count = 1;
            invoke(&self);
            if (good == 0)
                assert_succeeded(&self, 0);
            else
                assert_no_futures(&self, ROTA_ETIMEDOUT);
            assert_int_equal(test_manual_count(self.manual), at);
            assert_each_once(&self, 1);
            end(&self);
        }
    }
    test_clock_remove();
}

/* EXEC-12: with no time at all one call is submitted, which may succeed there and then. */
TEST(without_time_one_call_is_tried)
{
    const rota_ns timeouts[] = {0, -1, INT64_MIN};

    for (size_t i = 0; i < 6; i++) {
        bool succeeds = i % 2 == 0;
        struct invocation self;

        start_any(&self, 0);
        self.timeout = timeouts[i / 2];
        self.at = succeeds ? 0 : NONE;
        self.count = 1;
        invoke(&self);
        if (succeeds)
            assert_succeeded(&self, 0);
        else
            assert_no_futures(&self, ROTA_ETIMEDOUT);
        assert_int_equal(test_manual_count(self.manual), succeeds ? 0 : 1);
        assert_each_once(&self, succeeds);
        end(&self);
    }
}

/* EXEC-12, GEN-06: it sleeps until the time is up, not a nanosecond less. */
TEST(the_wait_lasts_until_the_time_is_up)
{
    struct invocation self;

    test_clock_install();
    start_any(&self, NONE);
    self.timeout = ROTA_SEC(10);
    test_thread *caller = test_thread_start(invoke, &self);
    test_manual_await_count(self.manual, CALLS);
    test_clock_await_waiting(1);
    test_manual_run(self.manual, 0);
    test_clock_advance(ROTA_SEC(10) - 1);
    test_manual_run(self.manual, 0);
    test_clock_await_waiting(1);
    test_clock_advance(1);
    test_thread_join(caller);
    assert_no_futures(&self, ROTA_ETIMEDOUT);
    assert_each_once(&self, 2);
    end(&self);
    test_clock_remove();
}

/* EXEC-13, INT-03: interrupted after some have failed: the rest is cancelled, nothing returned. */
TEST(an_interrupt_ends_the_wait)
{
    for (size_t failed = 0; failed < CALLS; failed++) {
        struct invocation self;

        start_any(&self, NONE);
        test_thread *caller = test_thread_start(invoke, &self);
        test_manual_await_count(self.manual, CALLS);
        for (size_t i = 0; i < failed; i++)
            test_manual_run(self.manual, 0);
        rota_thread_interrupt(test_thread_handle(caller));
        test_thread_join(caller);
        assert_no_futures(&self, ROTA_EINTERRUPTED);
        assert_each_once(&self, failed);
        end(&self);
    }
}
