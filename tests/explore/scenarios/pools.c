/* SPDX-License-Identifier: MIT */
/*
 * pools.c - submitters, workers and those who end the pool, all at once.
 */
#include "base/atomic.h"
#include "explore.h"
#include "os/os.h"

#include <string.h>

enum { TASKS = 3 };

static rota_executor *pool;
static rota__atomic(uint32_t) ran[TASKS]; /* how often */
static int discarded[TASKS];
static int statuses[TASKS];

#define NUMBER(i) ((void *)(uintptr_t)(i))

static void begin(const rota_pool_options *options)
{
    for (int i = 0; i < TASKS; i++)
        rota__store_relaxed(&ran[i], 0);
    memset(discarded, 0, sizeof discarded);
    memset(statuses, 0, sizeof statuses);
    ex_check(rota_pool_new(options, &pool) == ROTA_OK);
}

static void *run(void *i)
{
    rota__add_relaxed(&ran[(uintptr_t)i], 1);
    return NULL;
}

static uint32_t runs(int i)
{
    return rota__load_relaxed(&ran[i]);
}

static void execute(void *i)
{
    statuses[(uintptr_t)i] = rota_execute(pool, run, i);
}

static void end(void)
{
    ex_check(rota_await_termination(pool, ROTA_FOREVER) == ROTA_OK);
    ex_check(rota_executor_free(pool) == ROTA_OK);
}

/* POOL-17: run once if accepted, never if not. */
static void check_accepted(void)
{
    for (int i = 0; i < TASKS; i++)
        ex_check(runs(i) == (statuses[i] == ROTA_OK ? 1 : 0));
}

/* -- Submitting and ending ------------------------------------------------------------------- */

EXPLORE(a_task_is_accepted_or_rejected_by_a_pool_that_ends)
{
    begin(&(rota_pool_options){.core_threads = 1});
    statuses[2] = ROTA_EREJECTED;
    execute(NUMBER(0)); /* so that the next one goes to the queue */
    ex_thread *other = ex_start(execute, NUMBER(1));
    ex_check(rota_shutdown(pool) == ROTA_OK);
    ex_join(other);
    end();
    check_accepted();
}

/* The same without a worker to begin with: POOL-14, POOL-15. */
EXPLORE(a_task_is_accepted_or_rejected_by_an_empty_pool_that_ends)
{
    begin(&(rota_pool_options){.max_threads = 1});
    statuses[1] = statuses[2] = ROTA_EREJECTED;
    ex_thread *other = ex_start(execute, NUMBER(0));
    ex_check(rota_shutdown(pool) == ROTA_OK);
    ex_join(other);
    end();
    check_accepted();
}

static void shut_down(void *unused)
{
    (void)unused;
    ex_check(rota_shutdown(pool) == ROTA_OK);
}

/* POOL-48: who looks at it meanwhile may see a task that is rejected after all; it does not count. */
EXPLORE(a_pool_is_looked_at_as_a_task_is_rejected)
{
    rota_pool_stats stats;

    begin(&(rota_pool_options){.max_threads = 1});
    ex_thread *submitter = ex_start(execute, NUMBER(0));
    ex_thread *ender = ex_start(shut_down, NULL);
    ex_check(rota_pool_stats_get(pool, &stats) == ROTA_OK);
    ex_join(submitter);
    ex_join(ender);
    ex_check(rota_await_termination(pool, ROTA_FOREVER) == ROTA_OK);
    ex_check(rota_pool_stats_get(pool, &stats) == ROTA_OK);
    ex_check(stats.submitted == (statuses[0] == ROTA_OK ? 1 : 0));
    end();
}

/* Who has ended it has left it when another frees it. */
EXPLORE(a_pool_is_freed_as_soon_as_it_says_that_it_has_ended)
{
    begin(&(rota_pool_options){.core_threads = 1});
    ex_thread *ender = ex_start(shut_down, NULL);
    while (!rota_is_terminated(pool))
        rota__os_yield();
    ex_check(rota_executor_free(pool) == ROTA_OK);
    ex_join(ender);
}

