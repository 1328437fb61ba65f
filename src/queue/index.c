/* SPDX-License-Identifier: MIT */
/*
 * index.c - linear hashing. The invariant is in index.h.
 */
#include "queue/index.h"

#include "base/alloc.h"
#include "base/check.h"

#include <stdint.h>
#include <string.h>

enum { FIRST_CAPACITY = 16 };

/* Mixes all bits of a pointer into the low ones (the end of Steele, Lea and Flood's SplitMix). */
static size_t hash(const void *key)
{
    uint64_t bits = (uintptr_t)key;

    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(bits ^ (bits >> 31));
}

static size_t bucket_of(const rota__index *index, const void *key)
{
    size_t hashed = hash(key);
    size_t bucket = hashed & (index->round - 1);

    return bucket >= index->split ? bucket : hashed & (2 * index->round - 1); /* index.X1 */
}

void rota__index_init(rota__index *index)
{
    *index = (rota__index){.capacity = 1, .round = 1};
    index->buckets = &index->one;
}

static void free_array(rota__index *index)
{
    if (index->buckets != &index->one)
        rota__free(index->buckets, index->capacity * sizeof(*index->buckets));
}

void rota__index_free(rota__index *index)
{
    free_array(index);
    rota__index_init(index);
}

/* -- Size ----------------------------------------------------------------- */

static size_t in_use(const rota__index *index)
{
    return index->round + index->split;
}

/* Allocates an array of this size. Returns false, and changes nothing, if there is no memory. */
static bool set_capacity(rota__index *index, size_t capacity)
{
    rota__index_item **buckets = rota__alloc_array(capacity, sizeof *buckets);

    if (buckets == NULL)
        return false;
    memcpy(buckets, index->buckets, in_use(index) * sizeof *buckets);
    free_array(index);
    index->buckets = buckets;
    index->capacity = capacity;
    return true;
}

static void push(rota__index *index, rota__index_item *item)
{
    rota__index_item **bucket = &index->buckets[bucket_of(index, item->key)];

    item->next = *bucket;
    item->previous = NULL;
    if (item->next != NULL)
        item->next->previous = item;
    *bucket = item;
}

static void push_all(rota__index *index, rota__index_item *items)
{
    while (items != NULL) {
        rota__index_item *next = items->next;
        push(index, items);
        items = next;
    }
}

/* Splits the bucket `split` into two. */
static void grow(rota__index *index)
{
    size_t more = index->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : 2 * index->capacity;
    rota__index_item *items;

    if (in_use(index) == index->capacity && !set_capacity(index, more))
        return;
    items = index->buckets[index->split];
    index->buckets[index->split] = NULL;
    index->buckets[in_use(index)] = NULL;
    if (++index->split == index->round) {
        index->round *= 2;
        index->split = 0;
    }
    push_all(index, items);
}

/* Joins the two buckets that were split last. There is more than one bucket. */
static void shrink(rota__index *index)
{
    rota__index_item *items;

    if (index->split == 0) {
        index->round /= 2;
        index->split = index->round;
    }
    index->split--;
    items = index->buckets[in_use(index)];
    push_all(index, items);
    if (index->capacity > FIRST_CAPACITY && in_use(index) < index->capacity / 4)
        set_capacity(index, index->capacity / 2); /* if this fails, the larger array stays */
}

/* -- Items ---------------------------------------------------------------- */

void rota__index_add(rota__index *index, rota__index_item *item, const void *key)
{
    item->key = key;
    push(index, item);
    if (++index->count > in_use(index))
        grow(index);
}

void rota__index_remove(rota__index *index, rota__index_item *item)
{
    if (item->previous != NULL)
        item->previous->next = item->next;
    else
        index->buckets[bucket_of(index, item->key)] = item->next;
    if (item->next != NULL)
        item->next->previous = item->previous;
    index->count--;
    /* mutants: only when memory is given back */
    for (int i = 0; i < 2 && index->count < in_use(index) / 2;
         i++) /* shrinks faster than items leave */
        shrink(index);
}

static rota__index_item *match(rota__index_item *item, const void *key)
{
    while (item != NULL && item->key != key)
        item = item->next;
    return item;
}

rota__index_item *rota__index_first(const rota__index *index, const void *key)
{
    return match(index->buckets[bucket_of(index, key)], key);
}

rota__index_item *rota__index_next(const rota__index_item *item)
{
    return match(item->next, item->key);
}

void rota__index_check(const rota__index *index)
{
    size_t count = 0;

    ROTA__ASSERT(in_use(index) <= index->capacity && index->split < index->round);
    for (size_t bucket = 0; bucket < in_use(index); bucket++) {
        for (const rota__index_item *item = index->buckets[bucket]; item != NULL;
             item = item->next) {
            ROTA__ASSERT(bucket_of(index, item->key) == bucket); /* index.X1 */
            ROTA__ASSERT(item->next == NULL || item->next->previous == item);
            count++;
        }
    }
    ROTA__ASSERT(count == index->count);
}
