/* SPDX-License-Identifier: MIT */
/*
 * run.c - runs a task: hooks, the user's function, its outcome, its release. The invariants are in
 * run.h.
 *
 * A worker's loop calls rota__run_task. rota__run_task calls the user's function, directly for a
 * plain task and through run_future for a task with a future, and then calls `finish`. If the body
 * ends the thread, the worker's cleanup scope calls rota__run_unwound, which takes the steps that
 * are left.
 */
#include "exec/run.h"

#include "base/check.h"
#include "exec/exec_internal.h"
#include "future/future_state.h"
#include "os/cleanup.h"

#define LEFT_BY_LONGJMP "a task was left by longjmp: it must return, or end its thread"

/* -- Executors that run every future once --------------------------------- */

static rota__run_mode admit_once(rota_executor *ex, rota_future *future)
{
    (void)ex;
    (void)future;
    return ROTA__RUN_ONCE;
}

static bool requeue_never(rota_executor *ex, rota_future *future)
{
    (void)ex;
    (void)future;
    return false;
}

static void nothing_to_retire(rota_executor *ex, rota_future *future)
{
    (void)ex;
    (void)future;
}

const rota__run_ops rota__run_once = {admit_once, requeue_never, nothing_to_retire};
const rota_hooks rota__no_hooks = {NULL, NULL, NULL, NULL, NULL};

/* -- The outcome of a body ------------------------------------------------ */

static inline void leave_body(rota__run *run)
{
    ROTA__DEMAND(run->execution.thread->current == &run->execution, LEFT_BY_LONGJMP);
    rota__execution_leave(&run->execution);
    run->error = run->execution.error;
}

/* Stores the outcome of the run in the future. False: another thread has already ended the future. */
static bool store_outcome(rota__run *run, rota_future *future)
{
    if (run->ends_cancelled) {
        if (future_cancel(future) == FUTURE_TOO_LATE)
            return false;
        future_leave(future);
        return true;
    }
    if (future_begin_completing(future) == FUTURE_TOO_LATE)
        return false;
    if (run->error == 0) {
        future->result = run->result;
        future->value_of = run->value_of; /* takes over the pin */
        run->value_of = NULL;
    }
    rota__store_relaxed(&future->task.error, run->error);
    future_end_completing_and_leave(future, run->error == 0 ? FUTURE_NORMAL : FUTURE_FAILED);
    return true;
}

/* Frees a value that no thread will see: OWN-17. */
static void drop_result(const rota__run *run, const rota_future *future)
{
    if (run->deferred == NULL && run->error == 0 && !run->ends_cancelled)
        rota__future_free_result(future, run->result, run->value_of);
}

/* The body has returned, was skipped, or has ended its thread with run->error set. */
static void complete(rota__run *run, rota_future *future)
{
    rota__action_queue own = {NULL, NULL};
    bool ends = run->ends_cancelled || run->error != 0
                || (run->mode == ROTA__RUN_ONCE && run->deferred == NULL);
    bool is_pending = false;

    run->step = ROTA__RUN_COMPLETE;
    if (ends && store_outcome(run, future)) {
        run->is_observed = rota__future_collect(future, run->ready != NULL ? run->ready : &own);
    } else { /* the future has not ended here: it is periodic, deferred, or ended elsewhere */
        is_pending = future_leave(future) == FUTURE_NEW; /* before any function of the user's */
        drop_result(run, future);
    }
    if (run->value_of != NULL)
        rota__future_unpin(run->value_of);
    run->is_pending = is_pending && run->mode == ROTA__RUN_PERIODIC;
    if (future->task.periodic || run->deferred != NULL)
        run->must_discard = !is_pending; /* future.F4: no other run follows */
    if (is_pending && run->deferred != NULL)
        run->deferred(future);
    rota__actions_run(&own); /* last: a continuation may run a task that ends the thread */
}

/* The list of the submission that this run is a part of, or NULL. */
static inline rota__action_queue *ready_list_for(rota_thread *self, const rota_future *future)
{
    rota__submission *innermost = self->submission;

    if (ROTA__LIKELY(innermost == NULL) || innermost->future != future)
        return NULL;
    innermost->future = NULL; /* its address may soon be another future's */
    return innermost->ready;
}

/* -- Hooks and tracer ----------------------------------------------------- */

