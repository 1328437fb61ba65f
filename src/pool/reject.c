/* SPDX-License-Identifier: MIT */
/*
 * reject.c - handlers for tasks that a pool cannot accept.
 */
#include "pool/pool_internal.h"

#include "os/cleanup.h"

int rota_reject_abort(rota_executor *ex, rota_task *task, void *ctx)
{
    (void)ctx;
    return ex != NULL && task != NULL ? ROTA_EREJECTED : ROTA_EINVAL;
}

/* REJ-03: without before_execute, after_execute and counts. */
static void run_without_hooks(rota_executor *ex, const rota_hooks *hooks, rota__stop_word *stop,
                              rota_task *task)
{
    rota_hooks reduced = {.unobserved_failure = hooks->unobserved_failure, .ctx = hooks->ctx};
    rota__run run;

    rota__run_init(&run, ex, &reduced, &rota__run_once, NULL, stop);
    rota__run_nested(&run, task);
}

/* The task counts as one of the pool's own: workers.W2. False: the pool has been shut down. */
static bool run_as_caller(rota__pool *pool, rota_task *task)
{
    rota__worker caller;

    if (!rota__caller_enter(&caller, &pool->workers, false))
        return false;
    ROTA__CLEANUP_BEGIN(rota__caller_leave, &caller);
    run_without_hooks(&pool->executor, &pool->workers.hooks, &pool->workers.stopped, task);
    ROTA__CLEANUP_END;
    return true;
}

int rota_reject_caller_runs(rota_executor *ex, rota_task *task, void *ctx)
{
    rota__pool *pool = rota__as_pool(ex);

    (void)ctx;
    if (ex == NULL || task == NULL)
        return ROTA_EINVAL;
    if (rota_is_shutdown(ex) || (pool != NULL && !run_as_caller(pool, task)))
        rota_task_discard(task);
    else if (pool == NULL)
        run_without_hooks(NULL, &rota__no_hooks, NULL, task);
    return ROTA_OK;
}

int rota_reject_discard(rota_executor *ex, rota_task *task, void *ctx)
{
    (void)ctx;
    if (ex == NULL || task == NULL)
        return ROTA_EINVAL;
    rota_task_discard(task);
    return ROTA_OK;
}

static int submitters_status(int status)
{
    return status != ROTA__ASK_HANDLER ? status : ROTA_EREJECTED;
}

int rota_reject_discard_oldest(rota_executor *ex, rota_task *task, void *ctx)
{
    rota__pool *pool = rota__as_pool(ex);
    void *oldest;
    int status;

    (void)ctx;
    if (ex == NULL || task == NULL)
        return ROTA_EINVAL;
    do {
        if (rota_is_shutdown(ex))
            return rota_reject_discard(ex, task, NULL);
        if (pool == NULL)
            return ROTA_EREJECTED;
        oldest = rota__queue_take(pool->queue, ROTA__ANY_EPOCH);
        bool found = oldest != NULL;
        if (found) {
            rota__pool_detach(pool, oldest);
            rota_task_discard(oldest);
            rota__pool_tasks_removed(pool, 1);
        }
        status = pool->ops->accept(pool, task, ROTA__AT_ONCE);
        if (!found)
            break; /* a hand-off queue has no oldest: REJ-06 */
    } while (status == ROTA__ASK_HANDLER);
    return submitters_status(status);
}

/* -- Back-pressure -------------------------------------------------------- */

/* REJ-11: a thread that is inside the pool would wait for itself, so it runs the task. */
static int run_inside(rota__pool *pool, rota_task *task)
{
    rota__worker *self = rota__worker_self(&pool->workers);
    rota__worker caller;

    if (self != NULL) {
        rota__worker_run_nested(self, &rota__run_once, task);
        return ROTA_OK;
    }
    if (!rota__caller_enter(&caller, &pool->workers, false)) /* inside, but no thread of the pool */
        return ROTA_EREJECTED;
    ROTA__CLEANUP_BEGIN(rota__caller_leave, &caller);
    rota__worker_run_nested(&caller, &rota__run_once, task);
    ROTA__CLEANUP_END;
    return ROTA_OK;
}

/* How long a submitter waits for room. If the pool may add a worker, the system has refused a thread.
   No event reports that it would grant one again, so the submitter tries again after a while. */
static rota_ns room_timeout(const rota__pool *pool)
{
    uint32_t workers = rota__ctl_workers(rota__ctl_load(&pool->workers.ctl));

    return workers < rota__load_relaxed(&pool->limit) ? ROTA__RETRY : ROTA_FOREVER;
}

int rota_reject_block(rota_executor *ex, rota_task *task, void *ctx)
{
    rota__pool *pool = rota__as_pool(ex);
    int status;

    (void)ctx;
    if (ex == NULL || task == NULL)
        return ROTA_EINVAL;
    if (pool == NULL || rota_is_shutdown(ex))
        return ROTA_EREJECTED;
    do {
        uint32_t epoch = rota__queue_producer_epoch(pool->queue); /* pool.P7: before `accept` */
        status = pool->ops->accept(pool, task, ROTA__AT_ONCE);
        if (status != ROTA__ASK_HANDLER || rota_is_shutdown(ex))
            return submitters_status(status);
        if (rota__is_inside(ex))
            return run_inside(pool, task);
        bool has_ended;
        status = rota__pool_insert_in_epoch(pool, task, epoch, room_timeout(pool), &has_ended);
        if (has_ended)
            return status;
        if (status == ROTA_OK)
            return submitters_status(rota__pool_recheck(pool, task));
    } while (status == ROTA_EAGAIN /* aborted: room for a worker, or a shutdown */
             || status == ROTA_ETIMEDOUT);
    return status;
}
