/* SPDX-License-Identifier: MIT */
/* defaults.c - what a pool need not bring, above all futures, as one writes them by hand */
#include "peer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define DEFAULT __attribute__((weak))

struct latch {
    task *run;
    void *arg;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t opened;
    bool open;
    void *result;
};

static void *run_and_open(void *arg)
{
    struct latch *latch = arg;
    void *result = latch->run(latch->arg);

    pthread_mutex_lock(&latch->lock);
    latch->result = result;
    latch->open = true;
    pthread_cond_signal(&latch->opened);
    pthread_mutex_unlock(&latch->lock);
    return NULL;
}

DEFAULT void *peer_submit(void *pool, task *run, void *arg)
{
    struct latch *latch = calloc(1, sizeof *latch);

    if (latch == NULL)
        abort();
    latch->run = run;
    latch->arg = arg;
    pthread_mutex_init(&latch->lock, NULL);
    pthread_cond_init(&latch->opened, NULL);
    peer_execute(pool, run_and_open, latch);
    return latch;
}

DEFAULT void *peer_get(void *pool, void *future)
{
    struct latch *latch = future;

    (void)pool;
    pthread_mutex_lock(&latch->lock);
    while (!latch->open)
        pthread_cond_wait(&latch->opened, &latch->lock);
    pthread_mutex_unlock(&latch->lock);
    void *result = latch->result;
    pthread_cond_destroy(&latch->opened);
    pthread_mutex_destroy(&latch->lock);
    free(latch);
    return result;
}

DEFAULT void peer_finish(void *pool)
{
    (void)pool;
}

DEFAULT size_t peer_bytes(void)
{
    return 0;
}
