/* SPDX-License-Identifier: MIT */
/*
 * park.c - the permit of a thread, and sleeping.
 *
 *   EMPTY    -> PARKED    park, before it sleeps
 *   EMPTY    -> NOTIFIED  unpark: kept for the next park
 *   PARKED   -> NOTIFIED  unpark, which then wakes the thread
 *   NOTIFIED -> EMPTY     park, which then returns
 *   PARKED   -> EMPTY     park, when it returns without an unpark
 *
 * A word for each thread, not one that many share and count up: a counter can
 * come round to the value that a stopped thread has seen.
 */
#include "base/park.h"

#include "base/time.h"

enum { EMPTY, PARKED, NOTIFIED };

void rota__park(rota_thread *self, rota_ns deadline)
{
    uint32_t seen = EMPTY;

    if (rota__cas_acquire(&self->permit, &seen, PARKED)) {
        rota__clock_used->wait(&self->permit, PARKED, deadline);
    }
    rota__swap_acquire(&self->permit, EMPTY); /* K1; pairs with the swap in rota__unpark */
}

void rota__unpark(rota_thread *thread)
{
    if (rota__swap_release(&thread->permit, NOTIFIED) == PARKED) /* K1 */
        rota__os_wake(&thread->permit);
}

/* -- Waiters -------------------------------------------------------------- */

int rota__waiter_init(rota__waiter *waiter)
{
    rota_thread *self = rota__self();

    if (!self->watched)
        return ROTA_ENOMEM;
    waiter->thread = self;
    rota__store_relaxed(&waiter->woken, 0);
    rota__pin(self);
    return ROTA_OK;
}

static bool is_woken(rota__waiter *waiter)
{
    return rota__load_acquire(&waiter->woken) != 0; /* pairs with rota__waiter_wake */
}

int rota__waiter_wait(rota__waiter *waiter, rota_ns deadline)
{
    while (!is_woken(waiter)) {
        if (rota__is_interrupted(waiter->thread))
            return ROTA_EINTERRUPTED;
        if (rota__has_passed(deadline))
            return ROTA_ETIMEDOUT;
        rota__park(waiter->thread, deadline);
    }
    return ROTA_OK;
}

void rota__waiter_wait_only(rota__waiter *waiter)
{
    while (!is_woken(waiter))
        rota__park(waiter->thread, ROTA_FOREVER);
}

void rota__waiter_wake(rota__waiter *waiter)
{
    rota_thread *thread = waiter->thread;

    rota__store_release(&waiter->woken, 1); /* K3: last touch; pairs with is_woken */
    rota__unpark(thread);
    rota__unpin(thread);
}

void rota__waiter_withdraw(rota__waiter *waiter)
{
    rota__unpin(waiter->thread);
}

/* -- Sleeping ------------------------------------------------------------- */

int rota_sleep(rota_ns duration)
{
    rota_thread *self = rota__self();
    rota_ns deadline = rota__deadline(duration);

    for (;;) {
        if (rota__take_interrupt(self))
            return ROTA_EINTERRUPTED;
        if (rota__has_passed(deadline))
            return ROTA_OK;
        rota__park(self, deadline);
    }
}

#ifndef ROTA__BACKOFF_SPINS
#define ROTA__BACKOFF_SPINS 64
#endif

void rota__backoff(unsigned *turns)
{
    enum { YIELDS = 64 };
    rota__os_word never = 0;
    unsigned turn = ++*turns;

    if (turn <= ROTA__BACKOFF_SPINS)
        rota__cpu_relax();
    else if (turn <= ROTA__BACKOFF_SPINS + YIELDS)
        rota__os_yield();
    else
        rota__os_wait(&never, 0, rota__time_add(rota__os_now(), ROTA_US(50)));
}