/* workers.W2: whoever is the last to leave, nobody touches the pool after its end. */
EXPLORE(two_workers_leave_at_once)
{
    unsigned started = 0;

    begin(&(rota_pool_options){.core_threads = 2});
    ex_check(rota_pool_prestart(pool, &started) == ROTA_OK && started == 2);
    ex_check(rota_close(pool) == ROTA_OK);
}

static void discard(void *i)
{
    discarded[(uintptr_t)i]++;
}

static void submit(void *i)
{
    rota_call call = {.fn = run, .arg = i, .discard = discard};

    statuses[(uintptr_t)i] = rota_submit_call(pool, &call, NULL);
}

/* FAULT-43: it ran, was handed over, or was refused. */
EXPLORE(a_task_runs_or_is_handed_over)
{
    rota_task_list left;

    begin(&(rota_pool_options){.core_threads = 1});
    submit(NUMBER(0));
    ex_thread *other = ex_start(submit, NUMBER(1));
    ex_check(rota_shutdown_now(pool, &left) == ROTA_OK);
    for (size_t i = 0; i < left.count; i++)
        rota_task_discard(left.tasks[i]);
    rota_task_list_free(&left);
    ex_join(other);
    end();
    for (int i = 0; i < 2; i++)
        ex_check(runs(i) + (unsigned)discarded[i] == (statuses[i] == ROTA_OK ? 1 : 0));
}

static void *sleep_until_interrupted(void *unused)
{
    (void)unused;
    ex_check(rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED);
    return NULL;
}

/* INT-07, POOL-53: also a task that was just about to begin. */
EXPLORE(a_pool_that_stops_interrupts_what_runs)
{
    begin(&(rota_pool_options){.core_threads = 1});
    ex_check(rota_execute(pool, sleep_until_interrupted, NULL) == ROTA_OK);
    ex_check(rota_shutdown_now(pool, NULL) == ROTA_OK);
    end();
}

/* POOL-56: the head that is dropped may be all that the pool still waits for. */
EXPLORE(a_task_is_dropped_for_another_as_the_pool_ends)
{
    rota_queue *queue;

    ex_check(rota_array_queue(1, &queue) == ROTA_OK);
    begin(&(rota_pool_options){
        .core_threads = 1, .queue = queue, .on_reject = rota_reject_discard_oldest});
    submit(NUMBER(0));
    ex_thread *other = ex_start(submit, NUMBER(1));
    submit(NUMBER(2));
    ex_check(rota_shutdown(pool) == ROTA_OK);
    ex_join(other);
    end();
    for (int i = 0; i < TASKS; i++)
        ex_check(runs(i) + (unsigned)discarded[i] == (statuses[i] == ROTA_OK ? 1 : 0));
}

/* -- Workers that come and go ---------------------------------------------------------------- */

/* A worker gives up waiting at the moment that a task comes. */
EXPLORE(a_task_comes_as_the_last_worker_leaves)
{
    rota_future *future;

    begin(&(rota_pool_options){.max_threads = 1, .keep_alive = ROTA_MS(1)});
    for (int i = 0; i < 2; i++) {
        ex_check(rota_submit(pool, run, NUMBER(i), &future) == ROTA_OK);
        ex_check(rota_future_get(future, NULL) == ROTA_OK); /* before anything is shut down */
        rota_future_unref(future);
    }
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(0) == 1 && runs(1) == 1);
}

static void *end_thread(void *unused)
{
    ex_exit();
    return unused;
}

/* GEN-14, POOL-30, FAULT-35: another worker comes for what is queued. */
EXPLORE(a_task_ends_its_worker)
{
    rota_future *future;

    begin(&(rota_pool_options){.core_threads = 1});
    ex_check(rota_execute(pool, end_thread, NULL) == ROTA_OK);
    ex_check(rota_submit(pool, run, NUMBER(0), &future) == ROTA_OK);
    ex_check(rota_future_get(future, NULL) == ROTA_OK);
    rota_future_unref(future);
    ex_check(rota_close(pool) == ROTA_OK);
}

