/* SPDX-License-Identifier: MIT */
/*
 * time.h - the one clock, and sums of times that never wrap.
 *
 * A timeout is relative and comes from a user; a deadline is absolute, and is
 * what everything inside passes on. ROTA_FOREVER is the latest deadline, and
 * the only one that never comes.
 */
#ifndef ROTA_BASE_TIME_H
#define ROTA_BASE_TIME_H

#include "os/os.h"

#include <rota/base.h>

/* Where time comes from, and how one waits for it: replaced in tests alone. */
typedef struct rota__clock {
    rota_ns (*now)(void);
    void (*wait)(rota__os_word *word, uint32_t expected, rota_ns deadline);
} rota__clock;

extern const rota__clock *rota__clock_used;
extern const rota__clock rota__system_clock;

#ifdef ROTA_TESTING
/* NULL: the system's. Only while no other thread uses the library. */
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

/* a + b, or the nearest there is. */
static inline rota_ns rota__time_add(rota_ns a, rota_ns b)
{
    rota_ns sum;

    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b < 0 ? INT64_MIN : INT64_MAX;
}

/* When `timeout` from now is over; no timeout at all is over at once. */
static inline rota_ns rota__deadline(rota_ns timeout)
{
    if (timeout == ROTA_FOREVER)
        return ROTA_FOREVER;
    return rota__time_add(rota__now(), timeout > 0 ? timeout : 0);
}

/* How long until then: a timeout, as calls take it. */
static inline rota_ns rota__until(rota_ns deadline)
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
