/* SPDX-License-Identifier: MIT */
/*
 * rota/executor.h - executors: one handle for everything that runs tasks.
 *
 *     rota_execute(executor, log_line, line);             // runs a task; nobody needs its result
 *     rota_submit(executor, work, arg, &future);          // runs a task; the future has its result
 *     rota_invoke_all(executor, calls, 3, ROTA_SEC(1), futures);
 *     rota_close(executor);                               // finishes all tasks, then frees
 *
 * A thread pool, a scheduled pool, a fork/join pool and an executor of your own have the same
 * handle, as files, pipes and sockets all have descriptors. A call that a kind of executor does not
 * support returns ROTA_ENOTSUP.
 *
 * In a child of fork(2), an executor of the parent is as if it had terminated. It rejects every
 * task. The child may close and free it. These calls return at once and do not touch the parent.
 *
 * Threads   Any number of threads may use an executor at the same time. No other call may use it
 *           during or after a call of rota_executor_free, rota_close or rota_close_within that
 *           succeeds.
 */
#ifndef ROTA_EXECUTOR_H
#define ROTA_EXECUTOR_H

#include <rota/future.h>

ROTA_BEGIN

/* An object that runs tasks. The calls of rota/factory.h create executors, and so do rota_pool_new,
   rota_sched_new and rota_forkjoin_new. rota_executor_new makes one from functions of your own. */
typedef struct rota_executor rota_executor; /* yours until rota_close or rota_executor_free */

/* -- Submitting ------------------------------------------------------------------------------ */

/* Submits a task that has no future. This is the cheapest way to run a task. The rules and statuses
   are those of rota_submit. */
int rota_execute(rota_executor *ex, rota_fn *fn, void *arg);

/*
 * Submits a task and creates its future. The call does not wait for the task. The future is stored
 * in *out. Here and in every other call that submits or schedules a task, `out` may be NULL, and
 * the caller then gets no reference.
 *
 * If the call returns anything but ROTA_OK, the executor has not accepted the task. There is no
 * future then, `discard` was not called, and the caller still owns `arg`. ROTA_EREJECTED if the
 * executor has no room for the task or has been shut down. ROTA_EAGAIN if the executor has no
 * thread and none can be started. ROTA_EINTERRUPTED if the caller was interrupted while it waited
 * in rota_reject_block.
 */
int rota_submit(rota_executor *ex, rota_fn *fn, void *arg, rota_future **out);

/* Submits a task that a rota_call describes, and creates its future. The call is copied. The rules
   and statuses are those of rota_submit. */
int rota_submit_call(rota_executor *ex, const rota_call *call, rota_future **out);

/*
 * Passes a task on to an executor. The caller must own the task: it comes from rota_shutdown_now,
 * or the caller is a rejection handler or an executor of your own. The task runs once, as soon as
 * possible. A periodic task that is passed to a scheduled pool stays periodic there. If the call
 * returns anything but ROTA_OK, the caller still owns the task. The statuses are those of
 * rota_submit.
 */
int rota_execute_task(rota_executor *ex, rota_task *task);

/*
 * Submits several calls and waits until all of them are done. When the timeout has passed, the call
 * cancels and interrupts the rest. It returns ROTA_OK, or ROTA_ETIMEDOUT if calls were cancelled.
 * In both cases futures[0] to futures[n - 1] are done, and the caller gets a reference to each.
 * With a timeout of 0 or less, nothing runs and all calls are cancelled.
 *
 * With any other status there are no futures. After ROTA_EINVAL and ROTA_ENOMEM nothing has
 * happened. ROTA_EAGAIN if memory runs out later. ROTA_EREJECTED if the executor refused a call.
 * ROTA_EINTERRUPTED if the calling thread was interrupted. After these three, each call has run,
 * was discarded, or is still running, cancelled and interrupted. rota_invoke_all and
 * rota_invoke_any do not wait for a cancelled call that is still running, so its argument must stay
 * valid.
 */
int rota_invoke_all(rota_executor *ex, const rota_call *calls, size_t n, rota_ns timeout,
                    rota_future **futures);

/*
 * Submits calls until one of them succeeds, and waits for that. The future of this call is stored
 * in *first. It is done, and the caller gets a reference to it. The other calls are cancelled and
 * interrupted. The calls are submitted one after the other, as long as none has succeeded.
 *
 * ROTA_EFAILED if no call succeeds. *first is then the future of the last call that failed. With
 * any other status *first is not written. ROTA_ETIMEDOUT if no call has succeeded in time.
 * ROTA_ECANCELED if all calls were cancelled. ROTA_EINVAL if n is 0. The other statuses are those
 * of rota_invoke_all.
 */
int rota_invoke_any(rota_executor *ex, const rota_call *calls, size_t n, rota_ns timeout,
                    rota_future **first);

/* -- Ending an executor ---------------------------------------------------------------------- */

/* Shuts an executor down. From then on it refuses new tasks, and still runs those that it has. The
   call does not wait, and may be repeated. ROTA_ENOTSUP for the common pool. */
int rota_shutdown(rota_executor *ex);

/*
 * Stops an executor: it refuses new tasks, interrupts the running ones, and hands over the tasks
 * that have not started. A task counts as started if a new thread was started for it. The call does
 * not wait.
 *
 * The caller owns each task in drained->tasks, and must pass it to rota_task_run, rota_task_discard
 * or rota_execute_task. After that it frees the array with rota_task_list_free. If `drained` is
 * NULL, the call discards these tasks, and needs no memory. ROTA_ENOMEM if there is no memory for
 * the array: the executor is stopped all the same, and the next call hands the tasks over.
 * ROTA_ENOTSUP for the common pool.
 *
 * A fork/join pool cancels the tasks that have not started and hands over none. For an executor of
 * your own, the call is like rota_shutdown and hands over none.
 */
