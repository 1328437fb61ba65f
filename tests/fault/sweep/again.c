/* SPDX-License-Identifier: MIT */
/*
 * again.c - what is composed of calls, and of time.
 */
#include "compose/compose_internal.h" /* first: it has parameters that are called stage */

#include "sweep.h"

static void set_pool(void)
{
    sweep_waiting_pool.set();
}

static void strike_pool(void)
{
    rota__timer_end(ROTA_FOREVER);
    sweep_waiting_pool.strike();
}

static void nothing_has_run(void)
{
    test_check(stage.probe.runs + stage.probe.discards == 0);
}

static const sweep_scene waiting = {"waiting pool", set_pool, nothing_has_run, strike_pool};
static sweep_scenes a_pool = {&waiting, NULL};

/* -- Delayed ------------------------------------------------------------------------------ */

static int make_delayed(void)
{
    return rota_delayed(stage.pool, ROTA_US(10), &given.executor);
}

static void delayed_works(void)
{
    atomic_uint runs = 0;

    test_check(rota_execute(given.executor, test_count, &runs) == ROTA_OK);
    test_check(rota_close(given.executor) == ROTA_OK);
    test_await_count(&runs, 1);
}

/* An executor that waits first, and what is given to it. */
static rota_executor *delayed;

static void set_delayed(void)
{
    set_pool();
    test_check(rota_delayed(stage.pool, ROTA_US(10), &delayed) == ROTA_OK);
}

static void strike_delayed(void)
{
    test_check(rota_close(delayed) == ROTA_OK);
    strike_pool();
}

static const sweep_scene with_delay = {"delayed", set_delayed, nothing_has_run, strike_delayed};
static sweep_scenes a_delayed = {&with_delay, NULL};

static int submit_delayed(void)
{
    rota_call call = test_probe_call(&stage.probe);

    return rota_submit_call(delayed, &call, &given.future);
}

/* Without memory or a thread for it, when its time has come, it is discarded. */
static void it_ends(void)
{
    int status = rota_future_get(given.future, NULL);

    test_check(status == ROTA_OK || status == ROTA_ECANCELED);
    test_check(stage.probe.runs == (status == ROTA_OK));
    test_check(stage.probe.discards == (status != ROTA_OK));
    rota_future_unref(given.future);
}

/* -- Retries ------------------------------------------------------------------------------ */

static atomic_uint attempts;

static void *fail_at_first(void *arg)
{
    return atomic_fetch_add(&attempts, 1) == 0 ? rota_fail(7) : arg;
}

static int retry(void)
{
    const rota_retry_options options = {.attempts = 3, .first_delay = ROTA_US(10)};

    atomic_store(&attempts, 0);
    return rota_retry(stage.pool, &(rota_call){.fn = fail_at_first}, &options, &given.future);
}

/* It succeeds, or ends as the attempt after which there was no memory or thread for another. */
static void it_has_tried(void)
{
    int status = rota_future_get(given.future, NULL);

    test_check(attempts == 2 ? status == ROTA_OK : attempts == 1 && status == ROTA_EFAILED);
    rota_future_unref(given.future);
}

static int hedge(void)
{
    rota_call call = test_probe_call(&stage.probe);

    return rota_hedge(stage.pool, &call, ROTA_MINUTES(30), &given.future);
}

static void one_was_enough(void)
{
    test_check(rota_future_get(given.future, NULL) == ROTA_OK);
    rota_future_unref(given.future);
}

static const sweep_row rows[] = {
    {"rota_delayed", a_pool, make_delayed, delayed_works, SWEEP_NEEDS_MEMORY},
    {"rota_submit_call", a_delayed, submit_delayed, it_ends,
     .may = {[SWEEP_MEMORY] = {ROTA_ENOMEM}, [SWEEP_THREAD] = {ROTA_EAGAIN}}},
    {"rota_retry", a_pool, retry, it_has_tried, SWEEP_NEEDS_MEMORY},
    {"rota_hedge", a_pool, hedge, one_was_enough, SWEEP_NEEDS_MEMORY},
};
SWEEP_PART(sweep_again, rows);
