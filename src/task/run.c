/* SPDX-License-Identifier: MIT */
/*
 * run.c - the call of a task's body, and its failure.
 */
#include "task/task_internal.h"

#include "base/check.h"
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

#define LEFT "a task was left by longjmp: it must return, or end its thread"

void rota__run_body(rota__run *run)
{
    const rota__execution *outer = run->execution.outer;

    /* Stacks grow down: what lies deeper than the run that begins was left. */
    ROTA__DEMAND(!ROTA__FRAMES_ARE_STACKED || outer == &run->execution.thread->outermost
                     || (uintptr_t)run < (uintptr_t)outer,
                 LEFT);
    rota__os_guarded(call_body, torn, run);
    ROTA__DEMAND(run->execution.thread->current == &run->execution, LEFT);
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
