/* SPDX-License-Identifier: MIT */
/*
 * Histograms: how far off they may be, at every magnitude; quantiles; several made one. The same of a
 * thread's own, which others read.
 */
#include "observe/observe_internal.h"
#include "rota_test.h"

#include <math.h>
#include <string.h>

#define LONGEST (ROTA_HOURS(24) * 2)

static const rota_histogram empty;

/* -- How far off ----------------------------------------------------------------------------- */

static bool is_near(rota_ns found, rota_ns time)
{
    rota_ns off = found > time ? found - time : time - found;

    return off <= time / 16;
}

/* With one that is much longer, so that the answer is not simply the maximum. */
static rota_ns median_of_one(rota_ns time)
{
    rota_histogram histogram = empty;

    rota_histogram_add(&histogram, time);
    rota_histogram_add(&histogram, INT64_MAX);
    return rota_histogram_quantile(&histogram, 0.5);
}

static void expect_near(rota_ns time)
{
    rota_ns found = median_of_one(time);

    if (!is_near(found, time))
        fail_msg("%lld is taken for %lld", (long long)time, (long long)found);
}

/* A quantile is at most 1/16 off: around every power of two, and between them. */
TEST(every_time_is_known_within_a_sixteenth)
{
    test_random random;

    test_random_init(&random);
    for (rota_ns power = 1; power < LONGEST; power *= 2) {
        for (rota_ns off = -2; off <= 2; off++) {
            if (power + off >= 0)
                expect_near(power + off);
        }
        size_t parts = power < 65536 ? (size_t)power : 65536;
        for (unsigned i = 0; i < 200; i++)
            expect_near(power
                        + power / (rota_ns)parts * (rota_ns)test_random_below(&random, parts));
    }
}

TEST(short_times_are_exact)
{
    for (rota_ns time = 0; time < 16; time++)
        assert_int_equal(median_of_one(time), time);
}

TEST(what_is_longer_than_all_buckets_is_counted_in_the_last)
{
    rota_histogram histogram = empty;

    rota_histogram_add(&histogram, INT64_MAX);
    rota_histogram_add(&histogram, INT64_MAX - 1);
    assert_int_equal(histogram.bucket[ROTA_HISTOGRAM_BUCKETS - 1], 2);
    assert_int_equal(histogram.max, INT64_MAX);
    assert_int_equal(rota_histogram_up_to(&histogram, INT64_MAX), 2);
    assert_int_equal(rota_histogram_up_to(&histogram, LONGEST), 0);
}

/* Plain memory may say anything. */
TEST(one_that_counts_more_than_it_has_tells_the_longest)
{
    rota_histogram histogram = empty;

    histogram.count = 5;
    histogram.max = 7;
    assert_int_equal(rota_histogram_quantile(&histogram, 0.5), 7);
}

TEST(a_time_below_0_is_0)
{
    rota_histogram histogram = empty;

    rota_histogram_add(&histogram, -1);
    rota_histogram_add(&histogram, INT64_MIN);
    assert_int_equal(histogram.count, 2);
    assert_int_equal(histogram.sum, 0);
    assert_int_equal(histogram.max, 0);
    assert_int_equal(histogram.bucket[0], 2);
}

/* -- Quantiles ------------------------------------------------------------------------------- */

static rota_histogram of_one_to(rota_ns last)
{
    rota_histogram histogram = empty;

    for (rota_ns time = 1; time <= last; time++)
        rota_histogram_add(&histogram, time);
    return histogram;
}

TEST(a_quantile_is_the_time_of_its_rank)
{
    rota_histogram histogram = of_one_to(1000);

    for (unsigned i = 1; i < 1000; i++)
        assert_true(is_near(rota_histogram_quantile(&histogram, i / 1000.0), i)
                    || is_near(rota_histogram_quantile(&histogram, i / 1000.0), i + 1));
    assert_int_equal(rota_histogram_quantile(&histogram, 0), 1);
    assert_int_equal(rota_histogram_quantile(&histogram, 1), 1000);
}

/* The median of an odd number is the one in the middle, of an even one the lower of two. */
TEST(the_median_is_in_the_middle)
{
    rota_histogram odd = of_one_to(3), even = of_one_to(4);

    assert_int_equal(rota_histogram_quantile(&odd, 0.5), 2);
    assert_int_equal(rota_histogram_quantile(&even, 0.5), 2);
}

