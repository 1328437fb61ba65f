/* SPDX-License-Identifier: MIT */
/*
 * The end of a fork/join pool: what was begun is finished after a shutdown, and nothing new is begun
 * after shutdown_now.
 */
#include "forkjoin.h"
#include "rota_test_internal.h"

/* -- Tasks -------------------------------------------------------------------------------- */

/* A tree: each node forks two, and counts. */
struct node {
    rota_fj task; /* first */
    int depth;
    atomic_uint *count;
};

static void grow(rota_fj *task)
{
    struct node *node = (struct node *)task;

    atomic_fetch_add(node->count, 1);
    if (node->depth == 0)
        return;
    struct node left = {ROTA_FJ(grow), node->depth - 1, node->count}, right = left;
    test_check(rota_invoke_both(&left.task, &right.task) == ROTA_OK);
}

/* Waits at a gate, and then plants a tree. */
struct planter {
    test_gate gate;
    atomic_uint count;
    int status; /* of the tree's root */
};

static void *plant(void *arg)
{
    struct planter *planter = arg;
    struct node root = {ROTA_FJ(grow), 6, &planter->count};

    test_wait_at(&planter->gate);
    rota_fork(&root.task);
    planter->status = rota_join(&root.task);
    return NULL;
}

static void planter_init(struct planter *planter)
{
    *planter = (struct planter){.status = 77};
    test_gate_init(&planter->gate);
}

/* -- Shutdown ----------------------------------------------------------------------------- */

/* FJ-23, FJ-25, FJ-33 */
TEST(after_a_shutdown_what_runs_may_still_fork)
{
    rota_executor *pool = test_forkjoin_of(2);
    struct planter planter;

    planter_init(&planter);
    assert_false(rota_is_shutdown(pool));
    assert_ok(rota_execute(pool, plant, &planter));
    test_await_count(&planter.gate.begun, 1);
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_shutdown(pool));
    assert_true(rota_is_shutdown(pool));
    assert_false(rota_is_terminated(pool));
    assert_int_equal(rota_executor_state_of(pool), ROTA_SHUTDOWN);
    test_gate_open(&planter.gate);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_true(rota_is_terminated(pool));
    assert_ok(planter.status);
    assert_int_equal(planter.count, 127);
    assert_ok(rota_executor_free(pool));
}

/* FJ-03: nothing from outside, and no task of rota_submit from inside. */
TEST(after_a_shutdown_nothing_new_is_taken)
{
    rota_executor *pool = test_forkjoin_of(1);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future = TEST_UNTOUCHED;

    assert_ok(rota_shutdown(pool));
    assert_true(rota_is_terminated(pool));
    assert_status(rota_execute(pool, call.fn, &probe), ROTA_EREJECTED);
    assert_status(rota_submit_call(pool, &call, &future), ROTA_EREJECTED);
    assert_int_equal(probe.discards, 0);
    assert_status(rota_invoke_all(pool, &call, 1, ROTA_FOREVER, &future), ROTA_EREJECTED);
    assert_status(rota_invoke_any(pool, &call, 1, ROTA_FOREVER, &future), ROTA_EREJECTED);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_int_equal(probe.runs, 0);
    assert_int_equal(probe.discards, 2);
    assert_ok(rota_executor_free(pool));
}

enum { QUEUED = 20 };

/* FJ-23: "everything submitted still completes". */
TEST(after_a_shutdown_what_was_submitted_still_runs)
{
    rota_executor *pool = test_forkjoin_of(1);
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < QUEUED; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_shutdown(pool));
    assert_int_equal(test_fj_stats(pool).submissions, QUEUED);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(runs, QUEUED);
}

struct inside {
    rota_executor *pool;
    atomic_uint runs;
    int statuses[4];
};

static void *submit_after_shutdown(void *arg)
{
    struct inside *inside = arg;
    struct node node = {ROTA_FJ(grow), 2, &inside->runs};

    test_check(rota_execute(inside->pool, test_count, &inside->runs) == ROTA_OK);
    test_check(rota_shutdown(inside->pool) == ROTA_OK);
    inside->statuses[0] = rota_execute(inside->pool, test_count, &inside->runs);
    inside->statuses[1] = rota_invoke(inside->pool, &node.task); /* it is a part of this task */
    inside->statuses[2] = rota_close(inside->pool);
    inside->statuses[3] = rota_await_termination(inside->pool, ROTA_FOREVER);
    return NULL;
}

