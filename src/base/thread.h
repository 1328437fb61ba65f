/* SPDX-License-Identifier: MIT */
/*
 * thread.h - what the library knows of a thread, and interruption.
 *
 * Every thread has a rota_thread, in its thread-local storage. It knows what
 * the thread executes: a task, a task that this one runs while it waits, and
 * so on. Each execution has an interrupt flag of its own.
 *
 *   thread.T1  An interrupt aimed at an execution sets that one's flag; one aimed at the thread
 *              sets the thread's flag, which belongs to the innermost execution. When another
 *              begins inside that, the flag moves into the execution it was meant for. One that was
 *              not seen stays.
 *   thread.T2  Whoever sets a flag then unparks the thread. A thread that waits looks at both flags
 *              after each unpark. So no interrupt is slept through. Executions that begin on a
 *              stopped thread are interrupted from birth.
 *   thread.T3  A thread does not exit while it is held: another thread has its address and will
 *              still unpark it (wait.h).
 *   thread.T4  A flag is set by a swap, which releases, and taken by a swap, which acquires. One
 *              swap may take the interrupts of several threads. It then sees what each of them did
 *              before: a read-modify-write continues the release sequence of the one before it,
 *              which a store would end.
 *   thread.T5  An execution that begins on a stopped thread sees what was done before the stop.
 */
/* layers: thread_local, the thread's record */
#ifndef ROTA_BASE_THREAD_H
#define ROTA_BASE_THREAD_H

#include "base/atomic.h"
#include "base/block.h"
#include "base/compiler.h"
#include "os/os.h"

#include <rota/base.h>

typedef struct rota__execution rota__execution;
typedef struct rota__trace_record rota__trace_record; /* trace.h */

/* On the stack of the thread that executes. Aligned so that its address leaves bits free. */
struct rota__execution {
    _Alignas(16) rota_thread *thread;
    rota__execution *outer;             /* what it runs inside of, or NULL */
    const void *subject;                /* the future that it runs, or NULL */
    rota__atomic(uint32_t) interrupted; /* thread.T1 */
    bool may_fail;                      /* rota_fail counts here */
    int error;                          /* its code */
};

struct rota_future;
struct rota_task;

/* How a thread helps while it waits for a future: a worker runs tasks of its pool. */
typedef struct rota__helper {
    /* Takes the task of the future, if it is queued and due. NULL: *ready_at is the time at which the
       task will be due, or ROTA_FOREVER if it is not queued. */
    struct rota_task *(*take)(const struct rota__helper *self, struct rota_future *future,
                              rota_ns *ready_at);
    void (*run)(const struct rota__helper *self, struct rota_task *task); /* that was taken */
    /* Runs other tasks until the future is done or there are none. True: it has run one. */
    bool (*run_others)(const struct rota__helper *self, struct rota_future *future);
    void (*wait_begins)(const struct rota__helper *self); /* around every wait; or NULL */
    void (*wait_ends)(const struct rota__helper *self);
} rota__helper;

/* Of threads that have none of their own; NULL: there is none. */
extern rota__atomic(const rota__helper *) rota__anyones_helper;

/* How long it pays to spin at one place: wait.h. Begins with zeros. */
typedef struct rota__spin_budget {
    rota_ns time;
    unsigned misses; /* in a row */
} rota__spin_budget;

/* An object that the calling thread is inside of, such as an executor. Lies on its stack. */
typedef struct rota__inside {
    const void *object;
    const struct rota__inside *outer;
} rota__inside;

