/* SPDX-License-Identifier: MIT */
/*
 * run.c - the call of a task's body, and its failure.
 */
#include "task/task_internal.h"

#include "os/os.h"

void *rota_fail(int code)
{
    rota__execution *current = rota__self()->current;

    if (current->may_fail)
        current->error = code;
    return NULL;
}

static void call_body(void *arg)
{
    rota__run *run = arg;

    run->result = run->task->call.fn(run->task->call.arg);
}

/* The body ended its thread, whose stack is being unwound. */
static void torn(void *arg)
{
    rota__run *run = arg;

    run->execution.error = ROTA_ECANCELED;
    run->ended(run);
}

void rota__run_body(rota__run *run)
{
    rota__os_guarded(call_body, torn, run);
    run->ended(run);
}

/* -- Plain tasks ---------------------------------------------------------- */

struct plain_run {
    rota__run run;
    void (*ended)(rota_task *task, int error);
};

static void plain_ended(rota__run *run)
{
    struct plain_run *plain = ROTA__CONTAINER(run, struct plain_run, run);

    rota__execution_end(&run->execution);
    plain->ended(run->task, run->execution.error);
}

void rota__run_plain(rota_task *task, void (*ended)(rota_task *task, int error))
{
    struct plain_run plain = {.run = {.task = task, .ended = plain_ended}, .ended = ended};

    rota__execution_begin(&plain.run.execution, NULL);
    rota__run_body(&plain.run);
}
