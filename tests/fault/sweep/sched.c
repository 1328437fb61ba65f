/* SPDX-License-Identifier: MIT */
#include "sweep.h"

#define FAR ROTA_HOURS(100) /* also for a clock that jumps */

static int make_sched(void)
{
    return rota_sched_new(&(rota_sched_options){.core_threads = 2}, &given.executor);
}

static void sched_works(void)
{
    atomic_uint runs = 0;

    test_check(rota_schedule(given.executor, test_count, &runs, 1, NULL) == ROTA_OK);
    test_check(rota_close(given.executor) == ROTA_OK);
    test_check(runs == 1);
}

/* -- Settings ----------------------------------------------------------------------------- */

static int options_get(void)
{
    rota_sched_options options;

    return rota_sched_options_get(stage.pool, &options);
}

static int drop_delayed(void)
{
    return rota_sched_set_drop_delayed_on_shutdown(stage.pool, true);
}

static int keep_periodic(void)
{
    return rota_sched_set_keep_periodic_after_shutdown(stage.pool, true);
}

static int keep_cancelled(void)
{
    return rota_sched_set_keep_cancelled(stage.pool, true);
}

/* -- Tasks -------------------------------------------------------------------------------- */

static int schedule_soon(void)
{
    rota_call call = test_probe_call(&stage.probe);

    return rota_schedule(stage.pool, call.fn, call.arg, ROTA_US(10), &given.future);
}

static void it_runs_once(void)
{
    sweep_open_gate();
    test_check(rota_future_get(given.future, NULL) == ROTA_OK);
    test_check(stage.probe.runs == 1);
    rota_future_unref(given.future);
}

static int schedule_call(void)
{
    rota_call call = test_probe_call(&stage.probe);

    return rota_schedule_call(stage.pool, &call, FAR, 0, &given.future);
}

static int at_fixed_rate(void)
{
    rota_call call = test_probe_call(&stage.probe);

    return rota_schedule_at_fixed_rate(stage.pool, call.fn, call.arg, 0, FAR, &given.future);
}

static int with_fixed_delay(void)
{
    rota_call call = test_probe_call(&stage.probe);

    return rota_schedule_with_fixed_delay(stage.pool, call.fn, call.arg, 0, FAR, &given.future);
}

static int skipping(void)
{
    rota_call call = test_probe_call(&stage.probe);

    return rota_schedule_skipping(stage.pool, &call, 0, FAR, &given.future);
}

static void is_cancelled(void)
{
    sweep_open_gate();
    rota_future_cancel(given.future);
    test_check(rota_future_get(given.future, NULL) == ROTA_ECANCELED);
    rota_future_unref(given.future);
}

static void repeats(void)
{
    sweep_open_gate();
    test_await_count(&stage.probe.runs, 1);
    test_check(!rota_future_is_done(given.future));
    is_cancelled();
}

/* With a full heap, whose growth needs memory, and a thread that waits for the first of it. */
static test_probe others;

static void set_full_heap(void)
{
    enum { FIRST_CAPACITY = 16 }; /* heap.c */
    rota_call call = {.fn = test_count, .arg = &others.runs};

    sweep_waiting_sched.set();
    others = (test_probe){.error = 0};
    for (int i = 0; i < FIRST_CAPACITY; i++)
        test_check(rota_schedule_call(stage.pool, &call, FAR, 0, NULL) == ROTA_OK);
    sweep_await_parked(stage.pool, 1);
}

static void heap_is_intact(void)
{
    test_check(stage.probe.runs + stage.probe.discards == 0);
    test_check(test_stats(stage.pool).queued == 16);
}

static void strike_full_heap(void)
{
    test_stop(stage.pool);
}

static const sweep_scene full_heap = {"full heap", set_full_heap, heap_is_intact, strike_full_heap};

static sweep_scenes scheds = {&sweep_idle_sched, &sweep_busy_sched, &sweep_waiting_sched,
                              &full_heap, NULL};

/* -- Futures ------------------------------------------------------------------------------ */

static void set_scheduled(void)
{
    sweep_idle_sched.set();
    test_check(rota_schedule(stage.pool, test_count, &others.runs, FAR, &stage.source) == ROTA_OK);
}

static void strike_scheduled(void)
{
    rota_future_unref(stage.source);
    test_stop(stage.pool);
}

static const sweep_scene scheduled = {"delayed task", set_scheduled, NULL, strike_scheduled};
static sweep_scenes a_delayed_task = {&scheduled, NULL};

static int delay_of(void)
{
    rota_ns delay = rota_future_delay(stage.source);

    return sweep_so(delay <= FAR);
}

static int is_periodic(void)
{
    return sweep_so(!rota_future_is_periodic(stage.source));
}

#define TAKES_A_TASK .may = {[SWEEP_MEMORY] = {ROTA_ENOMEM}, [SWEEP_THREAD] = {ROTA_EAGAIN}}

static const sweep_row rows[] = {
    {"rota_sched_new", sweep_nowhere, make_sched, sched_works, SWEEP_NEEDS_MEMORY},
    {"rota_schedule", scheds, schedule_soon, it_runs_once, TAKES_A_TASK},
    {"rota_schedule_call", scheds, schedule_call, is_cancelled, TAKES_A_TASK},
    {"rota_schedule_at_fixed_rate", scheds, at_fixed_rate, repeats, TAKES_A_TASK},
    {"rota_schedule_with_fixed_delay", scheds, with_fixed_delay, repeats, TAKES_A_TASK},
    {"rota_schedule_skipping", scheds, skipping, repeats, TAKES_A_TASK},
    {"rota_sched_options_get", sweep_a_sched, options_get, .is_quiet = true},
    {"rota_sched_set_drop_delayed_on_shutdown", sweep_a_sched, drop_delayed, .is_quiet = true},
    {"rota_sched_set_keep_periodic_after_shutdown", sweep_a_sched, keep_periodic, .is_quiet = true},
    {"rota_sched_set_keep_cancelled", sweep_a_sched, keep_cancelled, .is_quiet = true},
    {"rota_future_delay", a_delayed_task, delay_of},
    {"rota_future_is_periodic", a_delayed_task, is_periodic, .is_quiet = true},
};
SWEEP_PART(sweep_sched, rows);
