/* SPDX-License-Identifier: MIT */
#include "base/mutex.h"

#include "base/check.h"
#include "base/wait.h"

/*
 * The lock is soon free if the thread that holds it is running, so a waiting thread spins first.
 * The pauses grow. Long pauses let a thread take the lock several times in a row, while the data
 * that the lock protects is in its cache.
 */
#ifndef ROTA__MUTEX_LONGEST_PAUSE
#define ROTA__MUTEX_LONGEST_PAUSE 64
#endif

static bool take_in_passing(rota__mutex *mutex)
{
    for (int pauses = 8; pauses <= ROTA__MUTEX_LONGEST_PAUSE; pauses *= 2) {
        for (int pause = 0; pause < pauses; pause++)
            rota__cpu_relax();
        uint32_t seen = rota__load_relaxed(&mutex->word);
        if (seen == ROTA__UNLOCKED && rota__cas_acquire(&mutex->word, &seen, ROTA__LOCKED))
            return true;
    }
    return false;
}

/* Because of mutex.M1 the last waiter causes one needless wake-up. */
ROTA__NOINLINE void rota__mutex_lock_slow(rota__mutex *mutex)
{
    if (take_in_passing(mutex))
        return;
    while (rota__swap_acquire(&mutex->word, ROTA__CONTENDED) != ROTA__UNLOCKED)
        rota__os_wait(&mutex->word, ROTA__CONTENDED, ROTA_FOREVER);
    ROTA__BUG(mutex.M1, (void)0, rota__store_relaxed(&mutex->word, ROTA__LOCKED));
}

void rota__mutex_yield(rota__mutex *mutex)
{
    enum { TURNS = 136 }; /* the last few sleep */
    unsigned turns = ROTA__BACKOFF_INIT;

    if (rota__swap_release(&mutex->word, ROTA__UNLOCKED) == ROTA__CONTENDED) {
        rota__os_wake(&mutex->word);
        while (turns < TURNS && rota__load_relaxed(&mutex->word) == ROTA__UNLOCKED)
            rota__backoff(&turns);
    }
    rota__mutex_lock(mutex);
}
