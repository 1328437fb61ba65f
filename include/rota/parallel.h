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
 * `ex` is a fork/join pool. With NULL it is the pool that the caller works in, or else the common
 * pool. Loops may be nested. `grain` is the largest piece that a body gets. With 0 the library
 * chooses: it makes pieces of some microseconds each, and splits what is left only when a worker has
 * nothing to do. As a rule that is as good as a grain chosen by hand, also where some parts take far
 * longer than others.
 *
 * All of these wait until no body runs any more, and are not interruptible. A body, which is a range,
 * map or fold function, ends the loop early by rota_fail: ROTA_EFAILED. ROTA_EREJECTED when the pool
 * is shut down; ROTA_ECANCELED if rota_shutdown_now stopped it while the loop ran. ROTA_ENOTSUP for
 * another kind of executor. ROTA_ENOMEM if there was no memory for the common pool.
 */
#ifndef ROTA_PARALLEL_H
#define ROTA_PARALLEL_H

#include <rota/forkjoin.h>

ROTA_BEGIN

/* Calls `body` for pieces of the range from `begin` to before `end`, so that each index is in one of
   them. An empty range is ROTA_OK. */
typedef void rota_range_fn(size_t begin, size_t end, void *ctx);
int rota_parallel_for(rota_executor *ex, size_t begin, size_t end, size_t grain,
                      rota_range_fn *body, void *ctx);

/* Computes out[i] from in[i], for n elements, each by one call of fn. The arrays have elements of
   in_size and out_size bytes; if these are equal, `in` and `out` may be the same array. */
typedef void rota_map_fn(const void *in, void *out, void *ctx);
int rota_parallel_map(rota_executor *ex, const void *in, size_t in_size, void *out, size_t out_size,
                      size_t n, rota_map_fn *fn, void *ctx);

/*
 * Reduces a range to one value: folds pieces of it, and joins what they give. The result is the same as
 * from left to right, if `join` is associative; it need not be commutative. An empty range gives the
 * identity. Where there is no memory for another accumulator, it goes on with fewer pieces. With any
 * status but ROTA_OK, `result` holds a part of the result, or nothing.
 *
 * size   of an accumulator, in bytes; each is aligned as malloc's are
 * init   makes an accumulator the identity
 * fold   adds the indices from begin to before end to an accumulator, on its right
 * join   adds the accumulator `right` to `acc`, on its right
 */
typedef struct rota_reduction {
    size_t size;
    void (*init)(void *acc, void *ctx);
    void (*fold)(void *acc, size_t begin, size_t end, void *ctx);
    void (*join)(void *acc, const void *right, void *ctx);
} rota_reduction;

int rota_parallel_reduce(rota_executor *ex, size_t begin, size_t end, size_t grain,
                         const rota_reduction *reduction, void *ctx, void *result);

/* Sorts an array; equal elements stay in order. The arguments are those of qsort_r. It needs memory
   for a second array of that size: ROTA_ENOMEM if there is none, and the array is as it was. Once
   begun it is not cut short. */
int rota_parallel_sort(rota_executor *ex, void *base, size_t n, size_t size,
                       int (*compare)(const void *a, const void *b, void *ctx), void *ctx);

ROTA_END
#endif
