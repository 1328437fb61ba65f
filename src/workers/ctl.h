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
 *   TIDYING     | TERMINATED  | the hook `terminated` has returned
 *
 *   ctl.C1  State and number change together, in one step. A worker is added only while the state
 *           allows it, and no worker is counted when the state passes STOP.
 *   ctl.C2  A worker is counted before its thread is started. It stays counted until it has found, in
 *           the step that removes it, that no task needs it.
 *   ctl.C3  A thread that stops the pool changes the state, sets the stop word, and then wakes the
 *           threads in the list. A thread that registers later sees the word.
 */
#ifndef ROTA_WORKERS_CTL_H
#define ROTA_WORKERS_CTL_H

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

/* -- Transitions ------------------------------------------------------------ */

/* The caller has decided by the word *seen. If the word has changed since, each of the three calls
   below returns false and sets *seen to the current word. */

static inline bool rota__ctl_try_add(rota__ctl *ctl, uint32_t *seen)
{
    return rota__cas_acq_rel(&ctl->word, seen, *seen + 1);
}

static inline bool rota__ctl_try_remove(rota__ctl *ctl, uint32_t *seen)
{
    return rota__cas_acq_rel(&ctl->word, seen, *seen - 1);
}

static inline bool rota__ctl_begin_tidying(rota__ctl *ctl, uint32_t *seen)
{
    return rota__cas_acq_rel(&ctl->word, seen, rota__ctl_make(ROTA_TIDYING, 0));
}

/* Removes a worker in any state. */
static inline void rota__ctl_remove(rota__ctl *ctl)
{
    rota__sub_acq_rel(&ctl->word, 1);
}

/* Changes to this state, unless the state is this or a later one. True: this call has done it. */
static inline bool rota__ctl_advance(rota__ctl *ctl, rota_executor_state state)
{
    uint32_t seen = rota__ctl_load(ctl);

    do {
        if (rota__ctl_state(seen) >= state)
            return false;
    } while (!rota__cas_acq_rel(&ctl->word, &seen, rota__ctl_make(state, rota__ctl_workers(seen))));
    return true;
}

#endif
