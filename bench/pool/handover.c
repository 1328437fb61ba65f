/* SPDX-License-Identifier: MIT */
/*
 * handover.c - the floor for a single task: another thread, which waits for it at a semaphore; just
 * one, however many were asked for, and with room for one task.
 */
#include "peer.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct pool {
    pthread_t id;
    sem_t given; /* there is a task for the thread */
    sem_t idle;  /* the thread has done it */
    task *run;   /* NULL: the end */
    void *arg;
    void *result;
};

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        ;
}

static void *work(void *arg)
{
    struct pool *pool = arg;

    for (;;) {
        await(&pool->given);
        if (pool->run == NULL)
            return NULL;
        pool->result = pool->run(pool->arg);
        sem_post(&pool->idle);
    }
}

void *peer_make(const char *kind, unsigned threads, size_t capacity)
{
    struct pool *pool = calloc(1, sizeof *pool);

    (void)kind;
    (void)threads;
    (void)capacity;
    if (pool == NULL)
        abort();
    sem_init(&pool->given, 0, 0);
    sem_init(&pool->idle, 0, 1);
    if (pthread_create(&pool->id, NULL, work, pool) != 0)
        abort();
    return pool;
}

void peer_free(void *arg)
{
    struct pool *pool = arg;

    peer_execute(pool, NULL, NULL);
    pthread_join(pool->id, NULL);
    sem_destroy(&pool->idle);
    sem_destroy(&pool->given);
    free(pool);
}

void peer_execute(void *arg, task *run, void *its_arg)
{
    struct pool *pool = arg;

    await(&pool->idle);
    pool->run = run;
    pool->arg = its_arg;
    sem_post(&pool->given);
}

void *peer_submit(void *pool, task *run, void *arg)
{
    peer_execute(pool, run, arg);
    return pool;
}

void *peer_get(void *arg, void *future)
{
    struct pool *pool = arg;

    (void)future;
    await(&pool->idle);
    sem_post(&pool->idle);
    return pool->result;
}
