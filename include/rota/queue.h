/* SPDX-License-Identifier: MIT */
/*
 * rota/queue.h - seven blocking queues, and one of your own, behind one set of calls.
 *
 *     rota_queue *lines;
 *     rota_array_queue(1024, &lines);          // room for 1024, never more
 *
 *     rota_queue_put(lines, line);             // one thread: waits while it is full
 *     rota_queue_take(lines, &line);           // another: waits while it is empty
 *
 * Elements are pointers, anything but NULL, which a queue never looks behind; they stay yours. The
 * same pointer may be in a queue twice. What a thread did before it inserted an element is visible
 * to the thread that gets it.
 *
 * Every insertion and removal takes effect at one moment between its call and its return: what one
 * thread knows to be in a queue no other misses, a full queue is full and an empty one is empty. A
 * call that waits ends with ROTA_EINTERRUPTED when its thread is interrupted, and then has neither
 * inserted nor removed anything; where it need not wait it leaves the flag alone.
 *
 * Which of several waiting threads goes first is open, but for the fair hand-off queue: threads that
 * wait for room are served in about the order they came, and of those that wait for an element the
 * one that came last is the one whose caches are warm.
 *
 * Threads   Any number may use a queue at once; none of them waits by spinning for long, and an idle
 *           one costs nothing. rota_queue_free must be the last.
 */
#ifndef ROTA_QUEUE_H
#define ROTA_QUEUE_H

#include <rota/base.h>

ROTA_BEGIN

/* A queue of pointers, of whatever kind. */
typedef struct rota_queue rota_queue; /* yours until rota_queue_free, or a pool takes it over */

/* -- Kinds ----------------------------------------------------------------------------------- */

/* As a capacity: no limit but memory. Inserting then never waits. */
#define ROTA_UNBOUNDED SIZE_MAX

/* Less than 0, 0, or more: a goes before b, either way, after b. */
typedef int rota_compare(const void *a, const void *b, void *ctx);

/* When an element may be taken, on rota_now's clock. Asked once, when it is inserted. */
typedef rota_ns rota_due(const void *element, void *ctx);

/*
 * Makes a queue.
 *
 * array      a ring of fixed size; first in, first out
 * linked     the same, with memory only for what is in it
 * deque      open at both ends
 * priority   the least first, equal ones in the order they came
 * delay      what is due, the earliest first, equal ones in the order they came
 * hand-off   no room at all: a put waits for a take, a take for a put; the fair kind
 *            serves those who wait in the order they came
 * transfer   first in, first out, without a bound; a producer may wait for its consumer
 *
 * ROTA_EINVAL for a capacity of 0 and for a missing function, ROTA_ENOMEM also for an array that no
 * memory could hold. Functions are called with the queue locked, and must not call it.
 */
int rota_array_queue(size_t capacity, rota_queue **out);
int rota_linked_queue(size_t capacity, rota_queue **out);
int rota_deque(size_t capacity, rota_queue **out);
int rota_priority_queue(rota_compare *compare, void *ctx, rota_queue **out);
int rota_delay_queue(rota_due *due, void *ctx, rota_queue **out);
int rota_handoff_queue(rota_queue **out);
int rota_fair_handoff_queue(rota_queue **out);
int rota_transfer_queue(rota_queue **out);

/* Frees a queue. ROTA_EBUSY while a thread waits in it. Elements left in it are yours. */
int rota_queue_free(rota_queue *queue);

/* -- Inserting ------------------------------------------------------------------------------- */

/*
 * Inserts an element. ROTA_OK: it is in, or a consumer has it. ROTA_EFULL from the one that does not
 * wait, ROTA_ETIMEDOUT from the one that waits so long. ROTA_ENOMEM from kinds that grow; ROTA_EINVAL
 * for a NULL element. Kinds without a bound never wait.
 */
int rota_queue_put(rota_queue *queue, void *element);                          /* waits for room */
int rota_queue_offer(rota_queue *queue, void *element);                        /* does not wait */
int rota_queue_offer_timed(rota_queue *queue, void *element, rota_ns timeout); /* waits so long */

