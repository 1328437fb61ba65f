/* SPDX-License-Identifier: MIT */
/*
 * A fork/join pool's narrow places: a submission or a rota_invoke meets a shutdown, a worker that
 * times out or was torn away; a task is cancelled as it is stolen; a worker blocks as the last one
 * falls asleep; all is quiet, or not quite.
 */
#include "forkjoin.h"
#include "rounds.h"

#include <sched.h>

struct round {
    test_round all; /* first */
    rota_fj shared; /* a task that somebody else cancels */
    atomic_uint shared_runs;
    bool cancelled;
    int shared_status;
    test_latch latch;
};

static void begin_round(struct round *round, rota_forkjoin_options options)
{
    test_round_begin(&round->all, test_forkjoin(options));
    round->cancelled = false;
    atomic_store(&round->shared_runs, 0);
}

static void race(const test_race *race)
{
    static struct round round;

    test_round_race(race, &round.all);
}

/* -- Against shutdown --------------------------------------------------------------------- */

static void make_any(void *arg)
{
    struct round *round = arg;
    unsigned parallelism = 1 + (unsigned)test_random_below(&round->all.random, 2);

    begin_round(round,
                (rota_forkjoin_options){
                    .parallelism = parallelism,
                    .max_threads = parallelism + (unsigned)test_random_below(&round->all.random, 2),
                    .keep_alive = test_random_below(&round->all.random, 2) == 0 ? 1 : 0,
                    .fifo = test_random_below(&round->all.random, 2) == 0,
                });
}

struct counted {
    rota_fj task; /* first */
    struct round *round;
};

static void count_run(rota_fj *task)
{
    test_round_run(((struct counted *)task)->round);
}

static void fork_and_count(rota_fj *task)
{
    struct counted *root = (struct counted *)task;
    struct counted child = {ROTA_FJ(count_run), root->round};

    rota_fork(&child.task);
    test_round_run(root->round);
    if (rota_join(&child.task) == ROTA_ECANCELED)
        test_round_discard(root->round);
}

/* Two are accounted for: the task and its child. */
static int invoke_one(struct round *round)
{
    struct counted root = {ROTA_FJ(fork_and_count), round};
    int status = rota_invoke(round->all.pool, &root.task);

    test_check(status == ROTA_OK || status == ROTA_EREJECTED || status == ROTA_ECANCELED);
    atomic_fetch_add(&round->all.accepted, status == ROTA_OK ? 2 : 0);
    test_check(!rota_is_interrupted());
    return status;
}

static void invoke_until_refused(void *arg)
{
    while (invoke_one(arg) != ROTA_EREJECTED)
        continue;
}

/* FJ-23 */
TEST(what_was_taken_before_a_shutdown_runs)
{
    race(&(test_race){make_any,
                      {test_round_shut_down, test_round_submit_until_refused, invoke_until_refused},
                      test_round_all_ran});
}

/* FJ-24 */
TEST(what_was_taken_before_a_stop_runs_or_is_discarded)
{
    race(&(test_race){make_any,
                      {test_round_stop, test_round_submit_until_refused, invoke_until_refused},
                      test_round_all_ran_or_were_discarded});
}

TEST(however_many_end_a_forkjoin_pool_it_ends_once)
{
    race(&(test_race){
        make_any,
        {test_round_stop, test_round_shut_down, test_round_stop, test_round_submit_until_refused},
        test_round_all_ran_or_were_discarded});
}

/* -- Against a time-out ------------------------------------------------------------------- */

static void make_fleeting(void *arg)
{
    struct round *round = arg;
    unsigned parallelism = 1 + (unsigned)test_random_below(&round->all.random, 2);

    begin_round(round, (rota_forkjoin_options){.parallelism = parallelism,
                                               .max_threads = parallelism,
                                               .keep_alive = 1});
}

static void submit_and_get(void *arg)
{
    struct round *round = arg;

    for (unsigned i = 0; i < 3; i++) {
        rota_future *future;
        test_check(rota_submit(round->all.pool, test_round_run, round, &future) == ROTA_OK);
        atomic_fetch_add(&round->all.accepted, 1);
        test_check(rota_future_get(future, NULL) == ROTA_OK);
        rota_future_unref(future);
    }
}

static void invoke_some(void *arg)
{
    for (unsigned i = 0; i < 3; i++)
        test_check(invoke_one(arg) == ROTA_OK);
}

