/* SPDX-License-Identifier: MIT */
#include "base/mutex.h"

/*
 * Who has waited takes the lock as CONTENDED, as others may wait still; at
 * worst that costs one needless wake.
 */
ROTA__NOINLINE void rota__mutex_lock_slow(rota__mutex *mutex)
{
    while (rota__swap_acquire(&mutex->word, ROTA__CONTENDED) != ROTA__UNLOCKED)
        rota__os_wait(&mutex->word, ROTA__CONTENDED, ROTA_FOREVER);
}
