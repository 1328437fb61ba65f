/* SPDX-License-Identifier: MIT */
#include "queue/locked.h"

#include "base/time.h"

/* -- Counts, which can be read without the lock --------------------------- */

/* After a change, with the lock held. Whoever sees the new size sees what came before the change. */
static void count(rota__locked *locked, size_t size)
{
    rota__store_release(&locked->size, size); /* pairs with rota__locked_size */
    rota__store_relaxed(&locked->room, locked->container->room(locked));
}

static size_t counted(const rota__locked *locked)
{
    return rota__load_relaxed(&locked->size);
}

size_t rota__locked_size(rota_queue *queue)
{
    return rota__load_acquire(&rota__locked_of(queue)->size); /* pairs with count */
}

size_t rota__locked_room(rota_queue *queue)
{
    return rota__load_relaxed(&rota__locked_of(queue)->room);
}

static rota_ns due(rota__locked *locked)
{
    if (counted(locked) == 0)
        return ROTA_FOREVER;
    return locked->container->due != NULL ? locked->container->due(locked) : ROTA__READY;
}

size_t rota__locked_waiting(rota_queue *queue)
{
    rota__locked *locked = rota__locked_of(queue);
    size_t at_hand, waiting;

    rota__mutex_lock(&locked->lock);
    at_hand = counted(locked);
    if (locked->container->count_due != NULL)
        at_hand = locked->container->count_due(locked, rota__waitq_queued(&locked->consumers) + 1);
    waiting = rota__waitq_count_waiting(&locked->consumers, at_hand);
    rota__mutex_unlock(&locked->lock);
    return waiting;
}

/* -- Inserting and removing ----------------------------------------------- */

static int may_enter(rota_queue *queue, void *element)
{
    if (queue->element_ops == NULL)
        return ROTA_OK;
    return queue->element_ops->may_enter(queue->element_ctx, element);
}

int rota__locked_insert(rota_queue *queue, void *element, rota__end end)
{
    rota__locked *locked = rota__locked_of(queue);
    rota__waitq_entry *next = NULL;
    int status;

    rota__mutex_lock(&locked->lock);
    status = may_enter(queue, element);
    if (status == ROTA_OK)
        status = locked->container->insert(locked, element, end);
    if (status == ROTA_OK) {
        count(locked, counted(locked) + 1);
        next = rota__waitq_notify(&locked->consumers);
    } else if (status == ROTA_EFULL) {
        rota__store_relaxed(&locked->room, 0); /* whatever it says: until one is removed */
    }
    rota__mutex_unlock(&locked->lock);
    rota__waitq_wake(next);
    return status;
}

/* With the lock held: the next, if it is due. A container that has none has none, whatever we
   counted. */
static void *take(rota__locked *locked, rota__end end)
{
    rota_ns when = due(locked);
    void *element;

    if (when != ROTA__READY && !rota__has_passed(when))
        return NULL;
    element = locked->container->take(locked, end);
    count(locked, element != NULL ? counted(locked) - 1 : 0);
    return element;
}

int rota__locked_take(rota_queue *queue, void **element, rota__end end, rota__waitq_entry *entry)
{
    rota__locked *locked = rota__locked_of(queue);
    rota__waitq_entry *next = NULL;
    void *taken;

    rota__mutex_lock(&locked->lock);
    taken = take(locked, end);
    if (taken != NULL)
        next = rota__waitq_notify(&locked->producers);
    if (taken != NULL && entry != NULL)
        entry->has_element = true;
    rota__mutex_unlock(&locked->lock);
    rota__waitq_wake(next);
    if (taken == NULL)
        return ROTA_EEMPTY;
    *element = taken;
    return ROTA_OK;
}

size_t rota__locked_drain(rota_queue *queue, void **elements, size_t max)
{
    rota__locked *locked = rota__locked_of(queue);
    rota__waitq_entry *next = NULL;
    size_t drained = 0;
    void *taken;

    rota__mutex_lock(&locked->lock);
    while (drained < max && (taken = take(locked, ROTA__FRONT)) != NULL)
        elements[drained++] = taken;
    if (drained > 0)
        next = rota__waitq_notify(&locked->producers);
    rota__mutex_unlock(&locked->lock);
    rota__waitq_wake(next);
    return drained;
}

int rota__locked_peek(rota_queue *queue, rota__end end, rota__visitor *show, void *ctx)
{
    rota__locked *locked = rota__locked_of(queue);
    void *first;

    rota__mutex_lock(&locked->lock);
    first = locked->container->peek(locked, end);
    if (first != NULL)
        show(first, ctx);
    rota__mutex_unlock(&locked->lock);
    return first != NULL ? ROTA_OK : ROTA_EEMPTY;
}

