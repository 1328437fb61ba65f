/* SPDX-License-Identifier: MIT */
/*
 * sched.c - tasks that wait for their time meet those who cancel them, and the end of their pool.
 */
#include "base/atomic.h"
#include "explore.h"

/* Later than any time that passes by itself; and soon enough to come. */
#define FAR  ROTA_HOURS(1000)
#define SOON ROTA_MS(5)

enum { TASKS = 2 };

static rota_executor *sched;
static rota__atomic(uint32_t) ran[TASKS]; /* how often */
static rota__atomic(uint32_t) discarded[TASKS];
static int statuses[TASKS];
static rota_future *released; /* a promise: from their third run on, periodic tasks wait for it */

#define NUMBER(i) ((void *)(uintptr_t)(i))

static void forget(void)
{
    for (int i = 0; i < TASKS; i++) {
        rota__store_relaxed(&ran[i], 0);
        rota__store_relaxed(&discarded[i], 0);
        statuses[i] = ROTA_EREJECTED;
    }
}

static void begin(const rota_sched_options *options)
{
    forget();
    ex_check(rota_sched_new(options, &sched) == ROTA_OK);
}

static void *run(void *i)
{
    rota__add_relaxed(&ran[(uintptr_t)i], 1);
    return NULL;
}

/* Of a periodic task: so that it does not go on until somebody has ended it. */
static void *run_again(void *i)
{
    if (rota__add_relaxed(&ran[(uintptr_t)i], 1) >= 2)
        (void)rota_future_get(released, NULL);
    return NULL;
}

static void discard(void *i)
{
    rota__add_relaxed(&discarded[(uintptr_t)i], 1);
}

static uint32_t runs(int i)
{
    return rota__load_relaxed(&ran[i]);
}

static uint32_t discards(int i)
{
    return rota__load_relaxed(&discarded[i]);
}

static rota_future *schedule(int i, rota_ns delay, rota_ns period)
{
    rota_call call = {.fn = period != 0 ? run_again : run, .arg = NUMBER(i), .discard = discard};
    rota_future *future = NULL;

    statuses[i] = rota_schedule_call(sched, &call, delay, period, &future);
    return future;
}

static void end(void)
{
    ex_check(rota_await_termination(sched, ROTA_FOREVER) == ROTA_OK);
    ex_check(rota_executor_free(sched) == ROTA_OK);
}

static void discard_all(rota_task_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        rota_task_discard(list->tasks[i]);
    rota_task_list_free(list);
}

static void cancel(void *future)
{
    ex_check(rota_future_cancel(future) || rota_future_is_done(future));
}

static void complete(void *future)
{
    ex_check(rota_promise_complete(future, NULL) || rota_future_is_done(future));
}

/* future.F3, future.F4: its body, or its discard. */
static void check_once(int i)
{
    ex_check(runs(i) + discards(i) == 1);
}

static rota_future *begin_periodic(const rota_sched_options *options, rota_ns delay)
{
    ex_check(rota_promise_new(&released) == ROTA_OK);
    begin(options);
    rota_future *future = schedule(0, delay, SOON);
    ex_check(future != NULL);
    return future;
}

static void release(void)
{
    rota_promise_complete(released, NULL);
}

/* future.F4: however often it ran, its argument is discarded once. */
static void end_periodic(rota_future *future)
{
    ex_check(rota_future_state_of(future) == ROTA_FUTURE_CANCELED);
    ex_check(discards(0) == 1);
    rota_future_unref(future);
    rota_future_unref(released);
}

/* -- Scheduling ------------------------------------------------------------------------------ */

static void schedule_first(void *delay)
{
    rota_future_unref(schedule(0, *(rota_ns *)delay, 0));
}

/* SCHED-17: run once if it was accepted, also if it is due after the shutdown; else never. */
EXPLORE(a_task_is_scheduled_as_its_pool_ends)
{
    rota_ns delay = ex_choose(2) * SOON;

    begin(&(rota_sched_options){.core_threads = ex_choose(2)});
    ex_thread *other = ex_start(schedule_first, &delay);
    ex_check(rota_shutdown(sched) == ROTA_OK);
    ex_join(other);
    end();
    ex_check(runs(0) == (statuses[0] == ROTA_OK ? 1 : 0) && discards(0) == 0);
}

