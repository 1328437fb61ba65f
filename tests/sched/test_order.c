/* SPDX-License-Identifier: MIT */
/*
 * Tasks of a scheduled pool run in the order of their times, those of one time in the order of
 * their submission, and none before its time.
 */
#include "pools.h"
#include "rota_test_internal.h"

enum { NOTES = 300 };

static test_journal journal;
static test_note notes[NOTES];

static rota_executor *one_thread(void)
{
    test_notes_init(notes, NOTES, &journal);
    return test_sched((rota_sched_options){.core_threads = 1});
}

static void note_in(rota_executor *sched, unsigned number, rota_ns delay)
{
    assert_ok(rota_schedule(sched, test_note_down, &notes[number], delay, NULL));
}

static unsigned noted(void)
{
    return atomic_load(&journal.count);
}

/* -- Order -------------------------------------------------------------------------------- */

/* SCHED-05, SCHED-10 */
TEST_WITH(test_virtual_time, tasks_run_in_the_order_of_their_times)
{
    static const unsigned order[] = {1, 3, 2, 4, 0};
    rota_executor *sched = one_thread();

    note_in(sched, 0, ROTA_SEC(5));
    note_in(sched, 1, ROTA_SEC(1));
    note_in(sched, 2, ROTA_SEC(3));
    note_in(sched, 3, ROTA_SEC(2));
    note_in(sched, 4, ROTA_SEC(4));
    test_await_waiting(sched, 1);
    for (unsigned i = 1; i <= 5; i++) {
        test_pass(sched, ROTA_SEC(1), 1);
        test_journal_is(&journal, order, i);
    }
    assert_ok(rota_close(sched));
}

/* SCHED-05: also if they are late, and all at once. */
TEST_WITH(test_virtual_time, late_ones_run_in_the_order_of_their_times)
{
    static const unsigned order[] = {2, 1, 0};
    rota_executor *sched = one_thread();

    note_in(sched, 0, ROTA_SEC(3));
    note_in(sched, 1, ROTA_SEC(2));
    note_in(sched, 2, ROTA_SEC(1));
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_HOURS(1), 1);
    test_journal_is(&journal, order, 3);
    assert_ok(rota_close(sched));
}

/* SCHED-04, SCHED-05 */
TEST_WITH(test_virtual_time, equal_times_run_in_the_order_of_submission)
{
    rota_executor *sched = one_thread();
    unsigned order[NOTES];

    for (unsigned i = 0; i < NOTES; i++) {
        order[i] = i;
        note_in(sched, i, ROTA_SEC(1));
    }
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_SEC(1), 1);
    test_journal_is(&journal, order, NOTES);
    assert_ok(rota_close(sched));
}

enum { SUBMITTERS = 4, EACH = 60 };

struct submitter {
    rota_executor *sched;
    test_barrier *all;
    unsigned first;
    test_thread *thread;
};

static void submit_each(void *arg)
{
    const struct submitter *submitter = arg;

    test_barrier_wait(submitter->all);
    for (unsigned i = 0; i < EACH; i++)
        test_check(rota_schedule(submitter->sched, test_note_down, &notes[submitter->first + i],
                                 ROTA_SEC(1), NULL)
                   == ROTA_OK);
}

static void submit_together(rota_executor *sched)
{
    struct submitter submitters[SUBMITTERS];
    test_barrier all;

    test_barrier_init(&all, SUBMITTERS);
    for (unsigned i = 0; i < SUBMITTERS; i++) {
        submitters[i] = (struct submitter){sched, &all, i * EACH, NULL};
        submitters[i].thread = test_thread_start(submit_each, &submitters[i]);
    }
    for (unsigned i = 0; i < SUBMITTERS; i++)
        test_thread_join(submitters[i].thread);
}

/* SCHED-04: of all threads; what one has submitted before keeps its place before. */
TEST_WITH(test_virtual_time, submissions_of_several_threads_keep_their_order)
{
    rota_executor *sched = one_thread();
    unsigned next[SUBMITTERS] = {0};

    submit_together(sched);
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_SEC(1), 1);
    assert_int_equal(noted(), SUBMITTERS * EACH);
    for (unsigned i = 0; i < SUBMITTERS * EACH; i++) {
        unsigned number = journal.numbers[i];
        assert_int_equal(number % EACH, next[number / EACH]++);
    }
    assert_ok(rota_close(sched));
}

static rota_task *drained_note(unsigned number)
{
    return test_plain_task(test_note_down, &notes[number]);
}

