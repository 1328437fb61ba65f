/* SPDX-License-Identifier: MIT */
/*
 * The control word: a state and a number of workers, and who may still be counted in.
 */
#include "pools.h"

#include "workers/ctl.h"

static const rota_executor_state states[] = {ROTA_RUNNING, ROTA_SHUTDOWN, ROTA_STOP, ROTA_TIDYING,
                                             ROTA_TERMINATED};

enum { STATES = sizeof states / sizeof states[0] };

/* POOL-02 */
TEST(the_states_are_in_order)
{
    for (int i = 1; i < STATES; i++)
        assert_true(states[i - 1] < states[i]);
}

/* POOL-01, POOL-05: neither spills into the other, up to the most there can be. */
TEST(state_and_workers_share_a_word)
{
    static const uint32_t counts[] = {0, 1, 1000, ROTA__MOST_WORKERS - 1, ROTA__MOST_WORKERS};

    assert_int_equal(rota__ctl_make(ROTA_RUNNING, 0), 0); /* as a new pool's memory */
    for (int i = 0; i < STATES; i++) {
        for (size_t j = 0; j < sizeof counts / sizeof counts[0]; j++) {
            uint32_t word = rota__ctl_make(states[i], counts[j]);
            assert_int_equal(rota__ctl_state(word), states[i]);
            assert_int_equal(rota__ctl_workers(word), counts[j]);
        }
    }
}

/* POOL-01: who has seen the one, and not that the other has changed, changes nothing. */
TEST(both_change_together)
{
    rota__ctl ctl = {0};
    uint32_t seen = rota__ctl_load(&ctl);

    assert_true(rota__ctl_advance(&ctl, ROTA_SHUTDOWN));
    assert_false(rota__ctl_try_add(&ctl, &seen));
    assert_int_equal(rota__ctl_state(seen), ROTA_SHUTDOWN);
    assert_int_equal(rota__ctl_workers(rota__ctl_load(&ctl)), 0);
    assert_true(rota__ctl_try_add(&ctl, &seen));
    assert_true(rota__ctl_advance(&ctl, ROTA_STOP));
    assert_int_equal(rota__ctl_load(&ctl), rota__ctl_make(ROTA_STOP, 1));
    rota__ctl_remove(&ctl);
    assert_int_equal(rota__ctl_load(&ctl), rota__ctl_make(ROTA_STOP, 0));
    assert_false(rota__ctl_begin_tidying(&ctl, &seen));
    assert_true(rota__ctl_begin_tidying(&ctl, &seen));
    assert_int_equal(rota__ctl_load(&ctl), rota__ctl_make(ROTA_TIDYING, 0));
}

/* POOL-03 */
TEST(the_state_only_grows)
{
    for (int from = 0; from < STATES; from++) {
        for (int to = 0; to < STATES; to++) {
            rota__ctl ctl = {rota__ctl_make(states[from], 3)};
            assert_int_equal(rota__ctl_advance(&ctl, states[to]), to > from);
            assert_int_equal(rota__ctl_load(&ctl),
                             rota__ctl_make(states[to > from ? to : from], 3));
        }
    }
}

static void starts(rota_executor *pool, unsigned expected)
{
    unsigned started = 77;

    assert_ok(rota_pool_prestart_one(pool, &started));
    assert_int_equal(started, expected);
}

/* POOL-26: after a shutdown for what is still queued, after a stop for nothing. */
TEST(who_is_counted_in_depends_on_the_state)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 4});
    test_gate gate, queued;

    test_gate_init(&gate);
    test_gate_init(&queued);
    assert_ok(rota_pool_set_core_threads(pool, 1));
    test_occupy(pool, &gate, 1);
    assert_ok(rota_execute(pool, test_wait_at, &queued));
    assert_ok(rota_shutdown(pool));
    starts(pool, 0); /* there are as many as the core has */
    assert_ok(rota_pool_set_core_threads(pool, 2));
    test_await_count(&queued.begun, 1); /* which brought one */
    assert_int_equal(test_stats(pool).threads, 2);
    assert_ok(rota_pool_set_core_threads(pool, 4));
    starts(pool, 0); /* nothing is queued */
    assert_ok(rota_shutdown_now(pool, NULL));
    starts(pool, 0);
    assert_int_equal(test_stats(pool).largest, 2);
    test_gate_open(&gate);
    test_gate_open(&queued);
    assert_ok(rota_close(pool));
}
