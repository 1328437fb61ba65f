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

rota__node *rota__node_after(const rota__list *nodes, const rota__node *node, rota__end from)
{
    return next_element(nodes, &node->link, from);
}

/* -- Visits --------------------------------------------------------------- */

/* Shows the next few after the mark `here`, which moves behind them, up to the mark `stop`. */
static size_t show_group(rota__node *here, const rota__node *stop, rota__visitor *visit, void *ctx,
                         rota__end from)
{
    rota__link *last = &here->link;
    size_t shown = 0;

    while (shown < ROTA__VISIT_BATCH && step(last, from) != &stop->link) {
        last = step(last, from);
        if (node_of(last)->element == NULL)
            continue;
        visit(node_of(last)->element, ctx);
        shown++;
    }
    if (last != &here->link) {
        rota__list_remove(&here->link);
        rota__list_insert_after(from == ROTA__FRONT ? last : last->previous, &here->link);
    }
    return shown;
}

size_t rota__nodes_each(rota__locked *locked, rota__list *nodes, rota__visitor *visit, void *ctx,
                        rota__end from)
{
    rota__node here = {.element = NULL};
    rota__node stop = {.element = NULL}; /* what comes later is not shown, so that it ends */
    size_t group, shown = 0;

    rota__link_init(&here.link);
    rota__link_init(&stop.link);
    rota__mutex_lock(&locked->lock);
    rota__list_prepend(nodes, from == ROTA__FRONT ? &here.link : &stop.link);
    rota__list_append(nodes, from == ROTA__FRONT ? &stop.link : &here.link);
    while ((group = show_group(&here, &stop, visit, ctx, from)) > 0) {
        shown += group;
        rota__mutex_pass(&locked->lock);
    }
    rota__list_remove(&here.link);
    rota__list_remove(&stop.link);
    rota__mutex_unlock(&locked->lock);
    return shown;
}
