/* SPDX-License-Identifier: MIT */
/*
 * fault.h - refusals of the system that tests inject.
 *
 * Where the system may refuse something, the code asks rota__fault() first. A test arms a kind of
 * fault, so that its n-th request, or all from the n-th on, are refused. Refused memory is not here:
 * tests use rota_set_allocator. In the library that users link, these calls are constants.
 *
 * The library ignores the result of a wait. So one kind of fault stands for a wake-up for no
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
    ROTA__FAULT_WAIT,         /* a wait ends at once */
    ROTA__FAULT_WAKE,         /* a wake-up comes late */
    ROTA__FAULT_CLOCK_STOPS,  /* a reading repeats the previous one */
    ROTA__FAULT_CLOCK_JUMPS,  /* this reading and all later ones are an hour ahead */
    ROTA__FAULT_KINDS
} rota__fault_kind;

#ifdef ROTA_TESTING

bool rota__fault(rota__fault_kind kind);

rota_ns rota__fault_now(rota_ns now);        /* returns what the clock shows instead of `now` */
rota_ns rota__fault_until(rota_ns deadline); /* converts it to the system's clock */
void rota__fault_wake(void);                 /* called before each wake; may delay the caller */

/* Refuses the n-th request from now on, where 1 is the next one, and with `onwards` all later ones.
   With n = 0 no request is refused. */
void rota__fault_arm(rota__fault_kind kind, unsigned n, bool onwards);
void rota__fault_arm_range(rota__fault_kind kind, unsigned first, unsigned last);
void rota__fault_arm_also(rota__fault_kind kind,
                          unsigned n);             /* in addition to the armed requests */
unsigned rota__fault_count(rota__fault_kind kind); /* requests since the kind was armed */

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
