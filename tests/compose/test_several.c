/* SPDX-License-Identifier: MIT */
/*
 * Futures that follow from several: both, either, all of them, any of them.
 */
#include "executors.h"
#include "rota_test_compose.h"

enum { MANY = 9 };

static char values[MANY];
static char returned;
static unsigned calls;
static void *seen[2];
static int fails; /* the step does, with this code, unless it is 0 */

static void *on_both(void *first, void *second, void *arg)
{
    calls++;
    seen[0] = first;
    seen[1] = second;
    test_check(arg == &calls);
    return fails != 0 ? rota_fail(fails) : &returned;
}

static void *on_either(void *value, void *arg)
{
    return on_both(value, NULL, arg);
}

static rota_future *new_both(rota_future *const *sources, rota_executor *ex)
{
    rota_future *out = NULL;

    assert_ok(rota_both(sources[0], sources[1], ex, on_both, &calls, &out));
    return out;
}

static rota_future *new_either(rota_future *const *sources, rota_executor *ex)
{
    rota_future *out = NULL;

    assert_ok(rota_either(sources[0], sources[1], ex, on_either, &calls, &out));
    return out;
}

static rota_future *new_all(rota_future *const *sources, size_t n)
{
    rota_future *out = NULL;

    assert_ok(rota_all_of(sources, n, &out));
    return out;
}

static rota_future *new_any(rota_future *const *sources, size_t n)
{
    rota_future *out = NULL;

    assert_ok(rota_any_of(sources, n, &out));
    return out;
}

static void begin(rota_future **sources, int count)
{
    calls = 0;
    fails = 0;
    for (int i = 0; i < count; i++)
        sources[i] = test_promise();
}

static void end(rota_future **sources, int count, rota_future *out)
{
    rota_future_unref(out);
    for (int i = 0; i < count; i++)
        rota_future_unref(sources[i]);
}

/* -- Both --------------------------------------------------------------------------------- */

/* One case: how each ends, which first, and how many have ended when it is registered. */
struct both_case {
    test_ending endings[2];
    int first;
    int registered;
};

static void both_has_ended(const struct both_case *c, rota_future *out)
{
    bool succeeds = c->endings[0] == TEST_SUCCEEDS && c->endings[1] == TEST_SUCCEEDS;

    assert_int_equal(calls, succeeds);
    if (succeeds) {
        test_has_ended(out, TEST_SUCCEEDS, &returned);
        assert_ptr_equal(seen[0], &values[0]);
        assert_ptr_equal(seen[1], &values[1]);
    } else {
        test_has_ended(out, c->endings[c->endings[0] == TEST_SUCCEEDS], NULL);
    }
}

static void try_both(const struct both_case *c)
{
    rota_future *sources[2];
    rota_future *out = NULL;

    begin(sources, 2);
    for (int i = 0; i < 3; i++) {
        int which = i == 0 ? c->first : !c->first;
        if (i == c->registered)
            out = new_both(sources, NULL);
        if (i < 2 && out != NULL)
            test_is_pending(out);
        if (i < 2)
            test_end(sources[which], c->endings[which], &values[which]);
    }
    both_has_ended(c, out);
    end(sources, 2, out);
}

/*
 * COMP-10: however they end, in either order, registered at three moments: nothing before both are
 * done; a call with both values, or the end of the first, in their order, that did not succeed.
 */
TEST(both_waits_for_both)
{
    for (int i = 0; i < TEST_ENDINGS * TEST_ENDINGS * 2 * 3; i++) {
        const struct both_case c = {{i % TEST_ENDINGS, i / TEST_ENDINGS % TEST_ENDINGS},
                                    i / (TEST_ENDINGS * TEST_ENDINGS) % 2,
                                    i / (TEST_ENDINGS * TEST_ENDINGS * 2)};
        try_both(&c);
    }
}

