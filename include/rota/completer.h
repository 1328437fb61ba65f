/* SPDX-License-Identifier: MIT */
/*
 * rota/completer.h - fork/join tasks that end when the last of their children has, without a join.
 *
 *     struct node { rota_completer completer; int kids; struct node *kid; };
 *
 *     static void visit(rota_completer *c)
 *     {
 *         struct node *n = (struct node *)c;
 *         rota_set_pending(c, n->kids);                    // before the first of them is forked
 *         for (int i = 0; i < n->kids; i++)
 *             rota_fork(&n->kid[i].completer.task);        // each made with ROTA_COMPLETER(visit, c)
 *         rota_try_complete(c);
 *     }
 *
 *     rota_invoke(pool, &root.completer.task);             // when it returns, all were visited
 *
 * A completer has a count of what it still waits for, and a parent that is told when it is complete.
 * The return of `compute` completes nothing: whoever is last to call rota_try_complete does. So no
 * worker waits in a join, and results are merged, in on_completion, by whoever finishes last. It costs
 * more than a fork and its join, some tens of nanoseconds: use it where children come in irregular
 * numbers, or where the first to find something ends the search.
 *
 * The rules. A `compute` either completes its completer, by any of the calls below, or fails it, or
 * gives that to its children; after that it must not touch it, and must not end its thread. One that
 * ends its thread before that has failed. The memory is yours, as with every fork/join task, and must
 * stay until the root is done; after a failure, a cancellation, rota_complete or rota_complete_root
 * it must stay until rota_await_quiescence returns, as others may still run: where a task of the pool
 * has made the tree, until whoever started that one has waited so. Only a root becomes done by
 * completion, so that is what one joins.
 */
#ifndef ROTA_COMPLETER_H
#define ROTA_COMPLETER_H

#include <rota/forkjoin.h>

ROTA_BEGIN

/*
 * A task with a count and a parent: make it the first member of your struct. on_completion: its count
 * has come to 0; `caller` is the child that was last, or the completer itself. on_failure: it, or
 * `caller` below it, has failed; false: that goes no higher, and you see to it that what is above
 * becomes complete: once, also if `self` was failed by another while it computes. NULL is none for
 * on_completion, and for on_failure that it goes on. Both may be set after ROTA_COMPLETER, before the
 * completer is used.
 */
typedef struct rota_completer rota_completer; /* in memory of yours: there until the root is done */
struct rota_completer {
    rota_fj task;
    void (*compute)(rota_completer *self);
    rota_completer *parent; /* NULL: a root */
    void (*on_completion)(rota_completer *self, rota_completer *caller);
    bool (*on_failure)(rota_completer *self, int code, rota_completer *caller);
    uintptr_t priv[1]; /* the library's */
};
void rota_completer_run(rota_fj *task); /* for the macro alone */
#define ROTA_COMPLETER(compute, parent)                                                  \
    {                                                                                    \
        {rota_completer_run, {ROTA__FJ_COUNTED, 0, 0}}, (compute), (parent), NULL, NULL, \
        {                                                                                \
            0                                                                            \
        }                                                                                \
    }

/* -- The count ------------------------------------------------------------------------------- */

/* What a completer still waits for, which may be any int; NULL counts 0. */
int rota_pending(const rota_completer *c);
void rota_set_pending(rota_completer *c, int count);
int rota_add_pending(rota_completer *c, int count);          /* what it was before */
bool rota_swap_pending(rota_completer *c, int from, int to); /* if it was `from` */
int rota_take_pending(rota_completer *c); /* one less unless 0; what it was before */

/* -- Completing ------------------------------------------------------------------------------ */

/* One that a completer waits for has ended. Its count is 0: on_completion, then the same for its
   parent, and a root is done. Else one less. */
void rota_try_complete(rota_completer *c);
void rota_propagate_completion(rota_completer *c); /* without any on_completion */

/* Completes a completer, whatever is pending: on_completion, then done; then rota_try_complete for
   its parent. If it has not begun it never will. */
void rota_complete(rota_completer *c);

/* A loop over those that become complete, in place of on_completion:
       for (d = rota_first_complete(c); d != NULL; d = rota_next_complete(d)) merge(d);
   The first gives c itself if its count was 0, else NULL and one less; the second the same for its
   parent, and a root is done by it. */
rota_completer *rota_first_complete(rota_completer *c);
rota_completer *rota_next_complete(rota_completer *c);

/* The last of its parents, or itself if it has none. */
rota_completer *rota_completer_root(rota_completer *c);
void rota_complete_root(
    rota_completer *c); /* done, without on_completion: what was sought is found */

/* Runs queued tasks that lead to this one, at most so many, from a worker of its pool. Any other thread
   runs those that such threads have forked, each with all that it forks in turn. */
void rota_help_complete(rota_completer *c, int most);

/* -- As every fork/join task ----------------------------------------------------------------- */

/*
 * rota_fork, rota_join, rota_invoke, rota_unfork, rota_fj_is_done, rota_fj_error, rota_fj_reset: as
 * forkjoin.h has them, with &c->task. Joined, or invoked, is a root.
 *
 * rota_fj_fail(&c->task, code) in its own `compute` fails it when that returns, and the last call
 * counts; anywhere else it fails at once, if it is not done. on_failure, from it upwards, decides how
 * far that goes; those that fail are done.
 *
 * rota_fj_cancel(&c->task) concerns that one alone. It is done at once, also while it computes. If it
 * has not begun it never will; when its turn would have come, one is taken from its count, and if
 * that was 0 its parent is told. Otherwise completion passes through it. rota_shutdown_now cancels
 * those that have not begun, and all above them.
 */

ROTA_END
#endif
