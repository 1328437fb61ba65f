/* SPDX-License-Identifier: MIT */
/*
 * wait.c - the permit of a thread, waiters and latches.
 *
 *   EMPTY    -> PARKED    park, before it sleeps
 *   EMPTY    -> NOTIFIED  unpark: remembered for the next park
 *   PARKED   -> NOTIFIED  unpark, which then wakes the thread
 *   NOTIFIED -> EMPTY     park, which then returns
 *   PARKED   -> EMPTY     park, when it returns without an unpark
 *
 * Each thread has a word of its own. A counter that all threads share could return to the value that
 * a preempted thread has seen.
 */
#include "base/wait.h"

#include "base/time.h"
#include "base/trace.h"

/* -- Parking -------------------------------------------------------------- */

enum { EMPTY, PARKED, NOTIFIED };

void rota__park(rota_thread *self, rota_ns deadline)
{
    uint32_t seen = EMPTY;

    if (rota__cas_acquire(&self->permit, &seen, PARKED)) { /* wait.K4 */
        rota__trace_parks();
        rota__clock_used->wait(&self->permit, PARKED, deadline);
        rota__trace_goes_on();
    }
    rota__swap_acquire(&self->permit, EMPTY); /* wait.K1; pairs with the swap in rota__unpark */
}

void rota__unpark(rota_thread *thread)
{
    if (rota__swap_release(&thread->permit, NOTIFIED) == PARKED) /* wait.K1 */
        rota__os_wake(&thread->permit);
}

int rota__park_until(rota_thread *self, bool (*ready)(void *arg), void *arg, rota_ns deadline)
{
    while (!ready(arg)) {
        if (rota__is_interrupted(self))
            return ROTA_EINTERRUPTED;
        if (rota__has_passed(deadline))
            return ROTA_ETIMEDOUT;
        rota__park(self, deadline);
    }
    return ROTA_OK;
}

/* -- Waiters -------------------------------------------------------------- */

/* Tells the worker's pool that the thread is about to wait, so that another worker may stand in. */
static const rota__helper *call_on_block(const rota_thread *self)
{
    const rota__helper *helper = self->helper;

    if (helper == NULL || helper->wait_begins == NULL)
        return NULL;
    helper->wait_begins(helper);
    return helper;
}

static void call_on_unblock(const rota__helper *helper)
{
    if (helper != NULL)
        helper->wait_ends(helper);
}

int rota__waiter_begin_uninterruptible(rota__waiter *waiter)
{
    rota_thread *self = rota__self();

    if (!self->watched)
        return ROTA_ENOMEM;
    waiter->thread = self;
    rota__store_relaxed(&waiter->woken, 0);
    waiter->poked = NULL;
    rota__thread_hold(self);
    return ROTA_OK;
}

int rota__waiter_begin(rota__waiter *waiter, rota_ns deadline)
{
    if (rota__take_interrupt(rota__self()))
        return ROTA_EINTERRUPTED;
    if (rota__has_passed(deadline))
        return ROTA_ETIMEDOUT;
    return rota__waiter_begin_uninterruptible(waiter);
}

void rota__waiter_cancel(rota__waiter *waiter)
{
    rota__thread_release(waiter->thread);
}

/* Pairs with rota__waiter_wake. */
static bool is_woken(void *waiter)
{
    return rota__load_acquire(&((rota__waiter *)waiter)->woken) != 0;
}

static bool is_poked(const rota__waiter *waiter)
{
    return waiter->poked != NULL
           && rota__load_acquire(waiter->poked) != 0; /* pairs with rota__future_moved */
}

static bool is_woken_or_poked(void *waiter)
{
    return is_woken(waiter) || is_poked(waiter);
}

int rota__waiter_wait_idle(rota__waiter *waiter, rota_ns deadline)
{
    return rota__park_until(waiter->thread, is_woken, waiter, deadline);
}

void rota__waiter_wait_uninterruptible(rota__waiter *waiter)
{
    while (!is_woken(waiter))
        rota__park(waiter->thread, ROTA_FOREVER);
}

