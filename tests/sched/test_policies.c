/* SPDX-License-Identifier: MIT */
/*
 * What rota_shutdown leaves of what is queued: every combination of the policies, set when the pool
 * is made, while it runs, and after it was shut down.
 */
#include "pools.h"
#include "rota_test_internal.h"

TEST_FIXTURE(.setup = test_clock_before, .teardown = test_clock_after);

enum { FAILURE = 42, RUNS = 5 };

typedef enum job_kind { IMMEDIATE, DELAYED, RATE, DELAY, KINDS } job_kind;

/* A task that waits at the gate in its first run. A periodic one fails in its last. */
struct job {
    test_gate *gate;
    job_kind kind;
    atomic_uint runs, discards;
    rota_future *future;
};

static void *job_run(void *arg)
{
    struct job *job = arg;
    unsigned run = atomic_fetch_add(&job->runs, 1) + 1;

    test_wait_at(job->gate);
    return job->kind >= RATE && run == RUNS ? rota_fail(FAILURE) : job;
}

static void job_discard(void *arg)
{
    atomic_fetch_add(&((struct job *)arg)->discards, 1);
}

static void schedule_job(rota_executor *sched, struct job *job, test_gate *gate, job_kind kind,
                         rota_ns delay)
{
    static const rota_ns periods[] = {[RATE] = ROTA_HOURS(1), [DELAY] = -ROTA_HOURS(1)};
    rota_call call = {.fn = job_run, .arg = job, .discard = job_discard};

    *job = (struct job){.gate = gate, .kind = kind};
    if (kind == IMMEDIATE)
        assert_ok(rota_submit_call(sched, &call, &job->future));
    else
        assert_ok(rota_schedule_call(sched, &call, delay, periods[kind], &job->future));
}

/* -- All combinations --------------------------------------------------------------------- */

typedef enum moment { AT_CREATION, WHILE_IT_RUNS, AFTER_SHUTDOWN, MOMENTS } moment;

struct scene {
    bool drop_delayed, keep_periodic, keep_cancelled;
    moment when;
    bool is_decorated;
    rota_executor *sched;
    test_gate gate;
    struct job running[KINDS], queued[KINDS], cancelled;
    unsigned decorated;
};

static int count_task(rota_task *task, void *ctx)
{
    test_check(task != NULL);
    ++*(unsigned *)ctx;
    return ROTA_OK;
}

static void set_policies(const struct scene *scene)
{
    assert_ok(rota_sched_set_drop_delayed_on_shutdown(scene->sched, scene->drop_delayed));
    assert_ok(rota_sched_set_keep_periodic_after_shutdown(scene->sched, scene->keep_periodic));
    assert_ok(rota_sched_set_keep_cancelled(scene->sched, scene->keep_cancelled));
}

/* Set later, they are the other way round at first, but for what a shutdown cannot take back. */
static rota_sched_options first_options(struct scene *scene)
{
    rota_sched_options options = {
        .core_threads = KINDS,
        .drop_delayed_on_shutdown = scene->drop_delayed,
        .keep_periodic_after_shutdown = scene->keep_periodic,
        .keep_cancelled = scene->keep_cancelled,
        .decorate = scene->is_decorated ? count_task : NULL,
        .decorate_ctx = &scene->decorated,
    };

    if (scene->when != AT_CREATION)
        options.keep_cancelled = !options.keep_cancelled;
    if (scene->when == WHILE_IT_RUNS) {
        options.drop_delayed_on_shutdown = !options.drop_delayed_on_shutdown;
        options.keep_periodic_after_shutdown = !options.keep_periodic_after_shutdown;
    } else if (scene->when == AFTER_SHUTDOWN) {
        options.drop_delayed_on_shutdown = false;
        options.keep_periodic_after_shutdown = true;
    }
    return options;
}

