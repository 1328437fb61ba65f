/* SPDX-License-Identifier: MIT */
/*
 * api_jobs.c - bodies of tasks, and what became of them.
 */
#include "api.h"

enum { FAILURE = 7000, MOST_RUNS = 3, CHILDREN = 3, RANGE = 5 };

static job jobs[JOBS];
static unsigned job_count;
static unsigned depth[EX_THREADS]; /* bodies that each thread is in */

void jobs_begin(void)
{
    job_count = 0;
    for (int i = 0; i < EX_THREADS; i++)
        depth[i] = 0;
}

job *job_new(executor *executor, job_kind kind, uint8_t behaviour)
{
    if (job_count == JOBS)
        return NULL;
    job *job = &jobs[job_count++];
    *job = (struct job){.kind = kind,
                        .behaviour = behaviour % 16,
                        .detail = behaviour / 16,
                        .owns_result = behaviour & 64,
                        .executor = executor};
    return job;
}

/* -- Bodies ---------------------------------------------------------------------------------- */

typedef struct child {
    rota_fj task; /* first */
    unsigned runs;
} child;

static void run_child(rota_fj *self)
{
    ((child *)self)->runs++;
}

/* In a worker only: elsewhere a fork is the common pool's, which outlives the run. */
static void fork_children(void)
{
    child children[CHILDREN];

    if (rota_fj_pool() == NULL)
        return;
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = (child){ROTA_FJ(run_child), 0};
        rota_fork(&children[i].task);
    }
    for (int i = CHILDREN; i-- > 0;) {
        int status = rota_join(&children[i].task);
        check_status(status, status == ROTA_OK || status == ROTA_ECANCELED);
        check_status(status, children[i].runs == (status == ROTA_OK));
    }
}

static void count_range(size_t begin, size_t end, void *counts)
{
    for (size_t i = begin; i < end; i++)
        ((unsigned *)counts)[i]++;
}

static void loop_in(executor *executor)
{
    unsigned counts[RANGE] = {0};
    bool was_shut = executor->is_ending;

    int status = rota_parallel_for(executor->handle, 0, RANGE, 1, count_range, counts);
    if (executor->kind != FORKJOIN)
        check_status(status, status == ROTA_ENOTSUP);
    else
        check_status(status, status == ROTA_OK || was_shut || executor->is_ending);
    for (int i = 0; i < RANGE; i++)
        check_status(status, counts[i] <= 1 && (status != ROTA_OK || counts[i] == 1));
}

/* A task that submits another to its own executor, and waits for it. */
static void nest(job *outer)
{
    executor *executor = outer->executor;
    bool was_shut = executor->is_shut;
    job *inner = job_new(executor, ONCE, outer->detail % 4);
    rota_future *future = NULL;

    if (inner == NULL)
        return;
    rota_call call = job_call(inner);
    int status = rota_submit_call(executor->handle, &call, &future);
    executor_check_status(executor, was_shut, status);
    inner->accepted = status == ROTA_OK;
    if (status != ROTA_OK)
        return;
    status = rota_future_get_timed(future, ROTA_SEC(1), NULL);
    check_status(status, status != ROTA_EINVAL && status != ROTA_EDEADLOCK);
    rota_future_unref(future);
}

/* Not with another body below it, which may hold something, nor in a fork/join pool. */
static void end_thread(void)
{
    if (is_actor() || depth[ex_running->id] > 1 || rota_fj_pool() != NULL)
        return;
    depth[ex_running->id] = 0;
    ex_exit();
}

static void behave(job *self)
{
    node *other = node_before(NULL, self->detail);

    switch (self->behaviour) {
    case 2:
        rota_sleep(ROTA_MS(1 + self->detail));
        break;
    case 3:
        rota_sleep(ROTA_SEC(1));
        break;
    case 4:
        if (other != NULL)
            node_get(other, ROTA_MS(self->detail));
        break;
    case 5:
        nest(self);
        break;
    case 6:
        if (self->node != NULL)
            node_end_by_hand(self->node, self->detail);
        break;
    case 7:
        end_thread();
        break;
    case 8:
        fork_children();
        break;
    case 9:
        loop_in(self->executor);
        break;
    case 10:
        if (other != NULL)
            node_end_by_hand(other, self->detail);
        break;
    case 11:
        executor_end(self->executor, self->detail);
        break;
    case 12:
        executor_look(self->executor);
        break;
    case 13:
        if (rota_block_begin() == ROTA_OK) {
            rota_sleep(ROTA_MS(1));
            rota_block_end();
        }
        break;
    case 14:
        if (interrupt_self())
            ex_check(rota_sleep(ROTA_SEC(1)) == ROTA_EINTERRUPTED);
        break;
    case 15:
        rota_fail(FAILURE);
        rota_fail(0);
        break;
    default:
        break;
    }
}

static bool is_to_fail(const job *self)
{
    switch (self->kind) {
    case PERIODIC: /* so that it ends */
        return self->begun > self->detail % MOST_RUNS;
    case TRIES:
        return self->begun <= self->detail % MOST_RUNS;
    default:
        return self->behaviour == 1;
    }
}

void *job_body(void *arg)
{
    job *self = arg;

    self->begun++;
    ex_check(self->kind != ONCE || (self->begun == 1 && self->discarded == 0));
    bool fails = is_to_fail(self);
    depth[ex_running->id]++;
    behave(self);
    depth[ex_running->id]--;
    self->ended++;
    self->last = fails ? failed_with(FAILURE) : succeeded_with(self);
    self->succeeded += !fails;
    return fails ? rota_fail(FAILURE) : self;
}

/* -- Accounts -------------------------------------------------------------------------------- */

static void discard_job(void *arg)
{
    job *self = arg;

    self->discarded++;
    ex_check(self->discarded == 1 && (self->kind == PERIODIC || self->begun == 0));
}

static void free_result(void *arg)
{
    ((job *)arg)->freed++;
}

rota_call job_call(job *job)
{
    return (rota_call){.fn = job_body,
                       .arg = job,
                       .discard = discard_job,
                       .free_result = job->owns_result ? free_result : NULL,
                       .name = "job"};
}

void job_refused(const job *job)
{
    ex_check(job->begun == 0 && job->discarded == 0 && job->freed == 0);
}

static void check_job(const job *job)
{
    if (!job->accepted) {
        job_refused(job);
        return;
    }
    if (job->is_bare)
        ex_check(job->begun == 1 || executor_may_drop(job->executor));
    else if (job->kind == PERIODIC)
        ex_check(job->discarded == 1);
    else if (job->kind == ONCE)
        ex_check(job->begun + job->discarded == 1);
    else
        ex_check((job->begun > 0) != (job->discarded > 0));
    ex_check(job->freed == (job->owns_result ? job->succeeded + job->by_hand : 0));
}

void jobs_check(void)
{
    for (unsigned i = 0; i < job_count; i++)
        check_job(&jobs[i]);
}
