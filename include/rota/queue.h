/* SPDX-License-Identifier: MIT */
/*
 * rota/queue.h - blocking queues.
 *
 *     rota_queue *lines;
 *     rota_array_queue(1024, &lines);          // room for 1024 elements
 *
 *     rota_queue_put(lines, line);             // one thread: waits while the queue is full
 *     rota_queue_take(lines, &line);           // another thread: waits while the queue is empty
 *
 * There are seven kinds of queues, and queues around a container of your own. The same calls serve
 * all of them. The elements are pointers other than NULL. A queue does not own what they point to,
 * and does not look at it. The same pointer may be in a queue twice. A thread that takes an element
 * sees everything that another thread did before it inserted the element.
 *
 * Insertions and removals are linearizable: each takes effect at one moment between its call and
 * its return. A call that waits returns ROTA_EINTERRUPTED if its thread is interrupted, and has
 * then neither inserted nor removed an element. A call that does not have to wait leaves the
 * interrupt flag alone.
 *
 * The fair hand-off queue serves waiting threads in the order in which they came. Other queues
 * promise no order. As a rule, threads that wait for room are served in the order in which they
 * came. Of the threads that wait for an element, the last one is served first, because its caches
 * are warm.
 *
 * Threads   Any number of threads may use a queue at the same time. A thread that waits sleeps and
 *           uses no CPU. rota_queue_free must be the last call on a queue.
 */
#ifndef ROTA_QUEUE_H
#define ROTA_QUEUE_H

#include <rota/base.h>

ROTA_BEGIN

/* A queue of pointers, of any kind. */
typedef struct rota_queue rota_queue; /* yours until rota_queue_free, or until a pool owns it */

/* -- Creating a queue ------------------------------------------------------------------------ */

/* The kinds differ in their order, in their bound, and in the moment at which an element can be
   taken. A queue without a bound always has room, so inserting never waits. Every call in this
   section returns ROTA_EINVAL if a capacity is 0 or a function is missing. The functions are called
   while the queue is locked. They must return, and must not call the queue. */

/* The capacity of a queue without a bound: only memory limits it. */
#define ROTA_UNBOUNDED SIZE_MAX

/* Creates an array queue: first in, first out, in an array of fixed size. ROTA_ENOMEM if the array
   does not fit into memory. */
int rota_array_queue(size_t capacity, rota_queue **out);

/* Creates a linked queue: first in, first out, with memory only for the elements in it. The
   capacity may be ROTA_UNBOUNDED. */
int rota_linked_queue(size_t capacity, rota_queue **out);

/* Creates a deque, a queue that can be used at both ends. The capacity may be ROTA_UNBOUNDED. */
int rota_deque(size_t capacity, rota_queue **out);

/*
 * Creates a priority queue: the least element comes first, and equal elements come in the order in
 * which they were inserted. It has no bound. `compare` returns a number less than 0 if `a` comes
 * before `b`, greater than 0 if `a` comes after `b`, and 0 if they are equal. `ctx` is passed to
 * it.
 */
typedef int rota_compare(const void *a, const void *b, void *ctx);
int rota_priority_queue(rota_compare *compare, void *ctx, rota_queue **out);

/*
 * Creates a delay queue: only elements that are due can be taken. The earliest comes first, and
 * elements with equal times come in the order in which they were inserted. It has no bound. `due`
 * returns the time from which an element may be taken, on the clock of rota_now. It is called once
 * for each element, when the element is inserted. `ctx` is passed to it.
 */
typedef rota_ns rota_due(const void *element, void *ctx);
int rota_delay_queue(rota_due *due, void *ctx, rota_queue **out);

/* Creates a hand-off queue, which has no room at all: a put waits for a take, and a take waits for
   a put. */
int rota_handoff_queue(rota_queue **out);

/* Creates a hand-off queue that serves waiting threads in the order in which they came. */
int rota_fair_handoff_queue(rota_queue **out);

/* Creates a transfer queue: first in, first out, without a bound. A producer may wait for its
   consumer: see rota_queue_transfer. */
