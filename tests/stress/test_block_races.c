/* SPDX-License-Identifier: MIT */
/*
 * Blocks under load: threads that come and go take, pass on and free them. No block is in two hands
 * (block.B1), and in the end all memory is back (block.B2).
 */
#include "rota_test_internal.h"

#include "base/alloc.h"

#include <string.h>

enum { THREADS = 4, GENERATIONS = 10, STEPS = 5000, SLOTS = 300 };

/* At the head of every block; the rest is filled with its mark. */
typedef struct stamp {
    uint64_t mark;
    size_t size;
    uint8_t slab_offset;
} stamp;

static _Atomic(stamp *) slots[SLOTS]; /* where blocks wait for whoever frees them */
static atomic_uint next_thread;

static unsigned char *rest_of(stamp *block)
{
    return (unsigned char *)(block + 1);
}

static stamp *take(test_random *random)
{
    size_t size =
        sizeof(stamp) + test_random_below(random, ROTA__BLOCK_LARGEST - sizeof(stamp)) + 1;
    uint8_t slab_offset;
    stamp *block = rota__block_get(&rota__self()->magazines, size, &slab_offset);

    if (block == NULL)
        return NULL;
    *block = (stamp){test_random_next(random), size, slab_offset};
    memset(rest_of(block), (int)(block->mark & 0xff), size - sizeof *block);
    return block;
}

static void give(stamp *block)
{
    if (block == NULL)
        return;
    for (size_t i = 0; i < block->size - sizeof *block; i++)
        test_check(rest_of(block)[i] == (block->mark & 0xff));
    rota__block_put(&rota__self()->magazines, block, block->size, block->slab_offset);
}

static void take_and_pass_on(void *arg)
{
    test_random random = {atomic_fetch_add(&next_thread, 1) * 7919 + 1};

    for (int i = 0; i < STEPS; i++) {
        stamp *block = take(&random);
        size_t slot = test_random_below(&random, SLOTS);
        give(atomic_exchange(&slots[slot], block));
        if (arg != NULL && i % 50 == 0) /* now and then the memory is short, for anybody */
            test_memory_fail_at(1, false);
    }
}

static void run_generations(void *arg)
{
    test_thread *threads[THREADS];

    for (int generation = 0; generation < GENERATIONS; generation++) {
        for (int i = 0; i < THREADS; i++)
            threads[i] = test_thread_start(take_and_pass_on, arg);
        for (int i = 0; i < THREADS; i++)
            test_thread_join(threads[i]);
    }
    test_memory_fail_at(0, false);
    for (int i = 0; i < SLOTS; i++)
        give(atomic_exchange(&slots[i], NULL));
    rota__blocks_flush();
    assert_int_equal(test_memory_live(), 0);
}

/* block.B1, block.B2 */
TEST(no_block_is_lost_or_in_two_hands)
{
    run_generations(NULL);
}

/* GEN-10: nor when memory is short. */
TEST(no_block_is_lost_when_memory_is_short)
{
    static int yes;

    run_generations(&yes);
}

enum { BURST = 20000 };

static void *passed[THREADS][BURST];
static uint8_t offsets[THREADS][BURST];

static void take_burst(void *arg)
{
    size_t mine = (size_t)((void *(*)[BURST])arg - passed);

    for (int i = 0; i < BURST; i++) {
        passed[mine][i] = rota__block_get(&rota__self()->magazines, 64, &offsets[mine][i]);
        test_check(passed[mine][i] != NULL);
    }
}

static void free_burst(void *arg)
{
    size_t mine = (size_t)((void *(*)[BURST])arg - passed);

    for (int i = 0; i < BURST; i++)
        rota__block_put(&rota__self()->magazines, passed[mine][i], 64, offsets[mine][i]);
}

static void run(void (*body)(void *arg))
{
    test_thread *threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        threads[i] = test_thread_start(body, &passed[i]);
    for (int i = 0; i < THREADS; i++)
        test_thread_join(threads[i]);
}

/* block.B3: after a burst of all threads, freed by others, little is kept of it. */
TEST(memory_goes_back_after_a_burst_of_all)
{
    for (int round = 0; round < 3; round++) {
        run(take_burst);
        assert_true(test_memory_live() >= (size_t)THREADS * BURST / 64);
        run(free_burst);
        assert_true(test_memory_live() <= 128 / 4); /* of 1,270 slabs of 4 KiB */
    }
    rota__blocks_flush();
    assert_int_equal(test_memory_live(), 0);
}
