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
 * Completing. Each `compute` must see to it that its completer is completed, by one of the calls
 * below, or failed, or it must leave that to its children. After that it must not touch the
 * completer. It must not end its thread: see rota/task.h. Only a root becomes done by completion, so
 * join the root.
 *
 * Memory. It is yours, as with every fork/join task, and must stay until the root is done. After a
 * failure, a cancellation, rota_complete or rota_complete_root others may still run, so it must stay
 * until rota_await_quiescence has returned. If a task of the pool made the tree, it must stay until
 * whoever started that task has called rota_await_quiescence.
 */
#ifndef ROTA_COMPLETER_H
#define ROTA_COMPLETER_H

#include <rota/forkjoin.h>

ROTA_BEGIN

/*
 * A task with a count and a parent: make it the first member of your struct. ROTA_COMPLETER fills it
 * in; on_completion and on_failure may be set after that, before the completer is used, or left NULL.
 *
 * on_completion is called when the count has come to 0; `caller` is the child that was last, or the
 * completer itself. on_failure is called when the completer, or `caller` below it, has failed. If it
 * returns true, or is NULL, the parent fails, too. If it returns false the failure goes no higher, and
 * you must see to it that the parent becomes complete, once, also if `self` was failed by another while
 * it computes.
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

/* The count of what a completer still waits for, which may be any int; for NULL it is 0. None of these
   waits. */
int rota_pending(const rota_completer *c);
void rota_set_pending(rota_completer *c, int count);
int rota_add_pending(rota_completer *c, int count);          /* returns what it was before */
bool rota_swap_pending(rota_completer *c, int from, int to); /* if it is `from`: true */
int rota_take_pending(rota_completer *c); /* one less, unless it is 0; returns what it was before */

/* -- Completing ------------------------------------------------------------------------------ */

/* Tells a completer that one thing it waited for has ended. If its count is 0 it is complete:
   on_completion is called, then the same is done for its parent; a root is done then. Else the count
   becomes one less. */
void rota_try_complete(rota_completer *c);
void rota_propagate_completion(rota_completer *c); /* the same, without any on_completion */

/* Completes a completer, whatever its count: calls on_completion, makes it done, then calls
   rota_try_complete for its parent. If it has not begun it never will. */
void rota_complete(rota_completer *c);

/* A loop over those that become complete, in place of on_completion:
       for (d = rota_first_complete(c); d != NULL; d = rota_next_complete(d)) merge(d);
   rota_first_complete returns c if its count is 0; else the count becomes one less, and it returns
   NULL. rota_next_complete does the same with the parent of c; if c is a root it makes it done, and
   returns NULL. */
rota_completer *rota_first_complete(rota_completer *c);
rota_completer *rota_next_complete(rota_completer *c);

/* The root of a completer: the last of its parents, or itself if it has none. */
rota_completer *rota_completer_root(rota_completer *c);
void rota_complete_root(
    rota_completer *c); /* makes the root done, without on_completion: the search has ended */

/* Runs queued tasks that have c above them, but no more than `most`. It is for workers of the pool;
   any other thread runs those that such threads have forked into the common pool, each with all that
   it forks. */
void rota_help_complete(rota_completer *c, int most);

/* -- As every fork/join task ----------------------------------------------------------------- */

/*
 * rota_fork, rota_join, rota_invoke, rota_unfork, rota_fj_is_done, rota_fj_error and rota_fj_reset work
 * as rota/forkjoin.h says, with &c->task. Only a root is joined or invoked.
 *
 * rota_fj_fail(&c->task, code) in its own `compute` makes it fail when that returns, and the last call
 * counts; anywhere else it fails at once, unless it is done. The on_failure functions, from it upwards,
 * decide how far the failure goes; the completers that fail are done.
 *
 * rota_fj_cancel(&c->task) cancels that one alone. It is done at once, also while it computes. If it
 * has not begun it never will; when its turn would have come, one is taken from its count, and if
 * that was 0 its parent is told. Otherwise completion passes through it. rota_shutdown_now cancels
 * those that have not begun, and all above them.
 */

ROTA_END
#endif