static void open_scene(struct scene *scene)
{
    scene->sched = test_sched(first_options(scene));
    test_gate_init(&scene->gate);
    for (unsigned i = 0; i < KINDS; i++)
        schedule_job(scene->sched, &scene->running[i], &scene->gate, (job_kind)i, 0);
    test_await_count(&scene->gate.begun, KINDS);
    for (unsigned i = 0; i < KINDS; i++)
        schedule_job(scene->sched, &scene->queued[i], &scene->gate, (job_kind)i, ROTA_SEC(1));
    schedule_job(scene->sched, &scene->cancelled, &scene->gate, DELAYED, ROTA_SEC(1));
    if (scene->when == WHILE_IT_RUNS)
        set_policies(scene);
    assert_true(rota_future_cancel(scene->cancelled.future));
}

static bool is_cancelled(const struct job *job)
{
    return rota_future_state_of(job->future) == ROTA_FUTURE_CANCELED;
}

/* SCHED-23 to SCHED-26: at once, while all threads are busy. */
static void shut_down(const struct scene *scene)
{
    size_t left = 1u + !scene->drop_delayed + (scene->keep_periodic ? 2u : 0u);

    assert_ok(rota_shutdown(scene->sched));
    if (scene->when == AFTER_SHUTDOWN) {
        assert_int_equal(test_stats(scene->sched).queued, KINDS);
        set_policies(scene);
    }
    assert_int_equal(test_stats(scene->sched).queued, left);
    assert_false(is_cancelled(&scene->queued[IMMEDIATE]));
    assert_int_equal(is_cancelled(&scene->queued[DELAYED]), scene->drop_delayed);
    assert_int_equal(is_cancelled(&scene->queued[RATE]), !scene->keep_periodic);
    assert_int_equal(is_cancelled(&scene->queued[DELAY]), !scene->keep_periodic);
    for (unsigned i = 0; i < KINDS; i++)
        assert_int_equal(rota_future_state_of(scene->running[i].future), ROTA_FUTURE_RUNNING);
}

static bool has_ended(void *sched)
{
    test_clock_advance(ROTA_SEC(600));
    return rota_is_terminated(sched);
}

static void job_is(struct job *job, rota_future_state state, unsigned runs, unsigned discards)
{
    assert_int_equal(rota_future_state_of(job->future), state);
    assert_int_equal(job->runs, runs);
    assert_int_equal(job->discards, discards);
    rota_future_unref(job->future);
}

static void one_shots_are_right(struct scene *scene)
{
    job_is(&scene->running[IMMEDIATE], ROTA_FUTURE_SUCCEEDED, 1, 0);
    job_is(&scene->running[DELAYED], ROTA_FUTURE_SUCCEEDED, 1, 0);
    job_is(&scene->queued[IMMEDIATE], ROTA_FUTURE_SUCCEEDED, 1, 0);
    job_is(&scene->cancelled, ROTA_FUTURE_CANCELED, 0, 1);
    if (scene->drop_delayed)
        job_is(&scene->queued[DELAYED], ROTA_FUTURE_CANCELED, 0, 1);
    else
        job_is(&scene->queued[DELAYED], ROTA_FUTURE_SUCCEEDED, 1, 0);
}

static void periodic_tasks_are_right(struct scene *scene)
{
    for (unsigned i = RATE; i <= DELAY; i++) {
        if (scene->keep_periodic) {
            assert_int_equal(rota_future_error(scene->running[i].future), FAILURE);
            assert_int_equal(rota_future_error(scene->queued[i].future), FAILURE);
            job_is(&scene->running[i], ROTA_FUTURE_FAILED, RUNS, 1);
            job_is(&scene->queued[i], ROTA_FUTURE_FAILED, RUNS, 1);
        } else {
            job_is(&scene->running[i], ROTA_FUTURE_CANCELED, 1, 1);
            job_is(&scene->queued[i], ROTA_FUTURE_CANCELED, 0, 1);
        }
    }
}

