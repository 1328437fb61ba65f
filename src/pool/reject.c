/* SPDX-License-Identifier: MIT */
/*
 * reject.c - what becomes of a task that finds no room, or no pool.
 */
#include "pool/pool_internal.h"

int rota_reject_abort(rota_executor *ex, rota_task *task, void *ctx)
{
    (void)ctx;
    return ex != NULL && task != NULL ? ROTA_EREJECTED : ROTA_EINVAL;
}

/* REJ-03: without before_execute and after_execute. `pool` may be NULL. */
static void run_for_caller(rota__pool *pool, rota_task *task)
{
    rota_hooks hooks = rota__no_hooks;
    rota__run run;

    if (pool != NULL) {
        hooks.unobserved_failure = pool->hooks.unobserved_failure;
        hooks.ctx = pool->hooks.ctx;
    }
    rota__run_init(&run, pool != NULL ? &pool->executor : NULL, &hooks, &rota__run_once, NULL,
                   pool != NULL ? &pool->stopped : NULL);
    rota__run_nested(&run, task);
}

int rota_reject_caller_runs(rota_executor *ex, rota_task *task, void *ctx)
{
    (void)ctx;
    if (ex == NULL || task == NULL)
        return ROTA_EINVAL;
    if (rota_is_shutdown(ex))
        rota_task_discard(task);
    else
        run_for_caller(rota__as_pool(ex), task);
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
            rota__pool_took_out(pool, 1);
        }
        status = pool->ops->accept(pool, task, ROTA__AT_ONCE);
        if (!found)
            break; /* a hand-off queue has no oldest: REJ-06 */
    } while (status == ROTA__ASK_HANDLER);
    return submitters_status(status);
}

/* -- Back-pressure -------------------------------------------------------- */

/* The calling thread's worker, which is one of the pool's: exec.E3. */
static rota__worker *own_worker(rota__pool *pool)
{
    rota_thread *self = rota__self();
    rota__worker *found = NULL;

    rota__mutex_lock(&pool->lock);
    for (rota__link *link = pool->workers.head.next; link != &pool->workers.head && found == NULL;
         link = link->next) {
        rota__worker *worker = ROTA__CONTAINER(link, rota__worker, link);
        if (worker->self == self)
            found = worker;
    }
    rota__mutex_unlock(&pool->lock);
    return found;
}

/* Nobody tells when the system does not refuse a thread any more. */
static rota_ns patience(const rota__pool *pool)
{
    uint32_t workers = rota__ctl_workers(rota__ctl_load(&pool->ctl));

    return workers < rota__load_relaxed(&pool->max) ? ROTA__RETRY : ROTA_FOREVER;
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
        uint32_t epoch = rota__queue_producer_epoch(pool->queue); /* before it looks: pool.P7 */
        status = pool->ops->accept(pool, task, ROTA__AT_ONCE);
        if (status != ROTA__ASK_HANDLER || rota_is_shutdown(ex))
            return submitters_status(status);
        if (rota__is_inside(ex)) { /* it would wait for itself: REJ-11 */
            rota__pool_run_nested(pool, own_worker(pool), &rota__run_once, task);
            return ROTA_OK;
        }
        status = rota__queue_insert_in_epoch(pool->queue, task, epoch, patience(pool));
        if (status == ROTA_OK)
            return submitters_status(rota__pool_look_again(pool, task));
    } while (status == ROTA_EAGAIN /* aborted: there may be a thread to add, or no pool */
             || status == ROTA_ETIMEDOUT);
    return status;
}
