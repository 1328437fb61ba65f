/* SPDX-License-Identifier: MIT */
/*
 * cancel_listener.c - tells the object that holds a pending future back that the future has ended.
 *
 * A scheduled pool holds a future back until the future is due, and a stage until its sources are
 * done. If another thread ends the future first, the listener is notified, and the task leaves its
 * queue at once. The listener belongs to the pool, which may be freed as soon as its queue is
 * empty. So the notifying thread must not touch a listener that nobody keeps for it:
 *
 *   cancel_listener.L1  A listener exists while the word `listener` of a future has its address.
 *                       The thread that clears the word keeps the listener's owner by other means.
 *   cancel_listener.L2  The notifying thread sets NOTIFYING beside the address, raises `inflight`,
 *                       and then clears the word: a few instructions. Threads that want to clear
 *                       the word wait until these are over.
 *   cancel_listener.L3  Before a listener is freed, its owner waits until `inflight` is 0. Lowering
 *                       `inflight` is the notifying thread's last access to the listener.
 *   cancel_listener.L4  A thread that sets the listener reads the future's state afterwards. A
 *                       thread that ends the future reads the word afterwards. Both change the
 *                       word, so one of them sees the other. If reading the word, by an addition of
 *                       0, comes first, the swap acquires the end with it. An acquiring load in its
 *                       place might come before the state has changed for other threads, and would
 *                       leave nothing to be acquired.
 *   cancel_listener.L5  A listener is notified once: a thread that finds NOTIFYING set leaves that
 *                       to the thread that set it.
 */
#include "future/future_internal.h"

#define NOTIFYING ((uintptr_t)1)

void rota__future_set_listener(rota_future *future, rota__cancel_listener *listener)
{
    /* cancel_listener.L4; pairs with rota__future_notify_listener */
    rota__swap_acq_rel(&future->listener, (uintptr_t)listener);
}

/* Clears the word if it has the address `only`, or any address if `only` is 0. */
static bool clear(rota_future *future, uintptr_t only)
{
    /* Pairs with the store in rota__future_notify_listener. */
    uintptr_t word = rota__load_acquire(&future->listener);
    unsigned spins = ROTA__BACKOFF_INIT;

    while (word != 0 && (only == 0 || (word & ~NOTIFYING) == only)) {
        if (word & NOTIFYING) { /* cancel_listener.L2a */
            rota__backoff(&spins);
            word = rota__load_acquire(&future->listener);
        } else if (rota__cas_acq_rel(&future->listener, &word, 0)) {
            return true;
        }
    }
    return false;
}

bool rota__future_clear_listener(rota_future *future)
{
    return clear(future, 0);
}

bool rota__future_clear_listener_if(rota_future *future, const rota__cancel_listener *listener)
{
    return clear(future, (uintptr_t)listener);
}

void rota__future_notify_listener(rota_future *future)
{
    /* cancel_listener.L4; pairs with rota__future_set_listener */
    uintptr_t word = rota__add_acq_rel(&future->listener, 0);
    rota__cancel_listener *listener = (rota__cancel_listener *)word;

    /* cancel_listener.L5: the future has no listener, or another thread notifies it. */
    if (word == 0 || word & NOTIFYING
        || !rota__cas_acq_rel(&future->listener, &word, word | NOTIFYING))
        return;
    rota__add_relaxed(&listener->inflight, 1); /* cancel_listener.L2b; before the word is 0 */
    rota__store_release(&future->listener, 0); /* cancel_listener.L2; pairs with `clear` */
    listener->notify(listener, future);
    rota__sub_release(&listener->inflight, 1); /* cancel_listener.L3; pairs with await_idle */
}

void rota__cancel_listener_await_idle(rota__cancel_listener *listener)
{
    unsigned spins = ROTA__BACKOFF_INIT;

    while (rota__load_acquire(&listener->inflight) != 0) /* pairs with cancel_listener.L3 */
        rota__backoff(&spins);
}