/* A hook has an interrupt flag of its own, and cannot fail the task (POOL-32, GEN-17). */
static void enter_hook(rota__run *run)
{
    rota__execution_init(&run->hook_execution, run->execution.stop);
    run->hook_execution.may_fail = false;
    rota__execution_enter(&run->hook_execution, rota_task_future(run->task));
}

static void leave_hook(rota__run *run)
{
    rota__execution_leave(&run->hook_execution);
}

static ROTA__NOINLINE void announce_begin(rota__run *run, const rota__tracer *tracer)
{
    const rota_hooks *hooks = run->hooks;
    rota_task *task = run->task;

    run->step = ROTA__RUN_COMPLETE;
    if (tracer != NULL && run->executor != NULL) {
        run->span.tracer = tracer; /* trace.O1: the span ends with the tracer it began with */
        tracer->begin(&run->span, &(rota__traced){
                                      .executor = run->executor,
                                      .name = task->call.name,
                                      .future = rota_task_future(task),
                                      .stamp = rota__task_stamp(task),
                                      .follows = !run->has_hooks && run->executor->ops->has_queue,
                                  });
    }
    if (hooks->before_execute != NULL) {
        enter_hook(run);
        ROTA__MUST_RETURN("before_execute", hooks->before_execute(run->executor, task, hooks->ctx));
        leave_hook(run);
    }
}

/* How the task has ended, as after_execute sees it. Sets run->error. */
static int status_of(rota__run *run)
{
    rota_future *future = rota_task_future(run->task);

    if (future != NULL)
        run->error = rota_future_error(future); /* another thread may have ended the future */
    if (run->error != 0)
        return ROTA_EFAILED;
    if (future != NULL && rota_future_state_of(future) == ROTA_FUTURE_CANCELED)
        return ROTA_ECANCELED;
    return ROTA_OK;
}

/* A failure is observed if a handle, a waiting thread or another future can report it. */
static bool is_observed(const rota__run *run)
{
    const rota_future *future = rota_task_future(run->task);

    return future != NULL && (run->is_observed || rota__future_is_held(future));
}

static ROTA__NOINLINE void announce_end(rota__run *run)
{
    const rota_hooks *hooks = run->hooks;
    rota_task *task = run->task;
    int status = status_of(run);

    if (run->span.tracer != NULL) { /* a periodic future does not tell how a single run ended */
        run->span.tracer->end(&run->span, status == ROTA_EFAILED && !task->periodic);
        run->span.tracer = NULL;
    }
    if (!run->has_hooks)
        return;
    enter_hook(run); /* thread.T1: an interrupt that the body did not take moves outside this run */
    if (hooks->after_execute != NULL)
        ROTA__MUST_RETURN("after_execute", hooks->after_execute(run->executor, task, status,
                                                                run->error, hooks->ctx));
    if (status == ROTA_EFAILED && hooks->unobserved_failure != NULL && !is_observed(run))
        ROTA__MUST_RETURN(
            "unobserved_failure",
            hooks->unobserved_failure(run->executor, &task->call, run->error, hooks->ctx));
    leave_hook(run);
}

/* -- The body of a future ------------------------------------------------- */

static inline bool must_announce(const rota__run *run, const rota__tracer *tracer)
{
    return ROTA__UNLIKELY(run->has_hooks || tracer != NULL);
}

/* Calls before_execute outside the execution of the future, so rota_future_cancel_now does not
   interrupt the hook. */
static void announce_future(rota__run *run, rota_future *future, const rota__tracer *tracer)
{
    rota__execution_leave(&run->execution);
    announce_begin(run, tracer);
    rota__execution_enter(&run->execution, future); /* resets the flag before is_done is called */
}

static inline bool is_done(const rota_future *future)
{
    return future_phase_in(future_state_load(future)) != FUTURE_NEW;
}

/* Calls before_execute and the body. False: the future is done or runs elsewhere, so no function
   of the user's sees it. */
