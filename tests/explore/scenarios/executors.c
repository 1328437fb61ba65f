/* SPDX-License-Identifier: MIT */
/*
 * executors.c - the executor interface: submit, shut down, invoke all, invoke any.
 */
#include "base/atomic.h"
#include "explore.h"

/* -- Executors ------------------------------------------------------------------------------- */

static int run_here(void *self, rota_task *task)
{
    (void)self;
    rota_task_run(task);
    return ROTA_OK;
}

/* Each task on a thread of its own, as many as a schedule has room for. */
static ex_thread *started[6];
static int started_count;

static void run_task(void *task)
{
    rota_task_run(task);
}

static int run_there(void *self, rota_task *task)
{
    (void)self;
    started[started_count++] = ex_start(run_task, task);
    return ROTA_OK;
}

static rota_executor *new_executor(int (*execute)(void *self, rota_task *task))
{
    rota_executor *executor = NULL;

    started_count = 0;
    ex_check(rota_executor_new(&(rota_executor_ops){.execute = execute}, NULL, &executor)
             == ROTA_OK);
    return executor;
}

static void join_started(void)
{
    for (int i = 0; i < started_count; i++)
        ex_join(started[i]);
}

/* -- Tasks ----------------------------------------------------------------------------------- */

static int ran[3], discarded[3];

static void *count_run(void *arg)
{
    ran[(int *)arg - ran]++;
    return arg;
}

static void *run_and_fail(void *arg)
{
    count_run(arg);
    return rota_fail(5);
}

static void *sleep_and_count(void *arg)
{
    rota_sleep(ROTA_FOREVER);
    return count_run(arg);
}

static void count_discard(void *arg)
{
    discarded[(int *)arg - ran]++;
}

static rota_call call_of(rota_fn *fn, int i)
{
    ran[i] = discarded[i] = 0;
    return (rota_call){.fn = fn, .arg = &ran[i], .discard = count_discard};
}

/* -- Shutting down --------------------------------------------------------------------------- */

static int submit_status;
static rota__atomic(uint32_t) accepted, runs;

static void *count_run_atomically(void *arg)
{
    rota__add_relaxed(&runs, 1);
    return arg;
}

static bool ended; /* plain: what runs is before the end, or a data race is found */

static void *run_before_the_end(void *arg)
{
    ex_check(!ended);
    return count_run(arg);
}

static void submit_one(void *executor)
{
    rota_call call = call_of(run_before_the_end, 0);

    submit_status = rota_submit_call(executor, &call, NULL);
}

/* EXEC-17, OWN-05: accepted and run, or refused and untouched; closed only when nobody is inside. */
EXPLORE(submit_meets_close)
{
    rota_executor *executor = new_executor(run_here);

    ended = false;
    ex_thread *submitter = ex_start(submit_one, executor);
    ex_check(rota_shutdown(executor) == ROTA_OK);
    ex_check(rota_await_termination(executor, ROTA_FOREVER) == ROTA_OK);
    ended = true;
    ex_join(submitter);
    ex_check(submit_status == (ran[0] == 1 ? ROTA_OK : ROTA_EREJECTED));
    ex_check(discarded[0] == 0);
    ex_check(rota_close(executor) == ROTA_OK);
}

static void submit_counted(void *executor)
{
    int status = rota_execute(executor, count_run_atomically, NULL);

    ex_check(status == ROTA_OK || status == ROTA_EREJECTED);
    if (status == ROTA_OK)
        rota__add_relaxed(&accepted, 1);
}

/* custom.U1, FAULT-49: many at once are all inside, or, where the count is narrow, refused. */
EXPLORE(three_submit_at_once)
{
    rota_executor *executor = new_executor(run_here);

    rota__store_relaxed(&accepted, 0);
    rota__store_relaxed(&runs, 0);
    ex_thread *first = ex_start(submit_counted, executor);
    ex_thread *second = ex_start(submit_counted, executor);
    submit_counted(executor);
    ex_check(rota_shutdown(executor) == ROTA_OK);
    ex_check(rota_await_termination(executor, ROTA_FOREVER) == ROTA_OK);
    ex_join(first);
    ex_join(second);
    ex_check(rota__load_relaxed(&accepted) == rota__load_relaxed(&runs));
    ex_check(rota_executor_free(executor) == ROTA_OK);
}

