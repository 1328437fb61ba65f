/* SPDX-License-Identifier: MIT */
/*
 * fork.h - what a child of fork(2) must know.
 *
 * The child has the one thread that forked; locks that others held, and what
 * they were about to do, stay as they were at that moment. So an object that
 * threads work on remembers the generation it was made in, and is left alone
 * by a process of a later one.
 */
#ifndef ROTA_BASE_FORK_H
#define ROTA_BASE_FORK_H

#include "base/atomic.h"
#include "base/mutex.h"

#include <stdbool.h>

/* From now on forks are noticed. ROTA_ENOMEM. */
int rota__fork_watch(void);

/* For what there is one of in a process: the list of executors, what is observed of them. No other
   lock is taken with it but the allocator's. It is free in a child. Call rota__self() before. */
extern rota__mutex rota__process_lock;

/* Held by who makes or ends a thing that there is one of in a process, before any other lock: so a
   fork does not come in the midst of that. Call rota__self() before. */
extern rota__mutex rota__making_lock;

extern rota__atomic(uint32_t) rota__generation;

static inline uint32_t rota__generation_now(void)
{
    return rota__load_relaxed(&rota__generation); /* changes while there is one thread */
}

#endif
