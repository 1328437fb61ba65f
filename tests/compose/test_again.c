/* SPDX-License-Identifier: MIT */
/*
 * Calls that are tried again when they fail, or twice when they are late, in virtual time. The test
 * runs each attempt by hand.
 */
#include "executors.h"
#include "pools.h"
#include "rota_test_compose.h"
#include "rota_test_internal.h"

#include "compose/compose_internal.h"

#define FIRST ROTA_SEC(10)

static rota_executor *executor;
static test_manual *manual;
static test_probe probe;
static rota_future *out;

static int prepare(void **state)
{
    int status = test_clock_before(state);

    manual = test_executor_manual(&executor);
    probe = (test_probe){.error = 0};
    out = TEST_UNTOUCHED;
    return status;
}

static int clean_up(void **state)
{
    if (out != TEST_UNTOUCHED)
        rota_future_unref(out);
    return rota_close(executor) == ROTA_OK ? test_clock_after(state) : -1;
}

TEST_FIXTURE(.setup = prepare, .teardown = clean_up);

static size_t timers(void)
{
    return test_stats(rota__timer()).queued;
}

/* All that was due at the timer has run. */
static void settle(void)
{
    rota_future *last = NULL;
    atomic_uint counter = 0;

    assert_ok(rota_submit(rota__timer(), test_count, &counter, &last));
    assert_ok(rota_future_get(last, NULL));
    rota_future_unref(last);
}

static void pass(rota_ns duration)
{
    test_clock_advance(duration);
    settle();
}

/* Until so many are queued, and whoever submitted them is done with that. */
static void await_attempts(size_t count)
{
    test_manual_await_count(manual, count);
    settle();
}

/* The next attempt comes after that long, not before. */
static void comes_after(rota_ns duration)
{
    assert_int_equal(timers(), 1);
    pass(duration - 1);
    assert_int_equal(test_manual_count(manual), 0);
    pass(1);
    assert_int_equal(test_manual_count(manual), 1);
}

static void retry(rota_retry_options options)
{
    rota_call call = test_probe_call(&probe);

    assert_ok(rota_retry(executor, &call, &options, &out));
}

static void hedge(void)
{
    rota_call call = test_probe_call(&probe);

    assert_ok(rota_hedge(executor, &call, FIRST, &out));
}

static void run_attempt(int error)
{
    probe.error = error;
    test_manual_run(manual, 0);
}

/* -- Attempts ----------------------------------------------------------------------------- */

/* The first succeeds, and there is no other. */
TEST(one_attempt_that_succeeds_is_enough)
{
    retry((rota_retry_options){.attempts = 5, .first_delay = FIRST});
    assert_int_equal(test_manual_count(manual), 1);
    test_is_pending(out);
    run_attempt(0);
    test_has_ended(out, TEST_SUCCEEDS, &probe);
    assert_int_equal(timers(), 0);
    assert_int_equal(probe.runs, 1);
    assert_int_equal(probe.discards, 0);
    assert_int_equal(probe.frees, 0);
}

/* Each delay is twice the one before it, up to the last attempt, as which it ends. */
TEST(the_delays_are_doubled)
{
    retry((rota_retry_options){.attempts = 4, .first_delay = FIRST});
    for (int i = 0; i < 3; i++) {
        run_attempt(100 + i);
        test_is_pending(out);
        comes_after(FIRST << i);
    }
    run_attempt(103);
    test_has_failed(out, 103);
    assert_int_equal(timers(), 0);
    assert_int_equal(probe.runs, 4);
    assert_int_equal(probe.discards, 0);
}

/* Any factor, also one that is no whole number; and a cap. */
TEST(the_delays_have_a_factor_and_a_cap)
{
    static const int seconds[] = {10, 15, 22, 25, 25};

    retry((rota_retry_options){
        .attempts = 6, .first_delay = FIRST, .factor = 1.5, .cap = ROTA_SEC(25)});
    for (int i = 0; i < 5; i++) {
        run_attempt(1);
        comes_after(i == 2 ? ROTA_MS(22500) : ROTA_SEC(seconds[i]));
    }
    run_attempt(0);
    test_has_ended(out, TEST_SUCCEEDS, &probe);
}

