/* SPDX-License-Identifier: MIT */
/*
 * Timeouts, and executors that wait first, in virtual time.
 */
#include "executors.h"
#include "pools.h"
#include "rota_test_compose.h"
#include "rota_test_internal.h"

#include "compose/compose_internal.h"

#include <string.h>

TEST_FIXTURE(.setup = test_clock_before, .teardown = test_clock_after);

#define LATER ROTA_SEC(10)

static char value;
static char late_value;

/* What the timer has to wait for. */
static size_t timers(void)
{
    return test_stats(rota__timer()).queued;
}

static bool is_done(void *future)
{
    return rota_future_is_done(future);
}

/* Time passes, and the future notices. */
static void ends_after(rota_future *future, rota_ns duration)
{
    test_await_waiting(rota__timer(), 1); /* the thread has begun, and found what it waits for */
    test_clock_advance(duration - 1);
    test_await_waiting(rota__timer(), 1);
    test_is_pending(future); /* not early */
    test_clock_advance(1);
    test_until(is_done, future);
}

static rota_future *new_timeout(bool has_value, rota_future *source, rota_ns timeout)
{
    rota_future *out = NULL;

    if (has_value)
        assert_ok(rota_timeout_value(source, timeout, &late_value, &out));
    else
        assert_ok(rota_timeout(source, timeout, &out));
    return out;
}

static void is_late(bool has_value, rota_future *future)
{
    if (has_value)
        test_has_ended(future, TEST_SUCCEEDS, &late_value);
    else
        test_has_failed(future, ROTA_ETIMEDOUT);
}

/* -- A source that ends while its timeout is made ------------------------------------------ */

static rota_future *source_to_end;
static pthread_t its_maker;
static unsigned allocations_before; /* it ends */

/* Called as the library asks for memory. */
static bool end_source(void)
{
    if (pthread_equal(pthread_self(), its_maker) && allocations_before > 0
        && --allocations_before == 0)
        test_end(source_to_end, TEST_SUCCEEDS, &value);
    return false;
}

/* Whenever that is, it has ended as its source, and its timer is gone. */
TEST(a_source_may_end_while_its_timeout_is_made)
{
    rota_future *out;
    bool has_ended = true;

    its_maker = pthread_self();
    for (unsigned n = 1; has_ended; n++) {
        rota__blocks_flush();
        source_to_end = test_promise();
        allocations_before = n;
        test_memory_fail_only(end_source);
        out = new_timeout(false, source_to_end, LATER);
        test_memory_fail_only(NULL);
        has_ended = allocations_before == 0;
        if (!has_ended)
            test_end(source_to_end, TEST_SUCCEEDS, &value);
        test_has_ended(out, TEST_SUCCEEDS, &value);
        assert_int_equal(timers(), 0);
        rota_future_unref(out);
        rota_future_unref(source_to_end);
    }
}

/* -- Timeouts ----------------------------------------------------------------------------- */

/* COMP-19: it ends when its time has come, not before, and the source goes on. */
TEST(it_ends_when_its_time_has_come)
{
    for (int has_value = 0; has_value < 2; has_value++) {
        rota_future *source = test_promise();
        rota_future *out = new_timeout(has_value, source, LATER);
        assert_int_equal(rota_future_dependents(source), 1);
        ends_after(out, LATER);
        is_late(has_value, out);
        test_await_waiting(rota__timer(), 1);
        test_is_pending(source);
        assert_int_equal(rota_future_dependents(source), 0); /* COMP-26 */
        test_end(source, TEST_SUCCEEDS, &value);
        is_late(has_value, out);
        rota_future_unref(out);
        rota_future_unref(source);
    }
}

/* COMP-19: a source that ends first takes the timer along. */
TEST(its_source_takes_the_timer_along)
{
    for (int i = 0; i < 2 * TEST_ENDINGS; i++) {
        rota_future *source = test_promise();
        rota_future *out = new_timeout(i & 1, source, LATER);
        assert_int_equal(timers(), 1);
        test_end(source, i / 2, &value);
        assert_int_equal(timers(), 0);
        test_has_ended(out, i / 2, &value);
        rota_future_unref(out);
        rota_future_unref(source);
    }
}

