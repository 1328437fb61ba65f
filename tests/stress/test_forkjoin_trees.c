/* SPDX-License-Identifier: MIT */
/*
 * Random trees of tasks in a fork/join pool, from several threads, while tasks come from outside,
 * workers block, go and come, and the pool ends somehow. Tasks fail, are cancelled, are taken back
 * and joined in any order. Each is accounted for once: it runs, or ends as cancelled; what was
 * submitted runs or is discarded.
 */
#include "rota_test_race.h"
#include "wood.h"

enum { DEPTH = 4, ROOTS = 4, EACH = 10 };

struct account {
    test_wood wood;
    test_random randoms[TEST_SIDES];
};

/* -- A round ------------------------------------------------------------------------------ */

static void begin(void *arg)
{
    struct account *account = arg;
    test_random *random = &account->randoms[0];
    bool is_narrow = test_random_below(random, 2) == 0;
    rota_executor *pool = test_wood_pool(random, is_narrow);

    test_wood_begin(&account->wood, pool, test_wood_pool(random, is_narrow), is_narrow);
}

static void plant(struct account *account, unsigned side)
{
    for (int i = 0; i < ROOTS; i++)
        test_wood_invoke(account->wood.pool, &account->wood, &account->randoms[side], DEPTH);
}

static void plant_left(void *arg)
{
    plant(arg, 1);
}

static void *plant_inside(void *arg)
{
    test_wood *wood = arg;
    test_random random = {(uint64_t)atomic_load(&wood->accepted) | 1};

    test_wood_run(arg);
    test_wood_invoke(wood->pool, wood, &random, DEPTH - 1);
    return arg;
}

static void submit_all(void *arg)
{
    struct account *account = arg;
    test_wood *wood = &account->wood;
    test_random *random = &account->randoms[2];

    for (int i = 0; i < EACH; i++) {
        size_t what = test_random_below(random, 4);
        if (what == 0)
            test_wood_submit_and_get(wood);
        else
            test_wood_submit(wood, what == 1 ? plant_inside : test_wood_run, NULL);
        test_yield_some(random, 3);
    }
}

static void end_somehow(void *arg)
{
    struct account *account = arg;
    test_random *random = &account->randoms[3];

    test_yield_some(random, 60);
    switch (test_random_below(random, 5)) {
    case 0:
        test_check(rota_shutdown_now(account->wood.pool, NULL) == ROTA_OK);
        break;
    case 1:
        test_check(rota_shutdown(account->wood.pool) == ROTA_OK);
        break;
    case 2:
        test_check(rota_shutdown_now(account->wood.other, NULL) == ROTA_OK);
        break;
    case 3:
        (void)rota_await_quiescence(account->wood.pool, ROTA_MS(1));
        break;
    default:
        break; /* after all is done */
    }
}

static void end(void *arg)
{
    struct account *account = arg;

    test_check(!rota_is_interrupted());
    test_check(rota_close(account->wood.pool) == ROTA_OK);
    test_check(rota_close(account->wood.other) == ROTA_OK);
    test_wood_end(&account->wood);
}

static void plant_here(void *arg)
{
    plant(arg, 0);
}

TEST(every_task_of_every_tree_is_accounted_for)
{
    static const test_race race = {
        .before = begin, .sides = {plant_here, plant_left, submit_all, end_somehow}, .after = end};
    static struct account account;

    test_randoms_init(account.randoms, TEST_SIDES);
    test_race_run(&race, &account);
}
