/* SPDX-License-Identifier: MIT */
/*
 * rota/pool.h - the thread pool: how many threads, which queue, and what happens when both are full.
 *
 *     rota_executor *pool;
 *     rota_pool_new(&(rota_pool_options){.core_threads = 4}, &pool);    // four threads, a long queue
 *     rota_submit(pool, resize, image, &future);
 *     rota_close(pool);                                                 // ends when all is done
 *
 * What becomes of a task that is submitted: if there are fewer than core_threads threads, a new thread
 * runs it; else it goes into the queue; if that is full and there are fewer than max_threads, a new
 * thread runs it; else it is rejected. So with a queue without a bound there are never more than
 * core_threads, and with a hand-off queue a task goes to a thread that is idle, or to a new one.
 * Threads are made when they are needed, not before. If the system refuses the only thread that tasks
 * which were accepted wait for, the call that was to make it runs them itself.
 *
 * A worker that waits for a task which is still in its own pool's queue takes it out and runs it, that
 * one and no other, on its own stack. So tasks may submit tasks and wait for them, however few the
 * threads. Each level of nesting needs the stack of one task more.
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
 * What becomes of a task when the pool has no room for it or is shut down. A handler is called on the
 * thread that submits. Either it takes the task over, which is to run, discard or pass it on, and
 * returns ROTA_OK; or it leaves the task alone and returns the status that the submitter is to see.
 *
 * abort            the submitter gets ROTA_EREJECTED: the default
 * caller_runs      the submitter runs the task; it is discarded if the pool is shut down
 * discard          the task is discarded, and its future cancelled
 * discard_oldest   the first task of the queue is discarded, and the submit tried again; if the pool
 *                  is shut down, this task is discarded; ROTA_EREJECTED if the queue holds none
 * block            the submitter waits until there is room. ROTA_EREJECTED when the pool is shut down,
 *                  before or meanwhile; ROTA_EINTERRUPTED if the submitter was interrupted. One of the
 *                  pool's own workers runs the task instead of waiting.
 *
 * The last two submit the task again, so they may also return what that does: ROTA_ENOMEM, or
 * ROTA_EAGAIN if there is no thread and none can be made.
 */
typedef int rota_reject(rota_executor *ex, rota_task *task, void *ctx);

int rota_reject_abort(rota_executor *ex, rota_task *task, void *ctx);
int rota_reject_caller_runs(rota_executor *ex, rota_task *task, void *ctx);
int rota_reject_discard(rota_executor *ex, rota_task *task, void *ctx);
int rota_reject_discard_oldest(rota_executor *ex, rota_task *task, void *ctx);
int rota_reject_block(rota_executor *ex, rota_task *task, void *ctx);

/* -- Threads and hooks ----------------------------------------------------------------------- */

/*
 * How threads are made. Zero is every field's default; name and cpus are copied. All signals are
 * blocked in these threads, except interrupt_signal. A task must leave its thread as it found it:
 * signal mask, cancel state, floating-point mode and thread name are not restored after each task, as
 * that would cost more than the task. on_start may set them for all tasks.
 *
 * name               "resize-%u": at most one %u, the thread's number from 0; default "rota-%u"
 * stack_size         0: the system's
 * interrupt_signal   sent to a thread with each interrupt, so that a blocking system call ends with
 *                    EINTR; 0: none. It gets a handler that does nothing, unless the program has one.
 * cpus, cpu_count    threads are pinned to these CPUs, round robin
 * create             is called instead of pthread_create: 0 or an errno; the library joins the thread
 * on_start, on_exit  are called on the new thread, first and last
 * ctx                what these three are given
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
 * Functions that a pool calls; any may be NULL. before_execute and after_execute are called around each
 * task, on the thread that runs it; `status` is ROTA_OK, ROTA_EFAILED with the task's own code in
 * `error`, or ROTA_ECANCELED. unobserved_failure is told of a failure that nobody else can see: that of
 * a task without a future, or whose future nobody holds. terminated is called once, when the last
 * thread has ended its work. Each is given ctx, and may call the library.
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
 * The options of a pool. Zero is every field's default.
 *
 * core_threads         threads that stay even when idle; with 0 one is made when a task is queued
 * max_threads          the most there may be; 0: the same as core_threads
 * keep_alive           an idle thread beyond the core threads ends after this long; 0: 60 s; 1: at once
 * core_may_time_out    idle core threads end after keep_alive, too
 * queue                for tasks that wait; the pool owns it once it is made; NULL: a linked queue
 *                      without a bound
 * on_reject            what becomes of a task for which there is no room; NULL: rota_reject_abort
 * reject_ctx           what on_reject is given
 * threads, hooks       rota_threads and rota_hooks
 * strict_wait          a worker that waits for a queued task of its own pool does not run it
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

/* Makes a pool. It has no threads yet. ROTA_EINVAL for max_threads below core_threads, for both 0,
   for a negative keep_alive, or for threads that cannot be made so. The queue is still yours then. */