static bool run_future(rota__run *run, rota_future *future, const rota__tracer *tracer)
{
    run->step = ROTA__RUN_COMPLETE; /* rota__run_unwound has no body to end yet */
    run->is_pending = run->must_discard = run->is_observed = run->ends_cancelled = false;
    run->must_retire = future->task.periodic;
    run->value_of = NULL;
    run->deferred = NULL;
    /* The interrupt flag is reset before the claim: after it rota_future_cancel_now may set it. */
    rota__execution_enter(&run->execution, future);
    if (ROTA__UNLIKELY(!future_claim(future, &run->execution))) { /* future.F3 */
        rota__execution_leave(&run->execution);
        run->must_retire = true;
        return false;
    }
    ROTA__PROBE3(task__begin, run->executor, run->task, run->task->call.name);
    run->ready = ready_list_for(run->execution.thread, future);
    if (must_announce(run, tracer))
        announce_future(run, future, tracer); /* run.R6 */
    run->mode = run->ops->admit(run->executor, future);
    if (ROTA__UNLIKELY(run->mode == ROTA__RUN_REFUSED || is_done(future))) {
        run->ends_cancelled = true; /* before_execute, or another thread, may have cancelled it */
        run->must_discard = true;   /* future.F4 */
    } else {
        run->step = ROTA__RUN_BODY;
        run->result = future->task.call.fn(future->task.call.arg);
    }
    leave_body(run);
    complete(run, future);
    return true;
}

/* -- One run -------------------------------------------------------------- */

static inline void count(rota__run *run, uint64_t change)
{
    rota__store_release(run->counts, rota__load_relaxed(run->counts) + change); /* run.R7 */
}

/* Queues a periodic task again, or releases the task. */
static void release_future(rota__run *run, rota_future *future)
{
    bool is_pending = run->is_pending;

    run->is_pending = false;
    if (is_pending && run->ops->requeue(run->executor, future)) {
        run->task = NULL; /* another worker may be running it by now */
        return;
    }
    if (run->must_discard)
        rota__future_discard_argument(future); /* run.R6 */
    if (run->must_retire)
        run->ops->retire(run->executor, future);
    run->task = NULL;
    rota__future_unpin(future); /* the last touch */
}

static inline void release(rota__run *run)
{
    rota_task *task = run->task;

    run->step = ROTA__RUN_RELEASE;
    count(run, ROTA__ONE_COMPLETED - ROTA__ONE_RUNNING);
    if (ROTA__LIKELY(task->kind == ROTA__TASK_PLAIN)) {
        run->task = NULL;
        rota__plain_task_free(task);
    } else {
        release_future(run, rota__future_of(task));
    }
}

/* Takes the steps that follow the outcome. */
static inline void finish(rota__run *run)
{
    ROTA__PROBE3(task__end, run->executor, run->task, run->task->call.name);
    if (ROTA__UNLIKELY(run->has_hooks || run->span.tracer != NULL))
        announce_end(run);
    release(run);
}

static ROTA__ALWAYS_INLINE void run_counted(rota__run *run, rota_task *task)
{
    const rota__tracer *tracer = rota__tracer_now();

    ROTA__ASSERT(run->task == NULL); /* run.R4 */
    run->task = task;                /* run.R1: from here on rota__run_unwound would finish it */
    if (ROTA__LIKELY(task->kind == ROTA__TASK_PLAIN)) {
        ROTA__PROBE3(task__begin, run->executor, task, task->call.name);
        if (must_announce(run, tracer))
            announce_begin(run, tracer);
        run->step = ROTA__RUN_BODY;
        rota__execution_enter(&run->execution, NULL);
        task->call.fn(task->call.arg);
        leave_body(run);
    } else if (!run_future(run, rota__future_of(task), tracer)) {
        release(run);
        return;
    }
    finish(run);
}

ROTA__HOT void rota__run_task(rota__run *run, rota_task *task)
{
    count(run, ROTA__ONE_RUNNING);
    run_counted(run, task);
}

void rota__run_counted_task(rota__run *run, rota_task *task)
{
    run_counted(run, task);
}

/* -- A thread that ends --------------------------------------------------- */

void rota__run_unwound(void *arg)
{
    rota__run *run = arg;

    if (run->task == NULL)
        return;
    rota_future *future = rota_task_future(run->task); /* NULL for a plain task */
    rota__execution_leave(&run->execution);            /* inner ones are gone: run.R2 */
    /* A continuation may submit to an executor of the user's, which may run a task that ends the
       thread once more: in the step COMPLETE, or in RELEASE, where `requeue` cancels the future. */
    ROTA__ON_UNWIND_BEGIN(rota__run_unwound, run);
    if (run->step == ROTA__RUN_BODY) {
        run->error = ROTA_ECANCELED; /* GEN-14 */
        run->step = ROTA__RUN_COMPLETE;
        if (future != NULL)
            complete(run, future);
    }
    if (run->step == ROTA__RUN_COMPLETE)
        finish(run);
    else if (run->step == ROTA__RUN_RELEASE)
        release_future(run, future);
    ROTA__ON_UNWIND_END;
}

