/* SPDX-License-Identifier: MIT */
/*
 * mutex.h - a lock that is held for a few instructions.
 *
 * No function of the user's runs while a thread holds it, except the functions of queues and the
 * allocator. Waiting for it is short and cannot be interrupted. The algorithm is the third mutex of
 * Drepper, "Futexes Are Tricky", 2011.
 *
 *   mutex.M1  A thread that has waited takes the lock as CONTENDED, because other threads may still
 *             wait. Unlocking a lock that is only LOCKED wakes no thread.
 */
#ifndef ROTA_BASE_MUTEX_H
#define ROTA_BASE_MUTEX_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/os.h"

enum { ROTA__UNLOCKED, ROTA__LOCKED, ROTA__CONTENDED };

typedef struct rota__mutex {
    rota__os_word word; /* all zero is unlocked */
} rota__mutex;

void rota__mutex_lock_slow(rota__mutex *mutex);

static inline void rota__mutex_lock(rota__mutex *mutex)
{
    uint32_t seen = ROTA__UNLOCKED;

    if (ROTA__UNLIKELY(!rota__cas_acquire(&mutex->word, &seen, ROTA__LOCKED)))
        rota__mutex_lock_slow(mutex);
}

static inline void rota__mutex_unlock(rota__mutex *mutex)
{
    /* Pairs with the operation that takes the lock next. */
    if (rota__swap_release(&mutex->word, ROTA__UNLOCKED) == ROTA__CONTENDED)
        rota__os_wake(&mutex->word);
}

/* Unlocks and locks again. If other threads may sleep because of the lock, the call first waits a
   short time until one of them has taken it. For a thread that takes the lock again and again. */
void rota__mutex_yield(rota__mutex *mutex);

#endif
