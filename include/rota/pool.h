/* SPDX-License-Identifier: MIT */
/*
 * rota/pool.h - the thread pool: how many threads, which queue, and what happens when both are full.
 *
 *     rota_executor *pool;
 *     rota_pool_new(&(rota_pool_options){.core_threads = 4}, &pool);    // four threads, a long queue
 *     rota_submit(pool, resize, image, &future);
 *     rota_close(pool);                                                 // ends when all is done
 *
 * A task is taken like this: fewer than core_threads run: a new thread runs it; else the queue
 * takes it; else, below max_threads, a new thread runs it; else it is rejected. With a queue
 * without a bound there are never more than core_threads; with a hand-off queue a task goes to a
 * thread that waits, or to a new one. Threads are made when they are needed, not before.
 *
 * A worker that waits for a task that is still in its own pool's queue takes it out and runs it,
 * that one and no other, on its own stack; so nested submits never wait for themselves, however
 * few the threads. Each level of nesting needs the stack of one task more.
 *
 * In a child of fork(2) a pool of the parent has no threads. It is as if terminated there: it rejects
 * what is submitted, and can be closed, which does nothing. New pools work.
 */
#ifndef ROTA_POOL_H
#define ROTA_POOL_H

#include <pthread.h>
#include <rota/executor.h>
#include <rota/queue.h>

ROTA_BEGIN

/* -- Rejection ------------------------------------------------------------------------------- */

/*
 * What becomes of a task that finds the pool saturated or shut down, on the thread that submits it.
 * A handler either takes the task over (it runs, discards or queues it) and returns ROTA_OK, or
 * leaves it and returns the status that the submitter is to see.
 *
 * abort            ROTA_EREJECTED: the default
 * caller_runs      the submitter runs it; discarded if the pool is shut down
 * discard          silently; its future is cancelled
 * discard_oldest   the queue's head instead, then tries again; the task itself if the pool is shut
 *                  down, ROTA_EREJECTED if the queue has no head
 * block            waits for room: back-pressure. ROTA_EREJECTED when the pool is shut down, also
 *                  while it waits; ROTA_EINTERRUPTED. One of the pool's own workers runs the task
 *                  instead of waiting for itself.
 */
typedef int rota_reject(rota_executor *ex, rota_task *task, void *ctx);

int rota_reject_abort(rota_executor *ex, rota_task *task, void *ctx);
int rota_reject_caller_runs(rota_executor *ex, rota_task *task, void *ctx);
int rota_reject_discard(rota_executor *ex, rota_task *task, void *ctx);
int rota_reject_discard_oldest(rota_executor *ex, rota_task *task, void *ctx);
int rota_reject_block(rota_executor *ex, rota_task *task, void *ctx);

/* -- Threads and hooks ----------------------------------------------------------------------- */

/*
 * How threads are made. Zero is every field's default; name and cpus are copied. Signals are
 * blocked in all of them, but for interrupt_signal. A task must leave its thread as it found it:
 * signal mask, cancel state, floating-point mode and name are not put back after each, as that would
 * cost more than the task. on_start may set them for all.
 *
 * name               "resize-%u": at most one %u, the thread's number from 0; default "rota-%u"
 * stack_size         0: the system's
 * interrupt_signal   sent with an interrupt, so that a blocking system call ends with EINTR; 0: none.
 *                    It gets a handler that does nothing, unless the program has one.
 * cpus, cpu_count    threads are pinned to these CPUs, round robin
 * create             takes pthread_create's place: 0 or an errno; the library joins the thread
 * on_start, on_exit  on the new thread, first and last
 */
typedef struct rota_threads {
    const char *name;
    size_t stack_size;
    int interrupt_signal;
    const unsigned *cpus;
    size_t cpu_count;
    int (*create)(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *), void *arg,
                  void *ctx);
    void (*on_start)(void *ctx);
    void (*on_exit)(void *ctx);
    void *ctx;
} rota_threads;

/*
 * Called around a task on the thread that runs it, and once when the pool has ended. `status` is
 * ROTA_OK, ROTA_EFAILED with the task's own code in `error`, or ROTA_ECANCELED.
 * unobserved_failure is told of a failure that nobody can see: of a task without a future, or
 * whose future nobody holds.
 */
