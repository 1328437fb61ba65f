/* SPDX-License-Identifier: MIT */
/*
 * get.c - waiting for a future, and looking at it.
 */
#include "future/future_internal.h"

#include "base/time.h"
#include "base/trace.h"
#include "future/future_state.h"

/* What a done future answers. */
static int report(const rota_future *future, future_phase phase, void **result)
{
    if (phase == FUTURE_NORMAL) {
        if (result != NULL)
            *result = future->result;
        return ROTA_OK;
    }
    return phase == FUTURE_FAILED ? ROTA_EFAILED : ROTA_ECANCELED;
}

/* -- Waiting -------------------------------------------------------------- */

/* What is waited for is often done sooner than a thread is asleep. */
static bool spin(rota__waiter *waiter)
{
    rota__spin_budget *budget = &waiter->thread->spin;
    rota_ns length = rota__spin_budget_get(budget);

    if (length == 0)
        return false;
    bool is_woken = rota__waiter_spin(waiter, length);
    rota__spin_budget_update(budget, length, is_woken);
    return is_woken;
}

static bool withdraw(rota__waiter *waiter, int why)
{
    rota__getter *getter = ROTA__CONTAINER(waiter, rota__getter, waiter);

    (void)why;
    return rota__future_remove(getter->future, &getter->action);
}

/* -- Helping -------------------------------------------------------------- */

static rota_task *take(rota_future *future, const rota__helper *helper, rota_ns *ready_at)
{
    *ready_at = ROTA_FOREVER;
    if (rota_future_state_of(future) != ROTA_FUTURE_PENDING)
        return NULL;
    return helper->take(helper, future, ready_at);
}

bool rota__future_help(rota_future *future, const rota__helper *helper, rota_ns *ready_at)
{
    rota_task *task = take(future, helper, ready_at);

    if (task == NULL)
        return rota_future_state_of(future) == ROTA_FUTURE_PENDING
               && helper->run_others(helper, future);
    helper->run(helper, task);
    return true;
}

static const rota__helper *helper_of(const rota_thread *self)
{
    if (self->helper != NULL)
        return self->helper;
    return rota__load_acquire(&rota__anyones_helper); /* pairs with the thread that sets it */
}

/* Takes the getter back because its thread has something better to do than wait. */
static void stop_waiting(rota__getter *getter)
{
    if (withdraw(&getter->waiter, ROTA_EAGAIN))
        rota__waiter_cancel(&getter->waiter);
    else
        rota__waiter_wait_uninterruptible(&getter->waiter); /* wait.K2: a waker has it */
}

/*
 * Waits until the future is done: ROTA_OK. ROTA_EAGAIN: the worker may be able to help now. The task
 * may have come into the worker's queue just before other threads could see the getter, so the worker
 * looks once more. If the task comes later, rota__future_moved pokes the worker.
 */
static int wait_for(rota_future *future, const rota__helper *helper, rota_ns deadline)
{
    rota__getter getter = {.action = {.run = NULL}, .future = future};
    rota_ns ready_at = ROTA_FOREVER;
    int status = rota__waiter_begin(&getter.waiter, deadline);

    if (status != ROTA_OK)
        return status;
    if (helper != NULL)
        getter.waiter.poked = &getter.poked;
    if (!rota__future_add(future, &getter.action)) {
        rota__waiter_cancel(&getter.waiter);
        return ROTA_OK;
    }
    rota_task *task = helper != NULL ? take(future, helper, &ready_at) : NULL; /* future.F8a */
    if (task != NULL) {
        stop_waiting(&getter); /* the task may end its thread */
        helper->run(helper, task);
        return ROTA_EAGAIN;
    }
    if (spin(&getter.waiter))
        return ROTA_OK;
    status = rota__waiter_wait(&getter.waiter, ready_at < deadline ? ready_at : deadline, withdraw);
    return status == ROTA_ETIMEDOUT && ready_at < deadline ? ROTA_EAGAIN : status; /* FUT-07 */
}

/* ROTA_EAGAIN: the thread may go on helping, and waiting. */
static int check(rota_thread *self, rota_ns deadline)
{
    if (rota__take_interrupt(self))
        return ROTA_EINTERRUPTED;
    return rota__has_passed(deadline) ? ROTA_ETIMEDOUT : ROTA_EAGAIN;
}

/*
 * Waits until the future is done: ROTA_OK. A worker runs the task itself if the task is in the queue
 * of its own pool and due (EXEC-18), also if that happens while it waits.
 */
static int wait_and_help(rota_future *future, rota_ns deadline)
{
    rota_thread *self = rota__self();
    const rota__helper *helper = helper_of(self);
    int status = ROTA_EAGAIN;
    rota_ns ready_at;

    while (status == ROTA_EAGAIN) {
        bool has_helped = helper != NULL && rota__future_help(future, helper, &ready_at);
        if (rota_future_is_done(future))
            return ROTA_OK; /* even if the thread was interrupted meanwhile */
        status = has_helped ? check(self, deadline) : wait_for(future, helper, deadline);
    }
    return status;
}

static ROTA__NOINLINE int get_slow(rota_future *future, rota_ns timeout, void **result)
{
    future_phase phase = future_phase_settled(future);
    int status;

    if (phase != FUTURE_NEW)
        return report(future, phase, result);
    if (timeout <= 0)
        return wait_for(future, NULL,
                        rota__deadline(timeout)); /* only checks for an interrupt: INT-04 */
    if (rota__is_executing(future))
        return ROTA_EDEADLOCK;

    rota__future_pin(future); /* also if every holder lets go meanwhile: OWN-10 */
    const void *outer = rota__trace_waits(future, timeout == ROTA_FOREVER);
    status = wait_and_help(future, rota__deadline(timeout));
    rota__trace_waits(outer, true);
    if (status == ROTA_OK)
        status = report(future, future_phase_settled(future), result);
    rota__future_unpin(future);
    return status;
}

int rota_future_get_timed(rota_future *future, rota_ns timeout, void **result)
{
    if (future == NULL)
        return ROTA_EINVAL;
    if (ROTA__LIKELY(future_phase_in(future_state_load(future)) == FUTURE_NORMAL))
        return report(future, FUTURE_NORMAL, result);
    return get_slow(future, timeout, result);
}

int rota_future_get(rota_future *future, void **result)
{
    return rota_future_get_timed(future, ROTA_FOREVER, result);
}

/* -- Looking -------------------------------------------------------------- */

rota_future_state rota_future_state_of(const rota_future *future)
{
    if (future == NULL)
        return ROTA_FUTURE_CANCELED;
    uintptr_t state = future_state_settled(future);
    switch (future_phase_in(state)) {
    case FUTURE_NEW:
        if (future_runner_in(state) == NULL || future_runner_in(state) == &rota__visiting)
            return ROTA_FUTURE_PENDING;
        return ROTA_FUTURE_RUNNING;
    case FUTURE_NORMAL:
        return ROTA_FUTURE_SUCCEEDED;
    case FUTURE_FAILED:
        return ROTA_FUTURE_FAILED;
    case FUTURE_COMPLETING:
    case FUTURE_CANCELLED:
    case FUTURE_INTERRUPTING:
    case FUTURE_INTERRUPTED:
        break;
    }
    return ROTA_FUTURE_CANCELED;
}

bool rota_future_is_done(const rota_future *future)
{
    return future != NULL && future_phase_in(future_state_load(future)) != FUTURE_NEW;
}

int rota_future_error(const rota_future *future)
{
    if (future == NULL || future_phase_settled(future) != FUTURE_FAILED)
        return 0;
    return rota__load_relaxed(&future->task.error);
}
