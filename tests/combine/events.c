/* SPDX-License-Identifier: MIT */
/*
 * events.c - what happens to a row from outside, and the choices that only set flags. event_NAME is called twice: with
 * false before the row starts, and with true when the event happens.
 */
#include "combine.h"

/* -- Settings, moments and starts ----------------------------------------------------------------------- */

void setting_bare(void)
{
}

/* The executor has hooks, if it can have some. */
void setting_hooks(void)
{
    row.hooks = true;
}

/* Composed futures own their sources. */
void setting_own(void)
{
    row.owns = true;
}

/* The event happens when the job runs. */
void moment_running(void)
{
}

/* All threads of the executor are held until the event has happened. */
void moment_queued(void)
{
    row.queued = true;
}

/* The waiter starts the work and then waits. */
void start_first(void)
{
}

/* The waiter waits for a chain whose step starts the work. */
void start_late(void)
{
    row.late = true;
}

/* -- Events ----------------------------------------------------------------------------------------------- */

void event_none(bool happens)
{
    (void)happens;
}

/* Notes which jobs the event must interrupt. */
static void expect_interrupts(bool of_all)
{
    for (int i = 0; i < atomic_load(&row.job_count); i++) {
        job *self = &row.jobs[i];
        bool runs = atomic_load(&self->begun) > atomic_load(&self->ended);
        if (runs && (of_all ? self->is_task : self == row.main))
            atomic_store(&self->is_stopped, true);
    }
}

static void cancel(bool happens, bool now)
{
    row.may_cancel = true;
    if (now || row.owns)
        row.may_interrupt = true;
    rota_future *future = happens ? row_future() : NULL;
    if (future == NULL)
        return;
    bool reaches = !row.is_composed || (row.owns && row.is_source);
    if (reaches && (now || row.owns) && !row.may_lose && row.main->is_task
        && !rota_future_is_done(future))
        expect_interrupts(false);
    cancel_future(future, now);
    rota_future_unref(future);
}

void event_cancel(bool happens)
{
    cancel(happens, false);
}

void event_cancel_now(bool happens)
{
    cancel(happens, true);
}

void event_shutdown(bool happens)
{
    row.may_refuse = row.may_cancel = true;
    if (happens && !atomic_load(&row.closed))
        check_status("rota_shutdown", rota_shutdown(row.ex),
                     row.is_common ? ROTA_ENOTSUP : ROTA_OK);
}

/* The tasks that were not started are discarded. None starts after that. */
void event_shutdown_now(bool happens)
{
    rota_task_list drained = {NULL, 0};

    row.may_refuse = row.may_cancel = row.may_interrupt = true;
    row.stops = !row.is_common;
    if (!happens || atomic_load(&row.closed))
        return;
    if (!row.is_user && !row.is_delayed && !row.is_common)
        expect_interrupts(true);
    check_status("rota_shutdown_now", rota_shutdown_now(row.ex, &drained),
                 row.is_common ? ROTA_ENOTSUP : ROTA_OK);
    for (size_t i = 0; i < drained.count; i++)
        rota_task_discard(drained.tasks[i]);
    rota_task_list_free(&drained);
    if (row.is_delayed && row.queued && !row.is_inside && row.main->is_call
        && atomic_load(&row.main->accepted) && atomic_load(&row.main->begun) == 0
        && atomic_load(&row.main->discarded) == 0 && !row.has_steps)
        fail("rota_shutdown_now does not hand over a task that has not started");
}

void event_close_within(bool happens)
{
    size_t dropped = 0;
    int before = 0, after = 0;

    row.may_refuse = row.may_cancel = row.may_interrupt = row.closes = true;
    row.stops = !row.is_common;
    if (!happens || atomic_load(&row.closed))
        return;
    for (int i = 0; i < atomic_load(&row.job_count); i++)
        before += atomic_load(&row.jobs[i].discarded);
    if (!row.is_user && !row.is_delayed && !row.is_common)
        expect_interrupts(true);
    int status = rota_close_within(row.ex, ROTA_MS(5), &dropped);
    for (int i = 0; i < atomic_load(&row.job_count); i++)
        after += atomic_load(&row.jobs[i].discarded);
    if (status == ROTA_OK)
        atomic_store(&row.closed, true);
    else if (status != ROTA_ETIMEDOUT)
        check_status("rota_close_within", status, row.is_common ? ROTA_ENOTSUP : ROTA_OK);
    if (after - before > (int)dropped)
        fail("rota_close_within counts too few discarded tasks");
}

/* From before the work is started, if the row is a queued one, until the row releases its jobs. */
void event_refused_thread(bool happens)
{
    row.may_starve = row.runs_inline = true;
    row.may_refuse = true; /* a pool without a queue has no room then */
    if (happens)
        refuse_threads(true);
}

void event_refused_memory(bool happens)
{
    row.may_starve = row.may_cancel = true;
    if (happens)
        refuse_memory(true);
}

/* A timeout of the future. If futures own their sources, the timeout cancels and interrupts the work. */
void event_timeout(bool happens)
{
    rota_future *future = happens ? row_future() : NULL, *timed = NULL;

    if (row.owns)
        row.may_cancel = row.may_interrupt = true;
    if (future == NULL)
        return;
    check_status("rota_timeout", rota_timeout(future, ROTA_MS(5), &timed), ROTA_OK);
    if (row.owns)
        check_status("rota_future_own", rota_future_own(timed), ROTA_OK);
    int status = rota_future_get(timed, NULL);
    if (!rota_future_is_done(future)
        && (status != ROTA_EFAILED || rota_future_error(timed) != ROTA_ETIMEDOUT))
        fail("a timeout ends with %s", rota_strerror(status));
    if (row.owns && rota_future_error(timed) == ROTA_ETIMEDOUT
        && (!row.is_composed || row.is_source) && !row.may_lose && row.main->is_task
        && !rota_future_is_done(future))
        expect_interrupts(false);
    rota_future_unref(timed);
    rota_future_unref(future);
}

/* Two threads, then one. */
void event_resize(bool happens)
{
    row.may_refuse = true; /* without a queue, one thread is not enough */
    if (!happens || atomic_load(&row.closed))
        return;
    rota_pool_stats stats;
    if (rota_pool_set_max_threads(row.ex, 2) == ROTA_OK)
        rota_pool_set_core_threads(row.ex, 2);
    rota_pool_stats_get(row.ex, &stats);
    if (rota_pool_set_core_threads(row.ex, 1) == ROTA_OK)
        rota_pool_set_max_threads(row.ex, 1);
    rota_pool_set_keep_alive(row.ex, ROTA_MS(1));
}
