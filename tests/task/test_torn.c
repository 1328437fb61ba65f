/* SPDX-License-Identifier: MIT */
/*
 * Tasks that end their thread instead of returning. All of this is GEN-14.
 */
#define _GNU_SOURCE
#include "rota_test_tasks.h"

#include "exec/run.h"

#include <sched.h>

static int farewell; /* what a thread leaves behind for who joins it */

static void leave_thread(void *arg)
{
    pthread_exit(&farewell);
}

static void wait_for_cancel(void *arg)
{
    if (arg != NULL)
        test_latch_open(arg);
    for (;;) {
        pthread_testcancel();
        sched_yield();
    }
}

static void *run_main(void *arg)
{
    rota_task_run(arg);
    test_die(__FILE__, __LINE__, "the task has ended this thread");
    return NULL;
}

static pthread_t start(rota_task *task)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, run_main, task), 0);
    return thread;
}

static void *join(pthread_t thread)
{
    void *left = NULL;

    assert_int_equal(pthread_join(thread, &left), 0);
    return left;
}

static void assert_torn(rota_future *future)
{
    void *result = &farewell;

    assert_status(rota_future_get(future, &result), ROTA_EFAILED);
    assert_int_equal(rota_future_error(future), ROTA_ECANCELED);
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_FAILED);
}

/* -- Plain tasks: GEN-14 ------------------------------------------------------------------ */

static void *plain_exit(void *arg)
{
    rota_fail(5);
    leave_thread(arg);
    return NULL;
}

static void *plain_wait(void *arg)
{
    wait_for_cancel(arg);
    return NULL;
}

/* The thread ends as it wished to, and the task's memory is free. */
TEST(a_plain_task_may_exit)
{
    assert_ptr_equal(join(start(test_plain_task(plain_exit, NULL))), &farewell);
}

TEST(a_plain_task_may_be_torn_down)
{
    test_latch begun = TEST_LATCH(1);
    pthread_t thread = start(test_plain_task(plain_wait, &begun));

    test_latch_wait(&begun);
    assert_int_equal(pthread_cancel(thread), 0);
    assert_ptr_equal(join(thread), PTHREAD_CANCELED);
}

static int reported;
static int reports;

static void note_error(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    reported = error;
    reports++;
}

static void *run_with_hooks(void *task)
{
    const rota_hooks hooks = {.unobserved_failure = note_error};
    rota__run run;

    rota__run_init(&run, NULL, &hooks, &rota__run_once, NULL, NULL);
    rota__run_nested(&run, task);
    return NULL;
}

/* The code is ROTA_ECANCELED, whatever the body has failed with before. */
TEST(the_end_of_a_plain_task_is_reported_once)
{
    pthread_t thread;

    assert_int_equal(
        pthread_create(&thread, NULL, run_with_hooks, test_plain_task(plain_exit, NULL)), 0);
    join(thread);
    assert_int_equal(reports, 1);
    assert_int_equal(reported, ROTA_ECANCELED);
}

/* -- Futures: GEN-14 ---------------------------------------------------------------------- */

static void check_torn_with_waiters(test_probe *probe, test_latch *begun)
{
    rota_future *future;
    rota_task *task = test_task(test_probe_call(probe), &future);
    test_getter getters[3];

    for (int i = 0; i < 3; i++)
        test_getter_start(&getters[i], future, ROTA_FOREVER);
    pthread_t thread = start(task);
    if (begun != NULL) {
        test_latch_wait(begun);
        assert_int_equal(pthread_cancel(thread), 0);
    }
    assert_ptr_equal(join(thread), begun != NULL ? PTHREAD_CANCELED : &farewell);
    for (int i = 0; i < 3; i++)
        test_getter_ends(&getters[i], ROTA_EFAILED, TEST_UNTOUCHED);
    assert_torn(future);
    rota_future_unref(future);
    assert_int_equal(probe->runs, 1);
    assert_int_equal(probe->discards, 0);
    assert_int_equal(probe->frees, 0);
}

/* A future fails with ROTA_ECANCELED as its code, and who waits is woken. */
TEST(a_future_whose_task_exits_has_failed)
{
    check_torn_with_waiters(&(test_probe){.during = leave_thread}, NULL);
}

/* FAULT-35 */
TEST(a_future_whose_task_is_torn_down_has_failed)
{
    test_latch begun = TEST_LATCH(1);

    check_torn_with_waiters(&(test_probe){.during = wait_for_cancel, .arg = &begun}, &begun);
}

static void cancel_and_leave(void *arg)
{
    rota_future **future = arg;

    test_check(rota_future_cancel_now(*future));
    leave_thread(NULL);
}

/* FUT-22: one that was cancelled before stays so. */
TEST(a_cancelled_future_stays_cancelled)
{
    rota_future *future;
    test_probe probe = {.during = cancel_and_leave, .arg = &future};
    rota_task *task = test_task(test_probe_call(&probe), &future);

    join(start(task));
    assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
    assert_int_equal(rota_future_error(future), 0);
    rota_future_unref(future);
    assert_int_equal(probe.frees, 0);
}

/* OWN-02: nobody holds it, and its memory goes with the thread. */
TEST(a_future_nobody_holds_is_freed)
{
    test_probe probe = {.during = leave_thread};

    join(start(test_task(test_probe_call(&probe), NULL)));
    assert_int_equal(probe.runs, 1);
}

static void run_inner(void *arg)
{
    rota_task_run(arg);
}

/* A task that runs inside another ends both. */
TEST(nested_tasks_have_both_failed)
{
    test_probe inner = {.during = leave_thread};
    test_probe outer = {.during = run_inner};
    rota_future *futures[2];

    outer.arg = test_task(test_probe_call(&inner), &futures[0]);
    join(start(test_task(test_probe_call(&outer), &futures[1])));
    for (int i = 0; i < 2; i++) {
        assert_torn(futures[i]);
        rota_future_unref(futures[i]);
    }
}

static void *run_periodic_main(void *arg)
{
    rota_future *future = arg;

    test_future_run_and_reset(future);
    test_die(__FILE__, __LINE__, "the task has ended this thread");
    return NULL;
}

/* OWN-19: a periodic task ends with its thread, and its argument is discarded. */
TEST(a_periodic_task_that_exits_is_over)
{
    test_probe probe = {.during = leave_thread};
    rota_call call = test_probe_call(&probe);
    rota_future *future = rota__future_new(&call, true, sizeof *future);
    pthread_t thread;

    future->task.periodic = true;
    assert_int_equal(pthread_create(&thread, NULL, run_periodic_main, future), 0);
    assert_ptr_equal(join(thread), &farewell);
    assert_torn(future);
    assert_int_equal(probe.discards, 1);
    rota_task_discard(&future->task);
    rota_future_unref(future);
    assert_int_equal(probe.discards, 1);
}
