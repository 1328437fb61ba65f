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
 * Each call makes a future of what follows from others.
 *
 * Where     `ex` runs the step; with NULL it runs on the thread that completes the source, or on
 *           this one if the source is done already: for steps that are short and do not wait.
 * Failure   a source that failed or was cancelled skips the step and passes its end on, except to
 *           steps that are there to see it. A step fails as a task does, with rota_fail; a chain step
 *           that gives NULL has failed with ROTA_EINVAL unless it said otherwise; an executor that
 *           refuses the step fails what follows, with its status as the code.
 * Values    a value stays with the future that made it, which lives as long as any future that ends
 *           with the same pointer: a step may return what it was given.
 * Cancel    ending what follows does not touch its source, unless it owns it: rota_future_own. It
 *           withdraws from the source at once, and the step does not run; if the source ends at that
 *           very moment, `ex` may still be given it, to drop, so do not close `ex` then. Who waits for
 *           what follows may close `ex` as soon as that has ended in any other way.
 * Life      a future that nobody holds any more still runs its step. Chains of any length are
 *           worked off in a loop, not by recursion; so where `ex` runs a step at once, what follows
 *           from it is run when `ex` has returned.
 *
 * ROTA_EINVAL for NULL where something is needed, `out` too; ROTA_ENOMEM; ROTA_EAGAIN when there is no
 * thread for a timeout. Then nothing has happened.
 */
#ifndef ROTA_COMPOSE_H
#define ROTA_COMPOSE_H

#include <rota/executor.h>

ROTA_BEGIN

/* -- Steps ----------------------------------------------------------------------------------- */

/* The functions of steps: given `arg`, and what there is to work on. */
typedef void *rota_then_fn(void *value, void *arg);
typedef rota_future *rota_chain_fn(void *value, void *arg); /* gives its reference away */
typedef void *rota_both_fn(void *first, void *second, void *arg);
typedef void *rota_handle_fn(int status, void *value, int error, void *arg);
typedef rota_future *rota_handle_chain_fn(int status, void *value, int error, void *arg);

/*
 * What is done with a value when it is there.
 *
 * then           fn(value)
 * chain          fn(value) gives another future, and *out ends as that one does
 * both           fn(first, second), when both are there; if one is not, its end is passed on, once
 *                both are done
 * either         fn(value) of the one that ends first, however it ends
 * handle         fn always runs: `status` is what rota_future_get would return, `error` the code
 * handle_chain   likewise, and gives another future: to try again
 * recover        fn runs only on failure or cancellation; else the value is passed on
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

/* Calls fn once, however f ends; if `ex` refuses, on the thread that completes it. *out ends as f does,
   after fn has returned, or as fn failed if f did not; it may be NULL. If *out is ended before f, fn
   is not called. */
typedef void rota_done_fn(rota_future *f, void *arg);
int rota_when_done(rota_future *f, rota_executor *ex, rota_done_fn *fn, void *arg,
                   rota_future **out);

/* -- Several --------------------------------------------------------------------------------- */

/* Done when all are, with NULL; then ends as the first of them, in their order, that failed or was
   cancelled. Of none: done at once. */
int rota_all_of(rota_future *const *futures, size_t n, rota_future **out);

/* Ends as the first that ends. Of none: never, by itself. */
int rota_any_of(rota_future *const *futures, size_t n, rota_future **out);

/* -- Time ------------------------------------------------------------------------------------ */

/* Ends as f does, or after `timeout`: fails with ROTA_ETIMEDOUT as its code, or has that value. f
   itself goes on. All of them share one thread, which is there only while there is something to wait
   for; a timer goes with whichever end comes first. */
int rota_timeout(rota_future *f, rota_ns timeout, rota_future **out);
int rota_timeout_value(rota_future *f, rota_ns timeout, void *value, rota_future **out);

/* An executor that passes each task on to `ex` after that long. It is closed as any other, before
   `ex`, and then waits for what is on the way. A task that is cancelled there leaves at once. */
int rota_delayed(rota_executor *ex, rota_ns delay, rota_executor **out);

/* -- More of one ----------------------------------------------------------------------------- */

/* A future that ends as f does; to end it does not touch f. */
int rota_copy(rota_future *f, rota_future **out);

/* From now on, cancelling `f`, which a call of this header made, cancels what it follows from, unless
   that is done; and so on, as far as those own theirs. ROTA_ENOTSUP for other futures. */
int rota_future_own(rota_future *f);

void *rota_future_get_now(const rota_future *f, void *otherwise); /* the result, if it succeeded */
size_t rota_future_dependents(rota_future *f); /* steps that wait for it, about; 0 if it is done */

/* -- Again, and twice ------------------------------------------------------------------------ */

/*
 * attempts      in all, at least 1
 * first_delay   before the second; each further one is `factor` times as long (0: 2), up to `cap`
 *               (0: no cap)
 * jitter        each delay is shortened by a random part of it: 0 none, 1 all
 * retries       is it worth another attempt after this code? NULL: always
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

/* Submits the call to `ex` until it succeeds: ends as the last attempt. `discard` is called, once, if
   no attempt was ever begun. Cancelled: the attempt that is under way is, too, and no other begins; one
   that was about to may still be submitted, and is cancelled then. `ex` may be closed as soon as the
   call that cancels, or another that ends it, has returned. */
int rota_retry(rota_executor *ex, const rota_call *call, const rota_retry_options *options,
               rota_future **out);

/* Submits the call to `ex`, and once more if it is not done after `delay`: ends as the first that
   succeeds, or the last that fails. The slower one is cancelled and interrupted. What the call works
   on must bear two at a time. For `ex` the same holds as with rota_retry. */
int rota_hedge(rota_executor *ex, const rota_call *call, rota_ns delay, rota_future **out);

ROTA_END
#endif
