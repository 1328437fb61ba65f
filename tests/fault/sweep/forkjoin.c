/* SPDX-License-Identifier: MIT */
/*
 * forkjoin.c - fork/join pools, and what is done to one of them from outside.
 */
#include "sweep.h"

#include "forkjoin.h"

static int make(void)
{
    return rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 2}, &given.executor);
}

static void it_works(void)
{
    atomic_uint runs = 0;

    test_check(rota_execute(given.executor, test_count, &runs) == ROTA_OK);
    test_check(rota_close(given.executor) == ROTA_OK);
    test_check(runs == 1);
}

static sweep_scenes idle = {&sweep_idle_forkjoin, &sweep_waiting_forkjoin, NULL};

/* -- Invoking ----------------------------------------------------------------------------- */

static int invoke(void)
{
    test_fib_task fib = {ROTA_FJ(test_fib), 8, 0};
    int status = rota_invoke(stage.pool, &fib.task);

    test_check(fib.value == 21);
    return status;
}

/* The same on the caller as one of the pool's workers, unless that could not be. */
static struct {
    rota_fj task; /* first */
    int (*body)(void);
    int status;
} inside;

static void run_inside(rota_fj *task)
{
    inside.status = inside.body();
}

static int run_in_pool(int (*body)(void))
{
    inside.task = (rota_fj)ROTA_FJ(run_inside);
    inside.body = body;
    test_check(rota_invoke(stage.pool, &inside.task) == ROTA_OK);
    return inside.status;
}

static int block(void)
{
    int status = rota_block_begin();

    if (status == ROTA_OK)
        rota_block_end();
    return status;
}

static int block_in_pool(void)
{
    return run_in_pool(block);
}

enum { LEAVES = 3 };

static struct leaf {
    rota_fj task; /* first */
    atomic_uint runs;
} leaves[LEAVES];

static void be_leaf(rota_fj *task)
{
    atomic_fetch_add(&((struct leaf *)task)->runs, 1);
}

static void plant(void)
{
    for (int i = 0; i < LEAVES; i++)
        leaves[i] = (struct leaf){.task = ROTA_FJ(be_leaf)};
}

static int all_have_run_once(int status)
{
    for (int i = 0; i < LEAVES; i++)
        test_check(leaves[i].runs == 1);
    return status;
}

static int invoke_both(void)
{
    plant();
    atomic_store(&leaves[2].runs, 1);
    return all_have_run_once(rota_invoke_both(&leaves[0].task, &leaves[1].task));
}

static int invoke_many(void)
{
    plant();
    return all_have_run_once(
        rota_invoke_many((rota_fj *[]){&leaves[0].task, &leaves[1].task, &leaves[2].task}, LEAVES));
}

static int invoke_both_in_pool(void)
{
    return run_in_pool(invoke_both);
}

static int invoke_many_in_pool(void)
{
    return run_in_pool(invoke_many);
}

/* It runs here and fails. */
static void fail_with_7(rota_fj *task)
{
    rota_fj_fail(task, 7);
}

static int join_failed(void)
{
    rota_fj task = ROTA_FJ(fail_with_7);

    rota_fork(&task);
    int status = rota_join(&task);
    test_check(rota_fj_error(&task) == 7);
    return status;
}

static int join_failed_in_pool(void)
{
    return run_in_pool(join_failed);
}

/* More than a deque holds at first: it grows, or they run at once. */
enum { MANY = 3000 };

static struct leaf many[MANY];

static int fork_many(void)
{
    for (int i = 0; i < MANY; i++) {
        many[i] = (struct leaf){.task = ROTA_FJ(be_leaf)};
        rota_fork(&many[i].task);
    }
    for (int i = MANY; i-- > 0;) {
        test_check(rota_join(&many[i].task) == ROTA_OK);
        test_check(many[i].runs == 1);
    }
    return ROTA_OK;
}

static int fork_many_in_pool(void)
{
    return run_in_pool(fork_many);
}

/* -- Until it is quiet -------------------------------------------------------------------- */

static int await_quiet(void)
{
    return rota_await_quiescence(stage.pool, ROTA_FOREVER);
}

static int await_quiet_timed(void)
{
    return rota_await_quiescence(stage.pool, ROTA_MINUTES(30));
}

static int await_quiet_in_vain(void)
{
    return rota_await_quiescence(stage.pool, ROTA_MS(1));
}

static void it_was_quiet(void)
{
    test_check(stage.queued.runs == 1);
}

/* -- Taking tasks back -------------------------------------------------------------------- */

static int poll_submission(void)
{
    return rota_forkjoin_poll_submission(stage.pool, &given.task);
}

static void run_polled(void)
{
    rota_task_run(given.task);
    test_check(stage.queued.runs == 1);
}

