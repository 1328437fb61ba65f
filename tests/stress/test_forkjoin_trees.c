/* SPDX-License-Identifier: MIT */
/*
 * Random trees of tasks in a fork/join pool, from several threads, while tasks come from outside,
 * workers block, go and come, and the pool ends somehow. Tasks fail, are cancelled, are taken back
 * and joined in any order. Each is accounted for once: it runs, or ends as cancelled; what was
 * submitted runs or is discarded.
 */
#include "forkjoin.h"
#include "rota_test_race.h"

#include <sched.h>

enum { CHILDREN = 4, DEPTH = 4, ROOTS = 4, EACH = 10 };

struct account {
    rota_executor *pool;
    rota_executor *other; /* a second one, for trees that spread */
    bool is_narrow;       /* too few may stand in for all who could wait for one another */
    test_random randoms[TEST_SIDES];
    atomic_uint accepted, runs, discards; /* of what was submitted */
    atomic_uint begun, ended;             /* bodies */
};

static void yield_some(test_random *random, size_t most)
{
    for (size_t left = test_random_below(random, most); left > 0; left--)
        sched_yield();
}

static bool is_stopped(const struct account *account)
{
    return rota_executor_state_of(account->pool) >= ROTA_STOP
           || rota_executor_state_of(account->other) >= ROTA_STOP;
}

/* -- What is submitted -------------------------------------------------------------------- */

static void *run_item(void *arg)
{
    struct account *account = arg;

    atomic_fetch_add(&account->runs, 1);
    return arg;
}

static void discard_item(void *arg)
{
    struct account *account = arg;

    atomic_fetch_add(&account->discards, 1);
}

static bool submit(struct account *account, rota_fn *fn, rota_future **future)
{
    rota_call call = {.fn = fn, .arg = account, .discard = discard_item};
    int status = rota_submit_call(account->pool, &call, future);

    test_check(status == ROTA_OK || status == ROTA_EREJECTED);
    atomic_fetch_add(&account->accepted, status == ROTA_OK);
    return status == ROTA_OK;
}

static void submit_and_get(struct account *account)
{
    rota_future *future;
    void *result = NULL;
    int status;

    if (!submit(account, run_item, &future))
        return;
    do
        status = rota_future_get(future, &result);
    while (status == ROTA_EINTERRUPTED); /* the pool stops: what it waits for ends all the same */
    test_check(status == ROTA_OK ? result == account : status == ROTA_ECANCELED);
    test_check(status == ROTA_OK || is_stopped(account));
    rota_future_unref(future);
}

/* -- Trees -------------------------------------------------------------------------------- */

struct tree {
    rota_fj task; /* first */
    struct account *account;
    uint64_t seed;
    unsigned depth;
    int error;       /* that it fails with, or 0 */
    unsigned runs;   /* written by its body, read by who joins it */
    bool was_joined; /* and these by its parent */
    bool is_cancelled;
};

static void grow(rota_fj *task);

static struct tree seedling(struct account *account, test_random *random, unsigned depth)
{
    return (struct tree){.task = ROTA_FJ(grow),
                         .account = account,
                         .seed = test_random_next(random) | 1,
                         .depth = depth,
                         .error = test_random_below(random, 8) == 0 ? 5 : 0};
}

static void check_outcome(const struct tree *tree, int status)
{
    test_check(rota_fj_is_done(&tree->task));
    if (status == ROTA_ECANCELED) {
        test_check(tree->runs <= 1 && (tree->is_cancelled || is_stopped(tree->account)));
        return;
    }
    test_check(tree->runs == 1 && !tree->is_cancelled);
    test_check(status == (tree->error != 0 ? ROTA_EFAILED : ROTA_OK));
    test_check(rota_fj_error(&tree->task) == tree->error);
}

static void join_child(struct tree *child)
{
    test_check(!child->was_joined);
    child->was_joined = true;
    check_outcome(child, rota_join(&child->task));
}

/* Taken back it is run as a plain function, or forked once more. */
static void take_back(struct tree *child, test_random *random)
{
    if (!rota_unfork(&child->task))
        return;
    test_check(child->runs == 0);
    if (test_random_below(random, 2) == 0) {
        rota_fork(&child->task);
        return;
    }
    grow(&child->task);
    test_check(child->runs == 1);
    child->was_joined = true;
}

static void disturb(struct tree *child, test_random *random)
{
    switch (test_random_below(random, 12)) {
    case 0:
        child->is_cancelled = rota_fj_cancel(&child->task);
        break;
    case 1:
        take_back(child, random);
        break;
    case 2:
        join_child(child);
        break;
    default:
        break;
    }
}

static void block(test_random *random)
{
    int status = rota_block_begin();

    test_check(status == ROTA_OK || status == ROTA_EREJECTED || status == ROTA_EAGAIN);
    yield_some(random, 4);
    if (status == ROTA_OK)
        rota_block_end();
}

static void invoke(rota_executor *pool, struct account *account, test_random *random,
                   unsigned depth)
{
    struct tree tree = seedling(account, random, depth);
    int status = rota_invoke(pool, &tree.task);

    if (status != ROTA_EREJECTED)
        check_outcome(&tree, status);
    else
        test_check(tree.runs == 0 && rota_is_shutdown(pool));
}

