/* SPDX-License-Identifier: MIT */
/*
 * settings.c - settings that can be changed while a pool runs.
 */
#include "pool/pool_internal.h"

/* Returns ROTA_OK with the lock held, or an error without it. */
static int begin_change(rota_executor *ex, rota__pool **pool)
{
    if (ex == NULL)
        return ROTA_EINVAL;
    *pool = rota__as_pool(ex);
    if (*pool == NULL || (*pool)->is_frozen)
        return ROTA_ENOTSUP;
    rota__mutex_lock(&(*pool)->workers.lock);
    return ROTA_OK;
}

static int end_change(rota__pool *pool, int status)
{
    rota__mutex_unlock(&pool->workers.lock);
    return status;
}

/* Starts workers for queued tasks, at most as many as the increase: POOL-40. */
static void grow(rota__pool *pool, unsigned increase)
{
    size_t queued = rota_queue_size(pool->queue);
    size_t wanted = queued < increase ? queued : increase;

    while (wanted-- > 0) {
        int status = rota__pool_add_worker(pool, NULL, ROTA__TO_CORE);
        if (status != ROTA_OK && status != ROTA_EREJECTED)
            rota__pool_run_inline(pool); /* pool.P8 */
        if (status != ROTA_OK)
            break;
        if (rota_queue_size(pool->queue) == 0)
            break;
    }
}

/* With the lock held. */
static bool are_limits_valid(const rota__pool *pool, unsigned core, unsigned max)
{
    return core <= ROTA__MOST_WORKERS && (!pool->ops->has_maximum || (max > 0 && max >= core));
}

static bool is_surplus(const rota__pool *pool)
{
    uint32_t workers = rota__ctl_workers(rota__ctl_load(&pool->workers.ctl));

    return workers > rota__load_relaxed(&pool->limit) || workers > rota__load_relaxed(&pool->core);
}

/* With the lock held: stores both limits and makes the workers follow them. */
static int set_limits_and_unlock(rota__pool *pool, unsigned core, unsigned max)
{
    uint32_t before = rota__load_relaxed(&pool->core);

    if (max > ROTA__MOST_WORKERS)
        max = ROTA__MOST_WORKERS;
    if (!are_limits_valid(pool, core, max))
        return end_change(pool, ROTA_EINVAL);
    rota__pool_store_limits(pool, core, max);
    rota__mutex_unlock(&pool->workers.lock);
    if (is_surplus(pool)) /* mutants: only a needless wake */
        rota__queue_abort_consumers(pool->queue);
    else if (core > before) /* mutants: growing by 0 does nothing */
        grow(pool, core - before);
    rota__queue_abort_producers(pool->queue); /* a submitter that waits for room may add a thread */
    return ROTA_OK;
}

int rota_pool_set_core_threads(rota_executor *ex, unsigned n)
{
    rota__pool *pool;
    int status = begin_change(ex, &pool);

    if (status != ROTA_OK)
        return status;
    return set_limits_and_unlock(pool, n, rota__load_relaxed(&pool->max));
}

int rota_pool_set_max_threads(rota_executor *ex, unsigned n)
{
    rota__pool *pool;
    int status = begin_change(ex, &pool);

    if (status != ROTA_OK)
        return status;
    if (!pool->ops->has_maximum)
        return end_change(pool, ROTA_OK);
    return set_limits_and_unlock(pool, rota__load_relaxed(&pool->core), n);
}

int rota_pool_resize(rota_executor *ex, unsigned core, unsigned max)
{
    rota__pool *pool;
    int status = begin_change(ex, &pool);

    if (status != ROTA_OK)
        return status;
    return set_limits_and_unlock(pool, core,
                                 pool->ops->has_maximum ? max : rota__load_relaxed(&pool->max));
}

int rota_pool_set_keep_alive(rota_executor *ex, rota_ns keep_alive)
{
    rota__pool *pool;
    int status = begin_change(ex, &pool);

    if (status != ROTA_OK)
        return status;
    if (keep_alive < 0)
        return end_change(pool, ROTA_EINVAL);
    rota__store_relaxed(&pool->keep_alive, keep_alive);
    rota__mutex_unlock(&pool->workers.lock);
    rota__queue_abort_consumers(pool->queue); /* idle workers compute their time again */
    return ROTA_OK;
}

