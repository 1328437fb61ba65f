/* SPDX-License-Identifier: MIT */
/*
 * rota/executor.h - one handle for everything that runs tasks.
 *
 * A thread pool, a scheduled pool, a fork/join pool and an executor of your own are all used
 * through this one handle, as files, pipes and sockets are through a descriptor. A call that a
 * kind cannot serve returns ROTA_ENOTSUP.
 *
 *     rota_execute(executor, log_line, line);             // run it; nobody asks what came of it
 *     rota_submit(executor, work, arg, &future);          // run it; the future will tell
 *     rota_invoke_all(executor, calls, 3, ROTA_SEC(1), futures);
 *     rota_close(executor);                               // finish what was submitted, then free
 *
 * Threads   Any number may use an executor at once; only rota_executor_free and the two that close
 *           must be the last on theirs.
 */
#ifndef ROTA_EXECUTOR_H
#define ROTA_EXECUTOR_H

#include <rota/future.h>

ROTA_BEGIN

/* What runs tasks: made by rota/factory.h, rota_pool_new, rota_sched_new, rota_forkjoin_new, or of
   functions of yours by rota_executor_new. */
typedef struct rota_executor rota_executor; /* yours until rota_close or rota_executor_free */

/* -- Submitting ------------------------------------------------------------------------------ */

/*
 * Gives the executor a task. With any status but ROTA_OK nothing was accepted: there is no future,
 * discard was not called, and arg is still yours. ROTA_EREJECTED from an executor that is shut down or
 * has no room.
 *
 * `out` may be NULL here and wherever a task is submitted or scheduled: you hold no reference then.
 * The call is copied.
 */
int rota_execute(rota_executor *ex, rota_fn *fn, void *arg); /* the cheapest: no future is made */
int rota_submit(rota_executor *ex, rota_fn *fn, void *arg, rota_future **out);
int rota_submit_call(rota_executor *ex, const rota_call *call, rota_future **out);

/*
 * Passes on a task that was handed out, as a rejection handler may: it runs once, as soon as it
 * can; a periodic one that is passed to a scheduled pool goes on there. With any status but ROTA_OK the
 * task is still yours.
 */
int rota_execute_task(rota_executor *ex, rota_task *task);

/*
 * Runs all, and waits until each is done or the time is up, which cancels the rest: ROTA_OK or
 * ROTA_ETIMEDOUT with futures[0..n-1] done, a reference to each. With any other status there are no
 * futures; after ROTA_EINVAL and ROTA_ENOMEM nothing has happened (memory that fails later is
 * ROTA_EAGAIN); after the others every call has run, was discarded, or runs still, cancelled and
 * interrupted. Neither of these two waits for a cancelled call that runs already: what its arg
 * points to must outlive it. A timeout of 0 or less runs nothing and cancels all.
 */
int rota_invoke_all(rota_executor *ex, const rota_call *calls, size_t n, rota_ns timeout,
                    rota_future **futures);

/*
 * Runs calls until one succeeds: *first is that one, done; the others are cancelled. One call is
 * submitted after the other, while none has succeeded. ROTA_EFAILED if none succeeds: then *first is
 * the last that failed. ROTA_ECANCELED, without *first, if all were cancelled. n must not be 0.
 */
int rota_invoke_any(rota_executor *ex, const rota_call *calls, size_t n, rota_ns timeout,
                    rota_future **first);

/* -- Ending ---------------------------------------------------------------------------------- */

/* Takes nothing new, and runs what it has. May be repeated. */
int rota_shutdown(rota_executor *ex);

/*
 * As rota_shutdown, but interrupts what runs, and hands over what had not started: each of
 * drained->tasks must meet rota_task_run or rota_task_discard, then the list rota_task_list_free,
 * which frees the array alone. With NULL all of them are discarded, which needs no memory;
 * ROTA_ENOMEM means that it is stopped, and that the next call hands them over. A fork/join pool
 * cancels what it has and hands over nothing; an executor of your own is shut down, and hands over
 * nothing.
 */
