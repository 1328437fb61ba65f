/* SPDX-License-Identifier: MIT */
#include "sweep.h"

enum { LENGTH = 3000, GRAIN = 100 };

static sweep_scenes pools = {&sweep_idle_forkjoin, &sweep_waiting_forkjoin, NULL};

static void add(size_t begin, size_t end, void *sum)
{
    atomic_fetch_add((atomic_size_t *)sum, end - begin);
}

static int loop(void)
{
    atomic_size_t sum = 0;
    int status = rota_parallel_for(stage.pool, 0, LENGTH, GRAIN, add, &sum);

    test_check(sum == LENGTH);
    return status;
}

static int numbers[LENGTH];

static void twice(const void *in, void *out, void *ctx)
{
    *(int *)out = 2 * *(const int *)in;
}

static int map(void)
{
    for (int i = 0; i < LENGTH; i++)
        numbers[i] = i;
    int status = rota_parallel_map(stage.pool, numbers, sizeof numbers[0], numbers,
                                   sizeof numbers[0], LENGTH, twice, NULL);
    for (int i = 0; i < LENGTH; i++)
        test_check(numbers[i] == 2 * i);
    return status;
}

static void zero(void *acc, void *ctx)
{
    *(size_t *)acc = 0;
}

static void fold(void *acc, size_t begin, size_t end, void *ctx)
{
    *(size_t *)acc += end - begin;
}

static void join(void *acc, const void *right, void *ctx)
{
    *(size_t *)acc += *(const size_t *)right;
}

static int reduce(void)
{
    const rota_reduction reduction = {sizeof(size_t), zero, fold, join};
    size_t result = 0;
    int status = rota_parallel_reduce(stage.pool, 0, LENGTH, GRAIN, &reduction, NULL, &result);

    test_check(result == LENGTH);
    return status;
}

static int by_number(const void *a, const void *b, void *ctx)
{
    const int *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Sorted, or as it was. */
static int sort(void)
{
    for (int i = 0; i < LENGTH; i++)
        numbers[i] = (i * 7919) % LENGTH;
    int status =
        rota_parallel_sort(stage.pool, numbers, LENGTH, sizeof numbers[0], by_number, NULL);
    for (int i = 0; i < LENGTH; i++)
        test_check(numbers[i] == (status == ROTA_OK ? i : (i * 7919) % LENGTH));
    return status;
}

static const sweep_row rows[] = {
    {"rota_parallel_for", pools, loop, .stays = true},
    {"rota_parallel_map", pools, map, .stays = true},
    {"rota_parallel_reduce", pools, reduce, .stays = true},
    {"rota_parallel_sort", pools, sort, SWEEP_NEEDS_MEMORY, .stays = true},
};
SWEEP_PART(sweep_parallel, rows);
