/* SPDX-License-Identifier: MIT */
/*
 * rota/queue.h - seven kinds of blocking queues, and queues of your own, behind one set of calls.
 *
 *     rota_queue *lines;
 *     rota_array_queue(1024, &lines);          // room for 1024, never more
 *
 *     rota_queue_put(lines, line);             // one thread: waits while it is full
 *     rota_queue_take(lines, &line);           // another: waits while it is empty
 *
 * Elements are pointers, any but NULL. A queue does not look at what they point to, and does not own
 * it. The same pointer may be in a queue twice. What a thread did before it inserted an element is
 * visible to the thread that gets it.
 *
 * Every insertion and removal takes effect at one moment between its call and its return: what one
 * thread knows to be in a queue no other misses, a full queue is full and an empty one is empty. A
 * call that waits returns ROTA_EINTERRUPTED when its thread is interrupted, and then has neither
 * inserted nor removed anything; if it need not wait it leaves the interrupt flag alone.
 *
 * Which of several waiting threads goes first is not promised, except by the fair hand-off queue. As a
 * rule threads that wait for room are served in the order they came, and of those that wait for an
 * element the one that came last, as its caches are warm.
 *
 * Threads   Any number may use a queue at once; a thread that waits sleeps, and costs nothing.
 *           rota_queue_free must be the last call on a queue.
 */
#ifndef ROTA_QUEUE_H
#define ROTA_QUEUE_H

#include <rota/base.h>

ROTA_BEGIN

/* A queue of pointers, of whatever kind. */
typedef struct rota_queue rota_queue; /* yours until rota_queue_free, or a pool takes it over */

/* -- Kinds ----------------------------------------------------------------------------------- */

/* As a capacity: no limit but memory. Inserting never waits then. */
#define ROTA_UNBOUNDED SIZE_MAX

/* The order of a priority queue: less than 0 if a goes before b, more than 0 if after it, 0 if they are
   equal. */
typedef int rota_compare(const void *a, const void *b, void *ctx);

/* When an element of a delay queue may be taken, on rota_now's clock. It is asked once, when the
   element is inserted. */
typedef rota_ns rota_due(const void *element, void *ctx);

/*
 * Makes a queue.
 *
 * array      first in, first out, in an array of fixed size
 * linked     first in, first out, with memory only for what is in it
 * deque      can be used at both ends
 * priority   the least element first, equal ones in the order they came; without a bound
 * delay      only what is due, the earliest first, equal ones in the order they came; without a bound
 * hand-off   has no room at all: a put waits for a take, and a take for a put; the fair kind serves
 *            those who wait in the order they came
 * transfer   first in, first out, without a bound; a producer may wait for its consumer
 *
 * ROTA_EINVAL for a capacity of 0 and for a missing function. ROTA_ENOMEM also for an array that is
 * larger than memory can be. The functions are called with the queue locked, and must not call it.
 */
int rota_array_queue(size_t capacity, rota_queue **out);
int rota_linked_queue(size_t capacity, rota_queue **out);
int rota_deque(size_t capacity, rota_queue **out);
int rota_priority_queue(rota_compare *compare, void *ctx, rota_queue **out);
int rota_delay_queue(rota_due *due, void *ctx, rota_queue **out);
int rota_handoff_queue(rota_queue **out);
int rota_fair_handoff_queue(rota_queue **out);
int rota_transfer_queue(rota_queue **out);

/* Frees a queue, but not the elements that are left in it. ROTA_EBUSY while a thread waits in it. */
int rota_queue_free(rota_queue *queue);

/* -- Inserting ------------------------------------------------------------------------------- */

/*
 * Inserts an element. ROTA_OK: it is in the queue, or a consumer has it. ROTA_EFULL if there is no
 * room and the call does not wait, ROTA_ETIMEDOUT if there was none in time. ROTA_ENOMEM from kinds
 * that grow; ROTA_EINVAL for a NULL element. Kinds without a bound always have room.
 */
int rota_queue_put(rota_queue *queue, void *element);                          /* waits for room */
int rota_queue_offer(rota_queue *queue, void *element);                        /* does not wait */
int rota_queue_offer_timed(rota_queue *queue, void *element, rota_ns timeout); /* waits so long */

/* -- Removing -------------------------------------------------------------------------------- */

/* Takes out the next element, into *element. ROTA_EEMPTY if there is none and the call does not wait,
   ROTA_ETIMEDOUT if there was none in time; *element is not written then. In a delay queue only what
   is due counts. */
int rota_queue_take(rota_queue *queue, void **element);                        /* waits for one */
int rota_queue_poll(rota_queue *queue, void **element);                        /* does not wait */
int rota_queue_poll_timed(rota_queue *queue, rota_ns timeout, void **element); /* waits so long */

/* The element that would be taken next, which stays in the queue; in a delay queue it need not be due.
   Does not wait. ROTA_EEMPTY if there is none. */
int rota_queue_peek(rota_queue *queue, void **element);

/* Removes the first occurrence of this pointer: true if it was there. A priority or delay queue finds
   it at once; the others look at one element after the other. */
bool rota_queue_remove(rota_queue *queue, const void *element);

/* Takes out several elements at once, as many as there are, but at most `max`, into elements[0] and
   so on: how many. They come in the order in which they would be taken; in a delay queue only what is
   due. Does not wait. */
size_t rota_queue_drain(rota_queue *queue, void **elements, size_t max);