int rota__waiter_wait(rota__waiter *waiter, rota_ns deadline, rota__withdraw *withdraw)
{
    rota_thread *self = waiter->thread;

    if (is_woken(waiter))
        return ROTA_OK;
    const rota__helper *helper = call_on_block(self);
    int status = rota__park_until(self, is_woken_or_poked, waiter, deadline);
    call_on_unblock(helper);
    if (status == ROTA_OK && is_woken(waiter))
        return ROTA_OK;
    if (status == ROTA_OK)
        status = ROTA_EAGAIN;                      /* poked */
    if (!withdraw(waiter, status)) {               /* wait.K2a: a waker has the waiter */
        rota__waiter_wait_uninterruptible(waiter); /* wait.K2b: and will wake it */
        return ROTA_OK;
    }
    rota__waiter_cancel(waiter);
    if (status == ROTA_EINTERRUPTED)
        rota__take_interrupt(self); /* not before the waiter is withdrawn: INT-05 */
    return status;
}

bool rota__waiter_spin(rota__waiter *waiter, rota_ns duration)
{
    enum { CHECKS = 16 }; /* for each reading of the clock */
    rota_ns end = rota__time_add(rota__os_now(), duration);

    do {
        for (int check = 0; check < CHECKS; check++) { /* mutants: only how long it spins */
            if (is_woken(waiter))
                return true;
            rota__cpu_relax();
        }
    } while (!rota__is_interrupted(waiter->thread) && rota__os_now() < end);
    return is_woken(waiter);
}

void rota__waiter_wake(rota__waiter *waiter)
{
    rota_thread *thread = waiter->thread;

    rota__store_release(&waiter->woken, 1); /* wait.K3a: the last access; pairs with is_woken */
    rota__unpark(thread);                   /* wait.K3b */
    rota__thread_release(thread);
}

/* -- Latches -------------------------------------------------------------- */

typedef struct latch_waiter {
    rota__link link;
    rota__waiter waiter;
    rota__mutex *lock;
} latch_waiter;

static bool withdraw(rota__waiter *waiter, int why)
{
    latch_waiter *mine = ROTA__CONTAINER(waiter, latch_waiter, waiter);

    (void)why;
    rota__mutex_lock(mine->lock);
    bool is_listed = rota__link_is_in_list(&mine->link);
    if (is_listed)
        rota__list_remove(&mine->link);
    rota__mutex_unlock(mine->lock);
    return is_listed;
}

int rota__latch_wait(rota__latch *latch, rota__mutex *lock, rota_ns deadline)
{
    latch_waiter mine = {.lock = lock};
    int status = rota__waiter_begin(&mine.waiter, deadline);

    if (status == ROTA_OK) {
        rota__link_init(&mine.link);
        rota__list_append(&latch->waiters, &mine.link);
    }
    rota__mutex_unlock(lock);
    return status == ROTA_OK ? rota__waiter_wait(&mine.waiter, deadline, withdraw) : status;
}

void rota__latch_signal_all(rota__latch *latch)
{
    rota__link *link;

    while ((link = rota__list_take_first(&latch->waiters)) != NULL)
        rota__waiter_wake(&ROTA__CONTAINER(link, latch_waiter, link)->waiter);
}

/* -- Sleeping ------------------------------------------------------------- */

static bool is_never_ready(void *arg)
{
    (void)arg;
    return false;
}

int rota_sleep(rota_ns duration)
{
    rota_thread *self = rota__self();
    rota_ns deadline = rota__deadline(duration);
    const rota__helper *helper = call_on_block(self);
    int status = rota__park_until(self, is_never_ready, NULL, deadline);

    call_on_unblock(helper);
    if (status == ROTA_ETIMEDOUT)
        return ROTA_OK;
    rota__take_interrupt(self);
    return status;
}

/* -- Spinning and back-off ------------------------------------------------ */

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

bool rota__spinning_pays(void)
{
    static rota__atomic(unsigned) cpus; /* 0: not known yet; reading the number opens files */
    unsigned known = rota__load_relaxed(&cpus);

    if (known == 0) {
        known = rota__os_cpu_count();
        rota__store_relaxed(&cpus, known); /* another thread stores the same */
    }
    return known > 1;
}

#ifndef ROTA__BACKOFF_SPINS
#define ROTA__BACKOFF_SPINS 64
#endif

void rota__backoff(unsigned *spins)
{
    enum { YIELDS = 64 };
    rota__os_word never = 0;
    unsigned count = ++*spins;

    if (count <= ROTA__BACKOFF_SPINS)
        rota__cpu_relax();
    else if (count <= ROTA__BACKOFF_SPINS + YIELDS)
        rota__os_yield();
    else
        rota__os_wait(&never, 0, rota__time_add(rota__os_now(), ROTA_US(50)));
}
