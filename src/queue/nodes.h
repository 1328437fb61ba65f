/* SPDX-License-Identifier: MIT */
/*
 * nodes.h - a list of nodes, one per element.
 *
 * While a visit yields the lock, a marker keeps its position. A marker is a node without an element.
 * All other functions skip it.
 */
#ifndef ROTA_QUEUE_NODES_H
#define ROTA_QUEUE_NODES_H

#include "queue/locked.h"

typedef struct rota__node {
    rota__link link;
    void *element;       /* NULL: a marker */
    uint8_t slab_offset; /* of its block */
} rota__node;

/* Allocates `size` bytes that begin with a node, which is in no list. NULL: no memory. */
void *rota__node_new(size_t size, void *element);
void rota__node_free(rota__node *node, size_t size); /* removes it from its list */

/* The first node that is not a marker, and the next one after `node`, seen from `end`; or NULL. */
rota__node *rota__node_first(const rota__list *nodes, rota__end end);
rota__node *rota__node_after(const rota__list *nodes, const rota__node *node, rota__end end);

/* Asks `which` about all elements in order, and calls drop(self, node) for those that it chooses. */
void rota__nodes_filter(rota__list *nodes, rota__predicate *which, void *ctx,
                        void (*drop)(void *self, rota__node *node), void *self);

/* Shows all elements. Called with the lock held, which is yielded between batches. */
void rota__nodes_visit(rota__list *nodes, rota__mutex *lock, rota__queue_visit *visit,
                       rota__end from);

#endif