int rota_pool_new(const rota_pool_options *options, rota_executor **out);

/* -- Settings, while it runs ----------------------------------------------------------------- */

/* Changes a setting of a pool; none of these waits. ROTA_ENOTSUP for executors that are no pools, and
   for those of rota_single_thread and rota_single_scheduled. ROTA_EINVAL for a value that cannot be.
   */
int rota_pool_set_core_threads(rota_executor *ex, unsigned n); /* at most max_threads           */
int rota_pool_set_max_threads(rota_executor *ex, unsigned n);  /* at least core_threads, and 1  */
int rota_pool_set_keep_alive(rota_executor *ex, rota_ns keep_alive); /* here 0 is at once       */
int rota_pool_set_core_may_time_out(rota_executor *ex, bool on);
int rota_pool_set_reject(rota_executor *ex, rota_reject *on_reject, void *ctx);
int rota_pool_set_threads(rota_executor *ex, const rota_threads *threads); /* those made later  */

/* The options as they are now, as rota_pool_new would take them, except that `queue` is NULL. The name
   and cpus in them are good until rota_pool_set_threads or the end of the pool. ROTA_ENOTSUP for
   executors that are no pools. */
int rota_pool_options_get(rota_executor *ex, rota_pool_options *now);

/* Starts core threads before there are tasks, all that are missing or one: *started is how many. It is
   written also with ROTA_EAGAIN when a thread could not be made. ROTA_ENOTSUP for executors that are no
   pools. */
int rota_pool_prestart(rota_executor *ex, unsigned *started);
int rota_pool_prestart_one(rota_executor *ex, unsigned *started);

/* -- The queue ------------------------------------------------------------------------------- */

/* The queue of a pool, whose elements are of type rota_task: look at it, but do not insert or remove.
   The functions of a queue that you made find a task's argument with rota_task_call. NULL for
   executors that are no pools. */
rota_queue *rota_pool_queue(rota_executor *ex);

/* Removes a task from the queue: true if it was there. It is discarded, and its future cancelled. */
bool rota_pool_remove(rota_executor *ex, rota_future *future);

/* Removes cancelled tasks from the queue, where they would stay until a thread takes them: how many.
   Their arguments were discarded when they were cancelled. */
size_t rota_pool_purge(rota_executor *ex);

/* -- Figures --------------------------------------------------------------------------------- */

/*
 * Figures of a pool, all from about one moment; it does not stop for them. ROTA_ENOTSUP for executors
 * that are no pools.
 *
 * threads     all that there are
 * active      those that run a task
 * largest     the most that there ever were
 * submitted   all tasks that were ever accepted
 * completed   tasks that have run, or were found cancelled when their turn came
 * rejected    calls of the rejection handler
 * queued      tasks in the queue
 */
typedef struct rota_pool_stats {
    unsigned threads, active, largest, core_threads, max_threads;
    uint64_t submitted, completed, rejected;
    size_t queued;
} rota_pool_stats;

int rota_pool_stats_get(rota_executor *ex, rota_pool_stats *stats);

ROTA_END
#endif
