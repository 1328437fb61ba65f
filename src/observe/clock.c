/* SPDX-License-Identifier: MIT */
/*
 * clock.c - a clock that costs little: the processor's, where the system trusts it, else its own.
 *
 * How long one of its ticks is comes from comparing the two for a moment, when it is first needed.
 */
#include "observe/observe_internal.h"

#include "base/time.h"
#include "os/tick.h"

enum { SHIFT = 32 };

static rota__atomic(bool) is_fast; /* the rest was set before */
static uint64_t first_tick;
static rota_ns first_time;
static uint64_t scale; /* nanoseconds for 2^SHIFT ticks */

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 wide;

static rota_ns scaled(uint64_t ticks)
{
    return (rota_ns)((wide)ticks * scale >> SHIFT);
}
#else
static rota_ns scaled(uint64_t ticks)
{
    return (rota_ns)ticks; /* it is not fast there */
}
#endif

/* The two at one moment: the closest of some tries. */
static void look(uint64_t *tick, rota_ns *time)
{
    rota_ns closest = ROTA_FOREVER;

    for (int i = 0; i < 8; i++) {
        rota_ns before = rota__os_now();
        uint64_t seen = rota__os_tick();
        rota_ns after = rota__os_now();
        if (after - before < closest) {
            closest = after - before;
            *tick = seen;
            *time = before + (after - before) / 2;
        }
    }
}

static void calibrate(void)
{
    uint64_t last_tick = 0;
    rota_ns last_time = 0;

    look(&first_tick, &first_time);
    do
        look(&last_tick, &last_time);
    while (last_time - first_time < ROTA_MS(2));
    scale = (uint64_t)((double)(last_time - first_time) / (double)(last_tick - first_tick)
                       * (double)(UINT64_C(1) << SHIFT));
}

/* With the lock held: once is enough. */
void rota__ticks_prepare(void)
{
    if (rota__load_relaxed(&is_fast) || !rota__clock_is_system() || !rota__os_has_ticks())
        return;
    calibrate();
    rota__store_release(&is_fast, true); /* pairs with rota__ticks */
}

rota_ns rota__ticks(void)
{
    if (ROTA__UNLIKELY(!rota__load_acquire(&is_fast) || !rota__clock_is_system()))
        return rota__now(); /* pairs with rota__ticks_prepare */
    return first_time + scaled(rota__os_tick() - first_tick);
}