/* COMP-19: so does any other end. */
TEST(another_end_takes_the_timer_along)
{
    for (int i = 0; i < 2 * TEST_ENDINGS; i++) {
        rota_future *source = test_promise();
        rota_future *out = new_timeout(i & 1, source, LATER);
        test_end(out, i / 2, &value);
        assert_int_equal(timers(), 0);
        assert_int_equal(rota_future_dependents(source), 0);
        test_has_ended(out, i / 2, &value);
        test_is_pending(source);
        rota_future_unref(out);
        rota_future_unref(source);
    }
}

/* COMP-19: a source that is done needs no timer. */
TEST(a_source_that_is_done_needs_no_timer)
{
    for (int i = 0; i < 2 * TEST_ENDINGS; i++) {
        rota_future *source = test_done(i / 2, &value);
        rota_future *out = new_timeout(i & 1, source, i % 3 == 0 ? -1 : LATER);
        test_has_ended(out, i / 2, &value);
        assert_int_equal(timers(), 0);
        rota_future_unref(out);
        rota_future_unref(source);
    }
}

/* COMP-19, GEN-04: 0 or less is at once; for ever is never: neither needs a timer. */
TEST(no_time_and_all_time_need_no_timer)
{
    const rota_ns none[] = {0, -1, INT64_MIN};

    for (int i = 0; i < 6; i++) {
        rota_future *source = test_promise();
        rota_future *out = new_timeout(i & 1, source, none[i / 2]);
        is_late(i & 1, out);
        assert_int_equal(rota_future_dependents(source), 0);
        rota_future_unref(out);
        out = new_timeout(i & 1, source, ROTA_FOREVER);
        assert_int_equal(timers(), 0);
        test_is_pending(out);
        test_end(source, TEST_FAILS, NULL);
        test_has_ended(out, TEST_FAILS, NULL);
        rota_future_unref(out);
        rota_future_unref(source);
    }
}

/* COMP-19, COMP-27: nobody holds it: its timer goes with the source, or the other way round. */
TEST(nobody_needs_to_hold_it)
{
    rota_future *source = test_promise();

    rota_future_unref(new_timeout(false, source, LATER));
    assert_int_equal(timers(), 1);
    test_end(source, TEST_SUCCEEDS, NULL);
    assert_int_equal(timers(), 0);
    rota_future_unref(source);
    rota_future_unref(new_timeout(true, source = test_promise(), LATER));
    test_await_waiting(rota__timer(), 1);
    test_clock_advance(LATER);
    test_await_completed(rota__timer(), 1);
    test_await_waiting(rota__timer(), 1);
    assert_int_equal(rota_future_dependents(source), 0);
    rota_future_unref(source);
}

/* Many share one thread, and end in the order of their times. */
TEST(many_share_one_thread)
{
    enum { MANY = 100 };
    rota_future *source = test_promise();
    rota_future *outs[MANY];

    for (int i = 0; i < MANY; i++)
        outs[i] = new_timeout(false, source, ROTA_SEC(1 + i * 37 % MANY));
    assert_int_equal(timers(), MANY);
    assert_int_equal(test_stats(rota__timer()).threads, 1);
    test_await_waiting(rota__timer(), 1);
    for (int i = 1; i <= MANY; i++) {
        test_clock_advance(ROTA_SEC(1));
        test_await_completed(rota__timer(), (uint64_t)i);
        test_await_waiting(rota__timer(), 1);
        assert_int_equal(rota_future_dependents(source), MANY - i);
    }
    for (int i = 0; i < MANY; i++) {
        test_has_failed(outs[i], ROTA_ETIMEDOUT);
        rota_future_unref(outs[i]);
    }
    rota_future_unref(source);
}

