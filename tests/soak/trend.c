/* SPDX-License-Identifier: MIT */
/*
 * trend.c - does memory grow? A straight line through all samples after the first minute, by least
 * squares, and the standard error of its slope.
 */
#include "soak.h"

#include <math.h>
#include <stdio.h>

#define WARM_UP     ROTA_MINUTES(1)
#define MOST_GROWTH (64 * 1024.0) /* bytes an hour */

enum { ENOUGH = 300 };

static double n, sum_x, sum_y, sum_xx, sum_xy, sum_yy; /* hours and bytes */

void trend_add(rota_ns at, size_t bytes)
{
    static double first;
    double x = (double)at / (double)ROTA_HOURS(1);

    if (at < WARM_UP)
        return;
    if (n == 0)
        first = (double)bytes; /* so that differences are summed up, which are small */
    double y = (double)bytes - first;
    n++;
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_xy += x * y;
    sum_yy += y * y;
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
