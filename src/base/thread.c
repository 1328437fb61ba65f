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

/* Destructors that run after this one may enter the thread once more. */
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
        rota__fork_watch() == ROTA_OK && rota__os_on_thread_exit(&self->at_exit) == ROTA_OK;
}

rota_thread *rota_thread_self(void)
{
    rota_thread *self = rota__self();

    return self->watched ? self : NULL;
}

/* -- Executions ----------------------------------------------------------- */

void rota__take_flag_for_current(rota_thread *self)
{
    rota__swap_acquire(&self->interrupted, 0);           /* thread.T4b; for rota_thread_interrupt */
    rota__store_relaxed(&self->current->interrupted, 1); /* thread.T1 */
}

void rota__execution_begin(rota__execution *execution, const void *subject)
{
    rota__execution_init(execution);
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

static void rouse(rota_thread *thread)
{
    rota__unpark(thread);
    if (thread->signalled != NULL) /* set before anybody knew the thread */
        rota__os_thread_signal(thread->signalled);
}

void rota__interrupt_execution(rota__execution *execution)
{
    rota__swap_release(&execution->interrupted,
                       1); /* thread.T2, thread.T4; read by is_interrupted */
    rouse(execution->thread);
}

void rota_thread_interrupt(rota_thread *thread)
{
    if (thread == NULL)
        return;
    rota__swap_release(&thread->interrupted, 1); /* thread.T2, thread.T4c; read by is_interrupted */
    rouse(thread);                               /* thread.T2a */
}

void rota__thread_nudge(rota_thread *thread)
{
    rota__swap_release(&thread->outermost.interrupted, 1); /* thread.T4; read by is_interrupted */
    rota__unpark(thread);
}

void rota__thread_stop(rota_thread *thread)
{
    rota__add_release(&thread->stopped, 1); /* thread.T1, pairs with rota__execution_begin */
    rota_thread_interrupt(thread);
}

void rota__thread_resume(rota_thread *self)
{
    rota__sub_acq_rel(&self->stopped, 1);
    rota__swap_acquire(&self->interrupted, 0); /* thread.T4 */
}

bool rota__is_interrupted(const rota_thread *self)
{
    return rota__load_acquire(&self->interrupted) != 0
           || rota__load_acquire(&self->current->interrupted) != 0;
}

/* Pairs with all that set one. */
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
