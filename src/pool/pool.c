/* SPDX-License-Identifier: MIT */
/*
 * pool.c - the way of a task through a pool: submit, accept, a worker's loop, and places.
 */
#include "pool/pool_internal.h"

#include "base/time.h"
#include "os/cleanup.h"

static rota__pool *pool_of(rota__workers *workers)
{
    return ROTA__CONTAINER(workers, rota__pool, workers);
}

/* -- Places ----------------------------------------------------------------- */

/* Counts a worker, if state and bound allow it (ctl.C1, POOL-26). */
static bool try_count_in(rota__pool *pool, bool has_first, rota__bound bound)
{
    rota__ctl *word = &pool->workers.ctl;
    uint32_t most = rota__load_relaxed(bound == ROTA__TO_CORE ? &pool->core : &pool->limit);
    uint32_t ctl = rota__ctl_load(word);

    do {
        rota_executor_state state = rota__ctl_state(ctl);
        if (state >= ROTA_STOP
            || (state == ROTA_SHUTDOWN && (has_first || rota__queue_is_empty(pool->queue))))
            return false;
        if (rota__ctl_workers(ctl) >= most)
            return false;
    } while (!rota__ctl_try_add(word, &ctl));
    return true;
}

int rota__pool_add_worker(rota__pool *pool, rota_task *first, rota__bound bound)
{
    int status;

    if (!try_count_in(pool, first != NULL, bound))
        return ROTA_EREJECTED;
    status = rota__worker_start(&pool->workers, first);
    if (status != ROTA_OK && first != NULL)
        rota__pool_uncount(pool); /* an observer may have counted the first task */
    return status;
}

/* Are there fewer than `least` workers, or none although tasks are queued? No after a stop. */
static bool is_short_of_workers(rota__pool *pool, uint32_t least)
{
    uint32_t ctl = rota__ctl_load(&pool->workers.ctl);
    uint32_t workers = rota__ctl_workers(ctl);

    if (rota__ctl_state(ctl) >= ROTA_STOP)
        return false;
    return workers < least || (workers == 0 && !rota__queue_is_empty(pool->queue));
}

/* How many workers a leaving worker must leave behind: POOL-30, POOL-44. */
static uint32_t least_workers(const rota__pool *pool)
{
    return rota__load_relaxed(&pool->core_may_time_out) ? 0 : rota__load_relaxed(&pool->core);
}

/*
 * Gives up the caller's place, unless another thread relies on it or fewer than `least` workers would
 * be left. The caller has decided by the word *ctl. After false it decides again, by the new word.
 */
static bool give_up_place(rota__pool *pool, uint32_t *ctl, uint32_t least)
{
    if (!rota__ctl_try_remove(&pool->workers.ctl, ctl))
        return false;
    /* pool.P2: a submitter may have seen the old number and rely on this thread. */
    if (is_short_of_workers(pool, least) && try_count_in(pool, false, ROTA__TO_LIMIT)) {
        *ctl = rota__ctl_load(&pool->workers.ctl);
        return false;
    }
    return true;
}

/* -- Accepting a task ------------------------------------------------------- */

int rota__pool_recheck(rota__pool *pool, rota_task *task)
{
    uint32_t ctl = rota__ctl_load(&pool->workers.ctl);
    bool has_place = false;
    int status = ROTA__ASK_HANDLER;

    if (ROTA__LIKELY(rota__ctl_state(ctl) == ROTA_RUNNING && rota__ctl_workers(ctl) > 0))
        return ROTA_OK;
    if (rota__ctl_state(ctl) == ROTA_RUNNING) {
        status = rota__pool_add_worker(pool, NULL, ROTA__TO_LIMIT);
        if (status == ROTA_OK)
            return ROTA_OK;
        has_place = status != ROTA_EREJECTED;
        if (rota__ctl_workers(rota__ctl_load(&pool->workers.ctl)) > has_place) {
            if (has_place)
                rota__pool_run_inline(pool);
            return ROTA_OK; /* another worker runs the task */
        }
        if (!has_place)
            status = ROTA__ASK_HANDLER; /* the pool has been shut down meanwhile */
    }
    if (rota__pool_unqueue(pool, task))
        rota__pool_uncount(pool);
    else
        status = ROTA_OK; /* another thread has the task */
    if (has_place)
        rota__pool_run_inline(pool); /* pool.P8 */
    else
        rota__pool_ensure_served(pool); /* also terminates a pool that this task has held up */
    return status;
}

