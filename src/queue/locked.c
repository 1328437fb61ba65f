/* SPDX-License-Identifier: MIT */
#include "queue/locked.h"

#include "base/alloc.h"
#include "base/time.h"

/* -- Counts, which are also read without the lock ------------------------- */

/* Called after each change. A thread that sees the new size also sees what came before the change. */
static void set_size(rota__locked *locked, size_t size)
{
    rota__store_release(&locked->size, size); /* pairs with rota__locked_size */
    rota__store_relaxed(&locked->room, locked->ops.base.room(locked->self));
}

static size_t get_size(const rota__locked *locked)
{
    return rota__load_relaxed(&locked->size);
}

size_t rota__locked_size(rota_queue *queue)
{
    return rota__load_acquire(&rota__locked_of(queue)->size); /* pairs with set_size */
}

size_t rota__locked_room(rota_queue *queue)
{
    return rota__load_relaxed(&rota__locked_of(queue)->room);
}

size_t rota__locked_waiting(rota_queue *queue)
{
    rota__locked *locked = rota__locked_of(queue);

    rota__mutex_lock(&locked->lock);
    size_t most = rota__waitq_queued(&locked->consumers) + 1;
    size_t available = get_size(locked);
    if (available > 0)
        available = locked->ops.count_due(locked->self, available < most ? available : most);
    size_t waiting = rota__waitq_count_waiting(&locked->consumers, available);
    rota__mutex_unlock(&locked->lock);
    return waiting;
}

/* -- Inserting and taking ------------------------------------------------- */

static int insert(rota__locked *locked, void *element, rota__end end)
{
    const rota__element_ops *element_ops = locked->queue.element_ops;
    int status = ROTA_OK;

    if (element_ops != NULL)
        status = element_ops->may_enter(locked->queue.element_ctx, element);
    if (status != ROTA_OK)
        return status;
    if (end == ROTA__BACK)
        return locked->ops.base.insert(locked->self, element);
    return locked->ops.insert_front(locked->self, element);
}

int rota__locked_insert(rota_queue *queue, void *element, rota__end end)
{
    rota__locked *locked = rota__locked_of(queue);
    rota__waitq_entry *next = NULL;

    rota__mutex_lock(&locked->lock);
    int status = insert(locked, element, end);
    if (status == ROTA_OK) {
        set_size(locked, get_size(locked) + 1);
        next = rota__waitq_notify(&locked->consumers);
    } else if (status == ROTA_EFULL) {
        rota__store_relaxed(&locked->room, 0); /* until an element leaves, whatever `room` says */
    }
    rota__mutex_unlock(&locked->lock);
    rota__waitq_wake(next);
    return status;
}

static rota_ns ready_at(const rota__locked *locked)
{
    return get_size(locked) > 0 ? locked->ops.due(locked->self) : ROTA_FOREVER;
}

static bool is_due(rota_ns time)
{
    return time == ROTA__READY || rota__has_passed(time);
}

/* Takes the next element if it is due, else NULL. If the container has none, the size is 0, whatever
   was counted: QUEUE-06. */
static void *take(rota__locked *locked, rota__end end)
{
    if (!is_due(ready_at(locked)))
        return NULL;
    void *element = end == ROTA__FRONT ? locked->ops.base.take(locked->self)
                                       : locked->ops.take_back(locked->self);
    set_size(locked, element != NULL ? get_size(locked) - 1 : 0);
    return element;
}

int rota__locked_take(rota_queue *queue, void **element, rota__end end, uint32_t epoch,
                      rota__waitq_entry *entry)
{
    rota__locked *locked = rota__locked_of(queue);
    rota__waitq_entry *next = NULL;
    int status = ROTA_EEMPTY;
    void *taken;

    rota__mutex_lock(&locked->lock);
    if (rota__epoch_is_over(queue, epoch)) { /* waitq.W6b */
        status = ROTA_EAGAIN;
    } else if ((taken = take(locked, end)) != NULL) {
        *element = taken;
        next = rota__waitq_notify(&locked->producers);
        if (entry != NULL)
            entry->has_element = true;
        status = ROTA_OK;
    }
    rota__mutex_unlock(&locked->lock);
    rota__waitq_wake(next);
    return status;
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

    rota__mutex_lock(&locked->lock);
    void *first = end == ROTA__FRONT ? locked->ops.base.peek(locked->self)
                                     : locked->ops.peek_back(locked->self);
    if (first != NULL)
        show(first, ctx);
    rota__mutex_unlock(&locked->lock);
    return first != NULL ? ROTA_OK : ROTA_EEMPTY;
}

