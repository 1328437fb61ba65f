/* SPDX-License-Identifier: MIT */
/*
 * rota/sched.h - a pool whose tasks run later, or again and again.
 *
 *     rota_executor *sched;
 *     rota_future *beat;
 *     rota_sched_new(&(rota_sched_options){.core_threads = 2}, &sched);
 *     rota_schedule(sched, warn, job, ROTA_SEC(30), NULL);                         // once
 *     rota_schedule_at_fixed_rate(sched, heartbeat, NULL, 0, ROTA_SEC(1), &beat);  // each second
 *     rota_future_cancel(beat);                                                    // no more
 *     rota_close(sched);                          // when the warning has run, in half a minute
 *
 * It is a pool: all of rota/pool.h and rota/executor.h works, and rota_execute and rota_submit mean
 * "now". It has core_threads threads and no more, or one, when there is something to do, if that is
 * 0. A task never begins before its time; how long after depends on what else its threads do. Tasks
 * that are due at the same time begin in the order of their submission. Time is rota_now's: it does
 * not jump with the wall clock, and stands still while the system is suspended.
 *
 * Millions may wait: scheduling, cancelling and running one costs a few steps, not a walk along all
 * of them, and waiting tasks cost no CPU.
 */
#ifndef ROTA_SCHED_H
#define ROTA_SCHED_H

#include <rota/pool.h>

ROTA_BEGIN

/* -- Scheduled pools ------------------------------------------------------------------------- */

/*
 * core_threads, on_reject, threads, hooks, core_may_time_out, strict_wait   as in rota_pool_options
 * keep_alive                     of core threads that may time out; 0: 10 ms; 1: at once
 * drop_delayed_on_shutdown       by default what is not due yet still runs after rota_shutdown, when
 *                                its time comes; so rota_close waits for it
 * keep_periodic_after_shutdown   by default rota_shutdown cancels what is periodic
 * keep_cancelled                 by default a task that is cancelled leaves the queue at once, and
 *                                with it what it holds; else when its time comes, or by
 *                                rota_pool_purge
 * decorate                       sees every task before it is queued, on the thread that submits it;
 *                                a status other than ROTA_OK refuses it, and the submitter sees that
 *
 * rota_shutdown_now hands over all that is queued, due or not. There is nothing like max_threads.
 */
typedef struct rota_sched_options {
    unsigned core_threads;
    rota_reject *on_reject;
    void *reject_ctx;
    rota_threads threads;
    rota_hooks hooks;
    rota_ns keep_alive;
    bool core_may_time_out;
    bool strict_wait;
    bool drop_delayed_on_shutdown;
    bool keep_periodic_after_shutdown;
    bool keep_cancelled;
    int (*decorate)(rota_task *task, void *ctx);
    void *decorate_ctx;
    void *reserved[8];
} rota_sched_options;

/* Makes a scheduled pool, without a thread as yet. ROTA_EINVAL for a negative keep_alive, or threads
   that cannot be. */
int rota_sched_new(const rota_sched_options *options, rota_executor **out);

/* The policies can be changed while it runs, also after rota_shutdown, on what is queued then. */
int rota_sched_set_drop_delayed_on_shutdown(rota_executor *ex, bool on);
int rota_sched_set_keep_periodic_after_shutdown(rota_executor *ex, bool on);
int rota_sched_set_keep_cancelled(rota_executor *ex, bool on);
int rota_sched_options_get(rota_executor *ex,
                           rota_sched_options *now); /* as rota_sched_new takes it */

/* -- Tasks ----------------------------------------------------------------------------------- */

/*
 * Runs fn(arg) once, after `delay`. The future goes to *out, unless that is NULL. ROTA_ENOTSUP for
 * another kind of executor, ROTA_EREJECTED when it is shut down, ROTA_ENOMEM, ROTA_EAGAIN if it has
 * no thread and none can be made. A delay that is negative is none; one that is huge is cut to what
 * the clock can count.
 */
int rota_schedule(rota_executor *ex, rota_fn *fn, void *arg, rota_ns delay, rota_future **out);

/*
 * Periodic tasks repeat until they are cancelled, until the pool ends, or until a run fails: then
 * the future holds the failure. Until then it is not done, so rota_future_get waits. Runs of one
 * task never overlap, and each sees what the one before it did; they may be on different threads.
 * A run may cancel its own future: it is the last. ROTA_EINVAL for a period or delay <= 0.
 *
 * At a fixed rate, runs are due at start, start + period, start + 2 * period and so on. One that is
 * late is caught up: after a long run, a SIGSTOP or a frozen container those that were missed follow
 * one another at once, in order, until the task is on time again. With a fixed delay each run is due
 * that long after the end of the one before it.
 */
int rota_schedule_at_fixed_rate(rota_executor *ex, rota_fn *fn, void *arg, rota_ns initial_delay,
                                rota_ns period, rota_future **out);
int rota_schedule_with_fixed_delay(rota_executor *ex, rota_fn *fn, void *arg, rota_ns initial_delay,
                                   rota_ns delay, rota_future **out);

/* Any of these, with a call in full. period > 0: fixed rate; < 0: a fixed delay of -period; 0: once. */
int rota_schedule_call(rota_executor *ex, const rota_call *call, rota_ns initial_delay,
                       rota_ns period, rota_future **out);

/* At a fixed rate, too, but runs that were missed are left out: after a late one the next is due at
   the first start + n * period that lies ahead. */
int rota_schedule_skipping(rota_executor *ex, const rota_call *call, rota_ns initial_delay,
                           rota_ns period, rota_future **out);

/* -- Futures --------------------------------------------------------------------------------- */

/* When a scheduled task runs next, and whether again and again. */
rota_ns rota_future_delay(const rota_future *future); /* until the next run; negative: overdue;
                                                         ROTA_FOREVER: of no scheduled pool */
bool rota_future_is_periodic(const rota_future *future);

ROTA_END
#endif