int rota__pool_accept(rota__pool *pool, rota_task *task, rota_ns due)
{
    uint32_t ctl = rota__ctl_load(&pool->workers.ctl);
    int status;

    (void)due;
    if (rota__ctl_workers(ctl) < rota__load_relaxed(&pool->core)) {
        status = rota__pool_add_worker(pool, task, ROTA__TO_CORE);
        if (status == ROTA_OK)
            return ROTA_OK;
        if (status != ROTA_EREJECTED)
            rota__pool_run_inline(pool); /* pool.P8 */
        ctl = rota__ctl_load(&pool->workers.ctl);
    }
    if (rota__ctl_state(ctl) == ROTA_RUNNING) {
        bool has_ended = false;
        status = ROTA__LIKELY(!pool->is_listed) ? rota__queue_insert(pool->queue, task)
                                                : rota__pool_insert(pool, task, &has_ended);
        if (ROTA__UNLIKELY(has_ended))
            return status;
        if (ROTA__LIKELY(status == ROTA_OK))
            return rota__pool_recheck(pool, task); /* pool.P2a */
        if (status != ROTA_EFULL)
            return status;
        rota__trace_full(&pool->executor);
    }
    status = rota__pool_add_worker(pool, task, ROTA__TO_LIMIT);
    if (status == ROTA_OK)
        return ROTA_OK;
    if (status == ROTA_EREJECTED)
        return ROTA__ASK_HANDLER;
    rota__pool_run_inline(pool); /* pool.P8 */
    if (rota__ctl_workers(rota__ctl_load(&pool->workers.ctl)) == 0)
        return status;
    return ROTA__ASK_HANDLER; /* the workers that exist are busy: POOL-28 */
}

ROTA__NOINLINE int rota__pool_reject(rota__pool *pool, rota_task *task)
{
    rota_reject *on_reject;
    void *ctx;

    rota__trace_reject(&pool->executor);
    rota__mutex_lock(&pool->workers.lock);
    pool->rejected++;
    on_reject = pool->on_reject;
    ctx = pool->reject_ctx;
    rota__mutex_unlock(&pool->workers.lock);
    return on_reject(&pool->executor, task, ctx); /* pool.P5 */
}

int rota__pool_submit(rota_executor *ex, rota_task *task, rota_ns due)
{
    rota__pool *pool = rota__pool_of(ex);
    int status;

    if (ROTA__UNLIKELY(!rota__pool_is_here(pool)))
        return ROTA_EREJECTED;
    status = rota__pool_accept(pool, task, due);
    return ROTA__LIKELY(status != ROTA__ASK_HANDLER) ? status : rota__pool_reject(pool, task);
}

/* -- A worker's loop -------------------------------------------------------- */

#define NOT_IDLE INT64_MIN

static bool may_time_out(const rota__pool *pool, uint32_t workers)
{
    return rota__load_relaxed(&pool->core_may_time_out)
           || workers > rota__load_relaxed(&pool->core);
}

/* The time at which a worker that became idle at `idle_since` may leave. */
static rota_ns leave_at(const rota__pool *pool, uint32_t workers, rota_ns idle_since)
{
    if (!may_time_out(pool, workers))
        return ROTA_FOREVER;
    return rota__time_add(idle_since, rota__load_relaxed(&pool->keep_alive));
}

/* POOL-25. True: the worker has given up its place. */
static bool must_leave(rota__pool *pool, uint32_t ctl, rota_ns idle_since)
{
    for (;;) {
        uint32_t workers = rota__ctl_workers(ctl);
        rota_executor_state state = rota__ctl_state(ctl);
        if (state >= ROTA_STOP || (state == ROTA_SHUTDOWN && rota__queue_is_empty(pool->queue))) {
            rota__ctl_remove(&pool->workers.ctl);
            return true;
        }
        bool is_surplus =
            workers > rota__load_relaxed(&pool->limit)
            || (idle_since != NOT_IDLE && rota__has_passed(leave_at(pool, workers, idle_since)));
        if (!is_surplus || (workers == 1 && !rota__queue_is_empty(pool->queue)))
            return false;
        if (give_up_place(pool, &ctl, least_workers(pool)))
            return true;
    }
}

