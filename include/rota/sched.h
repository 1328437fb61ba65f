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
 * A scheduled pool is a pool: all of rota/pool.h and rota/executor.h works, and rota_execute and
 * rota_submit run a task without delay. It has at most core_threads threads; if that is 0 it has one
 * while there is something to do. A task never begins before its time; how long after depends on what
 * else its threads do. Tasks that are due at the same time begin in the order of their submission. The
 * clock is that of rota_now: it does not jump when the wall clock is set, and stands still while the
 * system is suspended.
 *
 * Millions of tasks may wait: scheduling, cancelling and running one takes a few steps, however many
 * there are, and waiting tasks cost no CPU.
 */
#ifndef ROTA_SCHED_H
#define ROTA_SCHED_H

#include <rota/pool.h>

ROTA_BEGIN

/* -- Scheduled pools ------------------------------------------------------------------------- */

/*
 * The options of a scheduled pool. Zero is every field's default.
 *
 * core_threads, on_reject, threads, hooks, core_may_time_out, strict_wait   as in rota_pool_options
 * keep_alive                     of core threads that may time out; 0: 10 ms; 1: at once
 * drop_delayed_on_shutdown       rota_shutdown drops tasks that are not due yet. By default they still
 *                                run when their time comes, so rota_close waits for them.
 * keep_periodic_after_shutdown   periodic tasks go on after rota_shutdown. By default it cancels them.
 * keep_cancelled                 a cancelled task stays in the queue until its time comes, or until
 *                                rota_pool_purge. By default it leaves the queue at once.
 * decorate                       is called for every task before it is queued, on the thread that
 *                                submits it, with decorate_ctx; a status other than ROTA_OK refuses
 *                                the task, and is what the submitter gets
 *
 * rota_shutdown_now hands over all that is queued, due or not. There is no max_threads.
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

/* Makes a scheduled pool. It has no threads yet. ROTA_EINVAL for a negative keep_alive, or for threads
   that cannot be made so. */
int rota_sched_new(const rota_sched_options *options, rota_executor **out);

/* Changes a policy of a scheduled pool while it runs; after rota_shutdown it takes effect on what is
   still queued. ROTA_ENOTSUP for other kinds of executors, and for that of rota_single_scheduled. */
int rota_sched_set_drop_delayed_on_shutdown(rota_executor *ex, bool on);
int rota_sched_set_keep_periodic_after_shutdown(rota_executor *ex, bool on);
int rota_sched_set_keep_cancelled(rota_executor *ex, bool on);
int rota_sched_options_get(rota_executor *ex,
                           rota_sched_options *now); /* as rota_sched_new takes it */

/* -- Tasks ----------------------------------------------------------------------------------- */

/*
 * Runs fn(arg) once, after `delay`, and does not wait for it. The future goes to *out, unless `out` is
 * NULL. ROTA_ENOTSUP for another kind of executor. ROTA_EREJECTED when it is shut down. ROTA_EAGAIN if
 * it has no thread and none can be made. A negative delay is none; a huge one is cut to what the clock
 * can count. These statuses hold for all calls that schedule, and so does ROTA_ENOMEM.
 */
int rota_schedule(rota_executor *ex, rota_fn *fn, void *arg, rota_ns delay, rota_future **out);

/*
 * Runs fn(arg) again and again, until the task is cancelled, the pool ends, or a run fails: then the
 * future has failed with its code. Until then the future is not done, so rota_future_get waits. Runs of
 * one task never overlap, and each sees what the one before it did; they may be on different threads.
 * A run that cancels its own future is the last. ROTA_EINVAL for a period or delay <= 0; the other
 * statuses are those of rota_schedule.
 *
 * At a fixed rate, runs are due at start, start + period, start + 2 * period and so on. What is late is
 * caught up: after a long run, a SIGSTOP or a frozen container the missed runs follow one another at
 * once, until the task is on time again. With a fixed delay, each run is due that long after the end
 * of the one before it.
 */
int rota_schedule_at_fixed_rate(rota_executor *ex, rota_fn *fn, void *arg, rota_ns initial_delay,
                                rota_ns period, rota_future **out);
int rota_schedule_with_fixed_delay(rota_executor *ex, rota_fn *fn, void *arg, rota_ns initial_delay,
                                   rota_ns delay, rota_future **out);

/* Schedules a call in full: once, at a fixed rate or with a fixed delay. period > 0: at a fixed rate;
   < 0: with a fixed delay of -period; 0: once. The statuses are those of rota_schedule. */
int rota_schedule_call(rota_executor *ex, const rota_call *call, rota_ns initial_delay,
                       rota_ns period, rota_future **out);

/* Runs a call at a fixed rate, but leaves out the runs that were missed: after a late run the next is
   due at the first start + n * period that lies ahead. ROTA_EINVAL for a period <= 0; the other
   statuses are those of rota_schedule. */
int rota_schedule_skipping(rota_executor *ex, const rota_call *call, rota_ns initial_delay,
                           rota_ns period, rota_future **out);

/* -- Futures --------------------------------------------------------------------------------- */

/* When a scheduled task runs next, and whether it is periodic. Neither waits. */
rota_ns rota_future_delay(const rota_future *future); /* until the next run; negative: overdue;
                                                         ROTA_FOREVER: of no scheduled pool */
bool rota_future_is_periodic(const rota_future *future);

ROTA_END
#endif
