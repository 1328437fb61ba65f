/* SPDX-License-Identifier: MIT */
/*
 * deque.c - a list of nodes, open at both ends.
 */
#include "queue/nodes.h"

#include "base/alloc.h"

typedef struct deque {
    rota__locked locked;
    rota__list nodes;
    size_t count;
    size_t capacity;
} deque;

static deque *deque_of(rota__locked *locked)
{
    return ROTA__CONTAINER(locked, deque, locked);
}

static int insert(rota__locked *locked, void *element, rota__end end)
{
    deque *self = deque_of(locked);
    rota__node *node;

    if (self->count == self->capacity)
        return ROTA_EFULL;
    node = rota__node_new(sizeof *node, element);
    if (node == NULL)
        return ROTA_ENOMEM;
    if (end == ROTA__FRONT)
        rota__list_prepend(&self->nodes, &node->link);
    else
        rota__list_append(&self->nodes, &node->link);
    self->count++;
    return ROTA_OK;
}

static void drop(deque *self, rota__node *node)
{
    rota__node_free(node, sizeof *node);
    self->count--;
}

static void *take(rota__locked *locked, rota__end end)
{
    deque *self = deque_of(locked);
    rota__node *node = rota__node_first(&self->nodes, end);
    void *element;

    if (node == NULL)
        return NULL;
    element = node->element;
    drop(self, node);
    return element;
}

static void *peek(rota__locked *locked, rota__end end)
{
    rota__node *node = rota__node_first(&deque_of(locked)->nodes, end);

    return node != NULL ? node->element : NULL;
}

static size_t room(rota__locked *locked)
{
    deque *self = deque_of(locked);

    return self->capacity == ROTA_UNBOUNDED ? ROTA_UNBOUNDED : self->capacity - self->count;
}

static rota__node *find(deque *self, const void *element, rota__end from)
{
    rota__node *node = rota__node_first(&self->nodes, from);

    while (node != NULL && node->element != element)
        node = rota__node_after(&self->nodes, node, from);
    return node;
}

static bool remove_element(rota__locked *locked, const void *element, rota__end from)
{
    deque *self = deque_of(locked);
    rota__node *node = find(self, element, from);

    if (node == NULL)
        return false;
    drop(self, node);
    return true;
}

static bool contains(rota__locked *locked, const void *element)
{
    return find(deque_of(locked), element, ROTA__FRONT) != NULL;
}

static void filter(rota__locked *locked, rota__predicate *which, void *ctx)
{
    deque *self = deque_of(locked);
    rota__node *next;

    for (rota__node *node = rota__node_first(&self->nodes, ROTA__FRONT); node != NULL;
         node = next) {
        next = rota__node_after(&self->nodes, node, ROTA__FRONT);
        if (which(node->element, ctx))
            drop(self, node);
    }
}

static void visit_all(rota_queue *queue, rota__queue_visit *visit, rota__end from)
{
    rota__locked *locked = rota__locked_of(queue);

    rota__mutex_lock(&locked->lock);
    rota__nodes_visit(&deque_of(locked)->nodes, &locked->lock, visit, from);
    rota__mutex_unlock(&locked->lock);
}

static void deque_free(rota__locked *locked)
{
    deque *self = deque_of(locked);

    while (take(locked, ROTA__FRONT) != NULL)
        continue;
    rota__free(self, sizeof *self);
}

static const rota__queue_kind deque_kind = {ROTA__LOCKED_KIND, .visit = visit_all,
                                            .is_deque = true};
static const rota__container deque_container = {
    .insert = insert,
    .take = take,
    .peek = peek,
    .room = room,
    .remove_element = remove_element,
    .contains = contains,
    .filter = filter,
    .free = deque_free,
};

int rota_deque(size_t capacity, rota_queue **out)
{
    deque *self;

    if (capacity == 0 || out == NULL)
        return ROTA_EINVAL;
    self = rota__alloc(sizeof *self);
    if (self == NULL)
        return ROTA_ENOMEM;
    rota__locked_init(&self->locked, &deque_kind, &deque_container, capacity);
    rota__list_init(&self->nodes);
    self->count = 0;
    self->capacity = capacity;
    *out = &self->locked.queue;
    return ROTA_OK;
}