static void play(struct scene scene)
{
    open_scene(&scene);
    shut_down(&scene);
    test_gate_open(&scene.gate);
    test_until(has_ended, scene.sched);
    assert_int_equal(test_stats(scene.sched).queued, 0);
    assert_int_equal(test_stats(scene.sched).submitted, 2 * KINDS + 1);
    assert_int_equal(scene.decorated, scene.is_decorated ? 2 * KINDS + 1 : 0);
    assert_ok(rota_executor_free(scene.sched));
    one_shots_are_right(&scene);
    periodic_tasks_are_right(&scene);
}

static void play_all(moment when, bool is_decorated)
{
    for (unsigned bits = 0; bits < 8; bits++)
        play((struct scene){.drop_delayed = (bits & 1) != 0,
                            .keep_periodic = (bits & 2) != 0,
                            .keep_cancelled = (bits & 4) != 0,
                            .when = when,
                            .is_decorated = is_decorated});
}

TEST(the_policies_say_what_a_shutdown_leaves)
{
    play_all(AT_CREATION, false);
}

TEST(so_they_do_if_they_are_changed_while_it_runs)
{
    play_all(WHILE_IT_RUNS, false);
}

/* SCHED-25 */
TEST(so_they_do_at_once_if_they_are_changed_after_the_shutdown)
{
    play_all(AFTER_SHUTDOWN, false);
}

TEST(so_they_do_if_tasks_are_decorated)
{
    for (unsigned when = 0; when < MOMENTS; when++)
        play_all((moment)when, true);
}

/* -- After the shutdown ------------------------------------------------------------------- */

static rota_executor *sched_with(bool drop_delayed, bool keep_periodic)
{
    return test_sched((rota_sched_options){.core_threads = 1,
                                           .drop_delayed_on_shutdown = drop_delayed,
                                           .keep_periodic_after_shutdown = keep_periodic});
}

/* SCHED-24: due or not is what counts, not how it came. */
TEST(what_was_due_at_the_shutdown_runs_although_delayed_tasks_are_dropped)
{
    rota_executor *sched = sched_with(true, false);
    atomic_uint due = 0, undue = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(sched, &gate, 1);
    assert_ok(rota_schedule(sched, test_count, &due, ROTA_SEC(1), NULL));
    assert_ok(rota_schedule(sched, test_count, &undue, ROTA_SEC(1) + 1, NULL));
    assert_ok(rota_execute(sched, test_count, &due));
    assert_ok(rota_submit(sched, test_count, &due, NULL));
    test_clock_advance(ROTA_SEC(1));
    assert_ok(rota_shutdown(sched));
    assert_int_equal(test_stats(sched).queued, 3);
    test_clock_advance(ROTA_SEC(1));
    test_gate_open(&gate);
    assert_ok(rota_close(sched));
    assert_int_equal(due, 3);
    assert_int_equal(undue, 0);
}

/* SCHED-23, SCHED-26: the pool ends with the last task that the policy takes away. */
TEST(taking_the_last_periodic_task_away_ends_the_pool)
{
    rota_executor *sched = sched_with(false, true);
    atomic_uint runs = 0;
    test_getter getter;
    rota_future *future;

    assert_ok(
        rota_schedule_at_fixed_rate(sched, test_count, &runs, ROTA_SEC(1), ROTA_SEC(1), &future));
    assert_ok(rota_shutdown(sched));
    for (unsigned i = 1; i <= 3; i++) {
        test_await_waiting(sched, 1);
        test_clock_advance(ROTA_SEC(1));
        test_await_count(&runs, i);
    }
    test_getter_start(&getter, future, ROTA_FOREVER);
    assert_false(rota_is_terminated(sched));
    assert_ok(rota_sched_set_keep_periodic_after_shutdown(sched, false));
    assert_ok(rota_await_termination(sched, ROTA_FOREVER));
    test_getter_ends(&getter, ROTA_ECANCELED, TEST_UNTOUCHED);
    rota_future_unref(future);
    assert_ok(rota_close(sched));
    assert_int_equal(runs, 3);
}

