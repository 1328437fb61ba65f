/* SPDX-License-Identifier: MIT */
/*
 * exec_internal.h - what an executor must be able to do.
 *
 * Each kind of executor begins with a rota_executor and fills in a table. What
 * can be written over that table is written once, in this folder.
 *
 *   exec.E1  A task is one reference. execute() takes it over with ROTA_OK, and leaves it alone
 *            with any other status.
 *   exec.E2  A task that was taken over is given, exactly once, to rota_task_run, to
 *            rota_task_discard, or to somebody who promises the same.
 *   exec.E3  A thread that an executor cannot end without is inside that executor
 *            (rota__inside_enter): it must not wait for the executor's end.
 *   exec.E4  A submission by the library itself, of which the executor's owner does not know, is a
 *            guest's: the executor is not freed before that has left. The task may have run by
 *            then, and its end be what the owner waited for.
 */
#ifndef ROTA_EXEC_EXEC_INTERNAL_H
#define ROTA_EXEC_EXEC_INTERNAL_H

#include "base/list.h"
#include "base/trace.h"
#include "future/future_internal.h"
#include "task/task_internal.h"

#include <rota/observe.h>
#include <rota/pool.h>

/* What can be seen of an executor. All zero at first. */
typedef struct rota__look {
    unsigned threads, active;
    size_t queued;
    uint64_t submitted, completed, rejected, stolen;
    int64_t oldest; /* the stamp of the first that is queued: rota__task_stamp; or 0 */
    char oldest_name[ROTA_NAME_SIZE];
} rota__look;

void rota__look_at_oldest(rota__look *look, const rota_task *task); /* which is queued now */

typedef struct rota__executor_kind {
    bool
        has_queue; /* from which each worker takes one task after the other, and does nothing else */
    int (*execute)(rota_executor *ex, rota_task *task); /* exec.E1 */
    int (*shutdown)(rota_executor *ex);
    /* What had not started goes into *drained, or, if that is NULL, is discarded, which needs no
       memory; how many that were. After ROTA_ENOMEM the next call hands it over. */
    int (*shutdown_now)(rota_executor *ex, rota_task_list *drained, size_t *count);
    int (*await_termination)(rota_executor *ex, rota_ns timeout);
    rota_executor_state (*state_of)(const rota_executor *ex);
    int (*describe)(const rota_executor *ex, char *line, size_t size);
    void (*look)(rota_executor *ex, rota__look *look); /* in the process that made it */
    void (*free)(rota_executor *ex);                   /* terminated */
} rota__executor_kind;

struct rota_executor {
    const rota__executor_kind *kind;
    rota__atomic(uint32_t) guests; /* exec.E4 */
    uint32_t number;               /* registry.c only, as is the rest; from 1, never another's */
    uint32_t generation;
    rota__link link;
    char name[ROTA_NAME_SIZE];
    bool is_told; /* the watchdog's: its queue is slow */
};

/* Gives it a task: as kind->execute. */
static inline int rota__give(rota_executor *ex, rota_task *task)
{
    const rota__tracer *tracer = rota__tracer_now();

    ROTA__PROBE3(task__submit, ex, task, task->call.name);
    if (ROTA__UNLIKELY(tracer != NULL))
        rota__task_set_stamp(task, tracer->stamp());
    return ex->kind->execute(ex, task);
}

int rota__execute_as_guest(rota_executor *ex, rota_task *task); /* the same; exec.E4 */

/* The same; if it is run here and now, what follows from its end is appended to `more`. */
int rota__execute_into(rota_executor *ex, rota_future *future, rota__action_queue *more);

/* Its two halves, for who knows only at this moment that the executor is there. */
void rota__be_guest(rota_executor *ex);
void rota__leave_as_guest(rota_executor *ex); /* with no task after all */
int rota__execute_and_leave(rota_executor *ex, rota_task *task);

/* -- The executors there are (registry.c) --------------------------------- */

/* It is complete: others may see it from here on. `what` it is, in a word. */
void rota__executor_enter(rota_executor *ex, const rota__executor_kind *kind, const char *what);

/* By kind->free, in the process that made it: nobody sees it any more, no guest is left. */
void rota__executor_leave(rota_executor *ex);

/* With rota__process_lock held: the one of that number, if it is there. */
rota_executor *rota__executor_numbered(uint32_t number);

/* How many bytes the character has that begins there; 0: it is none (UTF-8, RFC 3629), or controls. */
size_t rota__character(const char *at);

/* -- Tasks ---------------------------------------------------------------- */

/*
 * A chain's tasks into *drained, or to their end if that is NULL (OWN-08): the
 * rest of kind->shutdown_now. After ROTA_ENOMEM they are still in the chain.
 */
int rota__hand_over(rota__chain *chain, rota_task_list *drained, size_t *count);

/* The end of a submission with this status: a future, which was made held if there is an `out`,
   goes there, or away. */
int rota__submitted(rota_future *future, int status, rota_future **out);

/* Ends the life of a task that has run: exec.E2. */
void rota__task_release(rota_task *task);

/* -- One task on one thread (turn.c) -------------------------------------- */

typedef struct rota__turn rota__turn;

/* On the stack of the thread that runs it. All zero but for what the executor fills in. */
struct rota__turn {
    rota_executor *executor;
    const rota_hooks *hooks;
    rota_task *task;
    void (*run)(rota__turn *turn, rota_future *future); /* a future's body; NULL: as always */
    void (*ended)(rota__turn *turn); /* after the hooks; it is the task's end, or sees to that */

    rota__span *span; /* if it is traced */
    bool has_hooks;
    bool has_begun;
    int error;
    rota__execution execution; /* of the hooks, if there are any */
};

/* Runs it with hooks. `ended` is called also if the task, or a hook, ends the thread. */
void rota__turn_run(rota__turn *turn);

/* Runs it for a submitter, without, and ends it: REJ-03. `hooks` may be NULL. */
void rota__turn_run_bare(rota__turn *turn);

/* Calls it, unless it is NULL, with an interrupt flag of its own: what wakes an idle worker is not
   for hooks (INT-09). */
void rota__call_apart(void (*hook)(void *ctx), void *ctx);

/* -- Futures of calls that are submitted together (invoke.c) -------------- */

/* Is every call complete? */
bool rota__calls_are_valid(const rota_call *calls, size_t n);

/*
 * The status of a submission that failed after `submitted` others: once
 * something has happened, it is neither ROTA_EINVAL nor ROTA_ENOMEM (EXEC-16),
 * and never one that tells how a call ended.
 */
int rota__late_status(int status, size_t submitted);

#endif
