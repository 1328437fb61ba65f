/* SPDX-License-Identifier: MIT */
/*
 * sched_internal.h - the scheduled pool: a pool whose queue is ordered by due time.
 *
 *   sched.c      decides which tasks are queued, run, queued again and dropped; the public calls
 *   due_queue.c  the heap of tasks, as a queue
 *
 *   sched.D1  Whether a task may enter the heap is decided under the heap's lock, by the state of
 *             the pool and the state of the task. A thread that changes one of these states does so
 *             first, and then walks the heap or searches it for the task. So one of the two threads
 *             sees the other: no task stays in the heap that may not run or was cancelled.
 *   sched.D2  A periodic task that was taken out has a reserved slot, so it can be queued again
 *             without memory (heap.H3). If it does not come back, the slot is given up, once.
 *   sched.D3  A task that was inserted into the heap may have run and have been freed. The thread
 *             that inserted it uses only its address from then on.
 */
#ifndef ROTA_SCHED_INTERNAL_H
#define ROTA_SCHED_INTERNAL_H

#include "pool/pool_internal.h"

#include <rota/sched.h>

/* A future whose task is periodic. */
typedef struct rota__periodic {
    rota_future future; /* first */
    rota_ns period;     /* > 0: a fixed rate; < 0: a fixed delay, negated */
    bool skips_missed;
    bool is_repeat;    /* the task has run, and is in the heap again or about to be */
    uint64_t sequence; /* from its first insertion, kept by all later ones: SCHED-05 */
} rota__periodic;

typedef struct rota__sched {
    rota__pool pool; /* first */
    rota__cancel_listener listener;
    int (*decorate)(rota_task *task, void *ctx);
    void *decorate_ctx;

    /* Policies: written under the pool's lock, read at any time. */
    rota__atomic(bool) drop_delayed;
    rota__atomic(bool) keep_periodic;
    rota__atomic(bool) keep_cancelled;
} rota__sched;

static inline rota__sched *rota__sched_of(rota__pool *pool)
{
    return ROTA__CONTAINER(pool, rota__sched, pool);
}

static inline rota__periodic *rota__periodic_of(rota_future *future)
{
    return ROTA__CONTAINER(future, rota__periodic, future);
}

/* -- due_queue.c ---------------------------------------------------------- */

/* Decides, under the heap's lock, whether a task may enter the heap (sched.D1). ROTA_EREJECTED if
   the pool is shut down, ROTA_ECANCELED if the task is done. */
typedef int rota__admits(void *ctx, rota_task *task);

/* Creates a queue of tasks that is ordered by due time. */
int rota__due_queue_new(rota__admits *admits, void *ctx, rota_queue **out);

/* Gives up the slot of a periodic task that does not come back: sched.D2. */
void rota__due_queue_unreserve(rota_queue *queue);

#endif
