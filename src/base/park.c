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
#include "base/trace.h"

enum { EMPTY, PARKED, NOTIFIED };

void rota__park(rota_thread *self, rota_ns deadline)
{
    uint32_t seen = EMPTY;

    if (rota__cas_acquire(&self->permit, &seen, PARKED)) { /* park.K4 */
        rota__trace_parks();
        rota__clock_used->wait(&self->permit, PARKED, deadline);
        rota__trace_goes_on();
    }
    rota__swap_acquire(&self->permit, EMPTY); /* park.K1; pairs with the swap in rota__unpark */
}

void rota__unpark(rota_thread *thread)
{
    if (rota__swap_release(&thread->permit, NOTIFIED) == PARKED) /* park.K1 */
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
    rota__thread_hold(self);
    return ROTA_OK;
}

static bool is_woken(rota__waiter *waiter)
{
    return rota__load_acquire(&waiter->woken) != 0; /* pairs with rota__waiter_wake */
}

/* A worker whose task waits may have another stand in. */
static const rota__helper *begin_wait(const rota_thread *self)
{
    const rota__helper *helper = self->helper;

    if (helper == NULL || helper->wait_begins == NULL)
        return NULL;
    helper->wait_begins(helper);
    return helper;
}

static void end_wait(const rota__helper *helper)
{
    if (helper != NULL)
        helper->wait_ends(helper);
}

static int sleep_until_woken(rota__waiter *waiter, rota_ns deadline)
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

int rota__waiter_wait(rota__waiter *waiter, rota_ns deadline)
{
    const rota__helper *helper = begin_wait(waiter->thread);
    int status = sleep_until_woken(waiter, deadline);

    end_wait(helper);
    return status;
}

#ifdef ROTA_EXPLORE
#define LONGEST ROTA_US(0)
#else
#define LONGEST ROTA_US(50)
#endif
#define SHORTEST ROTA_US(1)
#define INITIAL  ROTA_US(10)

rota_ns rota__spin_budget_get(const rota__spin_budget *budget)
{
    enum { MOST_MISSES = 32 };

    if (LONGEST == 0 || !rota__spinning_pays())
        return 0;
    if (budget->time == 0)
        return INITIAL;
    return budget->misses % MOST_MISSES == MOST_MISSES - 1 ? LONGEST : budget->time;
}

/* mutants: only how long it spins the next time */
void rota__spin_budget_update(rota__spin_budget *budget, rota_ns spun, bool paid)
{
    rota_ns time = paid ? spun + spun / 4 : spun / 2;

    if (!paid && budget->time != 0 && spun > budget->time) /* it was tried at its longest */
        time = budget->time;
    budget->misses = paid ? 0 : budget->misses + 1;
    budget->time = time < SHORTEST ? SHORTEST : time > LONGEST ? LONGEST : time;
}

bool rota__waiter_spin(rota__waiter *waiter, rota_ns duration)
{
    enum { LOOKS = 16 }; /* for one at the clock */
    rota_ns end = rota__time_add(rota__os_now(), duration);

    do {
        for (int look = 0; look < LOOKS; look++) { /* mutants: only how long it spins */
            if (is_woken(waiter))
                return true;
            rota__cpu_relax();
        }
    } while (!rota__is_interrupted(waiter->thread) && rota__os_now() < end);
    return is_woken(waiter);
}

bool rota__spinning_pays(void)
{
    static rota__atomic(unsigned) cpus; /* 0: not asked yet; to ask means to read files */
    unsigned known = rota__load_relaxed(&cpus);

    if (known == 0) {
        known = rota__os_cpu_count();
        rota__store_relaxed(&cpus, known); /* who else asks gets the same answer */
    }
    return known > 1;
}

void rota__waiter_wait_only(rota__waiter *waiter)
{
    while (!is_woken(waiter))
        rota__park(waiter->thread, ROTA_FOREVER);
}

void rota__waiter_wake(rota__waiter *waiter)
{
    rota_thread *thread = waiter->thread;

    rota__store_release(&waiter->woken, 1); /* park.K3a: last touch; pairs with is_woken */
    rota__unpark(thread);                   /* park.K3b */
    rota__thread_release(thread);
}

void rota__waiter_withdraw(rota__waiter *waiter)
{
    rota__thread_release(waiter->thread);
}

/* -- Sleeping ------------------------------------------------------------- */

static int sleep_until(rota_thread *self, rota_ns deadline)
{
    for (;;) {
        if (rota__take_interrupt(self))
            return ROTA_EINTERRUPTED;
        if (rota__has_passed(deadline))
            return ROTA_OK;
        rota__park(self, deadline);
    }
}

int rota_sleep(rota_ns duration)
{
    rota_thread *self = rota__self();
    const rota__helper *helper = begin_wait(self);
    int status = sleep_until(self, rota__deadline(duration));

    end_wait(helper);
    return status;
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