int rota_transfer_queue(rota_queue **out);

/* Frees a queue, but not the elements that are left in it. ROTA_EBUSY while a thread waits in the
   queue. */
int rota_queue_free(rota_queue *queue);

/* -- Inserting ------------------------------------------------------------------------------- */

/* After ROTA_OK the element is in the queue, or a consumer has taken it. ROTA_EINVAL if the element
   is NULL. A queue whose size is not fixed may return ROTA_ENOMEM. */

/* Inserts an element, and waits until there is room. */
int rota_queue_put(rota_queue *queue, void *element);

/* Inserts an element if there is room, and does not wait. ROTA_EFULL if there is no room. */
int rota_queue_offer(rota_queue *queue, void *element);

/* Inserts an element, and waits for room until the timeout has passed. ROTA_ETIMEDOUT if there was
   no room in time. */
int rota_queue_offer_timed(rota_queue *queue, void *element, rota_ns timeout);

/* -- Removing -------------------------------------------------------------------------------- */

/* In a delay queue, rota_queue_take, rota_queue_poll, rota_queue_poll_timed and rota_queue_drain
   take only elements that are due. A call that fails does not write *element. */

/* Takes the next element, and waits until there is one. */
int rota_queue_take(rota_queue *queue, void **element);

/* Takes the next element if there is one, and does not wait. ROTA_EEMPTY if there is none. */
int rota_queue_poll(rota_queue *queue, void **element);

/* Takes the next element, and waits for it until the timeout has passed. ROTA_ETIMEDOUT if there
   was none in time. */
int rota_queue_poll_timed(rota_queue *queue, rota_ns timeout, void **element);

/* Returns the next element and leaves it in the queue. In a delay queue the element may not be due
   yet. The call does not wait. ROTA_EEMPTY if there is none. */
int rota_queue_peek(rota_queue *queue, void **element);

/* Removes the first occurrence of a pointer. Returns true if the queue contained it. A priority or
   delay queue finds it at once. Other queues look at one element after the other. */
bool rota_queue_remove(rota_queue *queue, const void *element);

/* Takes all elements that are there, but at most `max`, and returns their number. They are stored
   in elements[0] and so on, in the order in which rota_queue_take would take them. The call does
   not wait. */
size_t rota_queue_drain(rota_queue *queue, void **elements, size_t max);

/* Removes the elements that a function chooses, and returns their number. With NULL it removes all
   elements. In a delay queue it also removes elements that are not due. `which` is called once for
   each element, while the queue is locked. It must return, and must not call the queue. */
size_t rota_queue_remove_if(rota_queue *queue, bool (*which)(void *element, void *ctx), void *ctx);

/* -- Looking at a queue ---------------------------------------------------------------------- */

/* The calls in this section do not wait for elements or room. For NULL they return 0 and false. */

/* Returns the number of elements in a queue. */
size_t rota_queue_size(const rota_queue *queue);

/* Returns for how many more elements a queue has room. For a queue without a bound this is
   ROTA_UNBOUNDED. */
size_t rota_queue_room(const rota_queue *queue);

/* Returns the number of consumers that wait. These are the threads in rota_queue_take and
   rota_queue_poll_timed for which there is no element. */
size_t rota_queue_waiting(const rota_queue *queue);

/* Returns true if a queue contains a pointer. */
bool rota_queue_contains(const rota_queue *queue, const void *element);

/*
 * Calls a function for each element of a queue, and returns how often it was called. The order is
 * that in which rota_queue_take would take the elements. In a priority or delay queue it is the
 * order in which they were inserted. An element that is in the queue during the whole call is shown
 * once. An element that is inserted or removed during the call is shown once or not at all.
 *
 * An element cannot leave the queue while `visit` looks at it, so `visit` may use the object that
 * the element points to. The queue is locked for a small group of elements at a time, and other
 * threads can use it in between. A queue around a container of your own is locked during the whole
 * call. `visit` must return, and must not call the queue.
 */
size_t rota_queue_each(const rota_queue *queue, void (*visit)(void *element, void *ctx), void *ctx);

