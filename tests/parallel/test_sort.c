/* SPDX-License-Identifier: MIT */
/*
 * rota_parallel_sort: stable, and as a serial sort, for elements of every size.
 */
#include "forkjoin.h"
#include "rota_test_internal.h"

#include <stdlib.h>
#include <string.h>

static const unsigned parallelisms[] = {1, 2, 8};
enum { POOLS = 3 };

/* The sanitizers make it slow. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { MOST = 100000 };
#else
enum { MOST = 1000000 };
#endif

static test_random randomness;

/* -- Elements: a key, and where they were ------------------------------------------------- */

struct element {
    uint32_t key;
    uint32_t place;
};

static int by_key(const void *a, const void *b, void *ctx)
{
    const struct element *x = a, *y = b;

    test_check(ctx == &randomness);
    return (x->key > y->key) - (x->key < y->key);
}

static struct element *shuffled(size_t n, size_t keys)
{
    struct element *elements = malloc((n + 1) * sizeof *elements);

    test_check(elements != NULL);
    for (size_t i = 0; i < n; i++) {
        elements[i].key = (uint32_t)test_random_below(&randomness, keys);
        elements[i].place = (uint32_t)i;
    }
    elements[n] = (struct element){77, 77};
    return elements;
}

/* Sorted, stable, and each is there: a place that is there twice would be out of order. */
static void is_sorted(const struct element *elements, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += elements[i].place;
        test_check(elements[i].place < n);
        test_check(i == 0 || elements[i - 1].key < elements[i].key
                   || (elements[i - 1].key == elements[i].key
                       && elements[i - 1].place < elements[i].place));
    }
    test_check(n == 0 || sum == (uint64_t)n * (n - 1) / 2);
    test_check(elements[n].key == 77 && elements[n].place == 77);
}

static void sort_shuffled(rota_executor *pool, size_t n, size_t keys)
{
    struct element *elements = shuffled(n, keys);

    test_check(rota_parallel_sort(pool, elements, n, sizeof *elements, by_key, &randomness)
               == ROTA_OK);
    is_sorted(elements, n);
    free(elements);
}

static void sort_all_sizes(void *pool)
{
    const size_t sizes[] = {0,    1,    2,    3,    11,   12,    13,    100,  1007,
                            2048, 2049, 4096, 4099, 8191, 16385, 30011, 65536};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        sort_shuffled(pool, sizes[i], UINT32_MAX);
        sort_shuffled(pool, sizes[i], 10);
        sort_shuffled(pool, sizes[i], 1);
    }
}

/* PAR-05, PAR-07 */
TEST(a_sort_is_right_and_stable)
{
    for (int i = 0; i < POOLS; i++) {
        rota_executor *pool = test_forkjoin_of(parallelisms[i]);
        sort_all_sizes(pool);
        test_fj_inside(pool, sort_all_sizes, NULL);
        assert_ok(rota_close(pool));
    }
}

TEST(a_million_are_sorted)
{
    for (int i = 0; i < POOLS; i++) {
        rota_executor *pool = test_forkjoin_of(parallelisms[i]);
        sort_shuffled(pool, MOST, UINT32_MAX);
        sort_shuffled(pool, MOST, 1000);
        assert_ok(rota_close(pool));
    }
}

/* -- Patterns ----------------------------------------------------------------------------- */

static uint32_t pattern(int which, size_t i, size_t n)
{
    switch (which) {
    case 0:
        return (uint32_t)i;
    case 1:
        return (uint32_t)(n - i);
    case 2:
        return (uint32_t)(i < n / 2 ? i : n - i);
    case 3:
        return (uint32_t)(i % 2 == 0 ? i : n + i);
    default:
        return i == n - 1 ? 0 : 5;
    }
}

/* Sorted, backwards, a roof, two that are interleaved, and all equal but one. */
TEST(what_has_an_order_already_is_sorted)
{
    rota_executor *pool = test_forkjoin_of(2);
    enum { N = 20011 };

    for (int which = 0; which < 5; which++) {
        struct element *elements = shuffled(N, 2);
        for (size_t i = 0; i < N; i++)
            elements[i].key = pattern(which, i, N);
        assert_ok(rota_parallel_sort(pool, elements, N, sizeof *elements, by_key, &randomness));
        is_sorted(elements, N);
        free(elements);
    }
    assert_ok(rota_close(pool));
}

/* -- Sizes of elements -------------------------------------------------------------------- */

/* By the first byte alone. */
static int by_first_byte(const void *a, const void *b, void *ctx)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