/* -- Elements by name, and all of them ------------------------------------ */

/* With the lock held. */
static bool remove_element(rota__locked *locked, const void *element, rota__end from,
                           rota__waitq_entry **next)
{
    if (!locked->container->remove_element(locked, element, from))
        return false;
    count(locked, counted(locked) - 1);
    *next = rota__waitq_notify(&locked->producers);
    return true;
}

bool rota__locked_remove(rota_queue *queue, const void *element, rota__end from)
{
    rota__locked *locked = rota__locked_of(queue);
    rota__waitq_entry *next = NULL;

    rota__mutex_lock(&locked->lock);
    bool removed = remove_element(locked, element, from, &next);
    rota__mutex_unlock(&locked->lock);
    rota__waitq_wake(next);
    return removed;
}

bool rota__locked_remove_due(rota_queue *queue, const void *element, rota_ns *ready_at)
{
    rota__locked *locked = rota__locked_of(queue);
    rota__waitq_entry *next = NULL;
    rota_ns due_at = ROTA__READY;
    bool removed = false;

    rota__mutex_lock(&locked->lock);
    if (locked->container->due_at != NULL)
        due_at = locked->container->due_at(locked, element);
    if (due_at == ROTA__READY || rota__has_passed(due_at)) {
        removed = remove_element(locked, element, ROTA__FRONT, &next);
        due_at = ROTA_FOREVER;
    }
    rota__mutex_unlock(&locked->lock);
    rota__waitq_wake(next);
    *ready_at = due_at;
    return removed;
}

typedef struct choice {
    rota__predicate *which;
    void *ctx;
    size_t count;
} choice;

static bool is_chosen(void *element, void *ctx)
{
    choice *chosen = ctx;

    if (!chosen->which(element, chosen->ctx))
        return false;
    chosen->count++;
    return true;
}

size_t rota__locked_remove_if(rota_queue *queue, rota__predicate *which, void *ctx)
{
    rota__locked *locked = rota__locked_of(queue);
    choice chosen = {which, ctx, 0};
    rota__waitq_entry *next = NULL;

    rota__mutex_lock(&locked->lock);
    locked->container->filter(locked, is_chosen, &chosen);
    if (chosen.count > 0) {
        count(locked, counted(locked) - chosen.count);
        next = rota__waitq_notify(&locked->producers);
    }
    rota__mutex_unlock(&locked->lock);
    rota__waitq_wake(next);
    return chosen.count;
}

bool rota__locked_contains(rota_queue *queue, const void *element)
{
    rota__locked *locked = rota__locked_of(queue);

    rota__mutex_lock(&locked->lock);
    bool found = locked->container->contains(locked, element);
    rota__mutex_unlock(&locked->lock);
    return found;
}

/* -- Wait queues ---------------------------------------------------------- */

static rota_ns filled_when(const rota__waitq *waitq)
{
    return due(waitq->owner);
}

static bool seems_filled(const rota__waitq *waitq)
{
    return counted(waitq->owner) > 0;
}

static bool seems_roomy(const rota__waitq *waitq)
{
    const rota__locked *locked = waitq->owner;

    return rota__load_relaxed(&locked->room) > 0;
}

static rota_ns roomy_when(const rota__waitq *waitq)
{
    return seems_roomy(waitq) ? ROTA__READY : ROTA_FOREVER;
}

static const rota__waitq_ops consumers = {filled_when, seems_filled};
static const rota__waitq_ops producers = {roomy_when, seems_roomy};

void rota__locked_init(rota__locked *locked, const rota__queue_kind *kind,
                       const rota__container *container, size_t room)
{
    locked->queue = (rota_queue){
        .kind = kind, .producers = &locked->producers, .consumers = &locked->consumers};
    locked->container = container;
    locked->lock = (rota__mutex){0};
    rota__waitq_init(&locked->producers, &producers, &locked->lock, locked, ROTA__OLDEST_FIRST);
    rota__waitq_init(&locked->consumers, &consumers, &locked->lock, locked, ROTA__NEWEST_FIRST);
    rota__store_relaxed(&locked->size, 0);
    rota__store_relaxed(&locked->room, room);
}

void rota__locked_free(rota_queue *queue)
{
    rota__locked *locked = rota__locked_of(queue);

    locked->container->free(locked);
}
