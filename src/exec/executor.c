/* SPDX-License-Identifier: MIT */
/*
 * executor.c - calls that each kind of executor implements in its table.
 */
#include "exec/exec_internal.h"

#include "base/alloc.h"

#include <stdio.h>

int rota_shutdown(rota_executor *ex)
{
    size_t dropped;

    return ex != NULL ? ex->ops->shutdown(ex, &dropped) : ROTA_EINVAL;
}

int rota_shutdown_now(rota_executor *ex, rota_task_list *drained)
{
    size_t count;

    return ex != NULL ? ex->ops->shutdown_now(ex, drained, &count) : ROTA_EINVAL;
}

int rota__export_tasks(rota__task_slist *chain, rota_task_list *drained, size_t *count)
{
    rota_task_list list = {NULL, chain->count};

    if (drained != NULL && list.count > 0) {
        list.tasks = rota__alloc_array(list.count, sizeof list.tasks[0]);
        if (list.tasks == NULL)
            return ROTA_ENOMEM;
    }
    for (size_t i = 0; i < list.count; i++) {
        rota_task *task = rota__task_slist_take(chain);
        if (drained != NULL)
            list.tasks[i] = task;
        else
            rota_task_discard(task);
    }
    if (drained != NULL)
        *drained = list;
    *count = list.count;
    return ROTA_OK;
}

void rota_task_list_free(rota_task_list *list)
{
    if (list == NULL)
        return;
    rota__free(list->tasks, list->count * sizeof list->tasks[0]);
    *list = (rota_task_list){NULL, 0};
}

int rota_await_termination(rota_executor *ex, rota_ns timeout)
{
    if (ex == NULL)
        return ROTA_EINVAL;
    if (timeout == ROTA_FOREVER && rota__is_inside(ex))
        return ROTA_EDEADLOCK;
    return ex->ops->await_termination(ex, timeout);
}

rota_executor_state rota_executor_state_of(const rota_executor *ex)
{
    return ex != NULL ? ex->ops->state_of(ex) : ROTA_TERMINATED;
}

bool rota_is_shutdown(const rota_executor *ex)
{
    return rota_executor_state_of(ex) >= ROTA_SHUTDOWN;
}

bool rota_is_terminated(const rota_executor *ex)
{
    return rota_executor_state_of(ex) == ROTA_TERMINATED;
}

int rota_executor_free(rota_executor *ex)
{
    if (ex == NULL)
        return ROTA_EINVAL;
    /* exec.E3: inside the executor, `free` would wait for the calling thread. */
    if (!rota_is_terminated(ex) || rota__is_inside(ex))
        return ROTA_EBUSY;
    ex->ops->free(ex);
    return ROTA_OK;
}

void rota__snapshot_oldest(rota__snapshot *snapshot, const rota_task *task)
{
    snapshot->oldest = rota__task_stamp(task);
    if (task->call.name != NULL)
        snprintf(snapshot->oldest_name, sizeof snapshot->oldest_name, "%s", task->call.name);
}

int rota_executor_describe(const rota_executor *ex, char *line, size_t size)
{
    if (ex == NULL || (line == NULL && size != 0))
        return ROTA_EINVAL;
    return ex->ops->describe(ex, line, size);
}
