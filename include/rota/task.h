/* SPDX-License-Identifier: MIT */
/*
 * rota/task.h - what an executor runs.
 *
 *     static void *parse(void *arg)              // a task is a function
 *     {
 *         struct file *file = arg;
 *         if (!file_open(file))
 *             return rota_fail(ENOENT);          // it failed, with a code of its own
 *         return file_parse(file);               // what it returns is its result
 *     }
 *
 *     rota_call call = {.fn = parse, .arg = file,
 *                       .discard = file_drop,    // instead of parse, if it never runs
 *                       .free_result = tree_free};
 *     rota_submit_call(executor, &call, &future);
 */
#ifndef ROTA_TASK_H
#define ROTA_TASK_H

#include <rota/base.h>

ROTA_BEGIN

/* The shape of every task: a pthread start routine. What it returns is its result. */
typedef void *rota_fn(void *arg);

/*
 * How a task fails: `return rota_fail(code);` with a code of its own, any but 0. It returns NULL. If
 * it is called more than once the last call counts, and rota_fail(0) takes a failure back; outside of
 * a task it does nothing. What a task that fails returns is ignored, and not freed. The function of a
 * fork/join task fails by rota_fj_fail: rota_fail there is for the task around it, if its own thread
 * runs it.
 *
 * A task that ends its thread (pthread_exit, pthread_cancel) has failed with ROTA_ECANCELED as its
 * code. A task must not leave by longjmp, and a discard or free_result function must not end its
 * thread.
 */
void *rota_fail(int code);

/* A call in full, where fn and arg alone do not say enough. Zero is every field's default. */
typedef struct rota_call {
    rota_fn *fn;
    void *arg;

    /* Is called instead of fn once it is certain that fn will never run, so that arg can be freed; for
       a periodic task once, when no further run will come. NULL: nothing to do. */
    void (*discard)(void *arg);

    /* Frees the result when the last reference to the future goes. NULL: the result is not freed. */
    void (*free_result)(void *result);

    const char *name;  /* for traces and listings; not copied, so it must last; or NULL */
    void *reserved[3]; /* NULL in a call of yours; not to be read */
} rota_call;

/* The result of a task that may not have run yet: rota/future.h. */
typedef struct rota_future rota_future; /* counted: rota_future_unref what you were given */

/* A task in an executor's hands, as hooks, rejection handlers and rota_shutdown_now see it. */
typedef struct rota_task rota_task; /* to be run, discarded or passed on, once */

const rota_call *rota_task_call(const rota_task *task); /* good as long as the task is yours */
rota_future *rota_task_future(const rota_task *task);   /* borrowed; NULL: rota_execute's task */

/*
 * What you do with a task that was handed to you: exactly one of these, or rota_execute_task, which
 * passes it on. After that it is no longer yours. If its future is done already, because it was
 * cancelled or completed by hand, neither calls anything of the task.
 */
void rota_task_run(rota_task *task);     /* here and now, on the calling thread */
void rota_task_discard(rota_task *task); /* calls discard(arg), and its future is cancelled */

ROTA_END
#endif
