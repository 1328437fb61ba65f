/* SPDX-License-Identifier: MIT */
/*
 * rota/forkjoin.h - divide and conquer: tasks that fork others, on workers that steal.
 *
 *     struct fib { rota_fj task; int n; long value; };
 *
 *     static void fib(rota_fj *task)
 *     {
 *         struct fib *f = (struct fib *)task;
 *         if (f->n < 2) { f->value = f->n; return; }
 *         struct fib a = {ROTA_FJ(fib), f->n - 1, 0}, b = {ROTA_FJ(fib), f->n - 2, 0};
 *         rota_fork(&a.task);             // another worker may take it
 *         fib(&b.task);
 *         rota_join(&a.task);             // if nobody has, it runs here, as if called
 *         f->value = a.value + b.value;
 *     }
 *
 *     struct fib root = {ROTA_FJ(fib), 30, 0};
 *     rota_invoke(rota_common_pool(), &root.task);
 *
 * Each worker has a deque of its own: it runs the newest task that it forked first, and idle workers
 * steal the oldest. A fork and its join cost a few nanoseconds and no memory. If the work can be done
 * by a plain function f, this is faster still, as arguments and result stay in registers:
 *
 *     if (rota_unfork(&a.task)) value = f(n - 1); else rota_join(&a.task), value = a.value;
 *
 * rota_submit, rota_execute and futures work here as with any executor. A worker that waits for a
 * future runs other tasks meanwhile, on its own stack, at most 16 inside one another; after that
 * another worker stands in for it.
 */
#ifndef ROTA_FORKJOIN_H
#define ROTA_FORKJOIN_H

#include <rota/pool.h>

ROTA_BEGIN

/* -- Pools ----------------------------------------------------------------------------------- */

/*
 * The options of a fork/join pool. Zero is every field's default.
 *
 * parallelism   how many tasks run at once, those in threads that call rota_invoke or a parallel loop
 *               included; 0: rota_cpu_count(); at most 32767
 * max_threads   the most threads, with those that stand in for blocked ones; 0: parallelism + 256
 * keep_alive    an idle worker ends after this long; 0: 60 s
 * fifo          a worker runs its own tasks oldest first: for tasks that nobody joins
 * threads       rota_threads
 * hooks         rota_hooks, called for the tasks of rota_submit and rota_execute, not for forked ones
 */
typedef struct rota_forkjoin_options {
    unsigned parallelism;
    unsigned max_threads;
    rota_ns keep_alive;
    bool fifo;
    rota_threads threads;
    rota_hooks hooks;
    void *reserved[8];
} rota_forkjoin_options;

/*
 * Makes a fork/join pool. It has no threads yet. ROTA_EINVAL for max_threads below parallelism, for a
 * parallelism above 32767, or for threads that cannot be made so. After rota_shutdown all that was
 * submitted, and what it forks, still runs. After rota_shutdown_now nothing more begins: all tasks that
 * have not begun, also those that are forked later, end as cancelled.
 */
int rota_forkjoin_new(const rota_forkjoin_options *options, rota_executor **out);

/* -- Tasks ----------------------------------------------------------------------------------- */

typedef struct rota_fj rota_fj;         /* in memory of yours: there until it is joined */
typedef void rota_fj_fn(rota_fj *self); /* what it does */

/*
 * A task that is forked and joined. It lies in your own memory, as a rule on the stack of the
 * function that joins it. Make it the first member of your struct, and put arguments and results
 * beside it. From rota_fork to the return of rota_join it must stay where it is; after that no other
 * thread touches it. Every task that is forked must be joined, as a rule by the task that forked it.
 * Children may be joined in any order; the newest first is fastest. No task of a fork/join pool may
 * end its thread: see rota/task.h.
 */
struct rota_fj {
    rota_fj_fn *run;
    uintptr_t priv[3]; /* the library's */
};
#define ROTA_FJ(fn) \
    {               \
        (fn),       \
        {           \
            0, 0, 0 \
        }           \
    }

#if defined(__GNUC__) && !defined(ROTA_NO_INLINE)
static inline void rota_fork(rota_fj *task);
static inline int rota_join(rota_fj *task);
static inline bool rota_unfork(rota_fj *task);
#else /* plain calls, for bindings to other languages; the library has these in any case */
void rota_fork(rota_fj *task);
int rota_join(rota_fj *task);
bool rota_unfork(rota_fj *task);
#endif

