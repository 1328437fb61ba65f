/* SPDX-License-Identifier: MIT */
/*
 * rules.c - the decisions in which a scheduled pool differs from a plain one.
 */
#include "sched/sched_internal.h"

#include "base/alloc.h"
#include "base/check.h"
#include "base/time.h"

/* -- What may run --------------------------------------------------------- */

static rota_executor_state state_of(const rota__pool *pool)
{
    return rota__ctl_state(rota__ctl_load(&pool->workers.ctl));
}

/* Decides after a shutdown: SCHED-23, SCHED-24. A task without a future is due at once. */
static bool policies_allow(rota__sched *sched, const rota_task *task)
{
    if (task->kind == ROTA__TASK_PLAIN)
        return true;
    if (task->periodic)
        return rota__load_relaxed(&sched->keep_periodic);
    return !rota__load_relaxed(&sched->drop_delayed)
           || rota__has_passed(rota__load_relaxed(&((const rota_future *)task)->time));
}

static bool may_run(rota__sched *sched, const rota_task *task)
{
    rota_executor_state state = state_of(&sched->pool);

    return state == ROTA_RUNNING || (state == ROTA_SHUTDOWN && policies_allow(sched, task));
}

/* -- Queueing ------------------------------------------------------------- */

static bool is_done(const rota_task *task)
{
    return task->kind == ROTA__TASK_FUTURE && rota_future_is_done((const rota_future *)task);
}

static bool is_repeat(rota_task *task)
{
    return task->periodic && rota__periodic_of(rota__future_of(task))->is_repeat;
}

/* A new task may enter while the pool is running, a repeated one as long as it may run. */
int rota__sched_admits(void *ctx, rota_task *task)
{
    rota__sched *sched = ctx;

    if (!is_repeat(task)) {
        if (state_of(&sched->pool) != ROTA_RUNNING)
            return ROTA_EREJECTED; /* SCHED-17 */
        /* sched.D1b */
        return is_done(task) && !rota__load_relaxed(&sched->keep_cancelled) ? ROTA_ECANCELED
                                                                            : ROTA_OK;
    }
    if (is_done(task)) /* sched.D1a */
        return ROTA_ECANCELED;
    if (!may_run(sched, task)) /* SCHED-22a */
        return ROTA_EREJECTED;
    rota__store_relaxed(&sched->pool.requeued, rota__load_relaxed(&sched->pool.requeued) + 1);
    return ROTA_OK;
}

/* Starts core threads as tasks come, and one thread for any task: SCHED-18, SCHED-19. With an error
   the caller has the place of a worker that could not be started (pool.P8). */
static int ensure_worker(rota__pool *pool)
{
    uint32_t workers = rota__ctl_workers(rota__ctl_load(&pool->workers.ctl));
    int status = ROTA_OK;

    if (workers < rota__load_relaxed(&pool->core))
        status = rota__pool_add_worker(pool, NULL, ROTA__TO_CORE);
    else if (workers == 0)
        status = rota__pool_add_worker(pool, NULL, ROTA__TO_LIMIT);
    return status != ROTA_EREJECTED ? status
                                    : ROTA_OK; /* others have started one, or shut it down */
}

/* The task was not inserted. If it was cancelled meanwhile, the submission counts as accepted. */
static int not_queued(rota__pool *pool, rota_task *task, int status)
{
    if (task->kind == ROTA__TASK_FUTURE)
        rota__future_clear_listener(rota__future_of(task));
    if (status == ROTA_EREJECTED)
        return ROTA__ASK_HANDLER; /* the pool is shut down */
    if (status != ROTA_ECANCELED)
        return status;
    rota__task_release(task);
    rota__pool_tasks_removed(pool, 1);
    return ROTA_OK;
}

/* sched.D3: only the address of `task` is used. */
static bool is_unrun(void *element, void *task)
{
    return element == task && !is_repeat(element);
}

