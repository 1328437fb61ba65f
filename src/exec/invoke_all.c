/* SPDX-License-Identifier: MIT */
/*
 * invoke_all.c - submits several calls and waits until all of them are done.
 */
#include "exec/exec_internal.h"

#include "base/alloc.h"
#include "base/time.h"

#include <string.h>

bool rota__calls_are_valid(const rota_call *calls, size_t n)
{
    if (calls == NULL)
        return n == 0;
    for (size_t i = 0; i < n; i++) {
        if (calls[i].fn == NULL)
            return false;
    }
    return true;
}

int rota__late_status(int status, size_t submitted)
{
    bool nothing_happened = status == ROTA_EINVAL || status == ROTA_ENOMEM;

    if (status == ROTA_EFAILED || status == ROTA_ECANCELED)
        return ROTA_EREJECTED; /* these two statuses describe calls that have run */
    return nothing_happened && submitted > 0 ? ROTA_EAGAIN : status;
}

/* The calls of one rota_invoke_all. The executor has accepted the first `submitted` of them. */
struct batch {
    rota_executor *ex;
    rota_future **futures;
    size_t n;
    size_t submitted;
    rota_ns deadline;
};

/* Frees futures whose tasks were not submitted. */
static void unmake(rota_future **futures, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        rota__future_refuse(futures[i]);
        rota_future_unref(futures[i]);
    }
}

static int make(struct batch *batch, const rota_call *calls)
{
    for (size_t i = 0; i < batch->n; i++) {
        batch->futures[i] = rota__future_new(&calls[i], true, sizeof(rota_future));
        if (batch->futures[i] == NULL) {
            unmake(batch->futures, i);
            return ROTA_ENOMEM;
        }
    }
    return ROTA_OK;
}

static int submit_all(struct batch *batch)
{
    while (batch->submitted < batch->n) {
        if (rota__has_passed(batch->deadline)) /* EXEC-08 */
            return ROTA_ETIMEDOUT;
        rota_task *task = &batch->futures[batch->submitted]->task;
        int status = rota__submit(batch->ex, task, ROTA__AT_ONCE);
        if (status != ROTA_OK)
            return rota__late_status(status, batch->submitted);
        batch->submitted++;
    }
    return ROTA_OK;
}

static int wait_for_all(const struct batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        rota_ns timeout = rota__time_left(batch->deadline);
        int status = rota_future_get_timed(batch->futures[i], timeout, NULL);
        if (status != ROTA_OK && status != ROTA_EFAILED && status != ROTA_ECANCELED)
            return rota__late_status(status, batch->n);
    }
    return ROTA_OK;
}

/* Cancels all futures that are not done, and returns their number. */
static size_t cancel_all(struct batch *batch)
{
    size_t ended = 0;

    for (size_t i = 0; i < batch->n; i++) {
        if (i < batch->submitted) {
            ended += rota_future_cancel_now(batch->futures[i]);
        } else {
            rota_task_discard(&batch->futures[i]->task);
            ended++;
        }
    }
    batch->submitted = batch->n;
    return ended;
}

static int run_batch(struct batch *batch)
{
    int status = submit_all(batch);

    if (status == ROTA_OK)
        status = wait_for_all(batch);
    if (status == ROTA_OK)
        return ROTA_OK;
    if (status == ROTA_EINVAL || status == ROTA_ENOMEM) { /* nothing has happened */
        unmake(batch->futures, batch->n);
        return status;
    }
    size_t ended = cancel_all(batch);
    if (status == ROTA_ETIMEDOUT)
        return ended > 0 ? ROTA_ETIMEDOUT : ROTA_OK; /* all may have ended meanwhile */
    for (size_t i = 0; i < batch->n; i++)
        rota_future_unref(batch->futures[i]);
    return status;
}

int rota_invoke_all(rota_executor *ex, const rota_call *calls, size_t n, rota_ns timeout,
                    rota_future **futures)
{
    if (ex == NULL || (futures == NULL && n > 0) || !rota__calls_are_valid(calls, n))
        return ROTA_EINVAL;
    if (n == 0)
        return ROTA_OK;
    struct batch batch = {.ex = ex, .n = n, .deadline = rota__deadline(timeout)};
    batch.futures = rota__alloc_array(n, sizeof *futures);
    if (batch.futures == NULL)
        return ROTA_ENOMEM;
    int status = make(&batch, calls);
    if (status == ROTA_OK)
        status = run_batch(&batch);
    if (status == ROTA_OK || status == ROTA_ETIMEDOUT)
        memcpy(futures, batch.futures, n * sizeof *futures);
    rota__free(batch.futures, n * sizeof *futures);
    return status;
}
