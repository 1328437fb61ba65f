/* SPDX-License-Identifier: MIT */
/*
 * taking.c - tasks of rota_submit and rota_execute taken back out: FJ-27.
 */
#include "forkjoin/forkjoin_internal.h"

#include "base/check.h"

static int find_pool(rota_executor *ex, rota__fj_pool **pool)
{
    if (ex == NULL)
        return ROTA_EINVAL;
    *pool = rota__as_forkjoin(ex);
    return *pool != NULL && rota__fj_is_here(*pool) ? ROTA_OK : ROTA_ENOTSUP;
}

int rota_forkjoin_poll_submission(rota_executor *ex, rota_task **task)
{
    rota__fj_pool *pool;
    rota_task *oldest;
    int status = task != NULL ? find_pool(ex, &pool) : ROTA_EINVAL;

    if (status != ROTA_OK)
        return status;
    rota__mutex_lock(&pool->lock);
    oldest = rota__inbox_take_task(pool);
    rota__fj_settle(pool); /* it may have been all that a shutdown waits for */
    if (oldest == NULL)
        return ROTA_EEMPTY;
    *task = oldest;
    return ROTA_OK;
}

/* -- All of them ---------------------------------------------------------- */

static void take_submissions(rota__fj_pool *pool, rota__task_slist *taken)
{
    rota_task *task;

    rota__mutex_lock(&pool->lock);
    while ((task = rota__inbox_take_task(pool)) != NULL)
        rota__task_slist_append(taken, task);
    rota__mutex_unlock(&pool->lock);
}

static bool offers_task(const rota__deque *deque)
{
    const rota_fj *oldest = rota__deque_peek(deque);

    return oldest != NULL && rota__entry_is_task(oldest);
}

static void take_public(rota__fj_pool *pool, rota__deque *deque, rota__task_slist *taken)
{
    while (offers_task(deque)) {
        rota_fj *entry = rota__crew_steal(pool, deque);
        if (entry == NULL)
            return;
        if (rota__entry_is_task(entry))
            rota__task_slist_append(taken, rota__task_in(entry));
        else
            rota__fj_give_back(pool, entry); /* somebody took the task that was seen */
    }
}

static void take_from_deques(rota__fj_pool *pool, rota__task_slist *taken)
{
    uint32_t made = rota__load_acquire(&pool->made);

    for (uint32_t i = 0; i < made; i++)
        take_public(pool, &rota__load_relaxed(&pool->workers[i])->deque, taken);
}

static void take_all(rota__fj_pool *pool, rota__task_slist *taken)
{
    rota__fj_worker *me = rota__fj_me();

    take_submissions(pool, taken);
    if (me != NULL && me->pool == pool)
        rota__deque_open(&me->deque);
    take_from_deques(pool, taken);
    if (rota__crew_force(pool)) /* where nothing public is left */
        take_from_deques(pool, taken);
}

static void give_all_back(rota__fj_pool *pool, rota__task_slist *taken)
{
    rota_task *task;

    while ((task = rota__task_slist_take(taken)) != NULL)
        rota__fj_give_back(pool, rota__entry_of(task));
}

/* Counted as a guest, so that the pool does not end meanwhile. */
static void begin(rota__fj_pool *pool)
{
    rota__mutex_lock(&pool->lock);
    pool->guests++;
    rota__mutex_unlock(&pool->lock);
}

static void end(rota__fj_pool *pool)
{
    rota__mutex_lock(&pool->lock);
    pool->guests--;
    ROTA__BUG(forkjoin.F5b, rota__crew_hand_on(pool),
              rota__mutex_unlock(&pool->lock)); /* unlocks */
}

int rota_forkjoin_drain_tasks(rota_executor *ex, rota_task_list *drained)
{
    rota__fj_pool *pool;
    rota__task_slist taken = {0};
    size_t count;
    int status = drained != NULL ? find_pool(ex, &pool) : ROTA_EINVAL;

    if (status != ROTA_OK)
        return status;
    begin(pool);
    take_all(pool, &taken);
    status = rota__export_tasks(&taken, drained, &count);
    if (status != ROTA_OK)
        give_all_back(pool, &taken);
    end(pool);
    return status;
}