static rota_task_list list;

static int drain(void)
{
    list = (rota_task_list){NULL, 77};
    int status = rota_forkjoin_drain_tasks(stage.pool, &list);
    test_check(status == ROTA_OK || list.count == 77);
    return status;
}

static void run_drained(void)
{
    test_check(list.count == 1);
    rota_task_run(list.tasks[0]);
    rota_task_list_free(&list);
    test_check(stage.queued.runs == 1);
}

static int stats_get(void)
{
    rota_forkjoin_stats stats;

    return rota_forkjoin_stats_get(stage.pool, &stats);
}

/* -- Looking ------------------------------------------------------------------------------ */

static int pool_of(void)
{
    return sweep_so(rota_fj_pool() == NULL);
}

static int worker_of(void)
{
    return sweep_so(rota_fj_worker() == -1);
}

static int surplus(void)
{
    return sweep_so(rota_fj_surplus() == 0);
}

static rota_fj fresh = ROTA_FJ(be_leaf);

static int cancel(void)
{
    rota_fj task = ROTA_FJ(be_leaf);

    return sweep_so(rota_fj_cancel(&task));
}

static int is_done(void)
{
    return sweep_so(!rota_fj_is_done(&fresh));
}

static int error_of(void)
{
    return sweep_so(rota_fj_error(&fresh) == 0);
}

static int fail_it(void)
{
    rota_fj task = ROTA_FJ(be_leaf);

    rota_fj_fail(&task, 7);
    return ROTA_OK;
}

static int reset(void)
{
    rota_fj_reset(&fresh);
    return ROTA_OK;
}

static const sweep_row rows[] = {
    {"rota_forkjoin_new", sweep_nowhere, make, it_works, SWEEP_NEEDS_MEMORY},
    {"rota_block_begin", idle, block_in_pool,
     .may = {[SWEEP_MEMORY] = {ROTA_EAGAIN}, [SWEEP_THREAD] = {ROTA_EAGAIN}}},
    {"rota_block_end", idle, block_in_pool,
     .may = {[SWEEP_MEMORY] = {ROTA_EAGAIN}, [SWEEP_THREAD] = {ROTA_EAGAIN}}},
    {"rota_await_quiescence", sweep_a_busy_forkjoin, await_quiet, it_was_quiet, sweep_open_gate,
     SWEEP_NEEDS_TO_WAIT},
    {"rota_await_quiescence", sweep_a_busy_forkjoin, await_quiet_timed, it_was_quiet,
     sweep_open_gate, SWEEP_TIMED},
    {"rota_await_quiescence", sweep_a_busy_forkjoin, await_quiet_in_vain, .status = ROTA_ETIMEDOUT,
     .least = ROTA_MS(1), SWEEP_NEEDS_TO_WAIT},
    {"rota_forkjoin_poll_submission", sweep_a_busy_forkjoin, poll_submission, run_polled,
     .is_quiet = true},
    {"rota_forkjoin_drain_tasks", sweep_a_busy_forkjoin, drain, run_drained, SWEEP_NEEDS_MEMORY},
    {"rota_forkjoin_stats_get", sweep_a_busy_forkjoin, stats_get, .is_quiet = true},
    {"rota_fj_pool", sweep_nowhere, pool_of, .is_quiet = true},
    {"rota_fj_worker", sweep_nowhere, worker_of, .is_quiet = true},
    {"rota_fj_surplus", sweep_nowhere, surplus, .is_quiet = true},
    {"rota_fj_cancel", sweep_nowhere, cancel, .is_quiet = true},
    {"rota_fj_is_done", sweep_nowhere, is_done, .is_quiet = true},
    {"rota_fj_error", sweep_nowhere, error_of, .is_quiet = true},
    {"rota_fj_fail", sweep_nowhere, fail_it, .is_quiet = true},
    {"rota_fj_reset", sweep_nowhere, reset, .is_quiet = true},
};
SWEEP_PART(sweep_forkjoin, rows);

/* Where the caller cannot take part, it forks into the common pool. */
static const sweep_row inside_rows[] = {
    {"rota_invoke", idle, invoke, .stays = true},
    {"rota_invoke", sweep_a_busy_forkjoin, invoke, NULL, sweep_open_gate, .stays = true},
    {"rota_invoke_both", idle, invoke_both_in_pool, .stays = true},
    {"rota_invoke_many", idle, invoke_many_in_pool, .stays = true},
    {"rota_fork", idle, fork_many_in_pool, .stays = true},
    {"rota__join_odd", idle, join_failed_in_pool, .status = ROTA_EFAILED, .stays = true},
};
SWEEP_PART(sweep_inside, inside_rows);
