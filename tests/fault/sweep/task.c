/* SPDX-License-Identifier: MIT */
#include "sweep.h"

/* A task in the test's hands, for whose future a thread waits. */
static void set_task(void)
{
    stage.task = test_task(test_probe_call(&stage.probe), &stage.source);
    sweep_start_getter(stage.source);
}

static void strike_task(void)
{
    if (stage.task != NULL)
        rota_task_discard(stage.task);
    if (stage.getter.thread != NULL)
        sweep_getter_gets(ROTA_ECANCELED);
    rota_future_unref(stage.source);
    test_check(stage.probe.runs + stage.probe.discards == 1);
}

static const sweep_scene task = {"awaited task", set_task, NULL, strike_task};
static sweep_scenes a_task = {&task, NULL};

static int run_task(void)
{
    rota_task_run(stage.task);
    stage.task = NULL;
    return ROTA_OK;
}

static void it_has_run(void)
{
    sweep_getter_gets(ROTA_OK);
    test_check(stage.probe.runs == 1);
}

static int discard_task(void)
{
    rota_task_discard(stage.task);
    stage.task = NULL;
    return ROTA_OK;
}

static void it_was_discarded(void)
{
    sweep_getter_gets(ROTA_ECANCELED);
    test_check(stage.probe.discards == 1);
}

static int call_of(void)
{
    return sweep_so(rota_task_call(stage.task)->arg == &stage.probe);
}

static int future_of(void)
{
    return sweep_so(rota_task_future(stage.task) == stage.source);
}

static int fail_outside(void)
{
    return sweep_so(rota_fail(1) == NULL);
}

static const sweep_row rows[] = {
    {"rota_task_run", a_task, run_task, it_has_run},
    {"rota_task_discard", a_task, discard_task, it_was_discarded},
    {"rota_task_call", a_task, call_of, .is_quiet = true},
    {"rota_task_future", a_task, future_of, .is_quiet = true},
    {"rota_fail", sweep_nowhere, fail_outside, .is_quiet = true},
};
SWEEP_PART(sweep_task, rows);
