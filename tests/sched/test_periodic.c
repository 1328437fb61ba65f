/* SPDX-License-Identifier: MIT */
/*
 * Tasks that run again and again: when, one run at a time, and until when.
 */
#include "pools.h"
#include "rota_test_internal.h"

enum { BEATS = 64 };

/* A periodic task that notes when it runs. All of it but `runs` is plain memory: SCHED-14. */
struct beat {
    rota_ns started[BEATS]; /* since `start` */
    rota_ns start;
    rota_ns takes;      /* a run, of virtual time */
    unsigned slow_runs; /* the first so many take that long */
    unsigned fails_at;  /* this run, from 1; 0: none */
    unsigned ends_thread_at;
    unsigned count;
    atomic_bool inside;
    atomic_uint runs; /* that have ended */
    atomic_uint discards;
    rota_future *future;
};

static struct beat beat;
static rota_executor *sched;

enum { FAILURE = 42 };

static void *beat_run(void *arg)
{
    struct beat *self = arg;
    unsigned number = self->count++;

    test_check(!atomic_exchange(&self->inside, true));
    if (number < BEATS)
        self->started[number] = rota_now() - self->start;
    if (number < self->slow_runs)
        test_clock_advance(self->takes);
    test_check(atomic_exchange(&self->inside, false));
    atomic_fetch_add(&self->runs, 1);
    if (number + 1 == self->ends_thread_at)
        pthread_exit(NULL);
    return number + 1 == self->fails_at ? rota_fail(FAILURE) : self;
}

static void beat_discard(void *arg)
{
    atomic_fetch_add(&((struct beat *)arg)->discards, 1);
}

static const rota_call beat_call = {.fn = beat_run, .arg = &beat, .discard = beat_discard};

/* One beat that does as it says, and threads to run it. */
static void begin(struct beat how, unsigned threads)
{
    beat = how;
    beat.start = rota_now();
    sched = test_sched((rota_sched_options){.core_threads = threads});
}

/* It runs still: ends it. */
static void end(void)
{
    assert_int_equal(beat.discards, 0);
    assert_true(rota_future_cancel(beat.future));
    assert_ok(rota_close(sched));
    assert_int_equal(beat.discards, 1);
    assert_int_equal(rota_future_state_of(beat.future), ROTA_FUTURE_CANCELED);
    rota_future_unref(beat.future);
}

static void started_at(const rota_ns *seconds, unsigned count)
{
    assert_int_equal(beat.runs, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(beat.started[i], ROTA_SEC(seconds[i]));
}

static int at_rate(rota_ns initial, rota_ns period)
{
    return rota_schedule_call(sched, &beat_call, initial, period, &beat.future);
}

static int skipping(rota_ns initial, rota_ns period)
{
    return rota_schedule_skipping(sched, &beat_call, initial, period, &beat.future);
}

/* -- At a fixed rate ---------------------------------------------------------------------- */

/* SCHED-11 */
TEST_WITH(test_virtual_time, at_a_fixed_rate_it_is_due_at_each_multiple_of_the_period)
{
    static const rota_ns times[] = {5, 7, 9, 11, 13, 15, 17, 19};

    begin((struct beat){0}, 1);
    assert_ok(rota_schedule_at_fixed_rate(sched, beat_run, &beat, ROTA_SEC(5), ROTA_SEC(2),
                                          &beat.future));
    test_await_waiting(sched, 1);
    for (int second = 1; second <= 19; second++)
        test_pass(sched, ROTA_SEC(1), 1);
    started_at(times, 8);
    assert_int_equal(rota_future_delay(beat.future), ROTA_SEC(2));
    assert_true(rota_future_cancel(beat.future));
    rota_future_unref(beat.future);
    assert_ok(rota_close(sched));
}

/* SCHED-12, FAULT-32: none is left out, none overlaps, and then it is on time. */
TEST_WITH(test_virtual_time, missed_runs_are_caught_up_one_after_the_other)
{
    begin((struct beat){0}, 4);
    assert_ok(at_rate(ROTA_SEC(1), ROTA_SEC(1)));
    test_await_waiting(sched, 1);
    test_clock_advance(ROTA_SEC(50) + ROTA_MS(300));
    test_await_count(&beat.runs, 50);
    test_await_waiting(sched, 1);
    assert_int_equal(beat.runs, 50);
    for (unsigned i = 0; i < 50; i++)
        assert_int_equal(beat.started[i], ROTA_SEC(50) + ROTA_MS(300));
    assert_int_equal(rota_future_delay(beat.future), ROTA_MS(700));
    test_pass(sched, ROTA_MS(700), 1);
    assert_int_equal(beat.runs, 51);
    end();
}

/* SCHED-12: the next time follows from the last one, not from the end of the run. */
TEST_WITH(test_virtual_time, a_run_longer_than_the_period_is_caught_up)
{
    static const rota_ns times[] = {0, 5, 5, 6, 8};

    begin((struct beat){.takes = ROTA_SEC(5), .slow_runs = 1}, 2);
    assert_ok(at_rate(0, ROTA_SEC(2)));
    test_await_count(&beat.runs, 3);
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_SEC(1), 1);
    test_pass(sched, ROTA_SEC(2), 1);
    started_at(times, 5);
    end();
}

