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
 * Threads   Any number may use an executor at once; but no other call may use it during or after a
 *           rota_executor_free, rota_close or rota_close_within that succeeds.
 */
#ifndef ROTA_EXECUTOR_H
#define ROTA_EXECUTOR_H

#include <rota/future.h>

ROTA_BEGIN

/* What runs tasks. It is made by the calls of rota/factory.h, by rota_pool_new, rota_sched_new or
   rota_forkjoin_new, or from functions of your own by rota_executor_new. */
typedef struct rota_executor rota_executor; /* yours until rota_close or rota_executor_free */

/* -- Submitting ------------------------------------------------------------------------------ */

/*
 * Gives the executor a task, and does not wait for it. With any status but ROTA_OK nothing was
 * accepted: there is no future, discard was not called, and arg is still yours. ROTA_EREJECTED from an
 * executor that is shut down or has no room. ROTA_EAGAIN if it has no thread and none can be made.
 * ROTA_EINTERRUPTED from a pool whose rota_reject_block waits for room.
 *
 * `out` may be NULL here and wherever a task is submitted or scheduled: then you get no reference. The
 * call is copied.
 */
int rota_execute(rota_executor *ex, rota_fn *fn, void *arg); /* the cheapest: no future is made */
int rota_submit(rota_executor *ex, rota_fn *fn, void *arg, rota_future **out);
int rota_submit_call(rota_executor *ex, const rota_call *call, rota_future **out);

/*
 * Passes on a task that was handed to you, by rota_shutdown_now or in a rejection handler: it runs
 * once, as soon as it can; a periodic task that is passed to a scheduled pool goes on there. With any
 * status but ROTA_OK the task is still yours; the statuses are those of rota_submit.
 */
int rota_execute_task(rota_executor *ex, rota_task *task);

/*
 * Runs all calls, and waits until each is done. When the time is up it cancels and interrupts the
 * rest. ROTA_OK, or ROTA_ETIMEDOUT if some were cancelled: either way futures[0] to futures[n - 1] are
 * done, and you have a reference to each. A timeout of 0 or less runs nothing and cancels all.
 *
 * With any other status there are no futures. After ROTA_EINVAL and ROTA_ENOMEM nothing has happened;
 * memory that runs out later is ROTA_EAGAIN. ROTA_EREJECTED if the executor refused a call,
 * ROTA_EINTERRUPTED if the calling thread was interrupted: then each call has run, was discarded, or
 * still runs, cancelled and interrupted. A cancelled call that still runs is not waited for, here or
 * in rota_invoke_any, so what its arg points to must outlive it.
 */
int rota_invoke_all(rota_executor *ex, const rota_call *calls, size_t n, rota_ns timeout,
                    rota_future **futures);

/*
 * Runs calls until one succeeds, and waits for that: *first is a reference to its future, which is
 * done, and the others are cancelled and interrupted. Calls are submitted one after the other, while
 * none has succeeded. ROTA_EFAILED if none succeeds: then *first is the last that failed. With any
 * other status *first is not written: ROTA_ETIMEDOUT when none has succeeded in time, ROTA_ECANCELED if
 * all were cancelled, ROTA_EINVAL if n is 0, and the rest as rota_invoke_all.
 */
int rota_invoke_any(rota_executor *ex, const rota_call *calls, size_t n, rota_ns timeout,
                    rota_future **first);

/* -- Ending ---------------------------------------------------------------------------------- */

/* Shuts an executor down: it accepts nothing new, and still runs what it has. Does not wait. May be
   repeated. ROTA_ENOTSUP for the common pool. */
int rota_shutdown(rota_executor *ex);

/*
 * Stops an executor: as rota_shutdown, but it interrupts what runs, and hands over what has not
 * started. Give each of drained->tasks to rota_task_run, rota_task_discard or rota_execute_task, then
 * the list to rota_task_list_free, which frees the array alone. With NULL instead of a list all of
 * them are discarded, which needs no memory. Does not wait. ROTA_ENOMEM if there was no memory for
 * the list: the executor is stopped then, and the next call hands them over. ROTA_ENOTSUP for the
 * common pool. A fork/join pool cancels what has not started and hands over nothing; an executor of
 * your own is shut down, and hands over nothing.
 */
typedef struct rota_task_list {
    rota_task **tasks;
    size_t count;
} rota_task_list;

