/* SPDX-License-Identifier: MIT */
/*
 * works.c - how the job of a row is given to its executor. work_NAME starts it, on the thread of the waiter or, if the
 * row starts late, on the thread of the row.
 */
#include "combine.h"

/* -- Calls --------------------------------------------------------------------------------------- */

/* Notes the end of a call that has submitted the job itself. Takes over the reference. */
static void job_is_started(int status, rota_future *future)
{
    if (status == ROTA_OK)
        job_is_accepted(row.main, future);
    work_is_started(status, future);
}

void work_plain(void)
{
    row.main->is_task = true;
    int status = rota_execute(row.ex, job_run, row.main);
    if (status == ROTA_OK)
        atomic_store(&row.main->accepted, true);
    work_is_started(status, NULL);
}

static rota_call call_of_job(void)
{
    row.main->is_task = true;
    row.main->has_value = true;
    return job_call(row.main);
}

void work_future(void)
{
    rota_call call = call_of_job();
    rota_future *future = NULL;
    int status = rota_submit_call(row.ex, &call, &future);

    job_is_started(status, future);
}

void work_delayed(void)
{
    rota_call call = call_of_job();
    rota_future *future = NULL;
    int status = rota_schedule_call(row.ex, &call, ROTA_MS(2), 0, &future);

    job_is_started(status, future);
}

/* The third run fails with code 9. */
void work_periodic(void)
{
    row.main->is_periodic = true;
    row.main->most = 3;
    rota_call call = call_of_job();
    call.free_result = NULL;
    row.main->has_value = false;
    rota_future *future = NULL;
    int status = rota_schedule_call(row.ex, &call, ROTA_MS(1), ROTA_MS(1), &future);

    job_is_started(status, future);
}

void work_completion(void)
{
    rota_call call = call_of_job();
    rota_future *future = NULL;
    int status = rota_completion_new(row.ex, &row.completion);

    if (status == ROTA_OK)
        status = rota_completion_submit(row.completion, &call, &future);
    job_is_started(status, future);
}

/* -- Composed futures ------------------------------------------------------------------------------ */

/* Makes a future that is done soon. NULL: it was refused. */
static rota_future *source_of(const char *name, int *status)
{
    job *source = job_new(name, quick);

    source->is_task = source->has_value = true;
    rota_future *future = NULL;
    *status = job_submit(row.ex, source, &future);
    return future;
}

/* Makes the future of the job itself. NULL: it was refused. */
static rota_future *future_of_job(int *status)
{
    row.is_source = true;
    rota_call call = call_of_job();
    rota_future *future = NULL;
    *status = rota_submit_call(row.ex, &call, &future);
    if (*status == ROTA_OK)
        job_is_accepted(row.main, future);
    return future;
}

/* Notes the end of a call that has composed a future, and makes it the owner of its sources if the row says so. */
static void composed(int status, rota_future *future)
{
    row.is_composed = true;
    if (status == ROTA_OK && row.owns)
        check_status("rota_future_own", rota_future_own(future), ROTA_OK);
    work_is_started(status, future);
}

static void *then_step(void *value, void *arg)
{
    if (!value_is_alive(value))
        fail("a step gets a value that was freed");
    return job_step(arg);
}

void work_then(void)
{
    int status;
    rota_future *source = source_of("a source", &status), *out = NULL;

    row.has_steps = true;
    if (source != NULL)
        status = rota_then(source, row.ex, then_step, row.main, &out);
    rota_future_unref(source);
    composed(status, out);
}

/* Starts the job with the value of the source, which the job returns. */
static rota_future *chain_step(void *value, void *arg)
{
    int status;

    ((job *)arg)->given = value;
    rota_future *future = future_of_job(&status);
    if (future == NULL)
        rota_fail(status);
    return future;
}

void work_chain(void)
{
    int status;
    rota_future *source = source_of("a source", &status), *out = NULL;

    row.has_steps = true;
    if (source != NULL)
        status = rota_chain(source, row.ex, chain_step, row.main, &out);
    rota_future_unref(source);
    composed(status, out);
}

