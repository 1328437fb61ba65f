/* SPDX-License-Identifier: MIT */
/*
 * cache.c - magazines, depot and chunks; cache.h has the idea.
 *
 *   cache.C1  A block is in use, in one magazine, in one chain of the depot, or back in its chunk.
 *   cache.C2  A chunk is freed by whoever brings its last block back; until then each of its blocks
 *             is in one of the other places of cache.C1.
 *   cache.C3  The depot holds at most KEPT_CHAINS chains, and a quarter of what all threads
 *             together have in use and in magazines, for each size.
 */
#include "base/cache.h"

#include "base/alloc.h"
#include "base/mutex.h"
#include "base/thread.h"

enum { CHAIN = 64, KEPT_CHAINS = 64 };

/* A block that is free. */
struct rota__block {
    rota__block *next;
    rota__block *next_chain; /* in the depot, in the first block of a chain */
    uint32_t chain_count;    /* there, too */
    uint8_t home;            /* units from its chunk; 0: it has none */
};

_Static_assert(sizeof(rota__block) <= ROTA__BLOCK_UNIT, "a free block fits the least block");

struct chunk {
    void *memory; /* as the allocator gave it */
    size_t bytes;
    rota__atomic(uint32_t) back; /* blocks that came back (cache.C2) */
};

_Static_assert(sizeof(struct chunk) <= ROTA__BLOCK_UNIT, "the head of a chunk takes one unit");

_Static_assert(1 + (CHAIN - 1) * ROTA__BLOCK_SIZES <= UINT8_MAX, "a home fits its type");

static struct depot {
    rota__mutex mutex; /* guards the rest */
    rota__block *chains;
    size_t free; /* blocks in `chains` */
    size_t out;  /* blocks in use or in magazines */
} depots[ROTA__BLOCK_SIZES];

static size_t index_of(size_t size)
{
    return (size - 1) / ROTA__BLOCK_UNIT;
}

static size_t size_of(size_t index)
{
    return (index + 1) * ROTA__BLOCK_UNIT;
}

/* -- Chunks --------------------------------------------------------------- */

/* A new chunk's blocks as a full magazine, or an empty one. */
static rota__magazine cut_chunk(size_t index)
{
    size_t bytes = ROTA__BLOCK_UNIT + CHAIN * size_of(index) + 2 * ROTA__BLOCK_UNIT - 1;
    void *memory = rota__alloc(bytes);
    rota__magazine cut = {NULL, 0};

    if (memory == NULL)
        return cut;
    /* So that blocks of two units begin at a multiple of two: CPUs fetch lines in such pairs. */
    uintptr_t aligned =
        (((uintptr_t)memory + 2 * ROTA__BLOCK_UNIT - 1) & ~(uintptr_t)(2 * ROTA__BLOCK_UNIT - 1))
        - ROTA__BLOCK_UNIT;
    if (aligned < (uintptr_t)memory)
        aligned += 2 * ROTA__BLOCK_UNIT;
    struct chunk *chunk = (struct chunk *)aligned;
    chunk->memory = memory;
    chunk->bytes = bytes;
    rota__store_relaxed(&chunk->back, 0);
    for (size_t i = CHAIN; i-- > 0;) {
        uint8_t home = (uint8_t)(1 + i * (index + 1));
        rota__block *block = (rota__block *)(aligned + (size_t)home * ROTA__BLOCK_UNIT);
        block->home = home;
        block->next = cut.first;
        cut.first = block;
    }
    cut.count = CHAIN;
    return cut;
}

static struct chunk *chunk_of(rota__block *block)
{
    return (struct chunk *)((uintptr_t)block - (size_t)block->home * ROTA__BLOCK_UNIT);
}

static void bring_back(struct chunk *chunk, uint32_t count)
{
    /* Acquire: all others' last use of their blocks comes before the free. */
    if (rota__add_acq_rel(&chunk->back, count) + count == CHAIN) /* cache.C2 */
        rota__free(chunk->memory, chunk->bytes);
}

/* Neighbours are mostly of one chunk, as they were used one after the other. */
static void bring_chain_back(rota__block *block)
{
    while (block != NULL) {
        struct chunk *chunk = chunk_of(block);
        uint32_t count = 0;
        do {
            block = block->next;
            count++;
        } while (block != NULL && chunk_of(block) == chunk);
        bring_back(chunk, count);
    }
}

/* -- The depot ------------------------------------------------------------ */

static rota__block *depot_take(struct depot *depot)
{
    rota__block *chain = depot->chains;

    if (chain != NULL) {
        depot->chains = chain->next_chain;
        depot->free -= chain->chain_count;
    }
    return chain;
}

