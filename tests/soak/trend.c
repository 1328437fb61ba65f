/* SPDX-License-Identifier: MIT */
/*
 * trend.c - does memory grow? A straight line through the samples after the first minute, by least
 * squares, and the standard error of its slope. Samples that follow one another are alike, and say
 * less than as many that do not: so what counts is their mean over ten seconds.
 */
#include "soak.h"

#include <math.h>
#include <stdio.h>

#define WARM_UP     ROTA_MINUTES(1)
#define BATCH       ROTA_SEC(10)
#define MOST_GROWTH (64 * 1024.0) /* bytes an hour */

enum { ENOUGH = 30 };

static double n, sum_x, sum_y, sum_xx, sum_xy, sum_yy; /* hours and bytes */

static void add_mean(double x, double bytes)
{
    static double first;

    if (n == 0)
        first = bytes; /* so that differences are summed up, which are small */
    double y = bytes - first;
    n++;
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_xy += x * y;
    sum_yy += y * y;
}

void trend_add(rota_ns at, size_t bytes)
{
    static rota_ns begun;
    static double count, hours, sum;

    if (at < WARM_UP)
        return;
    if (count == 0)
        begun = at;
    count++;
    hours += (double)at / (double)ROTA_HOURS(1);
    sum += (double)bytes;
    if (at - begun < BATCH)
        return;
    add_mean(hours / count, sum / count);
    count = hours = sum = 0;
}

bool trend_is_known(void)
{
    return n >= ENOUGH;
}

double trend_slope(double *error)
{
    double xx = sum_xx - sum_x * sum_x / n;
    double xy = sum_xy - sum_x * sum_y / n;
    double yy = sum_yy - sum_y * sum_y / n;
    double left = yy - xy * xy / xx; /* that the line does not explain */

    *error = sqrt((left > 0 ? left : 0) / (n - 2) / xx);
    return xy / xx;
}

/* Sanitizers keep what was freed. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { MEMORY_IS_FREED = false };
#else
enum { MEMORY_IS_FREED = true };
#endif

void trend_check(void)
{
    double error;

    if (!trend_is_known() || !MEMORY_IS_FREED)
        return;
    double slope = trend_slope(&error);
    if (slope - 5 * error < MOST_GROWTH)
        return;
    fprintf(stderr, "memory grows by %.0f kB an hour, +- %.0f\n", slope / 1024, error / 1024);
    test_die(__FILE__, __LINE__, "memory grows");
}
