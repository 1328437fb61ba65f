/* SPDX-License-Identifier: MIT */
/*
 * Sums of times, deadlines and the machine's own clock and CPUs.
 */
#define _GNU_SOURCE
#include "rota_test_internal.h"

#include "base/time.h"

#include <errno.h>
#include <sched.h>

/* GEN-04, GEN-07, FAULT-06: a sum that does not fit is the nearest there is. */
TEST(sums_saturate)
{
    static const struct {
        rota_ns a, b, sum;
    } sums[] = {
        {0, 0, 0},
        {2, 3, 5},
        {2, -3, -1},
        {INT64_MAX, 0, INT64_MAX},
        {INT64_MAX, 1, INT64_MAX},
        {INT64_MAX, INT64_MAX, INT64_MAX},
        {INT64_MAX - 1, 1, INT64_MAX},
        {INT64_MAX - 1, 2, INT64_MAX},
        {INT64_MAX, INT64_MIN, -1},
        {INT64_MIN, 0, INT64_MIN},
        {INT64_MIN, -1, INT64_MIN},
        {INT64_MIN, INT64_MIN, INT64_MIN},
        {INT64_MIN + 1, -1, INT64_MIN},
        {INT64_MIN + 1, -2, INT64_MIN},
        {-1, INT64_MIN, INT64_MIN},
    };

    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        assert_true(rota__time_add(sums[i].a, sums[i].b) == sums[i].sum);
        assert_true(rota__time_add(sums[i].b, sums[i].a) == sums[i].sum);
    }
}

/* GEN-04: what is 0 or less is over now; what does not fit is never over. */
TEST(a_deadline_is_a_timeout_from_now)
{
    test_clock_install();
    rota_ns now = rota_now();

    assert_true(rota__deadline(INT64_MIN) == now);
    assert_true(rota__deadline(-1) == now);
    assert_true(rota__deadline(0) == now);
    assert_true(rota__deadline(1) == now + 1);
    assert_true(rota__deadline(ROTA_SEC(5)) == now + ROTA_SEC(5));
    assert_true(rota__deadline(INT64_MAX - now - 1) == INT64_MAX - 1);
    assert_true(rota__deadline(INT64_MAX - 1) == ROTA_FOREVER);
    assert_true(rota__deadline(INT64_MAX) == ROTA_FOREVER);
    test_clock_remove();
}

/* GEN-06: a deadline has passed from its own moment on, not before. */
TEST(a_deadline_passes_at_its_moment)
{
    test_clock_install();
    rota_ns now = rota_now();

    assert_true(rota__has_passed(INT64_MIN));
    assert_true(rota__has_passed(0));
    assert_true(rota__has_passed(now - 1));
    assert_true(rota__has_passed(now));
    assert_false(rota__has_passed(now + 1));
    assert_false(rota__has_passed(INT64_MAX - 1));
    assert_false(rota__has_passed(ROTA_FOREVER));
    test_clock_remove();
}

/* What is left of a deadline is a timeout again: never below 0, and for ever only if it was. */
TEST(what_is_left_of_a_deadline_is_a_timeout)
{
    test_clock_install();
    rota_ns now = rota_now();

    assert_true(rota__time_left(now + 5) == 5);
    assert_true(rota__time_left(now) == 0);
    assert_true(rota__time_left(now - 1) == 0);
    assert_true(rota__time_left(INT64_MIN) == 0);
    assert_true(rota__time_left(INT64_MAX - 1) == INT64_MAX - 1 - now);
    assert_true(rota__time_left(ROTA_FOREVER) == ROTA_FOREVER);
    test_clock_advance(-now - 100); /* a clock may begin anywhere */
    assert_true(rota__time_left(INT64_MAX - 1) == ROTA_FOREVER - 1);
    assert_true(rota__time_left(INT64_MIN) == 0);
    test_clock_remove();
}

/* ROTA_FOREVER never comes, even at the end of time. */
TEST(for_ever_does_not_pass)
{
    test_clock_install();
    test_clock_advance(INT64_MAX);
    assert_true(rota_now() == INT64_MAX);
    assert_true(rota__has_passed(INT64_MAX - 1));
    assert_false(rota__has_passed(ROTA_FOREVER));
    assert_true(rota__deadline(1) == ROTA_FOREVER);
    test_clock_remove();
}

/* The units are what their names say, also with fractions and below zero. */
TEST(units_are_nanoseconds)
{
    assert_true(ROTA_US(3) == 3000);
    assert_true(ROTA_MS(3) == 3000000);
    assert_true(ROTA_SEC(3) == INT64_C(3000000000));
    assert_true(ROTA_MINUTES(2) == ROTA_SEC(120));
    assert_true(ROTA_HOURS(2) == ROTA_MINUTES(120));
    assert_true(ROTA_MS(0.5) == ROTA_US(500));
    assert_true(ROTA_SEC(-1) == -ROTA_MS(1000));
    assert_true(ROTA_HOURS(24 * 365) > ROTA_HOURS(24 * 364)); /* an int times int64 */
}

/* GEN-05: one clock, which does not go back. */
TEST(now_is_the_systems_monotonic_clock)
{
    for (int i = 0; i < 1000; i++) {
        rota_ns before = rota__os_now();
        rota_ns now = rota_now();
        assert_true(before <= now && now <= rota__os_now());
    }
}

/* At least one CPU, on Linux no more than the process may be put on; errno is left alone. */
TEST(the_machine_has_cpus)
{
    cpu_set_t saved, one;

    assert_int_equal(sched_getaffinity(0, sizeof saved, &saved), 0);
    errno = EDOM;
    assert_true(rota_cpu_count() >= 1);
    assert_int_equal(errno, EDOM);
    if (!test_is_linux())
        return;
    assert_true(rota_cpu_count() <= (unsigned)CPU_COUNT(&saved));

    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    unsigned cpus = rota_cpu_count();
    assert_int_equal(sched_setaffinity(0, sizeof saved, &saved), 0);
    assert_int_equal(cpus, 1);
}

static void *count_with_cancel_pending(void *arg)
{
    unsigned *cpus = arg;

    pthread_cancel(pthread_self());
    *cpus = rota_cpu_count();
    pthread_testcancel();
    return NULL;
}

/* GEN-14: it reads files, but is no cancellation point. */
TEST(counting_cpus_is_no_cancellation_point)
{
    pthread_t thread;
    unsigned cpus = 0;

    assert_int_equal(pthread_create(&thread, NULL, count_with_cancel_pending, &cpus), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(cpus >= 1);
}
