/* SPDX-License-Identifier: MIT */
/*
 * Futures when memory or the system refuse: every call fails cleanly, at every point.
 */
#include "rota_test_internal.h"
#include "rota_test_tasks.h"

#include "os/fault.h"

static rota_executor *executor; /* runs a task at once */
static test_probe probe;
static rota_future *future;

static int run_here(void *self, rota_task *task)
{
    rota_task_run(task);
    return ROTA_OK;
}

static int prepare(void **state)
{
    const rota_executor_ops ops = {.execute = run_here};

    probe = (test_probe){.error = 0};
    future = TEST_UNTOUCHED;
    if (rota_executor_new(&ops, NULL, &executor) != ROTA_OK)
        return -1;
    return 0;
}

static int clean_up(void **state)
{
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    rota__fault_arm(ROTA__FAULT_EVENT, 0, false);
    return rota_close(executor);
}

TEST_FIXTURE(.setup = prepare, .teardown = clean_up);

static void unref(void *arg)
{
    rota_future_unref(future);
    future = TEST_UNTOUCHED;
}

/* -- Memory (GEN-10) ---------------------------------------------------------------------- */

static int make_promise(void *arg)
{
    int status = rota_promise_new(&future);

    assert_true((status == ROTA_OK) == (future != TEST_UNTOUCHED)); /* GEN-01 */
    return status;
}

/* GEN-10: ROTA_ENOMEM from rota_promise_new. */
TEST(a_promise_is_made_or_not)
{
    test_every_allocation_fails(make_promise, unref, NULL, ROTA_ENOMEM);
}

static int make_descriptor(void *arg)
{
    int fd = -7;

    if (rota_promise_new(&future) != ROTA_OK)
        return ROTA_ENOMEM;
    int status = rota_future_fd(future, &fd);
    assert_true((status == ROTA_OK) == (fd != -7));
    if (status != ROTA_OK)
        unref(NULL);
    return status;
}

/* GEN-10: ROTA_ENOMEM from rota_future_fd. */
TEST(a_descriptor_is_made_or_not)
{
    test_every_allocation_fails(make_descriptor, unref, NULL, ROTA_ENOMEM);
}

static int submit(void *arg)
{
    rota_call call = test_probe_call(&probe);
    unsigned runs = probe.runs;
    int status = rota_submit_call(executor, &call, arg != NULL ? &future : NULL);

    assert_int_equal(probe.runs, runs + (status == ROTA_OK));
    assert_int_equal(probe.discards, 0); /* OWN-05 */
    assert_true((status == ROTA_OK && arg != NULL) == (future != TEST_UNTOUCHED));
    return status;
}

/* GEN-10, OWN-05, FAULT-19: ROTA_ENOMEM from rota_submit_call, with a holder and without. */
TEST(a_task_is_submitted_or_not)
{
    test_every_allocation_fails(submit, unref, &future, ROTA_ENOMEM);
    assert_int_equal(probe.runs, 1);
    test_every_allocation_fails(submit, NULL, NULL, ROTA_ENOMEM);
    assert_int_equal(probe.runs, 2);
    assert_int_equal(probe.frees, 2);
}

static int execute(void *arg)
{
    unsigned runs = probe.runs;
    int status = rota_execute(executor, test_probe_call(&probe).fn, &probe);

    assert_int_equal(probe.runs, runs + (status == ROTA_OK));
    return status;
}

/* GEN-10: ROTA_ENOMEM from rota_execute. */
TEST(a_plain_task_is_executed_or_not)
{
    test_every_allocation_fails(execute, NULL, NULL, ROTA_ENOMEM);
    assert_int_equal(probe.runs, 1);
}