/* COMP-07, COMP-10 */
TEST(both_can_fail_itself)
{
    rota_future *sources[2];

    begin(sources, 2);
    fails = 7;
    rota_future *out = new_both(sources, NULL);
    test_end(sources[1], TEST_SUCCEEDS, NULL);
    test_end(sources[0], TEST_SUCCEEDS, NULL);
    test_has_failed(out, 7);
    test_has_ended(sources[0], TEST_SUCCEEDS, NULL);
    end(sources, 2, out);
}

/* -- Either ------------------------------------------------------------------------------- */

static void try_either(test_ending first_ends, test_ending second_ends, int first)
{
    rota_future *sources[2];
    rota_future *outs[3];

    begin(sources, 2);
    outs[0] = new_either(sources, NULL);
    test_is_pending(outs[0]);
    test_end(sources[first], first_ends, &values[0]);
    outs[1] = new_either(sources, NULL);
    assert_int_equal(calls, first_ends == TEST_SUCCEEDS ? 2 : 0);
    assert_int_equal(rota_future_dependents(sources[!first]), 0); /* COMP-26 */
    test_end(sources[!first], second_ends, &values[1]);
    for (int i = 0; i < 2; i++)
        test_has_ended(outs[i], first_ends, &returned);
    outs[2] = new_either(sources, NULL);
    assert_true(rota_future_is_done(outs[2]));
    assert_true(calls <= 3);
    rota_future_unref(outs[2]);
    rota_future_unref(outs[1]);
    end(sources, 2, outs[0]);
}

/*
 * COMP-11: it follows the first that ends, and is done with it; what becomes of the other changes
 * nothing.
 */
TEST(either_follows_the_first)
{
    for (int i = 0; i < TEST_ENDINGS * TEST_ENDINGS * 2; i++)
        try_either(i % TEST_ENDINGS, i / TEST_ENDINGS % TEST_ENDINGS,
                   i / (TEST_ENDINGS * TEST_ENDINGS));
}

/* COMP-07, COMP-11 */
TEST(either_can_fail_itself)
{
    rota_future *sources[2];

    begin(sources, 2);
    fails = 7;
    rota_future *out = new_either(sources, NULL);
    test_end(sources[1], TEST_SUCCEEDS, &values[1]);
    assert_ptr_equal(seen[0], &values[1]);
    test_has_failed(out, 7);
    assert_false(rota_future_is_done(sources[0]));
    end(sources, 2, out);
}

/* -- With an executor --------------------------------------------------------------------- */

/* COMP-08: both and either go through it, once. */
TEST(an_executor_runs_both_and_either)
{
    rota_executor *executor;
    test_manual *manual = test_executor_manual(&executor);
    rota_future *sources[2];

    begin(sources, 2);
    rota_future *either = new_either(sources, executor);
    rota_future *both = new_both(sources, executor);
    test_end(sources[0], TEST_SUCCEEDS, NULL);
    assert_int_equal(test_manual_count(manual), 1);
    test_end(sources[1], TEST_SUCCEEDS, NULL);
    assert_int_equal(test_manual_count(manual), 2);
    assert_int_equal(calls, 0);
    test_manual_run(manual, 0);
    test_has_ended(either, TEST_SUCCEEDS, &returned);
    test_is_pending(both);
    test_manual_run(manual, 0);
    test_has_ended(both, TEST_SUCCEEDS, &returned);
    rota_future_unref(either);
    end(sources, 2, both);
    assert_ok(rota_close(executor));
}

/* COMP-09: refused when they are to run, not before. */
TEST(a_refusal_fails_both_and_either)
{
    rota_executor *executor;
    test_manual *manual = test_executor_manual(&executor);
    rota_future *sources[2];

    begin(sources, 2);
    test_manual_refuse_after(manual, 0, ROTA_EFULL);
    rota_future *either = new_either(sources, executor);
    rota_future *both = new_both(sources, executor);
    test_is_pending(either);
    test_end(sources[1], TEST_SUCCEEDS, NULL);
    test_has_failed(either, ROTA_EFULL);
    test_is_pending(both);
    test_end(sources[0], TEST_SUCCEEDS, NULL);
    test_has_failed(both, ROTA_EFULL);
    assert_int_equal(calls, 0);
    rota_future_unref(either);
    end(sources, 2, both);
    assert_ok(rota_close(executor));
}