TEST(taking_the_last_delayed_task_away_ends_the_pool)
{
    rota_executor *sched = sched_with(false, false);
    atomic_uint runs = 0;
    rota_future *future;

    assert_ok(rota_schedule(sched, test_count, &runs, ROTA_HOURS(9), &future));
    assert_ok(rota_shutdown(sched));
    assert_false(rota_is_terminated(sched));
    assert_ok(rota_sched_set_drop_delayed_on_shutdown(sched, true));
    assert_ok(rota_await_termination(sched, ROTA_FOREVER));
    assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
    rota_future_unref(future);
    assert_ok(rota_close(sched));
    assert_int_equal(runs, 0);
}

/* SCHED-23: "until cancelled". */
TEST(cancelling_the_last_periodic_task_ends_the_pool)
{
    rota_executor *sched = sched_with(false, true);
    atomic_uint runs = 0;
    rota_future *future;

    assert_ok(rota_schedule_with_fixed_delay(sched, test_count, &runs, 0, ROTA_SEC(1), &future));
    test_await_count(&runs, 1);
    assert_ok(rota_shutdown(sched));
    assert_true(rota_future_cancel(future));
    rota_future_unref(future);
    assert_ok(rota_close(sched));
    assert_int_equal(runs, 1);
}

/* A policy that is made milder brings nothing back. */
TEST(what_the_shutdown_has_dropped_stays_so)
{
    rota_executor *sched = sched_with(true, false);
    atomic_uint runs = 0;
    rota_future *once, *periodic;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(sched, &gate, 1);
    assert_ok(rota_schedule(sched, test_count, &runs, ROTA_SEC(1), &once));
    assert_ok(rota_schedule_at_fixed_rate(sched, test_count, &runs, 0, ROTA_SEC(1), &periodic));
    assert_ok(rota_shutdown(sched));
    assert_ok(rota_sched_set_drop_delayed_on_shutdown(sched, false));
    assert_ok(rota_sched_set_keep_periodic_after_shutdown(sched, true));
    assert_status(rota_future_get(once, NULL), ROTA_ECANCELED);
    assert_status(rota_future_get(periodic, NULL), ROTA_ECANCELED);
    test_gate_open(&gate);
    rota_future_unref(once);
    rota_future_unref(periodic);
    assert_ok(rota_close(sched));
    assert_int_equal(runs, 0);
}

/* SCHED-22, SCHED-23: what runs when the policy is made milder comes again. */
TEST(a_running_periodic_task_goes_by_the_policy_at_its_end)
{
    for (int keep = 0; keep < 2; keep++) {
        struct job job;
        test_gate gate;
        rota_executor *sched = sched_with(false, !keep);

        test_gate_init(&gate);
        schedule_job(sched, &job, &gate, RATE, 0);
        test_await_count(&gate.begun, 1);
        assert_ok(rota_shutdown(sched));
        assert_ok(rota_sched_set_keep_periodic_after_shutdown(sched, keep));
        assert_int_equal(rota_future_state_of(job.future), ROTA_FUTURE_RUNNING);
        test_gate_open(&gate);
        test_until(has_ended, sched);
        assert_ok(rota_close(sched));
        job_is(&job, keep ? ROTA_FUTURE_FAILED : ROTA_FUTURE_CANCELED, keep ? RUNS : 1, 1);
    }
}

/* SCHED-25 */
TEST(the_policies_can_be_read_at_any_time)
{
    rota_executor *sched = sched_with(true, false);

    for (int shut = 0; shut < 2; shut++) {
        for (int on = 1; on >= 0; on--) {
            assert_ok(rota_sched_set_drop_delayed_on_shutdown(sched, on));
            assert_ok(rota_sched_set_keep_periodic_after_shutdown(sched, !on));
            assert_ok(rota_sched_set_keep_cancelled(sched, on));
            assert_int_equal(test_sched_options(sched).drop_delayed_on_shutdown, on);
            assert_int_equal(test_sched_options(sched).keep_periodic_after_shutdown, !on);
            assert_int_equal(test_sched_options(sched).keep_cancelled, on);
        }
        assert_ok(rota_shutdown(sched));
    }
    assert_ok(rota_close(sched));
}
