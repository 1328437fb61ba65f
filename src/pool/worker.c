/* SPDX-License-Identifier: MIT */
/*
 * worker.c - a worker: comes, fetches tasks, runs them, leaves, is replaced.
 */
#include "pool/pool_internal.h"

#include "base/alloc.h"
#include "base/time.h"
#include "os/cleanup.h"

/* -- Fetching ------------------------------------------------------------- */

static bool may_time_out(const rota__pool *pool, uint32_t workers)
{
    return rota__load_relaxed(&pool->core_may_time_out)
           || workers > rota__load_relaxed(&pool->core);
}

/* Must it leave, by POOL-25? If so, it is counted out. */
static bool leaves(rota__pool *pool, uint32_t ctl, bool timed_out)
{
    for (;;) {
        uint32_t workers = rota__ctl_workers(ctl);
        rota_executor_state state = rota__ctl_state(ctl);
        if (state >= ROTA_STOP || (state == ROTA_SHUTDOWN && rota__queue_is_empty(pool->queue))) {
            rota__ctl_count_out(&pool->ctl);
            return true;
        }
        bool is_surplus = workers > rota__load_relaxed(&pool->limit)
                          || (timed_out && may_time_out(pool, workers));
        if (!is_surplus || (workers == 1 && !rota__queue_is_empty(pool->queue)))
            return false;
        if (rota__ctl_change(&pool->ctl, &ctl, ctl - 1)) /* ctl.C1; else with what it is now */
            return true;
    }
}

/* How long it waits before it may leave: SCHED-20. */
static rota_ns idle_time(rota__pool *pool, uint32_t workers, bool stays)
{
    rota_ns keep_alive = rota__load_relaxed(&pool->keep_alive);

    if (!may_time_out(pool, workers))
        return ROTA_FOREVER;
    if (!stays)
        return keep_alive;
    return rota__time_add(rota__queue_ready_in(pool->queue), keep_alive); /* the last one's */
}

/* NULL: the worker is counted out and leaves. */
static rota_task *fetch(rota__pool *pool)
{
    bool timed_out = false;
    void *task;

    for (;;) {
        uint32_t ctl = rota__ctl_load(&pool->ctl);
        if (ROTA__UNLIKELY(rota__ctl_state(ctl) != ROTA_RUNNING || timed_out
                           || rota__ctl_workers(ctl) > rota__load_relaxed(&pool->limit))) {
            if (leaves(pool, ctl, timed_out))
                return NULL;
        }
        task = rota__queue_take(pool->queue, ROTA__ANY_EPOCH);
        if (ROTA__LIKELY(task != NULL))
            return task;
        int status = rota_queue_poll_timed(
            pool->queue, idle_time(pool, rota__ctl_workers(ctl), timed_out), &task);
        if (ROTA__LIKELY(status == ROTA_OK))
            return task;
        timed_out = status == ROTA_ETIMEDOUT; /* else it was woken: conditions afresh */
    }
}

static rota__worker *worker_of(const rota__helper *helper)
{
    return ROTA__CONTAINER((rota__helper *)(uintptr_t)helper, rota__worker, helper);
}

/* EXEC-18: the worker waits for a future whose task may be in its own pool's queue. */
static rota_task *help_take(const rota__helper *helper, rota_future *future, rota_ns *ready_at)
{
    const rota__pool *pool = worker_of(helper)->pool;
    rota_queue *queue = pool->queue;

    *ready_at = ROTA_FOREVER;
    if (rota__load_relaxed(&future->task.executor) != pool->executor.number)
        return NULL; /* exec.E5 */
    return queue->kind->remove_due(queue, &future->task, ready_at) ? &future->task : NULL;
}

static void help_run(const rota__helper *helper, rota_task *task)
{
    rota__worker *worker = worker_of(helper);

    rota__pool_run_nested(worker->pool, worker, worker->pool->ops->run, task);
}

/* A task of a thread pool may wait for locks that the waiting task holds. */
static bool help_run_no_others(const rota__helper *helper, rota_future *future)
{
    (void)helper;
    (void)future;
    return false;
}

static const rota__helper pool_helper = {
    .take = help_take, .run = help_run, .run_others = help_run_no_others};

/* -- Running -------------------------------------------------------------- */

/* The tasks that a thread runs which is no worker. */
typedef struct uncounted_runs {
    rota__pool *pool;
    rota__task_counts counts;
} uncounted_runs;

static void add_counts(void *arg)
{
    uncounted_runs *runs = arg;

    rota__mutex_lock(&runs->pool->lock);
    runs->pool->completed += rota__counts_completed(rota__load_relaxed(&runs->counts));
    rota__mutex_unlock(&runs->pool->lock);
    rota__store_relaxed(&runs->counts, 0);
}

