/* SPDX-License-Identifier: MIT */
/*
 * harness.c - runs one row and holds it to the promises of the headers. The oracle knows no row in particular: it reads
 * the flags that the choices have set, and the accounts of the jobs.
 */
#include "combine.h"

row_state row = {.lock = PTHREAD_MUTEX_INITIALIZER,
                 .closing = PTHREAD_MUTEX_INITIALIZER,
                 .phase = "begins",
                 .waiter_phase = "is not there"};
_Thread_local int thread_state;

/* -- Failures and waits --------------------------------------------------------------------------------- */

void fail(const char *format, ...)
{
    char line[200];
    va_list words;

    va_start(words, format);
    vsnprintf(line, sizeof line, format, words);
    va_end(words);
    atomic_fetch_add(&row.failures, 1);
    printf("%s\n", line);
    fflush(stdout);
}

bool check_status(const char *call, int status, int expected)
{
    if (status != expected)
        fail("%s: %s", call, rota_strerror(status));
    return status == expected;
}

/* Tells the threads that wait in wait_until that something has changed. */
void changed(void)
{
    pthread_mutex_lock(&row.lock);
    pthread_cond_broadcast(&row.changed);
    pthread_mutex_unlock(&row.lock);
}

static struct timespec after(rota_ns timeout)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += timeout % ROTA_SEC(1);
    at.tv_sec += timeout / ROTA_SEC(1) + at.tv_nsec / ROTA_SEC(1);
    at.tv_nsec %= ROTA_SEC(1);
    return at;
}

/* Waits until a flag is set. The library does not see this wait. */
bool wait_until(atomic_bool *flag, rota_ns timeout)
{
    struct timespec at = after(timeout == ROTA_FOREVER ? 0 : timeout);
    int error = 0;

    pthread_mutex_lock(&row.lock);
    while (!atomic_load(flag) && error == 0)
        error = timeout == ROTA_FOREVER ? pthread_cond_wait(&row.changed, &row.lock)
                                        : pthread_cond_timedwait(&row.changed, &row.lock, &at);
    pthread_mutex_unlock(&row.lock);
    return atomic_load(flag);
}

/* Waits until a condition holds, or for 100 ms: what follows may come too early, but is right even then. */
static void wait_a_while(bool (*holds)(void))
{
    struct timespec at = after(ROTA_MS(100));
    int error = 0;

    pthread_mutex_lock(&row.lock);
    while (!holds() && error == 0)
        error = pthread_cond_timedwait(&row.changed, &row.lock, &at);
    pthread_mutex_unlock(&row.lock);
}

/* Waits until a condition holds. If it never does, the row hangs, which is a failure. */
static void wait_for(bool (*holds)(void))
{
    pthread_mutex_lock(&row.lock);
    while (!holds())
        pthread_cond_wait(&row.changed, &row.lock);
    pthread_mutex_unlock(&row.lock);
}

static void out_of_time(int signal)
{
    const char *words[] = {"hangs: the row ", row.phase, ", the waiter ", row.waiter_phase, "\n"};

    (void)signal;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (write(STDOUT_FILENO, words[i], strlen(words[i])) < 0)
            break;
    _exit(3);
}

/* Sends SIGALRM to this process after some time. */
void set_alarm(rota_ns time)
{
    struct itimerval timer = {
        .it_value = {.tv_sec = time / ROTA_SEC(1), .tv_usec = time % ROTA_SEC(1) / 1000}};

    setitimer(ITIMER_REAL, &timer, NULL);
}

static void limit_time(void)
{
    const char *seconds = getenv("COMBINE_SECONDS");

    row.limit = seconds == NULL ? ROTA_SEC(10) : (rota_ns)(atof(seconds) * 1e9);
    signal(SIGALRM, out_of_time);
    set_alarm(row.limit);
}

/* -- The parts of a row ----------------------------------------------------------------------------------- */

static bool job_has_begun(void)
{
    return atomic_load(&row.main->begun) > 0 || atomic_load(&row.waited);
}

static bool work_has_started(void)
{
    return atomic_load(&row.started) || row.is_awaited || job_has_begun();
}

/* A drained task must be out of its first executor. */
static bool work_is_settled(void)
{
    return work_has_started()
           && (row.later == NULL || atomic_load(&row.is_drained) || job_has_begun());
}

static bool all_have_started(void)
{
    return atomic_load(&row.all_started);
}

static bool has_timed_out(void)
{
    return atomic_load(&row.timed_out) || atomic_load(&row.watches) || job_has_begun();
}