static rota__atomic(uint32_t) running; /* tasks that run now */

static void *run_alone(void *i)
{
    ex_check(rota__add_acq_rel(&running, 1) == 0);
    run(i);
    rota__sub_acq_rel(&running, 1);
    return NULL;
}

static void execute_alone(void *i)
{
    statuses[(uintptr_t)i] = rota_execute(pool, run_alone, i);
}

/* POOL-30, pool.P8: the place of an ended thread passes on, so one task runs at a time. */
EXPLORE_WITH_FAULTS(a_task_ends_its_worker_as_another_is_submitted)
{
    rota__store_relaxed(&running, 0);
    for (int i = 0; i < 2; i++)
        rota__store_relaxed(&ran[i], 0);
    if (rota_pool_new(&(rota_pool_options){.core_threads = 1}, &pool) != ROTA_OK)
        return;
    if (rota_execute(pool, end_thread, NULL) == ROTA_OK) {
        ex_thread *submitter = ex_start(execute_alone, NUMBER(0));
        execute_alone(NUMBER(1));
        ex_join(submitter);
    } else {
        statuses[0] = statuses[1] = ROTA_EAGAIN;
    }
    ex_check(rota_close(pool) == ROTA_OK);
    for (int i = 0; i < 2; i++)
        ex_check(runs(i) == (statuses[i] == ROTA_OK ? 1 : 0));
}

/* POOL-41, pool.P9: after the limit has fallen, no more than one task runs at a time. */
EXPLORE(the_limit_falls_as_a_worker_takes_a_task)
{
    unsigned started;

    rota__store_relaxed(&running, 0);
    begin(&(rota_pool_options){.core_threads = 2});
    ex_check(rota_pool_prestart(pool, &started) == ROTA_OK);
    ex_check(rota_pool_resize(pool, 1, 1) == ROTA_OK);
    execute_alone(NUMBER(0));
    execute_alone(NUMBER(1));
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(0) == 1 && runs(1) == 1);
}

/* A thread that hands its task to a worker that is about to give up, or starts another. */
EXPLORE(a_cached_pool_runs_what_comes)
{
    rota_future *future;

    ex_check(rota_cached_pool(&pool) == ROTA_OK);
    for (int i = 0; i < 2; i++) {
        ex_check(rota_submit(pool, run, NUMBER(i), &future) == ROTA_OK);
        ex_check(rota_future_get(future, NULL) == ROTA_OK);
        rota_future_unref(future);
    }
    ex_check(rota_close(pool) == ROTA_OK);
}

/* -- Waiting --------------------------------------------------------------------------------- */

/* REJ-11: room, or the end, whichever comes first. */
EXPLORE(a_submitter_waits_for_room_or_the_end)
{
    rota_queue *queue;

    ex_check(rota_array_queue(1, &queue) == ROTA_OK);
    begin(&(rota_pool_options){.core_threads = 1, .queue = queue, .on_reject = rota_reject_block});
    execute(NUMBER(0));
    ex_thread *first = ex_start(execute, NUMBER(1));
    ex_thread *second = ex_start(execute, NUMBER(2));
    ex_check(rota_shutdown(pool) == ROTA_OK);
    ex_join(first);
    ex_join(second);
    end();
    check_accepted();
}

static void must_execute(void *i)
{
    execute(i);
    ex_check(statuses[(uintptr_t)i] == ROTA_OK);
}

/* pool.P7: the last worker leaves between a look at the pool and the wait: a thread may be added
   then. */
EXPLORE(a_submitter_waits_as_the_last_worker_leaves)
{
    rota_queue *queue;

    ex_check(rota_handoff_queue(&queue) == ROTA_OK);
    begin(&(rota_pool_options){
        .max_threads = 1, .keep_alive = 1, .queue = queue, .on_reject = rota_reject_block});
    must_execute(NUMBER(0));
    must_execute(NUMBER(1)); /* before anything is shut down */
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(0) == 1 && runs(1) == 1);
}

