/* SPDX-License-Identifier: MIT */
/*
 * queues.h - every kind of queue, and threads that wait in one.
 *
 *     test_caller consumer;
 *     test_caller_start(&consumer, queue, test_take, NULL, ROTA_FOREVER); // it waits now
 *     assert_ok(rota_queue_put(queue, &element));
 *     test_caller_ends(&consumer, ROTA_OK, &element);
 */
#ifndef ROTA_TEST_QUEUES_H
#define ROTA_TEST_QUEUES_H

#include "rota_test_tasks.h"

#include <rota/queue.h>

/* -- Kinds ----------------------------------------------------------------------------------- */

/*
 * What differs between the kinds. Elements point to a uint64_t, their rank, by which a priority
 * queue orders them; in the delay queue all are due, and the lower rank was so earlier. So elements
 * that are inserted by rank leave every kind in this order.
 */
typedef struct test_queue_kind {
    const char *name;
    int (*make)(rota_queue **out);
    size_t capacity;  /* 0: it hands over; ROTA_UNBOUNDED: no bound */
    bool by_rank;     /* else an element is never looked behind     */
    bool grows;       /* an insertion may need memory               */
    bool is_transfer; /* rota_queue_transfer works                  */
    bool is_deque;    /* the calls of a deque work                  */
} test_queue_kind;

/* A long one has several segments, if it is made of such. */
enum { TEST_QUEUE_CAPACITY = 20, TEST_QUEUE_LONG = 250, TEST_QUEUE_KINDS = 12 };

extern const test_queue_kind test_queue_kinds[TEST_QUEUE_KINDS];

int test_compare_ranks(const void *a, const void *b, void *ctx);
rota_ns test_due_by_rank(const void *element, void *ctx);

/* A ring of `capacity`, as a user would write it, behind rota_custom_queue. */
int test_ring_queue(size_t capacity, rota_queue **out);

/* -- Calls that may wait, in one form -------------------------------------------------------- */

/* *element is what is inserted, or where what is removed goes. Some need no timeout. */
typedef int test_queue_call(rota_queue *queue, void **element, rota_ns timeout);

test_queue_call test_put, test_offer, test_offer_timed;
test_queue_call test_take, test_poll, test_poll_timed;
test_queue_call test_transfer, test_try_transfer;
test_queue_call test_put_front, test_offer_front, test_offer_front_timed;
test_queue_call test_take_back, test_poll_back, test_poll_back_timed;

/* -- A thread in such a call ----------------------------------------------------------------- */

typedef struct test_caller {
    rota_queue *queue;
    test_queue_call *call;
    void *element; /* TEST_UNTOUCHED: nothing was removed */
    rota_ns timeout;
    int status;
    bool interrupted; /* its flag afterwards */
    rota_ns ended_at;
    atomic_bool ended;
    test_thread *thread;
} test_caller;

/* NULL for `element`: the call removes one. When this returns, it waits. */
void test_caller_start(test_caller *caller, rota_queue *queue, test_queue_call *call, void *element,
                       rota_ns timeout);
void test_caller_interrupt(test_caller *caller);
void test_caller_await_end(test_caller *caller);

/* Asserts that it has not ended, and waits until it sleeps again if it was woken. */
void test_caller_still_waits(test_caller *caller);

/* Asserts what came of it and, for a removal, what it got; and no flag. */
void test_caller_ends(test_caller *caller, int status, const void *element);
void test_caller_ends_any(test_caller *caller, int status); /* whatever it got */

size_t test_callers_ended(test_caller *callers, size_t count);
void test_callers_await(test_caller *callers, size_t count, size_t ended); /* until so many have */

/* Until so many consumers wait in the queue. */
void test_queue_await_waiting(rota_queue *queue, size_t count);

/* -- What is in it --------------------------------------------------------------------------- */

/* What rota_queue_each and its like have shown. */
typedef struct test_shown {
    size_t count;
    void *elements[1100];
} test_shown;

void test_show(void *element, void *shown); /* a visitor */

#endif
