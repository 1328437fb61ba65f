/* SPDX-License-Identifier: MIT */
/*
 * queue_internal.h - a queue, the operations of its kind, and the calls for pools.
 *
 *   queue.c      the calls of rota/queue.h: they check arguments, try, and wait
 *   visit.c      shows elements to a function of the user's
 *   fifo.h, .c   two locks, one for each end: array, linked and transfer queue
 *   locked.c     one lock around a container: deque.c, ordered.c (priority and delay queue),
 *                handoff.c (an empty container), and a user's container
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
 * A pool's queue asks these functions about its tasks, so that no function of the user's sees a task
 * that has ended. They are called with a lock of the queue held, except visit_done.
 */
typedef struct rota__element_ops {
    /* Before an insertion into a container. Any status but ROTA_OK refuses the element. */
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

/*
 * The operations of one kind of queue. Only `transfer` waits. Arguments have been
 * checked. Only a deque is asked for its other end.
 */
typedef struct rota__queue_kind {
    int (*insert)(rota_queue *queue, void *element, rota__end end); /* ROTA_EFULL, ROTA_ENOMEM */

    /* ROTA_EEMPTY, or ROTA_EAGAIN if the consumers' epoch is over (waitq.W6). `entry` is the entry of
       a consumer that has waited, or NULL. */
    int (*take)(rota_queue *queue, void **element, rota__end end, uint32_t epoch,
                rota__waitq_entry *entry);
    size_t (*drain)(rota_queue *queue, void **elements, size_t max);
    int (*peek)(rota_queue *queue, rota__end end, rota__visitor *show, void *ctx); /* ROTA_EEMPTY */

    bool (*remove)(rota_queue *queue, const void *element, rota__end from);
    /* Removes the element if it is due. If it is not, sets *ready_at to the time when it will be, or to
       ROTA_FOREVER if it is not in the queue. */
    bool (*remove_due)(rota_queue *queue, const void *element, rota_ns *ready_at);
    size_t (*remove_if)(rota_queue *queue, rota__predicate *which, void *ctx);
    bool (*contains)(rota_queue *queue, const void *element);
    void (*visit)(rota_queue *queue, rota__queue_visit *visit, rota__end from);

    size_t (*size)(rota_queue *queue);
    size_t (*room)(rota_queue *queue);
    size_t (*waiting)(rota_queue *queue); /* consumers for which there is no element */
    void (*abort_consumers)(rota_queue *queue);

    int (*transfer)(rota_queue *queue, void *element, rota_ns deadline);
    int (*try_transfer)(rota_queue *queue, void *element);
    bool (*has_transfers)(rota_queue *queue); /* a producer waits until its element is taken */
    bool is_deque;
    bool has_user_functions; /* a container or function of the user's reads the elements */

    void (*free)(rota_queue *queue);
} rota__queue_kind;

/* The members of a kind without transfers, which return ROTA_ENOTSUP. */
#define ROTA__NO_TRANSFERS                                                \
    .transfer = rota__no_transfer, .try_transfer = rota__no_try_transfer, \
    .has_transfers = rota__has_no_transfers

int rota__no_transfer(rota_queue *queue, void *element, rota_ns deadline);
int rota__no_try_transfer(rota_queue *queue, void *element);
bool rota__has_no_transfers(rota_queue *queue);

struct rota_queue {
    const rota__queue_kind *kind;
    rota__waitq *producers; /* wait for room */
    rota__waitq *consumers; /* wait for an element; insertions hold its lock */
    const rota__atomic(uint32_t) * consumer_epoch; /* `take` reads it under its lock: waitq.W6 */
    const rota__element_ops *element_ops;          /* or NULL: no pool owns the queue */
    void *element_ctx;                             /* for may_enter */
};

/* Called by `take`, with its lock held. */
static inline bool rota__epoch_is_over(const rota_queue *queue, uint32_t epoch)
{
    return epoch != ROTA__ANY_EPOCH && epoch != rota__load_relaxed(queue->consumer_epoch);
}

/* -- For pools; see also rota__queue_insert and rota__queue_take in fifo.h -- */

/* Tells whether the queue is empty. The answer is exact: it accounts for every insertion before the
   call. A thread that inserts later sees everything that the caller did before. */
bool rota__queue_is_empty(rota_queue *queue);

/* Returns the time until the first element is due, or ROTA_FOREVER if there is none. */
rota_ns rota__queue_ready_in(rota_queue *queue);

/*
 * A submitter waits for room, or for a change of its pool. It reads the epoch, checks the pool, and
 * then inserts. If there is room, the element is inserted in any epoch, and the submitter checks the
 * pool again. If there is none, it waits in that epoch only: ROTA_EAGAIN if producers were aborted
 * since it read the epoch (waitq.W6).
 */
uint32_t rota__queue_producer_epoch(const rota_queue *queue);
int rota__queue_insert_in_epoch(rota_queue *queue, void *element, uint32_t epoch, rota_ns timeout);
void rota__queue_abort_producers(rota_queue *queue);

/*
 * A worker waits for a task, or for a change of its pool, in the same way: it reads the epoch, checks
 * the pool, and takes in that epoch only. ROTA_EAGAIN if consumers were aborted since it read the
 * epoch.
 */
static inline uint32_t rota__queue_consumer_epoch(const rota_queue *queue)
{
    return rota__load_acquire(queue->consumer_epoch); /* pairs with kind->abort_consumers */
}

int rota__queue_take_waiting(rota_queue *queue, uint32_t epoch, rota_ns deadline, void **element);

/* Begins a new epoch: waiting consumers return, and no consumer takes an element in the old one. */
static inline void rota__queue_abort_consumers(rota_queue *queue)
{
    queue->kind->abort_consumers(queue);
}

#endif
