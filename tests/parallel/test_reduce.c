/* SPDX-License-Identifier: MIT */
/*
 * rota_parallel_reduce: as from left to right, for every associative join.
 */
#include "forkjoin.h"
#include "rota_test_internal.h"

#include <stdlib.h>

static const unsigned parallelisms[] = {1, 2, 8};
enum { POOLS = 3 };

/* The sanitizers make it slow. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { MOST = 100000 };
#else
enum { MOST = 1000000 };
#endif

static void in_all_pools(void (*body)(void *pool))
{
    for (int i = 0; i < POOLS; i++) {
        rota_executor *pool = test_forkjoin_of(parallelisms[i]);
        body(pool);
        test_fj_inside(pool, body, NULL);
        assert_ok(rota_close(pool));
    }
}

/* -- 2x2 matrices modulo 2^64: associative, and far from commutative ---------------------- */

typedef struct matrix {
    uint64_t a, b, c, d;
} matrix;

static matrix times(matrix x, matrix y)
{
    return (matrix){x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
                    x.c * y.b + x.d * y.d};
}

static matrix nth(size_t i)
{
    return (matrix){i % 5 + 1, i % 7, i % 3, i % 11 + 1};
}

static void init(void *acc, void *ctx)
{
    *(matrix *)acc = (matrix){1, 0, 0, 1};
}

static void fold(void *acc, size_t begin, size_t end, void *ctx)
{
    matrix *product = acc;

    test_check(begin < end);
    test_check(ctx == NULL || end - begin <= *(size_t *)ctx);
    for (size_t i = begin; i < end; i++)
        *product = times(*product, nth(i));
}

static void join(void *acc, const void *right, void *ctx)
{
    *(matrix *)acc = times(*(matrix *)acc, *(const matrix *)right);
}

static const rota_reduction product = {sizeof(matrix), init, fold, join};

static void multiply(rota_executor *pool, size_t begin, size_t n, size_t grain)
{
    matrix expected, result = {9, 9, 9, 9};

    init(&expected, NULL);
    for (size_t i = begin; i < begin + n; i++)
        expected = times(expected, nth(i));
    test_check(rota_parallel_reduce(pool, begin, begin + n, grain, &product,
                                    grain != 0 ? &grain : NULL, &result)
               == ROTA_OK);
    test_check(result.a == expected.a && result.b == expected.b && result.c == expected.c
               && result.d == expected.d);
}

static void multiply_all_sizes(void *pool)
{
    const size_t sizes[] = {0, 1, 2, 3, 13, 64, 1009, 4096, 50021};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        multiply(pool, 0, sizes[i], 0);
        multiply(pool, 100, sizes[i], 1);
        multiply(pool, 3, sizes[i], 17);
        multiply(pool, 0, sizes[i], SIZE_MAX);
    }
    multiply(pool, 0, MOST, 0);
}

/* PAR-04, PAR-07 */
TEST(a_reduction_is_as_from_left_to_right)
{
    in_all_pools(multiply_all_sizes);
}

/* PAR-04: the identity, also when there is less than nothing. */
TEST(nothing_gives_the_identity)
{
    rota_executor *pool = test_forkjoin_of(2);
    matrix result = {9, 9, 9, 9};

    assert_ok(rota_parallel_reduce(pool, 7, 3, 0, &product, NULL, &result));
    assert_true(result.a == 1 && result.b == 0 && result.c == 0 && result.d == 1);
    assert_ok(rota_close(pool));
}

/* -- Intervals: what is joined must be neighbours ----------------------------------------- */

struct interval {
    size_t begin, end;
    bool is_empty;
    char much[1000];
};

static void interval_init(void *acc, void *ctx)
{
    ((struct interval *)acc)->is_empty = true;
}

static void interval_add(struct interval *left, size_t begin, size_t end)
{
    if (left->is_empty)
        *left = (struct interval){.begin = begin, .end = begin};
    test_check(left->end == begin);
    left->end = end;
}

static void interval_fold(void *acc, size_t begin, size_t end, void *ctx)
{
    interval_add(acc, begin, end);
}

