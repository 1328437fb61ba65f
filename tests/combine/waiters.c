/* SPDX-License-Identifier: MIT */
/*
 * waiters.c - where and how a row waits for its work. place_NAME runs the waiter somewhere. wait_NAME waits for a
 * future, and returns how it ended.
 */
#include "combine.h"

/* Notes that the work is started. Takes over the reference. */
void work_is_started(int status, rota_future *future)
{
    pthread_mutex_lock(&row.lock);
    row.start_status = status;
    row.future = future;
    pthread_mutex_unlock(&row.lock);
    atomic_store(&row.started, true);
    changed();
}

/* Returns a reference to the future of the work, or NULL. */
rota_future *row_future(void)
{
    pthread_mutex_lock(&row.lock);
    rota_future *future = rota_future_ref(row.future);
    pthread_mutex_unlock(&row.lock);
    return future;
}

/* -- The waiter ------------------------------------------------------------------------------------- */

static bool is_allowed(int status, int error)
{
    bool is_refusal = status == ROTA_EFAILED && error == ROTA_EREJECTED;
    bool is_want = status == ROTA_EFAILED && (error == ROTA_ENOMEM || error == ROTA_EAGAIN);

    if (status == atomic_load(&row.natural)
        && (status != ROTA_EFAILED || error == atomic_load(&row.error)))
        return true;
    return (status == ROTA_ECANCELED && row.may_cancel) || (is_refusal && row.may_refuse)
           || (is_want && row.may_starve) || (status == ROTA_OK && row.may_succeed)
           || (status == ROTA_EFAILED && error == ROTA_ETIMEDOUT && row.may_time_out)
           || (status == ROTA_EFAILED && error == 9 && row.main->is_periodic);
}

/* Checks how a future ended: with a status that the headers allow, and the same for every call. */
void check_end(rota_future *future, int status)
{
    void *value = NULL;
    int error = rota_future_error(future), again = rota_future_get(future, &value);

    if (!rota_future_is_done(future))
        fail("a wait ends before the future is done");
    else if (again != status)
        fail("two calls return different ends of a future: %s", rota_strerror(again));
    else if (future == atomic_load(&row.cancelled) && status != ROTA_ECANCELED)
        fail("a future that a call has cancelled ends with %s", rota_strerror(status));
    else if (!is_allowed(status, error))
        fail("the future ends with %s, code %d", rota_strerror(status), error);
    if (status == ROTA_OK && again == ROTA_OK && !value_is_alive(value))
        fail("the value of a future is freed while the future is held");
}

/* Cancels a future and compares the result with the state. check_end compares it with the end that a later call gets. */
void cancel_future(rota_future *future, bool now)
{
    if (future == NULL)
        return;
    bool was_done = rota_future_is_done(future),
         did = now ? rota_future_cancel_now(future) : rota_future_cancel(future);
    if (!rota_future_is_done(future))
        fail("a cancelled future is not done");
    if (did && (was_done || rota_future_state_of(future) != ROTA_FUTURE_CANCELED))
        fail("a cancel of a future that ends otherwise returns true");
    if (did)
        atomic_store(&row.cancelled, future);
}

/* Is this thread one that has a legal interrupt? A job that interrupts itself on a thread outside of tasks leaves the
   interrupt for that thread. */
static bool may_be_interrupted(void)
{
    return row.may_interrupt
           || (row.runs_in_caller && pthread_equal(atomic_load(&row.main->thread), pthread_self()));
}

static void finish(void *unused)
{
    (void)unused;
    row.waiter_phase = "has ended";
    atomic_store(&row.waited, true);
    changed();
}

/* The job may end this thread, if it runs here. */
static void start_and_wait(void)
{
    row.waiter_phase = "starts the work";
    if (!row.late)
        row.work();
    rota_future *future = row.late ? row.proxy : row.future;
    row.waiter_phase = "waits";
    atomic_store(&row.waiting, true);
    changed();
    if (future != NULL && row.is_awaited)
        check_end(future, rota_future_get(future, NULL));
    else if (!row.is_awaited && row.start_status == ROTA_OK)
        row.wait(future);
    if (rota_is_interrupted() && !may_be_interrupted())
        fail("the waiter is interrupted");
}

/* Starts the work, unless the row starts it later, and waits for it. */
void *waiter(void *unused)
{
    row.waiter_phase = "waits for the others";
    atomic_store(&row.arrived, true);
    changed();
    wait_until(&row.go, ROTA_FOREVER);
    pthread_cleanup_push(finish, NULL);
    start_and_wait();
    pthread_cleanup_pop(1);
    return unused;
}

/* -- Places ------------------------------------------------------------------------------------------ */

void place_plain(void)
{
    waiter(NULL);
}

/* A task of the row's executor. */
void place_same(void)
{
    if (rota_execute(row.ex, waiter, NULL) != ROTA_OK)
        waiter(NULL);
}

/* A task of another pool. */
void place_other(void)
{
    if (rota_fixed_pool(1, &row.other) != ROTA_OK
        || rota_execute(row.other, waiter, NULL) != ROTA_OK)
        waiter(NULL);
}

/* A task of another pool, a fork/join one. */
void place_forkjoin(void)
{
    if (rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 1}, &row.forkjoin) != ROTA_OK
        || rota_execute(row.forkjoin, waiter, NULL) != ROTA_OK)
        waiter(NULL);
}

/* -- Waits -------------------------------------------------------------------------------------------- */