static void schedule_and_get(void *i)
{
    rota_future *future = schedule((int)(uintptr_t)i, 0, 0);

    ex_check(future != NULL);
    ex_check(rota_future_get(future, NULL) == ROTA_OK);
    rota_future_unref(future);
}

/* SCHED-19: one worker comes for both, and does not leave too early. */
EXPLORE(two_schedule_on_a_pool_without_threads)
{
    begin(&(rota_sched_options){.keep_alive = 1});
    ex_thread *other = ex_start(schedule_and_get, NUMBER(0));
    schedule_and_get(NUMBER(1));
    ex_join(other);
    ex_check(rota_close(sched) == ROTA_OK);
    ex_check(runs(0) == 1 && runs(1) == 1);
}

/* SCHED-19: also if the number of core threads falls to 0 in between. */
EXPLORE(a_task_is_scheduled_as_core_threads_are_taken_away)
{
    begin(&(rota_sched_options){.core_threads = 1});
    ex_thread *other = ex_start(schedule_and_get, NUMBER(0));
    ex_check(rota_pool_set_core_threads(sched, 0) == ROTA_OK);
    ex_join(other);
    ex_check(rota_close(sched) == ROTA_OK);
    ex_check(runs(0) == 1);
}

static rota_ns seen; /* when the early task ran, or the worker left */

static void *look_at_clock(void *unused)
{
    seen = rota_now();
    return unused;
}

/* waitq.W1: who waits for the later one is woken, and does not sleep until then. */
EXPLORE(an_earlier_task_comes_while_a_later_one_is_waited_for)
{
    rota_ns far = rota_now() + FAR;
    rota_future *late, *early;

    begin(&(rota_sched_options){.core_threads = 1});
    late = schedule(0, FAR, 0);
    ex_check(rota_schedule(sched, look_at_clock, NULL, 0, &early) == ROTA_OK);
    rota_ns now = rota_now();
    ex_check(rota_future_get(early, NULL) == ROTA_OK);
    ex_check(now >= far || seen < far);
    rota_future_cancel(late);
    ex_check(rota_close(sched) == ROTA_OK);
    check_once(0);
    rota_future_unref(late);
    rota_future_unref(early);
}

/* -- Cancelling ------------------------------------------------------------------------------ */

EXPLORE(a_task_is_cancelled_as_a_worker_takes_it)
{
    begin(&(rota_sched_options){.core_threads = 1});
    rota_future *future = schedule(0, 0, 0);
    cancel(future);
    ex_check(rota_close(sched) == ROTA_OK);
    check_once(0);
    rota_future_unref(future);
}

/* OWN-09: handed over, cancelled or run, whichever comes first. */
EXPLORE(a_task_is_cancelled_as_its_pool_hands_it_over)
{
    rota_task_list left;

    begin(&(rota_sched_options){.core_threads = 1});
    rota_future *future = schedule(0, FAR, 0);
    ex_thread *other = ex_start(cancel, future);
    ex_check(rota_shutdown_now(sched, &left) == ROTA_OK);
    end();
    discard_all(&left); /* which outlive their pool */
    ex_join(other);
    check_once(0);
    rota_future_unref(future);
}

/* The pool ends when its only task does, and is freed: cancel_listener.L1 to cancel_listener.L3. */
static void end_by(void (*ending)(void *future))
{
    begin(&(rota_sched_options){.core_threads = 1});
    rota_future *future = schedule(0, SOON, 0);
    ex_check(rota_shutdown(sched) == ROTA_OK);
    ex_thread *other = ex_start(ending, future);
    end();
    ex_join(other);
    check_once(0);
    rota_future_unref(future);
}

EXPLORE(the_last_task_is_cancelled_and_the_pool_freed)
{
    end_by(cancel);
}

EXPLORE(the_last_task_is_completed_by_hand_and_the_pool_freed)
{
    end_by(complete);
}

static void cancel_periodic(void *future)
{
    cancel(future);
    release();
}