static void interval_join(void *acc, const void *right, void *ctx)
{
    const struct interval *other = right;

    if (!other->is_empty)
        interval_add(acc, other->begin, other->end);
}

static const rota_reduction cover = {sizeof(struct interval), interval_init, interval_fold,
                                     interval_join};

static void cover_range(void *pool)
{
    struct interval result;

    for (int i = 0; i < 50; i++) {
        test_check(rota_parallel_reduce(pool, 5, 3000, 1, &cover, NULL, &result) == ROTA_OK);
        test_check(result.begin == 5 && result.end == 3000);
    }
}

TEST(only_neighbours_are_joined)
{
    in_all_pools(cover_range);
}

/* "Needs no memory that it cannot do without." */
TEST(without_memory_a_reduction_goes_on)
{
    rota_executor *pool = test_forkjoin_of(2);

    cover_range(pool); /* its workers are there now */
    for (unsigned n = 1; n < 40; n++) {
        test_memory_fail_at(n, n % 2 == 0);
        cover_range(pool);
        test_memory_fail_at(0, false);
    }
    assert_ok(rota_close(pool));
}

/* -- Failure ------------------------------------------------------------------------------ */

static void fold_badly(void *acc, size_t begin, size_t end, void *ctx)
{
    if (begin <= 700 && 700 < end)
        rota_fail(3);
}

TEST(a_fold_that_fails_ends_it)
{
    rota_reduction bad = product;
    matrix result;

    bad.fold = fold_badly;
    for (int i = 0; i < POOLS; i++) {
        rota_executor *pool = test_forkjoin_of(parallelisms[i]);
        assert_status(rota_parallel_reduce(pool, 0, 1000, 1, &bad, NULL, &result), ROTA_EFAILED);
        assert_ok(rota_close(pool));
    }
}

static void stop_in_fold(void *acc, size_t begin, size_t end, void *ctx)
{
    test_check(rota_shutdown_now(rota_fj_pool(), NULL) == ROTA_OK);
}

TEST(a_reduction_ends_when_its_pool_is_stopped)
{
    rota_reduction bad = product;
    matrix result;

    bad.fold = stop_in_fold;
    for (int i = 0; i < POOLS; i++) {
        rota_executor *pool = test_forkjoin_of(parallelisms[i]);
        assert_status(rota_parallel_reduce(pool, 0, 1000, 1, &bad, NULL, &result), ROTA_ECANCELED);
        assert_ok(rota_close(pool));
    }
}

static void refused(rota_executor *pool, rota_reduction reduction)
{
    matrix result;

    assert_status(rota_parallel_reduce(pool, 0, 9, 0, &reduction, NULL, &result), ROTA_EINVAL);
}

TEST(what_cannot_be_reduced_is_refused)
{
    rota_executor *pool = test_forkjoin_of(2);
    rota_executor *other = test_pool((rota_pool_options){.core_threads = 1});
    matrix result;

    refused(pool, (rota_reduction){0, init, fold, join});
    refused(pool, (rota_reduction){sizeof(matrix), NULL, fold, join});
    refused(pool, (rota_reduction){sizeof(matrix), init, NULL, join});
    refused(pool, (rota_reduction){sizeof(matrix), init, fold, NULL});
    assert_status(rota_parallel_reduce(pool, 0, 9, 0, NULL, NULL, &result), ROTA_EINVAL);
    assert_status(rota_parallel_reduce(pool, 0, 9, 0, &product, NULL, NULL), ROTA_EINVAL);
    assert_status(rota_parallel_reduce(other, 0, 9, 0, &product, NULL, &result), ROTA_ENOTSUP);
    assert_ok(rota_shutdown(pool));
    assert_status(rota_parallel_reduce(pool, 0, 9, 0, &product, NULL, &result), ROTA_EREJECTED);
    assert_ok(rota_close(pool));
    assert_ok(rota_close(other));
}

TEST_WITH(test_keeping_memory, without_a_pool_the_common_one_is_taken)
{
    multiply(NULL, 0, 1000, 0);
    multiply(rota_common_pool(), 0, 1000, 1);
}
