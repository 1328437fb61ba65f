/* SPDX-License-Identifier: MIT */
/*
 * handoff.c - no element is ever in the queue: a producer meets a consumer.
 *
 * The second of the two finds the first one queued and serves it. At most one of
 * the two wait queues has entries. The fair kind serves the oldest, the other
 * the newest. (Scherer, Lea and Scott, "Scalable synchronous queues", 2006,
 * describe both; here a lock is held for the few instructions that they meet.)
 */
#include "queue/queue_internal.h"

#include "base/alloc.h"

typedef struct handoff {
    rota_queue queue;
    rota__mutex lock;
    rota__waitq producers;
    rota__waitq consumers;
} handoff;

static handoff *handoff_of(rota_queue *queue)
{
    return ROTA__CONTAINER(queue, handoff, queue);
}

static int insert(rota_queue *queue, void *element, rota__end end)
{
    handoff *self = handoff_of(queue);

    (void)end;
    rota__mutex_lock(&self->lock);
    rota__waitq_entry *consumer = rota__waitq_hand_off(&self->consumers);
    if (consumer != NULL)
        consumer->element = element;
    rota__mutex_unlock(&self->lock);
    rota__waitq_wake(consumer);
    return consumer != NULL ? ROTA_OK : ROTA_EFULL;
}

static size_t drain(rota_queue *queue, void **elements, size_t max)
{
    handoff *self = handoff_of(queue);
    rota__waitq_entry *producer;
    size_t count = 0;

    do {
        rota__mutex_lock(&self->lock);
        producer = rota__waitq_hand_off(&self->producers);
        if (producer != NULL)
            elements[count++] = producer->element;
        rota__mutex_unlock(&self->lock);
        rota__waitq_wake(producer);
    } while (producer != NULL && count < max);
    return count;
}

static int take(rota_queue *queue, void **element, rota__end end, rota__waitq_entry *entry)
{
    (void)end;
    (void)entry;
    return drain(queue, element, 1) == 1 ? ROTA_OK : ROTA_EEMPTY;
}

/* -- There is nothing to see: QUEUE-30 ------------------------------------ */

static int peek(rota_queue *queue, rota__end end, rota__visitor *show, void *ctx)
{
    (void)queue;
    (void)end;
    (void)show;
    (void)ctx;
    return ROTA_EEMPTY;
}

static bool remove_element(rota_queue *queue, const void *element, rota__end from)
{
    (void)queue;
    (void)element;
    (void)from;
    return false;
}

static bool contains(rota_queue *queue, const void *element)
{
    return remove_element(queue, element, ROTA__FRONT);
}

static size_t remove_if(rota_queue *queue, rota__predicate *which, void *ctx)
{
    (void)queue;
    (void)which;
    (void)ctx;
    return 0;
}

static void visit_all(rota_queue *queue, rota__queue_visit *visit, rota__end from)
{
    (void)queue;
    (void)visit;
    (void)from;
}

static size_t size(rota_queue *queue)
{
    (void)queue;
    return 0;
}

static size_t waiting(rota_queue *queue)
{
    return rota__waitq_queued(&handoff_of(queue)->consumers);
}

/* -- Wait queues ---------------------------------------------------------- */

static rota_ns consumer_when(const rota__waitq *waitq)
{
    const handoff *self = waitq->owner;

    return rota__waitq_queued(&self->consumers) > 0 ? ROTA__READY : ROTA_FOREVER;
}

static rota_ns producer_when(const rota__waitq *waitq)
{
    const handoff *self = waitq->owner;

    return rota__waitq_queued(&self->producers) > 0 ? ROTA__READY : ROTA_FOREVER;
}

/* Two threads that first spin for one another, and are queued later, would both lose time. */
static const rota__waitq_ops for_producers = {consumer_when, NULL};
static const rota__waitq_ops for_consumers = {producer_when, NULL};

static void handoff_free(rota_queue *queue)
{
    handoff *self = handoff_of(queue);

    rota__free(self, sizeof *self);
}

static bool remove_due(rota_queue *queue, const void *element, rota_ns *ready_at)
{
    (void)queue;
    (void)element;
    *ready_at = ROTA_FOREVER;
    return false;
}

static const rota__queue_kind handoff_kind = {
    .insert = insert,
    .take = take,
    .peek = peek,
    .drain = drain,
    .remove = remove_element,
    .remove_due = remove_due,
    .remove_if = remove_if,
    .contains = contains,
    .visit = visit_all,
    .size = size,
    .room = size,
    .waiting = waiting,
    .free = handoff_free,
};

static int handoff_new(rota__waitq_order order, rota_queue **out)
{
    handoff *self;

    if (out == NULL)
        return ROTA_EINVAL;
    self = rota__alloc(sizeof *self);
    if (self == NULL)
        return ROTA_ENOMEM;
    self->queue = (rota_queue){
        .kind = &handoff_kind, .producers = &self->producers, .consumers = &self->consumers};
    self->lock = (rota__mutex){0};
    rota__waitq_init(&self->producers, &for_producers, &self->lock, self, order);
    rota__waitq_init(&self->consumers, &for_consumers, &self->lock, self, order);
    *out = &self->queue;
    return ROTA_OK;
}

int rota_handoff_queue(rota_queue **out)
{
    return handoff_new(ROTA__NEWEST_FIRST, out); /* mutants: QUEUE-33 leaves the order open */
}

int rota_fair_handoff_queue(rota_queue **out)
{
    return handoff_new(ROTA__OLDEST_FIRST, out);
}
