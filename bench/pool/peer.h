/* SPDX-License-Identifier: MIT */
/*
 * peer.h - what a pool must bring to be measured by driver.c: three functions in one file. The
 * others are those of defaults.c, unless a pool has better ones.
 *
 * What cannot fail here, but does, aborts.
 */
#ifndef BENCH_POOL_PEER_H
#define BENCH_POOL_PEER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void *task(void *arg);

#define UNBOUNDED SIZE_MAX /* as the capacity of a queue */

/* A pool whose threads are all there; those that cannot do this make them for the first tasks. The
   kind is a word for programs with several pools, else "". NULL: there is no such pool. */
void *peer_make(const char *kind, unsigned threads, size_t capacity);

/* Ends its threads. Every task has at least begun. */
void peer_free(void *pool);

/* Has the task run, and forgets it. Waits while the queue is full. */
void peer_execute(void *pool, task *run, void *arg);

/* The same with a future, which peer_get must meet once: it waits for the task's result. Default: a
   mutex and a condition around the task. */
void *peer_submit(void *pool, task *run, void *arg);
void *peer_get(void *pool, void *future);

/* Called by a thread that has submitted all it wanted to. Default: does nothing. */
void peer_finish(void *pool);

/* What the library has asked of its allocator, and not given back. Default: 0, unknown. */
size_t peer_bytes(void);

#ifdef __cplusplus
}
#endif
#endif