static void do_something_else(const struct tree *tree, test_random *random)
{
    size_t what = test_random_below(random, 24);

    if (tree->account->is_narrow && what >= 3)
        return;
    switch (what) {
    case 0:
        block(random);
        break;
    case 1:
        submit(tree->account, run_item, NULL);
        break;
    case 2:
        (void)rota_sleep(1); /* interrupted, if the pool stops */
        break;
    case 3:
        submit_and_get(tree->account);
        break;
    case 4:
        invoke(tree->account->other, tree->account, random, tree->depth - 1);
        break;
    default:
        break;
    }
}

static void join_in_any_order(struct tree *children, unsigned n, test_random *random)
{
    bool newest_first = test_random_below(random, 2) == 0;
    size_t first = test_random_below(random, n);

    for (unsigned i = 0; i < n; i++) {
        struct tree *child = &children[newest_first ? n - 1 - i : (first + i) % n];
        if (!child->was_joined)
            join_child(child);
    }
}

static void branch(struct tree *tree, test_random *random)
{
    struct tree children[CHILDREN];
    unsigned n = 1 + (unsigned)test_random_below(random, CHILDREN);

    for (unsigned i = 0; i < n; i++) {
        children[i] = seedling(tree->account, random, tree->depth - 1);
        rota_fork(&children[i].task);
        disturb(&children[i], random);
        do_something_else(tree, random);
    }
    join_in_any_order(children, n, random);
}

static void grow(rota_fj *task)
{
    struct tree *tree = (struct tree *)task;
    test_random random = {tree->seed};

    atomic_fetch_add_explicit(&tree->account->begun, 1, memory_order_relaxed);
    tree->runs++;
    if (tree->depth > 0)
        branch(tree, &random);
    if (tree->error != 0)
        rota_fj_fail(task, tree->error);
    atomic_fetch_add_explicit(&tree->account->ended, 1, memory_order_relaxed);
}

/* -- A round ------------------------------------------------------------------------------ */

static rota_executor *any_pool(test_random *random, bool is_narrow)
{
    unsigned parallelism = 1 + (unsigned)test_random_below(random, 3);
    rota_forkjoin_options options = {
        .parallelism = parallelism,
        .max_threads = is_narrow ? parallelism + 1 : 0,
        .keep_alive = test_random_below(random, 2) == 0 ? 1 : 0,
        .fifo = test_random_below(random, 4) == 0,
    };

    return test_forkjoin(options);
}

static void begin(void *arg)
{
    struct account *account = arg;

    account->is_narrow = test_random_below(&account->randoms[0], 2) == 0;
    account->pool = any_pool(&account->randoms[0], account->is_narrow);
    account->other = any_pool(&account->randoms[0], account->is_narrow);
    atomic_store(&account->accepted, 0);
    atomic_store(&account->runs, 0);
    atomic_store(&account->discards, 0);
    atomic_store(&account->begun, 0);
    atomic_store(&account->ended, 0);
}

static void plant(struct account *account, unsigned side)
{
    for (int i = 0; i < ROOTS; i++)
        invoke(account->pool, account, &account->randoms[side], DEPTH);
}

static void plant_left(void *arg)
{
    plant(arg, 1);
}

static void *plant_inside(void *arg)
{
    struct account *account = arg;
    test_random random = {(uint64_t)atomic_load(&account->accepted) | 1};

    run_item(arg);
    invoke(account->pool, account, &random, DEPTH - 1);
    return arg;
}

static void submit_all(void *arg)
{
    struct account *account = arg;
    test_random *random = &account->randoms[2];

    for (int i = 0; i < EACH; i++) {
        size_t what = test_random_below(random, 4);
        if (what == 0)
            submit_and_get(account);
        else
            submit(account, what == 1 ? plant_inside : run_item, NULL);
        yield_some(random, 3);
    }
}

static void end_somehow(void *arg)
{
    struct account *account = arg;
    test_random *random = &account->randoms[3];

    yield_some(random, 60);
    switch (test_random_below(random, 5)) {
    case 0:
        test_check(rota_shutdown_now(account->pool, NULL) == ROTA_OK);
        break;
    case 1:
        test_check(rota_shutdown(account->pool) == ROTA_OK);
        break;
    case 2:
        test_check(rota_shutdown_now(account->other, NULL) == ROTA_OK);
        break;
    case 3:
        (void)rota_await_quiescence(account->pool, ROTA_MS(1));
        break;
    default:
        break; /* after all is done */
    }
}

static void end(void *arg)
{
    struct account *account = arg;

    test_check(!rota_is_interrupted());
    test_check(rota_close(account->pool) == ROTA_OK);
    test_check(rota_close(account->other) == ROTA_OK);
    test_check(atomic_load(&account->begun) == atomic_load(&account->ended));
    test_check(atomic_load(&account->runs) + atomic_load(&account->discards)
               == atomic_load(&account->accepted));
}

static void plant_here(void *arg)
{
    plant(arg, 0);
}

static void every_task_of_every_tree_is_accounted_for(void **state)
{
    static const test_race race = {
        .before = begin, .sides = {plant_here, plant_left, submit_all, end_somehow}, .after = end};
    static struct account account;

    test_randoms_init(account.randoms, TEST_SIDES);
    test_race_run(&race, &account);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_memory(every_task_of_every_tree_is_accounted_for)};

    test_memory_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
