/* SPDX-License-Identifier: MIT */
/*
 * parallel_internal.h - a loop over a range, split only when somebody has nothing to do.
 *
 *   range.c    the loop, and what for, map and reduce share
 *   reduce.c   accumulators, joined from left to right
 *   sort.c     a stable merge sort
 *
 * A task works through its range piece by piece. When the pool has a worker to
 * spare, it forks the right half of what is left, and goes on with the left: lazy
 * binary splitting, after Tzannes et al., PPoPP 2010. So there are as many tasks as
 * it takes to keep all busy, whatever the range is like.
 */
#ifndef ROTA_PARALLEL_INTERNAL_H
#define ROTA_PARALLEL_INTERNAL_H

#include "forkjoin/forkjoin_internal.h"

#include <rota/parallel.h>

typedef struct rota__loop rota__loop;
typedef struct rota__part rota__part;

/* A part of the range: a task. */
struct rota__part {
    rota_fj task; /* first */
    rota__loop *loop;
    size_t begin;
    size_t end;
    void *own; /* an accumulator, or NULL */
};

/* What all parts share. */
struct rota__loop {
    size_t grain;                                                  /* 0: by time */
    void (*run)(const rota__part *part, size_t begin, size_t end); /* a piece */
    /* Gives the right half something of its own, and gets it back after that is done. NULL: nothing
       to do. False: do not split. */
    bool (*split)(const rota__part *part, rota__part *right);
    void (*joined)(const rota__part *part, rota__part *right);
    rota__atomic(bool) failed;
    rota__atomic(bool) cancelled;
};

/* The executor that NULL means, too. ROTA_EAGAIN: no memory for the common pool. */
int rota__parallel_find(rota_executor **ex);

/* All of it. `own` is that of the first part. */
int rota__loop_run(rota_executor *ex, rota__loop *loop, size_t begin, size_t end, void *own);

#endif
