/* SPDX-License-Identifier: MIT */
/*
 * deque.c - a container with two ends: a list of nodes.
 */
#include "queue/nodes.h"

#include "base/alloc.h"

typedef struct deque {
    rota__list nodes;
    size_t count;
    size_t capacity;
} deque;

/* -- Both ends ------------------------------------------------------------ */

static int insert(deque *self, void *element, rota__end end)
{
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

static int insert_back(void *self, void *element)
{
    return insert(self, element, ROTA__BACK);
}

static int insert_front(void *self, void *element)
{
    return insert(self, element, ROTA__FRONT);
}

static void drop(void *self, rota__node *node)
{
    ((deque *)self)->count--;
    rota__node_free(node, sizeof *node);
}

static void *take(deque *self, rota__end end)
{
    rota__node *node = rota__node_first(&self->nodes, end);

    if (node == NULL)
        return NULL;
    void *element = node->element;
    drop(self, node);
    return element;
}

static void *peek(const deque *self, rota__end end)
{
    const rota__node *node = rota__node_first(&self->nodes, end);

    return node != NULL ? node->element : NULL;
}

static void *take_front(void *self)
{
    return take(self, ROTA__FRONT);
}

static void *take_back(void *self)
{
    return take(self, ROTA__BACK);
}

static void *peek_front(void *self)
{
    return peek(self, ROTA__FRONT);
}

static void *peek_back(void *self)
{
    return peek(self, ROTA__BACK);
}

static size_t room(void *of)
{
    const deque *self = of;

    return self->capacity == ROTA_UNBOUNDED ? ROTA_UNBOUNDED : self->capacity - self->count;
}

/* -- Single elements, and all of them ------------------------------------- */

static rota__node *find(const deque *self, const void *element, rota__end from)
{
    rota__node *node = rota__node_first(&self->nodes, from);

    while (node != NULL && node->element != element)
        node = rota__node_after(&self->nodes, node, from);
    return node;
}

static bool remove_element(rota__locked *queue, const void *element, rota__end from)
{
    rota__node *node = find(queue->self, element, from);

    if (node != NULL)
        drop(queue->self, node);
    return node != NULL;
}

static bool contains(rota__locked *queue, const void *element)
{
    return find(queue->self, element, ROTA__FRONT) != NULL;
}

static void filter(void *of, rota__predicate *which, void *ctx)
{
    deque *self = of;

    rota__nodes_filter(&self->nodes, which, ctx, drop, self);
}

static void visit_all(rota__locked *queue, rota__queue_visit *visit, rota__end from)
{
    deque *self = queue->self;

    rota__nodes_visit(&self->nodes, &queue->lock, visit, from);
}

/* -- Making and freeing --------------------------------------------------- */

static void deque_free(void *self)
{
    while (take_front(self) != NULL)
        continue;
    rota__free(self, sizeof(deque));
}

static const rota__queue_kind deque_kind = {ROTA__LOCKED_ENDS, ROTA__LOCKED_REST, .is_deque = true};

static const rota__container_ops deque_ops = {
    .base = {.insert = insert_back,
             .take = take_front,
             .peek = peek_front,
             .filter = filter,
             .room = room,
             .free = deque_free},
    .insert_front = insert_front,
    .take_back = take_back,
    .peek_back = peek_back,
    .due = rota__due_now,
    .due_at = rota__due_at_now,
    .count_due = rota__count_all_due,
    .remove = remove_element,
    .contains = contains,
    .visit = visit_all,
};

int rota_deque(size_t capacity, rota_queue **out)
{
    if (capacity == 0 || out == NULL)
        return ROTA_EINVAL;
    deque *self = rota__alloc(sizeof *self);
    if (self == NULL)
        return ROTA_ENOMEM;
    rota__list_init(&self->nodes);
    self->count = 0;
    self->capacity = capacity;
    int status = rota__locked_new(&deque_kind, &deque_ops, self, out);
    if (status != ROTA_OK)
        rota__free(self, sizeof *self);
    return status;
}