/* When an idle worker checks again whether it must leave. The last worker may stay for a task that is
   not due: SCHED-20. */
static rota_ns idle_until(rota__pool *pool, uint32_t workers, rota_ns idle_since)
{
    rota_ns at = leave_at(pool, workers, idle_since);

    if (workers > 1 || !rota__has_passed(at))
        return at;
    rota_ns ready_in = rota__queue_ready_in(pool->queue);
    if (ready_in == ROTA_FOREVER)
        return rota__queue_is_empty(pool->queue) ? at : ROTA_FOREVER;
    return rota__deadline(rota__time_add(ready_in, rota__load_relaxed(&pool->keep_alive)));
}

/* Takes the next task of a worker. NULL: the worker has given up its place. */
static rota_task *fetch(rota__pool *pool)
{
    rota_ns idle_since = NOT_IDLE;
    void *task;

    for (;;) {
        uint32_t epoch = rota__queue_consumer_epoch(pool->queue); /* pool.P9: before the check */
        uint32_t ctl = rota__ctl_load(&pool->workers.ctl);
        if (ROTA__UNLIKELY(rota__ctl_state(ctl) != ROTA_RUNNING || idle_since != NOT_IDLE
                           || rota__ctl_workers(ctl) > rota__load_relaxed(&pool->limit))
            && must_leave(pool, ctl, idle_since)) {
            rota__queue_abort_producers(pool->queue); /* pool.P7 */
            return NULL;
        }
        task = rota__queue_take(pool->queue, epoch);
        if (ROTA__LIKELY(task != NULL))
            return task;
        if (idle_since == NOT_IDLE)
            idle_since = rota__now();
        rota_ns until = idle_until(pool, rota__ctl_workers(ctl), idle_since);
        if (rota__queue_take_waiting(pool->queue, epoch, until, &task) == ROTA_OK)
            return task; /* otherwise its time is up, or the epoch is over: check again */
    }
}

void rota__pool_work(rota__worker *worker)
{
    rota__pool *pool = pool_of(worker->workers);
    rota_task *task;

    while (rota__pool_is_here(pool) && (task = fetch(pool)) != NULL)
        rota__run_task(worker->run, task);
}

void rota__pool_left(rota__workers *workers)
{
    rota__pool_try_terminate(pool_of(workers));
}

static rota__worker *worker_of(const rota__helper *helper)
{
    return ROTA__CONTAINER((rota__helper *)(uintptr_t)helper, rota__worker, helper);
}

/* EXEC-18: the worker waits for a future whose task may be in its own pool's queue. */
static rota_task *help_take(const rota__helper *helper, rota_future *future, rota_ns *ready_at)
{
    rota__pool *pool = pool_of(worker_of(helper)->workers);
    rota_queue *queue = pool->queue;

    *ready_at = ROTA_FOREVER;
    if (rota__load_relaxed(&future->task.executor) != pool->executor.number)
        return NULL; /* exec.E5 */
    return queue->kind->remove_due(queue, &future->task, ready_at) ? &future->task : NULL;
}

static void help_run(const rota__helper *helper, rota_task *task)
{
    rota__worker *worker = worker_of(helper);

    rota__worker_run_nested(worker, worker->workers->run_ops, task);
}

/* A waiting task may hold locks. Another task that runs inside it could wait for them for ever. */
static bool help_run_no_others(const rota__helper *helper, rota_future *future)
{
    (void)helper;
    (void)future;
    return false;
}

const rota__helper rota__pool_helper = {
    .take = help_take, .run = help_run, .run_others = help_run_no_others};

/* -- Threads that cannot be started ----------------------------------------- */

/* A task has ended the thread of a worker. Must another thread take its place? (POOL-30) */
static bool needs_replacement(rota__pool *pool, uint32_t ctl)
{
    rota_executor_state state = rota__ctl_state(ctl);
    uint32_t workers = rota__ctl_workers(ctl);

    if (state >= ROTA_STOP || (workers > 1 && workers > rota__load_relaxed(&pool->limit)))
        return false;
    if (state == ROTA_RUNNING && workers <= rota__load_relaxed(&pool->core))
        return true;
    return !rota__queue_is_empty(pool->queue);
}

