/* SPDX-License-Identifier: MIT */
/*
 * A pool's narrow places: a submission meets a shutdown, a thread that times out, a worker that was
 * torn away, a removal; and a submitter that waits for room meets whatever ends its wait.
 */
#include "pools.h"
#include "rounds.h"

#include <sched.h>

struct round {
    test_round all; /* first */
    rota_future *future;
    bool removed;
    test_gate gate;
    int status;
};

static void *run_and_end_thread(void *arg)
{
    test_round_run(arg);
    pthread_exit(NULL);
}

static void begin_round(struct round *round, rota_pool_options options)
{
    test_round_begin(&round->all, test_pool(options));
    round->future = NULL;
    round->removed = false;
}

static void race(const test_race *race)
{
    static struct round round;

    test_round_race(race, &round.all);
}

/* -- Against shutdown --------------------------------------------------------------------- */

static rota_queue *any_queue(test_random *random)
{
    size_t kind = test_random_below(random, 3);

    return kind == 0 ? NULL : kind == 1 ? test_array(2) : test_handoff();
}

static void make_any(void *arg)
{
    struct round *round = arg;

    begin_round(round, (rota_pool_options){
                           .core_threads = (unsigned)test_random_below(&round->all.random, 3),
                           .max_threads = 2,
                           .keep_alive = 1,
                           .queue = any_queue(&round->all.random),
                       });
}

/* POOL-14, POOL-17 */
TEST(what_a_pool_took_before_its_shutdown_runs)
{
    race(&(test_race){
        make_any,
        {test_round_shut_down, test_round_submit_until_refused, test_round_submit_until_refused},
        test_round_all_ran});
}

/* A5, FAULT-43 */
TEST(what_a_pool_took_before_its_stop_runs_or_is_discarded)
{
    race(&(test_race){
        make_any,
        {test_round_stop, test_round_submit_until_refused, test_round_submit_until_refused},
        test_round_all_ran_or_were_discarded});
}

/* POOL-36, FAULT-11, FAULT-43: two threads end the pool at once. */
TEST(however_many_end_a_pool_it_ends_once)
{
    race(&(test_race){
        make_any,
        {test_round_stop, test_round_shut_down, test_round_stop, test_round_submit_until_refused},
        test_round_all_ran_or_were_discarded});
}

/* -- Against a time-out ------------------------------------------------------------------- */

/* One thread, which goes as soon as it has nothing to do. */
static void make_fleeting(void *arg)
{
    struct round *round = arg;
    bool is_core = test_random_below(&round->all.random, 2) == 0;

    begin_round(round, (rota_pool_options){.core_threads = is_core,
                                           .max_threads = 1,
                                           .keep_alive = 1,
                                           .core_may_time_out = is_core});
}

/* POOL-25, L1: else the get never returns. */
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

TEST(no_task_is_left_by_a_thread_that_times_out)
{
    race(&(test_race){make_fleeting, {submit_and_get, submit_and_get}, test_round_all_ran});
}

static void change_keep_alive(void *arg)
{
    struct round *round = arg;

    for (unsigned i = 0; i < 5; i++) {
        test_check(rota_pool_set_keep_alive(round->all.pool, ROTA_US(6 - i)) == ROTA_OK);
        test_round_linger(&round->all);
    }
}

/* POOL-42: a wake-up is no time-out. */
TEST(no_task_is_left_when_the_keep_alive_changes)
{
    race(&(test_race){make_fleeting, {submit_and_get, change_keep_alive}, test_round_all_ran});
}

/* -- Against a worker that is torn away ---------------------------------------------------- */

static void make_fixed(void *arg)
{
    struct round *round = arg;

    begin_round(round, (rota_pool_options){
                           .core_threads = 1 + (unsigned)test_random_below(&round->all.random, 2)});
}

static void tear(void *arg)
{
    struct round *round = arg;

    for (unsigned i = 0; i < 2; i++) {
        test_check(rota_execute(round->all.pool, run_and_end_thread, round) == ROTA_OK);
        atomic_fetch_add(&round->all.accepted, 1);
        test_round_linger(&round->all);
    }
}

/* GEN-14, POOL-30 */
TEST(no_task_is_left_by_a_worker_that_is_torn_away)
{
    race(&(test_race){make_fixed, {tear, submit_and_get}, test_round_all_ran});
}

static void tear_until_refused(void *arg)
{
    struct round *round = arg;
    int status;

    while ((status = rota_execute(round->all.pool, run_and_end_thread, round)) == ROTA_OK) {
        atomic_fetch_add(&round->all.accepted, 1);
        test_round_linger(&round->all);
    }
    test_check(status == ROTA_EREJECTED);
}

TEST(a_pool_whose_workers_are_torn_away_ends)
{
    race(&(test_race){make_fixed, {test_round_shut_down, tear_until_refused}, test_round_all_ran});
}

/* -- Against a removal --------------------------------------------------------------------- */

static void make_with_task(void *arg)
{
    struct round *round = arg;
    rota_call call = {.fn = test_round_run, .arg = round, .discard = test_round_discard};

    begin_round(round, (rota_pool_options){.core_threads = 1});
    test_gate_init(&round->gate);
    test_occupy(round->all.pool, &round->gate, 1);
    test_check(rota_submit_call(round->all.pool, &call, &round->future) == ROTA_OK);
}

static void open_gate(void *arg)
{
    test_gate_open(&((struct round *)arg)->gate);
}

static void remove_it(void *arg)
{
    struct round *round = arg;

    test_round_linger(&round->all);
    round->removed = rota_pool_remove(round->all.pool, round->future);
}

static void ran_or_was_removed(void *arg)
{
    struct round *round = arg;

    test_check(rota_close(round->all.pool) == ROTA_OK);
    test_check(atomic_load(&round->all.runs) == (round->removed ? 0 : 1));
    test_check(atomic_load(&round->all.discards) == (round->removed ? 1 : 0));
    test_check(rota_future_is_done(round->future));
    rota_future_unref(round->future);
}

/* POOL-51 */
TEST(a_task_runs_or_is_removed)
{
    race(&(test_race){make_with_task, {remove_it, open_gate}, ran_or_was_removed});
}

/* -- A submitter that waits for room ------------------------------------------------------ */

static void make_blocking(void *arg)
{
    struct round *round = arg;
    bool hands_off = test_random_below(&round->all.random, 2) == 0;

    begin_round(round, (rota_pool_options){.core_threads = 1,
                                           .queue = hands_off ? test_handoff() : test_array(1),
                                           .on_reject = rota_reject_block});
}

static void submit_five(void *arg)
{
    struct round *round = arg;

    for (unsigned i = 0; i < 5; i++) {
        int status = rota_execute(round->all.pool, test_round_run, round);
        test_check(status == ROTA_OK || status == ROTA_EREJECTED);
        atomic_fetch_add(&round->all.accepted, status == ROTA_OK);
    }
}

static void resize(void *arg)
{
    struct round *round = arg;

    test_round_linger(&round->all);
    for (unsigned i = 0; i < 4; i++)
        test_check(rota_pool_set_max_threads(round->all.pool, 1 + i % 2) == ROTA_OK);
}

/* REJ-11, L2 */
TEST(a_blocked_submitter_always_goes_on)
{
    race(&(test_race){make_blocking, {submit_five, submit_five, resize}, test_round_all_ran});
}

TEST(a_blocked_submitter_and_a_shutdown_lose_nothing)
{
    race(&(test_race){
        make_blocking, {test_round_shut_down, submit_five, submit_five}, test_round_all_ran});
}
