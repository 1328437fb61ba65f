/* SPDX-License-Identifier: MIT */
/*
 * fault.c - all accesses are relaxed, and none writes before a kind is first
 * armed, so that the hooks hide no missing order from those who look for it.
 */
#define _GNU_SOURCE
#include "os/fault.h"

#ifdef ROTA_TESTING

#include "os/os.h"

#include <limits.h>
#include <stdatomic.h>
#include <time.h>

#define LOAD(object)         atomic_load_explicit(object, memory_order_relaxed)
#define STORE(object, value) atomic_store_explicit(object, value, memory_order_relaxed)
#define ADD(object, value)   atomic_fetch_add_explicit(object, value, memory_order_relaxed)

static struct {
    atomic_bool is_counted; /* it was armed once */
    atomic_uint asked;
    atomic_uint first, last; /* of the refused; 0: none is */
    atomic_uint too;         /* one more; 0: none */
} faults[ROTA__FAULT_KINDS];

static _Atomic(bool (*)(void)) only;

bool rota__fault(rota__fault_kind kind)
{
    bool (*counts)(void) = LOAD(&only);

    if (!LOAD(&faults[kind].is_counted) || (counts != NULL && !counts()))
        return false;
    unsigned n = ADD(&faults[kind].asked, 1) + 1;
    unsigned first = LOAD(&faults[kind].first);
    return (first != 0 && n >= first && n <= LOAD(&faults[kind].last))
           || n == LOAD(&faults[kind].too);
}

void rota__fault_set_filter(bool (*counts)(void))
{
    STORE(&only, counts);
}

unsigned rota__fault_count(rota__fault_kind kind)
{
    return LOAD(&faults[kind].asked);
}

/* -- The clock ------------------------------------------------------------ */

static _Atomic(rota_ns) ahead;   /* of the system's clock, by all jumps */
static _Atomic(rota_ns) reading; /* the last, while the clock may stop */

static void note_reading(rota_ns now)
{
    rota_ns seen = LOAD(&reading);

    while (seen < now
           && !atomic_compare_exchange_weak_explicit(&reading, &seen, now, memory_order_relaxed,
                                                     memory_order_relaxed))
        continue; /* GCOVR_EXCL_LINE: another thread noted its reading just now */
}

rota_ns rota__fault_now(rota_ns now)
{
    if (rota__fault(ROTA__FAULT_CLOCK_STOPS))
        return LOAD(&reading);
    if (rota__fault(ROTA__FAULT_CLOCK_JUMPS))
        ADD(&ahead, ROTA_HOURS(1));
    now += LOAD(&ahead);
    if (LOAD(&faults[ROTA__FAULT_CLOCK_STOPS].first) != 0)
        note_reading(now);
    return now;
}

rota_ns rota__fault_until(rota_ns deadline)
{
    rota_ns jumps = LOAD(&ahead);

    if (deadline == ROTA_FOREVER)
        return ROTA_FOREVER;
    return deadline > jumps ? deadline - jumps : 0;
}

/* -- Wakes ---------------------------------------------------------------- */

void rota__fault_wake(void)
{
    const struct timespec while_stopped = {.tv_nsec = ROTA_US(100)};

    if (rota__fault(ROTA__FAULT_WAKE))
        nanosleep(&while_stopped, NULL);
}

/* -- Arming --------------------------------------------------------------- */

void rota__fault_arm_range(rota__fault_kind kind, unsigned first, unsigned last)
{
    STORE(&faults[kind].first, 0);
    if (kind == ROTA__FAULT_CLOCK_STOPS && first != 0)
        note_reading(rota__os_now());
    STORE(&faults[kind].last, last);
    STORE(&faults[kind].too, 0);
    STORE(&faults[kind].asked, 0);
    STORE(&faults[kind].first, first);
    STORE(&faults[kind].is_counted, true);
}

void rota__fault_arm(rota__fault_kind kind, unsigned n, bool onwards)
{
    rota__fault_arm_range(kind, n, onwards ? UINT_MAX : n);
}

void rota__fault_arm_also(rota__fault_kind kind, unsigned n)
{
    STORE(&faults[kind].too, n);
}

#else

/* ISO C wants a file to declare something. */
typedef int rota__no_faults;

#endif