/*
 * Removes the elements that a function chooses, or all with NULL, due or not: how many. `which` is
 * asked once about each element, with the queue locked, and must not call the queue.
 */
size_t rota_queue_remove_if(rota_queue *queue, bool (*which)(void *element, void *ctx), void *ctx);

/* -- Looking --------------------------------------------------------------------------------- */

/*
 * What is in a queue: how many elements, for how many more there is room, how many consumers wait,
 * and whether this pointer is among the elements. None of these waits. The room of a kind without a
 * bound is ROTA_UNBOUNDED. rota_queue_waiting counts the threads in take and poll_timed for which
 * there is no element. For NULL they return 0 and false.
 */
size_t rota_queue_size(const rota_queue *queue);
size_t rota_queue_room(const rota_queue *queue);
size_t rota_queue_waiting(const rota_queue *queue);
bool rota_queue_contains(const rota_queue *queue, const void *element);

/*
 * Calls `visit` for the elements, in the order in which they would be taken; in a priority or delay
 * queue in the order they were inserted: how many. What is in the queue all the time is shown once;
 * what comes or goes meanwhile once or not at all. An element cannot leave the queue while it is
 * shown, so `visit` may look at what it points to. The queue is locked for a small group of elements
 * at a time (a queue of your own for all), and others may use it in between; `visit` must not call it.
 */
size_t rota_queue_each(const rota_queue *queue, void (*visit)(void *element, void *ctx), void *ctx);

/* -- Transfer queues ------------------------------------------------------------------------- */

/*
 * Inserts an element, and waits until a consumer has taken it, or somebody has removed it: ROTA_OK.
 * With ROTA_ETIMEDOUT and ROTA_EINTERRUPTED it is out of the queue again, and yours. With a timeout
 * of 0 or less, only a consumer that waits already can take it. rota_queue_try_transfer does not
 * wait: ROTA_EFULL if no consumer does. ROTA_ENOTSUP unless the queue is a transfer queue.
 */
int rota_queue_transfer(rota_queue *queue, void *element, rota_ns timeout);
int rota_queue_try_transfer(rota_queue *queue, void *element);

/* -- Deques ---------------------------------------------------------------------------------- */

/* The other ends of a deque: rota_queue_put and its like insert at the back, rota_queue_take and its
   like take from the front. These return what the calls of the same names do: ROTA_EFULL if there is
   no room, ROTA_EEMPTY if there is no element, ROTA_ETIMEDOUT if there was none in time. ROTA_ENOTSUP,
   0 or false unless the queue is a deque. */
int rota_deque_put_front(rota_queue *queue, void *element);
int rota_deque_offer_front(rota_queue *queue, void *element);
int rota_deque_offer_front_timed(rota_queue *queue, void *element, rota_ns timeout);
int rota_deque_take_back(rota_queue *queue, void **element);
int rota_deque_poll_back(rota_queue *queue, void **element);
int rota_deque_poll_back_timed(rota_queue *queue, rota_ns timeout, void **element);
int rota_deque_peek_back(rota_queue *queue, void **element);
bool rota_deque_remove_last(rota_queue *queue,
                            const void *element); /* the occurrence nearest the back */
size_t rota_deque_each_back(const rota_queue *queue, void (*visit)(void *element, void *ctx),
                            void *ctx); /* as rota_queue_each, from the back */

/* -- A queue of your own --------------------------------------------------------------------- */

/*
 * The functions of a container of your own, which need not know of threads: the library makes a queue
 * of it that waits, times out, is interrupted and serves a pool like any other. They are called one at
 * a time, with the queue locked, and must not call the queue.
 *
 *     static int push(void *self, void *element)         // newest first: a stack
 *     {
 *         struct stack *stack = self;
 *         if (stack->count == DEPTH)
 *             return ROTA_EFULL;                          // a put waits
 *         stack->elements[stack->count++] = element;
 *         return ROTA_OK;
 *     }
 *     static void *pop(void *self)
 *     {
 *         struct stack *stack = self;
 *         return stack->count > 0 ? stack->elements[--stack->count] : NULL;
 *     }
 *     ...
 *     rota_custom_queue(&(rota_queue_ops){.insert = push, .take = pop, .peek = top,
 *                                         .filter = filter, .room = room}, &stack, &queue);
 *
 * insert   Returns ROTA_OK; ROTA_EFULL if there is no room for any element, or ROTA_ENOMEM: then the
 *          container has not changed.
 * take     Removes the next element and returns it; NULL if there is none.
 * peek     Returns the next element and leaves it in the container; NULL if there is none.
 * filter   Asks `drop` about each element once, in order, and removes those for which it is true.
 *          rota_queue_remove, rota_queue_contains, rota_queue_each and the like are made of this.
 * room     For how many more elements there is room; may be NULL if there is no bound.
 * free     Is called last of all by rota_queue_free; may be NULL.
 */
typedef struct rota_queue_ops {
    int (*insert)(void *self, void *element);
    void *(*take)(void *self);
    void *(*peek)(void *self);
    void (*filter)(void *self, bool (*drop)(void *element, void *ctx), void *ctx);
    size_t (*room)(void *self);
    void (*free)(void *self);
    void *reserved[4];
} rota_queue_ops;

/* Makes a queue from a container of your own. `ops` is copied. `self`, which is passed to each
   function, must be empty, and nobody but the queue may use it until rota_queue_free. */
int rota_custom_queue(const rota_queue_ops *ops, void *self, rota_queue **out);

ROTA_END
#endif
