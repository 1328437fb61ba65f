/* SPDX-License-Identifier: MIT */
/*
 * rota/future.h - the result of a task that may not have run yet.
 *
 *     rota_future *future;
 *     void *result;
 *     if (rota_submit(executor, work, arg, &future) != ROTA_OK)
 *         return;                                       // nothing was started, arg is still yours
 *     switch (rota_future_get_timed(future, ROTA_SEC(2), &result)) {
 *     case ROTA_OK:        use(result); break;
 *     case ROTA_EFAILED:   report(rota_future_error(future)); break;
 *     case ROTA_ETIMEDOUT: rota_future_cancel_now(future); break;
 *     }
 *     rota_future_unref(future);
 *
 * Memory order: what was done before a task was submitted is visible to the task. What was done before
 * a future was completed is visible to whoever sees that it is done, by whichever call.
 */
#ifndef ROTA_FUTURE_H
#define ROTA_FUTURE_H

#include <rota/task.h>

ROTA_BEGIN

/*
 * Futures are counted references. A call that gives you a future gives you one reference, and the
 * executor holds another. So you may release yours at any time, before the task runs or after. That
 * does not cancel the task. In a child of fork(2) you may release a future of the parent; this does
 * not touch the parent. Releasing a reference that is not yours is an error that no status can tell.
 * A library that was built with ROTA_CHECKED reports it and aborts.
 */
rota_future *rota_future_ref(rota_future *future); /* adds one: the same future; NULL for NULL */
void rota_future_unref(rota_future *future);       /* takes one away; NULL is allowed */

/* -- Waiting --------------------------------------------------------------------------------- */

/*
 * Waits for the end of a task: ROTA_OK with the result in *result, ROTA_EFAILED if it failed,
 * ROTA_ECANCELED if it was cancelled. ROTA_EINTERRUPTED if the calling thread was interrupted before
 * that, and ROTA_ETIMEDOUT when the time is up: the task goes on. `result` may be NULL; if the future
 * owns the result, it lives as long as your reference. Once a future is done, every call returns the
 * same, at once, also in a thread that is interrupted.
 *
 * A worker that waits for a task which is still in its own pool's queue takes that task out and runs
 * it, so that a pool does not deadlock on itself. It does the same when it waits in rota_invoke_all,
 * rota_invoke_any or rota_completion_take, or for a future that is composed of such tasks. Nothing is
 * run before it is due, and nothing with a timeout of 0 or less; a timed get that runs the task may
 * come back late. ROTA_EDEADLOCK from the task itself, or from one that it runs while it waits.
 */
int rota_future_get(rota_future *future, void **result);
int rota_future_get_timed(rota_future *future, rota_ns timeout, void **result);

/* -- Looking --------------------------------------------------------------------------------- */

/* How far a task is. None of these waits. */
typedef enum rota_future_state {
    ROTA_FUTURE_PENDING, /* not started, or between two runs of a periodic task */
    ROTA_FUTURE_RUNNING,
    ROTA_FUTURE_SUCCEEDED,
    ROTA_FUTURE_FAILED,
    ROTA_FUTURE_CANCELED
} rota_future_state;

rota_future_state rota_future_state_of(const rota_future *future); /* NULL: as if cancelled */
bool rota_future_is_done(const rota_future *future);               /* one of the last three */
int rota_future_error(const rota_future *future); /* the code of its failure; 0: it did not fail */

/*
 * A descriptor that turns readable when the future is done, and stays so: for poll, epoll and event
 * loops. It belongs to the future: do not read from it or close it, and take it out of your loop
 * before you let go of your reference. Every call gives the same one. ROTA_EAGAIN when the system has
 * no descriptor left.
 */
int rota_future_fd(rota_future *future, int *fd);

/* -- Ending it early ------------------------------------------------------------------------- */

/*
 * Cancels a task: true if this call did, false if it was done already. A task that is still queued
 * never runs, and is discarded. One that runs goes on to its end, but its result is thrown away;
 * rota_future_cancel_now also interrupts it. Neither waits for the task to end.
 */
bool rota_future_cancel(rota_future *future);
bool rota_future_cancel_now(rota_future *future);

/* -- Its result ------------------------------------------------------------------------------ */

/*
 * Makes a future the owner of its result: free_result is called with it when the last reference goes,
 * as rota_call.free_result is. It works for promises and composed futures, too. It has no effect on a
 * value that the future which made it owns already. Call it before anything is composed of this one.
 */
int rota_future_own_result(rota_future *future, void (*free_result)(void *result));

/* -- A future completed by hand -------------------------------------------------------------- */

/* Makes a future that you complete, with one reference for you. If all let go of it before it is done,
   it is cancelled. */
int rota_promise_new(rota_future **out);

/*
 * Completes a future with a value, or as failed: true if this call did. False: it was done already, and
 * the value is still yours. It need not be a promise: a task that has not begun is discarded and never
 * runs, and the result of one that runs is thrown away. If the future owns its result, it owns this
 * value. Hold a reference during the call, as others may let go of theirs as soon as it is done.
 */
bool rota_promise_complete(rota_future *promise, void *value);
bool rota_promise_fail(rota_future *promise, int code); /* false also for code 0 */

ROTA_END
#endif
