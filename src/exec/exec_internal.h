/* SPDX-License-Identifier: MIT */
/*
 * exec_internal.h - the interface of every kind of executor.
 *
 * Every kind of executor begins with a rota_executor and fills in a table, rota__executor_ops. This
 * folder implements every call that needs nothing but the table.
 *
 *   exec.E1  A task is one reference. `submit` takes it over with ROTA_OK. With any other status the
 *            task still belongs to the caller.
 *   exec.E2  The executor runs each task that it has taken over, discards it, or passes it to another
 *            owner that does the same: one of these, exactly once.
 *   exec.E3  If an executor cannot end without a thread, that thread is inside the executor
 *            (rota__inside_enter) and must not wait for its end.
 *   exec.E4  A call of the library that the owner of the executor does not know of holds an in-flight
 *            reference: a submission by the library, a visitor, a caller of a pool. The executor is not
 *            freed before the reference ends. Without it, an owner that waits only for the task could
 *            free the executor while the call still uses it.
 *   exec.E5  A pending future has the number of the executor that it was submitted to last. A worker
 *            that waits for the future looks into its queue only if that is the number of its pool.
 *            The number is stored before the task is inserted. If the future had a number before, a
 *            worker may be waiting for it, and rota__future_moved is called after the insertion.
 */
#ifndef ROTA_EXEC_EXEC_INTERNAL_H
#define ROTA_EXEC_EXEC_INTERNAL_H

#include "base/list.h"
#include "base/trace.h"
#include "exec/run.h"
#include "future/future_internal.h"
#include "task/task_internal.h"

#include <rota/observe.h>
#include <rota/pool.h>

/* The state of an executor, as an observer sees it. All zero at first. */
typedef struct rota__snapshot {
    unsigned threads, active;
    size_t queued;
    uint64_t submitted, completed, rejected, stolen;
    int64_t oldest; /* the stamp of the first queued task (rota__task_stamp), or 0 */
    char oldest_name[ROTA_NAME_SIZE];
} rota__snapshot;

void rota__snapshot_oldest(rota__snapshot *snapshot, const rota_task *task); /* `task` is queued */

#define ROTA__AT_ONCE INT64_C(-1) /* in place of a due time: the task may run now */

/* One table per kind of executor. No member is NULL. */
typedef struct rota__executor_ops {
    const char *family; /* kinds that share calls have the same address here */
    bool has_queue;     /* each worker takes its tasks from a queue, one after the other */
    int (*submit)(rota_executor *ex, rota_task *task, rota_ns due); /* exec.E1 */
    int (*shutdown)(rota_executor *ex, size_t *dropped); /* *dropped: tasks that it has discarded */
    /* Moves the tasks that have not started into *drained, or discards them if `drained` is NULL.
       Discarding needs no memory. *count is their number. After ROTA_ENOMEM the next call moves
       them. */
    int (*shutdown_now)(rota_executor *ex, rota_task_list *drained, size_t *count);
    int (*await_termination)(rota_executor *ex, rota_ns timeout);
    rota_executor_state (*state_of)(const rota_executor *ex);
    int (*describe)(const rota_executor *ex, char *line, size_t size);
    void (*snapshot)(rota_executor *ex, rota__snapshot *snapshot); /* in its own process only */
    void (*free)(rota_executor *ex);                               /* after its termination */
} rota__executor_ops;

struct rota_executor {
    const rota__executor_ops *ops;
    rota__atomic(uint32_t) inflight; /* exec.E4 */
    uint32_t number; /* from 1, never used again; registry.c owns it and the next three fields */
    uint32_t generation;
    rota__link link;
    char name[ROTA_NAME_SIZE];
    bool observer_word; /* the watchdog has reported its oldest task */
};

/* The part of rota__submit for a future that was submitted before. */
int rota__submit_again(rota_executor *ex, rota_future *future, rota_ns due);

/* The one entrance for all tasks. `due` is ROTA__AT_ONCE, or a time for a scheduled pool. */
static inline int rota__submit(rota_executor *ex, rota_task *task, rota_ns due)
{
    const rota__tracer *tracer = rota__tracer_now();

    ROTA__PROBE3(task__submit, ex, task, task->call.name);
    if (ROTA__UNLIKELY(tracer != NULL))
        rota__task_set_stamp(task, tracer->stamp());
    if (task->kind == ROTA__TASK_FUTURE) {
        if (ROTA__UNLIKELY(rota__load_relaxed(&task->executor) != 0))
            return rota__submit_again(ex, rota__future_of(task), due);
        rota__store_relaxed(&task->executor, ex->number); /* exec.E5 */
    }
    return ex->ops->submit(ex, task, due);
}

/* An in-flight reference: exec.E4. */
void rota__inflight_begin(rota_executor *ex);
void rota__inflight_end(rota_executor *ex);

/* Submits a task that may run now, and ends the caller's in-flight reference. If `more` is not NULL,
   the task has a future. If the executor then runs the task in this call, the continuations of the
   future are appended to `more`. */
int rota__submit_inflight(rota_executor *ex, rota_task *task, rota__action_queue *more);

/* -- All executors (registry.c) --------------------------------------------- */

/* Makes a complete executor visible to observers. `what` is the first part of its name. */
void rota__executor_register(rota_executor *ex, const rota__executor_ops *ops, const char *what);

/* Called by ops->free, in the process of the executor. Returns when no observer sees the executor
   any more and no in-flight reference is left. */
void rota__executor_unregister(rota_executor *ex);

/* Returns the executor with that number, or NULL. The caller holds rota__process_lock. */
rota_executor *rota__executor_by_number(uint32_t number);

/* Returns the length in bytes of the UTF-8 character at `at`. 0: it is not valid (RFC 3629), or it is
   a control character. */
size_t rota__character(const char *at);

/* -- Tasks ---------------------------------------------------------------- */

/* Moves the tasks of a list into *drained, or discards them if that is NULL (OWN-08): the end of
   ops->shutdown_now. After ROTA_ENOMEM they are still in the list. */
int rota__export_tasks(rota__task_slist *chain, rota_task_list *drained, size_t *count);

/* Finishes a submission with this status. If `out` is not NULL, the future was created with a
   reference for it: ROTA_OK stores the future in *out. Any other status cancels the future. */
int rota__finish_submit(rota_future *future, int status, rota_future **out);

/* -- Futures of calls that are submitted together (invoke_all.c) ---------- */

/* Is every call complete? */
bool rota__calls_are_valid(const rota_call *calls, size_t n);

/*
 * Returns the status of a call that has submitted `submitted` tasks before a submission failed. If it
 * has submitted any, the status is neither ROTA_EINVAL nor ROTA_ENOMEM (EXEC-16). The status is never
 * ROTA_EFAILED or ROTA_ECANCELED, which say how a task has ended.
 */
int rota__late_status(int status, size_t submitted);

#endif
