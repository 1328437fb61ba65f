/* SPDX-License-Identifier: MIT */
/*
 * submit.c - creates tasks and submits them.
 */
#include "exec/exec_internal.h"

#include "os/cleanup.h"

int rota_execute(rota_executor *ex, rota_fn *fn, void *arg)
{
    if (ex == NULL || fn == NULL)
        return ROTA_EINVAL;
    rota_task *task = rota__plain_task_new(fn, arg);
    if (task == NULL)
        return ROTA_ENOMEM;
    int status = rota__submit(ex, task, ROTA__AT_ONCE);
    if (status != ROTA_OK)
        rota__plain_task_free(task); /* exec.E1 */
    return status;
}

/* -- Submissions by the library --------------------------------------------- */

void rota__inflight_begin(rota_executor *ex)
{
    rota__add_relaxed(&ex->inflight, 1); /* exec.E4: before the task can end */
}

void rota__inflight_end(rota_executor *ex)
{
    rota__sub_release(&ex->inflight, 1); /* exec.E4; pairs with rota__executor_unregister */
}

static void moved_and_unpin(void *future)
{
    rota__future_moved(future); /* exec.E5a */
    rota__future_unpin(future);
}

int rota__submit_again(rota_executor *ex, rota_future *future, rota_ns due)
{
    int status;

    rota__future_pin(future); /* the task may have run when `submit` returns */
    rota__store_relaxed(&future->task.executor, ex->number); /* exec.E5 */
    ROTA__CLEANUP_BEGIN(moved_and_unpin, future); /* the executor may run it here: GEN-14 */
    status = ex->ops->submit(ex, &future->task, due);
    ROTA__CLEANUP_END;
    return status;
}

typedef struct inflight {
    rota_executor *executor;
    rota__inside inside; /* exec.E3: the executor may run the task here */
    rota__submission submission;
} inflight;

static void leave(void *arg)
{
    inflight *mine = arg;

    rota__submission_end(&mine->submission);
    rota__inside_leave(&mine->inside);
    rota__inflight_end(mine->executor);
}

int rota__submit_inflight(rota_executor *ex, rota_task *task, rota__action_queue *more)
{
    inflight mine = {.executor = ex};
    int status;

    rota__inside_enter(&mine.inside, ex);
    rota__submission_begin(&mine.submission, more != NULL ? rota__future_of(task) : NULL, more);
    ROTA__CLEANUP_BEGIN(leave, &mine); /* the body of the task may end this thread */
    status = rota__submit(ex, task, ROTA__AT_ONCE);
    ROTA__CLEANUP_END;
    return status;
}

/* -- A future ------------------------------------------------------------- */

int rota__finish_submit(rota_future *future, int status, rota_future **out)
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
    return rota__finish_submit(future, rota__submit(ex, &future->task, ROTA__AT_ONCE), out);
}

int rota_submit(rota_executor *ex, rota_fn *fn, void *arg, rota_future **out)
{
    return rota_submit_call(ex, &(rota_call){.fn = fn, .arg = arg}, out);
}

int rota_execute_task(rota_executor *ex, rota_task *task)
{
    if (ex == NULL || task == NULL)
        return ROTA_EINVAL;
    return rota__submit(ex, task, ROTA__AT_ONCE);
}
