/* SPDX-License-Identifier: MIT */
/*
 * What a pool tells of itself: exact when nothing moves, and never too much while it does.
 */
#include "executors.h"
#include "pools.h"

#include <string.h>

/* -- At rest ------------------------------------------------------------------------------ */

struct inside {
    rota_executor *pool;
    rota_pool_stats stats;
};

static void *look(void *arg)
{
    struct inside *inside = arg;

    inside->stats = test_stats(inside->pool);
    return NULL;
}

/* POOL-46, POOL-48 */
TEST(a_task_sees_itself_active_and_not_completed)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2});
    struct inside inside = {.pool = pool};
    rota_future *future;

    assert_ok(rota_submit(pool, look, &inside, &future));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
    test_await_completed(pool, 1);
    assert_int_equal(inside.stats.active, 1);
    assert_int_equal(inside.stats.threads, 1);
    assert_int_equal(inside.stats.largest, 1);
    assert_int_equal(inside.stats.completed, 0);
    assert_int_equal(inside.stats.submitted, 1);
    test_await_active(pool, 0);
    assert_int_equal(test_stats(pool).submitted, 1);
    assert_ok(rota_close(pool));
}

/* POOL-46, POOL-48 */
TEST(what_runs_and_what_is_queued_add_up_to_what_was_submitted)
{
    rota_executor *pool = test_small_pool(2, 3, 4);
    test_gate gate;

    test_gate_init(&gate);
    for (int i = 0; i < 7; i++)
        assert_ok(rota_execute(pool, test_wait_at, &gate));
    test_await_count(&gate.begun, 3);
    assert_status(rota_execute(pool, test_wait_at, &gate), ROTA_EREJECTED);
    rota_pool_stats stats = test_stats(pool);
    assert_int_equal(stats.core_threads, 2);
    assert_int_equal(stats.max_threads, 3);
    assert_int_equal(stats.threads, 3);
    assert_int_equal(stats.active, 3);
    assert_int_equal(stats.largest, 3);
    assert_int_equal(stats.queued, 4);
    assert_int_equal(stats.submitted, 7);
    assert_int_equal(stats.completed, 0);
    assert_int_equal(stats.rejected, 1);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
}

static void *fail_always(void *arg)
{
    return rota_fail(3);
}

static void *end_thread(void *arg)
{
    pthread_exit(arg);
}

/* POOL-48, GEN-14 */
TEST(completed_counts_every_task_that_had_its_turn)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    rota_future *cancelled;
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_execute(pool, fail_always, NULL));
    assert_ok(rota_execute(pool, end_thread, NULL));
    assert_ok(rota_submit(pool, test_count, &runs, &cancelled));
    assert_true(rota_future_cancel(cancelled));
    test_gate_open(&gate);
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_int_equal(test_stats(pool).completed, 5);
    assert_int_equal(test_stats(pool).submitted, 5);
    assert_int_equal(runs, 1);
    rota_future_unref(cancelled);
    assert_ok(rota_executor_free(pool));
}

/* POOL-48: submitted never falls. */
TEST(what_is_taken_out_of_the_queue_stays_submitted)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    rota_future *futures[4];
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (int i = 0; i < 4; i++)
        assert_ok(rota_submit(pool, test_count, &runs, &futures[i]));
    assert_true(rota_pool_remove(pool, futures[0]));
    assert_true(rota_future_cancel(futures[1]));
    assert_int_equal(rota_pool_purge(pool), 1);
    assert_int_equal(test_stats(pool).submitted, 5);
    assert_ok(rota_shutdown_now(pool, NULL));
    assert_int_equal(test_stats(pool).submitted, 5);
    assert_int_equal(test_stats(pool).queued, 0);
    test_gate_open(&gate);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_int_equal(test_stats(pool).submitted, 5);
    assert_int_equal(test_stats(pool).completed, 1);
    for (int i = 0; i < 4; i++)
        rota_future_unref(futures[i]);
    assert_ok(rota_executor_free(pool));
}

/* POOL-46, POOL-47 */
TEST(the_largest_number_of_threads_never_falls)
{
    rota_executor *pool =
        test_pool((rota_pool_options){.max_threads = 4, .keep_alive = 1, .queue = test_handoff()});

    for (unsigned threads = 4; threads > 0; threads--) {
        test_gate gate;
        test_gate_init(&gate);
        test_occupy(pool, &gate, threads);
        assert_int_equal(test_stats(pool).threads, threads);
        test_gate_open(&gate);
        test_await_count(&gate.ended, threads);
        test_await_threads(pool, 0);
        assert_int_equal(test_stats(pool).largest, 4);
    }
    assert_ok(rota_shutdown(pool));
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    assert_int_equal(test_stats(pool).threads, 0);
    assert_int_equal(test_stats(pool).largest, 4);
    assert_ok(rota_executor_free(pool));
}

