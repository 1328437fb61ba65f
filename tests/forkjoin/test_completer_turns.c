/* SPDX-License-Identifier: MIT */
/*
 * A completer's turn, which comes once or not at all: it is cancelled, completed or taken back before,
 * or used again after. In every kind of pool. A completer that is not a root is not done by its
 * completion, so the root is what tells the end.
 */
#include "completers.h"

enum { CHILDREN = 3 };

/* What the root does with its children is the test's. */
typedef struct family {
    test_counted root; /* first */
    test_counted children[CHILDREN];
    void (*plant)(struct family *family);
} family;

static rota_fj *task_of(test_counted *counted)
{
    return &counted->completer.task;
}

static void plant(rota_completer *self)
{
    family *here = (family *)(void *)self;

    atomic_fetch_add(&here->root.computes, 1);
    rota_set_pending(self, CHILDREN);
    here->plant(here);
    rota_try_complete(self);
}

static void family_init(family *here, void (*how)(family *here))
{
    test_counted_init(&here->root, NULL);
    here->root.completer.compute = plant;
    here->plant = how;
    for (int i = 0; i < CHILDREN; i++)
        test_counted_init(&here->children[i], &here->root);
}

/* Others may still be at the tree: header, "it must stay until rota_await_quiescence returns". */
static void all_is_quiet(void)
{
    test_check(rota_await_quiescence(rota_fj_pool(), ROTA_FOREVER) == ROTA_OK);
}

static int grow(family *here, void (*how)(family *here))
{
    int status;

    family_init(here, how);
    rota_fork(task_of(&here->root));
    status = rota_join(task_of(&here->root));
    all_is_quiet();
    return status;
}

static void fork_all(family *here)
{
    for (int i = 0; i < CHILDREN; i++)
        rota_fork(task_of(&here->children[i]));
}

/* -- Forked, and joined ------------------------------------------------------------------- */

/* CC-03, CC-04 */
WORKER_TEST(the_root_is_done_when_all_below_are_complete)
{
    family here;

    test_check(grow(&here, fork_all) == ROTA_OK);
    test_counted_is(&here.root, 1, 1, 0);
    for (int i = 0; i < CHILDREN; i++)
        test_counted_is(&here.children[i], 1, 1, 0);
}

static void do_not_complete(rota_completer *self)
{
    test_counted *c = (test_counted *)self;

    atomic_fetch_add(&c->computes, 1);
}

/* CC-03 */
WORKER_TEST(the_return_of_compute_completes_nothing)
{
    test_counted c;

    test_counted_init(&c, NULL);
    c.completer.compute = do_not_complete;
    rota_fork(task_of(&c));
    all_is_quiet();
    test_counted_is(&c, 1, 0, 0);
    test_check(!rota_fj_is_done(task_of(&c)));
    rota_try_complete(&c.completer);
    test_check(rota_join(task_of(&c)) == ROTA_OK);
    test_counted_is(&c, 1, 1, 0);
}

static void fork_all_twice(family *here)
{
    fork_all(here);
    fork_all(here);
}

WORKER_TEST(a_second_fork_is_nothing)
{
    family here;

    test_check(grow(&here, fork_all_twice) == ROTA_OK);
    for (int i = 0; i < CHILDREN; i++)
        test_counted_is(&here.children[i], 1, 1, 0);
}

/* FJT-07 */
WORKER_TEST(a_done_one_is_left_so)
{
    test_counted line[2];

    test_counted_line(line, 2);
    rota_set_pending(&line[0].completer, 1);
    rota_complete(&line[1].completer);
    rota_fork(task_of(&line[1]));
    test_check(rota_join(task_of(&line[1])) == ROTA_OK);
    test_check(rota_invoke(rota_fj_pool(), task_of(&line[1])) == ROTA_OK);
    all_is_quiet();
    test_counted_is(&line[1], 0, 1, 0);
    test_check(rota_pending(&line[0].completer) == 0);
    test_check(!rota_fj_is_done(task_of(&line[0])));
}

/* -- Cancelled: CC-11 --------------------------------------------------------------------- */

