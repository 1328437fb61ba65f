/* SPDX-License-Identifier: MIT */
/*
 * A value lives as long as any future that ended with it, and is then freed once.
 */
#include "executors.h"
#include "rota_test_compose.h"
#include "rota_test_internal.h"

static test_probe probe; /* the value: counts its frees */
static test_probe other;

static void *same(void *value, void *arg)
{
    return value;
}

static void *same_of_both(void *first, void *second, void *which)
{
    return which != NULL ? second : first;
}

static void *same_anyway(int status, void *value, int error, void *arg)
{
    return value;
}

static void nothing(rota_future *future, void *arg)
{
}

static rota_future *inner_of(void *value, void *arg)
{
    return rota_future_ref(arg);
}

/* -- Forms that pass a value on ----------------------------------------------------------- */

static int pass_then(rota_future *f, rota_future **out)
{
    return rota_then(f, NULL, same, NULL, out);
}

static int pass_chain(rota_future *f, rota_future **out)
{
    return rota_chain(f, NULL, inner_of, f, out);
}

static int pass_both_first(rota_future *f, rota_future **out)
{
    return rota_both(f, f, NULL, same_of_both, NULL, out);
}

static int pass_both_second(rota_future *f, rota_future **out)
{
    return rota_both(f, f, NULL, same_of_both, &probe, out);
}

static int pass_either(rota_future *f, rota_future **out)
{
    return rota_either(f, f, NULL, same, NULL, out);
}

static int pass_handle(rota_future *f, rota_future **out)
{
    return rota_handle(f, NULL, same_anyway, NULL, out);
}

static int pass_recover(rota_future *f, rota_future **out)
{
    return rota_recover(f, NULL, same_anyway, NULL, out);
}

static int pass_when_done(rota_future *f, rota_future **out)
{
    return rota_when_done(f, NULL, nothing, NULL, out);
}

static int pass_any(rota_future *f, rota_future **out)
{
    return rota_any_of(&f, 1, out);
}

static int pass_timeout(rota_future *f, rota_future **out)
{
    return rota_timeout(f, ROTA_FOREVER, out);
}

static int (*const passes[])(rota_future *f, rota_future **out) = {
    pass_then, pass_chain,   pass_both_first, pass_both_second, pass_either,  pass_handle,
    rota_copy, pass_recover, pass_when_done,  pass_any,         pass_timeout,
};

enum { PASSES = sizeof passes / sizeof passes[0] };

/* A task whose result is the probe. */
static rota_future *new_source(rota_task **task)
{
    rota_future *source = NULL;

    probe = (test_probe){.error = 0};
    *task = test_task(test_probe_call(&probe), &source);
    return source;
}

/* OWN-06, OWN-18, COMP-27: what is returned as given goes with the last, in whatever order. */
TEST(a_value_goes_with_the_last_that_has_it)
{
    for (int i = 0; i < PASSES * 4; i++) {
        rota_task *task;
        rota_future *source = new_source(&task);
        rota_future *out;
        bool is_late = i / PASSES & 1;
        bool source_first = i / PASSES & 2;
        if (is_late)
            rota_task_run(task);
        assert_ok(passes[i % PASSES](source, &out));
        if (!is_late)
            rota_task_run(task);
        rota_future_unref(source_first ? source : out);
        assert_int_equal(probe.frees, 0);
        if (source_first)
            test_has_ended(out, TEST_SUCCEEDS, &probe);
        rota_future_unref(source_first ? out : source);
        assert_int_equal(probe.frees, 1);
    }
}

/* OWN-06: along a chain of all forms only the last is held, and the value with it. */
TEST(a_value_is_passed_along_all_forms)
{
    rota_task *task;
    rota_future *last = new_source(&task);

    for (int i = 0; i < PASSES; i++) {
        rota_future *next;
        if (i == PASSES / 2)
            rota_task_run(task);
        assert_ok(passes[i](last, &next));
        rota_future_unref(last);
        last = next;
    }
    assert_int_equal(probe.frees, 0);
    test_has_ended(last, TEST_SUCCEEDS, &probe);
    rota_future_unref(last);
    assert_int_equal(probe.frees, 1);
}

