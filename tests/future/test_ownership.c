/* SPDX-License-Identifier: MIT */
/*
 * References, arguments and results: each is let go of once, and none too early. That memory is
 * back to what it was is checked after every test.
 */
#include "rota_test_tasks.h"

#include "future/future_internal.h"

/* Asserts what became of a probe's call so far. */
static void assert_counts(const test_probe *probe, unsigned runs, unsigned discards, unsigned frees)
{
    assert_int_equal(probe->runs, runs);
    assert_int_equal(probe->discards, discards);
    assert_int_equal(probe->frees, frees);
}

/* -- References --------------------------------------------------------------------------- */

/* OWN-01, GEN-02: NULL has no references. */
TEST(null_has_no_references)
{
    assert_null(rota_future_ref(NULL));
    rota_future_unref(NULL);
}

/* OWN-01, OWN-06: the result lives until the last reference goes, and is freed then. */
TEST(the_result_goes_with_the_last_reference)
{
    test_probe probe = {.error = 0};
    rota_future *future;
    void *result = NULL;

    rota_task_run(test_task(test_probe_call(&probe), &future));
    assert_ptr_equal(rota_future_ref(future), future);
    assert_ok(rota_future_get(future, &result));
    rota_future_unref(future);
    assert_counts(result, 1, 0, 0);
    rota_future_unref(future);
    assert_counts(&probe, 1, 0, 1);
}

/* OWN-02: letting go of a queued task's future is no cancel. */
TEST(a_task_runs_though_nobody_holds_its_future)
{
    test_probe probe = {.error = 0};
    rota_future *future;
    rota_task *task = test_task(test_probe_call(&probe), &future);

    rota_future_unref(future);
    assert_counts(&probe, 0, 0, 0);
    rota_task_run(task);
    assert_counts(&probe, 1, 0, 1); /* OWN-06: though nobody has asked for it */
}

static void let_go(void *arg)
{
    rota_future **future = arg;

    rota_future_unref(*future);
}

/* OWN-02: nor is it while the task runs. */
TEST(a_task_may_let_go_of_its_own_future)
{
    rota_future *future;
    test_probe probe = {.during = let_go, .arg = &future};
    rota_task *task = test_task(test_probe_call(&probe), &future);

    rota_task_run(task);
    assert_counts(&probe, 1, 0, 1);
}

static rota_future *borrowed;

static int borrow_and_run(void *self, rota_task *task)
{
    borrowed = rota_future_ref(rota_task_future(task));
    rota_task_run(task);
    return ROTA_OK;
}

static int borrow_and_refuse(void *self, rota_task *task)
{
    borrowed = rota_future_ref(rota_task_future(task));
    return ROTA_EREJECTED;
}

static int refuse(void *self, rota_task *task)
{
    return ROTA_EREJECTED;
}

static rota_executor *executor_new(int (*execute)(void *self, rota_task *task))
{
    const rota_executor_ops ops = {.execute = execute};
    rota_executor *executor = NULL;

    assert_ok(rota_executor_new(&ops, NULL, &executor));
    return executor;
}

/* OWN-01: a lent future may be held, also where nobody holds it yet, or any more. */
TEST(a_lent_future_may_be_held)
{
    rota_executor *executor = executor_new(borrow_and_run);

    for (int held = 0; held < 2; held++) {
        test_probe probe = {.error = 0};
        rota_call call = test_probe_call(&probe);
        rota_future *future = NULL;
        assert_ok(rota_submit_call(executor, &call, held ? &future : NULL));
        rota_future_unref(future);
        assert_counts(&probe, 1, 0, 0);
        assert_ok(rota_future_get(borrowed, NULL));
        rota_future_unref(borrowed);
        assert_counts(&probe, 1, 0, 1);
    }
    assert_ok(rota_close(executor));
}