typedef struct rota_task_list {
    rota_task **tasks;
    size_t count;
} rota_task_list;

int rota_shutdown_now(rota_executor *ex, rota_task_list *drained);
void rota_task_list_free(rota_task_list *list); /* leaves it empty */

/* Waits until nothing runs any more: ROTA_OK, ROTA_ETIMEDOUT, ROTA_EINTERRUPTED; ROTA_EDEADLOCK from one
   of its own tasks, unless the timeout is less than ROTA_FOREVER. */
int rota_await_termination(rota_executor *ex, rota_ns timeout);

/* Where an executor is on its way to the end. The state only ever grows. */
typedef enum rota_executor_state {
    ROTA_RUNNING,   /* takes tasks and runs them                             */
    ROTA_SHUTDOWN,  /* takes none, runs what is queued                       */
    ROTA_STOP,      /* runs nothing more, has interrupted what runs          */
    ROTA_TIDYING,   /* no thread is left, the `terminated` hook runs         */
    ROTA_TERMINATED /* nothing runs any more                                 */
} rota_executor_state;

rota_executor_state rota_executor_state_of(const rota_executor *ex); /* NULL is as terminated */
bool rota_is_shutdown(const rota_executor *ex);                      /* ROTA_SHUTDOWN or later */
bool rota_is_terminated(const rota_executor *ex);

/* Frees a terminated executor; ROTA_EBUSY for any other. */
int rota_executor_free(rota_executor *ex);

/*
 * Shuts down, waits for every task, and frees. An interrupt does not end the wait and is
 * left for the caller to see. ROTA_EDEADLOCK from one of its own workers; ROTA_ENOMEM for a thread
 * that has no memory to wait with: it is shut down, and can be closed again.
 */
int rota_close(rota_executor *ex);

/*
 * As rota_close, with patience that ends: after `grace` what is queued is discarded and what runs is
 * interrupted; after another `grace` it gives up with ROTA_ETIMEDOUT, the executor still there.
 * An interrupt skips the rest of the first, and is left for the caller to see. `dropped` counts what
 * this call discarded, and is written also when it gives up; it may be NULL.
 */
int rota_close_within(rota_executor *ex, rota_ns grace, size_t *dropped);

/* One line for logs: kind, state, sizes, counts. As snprintf: returns the length of all of it. */
int rota_executor_describe(const rota_executor *ex, char *line, size_t size);

/* -- An executor of your own ----------------------------------------------------------------- */

/*
 * `execute` takes the task over when it returns ROTA_OK, and gives it rota_task_run or
 * rota_task_discard once, there or on another thread. Any other status refuses the task, which it
 * must then leave alone. The rest may be NULL: without shutdown, the library refuses new tasks
 * itself; without await_termination, a shut-down executor counts as terminated as soon as no thread
 * is inside execute.
 *
 *     static int run_here(void *self, rota_task *task)   // the smallest there is
 *     {
 *         rota_task_run(task);
 *         return ROTA_OK;
 *     }
 *     rota_executor_new(&(rota_executor_ops){.execute = run_here}, NULL, &executor);
 *
 * `shutdown` is called once, by the first rota_shutdown, which answers with its status; the library
 * refuses new tasks from then on. A submitter that came just before may still be inside execute.
 * `await_termination` is called only once nobody is inside execute or shutdown any more, perhaps by
 * many threads at once, with a timeout as in rota_await_termination, and answers ROTA_OK when all
 * tasks have ended. `free` is called when the executor goes.
 */
typedef struct rota_executor_ops {
    int (*execute)(void *self, rota_task *task);
    int (*shutdown)(void *self);
    int (*await_termination)(void *self, rota_ns timeout);
    void (*free)(void *self);
    void *reserved[4];
} rota_executor_ops;

/* Makes an executor of functions of yours. ops is copied; `self` is what they are given. */
int rota_executor_new(const rota_executor_ops *ops, void *self, rota_executor **out);

ROTA_END
#endif