/* A stable sort by counting. */
static void count_sorted(const unsigned char *from, unsigned char *to, size_t n, size_t size)
{
    for (unsigned key = 0; key < 256; key++) {
        for (size_t i = 0; i < n; i++) {
            if (from[i * size] == key) {
                memcpy(to, from + i * size, size);
                to += size;
            }
        }
    }
}

static void sort_wide(rota_executor *pool, size_t n, size_t size)
{
    unsigned char *bytes = malloc(n * size), *expected = malloc(n * size);

    assert_true(bytes != NULL && expected != NULL);
    for (size_t i = 0; i < n * size; i++)
        bytes[i] = (unsigned char)test_random_next(&randomness);
    count_sorted(bytes, expected, n, size);
    assert_ok(rota_parallel_sort(pool, bytes, n, size, by_first_byte, NULL));
    assert_int_equal(memcmp(bytes, expected, n * size), 0);
    free(bytes);
    free(expected);
}

/* PAR-05: of 1 to 300 bytes, aligned or not. */
TEST(elements_may_have_any_size)
{
    rota_executor *pool = test_forkjoin_of(2);

    for (size_t size = 1; size <= 300; size += size < 34 ? 1 : 19)
        sort_wide(pool, 3001, size);
    sort_wide(pool, 3001, 300);
    sort_wide(pool, 20000, 3);
    assert_ok(rota_close(pool));
}

/* -- What fails --------------------------------------------------------------------------- */

/* PAR-05: "and the array is as it was". */
TEST(without_memory_the_array_is_as_it_was)
{
    rota_executor *pool = test_forkjoin_of(2);
    struct element *elements = shuffled(5000, 100);

    test_memory_fail_at(1, false);
    assert_status(rota_parallel_sort(pool, elements, 5000, sizeof *elements, by_key, &randomness),
                  ROTA_ENOMEM);
    test_memory_fail_at(0, false);
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(elements[i].place, i);
    assert_ok(rota_parallel_sort(pool, elements, 5000, sizeof *elements, by_key, &randomness));
    is_sorted(elements, 5000);
    free(elements);
    assert_ok(rota_close(pool));
}

static atomic_bool is_stopped;

static int stop_and_compare(const void *a, const void *b, void *ctx)
{
    if (!atomic_exchange(&is_stopped, true))
        test_check(rota_shutdown_now(rota_fj_pool(), NULL) == ROTA_OK);
    return by_key(a, b, ctx);
}

/* "Once begun it is not cut short." */
TEST(a_sort_is_finished_also_in_a_pool_that_is_stopped)
{
    for (int i = 0; i < POOLS; i++) {
        rota_executor *pool = test_forkjoin_of(parallelisms[i]);
        struct element *elements = shuffled(50000, 1000);
        atomic_store(&is_stopped, false);
        assert_ok(rota_parallel_sort(pool, elements, 50000, sizeof *elements, stop_and_compare,
                                     &randomness));
        is_sorted(elements, 50000);
        free(elements);
        assert_ok(rota_close(pool));
    }
}

TEST(what_cannot_be_sorted_is_refused)
{
    rota_executor *pool = test_forkjoin_of(2);
    rota_executor *other = test_pool((rota_pool_options){.core_threads = 1});
    char bytes[] = {3, 2, 1};

    assert_status(rota_parallel_sort(pool, bytes, 3, 1, NULL, NULL), ROTA_EINVAL);
    assert_status(rota_parallel_sort(pool, NULL, 3, 1, by_first_byte, NULL), ROTA_EINVAL);
    assert_status(rota_parallel_sort(pool, bytes, 3, 0, by_first_byte, NULL), ROTA_EINVAL);
    assert_status(rota_parallel_sort(pool, bytes, SIZE_MAX / 2, 3, by_first_byte, NULL),
                  ROTA_EINVAL);
    assert_status(rota_parallel_sort(other, bytes, 3, 1, by_first_byte, NULL), ROTA_ENOTSUP);
    assert_ok(rota_parallel_sort(pool, NULL, 0, 1, by_first_byte, NULL));
    assert_ok(rota_shutdown(pool));
    assert_status(rota_parallel_sort(pool, bytes, 3, 1, by_first_byte, NULL), ROTA_EREJECTED);
    assert_int_equal(bytes[0], 3);
    assert_ok(rota_close(pool));
    assert_ok(rota_close(other));
}

/* PAR-01 */
TEST_WITH(test_keeping_memory, without_a_pool_the_common_one_is_taken)
{
    sort_shuffled(NULL, 10000, 100);
    sort_shuffled(rota_common_pool(), 10000, 100);
}

BEFORE_TESTS
{
    test_random_init(&randomness);
    return true;
}
