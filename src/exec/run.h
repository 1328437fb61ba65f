/* SPDX-License-Identifier: MIT */
/*
 * run.h - running a task: the one way from an executor to the user's function.
 *
 * A thread that runs tasks has a run record. rota__run_task notes in the record which task it runs
 * and which step it has reached. The body of a task may end its thread instead of returning
 * (pthread_exit, pthread_cancel; GEN-14). Then rota__run_unwound reads the record and takes the
 * remaining steps. So a worker needs one cleanup scope around its whole loop, and none for each
 * task:
 *
 *     rota__run run;
 *
 *     rota__run_init(&run, executor, hooks, ops, counts, &stop_word);
 *     ROTA__ON_UNWIND_BEGIN(rota__run_unwound, &run);
 *     while ((task = next_task()) != NULL)
 *         rota__run_task(&run, task);
 *     ROTA__ON_UNWIND_END;
 *
 *   run.R1  A task given to rota__run_task is finished exactly once: by rota__run_task or, if the
 *           thread is unwound before that, by rota__run_unwound.
 *   run.R2  The record lies in the frame that opens the cleanup scope, or in an older one. Younger
 *           frames no longer exist when the cleanup function runs.
 *   run.R3  `step` is set before the code of that step is called. rota__run_unwound continues with
 *           the step after it, so no body is called twice.
 *   run.R4  A record runs one task at a time. A task that runs inside another one, because the
 *           thread waits or because an executor runs it at once, has a record of its own.
 *   run.R5  Hooks, steps of composed futures and all tasks of a fork/join pool must return. A
 *           checked build reports a function that does not, and aborts.
 *   run.R6  A future is claimed before any hook sees it, and its argument is discarded after all
 *           hooks. So no hook sees a task whose argument was discarded.
 *   run.R7  A thread that reads the counts sees everything that the completed tasks have done.
 */
#ifndef ROTA_EXEC_RUN_H
#define ROTA_EXEC_RUN_H

#include "base/trace.h"
#include "future/future_internal.h"

#include <rota/pool.h>

typedef struct rota__run rota__run;

/* -- What an executor decides --------------------------------------------- */

typedef enum rota__run_mode {
    ROTA__RUN_ONCE,     /* the future is done after this run */
    ROTA__RUN_PERIODIC, /* the future is pending again after this run, unless the body fails */
    ROTA__RUN_REFUSED,  /* the body does not run: the future is cancelled */
} rota__run_mode;

/* How an executor runs futures. No member is NULL. Plain tasks always run once. */
typedef struct rota__run_ops {
    /* Called just before the body, after before_execute. */
    rota__run_mode (*admit)(rota_executor *ex, rota_future *future);

    /* A periodic run has ended and its future is pending. True: the executor has queued the task
       again and owns it. False: no further run will come. */
    bool (*requeue)(rota_executor *ex, rota_future *future);

    /* Called before the task is released, if the future was done or claimed before this run began,
       or if a periodic task will not run again in this executor. */
    void (*retire)(rota_executor *ex, rota_future *future);
} rota__run_ops;

extern const rota__run_ops
    rota__run_once; /* runs every future once; scheduled pools have their own */
extern const rota_hooks rota__no_hooks;

/*
 * The tasks of one thread. The low bits count those it is running, one inside the other; the high
 * bits count those it has completed. That thread alone writes the word; any thread may read it.
 */
typedef rota__atomic(uint64_t) rota__task_counts;

enum { ROTA__RUNNING_BITS = 16 };
#define ROTA__ONE_RUNNING   UINT64_C(1)
#define ROTA__ONE_COMPLETED (UINT64_C(1) << ROTA__RUNNING_BITS)

/* -- The run record ------------------------------------------------------- */

/* The steps in which a body can end the thread (run.R3). In the first it is the body of this task. In
   the others it is the body of a task that a user's executor runs at once. */
typedef enum rota__run_step {
    ROTA__RUN_BODY,     /* the user's function */
    ROTA__RUN_COMPLETE, /* the outcome is stored; the future's continuations */
    ROTA__RUN_RELEASE,  /* the executor's requeue and retire; the task has been counted */
} rota__run_step;