static void *both_step(void *first, void *second, void *arg)
{
    if (!value_is_alive(first) || !value_is_alive(second))
        fail("a step gets a value that was freed");
    return job_step(arg);
}

void work_both(void)
{
    int status;
    rota_future *first = source_of("a source", &status),
                *second = first == NULL ? NULL : source_of("b source", &status), *out = NULL;

    row.has_steps = true;
    if (second != NULL)
        status = rota_both(first, second, row.ex, both_step, row.main, &out);
    rota_future_unref(first);
    rota_future_unref(second);
    composed(status, out);
}

void work_either(void)
{
    int status;
    rota_future *first = source_of("a source", &status), *out = NULL;

    row.has_steps = true;
    if (first != NULL)
        status = rota_either(first, row.promise, row.ex, then_step, row.main, &out);
    rota_future_unref(first);
    composed(status, out);
}

void work_all_of(void)
{
    int status;
    rota_future *futures[2] = {NULL, NULL}, *out = NULL;

    futures[0] = future_of_job(&status);
    if (status == ROTA_OK)
        futures[1] = source_of("a source", &status);
    if (status == ROTA_OK)
        status = rota_all_of(futures, 2, &out);
    rota_future_unref(futures[0]);
    rota_future_unref(futures[1]);
    composed(status, out);
}

/* The first of the job, of another task, and of a promise or, if futures own their sources, of a future that never ends. */
void work_any_of(void)
{
    int status;
    rota_future *futures[3] = {NULL, NULL, NULL}, *out = NULL;
    job *rival = job_new("a rival", quick);

    rival->is_task = true;
    row.may_succeed = row.may_lose = true;
    if (row.owns)
        row.may_interrupt = true;
    futures[0] = future_of_job(&status);
    if (status == ROTA_OK)
        status = job_submit(row.ex, rival, &futures[1]);
    if (status == ROTA_OK)
        status = row.owns ? rota_any_of(NULL, 0, &futures[2]) : ROTA_OK;
    if (!row.owns)
        futures[2] = rota_future_ref(row.promise);
    if (status == ROTA_OK)
        status = rota_any_of(futures, 3, &out);
    for (int i = 0; i < 3; i++)
        rota_future_unref(futures[i]);
    composed(status, out);
    if (status == ROTA_OK && row.owns)
        atomic_store(&row.rival, rival);
}

void work_timeout(void)
{
    int status;
    rota_future *future = future_of_job(&status), *out = NULL;

    if (status == ROTA_OK)
        status = rota_timeout(future, ROTA_HOURS(1), &out);
    rota_future_unref(future);
    composed(status, out);
}

static void done_step(rota_future *future, void *arg)
{
    (void)future;
    job_step(arg);
}

void work_when_done(void)
{
    int status;
    rota_future *source = source_of("a source", &status), *out = NULL;

    row.has_steps = true;
    row.runs_in_caller = true; /* if the executor refuses the step */
    if (source != NULL)
        status = rota_when_done(source, row.ex, done_step, row.main, &out);
    rota_future_unref(source);
    composed(status, out);
}

static void *recover_step(int status, void *value, int error, void *arg)
{
    (void)status;
    (void)value;
    (void)error;
    (void)arg;
    return NULL;
}

/* A failure of the job is replaced by a value. */
void work_recover(void)
{
    int status;
    rota_future *future = future_of_job(&status), *out = NULL;

    row.has_steps = row.may_succeed = true;
    if (status == ROTA_OK)
        status = rota_recover(future, row.ex, recover_step, NULL, &out);
    rota_future_unref(future);
    composed(status, out);
}

/* Notes the end of rota_retry or rota_hedge, which submit the call by themselves. */
static void job_is_repeated(int status, rota_future *future)
{
    if (status == ROTA_OK && row.owns)
        check_status("rota_future_own", rota_future_own(future), ROTA_OK);
    if (status == ROTA_OK)
        atomic_store(&row.main->accepted, true);
    work_is_started(status, future);
}

