/* SPDX-License-Identifier: MIT */
/*
 * pool_internal.h - the thread pool.
 *
 *   ctl.h        state and number of workers, every transition
 *   pool.c       a pool is made, takes tasks, and goes
 *   worker.c     a worker comes, fetches, leaves and is replaced
 *   shutdown.c   the way to its end
 *   settings.c   what can be changed while it runs
 *   threads.c    how threads are to be made
 *   reject.c     what becomes of a task that finds no room
 *   figures.c    counts, and a line for logs
 *
 *   pool.P1  An accepted task is in the queue, or in the hands of one worker, or was taken out and
 *            handed to somebody, exactly one of these.
 *   pool.P2  After it has put a task into the queue, a submitter looks at ctl again; after it has
 *            changed ctl, whoever decides by the queue looks at that under its lock. One of the two
 *            sees what the other did: so no task stays in the queue of a pool that has ended, or
 *            has no worker.
 *   pool.P3  The registry has every worker whose thread was, or is being, made and has not left
 *            yet; it and what lies under `lock` change under that.
 *   pool.P4  A pool ends when no worker is counted, none is in the registry, and nobody runs a task
 *            in the place of one: those that still touch it are among the ended then, and joined
 *            before it goes.
 *   pool.P5  Foreign code runs with no lock held: hooks, factories, handlers.
 *   pool.P6  In a child of fork(2) the pool is as if terminated, and its memory is left alone, as
 *            its locks may be held for ever: fork.h.
 *   pool.P7  A submitter that waits for room also waits for a thread that may be added, and for the
 *            end: whoever lowers the count of workers, raises the limit or ends the pool does so
 *            first, and then sends submitters away. Not so who could not start a worker, unless
 *            none is left: the system would refuse it to them, too. They try again after a while.
 *   pool.P8  Others count on a worker as soon as it is counted, when its thread is still to be
 *            made. So who could not make it sees to what is queued, once it has taken back what it
 *            brought itself: rota__pool_rescue.
 *   pool.P9  A worker that stays on only for what is queued does not outlast that: a thread that
 *            takes tasks out of the queue wakes the idle workers if it leaves the queue empty.
 *   pool.P10  The end of a pool is announced with its lock held. The thread that frees the pool
 *             takes the lock once more, after which nobody else touches the pool.
 */
#ifndef ROTA_POOL_INTERNAL_H
#define ROTA_POOL_INTERNAL_H

#include "base/fork.h"
#include "base/wait.h"
#include "exec/exec_internal.h"
#include "pool/ctl.h"
#include "queue/fifo.h"

#include <limits.h>
#include <rota/pool.h>

typedef struct rota__pool rota__pool;

#define ROTA__RETRY ROTA_MS(100) /* before somebody tries again to make a worker */

/* How threads are made: a copy, shared by those who make one just now. */
typedef struct rota__thread_plan {
    rota__atomic(uint32_t) references;
    size_t size; /* of this block */
    rota_threads threads;
} rota__thread_plan;

typedef struct rota__worker {
    rota__link link; /* in the registry or among those that left */
    rota__pool *pool;
    rota_task *first;  /* run before any from the queue, or NULL */
    rota_thread *self; /* NULL until it has begun; under the pool's lock */
    rota__os_thread thread;
    rota__helper helper;
    rota__thread_plan *plan;
    rota__task_counts counts; /* written by itself alone */
    rota__run *run;           /* in the frame of its loop */
    rota__inside inside;      /* exec.E3 */
    bool is_unwound;          /* its own: a task has ended the thread */
    bool has_left;            /* likewise: on_exit was called */
} rota__worker;

#define ROTA__ASK_HANDLER INT_MIN /* accept's own status: the rejection handler decides */

/* One table per kind of pool. No member is NULL. */
typedef struct rota__pool_ops {
    const char *name;    /* in rota_executor_describe */
    bool precise_timers; /* its workers wait for times */
    /* ROTA__ASK_HANDLER if there is no room for the task, or the pool is shut down. Every other status
       is the submitter's. `due` is as for rota__submit. */
    int (*accept)(rota__pool *pool, rota_task *task, rota_ns due);
    bool has_maximum;         /* max_threads counts; without it the core threads are the limit */
    const rota__run_ops *run; /* how it runs futures */
    void (*detach)(rota__pool *pool, rota_future *future); /* it has left the pool for good */
    size_t (*drop_on_shutdown)(rota__pool *pool);          /* returns how many it has discarded */
} rota__pool_ops;

struct rota__pool {
    rota_executor executor; /* first */
    const rota__pool_ops *ops;
    rota__ctl ctl;
    rota__stop_word stopped; /* ctl.C3 */
    uint32_t generation;     /* pool.P6 */
    rota_queue *queue;
    rota_hooks hooks;
    bool strict_wait;
    bool is_fixed; /* its settings cannot be changed */

    /* Settings: written under the lock, read at any time. */
    rota__atomic(uint32_t) core;
    rota__atomic(uint32_t) max;
    rota__atomic(uint32_t) limit;     /* how many workers there may be, by both */
    rota__atomic(int64_t) keep_alive; /* 0: at once */
    rota__atomic(uint32_t) core_may_time_out;

    rota__mutex lock; /* the rest: pool.P3 */
    rota__list workers;
    rota__list ended;    /* left, but not joined */
    rota__latch waiters; /* for the end */
    rota__thread_plan *plan;
    rota_reject *on_reject;
    void *reject_ctx;
    uint32_t registered;
    uint32_t starting; /* of those, may still fail to start */
    uint32_t alive;    /* have begun */
    uint32_t rescuers; /* run what no worker could be made for */
    uint32_t largest;
    uint64_t thread_number; /* of the next */
    uint64_t completed;     /* of those that left, and of others that ran tasks */
    uint64_t taken_out;     /* tasks that left the queue unrun */
    uint64_t rejected;
    uint64_t submitted;  /* the most that was ever told */
    rota__chain drained; /* by shutdown_now, not handed over yet */

