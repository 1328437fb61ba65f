/* SPDX-License-Identifier: MIT */
/*
 * Figures, with a clock that the test turns: how long tasks have waited and run, to the nanosecond; the
 * oldest in a queue; by the names of tasks; those that fail, that a submitter runs, or that end their
 * thread; on and off.
 */
#define _GNU_SOURCE
#include "executors.h"
#include "forkjoin.h"
#include "observing.h"

TEST_FIXTURE(.setup = observing_before_in_time, .teardown = observing_after_in_time);

/* One task of that name waits at the gate, and another behind it. */
static void submit_two(rota_executor *pool, test_gate *gate, const char *first, const char *second)
{
    rota_call call = {.fn = test_wait_at, .arg = gate, .name = first};

    test_gate_init(gate);
    assert_ok(rota_submit_call(pool, &call, NULL));
    test_await_count(&gate->begun, 1);
    call.name = second;
    assert_ok(rota_submit_call(pool, &call, NULL));
}

static void assert_histogram(const rota_histogram *histogram, uint64_t count, rota_ns sum,
                             rota_ns max)
{
    assert_int_equal(histogram->count, count);
    assert_int_equal(histogram->sum, sum);
    assert_int_equal(histogram->max, max);
}

/* -- Times ----------------------------------------------------------------------------------- */

/* The first runs for 3 ms, for which the second waits, which then runs no time at all. */
TEST(waiting_and_running_are_exact)
{
    rota_executor *pool = observing_pool();
    test_gate gate;

    submit_two(pool, &gate, NULL, NULL);
    test_clock_advance(ROTA_MS(3));
    test_gate_open(&gate);
    test_await_completed(pool, 2);
    rota_figures figures = observing_figures(pool);
    assert_histogram(&figures.waiting, 2, ROTA_MS(3), ROTA_MS(3));
    assert_histogram(&figures.running, 2, ROTA_MS(3), ROTA_MS(3));
    assert_int_equal(figures.completed, 2);
    assert_int_equal(figures.submitted, 2);
    assert_ok(rota_close(pool));
}

/* It came when the thread was idle: the time before that is nobody's. */
TEST(an_idle_thread_adds_nothing)
{
    rota_executor *pool = observing_pool();
    atomic_uint runs = 0;

    for (unsigned i = 1; i <= 3; i++) {
        assert_ok(rota_execute(pool, test_count, &runs));
        test_await_completed(pool, i);
        test_await_waiting(pool, 1);
        test_clock_advance(ROTA_SEC(1));
    }
    rota_figures figures = observing_figures(pool);
    assert_histogram(&figures.waiting, 3, 0, 0);
    assert_histogram(&figures.running, 3, 0, 0);
    assert_ok(rota_close(pool));
}

TEST(a_scheduled_task_waits_from_when_it_is_due)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(sched, &gate, 1);
    assert_ok(rota_schedule(sched, test_count, &runs, ROTA_MS(10), NULL));
    test_clock_advance(ROTA_MS(25));
    test_gate_open(&gate);
    test_await_completed(sched, 2);
    rota_figures figures = observing_figures(sched);
    assert_histogram(&figures.waiting, 2, ROTA_MS(15), ROTA_MS(15));
    assert_ok(rota_close(sched));
}

/* Each run is one more that was completed, and waits from when it was due. */
TEST(runs_of_a_periodic_task_count_one_by_one)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    atomic_uint runs = 0;
    const rota_call call = {.fn = test_count, .arg = &runs, .name = "tick"};
    rota_future *future;

    assert_ok(rota_schedule_call(sched, &call, ROTA_MS(10), ROTA_MS(10), &future));
    for (unsigned i = 1; i <= 3; i++) {
        test_clock_await_waiting(1);
        test_clock_advance(ROTA_MS(10));
        test_await_completed(sched, i);
    }
    test_clock_await_waiting(1);
    rota_task_figures figures = observing_task(sched, "tick");
    assert_int_equal(figures.completed, 3);
    assert_int_equal(figures.failed, 0);
    assert_histogram(&figures.waiting, 3, 0, 0);
    assert_histogram(&figures.running, 3, 0, 0);
    assert_true(rota_future_cancel(future));
    rota_future_unref(future);
    assert_ok(rota_close(sched));
}

