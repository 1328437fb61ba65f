/* SPDX-License-Identifier: MIT */
/*
 * Interruption: a flag for every execution and for the thread (thread.T1, thread.T2), stop words
 * (thread.T6), and rota_sleep.
 */
#include "rota_test_internal.h"

static void interrupt_self(void)
{
    rota_thread_interrupt(rota_thread_self());
}

static void *interrupt_thread(void *thread)
{
    rota_thread_interrupt(thread);
    return NULL;
}

/* As another thread does. */
static void interrupt_from_outside(void)
{
    pthread_t other;

    assert_int_equal(pthread_create(&other, NULL, interrupt_thread, rota_thread_self()), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
}

static int no_flag_is_left(void **state)
{
    return rota_interrupted() ? -1 : 0;
}

TEST_FIXTURE(.teardown = no_flag_is_left);

/* -- The flag ----------------------------------------------------------------------------- */

/* INT-02: one call reads the flag, the other also clears it. */
TEST(the_flag_is_read_and_cleared)
{
    assert_false(rota_is_interrupted());
    assert_false(rota_interrupted());
    interrupt_self();
    assert_true(rota_is_interrupted());
    assert_true(rota_is_interrupted());
    assert_true(rota_interrupted());
    assert_false(rota_interrupted());
    assert_false(rota_is_interrupted());
}

/* INT-01: twice is as once. */
TEST(two_interrupts_are_as_one)
{
    interrupt_self();
    interrupt_self();
    assert_true(rota_interrupted());
    assert_false(rota_interrupted());
}

/* GEN-02 */
TEST(no_thread_is_not_interrupted)
{
    rota_thread_interrupt(NULL);
    assert_false(rota_is_interrupted());
}

/* -- Executions --------------------------------------------------------------------------- */

/* INT-01, INT-07: an execution starts without a flag, and a flag from before stays outside. */
TEST(a_flag_from_before_stays_outside)
{
    void (*const interrupts[])(void) = {interrupt_self, interrupt_from_outside};
    rota__execution inner;

    for (int i = 0; i < 2; i++) {
        interrupts[i]();
        rota__execution_begin(&inner, NULL, NULL);
        assert_false(rota_is_interrupted());
        assert_false(rota_interrupted());
        rota__execution_end(&inner);
        assert_true(rota_interrupted());
    }
}

/* thread.T1: interrupting a thread interrupts its innermost execution. */
TEST(an_interrupt_of_the_thread_is_for_the_innermost_execution)
{
    rota__execution outer, inner;

    rota__execution_begin(&outer, NULL, NULL);
    rota__execution_begin(&inner, NULL, NULL);
    interrupt_from_outside();
    assert_true(rota_interrupted());
    rota__execution_end(&inner);
    assert_false(rota_is_interrupted());
    rota__execution_end(&outer);
    assert_false(rota_is_interrupted());
}

/* thread.T1: an interrupt by another thread that was not seen stays. */
TEST(an_interrupt_of_the_thread_stays_until_seen)
{
    rota__execution outer, inner;

    rota__execution_begin(&outer, NULL, NULL);
    rota__execution_begin(&inner, NULL, NULL);
    interrupt_from_outside();
    rota__execution_end(&inner);
    assert_true(rota_is_interrupted());
    rota__execution_end(&outer);
    assert_true(rota_interrupted());
}

/* thread.T1: the interrupt does not reach an inner execution that begins later. */
TEST(an_interrupt_stays_outside_of_executions_that_begin_later)
{
    rota__execution outer, inner;

    rota__execution_begin(&outer, NULL, NULL);
    interrupt_from_outside();
    for (int i = 0; i < 2; i++) {
        rota__execution_begin(&inner, NULL, NULL);
        assert_false(rota_is_interrupted());
        rota__execution_end(&inner);
        assert_true(rota_is_interrupted());
    }
    rota__execution_end(&outer); /* it has not seen the interrupt */
    assert_true(rota_interrupted());
}

/* INT-02: a task that restores its own flag interrupts no other task, and nothing after it. */
TEST(an_own_interrupt_ends_with_its_execution)
{
    rota__execution outer, inner, next;

    rota__execution_begin(&outer, NULL, NULL);
    rota__execution_begin(&inner, NULL, NULL);
    interrupt_self();
    assert_true(rota_is_interrupted());
    rota__execution_end(&inner);
    assert_false(rota_is_interrupted());
    interrupt_self();
    rota__execution_begin(&next, NULL, NULL);
    assert_false(rota_is_interrupted());
    rota__execution_end(&next);
    assert_true(rota_is_interrupted());
    rota__execution_end(&outer);
    assert_false(rota_is_interrupted());
}

/* thread.T1: an own interrupt and one by another thread are two, and only the second one stays. */
TEST(an_execution_keeps_apart_who_interrupted_it)
{
    rota__execution outer, inner;

    rota__execution_begin(&outer, NULL, NULL);
    interrupt_from_outside();
    interrupt_self();
    rota__execution_begin(&inner, NULL, NULL);
    rota__execution_end(&inner);
    rota__execution_end(&outer);
    assert_true(rota_interrupted());
}

/* -- Stop words --------------------------------------------------------------------------- */

/* thread.T6, INT-07: each execution of the executor is interrupted once, at every depth. */
TEST(a_stop_interrupts_each_execution_of_its_executor_once)
{
    rota__stop_word stop = 0;
    rota__execution outer, inner;

    rota__execution_begin(&outer, NULL, &stop);
    rota__stop_set(&stop);
    rota__stop_wake(rota_thread_self(), &stop);
    for (int i = 0; i < 2; i++) {
        rota__execution_begin(&inner, NULL, &stop); /* the second begins after the stop */
        assert_int_equal(rota_sleep(ROTA_FOREVER), ROTA_EINTERRUPTED);
        assert_false(rota_is_interrupted());
        rota__execution_end(&inner);
    }
    assert_true(rota_interrupted());
    assert_false(rota_is_interrupted());
    rota__stop_set(&stop);
    assert_false(rota_is_interrupted());
    rota__execution_end(&outer);
    assert_false(rota_is_interrupted());
}

/* thread.T1: tasks of other executors that the thread runs inside and afterwards go on. */
TEST(a_stop_does_not_interrupt_executions_of_other_executors)
{
    rota__stop_word stop = 0, other = 0;
    rota__execution outer, inner;

    rota__execution_begin(&outer, NULL, &stop);
    rota__execution_begin(&inner, NULL, &other);
    rota__stop_set(&stop);
    rota__stop_wake(rota_thread_self(), &stop);
    assert_int_equal(rota_sleep(1), ROTA_OK);
    rota__execution_end(&inner);
    rota__execution_begin(&inner, NULL, NULL);
    assert_false(rota_is_interrupted());
    rota__execution_end(&inner);
    rota__execution_end(&outer); /* it has not seen the stop */
    assert_false(rota_is_interrupted());
    rota__execution_begin(&inner, NULL, &other);
    assert_false(rota_is_interrupted());
    rota__execution_end(&inner);
}

/* -- Interrupts of one execution ---------------------------------------------------------- */

/* INT-08: an interrupt of an execution reaches that one alone, and is void after its end. */
TEST(an_interrupt_of_an_execution_ends_with_it)
{
    rota__execution inner, next;

    rota__execution_begin(&inner, NULL, NULL);
    rota__interrupt_execution(&inner);
    assert_true(rota_is_interrupted());
    rota__execution_end(&inner);
    assert_false(rota_is_interrupted());
    rota__execution_begin(&next, NULL, NULL);
    assert_false(rota_is_interrupted());
    rota__execution_end(&next);
}

/* INT-08: so does one of an outer execution, at whatever depth the thread is. */
TEST(an_outer_execution_has_its_own_flag)
{
    rota__execution outer, inner;

    rota__execution_begin(&outer, NULL, NULL);
    rota__execution_begin(&inner, NULL, NULL);
    rota__interrupt_execution(&outer);
    assert_false(rota_interrupted());
    rota__execution_end(&inner);
    assert_true(rota_interrupted());
    rota__execution_end(&outer);
}

/* INT-05: both flags are cleared by one look: the execution's and the thread's. */
TEST(one_look_clears_both_flags)
{
    rota__execution inner;

    rota__execution_begin(&inner, NULL, NULL);
    interrupt_from_outside();
    rota__interrupt_execution(&inner);
    assert_true(rota_interrupted());
    assert_false(rota_interrupted());
    rota__execution_end(&inner);
    assert_false(rota_interrupted());
}

/* A thread knows what it executes, at any depth, until that ends. */
TEST(a_thread_knows_what_it_executes)
{
    rota__execution outer, inner;
    int first = 1;
    int second = 2;

    rota__execution_begin(&outer, &first, NULL);
    assert_true(rota__is_executing(&first));
    assert_false(rota__is_executing(&second));
    rota__execution_begin(&inner, &second, NULL);
    assert_true(rota__is_executing(&first));
    assert_true(rota__is_executing(&second));
    rota__execution_end(&inner);
    assert_true(rota__is_executing(&first));
    assert_false(rota__is_executing(&second));
    rota__execution_end(&outer);
    assert_false(rota__is_executing(&first));
}

/* -- Sleeping ----------------------------------------------------------------------------- */

/* INT-12: 0 or less is over at once. */
TEST(a_sleep_of_nothing_is_over_at_once)
{
    assert_ok(rota_sleep(0));
    assert_ok(rota_sleep(-1));
    assert_ok(rota_sleep(INT64_MIN));
}

/* INT-12, INT-04, INT-05: with the flag set no sleep begins, and the flag is cleared. */
TEST(a_flag_ends_a_sleep_before_it_begins)
{
    const rota_ns durations[] = {ROTA_FOREVER, ROTA_HOURS(1), 0, -1, INT64_MIN};

    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        interrupt_self();
        assert_status(rota_sleep(durations[i]), ROTA_EINTERRUPTED);
        assert_false(rota_is_interrupted());
    }
}