/* OWN-11, FJ-33 */
TEST(a_task_may_shut_its_pool_down_but_not_wait_for_that)
{
    struct inside inside = {.pool = test_forkjoin_of(1)};

    assert_ok(rota_execute(inside.pool, submit_after_shutdown, &inside));
    assert_ok(rota_await_termination(inside.pool, ROTA_FOREVER));
    assert_status(inside.statuses[0], ROTA_EREJECTED);
    assert_ok(inside.statuses[1]);
    assert_status(inside.statuses[2], ROTA_EDEADLOCK);
    assert_status(inside.statuses[3], ROTA_EDEADLOCK);
    assert_int_equal(inside.runs, 8);
    assert_ok(rota_executor_free(inside.pool));
}

static void close_it(void *arg)
{
    size_t dropped = 77;

    test_check(rota_close(arg) == ROTA_EDEADLOCK);
    test_check(rota_close_within(arg, 1, &dropped) == ROTA_EDEADLOCK);
    test_check(rota_executor_free(arg) == ROTA_EBUSY);
    test_check(dropped == 77);
    test_check(!rota_is_shutdown(arg));
}

/* OWN-11: by a worker, or by a caller that takes part. */
TEST(a_pool_cannot_be_closed_from_inside)
{
    rota_executor *pool = test_forkjoin_of(2);

    test_fj_inside(pool, close_it, pool);
    test_fj_taking_part(pool, close_it, pool);
    assert_ok(rota_close(pool));
}

static void be_there(void *arg)
{
    test_check(rota_fj_worker() == 0);
}

/* FJ-25, POOL-58, GEN-06 */
TEST(awaiting_the_end_of_a_running_pool_times_out)
{
    const rota_ns timeouts[] = {INT64_MIN, -1, 0, 1, ROTA_MS(1) - 1, ROTA_MS(12)};
    rota_executor *pool = test_forkjoin_of(2);

    test_fj_inside(pool, be_there, NULL);
    for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
        rota_ns start = rota_now();
        assert_status(rota_await_termination(pool, timeouts[i]), ROTA_ETIMEDOUT);
        assert_true(timeouts[i] <= 0 || rota_now() - start >= timeouts[i]);
    }
    assert_status(rota_executor_free(pool), ROTA_EBUSY);
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_ok(rota_executor_free(pool));
}

static void invoke_tree(void *arg)
{
    struct inside *inside = arg;
    struct node root = {ROTA_FJ(grow), 3, &inside->runs};

    inside->statuses[0] = rota_invoke(inside->pool, &root.task);
}

/* FJ-23: what a caller invoked was submitted, too. */
TEST(after_a_shutdown_a_caller_that_waits_is_served)
{
    struct inside inside = {.pool = test_forkjoin_of(1)};
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(inside.pool, &gate, 1);
    test_thread *thread = test_thread_start(invoke_tree, &inside);
    test_fj_await_submissions(inside.pool, 1);
    assert_ok(rota_shutdown(inside.pool));
    test_gate_open(&gate);
    test_thread_join(thread);
    assert_ok(inside.statuses[0]);
    assert_int_equal(inside.runs, 15);
    assert_ok(rota_close(inside.pool));
}

static void shut_down_and_grow(void *arg)
{
    struct inside *inside = arg;
    struct node root = {ROTA_FJ(grow), 6, &inside->runs};

    test_check(rota_shutdown(inside->pool) == ROTA_OK);
    test_check(rota_invoke(inside->pool, &root.task) == ROTA_OK);
    test_check(!rota_is_terminated(inside->pool));
}

/* It is one of those who work there. */
TEST(a_pool_does_not_end_before_a_caller_that_takes_part)
{
    struct inside inside = {.pool = test_forkjoin_of(2)};

    test_fj_taking_part(inside.pool, shut_down_and_grow, &inside);
    assert_int_equal(inside.runs, 127);
    assert_ok(rota_await_termination(inside.pool, ROTA_FOREVER));
    assert_int_equal(test_fj_stats(inside.pool).threads + test_fj_stats(inside.pool).active, 0);
    assert_ok(rota_executor_free(inside.pool));
}

/* -- Shutdown now: what was submitted ----------------------------------------------------- */

/* FJ-24: cancelled, discarded once, and not handed over. */
TEST(shutdown_now_cancels_what_was_submitted)
{
    rota_executor *pool = test_forkjoin_of(1);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *futures[QUEUED];
    rota_task_list list = {NULL, 77};
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < QUEUED; i++)
        assert_ok(rota_submit_call(pool, &call, &futures[i]));
    assert_ok(rota_shutdown_now(pool, &list));
    assert_int_equal(list.count, 0);
    rota_task_list_free(&list);
    for (int i = 0; i < QUEUED; i++) {
        assert_status(rota_future_get(futures[i], NULL), ROTA_ECANCELED);
        rota_future_unref(futures[i]);
    }
    assert_int_equal(test_fj_stats(pool).submissions, 0);
    assert_false(rota_is_terminated(pool));
    test_gate_open(&gate);
    assert_ok(rota_shutdown_now(pool, NULL));
    assert_ok(rota_close(pool));
    assert_int_equal(probe.runs, 0);
    assert_int_equal(probe.discards, QUEUED);
    assert_int_equal(gate.interrupted, 1);
}

