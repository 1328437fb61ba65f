/* SPDX-License-Identifier: MIT */
/*
 * Chain steps: what follows ends as the future does that the step gave.
 */
#include "executors.h"
#include "rota_test_compose.h"

#include <rota/factory.h>

static char value;
static unsigned calls;

/* The step: gives its argument, and the reference that the test has for it. */
static rota_future *give(void *source_value, void *inner)
{
    calls++;
    return inner;
}

static rota_future *give_anyway(int status, void *source_value, int error, void *inner)
{
    calls++;
    return inner;
}

/* `is_handle`: by rota_handle_chain after a failure, else by rota_chain after a value. */
static rota_future *chain_to(bool is_handle, rota_executor *ex, rota_future *source,
                             rota_future *inner)
{
    rota_future *out = NULL;

    calls = 0;
    if (is_handle)
        assert_ok(rota_handle_chain(source, ex, give_anyway, inner, &out));
    else
        assert_ok(rota_chain(source, ex, give, inner, &out));
    return out;
}

static void begin(bool is_handle, rota_future *source)
{
    test_end(source, is_handle ? TEST_FAILS : TEST_SUCCEEDS, &calls);
}

/* -- How the inner one ends --------------------------------------------------------------- */

static void end_inner(bool is_handle, test_ending ending, bool is_done_before)
{
    rota_future *source = test_promise();
    rota_future *inner = test_promise();
    rota_future *out = chain_to(is_handle, NULL, source, rota_future_ref(inner));

    if (is_done_before)
        test_end(inner, ending, &value);
    begin(is_handle, source);
    assert_int_equal(calls, 1);
    if (!is_done_before) {
        test_is_pending(out);
        assert_int_equal(rota_future_dependents(inner), 1);
        test_end(inner, ending, &value);
    }
    assert_ptr_not_equal(out, inner);
    test_has_ended(out, ending, &value);
    assert_int_equal(calls, 1);
    rota_future_unref(out);
    rota_future_unref(inner);
    rota_future_unref(source);
}

/* COMP-12, COMP-13: in every way, before the step and after. */
TEST(it_ends_as_the_inner_one)
{
    for (int ending = 0; ending < TEST_ENDINGS; ending++) {
        for (int i = 0; i < 4; i++)
            end_inner(i & 1, ending, i & 2);
    }
}

/* COMP-12: also where an executor runs the step, and the inner one is pending. */
TEST(it_ends_as_the_inner_one_after_an_executor)
{
    for (int i = 0; i < 2 * TEST_ENDINGS; i++) {
        rota_executor *executor;
        test_manual *manual = test_executor_manual(&executor);
        rota_future *source = test_promise();
        rota_future *inner = test_promise();
        rota_future *out = chain_to(i & 1, executor, source, rota_future_ref(inner));
        begin(i & 1, source);
        test_manual_run(manual, 0);
        test_is_pending(out);
        test_end(inner, i / 2, &value);
        test_has_ended(out, i / 2, &value);
        assert_int_equal(test_manual_count(manual), 0);
        rota_future_unref(out);
        rota_future_unref(inner);
        rota_future_unref(source);
        assert_ok(rota_close(executor));
    }
}

/* COMP-12: a pool is done with the step, and has nothing to do with what the future waits for next. */
TEST(it_ends_as_the_inner_one_after_a_pool_of_any_kind)
{
    int (*const make[])(unsigned, rota_executor **) = {rota_fixed_pool, rota_scheduled_pool,
                                                       rota_work_stealing_pool};

    for (int i = 0; i < 3 * TEST_ENDINGS; i++) {
        rota_executor *pool;
        rota_future *source = test_promise();
        rota_future *inner = test_promise();
        assert_ok(make[i % 3](1, &pool));
        rota_future *out = chain_to(i & 1, pool, source, rota_future_ref(inner));
        begin(i & 1, source);
        assert_ok(rota_close(pool));
        assert_int_equal(calls, 1);
        test_is_pending(out);
        assert_int_equal(rota_future_dependents(inner), 1);
        test_end(inner, i / 3, &value);
        test_has_ended(out, i / 3, &value);
        rota_future_unref(out);
        rota_future_unref(inner);
        rota_future_unref(source);
    }
}

static void *failing_task(void *arg)
{
    return rota_fail(TEST_CODE);
}

/* An inner task that fails on another thread, and a when_done that sees the same. */
static void count_failure(rota_future *future, void *arg)
{
    calls += rota_future_error(future) == TEST_CODE;
}

/* COMP-12, COMP-14 */
TEST(a_failure_of_the_inner_one_is_seen_behind_it)
{
    rota_future *source = test_done(TEST_SUCCEEDS, NULL);
    rota_future *inner;
    rota_future *outs[2];
    rota_task *task = test_task((rota_call){.fn = failing_task}, &inner);

    outs[0] = chain_to(false, NULL, source, inner);
    assert_ok(rota_when_done(outs[0], NULL, count_failure, NULL, &outs[1]));
    test_thread_join(test_run_on_thread(task));
    test_has_ended(outs[0], TEST_FAILS, NULL);
    test_has_ended(outs[1], TEST_FAILS, NULL);
    assert_int_equal(calls, 2);
    rota_future_unref(outs[0]);
    rota_future_unref(outs[1]);
    rota_future_unref(source);
}

/* -- Strange gifts ------------------------------------------------------------------------ */

/* COMP-12: none. */
TEST(no_future_is_a_failure)
{
    for (int i = 0; i < 2; i++) {
        rota_future *source = test_promise();
        rota_future *out = chain_to(i, NULL, source, NULL);
        begin(i, source);
        test_has_failed(out, ROTA_EINVAL);
        rota_future_unref(out);
        rota_future_unref(source);
    }
}

