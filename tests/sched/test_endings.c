/* SPDX-License-Identifier: MIT */
/*
 * Every way in which a scheduled task can end: its argument meets the body or discard, and nothing
 * of it is left (OWN-04, OWN-19).
 */
#include "pools.h"
#include "rota_test_internal.h"

TEST_FIXTURE(.setup = test_clock_before, .teardown = test_clock_after);

struct task {
    rota_executor *sched;
    test_probe probe;
    rota_future *future;
    bool is_periodic;
};

/* What becomes of a task that is due in a second; and of a pool, which is closed afterwards. */
typedef void ending(struct task *task);

static void end_by_running(struct task *task)
{
    test_await_waiting(task->sched, 1);
    test_pass(task->sched, ROTA_SEC(1), 1);
    if (task->is_periodic)
        assert_true(rota_future_cancel(task->future));
}

static void end_by_failing(struct task *task)
{
    task->probe.error = 5;
    test_await_waiting(task->sched, 1);
    test_pass(task->sched, ROTA_SEC(1), 1);
}

static void end_by_cancel(struct task *task)
{
    assert_true(rota_future_cancel(task->future));
}

static void end_by_cancel_now(struct task *task)
{
    assert_true(rota_future_cancel_now(task->future));
}

static void end_by_cancel_and_its_time(struct task *task)
{
    assert_ok(rota_sched_set_keep_cancelled(task->sched, true));
    assert_true(rota_future_cancel(task->future));
    test_await_waiting(task->sched, 1);
    test_pass(task->sched, ROTA_SEC(1), 1);
    assert_int_equal(test_stats(task->sched).queued, 0);
}

static void end_by_cancel_and_purge(struct task *task)
{
    assert_ok(rota_sched_set_keep_cancelled(task->sched, true));
    assert_true(rota_future_cancel(task->future));
    assert_int_equal(rota_pool_purge(task->sched), 1);
}

static void end_by_cancel_and_shutdown(struct task *task)
{
    assert_ok(rota_sched_set_keep_cancelled(task->sched, true));
    assert_true(rota_future_cancel(task->future));
    assert_ok(rota_shutdown(task->sched));
}

static void end_by_remove(struct task *task)
{
    assert_true(rota_pool_remove(task->sched, task->future));
}

static void end_by_completing(struct task *task)
{
    assert_true(rota_promise_fail(task->future, 3));
}

static void end_by_shutdown(struct task *task)
{
    assert_ok(rota_sched_set_drop_delayed_on_shutdown(task->sched, true));
    assert_ok(rota_shutdown(task->sched));
}

static void end_by_shutdown_and_policy(struct task *task)
{
    assert_ok(rota_sched_set_keep_periodic_after_shutdown(task->sched, true));
    assert_ok(rota_shutdown(task->sched));
    assert_false(rota_future_is_done(task->future));
    assert_ok(rota_sched_set_keep_periodic_after_shutdown(task->sched, false));
    assert_ok(rota_sched_set_drop_delayed_on_shutdown(task->sched, true));
}

static void end_by_shutdown_now(struct task *task)
{
    assert_ok(rota_shutdown_now(task->sched, NULL));
}

static void drain(struct task *task, void (*end)(rota_task *drained))
{
    rota_task_list list;

    assert_ok(rota_shutdown_now(task->sched, &list));
    assert_int_equal(list.count, 1);
    end(list.tasks[0]);
    rota_task_list_free(&list);
}

static void end_by_drain_and_discard(struct task *task)
{
    drain(task, rota_task_discard);
}

static void end_by_drain_and_run(struct task *task)
{
    drain(task, rota_task_run);
}

static void cancel_and_run(rota_task *drained)
{
    assert_true(rota_future_cancel(rota_task_future(drained)));
    rota_task_run(drained);
}

static void end_by_drain_and_cancel(struct task *task)
{
    drain(task, cancel_and_run);
}

static void end_by_nobody(struct task *task)
{
    rota_future_unref(task->future); /* "that is no cancel" */
    task->future = NULL;
    test_await_waiting(task->sched, 1);
    test_pass(task->sched, ROTA_SEC(1), 1);
    assert_ok(rota_shutdown(task->sched));
}

static const struct {
    ending *end;
    bool runs;
} endings[] = {
    {end_by_running, true},
    {end_by_failing, true},
    {end_by_cancel, false},
    {end_by_cancel_now, false},
    {end_by_cancel_and_its_time, false},
    {end_by_cancel_and_purge, false},
    {end_by_cancel_and_shutdown, false},
    {end_by_remove, false},
    {end_by_completing, false},
    {end_by_shutdown, false},
    {end_by_shutdown_and_policy, false},
    {end_by_shutdown_now, false},
    {end_by_drain_and_discard, false},
    {end_by_drain_and_run, true},
    {end_by_drain_and_cancel, false},
    {end_by_nobody, true},
};

enum { ENDINGS = sizeof endings / sizeof endings[0] };

static void schedule_probe(struct task *task, rota_ns period)
{
    rota_call call = test_probe_call(&task->probe);

    *task = (struct task){.is_periodic = period != 0};
    task->sched = test_sched((rota_sched_options){.core_threads = 1});
    assert_ok(rota_schedule_call(task->sched, &call, ROTA_SEC(1), period, &task->future));
}

static void end_in_each_way(rota_ns period)
{
    for (unsigned i = 0; i < ENDINGS; i++) {
        struct task task;

        schedule_probe(&task, period);
        endings[i].end(&task);
        assert_ok(rota_close(task.sched));
        if (task.future != NULL)
            assert_true(rota_future_is_done(task.future));
        rota_future_unref(task.future);
        assert_int_equal(task.probe.runs, endings[i].runs);
        assert_int_equal(task.probe.discards, task.is_periodic || !endings[i].runs);
        assert_int_equal(task.probe.frees, endings[i].runs && task.probe.error == 0);
    }
}

/* OWN-04 */
TEST(the_argument_of_a_task_meets_its_body_or_discard)
{
    end_in_each_way(0);
}

/* OWN-19: "of a periodic task: once, when no further run will come." */
TEST(the_argument_of_a_periodic_task_is_discarded_once)
{
    end_in_each_way(ROTA_HOURS(1));
    end_in_each_way(-ROTA_HOURS(1));
    end_in_each_way(INT64_MIN);
}

static void *end_inside(void *arg)
{
    struct task *task = arg;

    atomic_fetch_add(&task->probe.runs, 1);
    test_check(rota_shutdown_now(task->sched, NULL) == ROTA_OK);
    return NULL;
}

static void count_discard(void *arg)
{
    atomic_fetch_add(&((struct task *)arg)->probe.discards, 1);
}

/* SCHED-27, SCHED-32: a run that stops its own pool is the last. */
TEST(a_periodic_task_that_stops_its_pool_is_discarded_once)
{
    struct task task = {.is_periodic = true};
    rota_call call = {.fn = end_inside, .arg = &task, .discard = count_discard};

    task.sched = test_sched((rota_sched_options){.core_threads = 1});
    assert_ok(rota_schedule_call(task.sched, &call, 0, 1, &task.future));
    assert_status(rota_future_get(task.future, NULL), ROTA_ECANCELED);
    assert_ok(rota_close(task.sched));
    rota_future_unref(task.future);
    assert_int_equal(task.probe.runs, 1);
    assert_int_equal(task.probe.discards, 1);
}
