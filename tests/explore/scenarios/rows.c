/* SPDX-License-Identifier: MIT */
/*
 * rows.c - small rows of tests/combine: one executor, one work, one event, in every schedule. The job runs or is
 * discarded, once. The future ends with a status that the headers allow after the event.
 */
#include "explore.h"

#include <stddef.h>

static rota_executor *ex;
static rota_future *future;
static int ran, discarded, steps;

/* -- Jobs ------------------------------------------------------------------------------------- */

static void *run_job(void *arg)
{
    ran++;
    return arg;
}

static void discard_job(void *arg)
{
    (void)arg;
    discarded++;
}

static const rota_call job = {.fn = run_job, .discard = discard_job};

static void *step(void *value, void *arg)
{
    (void)arg;
    steps++;
    return value;
}

/* -- Executors -------------------------------------------------------------------------------- */

static void executor_fixed1(void)
{
    ex_check(rota_fixed_pool(1, &ex) == ROTA_OK);
}

static void executor_sched1(void)
{
    ex_check(rota_sched_new(&(rota_sched_options){.core_threads = 1}, &ex) == ROTA_OK);
}

static void executor_forkjoin1(void)
{
    ex_check(rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 1}, &ex) == ROTA_OK);
}

/* -- Works ------------------------------------------------------------------------------------ */

static void work_future(void)
{
    ex_check(rota_submit_call(ex, &job, &future) == ROTA_OK);
}

static void work_then(void)
{
    rota_future *source = NULL;

    ex_check(rota_submit_call(ex, &job, &source) == ROTA_OK);
    ex_check(rota_then(source, ex, step, NULL, &future) == ROTA_OK);
    rota_future_unref(source);
}

static void work_all_of(void)
{
    rota_future *source = NULL;

    ex_check(rota_submit_call(ex, &job, &source) == ROTA_OK);
    ex_check(rota_all_of(&source, 1, &future) == ROTA_OK);
    rota_future_unref(source);
}

/* -- Events, on a thread of their own ---------------------------------------------------------- */

static void event_cancel(void *unused)
{
    (void)unused;
    if (rota_future_cancel(future))
        ex_check(rota_future_get(future, NULL) == ROTA_ECANCELED);
}

static void event_cancel_now(void *unused)
{
    (void)unused;
    if (rota_future_cancel_now(future))
        ex_check(rota_future_get(future, NULL) == ROTA_ECANCELED);
}

static void event_shutdown(void *unused)
{
    (void)unused;
    ex_check(rota_shutdown(ex) == ROTA_OK);
}

static void event_shutdown_now(void *unused)
{
    rota_task_list drained = {NULL, 0};

    (void)unused;
    ex_check(rota_shutdown_now(ex, &drained) == ROTA_OK);
    for (size_t i = 0; i < drained.count; i++)
        rota_task_discard(drained.tasks[i]);
    rota_task_list_free(&drained);
}

/* -- Rows ------------------------------------------------------------------------------------- */

static void run_row(void (*executor)(void), void (*work)(void), void (*event)(void *unused))
{
    ran = discarded = steps = 0;
    executor();
    work();
    ex_thread *thread = ex_start(event, NULL);
    int status = rota_future_get(future, NULL);
    ex_join(thread);
    ex_check(rota_close(ex) == ROTA_OK);
    ex_check(ran + discarded == 1);
    if (status == ROTA_EFAILED) /* the executor refused the step */
        ex_check(rota_future_error(future) == ROTA_EREJECTED && work == work_then && steps == 0);
    else
        ex_check(status == ROTA_OK || (status == ROTA_ECANCELED && event != event_shutdown));
    ex_check(status != ROTA_OK || (ran == 1 && steps == (work == work_then)));
    rota_future_unref(future);
}

#define ROW(executor, work, event)                                \
    EXPLORE(row_##executor##_##work##_##event)                    \
    {                                                             \
        run_row(executor_##executor, work_##work, event_##event); \
    }

ROW(fixed1, future, cancel_now)
ROW(fixed1, future, shutdown_now)
ROW(fixed1, then, cancel)
ROW(fixed1, then, shutdown)
ROW(fixed1, then, shutdown_now)
ROW(fixed1, all_of, cancel)
ROW(sched1, future, cancel_now)
ROW(sched1, then, shutdown_now)
ROW(forkjoin1, future, cancel_now)
ROW(forkjoin1, then, shutdown)
ROW(forkjoin1, all_of, shutdown_now)
