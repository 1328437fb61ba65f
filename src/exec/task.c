/* SPDX-License-Identifier: MIT */
/*
 * task.c - the end of a task's life, whatever kind it is.
 */
#include "exec/exec_internal.h"

#include "os/os.h"

rota_future *rota_task_future(const rota_task *task)
{
    if (task == NULL || task->kind != ROTA__TASK_FUTURE)
        return NULL;
    return (rota_future *)(uintptr_t)task; /* the future is not const: it is only lent */
}

void rota__task_release(rota_task *task)
{
    if (task->kind == ROTA__TASK_PLAIN)
        rota__plain_task_free(task);
    else
        rota__future_unpin(rota__future_of(task));
}

static void plain_ended(rota_task *task, int error)
{
    (void)error; /* nobody asked */
    rota__task_release(task);
}

static void run_future(void *arg)
{
    rota__future_run(rota__future_of(arg));
}

static void release(void *arg)
{
    rota__task_release(arg);
}

void rota_task_run(rota_task *task)
{
    if (task == NULL)
        return;
    if (task->kind == ROTA__TASK_PLAIN) {
        rota__run_plain(task, plain_ended);
        return;
    }
    rota__os_guarded(run_future, release, task);
    rota__task_release(task);
}

void rota_task_discard(rota_task *task)
{
    if (task == NULL)
        return;
    if (task->kind == ROTA__TASK_FUTURE)           /* a plain one has nothing to discard */
        rota_future_cancel(rota__future_of(task)); /* which discards the argument */
    rota__task_release(task);
}
