/* SPDX-License-Identifier: MIT */
/*
 * What is called around the tasks of a scheduled pool, and what it counts: decorate once for each
 * task, the hooks around each run.
 */
#include "pools.h"
#include "rota_test_internal.h"

#include <string.h>

TEST_FIXTURE(.setup = test_clock_before, .teardown = test_clock_after);

/* -- Decorate ----------------------------------------------------------------------------- */

enum { REFUSED = -77, MOST = 16 };

struct decorator {
    unsigned calls;
    int answer;
    rota_thread *thread; /* of the last call */
    const rota_task *tasks[MOST];
    rota_executor *sched;
    bool was_queued; /* the task, when it was called */
};

static int decorate(rota_task *task, void *ctx)
{
    struct decorator *self = ctx;

    test_check(self->calls < MOST);
    self->tasks[self->calls++] = task;
    self->thread = rota_thread_self();
    self->was_queued = rota_queue_contains(rota_pool_queue(self->sched), task);
    return self->answer;
}

static rota_executor *decorated(struct decorator *self)
{
    *self = (struct decorator){.answer = ROTA_OK};
    self->sched = test_sched(
        (rota_sched_options){.core_threads = 1, .decorate = decorate, .decorate_ctx = self});
    return self->sched;
}

/* Every way in. */
static int enter(unsigned way, rota_executor *sched, test_probe *probe, rota_future **out)
{
    rota_call call = test_probe_call(probe);

    switch (way) {
    case 0:
        return rota_execute(sched, call.fn, call.arg);
    case 1:
        return rota_submit(sched, call.fn, call.arg, out);
    case 2:
        return rota_submit_call(sched, &call, out);
    case 3:
        return rota_schedule(sched, call.fn, call.arg, 1, out);
    case 4:
        return rota_schedule_call(sched, &call, 1, 0, out);
    case 5:
        return rota_schedule_at_fixed_rate(sched, call.fn, call.arg, 1, 1, out);
    case 6:
        return rota_schedule_with_fixed_delay(sched, call.fn, call.arg, 1, 1, out);
    case 7:
        return rota_schedule_skipping(sched, &call, 1, 1, out);
    case 8:
        return rota_invoke_any(sched, &call, 1, ROTA_FOREVER, out);
    default:
        return rota_invoke_all(sched, &call, 1, ROTA_FOREVER, out);
    }
}

enum { INVOKES = 8, WAYS = 10 };

/* SCHED-30: on the thread that submits it, before it is queued. */
TEST(decorate_sees_each_task_once_whichever_way_it_comes)
{
    for (unsigned way = 0; way < WAYS; way++) {
        struct decorator self;
        rota_executor *sched = decorated(&self);
        test_probe probe = {.error = 0};
        rota_future *future = NULL;

        assert_ok(enter(way, sched, &probe, &future));
        assert_int_equal(self.calls, 1);
        assert_ptr_equal(self.thread, rota_thread_self());
        assert_false(self.was_queued);
        if (future != NULL)
            assert_ptr_equal(rota_task_future(self.tasks[0]), future);
        test_await_waiting(sched, 1);
        test_pass(sched, 5, 1);
        assert_true(probe.runs >= 1);
        assert_int_equal(self.calls, 1); /* however often it runs */
        rota_future_unref(future);
        assert_ok(rota_close(sched));
    }
}

/* SCHED-30 */
TEST(what_decorate_refuses_is_not_queued_and_the_submitter_sees_it)
{
    for (unsigned way = 0; way < WAYS; way++) {
        struct decorator self;
        rota_executor *sched = decorated(&self);
        test_probe probe = {.error = 0};
        rota_future *future = TEST_UNTOUCHED;

        self.answer = REFUSED;
        assert_status(enter(way, sched, &probe, &future), REFUSED);
        assert_ptr_equal(future, TEST_UNTOUCHED);
        assert_int_equal(self.calls, 1);
        assert_int_equal(test_stats(sched).queued, 0);
        assert_int_equal(test_stats(sched).submitted, 0);
        assert_int_equal(test_stats(sched).threads, 0);
        assert_int_equal(probe.runs, 0);
        assert_int_equal(probe.discards, way >= INVOKES); /* else "arg is still yours" */
        assert_ok(rota_close(sched));
    }
}