/* SCHED-14: with threads enough to run several at once; the thread sanitizer sees the plain count. */
TEST_WITH(test_virtual_time, runs_do_not_overlap_and_see_what_was_done_before)
{
    unsigned started;

    begin((struct beat){0}, 4);
    assert_ok(rota_pool_prestart(sched, &started));
    assert_int_equal(started, 4);
    assert_ok(at_rate(0, 1));
    for (unsigned i = 1; i <= 40; i++) {
        test_clock_advance(50);
        test_await_count(&beat.runs, 50 * i);
    }
    test_await_waiting(sched, 4);
    assert_int_equal(beat.runs, 2001);
    assert_int_equal(beat.count, 2001);
    end();
}

/* -- With a fixed delay ------------------------------------------------------------------- */

/* SCHED-13 */
TEST_WITH(test_virtual_time, with_a_fixed_delay_it_is_due_that_long_after_the_last_end)
{
    static const rota_ns times[] = {1, 9, 17, 22};

    begin((struct beat){.takes = ROTA_SEC(3), .slow_runs = 2}, 1);
    assert_ok(rota_schedule_with_fixed_delay(sched, beat_run, &beat, ROTA_SEC(1), ROTA_SEC(5),
                                             &beat.future));
    test_await_waiting(sched, 1);
    test_clock_advance(ROTA_SEC(1));
    test_await_count(&beat.runs, 1);
    test_await_waiting(sched, 1);
    assert_int_equal(rota_future_delay(beat.future), ROTA_SEC(5));
    test_clock_advance(ROTA_SEC(5));
    test_await_count(&beat.runs, 2);
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_SEC(5), 1);
    test_pass(sched, ROTA_SEC(5), 1);
    started_at(times, 4);
    assert_true(rota_future_cancel(beat.future));
    rota_future_unref(beat.future);
    assert_ok(rota_close(sched));
}

/* SCHED-03, SCHED-13: late runs are not caught up. */
TEST_WITH(test_virtual_time, a_negative_period_is_a_fixed_delay)
{
    static const rota_ns times[] = {0, 100, 103};

    begin((struct beat){0}, 1);
    assert_ok(at_rate(0, -ROTA_SEC(3)));
    test_await_count(&beat.runs, 1);
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_SEC(100), 1);
    assert_int_equal(rota_future_delay(beat.future), ROTA_SEC(3));
    test_pass(sched, ROTA_SEC(3), 1);
    started_at(times, 3);
    end();
}

/* SCHED-07 */
TEST_WITH(test_virtual_time, the_first_run_is_not_before_the_initial_delay)
{
    static const rota_ns times[] = {12};

    begin((struct beat){0}, 1);
    assert_ok(at_rate(ROTA_SEC(12), -INT64_MAX));
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_SEC(12) - 1, 1);
    assert_int_equal(beat.runs, 0);
    test_pass(sched, 1, 1);
    started_at(times, 1);
    test_pass(sched, ROTA_HOURS(10000), 1);
    assert_int_equal(beat.runs, 1);
    end();
}

/* -- Leaving out what was missed ---------------------------------------------------------- */

