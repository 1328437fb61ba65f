/* SPDX-License-Identifier: MIT */
/*
 * Each form with one source: when its step is called, with what, where, and how it ends.
 */
#include "executors.h"
#include "rota_test_compose.h"

#include <string.h>

static char given;    /* the source's value */
static char returned; /* the step's */

/* What the step saw, and what it is to do. */
static struct {
    unsigned calls;
    int status;
    void *value;
    int error;
    void *arg;
    int fails; /* with this code, unless it is 0 */
    rota_future *source;
    pthread_t thread;
} step;

static void *called(int status, void *value, int error, void *arg)
{
    step.calls++;
    step.status = status;
    step.value = value;
    step.error = error;
    step.arg = arg;
    step.thread = pthread_self();
    return step.fails != 0 ? rota_fail(step.fails) : &returned;
}

static rota_future *called_chain(int status, void *value, int error, void *arg)
{
    void *result = called(status, value, error, arg);

    return result != NULL ? test_done(TEST_SUCCEEDS, result) : NULL;
}

static void *on_value(void *value, void *arg)
{
    return called(ROTA_OK, value, 0, arg);
}

static rota_future *on_value_chain(void *value, void *arg)
{
    return called_chain(ROTA_OK, value, 0, arg);
}

static void on_done(rota_future *future, void *arg)
{
    test_check(future == step.source);
    called(rota_future_get_timed(future, 0, NULL), rota_future_get_now(future, NULL),
           rota_future_error(future), arg);
}

static int make_then(rota_future *f, rota_executor *ex, rota_future **out)
{
    return rota_then(f, ex, on_value, &step, out);
}

static int make_chain(rota_future *f, rota_executor *ex, rota_future **out)
{
    return rota_chain(f, ex, on_value_chain, &step, out);
}

static int make_handle(rota_future *f, rota_executor *ex, rota_future **out)
{
    return rota_handle(f, ex, called, &step, out);
}

static int make_handle_chain(rota_future *f, rota_executor *ex, rota_future **out)
{
    return rota_handle_chain(f, ex, called_chain, &step, out);
}

static int make_recover(rota_future *f, rota_executor *ex, rota_future **out)
{
    return rota_recover(f, ex, called, &step, out);
}

static int make_when_done(rota_future *f, rota_executor *ex, rota_future **out)
{
    return rota_when_done(f, ex, on_done, &step, out);
}

static int make_copy(rota_future *f, rota_executor *ex, rota_future **out)
{
    return rota_copy(f, out);
}

static int make_timeout(rota_future *f, rota_executor *ex, rota_future **out)
{
    return rota_timeout(f, ROTA_FOREVER, out);
}

static int make_either(rota_future *f, rota_executor *ex, rota_future **out)
{
    return rota_either(f, f, ex, on_value, &step, out);
}

typedef struct test_form {
    const char *name;
    int (*make)(rota_future *f, rota_executor *ex, rota_future **out);
    bool is_called[TEST_ENDINGS]; /* after a source that ends so */
    bool passes;                  /* ends as its source, though it is called */
} test_form;

static const test_form forms[] = {
    {"then", make_then, {true, false, false}, false},
    {"chain", make_chain, {true, false, false}, false},
    {"either", make_either, {true, false, false}, false},
    {"handle", make_handle, {true, true, true}, false},
    {"handle_chain", make_handle_chain, {true, true, true}, false},
    {"recover", make_recover, {false, true, true}, false},
    {"when_done", make_when_done, {true, true, true}, true},
    {"copy", make_copy, {false, false, false}, false},
    {"timeout", make_timeout, {false, false, false}, false},
};

enum { FORMS = sizeof forms / sizeof forms[0] };

static void reset(rota_future *source)
{
    memset(&step, 0, sizeof step);
    step.source = source;
}

