/* SPDX-License-Identifier: MIT */
/*
 * ordered.c - the priority and the delay queue: a heap of nodes.
 *
 * Each node is in three structures: the heap, whose top is the next to go; a
 * list in the order of insertion, which visitors walk; and an index by element,
 * so that one of a million is removed by name in the time the heap takes.
 */
#include "queue/index.h"
#include "queue/nodes.h"

#include "base/alloc.h"
#include "base/heap.h"
#include "base/time.h"

typedef struct ordered {
    rota__locked locked;
    rota__heap heap;
    rota__list nodes;
    rota__index index;
    uint64_t sequence; /* of the next to come */
    rota_compare *compare;
    rota_due *due;
    void *ctx;
} ordered;

typedef struct entry {
    rota__node node;
    rota__heap_item item;
    rota__index_item indexed;
} entry;

static ordered *ordered_of(rota__locked *locked)
{
    return ROTA__CONTAINER(locked, ordered, locked);
}

static void *element_of(const rota__heap_item *item)
{
    return ROTA__CONST_CONTAINER(item, entry, item)->node.element;
}

static int compare_elements(const rota__heap_item *a, const rota__heap_item *b, const void *ctx)
{
    const ordered *self = ctx;

    return self->compare(element_of(a), element_of(b), self->ctx);
}

static int insert(rota__locked *locked, void *element, rota__end end)
{
    ordered *self = ordered_of(locked);
    entry *added = rota__node_new(sizeof *added, element);
    rota_ns time = self->due != NULL ? self->due(element, self->ctx) : 0;

    (void)end;
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

static void drop(ordered *self, entry *gone)
{
    rota__heap_remove(&self->heap, &gone->item);
    rota__index_remove(&self->index, &gone->indexed);
    rota__node_free(&gone->node, sizeof *gone);
}

static entry *first(ordered *self)
{
    const rota__heap_slot *top = rota__heap_top(&self->heap);

    return top != NULL ? ROTA__CONTAINER(top->item, entry, item) : NULL;
}

static void *take(rota__locked *locked, rota__end end)
{
    ordered *self = ordered_of(locked);
    entry *taken = first(self);
    void *element;

    (void)end;
    if (taken == NULL)
        return NULL;
    element = taken->node.element;
    drop(self, taken);
    return element;
}

static void *peek(rota__locked *locked, rota__end end)
{
    entry *next = first(ordered_of(locked));

    (void)end;
    return next != NULL ? next->node.element : NULL;
}

static size_t room(rota__locked *locked)
{
    (void)locked;
    return ROTA_UNBOUNDED;
}

/* -- By name -------------------------------------------------------------- */

static uint64_t sequence_of(const ordered *self, const entry *of)
{
    return rota__heap_find(&self->heap, &of->item)->sequence;
}

/* Of those with the same element, the one that came first. */
static entry *find(ordered *self, const void *element)
{
    entry *found = NULL;

    for (rota__index_item *item = rota__index_first(&self->index, element); item != NULL;
         item = rota__index_next(item)) {
        entry *other = ROTA__CONTAINER(item, entry, indexed);
        if (found == NULL || sequence_of(self, other) < sequence_of(self, found))
            found = other;
    }
    return found;
}

static bool remove_element(rota__locked *locked, const void *element, rota__end from)
{
    ordered *self = ordered_of(locked);
    entry *found = find(self, element);

    (void)from;
    if (found == NULL)
        return false;
    drop(self, found);
    return true;
}

static bool contains(rota__locked *locked, const void *element)
{
    return rota__index_first(&ordered_of(locked)->index, element) != NULL;
}

static void filter(rota__locked *locked, rota__predicate *which, void *ctx)
{
    ordered *self = ordered_of(locked);
    rota__node *next;

    for (rota__node *node = rota__node_first(&self->nodes, ROTA__FRONT); node != NULL;
         node = next) {
        next = rota__node_after(&self->nodes, node, ROTA__FRONT);
        if (which(node->element, ctx))
            drop(self, ROTA__CONTAINER(node, entry, node));
    }
}

static void visit_all(rota_queue *queue, rota__queue_visit *visit, rota__end from)
{
    rota__locked *locked = rota__locked_of(queue);

    rota__mutex_lock(&locked->lock);
    rota__nodes_visit(&ordered_of(locked)->nodes, &locked->lock, visit, from);
    rota__mutex_unlock(&locked->lock);
}

/* -- Time ----------------------------------------------------------------- */

static rota_ns due(rota__locked *locked)
{
    const rota__heap_slot *top = rota__heap_top(&ordered_of(locked)->heap);

    return top != NULL ? top->time : ROTA_FOREVER;
}

static rota_ns due_at(rota__locked *locked, const void *element)
{
    ordered *self = ordered_of(locked);
    entry *found = find(self, element);

    return found != NULL ? rota__heap_find(&self->heap, &found->item)->time : ROTA_FOREVER;
}

static size_t count_due(rota__locked *locked, size_t most)
{
    return rota__heap_count_until(&ordered_of(locked)->heap, rota__now(), most);
}

/* -- Beginning and end ---------------------------------------------------- */

static void ordered_free(rota__locked *locked)
{
    ordered *self = ordered_of(locked);

    while (take(locked, ROTA__FRONT) != NULL)
        continue;
    rota__heap_free(&self->heap);
    rota__index_free(&self->index);
    rota__free(self, sizeof *self);
}

static const rota__queue_kind ordered_kind = {ROTA__LOCKED_KIND, .visit = visit_all};

#define ORDERED_CONTAINER                                                                         \
    .insert = insert, .take = take, .peek = peek, .room = room, .remove_element = remove_element, \
    .contains = contains, .filter = filter, .free = ordered_free

static const rota__container priority_container = {ORDERED_CONTAINER};
static const rota__container delay_container = {ORDERED_CONTAINER, .due = due,
                                                .count_due = count_due, .due_at = due_at};

static int ordered_new(const rota__container *container, rota_compare *compare, rota_due *when,
                       void *ctx, rota_queue **out)
{
    ordered *self = rota__alloc(sizeof *self);

    if (self == NULL)
        return ROTA_ENOMEM;
    rota__locked_init(&self->locked, &ordered_kind, container, ROTA_UNBOUNDED);
    self->heap = (rota__heap){0};
    if (compare != NULL) {
        self->heap.order = compare_elements;
        self->heap.ctx = self;
    }
    rota__list_init(&self->nodes);
    rota__index_init(&self->index);
    self->sequence = 0;
    self->compare = compare;
    self->due = when;
    self->ctx = ctx;
    *out = &self->locked.queue;
    return ROTA_OK;
}

int rota_priority_queue(rota_compare *compare, void *ctx, rota_queue **out)
{
    if (compare == NULL || out == NULL)
        return ROTA_EINVAL;
    return ordered_new(&priority_container, compare, NULL, ctx, out);
}

int rota_delay_queue(rota_due *due_when, void *ctx, rota_queue **out)
{
    if (due_when == NULL || out == NULL)
        return ROTA_EINVAL;
    return ordered_new(&delay_container, NULL, due_when, ctx, out);
}