void work_retry(void)
{
    row.main->most = 2;
    row.may_interrupt = true; /* a cancel interrupts the attempt */
    rota_call call = call_of_job();
    rota_future *future = NULL;
    int status = rota_retry(
        row.ex, &call, &(rota_retry_options){.attempts = 2, .first_delay = ROTA_MS(2)}, &future);

    job_is_repeated(status, future);
}

void work_hedge(void)
{
    row.main->most = 2;
    row.may_lose = row.may_interrupt = true;
    rota_call call = call_of_job();
    rota_future *future = NULL;
    int status = rota_hedge(row.ex, &call, ROTA_MS(2), &future);

    job_is_repeated(status, future);
}

/* -- Calls that wait ------------------------------------------------------------------------------- */

/* Notes that the call that starts the work waits for it. */
static void work_waits(void)
{
    row.is_awaited = true;
    changed();
}

void work_invoke_all(void)
{
    job *second = job_new("a second call", quick), *third = job_new("a third call", quick);
    rota_future *futures[3] = {NULL, NULL, NULL};

    second->is_task = third->is_task = second->has_value = true;
    work_waits();
    rota_call calls[3] = {job_call(second), call_of_job(), job_call(third)};
    atomic_store(&row.main->accepted, true); /* unless the status says otherwise */
    atomic_store(&second->accepted, true);
    atomic_store(&third->accepted, true);
    int status = rota_invoke_all(row.ex, calls, 3, ROTA_FOREVER, futures);
    if (status == ROTA_EINVAL || status == ROTA_ENOMEM) {
        atomic_store(&row.main->accepted, false);
        atomic_store(&second->accepted, false);
        atomic_store(&third->accepted, false);
    }
    rota_future_unref(futures[0]);
    rota_future_unref(futures[2]);
    work_is_started(status, futures[1]);
}

void work_invoke_any(void)
{
    job *second = job_new("a rival", quick);
    rota_future *first = NULL;

    row.may_lose = row.may_succeed = row.may_interrupt = second->is_task = true;
    work_waits();
    rota_call calls[2] = {call_of_job(), job_call(second)};
    second->may_vanish = true; /* it is not submitted if the first has succeeded */
    atomic_store(&row.rival, second);
    atomic_store(&row.main->accepted, true);
    atomic_store(&second->accepted, true);
    int status = rota_invoke_any(row.ex, calls, 2, ROTA_FOREVER, &first);
    if (status == ROTA_EINVAL || status == ROTA_ENOMEM) {
        atomic_store(&row.main->accepted, false);
        atomic_store(&second->accepted, false);
    }
    work_is_started(status, first);
}

/* -- Fork/join -------------------------------------------------------------------------------------- */

/* Checks the end of a fork/join task or of a loop. */
static void check_forked(const char *call, int status, int error)
{
    if (status == ROTA_EREJECTED && row.may_refuse)
        return;
    if (status == ROTA_ECANCELED && row.may_cancel)
        return;
    if ((status == ROTA_ENOMEM || status == ROTA_EAGAIN) && row.may_starve)
        return;
    if (status == ROTA_EFAILED && atomic_load(&row.natural) == ROTA_EFAILED) {
        if (error != atomic_load(&row.error))
            fail("%s: the code is %d", call, error);
        return;
    }
    if (status == ROTA_OK
        && (atomic_load(&row.natural) == ROTA_OK || row.may_succeed || row.may_cancel))
        return;
    fail("%s ends with %s, code %d", call, rota_strerror(status), error);
}

struct fj_job {
    rota_fj task;
};

static struct fj_job forked;

static void fj_run(rota_fj *task)
{
    (void)task;
    job_step(row.main);
}

static void fj_start(void)
{
    forked = (struct fj_job){ROTA_FJ(fj_run)};
    atomic_store(&row.main->fj, &forked.task);
    row.has_steps = row.runs_anywhere = row.caller_takes_part = true;
    work_waits();
}

void work_fj_task(void)
{
    fj_start();
    int status = rota_invoke(row.ex, &forked.task);
    check_forked("rota_invoke", status, rota_fj_error(&forked.task));
    work_is_started(status, NULL);
}

