/* SPDX-License-Identifier: MIT */
/*
 * wait.h - how a thread waits: park, waiter, latch. Above src/os there is no other way.
 *
 * A thread parks, and another thread unparks it. An unpark that comes first is remembered: the next
 * park returns at once. Two unparks count as one. A park may also return without an unpark, so
 * every caller parks in a loop around the condition that it waits for.
 *
 *   wait.K1  What a thread did before it unparked another is visible to that one after its park.
 *
 * A waiter represents one waiting thread in the list of some object. It lies on the stack of that
 * thread.
 *
 *   wait.K2  Exactly one thread takes a published waiter out of its list: a waker, which then calls
 *            rota__waiter_wake, or the waiting thread, in the function `withdraw` that it passes to
 *            rota__waiter_wait.
 *   wait.K3  The store to `woken` is the waker's last access to the waiter, whose stack frame may
 *            be gone from then on. The thread itself is held until it is unparked (thread.T3).
 *   wait.K4  The permit changes by read-modify-writes only, so that a park never overwrites an
 *            unpark that came first.
 */
#ifndef ROTA_BASE_WAIT_H
#define ROTA_BASE_WAIT_H

#include "base/list.h"
#include "base/mutex.h"
#include "base/thread.h"

#include <rota/base.h>

/* -- Parking -------------------------------------------------------------- */

/* Parks the calling thread until it is unparked, until the deadline, or for no reason. */
void rota__park(rota_thread *self, rota_ns deadline);
void rota__unpark(rota_thread *thread);

/*
 * Parks the calling thread until ready(arg) is true: ROTA_OK. ROTA_EINTERRUPTED if the thread is
 * interrupted, which takes precedence over ROTA_ETIMEDOUT. The interrupt flag is left as it is.
 */
int rota__park_until(rota_thread *self, bool (*ready)(void *arg), void *arg, rota_ns deadline);

/* -- Waiters -------------------------------------------------------------- */

typedef struct rota__waiter {
    rota_thread *thread;
    rota__atomic(uint32_t) woken;
    const rota__atomic(uint32_t) * poked; /* or NULL; ends the wait with ROTA_EAGAIN if not 0 */
} rota__waiter;

/* Takes the waiter out of its list. `why` is ROTA_ETIMEDOUT, ROTA_EINTERRUPTED or ROTA_EAGAIN.
   Returns false if a waker has taken it out, and will wake it (wait.K2). */
typedef bool rota__withdraw(rota__waiter *waiter, int why);

/*
 * Prepares a wait of the calling thread, which is held from here until the waiter is woken,
 * withdrawn or cancelled. ROTA_EINTERRUPTED, which clears the flag, takes precedence over
 * ROTA_ETIMEDOUT for a deadline that has passed (INT-04), and that over ROTA_ENOMEM for a thread
 * whose exit the library cannot notice (thread.T3). In these cases there is nothing to undo.
 */
int rota__waiter_begin(rota__waiter *waiter, rota_ns deadline);

/* The same for a wait that ignores interrupts or has no deadline yet: ROTA_OK or ROTA_ENOMEM. */
int rota__waiter_begin_uninterruptible(rota__waiter *waiter);

/* Ends a waiter that is in no list: its thread did not publish it, or has taken it out. */
void rota__waiter_cancel(rota__waiter *waiter);

/*
 * Waits until the waiter is woken: ROTA_OK. If the deadline passes or the thread is interrupted
 * first, the waiter is withdrawn, and the call returns ROTA_ETIMEDOUT or ROTA_EINTERRUPTED, which
 * clears the flag. If a worker that helps is poked, so that it searches for its task again, the call
 * returns ROTA_EAGAIN. If a waker was faster, the call returns ROTA_OK, and the flag stays set.
 */
int rota__waiter_wait(rota__waiter *waiter, rota_ns deadline, rota__withdraw *withdraw);

/* Waits until the waiter is woken, and ignores interrupts: INT-11. */
void rota__waiter_wait_uninterruptible(rota__waiter *waiter);

/* Waits as an idle worker does: no other worker stands in for it. With any status but ROTA_OK the
   waiter stays in its list, and the interrupt flag stays set. */
int rota__waiter_wait_idle(rota__waiter *waiter, rota_ns deadline);

/* Spins for up to `duration` without parking. True: the waiter was woken. */
bool rota__waiter_spin(rota__waiter *waiter, rota_ns duration);

/* Wakes a waiter that the caller has taken out of its list: the last access to it (wait.K3). */
void rota__waiter_wake(rota__waiter *waiter);

/* -- Latches: all threads that wait are woken at once --------------------- */

/* A lock of the owner protects the latch, and the condition that it stands for. */
typedef struct rota__latch {
    rota__list waiters;
} rota__latch;

static inline void rota__latch_init(rota__latch *latch)
{
    rota__list_init(&latch->waiters);
}

/* Waits for rota__latch_signal_all. Called with the lock held; unlocks. Returns what
   rota__waiter_begin and rota__waiter_wait do. */
int rota__latch_wait(rota__latch *latch, rota__mutex *lock, rota_ns deadline);

/* Wakes all threads that wait. Called with the lock held. */
void rota__latch_signal_all(rota__latch *latch);

/* -- Spinning and back-off ------------------------------------------------ */

/*
 * How long it pays to spin at one place before parking. Waking a thread on an idle CPU takes up to
 * 50 us on a virtual machine. The budget is halved when spinning was in vain and grows by a quarter
 * when it paid. After some misses it is tried once at its longest, since two threads that wake one
 * another would never find out that spinning pays. Two threads must not use one budget at once.
 */
rota_ns rota__spin_budget_get(const rota__spin_budget *budget);
void rota__spin_budget_update(rota__spin_budget *budget, rota_ns spun, bool paid);
bool rota__spinning_pays(void); /* the process may use more than one CPU */

/*
 * Pauses a thread that waits for the next few instructions of another one, which may have been
 * preempted: spins at first, then yields, then sleeps, so that a thread of higher priority cannot
 * starve the one it waits for. *spins starts at ROTA__BACKOFF_INIT.
 */
#define ROTA__BACKOFF_INIT 0U
void rota__backoff(unsigned *spins);

#endif