static rota__magazine depot_load(size_t index)
{
    struct depot *depot = &depots[index];
    rota__magazine loaded = {NULL, 0};

    rota__mutex_lock(&depot->mutex);
    loaded.first = depot_take(depot);
    loaded.count = loaded.first != NULL ? loaded.first->chain_count : 0;
    depot->out += loaded.count;
    rota__mutex_unlock(&depot->mutex);
    if (loaded.first != NULL)
        return loaded;

    loaded = cut_chunk(index);
    rota__mutex_lock(&depot->mutex);
    depot->out += loaded.count;
    rota__mutex_unlock(&depot->mutex);
    return loaded;
}

static bool is_too_full(const struct depot *depot)
{
    return depot->free > KEPT_CHAINS * CHAIN + depot->out / 4; /* cache.C3 */
}

static void depot_store(size_t index, rota__magazine *magazine)
{
    struct depot *depot = &depots[index];
    rota__block *surplus[2] = {NULL, NULL}; /* two for one: it shrinks with what is in use */

    if (magazine->count == 0)
        return;
    magazine->first->chain_count = magazine->count;
    rota__mutex_lock(&depot->mutex);
    magazine->first->next_chain = depot->chains;
    depot->chains = magazine->first;
    depot->free += magazine->count;
    depot->out -= magazine->count;
    for (int i = 0; i < 2 && is_too_full(depot); i++)
        surplus[i] = depot_take(depot);
    rota__mutex_unlock(&depot->mutex);
    *magazine = (rota__magazine){NULL, 0};
    bring_chain_back(surplus[0]);
    bring_chain_back(surplus[1]);
}

/* -- Magazines ------------------------------------------------------------ */

static void swap(rota__magazine *a, rota__magazine *b)
{
    rota__magazine old = *a;

    *a = *b;
    *b = old;
}

static ROTA__NOINLINE bool reload(rota__magazines *magazines, size_t index)
{
    if (magazines->spare[index].count > 0)
        swap(&magazines->loaded[index], &magazines->spare[index]);
    else
        magazines->loaded[index] = depot_load(index);
    return magazines->loaded[index].count > 0;
}

static ROTA__NOINLINE void unload(rota__magazines *magazines, size_t index)
{
    depot_store(index, &magazines->spare[index]);
    swap(&magazines->loaded[index], &magazines->spare[index]);
}

void rota__magazines_empty(rota__magazines *magazines)
{
    for (size_t i = 0; i < ROTA__BLOCK_SIZES; i++) {
        depot_store(i, &magazines->loaded[i]);
        depot_store(i, &magazines->spare[i]);
    }
}

/* -- fork(2) -------------------------------------------------------------- */

void rota__cache_lock(void)
{
    for (size_t i = 0; i < ROTA__BLOCK_SIZES; i++)
        rota__mutex_lock(&depots[i].mutex);
}

/* In a child nobody waits for these, whatever the word says. */
void rota__cache_unlock(void)
{
    for (size_t i = 0; i < ROTA__BLOCK_SIZES; i++)
        rota__mutex_unlock(&depots[i].mutex);
}

/* -- Blocks --------------------------------------------------------------- */

#ifdef ROTA_NO_TASK_CACHE
#define MAY_CACHE(self) false
#else
#define MAY_CACHE(self) ((self)->watched) /* else its magazines would be lost */
#endif

static rota__block *block_from(rota__magazines *magazines, size_t index)
{
    rota__magazine *loaded = &magazines->loaded[index];

    if (ROTA__UNLIKELY(loaded->count == 0) && !reload(magazines, index))
        return NULL;
    rota__block *block = loaded->first;
    loaded->first = block->next;
    loaded->count--;
    return block;
}

void *rota__block_alloc(size_t size, uint8_t *home)
{
    rota_thread *self = rota__self();

    if (ROTA__UNLIKELY(!MAY_CACHE(self))) {
        *home = 0;
        return rota__alloc(size);
    }
    rota__block *block = block_from(&self->magazines, index_of(size));
    *home = block != NULL ? block->home : 0;
    return block;
}

void rota__block_free(void *memory, size_t size, uint8_t home)
{
    rota_thread *self = rota__self();
    rota__block *block = memory;
    size_t index = index_of(size);

    if (home == 0) {
        rota__free(memory, size);
        return;
    }
    block->home = home;
    if (ROTA__UNLIKELY(!self->watched)) {
        block->next = NULL;
        depot_store(index, &(rota__magazine){block, 1});
        return;
    }
    rota__magazine *loaded = &self->magazines.loaded[index];
    if (ROTA__UNLIKELY(loaded->count == CHAIN))
        unload(&self->magazines, index);
    block->next = loaded->first;
    loaded->first = block;
    loaded->count++;
}

#ifdef ROTA_TESTING
void rota__cache_flush(void)
{
    rota__magazines_empty(&rota__self()->magazines);
    for (size_t i = 0; i < ROTA__BLOCK_SIZES; i++) {
        rota__block *chain;
        do {
            rota__mutex_lock(&depots[i].mutex);
            chain = depot_take(&depots[i]);
            rota__mutex_unlock(&depots[i].mutex);
            bring_chain_back(chain);
        } while (chain != NULL);
    }
}
#endif
