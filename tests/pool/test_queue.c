/* SPDX-License-Identifier: MIT */
/*
 * A pool's queue: to be looked at; tasks are taken out of it by name, or because they are cancelled.
 */
#include "executors.h"
#include "pools.h"

/* One thread, which is busy; four probes are queued, all of which have futures. */
enum { QUEUED = 4 };

struct queued {
    rota_executor *pool;
    test_gate gate;
    test_probe probes[QUEUED];
    rota_future *futures[QUEUED];
    rota_future *running;
};

static void queued_init(struct queued *queued)
{
    *queued = (struct queued){.pool = test_pool((rota_pool_options){.core_threads = 1})};
    test_gate_init(&queued->gate);
    assert_ok(rota_submit(queued->pool, test_wait_at, &queued->gate, &queued->running));
    test_await_count(&queued->gate.begun, 1);
    for (int i = 0; i < QUEUED; i++) {
        rota_call call = test_probe_call(&queued->probes[i]);
        assert_ok(rota_submit_call(queued->pool, &call, &queued->futures[i]));
    }
}

static void queued_close(struct queued *queued)
{
    test_gate_open(&queued->gate);
    assert_ok(rota_close(queued->pool));
    for (int i = 0; i < QUEUED; i++)
        rota_future_unref(queued->futures[i]);
    rota_future_unref(queued->running);
}

static void assert_ran(const struct queued *queued, const unsigned *runs)
{
    for (int i = 0; i < QUEUED; i++) {
        assert_int_equal(queued->probes[i].runs, runs[i]);
        assert_int_equal(queued->probes[i].discards, 1 - runs[i]);
    }
}

/* -- Looking ------------------------------------------------------------------------------ */

struct shown {
    unsigned count;
    const void *args[QUEUED];
};

static void show(void *element, void *ctx)
{
    struct shown *shown = ctx;

    test_check(shown->count < QUEUED);
    shown->args[shown->count++] = rota_task_call(element)->arg;
}

/* POOL-50 */
TEST(the_queue_holds_what_is_queued_and_not_what_runs)
{
    struct shown shown = {.count = 0};
    struct queued queued;

    queued_init(&queued);
    assert_int_equal(rota_queue_size(rota_pool_queue(queued.pool)), QUEUED);
    rota_queue_each(rota_pool_queue(queued.pool), show, &shown);
    assert_int_equal(shown.count, QUEUED);
    for (int i = 0; i < QUEUED; i++)
        assert_ptr_equal(shown.args[i], &queued.probes[i]);
    queued_close(&queued);
}

/* OWN-12, POOL-64 */
TEST(the_queue_that_was_given_is_the_one_that_is_lent)
{
    rota_queue *queue = test_array(3);
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1, .queue = queue});

    assert_ptr_equal(rota_pool_queue(pool), queue);
    assert_ok(rota_close(pool));
}

/* -- Removing by name --------------------------------------------------------------------- */

/* POOL-51 */
TEST(a_queued_task_can_be_removed_once_and_then_never_runs)
{
    struct queued queued;

    queued_init(&queued);
    assert_true(rota_pool_remove(queued.pool, queued.futures[1]));
    assert_false(rota_pool_remove(queued.pool, queued.futures[1]));
    assert_int_equal(test_stats(queued.pool).queued, QUEUED - 1);
    assert_int_equal(rota_future_state_of(queued.futures[1]), ROTA_FUTURE_CANCELED);
    assert_int_equal(queued.probes[1].discards, 1);
    assert_true(rota_pool_remove(queued.pool, queued.futures[3]));
    queued_close(&queued);
    assert_ran(&queued, (const unsigned[]){1, 0, 1, 0});
}

/* POOL-51 */
TEST(what_runs_is_done_or_is_elsewhere_cannot_be_removed)
{
    rota_executor *other = test_pool((rota_pool_options){.core_threads = 1});
    struct queued queued;
    rota_future *promise;

    queued_init(&queued);
    assert_ok(rota_promise_new(&promise));
    assert_false(rota_pool_remove(queued.pool, queued.running));
    assert_false(rota_pool_remove(queued.pool, promise));
    assert_false(rota_pool_remove(other, queued.futures[0]));
    assert_false(rota_pool_remove(queued.pool, NULL));
    assert_false(rota_pool_remove(NULL, queued.futures[0]));
    assert_int_equal(test_stats(queued.pool).queued, QUEUED);
    rota_future_unref(promise);
    assert_ok(rota_close(other));
    queued_close(&queued);
    assert_ran(&queued, (const unsigned[]){1, 1, 1, 1});
}

TEST(a_task_that_has_run_cannot_be_removed)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    atomic_uint runs = 0;
    rota_future *future;

    assert_ok(rota_submit(pool, test_count, &runs, &future));
    assert_ok(rota_future_get(future, NULL));
    assert_false(rota_pool_remove(pool, future));
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_SUCCEEDED);
    rota_future_unref(future);
    assert_ok(rota_close(pool));
}

