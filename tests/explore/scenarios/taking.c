/* SPDX-License-Identifier: MIT */
/*
 * taking.c - tasks that are taken back out of a fork/join pool, as its workers take them and it ends.
 */
#include "forkjoin/forkjoin_internal.h"

#include "explore.h"

enum { TASKS = 3 };

static rota_executor *pool;
static rota__os_word ran[TASKS]; /* how often */

#define NUMBER(i) ((void *)(uintptr_t)(i))

static void begin(rota_forkjoin_options options)
{
    options.keep_alive = ROTA_FOREVER; /* so that a lost wake-up is a deadlock */
    for (int i = 0; i < TASKS; i++)
        rota__store_relaxed(&ran[i], 0);
    ex_check(rota_forkjoin_new(&options, &pool) == ROTA_OK);
}

static void *run(void *i)
{
    rota__add_acq_rel(&ran[(uintptr_t)i], 1);
    rota__os_wake(&ran[(uintptr_t)i]);
    return NULL;
}

static uint32_t runs(int i)
{
    return rota__load_relaxed(&ran[i]);
}

/* The library knows nothing of this wait. */
static void wait_for(int i)
{
    while (rota__load_acquire(&ran[i]) == 0)
        rota__os_wait(&ran[i], 0, ROTA_FOREVER);
}

static rota__fj_worker *take_place(void)
{
    rota__fj_pool *mine = rota__fj_pool_of(pool);

    rota__mutex_lock(&mine->lock);
    rota__fj_worker *place = rota__crew_enter(mine);
    rota__mutex_unlock(&mine->lock);
    ex_check(place != NULL);
    return place;
}

static void execute(int i)
{
    ex_check(rota_execute(pool, run, NUMBER(i)) == ROTA_OK);
}

static void poll_and_run(void *unused)
{
    rota_task *polled;
    int found = rota_forkjoin_poll_submission(pool, &polled);

    (void)unused;
    ex_check(found == ROTA_OK || found == ROTA_EEMPTY);
    if (found == ROTA_OK)
        rota_task_run(polled);
}

static void run_list(rota_task_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        rota_task_run(list->tasks[i]);
    rota_task_list_free(list);
}

static void drain_and_run(void *unused)
{
    rota_task_list drained;

    (void)unused;
    ex_check(rota_forkjoin_drain_tasks(pool, &drained) == ROTA_OK);
    run_list(&drained);
}

static void end(int tasks)
{
    ex_check(rota_await_termination(pool, ROTA_FOREVER) == ROTA_OK);
    ex_check(rota_executor_free(pool) == ROTA_OK);
    for (int i = 0; i < tasks; i++)
        ex_check(runs(i) == 1);
}

/* FJ-27: each is run once, by a worker or by who has taken it, and the pool ends. */
EXPLORE(a_task_is_polled_as_a_worker_takes_it_and_the_pool_ends)
{
    begin((rota_forkjoin_options){.parallelism = 1});
    execute(0);
    ex_thread *other = ex_start(poll_and_run, NULL);
    ex_check(rota_shutdown(pool) == ROTA_OK);
    ex_join(other);
    end(1);
}

EXPLORE(tasks_are_drained_as_a_worker_takes_them_and_the_pool_ends)
{
    begin((rota_forkjoin_options){.parallelism = 1});
    execute(0);
    execute(1);
    ex_thread *other = ex_start(drain_and_run, NULL);
    ex_check(rota_shutdown(pool) == ROTA_OK);
    ex_join(other);
    end(2);
}

static void *execute_two(void *unused)
{
    execute(0);
    execute(1);
    return unused;
}

/* What a worker has queued with itself. */
EXPLORE(tasks_are_drained_from_the_deque_of_a_worker)
{
    begin((rota_forkjoin_options){.parallelism = 1});
    ex_check(rota_execute(pool, execute_two, NULL) == ROTA_OK);
    drain_and_run(NULL); /* that one, or those two */
    wait_for(1);
    ex_check(rota_shutdown(pool) == ROTA_OK);
    end(2);
}

static void discard(void *i)
{
    run(i);
}

/* Run, handed over or discarded. */
EXPLORE(tasks_are_drained_as_the_pool_stops)
{
    begin((rota_forkjoin_options){.parallelism = 1});
    for (int i = 0; i < 2; i++) {
        rota_call call = {.fn = run, .arg = NUMBER(i), .discard = discard};
        ex_check(rota_submit_call(pool, &call, NULL) == ROTA_OK);
    }
    ex_thread *other = ex_start(drain_and_run, NULL);
    ex_check(rota_shutdown_now(pool, NULL) == ROTA_OK);
    ex_join(other);
    end(2);
}

static void execute_first(void *unused)
{
    (void)unused;
    execute(0);
}

/* crew.W3: two may run at once, also if one came while somebody drained, and no third may be made. */
EXPLORE(a_task_comes_as_others_are_drained)
{
    begin((rota_forkjoin_options){.parallelism = 2, .max_threads = 2});
    rota__fj_worker *place = take_place(); /* of one that does nothing for others */
    ex_thread *other = ex_start(execute_first, NULL);
    drain_and_run(NULL);
    wait_for(0);
    ex_join(other);
    rota__crew_exit(place);
    ex_check(rota_shutdown(pool) == ROTA_OK);
    end(1);
}

static void run_second(rota_fj *self)
{
    (void)self;
    run(NUMBER(1));
}

static void fork_behind_a_task(rota_fj *self)
{
    rota_fj child = ROTA_FJ(run_second);

    (void)self;
    execute(0);
    rota_fork(&child);
    run(NUMBER(2)); /* so far */
    wait_for(0);
    ex_check(rota_join(&child) == ROTA_OK);
}

static void invoke_forker(void *unused)
{
    rota_fj root = ROTA_FJ(fork_behind_a_task);

    (void)unused;
    ex_check(rota_invoke(pool, &root) == ROTA_OK);
}

/* FJ-20: who drains may take a fork for the task before it; it is joined where it was put. */
EXPLORE(a_fork_is_taken_for_a_task_and_joined)
{
    begin((rota_forkjoin_options){.parallelism = 1, .max_threads = 1});
    ex_thread *forker = ex_start(invoke_forker, NULL);
    wait_for(2);
    ex_thread *other = ex_start(drain_and_run, NULL);
    drain_and_run(NULL);
    ex_join(other);
    ex_join(forker);
    ex_check(rota_shutdown(pool) == ROTA_OK);
    end(3);
}

/* ROTA_ENOMEM: they are where they were, and run. */
EXPLORE_WITH_FAULTS(tasks_are_drained_without_memory)
{
    rota_forkjoin_options options = {.parallelism = 1, .keep_alive = ROTA_FOREVER};
    rota_task_list drained;

    rota__store_relaxed(&ran[0], 0);
    if (rota_forkjoin_new(&options, &pool) != ROTA_OK)
        return;
    bool accepted = rota_execute(pool, run, NUMBER(0)) == ROTA_OK;
    if (rota_forkjoin_drain_tasks(pool, &drained) == ROTA_OK)
        run_list(&drained);
    ex_check(rota_shutdown(pool) == ROTA_OK);
    while (rota_await_termination(pool, ROTA_FOREVER) == ROTA_ENOMEM)
        continue;
    ex_check(rota_executor_free(pool) == ROTA_OK);
    ex_check(runs(0) == accepted);
}