struct rota_thread {
    rota__os_word permit;                /* wait.c only */
    rota__atomic(uint32_t) interrupted;  /* thread.T1 */
    rota__atomic(uint32_t) stopped;      /* thread.T1: how often */
    rota__atomic(uint32_t) holds;        /* thread.T3 */
    bool watched;                        /* its end will be noticed */
    rota__execution *current;            /* the innermost; the thread's own to read */
    rota__execution outermost;           /* outside any task */
    const rota__inside *inside;          /* what it is inside of, innermost first, or NULL */
    const rota__helper *helper;          /* or NULL */
    void *deck;                          /* of a fork/join worker, in explored builds */
    void **cancelling;                   /* compose/stage.c only */
    struct rota__submission *submission; /* exec/run.c only; the innermost, or NULL */
    rota__trace_record *record;          /* the tracer's, or NULL: trace.h */
    rota__spin_budget spin;              /* of its waits for futures */
    rota__os_thread *signalled;          /* gets a signal with each interrupt; or NULL */
    rota__os_exit_hook at_exit;
    rota__magazines magazines; /* block.h and block.c only */
};

#ifdef ROTA_EXPLORE
rota_thread *ex_self(void);
#define rota__this_thread (*ex_self())
#else
extern _Thread_local rota_thread rota__this_thread ROTA__TLS_MODEL;
#endif

/* Prepares the calling thread's; `watched` stays false if its end cannot be noticed. */
void rota__thread_enter(rota_thread *self);

static inline rota_thread *rota__self(void)
{
    rota_thread *self = &rota__this_thread;

    if (ROTA__UNLIKELY(!self->watched))
        rota__thread_enter(self);
    return self;
}

/* -- Executions ----------------------------------------------------------- */

/* An execution of the calling thread, inside what it executes now. It can be entered many times. */
static inline void rota__execution_init(rota__execution *execution)
{
    execution->thread = rota__self();
    execution->outer = execution->thread->current;
    execution->may_fail = true;
}

void rota__take_flag_for_current(rota_thread *self); /* thread.T1 */

static inline void rota__execution_enter(rota__execution *execution, const void *subject)
{
    rota_thread *self = execution->thread;

    if (ROTA__UNLIKELY(rota__load_acquire(&self->interrupted) != 0))
        rota__take_flag_for_current(self);
    execution->subject = subject;
    execution->error = 0;
    /* After the thread's flag was taken (thread.T4): a stop sets these two in the other order. */
    rota__store_relaxed(&execution->interrupted,
                        rota__load_acquire(&self->stopped)); /* thread.T5 */
    self->current = execution;
}

static inline void rota__execution_leave(rota__execution *execution)
{
    execution->thread->current = execution->outer;
}

/* Both. */
void rota__execution_begin(rota__execution *execution, const void *subject);
void rota__execution_end(rota__execution *execution);

/* Does the calling thread execute `subject`, at any depth? */
bool rota__is_executing(const void *subject);

/* -- Inside --------------------------------------------------------------- */

/* The calling thread is inside `object` until it leaves. */
void rota__inside_enter(rota__inside *inside, const void *object);
void rota__inside_leave(const rota__inside *inside);

/* Tells whether the calling thread is inside `object`, at any depth. It must not wait for the end of
   such an object: it would wait for itself. */
bool rota__is_inside(const void *object);

/* -- Interruption --------------------------------------------------------- */

/* The execution must last until this returns. */
void rota__interrupt_execution(rota__execution *execution);

/* Ends a wait of the thread outside of tasks; nothing that it executes notices. */
void rota__thread_nudge(rota_thread *thread);

/* Interrupts what the thread executes, and all that it will: thread.T1. */
void rota__thread_stop(rota_thread *thread);

/* Takes one stop back, for the calling thread, and an interrupt that nothing has seen. */
void rota__thread_resume(rota_thread *self);

/* The flag of what `self`, the calling thread, executes now. */
bool rota__is_interrupted(const rota_thread *self);
bool rota__take_interrupt(rota_thread *self); /* and clears it */

/* -- Holds (thread.T3) ----------------------------------------------------------- */

/* The calling thread holds itself, on behalf of the thread that will wake it. */
static inline void rota__thread_hold(rota_thread *self)
{
    rota__add_relaxed(&self->holds, 1);
}

/* The last access to the thread by its waker. */
static inline void rota__thread_release(rota_thread *thread)
{
    rota__sub_release(&thread->holds, 1); /* pairs with at_thread_exit */
}

#endif
