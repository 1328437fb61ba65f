/* SPDX-License-Identifier: MIT */
/*
 * figures.c - what a pool tells of itself.
 */
#include "forkjoin/forkjoin_internal.h"

#include <stdio.h>

static void fill(rota__fj_pool *pool, rota_forkjoin_stats *stats)
{
    uint32_t made;
    uint64_t crowd;

    rota__mutex_lock(&pool->lock);
    made = rota__load_relaxed(&pool->made);
    crowd = rota__load_relaxed(&pool->crowd);
    *stats = (rota_forkjoin_stats){
        .parallelism = pool->parallelism > 0 ? pool->parallelism : 1, /* FJ-07 */
        .threads = pool->threads,
        .active = rota__fj_count_busy(pool),
        .running = rota__crowd_get(crowd, FJ_ACTIVE),
        .submissions = rota__load_relaxed(&pool->submissions),
    };
    for (uint32_t i = 0; i < made; i++) {
        const rota__fj_worker *worker = rota__load_relaxed(&pool->workers[i]);
        stats->steals += rota__load_relaxed(&worker->steals);
        stats->queued += rota__deque_size(&worker->deque);
    }
    rota__mutex_unlock(&pool->lock);
}

int rota_forkjoin_stats_get(rota_executor *ex, rota_forkjoin_stats *stats)
{
    rota__fj_pool *pool = ex != NULL ? rota__as_forkjoin(ex) : NULL;

    if (ex == NULL || stats == NULL)
        return ROTA_EINVAL;
    if (pool == NULL || !rota__fj_is_here(pool))
        return ROTA_ENOTSUP;
    fill(pool, stats);
    return ROTA_OK;
}

void rota__fj_snapshot(rota_executor *ex, rota__snapshot *snapshot)
{
    rota__fj_pool *pool = rota__fj_pool_of(ex);
    rota_forkjoin_stats stats;

    fill(pool, &stats);
    snapshot->threads = stats.threads;
    snapshot->active = stats.active;
    snapshot->queued = stats.queued + stats.submissions;
    snapshot->stolen = stats.steals;
    rota__mutex_lock(&pool->lock);
    if (pool->tasks.first != NULL)
        rota__snapshot_oldest(snapshot, pool->tasks.first);
    rota__mutex_unlock(&pool->lock);
}

rota_executor_state rota__fj_state_of(const rota_executor *ex)
{
    const rota__fj_pool *pool = ROTA__CONST_CONTAINER(ex, rota__fj_pool, executor);

    return rota__fj_is_here(pool) ? rota__fj_pool_state(pool) : ROTA_TERMINATED;
}

int rota__fj_describe(const rota_executor *ex, char *line, size_t size)
{
    static const char *const states[] = {"running", "shutdown", "stop", "tidying", "terminated"};
    rota__fj_pool *pool = rota__fj_pool_of((rota_executor *)(uintptr_t)ex);
    rota_forkjoin_stats stats;

    if (!rota__fj_is_here(pool))
        return snprintf(line, size, "fork/join pool: of the parent process");
    fill(pool, &stats);
    return snprintf(line, size,
                    "fork/join pool: %s, parallelism %u, %u threads, %u active, %zu queued, "
                    "%zu submissions, %llu steals",
                    states[rota__fj_state_of(ex)], stats.parallelism, stats.threads, stats.active,
                    stats.queued, stats.submissions, (unsigned long long)stats.steals);
}
