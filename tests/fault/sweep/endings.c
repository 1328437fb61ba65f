/* SPDX-License-Identifier: MIT */
/*
 * endings.c - how executors end.
 */
#include "sweep.h"

/* -- Shutting down ------------------------------------------------------------------------ */

static int shut_down(void)
{
    return rota_shutdown(stage.pool);
}

static void it_is_shut_down(void)
{
    test_check(rota_is_shutdown(stage.pool));
}

static rota_task_list list;

static int shut_down_now(void)
{
    list = (rota_task_list){NULL, 77};
    int status = rota_shutdown_now(stage.pool, &list);
    test_check(status == ROTA_OK || list.count == 77);
    return status;
}

static void tasks_were_handed_over(void)
{
    for (size_t i = 0; i < list.count; i++)
        rota_task_discard(list.tasks[i]);
    rota_task_list_free(&list);
    test_check(rota_executor_state_of(stage.pool) >= ROTA_STOP);
}

static sweep_scenes all_waiting = {&sweep_waiting_pool, &sweep_waiting_forkjoin,
                                   &sweep_waiting_sched, NULL};

/* -- A list ------------------------------------------------------------------------------- */

static void set_list(void)
{
    sweep_busy_pool.set();
    test_check(rota_shutdown_now(stage.pool, &list) == ROTA_OK);
    test_check(list.count == 1);
    rota_task_discard(list.tasks[0]);
}

static void strike_list(void)
{
    sweep_busy_pool.strike();
}

static const sweep_scene handed_over = {"list", set_list, NULL, strike_list};
static sweep_scenes a_list = {&handed_over, NULL};

static int free_list(void)
{
    rota_task_list_free(&list);
    return sweep_so(list.count == 0 && list.tasks == NULL);
}

/* -- Waiting for the end ------------------------------------------------------------------ */

/* It has been shut down already, which may be repeated. */
static int await_end_for(rota_ns timeout)
{
    int status = rota_shutdown(stage.pool);

    return status == ROTA_OK ? rota_await_termination(stage.pool, timeout) : status;
}

static int await_end(void)
{
    return await_end_for(ROTA_FOREVER);
}

static int await_end_timed(void)
{
    return await_end_for(ROTA_MINUTES(30));
}

static int await_end_in_vain(void)
{
    return await_end_for(ROTA_MS(1));
}

static void it_has_ended(void)
{
    test_check(rota_is_terminated(stage.pool));
    test_check(stage.queued.runs == 1);
}

/* -- Closing ------------------------------------------------------------------------------ */

static int close_it(void)
{
    return rota_close(stage.pool);
}

static void it_is_closed(void)
{
    stage.pool = NULL;
    test_check(stage.queued.runs == 1);
}

static size_t dropped;

static int close_within(void)
{
    size_t count = 0;
    int status = rota_close_within(stage.pool, ROTA_MINUTES(30), &count);

    dropped += count;
    return status;
}

/* After the first grace it drops what is queued; fork/join pools do so without a count. */
static void it_is_closed_in_time(void)
{
    stage.pool = NULL;
    test_check(stage.queued.runs + stage.queued.discards == 1);
    test_check(dropped <= stage.queued.discards);
    dropped = 0;
}

static void set_terminated(void)
{
    sweep_idle_pool.set();
    test_check(rota_shutdown(stage.pool) == ROTA_OK);
}

static void strike_terminated(void)
{
    if (stage.pool != NULL)
        test_check(rota_executor_free(stage.pool) == ROTA_OK);
}

static const sweep_scene terminated = {"terminated pool", set_terminated, NULL, strike_terminated};
static sweep_scenes a_terminated = {&terminated, NULL};

static int free_it(void)
{
    return rota_executor_free(stage.pool);
}

static void it_is_gone(void)
{
    stage.pool = NULL;
}

static const sweep_row rows[] = {
    {"rota_shutdown", sweep_executors, shut_down, it_is_shut_down},
    {"rota_shutdown_now", all_waiting, shut_down_now, tasks_were_handed_over},
    {"rota_shutdown_now", sweep_changed_busy, shut_down_now, tasks_were_handed_over,
     SWEEP_NEEDS_MEMORY},
    {"rota_task_list_free", a_list, free_list, .is_quiet = true},
    {"rota_await_termination", sweep_changed_busy, await_end, it_has_ended, sweep_open_gate,
     SWEEP_NEEDS_TO_WAIT},
    {"rota_await_termination", sweep_changed_busy, await_end_timed, it_has_ended, sweep_open_gate,
     SWEEP_TIMED},
    {"rota_await_termination", sweep_changed_busy, await_end_in_vain, .status = ROTA_ETIMEDOUT,
     .least = ROTA_MS(1), SWEEP_NEEDS_TO_WAIT},
    {"rota_close", sweep_changed_busy, close_it, it_is_closed, sweep_open_gate,
     SWEEP_NEEDS_TO_WAIT},
    {"rota_close_within", sweep_changed_busy, close_within, it_is_closed_in_time, sweep_open_gate,
     SWEEP_TIMED},
    {"rota_executor_free", a_terminated, free_it, it_is_gone, .is_quiet = true},
};
SWEEP_PART(sweep_endings, rows);
