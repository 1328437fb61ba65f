/* SPDX-License-Identifier: MIT */
/*
 * fork.h - what a child of fork(2) may touch.
 *
 * A child has one thread: the one that forked. Locks of other threads stay locked in it for ever, and
 * their work stays half done. So an object that several threads use stores the generation of the
 * process that created it, and a child leaves the objects of its parent alone.
 */
#ifndef ROTA_BASE_FORK_H
#define ROTA_BASE_FORK_H

#include "base/atomic.h"
#include "base/mutex.h"

#include <stdbool.h>

/* Makes the library notice forks from now on. ROTA_ENOMEM. */
int rota__fork_register(void);

/* Protects data of the whole process: the list of executors and their observed data. A thread that
   holds it takes no other lock, except the allocator's. So it calls rota__self() before it takes this
   one. The lock is free in a child. */
extern rota__mutex rota__process_lock;

/* Held while a process-wide singleton is created or ended, so that no fork happens in between. A
   thread takes it before any other lock, and calls rota__self() before that. */
extern rota__mutex rota__singleton_lock;

extern rota__atomic(uint32_t) rota__generation;

static inline uint32_t rota__process_generation(void)
{
    return rota__load_relaxed(
        &rota__generation); /* changes only while the process has one thread */
}

#endif