/* -- Single elements, and all of them ------------------------------------- */

/* Updates the counts after `count` elements were removed, and notifies a producer. */
static void removed_and_unlock(rota__locked *locked, size_t count)
{
    rota__waitq_entry *next = NULL;

    if (count > 0) {
        set_size(locked, get_size(locked) - count);
        next = rota__waitq_notify(&locked->producers);
    }
    rota__mutex_unlock(&locked->lock);
    rota__waitq_wake(next);
}

bool rota__locked_remove(rota_queue *queue, const void *element, rota__end from)
{
    rota__locked *locked = rota__locked_of(queue);

    rota__mutex_lock(&locked->lock);
    bool removed = locked->ops.remove(locked, element, from);
    removed_and_unlock(locked, removed);
    return removed;
}

bool rota__locked_remove_due(rota_queue *queue, const void *element, rota_ns *ready_at)
{
    rota__locked *locked = rota__locked_of(queue);
    bool removed = false;

    rota__mutex_lock(&locked->lock);
    rota_ns due_at = locked->ops.due_at(locked->self, element);
    if (is_due(due_at)) {
        removed = locked->ops.remove(locked, element, ROTA__FRONT);
        due_at = ROTA_FOREVER;
    }
    removed_and_unlock(locked, removed);
    *ready_at = due_at;
    return removed;
}

typedef struct counted_predicate {
    rota__predicate *which;
    void *ctx;
    size_t count;
} counted_predicate;

static bool is_chosen(void *element, void *ctx)
{
    counted_predicate *counted = ctx;
    bool chosen = counted->which(element, counted->ctx);

    counted->count += chosen;
    return chosen;
}

size_t rota__locked_remove_if(rota_queue *queue, rota__predicate *which, void *ctx)
{
    rota__locked *locked = rota__locked_of(queue);
    counted_predicate counted = {which, ctx, 0};

    rota__mutex_lock(&locked->lock);
    locked->ops.base.filter(locked->self, is_chosen, &counted);
    removed_and_unlock(locked, counted.count);
    return counted.count;
}

bool rota__locked_contains(rota_queue *queue, const void *element)
{
    rota__locked *locked = rota__locked_of(queue);

    rota__mutex_lock(&locked->lock);
    bool found = locked->ops.contains(locked, element);
    rota__mutex_unlock(&locked->lock);
    return found;
}

void rota__locked_visit(rota_queue *queue, rota__queue_visit *visit, rota__end from)
{
    rota__locked *locked = rota__locked_of(queue);

    rota__mutex_lock(&locked->lock);
    locked->ops.visit(locked, visit, from);
    rota__mutex_unlock(&locked->lock);
}

/* -- Waiting -------------------------------------------------------------- */

static rota_ns element_ready_at(const rota__waitq *waitq)
{
    return ready_at(waitq->owner);
}

static bool element_seems_ready(const rota__waitq *waitq)
{
    return get_size(waitq->owner) > 0;
}

static bool room_seems_ready(const rota__waitq *waitq)
{
    const rota__locked *locked = waitq->owner;

    return rota__load_relaxed(&locked->room) > 0;
}

static rota_ns room_ready_at(const rota__waitq *waitq)
{
    return room_seems_ready(waitq) ? ROTA__READY : ROTA_FOREVER;
}

static const rota__waitq_ops for_element = {element_ready_at, element_seems_ready};
static const rota__waitq_ops for_room = {room_ready_at, room_seems_ready};

void rota__locked_abort_consumers(rota_queue *queue)
{
    rota__mutex_lock(queue->consumers->lock);
    rota__waitq_abort_all_and_unlock(queue->consumers);
}