/* POOL-51, OWN-09 */
TEST(who_waits_for_a_task_that_is_removed_is_told)
{
    struct queued queued;
    test_getter getter;

    queued_init(&queued);
    test_getter_start(&getter, queued.futures[2], ROTA_FOREVER);
    assert_true(rota_pool_remove(queued.pool, queued.futures[2]));
    test_getter_ends(&getter, ROTA_ECANCELED, TEST_UNTOUCHED);
    queued_close(&queued);
}

/* POOL-62: removing a cancelled one only lets go of it. */
TEST(a_cancelled_task_can_be_removed_and_is_discarded_once)
{
    struct queued queued;

    queued_init(&queued);
    assert_true(rota_future_cancel(queued.futures[0]));
    assert_int_equal(queued.probes[0].discards, 1);
    assert_true(rota_pool_remove(queued.pool, queued.futures[0]));
    queued_close(&queued);
    assert_ran(&queued, (const unsigned[]){0, 1, 1, 1});
}

/* -- Purging ------------------------------------------------------------------------------ */

/* POOL-51, POOL-62 */
TEST(purge_takes_out_what_was_cancelled_and_nothing_else)
{
    atomic_uint runs = 0;
    struct queued queued;

    queued_init(&queued);
    assert_ok(rota_execute(queued.pool, test_count, &runs));
    assert_int_equal(rota_pool_purge(queued.pool), 0);
    assert_true(rota_future_cancel(queued.futures[0]));
    assert_true(rota_future_cancel_now(queued.futures[2]));
    assert_int_equal(test_stats(queued.pool).queued, QUEUED + 1);
    assert_int_equal(rota_pool_purge(queued.pool), 2);
    assert_int_equal(test_stats(queued.pool).queued, QUEUED - 1);
    assert_int_equal(rota_pool_purge(queued.pool), 0);
    queued_close(&queued);
    assert_ran(&queued, (const unsigned[]){0, 1, 0, 1});
    assert_int_equal(runs, 1);
}

/* POOL-62, POOL-48 */
TEST(without_a_purge_a_cancelled_task_stays_until_its_turn)
{
    struct queued queued;

    queued_init(&queued);
    assert_true(rota_future_cancel(queued.futures[0]));
    assert_int_equal(test_stats(queued.pool).queued, QUEUED);
    test_gate_open(&queued.gate);
    test_await_completed(queued.pool, QUEUED + 1);
    assert_ok(rota_close(queued.pool));
    for (int i = 0; i < QUEUED; i++)
        rota_future_unref(queued.futures[i]);
    rota_future_unref(queued.running);
    assert_ran(&queued, (const unsigned[]){0, 1, 1, 1});
}

/* -- The end ------------------------------------------------------------------------------ */

static rota_ns never_due(const void *task, void *ctx)
{
    return ROTA_FOREVER;
}

/* Shut down, with one task that is never due. */
static rota_executor *waiting_pool(rota_future **future)
{
    rota_pool_options options = {.core_threads = 1};
    unsigned started;

    assert_ok(rota_delay_queue(never_due, NULL, &options.queue));
    rota_executor *pool = test_pool(options);
    assert_ok(rota_pool_prestart(pool, &started));
    assert_ok(rota_submit(pool, test_count, NULL, future));
    assert_ok(rota_shutdown(pool));
    assert_int_equal(rota_executor_state_of(pool), ROTA_SHUTDOWN);
    return pool;
}

/* POOL-51: "both re-check termination". */
TEST(a_pool_ends_when_the_last_it_waited_for_is_removed)
{
    rota_future *future;
    rota_executor *pool = waiting_pool(&future);

    assert_true(rota_pool_remove(pool, future));
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    rota_future_unref(future);
    assert_ok(rota_executor_free(pool));
}

/* pool.P11: a cancelled task leaves a delay queue at once. */
TEST(a_pool_ends_when_the_last_it_waited_for_is_cancelled)
{
    rota_future *future;
    rota_executor *pool = waiting_pool(&future);

    assert_true(rota_future_cancel(future));
    assert_int_equal(rota_pool_purge(pool), 0);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    rota_future_unref(future);
    assert_ok(rota_executor_free(pool));
}

/* GEN-02 */
TEST(what_is_no_pool_has_no_queue)
{
    rota_executor *executor;
    rota_future *promise;

    assert_ok(test_executor_direct(&executor));
    assert_ok(rota_promise_new(&promise));
    assert_null(rota_pool_queue(executor));
    assert_null(rota_pool_queue(NULL));
    assert_false(rota_pool_remove(executor, promise));
    assert_int_equal(rota_pool_purge(executor), 0);
    assert_int_equal(rota_pool_purge(NULL), 0);
    rota_future_unref(promise);
    assert_ok(rota_close(executor));
}
