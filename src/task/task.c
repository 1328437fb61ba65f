/* SPDX-License-Identifier: MIT */
/*
 * task.c - plain tasks, and what a task says of itself.
 */
#include "task/task_internal.h"

#include "base/cache.h"

rota_task *rota__plain_task_new(rota_fn *fn, void *arg)
{
    uint8_t home;
    rota_task *task = rota__block_alloc(sizeof *task, &home);

    if (task == NULL)
        return NULL;
    task->call = (rota_call){.fn = fn, .arg = arg};
    task->home = home;
    task->kind = ROTA__TASK_PLAIN;
    task->periodic = false;
    return task;
}

void rota__plain_task_free(rota_task *task)
{
    rota__block_free(task, sizeof *task, task->home);
}

const rota_call *rota_task_call(const rota_task *task)
{
    return task != NULL ? &task->call : NULL;
}
