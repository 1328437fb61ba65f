/* SPDX-License-Identifier: MIT */
/*
 * The end of a scheduled pool: what it refuses, what it hands over, and what becomes of that.
 */
#include "pools.h"
#include "rota_test_internal.h"

static rota_executor *sched_of(unsigned threads)
{
    return test_sched((rota_sched_options){.core_threads = threads});
}

static rota_future *probe_in(rota_executor *sched, test_probe *probe, rota_ns delay, rota_ns period)
{
    rota_call call = test_probe_call(probe);
    rota_future *future = NULL;

    assert_ok(rota_schedule_call(sched, &call, delay, period, &future));
    return future;
}

/* -- shutdown_now ------------------------------------------------------------------------- */

/* Due and not, once and periodic, in the order in which they would have run. */
enum { QUEUED = 6 };

struct stopped {
    rota_executor *sched;
    test_gate gate;
    rota_future *running;
    test_probe probes[QUEUED];
    rota_future *futures[QUEUED];
    rota_task_list list;
};

static void stop_scene(struct stopped *scene, bool keep_cancelled)
{
    static const rota_ns delays[QUEUED] = {0, 0, 1, 2, 3, INT64_MAX};
    static const rota_ns periods[QUEUED] = {0, 5, 0, 5, -5, 0};

    *scene = (struct stopped){.running = NULL};
    scene->sched =
        test_sched((rota_sched_options){.core_threads = 1, .keep_cancelled = keep_cancelled});
    test_gate_init(&scene->gate);
    assert_ok(rota_schedule_at_fixed_rate(scene->sched, test_wait_at, &scene->gate, 0, 1,
                                          &scene->running));
    test_await_count(&scene->gate.begun, 1);
    for (unsigned i = 0; i < QUEUED; i++)
        scene->futures[i] = probe_in(scene->sched, &scene->probes[i], delays[i], periods[i]);
}

static void end_scene(struct stopped *scene)
{
    test_gate_open(&scene->gate);
    assert_ok(rota_close(scene->sched));
    rota_task_list_free(&scene->list);
    rota_future_unref(scene->running);
    for (unsigned i = 0; i < QUEUED; i++)
        rota_future_unref(scene->futures[i]);
}

static unsigned times_in(const rota_task_list *list, const rota_future *future)
{
    unsigned times = 0;

    for (size_t i = 0; i < list->count; i++)
        times += rota_task_future(list->tasks[i]) == future;
    return times;
}

/* SCHED-27: each once. */
TEST_WITH(test_virtual_time, shutdown_now_hands_over_all_that_is_queued)
{
    struct stopped scene;
    test_getter getter;

    stop_scene(&scene, false);
    test_getter_start(&getter, scene.running, ROTA_FOREVER);
    assert_ok(rota_shutdown_now(scene.sched, &scene.list));
    assert_int_equal(scene.list.count, QUEUED);
    assert_int_equal(test_stats(scene.sched).queued, 0);
    for (unsigned i = 0; i < QUEUED; i++) {
        rota_future *future = rota_task_future(scene.list.tasks[i]);

        assert_int_equal(times_in(&scene.list, scene.futures[i]), 1);
        assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_PENDING);
    }
    for (unsigned i = 0; i < QUEUED; i++)
        rota_task_discard(scene.list.tasks[i]);
    end_scene(&scene);
    test_getter_ends(&getter, ROTA_ECANCELED, TEST_UNTOUCHED); /* not queued again */
    assert_int_equal(scene.gate.ended, 1);
    assert_int_equal(scene.gate.interrupted, 1);
    for (unsigned i = 0; i < QUEUED; i++) {
        assert_int_equal(scene.probes[i].runs, 0);
        assert_int_equal(scene.probes[i].discards, 1);
    }
}

