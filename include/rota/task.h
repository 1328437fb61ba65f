/* SPDX-License-Identifier: MIT */
/*
 * rota/task.h - tasks: what an executor runs.
 *
 *     static void *parse(void *arg)              // a task is a function
 *     {
 *         struct file *file = arg;
 *         if (!file_open(file))
 *             return rota_fail(ENOENT);          // the task has failed, with its own code
 *         return file_parse(file);               // the result of the task
 *     }
 *
 *     rota_call call = {.fn = parse, .arg = file,
 *                       .discard = file_drop,    // called if parse never runs
 *                       .free_result = tree_free};
 *     rota_submit_call(executor, &call, &future);
 *
 * Only the body of a task may end its thread, by pthread_exit or because of pthread_cancel, and not
 * in a fork/join pool. The body is the function of a rota_call that runs in a thread pool, in a
 * scheduled pool, in an executor of your own or on the calling thread. A task that ends its thread
 * has failed, with ROTA_ECANCELED as its code. While the thread ends, the library starts no other
 * task on it, with one exception: see rota/pool.h.
 *
 * Every other function that you pass to the library must return:
 *
 * Tasks       `discard` and `free_result`
 * Pools       hooks, rejection handlers, `create`, `on_start`, `on_exit` and `decorate`
 * Queues      comparison functions, due functions, visitors and the functions of a container
 *
 * Futures     steps, the functions of rota_when_done and `retries`
 * Fork/join   all tasks of a fork/join pool, fork/join tasks, completers and loop bodies
 * Memory      the functions of an allocator
 *
 * No function may leave by longjmp. A library that was built with ROTA_CHECKED reports a function
 * that breaks these rules by its name, and aborts.
 */
#ifndef ROTA_TASK_H
#define ROTA_TASK_H

#include <rota/base.h>

ROTA_BEGIN

/* The type of a task's function. It is that of a pthread start routine. The function returns the
   result of the task. */
typedef void *rota_fn(void *arg);

/*
 * Makes the calling task fail. Use it as `return rota_fail(code);`. The call returns NULL. `code`
 * is a number of your own other than 0. If a task calls rota_fail more than once, the last call
 * counts, and rota_fail(0) takes a failure back. Outside of a task the call does nothing.
 *
 * The library ignores the result of a task that fails, and does not free it. The function of a
 * fork/join task calls rota_fj_fail instead. There rota_fail applies to the task that the same
 * thread runs around it, if there is one.
 */
void *rota_fail(int code);

/* Describes a task in full. A field that is zero has its default value. */
typedef struct rota_call {
    rota_fn *fn;
    void *arg;

    /* Is called instead of fn when it is certain that fn will never run, so that arg can be freed.
       For a periodic task it is called once, when no further run will follow. Default: none. */
    void (*discard)(void *arg);

    /* Frees the result when the last reference to the future is released. Default: the result is
       not freed. */
    void (*free_result)(void *result);

    const char *name;  /* is shown in traces and listings; not copied, so it must stay valid */
    void *reserved[3]; /* must be NULL in a call of your own, and is not to be read */
} rota_call;

/* The result of a task that may not have run yet. See rota/future.h. */
typedef struct rota_future rota_future; /* counted: release a reference by rota_future_unref */

/* A task that an executor holds. Hooks, rejection handlers and rota_shutdown_now pass it to you. A
   rejection handler that returns ROTA_OK, the caller of rota_shutdown_now and an executor of your
   own own the task. They must run it, discard it or pass it on, exactly once, by rota_task_run,
   rota_task_discard or rota_execute_task. */
typedef struct rota_task rota_task; /* run, discard or pass on a task that you own, once */

/* Returns the call of a task. The result stays valid as long as you own the task, or until the
   function that received the task returns. */
const rota_call *rota_task_call(const rota_task *task);

/* Returns the future of a task, or NULL if the task has none because it comes from rota_execute.
   The caller gets no reference of its own. The result stays valid as long as that of
   rota_task_call. */
rota_future *rota_task_future(const rota_task *task);

/* Runs a task on the calling thread, now. The caller must own the task, and gives it away. If the
   future of the task is already done, because it was cancelled or completed by hand, the call only
   releases the task. */
void rota_task_run(rota_task *task);

/* Discards a task without running it. The call calls `discard` with the argument of the task, and
   cancels the future. The caller must own the task, and gives it away. If the future of the task is
   already done, the call only releases the task. */
void rota_task_discard(rota_task *task);

ROTA_END
#endif