/* -- Ways to run a task --------------------------------------------------- */

void rota__run_init(rota__run *run, rota_executor *ex, const rota_hooks *hooks,
                    const rota__run_ops *ops, rota__task_counts *counts, rota__stop_word *stop)
{
    *run = (rota__run){.executor = ex, .hooks = hooks, .ops = ops};
    run->counts = counts != NULL ? counts : &run->uncounted;
    run->has_hooks = hooks->before_execute != NULL || hooks->after_execute != NULL
                     || hooks->unobserved_failure != NULL;
    rota__execution_init(&run->execution, stop);
    /* Stacks grow down, so the execution around this record has a higher address. */
    ROTA__DEMAND(!ROTA__FRAMES_ARE_STACKED
                     || run->execution.outer == &run->execution.thread->outermost
                     || (uintptr_t)run < (uintptr_t)run->execution.outer,
                 LEFT_BY_LONGJMP);
}

void rota__run_nested(rota__run *run, rota_task *task)
{
    ROTA__ON_UNWIND_BEGIN(rota__run_unwound, run);
    rota__run_task(run, task);
    ROTA__ON_UNWIND_END;
}

void rota__run_here(rota_future *future, rota__action_queue *ready)
{
    rota__submission submission;
    rota__run run;

    rota__run_init(&run, NULL, &rota__no_hooks, &rota__run_once, NULL, NULL);
    rota__submission_begin(&submission, future, ready);
    rota__run_nested(&run, &future->task);
    rota__submission_end(&submission); /* no scope: a step returns (run.R5) */
}

void rota_task_run(rota_task *task)
{
    rota__run run;

    if (task == NULL)
        return;
    rota__run_init(&run, NULL, &rota__no_hooks, &rota__run_once, NULL, NULL);
    rota__run_nested(&run, task);
}

/* -- A task that does not run --------------------------------------------- */

void rota__task_release(rota_task *task)
{
    if (task->kind == ROTA__TASK_PLAIN)
        rota__plain_task_free(task);
    else
        rota__future_unpin(rota__future_of(task));
}

void rota_task_discard(rota_task *task)
{
    if (task == NULL)
        return;
    rota_future_cancel(rota_task_future(task)); /* calls discard; a plain task has none */
    rota__task_release(task);
}

/* -- Hooks of threads ----------------------------------------------------- */

void rota__call_thread_hook(const char *name, void (*hook)(void *ctx), void *ctx)
{
    rota__execution execution;

    if (hook == NULL)
        return;
    rota__execution_begin(&execution, NULL, NULL); /* no stop word, so its flag is clear */
    execution.may_fail = false;
    ROTA__MUST_RETURN(name, hook(ctx));
    rota__execution_end(&execution);
}

/* -- From inside a body --------------------------------------------------- */

void *rota_fail(int code)
{
    rota__execution *current = rota__self()->current;

    if (current->may_fail)
        current->error = code;
    return NULL;
}

/* The run whose body calls this. */
static rota__run *this_run(void)
{
    return ROTA__CONTAINER(rota__self()->current, rota__run, execution);
}

void rota__run_defer(void (*deferred)(rota_future *future))
{
    this_run()->deferred = deferred;
}

bool rota__run_is_deferred(void)
{
    return this_run()->deferred != NULL;
}

void rota__run_follow(const rota_future *source)
{
    rota__run *run = this_run();
    future_phase phase = future_phase_settled(source);

    run->ends_cancelled = phase > FUTURE_FAILED;
    if (phase != FUTURE_NORMAL)
        run->execution.error = phase == FUTURE_FAILED ? rota_future_error(source) : 0;
}

void rota__run_return_of(rota_future *source)
{
    rota__run *run = this_run();

    if (run->value_of != NULL)
        return;
    run->value_of = rota__future_maker(source);
    rota__future_pin(run->value_of);
}

/* -- Submissions in progress ---------------------------------------------- */

void rota__submission_begin(rota__submission *submission, const rota_future *future,
                            rota__action_queue *ready)
{
    rota_thread *self = rota__self();

    *submission = (rota__submission){future, ready, self->submission};
    self->submission = submission;
}

void rota__submission_end(void *arg)
{
    const rota__submission *submission = arg;

    rota__self()->submission = submission->outer;
}