/* The same with memory and threads that run out: who counted on the thread is not left waiting. */
EXPLORE_WITH_FAULTS(a_submitter_waits_for_a_thread_that_cannot_be_made)
{
    rota_queue *queue;

    for (int i = 0; i < TASKS; i++) {
        rota__store_relaxed(&ran[i], 0);
        statuses[i] = ROTA_EREJECTED;
    }
    if (rota_handoff_queue(&queue) != ROTA_OK)
        return;
    rota_pool_options options = {
        .max_threads = 1, .keep_alive = 1, .queue = queue, .on_reject = rota_reject_block};
    if (rota_pool_new(&options, &pool) != ROTA_OK) {
        ex_check(rota_queue_free(queue) == ROTA_OK);
        return;
    }
    ex_thread *other = ex_start(execute, NUMBER(1));
    execute(NUMBER(0));
    ex_join(other);
    ex_check(rota_shutdown(pool) == ROTA_OK);
    while (rota_await_termination(pool, ROTA_FOREVER) == ROTA_ENOMEM)
        continue;
    ex_check(rota_executor_free(pool) == ROTA_OK);
    check_accepted();
}

static void *nest(void *depth)
{
    rota_future *inner;
    uintptr_t left = (uintptr_t)depth;

    if (left == 0)
        return NULL;
    ex_check(rota_submit(pool, nest, NUMBER(left - 1), &inner) == ROTA_OK);
    ex_check(rota_future_get(inner, NULL) == ROTA_OK);
    rota_future_unref(inner);
    return NULL;
}

/* EXEC-18: by one thread, or by two that both want the inner one. */
EXPLORE(a_worker_runs_what_it_waits_for)
{
    rota_future *outer;

    begin(&(rota_pool_options){.core_threads = 1 + ex_choose(2)});
    ex_check(rota_submit(pool, nest, NUMBER(2), &outer) == ROTA_OK);
    ex_check(rota_future_get(outer, NULL) == ROTA_OK);
    rota_future_unref(outer);
    ex_check(rota_close(pool) == ROTA_OK);
}

static int keep(void *kept, rota_task *task)
{
    *(rota_task **)kept = task;
    return ROTA_OK;
}

static void *get(void *future)
{
    ex_check(rota_future_get(future, NULL) == ROTA_OK);
    return NULL;
}

/* exec.E5, future.F8: the only worker waits, and no other thread could run the task. */
EXPLORE(a_task_is_passed_on_while_a_worker_waits_for_it)
{
    rota_executor_ops ops = {.execute = keep};
    rota_future *future, *waiting;
    rota_executor *other;
    rota_task *task;

    begin(&(rota_pool_options){.core_threads = 1});
    ex_check(rota_executor_new(&ops, &task, &other) == ROTA_OK);
    ex_check(rota_submit(other, run, NUMBER(0), &future) == ROTA_OK);
    ex_check(rota_submit(pool, get, future, &waiting) == ROTA_OK);
    ex_check(rota_execute_task(pool, task) == ROTA_OK);
    ex_check(rota_future_get(waiting, NULL) == ROTA_OK);
    ex_check(runs(0) == 1);
    rota_future_unref(waiting);
    rota_future_unref(future);
    ex_check(rota_close(other) == ROTA_OK);
    ex_check(rota_close(pool) == ROTA_OK);
}

static int compare_live(const void *a, const void *b, void *unused)
{
    uintptr_t first = (uintptr_t)rota_task_call(a)->arg, second = (uintptr_t)rota_task_call(b)->arg;

    (void)unused;
    ex_check(discarded[first] == 0 && discarded[second] == 0);
    return first < second ? -1 : first > second;
}

static void cancel(void *future)
{
    rota_future_cancel(future);
}