typedef struct rota_task_list {
    rota_task **tasks;
    size_t count;
} rota_task_list;

int rota_shutdown_now(rota_executor *ex, rota_task_list *drained);

/* Frees the array of a task list, but not the tasks. The list is empty afterwards. */
void rota_task_list_free(rota_task_list *list);

/*
 * Waits until an executor that was shut down has run all its tasks and runs none any more. Its
 * threads may still be ending then: rota_close waits for them, too. ROTA_ETIMEDOUT if the timeout
 * has passed. ROTA_EINTERRUPTED if the calling thread is interrupted. ROTA_EDEADLOCK if the call is
 * made without a timeout in a task or a hook of the executor.
 */
int rota_await_termination(rota_executor *ex, rota_ns timeout);

/* The states of an executor, in the order in which it goes through them. */
typedef enum rota_executor_state {
    ROTA_RUNNING,   /* accepts tasks and runs them                       */
    ROTA_SHUTDOWN,  /* accepts no tasks, and runs those that are queued  */
    ROTA_STOP,      /* starts no task, and has interrupted running ones  */
    ROTA_TIDYING,   /* has no task left, and calls the `terminated` hook */
    ROTA_TERMINATED /* runs nothing any more                             */
} rota_executor_state;

/* Returns the state of an executor. The call does not wait. For NULL it returns ROTA_TERMINATED. */
rota_executor_state rota_executor_state_of(const rota_executor *ex);

/* Returns true if an executor has been shut down. Its state is then ROTA_SHUTDOWN or a later one.
   The call does not wait. */
bool rota_is_shutdown(const rota_executor *ex);

/* Returns true if an executor has terminated. The call does not wait. */
bool rota_is_terminated(const rota_executor *ex);

/* Frees an executor that has terminated. The call waits until the threads of the executor have
   ended, with their thread-specific destructors. ROTA_EBUSY if the executor has not terminated; it
   stays as it is. */
int rota_executor_free(rota_executor *ex);

/*
 * Closes an executor: shuts it down, waits for all its tasks, and frees it. When the call returns,
 * all threads of the executor have ended, with their thread-specific destructors. An interrupt does
 * not end the wait, and its flag stays set.
 *
 * If the call returns anything but ROTA_OK, the executor is not freed. ROTA_EDEADLOCK if the call
 * is made in a task or a hook of the executor. ROTA_ENOTSUP for the common pool. ROTA_ENOMEM if the
 * calling thread has no memory to wait with; the executor is then shut down and can be closed
 * again.
 */
int rota_close(rota_executor *ex);

/*
 * Closes an executor, and stops it if that takes too long. The call is like rota_close, but when
 * `grace` has passed, it discards the queued tasks and interrupts the running ones. When `grace`
 * has passed once more, it gives up and returns ROTA_ETIMEDOUT. The executor is stopped then, still
 * exists, and the call may be repeated. An interrupt of the caller ends the first `grace` early,
 * and its flag stays set. ROTA_EDEADLOCK if the call is made in a task or a hook of the executor.
 *
 * *dropped is the number of tasks that this call has discarded. It is written even if the call
 * gives up. `dropped` may be NULL.
 */
int rota_close_within(rota_executor *ex, rota_ns grace, size_t *dropped);

/* Describes an executor in one line for logs. The line contains kind, state, sizes and counts. Like
   snprintf, the call writes at most `size` bytes and returns the length of the whole line. */
int rota_executor_describe(const rota_executor *ex, char *line, size_t size);

/* -- An executor of your own ----------------------------------------------------------------- */

/*
 * The functions of an executor of your own. Every function except `execute` may be NULL.
 *
 *     static int run_here(void *self, rota_task *task)   // the smallest executor
 *     {
 *         rota_task_run(task);
 *         return ROTA_OK;
 *     }
 *     rota_executor_new(&(rota_executor_ops){.execute = run_here}, NULL, &executor);
 *
 * execute             Receives a task. If it returns ROTA_OK, it owns the task, and must call
 *                     rota_task_run or rota_task_discard for it exactly once, at once or later, on
 *                     any thread. With any other status it refuses the task and must not touch it.
 *
 * shutdown            Is called once, by the first rota_shutdown, which returns its status. From
 *                     then on the library refuses new tasks. Another thread that submitted a task
 *                     just before may still be inside `execute`. Without this function, the library
 *                     only refuses new tasks.
 *
 * await_termination   Returns ROTA_OK when all tasks have ended. It gets a timeout as
 *                     rota_await_termination does. It is called when no thread is inside `execute`
 *                     or `shutdown` any more, possibly by many threads at once. Without this
 *                     function, an executor that was shut down has terminated as soon as no thread
 *                     is inside `execute`.
 *
 * free                Is called when the executor is freed.
 */
typedef struct rota_executor_ops {
    int (*execute)(void *self, rota_task *task);
    int (*shutdown)(void *self);
    int (*await_termination)(void *self, rota_ns timeout);
    void (*free)(void *self);
    void *reserved[4];
} rota_executor_ops;

/* Creates an executor from functions of your own. `ops` is copied. `self` is passed to each of
   them. */
int rota_executor_new(const rota_executor_ops *ops, void *self, rota_executor **out);

ROTA_END
#endif