static bool take_back(rota__pool *pool, rota_task *task)
{
    rota__chain chain = {0};

    rota__pool_unqueue_if(pool, is_unrun, task, &chain);
    return chain.count > 0;
}

/* Queues a task whose due time is set. */
static int enqueue(rota__sched *sched, rota_task *task)
{
    rota__pool *pool = &sched->pool;
    int status;

    if (state_of(pool) != ROTA_RUNNING)
        return ROTA__ASK_HANDLER;
    status = sched->decorate != NULL ? sched->decorate(task, sched->decorate_ctx) : ROTA_OK;
    if (status != ROTA_OK)
        return status;
    if (task->kind == ROTA__TASK_FUTURE)
        rota__future_set_listener(rota__future_of(task), &sched->listener);
    status = rota__queue_insert(pool->queue, task);
    if (status != ROTA_OK)
        return not_queued(pool, task, status);
    status = ensure_worker(pool);
    if (status == ROTA_OK)
        return ROTA_OK;
    if (rota__ctl_workers(rota__ctl_load(&pool->workers.ctl)) > 1
        || !ROTA__BUG(sched.D3, take_back(pool, task), rota__pool_unqueue(pool, task)))
        status = ROTA_OK;        /* another worker runs the task, or has it already */
    rota__pool_run_inline(pool); /* pool.P8 */
    return status;               /* SCHED-35 */
}

/* A task that comes from another executor and is refused keeps its due time: OWN-05. */
static int enqueue_future(rota__sched *sched, rota_future *future, rota_ns due)
{
    rota_ns before = rota__load_relaxed(&future->time);
    int status;

    rota__store_relaxed(&future->time, due != ROTA__AT_ONCE ? due : rota__now());
    if (future->task.periodic)
        rota__periodic_of(future)->is_repeat = false; /* in this pool */
    status = enqueue(sched, &future->task);
    if (status != ROTA_OK && due == ROTA__AT_ONCE)
        rota__store_relaxed(&future->time, before); /* the caller is its only owner */
    return status;
}

int rota__sched_accept(rota__pool *pool, rota_task *task, rota_ns due)
{
    rota__sched *sched = rota__sched_of(pool);

    if (task->kind == ROTA__TASK_FUTURE)
        return enqueue_future(sched, rota__future_of(task), due);
    return enqueue(sched, task);
}

/* -- Running -------------------------------------------------------------- */

static rota__sched *sched_of(rota_executor *ex)
{
    return rota__sched_of(rota__pool_of(ex));
}

static rota__run_mode admit_run(rota_executor *ex, rota_future *future)
{
    if (!future->task.periodic)
        rota__future_clear_listener(future);   /* before the body, which may set another */
    if (!may_run(sched_of(ex), &future->task)) /* SCHED-21 */
        return ROTA__RUN_REFUSED;
    return future->task.periodic ? ROTA__RUN_PERIODIC : ROTA__RUN_ONCE;
}

/* Returns -period, or the largest value. */
static rota_ns negated(rota_ns period)
{
    return period != INT64_MIN ? -period : INT64_MAX;
}

/* Returns how late a run is that was due at `time`, in whole periods. */
static rota_ns missed(const rota__periodic *periodic, rota_ns time)
{
    rota_ns late;

    if (!periodic->skips_missed || __builtin_sub_overflow(rota__now(), time, &late) || late < 0)
        return 0;
    return late - late % periodic->period;
}

static rota_ns next_time(const rota__periodic *periodic)
{
    rota_ns time = rota__load_relaxed(&periodic->future.time);

    if (periodic->period < 0)
        return rota__time_add(rota__now(), negated(periodic->period)); /* SCHED-13 */
    time = rota__time_add(time, missed(periodic, time));
    return rota__time_add(time, periodic->period); /* SCHED-12 */
}

