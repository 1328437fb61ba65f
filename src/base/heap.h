/* SPDX-License-Identifier: MIT */
/*
 * heap.h - items by time, those of equal time by sequence; each knows its place.
 *
 *   heap.H1  No slot comes before its parent. A slot's order is (time, sequence), or (order,
 *            sequence) where a function says which item is the lesser.
 *   heap.H2  slots[i].item->place is i; an item in no heap has ROTA__HEAP_OUT. Who asks for an item
 *            that may be in another heap compares the slot with it.
 *   heap.H3  There is room for `reserved` items more, which need no memory to come.
 *
 * Four children to a node, and times inside the array: a step down compares
 * what lies in two or three cache lines. Insertion, removal from the top and
 * from anywhere cost log n. Not for several threads at once.
 */
#ifndef ROTA_BASE_HEAP_H
#define ROTA_BASE_HEAP_H

#include "base/atomic.h"

#include <rota/base.h>

#define ROTA__HEAP_OUT UINTPTR_MAX

typedef struct rota__heap_item {
    rota__atomic(uintptr_t) place; /* heap.H2; written with its heap's lock held */
} rota__heap_item;

typedef struct rota__heap_slot {
    rota_ns time;
    uint64_t sequence;
    rota__heap_item *item;
} rota__heap_slot;

typedef int rota__heap_order(const rota__heap_item *a, const rota__heap_item *b, const void *ctx);

typedef struct rota__heap {
    rota__heap_slot *slots; /* all zero is an empty heap */
    size_t count;
    size_t capacity;
    size_t reserved;         /* heap.H3 */
    rota__heap_order *order; /* NULL: by time. Whatever it says, the heap stays whole (heap.H2). */
    const void *ctx;
} rota__heap;

static inline void rota__heap_item_init(rota__heap_item *item)
{
    rota__store_relaxed(&item->place, ROTA__HEAP_OUT);
}

/* ROTA_ENOMEM, ROTA_EINVAL for an item that is in a heap already. */
int rota__heap_insert(rota__heap *heap, rota__heap_item *item, rota_ns time, uint64_t sequence);

/* The first in order, or NULL. Good until the heap changes. */
static inline const rota__heap_slot *rota__heap_top(const rota__heap *heap)
{
    return heap->count > 0 ? &heap->slots[0] : NULL;
}

/* The slot of this item, or NULL: it is not in this heap. */
static inline const rota__heap_slot *rota__heap_find(const rota__heap *heap,
                                                     const rota__heap_item *item)
{
    uintptr_t place = rota__load_relaxed(&item->place);

    return place < heap->count && heap->slots[place].item == item ? &heap->slots[place] : NULL;
}

/* How many have a time up to this one, as far as `most`, in a heap by time. */
size_t rota__heap_count_until(const rota__heap *heap, rota_ns time, size_t most);

/* False: it is not in this heap. */
bool rota__heap_remove(rota__heap *heap, rota__heap_item *item);

/* Takes out all of which `drop` is true, having asked once about each, in no certain order. Those
   are out before it is asked about the next. */
void rota__heap_filter(rota__heap *heap, bool (*drop)(rota__heap_item *item, void *ctx), void *ctx);

void rota__heap_free(rota__heap *heap); /* of its array; items left in it are out */
void rota__heap_check(const rota__heap *heap);

#endif