struct litter {
    rota_executor *pool;
    test_probe probe;
    rota_future *futures[QUEUED];
    test_gate gate;
};

static void *submit_and_wait(void *arg)
{
    struct litter *litter = arg;
    rota_call call = test_probe_call(&litter->probe);

    for (int i = 0; i < QUEUED; i++)
        test_check(rota_submit_call(litter->pool, &call, &litter->futures[i]) == ROTA_OK);
    test_wait_at(&litter->gate);
    return NULL;
}

/* FJ-24: also what is in the deque of a worker. */
TEST(shutdown_now_cancels_what_a_task_submitted)
{
    struct litter litter = {.pool = test_forkjoin_of(1)};

    test_gate_init(&litter.gate);
    assert_ok(rota_execute(litter.pool, submit_and_wait, &litter));
    test_await_count(&litter.gate.begun, 1);
    assert_int_equal(test_fj_stats(litter.pool).queued, QUEUED);
    assert_ok(rota_shutdown_now(litter.pool, NULL));
    test_gate_open(&litter.gate);
    assert_ok(rota_close(litter.pool));
    for (int i = 0; i < QUEUED; i++) {
        assert_int_equal(rota_future_state_of(litter.futures[i]), ROTA_FUTURE_CANCELED);
        rota_future_unref(litter.futures[i]);
    }
    assert_int_equal(litter.probe.runs, 0);
    assert_int_equal(litter.probe.discards, QUEUED);
}

/* FJ-24: interrupted, and whoever waits wakes. */
TEST(shutdown_now_ends_bodies_that_sleep)
{
    const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_HOURS(1)};

    for (unsigned n = 1; n <= 2; n++) {
        for (int i = 0; i < 2; i++) {
            rota_executor *pool = test_forkjoin_of(n);
            test_gate gate;
            rota_future *future;
            test_getter getter;

            test_gate_init(&gate);
            assert_ok(rota_submit(pool, test_sleep_long, &gate, &future));
            test_await_count(&gate.begun, 1);
            test_getter_start(&getter, future, timeouts[i]);
            assert_ok(rota_shutdown_now(pool, NULL));
            test_getter_ends(&getter, ROTA_OK, &gate);
            rota_future_unref(future);
            assert_ok(rota_close(pool));
            assert_int_equal(gate.interrupted, 1);
        }
    }
}

struct any {
    rota_executor *pool;
    test_gate gate;
    bool all;
    int status;
};

static void invoke_sleepers(void *arg)
{
    struct any *any = arg;
    rota_call call = {.fn = test_sleep_long, .arg = &any->gate};
    rota_call calls[] = {call, call};
    rota_future *futures[2];

    any->status = any->all ? rota_invoke_all(any->pool, calls, 2, ROTA_FOREVER, futures)
                           : rota_invoke_any(any->pool, calls, 2, ROTA_FOREVER, futures);
    if (any->status == ROTA_OK || any->status == ROTA_EFAILED)
        rota_future_unref(futures[0]);
    if (any->status == ROTA_OK && any->all)
        rota_future_unref(futures[1]);
}

/* FJ-24: those that run are interrupted. A second may run, as the first one waits. */
TEST(shutdown_now_wakes_who_waits_for_several)
{
    for (int all = 0; all < 2; all++) {
        struct any any = {.pool = test_forkjoin_of(1), .all = all == 1, .status = 77};
        test_gate_init(&any.gate);
        test_thread *thread = test_thread_start(invoke_sleepers, &any);
        test_await_count(&any.gate.begun, 1);
        test_await_parked(test_thread_handle(thread));
        assert_ok(rota_shutdown_now(any.pool, NULL));
        test_thread_join(thread);
        assert_ok(any.status);
        assert_ok(rota_close(any.pool));
        assert_int_equal(any.gate.interrupted, any.gate.begun);
    }
}

/* -- Shutdown now: what was forked -------------------------------------------------------- */

/* FJ-34 */
TEST(after_shutdown_now_what_is_forked_is_cancelled)
{
    rota_executor *pool = test_forkjoin_of(2);
    struct planter planter;

    planter_init(&planter);
    assert_ok(rota_execute(pool, plant, &planter));
    test_await_count(&planter.gate.begun, 1);
    assert_ok(rota_shutdown_now(pool, NULL));
    assert_int_equal(rota_executor_state_of(pool), ROTA_STOP);
    test_gate_open(&planter.gate);
    assert_ok(rota_close(pool));
    assert_status(planter.status, ROTA_ECANCELED);
    assert_int_equal(planter.count, 0);
}

