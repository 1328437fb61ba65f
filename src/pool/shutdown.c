/* SPDX-License-Identifier: MIT */
/*
 * shutdown.c - the way of a pool to its end: ctl.h has the transitions.
 */
#include "pool/pool_internal.h"

#include "base/time.h"

/* -- The end -------------------------------------------------------------- */

typedef struct end_waiter {
    rota__link link;
    rota__waiter waiter;
} end_waiter;

static void call_terminated(void *arg)
{
    rota__pool *pool = arg;

    pool->hooks.terminated(&pool->executor, pool->hooks.ctx); /* P5 */
}

/* The last touch of the pool, unless a worker of it does this, which will be joined. */
static void terminate(rota__pool *pool)
{
    rota__link *link;

    rota__call_apart(pool->hooks.terminated != NULL ? call_terminated : NULL, pool);
    rota__mutex_lock(&pool->lock);
    rota__ctl_advance(&pool->ctl, ROTA_TERMINATED);
    while ((link = rota__list_take_first(&pool->waiters)) != NULL)
        rota__waiter_wake(&ROTA__CONTAINER(link, end_waiter, link)->waiter);
    rota__mutex_unlock(&pool->lock);
}

static bool have_all_left(rota__pool *pool)
{
    rota__mutex_lock(&pool->lock);
    bool have_left = pool->registered == 0;
    rota__mutex_unlock(&pool->lock);
    return have_left;
}

/* POOL-56: forces nothing. Whoever changes what it depends on calls it. */
void rota__pool_try_terminate(rota__pool *pool)
{
    uint32_t ctl = rota__ctl_load(&pool->ctl);

    do {
        rota_executor_state state = rota__ctl_state(ctl);
        if (state == ROTA_RUNNING || state >= ROTA_TIDYING)
            return;
        if (state == ROTA_SHUTDOWN && !rota__queue_is_empty(pool->queue)) /* P2 */
            return;
        if (rota__ctl_workers(ctl) > 0) {
            rota__pool_wake_idle(pool, false); /* which leaves, and comes here */
            return;
        }
        if (!have_all_left(pool)) /* P4: the last one comes here */
            return;
    } while (!rota__ctl_change(&pool->ctl, &ctl, rota__ctl_make(ROTA_TIDYING, 0))); /* C1 */
    terminate(pool);
}

/* False: it has ended already. */
static bool get_in_line(rota__pool *pool, end_waiter *mine)
{
    rota__link_init(&mine->link);
    rota__mutex_lock(&pool->lock);
    bool is_alive = rota__ctl_state(rota__ctl_load(&pool->ctl)) != ROTA_TERMINATED;
    if (is_alive)
        rota__list_append(&pool->waiters, &mine->link);
    rota__mutex_unlock(&pool->lock);
    return is_alive;
}

/* False: it was woken, just now. */
static bool step_out(rota__pool *pool, end_waiter *mine)
{
    rota__mutex_lock(&pool->lock);
    bool is_inside = rota__link_is_in_list(&mine->link);
    if (is_inside)
        rota__list_remove(&mine->link);
    rota__mutex_unlock(&pool->lock);
    return is_inside;
}

static int wait_for_end(rota__pool *pool, rota_ns deadline)
{
    end_waiter mine;
    int status = rota__waiter_init(&mine.waiter);

    if (status != ROTA_OK)
        return status;
    if (!get_in_line(pool, &mine)) {
        rota__waiter_withdraw(&mine.waiter);
        return ROTA_OK;
    }
    status = rota__waiter_wait(&mine.waiter, deadline);
    if (status == ROTA_OK)
        return ROTA_OK;
    if (!step_out(pool, &mine)) {
        rota__waiter_wait_only(&mine.waiter);
        return ROTA_OK;
    }
    rota__waiter_withdraw(&mine.waiter);
    if (status == ROTA_EINTERRUPTED)
        rota__take_interrupt(mine.waiter.thread);
    return status;
}

int rota__pool_await_termination(rota_executor *ex, rota_ns timeout)
{
    rota__pool *pool = rota__pool_of(ex);

    if (rota_is_terminated(ex))
        return ROTA_OK;
    return wait_for_end(pool, rota__deadline(timeout));
}

/* -- Shutdown ------------------------------------------------------------- */

int rota__pool_shutdown(rota_executor *ex)
{
    rota__pool *pool = rota__pool_of(ex);

    if (rota_is_shutdown(ex) || !rota__ctl_advance(&pool->ctl, ROTA_SHUTDOWN))
        return ROTA_OK;
    rota__queue_send_producers_away(pool->queue);
    if (pool->rules != NULL)
        pool->rules->on_shutdown(pool);
    rota__pool_wake_idle(pool, true);
    rota__pool_rescue(pool, false); /* what is queued still runs, also if its worker is gone */
    return ROTA_OK;
}

static void stop_workers(rota__pool *pool)
{
    rota__mutex_lock(&pool->lock);
    for (rota__link *link = pool->workers.head.next; link != &pool->workers.head;
         link = link->next) {
        rota__worker *worker = ROTA__CONTAINER(link, rota__worker, link);
        if (worker->self != NULL) /* else it sees for itself when it begins */
            rota__thread_stop(worker->self);
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

    while (pool->queue->kind->remove(pool->queue, &task, ROTA__FRONT, NULL) == ROTA_OK) {
        rota__pool_let_go(pool, task);
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
        return rota__hand_over(&chain, drained, count);
    if (rota__ctl_advance(&pool->ctl, ROTA_STOP)) {
        rota__queue_send_producers_away(pool->queue);
        stop_workers(pool);
    }
    drain_queue(pool, &chain);
    status = rota__hand_over(&chain, drained, count);
    if (status != ROTA_OK)
        keep(pool, &chain);
    rota__pool_try_terminate(pool);
    return status;
}
