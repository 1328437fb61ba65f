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
 * Memory order: what was done before a task was submitted is visible to the task, and what was done
 * before a future was completed to whoever sees it done, by any call.
 */
#ifndef ROTA_FUTURE_H
#define ROTA_FUTURE_H

#include <rota/task.h>

ROTA_BEGIN

/*
 * Futures are counted references. A call that gives you one gives you one reference; an executor
 * holds its own, so yours may go at any time, before the task runs or after. That is no cancel. To let
 * go of one that is not yours is an error that no status can tell: a library that was built with
 * ROTA_CHECKED says so and ends the process.
 */
rota_future *rota_future_ref(rota_future *future); /* the same one; NULL for NULL */
void rota_future_unref(rota_future *future);       /* NULL is allowed */

/* -- Waiting --------------------------------------------------------------------------------- */

/*
 * Waits for the end of a task: ROTA_OK with the result, ROTA_EFAILED, ROTA_ECANCELED;
 * ROTA_EINTERRUPTED; and the timed one ROTA_ETIMEDOUT. `result` may be NULL; what it is set to lives
 * as long as your reference. A future that is done answers at once, the same to all and every time,
 * also to a thread that is interrupted.
 *
 * A pool's own worker that waits for a task still in that pool's queue runs it there and then -
 * also when it waits through invoke_all, invoke_any, a completion or a future composed of such
 * tasks - so a pool does not deadlock on itself. Nothing is run before it is due or with a timeout
 * of 0 or less; a timed get that runs the task itself may come back late. ROTA_EDEADLOCK from that
 * task itself, or from one it runs while it waits. ROTA_ENOMEM when the C library has no memory
 * for the thread's first wait.
 */
int rota_future_get(rota_future *future, void **result);
int rota_future_get_timed(rota_future *future, rota_ns timeout, void **result);

/* -- Looking --------------------------------------------------------------------------------- */

/* How far a task is, without waiting. */
typedef enum rota_future_state {
    ROTA_FUTURE_PENDING, /* not started, or between two runs of a periodic task */
    ROTA_FUTURE_RUNNING,
    ROTA_FUTURE_SUCCEEDED,
    ROTA_FUTURE_FAILED,
    ROTA_FUTURE_CANCELED
} rota_future_state;

rota_future_state rota_future_state_of(const rota_future *future); /* NULL is as cancelled */
bool rota_future_is_done(const rota_future *future);               /* one of the last three */
int rota_future_error(const rota_future *future); /* the code of its failure; 0: it did not fail */

/*
 * A descriptor that turns readable when the future is done, and stays so: for poll, epoll and event
 * loops. It belongs to the future: do not read from it or close it, and take it out of your loop
 * before your reference goes. Every call gives the same one. ROTA_EAGAIN when the system has none
 * left.
 */
int rota_future_fd(rota_future *future, int *fd);

/* -- Ending it early ------------------------------------------------------------------------- */

/*
 * Cancels a task: true if this call did. A queued task then never runs. One that runs already goes on
 * to its end unseen; cancel_now also interrupts it. Neither waits for that.
 */
bool rota_future_cancel(rota_future *future);
bool rota_future_cancel_now(rota_future *future);

/* -- Its result ------------------------------------------------------------------------------ */

/*
 * From now on the result is the future's, and is freed with it: what rota_call.free_result does,
 * for promises and composed futures, too. Without effect on a value that its maker owns already;
 * to be called before anything is composed of this one.
 */
int rota_future_own_result(rota_future *future, void (*free_result)(void *result));

/* -- A future completed by hand -------------------------------------------------------------- */

/* A future that you complete. Let go of by all before it is done, it is cancelled. */
int rota_promise_new(rota_future **out);

/*
 * Completes a future, any: a task that has not begun then never does, and is discarded. Where the
 * future owns its result, it owns this value, too. False: it was done already, and the value is still
 * yours. Who completes it holds a reference meanwhile: another thread may let go of its own as soon
 * as it is done.
 */
bool rota_promise_complete(rota_future *promise, void *value);
bool rota_promise_fail(rota_future *promise, int code); /* false also for code 0 */

ROTA_END
#endif
