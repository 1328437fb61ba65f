/* SPDX-License-Identifier: MIT */
/*
 * Tasks are taken out of a pool whose workers fork, join and submit meanwhile, while it ends or not, and
 * has no threads to spare. Each task runs or is discarded once, and every join ends. (FJ-12, FJ-27)
 */
#include "chance.h"
#include "forkjoin.h"
#include "rounds.h"

enum { EACH = 6, DRAINS = 8 };

struct taking {
    test_round round; /* first */
    test_random randoms[TEST_SIDES];
    atomic_bool over; /* nothing new is submitted by the first side */
};

static void begin(void *arg)
{
    struct taking *taking = arg;
    unsigned parallelism = 1 + (unsigned)test_random_below(&taking->randoms[0], 3);

    atomic_store(&taking->over, false);
    test_round_begin(&taking->round, test_forkjoin((rota_forkjoin_options){
                                         .parallelism = parallelism, .max_threads = parallelism}));
}

/* -- Tasks -------------------------------------------------------------------------------- */

static bool submit(struct taking *taking, rota_fn *fn)
{
    rota_call call = {.fn = fn, .arg = taking, .discard = test_round_discard};
    int status = rota_submit_call(taking->round.pool, &call, NULL);

    test_check(status == ROTA_OK || status == ROTA_EREJECTED);
    atomic_fetch_add(&taking->round.accepted, status == ROTA_OK);
    return status == ROTA_OK;
}

/* Its forks lie between what it submits; when the pool is stopped they are cancelled. Run by who took
   it out, it has no deque to fork into. */
static void *fork_and_submit(void *arg)
{
    struct taking *taking = arg;

    for (int i = 0; i < EACH && rota_fj_pool() != NULL; i++) {
        test_fib_task f = {ROTA_FJ(test_fib), 1, 0}, g = {ROTA_FJ(test_fib), 0, 7};
        submit(taking, test_round_run);
        rota_fork(&f.task);
        submit(taking, test_round_run);
        rota_fork(&g.task);
        test_check(rota_join(&f.task) != ROTA_OK || f.value == 1);
        test_check(rota_join(&g.task) != ROTA_OK || g.value == 0);
    }
    return test_round_run(taking);
}

/* -- Sides -------------------------------------------------------------------------------- */

static void submit_some(void *arg)
{
    struct taking *taking = arg;

    for (int i = 0; i < EACH; i++) {
        if (!submit(taking, test_random_below(&taking->randoms[0], 2) == 0 ? fork_and_submit
                                                                           : test_round_run))
            break;
    }
    atomic_store(&taking->over, true);
}

static void take_one(struct taking *taking, test_random *random)
{
    rota_task *task;
    int status = rota_forkjoin_poll_submission(taking->round.pool, &task);

    test_check(status == ROTA_OK || status == ROTA_EEMPTY);
    if (status == ROTA_OK && test_random_below(random, 2) == 0)
        rota_task_run(task);
    else if (status == ROTA_OK)
        rota_task_discard(task);
}

static void take_some(void *arg)
{
    struct taking *taking = arg;
    test_random *random = &taking->randoms[1];

    for (int i = 0; i < DRAINS || !atomic_load(&taking->over); i++) {
        rota_task_list list;
        take_one(taking, random);
        test_check(rota_forkjoin_drain_tasks(taking->round.pool, &list) == ROTA_OK);
        test_use_up(&list, random);
    }
}

static void end_at_times(void *arg)
{
    struct taking *taking = arg;

    switch (test_random_below(&taking->randoms[2], 4)) {
    case 0:
        test_round_shut_down(arg);
        break;
    case 1:
        test_round_stop(arg);
        break;
    default:
        test_check(rota_await_quiescence(taking->round.pool, ROTA_FOREVER) == ROTA_OK);
        break;
    }
}

TEST(every_task_is_taken_once)
{
    static const test_race race = {.before = begin,
                                   .sides = {submit_some, take_some, end_at_times},
                                   .after = test_round_all_ran_or_were_discarded};
    static struct taking taking;

    test_randoms_init(taking.randoms, TEST_SIDES);
    test_round_race(&race, &taking.round);
}