/* The step saw how its source ended. */
static void was_called(const test_form *form, test_ending ending)
{
    static const int statuses[] = {ROTA_OK, ROTA_EFAILED, ROTA_ECANCELED};

    assert_int_equal(step.calls, form->is_called[ending]);
    if (step.calls == 0)
        return;
    assert_status(step.status, statuses[ending]);
    assert_ptr_equal(step.value, ending == TEST_SUCCEEDS ? &given : NULL);
    assert_int_equal(step.error, ending == TEST_FAILS ? TEST_CODE : 0);
    assert_ptr_equal(step.arg, &step);
}

/* What follows has ended as it must, if its step did not fail. */
static void has_followed(const test_form *form, test_ending ending, rota_future *out)
{
    bool has_passed = form->passes || !form->is_called[ending];

    test_has_ended(out, has_passed ? ending : TEST_SUCCEEDS, has_passed ? &given : &returned);
}

/* -- Without an executor ------------------------------------------------------------------ */

static void follow_here(const test_form *form, test_ending ending, bool is_late)
{
    rota_future *source = test_promise();
    rota_future *out = TEST_UNTOUCHED;

    reset(source);
    if (is_late)
        test_end(source, ending, &given);
    assert_ok(form->make(source, NULL, &out));
    assert_ptr_not_equal(out, source);
    if (!is_late) {
        test_is_pending(out);
        assert_true(rota_future_dependents(source) > 0);
        assert_int_equal(step.calls, 0);
        test_end(source, ending, &given);
    }
    was_called(form, ending);
    has_followed(form, ending, out);
    test_has_ended(source, ending, &given);
    rota_future_unref(out);
    rota_future_unref(source);
}

/* COMP-06, COMP-07, COMP-12 to COMP-15, COMP-22: each form, each end, before and after it. */
TEST(each_form_follows_each_end)
{
    for (int i = 0; i < FORMS; i++) {
        for (int ending = 0; ending < TEST_ENDINGS; ending++) {
            follow_here(&forms[i], ending, false);
            follow_here(&forms[i], ending, true);
        }
    }
}

/* COMP-01: NULL is a value, and is given and passed on as any other. */
TEST(null_is_a_value)
{
    for (int i = 0; i < FORMS; i++) {
        rota_future *source = test_done(TEST_SUCCEEDS, NULL);
        rota_future *out;
        reset(source);
        assert_ok(forms[i].make(source, NULL, &out));
        assert_int_equal(step.calls, forms[i].is_called[TEST_SUCCEEDS]);
        assert_ptr_equal(step.value, NULL);
        test_has_ended(out, TEST_SUCCEEDS, step.calls > 0 && !forms[i].passes ? &returned : NULL);
        rota_future_unref(out);
        rota_future_unref(source);
    }
}

static void fail_the_step(const test_form *form, test_ending ending, bool is_late)
{
    rota_future *source = test_promise();
    rota_future *out;

    reset(source);
    step.fails = 99;
    if (is_late)
        test_end(source, ending, &given);
    assert_ok(form->make(source, NULL, &out));
    if (!is_late)
        test_end(source, ending, &given);
    assert_int_equal(step.calls, form->is_called[ending]);
    if (!form->is_called[ending] || (form->passes && ending != TEST_SUCCEEDS))
        test_has_ended(out, ending, &given);
    else
        test_has_failed(out, 99);
    test_has_ended(source, ending, &given);
    rota_future_unref(out);
    rota_future_unref(source);
}

/*
 * COMP-07, COMP-14, COMP-15: a step that fails leaves its source as it is; only a when_done after a
 * source that did not succeed ends as that.
 */
TEST(a_step_that_fails_fails_what_follows)
{
    for (int i = 0; i < FORMS; i++) {
        for (int ending = 0; ending < TEST_ENDINGS; ending++) {
            fail_the_step(&forms[i], ending, false);
            fail_the_step(&forms[i], ending, true);
        }
    }
}

static void succeed(void *promise)
{
    test_end(promise, TEST_SUCCEEDS, &given);
}