/* The smallest there is. */
TEST(a_cap_may_be_a_nanosecond)
{
    retry((rota_retry_options){.attempts = 3, .first_delay = 1, .factor = 5, .cap = 1});
    for (int i = 0; i < 2; i++) {
        run_attempt(1);
        comes_after(1);
    }
    run_attempt(0);
    test_has_ended(out, TEST_SUCCEEDS, &probe);
}

/* Delays that would grow beyond all bounds are held. */
TEST(huge_delays_do_not_overflow)
{
    retry((rota_retry_options){.attempts = 100, .first_delay = ROTA_HOURS(24), .factor = 1e300});
    for (int i = 0; i < 3; i++) {
        run_attempt(1);
        assert_int_equal(timers(), 1);
        pass(ROTA_HOURS(24 * 366));
        assert_int_equal(test_manual_count(manual), 1);
    }
    assert_true(rota_future_cancel(out));
}

/* No delay: at once, through the timer. */
TEST(without_a_delay_it_is_tried_at_once)
{
    retry((rota_retry_options){.attempts = 50});
    for (int i = 0; i < 49; i++) {
        run_attempt(1);
        await_attempts(1);
    }
    run_attempt(2);
    test_has_failed(out, 2);
    assert_int_equal(probe.runs, 50);
}

/* A delay is shortened by a random part of it: never longer, and not always the same. */
TEST(jitter_shortens_delays)
{
    enum { ATTEMPTS = 64 };
    unsigned early = 0;

    retry((rota_retry_options){
        .attempts = ATTEMPTS + 1, .first_delay = FIRST, .factor = 1, .jitter = 1});
    for (int i = 0; i < ATTEMPTS; i++) {
        run_attempt(1);
        pass(FIRST / 2);
        early += test_manual_count(manual) == 1;
        pass(FIRST / 2);
        assert_int_equal(test_manual_count(manual), 1);
    }
    assert_in_range(early, 1, ATTEMPTS - 1);
    run_attempt(0);
}

/* By a tenth at most. */
TEST(a_little_jitter_shortens_a_little)
{
    retry((rota_retry_options){.attempts = 33, .first_delay = FIRST, .factor = 1, .jitter = 0.1});
    for (int i = 0; i < 32; i++) {
        run_attempt(1);
        pass(FIRST / 10 * 9 - 1);
        assert_int_equal(test_manual_count(manual), 0);
        pass(FIRST / 10 + 1);
        assert_int_equal(test_manual_count(manual), 1);
    }
    run_attempt(0);
}

/* -- Is it worth it? ---------------------------------------------------------------------- */

static bool below_three(int code, void *ctx)
{
    test_check(ctx == &probe);
    return code < 3;
}

/* It ends with the first code that is not worth another attempt. */
TEST(it_ends_when_it_is_not_worth_it)
{
    retry((rota_retry_options){.attempts = 9, .retries = below_three, .ctx = &probe});
    for (int code = 1; code < 3; code++) {
        run_attempt(code);
        await_attempts(1);
    }
    run_attempt(3);
    test_has_failed(out, 3);
    assert_int_equal(timers(), 0);
    assert_int_equal(probe.runs, 3);
}

static bool must_not_be_asked(int code, void *ctx)
{
    test_die(__FILE__, __LINE__, "there is no other attempt");
}

/* Nobody is asked about the last attempt, or one that succeeded. */
TEST(the_last_attempt_is_not_asked_about)
{
    retry((rota_retry_options){.attempts = 1, .retries = must_not_be_asked});
    run_attempt(7);
    test_has_failed(out, 7);
    rota_future_unref(out);
    retry((rota_retry_options){.attempts = 2, .retries = must_not_be_asked});
    run_attempt(0);
    test_has_ended(out, TEST_SUCCEEDS, &probe);
}