/* Also by the status of a rejection, which no handler is asked about: there was room. */
TEST(what_decorate_rejects_is_not_the_handlers)
{
    struct decorator self;
    rota_executor *sched = decorated(&self);
    test_probe probe = {.error = 0};
    rota_future *future = TEST_UNTOUCHED;

    assert_ok(rota_pool_set_reject(sched, rota_reject_discard, NULL));
    self.answer = ROTA_EREJECTED;
    for (unsigned way = 0; way < INVOKES; way++)
        assert_status(enter(way, sched, &probe, &future), ROTA_EREJECTED);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_int_equal(probe.runs + probe.discards, 0);
    assert_int_equal(test_stats(sched).rejected, 0);
    assert_ok(rota_close(sched));
}

/* REJ-09: the handlers that submit the task again return the status of decorate, too. */
TEST(a_handler_does_not_queue_a_task_that_decorate_refuses)
{
    static rota_reject *const handlers[] = {rota_reject_block, rota_reject_discard_oldest};
    static const int answers[] = {ROTA_EREJECTED, REFUSED};
    struct decorator self;
    rota_executor *sched = decorated(&self);

    for (unsigned i = 0; i < 4; i++) {
        test_probe probe = {.error = 0};
        rota_task *task = test_task(test_probe_call(&probe), NULL);

        self.answer = answers[i / 2];
        assert_status(handlers[i % 2](sched, task, NULL), self.answer);
        assert_int_equal(test_stats(sched).queued, 0);
        assert_int_equal(probe.runs + probe.discards, 0);
        rota_task_discard(task);
        assert_int_equal(probe.discards, 1);
    }
    assert_ok(rota_close(sched));
}

/* A task that was handed out and is passed on comes in, too, and stays with who has it. */
TEST(what_decorate_refuses_stays_the_callers)
{
    struct decorator self;
    rota_executor *sched = decorated(&self);
    test_probe probe = {.error = 0};
    rota_task *task = test_task(test_probe_call(&probe), NULL);

    self.answer = REFUSED;
    assert_status(rota_execute_task(sched, task), REFUSED);
    assert_ptr_equal(self.tasks[0], task);
    self.answer = ROTA_OK;
    assert_ok(rota_execute_task(sched, task));
    assert_int_equal(self.calls, 2);
    assert_ok(rota_close(sched));
    assert_int_equal(probe.runs, 1);
}

/* OWN-05: one that was handed out and is refused is due when it was before, by whatever refuses it. */
TEST(what_is_refused_is_due_when_it_was)
{
    struct decorator self;
    rota_executor *first = test_sched((rota_sched_options){.core_threads = 1});
    rota_executor *other = decorated(&self);
    rota_executor *ended = test_sched((rota_sched_options){.core_threads = 1});
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future;
    rota_task_list list;

    assert_ok(rota_schedule_call(first, &call, ROTA_HOURS(1), 0, &future));
    assert_ok(rota_shutdown_now(first, &list));
    assert_int_equal(list.count, 1);
    self.answer = REFUSED;
    assert_status(rota_execute_task(other, list.tasks[0]), REFUSED);
    assert_true(rota_future_delay(future) == ROTA_HOURS(1));
    assert_ok(rota_shutdown(ended));
    assert_status(rota_execute_task(ended, list.tasks[0]), ROTA_EREJECTED);
    assert_true(rota_future_delay(future) == ROTA_HOURS(1));
    rota_task_discard(list.tasks[0]);
    rota_task_list_free(&list);
    rota_future_unref(future);
    assert_ok(rota_close(first));
    assert_ok(rota_close(other));
    assert_ok(rota_close(ended));
}

/* ROTA_EREJECTED is a status like any other: but what is rejected goes to the handler. */
TEST(what_comes_too_late_is_not_decorated)
{
    struct decorator self;
    rota_executor *sched = decorated(&self);
    test_probe probe = {.error = 0};
    rota_future *future = TEST_UNTOUCHED;

    assert_ok(rota_shutdown(sched));
    for (unsigned way = 0; way < WAYS; way++)
        assert_status(enter(way, sched, &probe, &future), ROTA_EREJECTED);
    assert_int_equal(self.calls, 0);
    assert_ok(rota_close(sched));
}

