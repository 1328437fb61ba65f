/* SPDX-License-Identifier: MIT */
/*
 * block.c - slabs, depots, and the magazines' slow paths. block.h has the idea and the invariants.
 */
#include "base/block.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/mutex.h"
#include "base/thread.h"

enum { MAGAZINE_BYTES = 4096, SLAB_BYTES = 4096, KEPT_BYTES = 128 * 1024 };

_Static_assert(sizeof(rota__block) <= ROTA__BLOCK_UNIT, "a free block fits the least block");

/* The head of a slab takes one unit; its blocks follow. */
struct slab {
    rota__link link; /* in the depot's list if one of its blocks is free in it */
    void *memory;    /* as the allocator gave it */
    size_t bytes;
    rota__block *free; /* linked by `next` alone */
    uint32_t free_count;
};

_Static_assert(sizeof(struct slab) <= ROTA__BLOCK_UNIT, "the head of a slab takes one unit");
_Static_assert(SLAB_BYTES / ROTA__BLOCK_UNIT <= UINT8_MAX, "an offset in units fits its type");

/* For the blocks of one size. `lock` protects all other fields, and the heads of its slabs. */
struct depot {
    rota__mutex lock;
    rota__block *chains; /* the blocks of magazines, linked by next_chain */
    rota__list slabs;    /* with free blocks; whole slabs are at the end */
    size_t used;         /* blocks in use or in magazines */
    size_t slab_bytes;   /* in all slabs */
};

#define EMPTY_DEPOT(index)                                   \
    {                                                        \
        .slabs = ROTA__LIST_INITIALIZER(depots[index].slabs) \
    }

static struct depot depots[ROTA__BLOCK_SIZES] = {EMPTY_DEPOT(0), EMPTY_DEPOT(1), EMPTY_DEPOT(2)};

static size_t block_bytes(const struct depot *depot)
{
    return (size_t)(depot - depots + 1) * ROTA__BLOCK_UNIT;
}

static uint32_t magazine_blocks(const struct depot *depot)
{
    return (uint32_t)(MAGAZINE_BYTES / block_bytes(depot));
}

static uint32_t slab_blocks(const struct depot *depot)
{
    return (uint32_t)((SLAB_BYTES - ROTA__BLOCK_UNIT) / block_bytes(depot));
}

/* -- Slabs ------------------------------------------------------------------------------------ */

static struct slab *slab_of(rota__block *block)
{
    return (struct slab *)((uintptr_t)block - (size_t)block->slab_offset * ROTA__BLOCK_UNIT);
}

/* Blocks of two units begin at a multiple of two units, because CPUs prefetch aligned pairs of lines. */
static uintptr_t align_head(uintptr_t memory)
{
    uintptr_t pair = 2 * ROTA__BLOCK_UNIT;

    return (memory + ROTA__BLOCK_UNIT + pair - 1) / pair * pair - ROTA__BLOCK_UNIT;
}

/* A new slab with all its blocks free, in no list yet. NULL without memory. */
static struct slab *slab_new(const struct depot *depot)
{
    uint32_t count = slab_blocks(depot);
    size_t bytes = ROTA__BLOCK_UNIT + count * block_bytes(depot) + 2 * ROTA__BLOCK_UNIT - 1;
    void *memory = rota__alloc(bytes);

    if (memory == NULL)
        return NULL;
    struct slab *made = (struct slab *)align_head((uintptr_t)memory);
    *made = (struct slab){.memory = memory, .bytes = bytes, .free_count = count};
    rota__link_init(&made->link);
    for (size_t i = count; i-- > 0;) {
        size_t offset = ROTA__BLOCK_UNIT + i * block_bytes(depot);
        rota__block *block = (rota__block *)((uintptr_t)made + offset);
        block->slab_offset = (uint8_t)(offset / ROTA__BLOCK_UNIT);
        block->next = made->free;
        made->free = block;
    }
    return made;
}

static void slab_free(struct slab *slab)
{
    rota__free(slab->memory, slab->bytes);
}

