/* SPDX-License-Identifier: MIT */
/*
 * Random trees of completers, from several threads and from tasks, in a pool that may be stopped. Parts
 * of them fail, are cancelled, completed or forgiven, end the search for all, and help. Whatever
 * happens the root ends, and nothing is computed, completed or failed twice. The memory of a tree goes
 * as early as the header allows it. (CC-04 to CC-07, CC-09 to CC-13)
 */
#include "rota_test_race.h"
#include "wood.h"

#include <stdlib.h>

enum { DEPTH = 3, CHILDREN = 4, MOST = 85, TREES = 3, CODE = 7 };

typedef struct tree tree;
typedef struct node {
    rota_completer completer; /* first */
    tree *tree;
    uint64_t seed;
    unsigned depth;
    atomic_uint computes, completions, failures;
} node;

struct tree {
    rota_executor *pool;
    bool is_calm;   /* nothing but forks and completions */
    bool is_silent; /* some complete without on_completion */
    bool forgives; /* some failures go no higher; then nobody fails another, which goes on computing
                       and completes as well, so that those above would be told twice */
    int status;    /* of the root's join */
    atomic_uint used;
    node nodes[MOST];
};

static bool one_in(test_random *random, size_t n)
{
    return test_random_below(random, n) == 0;
}

/* -- Nodes -------------------------------------------------------------------------------- */

static void compute(rota_completer *self);

static void completed(rota_completer *self, rota_completer *caller)
{
    test_check(atomic_fetch_add(&((node *)self)->completions, 1) == 0);
}

static bool failed(rota_completer *self, int code, rota_completer *caller)
{
    test_check(atomic_fetch_add(&((node *)self)->failures, 1) == 0);
    test_check(code == CODE || code == CODE + 1);
    return true;
}

/* It stays failed, and its parent waits for one less. */
static bool forgive(rota_completer *self, int code, rota_completer *caller)
{
    failed(self, code, caller);
    rota_try_complete(self->parent);
    return false;
}

static node *new_node(tree *wood, node *parent, test_random *random, unsigned depth)
{
    node *made = &wood->nodes[atomic_fetch_add(&wood->used, 1)];

    made->completer =
        (rota_completer)ROTA_COMPLETER(compute, parent != NULL ? &parent->completer : NULL);
    made->completer.on_completion = completed;
    made->completer.on_failure =
        parent != NULL && wood->forgives && one_in(random, 3) ? forgive : failed;
    made->tree = wood;
    made->seed = test_random_next(random) | 1;
    made->depth = depth;
    return made;
}

/* Before it is forked. A completed one is told of by that, and its fork is nothing. */
static void disturb_before(node *child, test_random *random)
{
    switch (test_random_below(random, 20)) {
    case 0:
        test_check(rota_fj_cancel(&child->completer.task));
        break;
    case 1:
        rota_complete(&child->completer);
        break;
    default:
        break;
    }
}

static void disturb_after(node *child, test_random *random)
{
    rota_fj *task = &child->completer.task;

    switch (test_random_below(random, 30)) {
    case 0:
        rota_fj_cancel(task);
        break;
    case 1:
        if (rota_unfork(task))
            rota_fork(task);
        break;
    case 2:
        if (!child->tree->forgives)
            rota_fj_fail(task, CODE + 1);
        break;
    case 3:
        rota_fj_cancel(&child->completer.parent->task);
        break;
    case 4:
        rota_help_complete(child->completer.parent, (int)test_random_below(random, 3));
        break;
    case 5:
        rota_help_complete(rota_completer_root(&child->completer), 1);
        break;
    default:
        break;
    }
}

static void fork_child(node *here, test_random *random)
{
    node *child = new_node(here->tree, here, random, here->depth - 1);

    if (!here->tree->is_calm)
        disturb_before(child, random);
    rota_fork(&child->completer.task);
    if (!here->tree->is_calm)
        disturb_after(child, random);
}

/* False: it has failed, or found what all seek, and does not complete. */
static bool goes_on(node *here, test_random *random)
{
    if (here->tree->is_calm)
        return true;
    switch (test_random_below(random, 25)) {
    case 0:
        rota_fj_fail(&here->completer.task, CODE);
        return false;
    case 1:
        rota_complete_root(&here->completer);
        return one_in(random, 2);
    default:
        return true;
    }
}

static void complete(node *here, test_random *random)
{
    if (here->tree->is_silent && one_in(random, 3))
        rota_propagate_completion(&here->completer);
    else
        rota_try_complete(&here->completer);
}

static void branch(node *here, unsigned n, test_random *random)
{
    bool counts_first = one_in(random, 2);

    if (counts_first)
        rota_set_pending(&here->completer, (int)n);
    for (unsigned i = 0; i < n; i++) {
        if (!counts_first)
            rota_add_pending(&here->completer, 1);
        fork_child(here, random);
    }
}