static rota_future *fail_and_give(void *source_value, void *inner)
{
    rota_fail(TEST_CODE);
    return inner;
}

/*
 * COMP-07, GEN-17: a step that says that it has failed has failed, whatever it gives: nothing, a
 * future that is done in any way, or one that is not.
 */
TEST(a_step_that_fails_has_failed)
{
    for (int i = 0; i < 2 + TEST_ENDINGS; i++) {
        rota_future *source = test_done(TEST_SUCCEEDS, NULL);
        rota_future *inner = i == 0 ? NULL : test_promise();
        rota_future *out;
        if (i >= 2)
            test_end(inner, i - 2, &value);
        assert_ok(rota_chain(source, NULL, fail_and_give, rota_future_ref(inner), &out));
        test_has_ended(out, TEST_FAILS, NULL);
        assert_int_equal(rota_future_dependents(inner), 0);
        rota_future_unref(out);
        rota_future_unref(inner);
        rota_future_unref(source);
    }
}

static rota_future *give_itself(void *source_value, void *self)
{
    return rota_future_ref(*(rota_future **)self);
}

/* It cannot wait for itself. */
TEST(to_give_itself_is_a_failure)
{
    rota_future *source = test_promise();
    rota_future *out;

    assert_ok(rota_chain(source, NULL, give_itself, &out, &out));
    test_end(source, TEST_SUCCEEDS, NULL);
    test_has_failed(out, ROTA_EDEADLOCK);
    rota_future_unref(out);
    rota_future_unref(source);
}

/* It may give its own source. */
TEST(it_can_end_as_its_source)
{
    rota_future *source = test_promise();
    rota_future *out = chain_to(false, NULL, source, rota_future_ref(source));

    test_end(source, TEST_SUCCEEDS, &value);
    test_has_ended(out, TEST_SUCCEEDS, &value);
    rota_future_unref(out);
    rota_future_unref(source);
}

/* OWN-20: a promise that nobody can complete is cancelled; waiting for it is not holding it. */
TEST(a_promise_that_nobody_holds_is_cancelled)
{
    for (int i = 0; i < 2; i++) {
        rota_future *source = test_promise();
        rota_future *out = chain_to(i, NULL, source, test_promise());
        begin(i, source);
        test_has_ended(out, TEST_CANCELLED, NULL);
        rota_future_unref(out);
        rota_future_unref(source);
    }
}

/* OWN-20: so is one that is let go of later. */
TEST(a_promise_that_is_let_go_of_later_is_cancelled)
{
    rota_future *source = test_done(TEST_SUCCEEDS, NULL);
    rota_future *inner = test_promise();
    rota_future *out = chain_to(false, NULL, source, rota_future_ref(inner));

    test_is_pending(out);
    rota_future_unref(inner);
    test_has_ended(out, TEST_CANCELLED, NULL);
    rota_future_unref(out);
    rota_future_unref(source);
}

/* A future that a step gave can be a chain, too. */
TEST(chains_can_be_nested)
{
    rota_future *source = test_promise();
    rota_future *last = test_promise();
    rota_future *inner = chain_to(false, NULL, source, rota_future_ref(last));
    rota_future *out = chain_to(false, NULL, source, inner);

    test_end(source, TEST_SUCCEEDS, NULL);
    test_is_pending(out);
    test_end(last, TEST_SUCCEEDS, &value);
    test_has_ended(out, TEST_SUCCEEDS, &value);
    rota_future_unref(out);
    rota_future_unref(last);
    rota_future_unref(source);
}

/* -- Ended while it waits ----------------------------------------------------------------- */

/* COMP-18, COMP-26: while it waits for the inner one it is ended by hand, and leaves that at once. */
TEST(it_withdraws_from_the_inner_one)
{
    for (int ending = 0; ending < TEST_ENDINGS; ending++) {
        rota_future *source = test_done(TEST_SUCCEEDS, NULL);
        rota_future *inner = test_promise();
        rota_future *out = chain_to(false, NULL, source, rota_future_ref(inner));
        assert_int_equal(rota_future_dependents(inner), 1);
        test_end(out, ending, &value);
        assert_int_equal(rota_future_dependents(inner), 0);
        assert_false(rota_future_is_done(inner));
        test_end(inner, TEST_SUCCEEDS, NULL);
        test_has_ended(out, ending, &value);
        rota_future_unref(out);
        rota_future_unref(inner);
        rota_future_unref(source);
    }
}

static rota_future *end_self_and_give(void *self, void *inner)
{
    test_check(rota_future_cancel(*(rota_future **)self));
    return inner;
}

/* COMP-18: ended inside its own step; what that gives is let go of. */
TEST(it_can_be_ended_inside_its_step)
{
    rota_future *source = test_promise();
    rota_future *inner = test_promise();
    rota_future *out;

    assert_ok(rota_chain(source, NULL, end_self_and_give, rota_future_ref(inner), &out));
    test_end(source, TEST_SUCCEEDS, &out);
    test_has_ended(out, TEST_CANCELLED, NULL);
    assert_int_equal(rota_future_dependents(inner), 0);
    rota_future_unref(out);
    rota_future_unref(inner);
    rota_future_unref(source);
}

/* COMP-27: nobody holds it: it goes when the inner one has ended. */
TEST(nobody_needs_to_hold_it)
{
    rota_future *source = test_promise();
    rota_future *inner = test_promise();

    rota_future_unref(chain_to(false, NULL, source, rota_future_ref(inner)));
    test_end(source, TEST_SUCCEEDS, NULL);
    rota_future_unref(source);
    assert_int_equal(rota_future_dependents(inner), 1);
    test_end(inner, TEST_SUCCEEDS, NULL);
    rota_future_unref(inner);
}
