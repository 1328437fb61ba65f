/* SPDX-License-Identifier: MIT */
/*
 * block.h - memory for tasks, futures and list nodes, cached per thread.
 *
 * A block has 64, 128 or 192 bytes. Each thread keeps two magazines of free blocks for each size. It
 * takes blocks from its magazines. It puts the blocks that it frees into them, whichever thread took
 * these blocks. Full and empty magazines are exchanged with a depot that all threads share. So a
 * thread that only submits gets the blocks that other threads free. (Bonwick and Adams, "Magazines
 * and Vmem", USENIX 2001.)
 *
 * Blocks are cut from slabs of about 4 KiB. A slab is whole if all its blocks are free in it. If the
 * slabs of a size exceed the limit of block.B3, the depot returns blocks to their slabs, and whole
 * slabs to the allocator.
 *
 *   block.B1  A block is in use, in one magazine, in one chain of the depot, or free in its slab.
 *   block.B2  A slab is freed only when all its blocks are free in it, and only by the thread that
 *             took it out of the depot's list.
 *   block.B3  The slabs of one size take at most 128 KiB plus 5/4 of the bytes in use or in magazines.
 *             A slab with a block in use or in a magazine cannot be freed, and may exceed this. The
 *             free blocks of such slabs are used before a new slab is made.
 *   block.B4  A thread whose end will not be noticed caches nothing: its magazines have count 0 and
 *             room 0.
 */
#ifndef ROTA_BASE_BLOCK_H
#define ROTA_BASE_BLOCK_H

#include "base/compiler.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ROTA__BLOCK_UNIT    64 /* sizes are multiples of a cache line */
#define ROTA__BLOCK_SIZES   3  /* blocks of 1, 2 or 3 units */
#define ROTA__BLOCK_LARGEST (ROTA__BLOCK_UNIT * ROTA__BLOCK_SIZES)

/* The contents of a freed block in checked builds. */
#define ROTA__FREED_BYTE 0xDB
#define ROTA__FREED_WORD (UINT64_MAX / 0xFF * ROTA__FREED_BYTE)

typedef struct rota__block rota__block;

enum { ROTA__BLOCK_OTHERS = 5 };

/*
 * A free block. Free blocks form an unrolled list: a block in the list points to a few others, and
 * pop returns these first. So most pops do not wait for a cache miss on the previous block.
 */
struct rota__block {
    rota__block *next;
    rota__block *others[ROTA__BLOCK_OTHERS];
    rota__block *next_chain; /* in the depot; valid in the first block of a chain */
    uint16_t other_count;
    uint16_t chain_count; /* blocks in the chain; in its first block */
    uint8_t slab_offset;  /* units from the slab's head; 0: the block has no slab */
};

typedef struct rota__magazine {
    rota__block *first;
    uint16_t count;
    uint16_t room; /* how many more blocks fit */
} rota__magazine;

/* All zero for a thread that has not used blocks yet. */
typedef struct rota__magazines {
    rota__magazine loaded[ROTA__BLOCK_SIZES];
    rota__magazine spare[ROTA__BLOCK_SIZES]; /* empty or full */
} rota__magazines;

/* Slow paths: the loaded magazine is empty (get), or full, or the block has no slab (put). */
void *rota__block_get_slow(size_t size, uint8_t *slab_offset);
void rota__block_put_slow(void *memory, size_t size, uint8_t slab_offset);

static inline size_t rota__block_index(size_t size)
{
    return (size - 1) / ROTA__BLOCK_UNIT;
}

/* Puts a block at the beginning of a list of free blocks (block.B1). */
static inline void rota__block_push(rota__block **list, rota__block *block)
{
    rota__block *first = *list;

    if (first != NULL && first->other_count < ROTA__BLOCK_OTHERS) {
        first->others[first->other_count++] = block;
        return;
    }
    block->next = first;
    block->other_count = 0;
    *list = block;
}

static inline rota__block *rota__block_pop(rota__block **list)
{
    rota__block *first = *list;

    if (first->other_count > 0)
        return first->others[--first->other_count];
    *list = first->next;
    return first;
}

/*
 * Returns a block of at least `size` bytes, or NULL if memory runs out. `size` is at most
 * ROTA__BLOCK_LARGEST. The caller keeps *slab_offset and gives it back with the block. `magazines`
 * are the calling thread's.
 */
static inline void *rota__block_get(rota__magazines *magazines, size_t size, uint8_t *slab_offset)
{
    rota__magazine *loaded = &magazines->loaded[rota__block_index(size)];

    if (ROTA__UNLIKELY(loaded->count == 0))
        return rota__block_get_slow(size, slab_offset);
    rota__block *block = rota__block_pop(&loaded->first);
    loaded->count--;
    loaded->room++;
    *slab_offset = block->slab_offset;
    return block;
}

static inline void rota__block_put(rota__magazines *magazines, void *memory, size_t size,
                                   uint8_t slab_offset)
{
    rota__magazine *loaded = &magazines->loaded[rota__block_index(size)];
    rota__block *block = memory;

#ifdef ROTA_CHECKED /* the next owner must not rely on the contents */
    memset(memory, ROTA__FREED_BYTE, size);
#endif
    if (ROTA__UNLIKELY(loaded->room == 0 || slab_offset == 0)) {
        rota__block_put_slow(memory, size, slab_offset);
        return;
    }
    block->slab_offset = slab_offset;
    rota__block_push(&loaded->first, block);
    loaded->count++;
    loaded->room--;
}

/* Gives all blocks in the magazines of a thread that ends to the depots. */
void rota__magazines_empty(rota__magazines *magazines);

/* Around a fork: holds the lock of every depot. */
void rota__blocks_lock(void);
void rota__blocks_unlock(void);

#ifdef ROTA_TESTING
/*
 * Returns the free blocks of the depots and of the calling thread to the allocator. Afterwards the
 * next block of each size needs memory.
 */
void rota__blocks_flush(void);
#endif

#endif
