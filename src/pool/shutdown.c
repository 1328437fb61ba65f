/* SPDX-License-Identifier: MIT */
/*
 * shutdown.c - the way of a pool to its end: ctl.h has the transitions.
 */
#include "pool/pool_internal.h"

#include "base/time.h"

/* -- The end -------------------------------------------------------------- */

static void call_terminated(void *arg)
{
    rota__pool *pool = arg;

    pool->hooks.terminated(&pool->executor, pool->hooks.ctx); /* pool.P5 */
}

static void terminate(rota__pool *pool)
{
    rota__call_thread_hook("terminated", pool->hooks.terminated != NULL ? call_terminated : NULL,
                           pool);
    rota__mutex_lock(&pool->lock);
    rota__ctl_advance(&pool->ctl, ROTA_TERMINATED);
    rota__latch_signal_all(&pool->waiters); /* pool.P10 */
    rota__mutex_unlock(&pool->lock); /* the last touch, unless a worker does this: it is joined */
}

/* In one step with the look at the registry (pool.P4): a worker that comes and is counted out again
   meanwhile leaves ctl as it was, but cannot have left the registry. */
static bool begin_tidying(rota__pool *pool, uint32_t *ctl, bool *all_have_left)
{
    rota__mutex_lock(&pool->lock);
    *all_have_left = pool->registered == 0 && pool->rescuers == 0; /* pool.P4a */
    bool has_begun =
        *all_have_left && rota__ctl_change(&pool->ctl, ctl, rota__ctl_make(ROTA_TIDYING, 0));
    rota__mutex_unlock(&pool->lock);
    return has_begun;
}

/* POOL-56: forces nothing. Whoever changes what it depends on calls it. */
void rota__pool_try_terminate(rota__pool *pool)
{
    uint32_t ctl = rota__ctl_load(&pool->ctl);
    bool all_have_left = true;

    do {
        rota_executor_state state = rota__ctl_state(ctl);
        if (!all_have_left) /* the last one comes here */
            return;
        if (state == ROTA_RUNNING || state >= ROTA_TIDYING)
            return;
        if (state == ROTA_SHUTDOWN && !rota__queue_is_empty(pool->queue)) /* pool.P2 */
            return;
        if (rota__ctl_workers(ctl) > 0) {
            rota__pool_wake_idle(pool, false); /* which leaves, and comes here */
            return;
        }
    } while (!begin_tidying(pool, &ctl, &all_have_left)); /* ctl.C1 */
    terminate(pool);
}

int rota__pool_await_termination(rota_executor *ex, rota_ns timeout)
{
    rota__pool *pool = rota__pool_of(ex);
    rota_ns deadline;

    if (rota_is_terminated(ex))
        return ROTA_OK;
    deadline = rota__deadline(timeout);
    rota__mutex_lock(&pool->lock);
    if (rota__ctl_state(rota__ctl_load(&pool->ctl)) != ROTA_TERMINATED)
        return rota__latch_wait(&pool->waiters, &pool->lock, deadline);
    rota__mutex_unlock(&pool->lock);
    return ROTA_OK;
}

/* -- Shutdown ------------------------------------------------------------- */

int rota__pool_shutdown(rota_executor *ex, size_t *dropped)
{
    rota__pool *pool = rota__pool_of(ex);

    *dropped = 0;
    if (rota_is_shutdown(ex) || !rota__ctl_advance(&pool->ctl, ROTA_SHUTDOWN))
        return ROTA_OK;
    rota__queue_abort_producers(pool->queue);
    *dropped = pool->ops->drop_on_shutdown(pool);
    rota__pool_wake_idle(pool, true);
    rota__pool_rescue(pool, false); /* what is queued still runs, also if its worker is gone */
    return ROTA_OK;
}

static void stop_workers(rota__pool *pool)
{
    rota__stop_set(&pool->stopped); /* ctl.C3a */
    rota__mutex_lock(&pool->lock);
    for (rota__link *link = pool->workers.head.next; link != &pool->workers.head;
         link = link->next) {
        rota__worker *worker = ROTA__CONTAINER(link, rota__worker, link);
        if (worker->self != NULL) /* else it registers later, and sees the word */
            rota__stop_wake(worker->self, &pool->stopped);
    }
    rota__mutex_unlock(&pool->lock);
}

static bool is_any(void *element, void *ctx)
{
    (void)element;
    (void)ctx;
    return true;
}

/* POOL-54: everything, in the queue's order as far as it has one. */
static void drain_queue(rota__pool *pool, rota__chain *drained)
{
    void *task;

    while ((task = rota__queue_take(pool->queue, ROTA__ANY_EPOCH)) != NULL) {
        rota__pool_detach(pool, task);
        rota__chain_append(drained, task);
    }
    rota__pool_take_if(pool, is_any, NULL, drained);
    rota__mutex_lock(&pool->lock);
    pool->taken_out += drained->count;
    rota__chain_join(drained, &pool->drained); /* what an earlier call had no memory to hand over */
    rota__mutex_unlock(&pool->lock);
}

static void keep(rota__pool *pool, rota__chain *drained)
{
    rota__mutex_lock(&pool->lock);
    rota__chain_join(&pool->drained, drained);
    rota__mutex_unlock(&pool->lock);
}

int rota__pool_shutdown_now(rota_executor *ex, rota_task_list *drained, size_t *count)
{
    rota__pool *pool = rota__pool_of(ex);
    rota__chain chain = {0};
    int status;

    if (!rota__pool_is_here(pool))
        return rota__export_tasks(&chain, drained, count);
    if (rota__ctl_advance(&pool->ctl, ROTA_STOP)) {
        rota__queue_abort_producers(pool->queue);
        stop_workers(pool);
    }
    drain_queue(pool, &chain);
    status = rota__export_tasks(&chain, drained, count);
    if (status != ROTA_OK)
        keep(pool, &chain);
    rota__pool_try_terminate(pool);
    return status;
}
