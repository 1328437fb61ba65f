/* SPDX-License-Identifier: MIT */
/*
 * rota/compose.h - futures made of futures.
 *
 *     rota_submit(pool, find_user, name, &user);
 *     rota_chain(user, pool, fetch_orders, db, &orders);       // a step that starts another task
 *     rota_then(orders, NULL, add_up, NULL, &total);           // a step that computes
 *     rota_timeout(total, ROTA_SEC(2), &in_time);
 *     rota_recover(in_time, NULL, use_estimate, &guess, &answer);
 *     rota_future_get(answer, &value);
 *
 * Each call makes a new future, *out, from others, its sources. None of them waits: your function,
 * the step, runs when the sources are done.
 *
 * Where     the step runs in `ex`; with NULL on the thread that completes the source, or on the
 *           calling thread if the source is done already. NULL is for steps that are short and do
 *           not wait.
 * Failure   if a source failed or was cancelled the step is left out, and *out ends in the same way,
 *           except where the step is there to see it. A step fails as a task does, with rota_fail. A
 *           chain step that returns NULL has failed, with ROTA_EINVAL if it did not call rota_fail. If
 *           `ex` refuses the step, *out fails with that status as the code.
 * Values    a value belongs to the future that made it, which lives as long as any future that ends
 *           with the same pointer. So a step may return what it was given.
 * Cancel    to cancel *out does not touch its source, unless it owns it: rota_future_own. The step
 *           does not run then. If the source ends at that very moment `ex` may still be given the
 *           step, to drop it, so do not close `ex` right after a cancel. When *out has ended in any
 *           other way, `ex` may be closed.
 * Life      *out is a reference for you. If you let go of it, the step still runs. Chains of any length
 *           are worked off in a loop, not by recursion; so where `ex` runs a step at once, what follows
 *           from it runs when `ex` has returned.
 *
 * ROTA_EINVAL for NULL where something is needed, also for `out`. ROTA_EAGAIN when there is no thread
 * for a timeout. With any status but ROTA_OK nothing has happened.
 */
#ifndef ROTA_COMPOSE_H
#define ROTA_COMPOSE_H

#include <rota/executor.h>

ROTA_BEGIN

/* -- Steps ----------------------------------------------------------------------------------- */

/* The functions of steps. Each is given `arg`, and the value of its source, or how the source ended. */
typedef void *rota_then_fn(void *value, void *arg);
typedef rota_future *rota_chain_fn(void *value, void *arg); /* gives its reference away */
typedef void *rota_both_fn(void *first, void *second, void *arg);
typedef void *rota_handle_fn(int status, void *value, int error, void *arg);
typedef rota_future *rota_handle_chain_fn(int status, void *value, int error, void *arg);

/*
 * Adds a step, which runs when the source is done; what it returns is the value of *out.
 *
 * then           fn(value) runs if the source succeeded
 * chain          the same, but fn returns another future, and *out ends as that one does
 * both           fn(first, second) runs if both succeeded; if not, *out ends as the first of them that
 *                did not, when both are done
 * either         fn(value) runs if the one that ends first succeeded; else *out ends as that one
 * handle         fn always runs: `status` is what rota_future_get would return, `error` the code
 * handle_chain   the same, but fn returns another future, and *out ends as that one does
 * recover        fn runs if the source failed or was cancelled; else its value is passed on
 */
int rota_then(rota_future *f, rota_executor *ex, rota_then_fn *fn, void *arg, rota_future **out);
int rota_chain(rota_future *f, rota_executor *ex, rota_chain_fn *fn, void *arg, rota_future **out);
int rota_both(rota_future *f, rota_future *g, rota_executor *ex, rota_both_fn *fn, void *arg,
              rota_future **out);
int rota_either(rota_future *f, rota_future *g, rota_executor *ex, rota_then_fn *fn, void *arg,
                rota_future **out);
int rota_handle(rota_future *f, rota_executor *ex, rota_handle_fn *fn, void *arg,
                rota_future **out);
int rota_handle_chain(rota_future *f, rota_executor *ex, rota_handle_chain_fn *fn, void *arg,
                      rota_future **out);
