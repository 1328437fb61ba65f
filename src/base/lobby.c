/* SPDX-License-Identifier: MIT */
#include "base/lobby.h"

#include "base/park.h"
#include "base/time.h"

typedef struct guest {
    rota__link link;
    rota__waiter waiter;
} guest;

/* False: it was woken, just now. */
static bool step_out(rota__mutex *lock, guest *mine)
{
    rota__mutex_lock(lock);
    bool is_inside = rota__link_is_in_list(&mine->link);
    if (is_inside)
        rota__list_remove(&mine->link);
    rota__mutex_unlock(lock);
    return is_inside;
}

static int wait_inside(rota__lobby *lobby, rota__mutex *lock, rota_ns deadline)
{
    guest mine;
    int status = rota__waiter_init(&mine.waiter);

    if (status == ROTA_OK) {
        rota__link_init(&mine.link);
        rota__list_append(&lobby->waiting, &mine.link);
    }
    rota__mutex_unlock(lock);
    if (status == ROTA_OK)
        status = rota__waiter_wait(&mine.waiter, deadline);
    if (status == ROTA_OK || status == ROTA_ENOMEM)
        return status;
    if (!step_out(lock, &mine)) {
        rota__waiter_wait_only(&mine.waiter);
        return ROTA_OK;
    }
    rota__waiter_withdraw(&mine.waiter);
    if (status == ROTA_EINTERRUPTED)
        rota__take_interrupt(mine.waiter.thread);
    return status;
}

int rota__lobby_wait(rota__lobby *lobby, rota__mutex *lock, rota_ns deadline)
{
    if (!rota__has_passed(deadline))
        return wait_inside(lobby, lock, deadline);
    rota__mutex_unlock(lock); /* one look, for which no memory is needed */
    return rota_interrupted() ? ROTA_EINTERRUPTED : ROTA_ETIMEDOUT;
}

void rota__lobby_open(rota__lobby *lobby)
{
    rota__link *link;

    while ((link = rota__list_take_first(&lobby->waiting)) != NULL)
        rota__waiter_wake(&ROTA__CONTAINER(link, guest, link)->waiter);
}
