/* SPDX-License-Identifier: MIT */
/* apr.c - APR-util's apr_thread_pool; it has no bound */
#include "peer.h"

#include <apr_general.h>
#include <apr_thread_pool.h>
#include <stdlib.h>

struct pool {
    apr_pool_t *memory;
    apr_thread_pool_t *threads;
};

struct entry {
    task *run;
    void *arg;
};

static void *APR_THREAD_FUNC run_entry(apr_thread_t *thread, void *data)
{
    struct entry entry = *(struct entry *)data;

    (void)thread;
    free(data);
    return entry.run(entry.arg);
}

void *peer_make(const char *kind, unsigned threads, size_t capacity)
{
    struct pool *pool = malloc(sizeof *pool);

    (void)kind;
    if (capacity != UNBOUNDED) {
        free(pool);
        return NULL;
    }
    if (pool == NULL || apr_initialize() != APR_SUCCESS
        || apr_pool_create(&pool->memory, NULL) != APR_SUCCESS
        || apr_thread_pool_create(&pool->threads, threads, threads, pool->memory) != APR_SUCCESS)
        abort();
    return pool;
}

void peer_free(void *arg)
{
    struct pool *pool = arg;

    if (apr_thread_pool_destroy(pool->threads) != APR_SUCCESS)
        abort();
    apr_pool_destroy(pool->memory);
    apr_terminate(); /* it counts */
    free(pool);
}

void peer_execute(void *arg, task *run, void *its_arg)
{
    struct pool *pool = arg;
    struct entry *entry = malloc(sizeof *entry);

    if (entry == NULL)
        abort();
    *entry = (struct entry){run, its_arg};
    if (apr_thread_pool_push(pool->threads, run_entry, entry, APR_THREAD_TASK_PRIORITY_NORMAL, NULL)
        != APR_SUCCESS)
        abort();
}
