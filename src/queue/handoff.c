/* SPDX-License-Identifier: MIT */
/*
 * handoff.c - a queue without room: each producer gives its element directly to a consumer.
 *
 * The container is always empty. The thread that comes second finds the other one in a wait queue and
 * exchanges the element with it.
 * At most one of the two wait queues has entries. The fair kind serves the oldest entry, the other
 * kind the newest. (Both are described by Scherer, Lea and Scott, "Scalable synchronous queues",
 * 2006; here a lock is held for the few instructions of the exchange.)
 */
#include "queue/locked.h"

static int insert(rota_queue *queue, void *element, rota__end end)
{
    rota__locked *locked = rota__locked_of(queue);

    (void)end;
    rota__mutex_lock(&locked->lock);
    rota__waitq_entry *consumer = rota__waitq_hand_off(&locked->consumers);
    if (consumer != NULL)
        consumer->element = element;
    rota__mutex_unlock(&locked->lock);
    rota__waitq_wake(consumer);
    return consumer != NULL ? ROTA_OK : ROTA_EFULL;
}

static int take(rota_queue *queue, void **element, rota__end end, uint32_t epoch,
                rota__waitq_entry *entry)
{
    rota__locked *locked = rota__locked_of(queue);
    rota__waitq_entry *producer = NULL;

    (void)end;
    rota__mutex_lock(&locked->lock);
    bool is_over = rota__epoch_is_over(queue, epoch);
    if (!is_over)
        producer = rota__waitq_hand_off(&locked->producers);
    if (producer != NULL)
        *element = producer->element;
    if (producer != NULL && entry != NULL)
        entry->has_element = true;
    rota__mutex_unlock(&locked->lock);
    rota__waitq_wake(producer);
    if (is_over)
        return ROTA_EAGAIN;
    return producer != NULL ? ROTA_OK : ROTA_EEMPTY;
}

static size_t drain(rota_queue *queue, void **elements, size_t max)
{
    size_t count = 0;

    while (count < max
           && take(queue, &elements[count], ROTA__FRONT, ROTA__ANY_EPOCH, NULL) == ROTA_OK)
        count++;
    return count;
}

/* -- The empty container: QUEUE-30 ---------------------------------------- */

static int refuse(void *self, void *element)
{
    (void)self;
    (void)element;
    return ROTA_EFULL;
}

static void *find_nothing(void *self)
{
    (void)self;
    return NULL;
}

static void filter_nothing(void *self, rota__predicate *which, void *ctx)
{
    (void)self;
    (void)which;
    (void)ctx;
}

static size_t no_room(void *self)
{
    (void)self;
    return 0;
}

static const rota_queue_ops empty_container = {
    .insert = refuse,
    .take = find_nothing,
    .peek = find_nothing,
    .filter = filter_nothing,
    .room = no_room,
};

/* -- Waiting: for an entry in the other wait queue ------------------------ */

static rota_ns consumer_ready_at(const rota__waitq *waitq)
{
    const rota__locked *locked = waitq->owner;

    return rota__waitq_queued(&locked->consumers) > 0 ? ROTA__READY : ROTA_FOREVER;
}

static rota_ns producer_ready_at(const rota__waitq *waitq)
{
    const rota__locked *locked = waitq->owner;

    return rota__waitq_queued(&locked->producers) > 0 ? ROTA__READY : ROTA_FOREVER;
}

/* seems_ready is NULL: the other side cannot find a thread that spins before it is queued. */
static const rota__waitq_ops for_consumer = {consumer_ready_at, NULL};
static const rota__waitq_ops for_producer = {producer_ready_at, NULL};

static const rota__queue_kind handoff_kind = {
    .insert = insert, .take = take, .drain = drain, ROTA__LOCKED_REST};

static int handoff_new(rota__waitq_order order, rota_queue **out)
{
    if (out == NULL)
        return ROTA_EINVAL;
    int status = rota__locked_new_of(&handoff_kind, &empty_container, NULL, out);
    if (status != ROTA_OK)
        return status;
    rota__locked *locked = rota__locked_of(*out);
    rota__waitq_init(&locked->producers, &for_consumer, &locked->lock, locked, order);
    rota__waitq_init(&locked->consumers, &for_producer, &locked->lock, locked, order);
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
