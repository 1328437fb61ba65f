/* SPDX-License-Identifier: MIT */
/*
 * cache.h - blocks for tasks and futures, without going to the allocator for
 * each.
 *
 * Every thread has two magazines of free blocks for each size; it takes blocks
 * from there and puts those it frees there, wherever they came from. Full and
 * empty magazines are exchanged with a depot that all threads share, one
 * exchange for 64 blocks, so that a thread that only submits is fed by those
 * that only run. (Bonwick and Adams, "Magazines and Vmem", USENIX 2001.)
 *
 * Blocks are cut from chunks of 64. The depot keeps a share of what is in use;
 * what is beyond that goes back to its chunk, and a chunk that has all its
 * blocks back goes back to the allocator.
 */
#ifndef ROTA_BASE_CACHE_H
#define ROTA_BASE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#define ROTA__BLOCK_UNIT    64 /* sizes are multiples of a cache line */
#define ROTA__BLOCK_SIZES   3  /* of 1, 2 and 3 units */
#define ROTA__BLOCK_LARGEST (ROTA__BLOCK_UNIT * ROTA__BLOCK_SIZES)

typedef struct rota__block rota__block;

typedef struct rota__magazine {
    rota__block *first;
    uint32_t count;
} rota__magazine;

typedef struct rota__magazines {
    rota__magazine loaded[ROTA__BLOCK_SIZES];
    rota__magazine spare[ROTA__BLOCK_SIZES]; /* empty or full */
} rota__magazines;

/*
 * NULL: no memory. `home` says where it came from, and must come back with it.
 * `size` is at most ROTA__BLOCK_LARGEST.
 */
void *rota__block_alloc(size_t size, uint8_t *home);
void rota__block_free(void *block, size_t size, uint8_t home);

/* Gives all blocks in a thread's magazines to the depot. */
void rota__magazines_empty(rota__magazines *magazines);

/* Around a fork: so that no other thread is inside. */
void rota__cache_lock(void);
void rota__cache_unlock(void);

#ifdef ROTA_TESTING
/* Gives what the depot and the calling thread's magazines hold back to the allocator. */
void rota__cache_flush(void);
#endif

#endif
