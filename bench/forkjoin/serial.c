/* SPDX-License-Identifier: MIT */
/* serial.c - plain calls, and the C library's sort */
#include "peer.h"

#include <stdlib.h>

void peer_start(const char *kind, unsigned workers)
{
    (void)kind;
    if (workers != 1)
        abort();
}

int64_t peer_fib(int n)
{
    return n < 2 ? n : peer_fib(n - 1) + peer_fib(n - 2);
}

static int64_t queens(int n, int row, const struct board *board)
{
    int64_t ways = 0;

    if (row == n)
        return 1;
    for (int column = 0; column < n; column++)
        if (is_safe(board, row, column)) {
            struct board next = *board;
            next.column[row] = (signed char)column;
            ways += queens(n, row + 1, &next);
        }
    return ways;
}

int64_t peer_queens(int n)
{
    return queens(n, 0, &(struct board){{0}});
}

static int64_t tree(uint64_t node, int children)
{
    int64_t nodes = 1;

    for (int i = 0; i < children; i++) {
        uint64_t child = tree_child(node, i);
        nodes += tree(child, tree_children(child));
    }
    return nodes;
}

int64_t peer_tree(void)
{
    return tree(tree_root(), TREE_ROOT);
}

int64_t peer_sum(const int64_t *from, size_t n, size_t cut)
{
    if (n < cut)
        return sum_of(from, n);
    return peer_sum(from, n / 2, cut) + peer_sum(from + n / 2, n - n / 2, cut);
}

void peer_sort(int *base, int *spare, size_t n)
{
    size_t half = n / 2;

    if (n <= SORT_CUT) {
        sort_few(base, n);
        return;
    }
    peer_sort(base, spare, half);
    peer_sort(base + half, spare + half, n - half);
    merge_halves(base, spare, n, half);
}

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a;
    int y = *(const int *)b;

    return (x > y) - (x < y);
}

void peer_library_sort(int *base, size_t n)
{
    qsort(base, n, sizeof *base, compare);
}

void peer_matrix(double *c, const double *a, const double *b, size_t n, size_t stride)
{
    size_t half = n / 2;
    size_t down = half * stride;

    if (n <= MATRIX_CUT) {
        multiply_block(c, a, b, stride);
        return;
    }
    for (size_t i = 0; i < 8; i++) {
        size_t row = i >> 1 & 1;
        size_t column = i & 1;
        size_t step = i >> 2;
        peer_matrix(c + row * down + column * half, a + row * down + step * half,
                    b + step * down + column * half, half, stride);
    }
}

void peer_loop(size_t n, size_t grain, loop_body *body, void *data)
{
    (void)grain;
    body(0, n, data);
}