/* GEN-10: what is there already works to its end without more memory. */
TEST(the_rest_needs_no_memory)
{
    rota_future *promise;
    void *result = NULL;
    rota_task *task = test_task(test_probe_call(&probe), &future);

    assert_ok(rota_promise_new(&promise));
    test_memory_fail_at(1, true);
    rota_task_run(task);
    assert_ok(rota_future_get(future, &result));
    assert_ptr_equal(result, &probe);
    assert_status(rota_future_get_timed(promise, 1, NULL), ROTA_ETIMEDOUT);
    assert_ok(rota_future_own_result(promise, test_probe_call(&probe).free_result));
    assert_true(rota_promise_complete(promise, &probe));
    rota_future_unref(rota_future_ref(promise));
    rota_future_unref(promise);
    rota_future_unref(future);
    assert_int_equal(test_memory_asked(), 0);
    test_memory_fail_at(0, false);
    assert_int_equal(probe.frees, 2);
}

/* -- The system --------------------------------------------------------------------------- */

/* GEN-10: every descriptor is refused once; nothing is left behind, and the next try works. */
TEST(a_refused_descriptor_can_be_asked_for_again)
{
    rota__blocks_flush();
    size_t live = test_memory_live();

    for (unsigned n = 1; n < 5; n++) {
        int fd = -7;
        assert_ok(rota_promise_new(&future));
        rota__fault_arm(ROTA__FAULT_EVENT, n, false);
        int status = rota_future_fd(future, &fd);
        assert_status(status, rota__fault_count(ROTA__FAULT_EVENT) >= n ? ROTA_EAGAIN : ROTA_OK);
        assert_true((status == ROTA_OK) == (fd != -7));
        assert_ok(rota_future_fd(future, &fd));
        unref(NULL);
        rota__blocks_flush();
        assert_int_equal(test_memory_live(), live);
    }
}

static void use_futures(void *arg)
{
    rota_future **promises = arg;
    rota_call call = test_probe_call(&probe);
    rota_future *mine;
    void *result = NULL;

    test_check(rota_thread_self() == NULL);
    test_check(rota_promise_new(&promises[0]) == ROTA_OK);
    test_check(rota_promise_complete(promises[1], &probe));
    rota_future_unref(promises[2]);
    test_check(rota_submit_call(executor, &call, &mine) == ROTA_OK);
    test_check(rota_future_get(mine, &result) == ROTA_OK && result == &probe);
    rota_future_unref(mine);
    test_check(rota_execute(executor, call.fn, &probe) == ROTA_OK);
}

/* GEN-10: a thread whose end cannot be watched for can do all but wait, and leaks nothing. */
TEST(a_thread_that_is_not_watched_can_use_futures)
{
    rota_future *promises[3] = {NULL, NULL, NULL};

    rota__blocks_flush();
    size_t live = test_memory_live();
    assert_ok(rota_promise_new(&promises[1]));
    assert_ok(rota_promise_new(&promises[2]));
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 1, true);
    test_thread_join(test_thread_start(use_futures, promises));
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    assert_true(rota_promise_complete(promises[0], NULL));
    assert_ok(rota_future_get(promises[1], NULL));
    rota_future_unref(promises[0]);
    rota_future_unref(promises[1]);
    assert_int_equal(probe.runs, 2);
    assert_int_equal(probe.frees, 1);
    rota__blocks_flush();
    assert_int_equal(test_memory_live(), live);
}

struct body {
    test_latch begun;
    test_latch may_end;
    bool interrupted;
};

static void wait_for_latch(void *arg)
{
    struct body *body = arg;

    test_latch_open(&body->begun);
    test_latch_wait(&body->may_end);
    body->interrupted = rota_is_interrupted();
}

static void run_unwatched(void *task)
{
    test_check(rota_thread_self() == NULL);
    rota_task_run(task);
}

/* FUT-24: nobody can be unparked, and still it is cancelled, and told so. */
TEST(a_task_on_a_thread_that_is_not_watched_can_be_cancelled)
{
    struct body body = {TEST_LATCH(1), TEST_LATCH(1), false};

    probe = (test_probe){.during = wait_for_latch, .arg = &body};
    rota_task *task = test_task(test_probe_call(&probe), &future);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 1, true);
    test_thread *thread = test_thread_start(run_unwatched, task);
    test_latch_wait(&body.begun);
    assert_true(rota_future_cancel_now(future));
    assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
    test_latch_open(&body.may_end);
    test_thread_join(thread);
    assert_true(body.interrupted);
    assert_int_equal(probe.frees, 1);
    unref(NULL);
}