/* POOL-54: what is due, in its order. */
TEST_WITH(test_virtual_time, what_is_due_is_handed_over_first)
{
    struct stopped scene;

    stop_scene(&scene, false);
    assert_ok(rota_shutdown_now(scene.sched, &scene.list));
    assert_ptr_equal(rota_task_future(scene.list.tasks[0]), scene.futures[0]);
    assert_ptr_equal(rota_task_future(scene.list.tasks[1]), scene.futures[1]);
    for (unsigned i = 0; i < QUEUED; i++)
        rota_task_discard(scene.list.tasks[i]);
    end_scene(&scene);
}

/* SCHED-36 */
TEST_WITH(test_virtual_time, what_was_handed_over_runs_once_by_hand)
{
    struct stopped scene;

    stop_scene(&scene, false);
    scene.probes[4].error = 33;
    assert_ok(rota_shutdown_now(scene.sched, &scene.list));
    for (unsigned i = 0; i < QUEUED; i++)
        rota_task_run(scene.list.tasks[i]);
    for (unsigned i = 0; i < QUEUED; i++) {
        bool is_periodic = rota_future_is_periodic(scene.futures[i]);
        void *result = NULL;
        assert_int_equal(is_periodic, i == 1 || i == 3 || i == 4);
        assert_status(rota_future_get(scene.futures[i], &result), i == 4 ? ROTA_EFAILED : ROTA_OK);
        assert_ptr_equal(result, i == 4 ? NULL : &scene.probes[i]);
        assert_int_equal(rota_future_error(scene.futures[i]), i == 4 ? 33 : 0);
        assert_int_equal(scene.probes[i].runs, 1);
        assert_int_equal(scene.probes[i].discards, is_periodic);
    }
    assert_int_equal(test_stats(scene.sched).completed, 0);
    end_scene(&scene);
    for (unsigned i = 0; i < QUEUED; i++)
        assert_int_equal(scene.probes[i].frees, i != 4);
}

/* They may run while the pool goes. */
TEST_WITH(test_virtual_time, what_was_handed_over_outlives_the_pool)
{
    struct stopped scene;

    stop_scene(&scene, false);
    assert_ok(rota_shutdown_now(scene.sched, &scene.list));
    test_gate_open(&scene.gate);
    assert_ok(rota_close(scene.sched));
    assert_true(rota_future_cancel(scene.futures[2]));
    for (unsigned i = 0; i < QUEUED; i++)
        rota_task_run(scene.list.tasks[i]);
    for (unsigned i = 0; i < QUEUED; i++) {
        assert_int_equal(scene.probes[i].runs, i != 2);
        rota_future_unref(scene.futures[i]);
    }
    rota_task_list_free(&scene.list);
    rota_future_unref(scene.running);
}

/* REJ-12, rota_execute_task: "it runs once, as soon as it can". */
TEST_WITH(test_virtual_time, what_was_handed_over_may_go_to_another_pool)
{
    rota_executor *plain = test_pool((rota_pool_options){.core_threads = 1});
    rota_executor *other = sched_of(1);
    struct stopped scene;

    stop_scene(&scene, false);
    assert_ok(rota_shutdown_now(scene.sched, &scene.list));
    for (unsigned i = 0; i < QUEUED; i++) {
        bool is_periodic = rota_future_is_periodic(rota_task_future(scene.list.tasks[i]));
        assert_ok(rota_execute_task(is_periodic ? plain : other, scene.list.tasks[i]));
    }
    for (unsigned i = 0; i < QUEUED; i++) {
        assert_ok(rota_future_get(scene.futures[i], NULL));
        assert_int_equal(scene.probes[i].runs, 1);
    }
    end_scene(&scene);
    assert_ok(rota_close(plain));
    assert_ok(rota_close(other));
}

/* A periodic task has not run in a pool to which it comes: it does so at once, and goes on. */
TEST_WITH(test_virtual_time, a_periodic_task_that_was_handed_over_goes_on_in_another_scheduled_pool)
{
    rota_executor *other = sched_of(1);
    struct stopped scene;

    stop_scene(&scene, false);
    assert_ok(rota_shutdown_now(scene.sched, &scene.list));
    assert_ok(rota_execute_task(other, scene.list.tasks[1]));
    test_await_count(&scene.probes[1].runs, 1);
    test_pass(other, 5, 1);
    test_await_count(&scene.probes[1].runs, 2);
    assert_true(rota_future_cancel(scene.futures[1]));
    for (unsigned i = 0; i < QUEUED; i++) {
        if (i != 1)
            rota_task_discard(scene.list.tasks[i]);
    }
    end_scene(&scene);
    assert_ok(rota_close(other));
}

