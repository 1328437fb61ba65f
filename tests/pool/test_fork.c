/* SPDX-License-Identifier: MIT */
/*
 * In a child of fork(2) a pool of the parent is as if terminated: every call answers at once, and
 * new pools work. The parent notices nothing. (FAULT-44)
 */
#include "pools.h"

/* -- What a child may ask ----------------------------------------------------------------- */

static void submits_are_rejected(rota_executor *pool)
{
    atomic_uint runs = 0;
    rota_call call = {.fn = test_count, .arg = &runs};
    rota_future *future = TEST_UNTOUCHED;

    test_check(rota_execute(pool, test_count, &runs) == ROTA_EREJECTED);
    test_check(rota_submit(pool, test_count, &runs, &future) == ROTA_EREJECTED);
    test_check(rota_submit_call(pool, &call, &future) == ROTA_EREJECTED);
    test_check(rota_invoke_all(pool, &call, 1, ROTA_FOREVER, &future) == ROTA_EREJECTED);
    test_check(rota_invoke_any(pool, &call, 1, ROTA_FOREVER, &future) == ROTA_EREJECTED);
    test_check(future == TEST_UNTOUCHED);
}

static void settings_are_out_of_reach(rota_executor *pool)
{
    rota_pool_options options;
    rota_pool_stats stats;
    unsigned started;
    char line[200];

    test_check(rota_pool_set_core_threads(pool, 1) == ROTA_ENOTSUP);
    test_check(rota_pool_set_max_threads(pool, 9) == ROTA_ENOTSUP);
    test_check(rota_pool_set_keep_alive(pool, 9) == ROTA_ENOTSUP);
    test_check(rota_pool_set_core_may_time_out(pool, true) == ROTA_ENOTSUP);
    test_check(rota_pool_set_reject(pool, rota_reject_block, NULL) == ROTA_ENOTSUP);
    test_check(rota_pool_set_threads(pool, &(rota_threads){.name = "x"}) == ROTA_ENOTSUP);
    test_check(rota_pool_options_get(pool, &options) == ROTA_ENOTSUP);
    test_check(rota_pool_prestart(pool, &started) == ROTA_ENOTSUP);
    test_check(rota_pool_stats_get(pool, &stats) == ROTA_ENOTSUP);
    test_check(rota_pool_queue(pool) == NULL);
    test_check(rota_pool_purge(pool) == 0);
    test_check(rota_executor_describe(pool, line, sizeof line) > 0);
}

static void it_has_ended(rota_executor *pool)
{
    rota_task_list list = {NULL, 77};

    test_check(rota_executor_state_of(pool) == ROTA_TERMINATED);
    test_check(rota_is_shutdown(pool) && rota_is_terminated(pool));
    test_check(rota_shutdown(pool) == ROTA_OK);
    test_check(rota_shutdown_now(pool, NULL) == ROTA_OK);
    test_check(rota_shutdown_now(pool, &list) == ROTA_OK);
    test_check(list.count == 0);
    rota_task_list_free(&list);
    test_check(rota_await_termination(pool, ROTA_HOURS(1)) == ROTA_OK);
}

static void new_pools_work(void)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2});
    atomic_uint runs = 0;
    rota_future *future;

    for (int i = 0; i < 20; i++)
        test_check(rota_execute(pool, test_count, &runs) == ROTA_OK);
    test_check(rota_submit(pool, test_count, &runs, &future) == ROTA_OK);
    test_check(rota_future_get(future, NULL) == ROTA_OK);
    rota_future_unref(future);
    test_check(rota_close(pool) == ROTA_OK);
    test_check(atomic_load(&runs) == 21);
}

static void look_at_pool(void *pool)
{
    submits_are_rejected(pool);
    settings_are_out_of_reach(pool);
    it_has_ended(pool);
    new_pools_work();
}

static void be_the_child(void *pool)
{
    look_at_pool(pool);
    test_check(rota_await_termination(pool, ROTA_FOREVER) == ROTA_OK);
    test_check(rota_close(pool) == ROTA_OK);
}

/* -- Forks -------------------------------------------------------------------------------- */

TEST(a_child_of_an_idle_pool_finds_it_ended)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2});
    unsigned started;

    assert_int_equal(test_in_child(be_the_child, pool), 0);
    assert_ok(rota_pool_prestart(pool, &started));
    test_await_waiting(pool, 2);
    assert_int_equal(test_in_child(be_the_child, pool), 0);
    assert_ok(rota_close(pool));
}

