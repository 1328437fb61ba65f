/* SPDX-License-Identifier: MIT */
/*
 * A future's way from pending to its end, as users see it: one end, reached once.
 */
#include "rota_test_internal.h"
#include "rota_test_tasks.h"

#include "future/future_internal.h"

static int value;
static int other_value;

/* Whatever is tried on a future that is done, changes nothing. */
static void assert_stays_done(rota_future *future)
{
    rota_future_state before = rota_future_state_of(future);
    int error = rota_future_error(future);

    assert_true(rota_future_is_done(future));
    assert_false(rota_future_cancel(future));
    assert_false(rota_future_cancel_now(future));
    assert_false(rota_promise_complete(future, &other_value));
    assert_false(rota_promise_fail(future, 99));
    test_future_run(future);
    assert_false(test_future_run_and_reset(future));
    assert_int_equal(rota_future_state_of(future), before);
    assert_int_equal(rota_future_error(future), error);
}

/* -- Looking ------------------------------------------------------------------------------ */

struct look {
    rota_future *future;
    rota_future_state state;
    bool done;
};

static void look(void *arg)
{
    struct look *look = arg;

    look->state = rota_future_state_of(look->future);
    look->done = rota_future_is_done(look->future);
}

/* FUT-06, FUT-25: a task is pending, then it runs, then it has ended. */
TEST(the_state_follows_the_task)
{
    const int errors[] = {0, 7};

    for (int i = 0; i < 2; i++) {
        struct look seen = {.done = true};
        test_probe probe = {.during = look, .arg = &seen, .error = errors[i]};
        rota_task *task = test_task(test_probe_call(&probe), &seen.future);
        assert_int_equal(rota_future_state_of(seen.future), ROTA_FUTURE_PENDING);
        assert_false(rota_future_is_done(seen.future));
        assert_int_equal(rota_future_error(seen.future), 0);
        rota_task_run(task);
        assert_int_equal(seen.state, ROTA_FUTURE_RUNNING);
        assert_false(seen.done);
        assert_int_equal(rota_future_state_of(seen.future),
                         errors[i] == 0 ? ROTA_FUTURE_SUCCEEDED : ROTA_FUTURE_FAILED);
        assert_int_equal(rota_future_error(seen.future), errors[i]);
        rota_future_unref(seen.future);
    }
}

/* GEN-02: no future is as a cancelled one, but not done. */
TEST(null_is_no_future)
{
    assert_int_equal(rota_future_state_of(NULL), ROTA_FUTURE_CANCELED);
    assert_false(rota_future_is_done(NULL));
    assert_int_equal(rota_future_error(NULL), 0);
    assert_false(rota_future_cancel(NULL));
    assert_false(rota_future_cancel_now(NULL));
    assert_false(rota_promise_complete(NULL, &value));
    assert_false(rota_promise_fail(NULL, 1));
    assert_status(rota_promise_new(NULL), ROTA_EINVAL);
}

/* -- Running ------------------------------------------------------------------------------ */

/* FUT-04, FUT-05: the body runs once, and the outcome is for ever. */
TEST(a_task_runs_once)
{
    test_probe probe = {.error = 0};
    rota_future *future;
    void *result = NULL;

    rota_task_run(test_task(test_probe_call(&probe), &future));
    for (int i = 0; i < 3; i++) {
        assert_ok(rota_future_get(future, &result));
        assert_ptr_equal(result, &probe);
        assert_stays_done(future);
    }
    rota_future_unref(future);
    assert_int_equal(probe.runs, 1);
    assert_int_equal(probe.discards, 0);
}

static void run_again(void *arg)
{
    rota_future **future = arg;

    test_future_run(*future);
    test_check(!test_future_run_and_reset(*future));
    test_check(rota_future_state_of(*future) == ROTA_FUTURE_RUNNING);
}

/* FUT-04, FAULT-09: one that runs is not run by another. */
TEST(a_running_task_is_not_run_again)
{
    rota_future *future;
    test_probe probe = {.during = run_again, .arg = &future};
    rota_task *task = test_task(test_probe_call(&probe), &future);

    rota_task_run(task);
    assert_ok(rota_future_get(future, NULL));
    assert_int_equal(probe.runs, 1);
    rota_future_unref(future);
}

/* FUT-05: a failure has one code, told to all and every time. */
TEST(a_failed_task_stays_failed)
{
    test_probe probe = {.error = -77};
    rota_future *future;

    rota_task_run(test_task(test_probe_call(&probe), &future));
    for (int i = 0; i < 3; i++) {
        assert_status(rota_future_get(future, NULL), ROTA_EFAILED);
        assert_int_equal(rota_future_error(future), -77);
        assert_stays_done(future);
    }
    rota_future_unref(future);
    assert_int_equal(probe.runs, 1);
}

