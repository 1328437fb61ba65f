/* SPDX-License-Identifier: MIT */
/*
 * Tasks that an executor refuses, and futures that it keeps.
 */
#include "rota_test_tasks.h"

/* Runs what it does not refuse. */
struct refuser {
    int status;
    unsigned asked;
    bool keep; /* a reference to the future, in `kept` */
    rota_future *kept;
};

static int refuse(void *arg, rota_task *task)
{
    struct refuser *self = arg;

    self->asked++;
    if (self->keep)
        self->kept = rota_future_ref(rota_task_future(task));
    if (self->status == ROTA_OK)
        rota_task_run(task);
    return self->status;
}

static rota_executor *refuser_new(struct refuser *self)
{
    const rota_executor_ops ops = {.execute = refuse};
    rota_executor *executor = NULL;

    assert_ok(rota_executor_new(&ops, self, &executor));
    return executor;
}

/*
 * OWN-05, COMP-03: any status but OK refuses the task, and is the answer; nothing was done with the
 * call.
 */
TEST(execute_may_refuse_with_any_status)
{
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    struct refuser self = {0};
    rota_executor *executor = refuser_new(&self);
    rota_future *future = (rota_future *)&self;

    for (int status = -20; status <= 20; status++) {
        if (status == ROTA_OK)
            continue;
        self.status = status;
        assert_int_equal(rota_execute(executor, call.fn, call.arg), status);
        assert_int_equal(rota_submit(executor, call.fn, call.arg, &future), status);
        assert_int_equal(rota_submit(executor, call.fn, call.arg, NULL), status);
        assert_int_equal(rota_submit_call(executor, &call, &future), status);
        assert_int_equal(rota_submit_call(executor, &call, NULL), status);
    }
    assert_ptr_equal(future, &self);
    assert_int_equal(self.asked, 40 * 5);
    assert_int_equal(probe.runs + probe.discards + probe.frees, 0);
    self.status = ROTA_OK;
    assert_ok(rota_submit_call(executor, &call, NULL));
    assert_int_equal(probe.runs, 1);
    assert_ok(rota_close(executor));
}

/* OWN-05, OWN-09: whoever got hold of the future of a refused task finds it cancelled. */
TEST(the_future_of_a_refused_task_is_cancelled)
{
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    struct refuser self = {.status = ROTA_EREJECTED, .keep = true};
    rota_executor *executor = refuser_new(&self);
    rota_future *untouched = NULL;

    for (int i = 0; i < 2; i++) {
        assert_status(rota_submit_call(executor, &call, i == 0 ? NULL : &untouched),
                      ROTA_EREJECTED);
        assert_non_null(self.kept);
        assert_status(rota_future_get(self.kept, NULL), ROTA_ECANCELED);
        assert_false(rota_promise_complete(self.kept, NULL));
        rota_future_unref(self.kept);
    }
    assert_null(untouched);
    assert_int_equal(probe.runs + probe.discards + probe.frees, 0);
    assert_ok(rota_close(executor));
}

/* The handle of a future that its task's executor alone holds outlives the task. */
TEST(a_future_may_be_held_from_inside_execute)
{
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    struct refuser self = {.keep = true};
    rota_executor *executor = refuser_new(&self);
    void *result = NULL;

    assert_ok(rota_submit_call(executor, &call, NULL));
    assert_ok(rota_future_get(self.kept, &result));
    assert_ptr_equal(result, &probe);
    assert_int_equal(probe.frees, 0);
    rota_future_unref(self.kept);
    assert_int_equal(probe.frees, 1);
    assert_ok(rota_close(executor));
}