/* FAULT-32: "The next is due at the first start + n * period that lies ahead." */
TEST_WITH(test_virtual_time, skipping_leaves_out_what_was_missed)
{
    static const rota_ns times[] = {1, 26, 31, 41, 51};

    begin((struct beat){0}, 1);
    assert_ok(skipping(ROTA_SEC(1), ROTA_SEC(10)));
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_SEC(1), 1);
    test_pass(sched, ROTA_SEC(25), 1); /* 11 is late, 21 was missed */
    assert_int_equal(rota_future_delay(beat.future), ROTA_SEC(5));
    test_pass(sched, ROTA_SEC(5), 1);
    test_pass(sched, ROTA_SEC(10), 1);
    test_pass(sched, ROTA_SEC(10), 1);
    started_at(times, 5);
    end();
}

/* A run that begins at the very moment of a later one stands for that, too. */
TEST_WITH(test_virtual_time, skipping_goes_on_after_the_present_moment)
{
    static const rota_ns times[] = {30, 40};

    begin((struct beat){0}, 1);
    assert_ok(skipping(0, ROTA_SEC(10)));
    test_await_count(&beat.runs, 1);
    test_await_waiting(sched, 1);
    beat.count = 0;
    beat.runs = 0;
    test_pass(sched, ROTA_SEC(30), 1); /* 10, 20 and 30 */
    assert_int_equal(rota_future_delay(beat.future), ROTA_SEC(10));
    test_pass(sched, ROTA_SEC(10), 1);
    started_at(times, 2);
    end();
}

TEST_WITH(test_virtual_time, skipping_leaves_out_what_a_long_run_has_missed)
{
    static const rota_ns times[] = {0, 30, 40};

    begin((struct beat){.takes = ROTA_SEC(25), .slow_runs = 1}, 2);
    assert_ok(skipping(0, ROTA_SEC(10)));
    test_await_count(&beat.runs, 1);
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_SEC(5), 1);
    test_pass(sched, ROTA_SEC(10), 1);
    started_at(times, 3);
    end();
}

/* -- Among others ------------------------------------------------------------------------- */

/* SCHED-05: a periodic task has the place of its submission, in each of its runs. */
TEST_WITH(test_virtual_time, a_periodic_task_keeps_its_place_among_equal_times)
{
    static const unsigned order[] = {0, 1, 0, 1, 2};
    test_journal journal;
    test_note notes[3];
    rota_future *futures[2];

    begin((struct beat){0}, 1);
    test_notes_init(notes, 3, &journal);
    for (unsigned i = 0; i < 2; i++)
        assert_ok(rota_schedule_at_fixed_rate(sched, test_note_down, &notes[i], ROTA_SEC(1),
                                              ROTA_SEC(1), &futures[i]));
    assert_ok(rota_schedule(sched, test_note_down, &notes[2], ROTA_SEC(2), NULL));
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_SEC(1), 1);
    test_pass(sched, ROTA_SEC(1), 1);
    test_journal_is(&journal, order, 5);
    test_stop(sched);
    for (unsigned i = 0; i < 2; i++)
        rota_future_unref(futures[i]);
}

/* -- Until when --------------------------------------------------------------------------- */

/* SCHED-15, FUT-20 */
TEST_WITH(test_virtual_time, it_is_not_done_between_its_runs)
{
    test_getter getter;

    begin((struct beat){0}, 1);
    assert_ok(at_rate(0, ROTA_SEC(1)));
    test_getter_start(&getter, beat.future, ROTA_FOREVER);
    for (unsigned i = 1; i <= 3; i++) {
        test_await_count(&beat.runs, i);
        test_await_waiting(sched, 1);
        assert_int_equal(rota_future_state_of(beat.future), ROTA_FUTURE_PENDING);
        assert_status(rota_future_get_timed(beat.future, 0, NULL), ROTA_ETIMEDOUT);
        test_clock_advance(ROTA_SEC(1));
    }
    end();
    test_getter_ends(&getter, ROTA_ECANCELED, TEST_UNTOUCHED);
}

/* SCHED-16 */
TEST_WITH(test_virtual_time, a_run_that_fails_is_the_last_and_the_future_says_why)
{
    atomic_uint others = 0;
    test_getter getter;
    rota_future *other;

    begin((struct beat){.fails_at = 3}, 1);
    assert_ok(at_rate(0, ROTA_SEC(1)));
    assert_ok(rota_schedule_at_fixed_rate(sched, test_count, &others, 0, ROTA_SEC(1), &other));
    test_getter_start(&getter, beat.future, ROTA_FOREVER);
    test_await_count(&others, 1);
    test_await_waiting(sched, 1);
    for (unsigned i = 0; i < 5; i++)
        test_pass(sched, ROTA_SEC(1), 1);
    test_getter_ends(&getter, ROTA_EFAILED, TEST_UNTOUCHED);
    assert_int_equal(rota_future_error(beat.future), FAILURE);
    assert_int_equal(beat.runs, 3);
    assert_int_equal(beat.discards, 1);
    assert_int_equal(others, 6);
    assert_int_equal(test_stats(sched).queued, 1);
    assert_int_equal(test_stats(sched).largest, 1);
    rota_future_unref(beat.future);
    test_stop(sched);
    rota_future_unref(other);
}