/* OWN-06, OWN-18: the futures between the maker and the last go before that. */
TEST(who_only_passed_it_on_goes_at_once)
{
    rota_task *task;
    rota_future *source = new_source(&task);
    rota_future *middle;
    rota_future *last;

    rota_task_run(task);
    rota__blocks_flush(); /* each comes from a chunk of its own then */
    assert_ok(rota_copy(source, &middle));
    rota__blocks_flush();
    size_t live = test_memory_live();
    assert_ok(rota_copy(middle, &last));
    rota_future_unref(middle);
    rota__blocks_flush();
    assert_int_equal(test_memory_live(), live);
    rota_future_unref(source);
    test_has_ended(last, TEST_SUCCEEDS, &probe);
    rota_future_unref(last);
    assert_int_equal(probe.frees, 1);
}

static void *make_other(void *value, void *arg)
{
    return &other;
}

/* A step that makes a value of its own does not keep that of its source. */
TEST(a_new_value_does_not_keep_the_old_one)
{
    rota_task *task;
    rota_future *source = new_source(&task);
    rota_future *out;

    other = (test_probe){.error = 0};
    assert_ok(rota_then(source, NULL, make_other, NULL, &out));
    assert_ok(rota_future_own_result(out, test_probe_call(&other).free_result));
    rota_task_run(task);
    rota_future_unref(source);
    assert_int_equal(probe.frees, 1);
    test_has_ended(out, TEST_SUCCEEDS, &other);
    assert_int_equal(other.frees, 0);
    rota_future_unref(out);
    assert_int_equal(other.frees, 1);
}

/* -- Two owners --------------------------------------------------------------------------- */

/* OWN-18, rota_future_own_result: without effect on a value that its maker owns already. */
TEST(a_value_that_is_owned_has_one_owner)
{
    for (int i = 0; i < PASSES * 2; i++) {
        rota_task *task;
        rota_future *source = new_source(&task);
        rota_future *out;
        assert_ok(passes[i % PASSES](source, &out));
        assert_ok(rota_future_own_result(out, test_probe_call(&probe).free_result));
        rota_task_run(task);
        rota_future_unref(i < PASSES ? source : out);
        assert_int_equal(probe.frees, 0);
        rota_future_unref(i < PASSES ? out : source);
        assert_int_equal(probe.frees, 1);
    }
}

/* OWN-06: a value that nobody owns is owned by what follows, if that is said to. */
TEST(what_follows_can_own_a_value)
{
    for (int i = 0; i < PASSES; i++) {
        rota_future *source = test_promise();
        rota_future *out;
        probe = (test_probe){.error = 0};
        assert_ok(passes[i](source, &out));
        assert_ok(rota_future_own_result(out, test_probe_call(&probe).free_result));
        test_end(source, TEST_SUCCEEDS, &probe);
        rota_future_unref(source);
        assert_int_equal(probe.frees, 0);
        rota_future_unref(out);
        assert_int_equal(probe.frees, 1);
    }
}

/* -- Ended by hand ------------------------------------------------------------------------ */

static void *complete_self(void *value, void *self)
{
    test_check(rota_promise_complete(*(rota_future **)self, &other));
    return value;
}

/* OWN-17, COMP-18: completed by hand in its step, which then returns what it was given: it has the
   value of the hand, and what follows keeps that one alive. */
TEST(a_value_by_hand_is_not_the_sources)
{
    rota_task *task;
    rota_future *source = new_source(&task);
    rota_future *out;
    rota_future *copy;

    other = (test_probe){.error = 0};
    assert_ok(rota_then(source, NULL, complete_self, &out, &out));
    assert_ok(rota_future_own_result(out, test_probe_call(&other).free_result));
    rota_task_run(task);
    assert_ok(rota_copy(out, &copy));
    rota_future_unref(source);
    assert_int_equal(probe.frees, 1); /* nobody has it any more */
    rota_future_unref(out);
    assert_int_equal(other.frees, 0);
    test_has_ended(copy, TEST_SUCCEEDS, &other);
    rota_future_unref(copy);
    assert_int_equal(other.frees, 1);
}

