/* SPDX-License-Identifier: MIT */
/* kernels.c - what is done in one go, by all peers but Java */
#include "work.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GLIBC__)
#define BEST_VECTORS __attribute__((target_clones("avx2", "default"))) /* as Java has them */
#else
#define BEST_VECTORS
#endif

int64_t sum_of(const int64_t *from, size_t n)
{
    int64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += from[i];
    return sum;
}

/* -- Sorting ---------------------------------------------------------------------------------- */

static void insert_all(int *base, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        int next = base[i];
        size_t place = i;
        for (; place > 0 && base[place - 1] > next; place--)
            base[place] = base[place - 1];
        base[place] = next;
    }
}

static int median_of(int x, int y, int z)
{
    if (x < y)
        return y < z ? y : x < z ? z : x;
    return x < z ? x : y < z ? z : y;
}

/* How many are on the left, none of which is greater than one on the right. */
static size_t part(int *base, size_t n)
{
    int pivot = median_of(base[0], base[n / 2], base[n - 1]);
    size_t i = 0;
    size_t j = n - 1;

    for (;; i++, j--) {
        while (base[i] < pivot)
            i++;
        while (base[j] > pivot)
            j--;
        if (i >= j)
            return j + 1;
        int swap = base[i];
        base[i] = base[j];
        base[j] = swap;
    }
}

void sort_few(int *base, size_t n)
{
    while (n > 24) {
        size_t left = part(base, n);
        sort_few(base, left);
        base += left;
        n -= left;
    }
    insert_all(base, n);
}

void merge_halves(int *base, int *spare, size_t n, size_t half)
{
    size_t i = 0;
    size_t j = half;
    size_t to = 0;

    memcpy(spare, base, half * sizeof *base);
    while (i < half && j < n) {
        int left = spare[i];
        int right = base[j];
        base[to++] = right < left ? right : left;
        j += right < left;
        i += right >= left;
    }
    memcpy(base + to, spare + i, (half - i) * sizeof *base);
}

/* -- Matrices --------------------------------------------------------------------------------- */

BEST_VECTORS void multiply_block(double *restrict c, const double *restrict a,
                                 const double *restrict b, size_t stride)
{
    for (size_t i = 0; i < MATRIX_CUT; i++)
        for (size_t k = 0; k < MATRIX_CUT; k++)
            for (size_t j = 0; j < MATRIX_CUT; j++)
                c[i * stride + j] += a[i * stride + k] * b[k * stride + j];
}

/* -- Loops ------------------------------------------------------------------------------------ */

/* About a nanosecond a step. */
static uint64_t take_steps(uint64_t x, size_t steps)
{
    for (size_t i = 0; i < steps; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return x;
}

void even_loop(size_t begin, size_t end, void *data)
{
    const struct loop_data *loop = data;

    for (size_t i = begin; i < end; i++)
        loop->out[i] = take_steps(i, 2);
}

/* Each index takes longer than the one before. */
void skewed_loop(size_t begin, size_t end, void *data)
{
    const struct loop_data *loop = data;

    for (size_t i = begin; i < end; i++)
        loop->out[i] = take_steps(i, i);
}

/* One in 256, here and there, takes a thousand times as long as the others. */
void spiky_loop(size_t begin, size_t end, void *data)
{
    const struct loop_data *loop = data;

    for (size_t i = begin; i < end; i++)
        loop->out[i] = take_steps(i, take_steps(i, 3) >> 56 == 0 ? 20000 : 20);
}

/* Nearly all there is to do is in the first part. */
void front_loop(size_t begin, size_t end, void *data)
{
    const struct loop_data *loop = data;

    for (size_t i = begin; i < end; i++)
        loop->out[i] = take_steps(i, i < loop->n / 64 ? 5000 : 1);
}

void coarse_loop(size_t begin, size_t end, void *data)
{
    const struct loop_data *loop = data;

    for (size_t i = begin; i < end; i++)
        loop->out[i] = take_steps(i, 200000);
}

/* Memory is what takes time. */
void stream_loop(size_t begin, size_t end, void *data)
{
    const struct loop_data *loop = data;

    for (size_t i = begin; i < end; i++)
        loop->z[i] = loop->x[i] + 3 * loop->y[i];
}