/* "All that is queued": those that are kept, too, and have no more to do. */
TEST_WITH(test_virtual_time, cancelled_ones_that_are_kept_are_handed_over_and_do_not_run)
{
    struct stopped scene;

    stop_scene(&scene, true);
    assert_true(rota_future_cancel(scene.futures[0]));
    assert_true(rota_future_cancel(scene.futures[3]));
    assert_ok(rota_shutdown_now(scene.sched, &scene.list));
    assert_int_equal(scene.list.count, QUEUED);
    for (unsigned i = 0; i < QUEUED; i++)
        rota_task_run(scene.list.tasks[i]);
    end_scene(&scene);
    for (unsigned i = 0; i < QUEUED; i++) {
        bool was_cancelled = i == 0 || i == 3;
        assert_int_equal(scene.probes[i].runs, !was_cancelled);
        assert_int_equal(scene.probes[i].discards, was_cancelled || i == 1 || i == 4);
    }
}

/* POOL-60 */
TEST_WITH(test_virtual_time, closing_within_counts_what_it_drops)
{
    rota_executor *sched = sched_of(1);
    test_probe probe = {.error = 0};
    size_t dropped = 77;

    rota_future_unref(probe_in(sched, &probe, ROTA_HOURS(1), 0));
    rota_future_unref(probe_in(sched, &probe, ROTA_HOURS(1), 0));
    rota_future_unref(probe_in(sched, &probe, ROTA_HOURS(1), 1)); /* cancelled by the shutdown */
    if (rota_close_within(sched, 0, &dropped) != ROTA_OK) /* its thread needs time to leave */
        assert_ok(rota_close(sched));
    assert_int_equal(dropped, 3);
    assert_int_equal(probe.discards, 3);
}

/* POOL-60: a cancelled task that is still queued was discarded when it was cancelled. */
TEST_WITH(test_virtual_time, closing_within_does_not_count_cancelled_tasks)
{
    rota_executor *sched =
        test_sched((rota_sched_options){.keep_cancelled = true, .drop_delayed_on_shutdown = true});
    test_probe probe = {.error = 0};
    rota_future *cancelled = probe_in(sched, &probe, ROTA_HOURS(1), 0);
    size_t dropped = 77;

    rota_future_unref(probe_in(sched, &probe, ROTA_HOURS(1), 0));
    assert_true(rota_future_cancel(cancelled));
    rota_future_unref(cancelled);
    assert_int_equal(test_stats(sched).queued, 2);
    if (rota_close_within(sched, 0, &dropped) != ROTA_OK) /* its thread needs time to leave */
        assert_ok(rota_close(sched));
    assert_int_equal(dropped, 1);
    assert_int_equal(probe.discards, 2);
}

/* POOL-53 */
TEST_WITH(test_virtual_time, shutdown_now_interrupts_what_runs)
{
    rota_executor *sched = sched_of(2);
    rota_task_list list;
    test_gate gate;

    test_gate_init(&gate);
    for (unsigned i = 0; i < 5; i++)
        assert_ok(rota_execute(sched, test_sleep_long, &gate));
    test_await_count(&gate.begun, 2);
    assert_ok(rota_shutdown_now(sched, &list));
    assert_true(rota_is_shutdown(sched));
    assert_int_equal(rota_queue_size(rota_pool_queue(sched)), 0);
    assert_int_equal(list.count, 3);
    for (unsigned i = 0; i < 3; i++)
        rota_task_discard(list.tasks[i]);
    rota_task_list_free(&list);
    assert_ok(rota_await_termination(sched, ROTA_FOREVER));
    assert_int_equal(gate.begun, 2);
    assert_int_equal(gate.interrupted, 2);
    assert_int_equal(test_stats(sched).completed, 2);
    assert_ok(rota_close(sched));
}