/* sched.D2, too: its place in the heap is given up before that goes. */
EXPLORE(the_last_periodic_task_is_cancelled_and_the_pool_freed)
{
    rota_future *future = begin_periodic(
        &(rota_sched_options){.core_threads = 1, .keep_periodic_after_shutdown = true}, SOON);

    ex_check(rota_shutdown(sched) == ROTA_OK);
    ex_thread *other = ex_start(cancel_periodic, future);
    end();
    ex_join(other);
    end_periodic(future);
}

/* Whose the task is: one of the two finds it. */
EXPLORE(a_task_is_cancelled_and_removed)
{
    begin(&(rota_sched_options){.core_threads = 1});
    rota_future *future = schedule(0, FAR, 0);
    ex_thread *other = ex_start(cancel, future);
    rota_pool_remove(sched, future);
    ex_join(other);
    ex_check(rota_future_is_done(future));
    ex_check(rota_queue_size(rota_pool_queue(sched)) == 0);
    ex_check(rota_close(sched) == ROTA_OK);
    check_once(0);
    rota_future_unref(future);
}

/* What is cancelled stays, until somebody takes it: the worker in its time, or the purge. */
EXPLORE(a_cancelled_task_is_purged_as_a_worker_takes_it)
{
    begin(&(rota_sched_options){.core_threads = 1, .keep_cancelled = true});
    rota_future *future = schedule(0, 0, 0);
    cancel(future);
    ex_check(rota_pool_purge(sched) <= 1);
    ex_check(rota_close(sched) == ROTA_OK);
    check_once(0);
    rota_future_unref(future);
}

EXPLORE(a_cancelled_periodic_task_is_purged_as_a_worker_takes_it)
{
    rota_future *future =
        begin_periodic(&(rota_sched_options){.core_threads = 1, .keep_cancelled = true}, 0);

    cancel_periodic(future);
    ex_check(rota_pool_purge(sched) <= 1);
    ex_check(rota_close(sched) == ROTA_OK);
    end_periodic(future);
}

static ex_thread *canceller;

static int cancel_elsewhere(rota_task *task, void *unused)
{
    (void)unused;
    canceller = ex_start(cancel, rota_task_future(task));
    return ROTA_OK;
}

/* sched.D1: also if nobody could find it in the queue yet. */
EXPLORE(a_task_is_cancelled_before_it_is_queued)
{
    begin(&(rota_sched_options){.core_threads = 1, .decorate = cancel_elsewhere});
    rota_future *future = schedule(0, FAR, 0);
    ex_check(future != NULL);
    ex_join(canceller);
    ex_check(rota_queue_size(rota_pool_queue(sched)) == 0);
    ex_check(rota_close(sched) == ROTA_OK);
    check_once(0);
    rota_future_unref(future);
}

/* -- Workers that wait for a time ------------------------------------------------------------ */

static void tell_exit(void *promise)
{
    seen = rota_now();
    rota_promise_complete(promise, NULL);
}

/* SCHED-20: a worker that stays for one task leaves when that is gone, not when it would be due. */
EXPLORE(the_only_task_is_cancelled_while_a_worker_stays_for_it)
{
    rota_ns far = rota_now() + FAR;
    unsigned core = ex_choose(2);
    rota_future *left;

    ex_check(rota_promise_new(&left) == ROTA_OK);
    begin(&(rota_sched_options){.core_threads = core,
                                .core_may_time_out = core > 0,
                                .keep_alive = SOON,
                                .threads = {.on_exit = tell_exit, .ctx = left}});
    rota_future *future = schedule(0, FAR, 0);
    cancel(future);
    rota_ns now = rota_now();
    ex_check(rota_future_get(left, NULL) == ROTA_OK); /* before anything is shut down */
    ex_check(now >= far || seen < far);
    ex_check(rota_close(sched) == ROTA_OK);
    check_once(0);
    rota_future_unref(future);
    rota_future_unref(left);
}

static void *end_thread(void *unused)
{
    ex_exit();
    return unused;
}

