/* SPDX-License-Identifier: MIT */
/*
 * parking.c - the parker, waiters, interruption and the mutex.
 */
#include "base/mutex.h"
#include "base/time.h"
#include "base/wait.h"
#include "explore.h"

/* -- Park and unpark ------------------------------------------------------------------------- */

static rota__atomic(uint32_t) flag;
static int data; /* plain: ordered by what is tried here, or a data race is found */

static void set_flag_and_unpark(void *thread)
{
    data = 1;
    rota__store_release(&flag, 1);
    rota__unpark(thread);
}

/* wait.K1, FAULT-27: an unpark is not lost, whether it comes before, during or after the park. */
EXPLORE(an_unpark_is_never_lost)
{
    rota_thread *self = rota__self();

    rota__store_relaxed(&flag, 0);
    data = 0;
    ex_thread *other = ex_start(set_flag_and_unpark, self);
    while (rota__load_acquire(&flag) == 0)
        rota__park(self, ROTA_FOREVER);
    ex_check(data == 1);
    ex_join(other);
}

/* Two unparks, one of them perhaps for nothing. */
EXPLORE(two_unparks_at_once_are_harmless)
{
    rota_thread *self = rota__self();

    rota__store_relaxed(&flag, 0);
    ex_thread *first = ex_start((void (*)(void *))rota__unpark, self);
    ex_thread *second = ex_start((void (*)(void *))rota__unpark, self);
    rota__park(self, ROTA_FOREVER);
    ex_join(first);
    ex_join(second);
}

/* -- Waiters --------------------------------------------------------------------------------- */

/* A list with room for one waiter. */
static rota__atomic(rota__waiter *) listed;

static bool take_waiter(rota__waiter **waiter)
{
    *waiter = rota__load_acquire(&listed);
    return *waiter != NULL && rota__cas_acq_rel(&listed, waiter, NULL);
}

static void wake_listed(void *done)
{
    rota__waiter *waiter;

    if (take_waiter(&waiter)) {
        *(int *)done = 1;
        rota__waiter_wake(waiter);
    }
}

static bool withdraw_listed(rota__waiter *waiter, int why)
{
    (void)why;
    return rota__cas_acq_rel(&listed, &waiter, NULL);
}

static int wait_listed(int *woken)
{
    rota_ns deadline = rota__deadline(ROTA_MS(1));
    rota__waiter waiter;
    int status = rota__waiter_begin(&waiter, deadline);

    if (status != ROTA_OK)
        return status;
    rota__store_release(&listed, &waiter);
    status = rota__waiter_wait(&waiter, deadline, withdraw_listed);
    ex_check((status == ROTA_OK) == (*woken == 1));
    return status;
}

static void wait_in_thread(void *woken)
{
    wait_listed(woken);
}

/* wait.K2, wait.K3, thread.T3: time-out, wake and the end of the thread, whose stack goes. */
EXPLORE(a_waiter_may_end_its_thread_as_soon_as_it_is_woken)
{
    static int woken;

    woken = 0;
    rota__store_relaxed(&listed, NULL);
    ex_thread *waiting = ex_start(wait_in_thread, &woken);
    ex_thread *waker = ex_start(wake_listed, &woken);
    ex_join(waiting);
    ex_join(waker);
}

/* -- Interruption ---------------------------------------------------------------------------- */

static void interrupt(void *thread)
{
    rota_thread_interrupt(thread);
}

/* thread.T2, INT-05: an interrupt ends the sleep, whenever it comes. */
EXPLORE(an_interrupt_ends_a_sleep)
{
    ex_thread *other = ex_start(interrupt, rota_thread_self());

    ex_check(rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED);
    ex_check(!rota_is_interrupted());
    ex_join(other);
}

/* wait.K2, INT-06: a wait has one end, although a wake, an interrupt and its time come at once. */
EXPLORE(a_waiter_is_woken_and_interrupted_as_its_time_is_up)
{
    static int woken;

    woken = 0;
    rota__store_relaxed(&listed, NULL);
    ex_thread *interrupter = ex_start(interrupt, rota__self());
    ex_thread *waker = ex_start(wake_listed, &woken);
    int status = wait_listed(&woken);
    ex_join(interrupter);
    ex_join(waker);
    ex_check(rota_interrupted() == (status != ROTA_EINTERRUPTED));
}