/* Workers that wait for the future look for its next run. */
static bool insert_again(rota__pool *pool, rota_future *future)
{
    rota__future_pin(future); /* another worker may run and free it at once */
    int status = rota__queue_insert(pool->queue, &future->task);
    if (status == ROTA_OK)
        rota__future_moved(future); /* exec.E5b */
    rota__future_unpin(future);
    return status == ROTA_OK;
}

/* In a child of fork(2) no run follows, and the parent's queue may be locked for ever. */
static bool requeue(rota_executor *ex, rota_future *future)
{
    rota__pool *pool = rota__pool_of(ex);
    rota__periodic *periodic = rota__periodic_of(future);

    rota__store_relaxed(&future->time, next_time(periodic));
    periodic->is_repeat = true;
    if (rota__pool_is_here(pool)
        && ROTA__BUG(sched.D1c, true,
                     rota__sched_admits(rota__sched_of(pool), &future->task) == ROTA_OK)
        && insert_again(pool, future))
        return true;
    rota_future_cancel(future); /* SCHED-22; no effect if it was already cancelled */
    return false;
}

static void detach(rota__pool *pool, rota_future *future)
{
    rota__future_clear_listener_if(future, &rota__sched_of(pool)->listener);
    if (future->task.periodic)
        rota__due_queue_unreserve(pool->queue); /* sched.D2 */
}

static void retire(rota_executor *ex, rota_future *future)
{
    if (rota__pool_is_here(rota__pool_of(ex)))
        detach(rota__pool_of(ex), future);
}

static const rota__run_ops run_ops = {admit_run, requeue, retire};

/* -- Cancelled, or not wanted any more ------------------------------------ */

/* True only while the pool runs: a task that is cancelled later would delay its end. SCHED-26 */
static bool keeps_cancelled(rota__sched *sched)
{
    if (!rota__load_relaxed(&sched->keep_cancelled))
        return false;
    rota__mutex_lock(
        &sched->pool.workers.lock); /* if the pool is shut down, rota__sched_tidy finds the task */
    bool runs = state_of(&sched->pool) == ROTA_RUNNING;
    rota__mutex_unlock(&sched->pool.workers.lock);
    return runs;
}

void rota__sched_ended(rota__cancel_listener *listener, rota_future *future)
{
    rota__sched *sched = ROTA__CONTAINER(listener, rota__sched, listener);
    rota__pool *pool = &sched->pool;

    if (!rota__pool_is_here(pool) || keeps_cancelled(sched)
        || !rota__pool_unqueue(pool, &future->task))
        return;
    rota__task_release(&future->task);
    rota__pool_tasks_removed(pool, 1);
}

static bool is_unwanted(void *element, void *ctx)
{
    const rota_task *task = element;

    return is_done(task) || !policies_allow(ctx, task); /* SCHED-26 */
}

size_t rota__sched_tidy(rota__sched *sched)
{
    rota__chain chain = {0};
    size_t dropped = 0;

    rota__mutex_lock(
        &sched->pool.workers.lock); /* a setter has stored its policy, or sees the shutdown */
    rota__mutex_unlock(&sched->pool.workers.lock);
    rota__pool_unqueue_if(&sched->pool, is_unwanted, sched, &chain);
    for (rota_task *task = chain.first; task != NULL; task = rota__load_relaxed(&task->next))
        dropped += rota_future_cancel(rota__future_of(task)); /* plain tasks always run */
    rota__pool_discard_all(&sched->pool, &chain);
    return dropped;
}

static size_t drop_on_shutdown(rota__pool *pool)
{
    return rota__sched_tidy(rota__sched_of(pool));
}

const rota__pool_ops rota__sched_pool_ops = {
    .name = "scheduled pool",
    .workers = {.precise_timers = true,
                .work = rota__pool_work,
                .unwound = rota__pool_unwound,
                .left = rota__pool_left},
    .accept = rota__sched_accept,
    .run = &run_ops,
    .detach = detach,
    .drop_on_shutdown = drop_on_shutdown,
};