/* INT-12, GEN-06: never early, whatever unparks were meant for somebody else. */
TEST(a_sleep_lasts_as_long_as_it_should)
{
    rota_ns before = rota_now();

    rota__store_relaxed(&rota_thread_self()->permit, 2); /* NOTIFIED */
    assert_ok(rota_sleep(ROTA_MS(5)));
    assert_true(rota_now() - before >= ROTA_MS(5));
}

struct sleeper {
    rota__execution outer, inner;
    atomic_bool begun;
    rota_ns duration;
    int status;
    bool flag_left;
    bool outer_flag;
};

static void sleep_inside_an_execution(void *arg)
{
    struct sleeper *sleeper = arg;

    rota__execution_begin(&sleeper->outer, NULL, NULL);
    rota__execution_begin(&sleeper->inner, NULL, NULL);
    atomic_store(&sleeper->begun, true);
    sleeper->status = rota_sleep(sleeper->duration);
    sleeper->flag_left = rota_is_interrupted();
    rota__execution_end(&sleeper->inner);
    sleeper->outer_flag = rota_is_interrupted();
    rota__execution_end(&sleeper->outer);
}

static test_thread *start_sleeping(struct sleeper *sleeper)
{
    test_thread *thread = test_thread_start(sleep_inside_an_execution, sleeper);

    test_await_parked(test_thread_handle(thread));
    assert_true(atomic_load(&sleeper->begun));
    return thread;
}

