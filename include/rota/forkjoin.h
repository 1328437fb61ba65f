/* SPDX-License-Identifier: MIT */
/*
 * rota/forkjoin.h - divide and conquer: tasks that split, on workers that steal.
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
 *         rota_join(&a.task);             // nobody has: it runs here, as if called
 *         f->value = a.value + b.value;
 *     }
 *
 *     struct fib root = {ROTA_FJ(fib), 30, 0};
 *     rota_invoke(rota_common_pool(), &root.task);
 *
 * Each worker has a deque of its own: what it forks it runs newest first, and idle workers steal the
 * oldest. A fork and its join cost a few nanoseconds and no memory. Where a function can be called
 * without a struct, this is faster still, as arguments and result stay in registers:
 *
 *     if (rota_unfork(&a.task)) value = f(n - 1); else rota_join(&a.task), value = a.value;
 *
 * rota_submit, rota_execute and futures work here as on any executor. A worker that waits for a
 * future runs other tasks meanwhile; what it runs lies above the wait on its stack, at most 16 such
 * tasks deep, and then another worker stands in for it.
 */
#ifndef ROTA_FORKJOIN_H
#define ROTA_FORKJOIN_H

#include <rota/pool.h>

ROTA_BEGIN

/* -- Pools ----------------------------------------------------------------------------------- */

/*
 * parallelism   tasks that run at once, also in threads that call rota_invoke or a parallel loop;
 *               0: rota_cpu_count(); at most 32767
 * max_threads   with those that stand in for blocked ones; 0: parallelism + 256
 * keep_alive    an idle worker goes after this long; 0: 60 s
 * fifo          own tasks oldest first, too: for event-like tasks that no one joins
 * hooks         are for the tasks of rota_submit and rota_execute; terminated for all
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
 * Makes a fork/join pool, without a thread as yet. ROTA_EINVAL for max_threads below parallelism, or
 * what cannot be. After rota_shutdown all that was submitted, and what that forks, still runs.
 * rota_shutdown_now leaves nothing: all that has not begun, also what is forked later, ends as
 * cancelled.
 */
int rota_forkjoin_new(const rota_forkjoin_options *options, rota_executor **out);

/* -- Tasks ----------------------------------------------------------------------------------- */

typedef struct rota_fj rota_fj;         /* in memory of yours: there until it is joined */
typedef void rota_fj_fn(rota_fj *self); /* what it does */

/*
 * A task in your own memory, as a rule on the stack of the function that joins it. Make it the first
 * member of your struct, and put arguments and results beside it. From rota_fork to the return of
 * rota_join it must stay where it is; after that no other thread touches it. What is forked must be
 * joined, by its own forker as a rule; children may be joined in any order, the newest first is
 * fastest. A body that ends its thread must have joined what lies on its stack; other tasks that it
 * has forked, and nobody has joined or begun, are run by another worker.
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

/* rota_fork queues the task with the worker that calls, or with the common pool from any other
   thread. When it cannot be queued it runs here and now, so there is nothing to check. A task that
   is done, or cancelled, is left so.

   rota_join runs it if it is still here, else helps with what its thief has, else waits: ROTA_OK,
   ROTA_EFAILED or ROTA_ECANCELED; ROTA_EINVAL for NULL, or a task without a function, which rota_fork
   leaves alone. Not interruptible. A task that was never forked runs now.

   rota_unfork: true if it was the newest here, no one has it, and it has not run. It may be forked
   again. */

/* Runs a task in `ex` and waits: how a computation starts, from any thread, which takes part in the work
   if fewer than `parallelism` others do. ROTA_EREJECTED after a shutdown, ROTA_ENOTSUP for another
   kind of executor; else what rota_join returns. Where there is no worker, and none to be had, the
   caller runs it. */
int rota_invoke(rota_executor *ex, rota_fj *task);