/* GEN-14, POOL-30: another comes, or if it cannot, who leaves stays for what is queued. */
EXPLORE_WITH_FAULTS(a_task_ends_its_worker_while_another_waits_for_its_time)
{
    int status;

    forget();
    if (rota_sched_new(&(rota_sched_options){.core_threads = 1}, &sched) != ROTA_OK)
        return;
    rota_future *future = schedule(0, SOON, 0);
    (void)rota_execute(sched, end_thread, NULL);
    while ((status = rota_shutdown(sched)) != ROTA_OK)
        ex_check(status == ROTA_ENOMEM);
    while ((status = rota_await_termination(sched, ROTA_FOREVER)) != ROTA_OK)
        ex_check(status == ROTA_ENOMEM);
    ex_check(rota_executor_free(sched) == ROTA_OK);
    ex_check(runs(0) == (statuses[0] == ROTA_OK ? 1 : 0) && discards(0) == 0);
    rota_future_unref(future);
}

/* SCHED-35: no thread can be made for a task that has just been run, and freed. */
EXPLORE_WITH_FAULTS(a_task_has_run_when_no_thread_can_be_made_for_it)
{
    rota_sched_options options = {.core_threads = 1, .core_may_time_out = true, .keep_alive = 1};
    unsigned started;
    int status;

    forget();
    if (rota_sched_new(&options, &sched) != ROTA_OK)
        return;
    (void)rota_pool_prestart_one(sched, &started);
    statuses[0] = rota_execute(sched, run, NUMBER(0));
    while ((status = rota_close(sched)) != ROTA_OK)
        ex_check(status == ROTA_ENOMEM);
    ex_check(runs(0) == (statuses[0] == ROTA_OK ? 1 : 0));
}

/* -- Again and again ------------------------------------------------------------------------- */

static int beats; /* plain: each run sees what the one before it did, or a data race is found */

static void *beat_twice(void *unused)
{
    (void)unused;
    return ++beats == 2 ? rota_fail(7) : NULL;
}

/* SCHED-14, SCHED-16: whoever runs it. */
EXPLORE(a_periodic_task_runs_on_two_workers)
{
    rota_future *future;
    unsigned started;

    begin(&(rota_sched_options){.core_threads = 2});
    beats = 0;
    ex_check(rota_pool_prestart(sched, &started) == ROTA_OK && started == 2);
    ex_check(rota_schedule_at_fixed_rate(sched, beat_twice, NULL, 0, SOON, &future) == ROTA_OK);
    ex_check(rota_future_get(future, NULL) == ROTA_EFAILED);
    ex_check(beats == 2 && rota_future_error(future) == 7);
    ex_check(rota_close(sched) == ROTA_OK);
    rota_future_unref(future);
}

static void *get_failed(void *future)
{
    ex_check(rota_future_get(future, NULL) == ROTA_EFAILED);
    return NULL;
}

static void *get_released(void *unused)
{
    ex_check(rota_future_get(released, NULL) == ROTA_OK);
    return unused;
}

/* exec.E5: one worker waits for the periodic task, while the other one runs it first and is then kept
   from running it again. */
EXPLORE(a_worker_waits_for_a_periodic_task_that_comes_again)
{
    rota_future *future, *waiting;

    ex_check(rota_promise_new(&released) == ROTA_OK);
    begin(&(rota_sched_options){.core_threads = 2});
    beats = 0;
    ex_check(rota_schedule_at_fixed_rate(sched, beat_twice, NULL, 0, SOON, &future) == ROTA_OK);
    ex_check(rota_submit(sched, get_failed, future, &waiting) == ROTA_OK);
    ex_check(rota_execute(sched, get_released, NULL) == ROTA_OK);
    ex_check(rota_future_get(waiting, NULL) == ROTA_OK);
    release();
    ex_check(rota_close(sched) == ROTA_OK);
    ex_check(beats == 2);
    rota_future_unref(waiting);
    rota_future_unref(future);
    rota_future_unref(released);
}

/* The only worker runs another task: it is done with the periodic task. */
static void let_worker_end_its_turn(void)
{
    rota_future *marker;

    ex_check(rota_submit(sched, run, NUMBER(1), &marker) == ROTA_OK);
    ex_check(rota_future_get(marker, NULL) == ROTA_OK);
    rota_future_unref(marker);
}

