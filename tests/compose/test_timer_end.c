/* SPDX-License-Identifier: MIT */
/*
 * The timer of the process ends, as it does at exit, while a thread that nobody waits for uses it.
 */
#include "pools.h"
#include "rota_test_compose.h"
#include "rota_test_race.h"

#include "compose/compose_internal.h"

struct last_use {
    rota_future *source;
    rota_future *follows; /* or NULL */
};

static void begin(void *arg)
{
    struct last_use *use = arg;

    *use = (struct last_use){.source = test_promise()};
}

/* It is set, or the timer takes no more. */
static void set_a_timer(void *arg)
{
    struct last_use *use = arg;
    int status = rota_timeout(use->source, ROTA_HOURS(1), &use->follows);

    test_check(status == ROTA_OK || status == ROTA_EREJECTED);
}

static void end_the_timer(void *arg)
{
    rota__timer_end(ROTA_FOREVER);
}

static void let_go(void *arg)
{
    struct last_use *use = arg;

    rota_future_unref(use->follows);
    rota_future_unref(use->source);
    rota__timer_end(ROTA_FOREVER);
}

/* FAULT-47 */
TEST(a_timer_that_is_in_use_is_not_freed)
{
    static const test_race race = {
        .before = begin, .sides = {set_a_timer, end_the_timer}, .after = let_go};
    struct last_use use;

    test_race_run(&race, &use);
}

/* What waits there is discarded, as with any scheduled pool that is stopped. */
TEST(what_a_delayed_executor_holds_goes_with_the_timer)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_executor *delayed;
    rota_future *future;

    assert_ok(rota_delayed(pool, ROTA_HOURS(1), &delayed));
    assert_ok(rota_submit_call(delayed, &call, &future));
    rota__timer_end(ROTA_FOREVER);
    assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
    assert_int_equal(probe.discards, 1);
    rota_future_unref(future);
    assert_ok(rota_close(delayed));
    assert_ok(rota_close(pool));
}

/* -- A thread that stays in the midst of it ------------------------------------------------ */

static test_latch inside, go_on;
static rota_thread *_Atomic user;

/* Called with each allocation: the first of the user's is for the future that follows. */
static bool linger_at_the_second(void)
{
    static unsigned asked;

    if (rota_thread_self() == atomic_load(&user) && ++asked == 2) {
        test_latch_open(&inside);
        test_latch_wait(&go_on);
    }
    return false;
}

static void use_timer(void *source)
{
    rota_future *follows = TEST_UNTOUCHED;

    atomic_store(&user, rota_thread_self());
    test_check(rota_timeout(source, ROTA_HOURS(1), &follows) == ROTA_EREJECTED);
    test_check(follows == TEST_UNTOUCHED);
}

static void use_timer_for_a_value(void *source)
{
    rota_future *follows = TEST_UNTOUCHED;

    atomic_store(&user, rota_thread_self());
    test_check(rota_timeout_value(source, ROTA_HOURS(1), NULL, &follows) == ROTA_EREJECTED);
    test_check(follows == TEST_UNTOUCHED);
}

static void end_in_use(void *has_value)
{
    rota_future *source = test_promise(), *follows;

    test_check(rota_timeout(source, ROTA_HOURS(1), &follows) == ROTA_OK);
    rota_executor *timer = rota__load_acquire(&rota__the_timer);
    test_latch_init(&inside, 1);
    test_latch_init(&go_on, 1);
    test_memory_fail_only(linger_at_the_second);
    test_memory_fail_at(1, false);
    test_thread *thread =
        test_thread_start(has_value != NULL ? use_timer_for_a_value : use_timer, source);
    test_latch_wait(&inside);
    rota__timer_end(ROTA_MS(100));
    test_latch_open(&go_on);
    test_thread_join(thread);
    test_check(rota_await_termination(timer, ROTA_FOREVER) == ROTA_OK); /* as it is still there */
    test_check(rota_executor_free(timer) == ROTA_OK);
    rota_future_unref(follows);
    rota_future_unref(source);
}

/* timer.M1: who cannot wait for it any longer leaves the timer to it, and to the end of the process. */
TEST(a_timer_that_stays_in_use_is_left_there)
{
    if (sizeof(void *) < 8)
        skip(); /* both futures are of one size there, and come in one block */
    assert_int_equal(test_in_child(end_in_use, NULL), 0);
    assert_int_equal(test_in_child(end_in_use, &inside), 0);
}
