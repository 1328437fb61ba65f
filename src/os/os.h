/* SPDX-License-Identifier: MIT */
/*
 * os.h - what the library asks of a system, and nothing more.
 *
 * This folder alone makes system calls, but for the files and sockets of
 * src/observe; it alone calls pthread functions and asks which platform it is
 * on. Each function promises the least that its callers can live with: a wait
 * may end for no reason, a name may be cut, a CPU may not be pinned. linux.c
 * and posix.c each implement the first three groups, the build chooses one;
 * thread.c serves both.
 *
 * None is a cancellation point: pthread_cancel does not tear a thread out of
 * the middle of the library, with a lock held or in somebody's list.
 */
#ifndef ROTA_OS_OS_H
#define ROTA_OS_OS_H

#include <pthread.h>
#include <rota/base.h>
#ifndef ROTA_EXPLORE
#include <stdatomic.h>
#endif

/* -- Waiting on a word ---------------------------------------------------- */

#ifdef ROTA_EXPLORE
typedef uint32_t rota__os_word; /* one thread runs at a time */
#else
typedef _Atomic(uint32_t) rota__os_word;
#endif

/*
 * Sleeps while *word is `expected`, at most until `deadline` on rota__os_now's
 * clock (ROTA_FOREVER: without limit). Returns when woken, when the time is up,
 * when *word is something else, or for no reason: callers look again.
 */
void rota__os_wait(rota__os_word *word, uint32_t expected, rota_ns deadline);

/*
 * Wakes one who waits on `word`, perhaps more. Only the address counts: the
 * word itself may be gone, as the waiter may have seen it change and left. Then
 * some other wait ends for no reason, which every wait must bear.
 */
void rota__os_wake(rota__os_word *word);

/* -- Time and CPUs -------------------------------------------------------- */

rota_ns rota__os_now(void);        /* monotonic; not affected by the wall clock */
unsigned rota__os_cpu_count(void); /* that this process may use; at least 1 */
bool rota__os_membarrier(void);    /* every running thread of the process passes one; or false */
void rota__os_reduce_timer_slack(void); /* the calling thread's timed waits end when they should */
void rota__os_set_affinity(unsigned cpu);        /* the calling thread, if the system lets us */
void rota__os_set_thread_name(const char *name); /* the calling thread; cut to what fits */
long rota__os_thread_id(void); /* of the calling thread, as the system numbers it; or 0 */
void rota__os_get_thread_name(char *name); /* likewise, ROTA__OS_NAME_SIZE bytes; "": it has none */
unsigned rota__os_thread_count(void);      /* of the process, and perhaps some just joined; or 0 */

/* -- A descriptor that turns readable ------------------------------------- */

typedef struct rota__os_event {
    int readable;     /* the descriptor that the user polls */
    int signal;       /* the descriptor that is written to; the same one for an eventfd */
    uint32_t process; /* event.E1 */
} rota__os_event;

int rota__os_event_open(rota__os_event *event); /* ROTA_EAGAIN if the system has none left */

/* In another process than the one that opened it, the first two do nothing (event.E1). */
void rota__os_event_signal(const rota__os_event *event);
void rota__os_event_clear(const rota__os_event *event); /* not readable until signalled again */
void rota__os_event_close(const rota__os_event *event);

extern uint32_t rota__os_process; /* counts forks, from 0 in the first process; src/os only */

/* -- Threads (thread.c) --------------------------------------------------- */

#define ROTA__OS_ANY_CPU   UINT32_MAX
#define ROTA__OS_NAME_SIZE 16 /* with its NUL, as Linux has it */

typedef int rota__os_create(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                            void *arg, void *ctx);

typedef struct rota__os_thread_options {
    const char *name;        /* cut to fit; NULL: that of the creating thread */
    size_t stack_size;       /* 0: the system's default; less than the least is the least */
    uint32_t cpu;            /* or ROTA__OS_ANY_CPU */
    int signal;              /* for rota__os_thread_signal; 0: none */
    rota__os_create *create; /* in pthread_create's place, or NULL */
    void *ctx;               /* for it */
} rota__os_thread_options;

/* A thread, and what it was started with: it stays where it is until joined. */
typedef struct rota__os_thread {
    void (*body)(void *arg);
    void *arg;
    uintptr_t handle; /* written by the thread itself: it may have ended before its maker goes on */
    uint32_t cpu;
    int signal;
    rota__os_word start_state; /* thread.c only */
    char name[ROTA__OS_NAME_SIZE];
} rota__os_thread;

/*
 * Starts body(arg) on a new thread with all signals blocked. ROTA_EAGAIN when
 * the system refuses; `body` is then never called.
 */
int rota__os_thread_start(rota__os_thread *thread, const rota__os_thread_options *options,
                          void (*body)(void *arg), void *arg);
void rota__os_thread_join(rota__os_thread *thread);

/* Makes a blocking system call of a running thread end with EINTR, if it has a signal. */
void rota__os_thread_signal(const rota__os_thread *thread);

/* Can this signal be caught, and is it? Gives it a handler that does nothing unless it has one. */
bool rota__os_signal_prepare(int signal);
bool rota__os_cpu_exists(uint32_t cpu);
size_t rota__os_min_stack_size(void);

/* Called with itself when a thread ends that has set it. */
typedef struct rota__os_exit_hook {
    void (*run)(struct rota__os_exit_hook *self);
} rota__os_exit_hook;

/* For the calling thread, in place of what it set before. ROTA_ENOMEM. */
int rota__os_on_thread_exit(rota__os_exit_hook *exit);

void rota__os_yield(void);

/* -- fork(2) -------------------------------------------------------------- */

/* Called around each fork of the process, from the first call of this on: on the thread that
   forks, before it and, in both processes, after it. ROTA_ENOMEM. */
int rota__os_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

/* Called first in a child: forgets the waiting threads of the parent, and counts the process. */
void rota__os_reset_after_fork(void);

#endif
