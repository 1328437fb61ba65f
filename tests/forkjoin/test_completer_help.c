/* SPDX-License-Identifier: MIT */
/*
 * rota_help_complete: tasks that lead to a completer are found where they are queued, at most so many,
 * and no others are run. CC-10.
 */
#define _GNU_SOURCE
#include "completers.h"

#include <limits.h>
#include <stdlib.h>

enum { CHILDREN = 4, OTHERS = 5, MANY = 40 };

static rota_fj *task_of(test_counted *counted)
{
    return &counted->completer.task;
}

/* A goal that never completes by itself, so that it stays one. */
typedef struct family {
    test_counted goal;
    test_counted children[CHILDREN];
} family;

static void family_init(family *here)
{
    test_counted_init(&here->goal, NULL);
    rota_set_pending(&here->goal.completer, CHILDREN);
    for (int i = 0; i < CHILDREN; i++)
        test_counted_init(&here->children[i], &here->goal);
}

static void fork_children(family *here)
{
    for (int i = 0; i < CHILDREN; i++)
        rota_fork(task_of(&here->children[i]));
}

static unsigned computed(const family *here)
{
    unsigned sum = 0;

    for (int i = 0; i < CHILDREN; i++)
        sum += atomic_load(&here->children[i].computes);
    return sum;
}

static void all_is_quiet(void)
{
    test_check(rota_await_quiescence(rota_fj_pool(), ROTA_FOREVER) == ROTA_OK);
}

/* -- The own deque: CC-10 ----------------------------------------------------------------- */

LONE_WORKER_TEST(it_runs_at_most_so_many)
{
    family here;

    family_init(&here);
    fork_children(&here);
    rota_help_complete(&here.goal.completer, 0);
    rota_help_complete(&here.goal.completer, -1);
    rota_help_complete(&here.goal.completer, INT_MIN);
    test_check(computed(&here) == 0);
    rota_help_complete(&here.goal.completer, 1);
    test_check(computed(&here) == 1);
    rota_help_complete(&here.goal.completer, 2);
    test_check(computed(&here) == 3);
    rota_help_complete(&here.goal.completer, INT_MAX);
    test_check(computed(&here) == 4);
    test_check(rota_pending(&here.goal.completer) == 0);
    test_check(!rota_fj_is_done(task_of(&here.goal)));
}

/* In every kind of pool those that nobody else has are run. */
WORKER_TEST(it_runs_what_is_there)
{
    family here;

    family_init(&here);
    fork_children(&here);
    rota_help_complete(&here.goal.completer, INT_MAX);
    all_is_quiet();
    for (int i = 0; i < CHILDREN; i++)
        test_counted_is(&here.children[i], 1, 1, 0);
    test_check(rota_pending(&here.goal.completer) == 0);
}

struct plain {
    rota_fj task; /* first */
    unsigned runs;
};

static void run_plain(rota_fj *task)
{
    ((struct plain *)task)->runs++;
}

/* They stay where they are, in their order. */
LONE_WORKER_TEST(it_runs_no_others_that_lie_above)
{
    struct plain plain[OTHERS];
    test_counted strangers[OTHERS];
    family here;

    family_init(&here);
    fork_children(&here);
    for (int i = 0; i < OTHERS; i++) {
        plain[i] = (struct plain){ROTA_FJ(run_plain), 0};
        test_counted_init(&strangers[i], NULL);
        rota_fork(&plain[i].task);
        rota_fork(task_of(&strangers[i]));
    }
    rota_help_complete(&here.goal.completer, INT_MAX);
    test_check(computed(&here) == CHILDREN);
    for (int i = OTHERS; i-- > 0;) {
        test_counted_is(&strangers[i], 0, 0, 0);
        test_check(rota_unfork(task_of(&strangers[i])));
        test_check(plain[i].runs == 0);
        test_check(rota_unfork(&plain[i].task));
    }
}

/* More than are looked at: none is lost, and none runs twice. */
WORKER_TEST(under_many_others_none_is_lost)
{
    static test_counted strangers[MANY];
    family here;

    family_init(&here);
    fork_children(&here);
    for (int i = 0; i < MANY; i++) {
        test_counted_init(&strangers[i], NULL);
        rota_fork(task_of(&strangers[i]));
    }
    rota_help_complete(&here.goal.completer, INT_MAX);
    all_is_quiet();
    test_check(computed(&here) == CHILDREN);
    for (int i = 0; i < MANY; i++)
        test_counted_is(&strangers[i], 1, 1, 0);
}

/* What leads to it may be far below; what is beside or above it does not. */
LONE_WORKER_TEST(it_runs_those_below_it)
{
    test_counted line[4], brother;

    test_counted_line(line, 4);
    test_counted_init(&brother, &line[0]);
    rota_set_pending(&line[0].completer, 3);
    rota_fork(task_of(&line[3]));
    rota_fork(task_of(&brother));
    rota_help_complete(&line[1].completer, INT_MAX);
    test_counted_is(&line[3], 1, 1, 0);
    test_counted_is(&line[1], 0, 1, 0);
    test_counted_is(&brother, 0, 0, 0);
    test_check(rota_unfork(task_of(&brother)));
}