/* FJ-14: else the get, or the invoke, never returns. */
TEST(no_task_is_left_by_a_worker_that_times_out)
{
    race(&(test_race){
        make_fleeting, {submit_and_get, submit_and_get, invoke_some}, test_round_all_ran});
}

TEST(callers_who_take_part_and_who_wait_all_return)
{
    race(&(test_race){make_fleeting, {invoke_some, invoke_some, invoke_some}, test_round_all_ran});
}

/* -- Cancelling --------------------------------------------------------------------------- */

static void run_shared(rota_fj *task)
{
    struct round *round = (struct round *)(void *)((char *)task - offsetof(struct round, shared));

    atomic_fetch_add(&round->shared_runs, 1);
}

static void make_shared(void *arg)
{
    struct round *round = arg;

    make_any(arg);
    round->shared = (rota_fj)ROTA_FJ(run_shared);
}

static void fork_shared(rota_fj *task)
{
    struct round *round = ((struct counted *)task)->round;

    rota_fork(&round->shared);
    test_round_linger(&round->all);
    round->shared_status = rota_join(&round->shared);
}

static void invoke_shared(void *arg)
{
    struct counted root = {ROTA_FJ(fork_shared), arg};

    test_check(rota_invoke(((struct round *)arg)->all.pool, &root.task) == ROTA_OK);
}

static void cancel_shared(void *arg)
{
    struct round *round = arg;

    round->cancelled = rota_fj_cancel(&round->shared);
}

/* fj.J4: what ends as cancelled may have run; what does not has. */
static void ran_or_was_cancelled(void *arg)
{
    struct round *round = arg;
    unsigned runs = atomic_load(&round->shared_runs);

    test_check(rota_close(round->all.pool) == ROTA_OK);
    test_check(runs <= 1 && rota_fj_is_done(&round->shared));
    if (round->shared_status == ROTA_ECANCELED)
        test_check(round->cancelled);
    else
        test_check(round->shared_status == ROTA_OK && runs == 1);
}

/* -- Blocking ------------------------------------------------------------------------------ */

static void make_for_one(void *arg)
{
    struct round *round = arg;

    begin_round(round, (rota_forkjoin_options){.parallelism = 1});
    test_latch_init(&round->latch, 1);
}

static void *wait_at_latch(void *arg)
{
    struct round *round = arg;

    test_check(rota_block_begin() == ROTA_OK);
    test_latch_wait(&round->latch);
    rota_block_end();
    return test_round_run(arg);
}

static void *open_latch(void *arg)
{
    test_latch_open(&((struct round *)arg)->latch);
    return test_round_run(arg);
}

static void execute(struct round *round, rota_fn *fn)
{
    test_check(rota_execute(round->all.pool, fn, round) == ROTA_OK);
    atomic_fetch_add(&round->all.accepted, 1);
}

static void submit_who_waits(void *arg)
{
    execute(arg, wait_at_latch);
    execute(arg, wait_at_latch);
}

static void submit_who_opens(void *arg)
{
    test_round_linger(arg);
    execute(arg, test_round_run);
    execute(arg, open_latch);
}

/* crew.W3 */
TEST(another_stands_in_for_who_blocks)
{
    race(&(test_race){make_for_one, {submit_who_waits, submit_who_opens}, test_round_all_ran});
}

/* -- Quiescence ---------------------------------------------------------------------------- */

static void *count_own(void *arg)
{
    atomic_fetch_add((atomic_uint *)arg, 1);
    return NULL;
}

static void submit_and_await_quiet(void *arg)
{
    struct round *round = arg;
    atomic_uint own = 0;

    for (unsigned i = 1; i <= 3; i++) {
        test_check(rota_execute(round->all.pool, count_own, &own) == ROTA_OK);
        test_check(rota_await_quiescence(round->all.pool, ROTA_FOREVER) == ROTA_OK);
        test_check(atomic_load(&own) == i);
    }
}

static void submit_three(void *arg)
{
    for (unsigned i = 0; i < 3; i++) {
        execute(arg, test_round_run);
        test_round_linger(arg);
    }
}

/* FJ-21 */
TEST(what_was_submitted_is_done_when_all_is_quiet)
{
    race(&(test_race){make_any,
                      {submit_and_await_quiet, submit_and_await_quiet, submit_three},
                      test_round_all_ran});
}

TEST(a_task_runs_or_ends_as_cancelled)
{
    race(&(test_race){make_shared, {invoke_shared, cancel_shared}, ran_or_was_cancelled});
}
