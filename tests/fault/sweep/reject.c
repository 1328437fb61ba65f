/* SPDX-License-Identifier: MIT */
#include "sweep.h"

/* A task in the test's hands, and a pool that has no room for it. */
static void set_full(void)
{
    stage.pool = test_small_pool(1, 1, 1);
    test_fill(stage.pool, &stage.gate, &stage.queued, 1);
    stage.task = test_task(test_probe_call(&stage.probe), &stage.source);
    sweep_start_getter(stage.source);
}

static void is_ours(void)
{
    test_check(stage.probe.runs + stage.probe.discards == 0);
    test_check(stage.queued.runs + stage.queued.discards == 0);
}

static void strike(void)
{
    sweep_open_gate();
    sweep_getter_gets(stage.probe.discards == 1 ? ROTA_ECANCELED : ROTA_OK);
    rota_future_unref(stage.source);
    test_check(rota_close(stage.pool) == ROTA_OK);
    test_check(stage.probe.runs + stage.probe.discards == 1);
    test_check(stage.queued.runs + stage.queued.discards == 1);
}

static const sweep_scene full_pool = {"full pool", set_full, is_ours, strike};
static sweep_scenes full = {&full_pool, NULL};

static int abort_it(void)
{
    return rota_reject_abort(stage.pool, stage.task, NULL);
}

static void run_it(void)
{
    rota_task_run(stage.task);
}

static int caller_runs(void)
{
    return rota_reject_caller_runs(stage.pool, stage.task, NULL);
}

static void it_has_run(void)
{
    test_check(stage.probe.runs == 1);
}

static int discard(void)
{
    return rota_reject_discard(stage.pool, stage.task, NULL);
}

static void it_was_discarded(void)
{
    test_check(stage.probe.discards == 1);
}

static int discard_oldest(void)
{
    return rota_reject_discard_oldest(stage.pool, stage.task, NULL);
}

static void the_other_was_discarded(void)
{
    test_check(stage.queued.discards == 1);
    sweep_open_gate();
    test_await_count(&stage.probe.runs, 1);
}

static int block(void)
{
    return rota_reject_block(stage.pool, stage.task, NULL);
}

static void it_will_run(void)
{
    test_await_count(&stage.probe.runs, 1);
}

static const sweep_row rows[] = {
    {"rota_reject_abort", full, abort_it, run_it, .status = ROTA_EREJECTED, .is_quiet = true},
    {"rota_reject_caller_runs", full, caller_runs, it_has_run},
    {"rota_reject_discard", full, discard, it_was_discarded},
    {"rota_reject_discard_oldest", full, discard_oldest, the_other_was_discarded},
    {"rota_reject_block", full, block, it_will_run, sweep_open_gate, SWEEP_NEEDS_TO_WAIT},
};
SWEEP_PART(sweep_reject, rows);
