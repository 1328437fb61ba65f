/* SPDX-License-Identifier: MIT */
/*
 * ctl.h - the control word of a pool: its state and the number of its workers.
 *
 *   state       | becomes     | when
 *   RUNNING     | SHUTDOWN    | rota_shutdown
 *   RUNNING     | STOP        | rota_shutdown_now
 *   SHUTDOWN    | STOP        | rota_shutdown_now
 *   SHUTDOWN    | TIDYING     | no worker and an empty queue
 *   STOP        | TIDYING     | no worker
 *   TIDYING     | TERMINATED  | its hook has returned
 *
 *   ctl.C1  Both change together, in one step: a worker is counted in only while the state allows
 *           it, and none is counted when the state passes STOP.
 *   ctl.C2  A worker is counted before its thread is made, and until it has found, in the same
 *           step, that it may leave.
 *   ctl.C3  A thread that stops the pool changes the state, sets the stop word, and then wakes the
 *           workers that have registered. A worker that registers later sees the word.
 */
#ifndef ROTA_POOL_CTL_H
#define ROTA_POOL_CTL_H

#include "base/atomic.h"

#include <rota/executor.h>

#ifdef ROTA_NARROW
#define ROTA__WORKER_BITS 3
#else
#define ROTA__WORKER_BITS 29
#endif
#define ROTA__MOST_WORKERS ((UINT32_C(1) << ROTA__WORKER_BITS) - 1)

typedef struct rota__ctl {
    rota__atomic(uint32_t) word;
} rota__ctl;

static inline uint32_t rota__ctl_load(const rota__ctl *ctl)
{
    return rota__load_acquire(&ctl->word); /* pairs with every change below */
}

static inline rota_executor_state rota__ctl_state(uint32_t word)
{
    return (rota_executor_state)(word >> ROTA__WORKER_BITS);
}

static inline uint32_t rota__ctl_workers(uint32_t word)
{
    return word & ROTA__MOST_WORKERS;
}

static inline uint32_t rota__ctl_make(rota_executor_state state, uint32_t workers)
{
    return (uint32_t)state << ROTA__WORKER_BITS | workers;
}

/* True if it was `seen`, which else is what it was. */
static inline bool rota__ctl_change(rota__ctl *ctl, uint32_t *seen, uint32_t now)
{
    return rota__cas_acq_rel(&ctl->word, seen, now);
}

/* To this state or a later one: true if this call did it. */
static inline bool rota__ctl_advance(rota__ctl *ctl, rota_executor_state state)
{
    uint32_t seen = rota__ctl_load(ctl);

    do {
        if (rota__ctl_state(seen) >= state)
            return false;
    } while (!rota__ctl_change(ctl, &seen, rota__ctl_make(state, rota__ctl_workers(seen))));
    return true;
}

/* ctl.C2: whatever the state. True: none is left. */
static inline bool rota__ctl_count_out(rota__ctl *ctl)
{
    return rota__ctl_workers(rota__sub_acq_rel(&ctl->word, 1)) == 1;
}

#endif
