/* SPDX-License-Identifier: MIT */
#include "rounds.h"

#include <sched.h>

void test_round_race(const test_race *race, test_round *round)
{
    test_random_init(&round->random);
    test_race_run(race, round);
}

void test_round_begin(test_round *round, rota_executor *pool)
{
    round->pool = pool;
    round->yields = (unsigned)test_random_below(&round->random, 10);
    atomic_store(&round->accepted, 0);
    atomic_store(&round->runs, 0);
    atomic_store(&round->discards, 0);
}

void test_round_linger(const test_round *round)
{
    for (unsigned i = 0; i < round->yields; i++)
        sched_yield();
}

void *test_round_run(void *round)
{
    atomic_fetch_add(&((test_round *)round)->runs, 1);
    return round;
}

void test_round_discard(void *round)
{
    atomic_fetch_add(&((test_round *)round)->discards, 1);
}

void test_round_submit_until_refused(void *arg)
{
    test_round *round = arg;
    rota_call call = {.fn = test_round_run, .arg = round, .discard = test_round_discard};

    while (!rota_is_shutdown(round->pool)) {
        int status = rota_submit_call(round->pool, &call, NULL);
        test_check(status == ROTA_OK || status == ROTA_EREJECTED);
        atomic_fetch_add(&round->accepted, status == ROTA_OK);
    }
    test_check(rota_submit_call(round->pool, &call, NULL) == ROTA_EREJECTED);
}

void test_round_shut_down(void *arg)
{
    test_round *round = arg;

    test_round_linger(round);
    test_check(rota_shutdown(round->pool) == ROTA_OK);
    test_check(rota_await_termination(round->pool, ROTA_FOREVER) == ROTA_OK);
}

void test_round_stop(void *arg)
{
    test_round *round = arg;

    test_round_linger(round);
    test_check(rota_shutdown_now(round->pool, NULL) == ROTA_OK);
    test_check(rota_await_termination(round->pool, ROTA_FOREVER) == ROTA_OK);
}

void test_round_all_ran(void *arg)
{
    test_round *round = arg;

    test_round_all_ran_or_were_discarded(round);
    test_check(atomic_load(&round->discards) == 0);
}

void test_round_all_ran_or_were_discarded(void *arg)
{
    test_round *round = arg;

    test_check(rota_close(round->pool) == ROTA_OK);
    test_check(atomic_load(&round->runs) + atomic_load(&round->discards)
               == atomic_load(&round->accepted));
}
