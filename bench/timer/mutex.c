/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - a binary heap, a mutex and a condition. One worker at a time waits for the first timer,
 * the others for that one to take it.
 */
#include "heap.h"
#include "peer.h"

#include <bench/driver.h>
#include <pthread.h>
#include <sys/prctl.h>

struct timers {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t changed;
    struct heap heap;
    bool leading; /* a worker waits for the first */
    bool held, ended;
    unsigned workers;
    pthread_t ids[];
};

/* With the lock held, which it leaves meanwhile. */
static void wait_for_first(struct timers *timers)
{
    if (timers->held || timers->leading || timers->heap.count == 0) {
        pthread_cond_wait(&timers->changed, &timers->lock);
        return;
    }
    struct timespec time = timespec_of(timers->heap.entries[0].time);
    timers->leading = true;
    pthread_cond_timedwait(&timers->changed, &timers->lock, &time);
    timers->leading = false;
}

static void run(struct timers *timers, size_t id)
{
    if (!timers->leading && timers->heap.count > 0)
        pthread_cond_signal(&timers->changed);
    pthread_mutex_unlock(&timers->lock);
    timer_ran(id);
    pthread_mutex_lock(&timers->lock);
}

static void *work(void *arg)
{
    struct timers *timers = arg;
    size_t id;

    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    pthread_mutex_lock(&timers->lock);
    while (!timers->ended) {
        if (!timers->held && heap_take(&timers->heap, now(CLOCK_MONOTONIC), &id))
            run(timers, id);
        else
            wait_for_first(timers);
    }
    pthread_mutex_unlock(&timers->lock);
    return NULL;
}

static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* -- The peer -------------------------------------------------------------------------------- */

void *peer_make(const char *kind, unsigned workers, size_t most)
{
    struct timers *timers = calloc(1, sizeof *timers + workers * sizeof(pthread_t));

    (void)kind;
    if (timers == NULL)
        abort();
    heap_init(&timers->heap, most);
    pthread_mutex_init(&timers->lock, NULL);
    init_condition(&timers->changed);
    for (; timers->workers < workers; timers->workers++)
        if (pthread_create(&timers->ids[timers->workers], NULL, work, timers) != 0)
            abort();
    return timers;
}

static void set(struct timers *timers, bool *what, bool value)
{
    pthread_mutex_lock(&timers->lock);
    *what = value;
    pthread_cond_broadcast(&timers->changed);
    pthread_mutex_unlock(&timers->lock);
}

void peer_free(void *arg)
{
    struct timers *timers = arg;

    set(timers, &timers->ended, true);
    for (unsigned i = 0; i < timers->workers; i++)
        pthread_join(timers->ids[i], NULL);
    pthread_cond_destroy(&timers->changed);
    pthread_mutex_destroy(&timers->lock);
    heap_free(&timers->heap);
    free(timers);
}

void peer_schedule(void *arg, size_t id, uint64_t delay)
{
    struct timers *timers = arg;
    uint64_t time = now(CLOCK_MONOTONIC) + delay;

    pthread_mutex_lock(&timers->lock);
    heap_insert(&timers->heap, time, id);
    if (timers->heap.entries[0].id == id)
        pthread_cond_signal(&timers->changed);
    pthread_mutex_unlock(&timers->lock);
}

void peer_cancel(void *arg, size_t id)
{
    struct timers *timers = arg;

    pthread_mutex_lock(&timers->lock);
    heap_remove(&timers->heap, id);
    pthread_mutex_unlock(&timers->lock);
}

void peer_hold(void *arg)
{
    struct timers *timers = arg;

    set(timers, &timers->held, true);
}

void peer_release(void *arg)
{
    struct timers *timers = arg;

    set(timers, &timers->held, false);
}
