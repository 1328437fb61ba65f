/* SPDX-License-Identifier: MIT */
/*
 * Blocks for tasks and futures: whole, aligned, used again, and given back in the end. In builds
 * without the cache (ROTA_NO_TASK_CACHE) every block is an allocation; what holds for both is
 * tested in both: cache.C1 to cache.C3.
 */
#include "rota_test_internal.h"

#include "base/alloc.h"
#include "os/fault.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN = 64 }; /* as in base/cache.c */

struct block {
    unsigned char *memory;
    size_t size;
    uint8_t home;
};

static struct block take(size_t size)
{
    struct block block = {.size = size};

    block.memory = rota__block_alloc(size, &block.home);
    return block;
}

static void give(struct block block)
{
    rota__block_free(block.memory, block.size, block.home);
}

static bool cached; /* found out once */

BEFORE_TESTS
{
    struct block block = take(1);

    cached = block.home != 0;
    give(block);
    return true;
}

/* Nothing is left in use, nor by the cache after it is flushed. */
static int nothing_is_left(void **state)
{
    test_memory_fail_at(0, false);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    rota__cache_flush();
    return test_memory_live() == 0 ? 0 : -1;
}

TEST_FIXTURE(.teardown = nothing_is_left);

/* -- Blocks ------------------------------------------------------------------------------- */

enum { SOME = 1000 };

static struct block some[SOME];

/* cache.C1: no byte is in two blocks, and the cached ones begin at a cache line. */
TEST(blocks_do_not_overlap)
{
    for (size_t i = 0; i < SOME; i++) {
        some[i] = take(1 + i % ROTA__BLOCK_LARGEST);
        assert_non_null(some[i].memory);
        if (some[i].home != 0)
            assert_int_equal((uintptr_t)some[i].memory % ROTA__BLOCK_UNIT, 0);
        memset(some[i].memory, (int)(i % 251), some[i].size);
    }
    for (size_t i = 0; i < SOME; i++) {
        for (size_t at = 0; at < some[i].size; at++)
            assert_int_equal(some[i].memory[at], i % 251);
        give(some[i]);
    }
}

/* What was given back is used again, without asking for memory. */
TEST(blocks_are_used_again)
{
    if (!cached)
        skip();
    for (size_t size = 1; size <= ROTA__BLOCK_LARGEST; size += ROTA__BLOCK_UNIT) {
        struct block block = take(size);
        give(block);
        test_memory_fail_at(1, true);
        for (int i = 0; i < 1000; i++) {
            struct block again = take(size);
            assert_ptr_equal(again.memory, block.memory);
            give(again);
        }
        assert_int_equal(test_memory_asked(), 0);
        test_memory_fail_at(0, false);
    }
}

/* One allocation serves many blocks. */
TEST(blocks_are_cut_from_chunks)
{
    if (!cached)
        skip();
    rota__cache_flush();
    test_memory_fail_at(0, false);
    for (int i = 0; i < 3 * CHAIN; i++)
        some[i] = take(ROTA__BLOCK_LARGEST);
    assert_int_equal(test_memory_asked(), 3);
    for (int i = 0; i < 3 * CHAIN; i++)
        give(some[i]);
}

/* GEN-10: without memory there is no block; what is free already can still be had. */
TEST(without_memory_there_is_no_block)
{
    int taken = 0;

    rota__cache_flush();
    test_memory_fail_at(1, true);
    assert_null(take(64).memory);
    test_memory_fail_at(2, true);
    while (taken < SOME && (some[taken] = take(64)).memory != NULL)
        taken++;
    assert_int_equal(taken, cached ? CHAIN : 1);
    test_memory_fail_at(0, false);
    while (taken-- > 0)
        give(some[taken]);
}

/* -- Bursts ------------------------------------------------------------------------------- */

enum { BURST = 50000 };

static struct block burst[BURST];

static void take_burst(void)
{
    for (int i = 0; i < BURST; i++)
        burst[i] = take(64);
}

/* Chunks that may stay after a burst: those of the kept chains (cache.C3), and of two magazines. */
enum { KEPT = 64 + 2 + 2 };

/* cache.C2, cache.C3: memory goes back after a burst, whichever end of it is freed first. */
TEST(memory_goes_back_after_a_burst)
{
    take_burst();
    for (int i = 0; i < BURST; i++)
        give(burst[i]);
    assert_true(test_memory_live() <= KEPT);
    take_burst();
    for (int i = BURST; i-- > 0;)
        give(burst[i]);
    assert_true(test_memory_live() <= KEPT);
}

/* cache.C2: nothing is lost when blocks come back in no order at all. */
TEST(no_order_of_freeing_loses_anything)
{
    test_random random;

    test_random_init(&random);
    take_burst();
    for (size_t left = BURST; left > 0; left--) {
        size_t pick = test_random_below(&random, left);
        give(burst[pick]);
        burst[pick] = burst[left - 1];
    }
    rota__cache_flush();
    assert_int_equal(test_memory_live(), 0);
}

/* -- Threads ------------------------------------------------------------------------------ */

enum { RING = 128, PASSED = 20000 };

static struct ring {
    struct block blocks[RING];
    atomic_int put, got;
} ring;

static void free_what_comes(void *arg)
{
    (void)arg;
    for (int i = 0; i < PASSED; i++) {
        while (atomic_load(&ring.put) == i)
            sched_yield();
        give(ring.blocks[i % RING]);
        atomic_store(&ring.got, i + 1);
    }
}

/* A thread that only takes is fed by one that only frees: only what is under way needs memory. */
TEST(blocks_travel_between_threads)
{
    rota__cache_flush();
    test_memory_fail_at(0, false);
    test_thread *consumer = test_thread_start(free_what_comes, NULL);
    for (int i = 0; i < PASSED; i++) {
        while (i - atomic_load(&ring.got) == RING)
            sched_yield();
        ring.blocks[i % RING] = take(64);
        atomic_store(&ring.put, i + 1);
    }
    test_thread_join(consumer);
    if (cached) /* the ring, two magazines of each thread, and one to be cut */
        assert_true(test_memory_asked() <= (RING + 4 * CHAIN) / CHAIN + 1);
}

static void take_and_give(void *arg)
{
    struct block blocks[3 * CHAIN];

    (void)arg;
    for (size_t i = 0; i < 3 * CHAIN; i++)
        blocks[i] = take(1 + i);
    for (size_t i = 0; i < 3 * CHAIN; i++)
        give(blocks[i]);
}

/* What a thread has in its magazines outlives it: others can use it. */
TEST(a_thread_leaves_its_blocks_to_others)
{
    test_thread_join(test_thread_start(take_and_give, NULL));
    test_memory_fail_at(0, false);
    take_and_give(NULL);
    if (cached)
        assert_int_equal(test_memory_asked(), 0);
}

static void take_unwatched(void *arg)
{
    struct block *others = arg;
    struct block own = take(100);

    test_check(rota_thread_self() == NULL);
    test_check(own.memory != NULL);
    test_check(own.home == 0);
    give(own);
    give(*others);
}

/* A thread whose end cannot be watched for keeps no blocks: they would be lost with it. */
TEST(an_unwatched_thread_keeps_nothing)
{
    struct block block = take(100);

    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 1, true);
    test_thread_join(test_thread_start(take_unwatched, &block));
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
}