/* INT-05, FAULT-27: a sleep that ends in time leaves the flag as it is. */
EXPLORE(a_sleep_reports_an_interrupt_or_leaves_it)
{
    ex_thread *other = ex_start(interrupt, rota__self());
    int status = rota_sleep(ROTA_MS(1));
    ex_join(other);
    ex_check((status == ROTA_EINTERRUPTED) != rota_interrupted());
}

/* INT-01, thread.T1: one that comes while a task runs is the task's, or stays for what follows. */
EXPLORE(an_interrupt_is_seen_once_inside_or_after_an_execution)
{
    rota__execution execution;
    ex_thread *other = ex_start(interrupt, rota__self());

    rota__execution_begin(&execution, NULL);
    bool inside = rota_interrupted();
    rota__execution_end(&execution);
    ex_join(other);
    bool after = rota_interrupted();
    ex_check(inside != after);
}

static void set_flag_and_interrupt(void *thread)
{
    rota__store_relaxed(&flag, 1);
    rota_thread_interrupt(thread);
}

/* thread.T4: two interrupts may be taken as one; who takes them sees what was done before either. */
EXPLORE(what_was_done_before_an_interrupt_is_seen_after_it)
{
    rota_thread *self = rota__self();

    rota__store_relaxed(&flag, 0);
    rota_thread_interrupt(self);
    ex_thread *other = ex_start(set_flag_and_interrupt, self);
    while (rota__load_relaxed(&flag) == 0)
        ex_check(rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED);
    ex_join(other);
    rota_interrupted();
}

static rota__atomic(uint32_t) done[2];

static void interrupt_0(void *thread)
{
    rota__store_relaxed(&done[0], 1);
    rota_thread_interrupt(thread);
}

static void interrupt_1(void *thread)
{
    rota__store_relaxed(&done[1], 1);
    rota_thread_interrupt(thread);
}

/* thread.T4: one swap takes the interrupts of two threads, and its thread sees what both did before. */
EXPLORE(what_two_interrupters_did_is_seen_after_one_interrupt)
{
    rota_thread *self = rota__self();

    rota__store_relaxed(&done[0], 0);
    rota__store_relaxed(&done[1], 0);
    ex_thread *first = ex_start(interrupt_0, self);
    ex_thread *second = ex_start(interrupt_1, self);
    while (rota__load_relaxed(&done[0]) == 0 || rota__load_relaxed(&done[1]) == 0)
        ex_check(rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED);
    ex_join(first);
    ex_join(second);
    rota_interrupted();
}

static int before_stop;

static void write_and_stop(void *thread)
{
    before_stop = 1;
    rota__thread_stop(thread);
}

/* thread.T4: an execution that is interrupted from its beginning sees what was done before the stop. */
EXPLORE(what_was_done_before_a_stop_is_seen_by_an_execution_that_begins_after_it)
{
    rota_thread *self = rota__self();
    rota__execution execution;

    before_stop = 0;
    ex_thread *other = ex_start(write_and_stop, self);
    rota__execution_begin(&execution, NULL);
    if (rota_interrupted())
        ex_check(before_stop == 1);
    rota__execution_end(&execution);
    ex_join(other);
    rota__thread_resume(self);
    rota_interrupted();
}

static void stop(void *thread)
{
    rota__thread_stop(thread);
}

/* thread.T2, thread.T4: what begins on a thread that is stopped is interrupted, also if another
   interrupt came before. */
EXPLORE(an_execution_that_begins_as_its_thread_is_stopped_is_interrupted)
{
    rota_thread *self = rota__self();
    rota__execution execution;

    rota_thread_interrupt(self);
    ex_thread *other = ex_start(stop, self);
    rota__execution_begin(&execution, NULL);
    ex_join(other);
    ex_check(rota_interrupted());
    rota__execution_end(&execution);
    rota__thread_resume(self);
    rota_interrupted();
}

/* -- The mutex ------------------------------------------------------------------------------- */

static rota__mutex mutex;
static int guarded;

static void count_under_lock(void *arg)
{
    (void)arg;
    rota__mutex_lock(&mutex);
    guarded++;
    rota__mutex_unlock(&mutex);
}

EXPLORE(a_mutex_excludes_three_threads)
{
    mutex = (rota__mutex){0};
    guarded = 0;
    ex_thread *first = ex_start(count_under_lock, NULL);
    ex_thread *second = ex_start(count_under_lock, NULL);
    count_under_lock(NULL);
    ex_join(first);
    ex_join(second);
    ex_check(guarded == 3);
}
