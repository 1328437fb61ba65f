/* SPDX-License-Identifier: MIT */
/*
 * bodies.c - what the job of a row does. body_NAME runs once for each run of the job.
 */
#include "combine.h"

void *body_returns(job *self)
{
    return job_value(self);
}

void *body_fails(job *self)
{
    row.natural = ROTA_EFAILED;
    row.error = 7;
    return job_fail(self, 7);
}

void *body_ends_thread(job *self)
{
    (void)self;
    row.natural = ROTA_EFAILED;
    row.error = ROTA_ECANCELED;
    wait_until(&row.happened, ROTA_FOREVER);
    pthread_exit(NULL);
}

/* The interrupt is for this job alone. */
void *body_interrupts_itself(job *self)
{
    rota_thread_interrupt(rota_thread_self());
    return job_value(self);
}

/* Waits until everything is started, unless the thread that starts it runs this job. */
static void wait_for_start(void)
{
    if (row.is_awaited || row.runs_in_caller || row.submit_waits || row.runs_inline)
        return;
    wait_until(&row.started, ROTA_FOREVER);
    wait_until(&row.all_started, ROTA_FOREVER);
}

void *body_cancels_itself(job *self)
{
    row.may_succeed = row.may_cancel = true;
    wait_for_start();
    rota_future *own = atomic_load(&self->future), *composed = row_future();
    rota_fj *fj = atomic_load(&self->fj);
    if (fj != NULL)
        rota_fj_cancel(fj);
    else
        cancel_future(own != NULL ? own : composed, false);
    rota_future_unref(composed);
    return job_value(self);
}

void *body_cancels_sibling(job *self)
{
    cancel_future(row.sibling, true);
    return job_value(self);
}

static bool is_interrupted_by_event(void)
{
    return row.stops && !atomic_load(&row.released);
}

static void *inner(job *self)
{
    if (is_interrupted_by_event() && !row.queued)
        sleep_until_interrupted(self);
    return job_value(self);
}

/* Submits a job to its own executor and waits for it. If the event stops the executor, it must interrupt both. */
void *body_submits_and_waits(job *self)
{
    job *child = job_new("an inner task", inner);
    child->is_task = true;
    atomic_store(&self->ends_if_interrupted, true);
    rota_future *future = NULL;
    int status = job_submit(row.ex, child, &future);

    if (status != ROTA_OK)
        return job_value(self);
    status = rota_future_get(future, NULL);
    rota_future_unref(future);
    if (status == ROTA_EINTERRUPTED && !row.may_interrupt)
        fail("rota_future_get for an inner task: %s", rota_strerror(status));
    if (status == ROTA_OK && self->is_task && atomic_load(&self->is_stopped))
        sleep_until_interrupted(self);
    return job_value(self);
}

void *body_waits_for_promise(job *self)
{
    int status = rota_future_get(row.promise, NULL);

    if (status != ROTA_OK && !(status == ROTA_EINTERRUPTED && row.may_interrupt))
        fail("rota_future_get for a promise: %s", rota_strerror(status));
    return job_value(self);
}

/* A task that waits for itself gets ROTA_EDEADLOCK. */
void *body_waits_for_itself(job *self)
{
    wait_for_start();
    rota_future *own = atomic_load(&self->future);
    if (own != NULL && !row.may_cancel)
        check_status("rota_future_get for the calling task itself", rota_future_get(own, NULL),
                     ROTA_EDEADLOCK);
    return job_value(self);
}

void *body_closes_own(job *self)
{
    row.may_refuse = row.may_cancel = true;
    wait_for_start();
    if (row.is_delayed) { /* the task has left the delayed executor, so ROTA_OK is right as well */
        if (pthread_mutex_trylock(&row.closing) != 0)
            return job_value(self); /* the row uses or closes it */
        if (atomic_load(&row.closed)) {
            pthread_mutex_unlock(&row.closing);
            return job_value(self);
        }
        int status = rota_close(row.ex);
        atomic_store(&row.closed, status == ROTA_OK);
        pthread_mutex_unlock(&row.closing);
        if (status != ROTA_OK)
            check_status("rota_close in a task of the executor", status, ROTA_EDEADLOCK);
    } else {
        int status = rota_close(row.ex);
        if (!row.is_common || status != ROTA_ENOTSUP)
            check_status("rota_close in a task of the executor", status, ROTA_EDEADLOCK);
    }
    return job_value(self);
}

