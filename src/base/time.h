/* SPDX-License-Identifier: MIT */
/*
 * time.h - the one clock, and sums of times that never wrap.
 *
 * A timeout is relative and comes from the user. A deadline is absolute; the library computes it
 * once and passes it on. ROTA_FOREVER is the deadline that never comes.
 */
#ifndef ROTA_BASE_TIME_H
#define ROTA_BASE_TIME_H

#include "os/os.h"

#include <rota/base.h>

/* The source of time, and a wait that ends at a given time. Only tests replace it. */
typedef struct rota__clock {
    rota_ns (*now)(void);
    void (*wait)(rota__os_word *word, uint32_t expected, rota_ns deadline);
} rota__clock;

extern const rota__clock *rota__clock_used;
extern const rota__clock rota__system_clock;

#ifdef ROTA_TESTING
/* Replaces the clock; NULL stands for the system's. No other thread may use the library then. */
void rota__clock_replace(const rota__clock *clock);
#endif

static inline bool rota__clock_is_system(void)
{
#ifdef ROTA_TESTING
    return rota__clock_used == &rota__system_clock;
#else
    return true;
#endif
}

static inline rota_ns rota__now(void)
{
    return rota__clock_used->now();
}

/* Returns a + b, or the nearest value that can be represented. */
static inline rota_ns rota__time_add(rota_ns a, rota_ns b)
{
    rota_ns sum;

    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b < 0 ? INT64_MIN : INT64_MAX;
}

/* Returns the deadline for a timeout that starts now. A negative timeout counts as 0. */
static inline rota_ns rota__deadline(rota_ns timeout)
{
    if (timeout == ROTA_FOREVER)
        return ROTA_FOREVER;
    return rota__time_add(rota__now(), timeout > 0 ? timeout : 0);
}

/* Returns the timeout that is left until a deadline. */
static inline rota_ns rota__time_left(rota_ns deadline)
{
    rota_ns left;

    if (deadline == ROTA_FOREVER)
        return ROTA_FOREVER;
    if (__builtin_sub_overflow(deadline, rota__now(), &left))
        return deadline < 0 ? 0 : ROTA_FOREVER - 1;
    return left > 0 ? left : 0;
}

static inline bool rota__has_passed(rota_ns deadline)
{
    return deadline != ROTA_FOREVER && rota__now() >= deadline;
}

#endif