/* -- Ended before it runs ----------------------------------------------------------------- */

static bool complete_with_value(rota_future *future)
{
    return rota_promise_complete(future, &value);
}

static bool complete_with_null(rota_future *future)
{
    return rota_promise_complete(future, NULL);
}

static bool fail_with_code(rota_future *future)
{
    return rota_promise_fail(future, -5);
}

static const struct {
    bool (*end)(rota_future *future);
    rota_future_state state;
    int status;
    int error;
    void *result;
} ends[] = {
    {rota_future_cancel, ROTA_FUTURE_CANCELED, ROTA_ECANCELED, 0, &other_value},
    {rota_future_cancel_now, ROTA_FUTURE_CANCELED, ROTA_ECANCELED, 0, &other_value},
    {complete_with_value, ROTA_FUTURE_SUCCEEDED, ROTA_OK, 0, &value},
    {complete_with_null, ROTA_FUTURE_SUCCEEDED, ROTA_OK, 0, NULL}, /* FUT-27 */
    {fail_with_code, ROTA_FUTURE_FAILED, ROTA_EFAILED, -5, &other_value},
};

enum { ENDS = sizeof ends / sizeof *ends };

/* FUT-26: the code is 0 unless it failed. */
static void assert_ended(rota_future *future, int how)
{
    void *result = &other_value; /* GEN-01: not written but with ROTA_OK */

    assert_int_equal(rota_future_state_of(future), ends[how].state);
    assert_int_equal(rota_future_error(future), ends[how].error);
    assert_status(rota_future_get(future, &result), ends[how].status);
    assert_ptr_equal(result, ends[how].result);
    assert_stays_done(future);
}

/* FUT-10, FUT-14, FUT-17: it never runs, and is discarded once. */
TEST(a_queued_task_that_is_ended_never_runs)
{
    for (int how = 0; how < ENDS; how++) {
        for (int run = 0; run < 2; run++) {
            test_probe probe = {.error = 0};
            rota_call call = test_probe_call(&probe);
            rota_future *future;
            call.free_result = NULL;
            rota_task *task = test_task(call, &future);
            assert_true(ends[how].end(future));
            assert_int_equal(probe.discards, 1);
            assert_ended(future, how);
            if (run)
                rota_task_run(task);
            else
                rota_task_discard(task);
            assert_ended(future, how);
            rota_future_unref(future);
            assert_int_equal(probe.runs, 0);
            assert_int_equal(probe.discards, 1);
        }
    }
}

/* FUT-17: a promise is completed once, in whatever way. */
TEST(a_promise_ends_once)
{
    for (int how = 0; how < ENDS; how++) {
        rota_future *promise;
        assert_ok(rota_promise_new(&promise));
        assert_int_equal(rota_future_state_of(promise), ROTA_FUTURE_PENDING);
        assert_true(ends[how].end(promise));
        assert_ended(promise, how);
        rota_future_unref(promise);
    }
}

/* FUT-17, COMP-01: 0 is no failure, and changes nothing. */
TEST(a_failure_needs_a_code)
{
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    assert_false(rota_promise_fail(promise, 0));
    assert_int_equal(rota_future_state_of(promise), ROTA_FUTURE_PENDING);
    assert_true(rota_promise_fail(promise, 1));
    rota_future_unref(promise);
}

static int must_not_be_called(void *self, rota_task *task)
{
    test_die(__FILE__, __LINE__, "nothing was to be executed");
    return ROTA_OK;
}

/* FUT-03, GEN-03: a task needs a body, also where the executor takes none any more. */
TEST(a_task_needs_a_body)
{
    const rota_executor_ops ops = {.execute = must_not_be_called};
    rota_executor *executor;
    rota_future *future = NULL;

    assert_ok(rota_executor_new(&ops, NULL, &executor));
    for (int i = 0; i < 2; i++) {
        assert_status(rota_submit(executor, NULL, &value, &future), ROTA_EINVAL);
        assert_status(rota_submit_call(executor, &(rota_call){.fn = NULL}, &future), ROTA_EINVAL);
        assert_status(rota_submit_call(executor, NULL, &future), ROTA_EINVAL);
        assert_null(future);
        assert_ok(rota_shutdown(executor));
    }
    assert_ok(rota_close(executor));
}
