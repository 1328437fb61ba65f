/* SPDX-License-Identifier: MIT */
/*
 * heap.h - items by time, those of equal time by sequence; each knows its place.
 *
 *   H1  No slot comes before its parent. A slot's order is (time, sequence).
 *   H2  slots[i].item->place is i; an item in no heap has ROTA__HEAP_OUT.
 *
 * Four children to a node, and times inside the array: a step down compares
 * what lies in one or two cache lines. Insertion, removal from the top and
 * from anywhere cost log n. Not for several threads at once.
 */
#ifndef ROTA_BASE_HEAP_H
#define ROTA_BASE_HEAP_H

#include <rota/base.h>

#define ROTA__HEAP_OUT SIZE_MAX

typedef struct rota__heap_item {
    size_t place; /* H2 */
} rota__heap_item;

typedef struct rota__heap_slot {
    rota_ns time;
    uint64_t sequence;
    rota__heap_item *item;
} rota__heap_slot;

typedef struct rota__heap {
    rota__heap_slot *slots; /* all zero is an empty heap */
    size_t count;
    size_t capacity;
} rota__heap;

static inline void rota__heap_item_init(rota__heap_item *item)
{
    item->place = ROTA__HEAP_OUT;
}

/* ROTA_ENOMEM, ROTA_EINVAL for an item that is in a heap already. */
int rota__heap_insert(rota__heap *heap, rota__heap_item *item, rota_ns time, uint64_t sequence);

/* The first in order, or NULL. Good until the heap changes. */
static inline const rota__heap_slot *rota__heap_top(const rota__heap *heap)
{
    return heap->count > 0 ? &heap->slots[0] : NULL;
}

/* False: it is not in this heap. */
bool rota__heap_remove(rota__heap *heap, rota__heap_item *item);

void rota__heap_free(rota__heap *heap); /* of its array; items left in it are out */
void rota__heap_check(const rota__heap *heap);

#endif
