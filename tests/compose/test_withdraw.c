/* SPDX-License-Identifier: MIT */
/*
 * What is ended leaves its source at once: memory stays flat; and who owns its source ends that, too.
 */
#include "rota_test_compose.h"
#include "rota_test_internal.h"

enum { TIMES = 200000, ROOM = 16 }; /* blocks that a round may leave in caches */

static rota_future *never; /* a promise that does not end */

static int make_never(void **state)
{
    never = test_promise();
    return 0;
}

static int drop_never(void **state)
{
    rota_future_unref(never);
    return 0;
}

static const test_fixture with_never = {.setup = make_never, .teardown = drop_never};

static void *same(void *value, void *arg)
{
    return value;
}

static void *first_of(void *first, void *second, void *arg)
{
    return first;
}

static rota_future *no_inner(void *value, void *arg)
{
    return NULL;
}

/* -- Memory stays flat -------------------------------------------------------------------- */

/* Again and again; from the hundredth time on no more memory is in use than then. */
static void stays_flat(void (*round)(void))
{
    size_t live = 0;

    for (int i = 0; i < TIMES; i++) {
        round();
        if (i == 100)
            live = test_memory_live();
        if (i > 100)
            assert_in_range(test_memory_live(), 0, live + ROOM);
    }
    assert_int_equal(rota_future_dependents(never), 0);
}

static void cancel_and_drop(rota_future *future)
{
    test_check(rota_future_cancel(future));
    rota_future_unref(future);
}

static void then_round(void)
{
    rota_future *out;

    test_check(rota_then(never, NULL, same, NULL, &out) == ROTA_OK);
    cancel_and_drop(out);
}

static void chain_round(void)
{
    rota_future *out;

    test_check(rota_chain(never, NULL, no_inner, NULL, &out) == ROTA_OK);
    cancel_and_drop(out);
}

static void both_round(void)
{
    rota_future *out;

    test_check(rota_both(never, never, NULL, first_of, NULL, &out) == ROTA_OK);
    cancel_and_drop(out);
}

static void timeout_round(void)
{
    rota_future *out;

    test_check(rota_timeout(never, ROTA_HOURS(24), &out) == ROTA_OK);
    cancel_and_drop(out);
}

static void all_round(void)
{
    rota_future *sources[] = {never, never, never};
    rota_future *out;

    test_check(rota_all_of(sources, 3, &out) == ROTA_OK);
    cancel_and_drop(out);
}

/* Nobody cancels it: the other source ends. */
static void either_round(void)
{
    rota_future *short_lived = test_promise();
    rota_future *out;

    test_check(rota_either(never, short_lived, NULL, same, NULL, &out) == ROTA_OK);
    rota_future_unref(out);
    test_end(short_lived, TEST_SUCCEEDS, NULL);
    rota_future_unref(short_lived);
}

static void any_round(void)
{
    rota_future *done = test_done(TEST_SUCCEEDS, NULL);
    rota_future *sources[] = {never, never, done, never};
    rota_future *out;

    test_check(rota_any_of(sources, 4, &out) == ROTA_OK);
    test_check(rota_future_is_done(out));
    rota_future_unref(out);
    rota_future_unref(done);
}

/* COMP-26 */
TEST_WITH(with_never, cancelled_steps_leave_nothing)
{
    stays_flat(then_round);
    stays_flat(chain_round);
    stays_flat(both_round);
}

/* COMP-26, COMP-19: nor does a timer. */
TEST_WITH(with_never, cancelled_timeouts_leave_nothing)
{
    stays_flat(timeout_round);
}

/* COMP-26 */
TEST_WITH(with_never, cancelled_all_of_leaves_nothing)
{
    stays_flat(all_round);
}

/* COMP-26 */
TEST_WITH(with_never, either_leaves_the_other_source)
{
    stays_flat(either_round);
}

/* COMP-26 */
TEST_WITH(with_never, any_of_leaves_the_other_sources)
{
    stays_flat(any_round);
}

/* COMP-26, COMP-24: many at once, taken out from both ends and the middle. */
TEST_WITH(with_never, many_withdraw_in_any_order)
{
    enum { MANY = 1000, STRIDE = 377 }; /* which have no divisor in common */
    static rota_future *outs[MANY];

    for (int i = 0; i < MANY; i++)
        assert_ok(rota_copy(never, &outs[i]));
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(rota_future_dependents(never), MANY - i);
        cancel_and_drop(outs[i * STRIDE % MANY]);
    }
    assert_int_equal(rota_future_dependents(never), 0);
}

/* -- Owning ------------------------------------------------------------------------------- */

static rota_future *copy_of(rota_future *source, bool owns)
{
    rota_future *out = NULL;

    test_check(rota_copy(source, &out) == ROTA_OK);
    if (owns)
        test_check(rota_future_own(out) == ROTA_OK);
    return out;
}

/* Cancelling it does not touch its source, unless it owns it. */
TEST(only_an_owner_cancels_its_source)
{
    for (int owns = 0; owns < 2; owns++) {
        rota_future *source = test_promise();
        rota_future *out = copy_of(source, owns);
        assert_true(owns ? rota_future_cancel_now(out) : rota_future_cancel(out));
        assert_int_equal(rota_future_is_done(source), owns);
        if (owns)
            test_has_ended(source, TEST_CANCELLED, NULL);
        rota_future_unref(out);
        rota_future_unref(source);
    }
}