/* A little later. */
static bool has_gone(void *arg)
{
    test_clock_advance(ROTA_SEC(1));
    return test_stats(rota__timer()).threads == 0;
}

/* The thread is there only while there is something to wait for. */
TEST(the_thread_goes_when_nothing_is_left)
{
    rota_future *source = test_promise();
    rota_future *out = new_timeout(false, source, LATER);

    test_await_threads(rota__timer(), 1);
    test_end(source, TEST_SUCCEEDS, NULL);
    test_until(has_gone, NULL);
    rota_future_unref(out);
    rota_future_unref(source);
}

/* What follows from a timeout is run by it. */
static void *count(int status, void *seen, int error, void *counter)
{
    atomic_fetch_add((atomic_uint *)counter, error == ROTA_ETIMEDOUT);
    return counter;
}

/* COMP-13, COMP-19 */
TEST(a_timeout_can_be_recovered_from)
{
    atomic_uint counter = 0;
    rota_future *source = test_promise();
    rota_future *out = new_timeout(false, source, LATER);
    rota_future *recovered;

    assert_ok(rota_recover(out, NULL, count, &counter, &recovered));
    ends_after(recovered, LATER);
    test_has_ended(recovered, TEST_SUCCEEDS, &counter);
    assert_int_equal(counter, 1);
    test_await_waiting(rota__timer(), 1); /* it has let go of what it ended */
    rota_future_unref(recovered);
    rota_future_unref(out);
    rota_future_unref(source);
}

/* -- Executors that wait first ------------------------------------------------------------ */

/* Where the task of one test is. */
static struct {
    rota_executor *inner;
    test_manual *manual;
    rota_executor *delayed;
    test_probe probe;
    rota_future *future;
} way;

static void send(rota_ns delay)
{
    memset(&way, 0, sizeof way);
    way.manual = test_executor_manual(&way.inner);
    assert_ok(rota_delayed(way.inner, delay, &way.delayed));
    rota_call call = test_probe_call(&way.probe);
    assert_ok(rota_submit_call(way.delayed, &call, &way.future));
}

static void arrive(void)
{
    assert_ok(rota_close(way.delayed));
    assert_ok(rota_close(way.inner));
    rota_future_unref(way.future);
}

/* COMP-20: the task is passed on when its time has come, not before. */
TEST(a_task_is_passed_on_later)
{
    send(LATER);
    test_await_waiting(rota__timer(), 1);
    test_clock_advance(LATER - 1);
    test_await_waiting(rota__timer(), 1);
    assert_int_equal(test_manual_count(way.manual), 0);
    test_clock_advance(1);
    test_manual_await_count(way.manual, 1);
    test_is_pending(way.future);
    test_manual_run(way.manual, 0);
    test_has_ended(way.future, TEST_SUCCEEDS, &way.probe);
    arrive();
}

/*
 * COMP-20: a task on the way can be cancelled: it is not run, and leaves at once, with its timer;
 * nobody waits for it.
 */
TEST(a_task_on_the_way_can_be_cancelled)
{
    send(LATER);
    assert_int_equal(timers(), 1);
    assert_true(rota_future_cancel(way.future));
    assert_int_equal(way.probe.discards, 1);
    assert_int_equal(timers(), 0);
    assert_int_equal(test_manual_count(way.manual), 0);
    arrive();
    assert_int_equal(way.probe.runs, 0);
    assert_int_equal(way.probe.discards, 1);
}

static void cancel_in_child(void *arg)
{
    test_check(rota_future_cancel(way.future));
    test_check(way.probe.discards == 1);
}

/* In a child of fork(2) the timer is not there, and a task on the way is cancelled all the same. */
TEST(a_task_on_the_way_can_be_cancelled_in_a_child)
{
    if (!TEST_FORKS_ARE_FOLLOWED)
        skip();
    send(LATER);
    assert_int_equal(test_in_child(cancel_in_child, NULL), 0);
    assert_int_equal(timers(), 1);
    assert_true(rota_future_cancel(way.future));
    arrive();
}