/* rota_fork queues the task with the calling worker, or in the common pool if the caller is no worker.
   It does not wait. If the task cannot be queued it runs here and now, so there is nothing to check. A
   task that is done or cancelled is left so.

   rota_join waits until the task is done. If no other thread has taken it, it runs here; else the
   caller runs other tasks of the pool as far as that helps, then sleeps. A task that was never forked
   runs now. ROTA_OK, ROTA_EFAILED if it failed, ROTA_ECANCELED if it was cancelled; ROTA_EINVAL for
   NULL, or for a task without a function, which rota_fork leaves alone. It cannot be interrupted.

   rota_unfork takes a task back: true if it was the newest that the caller forked and nobody has taken
   it. It has not run then, and may be forked again. */

/* Runs a task in `ex` and waits until it is done: how a computation starts, from any thread. The caller
   takes part in the work if fewer than `parallelism` others do, and does all of it if no worker can be
   made. ROTA_EREJECTED after a shutdown. ROTA_ENOTSUP for another kind of executor. Else what rota_join
   returns: ROTA_OK, ROTA_EFAILED or ROTA_ECANCELED. */
int rota_invoke(rota_executor *ex, rota_fj *task);

/* Runs tasks and waits until each is done, also after a failure. ROTA_OK if all succeeded, else
   ROTA_EFAILED or ROTA_ECANCELED: the end of the first of them, in their order, that did not.
   ROTA_EINVAL for a NULL among them: then none has begun. */
int rota_invoke_both(rota_fj *a, rota_fj *b);
int rota_invoke_many(rota_fj *const *tasks, size_t n);

/* Makes a task fail with a code, from its own function: whoever joins it sees ROTA_EFAILED. As with
   rota_fail the last call counts, and a code of 0 takes it back. */
void rota_fj_fail(rota_fj *self, int code);

/* Cancels a task: true if it ends as cancelled, or has done so already. If it has not begun it never
   runs. If it runs it goes on, is not interrupted, and is done only when it has returned; whoever joins
   it waits for that. A fork, an unfork or a join of the task at the same moment may miss the cancel, and
   then it is as if nobody had cancelled it. */
bool rota_fj_cancel(rota_fj *task);

/* How far a task is, and how to use it again. None of these waits. */
bool rota_fj_is_done(const rota_fj *task);
int rota_fj_error(const rota_fj *task); /* the code given to rota_fj_fail; 0 if it did not fail */
void rota_fj_reset(rota_fj *task);      /* makes a done task as new: it may be forked again */

/* -- Inside a pool --------------------------------------------------------------------------- */

/* Where the caller works. */
rota_executor *rota_fj_pool(void); /* the fork/join pool the caller works for, or NULL */
int rota_fj_worker(void);          /* its number there, from 0 and below max_threads, or -1 */

/* How many tasks are in the caller's deque beyond those that idle workers would take; it may be less
   than 0. While it is small, it pays to split more. 0 outside a pool. */
int rota_fj_surplus(void);

/* Tells a pool of a wait that it cannot see, such as a lock or a read: call these around it, and
   another worker stands in meanwhile. ROTA_EREJECTED when max_threads are there already, ROTA_EAGAIN
   when the system refuses a thread: then wait all the same, but do not call rota_block_end. Pairs may
   be nested; the outermost counts. Outside a fork/join pool they do nothing: ROTA_OK. */
int rota_block_begin(void);
void rota_block_end(void);

/* Waits until nothing is queued and nothing runs except the tasks that wait in this call: ROTA_OK. A
   worker of the pool runs tasks meanwhile. ROTA_ETIMEDOUT when the time is up, ROTA_EINTERRUPTED if the
   calling thread was interrupted, ROTA_ENOTSUP for another kind of executor. */
int rota_await_quiescence(rota_executor *ex, rota_ns timeout);

/*
 * Takes out tasks of rota_submit and rota_execute that have not begun. They are yours then, unchanged:
 * give each to rota_task_run, rota_task_discard or rota_execute_task. Both work after a shutdown, too,
 * and neither waits. ROTA_ENOTSUP for another kind of executor.
 *
 * rota_forkjoin_poll_submission takes the oldest that was submitted from outside the pool.
 * ROTA_EEMPTY if there is none. rota_forkjoin_drain_tasks takes all that it finds, also in the deques
 * of workers, but not what lies behind a forked task there. The list may be empty; free it with
 * rota_task_list_free. ROTA_ENOMEM if there is no memory for it: then all stay in the pool.
 */
int rota_forkjoin_poll_submission(rota_executor *ex, rota_task **task);
int rota_forkjoin_drain_tasks(rota_executor *ex, rota_task_list *drained);