int rota_shutdown_now(rota_executor *ex, rota_task_list *drained);
void rota_task_list_free(rota_task_list *list); /* leaves it empty */

/* Waits until an executor that was shut down has run everything and its threads have ended: ROTA_OK.
   ROTA_ETIMEDOUT when the time is up, ROTA_EINTERRUPTED if the calling thread was interrupted.
   ROTA_EDEADLOCK from one of its own tasks with ROTA_FOREVER. */
int rota_await_termination(rota_executor *ex, rota_ns timeout);

/* Where an executor is on its way to the end. The state only ever grows. None of these waits. */
typedef enum rota_executor_state {
    ROTA_RUNNING,   /* takes tasks and runs them                             */
    ROTA_SHUTDOWN,  /* takes none, runs what is queued                       */
    ROTA_STOP,      /* runs nothing more, has interrupted what runs          */
    ROTA_TIDYING,   /* no thread is left, the `terminated` hook runs         */
    ROTA_TERMINATED /* nothing runs any more                                 */
} rota_executor_state;

rota_executor_state rota_executor_state_of(const rota_executor *ex); /* NULL: as if terminated */
bool rota_is_shutdown(const rota_executor *ex);                      /* ROTA_SHUTDOWN or later */
bool rota_is_terminated(const rota_executor *ex);

/* Frees a terminated executor. ROTA_EBUSY for any other, which is left as it is. */
int rota_executor_free(rota_executor *ex);

/*
 * Closes an executor: shuts it down, waits until every task has ended, and frees it. An interrupt
 * does not end the wait, and is left for the caller to see. With any status but ROTA_OK it is not
 * freed: ROTA_EDEADLOCK from one of its own tasks, ROTA_ENOTSUP for the common pool, ROTA_ENOMEM for a
 * thread that has no memory to wait with; then it is shut down, and can be closed again.
 */
int rota_close(rota_executor *ex);

/*
 * Closes an executor within some time: as rota_close, but after `grace` it discards what is
 * queued and interrupts what runs, and after another `grace` it gives up. ROTA_ETIMEDOUT when it gave
 * up: the executor is still there, stopped, and the call may be repeated. An interrupt of the caller
 * ends the first `grace` early, and is left for the caller to see. ROTA_EDEADLOCK from one of its own
 * tasks. *dropped is how many tasks this call discarded, also when it gives up; `dropped` may be NULL.
 */
int rota_close_within(rota_executor *ex, rota_ns grace, size_t *dropped);

/* Describes an executor in one line for logs: kind, state, sizes, counts. Like snprintf it writes at
   most `size` bytes, and returns the length of the whole line. */
int rota_executor_describe(const rota_executor *ex, char *line, size_t size);

/* -- An executor of your own ----------------------------------------------------------------- */

/*
 * The functions of an executor of your own. `execute` is given a task. If it returns ROTA_OK it has
 * taken the task over, and calls rota_task_run or rota_task_discard for it once, there or later on any
 * thread. Any other status refuses the task, which it must then leave alone. The other functions may
 * be NULL: without `shutdown` the library alone refuses new tasks; without `await_termination` an
 * executor that is shut down counts as terminated as soon as no thread is inside `execute`.
 *
 *     static int run_here(void *self, rota_task *task)   // the smallest there is
 *     {
 *         rota_task_run(task);
 *         return ROTA_OK;
 *     }
 *     rota_executor_new(&(rota_executor_ops){.execute = run_here}, NULL, &executor);
 *
 * `shutdown` is called once, by the first rota_shutdown, which returns its status; from then on the
 * library refuses new tasks. A submitter that came just before may still be inside `execute`.
 * `await_termination` is called when nobody is inside `execute` or `shutdown` any more, perhaps by
 * many threads at once, with a timeout as in rota_await_termination; it returns ROTA_OK when all
 * tasks have ended. `free` is called when the executor is freed.
 */
typedef struct rota_executor_ops {
    int (*execute)(void *self, rota_task *task);
    int (*shutdown)(void *self);
    int (*await_termination)(void *self, rota_ns timeout);
    void (*free)(void *self);
    void *reserved[4];
} rota_executor_ops;

/* Makes an executor from functions of your own. `ops` is copied; `self` is passed to each of them. */
int rota_executor_new(const rota_executor_ops *ops, void *self, rota_executor **out);

ROTA_END
#endif