static int cancel_inside(rota_task *task, void *ctx)
{
    struct decorator *self = ctx;
    rota_future *future = rota_task_future(task);

    test_check(rota_future_is_periodic(future));
    test_check(rota_future_delay(future) == ROTA_SEC(1));
    return self->calls++ == 0 && rota_future_cancel(future) ? ROTA_OK : REFUSED;
}

/* It may look at the future, and even end it: the task is as one that was cancelled later. */
TEST(decorate_may_look_at_the_future_and_cancel_it)
{
    struct decorator self = {.calls = 0};
    rota_executor *sched = test_sched(
        (rota_sched_options){.core_threads = 1, .decorate = cancel_inside, .decorate_ctx = &self});
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future;

    assert_ok(rota_schedule_call(sched, &call, ROTA_SEC(1), ROTA_SEC(1), &future));
    assert_int_equal(test_stats(sched).queued, 0);
    assert_int_equal(test_stats(sched).submitted, 1);
    assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
    rota_future_unref(future);
    assert_ok(rota_close(sched));
    assert_int_equal(probe.runs, 0);
    assert_int_equal(probe.discards, 1);
}

/* SCHED-30: the queue and shutdown_now show what decorate saw. */
TEST(the_queue_and_shutdown_now_show_the_decorated_task)
{
    struct decorator self;
    rota_executor *sched = decorated(&self);
    test_probe probe = {.error = 0};
    rota_future *future;
    rota_task_list list;
    void *head;

    assert_ok(enter(5, sched, &probe, &future));
    assert_ok(rota_queue_peek(rota_pool_queue(sched), &head));
    assert_ptr_equal(head, self.tasks[0]);
    assert_ok(rota_shutdown_now(sched, &list));
    assert_int_equal(list.count, 1);
    assert_ptr_equal(list.tasks[0], self.tasks[0]);
    rota_task_discard(list.tasks[0]);
    rota_task_list_free(&list);
    rota_future_unref(future);
    assert_ok(rota_close(sched));
}

/* SCHED-07, SCHED-30 */
TEST(decorated_tasks_run_at_their_times)
{
    struct decorator self;
    rota_executor *sched = decorated(&self);
    test_probe once = {.error = 0}, delay = once, rate = once;
    rota_call calls[] = {test_probe_call(&once), test_probe_call(&delay), test_probe_call(&rate)};
    static const rota_ns periods[] = {0, -INT64_MAX, 12};
    rota_future *futures[3];

    for (unsigned i = 0; i < 3; i++)
        assert_ok(rota_schedule_call(sched, &calls[i], 12, periods[i], &futures[i]));
    test_await_waiting(sched, 1);
    test_pass(sched, 11, 1);
    assert_int_equal(once.runs + delay.runs + rate.runs, 0);
    test_pass(sched, 1, 1);
    assert_int_equal(once.runs + delay.runs + rate.runs, 3);
    for (unsigned i = 2; i <= 8; i++) {
        test_pass(sched, 12, 1);
        assert_int_equal(rate.runs, i);
    }
    assert_ok(rota_future_get(futures[0], NULL));
    assert_int_equal(self.calls, 3);
    for (unsigned i = 0; i < 3; i++)
        rota_future_unref(futures[i]);
    assert_ok(rota_close(sched));
    assert_int_equal(once.runs + delay.runs, 2);
}

/* POOL-50, POOL-51, SCHED-30 */
TEST(decorated_tasks_are_found_in_the_queue_and_removed)
{
    struct decorator self;
    rota_executor *sched = decorated(&self);
    test_probe probe = {.error = 0};
    rota_future *futures[3];

    for (unsigned i = 0; i < 3; i++)
        assert_ok(enter(3 + i, sched, &probe, &futures[i]));
    for (unsigned i = 0; i < 3; i++) {
        assert_true(rota_queue_contains(rota_pool_queue(sched), self.tasks[i]));
        assert_true(rota_pool_remove(sched, futures[i]));
        assert_false(rota_pool_remove(sched, futures[i]));
        assert_int_equal(test_stats(sched).queued, 2 - i);
        rota_future_unref(futures[i]);
    }
    assert_ok(rota_close(sched));
    assert_int_equal(probe.runs, 0);
}

