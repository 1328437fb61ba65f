/* SPDX-License-Identifier: MIT */
/*
 * turn.c - one task on one thread, with what is called around it.
 */
#include "pool/pool_internal.h"

/* -- Foreign code --------------------------------------------------------- */

static void begin_apart(rota__execution *execution)
{
    rota__execution_begin(execution, NULL);
    execution->may_fail = false;
}

void rota__pool_call_apart(void (*hook)(void *ctx), void *ctx)
{
    rota__execution execution;

    if (hook == NULL)
        return;
    begin_apart(&execution);
    rota__store_relaxed(&execution.interrupted, 0); /* also of a pool that is stopped */
    hook(ctx);
    rota__execution_end(&execution);
}

/* -- Running a task ------------------------------------------------------- */

/* One task on one thread, with hooks and counts. On the stack. */
typedef struct turn {
    rota__pool *pool;
    rota__worker *worker; /* NULL: no worker runs it */
    rota_task *task;
    const rota__pool_rules *rules; /* the pool's, if it is the pool that runs it; or NULL */
    bool has_hooks;
    rota__execution execution; /* of the hooks, if there are any */
    bool has_begun;
    bool comes_again; /* is to be queued anew */
    int error;
} turn;

typedef struct plain_turn {
    rota__run run;
    turn *turn;
} plain_turn;

static void plain_ended(rota__run *run)
{
    plain_turn *plain = ROTA__CONTAINER(run, plain_turn, run);

    rota__execution_end(&run->execution);
    plain->turn->error = run->execution.error;
}

static void run_plain(turn *now)
{
    plain_turn plain = {.run = {.task = now->task, .ended = plain_ended}, .turn = now};

    rota__execution_begin(&plain.run.execution, NULL);
    rota__run_body(&plain.run);
}

static void run_bare(void *arg)
{
    turn *now = arg;

    now->has_begun = true;
    if (now->task->kind == ROTA__TASK_PLAIN)
        run_plain(now);
    else if (ROTA__LIKELY(now->rules == NULL))
        rota__future_run(rota__future_of(now->task));
    else
        now->comes_again = now->rules->run(now->pool, rota__future_of(now->task));
}

static void begin_and_run(void *arg)
{
    turn *now = arg;
    const rota_hooks *hooks = &now->pool->hooks;

    if (hooks->before_execute != NULL)
        hooks->before_execute(&now->pool->executor, now->task, hooks->ctx);
    run_bare(now);
}

static int outcome(turn *now)
{
    rota_future *future;

    if (now->task->kind == ROTA__TASK_PLAIN)
        return now->error == 0 ? ROTA_OK : ROTA_EFAILED;
    future = rota__future_of(now->task);
    now->error = rota_future_error(future);
    if (now->error != 0)
        return ROTA_EFAILED;
    return rota_future_state_of(future) == ROTA_FUTURE_CANCELED ? ROTA_ECANCELED : ROTA_OK;
}

static bool is_observed(const turn *now)
{
    return now->task->kind == ROTA__TASK_FUTURE && rota__future_is_held(rota__future_of(now->task));
}

static void tell_unobserved(const turn *now)
{
    const rota_hooks *hooks = &now->pool->hooks;

    if (hooks->unobserved_failure != NULL && !is_observed(now))
        hooks->unobserved_failure(&now->pool->executor, rota_task_call(now->task), now->error,
                                  hooks->ctx);
}

static void tell(turn *now)
{
    const rota_hooks *hooks = &now->pool->hooks;
    int status = outcome(now);

    if (hooks->after_execute != NULL)
        hooks->after_execute(&now->pool->executor, now->task, status, now->error, hooks->ctx);
    if (status == ROTA_EFAILED)
        tell_unobserved(now);
}

/* Only the worker itself writes its counts. */
static void count(turn *now, uint64_t change)
{
    rota__worker *worker = now->worker;

    if (worker != NULL) {
        rota__store_relaxed(&worker->counts, rota__load_relaxed(&worker->counts) + change);
    } else if (change != ROTA__ONE_RUNNING) {
        rota__mutex_lock(&now->pool->lock);
        now->pool->completed++;
        rota__mutex_unlock(&now->pool->lock);
    }
}

static void count_completed(turn *now)
{
    count(now, ROTA__ONE_COMPLETED - ROTA__ONE_RUNNING);
}

static void end_turn(turn *now)
{
    if (now->has_hooks) {
        tell(now);
        rota__execution_end(&now->execution);
    }
    count_completed(now);
    if (now->comes_again && now->rules->requeue(now->pool, rota__future_of(now->task)))
        return; /* it is not ours any more */
    if (now->rules != NULL)
        rota__pool_let_go(now->pool, now->task);
    rota__task_release(now->task);
}

/* The task, or the hook before it, ended the thread: GEN-14. */
static void turn_torn(void *arg)
{
    turn *now = arg;

    if (!now->has_begun && now->task->kind == ROTA__TASK_FUTURE)
        rota_future_cancel(rota__future_of(now->task));
    end_turn(now);
}

static void run(turn *now)
{
    const rota_hooks *hooks = &now->pool->hooks;

    now->has_hooks = hooks->before_execute != NULL || hooks->after_execute != NULL
                     || hooks->unobserved_failure != NULL;
    if (now->has_hooks)
        begin_apart(&now->execution);
    rota__os_guarded(begin_and_run, turn_torn, now);
    end_turn(now);
}

void rota__pool_run_task(rota__pool *pool, rota__worker *worker, rota_task *task)
{
    turn now = {.pool = pool, .worker = worker, .task = task, .rules = pool->rules};

    count(&now, ROTA__ONE_RUNNING);
    run(&now);
}

void rota__pool_run_first(rota__worker *worker)
{
    rota__pool *pool = worker->pool;
    turn now = {.pool = pool, .worker = worker, .task = worker->first, .rules = pool->rules};

    worker->first = NULL;
    if (now.task != NULL)
        run(&now); /* it has been counted since the worker began */
}

static void end_bare(void *arg)
{
    turn *now = arg;

    if (now->pool != NULL && outcome(now) == ROTA_EFAILED)
        tell_unobserved(now);
    rota__task_release(now->task);
}

void rota__pool_run_for_caller(rota__pool *pool, rota_task *task)
{
    turn now = {.pool = pool, .task = task};

    rota__os_guarded(run_bare, end_bare, &now);
    end_bare(&now);
}
