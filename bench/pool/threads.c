/* SPDX-License-Identifier: MIT */
/* threads.c - the floor for making and freeing a pool: a thread for each task, joined at the end */
#include "peer.h"

#include <pthread.h>
#include <stdlib.h>

struct pool {
    unsigned size, count;
    pthread_t ids[];
};

void *peer_make(const char *kind, unsigned threads, size_t capacity)
{
    struct pool *pool = calloc(1, sizeof *pool + threads * sizeof(pthread_t));

    (void)kind;
    (void)capacity;
    if (pool == NULL)
        abort();
    pool->size = threads;
    return pool;
}

void peer_free(void *arg)
{
    struct pool *pool = arg;

    for (unsigned i = 0; i < pool->count; i++)
        pthread_join(pool->ids[i], NULL);
    free(pool);
}

void peer_execute(void *arg, task *run, void *its_arg)
{
    struct pool *pool = arg;

    if (pool->count == pool->size
        || pthread_create(&pool->ids[pool->count++], NULL, run, its_arg) != 0)
        abort();
}