/* FAULT-44 */
TEST(a_child_of_a_busy_pool_finds_it_ended_and_the_parent_goes_on)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < 5; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    assert_int_equal(test_in_child(be_the_child, pool), 0);
    assert_int_equal(test_stats(pool).queued, 5);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(runs, 5);
}

static void close_within_and_free(void *arg)
{
    size_t dropped = 77;

    test_check(rota_close_within(arg, ROTA_FOREVER, &dropped) == ROTA_OK);
    test_check(dropped == 0);
}

static void free_it(void *arg)
{
    test_check(rota_executor_free(arg) == ROTA_OK);
}

TEST(a_child_may_end_it_in_every_way)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_int_equal(test_in_child(close_within_and_free, pool), 0);
    assert_int_equal(test_in_child(free_it, pool), 0);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
}

struct traffic {
    rota_executor *pool;
    atomic_bool over;
    atomic_uint accepted, runs;
};

static void submit_on_and_on(void *arg)
{
    struct traffic *traffic = arg;

    while (!atomic_load(&traffic->over)) {
        if (rota_execute(traffic->pool, test_count, &traffic->runs) == ROTA_OK)
            atomic_fetch_add(&traffic->accepted, 1);
    }
}

/* workers.W5, FAULT-44: whatever lock was held at that moment. */
TEST(a_child_is_not_held_up_by_locks_that_others_held)
{
    struct traffic traffic = {.pool = test_small_pool(2, 3, 8)};
    test_thread *thread = test_thread_start(submit_on_and_on, &traffic);

    for (int i = 0; i < 25; i++) {
        test_await_count(&traffic.accepted, (unsigned)i * 5);
        assert_int_equal(test_in_child(be_the_child, traffic.pool), 0);
    }
    atomic_store(&traffic.over, true);
    test_thread_join(thread);
    assert_ok(rota_close(traffic.pool));
    assert_int_equal(traffic.runs, traffic.accepted);
}

/* -- Inside a task ------------------------------------------------------------------------ */

struct inside {
    rota_executor *pool;
    int status;
};

static void *fork_inside(void *arg)
{
    struct inside *inside = arg;

    inside->status = test_in_child(be_the_child, inside->pool);
    return NULL;
}

TEST(a_child_of_a_task_finds_the_pool_ended)
{
    struct inside inside = {.pool = test_pool((rota_pool_options){.core_threads = 2}),
                            .status = 77};
    atomic_uint runs = 0;

    assert_ok(rota_execute(inside.pool, fork_inside, &inside));
    for (int i = 0; i < 10; i++)
        assert_ok(rota_execute(inside.pool, test_count, &runs));
    assert_ok(rota_close(inside.pool));
    assert_int_equal(inside.status, 0);
    assert_int_equal(runs, 10);
}

/* In the child the task returns to a worker whose pool is not there. */
static void *fork_and_return(void *arg)
{
    struct inside *inside = arg;

    test_fork_and_return(&inside->status);
    return NULL;
}

TEST(in_a_child_a_task_that_returns_ends_its_thread)
{
    struct inside inside = {.pool = test_pool((rota_pool_options){.core_threads = 1}),
                            .status = 77};
    atomic_uint runs = 0;

    assert_ok(rota_execute(inside.pool, fork_and_return, &inside));
    for (int i = 0; i < 10; i++)
        assert_ok(rota_execute(inside.pool, test_count, &runs));
    assert_ok(rota_close(inside.pool));
    assert_int_equal(inside.status, 0);
    assert_int_equal(runs, 10);
}

static void *fork_as_a_stranger(void *arg)
{
    struct inside *inside = arg;

    inside->status = test_in_child(look_at_pool, inside->pool);
    return NULL;
}

/* By a thread that has never called the library. */
TEST(a_child_of_a_stranger_finds_the_pool_ended)
{
    struct inside inside = {.pool = test_pool((rota_pool_options){.core_threads = 1}),
                            .status = 77};
    pthread_t stranger;

    assert_int_equal(pthread_create(&stranger, NULL, fork_as_a_stranger, &inside), 0);
    assert_int_equal(pthread_join(stranger, NULL), 0);
    assert_ok(rota_close(inside.pool));
    assert_int_equal(inside.status, 0);
}

BEFORE_TESTS
{
    return TEST_FORKS_ARE_FOLLOWED;
}
