/* SPDX-License-Identifier: MIT */
/*
 * What the calls of an executor leave alone: interrupts that are not theirs, and the meaning of a
 * status.
 */
#include "executors.h"
#include "rota_test_internal.h"
#include "rota_test_tasks.h"

#include <sched.h>

static int run_here(void *self, rota_task *task)
{
    rota_task_run(task);
    return ROTA_OK;
}

static int wait_for_promise(void *self, rota_ns timeout)
{
    return rota_future_get_timed(*(rota_future **)self, timeout, NULL);
}

/* INT-03, INT-05: to look at the state is no wait, and leaves an interrupt alone. */
TEST(a_look_at_the_state_leaves_an_interrupt)
{
    const rota_executor_ops ops = {.execute = run_here, .await_termination = wait_for_promise};
    rota_future *ended;
    rota_executor *executor;

    assert_ok(rota_promise_new(&ended));
    assert_ok(rota_executor_new(&ops, &ended, &executor));
    assert_ok(rota_shutdown(executor));
    rota_thread_interrupt(rota_thread_self());
    assert_false(rota_is_terminated(executor));
    assert_true(rota_is_interrupted());
    assert_status(rota_executor_free(executor), ROTA_EBUSY);
    assert_true(rota_interrupted());
    rota_promise_complete(ended, NULL);
    assert_ok(rota_close(executor));
    rota_future_unref(ended);
}

static int refuse(void *self, rota_task *task)
{
    return ROTA_EFAILED;
}

/* EXEC-11: EFAILED is told with a future that failed. */
TEST(a_refusal_is_no_failure)
{
    const rota_executor_ops ops = {.execute = refuse};
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_executor *executor;
    rota_future *first = NULL;

    assert_ok(rota_executor_new(&ops, NULL, &executor));
    assert_status(rota_invoke_any(executor, &call, 1, ROTA_FOREVER, &first), ROTA_EREJECTED);
    assert_null(first);
    assert_int_equal(probe.runs + probe.discards, 1);
    assert_ok(rota_close(executor));
}

struct inner {
    rota_executor *busy;
    test_latch gate;
    atomic_bool began;
    bool interrupted_after;
    rota_task *task;
};

static void *wait_for_gate(void *arg)
{
    test_latch_wait(arg);
    return NULL;
}

static void *close_inside(void *arg)
{
    struct inner *self = arg;

    atomic_store(&self->began, true);
    test_check(rota_close(self->busy) == ROTA_OK);
    return NULL;
}

static void run_then_look(void *arg)
{
    struct inner *self = arg;

    rota_task_run(self->task);
    self->interrupted_after = rota_is_interrupted();
}

/* INT-08: an interrupt of a task is void when it ends, also if close inside it waited through it. */
TEST(an_interrupt_that_close_kept_ends_with_its_task)
{
    struct inner self = {.gate = TEST_LATCH(1)};
    rota_future *future;

    assert_ok(test_executor_threads(1, &self.busy));
    assert_ok(rota_execute(self.busy, wait_for_gate, &self.gate));
    self.task = test_task((rota_call){.fn = close_inside, .arg = &self}, &future);
    test_thread *thread = test_thread_start(run_then_look, &self);
    while (!atomic_load(&self.began))
        sched_yield();
    test_await_parked(test_thread_handle(thread));
    assert_true(rota_future_cancel_now(future));
    test_latch_open(&self.gate);
    test_thread_join(thread);
    rota_future_unref(future);
    assert_false(self.interrupted_after);
}
