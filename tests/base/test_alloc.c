/* SPDX-License-Identifier: MIT */
/*
 * The allocator is set once, before memory is used, and is told the sizes of what it gets back.
 * test_malloc.c has the case that it is not set. The order of the tests counts.
 */
#include "rota_test.h"

#include "base/alloc.h"

#include <stdlib.h>

/* -- An allocator that remembers ---------------------------------------------------------- */

static struct seen {
    atomic_int allocs;
    atomic_int frees;
    size_t alloc_size; /* of the last call */
    size_t free_size;
    void *freed;
} seen;

static void *seen_alloc(size_t size, void *ctx)
{
    test_check(ctx == &seen);
    atomic_fetch_add(&seen.allocs, 1);
    seen.alloc_size = size;
    return malloc(size);
}

static void seen_free(void *block, size_t size, void *ctx)
{
    test_check(ctx == &seen);
    atomic_fetch_add(&seen.frees, 1);
    seen.free_size = size;
    seen.freed = block;
    free(block);
}

static void *counted_alloc(size_t size, void *ctx)
{
    atomic_fetch_add((atomic_int *)ctx, 1);
    return malloc(size);
}

static void plain_free(void *block, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    free(block);
}

/* -- Before it is set --------------------------------------------------------------------- */

enum { THREADS = 4 };

struct race {
    test_barrier start;
    atomic_int allocs[THREADS]; /* by the allocator of each thread */
    atomic_int next;
    atomic_int set;
    int winner;
};

static void set_one(void *arg)
{
    struct race *race = arg;
    int mine = atomic_fetch_add(&race->next, 1);
    const rota_allocator allocator = {counted_alloc, plain_free, &race->allocs[mine]};

    test_barrier_wait(&race->start);
    int status = rota_set_allocator(&allocator);
    test_check(status == ROTA_OK || status == ROTA_EBUSY);
    if (status == ROTA_OK) {
        atomic_fetch_add(&race->set, 1);
        race->winner = mine;
    }
    rota__free(rota__alloc(10), 10);
}

static void set_at_once(void *arg)
{
    struct race race = {.winner = -1};
    test_thread *threads[THREADS];

    (void)arg;
    test_barrier_init(&race.start, THREADS);
    for (int i = 0; i < THREADS; i++)
        threads[i] = test_thread_start(set_one, &race);
    for (int i = 0; i < THREADS; i++)
        test_thread_join(threads[i]);
    test_check(race.set == 1);
    for (int i = 0; i < THREADS; i++)
        test_check(race.allocs[i] == (i == race.winner ? THREADS : 0));
}

/* GEN-11: of several at once one is set, and all use that one. */
TEST(of_several_at_once_one_is_set)
{
    for (int i = 0; i < 50; i++)
        assert_int_equal(test_in_child(set_at_once, NULL), 0);
}

/* GEN-02: each part is needed; a refusal does not count as setting it. */
TEST(what_is_incomplete_is_refused)
{
    const rota_allocator no_alloc = {NULL, seen_free, &seen};
    const rota_allocator no_free = {seen_alloc, NULL, &seen};

    assert_status(rota_set_allocator(NULL), ROTA_EINVAL);
    assert_status(rota_set_allocator(&no_alloc), ROTA_EINVAL);
    assert_status(rota_set_allocator(&no_free), ROTA_EINVAL);
}

/* It is copied, and can be set once. */
TEST(it_is_set_once)
{
    rota_allocator allocator = {seen_alloc, seen_free, &seen};

    assert_ok(rota_set_allocator(&allocator));
    allocator = (rota_allocator){counted_alloc, plain_free, NULL};
    assert_status(rota_set_allocator(&allocator), ROTA_EBUSY);
    assert_status(rota_set_allocator(NULL), ROTA_EINVAL); /* GEN-03 */
    rota__free(rota__alloc(1), 1);
    assert_int_equal(seen.allocs, 1);
    assert_int_equal(seen.frees, 1);
}

/* -- Afterwards --------------------------------------------------------------------------- */

/* It is told the size that was asked for, both times. */
TEST(sizes_are_told)
{
    void *block = rota__alloc(123);

    assert_non_null(block);
    assert_int_equal(seen.alloc_size, 123);
    rota__free(block, 123);
    assert_int_equal(seen.free_size, 123);
    assert_ptr_equal(seen.freed, block);
    rota__free(rota__alloc_array(7, 12), 84);
    assert_int_equal(seen.alloc_size, 84);
    assert_int_equal(seen.free_size, 84);
}

/* It is never given NULL. */
TEST(null_is_not_freed)
{
    int before = seen.frees;

    rota__free(NULL, 0);
    rota__free(NULL, 100);
    assert_int_equal(seen.frees, before);
}

/* FAULT-05: an array too large for a size_t is not asked for. */
TEST(an_array_does_not_overflow)
{
    const size_t half = (size_t)1 << (sizeof(size_t) * 4);
    int before = seen.allocs;

    assert_null(rota__alloc_array(SIZE_MAX, 2));
    assert_null(rota__alloc_array(2, SIZE_MAX));
    assert_null(rota__alloc_array(half, half));
    assert_null(rota__alloc_array(SIZE_MAX / 24 + 1, 24));
    assert_int_equal(seen.allocs, before);
}

/* Without the counting allocator. */
int main(void)
{
    return test_run_all();
}