/* The last child is called, and completes it. */
static void branch_and_call(node *here, unsigned n, test_random *random)
{
    rota_set_pending(&here->completer, (int)n - 1);
    for (unsigned i = 1; i < n; i++)
        fork_child(here, random);
    compute(&new_node(here->tree, here, random, here->depth - 1)->completer);
}

static void compute(rota_completer *self)
{
    node *here = (node *)self;
    test_random random = {here->seed};
    unsigned n = here->depth > 0 ? (unsigned)test_random_below(&random, CHILDREN + 1) : 0;

    test_check(atomic_fetch_add(&here->computes, 1) == 0);
    if (n > 0 && one_in(&random, 4)) {
        branch_and_call(here, n, &random);
        return;
    }
    branch(here, n, &random);
    if (goes_on(here, &random))
        complete(here, &random);
}

/* -- Trees -------------------------------------------------------------------------------- */

static rota_fj *plant(tree **wood, rota_executor *pool, test_random *random)
{
    *wood = calloc(1, sizeof **wood);
    test_check(*wood != NULL);
    (*wood)->pool = pool;
    (*wood)->is_calm = one_in(random, 3);
    (*wood)->is_silent = one_in(random, 3);
    (*wood)->forgives = one_in(random, 2);
    return &new_node(*wood, NULL, random, DEPTH)->completer.task;
}

static void all_were_computed(tree *wood)
{
    unsigned used = atomic_load(&wood->used);

    for (unsigned i = 0; i < used; i++) {
        test_check(atomic_load(&wood->nodes[i].computes) == 1);
        test_check(wood->is_silent || atomic_load(&wood->nodes[i].completions) == 1);
        test_check(atomic_load(&wood->nodes[i].failures) == 0);
    }
}

static void check_root(const tree *wood)
{
    const rota_fj *root = &wood->nodes[0].completer.task;
    bool is_stopped = rota_executor_state_of(wood->pool) >= ROTA_STOP;

    if (wood->status == ROTA_EREJECTED) {
        test_check(rota_is_shutdown(wood->pool) && atomic_load(&wood->used) == 1);
        return;
    }
    test_check(rota_fj_is_done(root));
    test_check(wood->status == ROTA_EFAILED ? rota_fj_error(root) != 0 : rota_fj_error(root) == 0);
    test_check(!wood->is_calm || wood->status == ROTA_OK || is_stopped);
}

/* Header: "must stay until the root is done"; else "until rota_await_quiescence returns". */
static void fell(tree *wood)
{
    check_root(wood);
    if (wood->is_calm && wood->status == ROTA_OK)
        all_were_computed(wood);
    else
        test_check(rota_await_quiescence(wood->pool, ROTA_FOREVER) == ROTA_OK);
    free(wood);
}

static void *fork_and_join(void *arg)
{
    tree *wood = arg;
    rota_fj *root = &wood->nodes[0].completer.task;

    rota_fork(root);
    wood->status = rota_join(root);
    return NULL;
}

static void grow_inside(tree *wood)
{
    rota_future *future;

    wood->status = ROTA_EREJECTED;
    if (rota_submit(wood->pool, fork_and_join, wood, &future) != ROTA_OK)
        return;
    (void)rota_future_get(future, NULL); /* cancelled, if the pool was stopped before */
    rota_future_unref(future);
}

/* -- A round ------------------------------------------------------------------------------ */

struct round {
    rota_executor *pool;
    test_random randoms[TEST_SIDES];
};

static void begin(void *arg)
{
    struct round *round = arg;

    round->pool = test_wood_pool(&round->randoms[0], false);
}

static void grow(struct round *round, unsigned side)
{
    test_random *random = &round->randoms[side];

    for (int i = 0; i < TREES; i++) {
        tree *wood;
        rota_fj *root = plant(&wood, round->pool, random);
        if (one_in(random, 2))
            wood->status = rota_invoke(round->pool, root);
        else
            grow_inside(wood);
        fell(wood);
    }
}

static void grow_here(void *arg)
{
    grow(arg, 0);
}

static void grow_there(void *arg)
{
    grow(arg, 1);
}

static void stop_at_times(void *arg)
{
    struct round *round = arg;
    test_random *random = &round->randoms[2];

    test_yield_some(random, 40);
    if (one_in(random, 4))
        test_check(rota_shutdown_now(round->pool, NULL) == ROTA_OK);
    else if (one_in(random, 4))
        test_check(rota_shutdown(round->pool) == ROTA_OK);
}

static void end(void *arg)
{
    struct round *round = arg;

    test_check(rota_close(round->pool) == ROTA_OK);
}

TEST(every_root_ends_and_nothing_happens_twice)
{
    static const test_race race = {
        .before = begin, .sides = {grow_here, grow_there, stop_at_times}, .after = end};
    static struct round round;

    test_randoms_init(round.randoms, TEST_SIDES);
    test_race_run(&race, &round);
}