/* thread.T2, INT-12: an interrupt of the thread, or of the execution, ends the longest sleep. */
TEST(an_interrupt_ends_a_sleep)
{
    const rota_ns durations[] = {ROTA_FOREVER, INT64_MAX - 1, ROTA_HOURS(1)};

    for (size_t i = 0; i < 6; i++) {
        struct sleeper sleeper = {.duration = durations[i / 2]};
        test_thread *thread = start_sleeping(&sleeper);

        if (i % 2 == 0)
            rota_thread_interrupt(test_thread_handle(thread));
        else
            rota__interrupt_execution(&sleeper.inner);
        test_thread_join(thread);
        assert_status(sleeper.status, ROTA_EINTERRUPTED);
        assert_false(sleeper.flag_left); /* INT-05 */
        assert_false(sleeper.outer_flag);
    }
}

/* INT-08: one that is meant for the outer execution does not end the sleep of the inner one. */
TEST(an_interrupt_of_the_outer_one_does_not_end_the_sleep)
{
    struct sleeper sleeper = {.duration = ROTA_FOREVER};
    test_thread *thread = start_sleeping(&sleeper);

    rota__interrupt_execution(&sleeper.outer);
    test_await_parked(test_thread_handle(thread)); /* again: the interrupt had unparked it */
    rota__interrupt_execution(&sleeper.inner);
    test_thread_join(thread);
    assert_status(sleeper.status, ROTA_EINTERRUPTED);
    assert_true(sleeper.outer_flag);
}
