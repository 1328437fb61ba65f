/* SPDX-License-Identifier: MIT */
/*
 * Whose a result is: free_result runs once for each that the future owns, and for no other.
 */
#include "rota_test_tasks.h"

#include "future/future_internal.h"

static void free_probe(void *result)
{
    test_probe *probe = result;

    atomic_fetch_add(&probe->frees, 1);
}

static void must_not_be_called(void *result)
{
    test_die(__FILE__, __LINE__, "another function owns this");
}

/* -- rota_future_own_result --------------------------------------------------------------- */

/* GEN-02: it needs a future and a function, and else does nothing. */
TEST(owning_needs_both_arguments)
{
    test_probe probe = {.error = 0};
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    assert_status(rota_future_own_result(NULL, must_not_be_called), ROTA_EINVAL);
    assert_status(rota_future_own_result(promise, NULL), ROTA_EINVAL);
    rota_promise_complete(promise, &probe);
    rota_future_unref(promise);
    assert_int_equal(probe.frees, 0);
}

/* OWN-06: before or after it is done, from then on the result is the future's. */
TEST(a_promise_can_own_its_value)
{
    for (int late = 0; late < 2; late++) {
        test_probe probe = {.error = 0};
        rota_future *promise;
        assert_ok(rota_promise_new(&promise));
        if (!late)
            assert_ok(rota_future_own_result(promise, free_probe));
        assert_true(rota_promise_complete(promise, &probe));
        if (late)
            assert_ok(rota_future_own_result(promise, free_probe));
        assert_int_equal(probe.frees, 0);
        rota_future_unref(promise);
        assert_int_equal(probe.frees, 1);
    }
}

/* OWN-06: who owns it already stays the owner. */
TEST(the_first_owner_stays)
{
    test_probe probe = {.error = 0};
    rota_future *future;
    rota_task *task = test_task(test_probe_call(&probe), &future);

    assert_ok(rota_future_own_result(future, must_not_be_called));
    rota_task_run(task);
    rota_future_unref(future);
    assert_int_equal(probe.frees, 1);

    assert_ok(rota_promise_new(&future));
    assert_ok(rota_future_own_result(future, free_probe));
    assert_ok(rota_future_own_result(future, must_not_be_called));
    rota_promise_complete(future, &probe);
    rota_future_unref(future);
    assert_int_equal(probe.frees, 2);
}

/* OWN-06: there is nothing to free where there is no result. */
TEST(without_a_result_nothing_is_freed)
{
    rota_future *promise;

    for (int end = 0; end < 3; end++) {
        assert_ok(rota_promise_new(&promise));
        assert_ok(rota_future_own_result(promise, must_not_be_called));
        if (end == 0)
            rota_promise_fail(promise, 1);
        else if (end == 1)
            rota_future_cancel(promise);
        rota_future_unref(promise);
    }
}

/* -- Values set by hand ------------------------------------------------------------------- */

/* A value that is not taken is still the caller's; one that is, is the future's. */
TEST(only_the_value_that_won_is_freed)
{
    test_probe probe = {.error = 0};
    test_probe first = {.error = 0};
    test_probe second = {.error = 0};
    rota_future *future;
    rota_task *task = test_task(test_probe_call(&probe), &future);

    assert_true(rota_promise_complete(future, &first));
    assert_false(rota_promise_complete(future, &second));
    rota_task_run(task);
    rota_future_unref(future);
    assert_int_equal(first.frees, 1);
    assert_int_equal(second.frees, 0);
    assert_int_equal(probe.runs, 0);
    assert_int_equal(probe.discards, 1);
}

/* -- Results nobody can see --------------------------------------------------------------- */

struct own_end {
    rota_future *future;
    bool (*end)(rota_future *future);
};

static void end_myself(void *arg)
{
    struct own_end *own = arg;

    test_check(own->end(own->future));
}

static bool fail_by_hand(rota_future *future)
{
    return rota_promise_fail(future, 3);
}

/* OWN-17: a result that comes too late is freed, once, and as soon as the body has ended. */
TEST(a_result_that_comes_too_late_is_freed)
{
    bool (*const each[])(rota_future * future) = {rota_future_cancel, rota_future_cancel_now,
                                                  fail_by_hand};

    for (int i = 0; i < 3; i++) {
        struct own_end own = {.end = each[i]};
        test_probe probe = {.during = end_myself, .arg = &own};
        rota_task *task = test_task(test_probe_call(&probe), &own.future);
        rota_task_run(task);
        assert_int_equal(probe.frees, 1);
        assert_int_equal(probe.discards, 0);
        rota_future_unref(own.future);
        assert_int_equal(probe.frees, 1);
    }
}

/* OWN-17: by whoever owns results at that moment. */
TEST(a_late_owner_frees_a_late_result)
{
    struct own_end own = {.end = rota_future_cancel};
    test_probe probe = {.during = end_myself, .arg = &own};
    rota_call call = test_probe_call(&probe);

    call.free_result = NULL;
    rota_task *task = test_task(call, &own.future);
    assert_ok(rota_future_own_result(own.future, free_probe));
    rota_task_run(task);
    rota_future_unref(own.future);
    assert_int_equal(probe.frees, 1);
}

/* GEN-17: a failure that comes too late has no result. */
TEST(a_failure_that_comes_too_late_frees_nothing)
{
    struct own_end own = {.end = rota_future_cancel};
    test_probe probe = {.during = end_myself, .arg = &own, .error = 7};
    rota_task *task = test_task(test_probe_call(&probe), &own.future);

    rota_task_run(task);
    rota_future_unref(own.future);
    assert_int_equal(probe.frees, 0);
}
