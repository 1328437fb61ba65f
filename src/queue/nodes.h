/* SPDX-License-Identifier: MIT */
/*
 * nodes.h - elements in a list of nodes, which visitors walk in small groups.
 *
 * A visitor keeps its place between two groups by a mark: a node without an
 * element, which everybody else passes over.
 */
#ifndef ROTA_QUEUE_NODES_H
#define ROTA_QUEUE_NODES_H

#include "queue/locked.h"

typedef struct rota__node {
    rota__link link;
    void *element;       /* NULL: a mark */
    uint8_t slab_offset; /* of its block */
} rota__node;

/* NULL: no memory. A node of `size` bytes, of which these are the first. In no list. */
void *rota__node_new(size_t size, void *element);
void rota__node_free(rota__node *node, size_t size);

/* The node at that end which is not a mark, and the one after it from there. NULL: none. */
rota__node *rota__node_first(const rota__list *nodes, rota__end end);
rota__node *rota__node_after(const rota__list *nodes, const rota__node *node, rota__end from);

/* Shows all elements. Called with the lock held, which is yielded between batches. */
void rota__nodes_visit(rota__list *nodes, rota__mutex *lock, rota__queue_visit *visit,
                       rota__end from);

#endif