static void run_nested(rota__pool *pool, rota__task_counts *counts, const rota__run_ops *ops,
                       rota_task *task)
{
    rota__run run;

    rota__run_init(&run, &pool->executor, &pool->hooks, ops, counts, &pool->stopped);
    rota__run_nested(&run, task);
}

void rota__pool_run_nested(rota__pool *pool, rota__worker *worker, const rota__run_ops *ops,
                           rota_task *task)
{
    uncounted_runs runs = {.pool = pool};

    if (worker != NULL) {
        run_nested(pool, &worker->counts, ops, task);
        return;
    }
    ROTA__CLEANUP_BEGIN(add_counts, &runs);
    run_nested(pool, &runs.counts, ops, task);
    ROTA__CLEANUP_END;
}

static void run_first(rota__worker *worker)
{
    rota_task *first = worker->first;

    worker->first = NULL;
    if (first != NULL)
        rota__run_counted_task(worker->run, first); /* it counts since the worker has begun */
}

/* -- Leaving -------------------------------------------------------------- */

void rota__pool_join_ended(rota__pool *pool)
{
    for (;;) {
        rota__mutex_lock(&pool->lock);
        rota__link *link = rota__list_take_first(&pool->ended);
        rota__mutex_unlock(&pool->lock);
        if (link == NULL)
            return;
        rota__worker *worker = ROTA__CONTAINER(link, rota__worker, link);
        rota__os_thread_join(&worker->thread);
        rota__free(worker, sizeof *worker);
    }
}

/* With the lock held. */
static void strike_off(rota__pool *pool, rota__worker *worker)
{
    pool->completed += rota__counts_completed(rota__load_relaxed(&worker->counts));
    rota__list_remove(&worker->link);
    pool->registered--;
    pool->alive -= worker->self != NULL;
}

/* POOL-30 */
static bool is_missed(rota__pool *pool, bool abrupt)
{
    uint32_t ctl = rota__ctl_load(&pool->ctl);
    uint32_t least = rota__load_relaxed(&pool->core);

    if (rota__ctl_state(ctl) >= ROTA_STOP)
        return false;
    if (abrupt)
        return true;
    if (rota__load_relaxed(&pool->core_may_time_out))
        least = 0;
    if (least == 0 && !rota__queue_is_empty(pool->queue))
        least = 1;
    return rota__ctl_workers(ctl) < least;
}

static void unregister(rota__worker *worker)
{
    rota__pool *pool = worker->pool;

    rota__self()->helper = NULL;
    rota__thread_plan_unref(worker->plan);
    rota__pool_join_ended(pool); /* so that no more than one is left unjoined */
    if (worker->is_unwound)
        rota__ctl_count_out(&pool->ctl); /* ctl.C2 */
    rota__mutex_lock(&pool->lock);
    strike_off(pool, worker);
    rota__list_append(&pool->ended, &worker->link);
    rota__mutex_unlock(&pool->lock);
    rota__queue_abort_producers(pool->queue); /* pool.P7 */
}

static void leave(rota__worker *worker)
{
    rota__pool *pool = worker->pool;
    bool is_unwound = worker->is_unwound;

    if (!rota__pool_is_here(pool) || worker->has_left)
        return;
    worker->has_left = true;
    rota__call_thread_hook("on_exit", worker->plan->threads.on_exit, worker->plan->threads.ctx);
    unregister(worker);
    rota__pool_try_terminate(pool);
    rota__self()->inside = NULL; /* a task that runs below may close the pool */
    if (is_missed(pool, is_unwound) && rota__worker_add(pool, NULL, ROTA__TO_MAX) != ROTA_OK)
        rota__pool_rescue(pool, true); /* the last touch: a task may end the thread once more */
}

/* A task has ended the thread: GEN-14. A continuation of its future may run a task of another
   executor that does so once more, so this function is its own handler. */
static void worker_unwound(void *arg)
{
    rota__worker *worker = arg;
    rota_thread *self = rota__self();

    if (worker->has_left)
        return; /* a task has ended the thread that rota__pool_rescue ran last */
    ROTA__ON_UNWIND_BEGIN(worker_unwound, worker);
    rota__set_current(self, &self->outermost); /* cleanup.U3 */
    self->inside = &worker->inside;            /* exec.E3: until it has left */
    worker->is_unwound = true;
    rota__run_unwound(worker->run);
    leave(worker);
    ROTA__ON_UNWIND_END;
}

/* -- Coming --------------------------------------------------------------- */

/* With the lock held: so many are there for certain, whether all of them know it yet or not; those
   among them that are counted out, and leave, are not of the pool any more. */
