/* SPDX-License-Identifier: MIT */
/*
 * fuzz_api.c - a fuzzer's bytes are a program of public calls on executors of every kind, and the
 * schedule of all threads in it.
 *
 *   byte 0   how many threads read the program, how many requests are refused, how much else happens
 *   byte 1   how many of the next bytes are the program
 *   then     the program: calls and their arguments, taken by whichever thread comes next
 *   the rest one choice of the explorer each: who goes on, what is refused, what is delayed
 *
 * Whatever the program is, every task that was accepted must end once, every future must end as what
 * happened to it says, nobody must wait for ever, and all memory must come back.
 */
#include "api.h"

#include "compose/compose_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 2, ACTORS = 3, LONGEST = 200 };

/* -- The program ----------------------------------------------------------------------------- */

static const uint8_t *program;
static size_t program_size, at;
static unsigned faults; /* so many requests may be refused */
static unsigned actor_count;
static bool acts[EX_THREADS]; /* as the program says, else it is an executor's thread */

uint8_t next_byte(void)
{
    return at < program_size ? program[at++] : 0;
}

rota_ns next_time(void)
{
    static const rota_ns times[] = {
        0,           1,           ROTA_MS(1), ROTA_SEC(1),   ROTA_HOURS(1), ROTA_FOREVER,
        INT64_MIN,   -1,          1000,       ROTA_MS(5),    ROTA_SEC(100), INT64_MAX - 1,
        ROTA_SEC(1), ROTA_MS(20), ROTA_US(1), INT64_MAX / 2,
    };

    return times[next_byte() % 16];
}

rota_ns next_wait(void)
{
    static const rota_ns times[] = {0, 1, ROTA_MS(1), ROTA_SEC(1), INT64_MIN, ROTA_HOURS(1)};

    return times[next_byte() % 6];
}

bool may_lack(void)
{
    return faults > 0 || !ex_has_room();
}

bool is_lack(int code)
{
    return (code == ROTA_ENOMEM || code == ROTA_EAGAIN) && may_lack();
}

void fail_status(const char *file, int line, int status, const char *condition)
{
    char text[300];

    snprintf(text, sizeof text, "status %d, not so: %s", status, condition);
    ex_fail(file, line, text);
}

void show(void)
{
    memory_drain(ex_running);
}

bool is_actor(void)
{
    return acts[ex_running->id];
}

/* -- Submitting ------------------------------------------------------------------------------ */

/* It may have run, and been cancelled, before this is known. */
static void accept(node *self, job *job, int status, rota_future *future)
{
    check_status(status, (future != NULL) == (status == ROTA_OK));
    job->accepted = status == ROTA_OK;
    if (status != ROTA_OK) {
        job_refused(job);
        return;
    }
    show();
    self->job = job;
    self->future = future;
    job->node = self;
}

static void execute(executor *ex)
{
    bool was_shut = ex->is_shut;
    job *job = job_new(ex, ONCE, next_byte());

    if (job == NULL)
        return;
    job->is_bare = true;
    job->owns_result = false;
    int status = rota_execute(ex->handle, job_body, job);
    executor_check_status(ex, was_shut, status);
    job->accepted = status == ROTA_OK;
}

static void submit(executor *ex)
{
    bool was_shut = ex->is_shut;
    job *job = job_new(ex, ONCE, next_byte());
    node *self = node_new(TASK, ex);
    rota_future *future = NULL;

    if (job == NULL || self == NULL)
        return;
    rota_call call = job_call(job);
    int status = rota_submit_call(ex->handle, &call, &future);
    executor_check_status(ex, was_shut, status);
    accept(self, job, status, future);
}

static int call_schedule(executor *ex, const rota_call *call, rota_ns delay, rota_ns period,
                         rota_future **out)
{
    if (period > 0 && period % 2 == 1)
        return rota_schedule_skipping(ex->handle, call, delay, period, out);
    return rota_schedule_call(ex->handle, call, delay, period, out);
}

static void schedule(executor *ex)
{
    bool was_shut = ex->is_shut;
    rota_ns delay = next_time();
    rota_ns period = next_byte() % 2 ? next_time() : 0;
    job *job = job_new(ex, period != 0 ? PERIODIC : ONCE, next_byte());
    node *self = node_new(TASK, ex);
    rota_future *future = NULL;

    if (job == NULL || self == NULL)
        return;
    rota_call call = job_call(job);
    int status = call_schedule(ex, &call, delay, period, &future);
    if (ex->kind == SCHED)
        executor_check_status(ex, was_shut, status);
    else
        check_status(status, status == ROTA_ENOTSUP);
    self->is_endless = true; /* as far as we know */
    accept(self, job, status, future);
}