/* Runs both, or all: each is done when these return, also after a failure. ROTA_EINVAL for a NULL
   among them, before any has begun; else ROTA_OK, or what the first one that did not succeed ended
   with. */
int rota_invoke_both(rota_fj *a, rota_fj *b);
int rota_invoke_many(rota_fj *const *tasks, size_t n);

/* How a task fails, from its own body; whoever joins it sees ROTA_EFAILED. As with rota_fail the
   last call counts, and 0 takes it back. */
void rota_fj_fail(rota_fj *self, int code);

/* Cancels a task. True: it ends as cancelled, or has. If it runs already it goes on, is not done before
   it has ended, and whoever joins it waits for that; a join that returns at the same moment may have
   missed it. */
bool rota_fj_cancel(rota_fj *task);

/* How a task stands, without waiting; and once more. */
bool rota_fj_is_done(const rota_fj *task);
int rota_fj_error(const rota_fj *task); /* the code given to rota_fj_fail; 0 if it did not fail */
void rota_fj_reset(rota_fj *task);      /* a done task may be forked again */

/* -- Inside a pool --------------------------------------------------------------------------- */

rota_executor *rota_fj_pool(void); /* the fork/join pool the caller works for, or NULL */
int rota_fj_worker(void);          /* its number there, from 0 and below max_threads, or -1 */

/* Tasks in the caller's deque beyond what idle workers would take, or less than 0: while it is
   small, split more. 0 outside a pool. */
int rota_fj_surplus(void);

/* Around a wait that the library cannot see (a lock, a read): another worker stands in meanwhile.
   ROTA_EREJECTED when max_threads are there already, ROTA_EAGAIN when the system refuses one: wait
   all the same, and leave out the end. Pairs may nest; the outermost counts. ROTA_OK outside a
   fork/join pool. */
int rota_block_begin(void);
void rota_block_end(void);

/* Waits until nothing is queued and nothing runs but the callers' own tasks; a worker helps meanwhile.
   ROTA_OK, ROTA_ETIMEDOUT, ROTA_EINTERRUPTED. */
int rota_await_quiescence(rota_executor *ex, rota_ns timeout);

/*
 * Takes out tasks of rota_submit and rota_execute that have not begun: each is the caller's now, must
 * meet rota_task_run or rota_task_discard, and is as it was until then. Both work as well after a
 * shutdown. poll_submission: the oldest from outside, or ROTA_EEMPTY. drain_tasks: all that it finds,
 * also in the deques of workers, unless a forked task lies before them; the list may be empty, and is
 * freed by rota_task_list_free. ROTA_ENOMEM: they are where they were, or in the line of those from
 * outside. ROTA_ENOTSUP for another kind of executor.
 */
int rota_forkjoin_poll_submission(rota_executor *ex, rota_task **task);
int rota_forkjoin_drain_tasks(rota_executor *ex, rota_task_list *drained);

/*
 * Figures of a fork/join pool.
 *
 * threads       all there are
 * active        those that do not sleep, and callers that take part
 * running       of those, not blocked
 * steals        tasks that a worker took from another
 * queued        in the workers' deques
 * submissions   from outside, not yet begun
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

#ifdef __GLIBC__
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
        __atomic_store_n(&task->priv[0], (uintptr_t)ROTA__FJ_FORKED, __ATOMIC_RELAXED);
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
        || __builtin_expect(top[-1] != task, 0))
        return false;
    __atomic_store_n(&deck->top, top - 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the floor after the top: deck.c, Q5 */
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
    __atomic_store_n(&task->priv[1], (uintptr_t)ROTA__FJ_RAN, __ATOMIC_RELEASE);
    return ROTA_OK;
}

static inline bool rota_unfork(rota_fj *task)
{
    if (!rota__take_back(task))
        return rota__unfork_slow(task);
    __atomic_store_n(&task->priv[0], (uintptr_t)0, __ATOMIC_RELAXED);
    return true;
}
#endif

ROTA_END
#endif