/* -- The oldest ------------------------------------------------------------------------------ */

TEST(the_oldest_is_the_first_that_waits)
{
    rota_executor *pool = observing_pool();
    test_gate gate;

    submit_two(pool, &gate, NULL, NULL);
    assert_int_equal(observing_figures(pool).oldest, 0);
    test_clock_advance(ROTA_MS(5));
    assert_ok(rota_execute(pool, test_wait_at, &gate));
    test_clock_advance(ROTA_MS(2));
    assert_int_equal(observing_figures(pool).oldest, ROTA_MS(7));
    assert_int_equal(observing_figures(pool).queued, 2);
    assert_int_equal(observing_figures(pool).active, 1);
    assert_int_equal(observing_figures(pool).threads, 1);
    test_gate_open(&gate);
    test_await_completed(pool, 3);
    assert_int_equal(observing_figures(pool).oldest, 0);
    assert_ok(rota_close(pool));
}

TEST(the_oldest_of_a_scheduled_pool_is_due)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(sched, &gate, 1);
    assert_ok(rota_schedule(sched, test_count, &runs, ROTA_MS(10), NULL));
    test_clock_advance(ROTA_MS(10));
    assert_int_equal(observing_figures(sched).oldest, 0);
    test_clock_advance(ROTA_MS(2));
    assert_int_equal(observing_figures(sched).oldest, ROTA_MS(2));
    test_gate_open(&gate);
    assert_ok(rota_close(sched));
}

TEST(the_oldest_of_a_fork_join_pool_waits_outside)
{
    rota_executor *pool = test_forkjoin_of(1);
    test_gate gate;

    submit_two(pool, &gate, NULL, NULL);
    test_clock_advance(ROTA_MS(4));
    assert_int_equal(observing_figures(pool).oldest, ROTA_MS(4));
    assert_int_equal(observing_figures(pool).queued, 1);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
}

/* What was submitted before is of an unknown age, also when it runs. */
TEST(what_was_there_before_has_no_age)
{
    rota_executor *pool = observing_pool();
    test_gate gate;

    assert_ok(rota_observe(false));
    submit_two(pool, &gate, NULL, NULL);
    test_clock_advance(ROTA_MS(5));
    assert_ok(rota_observe(true));
    assert_int_equal(observing_figures(pool).oldest, 0);
    test_gate_open(&gate);
    test_await_completed(pool, 2);
    rota_figures figures = observing_figures(pool);
    assert_int_equal(figures.completed, 2);
    assert_int_equal(figures.waiting.count, 0);
    assert_histogram(&figures.running, 1, 0, 0); /* the second, that began after */
    assert_ok(rota_close(pool));
}

/* -- By name --------------------------------------------------------------------------------- */

TEST(tasks_are_told_apart_by_their_names)
{
    rota_executor *pool = observing_pool(), *other = observing_pool();
    rota_task_figures figures;
    test_gate gate;

    submit_two(pool, &gate, "slow", "late");
    test_clock_advance(ROTA_MS(3));
    test_gate_open(&gate);
    assert_ok(rota_execute(pool, test_wait_at, &gate));
    test_await_completed(pool, 3);

    figures = observing_task(pool, "slow");
    assert_int_equal(figures.completed, 1);
    assert_histogram(&figures.waiting, 1, 0, 0);
    assert_histogram(&figures.running, 1, ROTA_MS(3), ROTA_MS(3));
    figures = observing_task(pool, "late");
    assert_int_equal(figures.completed, 1);
    assert_histogram(&figures.waiting, 1, ROTA_MS(3), ROTA_MS(3));
    assert_int_equal(observing_task(pool, "").completed, 1);
    assert_null(observing_task(pool, "other").name);
    assert_null(observing_task(other, "slow").name);
    assert_ok(rota_close(pool));
    assert_ok(rota_close(other));
}

