/* SPDX-License-Identifier: MIT */
/*
 * lobby.h - threads that wait for something that happens for all of them at once.
 *
 * Guarded by a lock of whoever has it, with which it also looks whether that has
 * happened already. All zero but for rota__lobby_init.
 */
#ifndef ROTA_BASE_LOBBY_H
#define ROTA_BASE_LOBBY_H

#include "base/list.h"
#include "base/mutex.h"

typedef struct rota__lobby {
    rota__list waiting;
} rota__lobby;

static inline void rota__lobby_init(rota__lobby *lobby)
{
    rota__list_init(&lobby->waiting);
}

/* With the lock held, which it leaves: until it is opened. ROTA_OK, ROTA_ETIMEDOUT,
   ROTA_EINTERRUPTED, which clears the flag, ROTA_ENOMEM. */
int rota__lobby_wait(rota__lobby *lobby, rota__mutex *lock, rota_ns deadline);

void rota__lobby_open(rota__lobby *lobby); /* with the lock held: all go */

#endif
