/* SPDX-License-Identifier: MIT */
/*
 * executor.c - what gives tasks to an executor.
 */
#include "sweep.h"

/* -- One task ----------------------------------------------------------------------------- */

static int execute(void)
{
    rota_call call = test_probe_call(&stage.probe);

    return rota_execute(stage.pool, call.fn, call.arg);
}

static void it_runs(void)
{
    sweep_open_gate();
    test_await_count(&stage.probe.runs, 1);
}

static int submit(void)
{
    rota_call call = test_probe_call(&stage.probe);

    return rota_submit(stage.pool, call.fn, call.arg, &given.future);
}

static int submit_call(void)
{
    rota_call call = test_probe_call(&stage.probe);

    return rota_submit_call(stage.pool, &call, &given.future);
}

static void its_future_is_done(void)
{
    it_runs();
    test_check(rota_future_get(given.future, NULL) == ROTA_OK);
    rota_future_unref(given.future);
}

/* -- A task that was handed out ----------------------------------------------------------- */

static void set_idle_and_task(void)
{
    sweep_idle_pool.set();
    stage.task = test_task(test_probe_call(&stage.probe), NULL);
}

static void set_busy_and_task(void)
{
    sweep_busy_forkjoin.set();
    stage.task = test_task(test_probe_call(&stage.probe), NULL);
}

static void task_is_ours(void)
{
    test_check(stage.probe.runs + stage.probe.discards == 0);
}

static void strike_idle(void)
{
    sweep_idle_pool.strike();
}

static void strike_busy(void)
{
    sweep_busy_forkjoin.strike();
}

static const sweep_scene idle_and_task = {"idle pool", set_idle_and_task, task_is_ours,
                                          strike_idle};
static const sweep_scene busy_and_task = {"busy fork/join", set_busy_and_task, task_is_ours,
                                          strike_busy};
static sweep_scenes with_task = {&idle_and_task, &busy_and_task, NULL};

static int execute_task(void)
{
    return rota_execute_task(stage.pool, stage.task);
}

/* -- Many --------------------------------------------------------------------------------- */

enum { CALLS = 3 };

static rota_future *futures[CALLS];

static void let_go_of(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        test_check(rota_future_is_done(futures[i]));
        rota_future_unref(futures[i]);
    }
}

static int invoke_all_within(rota_ns timeout)
{
    rota_call call = test_probe_call(&stage.probe);
    int status =
        rota_invoke_all(stage.pool, (rota_call[CALLS]){call, call, call}, CALLS, timeout, futures);

    if (status == ROTA_OK || status == ROTA_ETIMEDOUT)
        let_go_of(CALLS);
    if (status == ROTA_ENOMEM)
        test_check(stage.probe.runs + stage.probe.discards == 0);
    return status;
}

static int invoke_all(void)
{
    return invoke_all_within(ROTA_FOREVER);
}

static int invoke_all_timed(void)
{
    return invoke_all_within(ROTA_MINUTES(30));
}

static int invoke_any_within(rota_ns timeout)
{
    rota_call call = test_probe_call(&stage.probe);
    int status = rota_invoke_any(stage.pool, (rota_call[CALLS]){call, call, call}, CALLS, timeout,
                                 &futures[0]);

    if (status == ROTA_OK)
        let_go_of(1);
    if (status == ROTA_ENOMEM)
        test_check(stage.probe.runs + stage.probe.discards == 0);
    return status;
}

static int invoke_any(void)
{
    return invoke_any_within(ROTA_FOREVER);
}

static int invoke_any_timed(void)
{
    return invoke_any_within(ROTA_MINUTES(30));
}

/* Each call has run or was discarded, or will be, also those of a call that failed. */
static void all_are_accounted_for(void)
{
    sweep_open_gate();
    test_check(rota_close(stage.pool) == ROTA_OK);
    stage.pool = NULL;
    test_check(stage.probe.runs >= 1);
    test_check((stage.probe.runs + stage.probe.discards) % CALLS == 0);
}

