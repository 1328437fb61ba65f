/* SPDX-License-Identifier: MIT */
/*
 * future_state.h - the state of a future: every value, every transition.
 *
 * One word: the phase in the low bits, above it the address of the execution
 * that runs the body, or 0. So "it is pending and nobody runs it" is one
 * comparison, and claiming it is one compare-and-swap.
 *
 *   NEW          -> NEW + runner             claim: the body begins
 *   NEW + runner -> NEW                      leave: a periodic task, between runs
 *   NEW          -> COMPLETING               begin_completing, who then writes the outcome
 *   COMPLETING   -> NORMAL | FAILED          end_completing
 *   NEW          -> CANCELLED                cancel; interrupt, where nobody runs it
 *   NEW + runner -> INTERRUPTING             interrupt, who then sets the runner's flag
 *   INTERRUPTING -> INTERRUPTED              end_interrupting
 *
 * All but the first two keep the runner, which takes itself out by leave when
 * its body has ended, whatever the phase is by then.
 *
 *   future_state.S1  The runner does not leave while the phase is INTERRUPTING: who interrupts uses
 *                    its execution, which lies on the runner's stack.
 *   future_state.S2  Only who made it COMPLETING or INTERRUPTING moves it on, and does so at once:
 *                    others wait that out with rota__backoff.
 *   future_state.S3  A store to a phase above COMPLETING releases the outcome; every reader of an
 *                    outcome has read such a phase with acquire.
 */
/* layers: open, exec/run.c is the runner */
#ifndef ROTA_FUTURE_FUTURE_STATE_H
#define ROTA_FUTURE_FUTURE_STATE_H

#include "base/check.h"
#include "future/future_internal.h"

typedef enum future_phase {
    FUTURE_NEW,
    FUTURE_COMPLETING,
    FUTURE_NORMAL,
    FUTURE_FAILED,
    FUTURE_CANCELLED,
    FUTURE_INTERRUPTING,
    FUTURE_INTERRUPTED,
} future_phase;

#define FUTURE_PHASE_MASK ((uintptr_t)7)
_Static_assert(_Alignof(rota__execution) > 7,
               "the address of an execution leaves the phase's bits");

static inline future_phase future_phase_in(uintptr_t state)
{
    return (future_phase)(state & FUTURE_PHASE_MASK);
}

static inline rota__execution *future_runner_in(uintptr_t state)
{
    return (rota__execution *)(state & ~FUTURE_PHASE_MASK);
}

static inline uintptr_t future_state_load(const rota_future *future)
{
    return rota__load_acquire(&future->state); /* future_state.S3 */
}

/* The state; COMPLETING is waited out (future_state.S2). */
static inline uintptr_t future_state_settled(const rota_future *future)
{
    unsigned turns = ROTA__BACKOFF_INIT;
    uintptr_t state;

    while (future_phase_in(state = future_state_load(future)) == FUTURE_COMPLETING)
        rota__backoff(&turns);
    return state;
}

static inline future_phase future_phase_settled(const rota_future *future)
{
    return future_phase_in(future_state_settled(future));
}

/* The runner of a future that a visitor looks at. It runs no body, and is not interrupted. */
extern rota__execution rota__visiting;

/* True: the caller runs it now. False: somebody does, or it is done. */
static inline bool future_claim(rota_future *future, rota__execution *runner)
{
    uintptr_t seen = FUTURE_NEW;

    /* Release: `runner` is read by who interrupts it. */
    return rota__cas_acq_rel(&future->state, &seen, (uintptr_t)runner);
}

/* What the transition out of NEW found, and what its caller has to do. */
typedef enum future_end {
    FUTURE_TOO_LATE,    /* done already: nothing */
    FUTURE_WAS_PENDING, /* nobody runs it: finish, and discard the argument (future.F4) */
    FUTURE_WAS_RUNNING, /* finish; the runner sees to the argument */
} future_end;

static inline future_end future_end_as(rota_future *future, future_phase phase)
{
    uintptr_t seen = future_state_load(future);

    while (future_phase_in(seen) == FUTURE_NEW) {
        if (rota__cas_acq_rel(&future->state, &seen, seen | (uintptr_t)phase))
            return future_runner_in(seen) == NULL ? FUTURE_WAS_PENDING : FUTURE_WAS_RUNNING;
    }
    return FUTURE_TOO_LATE;
}

static inline future_end future_begin_completing(rota_future *future)
{
    return future_end_as(future, FUTURE_COMPLETING);
}

/* The outcome is written. An addition, as the runner may leave at the same time. */
static inline void future_end_completing(rota_future *future, future_phase outcome)
{
    ROTA__ASSERT(outcome == FUTURE_NORMAL || outcome == FUTURE_FAILED);
    /* future_state.S3a */
    rota__add_release(&future->state, (uintptr_t)outcome - FUTURE_COMPLETING);
}

/* The same by the runner itself, which leaves with it: nobody else writes the word now
   (future_state.S2). */
static inline void future_end_completing_and_leave(rota_future *future, future_phase outcome)
{
    rota__store_release(&future->state, (uintptr_t)outcome); /* future_state.S3 */
}

static inline future_end future_cancel(rota_future *future)
{
    return future_end_as(future, FUTURE_CANCELLED);
}

/* As future_cancel; with FUTURE_WAS_RUNNING *runner is to be interrupted, then end_interrupting. */
static inline future_end future_begin_interrupting(rota_future *future, rota__execution **runner)
{
    uintptr_t seen = future_state_load(future);

    while (future_phase_in(seen) == FUTURE_NEW) {
        *runner = future_runner_in(seen);
        uintptr_t phase = *runner == NULL ? FUTURE_CANCELLED : FUTURE_INTERRUPTING;
        if (rota__cas_acq_rel(&future->state, &seen, seen | phase))
            return *runner == NULL ? FUTURE_WAS_PENDING : FUTURE_WAS_RUNNING;
    }
    return FUTURE_TOO_LATE;
}

static inline void future_end_interrupting(rota_future *future)
{
    /* Release: pairs with the acquire in leave, after which the runner is gone (future_state.S1). */
    rota__add_release(&future->state, (uintptr_t)FUTURE_INTERRUPTED - FUTURE_INTERRUPTING);
}

/* The runner takes itself out. The phase that it leaves behind. */
static inline future_phase future_leave(rota_future *future)
{
    uintptr_t seen = future_state_load(future);
    unsigned turns = ROTA__BACKOFF_INIT;

    for (;;) {
        if (future_phase_in(seen) == FUTURE_INTERRUPTING) { /* future_state.S1a */
            rota__backoff(&turns);
            seen = future_state_load(future);
        } else if (rota__cas_acq_rel(&future->state, &seen, seen & FUTURE_PHASE_MASK)) {
            return future_phase_in(seen);
        }
    }
}

#endif