/* COMP-20: one that was cancelled before it came does not stay. */
TEST(a_task_that_was_cancelled_before_does_not_stay)
{
    rota_future *future;

    send(LATER);
    rota_task *task = test_task(test_probe_call(&way.probe), &future);
    assert_true(rota_future_cancel(future));
    assert_ok(rota_execute_task(way.delayed, task));
    assert_int_equal(timers(), 1);
    rota_future_unref(future);
    assert_true(rota_future_cancel(way.future));
    arrive();
    assert_int_equal(way.probe.runs, 0);
    assert_int_equal(way.probe.discards, 2);
}

/* COMP-20: one that is completed by hand leaves, too. */
TEST(a_task_on_the_way_can_be_completed)
{
    send(LATER);
    assert_true(rota_promise_complete(way.future, &way.probe));
    assert_int_equal(timers(), 0);
    test_has_ended(way.future, TEST_SUCCEEDS, &way.probe);
    arrive();
    assert_int_equal(way.probe.runs, 0);
    assert_int_equal(way.probe.discards, 1);
}

/* COMP-20, OWN-20: refused at the end of its way it is discarded, and cancelled. */
TEST(a_task_that_is_refused_late_is_discarded)
{
    send(LATER);
    test_manual_refuse_after(way.manual, 0, ROTA_EREJECTED);
    test_await_waiting(rota__timer(), 1);
    test_clock_advance(LATER);
    test_until(is_done, way.future);
    test_has_ended(way.future, TEST_CANCELLED, NULL);
    assert_ok(rota_close(way.delayed));
    assert_int_equal(way.probe.discards, 1);
    assert_ok(rota_close(way.inner));
    rota_future_unref(way.future);
}

static void close_delayed(void *arg)
{
    test_check(rota_close(way.delayed) == ROTA_OK);
    test_check(test_manual_count(way.manual) == 1);
}

/* COMP-20: closing waits for what is on the way, and takes nothing new. */
TEST(closing_waits_for_what_is_on_the_way)
{
    send(LATER);
    test_await_waiting(rota__timer(), 1);
    assert_ok(rota_shutdown(way.delayed));
    assert_status(rota_execute(way.delayed, test_count, NULL), ROTA_EREJECTED);
    assert_status(rota_await_termination(way.delayed, 0), ROTA_ETIMEDOUT);
    assert_status(rota_executor_free(way.delayed), ROTA_EBUSY);
    test_thread *closer = test_thread_start(close_delayed, NULL);
    test_await_parked(test_thread_handle(closer));
    test_clock_advance(LATER);
    test_thread_join(closer);
    test_manual_run(way.manual, 0);
    assert_int_equal(way.probe.runs, 1);
    assert_ok(rota_close(way.inner));
    rota_future_unref(way.future);
}

/* COMP-20, GEN-04: no delay passes it on at once, through the timer. */
TEST(no_delay_is_soon)
{
    for (int i = 0; i < 2; i++) {
        send(i == 0 ? 0 : INT64_MIN);
        test_manual_await_count(way.manual, 1);
        test_manual_run(way.manual, 0);
        test_has_ended(way.future, TEST_SUCCEEDS, &way.probe);
        arrive();
    }
}

/* COMP-08, COMP-20: a step can go through one. */
static void *give_late(void *given, void *arg)
{
    return &late_value;
}

TEST(a_step_can_be_delayed)
{
    rota_executor *inner;
    rota_executor *delayed;
    rota_future *source = test_done(TEST_SUCCEEDS, &value);
    rota_future *out;

    assert_ok(test_executor_direct(&inner));
    assert_ok(rota_delayed(inner, LATER, &delayed));
    assert_ok(rota_then(source, delayed, give_late, NULL, &out));
    ends_after(out, LATER);
    test_has_ended(out, TEST_SUCCEEDS, &late_value);
    assert_ok(rota_close(delayed));
    assert_ok(rota_close(inner));
    rota_future_unref(out);
    rota_future_unref(source);
}