static void note_size(rota__pool *pool, uint32_t size)
{
    uint32_t workers = rota__ctl_workers(rota__ctl_load(&pool->ctl));

    if (size > workers)
        size = workers;
    if (size > pool->largest)
        pool->largest = size; /* POOL-47 */
}

/* From here on it can be woken and interrupted: POOL-22. */
static void present(rota__worker *worker)
{
    rota__pool *pool = worker->pool;
    rota_thread *self = rota__self();

    self->helper = pool->strict_wait ? NULL : &worker->helper;
    if (worker->plan->threads.interrupt_signal != 0)
        self->signal_target = &worker->thread;
    self->outermost.stop = &pool->stopped; /* a stop ends its wait for tasks */
    if (pool->ops->precise_timers)
        rota__os_reduce_timer_slack();
    rota__mutex_lock(&pool->lock);
    worker->self = self;
    note_size(pool, ++pool->alive);
    rota__mutex_unlock(&pool->lock);
}

static void worker_main(void *arg)
{
    rota__worker *worker = arg;
    rota__pool *pool = worker->pool;
    rota__run run; /* run.R2: in the frame of the scope below */
    rota_task *task;

    rota__inside_enter(&worker->inside, &pool->executor); /* exec.E3 */
    rota__run_init(&run, &pool->executor, &pool->hooks, pool->ops->run, &worker->counts,
                   &pool->stopped);
    worker->run = &run;
    present(worker);
    rota__call_thread_hook("on_start", worker->plan->threads.on_start, worker->plan->threads.ctx);
    ROTA__ON_UNWIND_BEGIN(worker_unwound, worker);
    run_first(worker);
    while (rota__pool_is_here(pool) && (task = fetch(pool)) != NULL)
        rota__run_task(&run, task);
    leave(worker);
    ROTA__ON_UNWIND_END;
}

static uint32_t most_workers(const rota__pool *pool, rota__bound bound)
{
    return rota__load_relaxed(bound == ROTA__TO_CORE ? &pool->core : &pool->limit);
}

/* ctl.C1, POOL-26 */
static bool count_in(rota__pool *pool, bool has_first, rota__bound bound)
{
    uint32_t ctl = rota__ctl_load(&pool->ctl);

    do {
        rota_executor_state state = rota__ctl_state(ctl);
        if (state >= ROTA_STOP
            || (state == ROTA_SHUTDOWN && (has_first || rota__queue_is_empty(pool->queue))))
            return false;
        if (rota__ctl_workers(ctl) >= most_workers(pool, bound))
            return false;
    } while (!rota__ctl_change(&pool->ctl, &ctl, ctl + 1));
    return true;
}

static rota__worker *worker_new(rota__pool *pool, rota_task *first, uint64_t *number)
{
    rota__worker *worker = rota__alloc(sizeof *worker);

    if (worker == NULL)
        return NULL;
    *worker = (rota__worker){.pool = pool, .first = first, .helper = pool_helper};
    rota__store_relaxed(&worker->counts, first != NULL ? ROTA__ONE_RUNNING : 0);
    rota__link_init(&worker->link);
    rota__mutex_lock(&pool->lock);
    worker->plan = rota__thread_plan_ref(pool->plan);
    *number = pool->thread_number++;
    rota__list_append(&pool->workers, &worker->link); /* pool.P3 */
    pool->registered++;
    pool->starting++;
    rota__mutex_unlock(&pool->lock);
    return worker;
}

/* POOL-27. What has started may be gone by now: it is not looked at. */
static void note_start(rota__pool *pool, rota__worker *failed)
{
    rota__mutex_lock(&pool->lock);
    pool->starting--;
    if (failed != NULL) {
        strike_off(pool, failed);
        if (failed->first != NULL && pool->submitted > 0)
            pool->submitted--; /* an observer may have counted the first task */
    } else {
        note_size(pool, pool->registered - pool->starting);
    }
    rota__mutex_unlock(&pool->lock);
    if (failed != NULL) {
        rota__thread_plan_unref(failed->plan);
        rota__free(failed, sizeof *failed);
    }
}

static int start(rota__pool *pool, rota_task *first)
{
    uint64_t number;
    rota__worker *worker = worker_new(pool, first, &number);
    int status = ROTA_ENOMEM;

    if (worker != NULL) {
        status =
            rota__thread_plan_start(worker->plan, number, &worker->thread, worker_main, worker);
        note_start(pool, status != ROTA_OK ? worker : NULL);
    }
    if (status != ROTA_OK) {
        if (rota__ctl_count_out(&pool->ctl))
            rota__queue_abort_producers(pool->queue); /* pool.P7 */
        rota__pool_try_terminate(pool);
    }
    return status;
}

