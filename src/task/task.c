/* SPDX-License-Identifier: MIT */
/*
 * task.c - plain tasks, and the calls that describe a task.
 */
#include "task/task_internal.h"

#include "base/thread.h"

rota_task *rota__plain_task_new(rota_fn *fn, void *arg)
{
    uint8_t slab_offset;
    rota_task *task = rota__block_get(&rota__self()->magazines, sizeof *task, &slab_offset);

    if (task == NULL)
        return NULL;
    task->call = (rota_call){.fn = fn, .arg = arg};
    task->slab_offset = slab_offset;
    task->kind = ROTA__TASK_PLAIN;
    task->periodic = false;
    return task;
}

void rota__plain_task_free(rota_task *task)
{
    rota__block_put(&rota__self()->magazines, task, sizeof *task, task->slab_offset);
}

const rota_call *rota_task_call(const rota_task *task)
{
    return task != NULL ? &task->call : NULL;
}

rota_future *rota_task_future(const rota_task *task)
{
    if (task == NULL || task->kind != ROTA__TASK_FUTURE)
        return NULL;
    return (rota_future *)(uintptr_t)task; /* the caller borrows a mutable future */
}
