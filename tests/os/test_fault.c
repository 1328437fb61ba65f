/* SPDX-License-Identifier: MIT */
/*
 * Refusals on demand: without these working, no test of a failure means anything.
 */
#include "rota_test.h"

#include "os/fault.h"
#include "os/os.h"

/* Which of the next five requests are refused, the first as the lowest bit. */
static unsigned refused(rota__fault_kind kind)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < 5; i++)
        bits |= rota__fault(kind) ? 1U << i : 0;
    return bits;
}

enum { FIRST = 1, SECOND = 2, THIRD = 4, FOURTH = 8, FIFTH = 16 };

/* Nothing is refused unless a test asks for it. */
TEST(nothing_is_refused_at_first)
{
    for (unsigned kind = 0; kind < ROTA__FAULT_KINDS; kind++)
        assert_int_equal(refused((rota__fault_kind)kind), 0);
}

/* The n-th request alone, counted from 1. */
TEST(one_request_is_refused)
{
    rota__fault_arm(ROTA__FAULT_EVENT, 1, false);
    assert_int_equal(refused(ROTA__FAULT_EVENT), FIRST);
    rota__fault_arm(ROTA__FAULT_EVENT, 3, false);
    assert_int_equal(refused(ROTA__FAULT_EVENT), THIRD);
}

/* The n-th and all after it. */
TEST(all_from_one_on_are_refused)
{
    rota__fault_arm(ROTA__FAULT_EVENT, 4, true);
    assert_int_equal(refused(ROTA__FAULT_EVENT), FOURTH | FIFTH);
    assert_int_equal(refused(ROTA__FAULT_EVENT), FIRST | SECOND | THIRD | FOURTH | FIFTH);
    rota__fault_arm(ROTA__FAULT_EVENT, 0, true);
    assert_int_equal(refused(ROTA__FAULT_EVENT), 0);
}

/* Requests are counted, refused or not, and anew each time. */
TEST(requests_are_counted)
{
    rota__fault_arm(ROTA__FAULT_EVENT, 2, false);
    assert_int_equal(rota__fault_count(ROTA__FAULT_EVENT), 0);
    refused(ROTA__FAULT_EVENT);
    assert_int_equal(rota__fault_count(ROTA__FAULT_EVENT), 5);
    rota__fault_arm(ROTA__FAULT_EVENT, 0, false);
    assert_int_equal(rota__fault_count(ROTA__FAULT_EVENT), 0);
}

/* What is armed for one kind does not concern another. */
TEST(kinds_do_not_mix)
{
    rota__fault_arm(ROTA__FAULT_THREAD_START, 1, true);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 2, false);
    rota__fault_arm(ROTA__FAULT_EVENT, 0, false);
    assert_int_equal(refused(ROTA__FAULT_EVENT), 0);
    assert_int_equal(refused(ROTA__FAULT_THREAD_EXIT), SECOND);
    assert_int_equal(rota__fault_count(ROTA__FAULT_THREAD_START), 0);
    rota__fault_arm(ROTA__FAULT_THREAD_START, 0, false);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
}

/* From one to another, and none after that. */
TEST(a_span_is_refused)
{
    rota__fault_arm_range(ROTA__FAULT_WAIT, 2, 4);
    assert_int_equal(refused(ROTA__FAULT_WAIT), SECOND | THIRD | FOURTH);
    assert_int_equal(rota__fault_count(ROTA__FAULT_WAIT), 5);
    rota__fault_arm(ROTA__FAULT_WAIT, 0, false);
}

TEST(another_is_refused_too)
{
    rota__fault_arm(ROTA__FAULT_EVENT, 2, false);
    rota__fault_arm_also(ROTA__FAULT_EVENT, 4);
    assert_int_equal(refused(ROTA__FAULT_EVENT), SECOND | FOURTH);
    rota__fault_arm(ROTA__FAULT_EVENT, 0, false);
    assert_int_equal(refused(ROTA__FAULT_EVENT), 0);
}

static bool is_counted;

static bool counts(void)
{
    return is_counted;
}

