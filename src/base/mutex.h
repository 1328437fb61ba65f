/* SPDX-License-Identifier: MIT */
/*
 * mutex.h - a lock for a few instructions of the library's own.
 *
 * Never held around foreign code, and not part of interruption: nobody waits
 * long for it. After Drepper, "Futexes are tricky" (2011), the third mutex.
 *
 *   mutex.M1  A thread that has waited takes the lock as CONTENDED, since others may still wait:
 *             the unlock of a lock that is only LOCKED wakes nobody.
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
    /* Pairs with whichever operation takes the lock next. */
    if (rota__swap_release(&mutex->word, ROTA__UNLOCKED) == ROTA__CONTENDED)
        rota__os_wake(&mutex->word);
}

/* Unlocks and locks again; if somebody sleeps for it, not before that one has had its turn, or has
   missed it for long. For who has the lock again and again. */
void rota__mutex_pass(rota__mutex *mutex);

#endif