/* SCHED-02: execute, submit, a task passed on and no delay are all "now", in their order. */
TEST_WITH(test_virtual_time, now_is_the_same_for_every_way_in)
{
    static const unsigned order[] = {0, 1, 2, 3, 4, 5, 6};
    rota_executor *sched = one_thread();
    rota_call call = {.fn = test_note_down, .arg = &notes[4]};
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(sched, &gate, 1);
    assert_ok(rota_execute(sched, test_note_down, &notes[0]));
    note_in(sched, 1, 0);
    assert_ok(rota_submit(sched, test_note_down, &notes[2], NULL));
    note_in(sched, 3, -ROTA_HOURS(1));
    assert_ok(rota_submit_call(sched, &call, NULL));
    note_in(sched, 5, INT64_MIN);
    assert_ok(rota_execute_task(sched, drained_note(6)));
    test_gate_open(&gate);
    test_await_waiting(sched, 1);
    test_journal_is(&journal, order, 7);
    assert_ok(rota_close(sched));
}

/* SCHED-02, SCHED-05: "now" is a time like any other. */
TEST_WITH(test_virtual_time, what_was_due_before_runs_before_what_is_executed_now)
{
    static const unsigned order[] = {1, 2, 0};
    rota_executor *sched = one_thread();
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(sched, &gate, 1);
    note_in(sched, 0, ROTA_SEC(3));
    note_in(sched, 1, ROTA_SEC(1));
    test_clock_advance(ROTA_SEC(2));
    assert_ok(rota_execute(sched, test_note_down, &notes[2]));
    test_clock_advance(ROTA_SEC(2));
    test_gate_open(&gate);
    test_await_waiting(sched, 1);
    test_journal_is(&journal, order, 3);
    assert_ok(rota_close(sched));
}

/* -- Never before ------------------------------------------------------------------------- */

/* SCHED-07 */
TEST_WITH(test_virtual_time, a_task_does_not_run_before_its_time)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 2});
    atomic_uint runs = 0;
    rota_future *future;
    void *result;

    assert_ok(rota_schedule(sched, test_count, &runs, ROTA_HOURS(10), &future));
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_HOURS(10) - 1, 1);
    assert_int_equal(runs, 0);
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_PENDING);
    assert_int_equal(rota_future_delay(future), 1);
    test_clock_advance(1);
    assert_ok(rota_future_get(future, &result));
    assert_ptr_equal(result, &runs);
    assert_int_equal(runs, 1);
    rota_future_unref(future);
    assert_ok(rota_close(sched));
}

struct timed {
    rota_ns due;
    rota_ns ran;
};

static void *note_time(void *arg)
{
    struct timed *timed = arg;

    timed->ran = rota_now();
    return arg;
}

/* SCHED-07: in the time of the world. */
TEST(nor_does_it_by_the_clock_of_the_system)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});

    for (int i = 0; i < 20; i++) {
        struct timed timed = {.due = rota_now() + ROTA_US(50 * i)};
        rota_future *future;
        assert_ok(rota_schedule(sched, note_time, &timed, ROTA_US(50 * i), &future));
        assert_ok(rota_future_get(future, NULL));
        assert_true(timed.ran >= timed.due);
        rota_future_unref(future);
    }
    assert_ok(rota_close(sched));
}

/* SCHED-05, SCHED-07: any delays, on several threads, while time goes in steps. */
TEST_WITH(test_virtual_time, none_of_many_runs_before_its_time_nor_is_forgotten)
{
    static struct timed timed[NOTES];
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 3});
    test_random random;

    test_random_init(&random);
    for (unsigned i = 0; i < NOTES; i++) {
        rota_ns delay = (rota_ns)test_random_below(&random, 100);
        timed[i] = (struct timed){.due = rota_now() + delay, .ran = -1};
        assert_ok(rota_schedule(sched, note_time, &timed[i], delay, NULL));
    }
    test_await_waiting(sched, 3);
    for (rota_ns step = 0; step < 100; step++)
        test_pass(sched, 1, 3);
    assert_ok(rota_close(sched));
    for (unsigned i = 0; i < NOTES; i++)
        assert_int_equal(timed[i].ran, timed[i].due);
}

/* -- Who waits is woken ------------------------------------------------------------------- */

/* SCHED-33, DWQ-09 */
TEST_WITH(test_virtual_time, an_earlier_task_is_not_missed_by_who_waits_for_a_later_one)
{
    static const unsigned order[] = {2, 1, 0};
    rota_executor *sched = one_thread();
    rota_future *late;

    assert_ok(rota_schedule(sched, test_note_down, &notes[0], ROTA_HOURS(9), &late));
    test_clock_await_waiting(1);
    note_in(sched, 1, ROTA_HOURS(1));
    note_in(sched, 2, ROTA_SEC(60));
    test_pass(sched, ROTA_SEC(60), 1);
    test_journal_is(&journal, order, 1);
    test_pass(sched, ROTA_HOURS(1), 1);
    test_journal_is(&journal, order, 2);
    test_pass(sched, ROTA_HOURS(9), 1);
    test_journal_is(&journal, order, 3);
    rota_future_unref(late);
    assert_ok(rota_close(sched));
}

