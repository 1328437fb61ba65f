/* SPDX-License-Identifier: MIT */
/* work.h - what there is to do, the same for all peers: Jdk.java has it once more, in Java */
#ifndef BENCH_FORKJOIN_WORK_H
#define BENCH_FORKJOIN_WORK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    QUEENS_MAX = 16,
    TREE_ROOT = 2000, /* children of the root */
    TREE_FORK = 8,    /* of another node that has any */
    SORT_CUT = 2048,  /* so many are sorted in one go */
    MATRIX_CUT = 64,  /* so large a block is multiplied in one go */
    MATRIX_PAD = 8    /* columns more than there are, for the sake of the caches */
};

/* -- Queens: a task for each place where the next one can stand ------------------------------- */

struct board {
    signed char column[QUEENS_MAX]; /* by row */
};

static inline int is_safe(const struct board *board, int row, int column)
{
    for (int i = 0; i < row; i++) {
        int away = board->column[i] - column;
        if (away == 0 || away == row - i || away == i - row)
            return 0;
    }
    return 1;
}

/* -- A tree that is nowhere even: a task for each node ---------------------------------------- */

static inline uint64_t tree_mix(uint64_t x)
{
    for (int i = 0; i < 12; i++) { /* some 30 ns */
        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
        x ^= x >> 31;
    }
    return x;
}

static inline uint64_t tree_root(void)
{
    return tree_mix(130); /* 4,120,865 nodes, 1418 deep */
}

static inline uint64_t tree_child(uint64_t node, int number)
{
    return tree_mix(node + UINT64_C(0x9e3779b97f4a7c15) * ((uint64_t)number + 1));
}

static inline int tree_children(uint64_t node)
{
    return node >> 32 < 536332000 ? TREE_FORK : 0; /* just less than one in eight */
}

/* -- What is done in one go: kernels.c, compiled once for all --------------------------------- */

int64_t sum_of(const int64_t *from, size_t n);
void sort_few(int *base, size_t n);
void merge_halves(int *base, int *spare, size_t n, size_t half);
void multiply_block(double *c, const double *a, const double *b, size_t stride); /* c += a b */

/* -- Loops ------------------------------------------------------------------------------------ */

struct loop_data {
    uint64_t *out;
    const double *x, *y;
    double *z;
    size_t n;
};

/* The context is a struct loop_data. */
typedef void loop_body(size_t begin, size_t end, void *data);

loop_body even_loop, skewed_loop, spiky_loop, front_loop, coarse_loop, stream_loop;

#ifdef __cplusplus
}
#endif
#endif