/* -- Refusals ----------------------------------------------------------------------------- */

static void all_are_rejected(rota_executor *sched)
{
    atomic_uint runs = 0;
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *out = TEST_UNTOUCHED;

    assert_status(rota_execute(sched, test_count, &runs), ROTA_EREJECTED);
    assert_status(rota_submit(sched, test_count, &runs, &out), ROTA_EREJECTED);
    assert_status(rota_submit_call(sched, &call, &out), ROTA_EREJECTED);
    assert_status(rota_schedule(sched, test_count, &runs, 5, &out), ROTA_EREJECTED);
    assert_status(rota_schedule(sched, test_count, &runs, 5, NULL), ROTA_EREJECTED);
    assert_status(rota_schedule_call(sched, &call, 5, 0, &out), ROTA_EREJECTED);
    assert_status(rota_schedule_call(sched, &call, 5, -1, &out), ROTA_EREJECTED);
    assert_status(rota_schedule_skipping(sched, &call, 5, 1, &out), ROTA_EREJECTED);
    assert_status(rota_schedule_at_fixed_rate(sched, test_count, &runs, 5, 1, &out),
                  ROTA_EREJECTED);
    assert_status(rota_schedule_with_fixed_delay(sched, test_count, &runs, 5, 1, &out),
                  ROTA_EREJECTED);
    assert_ptr_equal(out, TEST_UNTOUCHED);
    assert_int_equal(runs, 0);
    assert_int_equal(probe.runs + probe.discards, 0); /* "arg is still yours" */
}

/* SCHED-17, REJ-10 */
TEST_WITH(test_virtual_time, a_pool_that_is_shut_down_rejects_everything)
{
    for (int now = 0; now < 2; now++) {
        rota_executor *sched = sched_of(2);
        test_gate gate;

        test_gate_init(&gate);
        test_occupy(sched, &gate, 2);
        assert_ok(now ? rota_shutdown_now(sched, NULL) : rota_shutdown(sched));
        all_are_rejected(sched);
        test_gate_open(&gate);
        assert_ok(rota_await_termination(sched, ROTA_FOREVER));
        all_are_rejected(sched);
        assert_int_equal(test_stats(sched).completed, 2);
        assert_int_equal(test_stats(sched).submitted, 2);
        assert_int_equal(test_stats(sched).rejected, 20);
        assert_ok(rota_close(sched));
    }
}

struct judge {
    unsigned calls;
    bool is_periodic;
};

static int take_over(rota_executor *ex, rota_task *task, void *ctx)
{
    struct judge *judge = ctx;

    judge->calls++;
    judge->is_periodic = rota_future_is_periodic(rota_task_future(task));
    rota_task_run(task);
    return ROTA_OK;
}

/* SCHED-17: the handler is the user's, and may take the task over. */
TEST_WITH(test_virtual_time, the_rejection_handler_sees_what_comes_too_late)
{
    struct judge judge = {0};
    rota_executor *sched = test_sched(
        (rota_sched_options){.core_threads = 1, .on_reject = take_over, .reject_ctx = &judge});
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *once, *periodic;

    assert_ok(rota_shutdown(sched));
    assert_ok(rota_schedule_call(sched, &call, ROTA_HOURS(1), 0, &once));
    assert_false(judge.is_periodic);
    assert_ok(rota_schedule_call(sched, &call, ROTA_HOURS(1), ROTA_SEC(1), &periodic));
    assert_true(judge.is_periodic);
    assert_int_equal(judge.calls, 2);
    assert_int_equal(probe.runs, 2);
    assert_ok(rota_future_get(once, NULL));
    assert_ok(rota_future_get(periodic, NULL));
    rota_future_unref(once);
    rota_future_unref(periodic);
    assert_ok(rota_close(sched));
}