static bool goes_on(int status)
{
    if (status == ROTA_EINTERRUPTED && !may_be_interrupted())
        fail("a wait is interrupted");
    return status == ROTA_EINTERRUPTED || status == ROTA_ETIMEDOUT;
}

int wait_get(rota_future *future)
{
    int status;

    do
        status = rota_future_get(future, NULL);
    while (goes_on(status));
    check_end(future, status);
    return status;
}

/* The row goes on only after the first call has returned, or after the job has begun. */
int wait_timed(rota_future *future)
{
    int status;

    do {
        status = rota_future_get_timed(future, ROTA_MS(5), NULL);
        atomic_store(&row.timed_out, true);
        changed();
    } while (goes_on(status));
    check_end(future, status);
    return status;
}

int wait_descriptor(rota_future *future)
{
    struct pollfd poller = {.events = POLLIN};
    int status = rota_future_fd(future, &poller.fd);

    if (status == ROTA_OK)
        while (poll(&poller, 1, -1) < 0 && errno == EINTR)
            continue;
    else if (!row.may_starve)
        check_status("rota_future_fd", status, ROTA_OK);
    if (status == ROTA_OK && !rota_future_is_done(future))
        fail("the descriptor is readable before the future is done");
    return wait_get(future);
}

static _Atomic(rota_future *) watched;

static void *watch(job *self)
{
    atomic_store(&row.watches, true);
    changed();
    rota_future *future = atomic_load(&watched);
    int status;

    do
        status = rota_future_get(future, NULL);
    while (goes_on(status));
    if (status != ROTA_EDEADLOCK) /* the watcher runs inside the job, while that waits */
        check_end(future, status);
    return job_value(self);
}

/* Takes the next future of a completion service. */
static int take(rota_completion *completion, bool timed)
{
    rota_future *done = NULL;
    int status;

    do {
        status = timed ? rota_completion_poll_timed(completion, ROTA_MS(5), &done)
                       : rota_completion_take(completion, &done);
        if (timed)
            atomic_store(&row.timed_out, true);
        changed();
    } while (goes_on(status));
    check_status("rota_completion_take", status, ROTA_OK);
    if (status == ROTA_OK && !rota_future_is_done(done))
        fail("rota_completion_take gives a future that is not done");
    rota_future_unref(done);
    return status;
}

static int take_from_service(rota_future *future, bool timed)
{
    rota_completion *completion = NULL;
    job *watcher = job_new("a watcher", watch);
    rota_call call = job_call(watcher);
    rota_future *watching = NULL;

    watcher->is_task = true;
    if (row.completion != NULL && !row.late) {
        take(row.completion, timed);
        return wait_get(future);
    }
    atomic_store(&watched, future);
    if (rota_completion_new(row.ex, &completion) != ROTA_OK)
        return wait_get(future);
    if (rota_completion_submit(completion, &call, &watching) == ROTA_OK) {
        job_is_accepted(watcher, watching);
        rota_future_unref(watching);
        take(completion, timed);
    }
    rota_completion_free(completion);
    return wait_get(future);
}

/* From the completion service of the work, or from one whose only task waits for the work. */
int wait_take(rota_future *future)
{
    return take_from_service(future, false);
}

int wait_poll_timed(rota_future *future)
{
    return take_from_service(future, true);
}

/* For a call that waits for the work: in the executor, or in another pool if the waiter is a task of the executor. */
int wait_any(rota_future *future)
{
    job *watcher = job_new("a watcher", watch);
    rota_executor *pool = NULL;
    rota_future *first = NULL;

    rota_call call = job_call(watcher);
    atomic_store(&watched, future);
    if (row.is_inside && rota_fixed_pool(1, &pool) != ROTA_OK)
        return wait_get(future);
    watcher->is_task = pool == NULL;
    atomic_store(&watcher->accepted, true);
    int status = rota_invoke_any(pool == NULL ? row.ex : pool, &call, 1, ROTA_FOREVER, &first);
    if (status == ROTA_EINVAL || status == ROTA_ENOMEM)
        atomic_store(&watcher->accepted, false);
    rota_future_unref(first);
    status = wait_get(future);
    if (pool != NULL)
        check_status("rota_close of another pool", rota_close(pool), ROTA_OK);
    return status;
}

/* Until the fork/join pool has nothing to do. */
int wait_quiescence(rota_future *future)
{
    int begun;
    int status;

    do {
        begun = atomic_load(&row.main->begun); /* a later attempt may begin at any time */
        status = rota_await_quiescence(row.ex, ROTA_FOREVER);
    } while (goes_on(status));
    check_status("rota_await_quiescence", status, ROTA_OK);
    if (atomic_load(&row.main->accepted) && atomic_load(&row.main->ended) < begun)
        fail("rota_await_quiescence returns while the job runs");
    return future == NULL ? status : wait_get(future);
}

/* Nothing waits: the reference is released at once. */
static void drop(void)
{
    pthread_mutex_lock(&row.lock);
    rota_future *mine = row.future;
    row.future = NULL;
    pthread_mutex_unlock(&row.lock);
    rota_future_unref(mine);
}

int wait_dropped(rota_future *future)
{
    (void)future;
    drop();
    return ROTA_OK;
}

/* The same, after the descriptor was asked for. */
int wait_dropped_descriptor(rota_future *future)
{
    int fd;

    rota_future_fd(future, &fd);
    drop();
    return ROTA_OK;
}