static void *fork_outside(void *unused)
{
    (void)unused;
    rota_fork(&forked.task);
    return NULL;
}

/* A task that a thread outside of all pools has forked, which puts it into the common pool. */
void work_fj_forked(void)
{
    fj_start();
    pthread_join(thread_new(fork_outside, NULL), NULL);
    int status = rota_join(&forked.task);
    check_forked("rota_join", status, rota_fj_error(&forked.task));
    if (rota_join(&forked.task) != status)
        fail("a second rota_join returns another status");
    work_is_started(status, NULL);
}

static rota_completer root, kids[3];

static void complete(rota_completer *self)
{
    rota_try_complete(self);
}

static void kid_compute(rota_completer *self)
{
    job_step(row.main);
    rota_try_complete(self);
}

/* Forks three children: the job, one that completes, and one that is cancelled and failed after that. */
static void root_compute(rota_completer *self)
{
    kids[0] = (rota_completer)ROTA_COMPLETER(complete, self);
    kids[1] = (rota_completer)ROTA_COMPLETER(kid_compute, self);
    kids[2] = (rota_completer)ROTA_COMPLETER(complete, self);
    atomic_store(&row.main->fj, &kids[1].task);
    rota_set_pending(self, 3);
    for (int i = 0; i < 3; i++)
        rota_fork(&kids[i].task);
    rota_fj_cancel(&kids[2].task);
    if (rota_fj_is_done(&kids[2].task))
        rota_fj_fail(&kids[2].task, 8);
    rota_try_complete(self);
}

void work_completer(void)
{
    root = (rota_completer)ROTA_COMPLETER(root_compute, NULL);
    row.has_steps = row.runs_anywhere = row.caller_takes_part = true;
    work_waits();
    int status = rota_invoke(row.ex, &root.task);
    check_forked("rota_invoke of a completer", status, rota_fj_error(&root.task));
    work_is_started(status, NULL);
}

static void loop_body(size_t begin, size_t end, void *ctx)
{
    (void)end;
    if (begin == 0)
        job_step(ctx);
}

/* In the executor, or in the common pool if the executor is no fork/join pool. */
void work_loop(void)
{
    row.has_steps = row.runs_anywhere = row.caller_takes_part = true;
    work_waits();
    row.uses_common = true;
    int status = rota_parallel_for(row.is_forkjoin ? row.ex : NULL, 0, 4, 1, loop_body, row.main);
    check_forked("rota_parallel_for", status, atomic_load(&row.error));
    work_is_started(status, NULL);
}

/* -- A task that was drained ------------------------------------------------------------------------ */

static void free_list(void *list)
{
    rota_task_list_free(list);
}

/* Stops the first executor and passes its task on. The task may run on this thread, and end it. */
static void pass_on(void)
{
    rota_task_list drained = {NULL, 0};

    if (rota_shutdown_now(row.source, &drained) != ROTA_OK)
        rota_shutdown_now(row.source, NULL);
    atomic_store(&row.is_drained, true);
    changed();
    pthread_cleanup_push(free_list, &drained);
    for (size_t i = 0; i < drained.count; i++) {
        int status = rota_execute_task(row.ex, drained.tasks[i]);
        if (status != ROTA_OK) {
            row.may_cancel = true;
            rota_task_discard(drained.tasks[i]);
        }
    }
    pthread_cleanup_pop(1);
}

void work_drained(void)
{
    job *blocker = job_new("a blocker of another executor", block);
    rota_call call = call_of_job();
    rota_future *future = NULL;

    row.may_cancel = true; /* if the executor refuses it */
    row.runs_anywhere = true;
    int status = rota_fixed_pool(1, &row.source);
    if (status == ROTA_OK)
        status = job_submit(row.source, blocker, NULL);
    while (status == ROTA_OK && atomic_load(&blocker->begun) == 0)
        usleep(100);
    if (status == ROTA_OK)
        status = rota_submit_call(row.source, &call, &future);
    if (status == ROTA_OK && !row.late)
        row.later = pass_on;
    job_is_started(status, future);
    if (status == ROTA_OK && row.late)
        pass_on();
}