/* OWN-05: what was refused is the caller's still. */
TEST(a_refused_task_is_left_alone)
{
    rota_executor *executor = executor_new(refuse);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future = TEST_UNTOUCHED;

    assert_status(rota_submit_call(executor, &call, &future), ROTA_EREJECTED);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_status(rota_submit_call(executor, &call, NULL), ROTA_EREJECTED);
    assert_status(rota_execute(executor, call.fn, &probe), ROTA_EREJECTED);
    assert_counts(&probe, 0, 0, 0);
    assert_ok(rota_close(executor));
}

/* OWN-05, OWN-20: who got hold of its future meanwhile sees it cancelled. */
TEST(a_refused_tasks_future_is_cancelled)
{
    rota_executor *executor = executor_new(borrow_and_refuse);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future = TEST_UNTOUCHED;

    assert_status(rota_submit_call(executor, &call, &future), ROTA_EREJECTED);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_status(rota_future_get(borrowed, NULL), ROTA_ECANCELED);
    rota_future_unref(borrowed);
    assert_counts(&probe, 0, 0, 0);
    assert_ok(rota_close(executor));
}

/* -- Arguments ---------------------------------------------------------------------------- */

/* OWN-04, OWN-20: a task that is dropped unrun is discarded once, and its future cancelled. */
TEST(a_dropped_task_is_discarded_once)
{
    test_probe probe = {.error = 0};
    rota_future *future;

    rota_task_discard(test_task(test_probe_call(&probe), &future));
    assert_counts(&probe, 0, 1, 0);
    assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
    rota_future_unref(future);
    rota_task_discard(test_task(test_probe_call(&probe), NULL));
    assert_counts(&probe, 0, 2, 0);
}

static rota_future *discarded;
static rota_future_state state_in_discard;

static void look_in_discard(void *arg)
{
    state_in_discard = rota_future_state_of(discarded);
}

/* FUT-15: the argument is given up once the future is done. */
TEST(discard_sees_how_the_future_has_ended)
{
    rota_call call = test_probe_call(NULL);

    call.discard = look_in_discard;
    rota_task *task = test_task(call, &discarded);
    assert_true(rota_promise_fail(discarded, 3));
    assert_int_equal(state_in_discard, ROTA_FUTURE_FAILED);
    rota_task_discard(task);
    rota_future_unref(discarded);
}

/* OWN-04: a call without discard needs none. */
TEST(a_call_may_have_neither_function)
{
    test_probe probe = {.error = 0};
    rota_call call = {.fn = test_probe_call(&probe).fn, .arg = &probe};

    rota_task_discard(test_task(call, NULL));
    rota_task_run(test_task(call, NULL));
    assert_counts(&probe, 1, 0, 0);
}

/* -- Promises nobody can complete any more ------------------------------------------------ */

struct cancel_note {
    rota__action action;
    rota_future *promise;
    int status;
};

static void note_status(rota__action *self, rota__action_queue *more)
{
    struct cancel_note *note = ROTA__CONTAINER(self, struct cancel_note, action);

    note->status = rota_future_get_timed(note->promise, 0, NULL);
}

/* OWN-20: a promise that its last holder drops is cancelled, and what follows happens. */
TEST(a_dropped_promise_is_cancelled)
{
    struct cancel_note note = {.action = {.run = note_status}, .status = ROTA_OK};

    assert_ok(rota_promise_new(&note.promise));
    assert_true(rota__future_add(note.promise, &note.action));
    rota_future_ref(note.promise);
    rota_future_unref(note.promise);
    assert_int_equal(rota_future_state_of(note.promise), ROTA_FUTURE_PENDING);
    rota_future_unref(note.promise);
    assert_status(note.status, ROTA_ECANCELED);
}

/* OWN-20: also while somebody inside the library works with it. */
TEST(a_pin_is_no_holder)
{
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    rota__future_pin(promise);
    rota_future_unref(promise);
    assert_int_equal(rota_future_state_of(promise), ROTA_FUTURE_CANCELED);
    rota__future_unpin(promise);
}
