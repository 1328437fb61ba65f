/* SPDX-License-Identifier: MIT */
/*
 * rota/sched.h - scheduled pools: tasks that run later, or periodically.
 *
 *     rota_executor *sched;
 *     rota_future *beat;
 *     rota_sched_new(&(rota_sched_options){.core_threads = 2}, &sched);
 *     rota_schedule(sched, warn, job, ROTA_SEC(30), NULL);                         // once
 *     rota_schedule_at_fixed_rate(sched, heartbeat, NULL, 0, ROTA_SEC(1), &beat);  // every second
 *     rota_future_cancel(beat);                                                    // ends it
 *     rota_close(sched);                          // returns when `warn` has run, after 30 seconds
 *
 * A scheduled pool is a thread pool whose queue is ordered by time. All calls of rota/pool.h and
 * rota/executor.h work, and rota_execute and rota_submit run a task without delay. The pool has at
 * most core_threads workers. If core_threads is 0, it has one worker while there is something to
 * do.
 *
 * A task never starts before it is due. How long after that it starts depends on the other tasks of
 * the pool. Tasks that are due at the same time start in the order in which they were submitted.
 * The clock is that of rota_now: it does not change when the wall clock is set, and it stands still
 * while the system is suspended.
 *
 * Millions of tasks may wait. The time to schedule, cancel or run one of them grows only with the
 * logarithm of their number, and waiting tasks use no CPU.
 *
 * A worker that waits for a task in the queue of its own pool runs that task when it is due: see
 * rota/pool.h. The body of a task may end its thread: see rota/task.h.
 */
#ifndef ROTA_SCHED_H
#define ROTA_SCHED_H

#include <rota/pool.h>

ROTA_BEGIN

/* -- Scheduled pools ------------------------------------------------------------------------- */

/*
 * The options of a scheduled pool. A field that is zero has its default value. The fields
 * core_threads, on_reject, reject_ctx, threads, hooks, core_may_time_out and strict_wait are those
 * of rota_pool_options. There is no max_threads.
 *
 * keep_alive                     how long a core worker that may time out may be idle. 1 means that
 *                                it ends as soon as it is idle. Default: 10 ms
 *
 * drop_delayed_on_shutdown       rota_shutdown discards tasks that are not due yet. By default they
 *                                still run when they are due, so rota_close waits for them.
 *
 * keep_periodic_after_shutdown   periodic tasks go on after rota_shutdown. By default it cancels
 *                                them.
 *
 * keep_cancelled                 a cancelled task stays in the queue until it is due or until
 *                                rota_pool_purge. Hooks and visitors do not see it. By default a
 *                                cancelled task leaves the queue at once.
 *
 * decorate                       is called for every task before it is queued, on the submitting
 *                                thread. If it returns anything but ROTA_OK, the pool refuses the
 *                                task, and the submitter gets that status. The function must
 *                                return.
 *
 * decorate_ctx                   is passed to decorate
 *
 * rota_shutdown_now hands over all queued tasks, due or not.
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

/* Creates a scheduled pool. The pool has no workers until the first task is submitted. ROTA_EINVAL
   if keep_alive is negative, or if threads cannot be created as options->threads says. */
int rota_sched_new(const rota_sched_options *options, rota_executor **out);

/* -- Changing a scheduled pool --------------------------------------------------------------- */

/* The settings can be changed while the pool runs. After rota_shutdown a change takes effect on the
   tasks that are still queued. The calls of this section return ROTA_ENOTSUP for an executor that
   is not a scheduled pool. The calls whose names begin with rota_sched_set also return it for the
   pool of rota_single_scheduled, whose settings are fixed. */

/* Chooses whether rota_shutdown discards tasks that are not due yet. */
int rota_sched_set_drop_delayed_on_shutdown(rota_executor *ex, bool on);

/* Chooses whether periodic tasks go on after rota_shutdown. */
int rota_sched_set_keep_periodic_after_shutdown(rota_executor *ex, bool on);

/* Chooses whether a cancelled task stays in the queue until it is due. */
int rota_sched_set_keep_cancelled(rota_executor *ex, bool on);

/* Reads the current options of a scheduled pool. *now has the form in which rota_sched_new takes
   them. */
int rota_sched_options_get(rota_executor *ex, rota_sched_options *now);

/* -- Scheduling tasks ------------------------------------------------------------------------ */

/*
 * Schedules a task that runs once, after a delay. The call does not wait for the task. The future
 * is stored in *out, unless `out` is NULL. A negative delay counts as 0, and a huge one is cut to
 * the longest time that the clock can count. ROTA_ENOTSUP if the executor is not a scheduled pool.
 * ROTA_EREJECTED if the pool has been shut down. ROTA_EAGAIN if the pool has no thread and none can
 * be started. ROTA_ENOMEM if no memory is available. All calls that schedule a task return these
 * statuses.
 */
int rota_schedule(rota_executor *ex, rota_fn *fn, void *arg, rota_ns delay, rota_future **out);

/*
 * Schedules a task that runs at a fixed rate. The runs are due at start, start + period, start + 2
 * * period and so on. If a run is late, the next runs catch up: after a long run, a SIGSTOP or a
 * frozen container, the missed runs follow one another at once until the task is on time again.
 *
 * The task runs until it is cancelled, the pool ends, or a run fails. If a run fails, the future
 * has failed with its code. Until then the future is not done, so rota_future_get waits. Runs of
 * one task never overlap. They may be on different threads, and each run sees everything that the
 * run before it did. A run that cancels its own future is the last one. All of this holds for every
 * periodic task. ROTA_EINVAL if period is not greater than 0. The other statuses are those of
 * rota_schedule.
 */
int rota_schedule_at_fixed_rate(rota_executor *ex, rota_fn *fn, void *arg, rota_ns initial_delay,
                                rota_ns period, rota_future **out);

/* Schedules a task that runs with a fixed delay between its runs. Each run is due when `delay` has
   passed since the end of the run before it. ROTA_EINVAL if delay is not greater than 0. All other
   rules and statuses are those of rota_schedule_at_fixed_rate. */
int rota_schedule_with_fixed_delay(rota_executor *ex, rota_fn *fn, void *arg, rota_ns initial_delay,
                                   rota_ns delay, rota_future **out);

/* Schedules a task that a rota_call describes. If period is 0, the task runs once. If period is
   greater than 0, it runs at a fixed rate. If period is less than 0, it runs with a fixed delay of
   -period. The statuses are those of rota_schedule. */
int rota_schedule_call(rota_executor *ex, const rota_call *call, rota_ns initial_delay,
                       rota_ns period, rota_future **out);

/* Schedules a task that runs at a fixed rate and skips missed runs. After a late run, the next run
   is due at the first start + n * period that is still ahead. ROTA_EINVAL if period is not greater
   than 0. All other rules and statuses are those of rota_schedule_at_fixed_rate. */
int rota_schedule_skipping(rota_executor *ex, const rota_call *call, rota_ns initial_delay,
                           rota_ns period, rota_future **out);

/* -- Scheduled futures ----------------------------------------------------------------------- */

/* Returns the time until the next run of a scheduled task. The time is negative if the run is
   overdue, and ROTA_FOREVER if the future does not belong to a scheduled pool. The call does not
   wait. */
rota_ns rota_future_delay(const rota_future *future);

/* Returns true if a future belongs to a periodic task. The call does not wait. */
bool rota_future_is_periodic(const rota_future *future);

ROTA_END
#endif
