/* SPDX-License-Identifier: MIT */
/*
 * fifo.h - a first-in first-out queue with one lock for each end.
 *
 * A thread that inserts and a thread that takes do not contend. (After the two-lock queue of Michael
 * and Scott, "Simple, fast, and practical non-blocking and blocking concurrent queue algorithms",
 * 1996, with numbered slots in place of nodes.)
 *
 * Elements are numbered in the order of insertion. The back counts the elements that were inserted,
 * the front those that were taken. Each end publishes its count, and reads the count of the other end
 * only when it has reached its own limit. Slots lie in segments. An array queue has one segment,
 * which is its own successor; other queues have as many as they need.
 *
 *   fifo.Q1  The elements in the queue have the numbers front.count to back.count - 1. There are
 *            never more than `capacity`. Each count changes under the lock of its end.
 *   fifo.Q2  A slot is written before back.count is published past it, and read before front.count
 *            is. Each end acquires the count that the other one has published.
 *   fifo.Q3  A thread that moves elements, or lowers back.count, holds both locks. It locks the front
 *            first.
 *   fifo.Q4  Consumers wait in the back's wait queue, and producers in the front's: the lock there
 *            protects the change that they wait for.
 *   fifo.Q5  In a queue that hands off, consumers are queued only while the queue is empty.
 *   fifo.Q6  An iterator moves with the element that it shows next, so it skips none if elements are
 *            removed.
 *   fifo.Q7  The epoch of the consumers also lies in the front, where `take` compares it. It is
 *            written with both locks held.
 */
/* layers: open, a pool calls the inline ends of its queue */
#ifndef ROTA_QUEUE_FIFO_H
#define ROTA_QUEUE_FIFO_H

#include "queue/queue_internal.h"

typedef struct rota__segment rota__segment;

struct rota__segment {
    rota__segment *next;
    void *slots[];
};

/* A position between two slots. The end of a segment is also the beginning of the next one. */
typedef struct rota__fifo_cursor {
    rota__segment *segment;
    size_t offset;
} rota__fifo_cursor;

typedef struct rota__fifo_end {
    _Alignas(ROTA__CACHE_LINE) rota__mutex lock;
    rota__atomic(uint32_t) epoch; /* fifo.Q7; of the front only */
    uint64_t count;               /* fifo.Q1; `published` is a copy for the other end */
    uint64_t limit;               /* how far the count may go, as far as this end knows */
    rota__fifo_cursor cursor;
    rota__waitq waitq;  /* fifo.Q4; its first fields share the line of the lock */
    unsigned refreshes; /* of the limit, since the last await_batch */
    unsigned backoff;   /* how many refreshes must pass before the next await_batch */

    /* In a line of its own, because the other end reads it. */
    _Alignas(ROTA__CACHE_LINE) rota__atomic(uint64_t) published;
} rota__fifo_end;

typedef struct rota__fifo {
    rota_queue queue;
    void *memory; /* the allocation, which need not be aligned to a cache line */
    size_t capacity;
    size_t segment_slots;
    bool is_ring;                        /* one segment for ever */
    bool hands_off;                      /* fifo.Q5: a transfer queue */
    rota__atomic(size_t) transfer_count; /* producers in `transfers` */
    rota__atomic(rota__segment *) spare; /* the front gives it to the back; or NULL */
    rota__list iterators;                /* protected by the front lock */
    rota__mutex transfers_lock;          /* locked after all others */
    rota__list transfers;                /* by number */
    rota__fifo_end back;
    rota__fifo_end front;
} rota__fifo;

extern const rota__queue_kind rota__fifo_kind; /* of array and linked queues */

static inline rota__fifo *rota__fifo_of(rota_queue *queue)
{
    return ROTA__CONTAINER(queue, rota__fifo, queue);
}

/* Returns the slot after the cursor, which moves behind it. There is one. */
static inline void **rota__fifo_next_slot(const rota__fifo *fifo, rota__fifo_cursor *cursor)
{
    if (cursor->offset == fifo->segment_slots) {
        cursor->segment = cursor->segment->next;
        cursor->offset = 0;
    }
    return &cursor->segment->slots[cursor->offset++];
}

/* The number of the next element to be inserted, for a thread that does not hold the back lock. */
static inline uint64_t rota__fifo_back_count(const rota__fifo *fifo)
{
    return rota__load_acquire(&fifo->back.published); /* fifo.Q2; pairs with publish */
}

void rota__fifo_lock_both(rota__fifo *fifo); /* fifo.Q3 */
void rota__fifo_unlock_both(rota__fifo *fifo);
void rota__segment_free(rota__fifo *fifo, rota__segment *segment);

/* Called with the back lock held: inserts the element, or hands it off. *next must be woken after
   unlocking. */
int rota__fifo_append(rota__fifo *fifo, void *element, rota__waitq_entry **next);

/* -- The ends, inline for pools ------------------------------------------- */

int rota__fifo_insert_slow_and_unlock(rota__fifo *fifo, void *element);
int rota__fifo_take_slow_and_unlock(rota__fifo *fifo, void **element, uint32_t epoch,
                                    rota__waitq_entry *entry);

