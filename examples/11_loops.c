/* SPDX-License-Identifier: MIT */
/* 11_loops.c - a loop, a map, a sum and a sort over a million numbers, on all CPUs */
#include <rota/rota.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000000 };

static void fill(size_t begin, size_t end, void *numbers)
{
    double *all = numbers;

    for (size_t i = begin; i < end; i++)
        all[i] = (double)((uint64_t)i * 2654435761u % N);
}

static void halve(const void *in, void *out, void *ctx)
{
    (void)ctx;
    *(float *)out = (float)(*(const double *)in / 2);
}

static void zero(void *acc, void *ctx)
{
    (void)ctx;
    *(double *)acc = 0;
}

static void add_piece(void *acc, size_t begin, size_t end, void *numbers)
{
    const double *all = numbers;

    for (size_t i = begin; i < end; i++)
        *(double *)acc += all[i];
}

static void add_right(void *acc, const void *right, void *ctx)
{
    (void)ctx;
    *(double *)acc += *(const double *)right;
}

static int compare(const void *a, const void *b, void *ctx)
{
    double x = *(const double *)a, y = *(const double *)b;

    (void)ctx;
    return (x > y) - (x < y);
}

int main(void)
{
    rota_reduction sum = {sizeof(double), zero, add_piece, add_right};
    double *numbers = malloc(N * sizeof *numbers);
    float *halves = malloc(N * sizeof *halves);
    double total;

    if (numbers == NULL || halves == NULL
        || rota_parallel_for(NULL, 0, N, 0, fill, numbers) != ROTA_OK
        || rota_parallel_map(NULL, numbers, sizeof *numbers, halves, sizeof *halves, N, halve, NULL)
               != ROTA_OK
        || rota_parallel_reduce(NULL, 0, N, 0, &sum, numbers, &total) != ROTA_OK
        || rota_parallel_sort(NULL, numbers, N, sizeof *numbers, compare, NULL) != ROTA_OK)
        return 1;
    printf("  %d numbers from %.0f to %.0f, in all %.0f\n", N, numbers[0], numbers[N - 1], total);
    bool is_right =
        numbers[0] == 0 && numbers[N - 1] == N - 1 && halves[1] == (float)(2654435761u % N) / 2;
    free(numbers);
    free(halves);
    return is_right ? 0 : 1;
}
