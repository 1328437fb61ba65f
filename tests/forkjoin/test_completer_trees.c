/* SPDX-License-Identifier: MIT */
/*
 * Whole trees of completers: a loop over an array in the four shapes that are common, in every kind of
 * pool, from outside, and by several at once.
 */
#define _GNU_SOURCE
#include "completers.h"

#include <stdlib.h>

enum { MOST = 256 };

/* A part of the array; those it makes lie in the forest, which stays until the root is done. */
typedef struct forest forest;
typedef struct part {
    rota_completer completer; /* first */
    forest *forest;
    int low, high;
} part;

struct forest {
    part parts[2 * MOST + 1];
    atomic_uint used;
    unsigned completions; /* by on_completion of the root */
    unsigned visits[MOST];
};

static part *new_part(forest *woods, part *parent, void (*compute)(rota_completer *), int low,
                      int high)
{
    part *made = &woods->parts[atomic_fetch_add(&woods->used, 1)];

    *made = (part){ROTA_COMPLETER(compute, parent != NULL ? &parent->completer : NULL), woods, low,
                   high};
    return made;
}

static void fork_part(part *parent, int low, int high)
{
    rota_fork(
        &new_part(parent->forest, parent, parent->completer.compute, low, high)->completer.task);
}

static int middle(const part *here)
{
    return here->low + (here->high - here->low) / 2;
}

/* Not atomic: whoever joins the root sees all of it. */
static void visit(part *here)
{
    if (here->low < here->high)
        here->forest->visits[here->low]++;
}

/* -- The four shapes ---------------------------------------------------------------------- */

static void fork_both(rota_completer *self)
{
    part *here = (part *)self;

    if (here->high - here->low < 2) {
        visit(here);
    } else {
        rota_set_pending(self, 2);
        fork_part(here, middle(here), here->high);
        fork_part(here, here->low, middle(here));
    }
    rota_try_complete(self);
}

/* The other half is called, and completes `self` in its place. */
static void fork_one_and_call_the_other(rota_completer *self)
{
    part *here = (part *)self;

    if (here->high - here->low < 2) {
        visit(here);
        rota_try_complete(self);
        return;
    }
    rota_set_pending(self, 1);
    fork_part(here, middle(here), here->high);
    self = &new_part(here->forest, here, fork_one_and_call_the_other, here->low, middle(here))
                ->completer;
    self->compute(self);
}

static void fork_in_a_loop(rota_completer *self)
{
    part *here = (part *)self;

    while (here->high - here->low >= 2) {
        rota_add_pending(self, 1);
        fork_part(here, middle(here), here->high);
        here->high = middle(here);
    }
    visit(here);
    rota_try_complete(self);
}

static void fork_a_known_number(rota_completer *self)
{
    part *here = (part *)self;
    int forks = 0;

    for (int length = here->high - here->low; length >= 2; length /= 2)
        forks++;
    rota_set_pending(self, forks);
    for (; here->high - here->low >= 2; here->high = middle(here))
        fork_part(here, middle(here), here->high);
    visit(here);
    rota_propagate_completion(self);
}

typedef void shape(rota_completer *self);

static shape *const shapes[] = {fork_both, fork_one_and_call_the_other, fork_in_a_loop,
                                fork_a_known_number};
enum { SHAPES = 4 };

/* -- A tree in one go --------------------------------------------------------------------- */

static void count_completion(rota_completer *self, rota_completer *caller)
{
    ((part *)self)->forest->completions++;
}

static rota_fj *plant(forest **woods, shape *compute, int count)
{
    part *root;

    *woods = calloc(1, sizeof **woods);
    test_check(*woods != NULL);
    root = new_part(*woods, NULL, compute, 0, count);
    root->completer.on_completion = count_completion;
    return &root->completer.task;
}

/* Nobody touches any of it after the root is done: header, "must stay until the root is done". */
static void harvest(forest *woods, shape *compute, int count)
{
    for (int i = 0; i < MOST; i++)
        test_check(woods->visits[i] == (i < count ? 1u : 0u));
    test_check(woods->completions == (compute != fork_a_known_number ? 1u : 0u)); /* CC-05, CC-12 */
    free(woods);
}

static void invoke_tree(rota_executor *pool, shape *compute, int count)
{
    forest *woods;
    rota_fj *root = plant(&woods, compute, count);

    test_check(rota_invoke(pool, root) == ROTA_OK);
    harvest(woods, compute, count);
}

static void fork_and_join_tree(shape *compute, int count)
{
    forest *woods;
    rota_fj *root = plant(&woods, compute, count);

    rota_fork(root);
    test_check(rota_join(root) == ROTA_OK);
    harvest(woods, compute, count);
}

/* -- In every kind of pool ---------------------------------------------------------------- */

WORKER_TEST(each_element_is_visited_once)
{
    for (int i = 0; i < SHAPES; i++) {
        for (int count = 0; count <= 7; count++) {
            invoke_tree(rota_fj_pool(), shapes[i], count);
            fork_and_join_tree(shapes[i], count);
        }
        invoke_tree(rota_fj_pool(), shapes[i], MOST);
        fork_and_join_tree(shapes[i], MOST);
    }
}

