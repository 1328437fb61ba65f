/* SPDX-License-Identifier: MIT */
/*
 * A computation of completers, which fails, is cancelled, invoked and joined with others, in every
 * kind of pool: what CountedCompleterTest has of it.
 */
#include "completers.h"

enum { MOST = 128, CODE = 21 }; /* fib(9) has 109 of them */

typedef struct grove grove;
typedef struct fib {
    rota_completer completer; /* first */
    grove *grove;
    int n;
    int value;
    struct fib *parts[2];
} fib;

struct grove {
    fib fibs[MOST];
    atomic_uint used;
    bool fails; /* at the leaves */
    rota_executor *pool;
};

static void compute(rota_completer *self);
static void merge(rota_completer *self, rota_completer *caller);

static fib *new_fib(grove *here, fib *parent, int n)
{
    fib *made = &here->fibs[atomic_fetch_add(&here->used, 1)];

    *made = (fib){.completer = ROTA_COMPLETER(compute, parent != NULL ? &parent->completer : NULL),
                  .grove = here,
                  .n = n};
    made->completer.on_completion = merge;
    return made;
}

static void compute(rota_completer *self)
{
    fib *f = (fib *)self;

    if (self->parent == NULL)
        f->grove->pool = rota_fj_pool();
    if (f->n <= 1 && f->grove->fails) {
        rota_fj_fail(&self->task, CODE);
        return;
    }
    if (f->n > 1) {
        rota_set_pending(self, 2);
        for (int i = 0; i < 2; i++)
            f->parts[i] = new_fib(f->grove, f, f->n - 1 - i);
        rota_fork(&f->parts[0]->completer.task);
        rota_fork(&f->parts[1]->completer.task);
    }
    rota_try_complete(self);
}

static void merge(rota_completer *self, rota_completer *caller)
{
    fib *f = (fib *)self;

    f->value = f->n <= 1 ? f->n : f->parts[0]->value + f->parts[1]->value;
}

static rota_fj *plant(grove *here, int n, bool fails)
{
    atomic_store(&here->used, 0);
    here->fails = fails;
    here->pool = NULL;
    return &new_fib(here, NULL, n)->completer.task;
}

static bool has_value(const grove *here, int value)
{
    const fib *root = &here->fibs[0];

    return rota_fj_is_done(&root->completer.task) && rota_fj_error(&root->completer.task) == 0
           && root->value == value;
}

static bool has_failed(const grove *here)
{
    const fib *root = &here->fibs[0];

    return rota_fj_is_done(&root->completer.task) && rota_fj_error(&root->completer.task) == CODE;
}

static void all_is_quiet(void)
{
    test_check(rota_await_quiescence(rota_fj_pool(), ROTA_FOREVER) == ROTA_OK);
}

/* -- It succeeds -------------------------------------------------------------------------- */

/* FJT-05, FJ-32, CC-04 */
WORKER_TEST(invoked_it_has_a_value)
{
    grove here;
    rota_fj *root = plant(&here, 8, false);

    test_check(rota_invoke(rota_fj_pool(), root) == ROTA_OK);
    test_check(has_value(&here, 21));
    test_check(here.pool == rota_fj_pool());
}

/* FJT-03, CC-04 */
WORKER_TEST(forked_and_joined_it_has_a_value)
{
    grove here;
    rota_fj *root = plant(&here, 8, false);

    rota_fork(root);
    test_check(rota_join(root) == ROTA_OK);
    test_check(has_value(&here, 21));
    test_check(rota_join(root) == ROTA_OK);
}

/* FJT-17 */
WORKER_TEST(forked_it_is_done_when_the_pool_is_quiet)
{
    grove here;

    rota_fork(plant(&here, 8, false));
    all_is_quiet();
    test_check(has_value(&here, 21));
    test_check(test_fj_stats(rota_fj_pool()).queued == 0);
}

/* Never forked it runs at the join. */
WORKER_TEST(joined_it_has_a_value)
{
    grove here;

    test_check(rota_join(plant(&here, 9, false)) == ROTA_OK);
    test_check(has_value(&here, 34));
}

/* -- It fails: CC-07 ---------------------------------------------------------------------- */

/* FJT-05, CC-07 */
WORKER_TEST(invoked_it_fails)
{
    grove here;

    test_check(rota_invoke(rota_fj_pool(), plant(&here, 8, true)) == ROTA_EFAILED);
    test_check(has_failed(&here));
    all_is_quiet();
}

/* FJT-03, CC-07 */
WORKER_TEST(forked_and_joined_it_fails)
{
    grove here;
    rota_fj *root = plant(&here, 8, true);

    rota_fork(root);
    test_check(rota_join(root) == ROTA_EFAILED);
    test_check(has_failed(&here));
    test_check(!rota_fj_cancel(root));
    all_is_quiet();
}

/* FJT-07 */
WORKER_TEST(failed_before_it_is_invoked_it_does_not_begin)
{
    grove here;
    rota_fj *root = plant(&here, 8, false);

    rota_fj_fail(root, CODE);
    test_check(rota_invoke(rota_fj_pool(), root) == ROTA_EFAILED);
    test_check(has_failed(&here));
    test_check(atomic_load(&here.used) == 1);
}

/* -- It is cancelled: CC-11 --------------------------------------------------------------- */