/* CC-11, FJT-08: true however often, for a completer that was never forked. */
WORKER_TEST(cancelling_concerns_that_one_alone)
{
    test_counted line[3];

    test_counted_line(line, 3);
    test_check(rota_fj_cancel(task_of(&line[1])));
    test_check(rota_fj_cancel(task_of(&line[1])));
    test_check(rota_fj_is_done(task_of(&line[1])));
    test_check(rota_join(task_of(&line[1])) == ROTA_ECANCELED);
    test_check(rota_invoke(rota_fj_pool(), task_of(&line[1])) == ROTA_ECANCELED);
    test_check(rota_fj_error(task_of(&line[1])) == 0);
    for (int i = 0; i < 3; i++) {
        test_counted_is(&line[i], 0, 0, 0);
        test_check(rota_fj_is_done(task_of(&line[i])) == (i == 1));
    }
}

static void cancel_and_fork(family *here)
{
    test_check(rota_fj_cancel(task_of(&here->children[1])));
    fork_all(here);
}

/* Header: "its parent is told when its turn would have come". */
WORKER_TEST(cancelled_before_the_fork_it_never_begins)
{
    family here;

    test_check(grow(&here, cancel_and_fork) == ROTA_OK);
    test_counted_is(&here.root, 1, 1, 0);
    test_counted_is(&here.children[0], 1, 1, 0);
    test_counted_is(&here.children[1], 0, 0, 0);
    test_check(rota_join(task_of(&here.children[1])) == ROTA_ECANCELED);
}

static void fork_and_cancel(family *here)
{
    fork_all(here);
    test_check(rota_fj_cancel(task_of(&here->children[1])));
    test_check(rota_fj_is_done(task_of(&here->children[1])));
}

LONE_WORKER_TEST(cancelled_while_queued_it_never_begins)
{
    family here;

    test_check(grow(&here, fork_and_cancel) == ROTA_OK);
    test_counted_is(&here.root, 1, 1, 0);
    test_counted_is(&here.children[1], 0, 0, 0);
    test_counted_is(&here.children[2], 1, 1, 0);
}

/* Somebody may be quicker. */
WORKER_TEST(cancelled_at_any_time_completion_reaches_the_root)
{
    family here;

    test_check(grow(&here, fork_and_cancel) == ROTA_OK);
    test_counted_is(&here.root, 1, 1, 0);
    test_check(atomic_load(&here.children[1].computes) <= 1);
    test_check(atomic_load(&here.children[1].computes)
               == atomic_load(&here.children[1].completions));
    test_check(rota_join(task_of(&here.children[1])) == ROTA_ECANCELED);
}

static void cancel_itself(rota_completer *self)
{
    test_counted *c = (test_counted *)self;

    atomic_fetch_add(&c->computes, 1);
    test_check(rota_fj_cancel(&self->task));
    test_check(rota_fj_is_done(&self->task));
    rota_try_complete(self);
}

static void fork_one_that_cancels_itself(family *here)
{
    here->children[1].completer.compute = cancel_itself;
    fork_all(here);
}

/* Header: "Otherwise completion passes through it". */
WORKER_TEST(cancelled_while_it_computes_it_is_done_and_completion_passes)
{
    family here;

    test_check(grow(&here, fork_one_that_cancels_itself) == ROTA_OK);
    test_counted_is(&here.root, 1, 1, 0);
    test_counted_is(&here.children[1], 1, 1, 0);
    test_check(rota_join(task_of(&here.children[1])) == ROTA_ECANCELED);
}

static void cancel_root(family *here)
{
    fork_all(here);
    test_check(rota_fj_cancel(task_of(&here->root)));
}

/* What is below goes on. */
WORKER_TEST(a_cancelled_root_is_done_at_once)
{
    family here;

    test_check(grow(&here, cancel_root) == ROTA_ECANCELED);
    test_counted_is(&here.root, 1, 1, 0);
    for (int i = 0; i < CHILDREN; i++)
        test_counted_is(&here.children[i], 1, 1, 0);
    test_check(rota_join(task_of(&here.root)) == ROTA_ECANCELED);
}

/* A cancelled one in between holds up neither completion nor failure. */
WORKER_TEST(a_cancelled_parent_lets_both_pass)
{
    test_counted line[3];

    test_counted_line(line, 3);
    test_check(rota_fj_cancel(task_of(&line[1])));
    rota_try_complete(&line[2].completer);
    test_check(rota_join(task_of(&line[0])) == ROTA_OK);
    test_counted_line(line, 3);
    test_check(rota_fj_cancel(task_of(&line[1])));
    rota_fj_fail(task_of(&line[2]), 4);
    test_check(rota_join(task_of(&line[0])) == ROTA_EFAILED);
    test_check(rota_fj_error(task_of(&line[0])) == 4);
    test_check(rota_join(task_of(&line[1])) == ROTA_ECANCELED);
    test_check(rota_fj_error(task_of(&line[1])) == 0);
}

