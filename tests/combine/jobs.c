/* SPDX-License-Identifier: MIT */
/*
 * jobs.c - the functions that the library is given, each with an account of its runs.
 */
#include "combine.h"

job *job_new(const char *name, job_fn *fn)
{
    int n = atomic_fetch_add(&row.job_count, 1);

    if (n >= MOST_JOBS) {
        fail("the row has too many jobs");
        _exit(2);
    }
    job *self = &row.jobs[n];
    self->name = name;
    self->fn = fn;
    self->most = 1;
    return self;
}

/* Returns the job that `arg` points to. NULL: it points to none. */
job *job_find(const void *arg)
{
    for (int i = 0; i < atomic_load(&row.job_count); i++)
        if (arg == &row.jobs[i])
            return &row.jobs[i];
    return NULL;
}

rota_call job_call(job *self)
{
    self->is_call = true;
    return (rota_call){.fn = job_run,
                       .arg = self,
                       .discard = job_discard,
                       .free_result = self->has_value ? value_free : NULL,
                       .name = self->name};
}

/* Notes that the library has accepted the job. Keeps a reference to the job of the row, unless only the library may have
   references to it. */
void job_is_accepted(job *self, rota_future *future)
{
    if (self == row.main && !row.is_dropped && !row.is_source)
        atomic_store(&self->future, rota_future_ref(future));
    atomic_store(&self->accepted, true);
    changed();
}

/* -- Runs -------------------------------------------------------------------------------------- */

static void check_thread(job *self)
{
    if (thread_state == 2)
        fail("%s runs after on_exit", self->name);
    bool runs_at_source = row.submit_waits && row.has_steps; /* if the pool has no room */
    if (self->is_task && row.knows_threads && thread_state == 0 && !row.runs_in_caller
        && !row.runs_anywhere && !row.runs_inline && !runs_at_source)
        fail("%s runs outside the threads of its executor", self->name);
}

static _Thread_local int depth; /* tasks of the executor that the thread runs, one inside another */

static void begin(job *self)
{
    int runs = atomic_fetch_add(&self->begun, 1) + 1;

    atomic_store(&self->thread, pthread_self());
    if (runs > self->most)
        fail("%s runs too often", self->name);
    if (atomic_load(&self->discarded) > 0)
        fail("%s runs after its discard", self->name);
    if (rota_is_interrupted() && (!row.may_interrupt || atomic_load(&self->must_be_calm)))
        fail("%s begins interrupted", self->name);
    check_thread(self);
    if (self->is_task && depth++ == 0) {
        int running = atomic_fetch_add(&row.running, 1) + 1;
        if (running > atomic_load(&row.most_running))
            atomic_store(&row.most_running, running);
    }
    changed();
}

static void end(void *arg)
{
    job *self = arg;

    if (self->is_task && --depth == 0)
        atomic_fetch_sub(&row.running, 1);
    atomic_fetch_add(&self->ended, 1);
    changed();
}

/* The function of all calls. */
void *job_run(void *arg)
{
    job *self = arg;
    void *value = NULL;

    begin(self);
    pthread_cleanup_push(end, self);
    if (self->is_periodic && atomic_load(&self->begun) >= 3)
        value = job_fail(self, 9);
    else
        value = self->fn(self);
    pthread_cleanup_pop(1);
    return value;
}

/* Runs a job as a step, which has no discard function. */
void *job_step(job *self)
{
    atomic_store(&self->accepted, true);
    return job_run(self);
}

void job_discard(void *arg)
{
    job *self = arg;

    if (atomic_fetch_add(&self->discarded, 1) > 0)
        fail("%s is discarded twice", self->name);
    changed();
}

void *job_fail(job *self, int code)
{
    rota_fj *fj = atomic_load(&self->fj);

    if (fj == NULL)
        return rota_fail(code);
    rota_fj_fail(fj, code);
    return NULL;
}

/* Submits a job as a call. `out` may be NULL. */
int job_submit(rota_executor *ex, job *self, rota_future **out)
{
    rota_call call = job_call(self);
    int status = rota_submit_call(ex, &call, out);

    if (status == ROTA_OK)
        atomic_store(&self->accepted, true);
    return status;
}

/* -- Values ------------------------------------------------------------------------------------ */

enum { VALUE_LIVES = 0x600d, VALUE_IS_FREE = 0xbad };

struct value {
    int mark;
    struct value *next;
};

static struct value *_Atomic values; /* all of them; they stay, so that a second free is seen */

/* Returns the result of a job. */
void *job_value(job *self)
{
    struct value *value;

    if (self->given != NULL)
        return self->given;
    if (!self->has_value)
        return NULL;
    value = malloc(sizeof *value);
    if (value != NULL) {
        value->mark = VALUE_LIVES;
        value->next = atomic_load(&values);
        while (!atomic_compare_exchange_weak(&values, &value->next, value))
            continue;
        atomic_fetch_add(&row.values, 1);
    }
    return value;
}

void value_free(void *pointer)
{
    struct value *value = pointer;

    if (value == NULL)
        return;
    if (value->mark != VALUE_LIVES)
        fail("a value is freed twice");
    value->mark = VALUE_IS_FREE;
    atomic_fetch_sub(&row.values, 1);
}

bool value_is_alive(void *pointer)
{
    struct value *value = pointer;

    return value == NULL || value->mark == VALUE_LIVES;
}

/* -- Functions of jobs -------------------------------------------------------------------------- */

void *quick(job *self)
{
    return job_value(self);
}

void *brief(job *self)
{
    usleep(300);
    return job_value(self);
}

/* Holds its thread until the row releases it. The library does not see the wait. */
void *block(job *self)
{
    wait_until(&row.released, ROTA_FOREVER);
    return job_value(self);
}

/* Sleeps until an interrupt. The row interrupts every sleeper after the event. A job that the event must interrupt
   must not need that. */
void sleep_until_interrupted(job *self)
{
    rota_thread *thread = rota_thread_self();

    if (thread == NULL) /* no memory */
        return;
    atomic_store(&self->ends_if_interrupted, true);
    pthread_mutex_lock(&row.lock);
    self->sleeper = thread;
    pthread_mutex_unlock(&row.lock);
    changed();
    int status = rota_sleep(ROTA_SEC(100));
    pthread_mutex_lock(&row.lock);
    self->sleeper = NULL;
    rota_interrupted();
    pthread_mutex_unlock(&row.lock);
    changed();
    check_status("rota_sleep of a sleeper", status, ROTA_EINTERRUPTED);
}