/* -- The value ---------------------------------------------------------------------------- */

/* OWN-06: the value of the attempt lives as long as the future of all of them. */
TEST(the_value_is_freed_with_it)
{
    retry((rota_retry_options){.attempts = 2});
    run_attempt(1);
    await_attempts(1);
    run_attempt(0);
    assert_int_equal(probe.frees, 0);
    rota_future_unref(out);
    out = TEST_UNTOUCHED;
    settle();
    assert_int_equal(probe.frees, 1);
}

/* COMP-27: nobody holds it: it goes on. */
TEST(nobody_needs_to_hold_it)
{
    retry((rota_retry_options){.attempts = 2, .first_delay = FIRST});
    rota_future_unref(out);
    out = TEST_UNTOUCHED;
    run_attempt(1);
    comes_after(FIRST);
    run_attempt(0);
    assert_int_equal(probe.runs, 2);
    assert_int_equal(probe.frees, 1);
}

/* -- Ended in every phase ----------------------------------------------------------------- */

/* Before the first has begun: it is taken back, and the argument discarded, once. */
TEST(cancelled_before_the_first)
{
    retry((rota_retry_options){.attempts = 3});
    assert_true(rota_future_cancel(out));
    test_has_ended(out, TEST_CANCELLED, NULL);
    test_manual_run(manual, 0);
    assert_int_equal(probe.runs, 0);
    assert_int_equal(probe.discards, 1);
    assert_int_equal(test_manual_count(manual), 0);
}

static void run_first(void *arg)
{
    test_manual_run(manual, 0);
}

static void sleep_until_interrupted(void *arg)
{
    test_check(rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED);
}

/* While one runs: that is interrupted, and there is no other, whatever it returns. */
TEST(cancelled_while_one_runs)
{
    for (int fails = 0; fails < 2; fails++) {
        probe = (test_probe){.during = sleep_until_interrupted, .error = fails};
        retry((rota_retry_options){.attempts = 3});
        test_thread *thread = test_thread_start(run_first, NULL);
        test_await_parked(test_thread_handle(thread));
        assert_true(rota_future_cancel(out));
        test_thread_join(thread);
        test_has_ended(out, TEST_CANCELLED, NULL);
        settle();
        assert_int_equal(test_manual_count(manual), 0);
        assert_int_equal(probe.runs, 1);
        assert_int_equal(probe.discards, 0);
        assert_int_equal(probe.frees, !fails);
        rota_future_unref(out);
        out = TEST_UNTOUCHED;
    }
}

/* Between two: the timer goes, and there is no other. */
TEST(cancelled_between_two)
{
    retry((rota_retry_options){.attempts = 3, .first_delay = FIRST});
    run_attempt(1);
    assert_int_equal(timers(), 1);
    assert_true(rota_future_cancel(out));
    assert_int_equal(timers(), 0);
    pass(FIRST);
    assert_int_equal(test_manual_count(manual), 0);
    test_has_ended(out, TEST_CANCELLED, NULL);
    assert_int_equal(probe.runs, 1);
    assert_int_equal(probe.discards, 0);
}

/* With the second queued: that is taken back; the argument was used, and is not discarded. */
TEST(cancelled_before_the_second)
{
    retry((rota_retry_options){.attempts = 3, .first_delay = FIRST});
    run_attempt(1);
    comes_after(FIRST);
    assert_true(rota_future_cancel(out));
    run_attempt(0);
    test_has_ended(out, TEST_CANCELLED, NULL);
    assert_int_equal(probe.runs, 1);
    assert_int_equal(probe.discards, 0);
}

/* COMP-18: completed by hand is ended, too. */
TEST(completed_by_hand)
{
    retry((rota_retry_options){.attempts = 3});
    test_end(out, TEST_SUCCEEDS, &executor);
    run_attempt(0);
    test_has_ended(out, TEST_SUCCEEDS, &executor);
    assert_int_equal(probe.runs, 0);
    assert_int_equal(probe.discards, 1);
}