static bool stop_at_once(const rota_task_figures *figures, void *visits)
{
    ++*(unsigned *)visits;
    return false;
}

TEST(who_has_seen_enough_is_told_no_more)
{
    rota_executor *pool = observing_pool();
    unsigned visits = 0;
    test_gate gate;

    submit_two(pool, &gate, "one", "two");
    test_gate_open(&gate);
    test_await_completed(pool, 2);
    assert_ok(rota_figures_by_task(pool, stop_at_once, &visits));
    assert_int_equal(visits, 1);
    assert_ok(rota_close(pool));
}

TEST(two_threads_are_added_up)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2});
    const rota_call call = {.fn = test_wait_at, .arg = &(test_gate){.begun = 0}, .name = "both"};

    test_gate_init(call.arg);
    for (unsigned i = 1; i <= 2; i++) {
        assert_ok(rota_submit_call(pool, &call, NULL));
        test_await_count(&((test_gate *)call.arg)->begun, i);
        test_clock_advance(ROTA_MS(i));
    }
    test_gate_open(call.arg);
    test_await_completed(pool, 2);
    rota_task_figures figures = observing_task(pool, "both");
    assert_int_equal(figures.completed, 2);
    assert_histogram(&figures.running, 2, ROTA_MS(5), ROTA_MS(3));
    assert_ok(rota_close(pool));
}

/* -- How tasks end --------------------------------------------------------------------------- */

static void *fail_task(void *arg)
{
    return rota_fail(7);
}

TEST(failures_are_counted)
{
    rota_executor *pool = observing_pool();
    atomic_uint runs = 0;

    assert_ok(rota_execute(pool, fail_task, NULL));
    assert_ok(rota_submit_call(pool, &(rota_call){.fn = fail_task, .name = "bad"}, NULL));
    assert_ok(rota_execute(pool, test_count, &runs));
    test_await_completed(pool, 3);
    assert_int_equal(observing_figures(pool).failed, 2);
    assert_int_equal(observing_task(pool, "bad").failed, 1);
    assert_int_equal(observing_task(pool, "").failed, 1);
    assert_int_equal(observing_task(pool, "").completed, 2);
    assert_ok(rota_close(pool));
}

/* It was cancelled before its turn came: that is no failure. */
TEST(what_is_cancelled_has_not_failed)
{
    rota_executor *pool = observing_pool();
    rota_future *future;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_submit(pool, test_wait_at, &gate, &future));
    assert_true(rota_future_cancel(future));
    rota_future_unref(future);
    test_gate_open(&gate);
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_int_equal(observing_figures(pool).failed, 0);
    assert_int_equal(observing_figures(pool).state, ROTA_TERMINATED);
    assert_ok(rota_close(pool));
}

/* REJ-03: the submitter's thread is one that writes, too. */
TEST(what_a_submitter_runs_is_counted)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1,
                                                        .max_threads = 1,
                                                        .queue = test_handoff(),
                                                        .on_reject = rota_reject_caller_runs});
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_submit_call(
        pool, &(rota_call){.fn = test_count, .arg = &runs, .name = "by the caller"}, NULL));
    assert_int_equal(runs, 1);
    assert_int_equal(observing_task(pool, "by the caller").completed, 1);
    assert_int_equal(observing_figures(pool).running.count, 1);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
}

static void *end_thread(void *arg)
{
    pthread_exit(NULL);
}

