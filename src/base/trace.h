/* SPDX-License-Identifier: MIT */
/*
 * trace.h - trace points: the places in the library that call an observer.
 *
 * A process has one tracer, or none. Without a tracer, a trace point costs a load and a branch.
 * With ROTA_USDT the trace points are also probes for tools such as bpftrace. A probe that is not
 * used costs one instruction that does nothing.
 *
 *   trace.O1  A tracer is never freed, because a thread may still be in one of its functions after
 *             it was replaced. A span ends with the tracer that it began with.
 *   trace.O2  Each thread writes its own record, and returns it when the thread ends.
 */
#ifndef ROTA_BASE_TRACE_H
#define ROTA_BASE_TRACE_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/thread.h"

#ifdef ROTA_USDT
#include <sys/sdt.h>
#define ROTA__PROBE1(name, a)       DTRACE_PROBE1(rota, name, a)
#define ROTA__PROBE2(name, a, b)    DTRACE_PROBE2(rota, name, a, b)
#define ROTA__PROBE3(name, a, b, c) DTRACE_PROBE3(rota, name, a, b, c)
#else
#define ROTA__PROBE1(name, a)       ((void)(a))
#define ROTA__PROBE2(name, a, b)    ((void)(a), (void)(b))
#define ROTA__PROBE3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#endif

typedef struct rota__tracer rota__tracer;

/* The record of one thread: trace.O2. */
struct rota__trace_record {
    void (*leave)(rota__trace_record *record); /* called when the thread ends */
};

/* One run of one task, on the stack of its thread. */
typedef struct rota__span {
    const rota__tracer *tracer; /* trace.O1; the other fields belong to the tracer */
    rota__trace_record *record; /* NULL if there was no memory */
    struct rota__cell *cell;
    rota_ns begun;
    bool is_shown;
} rota__span;

/* Describes a task that begins. */
typedef struct rota__traced {
    const void *executor;
    const char *name;
    const void *future; /* or NULL */
    int64_t stamp;      /* submission (less than 0) or due time; 0 or INT64_MIN: unknown */
    bool follows;       /* the worker took it from a queue right after its last task */
} rota__traced;

typedef enum rota__trace_event {
    ROTA__TRACE_BEGIN, /* BEGIN and END: a run, as the recorder notes it */
    ROTA__TRACE_END,
    ROTA__TRACE_PARK,   /* the thread is about to sleep */
    ROTA__TRACE_UNPARK, /* the thread continues */
    ROTA__TRACE_STEAL,
    ROTA__TRACE_FULL, /* a queue has no room */
    ROTA__TRACE_REJECT,
    ROTA__TRACE_LATE,   /* a timer ran late; the value is the delay */
    ROTA__TRACE_THREAD, /* in a recording: the following events are of this thread */
    ROTA__TRACE_NAME,   /* in a recording: a part of the name of the thread */
    ROTA__TRACE_NAMED,  /* in a recording: the last part of the name */
} rota__trace_event;

struct rota__tracer {
    int64_t (*stamp)(void); /* the time of a submission, as a number between INT64_MIN and 0 */
    void (*begin)(rota__span *span, const rota__traced *task);
    void (*end)(rota__span *span, bool has_failed);
    void (*event)(rota__trace_event event, const void *executor, int64_t value);
    /* Notes the future that the calling thread waits for, or NULL. Returns the previous one. */
    const void *(*waits)(const void *future);
};

#ifdef ROTA_EXPLORE /* a tracer changes nothing that other threads see */
static inline const rota__tracer *rota__tracer_now(void)
{
    return NULL;
}
#else
extern rota__atomic(const rota__tracer *) rota__the_tracer;

static inline const rota__tracer *rota__tracer_now(void)
{
    return rota__load_acquire(&rota__the_tracer); /* pairs with the store that sets it */
}
#endif

static inline void rota__trace(rota__trace_event event, const void *executor, int64_t value)
{
    const rota__tracer *tracer = rota__tracer_now();

    if (ROTA__UNLIKELY(tracer != NULL))
        tracer->event(event, executor, value);
}

static inline void rota__trace_parks(void)
{
    ROTA__PROBE1(park, 0);
    rota__trace(ROTA__TRACE_PARK, NULL, 0);
}

static inline void rota__trace_goes_on(void)
{
    ROTA__PROBE1(unpark, 0);
    rota__trace(ROTA__TRACE_UNPARK, NULL, 0);
}

static inline void rota__trace_steal(const void *executor)
{
    ROTA__PROBE1(steal, executor);
    rota__trace(ROTA__TRACE_STEAL, executor, 0);
}

static inline void rota__trace_full(const void *executor)
{
    ROTA__PROBE1(queue__full, executor);
    rota__trace(ROTA__TRACE_FULL, executor, 0);
}

static inline void rota__trace_reject(const void *executor)
{
    ROTA__PROBE1(reject, executor);
    rota__trace(ROTA__TRACE_REJECT, executor, 0);
}

/* Notes the future that the calling thread waits for, or none with NULL. Returns the previous one.
   A wait with a timeout is not noted, because it cannot be part of a deadlock. */
static inline const void *rota__trace_waits(const void *future, bool for_ever)
{
    const rota__tracer *tracer = rota__tracer_now();

    ROTA__PROBE1(future__wait, future);
    return ROTA__UNLIKELY(tracer != NULL) ? tracer->waits(for_ever ? future : NULL) : NULL;
}

#endif
