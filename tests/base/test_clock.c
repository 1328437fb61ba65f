/* SPDX-License-Identifier: MIT */
/*
 * Time that passes only when a test says so, and what waits for it in the library.
 */
#include "rota_test_internal.h"

#include "base/time.h"
#include "base/wait.h"

static int install(void **state)
{
    test_clock_install();
    return 0;
}

static int take_away(void **state)
{
    test_clock_remove();
    return 0;
}

static const test_fixture unit = {.setup = install, .teardown = take_away};

struct sleeper {
    rota_ns duration;
    atomic_int status; /* 1: still asleep */
    rota_ns awake_at;
};

static void sleep_for(void *arg)
{
    struct sleeper *sleeper = arg;
    int status = rota_sleep(sleeper->duration);

    sleeper->awake_at = rota_now();
    atomic_store(&sleeper->status, status);
}

/* FAULT-32: it stands still unless it is moved. */
TEST_WITH(unit, time_stands_still)
{
    rota_ns now = rota_now();

    for (int i = 0; i < 1000; i++)
        assert_true(rota_now() == now);
    test_clock_advance(ROTA_HOURS(1));
    assert_true(rota_now() == now + ROTA_HOURS(1));
    assert_true(test_clock_now() == rota_now());
}

/* An hour of sleep takes no time. */
TEST_WITH(unit, an_hour_passes_in_no_time)
{
    struct sleeper sleeper = {.duration = ROTA_HOURS(1), .status = 1};
    rota_ns begun = rota_now();
    test_thread *thread = test_thread_start(sleep_for, &sleeper);

    test_clock_await_waiting(1);
    test_clock_advance(ROTA_HOURS(1));
    test_thread_join(thread);
    assert_ok(sleeper.status);
    assert_true(sleeper.awake_at == begun + ROTA_HOURS(1));
}

/* INT-12, GEN-06, FAULT-28: not a nanosecond early. */
TEST_WITH(unit, a_sleep_is_not_a_nanosecond_early)
{
    struct sleeper sleeper = {.duration = ROTA_SEC(1), .status = 1};
    test_thread *thread = test_thread_start(sleep_for, &sleeper);

    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(1) - 1);
    rota__unpark(test_thread_handle(thread));      /* so that it looks at the clock, */
    test_await_parked(test_thread_handle(thread)); /* and goes to sleep again */
    assert_int_equal(sleeper.status, 1);
    test_clock_advance(1);
    test_thread_join(thread);
    assert_ok(sleeper.status);
}

enum { SLEEPERS = 5 };

static bool is_awake(void *arg)
{
    return atomic_load((atomic_int *)arg) != 1;
}

/* Each of several wakes at its own time, and the others sleep on. */
TEST_WITH(unit, each_wakes_at_its_time)
{
    struct sleeper sleepers[SLEEPERS];
    test_thread *threads[SLEEPERS];

    for (int i = 0; i < SLEEPERS; i++) {
        sleepers[i] = (struct sleeper){.duration = ROTA_MINUTES(i + 1), .status = 1};
        threads[i] = test_thread_start(sleep_for, &sleepers[i]);
    }
    test_clock_await_waiting(SLEEPERS);
    for (int i = 0; i < SLEEPERS; i++) {
        test_clock_advance(ROTA_MINUTES(1));
        test_until(is_awake, &sleepers[i].status);
        for (int j = i + 1; j < SLEEPERS; j++)
            assert_int_equal(sleepers[j].status, 1);
        assert_int_equal(test_clock_waiting(), SLEEPERS - 1 - i);
    }
    for (int i = 0; i < SLEEPERS; i++)
        test_thread_join(threads[i]);
}

/* An interrupt ends a sleep whose time has not come. */
TEST_WITH(unit, an_interrupt_needs_no_time)
{
    struct sleeper sleeper = {.duration = ROTA_HOURS(1), .status = 1};
    test_thread *thread = test_thread_start(sleep_for, &sleeper);
    rota_ns begun = rota_now();

    test_clock_await_waiting(1);
    rota_thread_interrupt(test_thread_handle(thread));
    test_thread_join(thread);
    assert_status(sleeper.status, ROTA_EINTERRUPTED);
    assert_true(sleeper.awake_at == begun);
}

struct waiting {
    rota__waiter waiter;
    rota_ns deadline;
    int status;
};