static void cancel_all(void *arg)
{
    test_check(rota_future_cancel(out));
}

/* Inside its own attempt. */
TEST(cancelled_by_an_attempt)
{
    probe.during = cancel_all;
    retry((rota_retry_options){.attempts = 3});
    run_attempt(1);
    test_has_ended(out, TEST_CANCELLED, NULL);
    settle();
    assert_int_equal(test_manual_count(manual), 0);
    assert_int_equal(probe.runs, 1);
}

static void cancel_as_it_is_taken(size_t nth, void *arg)
{
    (void)nth;
    cancel_all(arg);
}

/* again.Y2: as the executor takes the second, before it is known to be under way: it does not run. */
TEST(cancelled_as_the_second_is_submitted)
{
    retry((rota_retry_options){.attempts = 3, .first_delay = FIRST});
    test_manual_on_taken(manual, cancel_as_it_is_taken, NULL);
    run_attempt(1);
    comes_after(FIRST);
    test_has_ended(out, TEST_CANCELLED, NULL);
    run_attempt(0);
    assert_int_equal(probe.runs, 1);
    assert_int_equal(timers(), 0);
}

static bool cancel_and_go_on(int code, void *ctx)
{
    (void)code;
    cancel_all(ctx);
    return true;
}

/* again.Y2: by who is asked, just before the timer is set: that goes as well. */
TEST(cancelled_by_who_is_asked)
{
    retry((rota_retry_options){.attempts = 3, .first_delay = FIRST, .retries = cancel_and_go_on});
    run_attempt(1);
    test_has_ended(out, TEST_CANCELLED, NULL);
    assert_int_equal(timers(), 0);
    assert_int_equal(probe.runs, 1);
}

/* -- Executors that refuse and drop ------------------------------------------------------- */

/* OWN-05: refused at first it is not begun, and the argument is the caller's. */
TEST(the_first_can_be_refused)
{
    rota_call call = test_probe_call(&probe);
    rota_retry_options options = {.attempts = 3};

    test_manual_refuse_after(manual, 0, ROTA_EFULL);
    assert_status(rota_retry(executor, &call, &options, &out), ROTA_EFULL);
    assert_status(rota_hedge(executor, &call, FIRST, &out), ROTA_EFULL);
    assert_ptr_equal(out, TEST_UNTOUCHED);
    assert_int_equal(probe.discards, 0);
    assert_int_equal(timers(), 0);
}

/* COMP-09: refused later it fails with that status. */
TEST(the_second_can_be_refused)
{
    retry((rota_retry_options){.attempts = 3, .first_delay = FIRST});
    run_attempt(1);
    test_manual_refuse_after(manual, 0, ROTA_EREJECTED);
    pass(FIRST);
    test_has_failed(out, ROTA_EREJECTED);
    assert_int_equal(probe.runs, 1);
    assert_int_equal(probe.discards, 0);
}

/* OWN-20: an attempt that the executor drops unrun is cancelled, and all of it. */
TEST(an_attempt_can_be_dropped)
{
    retry((rota_retry_options){.attempts = 3});
    test_manual_discard(manual, 0);
    test_has_ended(out, TEST_CANCELLED, NULL);
    assert_int_equal(probe.runs, 0);
    assert_int_equal(probe.discards, 1);
}

/* An executor that runs it at once. */
TEST(it_can_be_run_at_once)
{
    rota_executor *direct;
    rota_call call = test_probe_call(&probe);
    rota_retry_options options = {.attempts = 3};

    assert_ok(test_executor_direct(&direct));
    probe.error = 5;
    assert_ok(rota_retry(direct, &call, &options, &out));
    assert_status(rota_future_get(out, NULL), ROTA_EFAILED);
    test_has_failed(out, 5);
    assert_int_equal(probe.runs, 3);
    settle();
    assert_ok(rota_close(direct));
}

/* -- Hedges ------------------------------------------------------------------------------- */