/*
 * Figures of a fork/join pool, all from about one moment; it does not stop for them. ROTA_ENOTSUP for
 * another kind of executor.
 *
 * parallelism   how many tasks may run at once
 * threads       all that there are
 * active        threads that do not sleep, and callers that take part
 * running       those of them that are not blocked
 * steals        tasks that a worker took from another
 * queued        tasks in the workers' deques
 * submissions   tasks from outside that have not begun
 */
typedef struct rota_forkjoin_stats {
    unsigned parallelism, threads, active, running;
    uint64_t steals;
    size_t queued;
    size_t submissions;
} rota_forkjoin_stats;

int rota_forkjoin_stats_get(rota_executor *ex, rota_forkjoin_stats *stats);

/* -- The inline part: not for programs ------------------------------------------------------- */

#ifndef ROTA__FJ_WORD
#define ROTA__FJ_WORD(type) type
#endif

/* The calling worker's deque. Its layout is part of the library's SONAME. */
typedef struct rota__deck {
    ROTA__FJ_WORD(rota_fj **) top;   /* the next free slot */
    ROTA__FJ_WORD(rota_fj **) limit; /* from here up a push goes the long way */
    ROTA__FJ_WORD(rota_fj **) floor; /* below this a pop does */
} rota__deck;

enum { ROTA__FJ_FORKED = 1, ROTA__FJ_RAN = 1, ROTA__FJ_COUNTED = 32 };

void rota__fork_slow(rota_fj *task);
int rota__join_slow(rota_fj *task);
int rota__join_odd(rota_fj *task); /* it ran here, and failed or was cancelled */
bool rota__unfork_slow(rota_fj *task);

#ifdef __GLIBC__ /* layers: platform, as ROTA__TLS_MODEL of the library */
extern __thread rota__deck *rota__my_deck __attribute__((tls_model("initial-exec")));
#elif defined(__GNUC__)
extern __thread rota__deck *rota__my_deck;
#endif

#if defined(__GNUC__) && !defined(ROTA_NO_INLINE)

static inline void rota_fork(rota_fj *task)
{
    rota__deck *deck = rota__my_deck;
    rota_fj **top = __atomic_load_n(&deck->top, __ATOMIC_RELAXED);

    if (__builtin_expect(top < __atomic_load_n(&deck->limit, __ATOMIC_RELAXED), 1)
        && __builtin_expect(task != NULL && task->run != NULL
                                && __atomic_load_n(&task->priv[0], __ATOMIC_RELAXED) == 0,
                            1)) {
        __atomic_store_n(&task->priv[0], ROTA__FJ_FORKED, __ATOMIC_RELAXED);
        __atomic_store_n(top, task, __ATOMIC_RELAXED);
        __atomic_store_n(&deck->top, top + 1, __ATOMIC_RELEASE);
    } else {
        rota__fork_slow(task);
    }
}

/* True: it is the caller's alone, and out of the deque. */
static inline bool rota__take_back(rota_fj *task)
{
    rota__deck *deck = rota__my_deck;
    rota_fj **top = __atomic_load_n(&deck->top, __ATOMIC_RELAXED);

    if (__builtin_expect(top <= __atomic_load_n(&deck->floor, __ATOMIC_RELAXED), 0)
        || __builtin_expect(__atomic_load_n(top - 1, __ATOMIC_RELAXED) != task, 0))
        return false;
    __atomic_store_n(&deck->top, top - 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* stores the top, then reads the floor */
    if (__builtin_expect(top > __atomic_load_n(&deck->floor, __ATOMIC_RELAXED), 1)
        && __builtin_expect(__atomic_load_n(&task->priv[0], __ATOMIC_RELAXED) == ROTA__FJ_FORKED,
                            1))
        return true;
    __atomic_store_n(&deck->top, top, __ATOMIC_RELAXED);
    return false;
}

static inline int rota_join(rota_fj *task)
{
    if (!rota__take_back(task))
        return rota__join_slow(task);
    task->run(task);
    if (__builtin_expect(__atomic_load_n(&task->priv[0], __ATOMIC_RELAXED) != ROTA__FJ_FORKED, 0)
        || __builtin_expect(task->priv[2] != 0, 0))
        return rota__join_odd(task);
    __atomic_store_n(&task->priv[1], ROTA__FJ_RAN, __ATOMIC_RELEASE);
    return ROTA_OK;
}

static inline bool rota_unfork(rota_fj *task)
{
    if (!rota__take_back(task))
        return rota__unfork_slow(task);
    __atomic_store_n(&task->priv[0], 0, __ATOMIC_RELAXED);
    return true;
}
#endif

ROTA_END
#endif
