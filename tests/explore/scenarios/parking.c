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

    rota__execution_begin(&execution, NULL, NULL);
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
    ex_join(ex_start(interrupt, self));
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

/* thread.T4: the flag moves into the outer execution, and the thread sees what both did before. */
EXPLORE(two_interrupts_come_as_an_execution_begins)
{
    rota_thread *self = rota__self();
    rota__execution execution;

    rota__store_relaxed(&done[1], 0);
    ex_join(ex_start(interrupt, self));
    ex_thread *other = ex_start(interrupt_1, self);
    rota__execution_begin(&execution, NULL, NULL);
    while (rota__load_relaxed(&done[1]) == 0)
        ex_check(rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED);
    rota__execution_end(&execution);
    ex_join(other);
    rota_interrupted();
}

/* thread.T1: the outer execution was interrupted, runs another one, and ends. */
EXPLORE(an_interrupt_of_the_thread_outlives_the_execution_that_missed_it)
{
    rota_thread *self = rota__self();
    rota__execution outer, inner;

    ex_thread *other = ex_start(interrupt, self);
    rota__execution_begin(&outer, NULL, NULL);
    rota__execution_begin(&inner, NULL, NULL);
    bool inside = rota_interrupted();
    rota__execution_end(&inner);
    rota__execution_end(&outer);
    ex_join(other);
    ex_check(inside != rota_interrupted());
}

/* INT-02: an own interrupt ends with the task. */
EXPLORE(an_own_interrupt_ends_with_the_execution_that_sets_it)
{
    rota__execution outer, inner;

    rota__execution_begin(&outer, NULL, NULL);
    rota_thread_interrupt(rota__self());
    rota__execution_begin(&inner, NULL, NULL);
    ex_check(!rota_is_interrupted());
    rota__execution_end(&inner);
    ex_check(rota_is_interrupted());
    rota__execution_end(&outer);
    ex_check(!rota_is_interrupted());
}

/* -- Stop words ------------------------------------------------------------------------------ */

static rota__stop_word stop_word;
static int before_stop;

static void stop(void *thread)
{
    before_stop = 1;
    rota__stop_set(&stop_word);
    rota__stop_wake(thread, &stop_word);
}

static void start_stopping(ex_thread **other)
{
    before_stop = 0;
    rota__store_relaxed(&stop_word, 0);
    *other = ex_start(stop, rota__self());
}

/* thread.T2, thread.T6: also if the word is set before the execution begins. */
EXPLORE(a_stop_ends_the_sleep_of_its_executions)
{
    rota__execution execution;
    ex_thread *other;

    start_stopping(&other);
    rota__execution_begin(&execution, NULL, &stop_word);
    ex_check(rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED);
    ex_check(!rota_is_interrupted());
    rota__execution_end(&execution);
    ex_join(other);
    ex_check(!rota_is_interrupted()); /* it was a stop of the task's executor only */
}

/* thread.T1: both executions are the executor's, and each is interrupted once. */
EXPLORE(a_stop_interrupts_the_inner_and_the_outer_task_once)
{
    rota__execution outer, inner;
    ex_thread *other;

    start_stopping(&other);
    rota__execution_begin(&outer, NULL, &stop_word);
    rota__execution_begin(&inner, NULL, &stop_word);
    ex_check(rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED);
    rota__execution_end(&inner);
    ex_check(rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED);
    ex_check(!rota_is_interrupted());
    rota__execution_end(&outer);
    ex_join(other);
}

/* thread.T1: a task of another executor inside it is not interrupted. */
EXPLORE(a_stop_passes_by_an_inner_task_of_another_executor)
{
    rota__execution outer, inner;
    ex_thread *other;

    start_stopping(&other);
    rota__execution_begin(&outer, NULL, &stop_word);
    rota__execution_begin(&inner, NULL, NULL);
    ex_check(rota_sleep(ROTA_MS(1)) == ROTA_OK);
    rota__execution_end(&inner);
    ex_check(rota_sleep(ROTA_FOREVER) == ROTA_EINTERRUPTED);
    rota__execution_end(&outer);
    ex_join(other);
}

/* thread.T6 */
EXPLORE(a_stopped_execution_sees_what_was_done_before_the_stop)
{
    rota__execution execution;
    ex_thread *other;

    start_stopping(&other);
    rota__execution_begin(&execution, NULL, &stop_word);
    if (rota_interrupted())
        ex_check(before_stop == 1);
    rota__execution_end(&execution);
    ex_join(other);
}

/* -- Signals --------------------------------------------------------------------------------- */

#ifdef ROTA_EXPLORE /* which reports each signal as it is sent */
static rota_thread *signalled;
static rota__execution *meant_for;
static const rota__stop_word *meant_for_word;

static void check_signal(void)
{
    const rota__execution *current = signalled->current;

    ex_check(current == meant_for || (meant_for_word != NULL && current->stop == meant_for_word));
}

static void interrupt_meant(void *unused)
{
    (void)unused;
    rota__interrupt_execution(meant_for);
}

static void run_inner(rota__stop_word *stop)
{
    rota__execution inner;

    rota__execution_begin(&inner, NULL, stop);
    rota__execution_end(&inner);
}

static void expect_signals(rota__execution *execution, const rota__stop_word *stop)
{
    static rota__os_thread target;

    signalled = rota__self();
    signalled->signal_target = &target;
    meant_for = execution;
    meant_for_word = stop;
    ex_on_signal = check_signal;
}

/* thread.T5: while the inner one runs, no signal is sent. */
EXPLORE(the_signal_for_an_outer_execution_misses_the_inner_one)
{
    rota__execution outer;

    expect_signals(&outer, NULL);
    rota__execution_begin(&outer, NULL, NULL);
    ex_thread *other = ex_start(interrupt_meant, NULL);
    run_inner(NULL);
    ex_join(other);
    ex_check(rota_interrupted());
    rota__execution_end(&outer);
    ex_on_signal = NULL;
}

/* thread.T5 */
EXPLORE(the_signal_of_a_stop_misses_other_executions)
{
    rota__execution outer;
    ex_thread *other;

    expect_signals(NULL, &stop_word);
    start_stopping(&other);
    rota__execution_begin(&outer, NULL, &stop_word);
    run_inner(NULL);
    run_inner(&stop_word);
    rota__execution_end(&outer);
    ex_join(other);
    ex_on_signal = NULL;
}
#endif

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
