/* SPDX-License-Identifier: MIT */
/*
 * platform.c - os.h for the explorer: the third platform, in which one thread runs at a time.
 */
#include "engine.h"

#include "os/os.h"

#include <stdlib.h>

rota_thread *ex_self(void)
{
    return &ex_running->self;
}

/* -- Waiting on a word ----------------------------------------------------------------------- */

static uint32_t value_before_sleep(const rota__os_word *word)
{
    if (!history_is_on())
        return *word;
    history_see_wakes(word, sizeof *word);
    return (uint32_t)history_load(word, sizeof *word, EX_RELAXED);
}

void rota__os_wait(rota__os_word *word, uint32_t expected, rota_ns deadline)
{
    ex_point("os_wait", word, "os", 0);
    memory_check(word, "os_wait", "os", 0);
    memory_drain(ex_running);
    if (value_before_sleep(word) != expected || deadline <= ex_now
        || choice_make(EX_SPURIOUS, 2) == 1)
        return;
    ex_wait(word, deadline);
}

void rota__os_wake(rota__os_word *word) /* which may be gone: only its address counts */
{
    ex_point("os_wake", word, "os", 0);
    if (history_is_on())
        history_wake(word, sizeof *word);
    ex_wake(word);
}

/* -- Time and CPUs --------------------------------------------------------------------------- */

rota_ns rota__os_now(void)
{
    if (choice_make(EX_TIME, 2) == 1)
        ex_now += ROTA_HOURS(1);
    return ex_now;
}

unsigned rota__os_cpu_count(void)
{
    return 2;
}

bool rota__os_membarrier(void)
{
    ex_point("barrier", NULL, "os", 0);
    ex_barrier();
    return true;
}

void rota__os_reduce_timer_slack(void)
{
}

unsigned rota__os_thread_count(void)
{
    return 0;
}

void rota__os_set_affinity(unsigned cpu)
{
    (void)cpu;
}

void rota__os_set_thread_name(const char *name)
{
    (void)name;
}

/* -- Descriptors ----------------------------------------------------------------------------- */

int rota__os_event_open(rota__os_event *event)
{
    if (choice_make(EX_FAULT, 2) == 1)
        return ROTA_EAGAIN;
    *event = (rota__os_event){.readable = ex_event_new()};
    return ROTA_OK;
}

void rota__os_event_signal(const rota__os_event *event)
{
    ex_point("signal", event, "os", 0);
    ex_event_set(event->readable, true);
}

void rota__os_event_clear(const rota__os_event *event)
{
    ex_point("clear", event, "os", 0);
    ex_event_set(event->readable, false);
}

void rota__os_event_close(const rota__os_event *event)
{
    ex_event_set(event->readable, false);
}

/* -- Threads --------------------------------------------------------------------------------- */

int rota__os_thread_start(rota__os_thread *thread, const rota__os_thread_options *options,
                          void (*body)(void *arg), void *arg)
{
    (void)options;
    if (!ex_has_room() || choice_make(EX_FAULT, 2) == 1)
        return ROTA_EAGAIN;
    *thread = (rota__os_thread){.body = body, .arg = arg};
    thread->handle = (uintptr_t)ex_start(body, arg);
    return thread->handle != 0 ? ROTA_OK : ROTA_EAGAIN;
}

void (*ex_on_signal)(void);

void rota__os_thread_signal(const rota__os_thread *thread)
{
    (void)thread;
    ex_point("signal", thread, "os", 0);
    if (ex_on_signal != NULL)
        ex_on_signal();
}

bool rota__os_signal_prepare(int signal)
{
    return signal > 0;
}

bool rota__os_cpu_exists(uint32_t cpu)
{
    return cpu == 0;
}

size_t rota__os_min_stack_size(void)
{
    return 0;
}

void rota__os_thread_join(rota__os_thread *thread)
{
    ex_join((ex_thread *)thread->handle);
}

int rota__os_on_thread_exit(rota__os_exit_hook *at_exit)
{
    if (choice_make(EX_FAULT, 2) == 1)
        return ROTA_ENOMEM;
    ex_running->at_exit = at_exit;
    return ROTA_OK;
}

int rota__os_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before;
    (void)in_parent;
    (void)in_child;
    return ROTA_OK; /* nobody forks here */
}

void rota__os_reset_after_fork(void)
{
}

void rota__os_yield(void)
{
    ex_yield();
}

/* -- Cleanup scopes -------------------------------------------------------------------------- */

void ex_scope_begin(ex_scope *scope, void (*handler)(void *arg), void *arg)
{
    *scope = (ex_scope){handler, arg, ex_running->scopes};
    ex_running->scopes = scope;
}

void ex_scope_end(ex_scope *scope, int calls_handler)
{
    if (ex_running->scopes != scope)
        ex_fail("cleanup", 0, "an inner scope was left without its END"); /* cleanup.U1 */
    ex_running->scopes = scope->outer;
    if (calls_handler)
        scope->handler(scope->arg);
}
