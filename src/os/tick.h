/* SPDX-License-Identifier: MIT */
/*
 * tick.h - the processor's time counter. Reading it costs a fraction of reading the clock.
 */
/* layers: open, src/observe alone reads the counter */
#ifndef ROTA_OS_TICK_H
#define ROTA_OS_TICK_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if the counter runs evenly and is the same on all processors. If not, do not use
   it. */
bool rota__os_has_ticks(void);

static inline uint64_t rota__os_tick(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t tick;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(tick));
    return tick;
#else
    return 0;
#endif
}

#endif