/* A tree whose parts each wait for a tree of their own. */
static void wait_inside(rota_completer *self)
{
    const part *here = (part *)self;

    if (here->high - here->low < 2)
        fork_and_join_tree(shapes[here->low % SHAPES], 5 + here->low);
    fork_both(self);
}

/* FJ-20 */
WORKER_TEST(trees_inside_of_trees_end)
{
    fork_and_join_tree(wait_inside, 40);
}

/* Joins in any order, with the other tree's parts in the same deque: FJT-21. */
WORKER_TEST(several_trees_are_joined_in_any_order)
{
    forest *woods[SHAPES];
    rota_fj *roots[SHAPES];

    for (int first = 0; first < SHAPES; first++) {
        for (int i = 0; i < SHAPES; i++) {
            roots[i] = plant(&woods[i], shapes[i], 10 + i);
            rota_fork(roots[i]);
        }
        for (int i = 0; i < SHAPES; i++) {
            int next = (first + 3 * i) % SHAPES;
            test_check(rota_join(roots[next]) == ROTA_OK);
            harvest(woods[next], shapes[next], 10 + next);
        }
    }
}

/* Plain tasks and completers on top of one another. */
WORKER_TEST(a_tree_and_tasks_that_are_joined_share_a_deque)
{
    test_fib_task f = {ROTA_FJ(test_fib), 12, 0}, g = {ROTA_FJ(test_fib), 11, 0};
    forest *woods;
    rota_fj *root = plant(&woods, fork_both, 30);

    rota_fork(&f.task);
    rota_fork(root);
    rota_fork(&g.task);
    test_check(rota_join(&f.task) == ROTA_OK && f.value == 144);
    test_check(rota_join(root) == ROTA_OK);
    test_check(rota_join(&g.task) == ROTA_OK && g.value == 89);
    harvest(woods, fork_both, 30);
}

/* -- From outside ------------------------------------------------------------------------- */

static void invoke_some(void *pool)
{
    for (int count = 0; count < 60; count++)
        invoke_tree(pool, shapes[count % SHAPES], count);
}

enum { THREADS = 3 };

/* Some take part, others find no place and wait. */
TEST(several_threads_invoke_trees)
{
    for (unsigned parallelism = 1; parallelism <= 4; parallelism++) {
        rota_executor *pool = test_forkjoin_of(parallelism);
        test_thread *threads[THREADS];

        for (int i = 0; i < THREADS; i++)
            threads[i] = test_thread_start(invoke_some, pool);
        for (int i = 0; i < THREADS; i++)
            test_thread_join(threads[i]);
        assert_ok(rota_close(pool));
    }
}

static void join_some(void *arg)
{
    for (int count = 0; count < 30; count++)
        fork_and_join_tree(shapes[count % SHAPES], count);
}

static void fork_outside(void *parallelism)
{
    test_check(setenv("ROTA_COMMON_PARALLELISM", parallelism, 1) == 0);
    join_some(NULL);
    invoke_some(rota_common_pool());
}

/* FJ-05, FJ-07: through the common pool, which may have no threads. */
TEST(trees_are_forked_from_outside)
{
    assert_int_equal(test_in_child(fork_outside, "0"), 0);
    assert_int_equal(test_in_child(fork_outside, "1"), 0);
    assert_int_equal(test_in_child(fork_outside, "3"), 0);
}

static void fork_outside_together(void *parallelism)
{
    test_thread *threads[THREADS];

    test_check(setenv("ROTA_COMMON_PARALLELISM", parallelism, 1) == 0);
    for (int i = 0; i < THREADS; i++)
        threads[i] = test_thread_start(join_some, NULL);
    invoke_some(rota_common_pool());
    for (int i = 0; i < THREADS; i++)
        test_thread_join(threads[i]);
}

TEST(trees_are_forked_from_several_threads_outside)
{
    assert_int_equal(test_in_child(fork_outside_together, "0"), 0);
    assert_int_equal(test_in_child(fork_outside_together, "1"), 0);
    assert_int_equal(test_in_child(fork_outside_together, "3"), 0);
}

static void fork_outside_without_memory(void *parallelism)
{
    test_check(setenv("ROTA_COMMON_PARALLELISM", parallelism, 1) == 0);
    test_check(rota_common_pool() != NULL);
    test_memory_fail_at(1, true);
    join_some(NULL);
    invoke_some(rota_common_pool());
    test_check(test_memory_asked() > 0);
    test_memory_fail_at(0, false);
}

/* GEN-10: who cannot take part runs its tree outside of the pool, and what it forks there. */
TEST(without_memory_trees_are_run_by_who_joins_them)
{
    assert_int_equal(test_in_child(fork_outside_without_memory, "0"), 0);
    assert_int_equal(test_in_child(fork_outside_without_memory, "1"), 0);
}

/* -- From another pool -------------------------------------------------------------------- */

TEST(a_worker_of_another_pool_invokes_a_tree)
{
    rota_executor *pool = test_forkjoin_of(2), *other = test_forkjoin_of(1);

    test_fj_inside(other, invoke_some, pool);
    test_fj_taking_part(other, invoke_some, pool);
    assert_ok(rota_close(pool));
    assert_ok(rota_close(other));
}
