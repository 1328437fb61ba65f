/* SPDX-License-Identifier: MIT */
/* layers: thread_local, the thread's record */
#include "base/thread.h"

#include "base/fork.h"
#include "base/trace.h"
#include "base/wait.h"

#ifndef ROTA_EXPLORE
_Thread_local rota_thread rota__this_thread ROTA__TLS_MODEL;
#endif

rota__atomic(const rota__helper *) rota__anyones_helper;

/* -- A thread's life ------------------------------------------------------ */

/* A destructor of the program that runs later may call the library. Then the thread is prepared
   again, and this function runs once more. */
static void at_thread_exit(rota__os_exit_hook *at_exit)
{
    rota_thread *self = ROTA__CONTAINER(at_exit, rota_thread, at_exit);
    unsigned turns = ROTA__BACKOFF_INIT;

    self->watched = false;
    if (self->record != NULL)
        self->record->leave(self->record); /* trace.O2 */
    self->record = NULL;
    rota__magazines_empty(&self->magazines);
    while (rota__load_acquire(&self->holds) != 0) /* thread.T3a; pairs with rota__thread_release */
        rota__backoff(&turns);
}

void rota__thread_enter(rota_thread *self)
{
    if (self->current == NULL) {
        self->outermost.thread = self;
        self->current = &self->outermost;
        self->at_exit.run = at_thread_exit;
    }
    self->watched =
        rota__fork_register() == ROTA_OK && rota__os_on_thread_exit(&self->at_exit) == ROTA_OK;
}

/* The thread belongs to no executor any more, and no other thread can wake it. */
void rota__thread_reset_after_fork(rota_thread *self)
{
    rota__store_relaxed(&self->holds, 0);
    self->inside = NULL;
    self->helper = NULL;
    self->cancelling = NULL;
    self->submission = NULL;
    self->signal_target = NULL;
    self->signal_lock = (rota__mutex){0}; /* a thread of the parent may have held it */
    for (rota__execution *execution = self->current; execution != NULL;
         execution = execution->outer)
        execution->stop = NULL;
}

rota_thread *rota_thread_self(void)
{
    rota_thread *self = rota__self();

    return self->watched ? self : NULL;
}

/* -- Executions ----------------------------------------------------------- */

void rota__set_current_locked(rota_thread *self, rota__execution *execution)
{
    rota__mutex_lock(&self->signal_lock); /* thread.T5 */
    self->current = execution;
    rota__mutex_unlock(&self->signal_lock);
}

void rota__move_interrupt_in(rota_thread *self)
{
    rota__swap_acquire(&self->interrupted, 0); /* thread.T4b; pairs with rota_thread_interrupt */
    rota__or_acq_rel(&self->current->interrupted, ROTA__INTERRUPT_THREAD); /* thread.T1 */
}

void rota__move_interrupt_out(rota__execution *execution)
{
    rota__store_relaxed(&execution->interrupted, 0);        /* a second leave moves nothing */
    rota__swap_release(&execution->thread->interrupted, 1); /* thread.T1a */
}

void rota__execution_begin(rota__execution *execution, const void *subject, rota__stop_word *stop)
{
    rota__execution_init(execution, stop);
    rota__execution_enter(execution, subject);
}

void rota__execution_end(rota__execution *execution)
{
    rota__execution_leave(execution);
}

bool rota__is_executing(const void *subject)
{
    const rota__execution *execution = rota__self()->current;

    while (execution != NULL && execution->subject != subject)
        execution = execution->outer;
    return execution != NULL;
}

/* -- Inside --------------------------------------------------------------- */

void rota__inside_enter(rota__inside *inside, const void *object)
{
    rota_thread *self = rota__self();

    *inside = (rota__inside){object, self->inside};
    self->inside = inside;
}

void rota__inside_leave(const rota__inside *inside)
{
    rota__self()->inside = inside->outer;
}

bool rota__is_inside(const void *object)
{
    const rota__inside *inside = rota__self()->inside;

    while (inside != NULL && inside->object != object)
        inside = inside->outer;
    return inside != NULL;
}

/* -- Interruption --------------------------------------------------------- */

/* Flags an execution, and wakes its thread. */
static void set_flag(rota__execution *execution)
{
    rota__or_acq_rel(&execution->interrupted,
                     ROTA__INTERRUPT_TASK); /* thread.T4; pairs with is_flagged */
    rota__unpark(execution->thread);        /* thread.T2 */
}

void rota__interrupt_execution(rota__execution *execution)
{
    rota_thread *thread = execution->thread;

    set_flag(execution);
    if (thread->signal_target == NULL) /* set before any other thread had the address of this one */
        return;
    rota__mutex_lock(&thread->signal_lock);
    if (thread->current == execution) /* thread.T5a */
        rota__os_thread_signal(thread->signal_target);
    rota__mutex_unlock(&thread->signal_lock);
}

void rota_thread_interrupt(rota_thread *thread)
{
    if (thread == NULL)
        return;
    if (thread == &rota__this_thread) { /* INT-02: a task restores its own flag */
        set_flag(thread->current);
        return;
    }
    rota__swap_release(&thread->interrupted, 1); /* thread.T4c; pairs with is_flagged */
    rota__unpark(thread);                        /* thread.T2a */
    if (thread->signal_target != NULL)
        rota__os_thread_signal(thread->signal_target); /* whichever execution is current */
}

void rota__stop_set(rota__stop_word *stop)
{
    rota__swap_release(stop, 1); /* thread.T6; pairs with is_stopped */
}

void rota__stop_wake(rota_thread *thread, const rota__stop_word *stop)
{
    rota__unpark(thread); /* thread.T2b */
    if (thread->signal_target == NULL)
        return;
    rota__mutex_lock(&thread->signal_lock);
    if (thread->current->stop == stop) /* thread.T5b */
        rota__os_thread_signal(thread->signal_target);
    rota__mutex_unlock(&thread->signal_lock);
}

static bool is_flagged(const rota_thread *self)
{
    return rota__load_acquire(&self->interrupted) != 0
           || rota__load_acquire(&self->current->interrupted) != 0;
}

static bool is_stopped(const rota__execution *execution)
{
    return execution->stop != NULL && !execution->stop_taken
           && rota__load_acquire(execution->stop) != 0; /* thread.T6a; pairs with rota__stop_set */
}

bool rota__is_interrupted(const rota_thread *self)
{
    return is_flagged(self) || is_stopped(self->current);
}

/* Pairs with every function that sets a flag. */
static void take_flag(rota__atomic(uint32_t) * interrupted)
{
    rota__swap_acquire(interrupted, 0); /* thread.T4a */
}

bool rota__take_interrupt(rota_thread *self)
{
    if (ROTA__LIKELY(!rota__is_interrupted(self)))
        return false;
    take_flag(&self->interrupted);
    take_flag(&self->current->interrupted);
    if (is_stopped(self->current))
        self->current->stop_taken = true;
    return true;
}

bool rota_interrupted(void)
{
    return rota__take_interrupt(rota__self());
}

bool rota_is_interrupted(void)
{
    return rota__is_interrupted(rota__self());
}
