/* SPDX-License-Identifier: MIT */
/*
 * ordered.c - the containers of priority and delay queues: a heap of nodes.
 *
 * Each node is in three structures: the heap, whose top is taken next; a list in the order of
 * insertion, for visits; and an index by element, so that an element is removed in logarithmic time.
 */
#include "queue/index.h"
#include "queue/nodes.h"

#include "base/alloc.h"
#include "base/heap.h"
#include "base/time.h"

typedef struct ordered {
    rota__heap heap;
    rota__list nodes;
    rota__index index;
    uint64_t sequence; /* of the next insertion */
    rota_compare *compare;
    rota_due *due;
    void *ctx; /* of these two */
} ordered;

typedef struct entry {
    rota__node node;
    rota__heap_item item;
    rota__index_item indexed;
} entry;

static void *element_of(const rota__heap_item *item)
{
    return ROTA__CONST_CONTAINER(item, entry, item)->node.element;
}

static int compare_elements(const rota__heap_item *a, const rota__heap_item *b, const void *ctx)
{
    const ordered *self = ctx;

    return self->compare(element_of(a), element_of(b), self->ctx);
}

/* -- Inserting and taking ------------------------------------------------- */

/* A priority queue orders by `compare`, not by time. */
static rota_ns no_time(const void *element, void *ctx)
{
    (void)element;
    (void)ctx;
    return 0;
}

/* Calls `due` once for each element. Changes nothing if memory runs out: QUEUE-15, QUEUE-27. */
static int insert(void *into, void *element)
{
    ordered *self = into;
    entry *added = rota__node_new(sizeof *added, element);
    rota_ns time = self->due(element, self->ctx);

    if (added == NULL)
        return ROTA_ENOMEM;
    rota__heap_item_init(&added->item);
    if (rota__heap_insert(&self->heap, &added->item, time, self->sequence) != ROTA_OK) {
        rota__node_free(&added->node, sizeof *added);
        return ROTA_ENOMEM;
    }
    self->sequence++;
    rota__list_append(&self->nodes, &added->node.link);
    rota__index_add(&self->index, &added->indexed, element);
    return ROTA_OK;
}

static void drop(void *from, rota__node *node)
{
    ordered *self = from;
    entry *gone = ROTA__CONTAINER(node, entry, node);

    rota__heap_remove(&self->heap, &gone->item);
    rota__index_remove(&self->index, &gone->indexed);
    rota__node_free(node, sizeof *gone);
}

static rota__node *first_node(const ordered *self)
{
    const rota__heap_slot *top = rota__heap_top(&self->heap);

    return top != NULL ? &ROTA__CONTAINER(top->item, entry, item)->node : NULL;
}

static void *peek(void *self)
{
    const rota__node *first = first_node(self);

    return first != NULL ? first->element : NULL;
}

static void *take(void *self)
{
    rota__node *first = first_node(self);

    if (first == NULL)
        return NULL;
    void *element = first->element;
    drop(self, first);
    return element;
}

/* -- Single elements, and all of them ------------------------------------- */

static const rota__heap_slot *slot_of(const ordered *self, const entry *of)
{
    return rota__heap_find(&self->heap, &of->item);
}

/* Finds an element. If it is there several times, the one that was inserted first: QUEUE-15. */
static entry *find(const ordered *self, const void *element)
{
    entry *found = NULL;

    for (rota__index_item *item = rota__index_first(&self->index, element); item != NULL;
         item = rota__index_next(item)) {
        entry *other = ROTA__CONTAINER(item, entry, indexed);
        if (found == NULL || slot_of(self, other)->sequence < slot_of(self, found)->sequence)
            found = other;
    }
    return found;
}

static bool remove_element(rota__locked *queue, const void *element, rota__end from)
{
    entry *found = find(queue->self, element);

    (void)from;
    if (found != NULL)
        drop(queue->self, &found->node);
    return found != NULL;
}

static bool contains(rota__locked *queue, const void *element)
{
    const ordered *self = queue->self;

    return rota__index_first(&self->index, element) != NULL;
}

static void filter(void *of, rota__predicate *which, void *ctx)
{
    ordered *self = of;

    rota__nodes_filter(&self->nodes, which, ctx, drop, self);
}

static void visit_all(rota__locked *queue, rota__queue_visit *visit, rota__end from)
{
    ordered *self = queue->self;

    rota__nodes_visit(&self->nodes, &queue->lock, visit, from);
}

/* -- Due times ------------------------------------------------------------ */

static rota_ns due(void *of)
{
    const ordered *self = of;
    const rota__heap_slot *top = rota__heap_top(&self->heap);

    return top != NULL ? top->time : ROTA_FOREVER;
}

static rota_ns due_at(void *of, const void *element)
{
    const ordered *self = of;
    const entry *found = find(self, element);

    return found != NULL ? slot_of(self, found)->time : ROTA_FOREVER;
}

static size_t count_due(void *of, size_t most)
{
    const ordered *self = of;

    return rota__heap_count_until(&self->heap, rota__now(), most);
}

/* -- Making and freeing --------------------------------------------------- */

static void ordered_free(void *of)
{
    ordered *self = of;

    while (take(self) != NULL)
        continue;
    rota__heap_free(&self->heap);
    rota__index_free(&self->index);
    rota__free(self, sizeof *self);
}

#define ORDERED_OPS                                                                         \
    .base = {.insert = insert,                                                              \
             .take = take,                                                                  \
             .peek = peek,                                                                  \
             .filter = filter,                                                              \
             .room = rota__unbounded_room,                                                  \
             .free = ordered_free},                                                         \
    .insert_front = insert, .take_back = take, .peek_back = peek, .remove = remove_element, \
    .contains = contains, .visit = visit_all

static const rota__container_ops priority_ops = {
    ORDERED_OPS,
    .due = rota__due_now,
    .due_at = rota__due_at_now,
    .count_due = rota__count_all_due,
};
static const rota__container_ops delay_ops = {
    ORDERED_OPS,
    .due = due,
    .due_at = due_at,
    .count_due = count_due,
};

static int ordered_new(const rota__container_ops *ops, rota_compare *compare, rota_due *due_when,
                       void *ctx, rota_queue **out)
{
    ordered *self = rota__alloc(sizeof *self);

    if (self == NULL)
        return ROTA_ENOMEM;
    *self = (ordered){.compare = compare, .due = due_when, .ctx = ctx};
    if (compare != NULL) {
        self->heap.order = compare_elements;
        self->heap.ctx = self;
    }
    rota__list_init(&self->nodes);
    rota__index_init(&self->index);
    int status = rota__locked_new(&rota__locked_kind, ops, self, out);
    if (status != ROTA_OK)
        ordered_free(self);
    return status;
}

int rota_priority_queue(rota_compare *compare, void *ctx, rota_queue **out)
{
    if (compare == NULL || out == NULL)
        return ROTA_EINVAL;
    return ordered_new(&priority_ops, compare, no_time, ctx, out);
}

int rota_delay_queue(rota_due *due_when, void *ctx, rota_queue **out)
{
    if (due_when == NULL || out == NULL)
        return ROTA_EINVAL;
    return ordered_new(&delay_ops, NULL, due_when, ctx, out);
}