/* Appends an element: the common case of the kind's insert. */
static inline int rota__fifo_insert(rota__fifo *fifo, void *element)
{
    rota__fifo_end *back = &fifo->back;

    rota__mutex_lock(&back->lock);
    if (ROTA__UNLIKELY(back->count == back->limit || back->cursor.offset == fifo->segment_slots
                       || fifo->hands_off))
        return rota__fifo_insert_slow_and_unlock(fifo, element);
    void **slot = &back->cursor.segment->slots[back->cursor.offset++];
    *slot = element; /* fifo.Q2a */
    if ((uintptr_t)slot % ROTA__CACHE_LINE == 0)
        rota__prefetch_for_write((char *)slot + 2 * ROTA__CACHE_LINE); /* the front had it last */
    rota__store_release(&back->published, ++back->count); /* fifo.Q2; pairs with refresh_limit */
    rota__waitq_entry *next = rota__waitq_notify(&back->waitq);
    rota__mutex_unlock(&back->lock);
    rota__waitq_wake(next);
    return ROTA_OK;
}

/* Takes the first element. NULL: there is none, or the consumers' epoch is over (waitq.W6). */
static inline void *rota__fifo_take(rota__fifo *fifo, uint32_t epoch)
{
    enum { AHEAD = 12, SLOTS_PER_LINE = ROTA__CACHE_LINE / sizeof(void *) };
    rota__fifo_end *front = &fifo->front;

    rota__mutex_lock(&front->lock);
    /* Relaxed: a producer counts its transfer before it publishes the element. */
    if (ROTA__UNLIKELY(front->count == front->limit || front->cursor.offset == fifo->segment_slots
                       || rota__load_relaxed(&fifo->transfer_count) != 0
                       || (epoch != ROTA__ANY_EPOCH
                           && epoch != rota__load_relaxed(&front->epoch)))) { /* fifo.Q7a */
        void *element = NULL;
        rota__fifo_take_slow_and_unlock(fifo, &element, epoch, NULL);
        return element;
    }
    void **slot = &front->cursor.segment->slots[front->cursor.offset++];
    void *element = *slot;
    rota__store_release(&front->published, ++front->count); /* fifo.Q2; pairs with refresh_limit */
    uint64_t left = front->limit - front->count;
    if (ROTA__LIKELY(left >= AHEAD && front->cursor.offset + AHEAD <= fifo->segment_slots))
        ROTA__PREFETCH(slot[AHEAD]);
    if ((uintptr_t)slot % ROTA__CACHE_LINE == 0 && left >= 4 * SLOTS_PER_LINE)
        ROTA__PREFETCH((char *)slot + 3 * ROTA__CACHE_LINE);
    rota__waitq_entry *next = rota__waitq_notify(&front->waitq);
    rota__mutex_unlock(&front->lock);
    rota__waitq_wake(next);
    return element;
}

/* Inserts an element at the back of any queue: the kind's insert, inline if the queue is a FIFO. */
static inline int rota__queue_insert(rota_queue *queue, void *element)
{
    if (ROTA__LIKELY(queue->kind == &rota__fifo_kind))
        return rota__fifo_insert(rota__fifo_of(queue), element);
    return queue->kind->insert(queue, element, ROTA__BACK);
}

/* Takes the first element of any queue, without waiting. NULL: as rota__fifo_take. */
static inline void *rota__queue_take(rota_queue *queue, uint32_t epoch)
{
    void *element = NULL;

    if (ROTA__LIKELY(queue->kind == &rota__fifo_kind))
        return rota__fifo_take(rota__fifo_of(queue), epoch);
    queue->kind->take(queue, &element, ROTA__FRONT, epoch, NULL);
    return element;
}

/* -- fifo_scan.c ---------------------------------------------------------- */

typedef bool rota__fifo_predicate(void *element, uint64_t number, void *ctx);

/* Called with both locks held: removes the elements that `drop` chooses, and counts them. */
size_t rota__fifo_filter(rota__fifo *fifo, rota__fifo_predicate *drop, void *ctx);

bool rota__fifo_remove(rota_queue *queue, const void *element, rota__end from);
bool rota__fifo_remove_due(rota_queue *queue, const void *element, rota_ns *ready_at);
size_t rota__fifo_remove_if(rota_queue *queue, rota__predicate *which, void *ctx);
bool rota__fifo_contains(rota_queue *queue, const void *element);
void rota__fifo_visit(rota_queue *queue, rota__queue_visit *visit, rota__end from);

/* -- transfer.c ----------------------------------------------------------- */

int rota__fifo_transfer(rota_queue *queue, void *element, rota_ns deadline);
int rota__fifo_try_transfer(rota_queue *queue, void *element);
bool rota__fifo_has_transfers(rota_queue *queue);

/* Called with the front lock held: the element of this number was taken. */
void rota__transfer_taken(rota__fifo *fifo, uint64_t number);
/* Called with both locks held: the element with this number now has the number `now`. */
void rota__transfer_moved(rota__fifo *fifo, uint64_t number, uint64_t now);

#endif