static void wait_until(void *arg)
{
    struct waiting *waiting = arg;

    test_check(rota__waiter_begin_uninterruptible(&waiting->waiter) == ROTA_OK);
    waiting->status = rota__waiter_wait_idle(&waiting->waiter, waiting->deadline);
    rota__waiter_cancel(&waiting->waiter);
}

/* GEN-06: so does a waiter, whose time runs out at its deadline. */
TEST_WITH(unit, a_waiters_time_runs_out)
{
    struct waiting waiting = {.deadline = rota_now() + 10};
    test_thread *thread = test_thread_start(wait_until, &waiting);

    test_clock_await_waiting(1);
    test_clock_advance(10);
    test_thread_join(thread);
    assert_status(waiting.status, ROTA_ETIMEDOUT);
}

/* Waits without a deadline are not counted, and do not mind what time it is. */
TEST_WITH(unit, waits_for_ever_are_not_counted)
{
    struct sleeper sleeper = {.duration = ROTA_FOREVER, .status = 1};
    test_thread *thread = test_thread_start(sleep_for, &sleeper);

    test_await_parked(test_thread_handle(thread));
    assert_int_equal(test_clock_waiting(), 0);
    test_clock_advance(INT64_MAX);
    rota_thread_interrupt(test_thread_handle(thread));
    test_thread_join(thread);
    assert_status(sleeper.status, ROTA_EINTERRUPTED);
}

static void sleep_often(void *arg)
{
    for (int i = 0; i < 200; i++)
        test_check(rota_sleep(ROTA_SEC(1)) == ROTA_OK);
    atomic_fetch_add((atomic_int *)arg, 1);
}

/* clock.V2: no sleeper misses that its time has come, whenever that is. */
TEST_WITH(unit, no_advance_is_missed)
{
    test_thread *threads[3];
    atomic_int ended = 0;

    for (int i = 0; i < 3; i++)
        threads[i] = test_thread_start(sleep_often, &ended);
    while (atomic_load(&ended) < 3)
        test_clock_advance(ROTA_MS(400));
    for (int i = 0; i < 3; i++)
        test_thread_join(threads[i]);
}

/* Afterwards time passes by itself again. */
TEST(the_systems_clock_comes_back)
{
    test_clock_install();
    test_clock_remove();
    rota_ns now = rota_now();
    assert_ok(rota_sleep(ROTA_US(10)));
    assert_true(rota_now() > now);
}

/* A clock that goes on a little with each wait, which ends for no reason. */
static _Atomic(rota_ns) restless_now = ROTA_SEC(1);

static rota_ns now_restless(void)
{
    return atomic_load(&restless_now);
}

static void wait_for_nothing(rota__os_word *word, uint32_t expected, rota_ns deadline)
{
    atomic_fetch_add(&restless_now, ROTA_US(300));
}

static int sleep_a_little(rota_ns timeout)
{
    return rota_sleep(timeout) == ROTA_OK ? ROTA_ETIMEDOUT : ROTA_OK;
}

static int get_in_vain(rota_ns timeout)
{
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    int status = rota_future_get_timed(promise, timeout, NULL);
    rota_future_unref(promise);
    return status;
}

static int poll_in_vain(rota_ns timeout)
{
    rota_queue *queue;
    void *element;

    assert_ok(rota_linked_queue(1, &queue));
    int status = rota_queue_poll_timed(queue, timeout, &element);
    assert_ok(rota_queue_free(queue));
    return status;
}

static int await_in_vain(rota_ns timeout)
{
    rota_executor *pool;

    assert_ok(rota_fixed_pool(1, &pool));
    int status = rota_await_termination(pool, timeout);
    assert_ok(rota_close(pool));
    return status;
}

/* GEN-06, FAULT-27, FAULT-28: the system ends every wait for no reason, or before its time. */
TEST(waits_that_all_end_at_once_last_as_long)
{
    static int (*const calls[])(rota_ns timeout) = {sleep_a_little, get_in_vain, poll_in_vain,
                                                    await_in_vain};
    const rota__clock restless = {now_restless, wait_for_nothing};

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        rota_ns begin = now_restless();

        rota__clock_replace(&restless);
        int status = calls[i](ROTA_MS(2));
        rota__clock_replace(NULL);
        assert_status(status, ROTA_ETIMEDOUT);
        assert_in_range(now_restless() - begin, ROTA_MS(2), ROTA_MS(2) + ROTA_US(300));
    }
}
