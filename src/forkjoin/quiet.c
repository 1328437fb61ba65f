/* SPDX-License-Identifier: MIT */
/*
 * quiet.c - until nothing is queued, and nobody does anything.
 */
#include "forkjoin/forkjoin_internal.h"

#include "base/time.h"

/* How many do anything, or are about to (crew.W4). */
unsigned rota__fj_count_busy(const rota__fj_pool *pool)
{
    uint64_t crowd = rota__load_relaxed(&pool->crowd);

    return pool->threads + pool->guests - rota__crowd_get(crowd, FJ_SLEEPING);
}

bool rota__fj_has_only(const rota__fj_pool *pool, unsigned busy)
{
    return rota__fj_count_busy(pool) == busy && rota__load_relaxed(&pool->submissions) == 0;
}

int rota__fj_await_quiet(rota__fj_pool *pool, rota_ns deadline)
{
    rota__mutex_lock(&pool->lock);
    if (!rota__fj_has_only(pool, 0))
        return rota__latch_wait(&pool->quiet, &pool->lock, deadline);
    rota__mutex_unlock(&pool->lock);
    return ROTA_OK;
}

/* -- By a worker ---------------------------------------------------------- */

/*
 * One look of who rests: takes nothing, and so changes nothing. A moment when all rest is one for all
 * of them, also for those who look later, when the first have gone on.
 */
static bool was_quiet_since(rota__fj_pool *pool, uint64_t before)
{
    rota__mutex_lock(&pool->lock);
    if (pool->quiets == before && rota__fj_has_only(pool, pool->resting))
        pool->quiets++;
    bool was_so = pool->quiets != before;
    rota__mutex_unlock(&pool->lock);
    return was_so;
}

/* ROTA_EBUSY: there is something to do. */
static int rest_until(rota__fj_pool *pool, uint64_t before, rota_ns deadline)
{
    unsigned turns = ROTA__BACKOFF_INIT;

    for (;;) {
        if (was_quiet_since(pool, before))
            return ROTA_OK;
        if (rota__crew_has_work(pool))
            return ROTA_EBUSY;
        if (rota__take_interrupt(rota__self()))
            return ROTA_EINTERRUPTED;
        if (rota__has_passed(deadline))
            return ROTA_ETIMEDOUT;
        rota__backoff(&turns);
    }
}

static int rest(rota__fj_pool *pool, rota_ns deadline)
{
    uint64_t before;
    int status;

    rota__mutex_lock(&pool->lock);
    pool->resting++;
    before = pool->quiets;
    rota__mutex_unlock(&pool->lock);
    status = rest_until(pool, before, deadline);
    rota__mutex_lock(&pool->lock);
    pool->resting--;
    rota__mutex_unlock(&pool->lock);
    return status;
}

static int help_until_quiet(rota__fj_worker *worker, rota_ns deadline)
{
    int status;

    do {
        while (rota__fj_run_one(worker))
            continue;
        status = rest(worker->pool, deadline);
    } while (status == ROTA_EBUSY);
    return status;
}

int rota_await_quiescence(rota_executor *ex, rota_ns timeout)
{
    rota__fj_pool *pool = ex != NULL ? rota__as_forkjoin(ex) : NULL;
    rota__fj_worker *worker = rota__fj_me();
    rota_ns deadline = rota__deadline(timeout);

    if (ex == NULL)
        return ROTA_EINVAL;
    if (pool == NULL)
        return ROTA_ENOTSUP;
    if (!rota__fj_is_here(pool))
        return ROTA_OK;
    if (worker != NULL && worker->pool == pool)
        return help_until_quiet(worker, deadline);
    return rota__fj_await_quiet(pool, deadline);
}
