/* SPDX-License-Identifier: MIT */
/*
 * heap.c - a heap with four children for each node. The invariants are in heap.h.
 */
#include "base/heap.h"

#include "base/alloc.h"
#include "base/check.h"
#include "base/compiler.h"

#include <string.h>

enum { CHILDREN = 4, FIRST_CAPACITY = 16 };

static size_t parent_of(size_t place)
{
    return (place - 1) / CHILDREN;
}

static inline bool is_before(const rota__heap *heap, const rota__heap_slot *a,
                             const rota__heap_slot *b)
{
    int order;

    if (heap->order == NULL)
        return a->time == b->time ? a->sequence < b->sequence
                                  : a->time < b->time; /* mutants: they differ */
    order = heap->order(a->item, b->item, heap->ctx);
    return order != 0 ? order < 0 : a->sequence < b->sequence;
}

static void put(rota__heap *heap, size_t place, rota__heap_slot slot)
{
    heap->slots[place] = slot;
    rota__store_relaxed(&slot.item->place, place); /* heap.H2 */
}

/* Moves `slot` up from `place` until heap.H1 holds. */
static void sift_up(rota__heap *heap, size_t place, rota__heap_slot slot)
{
    while (place > 0 && is_before(heap, &slot, &heap->slots[parent_of(place)])) {
        put(heap, place, heap->slots[parent_of(place)]);
        place = parent_of(place);
    }
    put(heap, place, slot); /* heap.H1 */
}

static size_t first_child(const rota__heap *heap, size_t place)
{
    size_t best = place * CHILDREN + 1;
    size_t end = best + CHILDREN < heap->count ? best + CHILDREN : heap->count;

    for (size_t child = best + 1; child < end; child++) {
        if (is_before(heap, &heap->slots[child], &heap->slots[best]))
            best = child;
    }
    return best;
}

/* Prefetches the children of all children: in a large heap each level is a cache miss. */
static void prefetch_below(const rota__heap *heap, size_t place)
{
    enum { LINE = 64 };
    const char *first = (const char *)&heap->slots[(place * CHILDREN + 1) * CHILDREN + 1];

    if ((place * CHILDREN + 1) * CHILDREN + 1 >= heap->count)
        return;
    for (size_t offset = 0; offset < CHILDREN * CHILDREN * sizeof heap->slots[0]; offset += LINE)
        ROTA__PREFETCH(first + offset);
}

/* Moves `slot` down from `place` until heap.H1 holds. */
static void sift_down(rota__heap *heap, size_t place, rota__heap_slot slot)
{
    while (place * CHILDREN + 1 < heap->count) {
        prefetch_below(heap, place);
        size_t child = first_child(heap, place);
        if (!is_before(heap, &heap->slots[child], &slot))
            break;
        put(heap, place, heap->slots[child]);
        place = child;
    }
    put(heap, place, slot); /* heap.H1 */
}

static int set_capacity(rota__heap *heap, size_t capacity)
{
    rota__heap_slot *slots = rota__alloc_array(capacity, sizeof *slots);

    if (slots == NULL)
        return ROTA_ENOMEM;
    if (heap->slots != NULL)
        memcpy(slots, heap->slots, heap->count * sizeof *slots);
    rota__free(heap->slots, heap->capacity * sizeof *slots);
    heap->slots = slots;
    heap->capacity = capacity;
    return ROTA_OK;
}

int rota__heap_insert(rota__heap *heap, rota__heap_item *item, rota_ns time, uint64_t sequence)
{
    if (rota__load_relaxed(&item->place) != ROTA__NOT_IN_HEAP)
        return ROTA_EINVAL;
    if (heap->count + heap->reserved == heap->capacity) {
        size_t more = heap->capacity + heap->capacity / 2;
        int status = set_capacity(heap, more > FIRST_CAPACITY ? more : FIRST_CAPACITY);
        if (status != ROTA_OK)
            return status;
    }
    heap->count++;
    sift_up(heap, heap->count - 1, (rota__heap_slot){time, sequence, item});
    return ROTA_OK;
}

/* Gives memory back after a burst. If no smaller array can be allocated, the larger one stays. */
static void give_back(rota__heap *heap)
{
    /* mutants: only when memory is given back */
    while (heap->capacity > FIRST_CAPACITY && heap->count + heap->reserved < heap->capacity / 4) {
        if (set_capacity(heap, heap->capacity / 2) != ROTA_OK)
            break;
    }
}

bool rota__heap_remove(rota__heap *heap, rota__heap_item *item)
{
    const rota__heap_slot *slot = rota__heap_find(heap, item);

    if (slot == NULL)
        return false;
    size_t place = (size_t)(slot - heap->slots);
    rota__heap_slot last = heap->slots[--heap->count];
    rota__heap_item_init(item);
    if (last.item != item) {
        sift_down(heap, place, last);
        if (heap->slots[place].item == last.item)
            sift_up(heap, place, last);
    }
    give_back(heap);
    return true;
}

void rota__heap_filter(rota__heap *heap, bool (*drop)(rota__heap_item *item, void *ctx), void *ctx)
{
    size_t kept = 0;

    for (size_t i = 0; i < heap->count; i++) {
        rota__heap_slot slot = heap->slots[i];
        rota__heap_item_init(slot.item);
        if (!drop(slot.item, ctx))
            put(heap, kept++, slot);
    }
    heap->count = kept;
    for (size_t place = kept > 1 ? parent_of(kept - 1) + 1 : 0; place-- > 0;) /* Floyd, 1964 */
        sift_down(heap, place, heap->slots[place]);
    give_back(heap);
}

/* Counts `place` and the slots below it. The recursion is as deep as the heap. */
static size_t count_below(const rota__heap *heap, size_t place, rota_ns time, size_t most)
{
    size_t count = 1;

    if (most == 0 || place >= heap->count || heap->slots[place].time > time)
        return 0;
    for (size_t child = place * CHILDREN + 1; child <= place * CHILDREN + CHILDREN; child++)
        count += count_below(heap, child, time, most - count);
    return count;
}

size_t rota__heap_count_until(const rota__heap *heap, rota_ns time, size_t most)
{
    return count_below(heap, 0, time, most);
}

void rota__heap_free(rota__heap *heap)
{
    for (size_t i = 0; i < heap->count; i++)
        rota__heap_item_init(heap->slots[i].item);
    rota__free(heap->slots, heap->capacity * sizeof *heap->slots);
    heap->slots = NULL;
    heap->count = heap->capacity = 0;
}

void rota__heap_check(const rota__heap *heap)
{
    ROTA__ASSERT(heap->count + heap->reserved <= heap->capacity); /* heap.H3 */
    for (size_t i = 0; i < heap->count; i++) {
        ROTA__ASSERT(rota__load_relaxed(&heap->slots[i].item->place) == i); /* heap.H2 */
        ROTA__ASSERT(
            i == 0 || !is_before(heap, &heap->slots[i], &heap->slots[parent_of(i)])); /* heap.H1 */
    }
}
