/* SPDX-License-Identifier: MIT */
/*
 * engine.c - threads as fibers, and one schedule of a scenario.
 *
 * The fiber that runs calls ex_point before each visible step; there it chooses who goes on, and
 * switches to that one's fiber if it is another. When nobody can go on any more the host, which
 * runs the schedules, takes over.
 */
#define _GNU_SOURCE
#include "engine.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ex_step ex_trace[EX_STEPS];
unsigned ex_trace_count;

static ex_thread threads[EX_THREADS];
static _Alignas(64) char stacks[EX_THREADS][EX_STACK];
static int thread_count; /* 0: no schedule runs, the host is alone */
ex_thread *ex_running = &threads[0];
rota_ns ex_now;

static fiber host;
static unsigned steps;
static bool tracing;
static const ex_scenario *scenario;
static char problem[512];

/* -- What is wrong --------------------------------------------------------------------------- */

static void stop_schedule(void)
{
    fiber_switch(&ex_running->fiber, &host); /* and never comes back */
    abort();
}

static void found(const char *what)
{
    snprintf(problem, sizeof problem, "%s", what);
    stop_schedule();
}

void ex_fail(const char *file, int line, const char *what)
{
    char text[400];

    snprintf(text, sizeof text, "thread %d, %s:%d: %s", ex_running->id, file, line, what);
    found(text);
}

static void crashed(int signal)
{
    (void)signal;
    found("crash: a bad address was used");
}

static const char *status_text(const ex_thread *thread)
{
    return thread->status == EX_JOINING ? "joins" : "waits";
}

static void found_deadlock(void)
{
    char text[400] = "deadlock:";

    for (int i = 0; i < thread_count; i++) {
        size_t used = strlen(text);
        if (threads[i].status != EX_ENDED)
            snprintf(text + used, sizeof text - used, " thread %d %s;", i,
                     status_text(&threads[i]));
    }
    found(text);
}

/* -- Who goes on ----------------------------------------------------------------------------- */

static bool can_run(const ex_thread *thread)
{
    if (thread->status == EX_RUNNABLE)
        return true;
    return (thread->status == EX_WAITING && thread->deadline <= ex_now)
           || (thread->status == EX_JOINING && thread->joined->status == EX_ENDED);
}

static unsigned add_runnable(int *ids, unsigned n, int begin, int end)
{
    for (int i = begin; i < end; i++) {
        if (can_run(&threads[i]) && !threads[i].yielded)
            ids[n++] = i;
    }
    return n;
}

/*
 * The threads that may go next: the running one first, then the others in turn, then those for
 * which time would have to pass. One that has yielded comes only when there is no other.
 */
static unsigned candidates(int *ids, unsigned *timed, bool *stays)
{
    unsigned n = 0;

    *stays = can_run(ex_running) && !ex_running->yielded;
    if (*stays)
        ids[n++] = ex_running->id;
    n = add_runnable(ids, n, ex_running->id + 1, thread_count);
    n = add_runnable(ids, n, 0, ex_running->id);
    *timed = n;
    for (int i = 0; i < thread_count; i++) {
        if (threads[i].status == EX_WAITING && threads[i].deadline < EX_END_OF_TIME
            && !can_run(&threads[i]))
            ids[n++] = i;
    }
    return n;
}

void ex_progress(void)
{
    for (int i = 0; i < thread_count; i++)
        threads[i].yielded = false;
}

static bool all_ended(void)
{
    for (int i = 0; i < thread_count; i++) {
        if (threads[i].status != EX_ENDED)
            return false;
    }
    return true;
}

static void drain_all(void)
{
    for (int i = 0; i < thread_count; i++)
        memory_drain(&threads[i]);
}

void ex_barrier(void)
{
    drain_all();
    for (int i = 0; i < thread_count; i++) {
        if (&threads[i] != ex_running)
            memory_join(ex_running, &threads[i]);
    }
    if (history_is_on())
        history_barrier();
}

static ex_thread *choose_next(void)
{
    int ids[2 * EX_THREADS];
    unsigned timed;
    bool stays;
    unsigned n = candidates(ids, &timed, &stays);

    if (timed == 0) { /* nobody, or only those who yielded: stores do not stay hidden for ever */
        drain_all();
        ex_progress();
        n = candidates(ids, &timed, &stays);
    }
    if (n == 0)
        found_deadlock();
    ex_thread *next = &threads[ids[choice_thread(ids, n, timed, stays)]];
    if (!can_run(next)) /* the time that it waits for comes */
        ex_now = next->deadline;
    return next;
}

static void reschedule(void)
{
    if (thread_count == 0)
        return;
    choice_tick();
    if (++steps > EX_STEPS)
        found("livelock: the schedule does not end");
    ex_thread *before = ex_running;
    ex_thread *next = choose_next();
    next->status = EX_RUNNABLE;
    if (next == before)
        return;
    ex_running = next;
    fiber_switch(&before->fiber, &next->fiber);
}

void ex_point(const char *operation, const void *object, const char *file, int line)
{
    reschedule();
    if (tracing && ex_trace_count < EX_STEPS)
        ex_trace[ex_trace_count++] = (ex_step){ex_running->id, operation, object, file, line};
}

void ex_yield(void)
{
    memory_drain(ex_running);
    ex_running->yielded = true;
    choice_yielded(ex_running->id);
    reschedule();
}

void ex_wait(const void *word, rota_ns deadline)
{
    memory_drain(ex_running);
    ex_running->status = EX_WAITING;
    ex_running->word = word;
    ex_running->deadline = deadline;
    reschedule();
}

