/* SPDX-License-Identifier: MIT */
/*
 * A pool's own references to its tasks: how long it keeps them.
 */
#include "pools.h"
#include "rota_test_internal.h"

struct seen {
    test_probe probe;
    unsigned calls;
    unsigned frees; /* when after_execute is called */
};

static void look(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    struct seen *seen = ctx;

    seen->calls++;
    seen->frees += seen->probe.frees;
}

/* OWN-03: its result, which nobody else keeps, is freed after that. */
TEST(a_task_is_kept_until_after_execute_has_returned)
{
    struct seen seen = {.calls = 0};
    rota_call call = test_probe_call(&seen.probe);
    rota_executor *pool = test_pool(
        (rota_pool_options){.core_threads = 1, .hooks = {.after_execute = look, .ctx = &seen}});

    assert_ok(rota_submit_call(pool, &call, NULL));
    test_await_completed(pool, 1);
    test_await_waiting(pool, 1);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.frees, 0);
    assert_int_equal(seen.probe.frees, 1);
    assert_ok(rota_close(pool));
}

static void remove_it(rota_executor *pool, rota_future *future)
{
    assert_true(rota_pool_remove(pool, future));
}

static void cancel_and_remove_it(rota_executor *pool, rota_future *future)
{
    assert_true(rota_future_cancel(future));
    assert_true(rota_pool_remove(pool, future));
}

static void cancel_and_purge(rota_executor *pool, rota_future *future)
{
    assert_true(rota_future_cancel(future));
    assert_int_equal(rota_pool_purge(pool), 1);
}

static void (*const ways[])(rota_executor *pool, rota_future *future) = {
    remove_it,
    cancel_and_remove_it,
    cancel_and_purge,
};

/* OWN-03, OWN-15: while all threads are busy, nothing is left of it but the holder's reference. */
TEST(what_leaves_the_queue_is_let_go_of_at_once)
{
    rota_executor *pool = test_small_pool(1, 1, 1);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        rota_future *future;
        rota__blocks_flush();
        size_t before = test_memory_live();
        assert_ok(rota_submit_call(pool, &call, &future));
        ways[i](pool, future);
        assert_int_equal(probe.discards, i + 1);
        rota_future_unref(future);
        rota__blocks_flush();
        assert_int_equal(test_memory_live(), before);
    }
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(probe.runs, 0);
}
