/* SPDX-License-Identifier: MIT */
/*
 * custom.c - an executor that consists of functions of the user's.
 *
 * The control word counts the threads that are inside the user's `execute` or `shutdown`, and says
 * whether the executor is shut down and terminated:
 *
 *   (nothing) -> SHUTDOWN                the first rota_shutdown; its thread enters in this step
 *   SHUTDOWN  -> SHUTDOWN | TERMINATED   no thread is inside, and the user's await_termination, if
 *                                        there is one, has returned ROTA_OK
 *
 *   custom.U1  No thread enters after SHUTDOWN is set: state and count change in one step. One
 *              value of the count is left for the shutdown itself, so the count never overflows.
 *   custom.U2  The last thread that leaves after the shutdown completes `drained`. A thread that
 *              waits for the end waits for that future first.
 *   custom.U3  The thread that completes `drained` has pinned it before, because another thread may
 *              free the executor as soon as the future is done.
 */
#include "exec/exec_internal.h"

#include "base/alloc.h"
#include "base/time.h"
#include "os/cleanup.h"
#include "os/os.h"

#include <stdio.h>

#ifdef ROTA_NARROW
#define INSIDE_BITS 2 /* so that tests reach the end of the count */
#else
#define INSIDE_BITS 30
#endif
#define INSIDE     ((UINT32_C(1) << INSIDE_BITS) - 1)
#define TERMINATED (UINT32_C(1) << INSIDE_BITS)
#define SHUTDOWN   (UINT32_C(2) << INSIDE_BITS)

typedef struct custom {
    rota_executor executor;
    rota_executor_ops ops; /* this field and the next two are fixed */
    void *self;
    rota_future *drained;       /* custom.U2 */
    rota__atomic(uint32_t) ctl; /* the functions of the next section only */
} custom;

static custom *custom_of(rota_executor *ex)
{
    return ROTA__CONTAINER(ex, custom, executor);
}

/* -- The control word ----------------------------------------------------- */

static bool enter(custom *own)
{
    uint32_t ctl = rota__load_acquire(&own->ctl);

    while (!(ctl & SHUTDOWN) && (ctl & INSIDE) < INSIDE - 1) { /* custom.U1 */
        if (rota__cas_acq_rel(&own->ctl, &ctl, ctl + 1))       /* custom.U1a */
            return true;
    }
    return false;
}

/* True if the caller is the first. The caller is then inside. */
static bool enter_and_shut(custom *own)
{
    uint32_t ctl = rota__load_acquire(&own->ctl);

    while (!(ctl & SHUTDOWN)) { /* custom.U1 */
        if (rota__cas_acq_rel(&own->ctl, &ctl, (ctl + 1) | SHUTDOWN))
            return true;
    }
    return false;
}

static void leave(custom *own)
{
    uint32_t emptied = own->ops.await_termination == NULL ? SHUTDOWN | TERMINATED : SHUTDOWN;
    uint32_t ctl = rota__load_acquire(&own->ctl);
    rota_future *drained = own->drained;

    while (ctl != (SHUTDOWN | 1)) {
        if (rota__cas_acq_rel(&own->ctl, &ctl, ctl - 1))
            return;
    }
    /* The last thread (custom.U2). No other thread is inside, and none enters (custom.U1). */
    rota__future_pin(drained); /* custom.U3 */
    rota__store_release(&own->ctl, emptied);
    rota_promise_complete(drained, NULL);
    rota__future_unpin(drained);
}

static void set_terminated(custom *own)
{
    rota__or_acq_rel(&own->ctl, TERMINATED);
}

/* -- The kind ------------------------------------------------------------- */

struct call {
    custom *own;
    rota__inside inside;
};

static void call_ended(void *arg)
{
    struct call *call = arg;

    rota__inside_leave(&call->inside);
    leave(call->own);
}

/* Calls the user's `execute`, or `shutdown` if `task` is NULL. */
static int call_inside(custom *own, rota_task *task)
{
    struct call call = {.own = own};
    int status = ROTA_OK;

    rota__inside_enter(&call.inside, &own->executor); /* exec.E3 */
    /* The user may run the task here, and the body of the task may end this thread. */
    ROTA__CLEANUP_BEGIN(call_ended, &call);
    if (task != NULL)
        status = own->ops.execute(own->self, task);
    else if (own->ops.shutdown != NULL)
        status = own->ops.shutdown(own->self);
    ROTA__CLEANUP_END;
    return status;
}