/* Takes a block from the first slab in the list, which is not empty. With the lock held. */
static rota__block *slab_take(struct depot *depot)
{
    struct slab *first = ROTA__CONTAINER(rota__list_first(&depot->slabs), struct slab, link);
    rota__block *block = first->free;

    first->free = block->next;
    if (--first->free_count == 0)
        rota__list_remove(&first->link);
    return block;
}

/* With the lock held. */
static void slab_put(struct depot *depot, rota__block *block)
{
    struct slab *its = slab_of(block);

    block->next = its->free;
    its->free = block;
    its->free_count++;
    if (its->free_count == slab_blocks(depot)) { /* block.B2: whole */
        rota__list_remove(&its->link);
        rota__list_append(&depot->slabs, &its->link);
    } else if (!rota__link_is_in_list(&its->link)) {
        rota__list_prepend(&depot->slabs, &its->link);
    }
}

/* Takes a whole slab out of the list, or returns NULL. With the lock held. */
static struct slab *take_whole_slab(struct depot *depot)
{
    rota__link *last = rota__list_last(&depot->slabs);
    struct slab *whole = last != NULL ? ROTA__CONTAINER(last, struct slab, link) : NULL;

    if (whole == NULL || whole->free_count < slab_blocks(depot))
        return NULL;
    rota__list_remove(&whole->link);
    depot->slab_bytes -= whole->bytes;
    return whole;
}

/* -- Depots ----------------------------------------------------------------------------------- */

static bool is_over_limit(const struct depot *depot)
{
    size_t used = depot->used * block_bytes(depot);

    return depot->slab_bytes > KEPT_BYTES + used + used / 4; /* block.B3 */
}

static rota__block *pop_chain(struct depot *depot)
{
    rota__block *chain = depot->chains;

    if (chain != NULL)
        depot->chains = chain->next_chain;
    return chain;
}

static void push_chain(struct depot *depot, const rota__magazine *magazine)
{
    magazine->first->chain_count = magazine->count;
    magazine->first->next_chain = depot->chains;
    depot->chains = magazine->first;
}

static void return_to_slabs(struct depot *depot, rota__block *chain)
{
    while (chain != NULL)
        slab_put(depot, rota__block_pop(&chain));
}

static void free_slabs(rota__list *slabs)
{
    rota__link *link;

    while ((link = rota__list_take_first(slabs)) != NULL)
        slab_free(ROTA__CONTAINER(link, struct slab, link));
}

/*
 * Moves the blocks of a magazine to the depot. Afterwards the magazine has count 0 and room 0. If the
 * slabs take too much (block.B3), chains go back to their slabs, and whole slabs to the allocator.
 */
static void depot_put(struct depot *depot, rota__magazine *magazine)
{
    uint32_t most = 3 * magazine_blocks(depot); /* bounds the time under the lock */
    uint32_t returned = 0;
    rota__list whole;

    rota__list_init(&whole);
    if (magazine->count > 0) {
        rota__mutex_lock(&depot->lock);
        push_chain(depot, magazine);
        depot->used -= magazine->count;
        while (returned < most && depot->chains != NULL && is_over_limit(depot)) {
            returned += depot->chains->chain_count;
            return_to_slabs(depot, pop_chain(depot));
        }
        for (struct slab *slab; is_over_limit(depot) && (slab = take_whole_slab(depot)) != NULL;)
            rota__list_append(&whole, &slab->link);
        rota__mutex_unlock(&depot->lock);
    }
    *magazine = (rota__magazine){0};
    free_slabs(&whole); /* block.B2 */
}

/* Fills the magazine from slabs. With the lock held. */
static void take_from_slabs(struct depot *depot, rota__magazine *magazine)
{
    while (magazine->count < magazine_blocks(depot) && !rota__list_is_empty(&depot->slabs)) {
        rota__block_push(&magazine->first, slab_take(depot));
        magazine->count++;
    }
}