struct rota__run {
    rota__execution execution;      /* of the body; a claimed future refers to it: future_state.h */
    rota__execution hook_execution; /* of a hook, which rota_future_cancel_now does not interrupt */

    /* Fixed by rota__run_init. */
    rota_executor *executor;   /* as hooks and traces see it, or NULL */
    const rota_hooks *hooks;   /* never NULL */
    const rota__run_ops *ops;  /* never NULL */
    rota__task_counts *counts; /* never NULL: &uncounted if no executor counts these tasks */
    rota__task_counts uncounted;
    bool has_hooks;

    /* The task that the thread runs now. */
    rota_task *task; /* NULL: none, so there is nothing to unwind */
    rota__run_step step;
    int error;       /* the code of the failure of the body, or 0 */
    rota__span span; /* span.tracer is NULL if this run is not traced */

    /* If that task has a future. */
    rota__run_mode mode;
    void *result;
    bool is_pending;     /* after a periodic run: another run may follow */
    bool must_discard;   /* future.F4: after the hooks (run.R6) */
    bool must_retire;    /* call ops->retire before the release */
    bool is_observed;    /* a waiting thread or another future has seen the end */
    bool ends_cancelled; /* the body did not run, or the source of rota__run_follow was cancelled */
    rota_future *value_of;                 /* rota__run_return_of: pinned, or NULL */
    void (*deferred)(rota_future *future); /* rota__run_defer, or NULL */
    rota__action_queue *ready; /* takes the continuations of this future; NULL: they run here */
};

/* Prepares a record for the calling thread. NULL for counts: no executor counts these tasks. NULL for
   stop: no executor interrupts them by a stop. */
void rota__run_init(rota__run *run, rota_executor *ex, const rota_hooks *hooks,
                    const rota__run_ops *ops, rota__task_counts *counts, rota__stop_word *stop);

/* Runs a task and releases it. The caller's cleanup scope calls rota__run_unwound. */
void rota__run_task(rota__run *run, rota_task *task);

/* The same for a task that the counts already show as running. */
void rota__run_counted_task(rota__run *run, rota_task *task);

/* The same as rota__run_task with a scope of its own, for a task inside another one (run.R4). */
void rota__run_nested(rota__run *run, rota_task *task);

/* Finishes the task that the record holds, if any, while the thread is being unwound (run.R1). */
void rota__run_unwound(void *run);

/* Runs the step of a composed future here. Takes over one pin. The future's continuations are
   appended to `ready`. */
void rota__run_here(rota_future *future, rota__action_queue *ready);

/* Releases the executor's reference to a task that has run or will not run. */
void rota__task_release(rota_task *task);

/* Calls on_start, on_exit or terminated, unless it is NULL, with an interrupt flag of its own that is
   clear even in a stopped pool (INT-09). */
void rota__call_thread_hook(const char *name, void (*hook)(void *ctx), void *ctx);

/* -- From inside the body of a composed future ---------------------------- */

/* The future does not end with its body. After the body `deferred` is called with the future, which
   is pending; if another thread has ended the future meanwhile, its argument is discarded instead. */
void rota__run_defer(void (*deferred)(rota_future *future));
bool rota__run_is_deferred(void);

/* `source` is done, and the future of this body ends in the same way. If `source` has succeeded, the
   result is the value that the body returns. */
void rota__run_follow(const rota_future *source);

/* The body returns the result of `source`. The future of this body pins the future whose body has
   produced that result, so the result stays valid. */
void rota__run_return_of(rota_future *source);

/* -- Submissions in progress ---------------------------------------------- */

/*
 * A future that the calling thread is handing to an executor, on the stack of that thread.
 *
 * If the executor runs the future on this thread before the submission ends, the continuations of
 * the future are appended to `ready`, and the submitter runs them afterwards. So a chain of futures
 * of any length runs in a loop, even on executors that run a task at once.
 */
typedef struct rota__submission {
    const rota_future *future; /* NULL: a plain task, or the future has begun to run */
    rota__action_queue *ready;
    struct rota__submission *outer;
} rota__submission;

void rota__submission_begin(rota__submission *submission, const rota_future *future,
                            rota__action_queue *ready);
void rota__submission_end(void *submission); /* also while the thread is being unwound */

#endif