/* GEN-14 */
TEST_WITH(test_virtual_time, a_run_that_ends_its_thread_is_the_last_and_others_go_on)
{
    atomic_uint others = 0;
    rota_future *other;

    begin((struct beat){.ends_thread_at = 2}, 1);
    assert_ok(at_rate(0, ROTA_SEC(1)));
    assert_ok(rota_schedule_at_fixed_rate(sched, test_count, &others, 0, ROTA_SEC(1), &other));
    for (unsigned i = 1; i <= 4; i++) {
        test_await_count(&others, i);
        test_await_waiting(sched, 1);
        test_clock_advance(ROTA_SEC(1));
    }
    assert_status(rota_future_get(beat.future, NULL), ROTA_EFAILED);
    assert_int_equal(rota_future_error(beat.future), ROTA_ECANCELED);
    assert_int_equal(beat.runs, 2);
    assert_int_equal(beat.discards, 1);
    rota_future_unref(beat.future);
    test_stop(sched);
    rota_future_unref(other);
}

static void *cancel_itself(void *arg)
{
    struct beat *self = arg;

    if (++self->count == 3)
        test_check(rota_future_cancel(self->future));
    atomic_fetch_add(&self->runs, 1);
    return self;
}

static void cancels_itself(rota_ns period)
{
    const rota_call call = {.fn = cancel_itself, .arg = &beat, .discard = beat_discard};

    begin((struct beat){0}, 1);
    assert_ok(rota_schedule_call(sched, &call, ROTA_SEC(1), period, &beat.future));
    test_await_waiting(sched, 1);
    for (unsigned i = 0; i < 6; i++)
        test_pass(sched, ROTA_SEC(1), 1);
    assert_int_equal(beat.runs, 3);
    assert_int_equal(beat.discards, 1);
    assert_int_equal(test_stats(sched).queued, 0);
    assert_status(rota_future_get(beat.future, NULL), ROTA_ECANCELED);
    rota_future_unref(beat.future);
    assert_ok(rota_close(sched));
}

/* SCHED-32 */
TEST_WITH(test_virtual_time, a_run_that_cancels_its_future_is_the_last)
{
    cancels_itself(ROTA_SEC(1));
    cancels_itself(-ROTA_SEC(1));
}

/* SCHED-22: cancelled while it runs; with or without an interrupt it does not come again. */
TEST_WITH(test_virtual_time, a_run_during_which_it_is_cancelled_is_the_last)
{
    for (int now = 0; now < 2; now++) {
        const rota_call call = {.fn = test_wait_at, .arg = NULL};
        rota_call waits = call;
        rota_future *future;
        test_gate gate;

        begin((struct beat){0}, 1);
        test_gate_init(&gate);
        waits.arg = &gate;
        assert_ok(rota_schedule_call(sched, &waits, 0, ROTA_SEC(1), &future));
        test_await_count(&gate.begun, 1);
        assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_RUNNING);
        assert_true(now ? rota_future_cancel_now(future) : rota_future_cancel(future));
        test_gate_open(&gate);
        test_await_waiting(sched, 1);
        test_pass(sched, ROTA_SEC(10), 1);
        assert_int_equal(gate.begun, 1);
        assert_int_equal(gate.interrupted, now);
        assert_int_equal(test_stats(sched).queued, 0);
        rota_future_unref(future);
        assert_ok(rota_close(sched));
    }
}

/* FUT-26: a value by hand is an end, too. */
TEST_WITH(test_virtual_time, a_periodic_task_that_is_completed_by_hand_leaves)
{
    void *result;

    begin((struct beat){0}, 1);
    assert_ok(at_rate(0, ROTA_SEC(1)));
    test_await_count(&beat.runs, 1);
    test_await_waiting(sched, 1);
    assert_true(rota_promise_complete(beat.future, &sched));
    assert_int_equal(test_stats(sched).queued, 0);
    assert_int_equal(beat.discards, 1);
    assert_ok(rota_future_get(beat.future, &result));
    assert_ptr_equal(result, &sched);
    rota_future_unref(beat.future);
    assert_ok(rota_close(sched));
    assert_int_equal(beat.runs, 1);
}

