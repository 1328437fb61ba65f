/* SPDX-License-Identifier: MIT */
#include "wood.h"

#include <sched.h>

enum { CHILDREN = 4 };

void test_yield_some(test_random *random, size_t most)
{
    for (size_t left = test_random_below(random, most); left > 0; left--)
        sched_yield();
}

static bool is_stopped(const test_wood *wood)
{
    return rota_executor_state_of(wood->pool) >= ROTA_STOP
           || rota_executor_state_of(wood->other) >= ROTA_STOP;
}

/* -- What is submitted -------------------------------------------------------------------- */

void *test_wood_run(void *arg)
{
    test_wood *wood = arg;

    atomic_fetch_add(&wood->runs, 1);
    return arg;
}

static void discard_item(void *arg)
{
    test_wood *wood = arg;

    atomic_fetch_add(&wood->discards, 1);
}

bool test_wood_submit(test_wood *wood, rota_fn *fn, rota_future **future)
{
    rota_call call = {.fn = fn, .arg = wood, .discard = discard_item};
    int status = rota_submit_call(wood->pool, &call, future);

    test_check(status == ROTA_OK || status == ROTA_EREJECTED);
    atomic_fetch_add(&wood->accepted, status == ROTA_OK);
    return status == ROTA_OK;
}

void test_wood_submit_and_get(test_wood *wood)
{
    rota_future *future;
    void *result = NULL;
    int status;

    if (!test_wood_submit(wood, test_wood_run, &future))
        return;
    do
        status = rota_future_get(future, &result);
    while (status == ROTA_EINTERRUPTED); /* the pool stops: what it waits for ends all the same */
    test_check(status == ROTA_OK ? result == wood : status == ROTA_ECANCELED);
    test_check(status == ROTA_OK || is_stopped(wood));
    rota_future_unref(future);
}

/* -- Trees -------------------------------------------------------------------------------- */

struct tree {
    rota_fj task; /* first */
    test_wood *wood;
    uint64_t seed;
    unsigned depth;
    int error;       /* that it fails with, or 0 */
    unsigned runs;   /* written by its body, read by who joins it */
    bool was_joined; /* and these by its parent */
    bool is_cancelled;
};

static void grow(rota_fj *task);

static struct tree seedling(test_wood *wood, test_random *random, unsigned depth)
{
    return (struct tree){.task = ROTA_FJ(grow),
                         .wood = wood,
                         .seed = test_random_next(random) | 1,
                         .depth = depth,
                         .error = test_random_below(random, 8) == 0 ? 5 : 0};
}

static void check_outcome(const struct tree *tree, int status)
{
    test_check(rota_fj_is_done(&tree->task));
    if (status == ROTA_ECANCELED) {
        test_check(tree->runs <= 1 && (tree->is_cancelled || is_stopped(tree->wood)));
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
    test_yield_some(random, 4);
    if (status == ROTA_OK)
        rota_block_end();
}

void test_wood_invoke(rota_executor *pool, test_wood *wood, test_random *random, unsigned depth)
{
    struct tree tree = seedling(wood, random, depth);
    int status = rota_invoke(pool, &tree.task);

    if (status != ROTA_EREJECTED)
        check_outcome(&tree, status);
    else
        test_check(tree.runs == 0 && rota_is_shutdown(pool));
}

static void do_something_else(const struct tree *tree, test_random *random)
{
    size_t what = test_random_below(random, 24);

    if (tree->wood->is_narrow && what >= 3)
        return;
    switch (what) {
    case 0:
        block(random);
        break;
    case 1:
        test_wood_submit(tree->wood, test_wood_run, NULL);
        break;
    case 2:
        (void)rota_sleep(1); /* interrupted, if the pool stops */
        break;
    case 3:
        test_wood_submit_and_get(tree->wood);
        break;
    case 4:
        test_wood_invoke(tree->wood->other, tree->wood, random, tree->depth - 1);
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
        children[i] = seedling(tree->wood, random, tree->depth - 1);
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

    atomic_fetch_add_explicit(&tree->wood->begun, 1, memory_order_relaxed);
    tree->runs++;
    if (tree->depth > 0)
        branch(tree, &random);
    if (tree->error != 0)
        rota_fj_fail(task, tree->error);
    atomic_fetch_add_explicit(&tree->wood->ended, 1, memory_order_relaxed);
}

/* -- Pools -------------------------------------------------------------------------------- */

rota_executor *test_wood_pool(test_random *random, bool is_narrow)
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

/* -- Beginning and end -------------------------------------------------------------------- */

void test_wood_begin(test_wood *wood, rota_executor *pool, rota_executor *other, bool is_narrow)
{
    wood->pool = pool;
    wood->other = other;
    wood->is_narrow = is_narrow;
    atomic_store(&wood->accepted, 0);
    atomic_store(&wood->runs, 0);
    atomic_store(&wood->discards, 0);
    atomic_store(&wood->begun, 0);
    atomic_store(&wood->ended, 0);
}

void test_wood_end(test_wood *wood)
{
    test_check(atomic_load(&wood->begun) == atomic_load(&wood->ended));
    test_check(atomic_load(&wood->runs) + atomic_load(&wood->discards)
               == atomic_load(&wood->accepted));
}