/* sched.D1: it is out of the queue when cancel returns, and does not come back to it. */
EXPLORE(a_periodic_task_is_cancelled_as_it_comes_again)
{
    rota_future *future = begin_periodic(&(rota_sched_options){.core_threads = 1}, 0);

    cancel_periodic(future);
    let_worker_end_its_turn();
    ex_check(rota_queue_size(rota_pool_queue(sched)) == 0);
    ex_check(rota_close(sched) == ROTA_OK);
    end_periodic(future);
}

/* GEN-13: it was submitted once, however often it runs meanwhile. */
EXPLORE(a_pool_is_looked_at_as_a_periodic_task_comes_again)
{
    rota_future *future = begin_periodic(&(rota_sched_options){.core_threads = 1}, 0);
    rota_pool_stats stats;

    ex_check(rota_pool_stats_get(sched, &stats) == ROTA_OK);
    ex_check(stats.submitted <= 1);
    cancel_periodic(future);
    ex_check(rota_close(sched) == ROTA_OK);
    end_periodic(future);
}

/* Two may take it out. */
EXPLORE(a_periodic_task_is_cancelled_and_removed_as_it_comes_again)
{
    rota_future *future = begin_periodic(&(rota_sched_options){.core_threads = 1}, 0);
    ex_thread *other = ex_start(cancel_periodic, future);

    rota_pool_remove(sched, future);
    ex_join(other);
    ex_check(rota_close(sched) == ROTA_OK);
    end_periodic(future);
}

/* SCHED-24 */
EXPLORE(a_pool_is_shut_down_as_a_periodic_task_comes_again)
{
    rota_future *future = begin_periodic(&(rota_sched_options){.core_threads = 1}, 0);

    ex_check(rota_shutdown(sched) == ROTA_OK);
    release();
    end();
    end_periodic(future);
}

/* SCHED-22: it is in the list, or cancelled. */
EXPLORE(a_pool_is_stopped_as_a_periodic_task_comes_again)
{
    rota_future *future = begin_periodic(&(rota_sched_options){.core_threads = 1}, 0);
    rota_task_list left;

    ex_check(rota_shutdown_now(sched, &left) == ROTA_OK);
    discard_all(&left);
    end();
    end_periodic(future);
}

static const rota_sched_options keeps_periodic = {.core_threads = 1,
                                                  .keep_periodic_after_shutdown = true};

/* SCHED-25: the policy is for what is queued, and for what comes back to the queue. */
EXPLORE(a_policy_changes_as_a_periodic_task_comes_again)
{
    rota_future *future = begin_periodic(&keeps_periodic, 0);

    ex_check(rota_shutdown(sched) == ROTA_OK);
    ex_check(rota_sched_set_keep_periodic_after_shutdown(sched, false) == ROTA_OK);
    release();
    end();
    end_periodic(future);
}

static void drop_periodic(void *unused)
{
    (void)unused;
    ex_check(rota_sched_set_keep_periodic_after_shutdown(sched, false) == ROTA_OK);
}

/* SCHED-25: whichever comes first, one of the two sees the other. */
EXPLORE(a_policy_changes_as_the_pool_is_shut_down)
{
    rota_future *future = begin_periodic(&keeps_periodic, SOON);
    ex_thread *other = ex_start(drop_periodic, NULL);

    ex_check(rota_shutdown(sched) == ROTA_OK);
    ex_join(other);
    release();
    end();
    end_periodic(future);
}

/* SCHED-23, SCHED-25: also of a task that is not due; unless its time comes first. */
EXPLORE(a_policy_changes_while_a_task_is_waited_for)
{
    begin(&(rota_sched_options){.core_threads = 1});
    rota_future *future = schedule(0, FAR, 0);
    ex_check(rota_shutdown(sched) == ROTA_OK);
    ex_check(rota_sched_set_drop_delayed_on_shutdown(sched, true) == ROTA_OK);
    end();
    check_once(0);
    rota_future_unref(future);
}
