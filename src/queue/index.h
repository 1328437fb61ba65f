/* SPDX-License-Identifier: MIT */
/*
 * index.h - finds an item by the pointer it stands for.
 *
 * A hash table that grows and shrinks by one bucket at a time, so that no call
 * pays for all (Litwin, "Linear hashing", 1980). It never fails: without memory
 * for more buckets its chains get longer. The same pointer may be in it twice.
 *
 *   index.X1  An item is in the chain of bucket_of(its pointer), which with `round` buckets, a
 *             power of two, of which `split` are split already, is one of round + split.
 */
#ifndef ROTA_QUEUE_INDEX_H
#define ROTA_QUEUE_INDEX_H

#include <stdbool.h>
#include <stddef.h>

typedef struct rota__index_item {
    const void *key;
    struct rota__index_item *next;
    struct rota__index_item *previous; /* in its chain; NULL: it is the first */
} rota__index_item;

typedef struct rota__index {
    rota__index_item **buckets;
    size_t capacity; /* of the array */
    size_t round;
    size_t split; /* less than round */
    size_t count;
    rota__index_item *one; /* the array of an index that has no memory yet */
} rota__index;

void rota__index_init(rota__index *index);
void rota__index_free(rota__index *index); /* of its array */

void rota__index_add(rota__index *index, rota__index_item *item, const void *key);
void rota__index_remove(rota__index *index, rota__index_item *item); /* it is in there */

/* One with this key, and others with the same. NULL: none. */
rota__index_item *rota__index_first(const rota__index *index, const void *key);
rota__index_item *rota__index_next(const rota__index_item *item);

void rota__index_check(const rota__index *index);

#endif