void ex_wake(const void *word)
{
    ex_thread *waiting[EX_THREADS];
    unsigned n = 0;

    memory_drain(ex_running);
    for (int i = 0; i < thread_count; i++) {
        if (threads[i].status == EX_WAITING && threads[i].word == word)
            waiting[n++] = &threads[i];
    }
    if (n > 0)
        waiting[choice_make(EX_FREE, n)]->status = EX_RUNNABLE;
    ex_progress();
}

/* -- A thread's life ------------------------------------------------------------------------- */

static void end_thread(void)
{
    ex_thread *self = ex_running;

    while (self->at_exit != NULL) {
        rota__os_exit_hook *at_exit = self->at_exit;
        self->at_exit = NULL;
        at_exit->run(at_exit);
    }
    memory_drain(self);
    ex_progress();
    self->status = EX_ENDED;
    if (all_ended())
        stop_schedule();
    reschedule();
    abort();
}

static void thread_main(void)
{
    ex_running->body(ex_running->arg);
    if (ex_running->scopes != NULL)
        ex_fail("cleanup", 0, "a scope was left without its END"); /* cleanup.U1 */
    end_thread();
}

static ex_thread *new_thread(void (*body)(void *arg), void *arg)
{
    ex_thread *thread = &threads[thread_count];
    fiber kept = thread->fiber;

    memset(thread, 0, offsetof(ex_thread, buffer));
    thread->fiber = kept;
    thread->fiber.size = EX_STACK;
    thread->fiber.stack = stacks[thread_count];
    thread->id = thread_count++;
    thread->buffered = 0;
    thread->status = EX_RUNNABLE;
    thread->body = body;
    thread->arg = arg;
    fiber_init(&thread->fiber, thread_main);
    return thread;
}

bool ex_has_room(void)
{
    return thread_count < EX_THREADS;
}

ex_thread *ex_start(void (*body)(void *arg), void *arg)
{
    ex_point("start", (void *)0, "thread", 0);
    if (!ex_has_room()) /* any more: another was first */
        return NULL;
    ex_thread *thread = new_thread(body, arg);
    memory_start(ex_running, thread);
    return thread;
}

void ex_join(ex_thread *thread)
{
    ex_point("join", thread, "thread", thread->id);
    if (thread->status != EX_ENDED) {
        memory_drain(ex_running);
        ex_running->status = EX_JOINING;
        ex_running->joined = thread;
        reschedule();
    }
    memory_join(ex_running, thread);
}

void ex_exit(void)
{
    while (ex_running->scopes != NULL) {
        ex_scope *scope = ex_running->scopes;
        ex_running->scopes = scope->outer;
        scope->handler(scope->arg);
    }
    end_thread();
}

bool ex_owns_stack(const void *address, ex_thread **owner)
{
    size_t offset = (size_t)((const char *)address - stacks[0]);

    if (offset >= sizeof stacks)
        return false;
    *owner = &threads[offset / EX_STACK];
    return true;
}

bool ex_owns_memory(const void *address, ex_thread **owner)
{
    size_t offset = (size_t)((const char *)address - (const char *)threads);

    if (offset >= sizeof threads)
        return ex_owns_stack(address, owner);
    *owner = &threads[offset / sizeof threads[0]];
    return true;
}

/* -- Descriptors ----------------------------------------------------------------------------- */

static bool readable[32 * EX_SCALE];
static int event_count;

int ex_event_new(void)
{
    if (event_count + 1 == (int)(sizeof readable / sizeof readable[0]))
        abort();
    readable[++event_count] = false;
    return event_count;
}

void ex_event_set(int event, bool is)
{
    readable[event] = is;
    if (history_is_on())
        history_wake(&readable[event], sizeof readable[event]);
}

bool ex_is_readable(int fd)
{
    if (history_is_on())
        history_see_wakes(&readable[fd], sizeof readable[fd]);
    return readable[fd];
}

void ex_synchronise(void)
{
    static char calls; /* only its address counts */

    if (history_is_on()) {
        history_see_wakes(&calls, sizeof calls);
        history_wake(&calls, sizeof calls);
    }
}

/* -- Deliberate bugs ------------------------------------------------------------------------- */

static int bug_on; /* 0: none */

bool ex_bug(int number)
{
    return number == bug_on;
}

bool ex_bug_switch(const char *place)
{
    for (int i = 0; ex_bugs != NULL && ex_bugs[i] != NULL; i++) {
        if (strcmp(ex_bugs[i], place) == 0)
            bug_on = i + 1;
    }
    return bug_on != 0;
}

/* -- A schedule ------------------------------------------------------------------------------ */

static void run_scenario(void *arg)
{
    (void)arg;
    scenario->run();
}

const char *ex_run(const ex_scenario *wanted, bool trace)
{
    static bool handles_crash;

    if (!handles_crash) { /* the handler leaves by a switch, so the signal must not stay blocked */
        struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_NODEFER};
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGBUS, &action, NULL);
        handles_crash = true;
    }
    scenario = wanted;
    tracing = trace;
    problem[0] = '\0';
    thread_count = 0;
    event_count = 0;
    ex_trace_count = 0;
    steps = 0;
    ex_now = ROTA_SEC(1000);
    choice_begin();
    memory_begin();
    heap_begin();
    ex_running = new_thread(run_scenario, NULL);
    ex_running->clock[0] = 1;
    fiber_switch(&host, &ex_running->fiber);
    thread_count = 0;
    if (problem[0] == '\0' && heap_live() != 0)
        snprintf(problem, sizeof problem, "leak: %zu blocks are left", heap_live());
    return problem[0] != '\0' ? problem : NULL;
}
