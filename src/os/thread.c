/* SPDX-License-Identifier: MIT */
/*
 * thread.c - threads by pthreads, on every system.
 */
#define _GNU_SOURCE
#include "os/fault.h"
#include "os/os.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(pthread_t) <= sizeof(uintptr_t), "a handle must hold a pthread_t");

enum { NOT_BEGUN, BEGINS, HAS_BEGUN };

/* Unblocks one signal. A new thread inherits a mask that blocks all signals: GEN-12. */
static void let_through(int signal)
{
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, signal);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static void *thread_main(void *arg)
{
    rota__os_thread *thread = arg;
    pthread_t self = pthread_self();
    uint32_t not_begun = NOT_BEGUN;

    if (!atomic_compare_exchange_strong(&thread->start_state, &not_begun, BEGINS)) /* FACT-09 */
        return NULL;
    memcpy(&thread->handle, &self, sizeof self);
    atomic_store(&thread->start_state, HAS_BEGUN); /* pairs with the load in rota__os_thread_join */
    rota__os_wake(&thread->start_state);
    if (thread->signal != 0)
        let_through(thread->signal);
    if (thread->name[0] != '\0')
        rota__os_set_thread_name(thread->name);
    if (thread->cpu != ROTA__OS_ANY_CPU)
        rota__os_set_affinity(thread->cpu);
    thread->body(thread->arg);
    return NULL;
}

size_t rota__os_min_stack_size(void)
{
    long least = sysconf(_SC_THREAD_STACK_MIN);

    return least > 0 ? (size_t)least : 0; /* mutants: no system has a minimum of 1 */
}

static void set_stack_size(pthread_attr_t *attributes, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (size == 0)
        return;
    if (size < rota__os_min_stack_size())
        size = rota__os_min_stack_size();
    if (size > SIZE_MAX - page)
        size = SIZE_MAX - page;
    /* mutants: one page more is allowed */
    pthread_attr_setstacksize(attributes, (size + page - 1) / page * page);
}

static int create_blocked(pthread_t *handle, const pthread_attr_t *attributes,
                          const rota__os_thread_options *options, rota__os_thread *thread)
{
    sigset_t all;
    sigset_t saved;
    int error;

    if (rota__fault(ROTA__FAULT_THREAD_START))
        return EAGAIN;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved); /* the new thread inherits this mask */
    if (options->create != NULL)
        error = options->create(handle, attributes, thread_main, thread, options->ctx);
    else
        error = pthread_create(handle, attributes, thread_main, thread);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    return error;
}

int rota__os_thread_start(rota__os_thread *thread, const rota__os_thread_options *options,
                          void (*body)(void *arg), void *arg)
{
    pthread_attr_t attributes;
    pthread_t handle;

    *thread =
        (rota__os_thread){.body = body, .arg = arg, .cpu = options->cpu, .signal = options->signal};
    if (options->name != NULL)
        snprintf(thread->name, sizeof thread->name, "%s", options->name);
    if (pthread_attr_init(&attributes) != 0)
        return ROTA_EAGAIN; /* GCOVR_EXCL_LINE: glibc and musl always return 0 */
    set_stack_size(&attributes, options->stack_size);
    int error = create_blocked(&handle, &attributes, options, thread);
    pthread_attr_destroy(&attributes); /* mutants: frees nothing in glibc and musl */
    if (error != 0)
        return ROTA_EAGAIN;
    return ROTA_OK; /* does not read *thread, which may be joined and freed by now */
}

void rota__os_thread_join(rota__os_thread *thread)
{
    pthread_t handle;
    int cancel_state;
    uint32_t begun;

    while ((begun = atomic_load(&thread->start_state)) != HAS_BEGUN)
        rota__os_wait(&thread->start_state, begun, ROTA_FOREVER);
    memcpy(&handle, &thread->handle, sizeof handle);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_join(handle, NULL);
    pthread_setcancelstate(cancel_state, NULL);
}

/* -- Signals -------------------------------------------------------------- */

static void do_nothing(int signal)
{
    (void)signal; /* a system call has returned with EINTR, which is the purpose */
}

bool rota__os_signal_prepare(int signal)
{
    struct sigaction action;

    if (sigaction(signal, NULL, &action) != 0 || signal == SIGKILL || signal == SIGSTOP)
        return false;
    if ((action.sa_flags & SA_SIGINFO)
        || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN))
        return true;                                       /* the program has a handler */
    action = (struct sigaction){.sa_handler = do_nothing}; /* without SA_RESTART */
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, NULL) == 0;
}

void rota__os_thread_signal(const rota__os_thread *thread)
{
    pthread_t self;

    memcpy(&self, &thread->handle, sizeof self);
    pthread_kill(self, thread->signal);
}

bool rota__os_cpu_exists(uint32_t cpu)
{
    long configured = sysconf(_SC_NPROCESSORS_CONF);

    return configured > 0 && cpu < (unsigned long)configured;
}

/* -- When a thread ends --------------------------------------------------- */

static pthread_key_t exit_key;
static bool exit_key_made;

static void run_exit(void *arg)
{
    rota__os_exit_hook *exit = arg;

    exit->run(exit);
}

static void make_exit_key(void)
{
    exit_key_made = pthread_key_create(&exit_key, run_exit) == 0;
}

int rota__os_on_thread_exit(rota__os_exit_hook *exit)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (rota__fault(ROTA__FAULT_THREAD_EXIT))
        return ROTA_ENOMEM;
    pthread_once(&once, make_exit_key);
    if (!exit_key_made || pthread_setspecific(exit_key, exit) != 0)
        return ROTA_ENOMEM;
    return ROTA_OK;
}

int rota__os_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    return pthread_atfork(before, in_parent, in_child) == 0 ? ROTA_OK : ROTA_ENOMEM;
}

void rota__os_yield(void)
{
    sched_yield();
}
