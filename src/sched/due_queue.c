/* SPDX-License-Identifier: MIT */
/*
 * due_queue.c - tasks ordered by due time, as a queue.
 *
 * The queue is a heap in which each task knows its position. So one task of millions is removed in
 * a few steps. A task needs no memory except its slot.
 */
#include "sched/sched_internal.h"

#include "base/alloc.h"
#include "base/check.h"
#include "base/time.h"
#include "queue/locked.h"

typedef struct due_queue {
    rota__heap heap;
    uint64_t sequence; /* of the next task that is inserted */
    rota__admits *admits;
    void *ctx;
} due_queue;

static rota_task *task_of(const rota__heap_item *item)
{
    return ROTA__CONTAINER((rota__heap_item *)(uintptr_t)item, rota_task, place);
}

static bool is_periodic(const rota_task *task)
{
    return task->periodic;
}

/* -- Inserting and taking ----------------------------------------------------------- */

static int insert_again(due_queue *self, rota__periodic *periodic)
{
    rota_task *task = &periodic->future.task;
    rota_ns time = rota__load_relaxed(&periodic->future.time);

    self->heap.reserved--; /* sched.D2: so this cannot fail */
    return rota__heap_insert(&self->heap, &task->place, time, periodic->sequence);
}

static int insert_new(due_queue *self, rota_task *task)
{
    rota_ns time = task->kind == ROTA__TASK_FUTURE
                       ? rota__load_relaxed(&rota__future_of(task)->time)
                       : rota__now();
    int status = rota__heap_insert(&self->heap, &task->place, time, self->sequence);

    if (status != ROTA_OK)
        return status;
    if (is_periodic(task))
        rota__periodic_of(rota__future_of(task))->sequence = self->sequence;
    self->sequence++; /* SCHED-04 */
    return ROTA_OK;
}

static int insert(void *into, void *element)
{
    due_queue *self = into;
    rota_task *task = element;
    int status = ROTA__BUG(sched.D1c, self->admits(self->ctx, task), ROTA_OK);

    if (status != ROTA_OK)
        return status;
    if (rota__heap_find(&self->heap, &task->place) != NULL)
        return ROTA_EINVAL; /* DWQ-16 */
    rota__heap_item_init(&task->place);
    if (is_periodic(task) && rota__periodic_of(rota__future_of(task))->is_repeat)
        return insert_again(self, rota__periodic_of(rota__future_of(task)));
    return insert_new(self, task);
}

static void take_out(due_queue *self, rota_task *task)
{
    if (is_periodic(task))
        self->heap.reserved++; /* sched.D2: the slot that becomes free */
    rota__heap_remove(&self->heap, &task->place);
}

static void *take(void *from)
{
    due_queue *self = from;
    const rota__heap_slot *top = rota__heap_top(&self->heap);
    rota_task *task;

    ROTA__ASSERT(top != NULL); /* because a task is due */
    task = task_of(top->item);
    take_out(self, task);
    return task;
}

void rota__due_queue_unreserve(rota_queue *queue)
{
    rota__locked *locked = rota__locked_of(queue);

    rota__mutex_lock(&locked->lock);
    ((due_queue *)locked->self)->heap.reserved--;
    rota__mutex_unlock(&locked->lock);
}

static void *peek(void *of)
{
    const due_queue *self = of;
    const rota__heap_slot *top = rota__heap_top(&self->heap);

    return top != NULL ? task_of(top->item) : NULL;
}

/* -- One task, and all tasks --------------------------------------------- */

static const rota__heap_slot *find(const due_queue *self, const void *element)
{
    const rota_task *task = element;

    return rota__heap_find(&self->heap, &task->place);
}

static bool remove_element(rota__locked *queue, const void *element, rota__end from)
{
    const rota__heap_slot *slot = find(queue->self, element);

    (void)from;
    if (slot == NULL)
        return false;
    take_out(queue->self, task_of(slot->item));
    return true;
}

static bool contains(rota__locked *queue, const void *element)
{
    return find(queue->self, element) != NULL;
}

typedef struct choice {
    rota__predicate *drop;
    void *ctx;
    rota__heap *heap;
} choice;

static bool choose(rota__heap_item *item, void *ctx)
{
    choice *chosen = ctx;
    bool counts = is_periodic(task_of(item)); /* read before the task is dropped */

    if (!chosen->drop(task_of(item), chosen->ctx))
        return false;
    chosen->heap->reserved += counts; /* sched.D2; before the heap gives memory back */
    return true;
}

static void filter(void *of, rota__predicate *drop, void *ctx)
{
    due_queue *self = of;
    choice chosen = {.drop = drop, .ctx = ctx, .heap = &self->heap};

    rota__heap_filter(&self->heap, choose, &chosen);
}

/* Shows all tasks without yielding the lock, in any order: DWQ-06. */
static void visit_all(rota__locked *queue, rota__queue_visit *visit, rota__end from)
{
    const due_queue *self = queue->self;

    (void)from;
    for (size_t i = 0; i < self->heap.count; i++)
        rota__queue_visit_ask(task_of(self->heap.slots[i].item), visit);
}

/* -- Time ----------------------------------------------------------------- */

static rota_ns due(void *of)
{
    const due_queue *self = of;
    const rota__heap_slot *top = rota__heap_top(&self->heap);

    return top != NULL ? top->time : ROTA_FOREVER;
}

static rota_ns due_at(void *self, const void *element)
{
    const rota__heap_slot *slot = find(self, element);

    return slot != NULL ? slot->time : ROTA_FOREVER;
}

static size_t count_due(void *of, size_t most)
{
    const due_queue *self = of;

    return rota__heap_count_until(&self->heap, rota__now(), most);
}

/* -- Beginning and end ---------------------------------------------------- */

static void due_queue_free(void *of)
{
    due_queue *self = of;

    ROTA__ASSERT(self->heap.reserved == 0); /* sched.D2: every slot was used again or given up */
    rota__heap_free(&self->heap);
    rota__free(self, sizeof *self);
}

static const rota__container_ops due_queue_ops = {
    .base = {.insert = insert,
             .take = take,
             .peek = peek,
             .filter = filter,
             .room = rota__unbounded_room,
             .free = due_queue_free},
    .insert_front = insert,
    .take_back = take,
    .peek_back = peek,
    .due = due,
    .due_at = due_at,
    .count_due = count_due,
    .remove = remove_element,
    .contains = contains,
    .visit = visit_all,
};

int rota__due_queue_new(rota__admits *admits, void *ctx, rota_queue **out)
{
    due_queue *self = rota__alloc(sizeof *self);

    if (self == NULL)
        return ROTA_ENOMEM;
    *self = (due_queue){.admits = admits, .ctx = ctx};
    int status = rota__locked_new(&rota__locked_kind, &due_queue_ops, self, out);
    if (status != ROTA_OK) {
        rota__free(self, sizeof *self);
        return status;
    }
    (*out)->consumers->may_spin = false; /* a task is not due earlier if they spin */
    return ROTA_OK;
}
