/* SPDX-License-Identifier: MIT */
/*
 * sched_internal.h - the scheduled pool: a pool whose queue is a heap of tasks by
 * time, with rules of its own for what is queued, run again, and left at shutdown.
 *
 *   sched.c      a pool is made; tasks are scheduled
 *   rules.c      what is admitted, run, queued again, and dropped at shutdown
 *   due_queue.c  the heap of tasks, as a queue
 *
 *   sched.D1  Whether a task may enter the heap is decided with the heap's lock held, by the pool's
 *             state and the task's own. Who changes one of those does so first, and then goes
 *             through the heap, or looks for the task in it. So one of the two sees the other: no
 *             task stays that may not run any more, and none that was cancelled.
 *   sched.D2  A periodic task that was taken out finds its place in the heap free when it comes
 *             back, without memory (heap.H3); or it is settled, once.
 *   sched.D3  A task that was put into the heap may have run and be freed. Afterwards the thread
 *             that put it there knows it by its address alone.
 */
#ifndef ROTA_SCHED_INTERNAL_H
#define ROTA_SCHED_INTERNAL_H

#include "pool/pool_internal.h"

#include <rota/sched.h>

/* A future whose task is periodic. */
typedef struct rota__periodic {
    rota_future future; /* first */
    rota_ns period;     /* > 0: rate; < 0: delay, so negated */
    bool skips_missed;
    bool is_repeat;    /* it has run, and is in the heap once more, or about to be */
    uint64_t sequence; /* of its first time in the heap, and so of all: SCHED-05 */
} rota__periodic;

typedef struct rota__sched {
    rota__pool pool; /* first */
    rota__cancel_listener listener;
    int (*decorate)(rota_task *task, void *ctx);
    void *decorate_ctx;

    /* Policies: written with the pool's lock held, read at any time. */
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

/* -- rules.c -------------------------------------------------------------- */

int rota__sched_admits(void *ctx, rota_task *task); /* rota__admits; ctx is the pool */

extern const rota__pool_ops rota__sched_pool_ops;

/* Queues a task for its due time: `accept` of rota__pool_ops. */
int rota__sched_accept(rota__pool *pool, rota_task *task, rota_ns due);

/* Discards tasks that the policies do not let run any more (SCHED-23 to SCHED-26). Returns their
   number, without those that were done before. */
size_t rota__sched_tidy(rota__sched *sched);

void rota__sched_ended(rota__cancel_listener *listener, rota_future *future); /* the listener's */

/* -- due_queue.c ---------------------------------------------------------- */

/* May this task enter the heap? With its lock held: sched.D1. ROTA_EREJECTED; ROTA_ECANCELED: it is
   done. */
typedef int rota__admits(void *ctx, rota_task *task);

/* A queue of rota_task. */
int rota__due_queue_new(rota__admits *admits, void *ctx, rota_queue **out);

/* A periodic task that was taken out does not come back: sched.D2. */
void rota__due_queue_unreserve(rota_queue *queue);

#endif
