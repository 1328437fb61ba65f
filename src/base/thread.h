/* SPDX-License-Identifier: MIT */
/*
 * thread.h - the thread record, executions and interrupts.
 *
 * Every thread has a rota_thread in its thread-local storage. It has a chain of executions: a task, a
 * task that the thread runs while the first one waits, and so on. Each execution has an interrupt
 * flag of its own. An execution of an executor's task also refers to the stop word of that executor.
 *
 *   thread.T1  An execution's flag is for that execution. A thread's flag is for the execution that
 *              is current when the thread checks it. Before another execution begins, the thread's
 *              flag moves into the current execution. If that execution ends without having taken
 *              the interrupt, the flag moves back to the thread. A stop word interrupts each
 *              execution that refers to it once.
 *   thread.T2  A thread that sets a flag or a stop word then unparks the interrupted thread. A
 *              thread that waits checks its own flag, the flag of its current execution and the
 *              stop word after each unpark. So no interrupt is slept through.
 *   thread.T3  A thread does not exit while it is held: another thread has its address and will
 *              still unpark it (wait.h).
 *   thread.T4  A flag is set by a read-modify-write, which releases, and taken by a swap, which
 *              acquires. One swap may take the interrupts of several threads. The thread then sees
 *              what each of them did before: a read-modify-write continues the release sequence of
 *              the one before it, but a store would end the sequence.
 *   thread.T5  The signal for an execution is sent only while that execution is the current one.
 *              With a signal_target, `current` changes with signal_lock held.
 *   thread.T6  A stop word is never cleared; an execution notes that it has taken the stop. An
 *              execution that sees the word set also sees what was done before the stop.
 */
/* layers: thread_local, the thread's record */
#ifndef ROTA_BASE_THREAD_H
#define ROTA_BASE_THREAD_H

#include "base/atomic.h"
#include "base/block.h"
#include "base/compiler.h"
#include "base/mutex.h"
#include "os/os.h"

#include <rota/base.h>

typedef struct rota__execution rota__execution;
typedef struct rota__trace_record rota__trace_record; /* trace.h */

/* Belongs to an executor: 0, or 1 from rota_shutdown_now on (thread.T6). */
typedef rota__atomic(uint32_t) rota__stop_word;

/* Bits of an execution's flag. */
enum {
    ROTA__INTERRUPT_TASK = 1,  /* this execution was interrupted */
    ROTA__INTERRUPT_THREAD = 2 /* the thread was, while this execution was current (thread.T1) */
};

/* On the stack of its thread, except the outermost. Aligned, so that the low bits of its address are free. */
struct rota__execution {
    _Alignas(16) rota_thread *thread;
    rota__execution *outer;             /* the one around it, or NULL */
    const void *subject;                /* the future that it runs, or NULL */
    rota__stop_word *stop;              /* of the executor whose task it is, or NULL */
    rota__atomic(uint32_t) interrupted; /* thread.T1 */
    bool stop_taken;                    /* thread.T6 */
    bool may_fail;                      /* rota_fail has an effect here */
    int error;                          /* the code that was given to rota_fail, or 0 */
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

/* The helper of threads that have no helper of their own, or NULL. */
extern rota__atomic(const rota__helper *) rota__anyones_helper;

/* How long it pays to spin at one place: see wait.h. All zero at first. */
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
    rota__atomic(uint32_t) holds;        /* thread.T3 */
    bool watched;                        /* at_exit is set: the library notices the thread's end */
    rota__execution *current;            /* the innermost; others read it as thread.T5 says */
    rota__execution outermost;           /* outside of tasks; a worker's has a stop word */
    const rota__inside *inside;          /* what it is inside of, innermost first, or NULL */
    const rota__helper *helper;          /* or NULL */
    void *deck;                          /* of a fork/join worker, in explored builds */
    void **cancelling;                   /* compose/stage.c only */
    struct rota__submission *submission; /* exec/run.c only; the innermost, or NULL */
    rota__trace_record *record;          /* the tracer's, or NULL: trace.h */
    rota__spin_budget spin;              /* of its waits for futures */
    rota__os_thread *signal_target;      /* gets a signal with each interrupt; or NULL */
    rota__mutex signal_lock;             /* thread.T5 */
    rota__os_exit_hook at_exit;
    rota__magazines magazines; /* block.h and block.c only */
};

