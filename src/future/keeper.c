/* SPDX-License-Identifier: MIT */
/*
 * keeper.c - whoever has a future's task in a queue hears that the future has ended.
 *
 * The word `keeper` is the keeper's address, or 0. A keeper may be freed once it
 * keeps nothing; a thread that ends a future must not be on its way to it then.
 * So it comes in two steps:
 *
 *   keeper.K1  A keeper is there while a word has its address: whoever takes the word back, by
 *              unkeep, is inside the keeper, or keeps it there otherwise.
 *   keeper.K2  Who wants to enter sets BUSY beside the address, which unkeep waits out, counts
 *              itself in, and then takes the word back: a few instructions.
 *   keeper.K3  Who is counted in is waited for before the keeper is freed, and touches it as the
 *              last thing when it counts itself out.
 *   keeper.K4  Who keeps a future looks at its state after that, and who ends it looks at the word
 *              after that: both change the word, so one of them sees the other. If the look at the
 *              word, an addition of 0, comes first, the swap acquires the end with it. An acquiring
 *              load in its place might come before the state has changed for others, and would
 *              leave nothing to be acquired.
 *   keeper.K5  A keeper hears of an end once: a thread that finds BUSY set leaves the telling to
 *              the thread that set it.
 */
#include "future/future_internal.h"

#define BUSY ((uintptr_t)1)

void rota__future_keep(rota_future *future, rota__keeper *keeper)
{
    rota__swap_acq_rel(&future->keeper, (uintptr_t)keeper); /* keeper.K4; pairs with tell_keeper */
}

/* `only` this keeper takes it back; 0: whichever it is. */
static bool take_back(rota_future *future, uintptr_t only)
{
    uintptr_t word = rota__load_acquire(&future->keeper); /* pairs with the end of keeper.K2 */
    unsigned turns = ROTA__BACKOFF_INIT;

    while (word != 0 && (only == 0 || (word & ~BUSY) == only)) {
        if (word & BUSY) { /* keeper.K2a */
            rota__backoff(&turns);
            word = rota__load_acquire(&future->keeper);
        } else if (rota__cas_acq_rel(&future->keeper, &word, 0)) {
            return true;
        }
    }
    return false;
}

bool rota__future_unkeep(rota_future *future)
{
    return take_back(future, 0);
}

bool rota__future_unkeep_from(rota_future *future, const rota__keeper *keeper)
{
    return take_back(future, (uintptr_t)keeper);
}

void rota__future_tell_keeper(rota_future *future)
{
    uintptr_t word = rota__add_acq_rel(&future->keeper, 0); /* keeper.K4; pairs with keep */
    rota__keeper *keeper = (rota__keeper *)word;

    /* keeper.K5: the future has no keeper, or another thread tells it. */
    if (word == 0 || word & BUSY || !rota__cas_acq_rel(&future->keeper, &word, word | BUSY))
        return;
    rota__add_relaxed(&keeper->guests, 1);   /* keeper.K2b; seen by close, after unkeep: */
    rota__store_release(&future->keeper, 0); /* keeper.K2 */
    keeper->ended(keeper, future);
    rota__sub_release(&keeper->guests, 1); /* keeper.K3; pairs with close */
}

void rota__keeper_close(rota__keeper *keeper)
{
    unsigned turns = ROTA__BACKOFF_INIT;

    while (rota__load_acquire(&keeper->guests) != 0)
        rota__backoff(&turns);
}