/* COMP-18: dropped, or completed by hand, in the executor's hands. */
TEST(both_can_be_ended_in_a_queue)
{
    rota_executor *executor;
    test_manual *manual = test_executor_manual(&executor);
    rota_future *sources[2];

    begin(sources, 2);
    for (int i = 0; i < 2; i++)
        test_end(sources[i], TEST_SUCCEEDS, NULL);
    rota_future *dropped = new_both(sources, executor);
    test_manual_discard(manual, 0);
    test_has_ended(dropped, TEST_CANCELLED, NULL);
    rota_future *completed = new_both(sources, executor);
    test_end(completed, TEST_SUCCEEDS, &values[5]);
    test_manual_run(manual, 0);
    test_has_ended(completed, TEST_SUCCEEDS, &values[5]);
    assert_int_equal(calls, 0);
    rota_future_unref(dropped);
    end(sources, 2, completed);
    assert_ok(rota_close(executor));
}

/* -- All of them -------------------------------------------------------------------------- */

/* COMP-16 */
TEST(all_of_none_is_done)
{
    rota_future *out = new_all(NULL, 0);

    test_has_ended(out, TEST_SUCCEEDS, NULL);
    rota_future_unref(out);
}

static void try_all(int count, bool backwards)
{
    rota_future *sources[MANY];

    begin(sources, count);
    rota_future *out = new_all(sources, (size_t)count);
    for (int i = 0; i < count; i++) {
        test_is_pending(out);
        int which = backwards ? count - 1 - i : i;
        test_end(sources[which], TEST_SUCCEEDS, &values[which]);
    }
    test_has_ended(out, TEST_SUCCEEDS, NULL);
    rota_future *late = new_all(sources, (size_t)count);
    test_has_ended(late, TEST_SUCCEEDS, NULL);
    rota_future_unref(late);
    end(sources, count, out);
}

/* COMP-16 */
TEST(all_of_many_is_done_with_the_last)
{
    for (int count = 1; count <= MANY; count++) {
        try_all(count, false);
        try_all(count, true);
    }
}

/* COMP-16: it ends as the first of them, in their order, that did not succeed, when all are done. */
TEST(all_of_ends_as_the_first_that_did_not_succeed)
{
    for (int i = 1; i < TEST_ENDINGS * TEST_ENDINGS * TEST_ENDINGS; i++) {
        const test_ending endings[] = {i % TEST_ENDINGS, i / TEST_ENDINGS % TEST_ENDINGS,
                                       i / TEST_ENDINGS / TEST_ENDINGS};
        rota_future *sources[3];
        int first = 0;
        begin(sources, 3);
        rota_future *out = new_all(sources, 3);
        for (int k = 2; k >= 0; k--) {
            test_is_pending(out);
            test_end(sources[k], endings[k], NULL);
        }
        while (endings[first] == TEST_SUCCEEDS)
            first++;
        test_has_ended(out, endings[first], NULL);
        end(sources, 3, out);
    }
}

/* -- Any of them -------------------------------------------------------------------------- */

/* COMP-17 */
TEST(any_of_none_never_ends_by_itself)
{
    rota_future *out = new_any(NULL, 0);

    test_is_pending(out);
    test_end(out, TEST_SUCCEEDS, &values[0]);
    test_has_ended(out, TEST_SUCCEEDS, &values[0]);
    rota_future_unref(out);
    out = new_any(NULL, 0);
    test_end(out, TEST_CANCELLED, NULL);
    rota_future_unref(out);
}

static void try_any(int count, int first, test_ending ending)
{
    rota_future *sources[MANY];

    begin(sources, count);
    rota_future *out = new_any(sources, (size_t)count);
    test_is_pending(out);
    test_end(sources[first], ending, &values[first]);
    test_has_ended(out, ending, &values[first]);
    for (int i = 0; i < count; i++)
        assert_int_equal(rota_future_dependents(sources[i]), 0); /* COMP-26 */
    rota_future *late = new_any(sources, (size_t)count);
    test_has_ended(late, ending, &values[first]);
    for (int i = 0; i < count; i++)
        assert_int_equal(rota_future_dependents(sources[i]), 0);
    if (count > 1)
        test_end(sources[first == 0], TEST_SUCCEEDS, NULL);
    test_has_ended(out, ending, &values[first]);
    rota_future_unref(late);
    end(sources, count, out);
}

