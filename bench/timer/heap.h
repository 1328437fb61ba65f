/* SPDX-License-Identifier: MIT */
/* heap.h - a binary heap of timers in which each knows its place, as one writes it by hand */
#ifndef BENCH_TIMER_HEAP_H
#define BENCH_TIMER_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct entry {
    uint64_t time;
    size_t id;
};

struct heap {
    struct entry *entries;
    size_t *places; /* by number */
    size_t count;
};

static inline void heap_init(struct heap *heap, size_t most)
{
    heap->entries = calloc(most, sizeof *heap->entries);
    heap->places = calloc(most, sizeof *heap->places);
    heap->count = 0;
    if (heap->entries == NULL || heap->places == NULL)
        abort();
}

static inline void heap_free(struct heap *heap)
{
    free(heap->entries);
    free(heap->places);
}

static inline void heap_put(struct heap *heap, size_t place, struct entry entry)
{
    heap->entries[place] = entry;
    heap->places[entry.id] = place;
}

/* Here or above. */
static inline void heap_up(struct heap *heap, size_t place, struct entry entry)
{
    while (place > 0 && entry.time < heap->entries[(place - 1) / 2].time) {
        heap_put(heap, place, heap->entries[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    heap_put(heap, place, entry);
}

/* Here or below. */
static inline void heap_down(struct heap *heap, size_t place, struct entry entry)
{
    for (size_t child; (child = 2 * place + 1) < heap->count; place = child) {
        if (child + 1 < heap->count && heap->entries[child + 1].time < heap->entries[child].time)
            child++;
        if (entry.time <= heap->entries[child].time)
            break;
        heap_put(heap, place, heap->entries[child]);
    }
    heap_put(heap, place, entry);
}

static inline void heap_insert(struct heap *heap, uint64_t time, size_t id)
{
    heap_up(heap, heap->count++, (struct entry){time, id});
}

static inline void heap_remove(struct heap *heap, size_t id)
{
    size_t place = heap->places[id];
    struct entry last = heap->entries[--heap->count];

    if (last.id == id)
        return;
    if (place > 0 && last.time < heap->entries[(place - 1) / 2].time)
        heap_up(heap, place, last);
    else
        heap_down(heap, place, last);
}

/* Takes out the first if its time has come. */
static inline bool heap_take(struct heap *heap, uint64_t time, size_t *id)
{
    if (heap->count == 0 || heap->entries[0].time > time)
        return false;
    *id = heap->entries[0].id;
    heap_remove(heap, *id);
    return true;
}

#endif