/* Only cancelling: completed or failed by hand it leaves its source alone. */
TEST(another_end_does_not_cancel_the_source)
{
    for (int ending = 0; ending < TEST_CANCELLED; ending++) {
        rota_future *source = test_promise();
        rota_future *out = copy_of(source, true);
        test_end(out, ending, NULL);
        assert_false(rota_future_is_done(source));
        assert_int_equal(rota_future_dependents(source), 0);
        rota_future_unref(out);
        rota_future_unref(source);
    }
}

/* So does its time-out: the source goes on. */
TEST(a_timeout_does_not_cancel_the_source)
{
    rota_future *source = test_promise();
    rota_future *out;
    rota_future *last;

    assert_ok(rota_copy(source, &out));
    assert_ok(rota_timeout(out, 0, &last));
    assert_ok(rota_future_own(last));
    test_has_failed(last, ROTA_ETIMEDOUT);
    assert_false(rota_future_is_done(out));
    rota_future_unref(last);
    rota_future_unref(out);
    rota_future_unref(source);
}

/* As far as those own theirs: of five the middle one does not. */
TEST(it_goes_as_far_as_they_own)
{
    rota_future *links[6] = {test_promise()};

    for (int i = 1; i < 6; i++)
        links[i] = copy_of(links[i - 1], i != 3);
    assert_true(rota_future_cancel(links[5]));
    for (int i = 0; i < 6; i++)
        assert_int_equal(rota_future_is_done(links[i]), i >= 3);
    for (int i = 0; i < 6; i++)
        rota_future_unref(links[i]);
}

/* All of several sources that are not done; a done one stays as it is. */
TEST(all_its_sources_are_cancelled)
{
    rota_future *sources[] = {test_promise(), test_promise(), test_promise()};
    rota_future *out;

    assert_ok(rota_all_of(sources, 3, &out));
    assert_ok(rota_future_own(out));
    test_end(sources[1], TEST_SUCCEEDS, NULL);
    assert_true(rota_future_cancel(out));
    test_has_ended(sources[0], TEST_CANCELLED, NULL);
    test_has_ended(sources[1], TEST_SUCCEEDS, NULL);
    test_has_ended(sources[2], TEST_CANCELLED, NULL);
    rota_future_unref(out);
    for (int i = 0; i < 3; i++)
        rota_future_unref(sources[i]);
}

static rota_future *give(void *value, void *inner)
{
    return rota_future_ref(inner);
}

/* Of a chain: what it waits for at the moment. */
TEST(a_chain_cancels_the_inner_one)
{
    rota_future *source = test_done(TEST_SUCCEEDS, NULL);
    rota_future *inner = test_promise();
    rota_future *out;

    assert_ok(rota_chain(source, NULL, give, inner, &out));
    assert_ok(rota_future_own(out));
    assert_true(rota_future_cancel(out));
    test_has_ended(inner, TEST_CANCELLED, NULL);
    rota_future_unref(out);
    rota_future_unref(inner);
    rota_future_unref(source);
}

/* A task that is owned is taken back before it runs: its argument is discarded. */
TEST(a_task_that_is_owned_is_discarded)
{
    test_probe probe = {.error = 0};
    rota_future *source;
    rota_task *task = test_task(test_probe_call(&probe), &source);
    rota_future *out = copy_of(source, true);

    assert_true(rota_future_cancel(out));
    assert_int_equal(probe.discards, 1);
    rota_task_run(task);
    assert_int_equal(probe.runs, 0);
    rota_future_unref(out);
    rota_future_unref(source);
}

/* Others that follow from a source that is cancelled so are cancelled, too. */
TEST(who_else_follows_is_cancelled)
{
    rota_future *source = test_promise();
    rota_future *owner = copy_of(source, true);
    rota_future *guest = copy_of(source, false);

    assert_true(rota_future_cancel(owner));
    test_has_ended(guest, TEST_CANCELLED, NULL);
    rota_future_unref(guest);
    rota_future_unref(owner);
    rota_future_unref(source);
}

/* Two owners of one source, in a ring of their ends: it is cancelled once. */
TEST(a_diamond_is_cancelled)
{
    rota_future *source = test_promise();
    rota_future *sides[] = {copy_of(source, true), copy_of(source, true)};
    rota_future *out;

    assert_ok(rota_both(sides[0], sides[1], NULL, first_of, NULL, &out));
    assert_ok(rota_future_own(out));
    assert_true(rota_future_cancel(out));
    test_has_ended(source, TEST_CANCELLED, NULL);
    for (int i = 0; i < 2; i++) {
        test_has_ended(sides[i], TEST_CANCELLED, NULL);
        rota_future_unref(sides[i]);
    }
    rota_future_unref(out);
    rota_future_unref(source);
}

/* Futures that follow from none cannot own. */
TEST(only_what_follows_can_own)
{
    rota_future *source = test_promise();
    test_probe probe = {.error = 0};
    rota_future *task_future;
    rota_task *task = test_task(test_probe_call(&probe), &task_future);

    assert_status(rota_future_own(NULL), ROTA_EINVAL);
    assert_status(rota_future_own(source), ROTA_ENOTSUP);
    assert_status(rota_future_own(task_future), ROTA_ENOTSUP);
    rota_task_discard(task);
    rota_future_unref(task_future);
    rota_future_unref(source);
}
