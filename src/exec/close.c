/* SPDX-License-Identifier: MIT */
/*
 * close.c - shuts an executor down, waits for its end and frees it.
 */
#include "exec/exec_internal.h"

#include "base/time.h"

/* Waits and ignores interrupts. Sets *interrupted if there was one. */
static int await_deaf(rota_executor *ex, rota_ns timeout, bool *interrupted)
{
    rota_ns deadline = rota__deadline(timeout);
    int status;

    while ((status = ex->ops->await_termination(ex, rota__time_left(deadline)))
           == ROTA_EINTERRUPTED)
        *interrupted = true;
    return status;
}

/* Restores an interrupt that the wait has ignored, for the calling task only (INT-08). */
static void restore_interrupt(bool interrupted)
{
    if (interrupted)
        rota_thread_interrupt(rota__self());
}

int rota_close(rota_executor *ex)
{
    bool interrupted = false;

    if (ex == NULL)
        return ROTA_EINVAL;
    if (rota__is_inside(ex))
        return ROTA_EDEADLOCK;
    size_t dropped;
    int status = ex->ops->shutdown(ex, &dropped);
    if (status == ROTA_OK)
        status = await_deaf(ex, ROTA_FOREVER, &interrupted);
    restore_interrupt(interrupted);
    return status == ROTA_OK ? rota_executor_free(ex) : status;
}

/* Interrupts running tasks, discards queued ones, and adds their number to *dropped. */
static int stop(rota_executor *ex, size_t *dropped)
{
    size_t count = 0;
    int status = ex->ops->shutdown_now(ex, NULL, &count);

    *dropped += count;
    return status;
}

static int end_within(rota_executor *ex, rota_ns grace, size_t *dropped, bool *interrupted)
{
    int status = ex->ops->shutdown(ex, dropped);

    if (status != ROTA_OK)
        return status;
    status = ex->ops->await_termination(ex, grace);
    if (status == ROTA_EINTERRUPTED)
        *interrupted = true;
    else if (status != ROTA_ETIMEDOUT)
        return status;
    status = stop(ex, dropped);
    return status == ROTA_OK ? await_deaf(ex, grace, interrupted) : status;
}

int rota_close_within(rota_executor *ex, rota_ns grace, size_t *dropped)
{
    bool interrupted = false;
    size_t count = 0;

    if (ex == NULL)
        return ROTA_EINVAL;
    if (rota__is_inside(ex))
        return ROTA_EDEADLOCK;
    int status = end_within(ex, grace, &count, &interrupted);
    restore_interrupt(interrupted);
    if (dropped != NULL)
        *dropped = count;
    return status == ROTA_OK ? rota_executor_free(ex) : status;
}