/* -- Hooks -------------------------------------------------------------------------------- */

struct hooks {
    atomic_uint before, after, ok, failed, cancelled, unobserved, terminated;
    atomic_int error;
    _Atomic(rota_task *) last;
};

static void before(rota_executor *ex, rota_task *task, void *ctx)
{
    struct hooks *hooks = ctx;

    atomic_store(&hooks->last, task);
    atomic_fetch_add(&hooks->before, 1);
}

static void after(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    struct hooks *hooks = ctx;

    test_check(atomic_load(&hooks->last) == task);
    if (status != ROTA_OK)
        atomic_store(&hooks->error, error);
    atomic_fetch_add(status == ROTA_OK        ? &hooks->ok
                     : status == ROTA_EFAILED ? &hooks->failed
                                              : &hooks->cancelled,
                     1);
    atomic_fetch_add(&hooks->after, 1);
}

static void unobserved(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    atomic_fetch_add(&((struct hooks *)ctx)->unobserved, 1);
}

static void terminated(rota_executor *ex, void *ctx)
{
    atomic_fetch_add(&((struct hooks *)ctx)->terminated, 1);
}

static rota_executor *hooked(struct hooks *hooks)
{
    return test_sched((rota_sched_options){
        .core_threads = 1,
        .hooks = {before, after, unobserved, terminated, hooks},
    });
}

/* POOL-33, SCHED-31 */
TEST(the_hooks_are_called_around_each_run)
{
    struct hooks hooks = {0};
    rota_executor *sched = hooked(&hooks);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future;

    assert_ok(rota_schedule_call(sched, &call, 1, 1, &future));
    test_await_waiting(sched, 1);
    for (unsigned i = 1; i <= 5; i++) {
        test_pass(sched, 1, 1);
        assert_int_equal(probe.runs, i);
        assert_int_equal(hooks.before, i);
        assert_int_equal(hooks.ok, i);
    }
    probe.error = 9;
    test_pass(sched, 1, 1);
    assert_int_equal(hooks.failed, 1);
    assert_int_equal(hooks.error, 9);
    assert_int_equal(hooks.before, 6);
    assert_int_equal(hooks.after, 6);
    rota_future_unref(future);
    assert_ok(rota_close(sched));
    assert_int_equal(hooks.cancelled, 0);
    assert_int_equal(hooks.unobserved, 0); /* SCHED-16: somebody held it */
    assert_int_equal(hooks.terminated, 1);
}

/* POOL-32: of a failure that no holder can see, once. */
TEST(a_failure_that_nobody_can_see_is_told)
{
    struct hooks hooks = {0};
    rota_executor *sched = hooked(&hooks);
    test_probe probe = {.error = 9};
    rota_call call = test_probe_call(&probe);

    assert_ok(rota_schedule_call(sched, &call, 1, 0, NULL));
    assert_ok(rota_schedule_call(sched, &call, 1, 1, NULL));
    assert_ok(rota_execute(sched, call.fn, &probe));
    test_await_waiting(sched, 1);
    test_pass(sched, 10, 1);
    assert_ok(rota_close(sched));
    assert_int_equal(probe.runs, 3);
    assert_int_equal(hooks.failed, 3);
    assert_int_equal(hooks.unobserved, 3);
}

static void cancel_future(void *arg)
{
    test_check(rota_future_cancel(*(rota_future **)arg));
}

/* A run that cancels its own future ends as cancelled. */
TEST(the_hook_after_sees_that_the_future_was_cancelled)
{
    struct hooks hooks = {0};
    rota_executor *sched = hooked(&hooks);
    rota_future *future;
    test_probe probe = {.during = cancel_future, .arg = &future};
    rota_call call = test_probe_call(&probe);

    assert_ok(rota_schedule_call(sched, &call, 1, 1, &future));
    test_await_waiting(sched, 1);
    test_pass(sched, 5, 1);
    assert_int_equal(hooks.cancelled, 1);
    assert_int_equal(hooks.before, 1);
    rota_future_unref(future);
    assert_ok(rota_close(sched));
}