/* -- Transfer queues ------------------------------------------------------------------------- */

/*
 * Inserts an element, and waits until a consumer has taken it or another thread has removed it. If
 * the call returns ROTA_ETIMEDOUT or ROTA_EINTERRUPTED, the element is not in the queue any more.
 * With a timeout of 0 or less, only a consumer that already waits can take it. ROTA_ENOTSUP if the
 * queue is not a transfer queue.
 */
int rota_queue_transfer(rota_queue *queue, void *element, rota_ns timeout);

/* Gives an element to a consumer that already waits, and does not wait itself. ROTA_EFULL if no
   consumer waits. ROTA_ENOTSUP if the queue is not a transfer queue. */
int rota_queue_try_transfer(rota_queue *queue, void *element);

/* -- Deques ---------------------------------------------------------------------------------- */

/* The calls above insert at the back of a deque and take from its front. The calls in this section
   use the other end, and otherwise behave like the calls of the same name above. They return
   ROTA_ENOTSUP, 0 or false if the queue is not a deque. */

/* Inserts an element at the front of a deque, and waits until there is room. */
int rota_deque_put_front(rota_queue *queue, void *element);

/* Inserts an element at the front of a deque if there is room, and does not wait. ROTA_EFULL if
   there is no room. */
int rota_deque_offer_front(rota_queue *queue, void *element);

/* Inserts an element at the front of a deque, and waits for room until the timeout has passed.
   ROTA_ETIMEDOUT if there was no room in time. */
int rota_deque_offer_front_timed(rota_queue *queue, void *element, rota_ns timeout);

/* Takes the element at the back of a deque, and waits until there is one. */
int rota_deque_take_back(rota_queue *queue, void **element);

/* Takes the element at the back of a deque if there is one, and does not wait. ROTA_EEMPTY if there
   is none. */
int rota_deque_poll_back(rota_queue *queue, void **element);

/* Takes the element at the back of a deque, and waits for it until the timeout has passed.
   ROTA_ETIMEDOUT if there was none in time. */
int rota_deque_poll_back_timed(rota_queue *queue, rota_ns timeout, void **element);

/* Returns the element at the back of a deque and leaves it there. The call does not wait.
   ROTA_EEMPTY if there is none. */
int rota_deque_peek_back(rota_queue *queue, void **element);

/* Removes the occurrence of a pointer that is nearest to the back. Returns true if the deque
   contained it. */
bool rota_deque_remove_last(rota_queue *queue, const void *element);

/* Calls a function for each element of a deque, from back to front. All other rules are those of
   rota_queue_each. */
size_t rota_deque_each_back(const rota_queue *queue, void (*visit)(void *element, void *ctx),
                            void *ctx);

/* -- A queue around your own container ------------------------------------------------------- */

/*
 * The functions of a container of your own. The container does not have to know about threads. The
 * library makes a queue of it that waits, times out, is interrupted and serves a pool like any
 * other. The functions are called one at a time, while the queue is locked. They must return, and
 * must not call the queue.
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
 * insert   Inserts an element and returns ROTA_OK. ROTA_EFULL means that there is no room for any
 *          element. After ROTA_EFULL and ROTA_ENOMEM the container has not changed.
 * take     Removes the next element and returns it, or returns NULL if there is none.
 * peek     Returns the next element and leaves it in the container, or returns NULL if there is
 *          none.
 *
 * filter   Calls `drop` once for each element, in order, and removes the elements for which it
 *          returns true. rota_queue_remove, rota_queue_contains, rota_queue_each and similar calls
 *          use this.
 * room     Returns for how many more elements there is room. NULL means that there is no bound.
 * free     Is called last, by rota_queue_free. It may be NULL.
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

/* Creates a queue around a container of your own. `ops` is copied. `self` is passed to each
   function. The container must be empty, and only the queue may use it until rota_queue_free has
   returned. */
int rota_custom_queue(const rota_queue_ops *ops, void *self, rota_queue **out);

ROTA_END
#endif
