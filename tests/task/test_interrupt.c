/* SPDX-License-Identifier: MIT */
/*
 * Each task has an interrupt flag of its own while it runs.
 */
#include "rota_test_tasks.h"

static bool seen;

static void look(void *arg)
{
    seen = rota_is_interrupted();
}

static void look_and_take(void *arg)
{
    seen = rota_interrupted();
}

static void interrupt_myself(void *arg)
{
    rota_thread_interrupt(rota_thread_self());
    seen = rota_is_interrupted();
}

static int prepare(void **state)
{
    seen = false;
    rota_interrupted();
    return 0;
}

TEST_FIXTURE(.setup = prepare);

/* Runs a task that calls `during`; what that wrote to `seen`. */
static bool seen_in_a_task(void (*during)(void *arg))
{
    test_probe probe = {.during = during};

    seen = !seen;
    rota_task_run(test_task(test_probe_call(&probe), NULL));
    assert_int_equal(probe.runs, 1);
    return seen;
}

static void *plain_look(void *arg)
{
    look(arg);
    return NULL;
}

/* INT-01, INT-08: an interrupt from before is not the task's, and is still there after it. */
TEST(an_earlier_interrupt_is_not_the_tasks)
{
    rota_thread_interrupt(rota_thread_self());
    assert_false(seen_in_a_task(look));
    assert_false(seen_in_a_task(look_and_take));
    seen = true;
    rota_task_run(test_plain_task(plain_look, NULL));
    assert_false(seen);
    assert_true(rota_interrupted());
    assert_false(rota_interrupted());
}

/* INT-02: a task that sets its own flag interrupts neither its caller nor the next task. */
TEST(an_interrupt_of_the_task_by_itself_ends_with_the_task)
{
    assert_true(seen_in_a_task(interrupt_myself));
    assert_false(rota_is_interrupted());
    assert_false(seen_in_a_task(look));
}

static void interrupt_thread(void *thread)
{
    rota_thread_interrupt(thread);
}

static void interrupt_from_outside(void *arg)
{
    test_thread_join(test_thread_start(interrupt_thread, rota_thread_self()));
    seen = rota_is_interrupted();
}

/* INT-01: an interrupt by another thread that the task does not see stays for the thread. */
TEST(an_interrupt_by_another_thread_stays_until_it_is_seen)
{
    assert_true(seen_in_a_task(interrupt_from_outside));
    assert_false(seen_in_a_task(look));
    assert_true(rota_interrupted());
    assert_false(rota_interrupted());
}

static void interrupt_and_take(void *arg)
{
    interrupt_myself(arg);
    seen = rota_interrupted() && !rota_is_interrupted();
}

/* INT-02: what the task has taken is gone. */
TEST(a_taken_interrupt_is_gone)
{
    assert_true(seen_in_a_task(interrupt_and_take));
    assert_false(rota_is_interrupted());
}

static void cancel_myself(void *arg)
{
    rota_future **future = arg;

    test_check(!rota_is_interrupted());
    test_check(rota_future_cancel_now(*future));
    seen = rota_is_interrupted();
}

/* INT-08, FUT-23: a cancelled task's interrupt ends with it. */
TEST(a_cancelled_tasks_interrupt_ends_with_it)
{
    rota_future *future;
    test_probe probe = {.during = cancel_myself, .arg = &future};
    rota_task *task = test_task(test_probe_call(&probe), &future);

    rota_task_run(task);
    assert_true(seen);
    assert_false(rota_is_interrupted());
    assert_false(seen_in_a_task(look));
    rota_future_unref(future);
}

struct nested {
    rota_future *outer;
    rota_task *inner;
    bool seen_after; /* by the outer one, when the inner one has run */
};

static void cancel_myself_and_run_inner(void *arg)
{
    struct nested *nested = arg;

    test_check(rota_future_cancel_now(nested->outer));
    rota_task_run(nested->inner);
    nested->seen_after = rota_interrupted();
}

static void run_inner(void *arg)
{
    struct nested *nested = arg;

    rota_task_run(nested->inner);
    nested->seen_after = rota_interrupted();
}

/* INT-01: a task that an interrupted one runs is not interrupted; the other one stays so. */
TEST(an_inner_task_does_not_see_the_outer_ones_interrupt)
{
    struct nested nested = {NULL, NULL, false};
    test_probe inner = {.during = look_and_take};
    test_probe outer = {.during = cancel_myself_and_run_inner, .arg = &nested};

    seen = true;
    nested.inner = test_task(test_probe_call(&inner), NULL);
    rota_task_run(test_task(test_probe_call(&outer), &nested.outer));
    assert_false(seen);
    assert_true(nested.seen_after);
    assert_false(rota_is_interrupted());
    rota_future_unref(nested.outer);
}

/* INT-08: nor does the outer one see that of a cancelled inner one. */
TEST(an_outer_task_does_not_see_the_inner_ones_interrupt)
{
    rota_future *future;
    struct nested nested = {NULL, NULL, true};
    test_probe inner = {.during = cancel_myself, .arg = &future};
    test_probe outer = {.during = run_inner, .arg = &nested};

    nested.inner = test_task(test_probe_call(&inner), &future);
    rota_task_run(test_task(test_probe_call(&outer), NULL));
    assert_true(seen);
    assert_false(nested.seen_after);
    assert_false(rota_is_interrupted());
    rota_future_unref(future);
}

static void sleep_long(void *arg)
{
    int *status = arg;

    *status = rota_sleep(ROTA_HOURS(1));
    seen = rota_is_interrupted();
}

/* INT-05, FUT-12: cancel_now ends what the task waits in, which takes the flag. */
TEST(cancel_now_ends_a_sleep)
{
    int status = ROTA_OK;
    test_probe probe = {.during = sleep_long, .arg = &status};
    rota_future *future;

    seen = true;
    test_thread *runner = test_run_on_thread(test_task(test_probe_call(&probe), &future));
    test_await_running(future);
    assert_true(rota_future_cancel_now(future));
    test_thread_join(runner);
    assert_status(status, ROTA_EINTERRUPTED);
    assert_false(seen);
    rota_future_unref(future);
}
