/* SPDX-License-Identifier: MIT */
/*
 * rota/parallel.h - loops, reductions and sorts on a fork/join pool; the calling thread takes part.
 *
 *     static void shade(size_t begin, size_t end, void *image)
 *     {
 *         for (size_t row = begin; row < end; row++)
 *             shade_row(image, row);
 *     }
 *     rota_parallel_for(NULL, 0, height, 0, shade, image);
 *
 * `ex` is a fork/join pool; NULL is the pool the caller works in, else the common pool. They may be
 * nested. `grain` is the largest piece that a body gets; 0 leaves it to the library, which makes
 * pieces of some microseconds each, and splits what is left only when a worker has nothing to do: as
 * good as a grain chosen by hand, as a rule, also where some parts take far longer than others.
 *
 * A body - range, map or fold function - that calls rota_fail ends the loop early: ROTA_EFAILED, once
 * no body runs any more. ROTA_EREJECTED when the pool is shut down; ROTA_ECANCELED when it is shut
 * down now while the loop runs. ROTA_EINVAL for what cannot be, ROTA_ENOTSUP for another kind of
 * executor.
 */
#ifndef ROTA_PARALLEL_H
#define ROTA_PARALLEL_H

#include <rota/forkjoin.h>

ROTA_BEGIN

/* Every index from begin to before end once, in pieces. Nothing to do is ROTA_OK. */
typedef void rota_range_fn(size_t begin, size_t end, void *ctx);
int rota_parallel_for(rota_executor *ex, size_t begin, size_t end, size_t grain,
                      rota_range_fn *body, void *ctx);

/* out[i] = fn(in[i]), element by element; with equal sizes `in` and `out` may be the same array. */
typedef void rota_map_fn(const void *in, void *out, void *ctx);
int rota_parallel_map(rota_executor *ex, const void *in, size_t in_size, void *out, size_t out_size,
                      size_t n, rota_map_fn *fn, void *ctx);

/*
 * Folds pieces and joins them: equals the result from left to right for every associative `join`,
 * commutative or not; the identity for nothing. Needs no memory that it cannot do without. What
 * `result` holds when it does not return ROTA_OK is a part of the result, or nothing.
 *
 * size   of an accumulator, aligned as malloc's
 * init   makes it the identity
 * fold   adds a piece on the right
 * join   acc = acc + right
 */
typedef struct rota_reduction {
    size_t size;
    void (*init)(void *acc, void *ctx);
    void (*fold)(void *acc, size_t begin, size_t end, void *ctx);
    void (*join)(void *acc, const void *right, void *ctx);
} rota_reduction;

int rota_parallel_reduce(rota_executor *ex, size_t begin, size_t end, size_t grain,
                         const rota_reduction *reduction, void *ctx, void *result);

/* A stable sort: qsort_r's arguments, in parallel. Needs memory for a second array of that size;
   ROTA_ENOMEM without it, and the array is as it was. Once begun it is not cut short. */
int rota_parallel_sort(rota_executor *ex, void *base, size_t n, size_t size,
                       int (*compare)(const void *a, const void *b, void *ctx), void *ctx);

ROTA_END
#endif
