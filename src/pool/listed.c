/* SPDX-License-Identifier: MIT */
/*
 * listed.c - pools whose queue passes tasks to user functions: a priority, a delay or a custom queue.
 * A cancelled task leaves such a queue at once (pool.P11).
 */
#include "pool/pool_internal.h"

static bool is_done(const rota_task *task)
{
    return task->kind == ROTA__TASK_FUTURE && rota_future_is_done((const rota_future *)task);
}

/* -- Under the queue's lock ----------------------------------------------- */

static int may_enter(void *pool, void *task)
{
    (void)pool;
    return is_done(task) ? ROTA_ECANCELED : ROTA_OK; /* pool.P11 */
}

static int enter_any(void *pool, void *task)
{
    (void)pool;
    (void)task;
    return ROTA_OK;
}

static bool visit_begin(void *task)
{
    rota_future *future = rota_task_future(task);

    return future == NULL || rota__future_visit_begin(future);
}

static bool visit_end(void *task)
{
    rota_future *future = rota_task_future(task);

    return future != NULL && rota__future_visit_end(future);
}

static void visit_done(void *task)
{
    rota__future_visit_done(rota__future_of(task));
}

const rota__element_ops rota__pool_element_ops = {enter_any, visit_begin, visit_end, visit_done};
static const rota__element_ops listed_ops = {may_enter, visit_begin, visit_end, visit_done};

/* -- Inserting ------------------------------------------------------------ */

static void set_listener(rota__pool *pool, rota_task *task)
{
    if (pool->is_listed && task->kind == ROTA__TASK_FUTURE)
        rota__future_set_listener(rota__future_of(task), &pool->listener); /* pool.P11a */
}

/* Ends an insertion. A task whose future is done ends as if it had been queued. */
static int inserted(rota__pool *pool, rota_task *task, int status, bool *has_ended)
{
    *has_ended = false;
    if (ROTA__LIKELY(status == ROTA_OK) || !pool->is_listed || task->kind != ROTA__TASK_FUTURE)
        return status;
    rota__future_clear_listener_if(rota__future_of(task), &pool->listener);
    if (status != ROTA_ECANCELED || !is_done(task))
        return status;
    *has_ended = true;
    rota__task_release(task);
    rota__pool_tasks_removed(pool, 1);
    return ROTA_OK;
}

int rota__pool_insert(rota__pool *pool, rota_task *task, bool *has_ended)
{
    set_listener(pool, task);
    return inserted(pool, task, rota__queue_insert(pool->queue, task), has_ended);
}

int rota__pool_insert_in_epoch(rota__pool *pool, rota_task *task, uint32_t epoch, rota_ns timeout,
                               bool *has_ended)
{
    set_listener(pool, task);
    return inserted(pool, task, rota__queue_insert_in_epoch(pool->queue, task, epoch, timeout),
                    has_ended);
}

/* -- Leaving the queue ---------------------------------------------------- */

/* The future has ended before a worker took it. */
static void on_future_ended(rota__cancel_listener *listener, rota_future *future)
{
    rota__pool *pool = ROTA__CONTAINER(listener, rota__pool, listener);

    if (!rota__pool_is_here(pool) || !rota__pool_unqueue(pool, &future->task))
        return;
    rota__task_release(&future->task);
    rota__pool_tasks_removed(pool, 1);
}

void rota__pool_detach_listed(rota__pool *pool, rota_future *future)
{
    rota__future_clear_listener_if(future, &pool->listener);
}

static rota__run_mode admit_listed(rota_executor *ex, rota_future *future)
{
    /* Before the body, which may set another listener. */
    rota__pool_detach_listed(rota__pool_of(ex), future);
    return ROTA__RUN_ONCE;
}

static bool requeue_never(rota_executor *ex, rota_future *future)
{
    (void)ex;
    (void)future;
    return false;
}

static void retire_listed(rota_executor *ex, rota_future *future)
{
    if (rota__pool_is_here(rota__pool_of(ex)))
        rota__pool_detach_listed(rota__pool_of(ex), future);
}

const rota__run_ops rota__run_listed = {admit_listed, requeue_never, retire_listed};

void rota__pool_list(rota__pool *pool)
{
    pool->is_listed = true;
    pool->listener.notify = on_future_ended;
    pool->queue->element_ops = &listed_ops;
    pool->queue->element_ctx = pool;
}