/* OWN-17 */
TEST_WITH(test_virtual_time, the_result_of_each_run_is_freed)
{
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future;

    begin((struct beat){0}, 1);
    assert_ok(rota_schedule_call(sched, &call, 0, ROTA_SEC(1), &future));
    test_await_count(&probe.runs, 1);
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_SEC(4), 1);
    assert_int_equal(probe.runs, 5);
    assert_int_equal(probe.frees, 5);
    assert_int_equal(probe.discards, 0);
    assert_true(rota_future_cancel(future));
    assert_int_equal(probe.discards, 1);
    rota_future_unref(future);
    assert_ok(rota_close(sched));
}

/* -- Extremes ----------------------------------------------------------------------------- */

/* SCHED-08, SCHED-09, FAULT-07: the second run of these never comes. */
TEST_WITH(test_virtual_time, the_longest_periods_run_once)
{
    static const rota_ns periods[] = {INT64_MAX, INT64_MAX - 1, INT64_MIN, INT64_MIN + 1,
                                      -INT64_MAX};

    for (unsigned i = 0; i < sizeof periods / sizeof periods[0]; i++) {
        begin((struct beat){0}, 1);
        assert_ok(at_rate(0, periods[i]));
        test_await_count(&beat.runs, 1);
        test_await_waiting(sched, 1);
        test_pass(sched, ROTA_HOURS(24) * 365, 1);
        assert_int_equal(beat.runs, 1);
        assert_true(rota_future_delay(beat.future) > 0);
        assert_true(rota_future_delay(beat.future) < ROTA_FOREVER);
        end();
    }
    begin((struct beat){0}, 1);
    assert_ok(skipping(0, INT64_MAX));
    test_await_count(&beat.runs, 1);
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_HOURS(24) * 365, 1);
    assert_int_equal(beat.runs, 1);
    end();
}

/* SCHED-09, SCHED-16: as fast as it can, by the clock of the system. */
TEST(a_period_of_a_nanosecond_ends_with_the_failure)
{
    static const rota_ns periods[] = {1, -1};

    for (unsigned i = 0; i < 2; i++) {
        begin((struct beat){.fails_at = 100}, 2);
        assert_ok(at_rate(0, periods[i]));
        assert_status(rota_future_get(beat.future, NULL), ROTA_EFAILED);
        rota_future_unref(beat.future);
        assert_ok(rota_close(sched));
        assert_int_equal(beat.runs, 100);
        assert_int_equal(beat.discards, 1);
    }
}

/* -- What a run may do -------------------------------------------------------------------- */

struct busybody {
    rota_future *victim;
    atomic_uint scheduled, done;
};

static void *meddle(void *arg)
{
    struct busybody *self = arg;

    test_check(rota_future_cancel(self->victim));
    test_check(rota_schedule(sched, test_count, &self->scheduled, ROTA_SEC(1), NULL) == ROTA_OK);
    test_check(rota_pool_set_core_threads(sched, 3) == ROTA_OK);
    test_check(rota_shutdown(sched) == ROTA_OK);
    atomic_fetch_add(&self->done, 1);
    return NULL;
}

/* SCHED-32, FAULT-14: cancel and schedule others, resize and shut down the pool. */
TEST_WITH(test_virtual_time, a_run_may_do_anything_to_its_pool)
{
    struct busybody body = {NULL, 0, 0};

    begin((struct beat){0}, 1);
    assert_ok(rota_schedule_call(sched, &beat_call, ROTA_SEC(9), 0, &body.victim));
    assert_ok(rota_schedule_at_fixed_rate(sched, meddle, &body, 0, ROTA_SEC(1), &beat.future));
    assert_status(rota_future_get(beat.future, NULL),
                  ROTA_ECANCELED); /* as a periodic task is then */
    test_await_count(&body.done, 1);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(1));
    assert_ok(rota_close(sched));
    assert_int_equal(body.scheduled, 1);
    assert_int_equal(beat.runs, 0);
    assert_int_equal(beat.discards, 1);
    rota_future_unref(body.victim);
    rota_future_unref(beat.future);
}
