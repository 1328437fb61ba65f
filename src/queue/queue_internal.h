/* SPDX-License-Identifier: MIT */
/*
 * queue_internal.h - what every kind of queue consists of.
 *
 *   queue.c    the calls: arguments, waiting in a loop around one try
 *   visit.c    elements that are shown to a function of the user's
 *   fifo.c     two locks, one for each end: array, linked and transfer queue
 *   locked.c   one lock around a container: deque.c, ordered.c (priority and
 *              delay queue), custom.c
 *   handoff.c  no container at all
 */
#ifndef ROTA_QUEUE_INTERNAL_H
#define ROTA_QUEUE_INTERNAL_H

#include "base/waitq.h"

#include <rota/queue.h>

/* How many elements a visitor is shown before the lock is yielded. */
#ifdef ROTA_EXPLORE
enum { ROTA__VISIT_BATCH = 1 };
#else
enum { ROTA__VISIT_BATCH = 32 };
#endif

typedef enum rota__end { ROTA__FRONT, ROTA__BACK } rota__end;

typedef bool rota__predicate(void *element, void *ctx);
typedef void rota__visitor(void *element, void *ctx);

/* -- Element ops ---------------------------------------------------------- */

/*
 * What the queue of a pool asks about its tasks, so that no function of the user's sees a task that
 * has ended. Called with a lock of the queue held, except visit_done.
 */
typedef struct rota__element_ops {
    /* Before an insertion into a queue with one lock. Any status but ROTA_OK refuses the element. */
    int (*may_enter)(void *ctx, void *element);

    /* Before the element is shown. False: it has ended, and must not be shown. */
    bool (*visit_begin)(void *element);

    /* After it was shown. True: it has ended meanwhile, and visit_done finishes it after unlocking.
       Until then it must stay valid, even if it leaves the queue. */
    bool (*visit_end)(void *element);
    void (*visit_done)(void *element);
} rota__element_ops;

/* -- Visits: visit.c ------------------------------------------------------ */

/*
 * One call that shows elements to a function of the user's: a visitor, or a predicate that chooses
 * which of them go. The lock is yielded after each batch, if the container can be walked in parts.
 */
typedef struct rota__queue_visit {
    const rota__element_ops *ops; /* or NULL */
    rota__predicate *ask;
    void *ctx;
    size_t shown;      /* in all */
    size_t batch_size; /* elements since the lock was yielded, shown or not */
    void **ended;      /* elements that have ended meanwhile, for visit_done */
    size_t ended_count;
    size_t ended_capacity;
    void *ended_in_batch[ROTA__VISIT_BATCH]; /* `ended`, while this is enough */
} rota__queue_visit;

void rota__queue_visit_init(rota__queue_visit *visit, const rota_queue *queue, rota__predicate *ask,
                            void *ctx);

/* Shows an element, with the lock held. True: `ask` has chosen it. A predicate itself, for filters. */
bool rota__queue_visit_ask(void *element, void *visit);

static inline bool rota__queue_visit_is_full(const rota__queue_visit *visit)
{
    return visit->batch_size == ROTA__VISIT_BATCH;
}

/* Ends a batch: lets other threads lock the queue, and finishes elements that have ended. */
void rota__queue_visit_yield(rota__queue_visit *visit, rota__mutex *lock);

/* Ends the visit, after unlocking. */
void rota__queue_visit_finish(rota__queue_visit *visit);

/* -- Kinds ---------------------------------------------------------------- */

/* Arguments have been checked. Only a deque is asked for its other end. None of these waits. */
typedef struct rota__queue_kind {
    int (*insert)(rota_queue *queue, void *element, rota__end end); /* ROTA_EFULL, ROTA_ENOMEM */
    /* ROTA_EEMPTY. `entry` is who takes it, after a wait, or NULL. */
    int (*take)(rota_queue *queue, void **element, rota__end end, rota__waitq_entry *entry);
    /* Shows the first, which is in the queue meanwhile. ROTA_EEMPTY */
    int (*peek)(rota_queue *queue, rota__end end, rota__visitor *show, void *ctx);
    size_t (*drain)(rota_queue *queue, void **elements, size_t max);

    bool (*remove)(rota_queue *queue, const void *element, rota__end from);
    /* Removes an element that is due. False: *ready_at is the time at which the element will be due, or
       ROTA_FOREVER if the queue does not hold it. */
    bool (*remove_due)(rota_queue *queue, const void *element, rota_ns *ready_at);
    size_t (*remove_if)(rota_queue *queue, rota__predicate *which, void *ctx);
    bool (*contains)(rota_queue *queue, const void *element);
    void (*visit)(rota_queue *queue, rota__queue_visit *visit, rota__end from);

    size_t (*size)(rota_queue *queue);
    size_t (*room)(rota_queue *queue);
    size_t (*waiting)(rota_queue *queue); /* consumers whom nothing in it serves */

    int (*transfer)(rota_queue *queue, void *element, rota_ns deadline); /* NULL: cannot */
    int (*try_transfer)(rota_queue *queue, void *element);
    bool is_deque;

    bool (*is_busy)(rota_queue *queue); /* beside its wait queues; NULL: never */
    void (*free)(rota_queue *queue);
} rota__queue_kind;

struct rota_queue {
    const rota__queue_kind *kind;
    rota__waitq *producers;               /* wait for room */
    rota__waitq *consumers;               /* wait for an element; every insertion holds its lock */
    const rota__element_ops *element_ops; /* or NULL: no pool owns the queue */
    void *element_ctx;                    /* for may_enter */
};

/*
 * For a pool. Exact: what was inserted before is seen, and who inserts later
 * sees what the caller did before this.
 */
bool rota__queue_is_empty(rota_queue *queue);

/* How long until its first element may be taken; ROTA_FOREVER: nobody knows. */
rota_ns rota__queue_ready_in(rota_queue *queue);

/*
 * A submitter waits for room, or for a change of its pool. It reads the epoch, looks at the pool,
 * and inserts in that epoch: ROTA_EAGAIN if producers were aborted since it read the epoch
 * (waitq.W6).
 */
uint32_t rota__queue_producer_epoch(const rota_queue *queue);
int rota__queue_insert_in_epoch(rota_queue *queue, void *element, uint32_t epoch, rota_ns timeout);
void rota__queue_abort_producers(rota_queue *queue);

#endif
