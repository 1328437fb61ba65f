/* SPDX-License-Identifier: MIT */
/*
 * park.h - how a thread waits. There is no other way above os.
 *
 * A thread parks, another unparks it. An unpark that comes first is kept, and
 * the next park returns at once; two are as one. A park may also return for no
 * reason, so who waits does so in a loop around what it waits for.
 *
 *   park.K1  What a thread did before it unparks another is visible to that one after the park that
 *            this ends.
 *
 * A waiter is a thread in somebody's list, waiting to be taken out of it and
 * woken. It lies on the waiting thread's stack.
 *
 *   park.K2  Exactly one party ends a published waiter: whoever takes it out of the list. That is a
 *            waker, which then calls rota__waiter_wake, or the thread itself, which then calls
 *            rota__waiter_withdraw.
 *   park.K3  A waker's store of `woken` is its last touch of the waiter, which may be gone from
 *            then on. The thread is held (thread.T3) until it was unparked.
 *   park.K4  The permit changes by read-modify-writes alone, so that a park never overwrites an
 *            unpark that came first.
 */
#ifndef ROTA_BASE_PARK_H
#define ROTA_BASE_PARK_H

#include "base/thread.h"

#include <rota/base.h>

/* Waits until unparked, until the deadline, or for no reason. */
void rota__park(rota_thread *self, rota_ns deadline);
void rota__unpark(rota_thread *thread);

typedef struct rota__waiter {
    rota_thread *thread;
    rota__atomic(uint32_t) woken;
} rota__waiter;

/* For the calling thread. ROTA_ENOMEM when the thread's end could not be watched for (thread.T3). */
int rota__waiter_init(rota__waiter *waiter);

/*
 * ROTA_OK: it was woken. ROTA_EINTERRUPTED and ROTA_ETIMEDOUT, of which the
 * first is looked at first, leave it in its list and the flag as it is.
 */
int rota__waiter_wait(rota__waiter *waiter, rota_ns deadline);
void rota__waiter_wait_only(rota__waiter *waiter); /* deaf to interrupts */

/*
 * How long it pays to spin at one place before parking. To wake a thread on an idle CPU takes up to
 * 50 us on a virtual machine. The budget is halved when spinning was in vain and grows by a quarter
 * when it paid. After some misses it is tried once at its longest, since two threads that wake one
 * another would never find out that spinning pays. Not for several threads at once.
 */
rota_ns rota__spin_budget_get(const rota__spin_budget *budget);
void rota__spin_budget_update(rota__spin_budget *budget, rota_ns spun, bool paid);

/* Looks for so long whether it was woken, or interrupted, without sleeping. True: it was woken. */
bool rota__waiter_spin(rota__waiter *waiter, rota_ns duration);
bool rota__spinning_pays(void); /* there is another CPU on which what is waited for can happen */

void rota__waiter_wake(rota__waiter *waiter);     /* park.K2 */
void rota__waiter_withdraw(rota__waiter *waiter); /* park.K2 */

/*
 * One turn of waiting for a thread that is about to do its next few steps: it
 * holds something for a moment, and was perhaps stopped in the middle. First
 * spins, then yields, then sleeps, so that it ends also when this thread has
 * the higher priority. Starts with *turns at ROTA__BACKOFF_INIT.
 */
#define ROTA__BACKOFF_INIT 0U
void rota__backoff(unsigned *turns);

#endif