/* -- Removing -------------------------------------------------------------------------------- */

/* Takes the next element out. ROTA_EEMPTY from the one that does not wait, ROTA_ETIMEDOUT from the one
   that waits so long: *element is as it was then. */
int rota_queue_take(rota_queue *queue, void **element);                        /* waits for one */
int rota_queue_poll(rota_queue *queue, void **element);                        /* does not wait */
int rota_queue_poll_timed(rota_queue *queue, rota_ns timeout, void **element); /* waits so long */

/* The one that would come next, left there; in a delay queue it need not be due. ROTA_EEMPTY. */
int rota_queue_peek(rota_queue *queue, void **element);

/* Removes the first occurrence of this very pointer: true if it was there and is yours again. A
   priority or delay queue finds it at once, the others look at one element after the other. */
bool rota_queue_remove(rota_queue *queue, const void *element);

/* Takes out as many as there are, at most `max`, in the order of removal, and only what is due: how
   many. */
size_t rota_queue_drain(rota_queue *queue, void **elements, size_t max);

/*
 * Removes elements that `which` is true for, or all, due or not, with NULL: how many. It is asked once
 * about each element, with the queue locked, and must not call it.
 */
size_t rota_queue_remove_if(rota_queue *queue, bool (*which)(void *element, void *ctx), void *ctx);

/* -- Looking --------------------------------------------------------------------------------- */

/*
 * How many there are, and who waits. None of these waits for what other threads wait for. The room of
 * a kind without a bound is ROTA_UNBOUNDED; waiting counts the consumers in take and poll_timed whom
 * no element in the queue will serve. NULL is as an empty queue without room.
 */
size_t rota_queue_size(const rota_queue *queue);
size_t rota_queue_room(const rota_queue *queue);
size_t rota_queue_waiting(const rota_queue *queue);
bool rota_queue_contains(const rota_queue *queue, const void *element);

/*
 * Shows `visit` the elements, in the order of removal; those of a priority or delay queue in the
 * order they were inserted: how many. What is there from beginning to end is shown once; what comes
 * or goes meanwhile once or not at all. An element cannot leave the queue while it is shown, so it
 * is safe to look behind the pointer. Others may use the queue between any two small groups of
 * elements (one of your own is shown in one go), but `visit` must not call it.
 */
size_t rota_queue_each(const rota_queue *queue, void (*visit)(void *element, void *ctx), void *ctx);

/* -- Transfer queues ------------------------------------------------------------------------- */

/*
 * Inserts, and waits until a consumer has it: ROTA_OK, also if it was removed by name. With
 * ROTA_ETIMEDOUT and ROTA_EINTERRUPTED it is out of the queue again, and yours. With a timeout of 0
 * or less only a consumer that waits already can have it; so with try_transfer, where it is
 * ROTA_EFULL if none does. ROTA_ENOTSUP unless the queue is a transfer queue.
 */
int rota_queue_transfer(rota_queue *queue, void *element, rota_ns timeout);
int rota_queue_try_transfer(rota_queue *queue, void *element);

/* -- Deques ---------------------------------------------------------------------------------- */

/* The other ends of a deque: the calls above insert at its back and take from its front. ROTA_ENOTSUP,
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
 * You write a container, for one thread; the library makes a queue of it that waits, times out, is
 * interrupted and serves a pool like any other. The functions are called one at a time, with the
 * queue locked, and must not call it.
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
 * insert   ROTA_OK, ROTA_EFULL while there is no room for any element, or ROTA_ENOMEM; then nothing
 *          has changed.
 * take     The next element, which is out of the container then; NULL when there is none.
 * peek     The same, left in the container.
 * filter   Asks `drop` about each element once, in order, and takes out those for which it is
 *          true. All that looks for elements, or removes them by name, is made of this.
 * room     For how many more there is room; NULL: as long as there is memory.
 * free     Called last of all by rota_queue_free; NULL: nothing to do.
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

/* Makes a queue of a container of yours. ops is copied. `self` must be empty, and from now on the
   queue's alone. */
int rota_custom_queue(const rota_queue_ops *ops, void *self, rota_queue **out);

ROTA_END
#endif