static void make_promise(void)
{
    node *self = node_new(PROMISE, NULL);
    rota_future *future = NULL;

    if (self == NULL)
        return;
    int status = rota_promise_new(&future);
    check_status(status, status == ROTA_OK || is_lack(status));
    show();
    self->future = future;
}

/* -- Several at once ------------------------------------------------------------------------- */

enum { CALLS = 3 };

static void check_invoked(executor *ex, bool was_shut, int status)
{
    if (was_shut && !ex->keeps_refused)
        check_status(status, status != ROTA_OK);
    check_status(status, status != ROTA_EINVAL && status != ROTA_ENOTSUP);
}

static void check_done(rota_future *future)
{
    ex_check(future != NULL && rota_future_is_done(future));
    rota_future_unref(future);
}

/* A body that ends its thread, or waits for another, would only make this the same as submit. */
static bool make_calls(executor *ex, rota_call *calls, job **jobs)
{
    for (int i = 0; i < CALLS; i++) {
        jobs[i] = job_new(ex, ONCE, next_byte() % 64);
        if (jobs[i] == NULL)
            return false;
        calls[i] = job_call(jobs[i]);
    }
    return true;
}

/* Each meets its body or its discard, unless nothing has happened at all. */
static void accept_all(job **jobs, int status)
{
    for (int i = 0; i < CALLS; i++)
        jobs[i]->accepted = status != ROTA_ENOMEM && status != ROTA_EINVAL;
}

static void invoke_all(executor *ex)
{
    rota_call calls[CALLS];
    job *jobs[CALLS];
    rota_future *futures[CALLS] = {NULL};
    bool was_shut = ex->is_shut;

    if (ex->kind == MANUAL || !make_calls(ex, calls, jobs))
        return;
    int status = rota_invoke_all(ex->handle, calls, CALLS, next_wait(), futures);
    accept_all(jobs, status);
    check_invoked(ex, was_shut, status);
    for (int i = 0; i < CALLS; i++) {
        if (status == ROTA_OK || status == ROTA_ETIMEDOUT)
            check_done(futures[i]);
        else
            ex_check(futures[i] == NULL);
    }
}

static void invoke_any(executor *ex)
{
    rota_call calls[CALLS];
    job *jobs[CALLS];
    rota_future *first = NULL;
    bool was_shut = ex->is_shut;

    if (ex->kind == MANUAL || !make_calls(ex, calls, jobs))
        return;
    int status = rota_invoke_any(ex->handle, calls, CALLS, next_wait(), &first);
    accept_all(jobs, status);
    check_invoked(ex, was_shut, status);
    if (status == ROTA_OK)
        ex_check(rota_future_state_of(first) == ROTA_FUTURE_SUCCEEDED);
    if (status == ROTA_OK || status == ROTA_EFAILED)
        check_done(first);
    else
        ex_check(first == NULL);
}

/* A completion service of its own, so that it is known what must come out. */
static void complete_some(executor *ex)
{
    rota_completion *completion;
    rota_future *future = NULL;
    unsigned inside = 0;
    bool was_shut = ex->is_shut;

    if (ex->kind == MANUAL || rota_completion_new(ex->handle, &completion) != ROTA_OK)
        return;
    for (int i = 0; i < CALLS; i++) {
        job *job = job_new(ex, ONCE, next_byte() % 64);
        if (job == NULL)
            break;
        rota_call call = job_call(job);
        int status = rota_completion_submit(completion, &call, NULL);
        executor_check_status(ex, was_shut, status);
        job->accepted = status == ROTA_OK;
        inside += job->accepted;
    }
    for (uint8_t left = next_byte() % 4; inside > left;) {
        int status = rota_completion_poll_timed(completion, ROTA_HOURS(3), &future);
        check_status(status, status == ROTA_OK || status == ROTA_EINTERRUPTED
                                 || status == ROTA_ETIMEDOUT || is_lack(status));
        if (status != ROTA_OK)
            break;
        inside--;
        check_done(future);
    }
    if (inside == 0)
        ex_check(rota_completion_poll(completion, &future) == ROTA_EEMPTY);
    rota_completion_free(completion);
}

/* -- Fork/join from outside ------------------------------------------------------------------ */

typedef struct root {
    rota_fj task; /* first */
    unsigned runs;
} root;

static void count_run(rota_fj *task)
{
    ((root *)task)->runs++;
}

static void invoke(executor *ex)
{
    root root = {ROTA_FJ(count_run), 0};
    bool was_shut = ex->is_shut;
    int status = rota_invoke(ex->handle, &root.task);

    if (ex->kind != FORKJOIN)
        check_status(status, status == ROTA_ENOTSUP);
    else if (was_shut)
        check_status(status, status == ROTA_EREJECTED);
    else
        check_status(status, status == ROTA_OK || ex->is_ending);
    check_status(status, root.runs == (status == ROTA_OK));
}