/* -- While others go on ------------------------------------------------------------------- */

enum { SUBMITTERS = 2, EACH = 3000 };

struct traffic {
    rota_executor *pool;
    atomic_uint offered;  /* counted before */
    atomic_uint accepted; /* after */
    atomic_uint ended;    /* at the end of a body */
    atomic_uint done;     /* submitters */
};

static void *end_body(void *arg)
{
    atomic_fetch_add(&((struct traffic *)arg)->ended, 1);
    return arg;
}

static void submit_many(void *arg)
{
    struct traffic *traffic = arg;

    for (int i = 0; i < EACH; i++) {
        atomic_fetch_add(&traffic->offered, 1);
        if (rota_execute(traffic->pool, end_body, traffic) == ROTA_OK)
            atomic_fetch_add(&traffic->accepted, 1);
    }
    atomic_fetch_add(&traffic->done, 1);
}

/* GEN-13, POOL-46 to POOL-48 */
static void compare(struct traffic *traffic, const rota_pool_stats *last, rota_pool_stats *now)
{
    *now = test_stats(traffic->pool);
    assert_in_range(now->submitted, last->submitted, atomic_load(&traffic->offered));
    assert_in_range(now->completed, last->completed, atomic_load(&traffic->ended));
    assert_true(now->rejected >= last->rejected);
    assert_true(now->largest >= last->largest);
    assert_true(now->completed <= now->submitted);
    assert_true(now->active <= now->threads);
    assert_true(now->threads <= 3);
    assert_true(now->queued <= 16);
}

TEST(figures_never_fall_and_are_never_too_high)
{
    struct traffic traffic = {.pool = test_small_pool(1, 3, 16)};
    test_thread *threads[SUBMITTERS];
    rota_pool_stats last = {0}, now;

    for (int i = 0; i < SUBMITTERS; i++)
        threads[i] = test_thread_start(submit_many, &traffic);
    while (atomic_load(&traffic.done) < SUBMITTERS) {
        compare(&traffic, &last, &now);
        last = now;
    }
    for (int i = 0; i < SUBMITTERS; i++)
        test_thread_join(threads[i]);
    test_await_completed(traffic.pool, traffic.accepted);
    test_await_active(traffic.pool, 0);
    now = test_stats(traffic.pool);
    assert_int_equal(now.submitted, traffic.accepted);
    assert_int_equal(now.completed, traffic.ended);
    assert_int_equal(now.completed, traffic.accepted);
    assert_int_equal(now.rejected, traffic.offered - traffic.accepted);
    assert_ok(rota_close(traffic.pool));
}

/* -- A line for logs ---------------------------------------------------------------------- */

/* GEN-16: as snprintf. */
TEST(describe_fits_its_line_into_any_space)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 3});
    char line[256], cut[256];
    int length = rota_executor_describe(pool, line, sizeof line);

    assert_int_equal(length, strlen(line));
    assert_true(length > 0);
    assert_null(strchr(line, '\n'));
    for (size_t size = 1; size <= (size_t)length + 1; size++) {
        memset(cut, 'x', sizeof cut);
        assert_int_equal(rota_executor_describe(pool, cut, size), length);
        assert_int_equal(strlen(cut), size - 1);
        assert_memory_equal(cut, line, size - 1);
        assert_int_equal(cut[size], 'x');
    }
    assert_int_equal(rota_executor_describe(pool, NULL, 0), length);
    assert_ok(rota_close(pool));
}

TEST(describe_tells_one_state_from_another)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    char lines[3][256];
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    rota_executor_describe(pool, lines[0], sizeof lines[0]);
    assert_ok(rota_shutdown(pool));
    rota_executor_describe(pool, lines[1], sizeof lines[1]);
    test_gate_open(&gate);
    assert_ok(rota_await_termination(pool, ROTA_FOREVER));
    rota_executor_describe(pool, lines[2], sizeof lines[2]);
    assert_string_not_equal(lines[0], lines[1]);
    assert_string_not_equal(lines[1], lines[2]);
    assert_ok(rota_executor_free(pool));
}

/* GEN-02 */
TEST(what_is_no_pool_has_no_figures)
{
    rota_pool_stats stats = {.threads = 99};
    rota_executor *executor;

    assert_ok(test_executor_direct(&executor));
    assert_status(rota_pool_stats_get(executor, &stats), ROTA_ENOTSUP);
    assert_status(rota_pool_stats_get(NULL, &stats), ROTA_EINVAL);
    assert_status(rota_pool_stats_get(executor, NULL), ROTA_EINVAL);
    assert_int_equal(stats.threads, 99);
    assert_ok(rota_close(executor));
}