/* -- Others' deques: CC-10 ---------------------------------------------------------------- */

struct rescue {
    rota_executor *pool;
    family here;
    test_counted stranger;
    test_gate gate;
    atomic_uint forked;
};

/* No other may be made, so nobody comes, but the tasks are there for everybody to take. */
static void make_public(void)
{
    test_check(rota_block_begin() == ROTA_EREJECTED);
}

static void *fork_and_wait(void *arg)
{
    struct rescue *rescue = arg;

    if (rescue->stranger.completer.compute != NULL)
        rota_fork(task_of(&rescue->stranger));
    fork_children(&rescue->here);
    make_public();
    atomic_store(&rescue->forked, 1);
    return test_wait_at(&rescue->gate);
}

static void help(void *arg)
{
    struct rescue *rescue = arg;

    test_await_count(&rescue->forked, 1);
    rota_help_complete(&rescue->here.goal.completer, INT_MAX);
}

static void rescue_begin(struct rescue *rescue, bool has_stranger)
{
    *rescue = (struct rescue){
        .pool = test_forkjoin((rota_forkjoin_options){.parallelism = 2, .max_threads = 2})};
    family_init(&rescue->here);
    if (has_stranger)
        test_counted_init(&rescue->stranger, NULL);
    test_gate_init(&rescue->gate);
}

static void *help_in_task(void *arg)
{
    help(arg);
    return NULL;
}

/* Two tasks of the only two threads: so nobody takes them but who helps. */
static void rescue_run(struct rescue *rescue)
{
    rota_future *future;

    assert_ok(rota_submit(rescue->pool, help_in_task, rescue, &future));
    test_await_running(future);
    assert_ok(rota_execute(rescue->pool, fork_and_wait, rescue));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
}

TEST(it_steals)
{
    struct rescue rescue;

    rescue_begin(&rescue, false);
    rescue_run(&rescue);
    assert_int_equal(computed(&rescue.here), CHILDREN);
    test_gate_open(&rescue.gate);
    assert_ok(rota_close(rescue.pool));
}

/* One that was stolen, and leads elsewhere, is somebody's all the same. */
TEST(what_it_steals_by_mistake_is_not_lost)
{
    struct rescue rescue;

    rescue_begin(&rescue, true);
    rescue_run(&rescue);
    test_gate_open(&rescue.gate);
    assert_ok(rota_close(rescue.pool));
    assert_int_equal(computed(&rescue.here), CHILDREN);
    test_counted_is(&rescue.stranger, 1, 1, 0);
}

/* -- Those from outside: CC-10 ------------------------------------------------------------ */

static void invoke_goal(void *arg)
{
    struct rescue *rescue = arg;

    test_check(rota_invoke(rescue->pool, task_of(&rescue->stranger)) == ROTA_OK);
}

static void help_invoked(void *arg)
{
    struct rescue *rescue = arg;
    test_thread *thread = test_thread_start(invoke_goal, rescue);

    test_fj_await_submissions(rescue->pool, 1);
    rota_help_complete(&rescue->here.goal.completer, INT_MAX); /* which it does not lead to */
    test_counted_is(&rescue->stranger, 0, 0, 0);
    rota_help_complete(&rescue->stranger.completer, 1);
    test_counted_is(&rescue->stranger, 1, 1, 0);
    test_thread_join(thread);
}

TEST(it_runs_what_was_invoked_from_outside)
{
    struct rescue rescue = {.pool = test_forkjoin_of(1)};

    family_init(&rescue.here);
    test_counted_init(&rescue.stranger, NULL);
    test_fj_inside(rescue.pool, help_invoked, &rescue);
    assert_ok(rota_close(rescue.pool));
}

static void help_from_outside(void *arg)
{
    family here;
    test_counted stranger;

    test_check(setenv("ROTA_COMMON_PARALLELISM", "0", 1) == 0);
    family_init(&here);
    test_counted_init(&stranger, NULL);
    rota_help_complete(&here.goal.completer, 1); /* nothing is there */
    rota_fork(task_of(&stranger));
    fork_children(&here);
    rota_help_complete(&here.goal.completer, 0);
    test_check(computed(&here) == 0);
    rota_help_complete(&here.goal.completer, 3);
    test_check(computed(&here) == 3);
    rota_help_complete(&here.goal.completer, INT_MAX);
    test_check(computed(&here) == CHILDREN);
    test_counted_is(&stranger, 0, 0, 0);
    test_check(rota_join(task_of(&stranger)) == ROTA_OK);
}

/* Header: "any other thread runs those it has forked". */
TEST(a_thread_outside_runs_what_it_has_forked)
{
    assert_int_equal(test_in_child(help_from_outside, NULL), 0);
}
