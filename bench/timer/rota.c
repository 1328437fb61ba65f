/* SPDX-License-Identifier: MIT */
/*
 * rota.c - rota's scheduled pool. held: the futures are kept until a task is cancelled, or to the
 * end. dropped: there are none. counted: as held, and counts its bytes.
 */
#include "peer.h"

#include <bench/counted.h>
#include <rota/sched.h>
#include <semaphore.h>
#include <string.h>

struct timers {
    rota_executor *pool;
    rota_future **futures; /* by number; NULL: dropped */
    size_t most;
    sem_t held, gate;
};

static void *run(void *id)
{
    timer_ran((size_t)(uintptr_t)id);
    return NULL;
}

/* In memory before anything is measured: they are the user's, not the pool's. */
static rota_future **room_for_futures(size_t most)
{
    size_t bytes = (most * sizeof(rota_future *) + 63) / 64 * 64;
    rota_future **futures = aligned_alloc(64, bytes);

    if (futures == NULL)
        abort();
    memset(futures, 0, bytes);
    return futures;
}

void *peer_make(const char *kind, unsigned workers, size_t most)
{
    struct timers *timers = calloc(1, sizeof *timers);
    unsigned started;

    if (timers == NULL)
        abort();
    if (strcmp(kind, "counted") == 0)
        count_bytes();
    if (strcmp(kind, "dropped") != 0)
        timers->futures = room_for_futures(most);
    timers->most = most;
    sem_init(&timers->held, 0, 0);
    sem_init(&timers->gate, 0, 0);
    if (rota_sched_new(&(rota_sched_options){.core_threads = workers}, &timers->pool) != ROTA_OK
        || rota_pool_prestart(timers->pool, &started) != ROTA_OK)
        abort();
    return timers;
}

void peer_free(void *arg)
{
    struct timers *timers = arg;
    rota_task_list pending;

    if (rota_shutdown_now(timers->pool, &pending) != ROTA_OK)
        abort();
    rota_task_list_free(&pending);
    if (rota_close(timers->pool) != ROTA_OK)
        abort();
    for (size_t id = 0; timers->futures != NULL && id < timers->most; id++)
        rota_future_unref(timers->futures[id]);
    free(timers->futures);
    sem_destroy(&timers->gate);
    sem_destroy(&timers->held);
    free(timers);
}

static rota_future **future_of(struct timers *timers, size_t id)
{
    return timers->futures != NULL ? &timers->futures[id] : NULL;
}

void peer_schedule(void *arg, size_t id, uint64_t delay)
{
    struct timers *timers = arg;

    if (rota_schedule(timers->pool, run, (void *)(uintptr_t)id, (rota_ns)delay,
                      future_of(timers, id))
        != ROTA_OK)
        abort();
}

void peer_cancel(void *arg, size_t id)
{
    struct timers *timers = arg;

    if (!rota_future_cancel(timers->futures[id]))
        abort();
    rota_future_unref(timers->futures[id]);
}

bool peer_repeat(void *arg, size_t id, uint64_t delay, uint64_t period)
{
    struct timers *timers = arg;

    if (rota_schedule_at_fixed_rate(timers->pool, run, (void *)(uintptr_t)id, (rota_ns)delay,
                                    (rota_ns)period, future_of(timers, id))
        != ROTA_OK)
        abort();
    return true;
}

static void *wait_at_gate(void *arg)
{
    struct timers *timers = arg;

    sem_post(&timers->held);
    while (sem_wait(&timers->gate) != 0)
        ;
    return NULL;
}

void peer_hold(void *arg)
{
    struct timers *timers = arg;

    if (rota_execute(timers->pool, wait_at_gate, timers) != ROTA_OK)
        abort();
    while (sem_wait(&timers->held) != 0)
        ;
}

void peer_release(void *arg)
{
    struct timers *timers = arg;

    sem_post(&timers->gate);
}

size_t peer_bytes(void)
{
    return atomic_load(&counted_bytes);
}