/* -- One call -------------------------------------------------------------------------------- */

bool interrupt_self(void)
{
    rota_thread *self = rota_thread_self();

    ex_check(self != NULL || may_lack());
    rota_thread_interrupt(self);
    ex_check(self == NULL || rota_is_interrupted());
    return self != NULL;
}

static void sleep_or_not(uint8_t what)
{
    if (what % 3 == 0) {
        interrupt_self();
    } else if (what % 3 == 1) {
        rota_interrupted();
        ex_check(!rota_is_interrupted());
    } else {
        bool was_interrupted = rota_is_interrupted();
        int status = rota_sleep(next_wait());
        check_status(status, status == (was_interrupted ? ROTA_EINTERRUPTED : ROTA_OK));
    }
}

static void use_executor(uint8_t call, executor *ex)
{
    switch (call) {
    case 0:
        execute(ex);
        break;
    case 1:
    case 2:
        submit(ex);
        break;
    case 3:
        schedule(ex);
        break;
    case 4:
        invoke_all(ex);
        break;
    case 5:
        invoke_any(ex);
        break;
    case 6:
        complete_some(ex);
        break;
    case 7:
        invoke(ex);
        break;
    case 8:
        executor_end(ex, next_byte());
        break;
    case 9:
        executor_look(ex);
        break;
    case 10:
        executor_wait(ex);
        break;
    default:
        executor_change(ex);
        break;
    }
}

static void use_node(uint8_t call, node *self)
{
    switch (call) {
    case 0:
        node_end_by_hand(self, next_byte());
        break;
    case 1:
        node_get(self, next_wait());
        break;
    case 2:
        node_look(self);
        break;
    case 3:
        step_own(self);
        break;
    default:
        node_let_go(self);
        break;
    }
}

static void operate(void)
{
    uint8_t call = next_byte() % 32;

    if (call < 14) {
        executor *ex = executor_any();
        if (ex != NULL)
            use_executor(call, ex);
    } else if (call < 20) {
        node *self = node_any();
        if (self != NULL)
            use_node(call - 14, self);
    } else if (call < 23) {
        executor_make();
    } else if (call < 24) {
        make_promise();
    } else if (call < 28) {
        step_make();
    } else if (call < 29) {
        sleep_or_not(next_byte());
    } else if (call < 30) {
        executors_pump();
    } else {
        rubbish_call();
    }
}

/* -- A run ----------------------------------------------------------------------------------- */

static void act(void *unused)
{
    (void)unused;
    acts[ex_running->id] = true;
    while (at < program_size)
        operate();
}

static void run_program(void)
{
    ex_thread *others[ACTORS];

    rota__store_relaxed(&rota__the_timer, NULL);
    for (unsigned i = 1; i < actor_count; i++)
        others[i] = ex_start(act, NULL);
    act(NULL);
    for (unsigned i = 1; i < actor_count; i++) {
        if (others[i] != NULL) /* else the first have taken all threads there are */
            ex_join(others[i]);
    }
    rota_interrupted();
    executors_shut();
    nodes_finish();
    nodes_check();
    executors_close();
    nodes_release();
    jobs_check();
}

static void read_head(const uint8_t *data, size_t size, ex_options *options)
{
    size_t wanted = data[1] < LONGEST ? data[1] : LONGEST;

    actor_count = 1 + data[0] % ACTORS;
    memset(acts, 0, sizeof acts);
    faults = data[0] / 4 % 4;
    program = data + HEAD;
    program_size = wanted < size - HEAD ? wanted : size - HEAD;
    at = 0;
    options->bytes = program + program_size;
    options->byte_count = size - HEAD - program_size;
    for (int i = 0; i < EX_KINDS; i++)
        options->budget[i] = data[0] / 16 % 4;
    options->budget[EX_FAULT] = faults;
    options->budget[EX_STALE] = 0; /* x86's memory model */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const ex_scenario scenario = {.name = "program", .run = run_program, .faults = true};
    static bool prepared;
    ex_options options = {.strategy = EX_BYTES};

    if (!prepared && rota_set_allocator(&heap_allocator) != ROTA_OK)
        abort();
    prepared = true;
    if (size < HEAD)
        return 0;
    read_head(data, size, &options);
    executors_begin();
    jobs_begin();
    nodes_begin();
    choice_setup(&options, NULL);
    memory_forget(); /* so that a run depends on its bytes alone */
    const char *problem = ex_run(&scenario, false);
    if (problem != NULL) {
        fprintf(stderr, "FOUND: %s\n", problem);
        abort();
    }
    return 0;
}