/* Returns a magazine: a chain, or blocks from slabs, or from a new slab. Empty if memory runs out. */
static rota__magazine depot_get(struct depot *depot)
{
    rota__magazine magazine = {0};

    rota__mutex_lock(&depot->lock);
    if (depot->chains == NULL && rota__list_is_empty(&depot->slabs)) {
        rota__mutex_unlock(&depot->lock);
        struct slab *made = slab_new(depot); /* the allocator may be the user's: without the lock */
        rota__mutex_lock(&depot->lock);
        if (made != NULL) {
            rota__list_append(&depot->slabs, &made->link);
            depot->slab_bytes += made->bytes;
        }
    }
    magazine.first = pop_chain(depot);
    magazine.count = magazine.first != NULL ? magazine.first->chain_count : 0;
    if (magazine.count == 0)
        take_from_slabs(depot, &magazine);
    depot->used += magazine.count;
    rota__mutex_unlock(&depot->lock);
    magazine.room = (uint16_t)(magazine_blocks(depot) - magazine.count);
    return magazine;
}

/* -- Magazines -------------------------------------------------------------------------------- */

#ifdef ROTA_NO_TASK_CACHE
#define MAY_CACHE(self) ((void)(self), false)
#else
#define MAY_CACHE(self) ((self)->watched) /* block.B4 */
#endif

static void swap(rota__magazine *a, rota__magazine *b)
{
    rota__magazine old = *a;

    *a = *b;
    *b = old;
}

ROTA__NOINLINE void *rota__block_get_slow(size_t size, uint8_t *slab_offset)
{
    rota_thread *self = rota__self();
    size_t index = rota__block_index(size);
    rota__magazine *loaded = &self->magazines.loaded[index];

    *slab_offset = 0;
    if (!MAY_CACHE(self))
        return rota__alloc(size);
    if (self->magazines.spare[index].count > 0)
        swap(loaded, &self->magazines.spare[index]);
    else
        *loaded = depot_get(&depots[index]);
    return loaded->count > 0 ? rota__block_get(&self->magazines, size, slab_offset) : NULL;
}

ROTA__NOINLINE void rota__block_put_slow(void *memory, size_t size, uint8_t slab_offset)
{
    rota_thread *self = rota__self();
    size_t index = rota__block_index(size);
    rota__magazine *loaded = &self->magazines.loaded[index];
    rota__block *block = memory;

    if (slab_offset == 0) {
        rota__free(memory, size);
    } else if (!MAY_CACHE(self)) {
        rota__magazine single = {.count = 1};
        block->slab_offset = slab_offset;
        rota__block_push(&single.first, block);
        depot_put(&depots[index], &single);
    } else {
        depot_put(&depots[index], &self->magazines.spare[index]);
        swap(loaded, &self->magazines.spare[index]);
        loaded->room = (uint16_t)magazine_blocks(&depots[index]);
        rota__block_put(&self->magazines, memory, size, slab_offset);
    }
}

void rota__magazines_empty(rota__magazines *magazines)
{
    for (size_t i = 0; i < ROTA__BLOCK_SIZES; i++) {
        depot_put(&depots[i], &magazines->loaded[i]);
        depot_put(&depots[i], &magazines->spare[i]);
    }
}

/* -- fork(2) ---------------------------------------------------------------------------------- */

void rota__blocks_lock(void)
{
    for (size_t i = 0; i < ROTA__BLOCK_SIZES; i++)
        rota__mutex_lock(&depots[i].lock);
}

/* In a child of a fork no thread waits for these locks, so a wake does nothing. */
void rota__blocks_unlock(void)
{
    for (size_t i = 0; i < ROTA__BLOCK_SIZES; i++)
        rota__mutex_unlock(&depots[i].lock);
}

#ifdef ROTA_TESTING
void rota__blocks_flush(void)
{
    rota__magazines_empty(&rota__self()->magazines);
    for (size_t i = 0; i < ROTA__BLOCK_SIZES; i++) {
        rota__list whole;
        rota__list_init(&whole);
        rota__mutex_lock(&depots[i].lock);
        while (depots[i].chains != NULL)
            return_to_slabs(&depots[i], pop_chain(&depots[i]));
        for (struct slab *slab; (slab = take_whole_slab(&depots[i])) != NULL;)
            rota__list_append(&whole, &slab->link);
        while (rota__list_take_first(&depots[i].slabs) != NULL)
            ; /* so that the next block needs memory; slab_put adds the slab again */
        rota__mutex_unlock(&depots[i].lock);
        free_slabs(&whole);
    }
}
#endif