/* GEN-14 */
TEST(what_ends_its_thread_is_counted)
{
    rota_executor *pool = observing_pool();
    atomic_uint runs = 0;

    for (unsigned i = 0; i < 3; i++)
        assert_ok(rota_submit_call(pool, &(rota_call){.fn = end_thread, .name = "last"}, NULL));
    assert_ok(rota_execute(pool, test_count, &runs));
    test_await_completed(pool, 4);
    assert_int_equal(observing_task(pool, "last").completed, 3);
    assert_int_equal(observing_task(pool, "last").failed, 3);
    assert_int_equal(observing_task(pool, "last").running.count, 3);
    assert_int_equal(observing_task(pool, "").completed, 1);
    assert_ok(rota_close(pool));
}

/* -- On and off ------------------------------------------------------------------------------ */

TEST(what_is_known_stays_when_it_is_off)
{
    rota_executor *pool = observing_pool();
    atomic_uint runs = 0;

    assert_true(rota_is_observing());
    assert_ok(rota_observe(true));
    assert_ok(rota_execute(pool, test_count, &runs));
    test_await_completed(pool, 1);
    assert_ok(rota_observe(false));
    assert_ok(rota_observe(false));
    assert_false(rota_is_observing());
    assert_ok(rota_execute(pool, test_count, &runs));
    test_await_completed(pool, 2);
    assert_int_equal(observing_figures(pool).running.count, 1);
    assert_int_equal(observing_figures(pool).completed, 2);
    assert_int_equal(observing_task(pool, "").completed, 1);
    assert_ok(rota_observe(true));
    assert_ok(rota_execute(pool, test_count, &runs));
    test_await_completed(pool, 3);
    assert_int_equal(observing_figures(pool).running.count, 2);
    assert_ok(rota_close(pool));
}

/* What began while it was on is timed to its end, and what began while it was off is not. */
TEST(a_task_is_timed_whole_or_not_at_all)
{
    rota_executor *pool = observing_pool();
    test_gate first, second;

    test_gate_init(&first);
    test_gate_init(&second);
    test_occupy(pool, &first, 1);
    assert_ok(rota_observe(false));
    test_clock_advance(ROTA_MS(2));
    test_gate_open(&first);
    test_await_completed(pool, 1);
    test_occupy(pool, &second, 1);
    assert_ok(rota_observe(true));
    test_clock_advance(ROTA_MS(3));
    test_gate_open(&second);
    test_await_completed(pool, 2);
    rota_figures figures = observing_figures(pool);
    assert_histogram(&figures.running, 1, ROTA_MS(2), ROTA_MS(2));
    assert_ok(rota_close(pool));
}

/* A queue whose first was submitted while it was on, and that was worked on while it was off: the time
   between is no task's. */
TEST(what_ran_unseen_adds_to_no_other)
{
    rota_executor *pool = observing_pool();
    test_gate gates[3];

    for (unsigned i = 0; i < 3; i++) {
        test_gate_init(&gates[i]);
        assert_ok(rota_execute(pool, test_wait_at, &gates[i]));
    }
    test_await_count(&gates[0].begun, 1);
    assert_ok(rota_observe(false));
    test_gate_open(&gates[0]); /* was seen, to its end */
    test_await_count(&gates[1].begun, 1);
    test_clock_advance(ROTA_MS(9)); /* the second is not */
    assert_ok(rota_observe(true));
    test_gate_open(&gates[1]);
    test_await_count(&gates[2].begun, 1);
    test_gate_open(&gates[2]);
    test_await_completed(pool, 3);
    rota_figures figures = observing_figures(pool);
    assert_histogram(&figures.running, 2, 0, 0);
    assert_histogram(&figures.waiting, 2, ROTA_MS(9), ROTA_MS(9));
    assert_ok(rota_close(pool));
}

/* -- One look at the clock for two tasks ------------------------------------------------------ */

