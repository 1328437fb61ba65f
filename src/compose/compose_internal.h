/* SPDX-License-Identifier: MIT */
/*
 * compose_internal.h - a stage: a future that follows from others.
 *
 *   stage.c    a stage waits for its sources, runs its step, ends
 *   steps.c    the kinds of steps, and the calls that make them
 *   timer.c    the one timer of the process; timeouts and delays
 *   again.c    retry and hedge
 *
 * A stage is its own task: the step is its body, so an executor runs it like any
 * other, and it can be cancelled like any other.
 *
 *   compose.X1  A stage holds its sources from the time it is made until its step has run, or it
 *               has ended without. It does so by pins: it is no holder of theirs.
 *   compose.X2  The task is one reference to a stage, and each tie to a source that was not cut
 *               another. So a stage that nobody holds is there until its step has run.
 *   compose.X3  While a stage waits it has a cancel listener, which is notified if another thread
 *               ends the stage: it cuts the ties, and gives the task's reference back. Whoever lets
 *               the stage go on clears the listener first.
 *   compose.X4  Sources are let go once, by who ended the stage: its body, or who ended it without
 *               (as its argument: future.F4), or who passed an end on.
 *   compose.X5  One thread cuts the ties of a stage: the first to set CUT. The only tie of a chain
 *               is cut by the second of two threads, the one that makes it and the one that ends
 *               the stage.
 */
#ifndef ROTA_COMPOSE_INTERNAL_H
#define ROTA_COMPOSE_INTERNAL_H

#include "exec/exec_internal.h"

#include <rota/compose.h>

typedef struct rota__stage rota__stage;
typedef struct rota__ties rota__ties;

typedef struct rota__stage_kind {
    /* After the sources are done: the one whose end is passed on, without a step; NULL: the step. */
    rota_future *(*passes)(rota__stage *stage);
    void *(*step)(rota__stage *stage); /* the body; NULL: there is never one */
    bool needs_all;                    /* of several sources; else the first that ends */
    bool runs_anyway;                  /* here, if the executor refuses it */
    void (*ended)(rota__stage *stage); /* with the sources: what else it had; or NULL */
} rota__stage_kind;

typedef union rota__step_fn {
    rota_then_fn *then;
    rota_chain_fn *chain;
    rota_both_fn *both;
    rota_handle_fn *handle;
    rota_handle_chain_fn *handle_chain;
    rota_done_fn *done;
} rota__step_fn;

struct rota__stage {
    rota_future future; /* first */
    const rota__stage_kind *kind;
    rota__atomic(uintptr_t) executor; /* or 0; and the flags below */
    union {
        rota__step_fn fn;
        rota__atomic(uintptr_t) timer; /* timer.c only */
    };
    void *arg;
    rota__action action; /* tie to the only source, unless there are `ties` */
    union {
        rota_future *source;
        rota__ties *ties;
    };
};

_Static_assert(sizeof(void *) != 8 || sizeof(rota__stage) <= 192,
               "a stage takes three cache lines");

/* It owns its sources; it is tied to the only one; it has ended before it was: who comes second of
   the last two cuts the tie. */
enum { ROTA__STAGE_OWNS = 1, ROTA__STAGE_TIED = 2, ROTA__STAGE_ENDED = 4, ROTA__STAGE_FLAGS = 7 };

static inline rota_executor *rota__stage_executor(const rota__stage *stage)
{
    return (rota_executor *)(rota__load_relaxed(&stage->executor) & ~(uintptr_t)ROTA__STAGE_FLAGS);
}

static inline bool rota__stage_owns(const rota__stage *stage)
{
    return (rota__load_relaxed(&stage->executor) & ROTA__STAGE_OWNS) != 0;
}

/* A tie to one of several sources. */
typedef struct rota__tie {
    rota__action action;
    rota_future *source;
    rota__stage *stage;
} rota__tie;

struct rota__ties {
    rota__atomic(uint32_t) users;   /* who still looks at this: the ties that are not cut, and the
                                       stage until it lets its sources go */
    rota__atomic(uint32_t) waiting; /* sources that are not done; needs_all */
    rota__atomic(uint32_t) flags;   /* stage.c only */
    rota_future *first;             /* that was done; else */
    size_t n;
    rota__tie tie[];
};

/* -- stage.c -------------------------------------------------------------- */

/* The future is done with the sources in place. ROTA_ENOMEM. */
int rota__stage_follow(const rota__stage_kind *kind, rota_future *source, rota_executor *ex,
                       rota__step_fn fn, void *arg, rota_future **out);
int rota__stage_follow_many(const rota__stage_kind *kind, rota_future *const *sources, size_t n,
                            rota_executor *ex, rota__step_fn fn, void *arg, rota_future **out);

/* Two steps of the first of these: between them only the caller knows the stage. */
rota__stage *rota__stage_new(const rota__stage_kind *kind, rota_future *source, rota_executor *ex,
                             rota__step_fn fn, void *arg, bool held);
void rota__stage_start(rota__stage *stage);

/* From a step that gives a future: the stage ends as that does. Takes the reference. */
void *rota__stage_end_as(rota__stage *stage, rota_future *inner);

/* From a step: what it returns, where that may be a source's. */
void *rota__stage_value(rota_future *source, void *value);

rota__stage *rota__as_stage(rota_future *future); /* NULL: it is none */

/* -- timer.c -------------------------------------------------------------- */

/* As rota_schedule_call, once, on the process's timer. */
int rota__timer_set(const rota_call *call, rota_ns delay, rota_future **out);

rota_executor *rota__timer(void);                     /* NULL: no memory; timer.c only, and tests */
extern rota__atomic(rota_executor *) rota__the_timer; /* likewise */
void rota__timer_end(rota_ns patience);               /* the next use makes another */

#endif