/* Holds the threads of the executor, fills its queue, and adds a task in front of the work. */
static void prepare(void)
{
    rota_executor *ex = row.behind != NULL ? row.behind : row.ex;
    unsigned held = row.is_inside && row.hold > 0 ? 1 : 0;

    for (unsigned i = held; row.queued && i < row.hold; i++) {
        job *blocker = job_new("a blocker", block);
        if (job_submit(ex, blocker, NULL) == ROTA_OK)
            while (atomic_load(&blocker->begun) == 0 && atomic_load(&blocker->discarded) == 0)
                usleep(200);
    }
    for (unsigned i = 0; row.queued && i < row.fill; i++)
        job_submit(ex, job_new("a filler", quick), NULL);
}

static void submit_brief(const char *name, rota_future **out)
{
    rota_pool_stats stats;
    job *sibling = job_new(name, brief);

    sibling->is_task = true;
    if (job_submit(row.ex, sibling, out) != ROTA_OK)
        return;
    if (rota_pool_stats_get(row.ex, &stats) == ROTA_OK && stats.submitted == 0)
        fail("an accepted task is in no figure of its pool");
}

/* Submits a task beside the work, unless the submitter would wait for the row. */
static void submit_sibling(const char *name, rota_future **out)
{
    if (row.queued && (row.submit_waits || row.is_user))
        return;
    pthread_mutex_lock(&row.closing);
    if (!atomic_load(&row.closed))
        submit_brief(name, out);
    pthread_mutex_unlock(&row.closing);
}

/* The step of a row that starts late. */
static rota_future *start_step(void *value, void *unused)
{
    (void)value;
    (void)unused;
    row.work();
    rota_future *future = row_future();
    if (future == NULL)
        rota_fail(row.start_status == ROTA_OK ? ROTA_EREJECTED : row.start_status);
    return future;
}

static void *launch(void *unused)
{
    row.place();
    return unused;
}

static bool rival_has_ended(void)
{
    return atomic_load(&atomic_load(&row.rival)->ended) > 0;
}

static bool interrupted_jobs_are_awake(void)
{
    for (int i = 0; i < atomic_load(&row.job_count); i++) {
        job *self = &row.jobs[i];
        if (atomic_load(&self->is_stopped) && atomic_load(&self->ends_if_interrupted)
            && atomic_load(&self->begun) > atomic_load(&self->ended))
            return false;
    }
    return atomic_load(&row.rival) == NULL || !rival_has_ended() || row.main->sleeper == NULL;
}

/* Interrupts every job that sleeps, until the row is finished. */
static void *interrupt_sleepers(void *unused)
{
    while (!atomic_load(&row.finished)) {
        pthread_mutex_lock(&row.lock);
        for (int i = 0; i < atomic_load(&row.job_count); i++)
            if (row.jobs[i].sleeper != NULL)
                rota_thread_interrupt(row.jobs[i].sleeper);
        pthread_mutex_unlock(&row.lock);
        usleep(1000);
    }
    return unused;
}

/* -- The accounts ------------------------------------------------------------------------------------------ */

static void check_job(job *self)
{
    int begun = atomic_load(&self->begun), discarded = atomic_load(&self->discarded);

    if (begun != atomic_load(&self->ended))
        fail("%s has not ended", self->name);
    if (!atomic_load(&self->accepted)) {
        if (row.error == ROTA_ECANCELED)
            return; /* the job may have ended the thread that submitted this one */
        if (begun > 0 || discarded > 0)
            fail("%s was refused, but it has %s", self->name, begun > 0 ? "run" : "been discarded");
        return;
    }
    if (self->may_vanish || (!self->is_call && row.may_cancel)
        || (!self->is_call && row.may_refuse))
        return;
    if (begun == 0 && discarded == 0)
        fail("%s has neither run nor been discarded", self->name);
    if (begun > 0 && discarded > 0 && !self->is_periodic)
        fail("%s has run and been discarded", self->name);
}

/* The most tasks that the executor can have accepted. */
static int tasks_of_executor(void)
{
    int count = row.is_inside ? 1 : 0;

    for (int i = 0; i < atomic_load(&row.job_count); i++) {
        if (row.jobs[i].is_task && atomic_load(&row.jobs[i].accepted))
            count += row.jobs[i].most;
    }
    return count;
}