static int custom_submit(rota_executor *ex, rota_task *task, rota_ns due)
{
    custom *own = custom_of(ex);

    (void)due;
    return enter(own) ? call_inside(own, task) : ROTA_EREJECTED;
}

static int custom_shutdown(rota_executor *ex, size_t *dropped)
{
    custom *own = custom_of(ex);

    *dropped = 0; /* the user's functions do not report it */
    return enter_and_shut(own) ? call_inside(own, NULL) : ROTA_OK;
}

/* The library does not know the tasks that the user has queued. */
static int custom_shutdown_now(rota_executor *ex, rota_task_list *drained, size_t *count)
{
    rota__task_slist none = {0};
    int status = custom_shutdown(ex, count);

    return status == ROTA_OK ? rota__export_tasks(&none, drained, count) : status;
}

/* Calls the user's await_termination, after no thread is inside any more. */
static int ask_user(custom *own, rota_ns timeout)
{
    if (rota__load_acquire(&own->ctl) & TERMINATED)
        return ROTA_OK;
    int status = own->ops.await_termination(own->self, timeout);
    if (status == ROTA_OK)
        set_terminated(own);
    return status;
}

static int custom_await_termination(rota_executor *ex, rota_ns timeout)
{
    custom *own = custom_of(ex);
    rota_ns deadline = rota__deadline(timeout);
    int status = rota_future_get_timed(own->drained, timeout, NULL);

    return status == ROTA_OK ? ask_user(own, rota__time_left(deadline)) : status;
}

/* This call does not wait, so it keeps the caller's interrupt from the user's function (INT-03). */
static bool user_says_ended(custom *own)
{
    rota_thread *self = rota__self();
    bool interrupted = rota__take_interrupt(self);
    int status = ask_user(own, 0);

    if (interrupted || status == ROTA_EINTERRUPTED)
        rota_thread_interrupt(self);
    return status == ROTA_OK;
}

static rota_executor_state custom_state_of(const rota_executor *ex)
{
    custom *own = custom_of((rota_executor *)(uintptr_t)ex); /* set_terminated may be called */
    uint32_t ctl = rota__load_acquire(&own->ctl);

    if (!(ctl & SHUTDOWN))
        return ROTA_RUNNING;
    if (ctl & TERMINATED)
        return ROTA_TERMINATED;
    if ((ctl & INSIDE) == 0 && user_says_ended(own))
        return ROTA_TERMINATED;
    return ROTA_SHUTDOWN;
}

static int custom_describe(const rota_executor *ex, char *line, size_t size)
{
    const custom *own = custom_of((rota_executor *)(uintptr_t)ex);
    uint32_t ctl = rota__load_acquire(&own->ctl);
    const char *state = ctl & TERMINATED ? "terminated" : ctl & SHUTDOWN ? "shut down" : "running";

    return snprintf(line, size, "own executor: %s, %u inside execute", state,
                    (unsigned)(ctl & INSIDE));
}

/* The library does not know the threads and the queue of the user. */
static void custom_snapshot(rota_executor *ex, rota__snapshot *snapshot)
{
    (void)ex;
    (void)snapshot;
}

static void custom_free(rota_executor *ex)
{
    custom *own = custom_of(ex);

    rota__executor_unregister(ex);
    if (own->ops.free != NULL)
        own->ops.free(own->self);
    rota_future_unref(own->drained);
    rota__free(own, sizeof *own);
}

static const rota__executor_ops custom_ops = {
    .family = "custom",
    .submit = custom_submit,
    .shutdown = custom_shutdown,
    .shutdown_now = custom_shutdown_now,
    .await_termination = custom_await_termination,
    .state_of = custom_state_of,
    .describe = custom_describe,
    .snapshot = custom_snapshot,
    .free = custom_free,
};

int rota_executor_new(const rota_executor_ops *ops, void *self, rota_executor **out)
{
    if (ops == NULL || ops->execute == NULL || out == NULL)
        return ROTA_EINVAL;
    custom *own = rota__alloc(sizeof *own);
    if (own == NULL)
        return ROTA_ENOMEM;
    if (rota_promise_new(&own->drained) != ROTA_OK) {
        rota__free(own, sizeof *own);
        return ROTA_ENOMEM;
    }
    own->ops = *ops;
    own->self = self;
    rota__store_relaxed(&own->ctl, 0);
    rota__executor_register(&own->executor, &custom_ops, "own");
    *out = &own->executor;
    return ROTA_OK;
}
