/* SPDX-License-Identifier: MIT */
/*
 * What textbooks divide and conquer: sums, Fibonacci numbers, quick sort and products of matrices,
 * in pools of every size and in the common one. Each result equals that of a loop.
 */
#include "forkjoin.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 1 << 14, THRESHOLD = 64 };

static int numbers[NUMBERS];

TEST_FIXTURE(.keeps_memory = true); /* in the common pool */

BEFORE_TESTS
{
    test_random random;

    test_random_init(&random);
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = (int)test_random_below(&random, NUMBERS);
    return true;
}

/* The task is done in a pool of each size, and with the common one. */
static void in_each_pool(void (*solve)(rota_executor *pool))
{
    static const unsigned parallelisms[] = {1, 2, 4};

    for (size_t i = 0; i < sizeof parallelisms / sizeof parallelisms[0]; i++) {
        rota_executor *pool = test_forkjoin_of(parallelisms[i]);
        solve(pool);
        assert_ok(rota_close(pool));
    }
    solve(rota_common_pool());
}

/* -- A sum: both halves are forked -------------------------------------------------------- */

struct sum {
    rota_fj task; /* first */
    const int *begin;
    const int *end;
    int64_t value;
};

static void add_up(rota_fj *task)
{
    struct sum *all = (struct sum *)task;

    if (all->end - all->begin <= THRESHOLD) {
        for (const int *number = all->begin; number < all->end; number++)
            all->value += *number;
        return;
    }
    const int *middle = all->begin + (all->end - all->begin) / 2;
    struct sum left = {ROTA_FJ(add_up), all->begin, middle, 0};
    struct sum right = {ROTA_FJ(add_up), middle, all->end, 0};
    rota_fork(&left.task);
    rota_fork(&right.task);
    test_check(rota_join(&right.task) == ROTA_OK);
    test_check(rota_join(&left.task) == ROTA_OK);
    all->value = left.value + right.value;
}

static void sum_in(rota_executor *pool)
{
    struct sum all = {ROTA_FJ(add_up), numbers, numbers + NUMBERS, 0};
    int64_t expected = 0;

    for (int i = 0; i < NUMBERS; i++)
        expected += numbers[i];
    assert_ok(rota_invoke(pool, &all.task));
    assert_true(all.value == expected);
}

/* USE-06 */
TEST(an_array_is_added_up)
{
    in_each_pool(sum_in);
}

/* -- Fibonacci numbers -------------------------------------------------------------------- */

static void fib_in(rota_executor *pool)
{
    long previous = 0, expected = 1;

    for (int n = 1; n < 18; n++) {
        test_fib_task fib = {ROTA_FJ(test_fib), n, 0};
        assert_ok(rota_invoke(pool, &fib.task));
        assert_int_equal(fib.value, expected);
        expected += previous;
        previous = fib.value;
    }
}

/* USE-06 */
TEST(fibonacci_numbers_are_found)
{
    in_each_pool(fib_in);
}

/* -- Quick sort --------------------------------------------------------------------------- */

struct sorting {
    rota_fj task; /* first */
    int *begin;
    int *end;
};

static void swap(int *a, int *b)
{
    int old = *a;

    *a = *b;
    *b = old;
}

/* Those below the last one come first: where they end, which is its place. */
static int *partition(int *begin, int *end)
{
    int *place = begin;

    for (int *number = begin; number < end - 1; number++) {
        if (*number < end[-1])
            swap(number, place++);
    }
    swap(place, end - 1);
    return place;
}

static void sort(rota_fj *task)
{
    const struct sorting *all = (struct sorting *)task;

    if (all->end - all->begin < 2)
        return;
    int *middle = partition(all->begin, all->end);
    struct sorting left = {ROTA_FJ(sort), all->begin, middle};
    struct sorting right = {ROTA_FJ(sort), middle + 1, all->end};
    test_check(rota_invoke_both(&left.task, &right.task) == ROTA_OK);
}

static int by_size(const void *a, const void *b)
{
    int first = *(const int *)a, second = *(const int *)b;

    return (first > second) - (first < second);
}

static void sort_in(rota_executor *pool)
{
    static int sorted[NUMBERS], expected[NUMBERS];
    struct sorting all = {ROTA_FJ(sort), sorted, sorted + NUMBERS};

    memcpy(sorted, numbers, sizeof sorted);
    memcpy(expected, numbers, sizeof expected);
    qsort(expected, NUMBERS, sizeof expected[0], by_size);
    assert_ok(rota_invoke(pool, &all.task));
    assert_memory_equal(sorted, expected, sizeof sorted);
}

/* USE-06 */
TEST(an_array_is_sorted)
{
    in_each_pool(sort_in);
}

/* -- Matrices: by halves of the rows ------------------------------------------------------ */

enum { SIZE = 48, FEW_ROWS = 3 };

typedef int matrix[SIZE][SIZE];

static matrix first, second, product;

struct rows {
    rota_fj task; /* first */
    int begin;
    int end;
};

static int cell_of_product(int row, int column)
{
    int sum = 0;

    for (int i = 0; i < SIZE; i++)
        sum += first[row][i] * second[i][column];
    return sum;
}

static void multiply(rota_fj *task)
{
    const struct rows *rows = (struct rows *)task;
    int middle = rows->begin + (rows->end - rows->begin) / 2;

    if (rows->end - rows->begin <= FEW_ROWS) {
        for (int i = rows->begin * SIZE; i < rows->end * SIZE; i++)
            product[i / SIZE][i % SIZE] = cell_of_product(i / SIZE, i % SIZE);
        return;
    }
    struct rows upper = {ROTA_FJ(multiply), rows->begin, middle};
    struct rows lower = {ROTA_FJ(multiply), middle, rows->end};
    rota_fork(&upper.task);
    multiply(&lower.task);
    test_check(rota_join(&upper.task) == ROTA_OK);
}

static void multiply_in(rota_executor *pool)
{
    struct rows all = {ROTA_FJ(multiply), 0, SIZE};

    memset(product, 0, sizeof product);
    assert_ok(rota_invoke(pool, &all.task));
    for (int i = 0; i < SIZE * SIZE; i++)
        assert_int_equal(product[i / SIZE][i % SIZE], cell_of_product(i / SIZE, i % SIZE));
}

/* USE-06 */
TEST(matrices_are_multiplied)
{
    for (int i = 0; i < SIZE * SIZE; i++) {
        first[i / SIZE][i % SIZE] = numbers[i];
        second[i / SIZE][i % SIZE] = numbers[NUMBERS - 1 - i] % 100 - 50;
    }
    in_each_pool(multiply_in);
}