/* A task of that stamp, which follows on another: when it is said to have begun. */
static rota_ns run_after_another(rota_executor *pool, int64_t stamp)
{
    const rota__tracer *tracer = rota__tracer_now();
    rota__span span = {.tracer = tracer};

    tracer->begin(&span, &(rota__traced){.executor = pool, .stamp = stamp, .follows = true});
    tracer->end(&span, false);
    return span.begun;
}

/* What was queued already begins where the last has ended; but not if the thread has slept between: then
   it came later, however early it was submitted. */
TEST(who_has_slept_does_not_begin_where_it_ended)
{
    rota_executor *pool = observing_pool();
    const rota__tracer *tracer = rota__tracer_now();
    int64_t early = tracer->stamp();

    test_clock_advance(ROTA_MS(1));
    assert_int_equal(run_after_another(pool, early), rota_now());
    rota_ns ended = rota_now();
    test_clock_advance(ROTA_MS(1));
    assert_int_equal(run_after_another(pool, early), ended);
    assert_int_equal(run_after_another(pool, tracer->stamp()), rota_now());
    test_clock_advance(ROTA_MS(1));
    tracer->event(ROTA__TRACE_PARK, NULL, 0);
    tracer->event(ROTA__TRACE_UNPARK, NULL, 0);
    assert_int_equal(run_after_another(pool, early), rota_now());
    assert_ok(rota_close(pool));
}

/* -- Other executors ------------------------------------------------------------------------- */

TEST(a_fork_join_pool_counts_what_it_is_given)
{
    rota_executor *pool = test_forkjoin_of(1);
    test_gate gate;

    submit_two(pool, &gate, "first", "second");
    test_clock_advance(ROTA_MS(3));
    assert_int_equal(observing_figures(pool).submitted, 2);
    assert_int_equal(observing_figures(pool).completed, 0);
    test_gate_open(&gate);
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    rota_figures figures = observing_figures(pool);
    assert_int_equal(figures.completed, 2);
    assert_int_equal(figures.submitted, 2);
    assert_histogram(&figures.waiting, 2, ROTA_MS(3), ROTA_MS(3));
    assert_histogram(&figures.running, 2, ROTA_MS(3), ROTA_MS(3));
    assert_int_equal(observing_task(pool, "first").completed, 1);
    assert_ok(rota_close(pool));
}

TEST(of_an_executor_of_ones_own_the_state_is_known)
{
    rota_executor *direct;
    atomic_uint runs = 0;

    assert_ok(test_executor_direct(&direct));
    assert_ok(rota_execute(direct, test_count, &runs));
    rota_figures figures = observing_figures(direct);
    assert_int_equal(figures.state, ROTA_RUNNING);
    assert_int_equal(figures.threads + figures.active + figures.queued, 0);
    assert_int_equal(figures.submitted + figures.completed + figures.rejected + figures.stolen, 0);
    assert_int_equal(figures.oldest, 0);
    assert_int_equal(figures.waiting.count + figures.running.count, 0);
    assert_ok(rota_close(direct));
}

TEST(a_rejected_task_is_counted)
{
    rota_executor *pool = test_small_pool(1, 1, 1);
    atomic_uint runs = 0;
    test_gate gate;

    submit_two(pool, &gate, NULL, NULL);
    assert_status(rota_execute(pool, test_count, &runs), ROTA_EREJECTED);
    assert_int_equal(observing_figures(pool).rejected, 1);
    assert_int_equal(observing_figures(pool).submitted, 2);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
}

TEST(what_is_missing_is_refused)
{
    rota_executor *pool = observing_pool();
    rota_figures figures;

    assert_status(rota_figures_get(NULL, &figures), ROTA_EINVAL);
    assert_status(rota_figures_get(pool, NULL), ROTA_EINVAL);
    assert_status(rota_figures_by_task(NULL, stop_at_once, NULL), ROTA_EINVAL);
    assert_status(rota_figures_by_task(pool, NULL, NULL), ROTA_EINVAL);
    assert_ok(rota_close(pool));
}