int rota__worker_add(rota__pool *pool, rota_task *first, rota__bound bound)
{
    return count_in(pool, first != NULL, bound) ? start(pool, first) : ROTA_EREJECTED;
}

static bool has_any_begun(rota__pool *pool)
{
    rota__mutex_lock(&pool->lock);
    bool has_begun = pool->alive > 0;
    rota__mutex_unlock(&pool->lock);
    return has_begun;
}

/*
 * With no worker and something queued: false if somebody has come for it, or nobody may. Who may
 * wait does not count on one that may still fail to start, as whoever makes it may not.
 */
static bool must_run_it_here(rota__pool *pool, bool may_wait)
{
    unsigned turns = ROTA__BACKOFF_INIT;

    for (;;) {
        uint32_t ctl = rota__ctl_load(&pool->ctl);
        if (rota__ctl_state(ctl) >= ROTA_STOP || rota__queue_is_empty(pool->queue))
            return false;
        if (rota__ctl_workers(ctl) > 0) {
            if (!may_wait || has_any_begun(pool))
                return false;
            rota__backoff(&turns); /* until that one has begun, or failed to: not beside it */
            continue;
        }
        int status = rota__worker_add(pool, NULL, ROTA__TO_MAX);
        if (status != ROTA_EREJECTED) /* else something has changed just now */
            return status != ROTA_OK;
    }
}

/* A thread that runs queued tasks in place of a worker. */
typedef struct inline_runner {
    uncounted_runs runs;
    rota__run run;
    bool may_wait;
    rota__inside inside; /* exec.E3 */
} inline_runner;

static void run_queued(inline_runner *self)
{
    rota__pool *pool = self->runs.pool;
    rota_queue *queue = pool->queue;
    void *task;

    while (must_run_it_here(pool, self->may_wait)) {
        int status = self->may_wait ? rota_queue_poll_timed(queue, ROTA__RETRY, &task)
                                    : rota_queue_poll(queue, &task);
        if (status == ROTA_OK) {
            rota__run_task(&self->run, task);
            add_counts(&self->runs);
        } else if (!self->may_wait) {
            break;
        }
    }
}

static void inline_runner_leave(inline_runner *self)
{
    rota__pool *pool = self->runs.pool;

    rota__mutex_lock(&pool->lock);
    pool->rescuers--;
    rota__mutex_unlock(&pool->lock);
    rota__inside_leave(&self->inside);
    rota__pool_try_terminate(pool); /* it may have taken what that waited for */
}

/* A task has ended the thread, which runs the rest before it goes: GEN-14. */
static void inline_runner_unwound(void *arg)
{
    inline_runner *self = arg;

    ROTA__ON_UNWIND_BEGIN(inline_runner_unwound, self);
    rota__self()->inside = &self->inside; /* cleanup.U3 */
    rota__run_unwound(&self->run);
    add_counts(&self->runs);
    run_queued(self);
    inline_runner_leave(self);
    ROTA__ON_UNWIND_END;
}

void rota__pool_rescue(rota__pool *pool, bool may_wait)
{
    inline_runner self = {.runs = {.pool = pool}, .may_wait = may_wait};

    rota__run_init(&self.run, &pool->executor, &pool->hooks, pool->ops->run, &self.runs.counts,
                   &pool->stopped);
    rota__inside_enter(&self.inside, &pool->executor);
    rota__mutex_lock(&pool->lock);
    pool->rescuers++; /* pool.P4 */
    rota__mutex_unlock(&pool->lock);
    ROTA__ON_UNWIND_BEGIN(inline_runner_unwound, &self);
    run_queued(&self);
    ROTA__ON_UNWIND_END;
    inline_runner_leave(&self);
}

/* -- Waking --------------------------------------------------------------- */

/*
 * INT-09: the flag is that of the worker outside of tasks. One that is busy, or
 * has not begun, finds it when it next waits, and looks at ctl first anyway.
 */
void rota__pool_wake_idle(rota__pool *pool, bool all)
{
    rota__mutex_lock(&pool->lock);
    for (rota__link *link = pool->workers.head.next; link != &pool->workers.head;
         link = link->next) {
        rota__worker *worker = ROTA__CONTAINER(link, rota__worker, link);
        if (worker->self == NULL || (!all && rota__worker_is_busy(worker)))
            continue;
        rota__thread_nudge(worker->self);
        if (!all)
            break;
    }
    rota__mutex_unlock(&pool->lock);
}

void rota__pool_let_idle_go(rota__pool *pool)
{
    uint32_t workers = rota__ctl_workers(rota__ctl_load(&pool->ctl));

    if (workers > 0 && may_time_out(pool, workers) && rota__queue_is_empty(pool->queue))
        rota__pool_wake_idle(pool, true);
}
