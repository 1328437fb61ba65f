/* SPDX-License-Identifier: MIT */
/*
 * Every function that a user gives to a pool may use that pool: none is called with a lock held, or
 * this test would not end.
 */
#include "pools.h"

static rota_executor *pool;

static struct {
    atomic_uint starts, exits, befores, afters, failures, rejections, discards, frees, done, ends;
} calls;

/* What takes each of the pool's locks, and what wakes its workers. */
static void use_the_pool(atomic_uint *count)
{
    rota_pool_stats stats;
    rota_pool_options options;
    char line[80];

    test_check(rota_pool_stats_get(pool, &stats) == ROTA_OK);
    test_check(rota_pool_options_get(pool, &options) == ROTA_OK);
    test_check(rota_executor_describe(pool, line, sizeof line) > 0);
    test_check(rota_pool_set_keep_alive(pool, ROTA_SEC(5)) == ROTA_OK);
    test_check(rota_pool_set_core_threads(pool, 1) == ROTA_OK);
    test_check(rota_queue_size(rota_pool_queue(pool)) <= 1);
    test_check(rota_await_termination(pool, 0) != ROTA_EINVAL); /* on_exit may come after the end */
    rota_pool_purge(pool);
    atomic_fetch_add(count, 1);
}

static void on_start(void *ctx)
{
    use_the_pool(&calls.starts);
}

static void on_exit_of_thread(void *ctx)
{
    use_the_pool(&calls.exits);
}

static void before(rota_executor *ex, rota_task *task, void *ctx)
{
    use_the_pool(&calls.befores);
}

static void after(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    use_the_pool(&calls.afters);
}

static void failed(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    use_the_pool(&calls.failures);
}

static void terminated(rota_executor *ex, void *ctx)
{
    use_the_pool(&calls.ends);
}

static int reject(rota_executor *ex, rota_task *task, void *ctx)
{
    use_the_pool(&calls.rejections);
    rota_task_discard(task);
    return ROTA_OK;
}

static void discard(void *arg)
{
    use_the_pool(&calls.discards);
}

static void free_result(void *result)
{
    use_the_pool(&calls.frees);
}

static void done(rota_future *future, void *arg)
{
    use_the_pool(&calls.done);
}

static void *fail_with_7(void *arg)
{
    return rota_fail(7);
}

static void *wait_here(void *gate)
{
    test_wait_at(gate);
    return gate;
}

/* One thread, and room for one task. */
static void make_pool(void)
{
    calls.discards = calls.ends = 0;
    pool = test_pool(
        (rota_pool_options){.core_threads = 1,
                            .queue = test_array(1),
                            .on_reject = reject,
                            .threads = {.on_start = on_start, .on_exit = on_exit_of_thread},
                            .hooks = {.before_execute = before,
                                      .after_execute = after,
                                      .unobserved_failure = failed,
                                      .terminated = terminated}});
}

static rota_future *submit(void *gate)
{
    const rota_call call = {wait_here, gate, discard, free_result, NULL, {NULL}};
    rota_future *future;

    assert_ok(rota_submit_call(pool, &call, &future));
    return future;
}

/* GEN-09, FAULT-14 */
TEST(what_is_called_around_a_task_may_use_the_pool)
{
    rota_future *future, *follows;
    test_gate gate;

    make_pool();
    test_gate_init(&gate);
    future = submit(&gate);
    assert_ok(rota_when_done(future, NULL, done, NULL, &follows));
    test_gate_open(&gate);
    assert_ok(rota_future_get(follows, NULL));
    rota_future_unref(follows);
    rota_future_unref(future);
    test_await_waiting(pool, 1);
    assert_ok(rota_execute(pool, fail_with_7, NULL));
    assert_ok(rota_close(pool));
    assert_int_equal(calls.starts, 1);
    assert_int_equal(calls.befores, 2);
    assert_int_equal(calls.afters, 2);
    assert_int_equal(calls.done, 1);
    assert_int_equal(calls.frees, 1);
    assert_int_equal(calls.failures, 1);
    assert_int_equal(calls.ends, 1);
    assert_int_equal(calls.exits, 1);
}

/* GEN-09, OWN-04, FAULT-14: however it comes to that. */
TEST(what_is_called_instead_of_a_task_may_use_the_pool)
{
    rota_future *running, *queued;
    test_gate gate;

    make_pool();
    test_gate_init(&gate);
    running = submit(&gate);
    test_await_count(&gate.begun, 1);
    queued = submit(&gate);
    rota_future_unref(submit(&gate)); /* one too many */
    assert_int_equal(calls.rejections, 1);
    assert_int_equal(calls.discards, 1);
    assert_true(rota_pool_remove(pool, queued));
    assert_int_equal(calls.discards, 2);
    rota_future_unref(queued);
    queued = submit(&gate);
    assert_true(rota_future_cancel(queued));
    assert_int_equal(calls.discards, 3);
    rota_future_unref(queued);
    assert_int_equal(test_stats(pool).queued, 0); /* its discard has purged it */
    rota_future_unref(submit(&gate));
    assert_ok(rota_shutdown_now(pool, NULL));
    assert_int_equal(calls.discards, 4);
    test_gate_open(&gate);
    assert_ok(rota_future_get(running, NULL));
    rota_future_unref(running);
    assert_ok(rota_close(pool));
    assert_int_equal(calls.ends, 1);
}
