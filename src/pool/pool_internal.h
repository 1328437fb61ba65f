/* SPDX-License-Identifier: MIT */
/*
 * pool_internal.h - the thread pool: workers that take tasks from one queue.
 *
 *   pool.c       submit and accept; a worker's loop; places
 *   lifecycle.c  creation, shutdown, removal from the queue
 *   listed.c     pools whose queue passes tasks to user functions
 *   settings.c   settings that can be changed while the pool runs
 *   reject.c     rejection handlers
 *   stats.c      statistics, and a line for logs
 *
 *   pool.P1  An accepted task is in the queue, or in the hands of one thread, or was removed and handed
 *            to another owner: exactly one of these.
 *   pool.P2  After a submitter has put a task into the queue, it reads the control word again. A
 *            thread that has changed the control word, and then depends on whether the queue is empty,
 *            checks the queue under its lock. One of the two threads sees the change of the other. So
 *            no task stays in the queue of a pool that has ended, or that has no worker.
 *   pool.P5  User functions are called with no lock held: hooks, handlers.
 *   pool.P7  A submitter that waits for room also waits for a thread that may be added, and for the
 *            end of the pool. A thread that lowers the number of workers, raises a limit or ends the
 *            pool makes that change first, and then aborts waiting producers. A thread that could not
 *            start a worker aborts them only if no worker is left, because the system would refuse a
 *            thread to the producers, too. They try again after ROTA__RETRY.
 *   pool.P8  Other threads rely on a worker's place as soon as it is counted. A place is given up only
 *            in the step that finds that no task needs it. Otherwise it passes to another thread, or
 *            the thread that has it runs the queued tasks: rota__pool_run_inline,
 *            rota__pool_unwound.
 *   pool.P9  A worker reads the consumers' epoch, then the state and the settings, and takes a task in
 *            that epoch only. A thread that changes them, or removes the task for which a worker
 *            stays, does so first and then begins a new epoch. So no surplus worker takes a task after
 *            the change, and each idle worker checks again.
 *   pool.P11  A listed pool sets its listener before it inserts a future. Under the queue's lock, the
 *             queue refuses a future that is done, and the listener removes a future that has ended.
 *             Only then is the argument discarded. So no function of the user's that the queue calls
 *             sees a discarded argument.
 */
#ifndef ROTA_POOL_INTERNAL_H
#define ROTA_POOL_INTERNAL_H

#include "queue/fifo.h"
#include "workers/workers_internal.h"

#include <limits.h>
#include <rota/pool.h>

typedef struct rota__pool rota__pool;

#define ROTA__RETRY ROTA_MS(100) /* between two attempts to start a thread */

#define ROTA__ASK_HANDLER INT_MIN /* accept's own status: the rejection handler decides */

/* One table per kind of pool. No member is NULL. */
typedef struct rota__pool_ops {
    const char *name; /* in rota_executor_describe */
    rota__workers_ops workers;
    /* ROTA__ASK_HANDLER if there is no room for the task, or the pool is shut down. The submitter
       gets every other status. `due` is as for rota__submit. */
    int (*accept)(rota__pool *pool, rota_task *task, rota_ns due);
    bool has_maximum; /* max_threads counts; without it the core threads are the limit */
    const rota__run_ops *run;
    void (*detach)(rota__pool *pool, rota_future *future); /* it will not be queued again */
    size_t (*drop_on_shutdown)(rota__pool *pool);          /* returns how many it has discarded */
} rota__pool_ops;

struct rota__pool {
    rota_executor executor; /* first */
    const rota__pool_ops *ops;
    rota__workers workers;
    rota_queue *queue;
    bool is_frozen;                 /* its settings cannot be changed */
    bool is_listed;                 /* the queue passes tasks to user functions: listed.c */
    rota__cancel_listener listener; /* of the queued futures of a listed pool */

    /* Settings: written under the lock of the workers, read at any time. */
    rota__atomic(uint32_t) core;
    rota__atomic(uint32_t) max;
    rota__atomic(uint32_t) limit;     /* how many workers may take tasks, from core and max */
    rota__atomic(int64_t) keep_alive; /* 0: at once */
    rota__atomic(uint32_t) core_may_time_out;

    /* Under the same lock. */
    rota_reject *on_reject;
    void *reject_ctx;
    uint64_t removed; /* tasks that left the queue without having run */
    uint64_t rejected;
    uint64_t submitted; /* the greatest number reported, less refused tasks */
    rota__task_slist
        undelivered; /* drained by rota_shutdown_now, which had no memory to return them */

    rota__atomic(uint64_t) requeued; /* repeated runs of periodic tasks; under the queue's lock */
};

static inline bool rota__pool_is_here(const rota__pool *pool)
{
    return rota__workers_are_here(&pool->workers);
}

static inline rota__pool *rota__pool_of(rota_executor *ex)
{
    return ROTA__CONTAINER(ex, rota__pool, executor);
}

extern const char rota__pool_family[]; /* of executors that begin with a rota__pool */