static void check_accounts(void)
{
    for (int i = 0; i < atomic_load(&row.job_count); i++)
        check_job(&row.jobs[i]);
    if (atomic_load(&row.values) != 0)
        fail("a value is not freed");
    if (row.has_order && atomic_load(&row.most_running) > 1 && !row.runs_anywhere)
        fail("tasks of a single thread run at the same time");
    if (row.one_each && !row.has_steps && atomic_load(&row.threads_made) > tasks_of_executor())
        fail("more threads are made than tasks");
}

static void check_close(const char *which, rota_executor *ex)
{
    if (ex != NULL)
        check_status(which, rota_close(ex), ROTA_OK);
}

/* Runs what is left in a common pool without threads. */
static void run_all_tasks(void)
{
    rota_task *task;

    while (rota_forkjoin_poll_submission(row.ex, &task) == ROTA_OK)
        rota_task_run(task);
}

static bool jobs_have_ended(void)
{
    for (int i = 0; i < atomic_load(&row.job_count); i++)
        if (atomic_load(&row.jobs[i].begun) > atomic_load(&row.jobs[i].ended))
            return false;
    return true;
}

static bool tasks_have_ended(void)
{
    for (int i = 0; i < atomic_load(&row.job_count); i++) {
        job *self = &row.jobs[i];
        if (self->is_task && self->is_call && atomic_load(&self->accepted) && !self->may_vanish
            && atomic_load(&self->begun) + atomic_load(&self->discarded) == 0)
            return false;
    }
    return jobs_have_ended();
}

static void close_all(void)
{
    row.phase = "closes the executor";
    if (row.is_common && row.runs_in_caller)
        run_all_tasks();
    else if (row.is_common)
        check_status("rota_await_quiescence", rota_await_quiescence(row.ex, ROTA_FOREVER), ROTA_OK);
    while (row.is_common && !jobs_have_ended())
        usleep(1000);
    if (row.is_delayed)
        wait_for(tasks_have_ended); /* they may use the executor, though they have left it */
    pthread_mutex_lock(&row.closing);
    if (!row.is_common && !atomic_load(&row.closed))
        check_close("rota_close", row.ex);
    atomic_store(&row.closed, true);
    pthread_mutex_unlock(&row.closing);
    row.phase = "closes the other executors";
    check_close("rota_close behind a delayed executor", row.behind);
    check_close("rota_close of the executor of a drained task", row.source);
    check_close("rota_close of the waiter's pool", row.other);
    check_close("rota_close of the waiter's fork/join pool", row.forkjoin);
}

static void release_all(void)
{
    rota_future_unref(row.future);
    rota_future_unref(row.proxy);
    rota_future_unref(row.late_start);
    rota_future_unref(row.sibling);
    rota_future_unref(row.promise);
    rota_future_unref(atomic_load(&row.main->future));
    rota_completion_free(row.completion);
}

/* Uses the library once, so that memory that it keeps for the process is there. */
static void *warm_up(void *unused)
{
    rota_executor *pool = NULL;
    rota_future *future = NULL, *timed = NULL;

    rota_fixed_pool(1, &pool);
    rota_promise_new(&future);
    rota_timeout(future, ROTA_MS(1), &timed);
    rota_future_get(timed, NULL);
    rota_future_unref(timed);
    rota_future_unref(future);
    rota_close(pool);
    return unused;
}

/* Waits until memory, threads and descriptors are back, and fails if they do not come back in time. */
static void check_resources(long blocks, unsigned threads, unsigned descriptors)
{
    rota_ns end = rota_now() + row.limit / 4;

    while (rota_now() < end && !row.is_common && !row.uses_common
           && (memory_in_use() > blocks || entries("/proc/self/task") > threads
               || entries("/proc/self/fd") > descriptors))
        usleep(1000);
    if (row.is_common || row.uses_common || !atomic_load(&row.started))
        return;
    if (memory_in_use() > blocks)
        fail("memory is not freed");
    if (entries("/proc/self/task") > threads)
        fail("a thread has not ended");
    if (entries("/proc/self/fd") > descriptors)
        fail("a descriptor is still open");
}

/* -- The row ------------------------------------------------------------------------------------------------ */

static void set_up(void)
{
    row.setting();
    row.moment();
    row.start();
    row.event(false);
    row.main = job_new("the job", row.body);
    row.executor();
    check_status("rota_promise_new", rota_promise_new(&row.promise), ROTA_OK);
    if (!row.late)
        return;
    check_status("rota_promise_new", rota_promise_new(&row.late_start), ROTA_OK);
    check_status("rota_chain", rota_chain(row.late_start, NULL, start_step, NULL, &row.proxy),
                 ROTA_OK);
}

