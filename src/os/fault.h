/* SPDX-License-Identifier: MIT */
/*
 * fault.h - refusals of the system that tests inject.
 *
 * Where the system may refuse something, the code asks rota__fault() first. A test arms a kind of
 * fault, so that its n-th request, or all from the n-th on, are refused. Refused memory is not here:
 * tests use rota_set_allocator. In the library that users link, these calls are constants.
 *
 * The library does not look at the result of a wait. So one kind of fault stands for a wake-up for no
 * reason, EINTR, EAGAIN and an early time-out. A wake-up cannot fail, but its thread can be delayed
 * just before it. The clock never goes back: it stands still, or jumps ahead by an hour, as after a
 * suspension.
 */
#ifndef ROTA_OS_FAULT_H
#define ROTA_OS_FAULT_H

#include <rota/base.h>

typedef enum rota__fault_kind {
    ROTA__FAULT_THREAD_START, /* as pthread_create with EAGAIN */
    ROTA__FAULT_THREAD_EXIT,  /* as pthread_setspecific with ENOMEM */
    ROTA__FAULT_EVENT,        /* as eventfd with EMFILE */
    ROTA__FAULT_WAIT,         /* ends at once */
    ROTA__FAULT_WAKE,         /* comes late */
    ROTA__FAULT_CLOCK_STOPS,  /* a reading gives what the one before it gave */
    ROTA__FAULT_CLOCK_JUMPS,  /* an hour has passed, and has for all readings after it */
    ROTA__FAULT_KINDS
} rota__fault_kind;

#ifdef ROTA_TESTING

bool rota__fault(rota__fault_kind kind);

rota_ns rota__fault_now(rota_ns now);        /* what the clock shows in place of this */
rota_ns rota__fault_until(rota_ns deadline); /* on the system's clock, by that one */
void rota__fault_wake(void);                 /* before a wake */

/* From now on the n-th request (from 1) is refused, and with `onwards` all after it; 0: none. */
void rota__fault_arm(rota__fault_kind kind, unsigned n, bool onwards);
void rota__fault_arm_range(rota__fault_kind kind, unsigned first, unsigned last);
void rota__fault_arm_also(rota__fault_kind kind,
                          unsigned n);             /* in addition to those that are armed */
unsigned rota__fault_count(rota__fault_kind kind); /* requests since then */

/* Only requests count for which counts() is true on the requesting thread. NULL: all count. */
void rota__fault_set_filter(bool (*counts)(void));

#else

static inline bool rota__fault(rota__fault_kind kind)
{
    (void)kind;
    return false;
}

static inline rota_ns rota__fault_now(rota_ns now)
{
    return now;
}

static inline rota_ns rota__fault_until(rota_ns deadline)
{
    return deadline;
}

static inline void rota__fault_wake(void)
{
}

#endif
#endif