/* SCHED-34 */
TEST_WITH(test_virtual_time, a_slow_task_holds_up_its_own_thread_alone)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 2});
    atomic_uint runs = 0;
    test_gate gate;
    rota_future *beat;

    test_gate_init(&gate);
    test_occupy(sched, &gate, 1);
    assert_ok(rota_schedule_at_fixed_rate(sched, test_count, &runs, 0, ROTA_SEC(1), &beat));
    test_await_waiting(sched, 1);
    for (unsigned i = 1; i <= 5; i++) {
        assert_int_equal(runs, i);
        test_pass(sched, ROTA_SEC(1), 1);
    }
    assert_int_equal(gate.ended, 0);
    assert_true(rota_future_cancel(beat));
    rota_future_unref(beat);
    test_gate_open(&gate);
    assert_ok(rota_close(sched));
}

/* -- Extremes ----------------------------------------------------------------------------- */

/* SCHED-08, SCHED-09, FAULT-06: huge delays are neither past nor in disorder. */
TEST_WITH(test_virtual_time, huge_delays_lie_ahead_in_their_order)
{
    static const rota_ns huge[] = {INT64_MAX, INT64_MAX - 1, INT64_MAX / 2 + 1,
                                   ROTA_HOURS(24) * 365};
    static const unsigned order[] = {4, 3};
    rota_executor *sched = one_thread();
    rota_future *futures[4];

    for (unsigned i = 0; i < 4; i++)
        assert_ok(rota_schedule(sched, test_note_down, &notes[i], huge[i], &futures[i]));
    note_in(sched, 4, 0);
    test_await_count(&journal.count, 1);
    test_await_waiting(sched, 1);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(rota_future_delay(futures[i]) >= ROTA_HOURS(24) * 365);
        assert_true(rota_future_delay(futures[i]) < ROTA_FOREVER);
    }
    test_pass(sched, ROTA_HOURS(24) * 365, 1);
    test_journal_is(&journal, order, 2);
    test_stop(sched);
    for (unsigned i = 0; i < 4; i++)
        rota_future_unref(futures[i]);
}

/* SCHED-08, FAULT-06: an overdue head beside the furthest that there is. */
TEST_WITH(test_virtual_time, the_furthest_does_not_pass_an_overdue_one)
{
    static const unsigned order[] = {0};
    rota_executor *sched = one_thread();
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(sched, &gate, 1);
    note_in(sched, 0, 0);
    test_clock_advance(INT64_MAX / 2);
    note_in(sched, 1, INT64_MAX);
    test_gate_open(&gate);
    test_await_waiting(sched, 1);
    test_journal_is(&journal, order, 1);
    test_stop(sched);
}

static int schedule_as(unsigned kind, rota_executor *sched, atomic_uint *runs, rota_ns delay)
{
    const rota_call call = {.fn = test_count, .arg = runs};

    switch (kind) {
    case 0:
        return rota_schedule(sched, test_count, runs, delay, NULL);
    case 1:
        return rota_schedule_call(sched, &call, delay, 0, NULL);
    case 2:
        return rota_schedule_with_fixed_delay(sched, test_count, runs, delay, INT64_MAX, NULL);
    case 3:
        return rota_schedule_at_fixed_rate(sched, test_count, runs, delay, INT64_MAX, NULL);
    default:
        return rota_schedule_skipping(sched, &call, delay, INT64_MAX, NULL);
    }
}

static void due_beside_far(unsigned due, unsigned far)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    atomic_uint due_runs = 0, far_runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(sched, &gate, 1);
    assert_ok(schedule_as(due, sched, &due_runs, 0));
    test_clock_advance(ROTA_MS(1));
    assert_ok(schedule_as(far, sched, &far_runs, INT64_MAX));
    test_gate_open(&gate);
    test_await_count(&due_runs, 1);
    test_await_waiting(sched, 1);
    assert_int_equal(due_runs, 1);
    assert_int_equal(far_runs, 0);
    test_stop(sched);
}

/* SCHED-08, FAULT-06 */
TEST_WITH(test_virtual_time, every_kind_that_is_due_runs_and_none_that_is_far)
{
    for (unsigned due = 0; due < 5; due++) {
        for (unsigned far = 0; far < 5; far++)
            due_beside_far(due, far);
    }
}