/* pool.P11: no comparison sees a task whose argument was discarded. */
EXPLORE(a_task_is_cancelled_while_its_queue_compares_it)
{
    rota_queue *queue;
    rota_future *future, *released;

    ex_check(rota_priority_queue(compare_live, NULL, &queue) == ROTA_OK);
    ex_check(rota_promise_new(&released) == ROTA_OK);
    begin(&(rota_pool_options){.core_threads = 1, .queue = queue});
    ex_check(rota_execute(pool, get, released) == ROTA_OK); /* occupies the only worker */
    rota_call call = {.fn = run, .arg = NUMBER(1), .discard = discard};
    ex_check(rota_submit_call(pool, &call, &future) == ROTA_OK);
    ex_thread *other = ex_start(cancel, future);
    submit(NUMBER(2)); /* is compared with the first */
    rota_promise_complete(released, NULL);
    ex_join(other);
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(1) + (unsigned)discarded[1] == 1 && runs(2) == 1);
    rota_future_unref(future);
    rota_future_unref(released);
}

static void look_at(void *task, void *unused)
{
    (void)unused;
    ex_check(discarded[(uintptr_t)rota_task_call(task)->arg] == 0);
}

static void look_and_cancel(void *task, void *unused)
{
    look_at(task, unused);
    rota_future_cancel_now(rota_task_future(task));
    look_at(task, unused); /* the argument is discarded after the visit */
}

/* future.F4: no visitor sees a task whose argument was discarded, even if it cancels it itself. */
EXPLORE(a_task_is_cancelled_while_it_is_visited)
{
    rota_queue *queue = NULL;
    rota_future *future, *released;

    if (ex_choose(2) == 1)
        ex_check(rota_priority_queue(compare_live, NULL, &queue) == ROTA_OK);
    ex_check(rota_promise_new(&released) == ROTA_OK);
    begin(&(rota_pool_options){.core_threads = 1, .queue = queue});
    ex_check(rota_submit(pool, get, released, NULL) == ROTA_OK); /* occupies the only worker */
    rota_call call = {.fn = run, .arg = NUMBER(1), .discard = discard};
    ex_check(rota_submit_call(pool, &call, &future) == ROTA_OK);
    ex_thread *other = ex_start(cancel, future);
    rota_queue_each(rota_pool_queue(pool), ex_choose(2) == 1 ? look_and_cancel : look_at, NULL);
    rota_promise_complete(released, NULL);
    ex_join(other);
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(1) + (unsigned)discarded[1] == 1);
    rota_future_unref(future);
    rota_future_unref(released);
}

/* The pool ends with the cancelled task, and is freed: cancel_listener.L3. */
EXPLORE(a_pool_is_freed_as_the_last_task_of_its_queue_is_cancelled)
{
    rota_queue *queue;
    rota_future *future;

    ex_check(rota_priority_queue(compare_live, NULL, &queue) == ROTA_OK);
    begin(&(rota_pool_options){.max_threads = 1, .queue = queue});
    rota_call call = {.fn = run, .arg = NUMBER(1), .discard = discard};
    ex_check(rota_submit_call(pool, &call, &future) == ROTA_OK);
    ex_thread *other = ex_start(cancel, future);
    ex_check(rota_shutdown(pool) == ROTA_OK);
    end();
    ex_join(other);
    ex_check(runs(1) + (unsigned)discarded[1] == 1);
    rota_future_unref(future);
}

/* -- Completion ------------------------------------------------------------------------------ */

static rota_completion *service;

static void submit_to_service(void *i)
{
    rota_call call = {.fn = run, .arg = i};

    ex_check(rota_completion_submit(service, &call, NULL) == ROTA_OK);
}

/* ECS-02, completion.S3: each comes out once, and the descriptor is readable just then. */
EXPLORE(a_completion_service_gives_each_task_once)
{
    rota_future *done;
    int fd;

    begin(&(rota_pool_options){.core_threads = 1});
    ex_check(rota_completion_new(pool, &service) == ROTA_OK);
    ex_check(rota_completion_fd(service, &fd) == ROTA_OK);
    ex_thread *other = ex_start(submit_to_service, NUMBER(1));
    submit_to_service(NUMBER(0));
    for (int i = 0; i < 2; i++) {
        ex_check(rota_completion_take(service, &done) == ROTA_OK);
        ex_check(rota_future_is_done(done));
        rota_future_unref(done);
    }
    ex_check(!ex_is_readable(fd));
    ex_join(other);
    ex_check(rota_completion_poll(service, &done) == ROTA_EEMPTY);
    rota_completion_free(service);
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(0) == 1 && runs(1) == 1);
}