static void shut_down(void *executor)
{
    ex_check(rota_shutdown(executor) == ROTA_OK);
}

/* EXEC-17: two shut down, a third waits for the end. */
EXPLORE(two_shutdowns_and_an_awaiter)
{
    rota_executor *executor = new_executor(run_here);
    ex_thread *first = ex_start(shut_down, executor);
    ex_thread *second = ex_start(shut_down, executor);

    ex_check(rota_await_termination(executor, ROTA_FOREVER) == ROTA_OK);
    ex_check(rota_is_terminated(executor));
    ex_join(first);
    ex_join(second);
    ex_check(rota_executor_free(executor) == ROTA_OK);
}

/* -- Many at once ---------------------------------------------------------------------------- */

/* EXEC-05, EXEC-07: all are done when it returns, whatever the time does. */
EXPLORE(invoke_all_meets_its_deadline)
{
    rota_executor *executor = new_executor(run_there);
    rota_call calls[2] = {call_of(count_run, 0), call_of(run_and_fail, 1)};
    rota_future *futures[2] = {NULL, NULL};
    int status = rota_invoke_all(executor, calls, 2, ROTA_MS(5), futures);

    ex_check(status == ROTA_OK || status == ROTA_ETIMEDOUT);
    for (int i = 0; i < 2; i++) {
        ex_check(rota_future_is_done(futures[i]));
        rota_future_unref(futures[i]);
    }
    join_started();
    for (int i = 0; i < 2; i++)
        ex_check(ran[i] + discarded[i] == 1);
    ex_check(rota_close(executor) == ROTA_OK);
}

/* EXEC-09, EXEC-16: one success; every call meets its body or its discard, once. */
EXPLORE(invoke_any_takes_the_first_success)
{
    rota_executor *executor = new_executor(run_there);
    rota_call calls[2] = {call_of(run_and_fail, 0), call_of(count_run, 1)};
    rota_future *first = NULL;

    ex_check(rota_invoke_any(executor, calls, 2, ROTA_FOREVER, &first) == ROTA_OK);
    ex_check(rota_future_state_of(first) == ROTA_FUTURE_SUCCEEDED);
    rota_future_unref(first);
    join_started();
    for (int i = 0; i < 2; i++)
        ex_check(ran[i] + discarded[i] == 1);
    ex_check(rota_close(executor) == ROTA_OK);
}

static void interrupt(void *thread)
{
    rota_thread_interrupt(thread);
}

/* EXEC-13, EXEC-09: the loser is interrupted; so is the caller. */
EXPLORE(invoke_any_is_interrupted)
{
    rota_executor *executor = new_executor(run_there);
    rota_call calls[1] = {call_of(sleep_and_count, 0)};
    rota_future *first = NULL;
    ex_thread *other = ex_start(interrupt, rota_thread_self());

    ex_check(rota_invoke_any(executor, calls, 1, ROTA_FOREVER, &first) == ROTA_EINTERRUPTED);
    ex_check(first == NULL && !rota_is_interrupted());
    ex_join(other);
    join_started();
    ex_check(ran[0] + discarded[0] == 1);
    ex_check(rota_close(executor) == ROTA_OK);
}

/* GEN-10, EXEC-16: refusals lose nothing. */
EXPLORE_WITH_FAULTS(submitting_survives_refusals)
{
    rota_executor *executor;
    rota_call calls[2] = {call_of(run_and_fail, 0), call_of(count_run, 1)};
    rota_future *first = NULL;

    if (rota_executor_new(&(rota_executor_ops){.execute = run_here}, NULL, &executor) != ROTA_OK)
        return;
    int status = rota_invoke_any(executor, calls, 2, ROTA_FOREVER, &first);
    ex_check(status == ROTA_OK || status == ROTA_ENOMEM);
    ex_check(ran[0] + discarded[0] == (status == ROTA_OK) && ran[1] == (status == ROTA_OK));
    rota_future_unref(first);
    status = rota_close(executor);
    ex_check(status == ROTA_OK);
}