int rota_recover(rota_future *f, rota_executor *ex, rota_handle_fn *fn, void *arg,
                 rota_future **out);

/* Calls fn once, however f ends; if `ex` refuses, on the thread that completes f. *out ends as f does,
   after fn has returned; if f succeeded and fn calls rota_fail, *out has failed. If *out is completed
   or cancelled before f ends, fn is not called. `out` may be NULL. */
typedef void rota_done_fn(rota_future *f, void *arg);
int rota_when_done(rota_future *f, rota_executor *ex, rota_done_fn *fn, void *arg,
                   rota_future **out);

/* -- Several --------------------------------------------------------------------------------- */

/* Makes a future that ends when all of these are done: with NULL as its value, or as the first of them,
   in their order, that failed or was cancelled. With n = 0 it is done at once. */
int rota_all_of(rota_future *const *futures, size_t n, rota_future **out);

/* Makes a future that ends as the first of these that is done, however that ended. With n = 0 it never
   ends by itself. */
int rota_any_of(rota_future *const *futures, size_t n, rota_future **out);

/* -- Time ------------------------------------------------------------------------------------ */

/* Makes a future that ends as f does, or when the time is up: then it has failed with ROTA_ETIMEDOUT
   as its code, or has `value`. f itself goes on. All timeouts share one thread, which is there only
   while one is pending. ROTA_EAGAIN if that thread cannot be made, ROTA_EREJECTED when the process is
   about to end. */
int rota_timeout(rota_future *f, rota_ns timeout, rota_future **out);
int rota_timeout_value(rota_future *f, rota_ns timeout, void *value, rota_future **out);

/* Makes an executor that passes each task on to `ex` after `delay`. It is closed as any other, before
   `ex`; that waits until all tasks were passed on. A task that is cancelled before that leaves at
   once. */
int rota_delayed(rota_executor *ex, rota_ns delay, rota_executor **out);

/* -- More of one ----------------------------------------------------------------------------- */

/* Makes a future that ends as f does. To complete or cancel it does not touch f. */
int rota_copy(rota_future *f, rota_future **out);

/* Makes a composed future own its sources: from now on, to cancel f cancels them, too, unless they
   are done; and theirs, if they own them. ROTA_ENOTSUP for a future that no call of this header made.
   */
int rota_future_own(rota_future *f);

/* Looks at a future, and does not wait. */
void *rota_future_get_now(const rota_future *f, void *otherwise); /* the result if f succeeded */
size_t rota_future_dependents(rota_future *f); /* steps that wait for it, about; 0 if it is done */

/* -- Again, and twice ------------------------------------------------------------------------ */

/*
 * How often to try, and when.
 *
 * attempts      how many at most, the first included; at least 1
 * first_delay   the time before the second attempt
 * factor        each further delay is so many times as long as the one before; 0: 2
 * cap           no delay is longer than this; 0: no cap
 * jitter        each delay is shortened by a random part of it, from 0 to this, which is at most 1
 * retries       returns whether another attempt is worth it after this code; NULL: always
 * ctx           what retries is given
 */
typedef struct rota_retry_options {
    unsigned attempts;
    rota_ns first_delay;
    double factor;
    rota_ns cap;
    double jitter;
    bool (*retries)(int code, void *ctx);
    void *ctx;
    void *reserved[4];
} rota_retry_options;

/* Submits a call to `ex` again and again until it succeeds: *out ends as the last attempt did. The
   call's `discard` is called, once, if no attempt has begun. To cancel *out cancels the attempt that
   is under way, and no other begins; one that was just about to may still be submitted, and is
   cancelled then. `ex` may be closed as soon as the call that cancels or ends *out has returned. */
int rota_retry(rota_executor *ex, const rota_call *call, const rota_retry_options *options,
               rota_future **out);

/* Submits a call to `ex`, and a second time if it is not done after `delay`: *out ends as the first
   that succeeds, or as the last that fails. The other is cancelled and interrupted. Both may run at
   the same time, with the same `arg`. `ex` may be closed as with rota_retry. */
int rota_hedge(rota_executor *ex, const rota_call *call, rota_ns delay, rota_future **out);

ROTA_END
#endif
