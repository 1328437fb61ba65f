/* SPDX-License-Identifier: MIT */
/*
 * Threads enter an executor of one's own, and leave it, while another shuts it down.
 */
#include "executors.h"
#include "rota_test_race.h"
#include "rota_test_tasks.h"

#include <sched.h>

struct race {
    rota_executor *executor;
    atomic_uint taken;
    atomic_uint ran;
    atomic_bool inside;
    atomic_bool go;
};

static void make(void *arg)
{
    struct race *race = arg;

    test_check(test_executor_direct(&race->executor) == ROTA_OK);
    atomic_store(&race->taken, 0);
    atomic_store(&race->ran, 0);
    atomic_store(&race->inside, false);
    atomic_store(&race->go, false);
}

static void *count_run(void *arg)
{
    struct race *race = arg;

    atomic_fetch_add(&race->ran, 1);
    return NULL;
}

/* So few that it ends at about the time of the shutdown. */
static void submit_some(void *arg)
{
    struct race *race = arg;
    bool rejected = false;

    for (int i = 0; i < 8; i++) {
        int status = rota_execute(race->executor, count_run, race);
        test_check(status == ROTA_EREJECTED || (status == ROTA_OK && !rejected));
        rejected = status != ROTA_OK;
        if (!rejected)
            atomic_fetch_add(&race->taken, 1);
    }
    test_check(!rejected || rota_is_shutdown(race->executor));
}

static void shut_down(void *arg)
{
    struct race *race = arg;

    test_check(rota_shutdown(race->executor) == ROTA_OK);
    test_check(rota_execute(race->executor, count_run, race) == ROTA_EREJECTED);
    test_check(rota_await_termination(race->executor, ROTA_FOREVER) == ROTA_OK);
    unsigned ran = atomic_load(&race->ran);
    test_check(rota_is_terminated(race->executor));
    test_check(atomic_load(&race->ran) == ran); /* nobody was inside any more */
}

static void check_counts(void *arg)
{
    struct race *race = arg;

    test_check(atomic_load(&race->taken) == atomic_load(&race->ran));
    test_check(rota_executor_free(race->executor) == ROTA_OK);
}

/* custom.U1: entering and shutting down at once; what was taken has run when it is terminated. */
TEST(nobody_enters_after_the_shutdown)
{
    static const test_race sides = {make, {shut_down, submit_some, submit_some}, check_counts};
    struct race race;

    test_race_run(&sides, &race);
}

static void *stay_until_told(void *arg)
{
    struct race *race = arg;

    atomic_store(&race->inside, true);
    while (!atomic_load(&race->go))
        sched_yield();
    return NULL;
}

static void enter_and_leave(void *arg)
{
    struct race *race = arg;

    test_check(rota_execute(race->executor, stay_until_told, race) == ROTA_OK);
}

static void close_it(void *arg)
{
    struct race *race = arg;

    while (!atomic_load(&race->inside))
        sched_yield();
    atomic_store(&race->go, true);
    test_check(rota_close(race->executor) == ROTA_OK);
}

static void nothing(void *arg)
{
}

/* custom.U2, custom.U3: it may be freed as soon as it has ended, by whoever waits, while the last
   leaves. */
TEST(it_may_be_freed_while_the_last_leaves)
{
    static const test_race sides = {make, {close_it, enter_and_leave}, nothing};
    struct race race;

    test_race_run(&sides, &race);
}