/* COMP-08: the step runs on the thread that completes the source, or on that which registers it. */
TEST(it_runs_where_the_source_is_completed)
{
    for (int i = 0; i < FORMS; i++) {
        rota_future *source = test_promise();
        rota_future *outs[2];
        reset(source);
        assert_ok(forms[i].make(source, NULL, &outs[0]));
        test_thread_join(test_thread_start(succeed, source));
        assert_true(step.calls == 0 || !pthread_equal(step.thread, pthread_self()));
        assert_ok(forms[i].make(source, NULL, &outs[1]));
        assert_true(step.calls == 0 || pthread_equal(step.thread, pthread_self()));
        assert_int_equal(step.calls, forms[i].is_called[TEST_SUCCEEDS] ? 2 : 0);
        rota_future_unref(outs[0]);
        rota_future_unref(outs[1]);
        rota_future_unref(source);
    }
}

/* -- With one ----------------------------------------------------------------------------- */

static void follow_there(const test_form *form, test_ending ending, bool is_late)
{
    rota_executor *executor;
    test_manual *manual = test_executor_manual(&executor);
    rota_future *source = test_promise();
    rota_future *out;

    reset(source);
    if (is_late)
        test_end(source, ending, &given);
    assert_ok(form->make(source, executor, &out));
    if (!is_late) {
        assert_int_equal(test_manual_count(manual), 0);
        test_end(source, ending, &given);
    }
    assert_int_equal(test_manual_count(manual), form->is_called[ending]);
    assert_int_equal(step.calls, 0);
    if (form->is_called[ending]) {
        test_is_pending(out);
        test_manual_run(manual, 0);
    }
    was_called(form, ending);
    has_followed(form, ending, out);
    rota_future_unref(out);
    rota_future_unref(source);
    assert_ok(rota_close(executor));
}

/* COMP-08: where there is a step, and only there, the executor is used. */
TEST(each_form_goes_through_its_executor)
{
    for (int i = 0; i < FORMS; i++) {
        for (int ending = 0; ending < TEST_ENDINGS; ending++) {
            follow_there(&forms[i], ending, false);
            follow_there(&forms[i], ending, true);
        }
    }
}

static void fail_there(const test_form *form, test_ending ending)
{
    rota_executor *executor;
    test_manual *manual = test_executor_manual(&executor);
    rota_future *source = test_done(ending, &given);
    rota_future *out;

    reset(source);
    step.fails = 99;
    assert_ok(form->make(source, executor, &out));
    if (form->is_called[ending])
        test_manual_run(manual, 0);
    assert_int_equal(step.calls, form->is_called[ending]);
    if (!form->is_called[ending] || (form->passes && ending != TEST_SUCCEEDS))
        test_has_ended(out, ending, &given);
    else
        test_has_failed(out, 99);
    rota_future_unref(out);
    rota_future_unref(source);
    assert_ok(rota_close(executor));
}

/* COMP-07, COMP-08: a step that fails on an executor is as one that fails here. */
TEST(a_step_that_fails_there_fails_what_follows)
{
    for (int i = 0; i < FORMS; i++) {
        for (int ending = 0; ending < TEST_ENDINGS; ending++)
            fail_there(&forms[i], ending);
    }
}

static unsigned asked;

static int refuse(void *self, rota_task *task)
{
    asked++;
    return ROTA_EREJECTED;
}

static rota_executor *new_refuser(void)
{
    const rota_executor_ops ops = {.execute = refuse};
    rota_executor *refuser = NULL;

    asked = 0;
    assert_ok(rota_executor_new(&ops, NULL, &refuser));
    return refuser;
}

static void follow_refused(const test_form *form, test_ending ending, bool is_late)
{
    rota_executor *refuser = new_refuser();
    rota_future *source = test_promise();
    rota_future *out;

    reset(source);
    if (is_late)
        test_end(source, ending, &given);
    assert_ok(form->make(source, refuser, &out));
    if (!is_late) {
        assert_int_equal(asked, 0);
        test_is_pending(out);
        test_end(source, ending, &given);
    }
    assert_int_equal(asked, form->is_called[ending]);
    assert_int_equal(step.calls, form->passes);
    if (form->is_called[ending] && !form->passes)
        test_has_failed(out, ROTA_EREJECTED);
    else
        test_has_ended(out, ending, &given);
    rota_future_unref(out);
    rota_future_unref(source);
    assert_ok(rota_close(refuser));
}