/* True: another thread has the worker's place, or no thread needs it (pool.P8). */
static bool pass_place_on(rota__pool *pool)
{
    uint32_t ctl = rota__ctl_load(&pool->workers.ctl);

    while (!needs_replacement(pool, ctl)) {
        if (give_up_place(pool, &ctl, least_workers(pool))) {
            rota__queue_abort_producers(pool->queue); /* pool.P7 */
            return true;
        }
    }
    return rota__worker_start(&pool->workers, NULL) == ROTA_OK;
}

void rota__pool_unwound(rota__worker *worker)
{
    rota__pool *pool = pool_of(worker->workers);
    void *task;

    while (!pass_place_on(pool)) {
        uint32_t ctl = rota__ctl_load(&pool->workers.ctl);
        if (rota__queue_is_empty(pool->queue) && give_up_place(pool, &ctl, 0))
            return; /* the next submission starts a thread */
        if (rota_queue_poll_timed(pool->queue, ROTA__RETRY, &task) == ROTA_OK)
            rota__run_task(worker->run, task);
    }
}

/* Gives up the place although tasks are queued, because none of them is due. False: a task has become
   due, and the caller has a place again. */
static bool abandon_place(rota__pool *pool)
{
    rota__ctl_remove(&pool->workers.ctl);
    if (rota__queue_ready_in(pool->queue) <= 0 && try_count_in(pool, false, ROTA__TO_LIMIT))
        return false;                         /* pool.P2: a submitter relies on this thread */
    rota__queue_abort_producers(pool->queue); /* pool.P7 */
    return true;
}

/* Runs queued tasks. Returns when the calling thread has no place any more. */
static void serve_inline(rota__pool *pool, rota__run *run)
{
    void *task;

    for (;;) {
        uint32_t ctl = rota__ctl_load(&pool->workers.ctl);
        if (rota__ctl_state(ctl) >= ROTA_STOP || rota__ctl_workers(ctl) > 1
            || rota__queue_is_empty(pool->queue)) {
            if (give_up_place(pool, &ctl, 0)) {
                if (rota__ctl_workers(ctl) == 1)
                    rota__queue_abort_producers(pool->queue); /* pool.P7 */
                return;
            }
            continue;
        }
        if (rota__worker_start(&pool->workers, NULL) == ROTA_OK)
            return;
        task = rota__queue_take(pool->queue, ROTA__ANY_EPOCH);
        if (task != NULL)
            rota__run_task(run, task);
        else if (!rota__queue_is_empty(pool->queue) && abandon_place(pool))
            return;
    }
}

typedef struct inline_runner {
    rota__worker caller;
    rota__run run;
} inline_runner;

/* A task has ended the thread. The thread serves the queue before it leaves: GEN-14. */
static void inline_unwound(void *arg)
{
    inline_runner *self = arg;
    rota_thread *thread = rota__self();

    ROTA__ON_UNWIND_BEGIN(inline_unwound, self);
    thread->inside = &self->caller.inside; /* cleanup.U3 */
    rota__run_unwound(&self->run);
    serve_inline(pool_of(self->caller.workers), &self->run);
    ROTA__ON_UNWIND_END;
    rota__caller_leave(&self->caller);
}

void rota__pool_run_inline(rota__pool *pool)
{
    inline_runner self;

    rota__caller_enter(&self.caller, &pool->workers, true);
    rota__run_init(&self.run, &pool->executor, &pool->workers.hooks, pool->ops->run,
                   &self.caller.task_counts, &pool->workers.stopped);
    ROTA__ON_UNWIND_BEGIN(inline_unwound, &self);
    serve_inline(pool, &self.run);
    ROTA__ON_UNWIND_END;
    rota__caller_leave(&self.caller);
}

void rota__pool_ensure_served(rota__pool *pool)
{
    if (is_short_of_workers(pool, 0)) {
        int status = rota__pool_add_worker(pool, NULL, ROTA__TO_LIMIT);
        if (status != ROTA_OK && status != ROTA_EREJECTED)
            rota__pool_run_inline(pool);
    }
    rota__pool_try_terminate(pool);
}