/* completion.S2: freed while a task is under way. */
EXPLORE(a_completion_service_goes_before_its_task)
{
    begin(&(rota_pool_options){.core_threads = 1});
    ex_check(rota_completion_new(pool, &service) == ROTA_OK);
    submit_to_service(NUMBER(0));
    rota_completion_free(service);
    ex_check(rota_close(pool) == ROTA_OK);
    ex_check(runs(0) == 1);
}

static void *take_own(void *unused)
{
    rota_future *done;

    ex_check(rota_completion_take(service, &done) == ROTA_OK);
    rota_future_unref(done);
    return unused;
}

/* EXEC-18: the only worker takes, before or after the task is submitted. */
EXPLORE(a_worker_that_takes_runs_what_is_submitted)
{
    begin(&(rota_pool_options){.core_threads = 1});
    ex_check(rota_completion_new(pool, &service) == ROTA_OK);
    ex_check(rota_execute(pool, take_own, NULL) == ROTA_OK);
    submit_to_service(NUMBER(0));
    ex_check(rota_close(pool) == ROTA_OK);
    rota_completion_free(service);
    ex_check(runs(0) == 1);
}

/* -- Faults ---------------------------------------------------------------------------------- */

/*
 * POOL-27, POOL-28, POOL-61, FAULT-22: whatever cannot be made, what was accepted runs, and the
 * pool ends.
 */
EXPLORE_WITH_FAULTS(a_pool_without_memory_or_threads_loses_nothing)
{
    for (int i = 0; i < TASKS; i++) {
        rota__store_relaxed(&ran[i], 0);
        statuses[i] = ROTA_EREJECTED;
    }
    if (rota_pool_new(&(rota_pool_options){.core_threads = 1}, &pool) != ROTA_OK)
        return;
    ex_thread *other = ex_start(execute, NUMBER(1));
    execute(NUMBER(0));
    ex_join(other);
    int status;
    do
        status = rota_shutdown(pool);
    while (status != ROTA_OK);
    do
        status = rota_await_termination(pool, ROTA_FOREVER);
    while (status == ROTA_ENOMEM);
    ex_check(status == ROTA_OK);
    ex_check(rota_executor_free(pool) == ROTA_OK);
    check_accepted();
}

/* True once it has run. */
static bool submit_and_wait(int i)
{
    rota_future *future;
    int status;

    if (rota_submit(pool, run, NUMBER(i), &future) != ROTA_OK)
        return false;
    do
        status = rota_future_get(future, NULL);
    while (status == ROTA_ENOMEM);
    ex_check(status == ROTA_OK);
    rota_future_unref(future);
    return true;
}

static void submit_one_and_wait(void *i)
{
    submit_and_wait((int)(uintptr_t)i);
}

/*
 * POOL-61: a worker leaves, and counts on one that somebody is making and that is refused. Nobody
 * shuts the pool down, which would see to what is left.
 */
EXPLORE_WITH_FAULTS(a_task_counts_on_a_thread_that_is_refused)
{
    const rota_pool_options options = {.max_threads = 2, .keep_alive = ROTA_MS(1)};

    for (int i = 0; i < TASKS; i++)
        rota__store_relaxed(&ran[i], 0);
    if (rota_pool_new(&options, &pool) != ROTA_OK)
        return;
    ex_thread *other = ex_start(submit_one_and_wait, NUMBER(2));
    if (submit_and_wait(0))
        submit_and_wait(1);
    ex_join(other);
    int status;
    do
        status = rota_close(pool);
    while (status == ROTA_ENOMEM);
    ex_check(status == ROTA_OK);
}
