/* SPDX-License-Identifier: MIT */
#include "queue/nodes.h"

#include "base/thread.h"

void *rota__node_new(size_t size, void *element)
{
    uint8_t slab_offset;
    rota__node *node = rota__block_get(&rota__self()->magazines, size, &slab_offset);

    if (node == NULL)
        return NULL;
    rota__link_init(&node->link);
    node->element = element;
    node->slab_offset = slab_offset;
    return node;
}

void rota__node_free(rota__node *node, size_t size)
{
    rota__list_remove(&node->link);
    rota__block_put(&rota__self()->magazines, node, size, node->slab_offset);
}

static rota__node *node_of(rota__link *link)
{
    return ROTA__CONTAINER(link, rota__node, link);
}

static rota__link *step(const rota__link *link, rota__end from)
{
    return from == ROTA__FRONT ? link->next : link->previous;
}

static rota__node *next_element(const rota__list *nodes, const rota__link *link, rota__end from)
{
    rota__link *next = step(link, from);

    while (next != &nodes->head && node_of(next)->element == NULL)
        next = step(next, from);
    return next != &nodes->head ? node_of(next) : NULL;
}

rota__node *rota__node_first(const rota__list *nodes, rota__end end)
{
    return next_element(nodes, &nodes->head, end);
}

rota__node *rota__node_after(const rota__list *nodes, const rota__node *node, rota__end end)
{
    return next_element(nodes, &node->link, end);
}

void rota__nodes_filter(rota__list *nodes, rota__predicate *which, void *ctx,
                        void (*drop)(void *self, rota__node *node), void *self)
{
    rota__node *next;

    for (rota__node *node = rota__node_first(nodes, ROTA__FRONT); node != NULL; node = next) {
        next = rota__node_after(nodes, node, ROTA__FRONT);
        if (which(node->element, ctx))
            drop(self, node);
    }
}

/* -- Visits --------------------------------------------------------------- */

/* Shows elements behind the marker `here`, up to the marker `stop`, and moves `here` behind them.
   False: there were none. */
static bool show_batch(rota__node *here, const rota__node *stop, rota__queue_visit *visit,
                       rota__end from)
{
    rota__link *last = &here->link;

    while (!rota__queue_visit_is_full(visit) && step(last, from) != &stop->link) {
        last = step(last, from);
        if (node_of(last)->element != NULL)
            rota__queue_visit_ask(node_of(last)->element, visit);
    }
    if (last == &here->link)
        return false;
    rota__list_remove(&here->link);
    rota__list_insert_after(from == ROTA__FRONT ? last : last->previous, &here->link);
    return true;
}

void rota__nodes_visit(rota__list *nodes, rota__mutex *lock, rota__queue_visit *visit,
                       rota__end from)
{
    rota__node here = {.element = NULL};
    rota__node stop = {.element = NULL}; /* elements inserted later are not shown, so it ends */

    rota__link_init(&here.link);
    rota__link_init(&stop.link);
    rota__list_prepend(nodes, from == ROTA__FRONT ? &here.link : &stop.link);
    rota__list_append(nodes, from == ROTA__FRONT ? &stop.link : &here.link);
    while (show_batch(&here, &stop, visit, from))
        rota__queue_visit_yield(visit, lock);
    rota__list_remove(&here.link);
    rota__list_remove(&stop.link);
}