/* Starts the work if the row starts late, and submits more tasks. It is a thread of its own, because the library may run
   tasks on it. */
static void *start_more(void *unused)
{
    if (row.late) {
        wait_until(&row.waiting, ROTA_FOREVER);
        usleep(
            2000); /* the waiter should sleep by now; if not, the row is another one, but as good */
        rota_promise_complete(row.late_start, NULL);
    }
    if (row.submit_waits)
        wait_a_while(work_has_started);
    else
        wait_for(work_has_started);
    void (*later)(void) = row.later;
    if (later != NULL) {
        usleep(2000); /* as above */
        later();
    }
    if (!row.queued)
        wait_a_while(job_has_begun);
    submit_sibling("y sibling", NULL);
    atomic_store(&row.all_started, true);
    changed();
    wait_until(&row.happened, ROTA_FOREVER);
    if (!row.closes)
        submit_sibling("z sibling", NULL);
    return unused;
}

/* Ends everything that waits for the row. */
static void let_go(void)
{
    row.phase = "waits for the jobs that the event interrupts";
    if (atomic_load(&row.rival) != NULL)
        wait_a_while(rival_has_ended);
    wait_for(interrupted_jobs_are_awake);
    row.phase = "waits for the caller to take part";
    if (row.caller_takes_part)
        wait_for(job_has_begun);
    row.phase = "waits for a wait with a timeout";
    if (row.waits_in_time && row.start_status == ROTA_OK && row.queued && !row.submit_waits
        && !row.runs_in_caller)
        wait_for(has_timed_out);
    refuse_threads(false);
    refuse_memory(false);
    atomic_store(&row.released, true);
    changed();
}

/* Completes the promise that jobs wait for. The library may run steps on this thread. */
static void *complete_promise(void *unused)
{
    rota_promise_complete(row.promise, NULL);
    return unused;
}

/* Sets the flags that follow from the names of the waiter's place and wait. */
void row_is(const char *place, const char *wait)
{
    row.is_inside = strcmp(place, "same") == 0;
    row.is_dropped = strncmp(wait, "dropped", 7) == 0;
    row.waits_in_time = strstr(wait, "timed") != NULL;
}

/* The library keeps memory for each thread that uses it, so the first thread of the process never does. */
static void in_thread(void *(*fn)(void *))
{
    pthread_join(thread_new(fn, NULL), NULL);
}

static void *run(void *unused)
{
    set_up();
    row.phase = "waits for the waiter to arrive";
    pthread_t launcher = thread_new(launch, NULL);
    wait_until(&row.arrived, ROTA_FOREVER);
    prepare();
    submit_sibling("a sibling", &row.sibling);
    if (row.queued && row.may_starve)
        row.event(true);
    row.phase = "waits for the moment of the event";
    atomic_store(&row.go, true);
    changed();
    pthread_t starter = thread_new(start_more, NULL);
    if (row.closes) { /* nothing else may use the executor then */
        wait_until(&row.started, ROTA_FOREVER);
        wait_for(all_have_started);
    } else if (!row.submit_waits) {
        wait_for(work_is_settled);
    }
    wait_a_while(all_have_started);
    row.phase = "makes the event happen";
    if (!(row.queued && row.may_starve))
        row.event(true);
    atomic_store(&row.happened, true);
    changed();
    let_go();
    pthread_t completer = thread_new(complete_promise, NULL),
              interrupter = thread_new(interrupt_sleepers, NULL);
    row.phase = "waits for the waiter";
    wait_until(&row.waited, ROTA_FOREVER);
    pthread_join(launcher, NULL);
    row.phase = "waits for the starter";
    pthread_join(starter, NULL);
    pthread_join(completer, NULL);
    close_all();
    row.phase = "checks the accounts";
    atomic_store(&row.finished, true);
    pthread_join(interrupter, NULL);
    release_all();
    check_accounts();
    return unused;
}

/* Runs the row that `row` describes, and returns 0 if it keeps all promises. */
int row_run(void)
{
    pthread_condattr_t clock;

    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&row.changed, &clock);
    limit_time();
    setenv("ROTA_COMMON_PARALLELISM", "0", 1);
    count_memory();
    in_thread(warm_up);
    long blocks = memory_in_use();
    unsigned threads = entries("/proc/self/task"), descriptors = entries("/proc/self/fd");
    in_thread(run);
    check_resources(blocks, threads, descriptors);
    fflush(stdout);
    return atomic_load(&row.failures) > 0;
}