/*
 * COMP-09: the executor is asked once, when the step is to run; what follows has failed with its
 * status, and the calls have succeeded. A when_done is called all the same.
 */
TEST(a_refused_step_fails_what_follows)
{
    for (int i = 0; i < FORMS; i++) {
        for (int ending = 0; ending < TEST_ENDINGS; ending++) {
            follow_refused(&forms[i], ending, false);
            follow_refused(&forms[i], ending, true);
        }
    }
}

/* OWN-20, REJ-08: an executor that drops the step unrun cancels what follows, and lets all go. */
TEST(a_dropped_step_is_cancelled)
{
    for (int i = 0; i < FORMS; i++) {
        rota_executor *executor;
        test_manual *manual = test_executor_manual(&executor);
        rota_future *source = test_done(TEST_SUCCEEDS, &given);
        rota_future *out;
        reset(source);
        assert_ok(forms[i].make(source, executor, &out));
        if (forms[i].is_called[TEST_SUCCEEDS]) {
            test_manual_discard(manual, 0);
            test_has_ended(out, TEST_CANCELLED, NULL);
        }
        assert_int_equal(step.calls, 0);
        rota_future_unref(out);
        rota_future_unref(source);
        assert_ok(rota_close(executor));
    }
}

/* -- Ended before its time ---------------------------------------------------------------- */

static void end_before_its_source(const test_form *form, test_ending ending)
{
    rota_executor *refuser = new_refuser();
    rota_future *source = test_promise();
    rota_future *out;

    reset(source);
    assert_ok(form->make(source, refuser, &out));
    test_end(out, ending, &returned);
    assert_int_equal(rota_future_dependents(source), 0);
    assert_false(rota_future_is_done(source));
    test_end(source, TEST_SUCCEEDS, &given);
    test_has_ended(out, ending, &returned);
    assert_int_equal(step.calls, 0);
    assert_int_equal(asked, 0);
    rota_future_unref(out);
    rota_future_unref(source);
    assert_ok(rota_close(refuser));
}

/*
 * COMP-02, COMP-18, COMP-26: it keeps the end it was given, withdraws at once, and neither its step
 * nor its executor is used.
 */
TEST(what_was_ended_by_hand_stays_so)
{
    for (int i = 0; i < FORMS; i++) {
        for (int ending = 0; ending < TEST_ENDINGS; ending++)
            end_before_its_source(&forms[i], ending);
    }
}

/* COMP-18: also when its step is queued already, which is then not called. */
TEST(a_step_that_is_queued_can_be_ended)
{
    for (int i = 0; i < FORMS; i++) {
        for (int ending = 0; ending < TEST_ENDINGS; ending++) {
            rota_executor *executor;
            test_manual *manual = test_executor_manual(&executor);
            rota_future *source = test_done(TEST_SUCCEEDS, &given);
            rota_future *out;
            reset(source);
            assert_ok(forms[i].make(source, executor, &out));
            if (forms[i].is_called[TEST_SUCCEEDS]) {
                test_end(out, ending, &returned);
                test_manual_run(manual, 0);
                test_has_ended(out, ending, &returned);
            }
            assert_int_equal(step.calls, 0);
            rota_future_unref(out);
            rota_future_unref(source);
            assert_ok(rota_close(executor));
        }
    }
}

/* COMP-02: true only from the call that cancelled it. */
TEST(it_is_cancelled_once)
{
    rota_future *source = test_promise();
    rota_future *out;

    reset(source);
    assert_ok(make_then(source, NULL, &out));
    assert_true(rota_future_cancel_now(out));
    assert_false(rota_future_cancel(out));
    assert_false(rota_promise_complete(out, &given));
    assert_false(rota_promise_fail(out, 1));
    test_has_ended(out, TEST_CANCELLED, NULL);
    rota_future_unref(out);
    rota_future_unref(source);
}

/* -- Nobody holds it ---------------------------------------------------------------------- */