TEST(parts_beyond_all_are_the_first_and_the_last)
{
    rota_histogram histogram = of_one_to(10);

    assert_int_equal(rota_histogram_quantile(&histogram, -1), 1);
    assert_int_equal(rota_histogram_quantile(&histogram, -INFINITY), 1);
    assert_int_equal(rota_histogram_quantile(&histogram, (double)NAN), 1);
    assert_int_equal(rota_histogram_quantile(&histogram, 1.5), 10);
    assert_int_equal(rota_histogram_quantile(&histogram, INFINITY), 10);
}

TEST(quantiles_rise_and_none_is_above_the_maximum)
{
    rota_histogram histogram = empty;
    test_random random;
    rota_ns before = 0;

    test_random_init(&random);
    for (unsigned i = 0; i < 10000; i++)
        rota_histogram_add(&histogram, (rota_ns)(test_random_next(&random) >> (20 + i % 40)));
    for (unsigned i = 0; i <= 500; i++) {
        rota_ns found = rota_histogram_quantile(&histogram, i / 500.0);
        assert_true(found >= before);
        assert_true(found <= histogram.max);
        before = found;
    }
}

TEST(an_empty_one_knows_no_times)
{
    assert_int_equal(rota_histogram_quantile(&empty, 0.5), 0);
    assert_int_equal(rota_histogram_quantile(&empty, 1), 0);
    assert_int_equal(rota_histogram_up_to(&empty, INT64_MAX), 0);
}

TEST(without_a_histogram_nothing_happens)
{
    rota_histogram histogram = of_one_to(2);

    rota_histogram_add(NULL, 1);
    rota_histogram_merge(NULL, &histogram);
    rota_histogram_merge(&histogram, NULL);
    assert_int_equal(histogram.count, 2);
    assert_int_equal(rota_histogram_quantile(NULL, 0.5), 0);
    assert_int_equal(rota_histogram_up_to(NULL, 1), 0);
}

/* -- Counting -------------------------------------------------------------------------------- */

/* Those that are not longer are in it, those that are longer by an eighth are not. */
TEST(up_to_is_right_but_for_one_bucket)
{
    for (rota_ns time = 1; time < LONGEST; time = time * 3 + 1) {
        rota_histogram histogram = empty;
        rota_histogram_add(&histogram, 0);
        rota_histogram_add(&histogram, time);
        rota_histogram_add(&histogram, time + time / 8 + 1);
        assert_int_equal(rota_histogram_up_to(&histogram, time), 2);
        assert_int_equal(rota_histogram_up_to(&histogram, INT64_MAX), 3);
    }
}

TEST(none_is_shorter_than_nothing)
{
    rota_histogram histogram = of_one_to(10);

    assert_int_equal(rota_histogram_up_to(&histogram, -1), 0);
    assert_int_equal(rota_histogram_up_to(&histogram, 0), 0);
    assert_int_equal(rota_histogram_up_to(&histogram, 1), 1);
}

TEST(what_is_merged_is_as_if_added_to_one)
{
    rota_histogram parts[2] = {empty, empty}, all = empty;
    test_random random;

    test_random_init(&random);
    for (unsigned i = 0; i < 5000; i++) {
        rota_ns time = (rota_ns)(test_random_next(&random) >> (20 + i % 40));
        rota_histogram_add(&parts[i % 2], time);
        rota_histogram_add(&all, time);
    }
    rota_histogram_merge(&parts[0], &parts[1]);
    assert_memory_equal(&parts[0], &all, sizeof all);
}

TEST(a_sum_is_exact)
{
    rota_histogram histogram = of_one_to(1000);

    assert_int_equal(histogram.count, 1000);
    assert_int_equal(histogram.sum, 500500);
    assert_int_equal(histogram.max, 1000);
}

/* -- Of a thread ----------------------------------------------------------------------------- */

TEST(a_tally_becomes_the_same_histogram)
{
    static rota__tally tally;
    rota_histogram expected = empty, found = empty;
    test_random random;

    test_random_init(&random);
    rota__tally_clear(&tally);
    for (unsigned i = 0; i < 5000; i++) {
        rota_ns time = (rota_ns)(test_random_next(&random) >> (20 + i % 40)) - 5;
        rota__tally_add(&tally, time);
        rota_histogram_add(&expected, time);
    }
    rota__tally_merge(&found, &tally);
    assert_memory_equal(&found, &expected, sizeof expected);

    rota__tally_clear(&tally);
    found = empty;
    rota__tally_merge(&found, &tally);
    assert_memory_equal(&found, &empty, sizeof empty);
}
