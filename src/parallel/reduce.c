/* SPDX-License-Identifier: MIT */
/*
 * reduce.c - accumulators: each part folds its pieces from left to right, and is
 * joined with the part on its right when that is done.
 */
#include "parallel/parallel_internal.h"

#include "base/alloc.h"

typedef struct reduce_loop {
    rota__loop loop;
    rota_reduction reduction;
    void *ctx;
} reduce_loop;

static const reduce_loop *reduction_of(const rota__part *part)
{
    return ROTA__CONTAINER(part->loop, reduce_loop, loop);
}

static void fold(const rota__part *part, size_t begin, size_t end)
{
    const reduce_loop *self = reduction_of(part);

    self->reduction.fold(part->own, begin, end, self->ctx);
}

/* Without memory this part does it all. */
static bool split(const rota__part *part, rota__part *right)
{
    const reduce_loop *self = reduction_of(part);

    right->own = rota__alloc(self->reduction.size);
    if (right->own == NULL)
        return false;
    self->reduction.init(right->own, self->ctx);
    return true;
}

static void joined(const rota__part *part, rota__part *right)
{
    const reduce_loop *self = reduction_of(part);

    self->reduction.join(part->own, right->own, self->ctx);
    rota__free(right->own, self->reduction.size);
}

int rota_parallel_reduce(rota_executor *ex, size_t begin, size_t end, size_t grain,
                         const rota_reduction *reduction, void *ctx, void *result)
{
    reduce_loop self = {.loop = {.grain = grain, .run = fold, .split = split, .joined = joined},
                        .ctx = ctx};

    if (reduction == NULL || reduction->size == 0 || reduction->init == NULL
        || reduction->fold == NULL || reduction->join == NULL || result == NULL)
        return ROTA_EINVAL;
    self.reduction = *reduction;
    reduction->init(result, ctx);
    return rota__loop_run(ex, &self.loop, begin, end, result);
}