/* FJT-07 */
WORKER_TEST(cancelled_before_it_is_invoked_it_does_not_begin)
{
    grove here;
    rota_fj *root = plant(&here, 8, false);

    test_check(rota_fj_cancel(root));
    test_check(rota_invoke(rota_fj_pool(), root) == ROTA_ECANCELED);
    test_check(atomic_load(&here.used) == 1);
}

/* FJT-07 */
WORKER_TEST(cancelled_before_it_is_forked_it_does_not_begin)
{
    grove here;
    rota_fj *root = plant(&here, 8, false);

    test_check(rota_fj_cancel(root));
    rota_fork(root);
    test_check(rota_join(root) == ROTA_ECANCELED);
    all_is_quiet();
    test_check(atomic_load(&here.used) == 1);
}

/* -- Several ------------------------------------------------------------------------------ */

/* FJT-13 */
WORKER_TEST(two_are_invoked)
{
    grove a, b;
    rota_fj *first = plant(&a, 8, false);

    test_check(rota_invoke_both(first, plant(&b, 9, false)) == ROTA_OK);
    test_check(has_value(&a, 21) && has_value(&b, 34));
}

/* FJT-13 */
WORKER_TEST(many_are_invoked)
{
    grove a, b, c;

    for (size_t count = 1; count <= 3; count += 2) {
        rota_fj *roots[] = {plant(&a, 8, false), plant(&b, 9, false), plant(&c, 7, false)};
        test_check(rota_invoke_many(roots, count) == ROTA_OK);
        test_check(has_value(&a, 21));
        test_check(count == 1 || (has_value(&b, 34) && has_value(&c, 13)));
    }
}

/* FJT-13 */
WORKER_TEST(with_none_among_them_no_one_begins)
{
    grove a, b;
    rota_fj *roots[] = {plant(&a, 8, false), plant(&b, 9, false), NULL};

    test_check(rota_invoke_many(roots, 3) == ROTA_EINVAL);
    all_is_quiet();
    test_check(atomic_load(&a.used) == 1 && atomic_load(&b.used) == 1);
}

/* FJT-13, CC-07 */
WORKER_TEST(one_of_two_fails)
{
    grove a, b;
    rota_fj *first = plant(&a, 8, false);

    test_check(rota_invoke_both(first, plant(&b, 9, true)) == ROTA_EFAILED);
    test_check(has_value(&a, 21) && has_failed(&b));
    all_is_quiet();
    first = plant(&a, 8, true);
    test_check(rota_invoke_many(&first, 1) == ROTA_EFAILED);
    test_check(has_failed(&a));
    all_is_quiet();
}

/* FJT-13, CC-07 */
WORKER_TEST(one_of_three_fails)
{
    grove a, b, c;
    rota_fj *roots[] = {plant(&a, 8, false), plant(&b, 9, true), plant(&c, 7, false)};

    test_check(rota_invoke_many(roots, 3) == ROTA_EFAILED);
    test_check(has_value(&a, 21) && has_failed(&b) && has_value(&c, 13));
    all_is_quiet();
}

/* -- Alone: the own deque ----------------------------------------------------------------- */

/* FJT-14 */
LONE_WORKER_TEST(the_newest_is_taken_back)
{
    grove a, b;
    rota_fj *older = plant(&a, 8, false), *newer = plant(&b, 9, false);

    rota_fork(older);
    rota_fork(newer);
    test_check(rota_unfork(newer));
    all_is_quiet();
    test_check(has_value(&a, 21));
    test_check(!rota_fj_is_done(newer) && atomic_load(&b.used) == 1);
}

/* FJT-16 */
LONE_WORKER_TEST(those_in_the_deque_are_surplus)
{
    grove a, b, c;

    rota_fork(plant(&a, 7, false));
    rota_fork(plant(&b, 9, false));
    rota_fork(plant(&c, 8, false));
    test_check(rota_fj_surplus() == 3);
    all_is_quiet();
    test_check(rota_fj_surplus() == 0);
    test_check(has_value(&a, 13) && has_value(&b, 34) && has_value(&c, 21));
}

/* -- By an ordinary thread ---------------------------------------------------------------- */

/* FJT-05, FJ-32: it takes part, and is a worker meanwhile. */
TEST(an_ordinary_thread_invokes_it)
{
    rota_executor *pool = test_forkjoin_of(2);
    grove here;

    assert_ok(rota_invoke(pool, plant(&here, 8, false)));
    assert_true(has_value(&here, 21));
    assert_ptr_equal(here.pool, pool);
    assert_status(rota_invoke(pool, plant(&here, 8, true)), ROTA_EFAILED);
    assert_ok(rota_await_quiescence(pool, ROTA_FOREVER));
    assert_true(has_failed(&here));
    assert_ok(rota_close(pool));
}

static rota_executor *seen;

static void see_pool(rota_completer *self)
{
    seen = rota_fj_pool();
    rota_try_complete(self);
}

/* FJT-05, FJT-25, FJ-32: who joins one that nobody has forked runs it, and is in no pool. */
TEST(an_ordinary_thread_joins_it)
{
    rota_completer completer = ROTA_COMPLETER(see_pool, NULL);

    seen = TEST_UNTOUCHED;
    assert_ok(rota_join(&completer.task));
    assert_null(seen);
    assert_true(rota_fj_is_done(&completer.task));
}