    rota__atomic(uint64_t) requeued; /* runs of tasks that came again; under the queue's lock */
};

static inline bool rota__pool_is_here(const rota__pool *pool)
{
    return pool->generation == rota__generation_now(); /* pool.P6 */
}

static inline rota__pool *rota__pool_of(rota_executor *ex)
{
    return ROTA__CONTAINER(ex, rota__pool, executor);
}

extern const char rota__pool_family[]; /* of executors that begin with a rota__pool */

rota__pool *rota__as_pool(rota_executor *ex); /* NULL: another kind, or pool.P6 */
void rota__pool_fix(rota_executor *ex);       /* before anybody else has it */

/* -- pool.c --------------------------------------------------------------- */

/* Initialises a pool in memory of the caller's. With ROTA_OK it owns the queue, and observers see it
   under a name that begins with `what`. */
int rota__pool_init(rota__pool *pool, const rota_pool_options *options, const rota__pool_ops *ops,
                    const rota__executor_ops *executor_ops, const char *what);

/* Frees what a pool owns, after rota__executor_unregister, but not its memory. */
void rota__pool_destroy(rota__pool *pool);

/* Calls the rejection handler for a task that was not accepted, and returns its status. */
int rota__pool_reject(rota__pool *pool, rota_task *task);

rota_executor_state rota__pool_state_of(const rota_executor *ex);

/* With the lock held, except before others know the pool. */
void rota__pool_store_limits(rota__pool *pool, uint32_t core, uint32_t max);

int rota__pool_look_again(rota__pool *pool, rota_task *task); /* pool.P2: it is in the queue */

/* True: it was queued and is not any more. */
bool rota__pool_take_back(rota__pool *pool, rota_task *task);

/* Takes all of which `which` says so out of the queue, and appends it to the chain. */
void rota__pool_take_if(rota__pool *pool, rota__predicate *which, void *ctx, rota__chain *chain);

/* Discards all in the chain, which were queued: how many. */
size_t rota__pool_drop(rota__pool *pool, rota__chain *chain);

/* One that was taken out does not come back: before it goes to anybody else. */
static inline void rota__pool_detach(rota__pool *pool, rota_task *task)
{
    if (task->kind == ROTA__TASK_FUTURE)
        pool->ops->detach(pool, rota__future_of(task));
}

/* So many tasks were, unrun: the pool may end now. */
void rota__pool_took_out(rota__pool *pool, size_t count);

/* -- worker.c ------------------------------------------------------------- */

typedef enum rota__bound { ROTA__TO_CORE, ROTA__TO_MAX } rota__bound;

/* ROTA_EREJECTED: the state or the bound forbids it. ROTA_ENOMEM, ROTA_EAGAIN: it could not be. */
int rota__worker_add(rota__pool *pool, rota_task *first, rota__bound bound);

/*
 * After a worker could not be made: POOL-61. If none is left for what others have
 * queued in the belief that it was coming, tries again, and else runs it here;
 * what is not due yet only if the caller may wait. Then ends the pool if it can.
 */
void rota__pool_rescue(rota__pool *pool, bool may_wait);
void rota__pool_wake_idle(rota__pool *pool, bool all);

/* Something left the queue unrun: a worker that stays on for it need not any more. */
void rota__pool_let_idle_go(rota__pool *pool);
void rota__pool_join_ended(rota__pool *pool);

/* Runs a task inside another one, with hooks and counts. `worker` is the calling thread's, or NULL. */
void rota__pool_run_nested(rota__pool *pool, rota__worker *worker, const rota__run_ops *ops,
                           rota_task *task);

/* -- shutdown.c ----------------------------------------------------------- */

void rota__pool_try_terminate(rota__pool *pool);
int rota__pool_shutdown(rota_executor *ex, size_t *dropped);
int rota__pool_shutdown_now(rota_executor *ex, rota_task_list *drained, size_t *count);
int rota__pool_await_termination(rota_executor *ex, rota_ns timeout);

/* -- threads.c ------------------------------------------------------------ */

int rota__thread_plan_new(const rota_threads *threads, rota__thread_plan **out);
rota__thread_plan *rota__thread_plan_ref(rota__thread_plan *plan);
void rota__thread_plan_unref(rota__thread_plan *plan);

/* Starts `body(arg)` as the plan says, as its thread of that number. */
int rota__thread_plan_start(const rota__thread_plan *plan, uint64_t number, rota__os_thread *thread,
                            void (*body)(void *arg), void *arg);

/* "resize-%u" and 7: "resize-7", cut to fit. */
void rota__format_thread_name(char *name, size_t size, const char *pattern, uint64_t number);

/* -- figures.c ------------------------------------------------------------ */

static inline uint64_t rota__counts_running(uint64_t counts)
{
    return counts & (ROTA__ONE_COMPLETED - 1);
}

static inline uint64_t rota__counts_completed(uint64_t counts)
{
    return counts >> ROTA__RUNNING_BITS;
}

static inline bool rota__worker_is_busy(const rota__worker *worker)
{
    return rota__counts_running(rota__load_relaxed(&worker->counts)) != 0;
}

void rota__pool_snapshot(rota_executor *ex, rota__snapshot *snapshot);
int rota__pool_describe(const rota_executor *ex, char *line, size_t size);

#endif
