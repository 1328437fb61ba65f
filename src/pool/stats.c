/* SPDX-License-Identifier: MIT */
/*
 * stats.c - statistics of a pool, and a line for logs.
 */
#include "pool/pool_internal.h"

#include <stdio.h>

/* With the lock held: adds up what the workers count for themselves. */
static uint64_t add_up(const rota__pool *pool, rota_pool_stats *stats)
{
    uint64_t running = 0;
    const rota__list *list = &pool->workers.list;

    stats->completed = pool->workers.completed;
    for (const rota__link *link = list->head.next; link != &list->head; link = link->next) {
        const rota__worker *worker = ROTA__CONST_CONTAINER(link, rota__worker, link);
        uint64_t counts =
            rota__load_acquire(&worker->task_counts); /* pairs with the worker's own count */
        stats->completed += rota__counts_completed(counts);
        running += rota__counts_running(counts);
        stats->active += rota__counts_running(counts) != 0;
    }
    return running;
}

static void fill(rota__pool *pool, rota_pool_stats *stats)
{
    uint64_t submitted;

    *stats = (rota_pool_stats){0};
    rota__mutex_lock(&pool->workers.lock);
    stats->threads = rota__ctl_workers(rota__ctl_load(&pool->workers.ctl));
    stats->largest = pool->workers.largest;
    stats->core_threads = rota__load_relaxed(&pool->core);
    stats->max_threads = rota__load_relaxed(&pool->max);
    stats->rejected = pool->rejected;
    submitted = pool->removed + add_up(pool, stats);
    stats->queued = rota_queue_size(pool->queue); /* last, so no task is counted twice */
    submitted += stats->completed + stats->queued;
    uint64_t requeued = rota__load_relaxed(&pool->requeued); /* after the sum */
    /* The sum misses a task that was between two places, and a periodic task may have been queued
       again since its runs were counted. So the greatest number counts. */
    if (submitted > requeued && submitted - requeued > pool->submitted)
        pool->submitted = submitted - requeued;
    stats->submitted = pool->submitted;
    if (stats->active > stats->threads)
        stats->active = stats->threads; /* GCOVR_EXCL_LINE: a thread ended between both counts */
    rota__mutex_unlock(&pool->workers.lock);
}

/* An observer may have counted the task. If not, the next observer finds the right sum. */
void rota__pool_uncount(rota__pool *pool)
{
    rota__mutex_lock(&pool->workers.lock);
    if (pool->submitted > 0)
        pool->submitted--;
    rota__mutex_unlock(&pool->workers.lock);
}

int rota_pool_stats_get(rota_executor *ex, rota_pool_stats *stats)
{
    rota__pool *pool = rota__as_pool(ex);

    if (ex == NULL || stats == NULL)
        return ROTA_EINVAL;
    if (pool == NULL)
        return ROTA_ENOTSUP;
    fill(pool, stats);
    return ROTA_OK;
}

static void see_oldest(void *element, void *snapshot)
{
    rota__snapshot_oldest(snapshot, element);
}

void rota__pool_snapshot(rota_executor *ex, rota__snapshot *snapshot)
{
    rota__pool *pool = rota__pool_of(ex);
    rota_pool_stats stats;

    fill(pool, &stats);
    snapshot->threads = stats.threads;
    snapshot->active = stats.active;
    snapshot->queued = stats.queued;
    snapshot->submitted = stats.submitted;
    snapshot->completed = stats.completed;
    snapshot->rejected = stats.rejected;
    pool->queue->kind->peek(pool->queue, ROTA__FRONT, see_oldest, snapshot);
}

int rota__pool_describe(const rota_executor *ex, char *line, size_t size)
{
    static const char *const states[] = {"running", "shutdown", "stop", "tidying", "terminated"};
    rota__pool *pool = rota__pool_of((rota_executor *)(uintptr_t)ex);
    rota_pool_stats stats;

    if (!rota__pool_is_here(pool))
        return snprintf(line, size, "pool: of the parent process");
    fill(pool, &stats);
    return snprintf(
        line, size, "%s: %s, %u threads of %u to %u, %u active, %zu queued, %llu completed",
        pool->ops->name, states[rota_executor_state_of(ex)], stats.threads, stats.core_threads,
        stats.max_threads, stats.active, stats.queued, (unsigned long long)stats.completed);
}