static void *begin_calmly(void *unused)
{
    (void)unused;
    if (rota_is_interrupted())
        fail("a task of another executor begins interrupted after a stop");
    return NULL;
}

static void begin_calmly_forked(rota_fj *task)
{
    (void)task;
    begin_calmly(NULL);
}

static int run_at_once(void *self, rota_task *task)
{
    (void)self;
    rota_task_run(task);
    return ROTA_OK;
}

/* After a stop, tasks of other executors on the same thread are not interrupted. */
static void run_elsewhere(void)
{
    rota_executor *here = NULL, *pool = NULL;
    rota_fj task = ROTA_FJ(begin_calmly_forked);

    if (rota_executor_new(&(rota_executor_ops){.execute = run_at_once}, NULL, &here) != ROTA_OK)
        return;
    rota_execute(here, begin_calmly, NULL);
    check_status("rota_close of an executor that runs at once", rota_close(here), ROTA_OK);
    if (rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 1}, &pool) != ROTA_OK)
        return;
    rota_invoke(pool, &task);
    check_status("rota_close of a fork/join pool", rota_close(pool), ROTA_OK);
}

/* The thread runs tasks that were handed over. No executor stops these. */
static _Thread_local bool runs_drained;

/* Stops its own executor, takes the interrupt, and runs the tasks that were handed over. */
void *body_stops_own(job *self)
{
    bool is_executors = !runs_drained;
    rota_task_list drained = {NULL, 0};

    bool is_calm = !row.may_interrupt && !row.may_starve;
    wait_for_start();
    row.may_refuse = row.may_cancel = row.runs_anywhere = row.may_interrupt = true;
    int status = rota_shutdown_now(row.ex, &drained);
    if (status != ROTA_OK && !(row.may_starve && status == ROTA_ENOMEM))
        check_status("rota_shutdown_now in a task", status, row.is_common ? ROTA_ENOTSUP : ROTA_OK);
    if (self->is_task && is_executors && status == ROTA_OK && !row.is_user && !row.is_delayed
        && !rota_interrupted() && !row.stops)
        fail("rota_shutdown_now does not interrupt its caller, a task");
    rota_interrupted();
    for (size_t i = 0; i < drained.count; i++) {
        job *other = job_find(rota_task_call(drained.tasks[i])->arg);
        if (other != NULL && is_calm)
            atomic_store(&other->must_be_calm, true);
        runs_drained = true;
        rota_task_run(drained.tasks[i]);
        runs_drained = !is_executors;
    }
    rota_task_list_free(&drained);
    if (is_calm)
        run_elsewhere();
    return job_value(self);
}

void *body_sleeps(job *self)
{
    sleep_until_interrupted(self);
    return job_value(self);
}

static void *answer(void *unused)
{
    (void)unused;
    return &row;
}

/* The child uses a new pool, then releases and closes what it inherited. */
static _Noreturn void child_main(void)
{
    rota_executor *pool = NULL;
    rota_future *future = NULL;
    void *value = NULL;

    refuse_threads(false);
    refuse_memory(false);
    if (rota_fixed_pool(1, &pool) != ROTA_OK || rota_submit(pool, answer, NULL, &future) != ROTA_OK
        || rota_future_get(future, &value) != ROTA_OK || value != &row
        || rota_close(pool) != ROTA_OK)
        _exit(4);
    if (!row.is_user && !row.is_forkjoin && !row.is_delayed
        && rota_submit(row.ex, answer, NULL, NULL) != ROTA_EREJECTED)
        _exit(5);
    if (!row.is_common && !row.is_user)
        rota_close(row.ex);
    rota_future_unref(row.promise);
    _exit(0);
}

/* Ends the child if it hangs. The threads of a pool block all signals. */
static void limit_child(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    signal(SIGALRM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    set_alarm(row.limit / 4);
}

/* Forks a process. If the row is a queued one, the child returns from the job instead, so it must exit. */
void *body_forks(job *self)
{
    if (atomic_load(&self->begun) > 1)
        return job_value(self);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        limit_child();
        if (row.queued && thread_state == 1)
            return NULL;
        child_main();
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        fail("a child of fork hangs");
    else if (WIFSIGNALED(status))
        fail("a child of fork is killed by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == 4)
        fail("a new pool does not work in a child of fork");
    else if (WEXITSTATUS(status) == 5)
        fail("an inherited pool accepts a task in a child of fork");
    else if (status != 0)
        fail("a child of fork ends with status %d", WEXITSTATUS(status));
    return job_value(self);
}