/* COMP-27, OWN-20: a step is called, though nobody holds what follows from it. */
TEST(a_step_that_nobody_holds_is_called)
{
    for (int i = 0; i < FORMS; i++) {
        rota_future *source = test_promise();
        rota_future *out;
        reset(source);
        assert_ok(forms[i].make(source, NULL, &out));
        rota_future_unref(out);
        assert_int_equal(rota_future_dependents(source) > 0, 1);
        test_end(source, TEST_SUCCEEDS, &given);
        assert_int_equal(step.calls, forms[i].is_called[TEST_SUCCEEDS]);
        rota_future_unref(source);
    }
}

/* OWN-20: a promise that its last holder lets go of is cancelled, and what follows from it. */
TEST(a_promise_let_go_of_cancels_what_follows)
{
    for (int i = 0; i < FORMS; i++) {
        rota_future *source = test_promise();
        rota_future *out;
        reset(source);
        assert_ok(forms[i].make(source, NULL, &out));
        rota_future_unref(source);
        was_called(&forms[i], TEST_CANCELLED);
        has_followed(&forms[i], TEST_CANCELLED, out);
        rota_future_unref(out);
    }
}

/* A when_done needs no out: it is called all the same, however its source ends. */
TEST(a_when_done_needs_no_out)
{
    for (int ending = 0; ending < TEST_ENDINGS; ending++) {
        rota_future *source = test_promise();
        reset(source);
        assert_ok(rota_when_done(source, NULL, on_done, &step, NULL));
        assert_int_equal(rota_future_dependents(source), 1);
        test_end(source, ending, &given);
        was_called(&forms[FORMS - 3], ending);
        assert_ok(rota_when_done(source, NULL, on_done, &step, NULL));
        assert_int_equal(step.calls, 2);
        rota_future_unref(source);
    }
}

/* -- Looking ------------------------------------------------------------------------------ */

/* COMP-23 */
TEST(dependents_are_counted)
{
    rota_future *source = test_promise();
    rota_future *outs[2];

    reset(source);
    assert_int_equal(rota_future_dependents(source), 0);
    assert_ok(make_then(source, NULL, &outs[0]));
    assert_int_equal(rota_future_dependents(source), 1);
    assert_ok(make_handle(source, NULL, &outs[1]));
    assert_int_equal(rota_future_dependents(source), 2);
    test_end(source, TEST_SUCCEEDS, &given);
    assert_int_equal(rota_future_dependents(source), 0);
    rota_future_unref(outs[0]);
    rota_future_unref(outs[1]);
    rota_future_unref(source);
}

/* COMP-25, INT-05: a thread that waits for what follows is woken; an interrupt ends its wait. */
TEST(what_follows_can_be_waited_for)
{
    rota_future *source = test_promise();
    rota_future *out;
    test_getter getters[2];

    reset(source);
    assert_ok(make_then(source, NULL, &out));
    test_getter_start(&getters[0], out, ROTA_FOREVER);
    test_getter_start(&getters[1], out, ROTA_FOREVER);
    rota_thread_interrupt(test_thread_handle(getters[1].thread));
    test_getter_ends(&getters[1], ROTA_EINTERRUPTED, TEST_UNTOUCHED);
    test_end(source, TEST_SUCCEEDS, &given);
    test_getter_ends(&getters[0], ROTA_OK, &returned);
    rota_future_unref(out);
    rota_future_unref(source);
}

/* COMP-03: what follows from a task that an executor runs, on its thread. */
TEST(what_follows_from_a_task)
{
    test_probe probe = {.error = TEST_CODE};
    rota_future *task_future;
    rota_task *task = test_task(test_probe_call(&probe), &task_future);
    rota_future *out;

    reset(task_future);
    assert_ok(make_handle(task_future, NULL, &out));
    rota_task_run(task);
    assert_int_equal(step.error, TEST_CODE);
    test_has_ended(out, TEST_SUCCEEDS, &returned);
    rota_future_unref(out);
    rota_future_unref(task_future);
}