#ifdef ROTA_EXPLORE
rota_thread *ex_self(void);
#define rota__this_thread (*ex_self())
#else
extern _Thread_local rota_thread rota__this_thread ROTA__TLS_MODEL;
#endif

/* Prepares the record of the calling thread. `watched` stays false if the library cannot notice the
   end of the thread. */
void rota__thread_enter(rota_thread *self);

/* Called in a child of fork(2): forgets the threads and executors of the parent. */
void rota__thread_reset_after_fork(rota_thread *self);

static inline rota_thread *rota__self(void)
{
    rota_thread *self = &rota__this_thread;

    if (ROTA__UNLIKELY(!self->watched))
        rota__thread_enter(self);
    return self;
}

/* -- Executions ----------------------------------------------------------- */

/* Prepares an execution inside the current one. It can be entered many times. */
static inline void rota__execution_init(rota__execution *execution, rota__stop_word *stop)
{
    execution->thread = rota__self();
    execution->outer = execution->thread->current;
    execution->stop = stop;
    execution->may_fail = true;
}

void rota__set_current_locked(rota_thread *self, rota__execution *execution); /* thread.T5 */
void rota__move_interrupt_in(rota_thread *self);                              /* thread.T1 */
void rota__move_interrupt_out(rota__execution *execution);                    /* thread.T1 */

static inline void rota__set_current(rota_thread *self, rota__execution *execution)
{
    if (ROTA__LIKELY(self->signal_target == NULL))
        self->current = execution;
    else
        rota__set_current_locked(self, execution);
}

static inline void rota__execution_enter(rota__execution *execution, const void *subject)
{
    rota_thread *self = execution->thread;

    if (ROTA__UNLIKELY(rota__load_acquire(&self->interrupted) != 0))
        rota__move_interrupt_in(self);
    execution->subject = subject;
    execution->error = 0;
    execution->stop_taken = false;
    rota__store_relaxed(&execution->interrupted, 0);
    rota__set_current(self, execution);
}

static inline void rota__execution_leave(rota__execution *execution)
{
    rota__set_current(execution->thread, execution->outer);
    if (ROTA__UNLIKELY(rota__load_relaxed(&execution->interrupted) & ROTA__INTERRUPT_THREAD))
        rota__move_interrupt_out(execution);
}

/* rota__execution_init and rota__execution_enter; and rota__execution_leave. */
void rota__execution_begin(rota__execution *execution, const void *subject, rota__stop_word *stop);
void rota__execution_end(rota__execution *execution);

/* Tells whether the calling thread executes `subject`, at any depth. */
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

/* Interrupts the executions that refer to the word: first set it, then wake each of their threads. */
void rota__stop_set(rota__stop_word *stop);
void rota__stop_wake(rota_thread *thread, const rota__stop_word *stop);

/* Tells whether the current execution of `self`, the calling thread, is interrupted. */
bool rota__is_interrupted(const rota_thread *self);
bool rota__take_interrupt(rota_thread *self); /* also clears the flags */

/* -- Holds (thread.T3) ----------------------------------------------------------- */

/* The calling thread holds itself, on behalf of the thread that will wake it. */
static inline void rota__thread_hold(rota_thread *self)
{
    rota__add_relaxed(&self->holds, 1);
}

/* Ends a hold. This is the waker's last access to the thread. */
static inline void rota__thread_release(rota_thread *thread)
{
    rota__sub_release(&thread->holds, 1); /* pairs with at_thread_exit */
}

#endif
