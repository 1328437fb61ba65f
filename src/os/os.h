/* SPDX-License-Identifier: MIT */
/*
 * os.h - the contract with the system: words to wait on, time, CPUs, descriptors, threads, fork.
 *
 * Only this folder makes system calls, calls pthread functions and depends on the platform. The
 * exceptions are files and sockets in src/observe. Each function promises as little as its callers
 * need: a wait may end for no reason, a name may be cut, a thread may not get its CPU.
 *
 * The build chooses linux.c or posix.c. Each of them implements the first two groups, opens events,
 * and resets after a fork. The other functions are in event.c and thread.c, for every system.
 *
 * No function is a cancellation point: pthread_cancel does not end a thread inside the library,
 * where it may hold a lock or be in a list.
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
 * Sleeps while *word is `expected`, at most until `deadline` on the clock of rota__os_now
 * (ROTA_FOREVER: without limit). Returns when the thread is woken, when the time is up, when *word
 * has another value, or for no reason. So callers check again.
 */
void rota__os_wait(rota__os_word *word, uint32_t expected, rota_ns deadline);

/*
 * Wakes one thread that waits on `word`, or more. Only the address is used: the word itself may be
 * gone, because the waiter may have seen its new value and returned. Another wait may then end for
 * no reason.
 */
void rota__os_wake(rota__os_word *word);

/* -- Time and CPUs -------------------------------------------------------- */

rota_ns rota__os_now(void);             /* of the monotonic clock */
unsigned rota__os_cpu_count(void);      /* CPUs that this process may use; at least 1 */
bool rota__os_membarrier(void);         /* on all running threads of the process; false: refused */
void rota__os_reduce_timer_slack(void); /* so that timed waits of this thread end in time */
void rota__os_set_affinity(unsigned cpu); /* of the calling thread, if the system allows it */
void rota__os_set_thread_name(const char *name); /* of the calling thread; may be cut */
long rota__os_thread_id(void);             /* the system's number of the calling thread, or 0 */
void rota__os_get_thread_name(char *name); /* ROTA__OS_NAME_SIZE bytes; "" if it has none */
unsigned
rota__os_thread_count(void); /* threads of the process, or 0; may count threads just joined */

/* -- A descriptor that becomes readable ----------------------------------- */

typedef struct rota__os_event {
    int readable;     /* the descriptor that the user polls */
    int signal;       /* the descriptor that is written to; the same one for an eventfd */
    uint32_t process; /* event.E1 */
} rota__os_event;

int rota__os_event_open(rota__os_event *event); /* ROTA_EAGAIN: the system has none left */

/* In a child of the process that opened the event, signal and clear do nothing (event.E1). */
void rota__os_event_signal(const rota__os_event *event);
void rota__os_event_clear(const rota__os_event *event); /* not readable until signalled again */
void rota__os_event_close(const rota__os_event *event);

extern uint32_t rota__os_process; /* counts forks, from 0 in the first process; src/os only */

/* -- Threads (thread.c) --------------------------------------------------- */

#define ROTA__OS_ANY_CPU   UINT32_MAX
#define ROTA__OS_NAME_SIZE 16 /* with its NUL, as on Linux */

typedef int rota__os_create(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *),
                            void *arg, void *ctx);

typedef struct rota__os_thread_options {
    const char *name;        /* may be cut; NULL: that of the creating thread */
    size_t stack_size;       /* 0: the system's default; at least the system's minimum */
    uint32_t cpu;            /* or ROTA__OS_ANY_CPU */
    int signal;              /* for rota__os_thread_signal; 0: none */
    rota__os_create *create; /* replaces pthread_create; or NULL */
    void *ctx;               /* of `create` */
} rota__os_thread_options;

/* A thread. The structure stays where it is until the thread is joined. */
typedef struct rota__os_thread {
    void (*body)(void *arg);
    void *arg;
    uintptr_t handle; /* written by the thread itself, which may end before its creator continues */
    uint32_t cpu;
    int signal;
    rota__os_word start_state; /* thread.c only */
    char name[ROTA__OS_NAME_SIZE];
} rota__os_thread;

/* Starts body(arg) on a new thread, on which all signals but options->signal are blocked.
   ROTA_EAGAIN: the system refuses, and `body` is never called. */
int rota__os_thread_start(rota__os_thread *thread, const rota__os_thread_options *options,
                          void (*body)(void *arg), void *arg);
void rota__os_thread_join(rota__os_thread *thread);

/* Makes a blocking system call of a running thread end with EINTR, if it has a signal. */
void rota__os_thread_signal(const rota__os_thread *thread);

/* Installs a handler that does nothing, unless the program has a handler for the signal. Returns
   false if the signal cannot be caught. */
bool rota__os_signal_prepare(int signal);
bool rota__os_cpu_exists(uint32_t cpu);
size_t rota__os_min_stack_size(void);

/* `run` is called when the thread that has set the hook ends. */
typedef struct rota__os_exit_hook {
    void (*run)(struct rota__os_exit_hook *self);
} rota__os_exit_hook;

/* Sets the hook of the calling thread and replaces the one before. ROTA_ENOMEM. */
int rota__os_on_thread_exit(rota__os_exit_hook *exit);

void rota__os_yield(void);

/* -- fork(2) -------------------------------------------------------------- */

/* Sets functions that the forking thread calls before each fork, and after it in both processes.
   ROTA_ENOMEM. */
int rota__os_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

/* Called first in a child: forgets the waiting threads of the parent, and counts the process. */
void rota__os_reset_after_fork(void);

#endif