/* -- Completed before its turn ------------------------------------------------------------ */

static void fork_and_complete(family *here)
{
    fork_all(here);
    rota_complete(&here->children[1].completer);
    rota_complete(&here->children[2].completer);
}

/* CC-06; header: "If it has not begun it never will". */
LONE_WORKER_TEST(completed_while_queued_it_never_begins)
{
    family here;

    test_check(grow(&here, fork_and_complete) == ROTA_OK);
    test_counted_is(&here.root, 1, 1, 0);
    test_counted_is(&here.children[0], 1, 1, 0);
    test_counted_is(&here.children[1], 0, 1, 0);
    test_counted_is(&here.children[2], 0, 1, 0);
    test_check(rota_join(task_of(&here.children[2])) == ROTA_OK);
}

static void fork_and_fail(family *here)
{
    fork_all(here);
    rota_fj_fail(task_of(&here->children[1]), 6);
}

LONE_WORKER_TEST(failed_while_queued_it_never_begins)
{
    family here;

    test_check(grow(&here, fork_and_fail) == ROTA_EFAILED);
    test_counted_is(&here.root, 1, 0, 1);
    test_counted_is(&here.children[1], 0, 0, 1);
    test_check(rota_fj_error(task_of(&here.root)) == 6);
}

/* -- Taken back: FJT-14 ------------------------------------------------------------------- */

static void fork_take_back_and_fork(family *here)
{
    fork_all(here);
    test_check(!rota_unfork(task_of(&here->children[0]))); /* it is not the newest */
    for (int i = CHILDREN; i-- > 0;) {
        test_check(rota_unfork(task_of(&here->children[i])));
        test_check(!rota_unfork(task_of(&here->children[i])));
    }
    rota_fork(task_of(&here->children[1]));
    test_check(rota_fj_cancel(task_of(&here->children[1])));
    test_check(!rota_unfork(task_of(&here->children[1]))); /* it is done */
    rota_fork(task_of(&here->children[0]));
    rota_fork(task_of(&here->children[2]));
}

LONE_WORKER_TEST(taken_back_it_may_be_forked_again)
{
    family here;

    test_check(grow(&here, fork_take_back_and_fork) == ROTA_OK);
    test_counted_is(&here.root, 1, 1, 0);
    for (int i = 0; i < CHILDREN; i++)
        test_counted_is(&here.children[i], i != 1, i != 1, 0);
}

/* -- Used again: FJT-12 ------------------------------------------------------------------- */

WORKER_TEST(used_again_it_is_as_new)
{
    family here;

    family_init(&here, fork_all);
    for (unsigned round = 1; round <= 4; round++) {
        test_check(rota_invoke(rota_fj_pool(), task_of(&here.root)) == ROTA_OK);
        all_is_quiet();
        test_counted_is(&here.root, round, round, 0);
        rota_fj_reset(task_of(&here.root));
        test_check(!rota_fj_is_done(task_of(&here.root)));
        for (int i = 0; i < CHILDREN; i++) {
            test_counted_is(&here.children[i], round, round, 0);
            rota_fj_reset(task_of(&here.children[i]));
        }
    }
}

WORKER_TEST(after_any_end_it_may_be_used_again)
{
    test_counted c;

    test_counted_init(&c, NULL);
    test_check(rota_fj_cancel(task_of(&c)));
    rota_fj_reset(task_of(&c));
    rota_fj_fail(task_of(&c), 7);
    rota_fj_reset(task_of(&c));
    test_check(!rota_fj_is_done(task_of(&c)) && rota_fj_error(task_of(&c)) == 0);
    c.fails_with = 8;
    test_check(rota_invoke(rota_fj_pool(), task_of(&c)) == ROTA_EFAILED);
    test_check(rota_fj_error(task_of(&c)) == 8);
    rota_fj_reset(task_of(&c));
    c.fails_with = 0;
    test_check(rota_invoke(rota_fj_pool(), task_of(&c)) == ROTA_OK);
    test_counted_is(&c, 2, 1, 2);
}
