/* SPDX-License-Identifier: MIT */
/*
 * Blocks for tasks and futures: whole, aligned, used again, and given back in the end. In builds
 * without the cache (ROTA_NO_TASK_CACHE) every block is an allocation; what holds for both is
 * tested in both.
 */
#include "rota_test_internal.h"

#include "base/alloc.h"
#include "os/fault.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { IN_SLAB = 63, IN_MAGAZINE = 64 }; /* blocks of 64 bytes */

struct block {
    unsigned char *memory;
    size_t size;
    uint8_t slab_offset;
};

static struct block take(size_t size)
{
    struct block block = {.size = size};

    block.memory = rota__block_get(&rota__self()->magazines, size, &block.slab_offset);
    return block;
}

static void give(struct block block)
{
    rota__block_put(&rota__self()->magazines, block.memory, block.size, block.slab_offset);
}

static bool cached; /* set in BEFORE_TESTS */

BEFORE_TESTS
{
    struct block block = take(1);

    cached = block.slab_offset != 0;
    give(block);
    return true;
}

/* After a flush, no allocation is live. */
static int nothing_is_left(void **state)
{
    test_memory_fail_at(0, false);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    rota__blocks_flush();
    return test_memory_live() == 0 ? 0 : -1;
}

TEST_FIXTURE(.teardown = nothing_is_left);

/* -- Blocks ------------------------------------------------------------------------------- */

enum { SOME = 1000 };

static struct block some[SOME];

/* block.B1: no byte is in two blocks, and the cached ones begin at a cache line. */
TEST(blocks_do_not_overlap)
{
    for (size_t i = 0; i < SOME; i++) {
        some[i] = take(1 + i % ROTA__BLOCK_LARGEST);
        assert_non_null(some[i].memory);
        if (some[i].slab_offset != 0)
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
TEST(blocks_are_cut_from_slabs)
{
    if (!cached)
        skip();
    rota__blocks_flush();
    test_memory_fail_at(0, false);
    for (int i = 0; i < 3 * IN_SLAB; i++)
        some[i] = take(64);
    assert_int_equal(test_memory_asked(), 3);
    for (int i = 0; i < 3 * IN_SLAB; i++)
        give(some[i]);
}

/* GEN-10: without memory there is no block; what is free already can still be had. */
TEST(without_memory_there_is_no_block)
{
    int taken = 0;

    rota__blocks_flush();
    test_memory_fail_at(1, true);
    assert_null(take(64).memory);
    test_memory_fail_at(2, true);
    while (taken < SOME && (some[taken] = take(64)).memory != NULL)
        taken++;
    assert_int_equal(taken, cached ? IN_SLAB : 1);
    test_memory_fail_at(0, false);
    while (taken-- > 0)
        give(some[taken]);
}

/* -- Bursts ------------------------------------------------------------------------------- */

enum { BURST = 800 * IN_SLAB };

static struct block burst[BURST];

static void take_burst(void)
{
    for (int i = 0; i < BURST; i++)
        burst[i] = take(64);
}

/* Slabs that may stay after a burst: 128 KiB (block.B3), and what two magazines need. */
enum { KEPT = 128 / 4 + 4 };

/* block.B2, block.B3: memory goes back after a burst, whichever end of it is freed first. */
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

/* Frees blocks of the burst, chosen at random, until `left` of them are left at its beginning. */
static void give_in_random_order(test_random *random, size_t count, size_t left)
{
    for (; count > left; count--) {
        size_t pick = test_random_below(random, count);
        give(burst[pick]);
        burst[pick] = burst[count - 1];
    }
}

/* block.B2, block.B3: each block in the two magazines may keep a slab of its own. */
TEST(memory_goes_back_if_blocks_are_freed_in_no_order)
{
    test_random random;

    test_random_init(&random);
    take_burst();
    give_in_random_order(&random, BURST, 0);
    assert_true(test_memory_live() <= KEPT + 2 * IN_MAGAZINE);
    rota__blocks_flush();
    assert_int_equal(test_memory_live(), 0);
}

/* block.B3: a block in use keeps its slab, but the slab's other blocks are used before a new slab is made. */
TEST(free_blocks_of_slabs_in_use_are_used_first)
{
    test_random random;

    if (!cached)
        skip();
    test_random_init(&random);
    take_burst();
    give_in_random_order(&random, BURST, BURST / 10);
    size_t slabs = test_memory_live();
    size_t room = slabs * IN_SLAB - BURST / 10;
    test_memory_fail_at(1, true);
    for (size_t i = 0; i < room; i++) {
        burst[BURST / 10 + i] = take(64);
        assert_non_null(burst[BURST / 10 + i].memory);
    }
    assert_int_equal(test_memory_asked(), 0);
    test_memory_fail_at(0, false);
    give_in_random_order(&random, BURST / 10 + room, 0);
}

/* -- Threads ------------------------------------------------------------------------------ */

enum { RING = 128, PASSED = 20000 };

static struct ring {
    struct block blocks[RING];
    atomic_int put, got;
} ring;

static void free_passed_blocks(void *arg)
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
    rota__blocks_flush();
    test_memory_fail_at(0, false);
    test_thread *consumer = test_thread_start(free_passed_blocks, NULL);
    for (int i = 0; i < PASSED; i++) {
        while (i - atomic_load(&ring.got) == RING)
            sched_yield();
        ring.blocks[i % RING] = take(64);
        atomic_store(&ring.put, i + 1);
    }
    test_thread_join(consumer);
    if (cached) /* the ring, two magazines of each thread, and one to be filled */
        assert_true(test_memory_asked() <= (RING + 5 * IN_MAGAZINE) / IN_SLAB + 1);
}

static void take_and_give(void *arg)
{
    struct block blocks[ROTA__BLOCK_LARGEST];

    (void)arg;
    for (size_t i = 0; i < ROTA__BLOCK_LARGEST; i++)
        blocks[i] = take(1 + i);
    for (size_t i = 0; i < ROTA__BLOCK_LARGEST; i++)
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
    test_check(own.slab_offset == 0);
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
