/* SPDX-License-Identifier: MIT */
/*
 * heap.h - items ordered by time; items of equal time are ordered by sequence number.
 *
 *   heap.H1  No slot is less than its parent. Slots are compared by (time, sequence), or by (order,
 *            sequence) if the heap has a function that compares items.
 *   heap.H2  slots[i].item->place is i. An item that is in no heap has ROTA__NOT_IN_HEAP. An item may
 *            be in another heap, so a search compares the slot with the item.
 *   heap.H3  There is room for `reserved` more items. An insertion needs no memory if its caller
 *            lowers `reserved` first.
 *
 * Each node has four children, and the times are inside the array. So a step down compares data in
 * two or three cache lines. Insertion, and removal from any place, take log n steps. The caller
 * locks the heap.
 */
#ifndef ROTA_BASE_HEAP_H
#define ROTA_BASE_HEAP_H

#include "base/atomic.h"

#include <rota/base.h>

#define ROTA__NOT_IN_HEAP UINTPTR_MAX

typedef struct rota__heap_item {
    rota__atomic(uintptr_t) place; /* heap.H2; written under the lock of its heap */
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
    rota__heap_order *order; /* NULL: by time. An inconsistent function does not break heap.H2 */
    const void *ctx;
} rota__heap;

static inline void rota__heap_item_init(rota__heap_item *item)
{
    rota__store_relaxed(&item->place, ROTA__NOT_IN_HEAP);
}

/* Returns ROTA_EINVAL if the item is already in a heap, or ROTA_ENOMEM. */
int rota__heap_insert(rota__heap *heap, rota__heap_item *item, rota_ns time, uint64_t sequence);

/* Returns the first slot in order, or NULL. It is valid until the heap changes. */
static inline const rota__heap_slot *rota__heap_top(const rota__heap *heap)
{
    return heap->count > 0 ? &heap->slots[0] : NULL;
}

/* Returns the slot of an item, or NULL if the item is not in this heap. */
static inline const rota__heap_slot *rota__heap_find(const rota__heap *heap,
                                                     const rota__heap_item *item)
{
    uintptr_t place = rota__load_relaxed(&item->place);

    return place < heap->count && heap->slots[place].item == item ? &heap->slots[place] : NULL;
}

/* Counts the items whose time is not after `time`, up to `most`. For a heap that is ordered by
   time. */
size_t rota__heap_count_until(const rota__heap *heap, rota_ns time, size_t most);

/* Returns false if the item is not in this heap. */
bool rota__heap_remove(rota__heap *heap, rota__heap_item *item);

/* Calls `drop` once for each item, in any order, and removes the items for which it returns true.
   `drop` is called while the item is in no heap. */
void rota__heap_filter(rota__heap *heap, bool (*drop)(rota__heap_item *item, void *ctx), void *ctx);

void rota__heap_free(rota__heap *heap); /* frees the array; afterwards the items are in no heap */
void rota__heap_check(const rota__heap *heap);

#endif