/* Done in time: once. */
TEST(a_hedge_in_time_runs_once)
{
    for (int code = 0; code < 2; code++) {
        hedge();
        assert_int_equal(timers(), 1);
        run_attempt(code);
        assert_int_equal(timers(), 0);
        if (code == 0)
            test_has_ended(out, TEST_SUCCEEDS, &probe);
        else
            test_has_failed(out, code);
        pass(FIRST);
        assert_int_equal(test_manual_count(manual), 0);
        rota_future_unref(out);
        out = TEST_UNTOUCHED;
    }
    assert_int_equal(probe.runs, 2);
}

static void make_it_two(void)
{
    hedge();
    pass(FIRST - 1);
    assert_int_equal(test_manual_count(manual), 1);
    pass(1);
    assert_int_equal(test_manual_count(manual), 2);
    test_is_pending(out);
}

/* Late: whichever succeeds first is it, and the other is cancelled. */
TEST(the_first_that_succeeds_is_it)
{
    for (size_t which = 0; which < 2; which++) {
        make_it_two();
        test_manual_run(manual, which);
        test_has_ended(out, TEST_SUCCEEDS, &probe);
        test_manual_run(manual, 0);
        assert_int_equal(probe.runs, which + 1);
        rota_future_unref(out);
        out = TEST_UNTOUCHED;
        assert_int_equal(probe.frees, which + 1);
    }
    assert_int_equal(probe.discards, 0);
}

/* One fails: the other is waited for; it ends as the last that fails, or the one that succeeds. */
TEST(a_failure_waits_for_the_other)
{
    for (int code = 0; code < 2; code++) {
        make_it_two();
        run_attempt(50);
        test_is_pending(out);
        run_attempt(code);
        if (code == 0)
            test_has_ended(out, TEST_SUCCEEDS, &probe);
        else
            test_has_failed(out, code);
        rota_future_unref(out);
        out = TEST_UNTOUCHED;
    }
    assert_int_equal(probe.runs, 4);
}

static atomic_bool is_second;

static void sleep_first(void *arg)
{
    if (!atomic_exchange(&is_second, true))
        sleep_until_interrupted(arg);
}

/* The slower one is interrupted where it runs. */
TEST(the_slower_one_is_interrupted)
{
    probe.during = sleep_first;
    make_it_two();
    test_thread *slow = test_thread_start(run_first, NULL);
    test_await_parked(test_thread_handle(slow));
    test_manual_run(manual, 0);
    test_has_ended(out, TEST_SUCCEEDS, &probe);
    test_thread_join(slow);
    assert_int_equal(probe.frees, 1); /* what the slow one returned */
    assert_int_equal(probe.runs, 2);
}

/* Cancelled: both are, and neither runs; or the timer is. */
TEST(a_hedge_can_be_cancelled)
{
    hedge();
    assert_true(rota_future_cancel(out));
    assert_int_equal(timers(), 0);
    run_attempt(0);
    rota_future_unref(out);
    make_it_two();
    assert_true(rota_future_cancel(out));
    run_attempt(0);
    run_attempt(0);
    assert_int_equal(probe.runs, 0);
    assert_int_equal(probe.discards, 2);
}

/* A second one that is refused is none; the first goes on. */
TEST(a_hedge_can_do_without_the_second)
{
    hedge();
    test_manual_refuse_after(manual, 0, ROTA_EFULL);
    pass(FIRST);
    test_is_pending(out);
    run_attempt(0);
    test_has_ended(out, TEST_SUCCEEDS, &probe);
    assert_int_equal(probe.runs, 1);
}

/* GEN-04: without a delay there are two from the start. */
TEST(a_hedge_without_a_delay)
{
    rota_call call = test_probe_call(&probe);

    assert_ok(rota_hedge(executor, &call, -1, &out));
    await_attempts(2);
    run_attempt(0);
    run_attempt(0);
    test_has_ended(out, TEST_SUCCEEDS, &probe);
    settle();
    assert_int_equal(probe.runs, 1);
}