/* -- Counts ------------------------------------------------------------------------------- */

/* Submitted is what was accepted, completed are runs. */
TEST(a_periodic_task_is_submitted_once_and_completed_with_each_run)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 2});
    atomic_uint runs = 0;
    rota_future *periodic;

    assert_ok(rota_schedule_at_fixed_rate(sched, test_count, &runs, 1, 1, &periodic));
    assert_ok(rota_schedule(sched, test_count, &runs, 1, NULL));
    assert_int_equal(test_stats(sched).submitted, 2);
    assert_int_equal(test_stats(sched).queued, 2);
    test_await_waiting(sched, 2);
    for (unsigned i = 1; i <= 20; i++) {
        test_pass(sched, 1, 2);
        assert_int_equal(test_stats(sched).submitted, 2);
        assert_int_equal(test_stats(sched).completed, 1 + i);
        assert_int_equal(test_stats(sched).queued, 1);
        assert_int_equal(test_stats(sched).active, 0);
    }
    assert_true(rota_future_cancel(periodic));
    assert_int_equal(test_stats(sched).submitted, 2);
    assert_int_equal(test_stats(sched).queued, 0);
    rota_future_unref(periodic);
    assert_ok(rota_shutdown(sched));
    assert_ok(rota_await_termination(sched, ROTA_FOREVER));
    assert_int_equal(test_stats(sched).submitted, 2);
    assert_int_equal(test_stats(sched).completed, 21);
    assert_ok(rota_close(sched));
}

/* What never ran is counted as submitted all the same. */
TEST(what_leaves_unrun_has_been_submitted)
{
    rota_executor *sched =
        test_sched((rota_sched_options){.core_threads = 1, .drop_delayed_on_shutdown = true});
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future;

    for (unsigned i = 0; i < 4; i++) {
        assert_ok(rota_schedule_call(sched, &call, ROTA_SEC(1), i % 2, &future));
        if (i == 0)
            assert_true(rota_future_cancel(future));
        if (i == 1)
            assert_true(rota_pool_remove(sched, future));
        rota_future_unref(future);
    }
    assert_int_equal(test_stats(sched).submitted, 4);
    assert_ok(rota_shutdown(sched));
    assert_int_equal(test_stats(sched).submitted, 4);
    assert_int_equal(test_stats(sched).completed, 0);
    assert_int_equal(test_stats(sched).queued, 0);
    assert_ok(rota_close(sched));
    assert_int_equal(probe.discards, 4);
}

struct inside {
    rota_executor *sched;
    rota_pool_stats stats;
};

static void *look_inside(void *arg)
{
    struct inside *inside = arg;

    inside->stats = test_stats(inside->sched);
    return NULL;
}

/* POOL-46, POOL-48 */
TEST(a_task_is_active_while_it_runs_and_completed_then)
{
    struct inside inside = {.sched = test_sched((rota_sched_options){.core_threads = 2})};

    assert_int_equal(test_stats(inside.sched).active, 0);
    assert_int_equal(test_stats(inside.sched).threads, 0);
    assert_int_equal(test_stats(inside.sched).completed, 0);
    assert_ok(rota_schedule(inside.sched, look_inside, &inside, 1, NULL));
    test_await_waiting(inside.sched, 1);
    test_pass(inside.sched, 1, 1);
    assert_int_equal(inside.stats.active, 1);
    assert_int_equal(inside.stats.threads, 1);
    assert_int_equal(inside.stats.completed, 0);
    assert_int_equal(inside.stats.core_threads, 2);
    assert_int_equal(test_stats(inside.sched).active, 0);
    assert_int_equal(test_stats(inside.sched).completed, 1);
    assert_ok(rota_close(inside.sched));
}

TEST(a_line_for_logs_says_what_kind_it_is)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 2});
    atomic_uint runs = 0;
    char line[200];

    assert_ok(rota_schedule(sched, test_count, &runs, ROTA_SEC(1), NULL));
    assert_true(rota_executor_describe(sched, line, sizeof line) > 0);
    assert_non_null(strstr(line, "scheduled pool: running"));
    assert_non_null(strstr(line, "1 queued"));
    test_stop(sched);
}
