/* SPDX-License-Identifier: MIT */
/*
 * turn.c - one task on one thread, with what is called around it.
 */
#include "exec/exec_internal.h"

#include "os/os.h"

/* -- Foreign code --------------------------------------------------------- */

static void begin_apart(rota__execution *execution)
{
    rota__execution_begin(execution, NULL);
    execution->may_fail = false;
}

typedef struct apart {
    void (*hook)(void *ctx);
    void *ctx;
    rota__execution execution;
} apart;

static void call_hook(void *arg)
{
    const apart *now = arg;

    now->hook(now->ctx);
}

/* Also if the hook has ended the thread. */
static void end_apart(void *arg)
{
    rota__execution_end(&((apart *)arg)->execution);
}

void rota__call_apart(void (*hook)(void *ctx), void *ctx)
{
    apart now = {.hook = hook, .ctx = ctx};

    if (hook == NULL)
        return;
    begin_apart(&now.execution);
    rota__store_relaxed(&now.execution.interrupted, 0); /* also on a thread that is stopped */
    rota__os_guarded(call_hook, end_apart, &now);
    end_apart(&now);
}

/* -- Running a task ------------------------------------------------------- */

typedef struct plain_turn {
    rota__run run;
    rota__turn *turn;
} plain_turn;

static void plain_ended(rota__run *run)
{
    plain_turn *plain = ROTA__CONTAINER(run, plain_turn, run);

    rota__execution_end(&run->execution);
    plain->turn->error = run->execution.error;
}

static void run_plain(rota__turn *now)
{
    plain_turn plain = {.run = {.task = now->task, .ended = plain_ended}, .turn = now};

    rota__execution_begin(&plain.run.execution, NULL);
    rota__run_body(&plain.run);
}

static void run_bare(void *arg)
{
    rota__turn *now = arg;

    now->has_begun = true;
    if (now->task->kind == ROTA__TASK_PLAIN)
        run_plain(now);
    else if (ROTA__LIKELY(now->run == NULL))
        rota__future_run(rota__future_of(now->task));
    else
        now->run(now, rota__future_of(now->task));
}

static void begin_and_run(void *arg)
{
    rota__turn *now = arg;
    const rota_hooks *hooks = now->hooks;

    if (hooks->before_execute != NULL)
        hooks->before_execute(now->executor, now->task, hooks->ctx);
    run_bare(now);
}

/* -- What came of it ------------------------------------------------------ */

static int outcome(rota__turn *now)
{
    rota_future *future;

    if (now->task->kind == ROTA__TASK_PLAIN) {
        if (!now->has_begun)
            return ROTA_ECANCELED; /* the hook before it ended the thread */
        return now->error == 0 ? ROTA_OK : ROTA_EFAILED;
    }
    future = rota__future_of(now->task);
    now->error = rota_future_error(future);
    if (now->error != 0)
        return ROTA_EFAILED;
    return rota_future_state_of(future) == ROTA_FUTURE_CANCELED ? ROTA_ECANCELED : ROTA_OK;
}

static bool is_observed(const rota__turn *now)
{
    return now->task->kind == ROTA__TASK_FUTURE && rota__future_is_held(rota__future_of(now->task));
}

static void tell_unobserved(const rota__turn *now)
{
    const rota_hooks *hooks = now->hooks;

    if (hooks->unobserved_failure != NULL && !is_observed(now))
        hooks->unobserved_failure(now->executor, rota_task_call(now->task), now->error, hooks->ctx);
}

static void tell(rota__turn *now)
{
    const rota_hooks *hooks = now->hooks;
    int status = outcome(now);

    if (hooks->after_execute != NULL)
        hooks->after_execute(now->executor, now->task, status, now->error, hooks->ctx);
    if (status == ROTA_EFAILED)
        tell_unobserved(now);
}

/* An interrupt that the task has left is not for these (POOL-32), but for what comes after
   (thread.T1). */
static void tell_apart(void *arg)
{
    rota__turn *now = arg;
    rota__execution telling;

    begin_apart(&telling); /* which moves it into the one around */
    tell(now);
    rota__execution_end(&telling);
    rota__execution_end(&now->execution);
    if (ROTA__UNLIKELY(rota__load_relaxed(&now->execution.interrupted) != 0))
        rota__store_relaxed(&telling.thread->interrupted, 1);
}

/* A hook after the task ended the thread: the task has had its turn all the same. */
static void tell_torn(void *arg)
{
    rota__turn *now = arg;

    rota__execution_end(&now->execution);
    now->ended(now);
}

/* Whatever it was: is it one that failed? A series tells how it is, not how this run was. */
static bool has_failed(rota__turn *now)
{
    return !now->task->periodic && outcome(now) == ROTA_EFAILED;
}

static void end_span(rota__turn *now)
{
    ROTA__PROBE3(task__end, now->executor, now->task, now->task->call.name);
    if (ROTA__UNLIKELY(now->span != NULL))
        now->span->tracer->end(now->span, has_failed(now));
}

static void end_turn(rota__turn *now)
{
    end_span(now);
    if (now->has_hooks)
        rota__os_guarded(tell_apart, tell_torn, now);
    now->ended(now);
}

/* The task, or the hook before it, ended the thread: GEN-14. */
static void turn_torn(void *arg)
{
    rota__turn *now = arg;

    if (!now->has_begun && now->task->kind == ROTA__TASK_FUTURE)
        rota_future_cancel(rota__future_of(now->task));
    end_turn(now);
}

static void begin_span(rota__turn *now, rota__span *span)
{
    const rota__tracer *tracer = rota__tracer_now();

    ROTA__PROBE3(task__begin, now->executor, now->task, now->task->call.name);
    if (ROTA__LIKELY(tracer == NULL) || now->executor == NULL)
        return;
    rota__traced task = {.executor = now->executor,
                         .name = now->task->call.name,
                         .future = now->task->kind == ROTA__TASK_FUTURE ? now->task : NULL,
                         .stamp = rota__task_stamp(now->task),
                         .follows = !now->has_hooks && now->executor->ops->has_queue};
    span->tracer = tracer;
    now->span = span;
    tracer->begin(span, &task);
}

void rota__turn_run(rota__turn *now)
{
    const rota_hooks *hooks = now->hooks;
    rota__span span;

    now->has_hooks = hooks->before_execute != NULL || hooks->after_execute != NULL
                     || hooks->unobserved_failure != NULL;
    begin_span(now, &span);
    if (now->has_hooks)
        begin_apart(&now->execution);
    rota__os_guarded(begin_and_run, turn_torn, now);
    end_turn(now);
}

static void tell_bare(void *arg)
{
    tell_unobserved(arg);
}

static void end_telling(void *arg)
{
    rota__turn *now = arg;

    rota__execution_end(&now->execution);
    rota__task_release(now->task);
}

static void end_bare(void *arg)
{
    rota__turn *now = arg;

    end_span(now);
    if (now->hooks == NULL || outcome(now) != ROTA_EFAILED) {
        rota__task_release(now->task);
        return;
    }
    begin_apart(&now->execution); /* the caller may be a task, which is not the hook's to fail */
    rota__os_guarded(tell_bare, end_telling, now);
    end_telling(now);
}

void rota__turn_run_bare(rota__turn *now)
{
    rota__span span;

    begin_span(now, &span);
    rota__os_guarded(run_bare, end_bare, now);
    end_bare(now);
}