static void *cancel_self(void *value, void *self)
{
    test_check(rota_future_cancel(*(rota_future **)self));
    return value;
}

/* OWN-17: what a step returns that was cancelled meanwhile is freed once, by who owns it. */
TEST(an_unseen_value_is_freed_once)
{
    rota_task *task;
    rota_future *source = new_source(&task);
    rota_future *out;

    assert_ok(rota_then(source, NULL, cancel_self, &out, &out));
    assert_ok(rota_future_own_result(out, test_probe_call(&probe).free_result));
    rota_task_run(task);
    test_has_ended(out, TEST_CANCELLED, NULL);
    assert_int_equal(probe.frees, 0);
    rota_future_unref(out);
    assert_int_equal(probe.frees, 0);
    rota_future_unref(source);
    assert_int_equal(probe.frees, 1);
}

/* -- Steps that wait ---------------------------------------------------------------------- */

/* compose.X1: a source that nobody holds is there until the step in the queue has run. */
TEST(a_queued_step_keeps_its_source)
{
    for (int i = 0; i < 2; i++) {
        rota_executor *executor;
        test_manual *manual = test_executor_manual(&executor);
        rota_task *task;
        rota_future *source = new_source(&task);
        rota_future *out;
        assert_ok(rota_then(source, executor, make_other, NULL, &out));
        rota_task_run(task);
        rota_future_unref(source);
        assert_int_equal(probe.frees, 0);
        if (i == 0)
            test_manual_run(manual, 0);
        else
            rota_future_cancel(out);
        assert_int_equal(probe.frees, 1);
        rota_future_unref(out);
        assert_ok(rota_close(executor));
    }
}

/* COMP-22, COMP-18: to end a copy does not touch its source, nor what that will have. */
TEST(a_copy_has_its_own_end)
{
    rota_task *task;
    rota_future *source = new_source(&task);
    rota_future *copy;

    assert_ok(rota_copy(source, &copy));
    test_end(copy, TEST_SUCCEEDS, &other);
    test_is_pending(source);
    rota_task_run(task);
    test_has_ended(source, TEST_SUCCEEDS, &probe);
    test_has_ended(copy, TEST_SUCCEEDS, &other);
    rota_future_unref(copy);
    rota_future_unref(source);
    assert_int_equal(probe.frees, 1);
}

/* COMP-05 */
TEST(get_now_does_not_wait)
{
    rota_future *source = test_promise();

    assert_ptr_equal(rota_future_get_now(source, &other), &other);
    test_end(source, TEST_SUCCEEDS, NULL);
    assert_null(rota_future_get_now(source, &other));
    rota_future_unref(source);
    assert_ptr_equal(rota_future_get_now(NULL, &other), &other);
}

/* COMP-05: "the result, if it succeeded"; the others tell how it ended, and write nothing. */
TEST(what_did_not_succeed_has_no_value)
{
    static const int statuses[] = {
        [TEST_SUCCEEDS] = ROTA_OK, [TEST_FAILS] = ROTA_EFAILED, [TEST_CANCELLED] = ROTA_ECANCELED};

    for (int ending = 0; ending < TEST_ENDINGS; ending++) {
        rota_future *source = test_done(ending, &probe);
        bool succeeds = ending == TEST_SUCCEEDS;
        void *results[2] = {&other, &other};

        assert_ptr_equal(rota_future_get_now(source, &other), succeeds ? &probe : &other);
        assert_status(rota_future_get(source, &results[0]), statuses[ending]);
        assert_status(rota_future_get_timed(source, 0, &results[1]), statuses[ending]);
        assert_int_equal(rota_future_error(source), ending == TEST_FAILS ? TEST_CODE : 0);
        for (int i = 0; i < 2; i++)
            assert_ptr_equal(results[i], succeeds ? &probe : &other);
        rota_future_unref(source);
    }
}