/* -- Making and freeing --------------------------------------------------- */

const rota__queue_kind rota__locked_kind = {ROTA__LOCKED_ENDS, ROTA__LOCKED_REST,
                                            .has_user_functions = true};

int rota__locked_new(const rota__queue_kind *kind, const rota__container_ops *ops, void *self,
                     rota_queue **out)
{
    rota__locked *locked = rota__alloc(sizeof *locked);

    if (locked == NULL)
        return ROTA_ENOMEM;
    locked->queue = (rota_queue){.kind = kind,
                                 .producers = &locked->producers,
                                 .consumers = &locked->consumers,
                                 .consumer_epoch = &locked->consumers.epoch};
    locked->ops = *ops;
    locked->self = self;
    locked->lock = (rota__mutex){0};
    rota__waitq_init(&locked->producers, &for_room, &locked->lock, locked, ROTA__OLDEST_FIRST);
    rota__waitq_init(&locked->consumers, &for_element, &locked->lock, locked, ROTA__NEWEST_FIRST);
    set_size(locked, 0);
    *out = &locked->queue;
    return ROTA_OK;
}

void rota__locked_free(rota_queue *queue)
{
    rota__locked *locked = rota__locked_of(queue);

    locked->ops.base.free(locked->self);
    rota__free(locked, sizeof *locked);
}

/* -- Defaults of a container ---------------------------------------------- */

rota_ns rota__due_now(void *self)
{
    (void)self;
    return ROTA__READY;
}

rota_ns rota__due_at_now(void *self, const void *element)
{
    (void)self;
    (void)element;
    return ROTA__READY;
}

size_t rota__count_all_due(void *self, size_t most)
{
    (void)self;
    return most;
}

size_t rota__unbounded_room(void *self)
{
    (void)self;
    return ROTA_UNBOUNDED;
}

typedef struct search {
    const void *element;
    bool removes;
    bool found;
} search;

static bool is_first_match(void *element, void *ctx)
{
    search *wanted = ctx;

    if (wanted->found || element != wanted->element)
        return false;
    wanted->found = true;
    return wanted->removes;
}

static bool remove_by_filter(rota__locked *queue, const void *element, rota__end from)
{
    search wanted = {.element = element, .removes = true};

    (void)from;
    queue->ops.base.filter(queue->self, is_first_match, &wanted);
    return wanted.found;
}

static bool contains_by_filter(rota__locked *queue, const void *element)
{
    search wanted = {.element = element};

    queue->ops.base.filter(queue->self, is_first_match, &wanted);
    return wanted.found;
}

/* `ask` of a visitor chooses no element, so none is removed. The lock is not yielded. */
void rota__visit_by_filter(rota__locked *queue, rota__queue_visit *visit, rota__end from)
{
    (void)from;
    queue->ops.base.filter(queue->self, rota__queue_visit_ask, visit);
}

static void free_nothing(void *self)
{
    (void)self;
}

int rota__locked_new_of(const rota__queue_kind *kind, const rota_queue_ops *base, void *self,
                        rota_queue **out)
{
    rota__container_ops ops = {
        .base = *base,
        .insert_front = base->insert,
        .take_back = base->take,
        .peek_back = base->peek,
        .due = rota__due_now,
        .due_at = rota__due_at_now,
        .count_due = rota__count_all_due,
        .remove = remove_by_filter,
        .contains = contains_by_filter,
        .visit = rota__visit_by_filter,
    };

    if (base->room == NULL)
        ops.base.room = rota__unbounded_room;
    if (base->free == NULL)
        ops.base.free = free_nothing;
    return rota__locked_new(kind, &ops, self, out);
}

int rota_custom_queue(const rota_queue_ops *ops, void *self, rota_queue **out)
{
    if (ops == NULL || out == NULL)
        return ROTA_EINVAL;
    if (ops->insert == NULL || ops->take == NULL || ops->peek == NULL || ops->filter == NULL)
        return ROTA_EINVAL;
    return rota__locked_new_of(&rota__locked_kind, ops, self, out);
}
