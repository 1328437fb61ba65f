/* SPDX-License-Identifier: MIT */
/*
 * A scheduled pool without core threads has one thread, whoever comes at the same moment.
 */
#include "pools.h"
#include "rota_test_race.h"

#include <sched.h>

struct crowd {
    rota_executor *sched;
    atomic_uint inside, runs, starts;
};

static void *run_alone(void *arg)
{
    struct crowd *crowd = arg;

    test_check(atomic_fetch_add(&crowd->inside, 1) == 0);
    sched_yield();
    atomic_fetch_sub(&crowd->inside, 1);
    return test_count(&crowd->runs);
}

static void on_start(void *arg)
{
    atomic_fetch_add(&((struct crowd *)arg)->starts, 1);
}

static void open_crowd(void *arg)
{
    *(struct crowd *)arg = (struct crowd){
        .sched = test_sched((rota_sched_options){.keep_alive = ROTA_HOURS(1),
                                                 .threads = {.on_start = on_start, .ctx = arg}})};
}

static void submit_one(void *arg)
{
    struct crowd *crowd = arg;

    test_check(rota_execute(crowd->sched, run_alone, crowd) == ROTA_OK);
}

static void close_crowd(void *arg)
{
    struct crowd *crowd = arg;

    test_check(rota_close(crowd->sched) == ROTA_OK);
    test_check(atomic_load(&crowd->runs) == 2);
    test_check(atomic_load(&crowd->starts) == 1);
}

/* SCHED-19: "exactly one", also for two who find none at the same moment. */
TEST(with_core_0_one_thread_comes_for_two_submitters)
{
    static const test_race race = {
        .before = open_crowd, .sides = {submit_one, submit_one}, .after = close_crowd};
    struct crowd crowd;

    test_race_run(&race, &crowd);
}
