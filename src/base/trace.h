/* SPDX-License-Identifier: MIT */
/*
 * trace.h - the points at which something happens that an observer may want to know.
 *
 * There is one tracer in the process, or none, and where there is none a point costs a load and a
 * branch. The same points are probes for tools like bpftrace, if the build has them (ROTA_USDT),
 * which cost an instruction that does nothing.
 *
 *   trace.O1  A tracer is good for ever: a thread may still be in there after it was taken away. So
 *             what begins with one ends with the same one.
 *   trace.O2  What a thread has recorded is a record of its own, which goes back when the thread
 *             ends.
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

/* Of a thread: trace.O2. */
struct rota__trace_record {
    void (*leave)(rota__trace_record *record); /* the thread ends */
};

/* One task's turn on a thread, on its stack. */
typedef struct rota__span {
    const rota__tracer *tracer; /* trace.O1; the rest is the tracer's */
    rota__trace_record *record; /* or NULL: there was no memory */
    struct rota__cell *cell;
    rota_ns begun;
    bool is_shown;
} rota__span;

/* What is known of a task that begins. */
typedef struct rota__traced {
    const void *executor;
    const char *name;
    const void *future; /* or NULL */
    int64_t stamp;      /* when it was submitted or is due; 0 or INT64_MIN: it is not known */
    bool follows;       /* it was taken from a queue right after the last one ended */
} rota__traced;

typedef enum rota__trace_event {
    ROTA__TRACE_BEGIN, /* and end, as the recorder notes them */
    ROTA__TRACE_END,
    ROTA__TRACE_PARK,   /* the thread is about to sleep, */
    ROTA__TRACE_UNPARK, /* and goes on */
    ROTA__TRACE_STEAL,
    ROTA__TRACE_FULL, /* a queue */
    ROTA__TRACE_REJECT,
    ROTA__TRACE_LATE,   /* a timer; by so much */
    ROTA__TRACE_THREAD, /* in a recording: from here on it is that thread, */
    ROTA__TRACE_NAME,   /* of which this is a part of the name, */
    ROTA__TRACE_NAMED,  /* and this the rest */
} rota__trace_event;

struct rota__tracer {
    int64_t (*stamp)(void); /* of a task that is submitted: less than 0, more than INT64_MIN */
    void (*begin)(rota__span *span, const rota__traced *task);
    void (*end)(rota__span *span, bool has_failed);
    void (*event)(rota__trace_event event, const void *executor, int64_t value);
    const void *(*waits)(
        const void *future); /* the calling thread, from now on; what it was before */
};

#ifdef ROTA_EXPLORE /* as it changes nothing that others see, there is nothing to explore */
static inline const rota__tracer *rota__tracer_now(void)
{
    return NULL;
}
#else
extern rota__atomic(const rota__tracer *) rota__the_tracer;

static inline const rota__tracer *rota__tracer_now(void)
{
    return rota__load_acquire(&rota__the_tracer); /* pairs with who sets it */
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

/* The calling thread waits for it, or, with NULL, for none; what it waited for before. Who waits for a
   time only is in nobody's way for ever. */
static inline const void *rota__trace_waits(const void *future, bool for_ever)
{
    const rota__tracer *tracer = rota__tracer_now();

    ROTA__PROBE1(future__wait, future);
    return ROTA__UNLIKELY(tracer != NULL) ? tracer->waits(for_ever ? future : NULL) : NULL;
}

#endif