TEST_WITH(test_virtual_time, the_ready_made_handlers_see_to_what_comes_too_late)
{
    static rota_reject *const handlers[] = {rota_reject_caller_runs, rota_reject_discard,
                                            rota_reject_discard_oldest};

    for (unsigned i = 0; i < 3; i++) {
        rota_executor *sched =
            test_sched((rota_sched_options){.core_threads = 1, .on_reject = handlers[i]});
        test_probe probe = {.error = 0};
        rota_future *future;

        assert_ok(rota_shutdown(sched));
        future = probe_in(sched, &probe, ROTA_HOURS(1), ROTA_HOURS(1));
        assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
        assert_int_equal(probe.runs, 0);
        assert_int_equal(probe.discards, 1);
        rota_future_unref(future);
        assert_ok(rota_close(sched));
    }
}

/* SCHED-22: a periodic task that finds the pool shut down is cancelled, and nobody is asked. */
TEST_WITH(test_virtual_time, a_periodic_task_that_comes_again_is_not_rejected)
{
    struct judge judge = {0};
    rota_executor *sched = test_sched(
        (rota_sched_options){.core_threads = 1, .on_reject = take_over, .reject_ctx = &judge});
    test_getter getter;
    rota_future *periodic;
    test_gate gate;

    test_gate_init(&gate);
    assert_ok(rota_schedule_at_fixed_rate(sched, test_wait_at, &gate, 0, 1, &periodic));
    test_await_count(&gate.begun, 1);
    test_getter_start(&getter, periodic, ROTA_FOREVER);
    assert_ok(rota_shutdown(sched));
    test_gate_open(&gate);
    test_getter_ends(&getter, ROTA_ECANCELED, TEST_UNTOUCHED);
    rota_future_unref(periodic);
    assert_ok(rota_close(sched));
    assert_int_equal(judge.calls, 0);
    assert_int_equal(gate.begun, 1);
}

/* -- Waiting for the end ------------------------------------------------------------------ */

static void close_it(void *sched)
{
    test_check(rota_close(sched) == ROTA_OK);
}

/* "So rota_close waits for it": by default what is not due yet still runs. */
TEST_WITH(test_virtual_time, closing_waits_for_what_is_not_due_yet)
{
    rota_executor *sched = sched_of(1);
    atomic_uint runs = 0;
    test_thread *closer;

    assert_ok(rota_schedule(sched, test_count, &runs, ROTA_SEC(30), NULL));
    test_clock_await_waiting(1);
    closer = test_thread_start(close_it, sched);
    test_await_parked(test_thread_handle(closer));
    assert_int_equal(runs, 0);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(30));
    test_thread_join(closer);
    assert_int_equal(runs, 1);
}

/* SCHED-19 */
TEST(with_core_0_what_is_not_due_yet_runs_after_the_shutdown)
{
    rota_executor *sched = sched_of(0);
    atomic_uint runs = 0;

    assert_ok(rota_schedule(sched, test_count, &runs, ROTA_MS(12), NULL));
    assert_ok(rota_shutdown(sched));
    assert_ok(rota_await_termination(sched, ROTA_FOREVER));
    assert_int_equal(runs, 1);
    assert_int_equal(test_options(sched).core_threads, 0);
    assert_ok(rota_close(sched));
}

/* POOL-49 */
TEST_WITH(test_virtual_time, the_state_follows_the_end)
{
    rota_executor *sched = sched_of(1);
    test_gate gate;

    test_gate_init(&gate);
    assert_false(rota_is_shutdown(sched));
    test_occupy(sched, &gate, 1);
    assert_ok(rota_shutdown(sched));
    assert_true(rota_is_shutdown(sched));
    assert_false(rota_is_terminated(sched));
    test_gate_open(&gate);
    assert_ok(rota_await_termination(sched, ROTA_FOREVER));
    assert_true(rota_is_terminated(sched));
    assert_ok(rota_executor_free(sched));
}

/* A pool without a thread, or a task, ends at once. */
TEST_WITH(test_virtual_time, an_unused_pool_ends_at_once)
{
    rota_executor *sched = sched_of(3);

    assert_status(rota_executor_free(sched), ROTA_EBUSY);
    assert_ok(rota_shutdown(sched));
    assert_true(rota_is_terminated(sched));
    assert_ok(rota_executor_free(sched));
}