/* Who does not count is neither refused nor counted. */
TEST(some_do_not_count)
{
    rota__fault_set_filter(counts);
    rota__fault_arm(ROTA__FAULT_EVENT, 1, true);
    is_counted = false;
    assert_int_equal(refused(ROTA__FAULT_EVENT), 0);
    assert_int_equal(rota__fault_count(ROTA__FAULT_EVENT), 0);
    is_counted = true;
    assert_int_equal(refused(ROTA__FAULT_EVENT), FIRST | SECOND | THIRD | FOURTH | FIFTH);
    rota__fault_set_filter(NULL);
    rota__fault_arm(ROTA__FAULT_EVENT, 0, false);
}

/* -- The clock, and waits ----------------------------------------------------------------- */

TEST(a_clock_that_stops_shows_the_last_reading)
{
    rota__fault_arm_range(ROTA__FAULT_CLOCK_STOPS, 2, 3);
    rota_ns before = rota__os_now();
    assert_true(rota__os_now() == before);
    assert_true(rota__os_now() == before);
    while (rota__os_now() == before) /* it goes on: the clock may be coarse */
        continue;
    assert_true(rota__os_now() > before);
    rota__fault_arm(ROTA__FAULT_CLOCK_STOPS, 0, false);
}

TEST(a_clock_that_jumps_stays_ahead)
{
    rota_ns before = rota__os_now();

    rota__fault_arm(ROTA__FAULT_CLOCK_JUMPS, 1, false);
    assert_true(rota__os_now() >= before + ROTA_HOURS(1));
    assert_true(rota__os_now() < before + ROTA_HOURS(2));
    rota__fault_arm(ROTA__FAULT_CLOCK_JUMPS, 0, false);
    assert_true(rota__os_now() >= before + ROTA_HOURS(1));
}

/* Deadlines are on the clock that is seen, also when that is ahead of the system's. */
TEST(a_wait_ends_by_the_clock_that_jumped)
{
    rota__os_word word = 0;
    rota_ns deadline = rota__os_now() + ROTA_MS(1);

    while (rota__os_now() < deadline)
        rota__os_wait(&word, 0, deadline);
}

TEST(a_wait_ends_for_no_reason)
{
    rota__os_word word = 0;

    rota__fault_arm(ROTA__FAULT_WAIT, 1, false);
    rota__os_wait(&word, 0, ROTA_FOREVER);
    assert_int_equal(rota__fault_count(ROTA__FAULT_WAIT), 1);
    rota__fault_arm(ROTA__FAULT_WAIT, 0, false);
}

static rota__os_word woken;

static void wait_for_wake(void *arg)
{
    while (atomic_load(&woken) == 0)
        rota__os_wait(&woken, 0, ROTA_FOREVER);
}

TEST(a_wake_comes_late_but_comes)
{
    test_thread *thread = test_thread_start(wait_for_wake, NULL);

    rota__fault_arm(ROTA__FAULT_WAKE, 1, false);
    atomic_store(&woken, 1);
    rota__os_wake(&woken);
    assert_int_equal(rota__fault_count(ROTA__FAULT_WAKE), 1);
    rota__fault_arm(ROTA__FAULT_WAKE, 0, false);
    test_thread_join(thread);
}

/* -- Several threads ---------------------------------------------------------------------- */

static atomic_uint refusals;

static void ask_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++) {
        if (rota__fault(ROTA__FAULT_EVENT))
            atomic_fetch_add(&refusals, 1);
    }
}

/* One request is refused also if several threads make them. */
TEST(one_is_refused_among_threads)
{
    test_thread *threads[4];

    rota__fault_arm(ROTA__FAULT_EVENT, 2000, false);
    for (int i = 0; i < 4; i++)
        threads[i] = test_thread_start(ask_often, NULL);
    for (int i = 0; i < 4; i++)
        test_thread_join(threads[i]);
    assert_int_equal(refusals, 1);
    assert_int_equal(rota__fault_count(ROTA__FAULT_EVENT), 4000);
}