int rota_pool_set_core_may_time_out(rota_executor *ex, bool on)
{
    rota__pool *pool;
    int status = begin_change(ex, &pool);

    if (status != ROTA_OK)
        return status;
    rota__store_relaxed(&pool->core_may_time_out, on);
    rota__mutex_unlock(&pool->workers.lock);
    if (on)
        rota__queue_abort_consumers(pool->queue);
    return ROTA_OK;
}

int rota_pool_set_reject(rota_executor *ex, rota_reject *on_reject, void *ctx)
{
    rota__pool *pool;
    int status = on_reject != NULL ? begin_change(ex, &pool) : ROTA_EINVAL;

    if (status != ROTA_OK)
        return status;
    pool->on_reject = on_reject;
    pool->reject_ctx = ctx;
    return end_change(pool, ROTA_OK);
}

int rota_pool_set_threads(rota_executor *ex, const rota_threads *threads)
{
    rota__thread_plan *plan, *before;
    rota__pool *pool;
    int status = ex != NULL && threads != NULL ? ROTA_OK : ROTA_EINVAL;

    if (status == ROTA_OK)
        status = rota__thread_plan_new(threads, &plan);
    if (status != ROTA_OK)
        return status;
    status = begin_change(ex, &pool);
    if (status != ROTA_OK) {
        rota__thread_plan_unref(plan);
        return status;
    }
    before = pool->workers.plan;
    pool->workers.plan = plan;
    rota__mutex_unlock(&pool->workers.lock);
    rota__thread_plan_unref(before);
    return ROTA_OK;
}

int rota_pool_options_get(rota_executor *ex, rota_pool_options *now)
{
    rota__pool *pool = rota__as_pool(ex);
    rota_ns keep_alive;

    if (ex == NULL || now == NULL)
        return ROTA_EINVAL;
    if (pool == NULL)
        return ROTA_ENOTSUP;
    rota__mutex_lock(&pool->workers.lock);
    keep_alive = rota__load_relaxed(&pool->keep_alive);
    *now = (rota_pool_options){
        .core_threads = rota__load_relaxed(&pool->core),
        .max_threads = rota__load_relaxed(&pool->max),
        .keep_alive = keep_alive != 0 ? keep_alive : 1, /* options have 1 for `at once` */
        .core_may_time_out = rota__load_relaxed(&pool->core_may_time_out) != 0,
        .on_reject = pool->on_reject,
        .reject_ctx = pool->reject_ctx,
        .threads = pool->workers.plan->threads,
        .hooks = pool->workers.hooks,
        .strict_wait = pool->workers.strict_wait,
    };
    rota__mutex_unlock(&pool->workers.lock);
    return ROTA_OK;
}

/* -- Threads before there are tasks --------------------------------------- */

/* How many core threads are missing. A thread that ends later is not counted: POOL-38. */
static unsigned missing_core_threads(const rota__pool *pool)
{
    uint32_t core = rota__load_relaxed(&pool->core);
    uint32_t workers = rota__ctl_workers(rota__ctl_load(&pool->workers.ctl));

    return workers < core ? core - workers : 0;
}

static int prestart(rota_executor *ex, unsigned most, unsigned *started)
{
    rota__pool *pool = rota__as_pool(ex);
    int status = ROTA_OK;
    unsigned count = 0;

    if (ex == NULL || started == NULL)
        return ROTA_EINVAL;
    if (pool == NULL)
        return ROTA_ENOTSUP;
    if (most > missing_core_threads(pool))
        most = missing_core_threads(pool);
    while (count < most && (status = rota__pool_add_worker(pool, NULL, ROTA__TO_CORE)) == ROTA_OK)
        count++;
    *started = count; /* also if a thread could not be started: POOL-61 */
    if (status == ROTA_OK || status == ROTA_EREJECTED)
        return ROTA_OK;
    rota__pool_run_inline(pool); /* pool.P8 */
    return ROTA_EAGAIN;
}

int rota_pool_prestart(rota_executor *ex, unsigned *started)
{
    return prestart(ex, ROTA__MOST_WORKERS, started);
}

int rota_pool_prestart_one(rota_executor *ex, unsigned *started)
{
    return prestart(ex, 1, started);
}
