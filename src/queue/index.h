/* SPDX-License-Identifier: MIT */
/*
 * index.h - a hash table that finds an item by its pointer.
 *
 * The table grows and shrinks by one bucket at a time, so no call pays for a whole resize (Litwin,
 * "Linear Hashing", 1980). It never fails: if there is no memory for more buckets, its chains get
 * longer. The same pointer may be in it twice.
 *
 *   index.X1  An item is in the chain of bucket_of(its pointer). `round` is a power of two. `split`
 *             of these buckets are already split, so round + split buckets are in use.
 */
#ifndef ROTA_QUEUE_INDEX_H
#define ROTA_QUEUE_INDEX_H

#include <stdbool.h>
#include <stddef.h>

typedef struct rota__index_item {
    const void *key;
    struct rota__index_item *next;
    struct rota__index_item *previous; /* in its chain; NULL for the first item */
} rota__index_item;

typedef struct rota__index {
    rota__index_item **buckets;
    size_t capacity; /* size of the array */
    size_t round;
    size_t split; /* less than round */
    size_t count;
    rota__index_item *one; /* the array until memory is allocated */
} rota__index;

void rota__index_init(rota__index *index);
void rota__index_free(rota__index *index); /* frees the array */

void rota__index_add(rota__index *index, rota__index_item *item, const void *key);
void rota__index_remove(rota__index *index, rota__index_item *item); /* which is in the index */

/* Return an item with this key, and the next one with the same key, or NULL. */
rota__index_item *rota__index_first(const rota__index *index, const void *key);
rota__index_item *rota__index_next(const rota__index_item *item);

void rota__index_check(const rota__index *index);

#endif
