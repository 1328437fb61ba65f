/* SPDX-License-Identifier: MIT */
/* mutex.c - a ring of tasks, a mutex and two conditions, as one writes it by hand */
#include "peer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    task *run;
    void *arg;
};

struct pool {
    pthread_mutex_t lock; /* guards the ring and `ended` */
    pthread_cond_t not_empty;
    pthread_cond_t not_full;
    struct entry *ring;
    size_t size, head, count;
    bool bounded; /* else the ring grows */
    bool ended;
    unsigned threads;
    pthread_t ids[];
};

/* -- The ring, with the lock held ------------------------------------------------------------ */

static void grow(struct pool *pool)
{
    struct entry *ring = malloc(2 * pool->size * sizeof *ring);
    size_t first = pool->size - pool->head;

    if (ring == NULL)
        abort();
    memcpy(ring, pool->ring + pool->head, first * sizeof *ring);
    memcpy(ring + first, pool->ring, pool->head * sizeof *ring);
    free(pool->ring);
    pool->ring = ring;
    pool->size *= 2;
    pool->head = 0;
}

static void insert(struct pool *pool, struct entry entry)
{
    size_t at = pool->head + pool->count++;

    pool->ring[at < pool->size ? at : at - pool->size] = entry;
    pthread_cond_signal(&pool->not_empty);
}

static struct entry removed(struct pool *pool)
{
    struct entry entry = pool->ring[pool->head];

    pool->head = pool->head + 1 < pool->size ? pool->head + 1 : 0;
    pool->count--;
    if (pool->bounded)
        pthread_cond_signal(&pool->not_full);
    return entry;
}

/* -- The threads ----------------------------------------------------------------------------- */

static void *work(void *arg)
{
    struct pool *pool = arg;

    for (;;) {
        pthread_mutex_lock(&pool->lock);
        while (pool->count == 0 && !pool->ended)
            pthread_cond_wait(&pool->not_empty, &pool->lock);
        if (pool->count == 0)
            break;
        struct entry entry = removed(pool);
        pthread_mutex_unlock(&pool->lock);
        entry.run(entry.arg);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* -- The peer -------------------------------------------------------------------------------- */

void *peer_make(const char *kind, unsigned threads, size_t capacity)
{
    struct pool *pool = calloc(1, sizeof *pool + threads * sizeof(pthread_t));

    (void)kind;
    if (pool == NULL)
        abort();
    pool->bounded = capacity != UNBOUNDED;
    pool->size = pool->bounded ? capacity : 1024;
    pool->ring = malloc(pool->size * sizeof *pool->ring);
    if (pool->ring == NULL)
        abort();
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->not_empty, NULL);
    pthread_cond_init(&pool->not_full, NULL);
    for (; pool->threads < threads; pool->threads++)
        if (pthread_create(&pool->ids[pool->threads], NULL, work, pool) != 0)
            abort();
    return pool;
}

void peer_free(void *arg)
{
    struct pool *pool = arg;

    pthread_mutex_lock(&pool->lock);
    pool->ended = true;
    pthread_cond_broadcast(&pool->not_empty);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->threads; i++)
        pthread_join(pool->ids[i], NULL);
    pthread_cond_destroy(&pool->not_full);
    pthread_cond_destroy(&pool->not_empty);
    pthread_mutex_destroy(&pool->lock);
    free(pool->ring);
    free(pool);
}

void peer_execute(void *arg, task *run, void *its_arg)
{
    struct pool *pool = arg;

    pthread_mutex_lock(&pool->lock);
    while (pool->bounded && pool->count == pool->size)
        pthread_cond_wait(&pool->not_full, &pool->lock);
    if (pool->count == pool->size)
        grow(pool);
    insert(pool, (struct entry){run, its_arg});
    pthread_mutex_unlock(&pool->lock);
}