typedef struct rota_hooks {
    void (*before_execute)(rota_executor *ex, rota_task *task, void *ctx);
    void (*after_execute)(rota_executor *ex, rota_task *task, int status, int error, void *ctx);
    void (*unobserved_failure)(rota_executor *ex, const rota_call *call, int error, void *ctx);
    void (*terminated)(rota_executor *ex, void *ctx);
    void *ctx;
} rota_hooks;

/* -- Pools ----------------------------------------------------------------------------------- */

/*
 * core_threads         kept even when idle; may be 0: then one thread comes for what is queued
 * max_threads          0: the same as core_threads, at least 1
 * keep_alive           an idle thread above core goes after this long; 0: 60 s; 1: at once
 * core_may_time_out    core threads go, too
 * queue                the pool's from now on, if ROTA_OK; NULL: a linked queue without a bound
 * on_reject            NULL: rota_reject_abort; it is given reject_ctx
 * threads, hooks       rota_threads and rota_hooks
 * strict_wait          a worker that waits for a queued task of its own pool just waits
 */
typedef struct rota_pool_options {
    unsigned core_threads;
    unsigned max_threads;
    rota_ns keep_alive;
    bool core_may_time_out;
    rota_queue *queue;
    rota_reject *on_reject;
    void *reject_ctx;
    rota_threads threads;
    rota_hooks hooks;
    bool strict_wait;
    void *reserved[8];
} rota_pool_options;

/* Makes a pool, without a thread as yet. ROTA_EINVAL for max_threads below core_threads, both 0, a
   negative keep_alive, or threads that cannot be. */
int rota_pool_new(const rota_pool_options *options, rota_executor **out);

/* -- Settings, while it runs ----------------------------------------------------------------- */

/* Changes a setting. ROTA_ENOTSUP for executors that are no pools, or cannot be changed. Refused values
   change nothing. */
int rota_pool_set_core_threads(rota_executor *ex, unsigned n); /* at most max_threads           */
int rota_pool_set_max_threads(rota_executor *ex, unsigned n);  /* at least core_threads, and 1  */
int rota_pool_set_keep_alive(rota_executor *ex, rota_ns keep_alive); /* here 0 is at once       */
int rota_pool_set_core_may_time_out(rota_executor *ex, bool on);
int rota_pool_set_reject(rota_executor *ex, rota_reject *on_reject, void *ctx);
int rota_pool_set_threads(rota_executor *ex, const rota_threads *threads); /* those made later  */

/* The options, as rota_pool_new would take them, but for the queue, which stays the pool's: NULL. name
   and cpus are good until rota_pool_set_threads. */
int rota_pool_options_get(rota_executor *ex, rota_pool_options *now);

/* Starts all core threads, or one: how many. ROTA_EAGAIN when one that was wanted could not be made. */
int rota_pool_prestart(rota_executor *ex, unsigned *started);
int rota_pool_prestart_one(rota_executor *ex, unsigned *started);

/* -- The queue ------------------------------------------------------------------------------- */

/* The pool's queue, of rota_task: to look at, not to take from. */
rota_queue *rota_pool_queue(rota_executor *ex);

/* Takes a task out of the queue. True: it was there, never runs, and its future is cancelled. */
bool rota_pool_remove(rota_executor *ex, rota_future *future);

/* Drops cancelled tasks from the queue, where they would stay until taken: how many. */
size_t rota_pool_purge(rota_executor *ex);

/* -- Figures --------------------------------------------------------------------------------- */

/*
 * Figures of a pool, all at about one moment, while others go on.
 *
 * threads     all there are
 * active      those that run a task
 * largest     the most there ever were
 * submitted   all that was ever accepted
 * completed   what has run, or was cancelled when its turn came
 * rejected    calls of the rejection handler
 */
typedef struct rota_pool_stats {
    unsigned threads, active, largest, core_threads, max_threads;
    uint64_t submitted, completed, rejected;
    size_t queued;
} rota_pool_stats;

int rota_pool_stats_get(rota_executor *ex, rota_pool_stats *stats);

ROTA_END
#endif
