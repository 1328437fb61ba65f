/* SPDX-License-Identifier: MIT */
/*
 * Ready-made scheduled pools, and periodic tasks whose pool changes its size, in virtual time.
 */
#include "pools.h"
#include "rota_test_internal.h"

TEST_FIXTURE(.setup = test_clock_before, .teardown = test_clock_after);

static int make_two(rota_executor **out)
{
    return rota_scheduled_pool(2, out);
}

static void *give_back(void *arg)
{
    return arg;
}

/* One wait for it begins before it is due, one after it is done. */
static void gives_its_result_in_time(int (*make)(rota_executor **out), void *result)
{
    rota_executor *sched;
    rota_future *future;
    test_getter getter;
    void *again = TEST_UNTOUCHED;

    assert_ok(make(&sched));
    assert_ok(rota_schedule(sched, give_back, result, ROTA_MS(12), &future));
    test_await_waiting(sched, 1);
    test_getter_start(&getter, future, ROTA_SEC(10));
    test_pass(sched, ROTA_MS(12) - 1, 1);
    assert_false(rota_future_is_done(future));
    test_clock_advance(1);
    test_getter_ends(&getter, ROTA_OK, result);
    assert_ok(rota_future_get(future, &again));
    assert_ptr_equal(again, result);
    rota_future_unref(future);
    assert_ok(rota_close(sched));
}

/* FACT-04, SCHED-07, SCHED-10: with a result and without. */
TEST(a_ready_made_pool_gives_the_result_in_time_and_not_before)
{
    static char result;

    gives_its_result_in_time(rota_single_scheduled, &result);
    gives_its_result_in_time(rota_single_scheduled, NULL);
    gives_its_result_in_time(make_two, &result);
    gives_its_result_in_time(make_two, NULL);
}

/* -- Another size while periodic tasks run -------------------------------------------------------- */

enum { PERIODIC = 10 };

static bool has_seven_in_time(void *sched)
{
    test_clock_advance(ROTA_MS(1));
    return test_stats(sched).threads == 7;
}

static bool has_thirteen_in_time(void *sched)
{
    test_clock_advance(ROTA_MS(1));
    return test_stats(sched).threads == 13;
}

/* POOL-40, SCHED-18 */
TEST(a_pool_with_periodic_tasks_follows_its_core)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 10});
    rota_future *periodic[PERIODIC];
    atomic_uint runs = 0;

    for (unsigned i = 0; i < PERIODIC; i++)
        assert_ok(rota_schedule_at_fixed_rate(sched, test_count, &runs, ROTA_MS(i),
                                              ROTA_MS(PERIODIC), &periodic[i]));
    test_await_threads(sched, 10);
    assert_ok(rota_pool_set_core_threads(sched, 7));
    test_until(has_seven_in_time, sched);
    assert_ok(rota_pool_set_core_threads(sched, 13));
    test_until(has_thirteen_in_time, sched);
    assert_ok(rota_shutdown_now(sched, NULL));
    assert_ok(rota_await_termination(sched, ROTA_FOREVER));
    for (unsigned i = 0; i < PERIODIC; i++) {
        assert_status(rota_future_get(periodic[i], NULL), ROTA_ECANCELED);
        rota_future_unref(periodic[i]);
    }
    assert_ok(rota_executor_free(sched));
}