/* COMP-17: the first that ends, however it does, and leaves the others. */
TEST(any_of_many_follows_the_first)
{
    for (int count = 1; count <= MANY; count++) {
        for (int first = 0; first < count; first++) {
            for (int ending = 0; ending < TEST_ENDINGS; ending++)
                try_any(count, first, ending);
        }
    }
}

/* -- The same one twice ------------------------------------------------------------------- */

/* COMP-10, COMP-11, COMP-16, COMP-17: one future may be several of the sources. */
TEST(one_future_can_be_there_twice)
{
    for (int ending = 0; ending < TEST_ENDINGS; ending++) {
        rota_future *source = test_promise();
        rota_future *twice[] = {source, source, source};
        calls = 0;
        fails = 0;
        rota_future *outs[] = {new_both(twice, NULL), new_either(twice, NULL), new_all(twice, 3),
                               new_any(twice, 3)};
        test_end(source, ending, &values[0]);
        assert_int_equal(calls, ending == TEST_SUCCEEDS ? 2 : 0);
        test_has_ended(outs[0], ending, &returned);
        test_has_ended(outs[1], ending, &returned);
        test_has_ended(outs[2], ending, NULL);
        test_has_ended(outs[3], ending, &values[0]);
        for (int i = 0; i < 4; i++)
            rota_future_unref(outs[i]);
        rota_future_unref(source);
    }
}

/* -- Ended before its time ---------------------------------------------------------------- */

/* COMP-18, COMP-26: whichever of these is ended by hand leaves all its sources at once. */
TEST(it_withdraws_from_all_its_sources)
{
    for (int i = 0; i < 4 * TEST_ENDINGS; i++) {
        rota_future *sources[3];
        begin(sources, 3);
        rota_future *out = i % 4 == 0   ? new_both(sources, NULL)
                           : i % 4 == 1 ? new_either(sources, NULL)
                           : i % 4 == 2 ? new_all(sources, 3)
                                        : new_any(sources, 3);
        assert_int_equal(rota_future_dependents(sources[1]), 1);
        test_end(out, i / 4, &values[4]);
        for (int k = 0; k < 3; k++)
            assert_int_equal(rota_future_dependents(sources[k]), 0);
        for (int k = 0; k < 3; k++)
            test_end(sources[k], TEST_SUCCEEDS, NULL);
        test_has_ended(out, i / 4, &values[4]);
        assert_int_equal(calls, 0);
        end(sources, 3, out);
    }
}

/* COMP-18, COMP-26: also when one of them is done already. */
TEST(it_withdraws_from_those_that_are_left)
{
    rota_future *sources[3];

    begin(sources, 3);
    rota_future *out = new_all(sources, 3);
    test_end(sources[1], TEST_SUCCEEDS, NULL);
    test_end(out, TEST_CANCELLED, NULL);
    assert_int_equal(rota_future_dependents(sources[0]), 0);
    assert_int_equal(rota_future_dependents(sources[2]), 0);
    test_end(sources[0], TEST_SUCCEEDS, NULL);
    test_has_ended(out, TEST_CANCELLED, NULL);
    end(sources, 3, out);
}

/* OWN-20: promises that nobody holds are cancelled, and what follows from them; it pins them. */
TEST(sources_that_nobody_holds_are_cancelled)
{
    rota_future *sources[3];

    begin(sources, 3);
    rota_future *out = new_all(sources, 3);
    for (int i = 0; i < 3; i++) {
        test_is_pending(out);
        rota_future_unref(sources[i]);
    }
    test_has_ended(out, TEST_CANCELLED, NULL);
    rota_future_unref(out);
}
