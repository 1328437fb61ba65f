/* SPDX-License-Identifier: MIT */
/* omp.c - OpenMP's tasks; gcc's and clang's. Loops: each thread its part; guided: smaller and
   smaller ones */
#include "peer.h"

#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ENTER _Pragma("omp parallel") _Pragma("omp single") /* how a program gets at the tasks */

static bool is_guided;

void peer_start(const char *kind, unsigned workers)
{
    is_guided = strcmp(kind, "guided") == 0;
    omp_set_dynamic(0);
    omp_set_num_threads((int)workers);
}

static int64_t fib(int n)
{
    int64_t a;
    int64_t b;

    if (n < 2)
        return n;
#pragma omp task shared(a) firstprivate(n)
    a = fib(n - 1);
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

int64_t peer_fib(int n)
{
    int64_t value = 0;

    ENTER value = fib(n);
    return value;
}

/* -- Trees ------------------------------------------------------------------------------------ */

static int64_t queens(int n, int row, const struct board *board)
{
    struct board next[QUEENS_MAX];
    int64_t ways[QUEENS_MAX];
    int64_t all = row == n;
    int count = 0;

    for (int column = 0; row < n && column < n; column++) {
        if (!is_safe(board, row, column))
            continue;
        next[count] = *board;
        next[count].column[row] = (signed char)column;
#pragma omp task shared(next, ways) firstprivate(n, row, count)
        ways[count] = queens(n, row + 1, &next[count]);
        count++;
    }
#pragma omp taskwait
    while (count-- > 0)
        all += ways[count];
    return all;
}

int64_t peer_queens(int n)
{
    struct board empty = {{0}};
    int64_t ways = 0;

    ENTER ways = queens(n, 0, &empty);
    return ways;
}

static int64_t visit(uint64_t parent, int number);

static int64_t visit_all(uint64_t parent, int64_t *nodes, int count)
{
    int64_t all = 1;

    for (int i = 0; i < count; i++) {
#pragma omp task firstprivate(parent, nodes, i)
        nodes[i] = visit(parent, i);
    }
#pragma omp taskwait
    while (count-- > 0)
        all += nodes[count];
    return all;
}

static int64_t visit(uint64_t parent, int number)
{
    int64_t nodes[TREE_FORK];
    uint64_t id = tree_child(parent, number);
    int children = tree_children(id);

    return children == 0 ? 1 : visit_all(id, nodes, children);
}

int64_t peer_tree(void)
{
    int64_t nodes[TREE_ROOT];
    int64_t all = 0;

    ENTER all = visit_all(tree_root(), nodes, TREE_ROOT);
    return all;
}

/* -- Arrays ----------------------------------------------------------------------------------- */

static int64_t sum(const int64_t *from, size_t n, size_t cut)
{
    size_t half = n / 2;
    int64_t a;
    int64_t b;

    if (n < cut)
        return sum_of(from, n);
#pragma omp task shared(a) firstprivate(from, half, cut)
    a = sum(from, half, cut);
#pragma omp task shared(b) firstprivate(from, half, n, cut)
    b = sum(from + half, n - half, cut);
#pragma omp taskwait
    return a + b;
}

int64_t peer_sum(const int64_t *from, size_t n, size_t cut)
{
    int64_t value = 0;

    ENTER value = sum(from, n, cut);
    return value;
}

static void sort(int *base, int *spare, size_t n)
{
    size_t half = n / 2;

    if (n <= SORT_CUT) {
        sort_few(base, n);
        return;
    }
#pragma omp task firstprivate(base, spare, half)
    sort(base, spare, half);
    sort(base + half, spare + half, n - half);
#pragma omp taskwait
    merge_halves(base, spare, n, half);
}

void peer_sort(int *base, int *spare, size_t n)
{
    ENTER sort(base, spare, n);
}

void peer_library_sort(int *base, size_t n)
{
    (void)base;
    (void)n;
    abort();
}

static void multiply(double *c, const double *a, const double *b, size_t n, size_t stride)
{
    size_t half = n / 2;
    size_t down = half * stride;

    if (n <= MATRIX_CUT) {
        multiply_block(c, a, b, stride);
        return;
    }
    for (size_t step = 0; step < 2; step++) {
        for (size_t i = 0; i < 4; i++) {
            size_t row = i >> 1;
            size_t column = i & 1;
#pragma omp task firstprivate(a, b, c, half, down, stride, step, row, column)
            multiply(c + row * down + column * half, a + row * down + step * half,
                     b + step * down + column * half, half, stride);
        }
#pragma omp taskwait
    }
}

void peer_matrix(double *c, const double *a, const double *b, size_t n, size_t stride)
{
    ENTER multiply(c, a, b, n, stride);
}

static void loop_parts(size_t n, loop_body *body, void *data)
{
#pragma omp parallel
    {
        size_t threads = (size_t)omp_get_num_threads();
        size_t me = (size_t)omp_get_thread_num();
        body(n * me / threads, n * (me + 1) / threads, data);
    }
}

static void loop_guided(size_t n, loop_body *body, void *data)
{
#pragma omp parallel for schedule(guided)
    for (size_t i = 0; i < n; i++)
        body(i, i + 1, data);
}

void peer_loop(size_t n, size_t grain, loop_body *body, void *data)
{
    (void)grain;
    if (is_guided)
        loop_guided(n, body, data);
    else
        loop_parts(n, body, data);
}
