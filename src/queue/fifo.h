/* SPDX-License-Identifier: MIT */
/*
 * fifo.h - first in, first out, with a lock for each end, so that one thread
 * that inserts and one that removes do not meet. After the queue with two locks
 * of Michael and Scott, "Simple, fast, and practical non-blocking and blocking
 * concurrent queue algorithms" (1996), with numbered slots instead of nodes.
 *
 * Elements are numbered as they come. The back end counts those that came, the
 * front end those that went; each looks at the other's count only when it has used
 * up what its last look has found. Slots lie in segments: one
 * that is its own next for an array queue, else as many as are needed.
 *
 *   fifo.Q1  Elements front.passed up to, not with, back.passed are in the queue, never more than
 *            `capacity`. Each count changes under its end's lock.
 *   fifo.Q2  A slot is written before back.passed is published past it, and read before
 *            front.passed is; each end acquires what the other published.
 *   fifo.Q3  What moves elements, or lowers back.passed, holds both locks: the front one first.
 *   fifo.Q4  Consumers wait in the wait queue of the back, producers in that of the front: the
 *            change that they wait for happens there, under the lock of that end.
 *   fifo.Q5  In a queue that hands over, consumers are queued only while it is empty.
 *   fifo.Q6  A visit moves with the element that it shows next, so that a removal makes it skip
 *            none.
 */
#ifndef ROTA_QUEUE_FIFO_H
#define ROTA_QUEUE_FIFO_H

#include "queue/queue_internal.h"

#define ROTA__LINE 64 /* bytes that CPUs pass around as one */

typedef struct rota__segment rota__segment;

struct rota__segment {
    rota__segment *next;
    void *slots[];
};

/* Between two slots. At the end of a segment it stands for the beginning of the next as well. */
typedef struct rota__place {
    rota__segment *segment;
    size_t offset;
} rota__place;

typedef struct rota__fifo_end {
    rota__mutex lock;
    uint64_t passed;  /* fifo.Q1; a copy of what is published */
    uint64_t limit;   /* up to which it may go, by its last look at the other end */
    unsigned looks;   /* since the last that waited for more */
    unsigned shyness; /* how many it must be: see gather */
    rota__place place;
    rota__waitq waitq; /* fifo.Q4 */
    char apart[ROTA__LINE];
    rota__atomic(uint64_t) published; /* apart from the lock: others look at it */
    char apart_too[ROTA__LINE];
} rota__fifo_end;

typedef struct rota__fifo {
    rota_queue queue;
    size_t capacity;
    size_t span;                         /* slots in a segment */
    bool is_ring;                        /* one segment, for ever */
    bool hands_over;                     /* fifo.Q5 */
    rota__atomic(rota__segment *) spare; /* from the front to the back; one, or NULL */
    rota__list visits;                   /* under the front lock */
    rota__atomic(size_t) transfers;      /* that wait */
    rota__mutex transfers_lock;          /* the innermost */
    rota__list transferring;             /* by number */
    char apart[ROTA__LINE];
    rota__fifo_end back;
    rota__fifo_end front;
} rota__fifo;

static inline rota__fifo *rota__fifo_of(rota_queue *queue)
{
    return ROTA__CONTAINER(queue, rota__fifo, queue);
}

/* The slot after `place`, which moves on. There is one. */
static inline void **rota__next_slot(const rota__fifo *fifo, rota__place *place)
{
    if (place->offset == fifo->span) {
        place->segment = place->segment->next;
        place->offset = 0;
    }
    return &place->segment->slots[place->offset++];
}

/* The number of the next element to come, for who holds the front lock alone. */
static inline uint64_t rota__fifo_end_number(const rota__fifo *fifo)
{
    return rota__load_acquire(&fifo->back.published); /* fifo.Q2; pairs with publish */
}

void rota__fifo_lock_both(rota__fifo *fifo); /* fifo.Q3 */
void rota__fifo_unlock_both(rota__fifo *fifo);
void rota__segment_free(rota__fifo *fifo, rota__segment *segment);

/* With the back lock held: puts it in, or hands it over. *next must be woken once that is free. */
int rota__fifo_append(rota__fifo *fifo, void *element, rota__waitq_entry **next);

/* -- fifo_walk.c ---------------------------------------------------------- */

typedef bool rota__fifo_drop(void *element, uint64_t number, void *ctx);

/* With both locks held: takes out those that `drop` says, and returns how many. */
size_t rota__fifo_sift(rota__fifo *fifo, rota__fifo_drop *drop, void *ctx);

bool rota__fifo_remove(rota_queue *queue, const void *element, rota__end from);
size_t rota__fifo_remove_if(rota_queue *queue, rota__predicate *which, void *ctx);
bool rota__fifo_contains(rota_queue *queue, const void *element);
void rota__fifo_visit(rota_queue *queue, rota__queue_visit *visit, rota__end from);

/* -- transfer.c ----------------------------------------------------------- */

int rota__fifo_transfer(rota_queue *queue, void *element, rota_ns deadline);
int rota__fifo_try_transfer(rota_queue *queue, void *element);
bool rota__fifo_is_busy(rota_queue *queue);

/* With the front lock held: this one is gone. */
void rota__transfer_taken(rota__fifo *fifo, uint64_t number);
/* With both: this one is gone, or has a lower number now. */
void rota__transfer_moved(rota__fifo *fifo, uint64_t number, uint64_t now);

#endif