/* -- One's own ---------------------------------------------------------------------------- */

static int run_here(void *self, rota_task *task)
{
    rota_task_run(task);
    return ROTA_OK;
}

static int make_executor(void)
{
    return rota_executor_new(&(rota_executor_ops){.execute = run_here}, NULL, &given.executor);
}

static void executor_works(void)
{
    atomic_uint runs = 0;

    test_check(rota_execute(given.executor, test_count, &runs) == ROTA_OK);
    test_check(runs == 1);
    test_check(rota_close(given.executor) == ROTA_OK);
}

/* -- Looking ------------------------------------------------------------------------------ */

static int describe(void)
{
    char line[200];

    return sweep_so(rota_executor_describe(stage.pool, line, sizeof line) > 0);
}

static int state_of(void)
{
    return sweep_so(rota_executor_state_of(stage.pool) == ROTA_RUNNING);
}

static int is_shutdown(void)
{
    return sweep_so(!rota_is_shutdown(stage.pool));
}

static int is_terminated(void)
{
    return sweep_so(!rota_is_terminated(stage.pool));
}

#define TAKES_A_TASK .may = {[SWEEP_MEMORY] = {ROTA_ENOMEM}, [SWEEP_THREAD] = {ROTA_EAGAIN}}
#define TAKES_MANY   [SWEEP_MEMORY] = {ROTA_ENOMEM}, [SWEEP_THREAD] = {ROTA_EAGAIN}

static const sweep_row rows[] = {
    {"rota_execute", sweep_executors, execute, it_runs, TAKES_A_TASK},
    {"rota_submit", sweep_executors, submit, its_future_is_done, TAKES_A_TASK},
    {"rota_submit_call", sweep_executors, submit_call, its_future_is_done, TAKES_A_TASK},
    {"rota_execute_task", with_task, execute_task, it_runs, TAKES_A_TASK},
    {"rota_invoke_all", sweep_changed_idle, invoke_all, all_are_accounted_for,
     .may = {TAKES_MANY, [SWEEP_EXIT] = {ROTA_EAGAIN}}},
    {"rota_invoke_all", sweep_changed_idle, invoke_all_timed, all_are_accounted_for,
     .may = {TAKES_MANY, [SWEEP_EXIT] = {ROTA_EAGAIN}, [SWEEP_JUMP] = {ROTA_ETIMEDOUT}}},
    {"rota_invoke_all", sweep_changed_busy, invoke_all, all_are_accounted_for, sweep_open_gate,
     .may = {[SWEEP_MEMORY] = {ROTA_ENOMEM}, [SWEEP_EXIT] = {ROTA_EAGAIN}}},
    {"rota_invoke_any", sweep_changed_idle, invoke_any, all_are_accounted_for,
     .may = {TAKES_MANY, [SWEEP_EXIT] = {ROTA_ENOMEM}}},
    {"rota_invoke_any", sweep_changed_idle, invoke_any_timed, all_are_accounted_for,
     .may = {TAKES_MANY, [SWEEP_EXIT] = {ROTA_ENOMEM}, [SWEEP_JUMP] = {ROTA_ETIMEDOUT}},
     .is_chance = true}, /* the first may have succeeded before it looks at the clock */
    {"rota_invoke_any", sweep_changed_busy, invoke_any, all_are_accounted_for, sweep_open_gate,
     .may = {[SWEEP_MEMORY] = {ROTA_ENOMEM}, [SWEEP_EXIT] = {ROTA_ENOMEM}}},
    {"rota_executor_new", sweep_nowhere, make_executor, executor_works, SWEEP_NEEDS_MEMORY},
    {"rota_executor_describe", sweep_executors, describe, .is_quiet = true},
    {"rota_executor_state_of", sweep_executors, state_of, .is_quiet = true},
    {"rota_is_shutdown", sweep_executors, is_shutdown, .is_quiet = true},
    {"rota_is_terminated", sweep_executors, is_terminated, .is_quiet = true},
};
SWEEP_PART(sweep_executor, rows);
