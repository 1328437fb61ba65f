/* SPDX-License-Identifier: MIT */
/*
 * explore.h - every schedule of a small concurrent program, on the library's real source.
 *
 * The library is compiled against a platform in which one thread runs at a time, as a fiber, and
 * the explorer decides at each atomic operation, wait, wake, clock read, thread start and
 * allocation what happens next: who runs, whether a store is delayed, a wait ends for no reason,
 * time passes, or memory is refused. A scenario is a function that starts a few threads and checks
 * what came of it:
 *
 *     static void completer(void *future)
 *     {
 *         rota_promise_complete(future, future);
 *     }
 *
 *     EXPLORE(a_getter_meets_a_completer)
 *     {
 *         rota_future *future;
 *         ex_check(rota_promise_new(&future) == ROTA_OK);
 *         ex_thread *thread = ex_start(completer, future);
 *         ex_check(rota_future_get(future, NULL) == ROTA_OK);
 *         ex_join(thread);
 *         rota_future_unref(future);
 *     }
 *
 * It is run as often as there are schedules to try. Besides a failed check these are found:
 * deadlock (so a lost wake-up), livelock, a data race on plain memory, use of freed memory or of
 * the stack of a thread that has ended, a double free and a leak. native.c implements the same
 * interface on pthreads; #ifdef ROTA_EXPLORE leaves out a scenario there.
 */
#ifndef ROTA_TESTS_EXPLORE_H
#define ROTA_TESTS_EXPLORE_H

#include <rota/rota.h>

/* -- Scenarios ------------------------------------------------------------------------------- */

typedef struct ex_scenario {
    const char *name;
    void (*run)(void);
    bool faults;   /* it expects that memory may be refused */
    bool only_x86; /* it does not hold in C11's memory model */
    struct ex_scenario *next;
} ex_scenario;

void ex_register(ex_scenario *scenario);

#define EXPLORE(title)             EX_SCENARIO(title, false, false)
#define EXPLORE_WITH_FAULTS(title) EX_SCENARIO(title, true, false) /* memory may be refused in it */

/* Relies on an order that x86 has and C11 has not, in the library or in its own checks. */
#define EXPLORE_ON_X86(title) EX_SCENARIO(title, false, true)

#define EX_SCENARIO(title, may_fault, only_x86)                                \
    static void title(void);                                                   \
    __attribute__((constructor)) static void ex_register_##title(void)         \
    {                                                                          \
        static ex_scenario scenario = {#title, title, may_fault, only_x86, 0}; \
        ex_register(&scenario);                                                \
    }                                                                          \
    static void title(void)

/* -- Inside a scenario ----------------------------------------------------------------------- */

typedef struct ex_thread ex_thread;

ex_thread *ex_start(void (*body)(void *arg), void *arg); /* NULL: 8 are all it has */
void ex_join(ex_thread *thread);
void ex_exit(void);          /* ends the calling thread, as pthread_exit */
bool ex_is_readable(int fd); /* a descriptor of the library's */
#ifdef ROTA_EXPLORE
extern void (*ex_on_signal)(void); /* called with each rota__os_thread_signal, unless NULL */
#endif
unsigned ex_choose(unsigned n); /* any number below n: each is tried */
void ex_synchronise(void); /* orders what comes before a call before what follows a later one */

void ex_fail(const char *file, int line, const char *what);
#define ex_check(condition) \
    ((condition) ? (void)0 : ex_fail(__FILE__, __LINE__, "not so: " #condition))

#endif