static void *fork_and_stop(void *arg)
{
    struct inside *inside = arg;
    struct node before = {ROTA_FJ(grow), 3, &inside->runs}, later = before, third = before;

    rota_fork(&before.task);
    rota_fork(&later.task);
    test_check(rota_shutdown_now(inside->pool, NULL) == ROTA_OK);
    test_check(rota_is_interrupted());
    inside->statuses[0] = rota_join(&before.task);
    inside->statuses[1] = rota_join(&later.task);
    inside->statuses[2] = rota_invoke(inside->pool, &third.task);
    inside->statuses[3] = rota_execute(inside->pool, test_count, &inside->runs);
    return NULL;
}

/* FJ-24: what is queued, in the deque of who stops the pool. */
TEST(shutdown_now_cancels_what_was_forked)
{
    struct inside inside = {.pool = test_forkjoin_of(1)};

    assert_ok(rota_execute(inside.pool, fork_and_stop, &inside));
    assert_ok(rota_await_termination(inside.pool, ROTA_FOREVER));
    assert_status(inside.statuses[0], ROTA_ECANCELED);
    assert_status(inside.statuses[1], ROTA_ECANCELED);
    assert_status(inside.statuses[2], ROTA_EREJECTED);
    assert_status(inside.statuses[3], ROTA_EREJECTED);
    assert_int_equal(inside.runs, 0);
    assert_ok(rota_executor_free(inside.pool));
}

/* A caller whose task is queued. */
TEST(shutdown_now_wakes_a_caller_that_waits)
{
    struct inside inside = {.pool = test_forkjoin_of(1)};
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(inside.pool, &gate, 1);
    test_thread *thread = test_thread_start(invoke_tree, &inside);
    test_fj_await_submissions(inside.pool, 1);
    assert_ok(rota_shutdown_now(inside.pool, NULL));
    test_thread_join(thread); /* before the gate opens */
    assert_status(inside.statuses[0], ROTA_ECANCELED);
    assert_int_equal(inside.runs, 0);
    test_gate_open(&gate);
    assert_ok(rota_close(inside.pool));
}

/* A chain of joins: the one at the bottom waits at the gate, on another worker than its joiner. */
struct chain {
    rota_fj task; /* first */
    test_gate *gate;
    int status;
};

static void wait_at_gate(rota_fj *task)
{
    struct chain *chain = (struct chain *)task;

    test_wait_at(chain->gate);
    chain->status = 5;
}

static void join_a_stolen_one(void *arg)
{
    struct chain *outer = arg;
    struct chain child = {ROTA_FJ(wait_at_gate), outer->gate, 0};

    rota_fork(&child.task);
    test_fj_until_stolen(&outer->gate->begun);
    outer->status = rota_join(&child.task);
    test_check(child.status == 5);
}

static void *join_in_task(void *arg)
{
    join_a_stolen_one(arg);
    return NULL;
}

/* What runs is finished: a joiner waits for it, and learns that it succeeded. */
TEST(after_shutdown_now_a_joiner_waits_for_what_runs)
{
    rota_executor *pool = test_forkjoin_of(2);
    test_gate gate;
    struct chain chain = {.gate = &gate, .status = 77};

    test_gate_init(&gate);
    assert_ok(rota_execute(pool, join_in_task, &chain));
    test_await_count(&gate.begun, 1);
    assert_ok(rota_shutdown_now(pool, NULL));
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_ok(chain.status);
    assert_int_equal(gate.interrupted, 1);
}

/* -- Hooks -------------------------------------------------------------------------------- */

static void count_end(rota_executor *ex, void *ctx)
{
    test_check(rota_executor_state_of(ex) == ROTA_TIDYING);
    atomic_fetch_add((atomic_uint *)ctx, 1);
}

TEST(the_terminated_hook_is_called_once)
{
    for (int how = 0; how < 4; how++) {
        atomic_uint ends = 0, runs = 0;
        rota_executor *pool = test_forkjoin((rota_forkjoin_options){
            .parallelism = 2, .hooks = {.terminated = count_end, .ctx = &ends}});
        if (how > 1)
            assert_ok(rota_execute(pool, test_count, &runs));
        assert_int_equal(ends, 0);
        if (how % 2 == 1)
            assert_ok(rota_shutdown_now(pool, NULL));
        assert_ok(rota_close(pool));
        assert_int_equal(ends, 1);
    }
}

/* OWN-09: after the first patience what is queued is discarded. */
TEST(close_within_gives_up_what_is_queued)
{
    rota_executor *pool = test_forkjoin_of(1);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < QUEUED; i++)
        assert_ok(rota_submit_call(pool, &call, NULL));
    assert_status(rota_close_within(pool, 0, NULL), ROTA_ETIMEDOUT);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(gate.interrupted, 1);
    assert_int_equal(probe.runs, 0);
    assert_int_equal(probe.discards, QUEUED);
}
