/* SPDX-License-Identifier: MIT */
/*
 * submit.c - a task is made and given to an executor.
 */
#include "exec/exec_internal.h"

int rota_execute(rota_executor *ex, rota_fn *fn, void *arg)
{
    if (ex == NULL || fn == NULL)
        return ROTA_EINVAL;
    rota_task *task = rota__plain_task_new(fn, arg);
    if (task == NULL)
        return ROTA_ENOMEM;
    int status = rota__give(ex, task);
    if (status != ROTA_OK)
        rota__plain_task_free(task); /* exec.E1 */
    return status;
}

/* -- As a guest ----------------------------------------------------------- */

typedef struct guest {
    rota_executor *executor;
    rota_task *task;
    int status;
    rota__inside inside; /* exec.E3: it may be run here */
    rota__relay relay;
} guest;

static void enter(void *arg)
{
    guest *mine = arg;

    mine->status = rota__give(mine->executor, mine->task);
}

void rota__leave_as_guest(rota_executor *ex)
{
    rota__sub_release(&ex->guests, 1); /* exec.E4; pairs with rota__executor_leave */
}

static void leave(void *arg)
{
    guest *mine = arg;

    rota__relay_end(&mine->relay);
    rota__inside_leave(&mine->inside);
    rota__leave_as_guest(mine->executor);
}

void rota__be_guest(rota_executor *ex)
{
    rota__add_relaxed(&ex->guests, 1); /* before the task, whose end the owner sees */
}

static int execute_and_leave(rota_executor *ex, rota_task *task, rota__action_queue *more)
{
    guest mine = {.executor = ex, .task = task};

    rota__inside_enter(&mine.inside, ex);
    rota__relay_begin(&mine.relay, more != NULL ? rota__future_of(task) : NULL, more);
    rota__os_guarded(enter, leave, &mine); /* its body may end this thread */
    leave(&mine);
    return mine.status;
}

int rota__execute_and_leave(rota_executor *ex, rota_task *task)
{
    return execute_and_leave(ex, task, NULL);
}

int rota__execute_as_guest(rota_executor *ex, rota_task *task)
{
    rota__be_guest(ex);
    return execute_and_leave(ex, task, NULL);
}

int rota__execute_into(rota_executor *ex, rota_future *future, rota__action_queue *more)
{
    rota__be_guest(ex);
    return execute_and_leave(ex, &future->task, more);
}

/* -- A future ------------------------------------------------------------- */

int rota__submitted(rota_future *future, int status, rota_future **out)
{
    if (status == ROTA_OK) {
        if (out != NULL)
            *out = future;
        return ROTA_OK;
    }
    rota__future_refuse(future); /* exec.E1 */
    if (out != NULL)
        rota_future_unref(future);
    return status;
}

int rota_submit_call(rota_executor *ex, const rota_call *call, rota_future **out)
{
    if (ex == NULL || call == NULL || call->fn == NULL)
        return ROTA_EINVAL;
    rota_future *future = rota__future_new(call, out != NULL, sizeof *future);
    if (future == NULL)
        return ROTA_ENOMEM;
    return rota__submitted(future, rota__give(ex, &future->task), out);
}

int rota_submit(rota_executor *ex, rota_fn *fn, void *arg, rota_future **out)
{
    return rota_submit_call(ex, &(rota_call){.fn = fn, .arg = arg}, out);
}

int rota_execute_task(rota_executor *ex, rota_task *task)
{
    if (ex == NULL || task == NULL)
        return ROTA_EINVAL;
    return rota__give(ex, task);
}