rota__pool *rota__as_pool(rota_executor *ex); /* NULL: another kind, or the parent's: workers.W5 */
void rota__pool_freeze(rota_executor *ex);    /* before its creator returns it */

/* -- pool.c: tasks and places ----------------------------------------------- */

/* Calls the rejection handler for a task that was not accepted, and returns its status. */
int rota__pool_reject(rota__pool *pool, rota_task *task);

/* A task is in the queue: makes sure that a worker will run it (pool.P2). ROTA__ASK_HANDLER: the pool
   has been shut down. Any other error: no thread could be started. After both, the task is not queued
   any more and belongs to the submitter. */
int rota__pool_recheck(rota__pool *pool, rota_task *task);

typedef enum rota__bound { ROTA__TO_CORE, ROTA__TO_LIMIT } rota__bound;

/*
 * Counts a worker and starts its thread. ROTA_EREJECTED: the state or the bound forbids it. With any
 * other error the thread could not be started, and the caller has the worker's place (pool.P8): it
 * takes back its own task, if it has queued one, and calls rota__pool_run_inline.
 */
int rota__pool_add_worker(rota__pool *pool, rota_task *first, rota__bound bound);

/* Serves the queue with the caller's place, until a thread can be started or no task needs it. */
void rota__pool_run_inline(rota__pool *pool);

/* Starts a worker if tasks are queued and there is none, or runs them here. Then terminates the pool
   if possible. */
void rota__pool_ensure_served(rota__pool *pool);

void rota__pool_work(rota__worker *worker);    /* for rota__workers_ops */
void rota__pool_unwound(rota__worker *worker); /* likewise */
void rota__pool_left(rota__workers *workers);  /* likewise */

extern const rota__helper rota__pool_helper;

/* -- listed.c --------------------------------------------------------------- */

/* Inserts a task into the queue. With *has_ended its future was done, and the task is gone: the
   submission counts as accepted. */
int rota__pool_insert(rota__pool *pool, rota_task *task, bool *has_ended);
int rota__pool_insert_in_epoch(rota__pool *pool, rota_task *task, uint32_t epoch, rota_ns timeout,
                               bool *has_ended);

void rota__pool_list(rota__pool *pool); /* makes a new pool a listed one */
void rota__pool_detach_listed(rota__pool *pool, rota_future *future);
extern const rota__run_ops rota__run_listed;
extern const rota__element_ops rota__pool_element_ops; /* of every other pool */

/* -- lifecycle.c ------------------------------------------------------------ */

/* Initialises a pool in memory of the caller's. With ROTA_OK it owns the queue, and observers see it
   under a name that begins with `what`. */
int rota__pool_init(rota__pool *pool, const rota_pool_options *options, const rota__pool_ops *ops,
                    const rota__executor_ops *executor_ops, const char *what);

/* Frees what a pool owns, after rota__executor_unregister, but not its memory. */
void rota__pool_destroy(rota__pool *pool);

int rota__pool_accept(rota__pool *pool, rota_task *task, rota_ns due); /* of a thread pool */
int rota__pool_submit(rota_executor *ex, rota_task *task, rota_ns due);

/* With the lock held, except before other threads know the pool. */
void rota__pool_store_limits(rota__pool *pool, uint32_t core, uint32_t max);

rota_executor_state rota__pool_state_of(const rota_executor *ex);
int rota__pool_shutdown(rota_executor *ex, size_t *dropped);
int rota__pool_shutdown_now(rota_executor *ex, rota_task_list *drained, size_t *count);
int rota__pool_await_termination(rota_executor *ex, rota_ns timeout);

/* Terminates the pool if it is shut down and no worker, caller or task is left. Every thread that
   changes one of these conditions calls it afterwards. */
void rota__pool_try_terminate(rota__pool *pool);

/* Removes a task from the queue: true if it was there. */
bool rota__pool_unqueue(rota__pool *pool, rota_task *task);

/* Removes all tasks for which `which` returns true, and appends them to the list. */
void rota__pool_unqueue_if(rota__pool *pool, rota__predicate *which, void *ctx,
                           rota__task_slist *list);

/* Discards all tasks of the list, which were queued, and returns their number. */
size_t rota__pool_discard_all(rota__pool *pool, rota__task_slist *list);

/* Must be called after tasks have left the queue without having run: the pool may terminate now. */
void rota__pool_tasks_removed(rota__pool *pool, size_t count);

/* A task will not return to the queue. Called before another owner gets it. */
static inline void rota__pool_detach(rota__pool *pool, rota_task *task)
{
    if (task->kind == ROTA__TASK_FUTURE)
        pool->ops->detach(pool, rota__future_of(task));
}

/* Called after a task was removed. A worker may have stayed for that task: if the queue is empty now,
   idle workers check again whether they may leave (pool.P9). */
void rota__pool_recheck_idle(rota__pool *pool);

/* -- stats.c ---------------------------------------------------------------- */

void rota__pool_snapshot(rota_executor *ex, rota__snapshot *snapshot);
int rota__pool_describe(const rota_executor *ex, char *line, size_t size);

/* A task that was counted as submitted is refused after all. */
void rota__pool_uncount(rota__pool *pool);

#endif
