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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(pthread_t) <= sizeof(uintptr_t), "a handle must hold a pthread_t");

static void *thread_main(void *arg)
{
    rota__os_thread *thread = arg;

    if (thread->name[0] != '\0')
        rota__os_name(thread->name);
    if (thread->cpu != ROTA__OS_ANY_CPU)
        rota__os_pin(thread->cpu);
    thread->body(thread->arg);
    return NULL;
}

static void set_stack_size(pthread_attr_t *attributes, size_t size)
{
    long least = sysconf(_SC_THREAD_STACK_MIN);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (size == 0)
        return;
    if (least > 0 && size < (size_t)least)
        size = (size_t)least;
    if (size > SIZE_MAX - page)
        size = SIZE_MAX - page;
    pthread_attr_setstacksize(attributes, (size + page - 1) / page * page);
}

static int create_blocked(pthread_t *handle, const pthread_attr_t *attributes,
                          rota__os_thread *thread)
{
    sigset_t all;
    sigset_t saved;
    int error;

    if (rota__fault(ROTA__FAULT_THREAD_START))
        return EAGAIN;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved); /* which the new thread inherits */
    error = pthread_create(handle, attributes, thread_main, thread);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    return error;
}

int rota__os_thread_start(rota__os_thread *thread, const rota__os_thread_options *options,
                          void (*body)(void *arg), void *arg)
{
    pthread_attr_t attributes;
    pthread_t handle;

    *thread = (rota__os_thread){.body = body, .arg = arg, .cpu = options->cpu};
    if (options->name != NULL)
        strncpy(thread->name, options->name, sizeof thread->name - 1);
    if (pthread_attr_init(&attributes) != 0)
        return ROTA_EAGAIN;
    set_stack_size(&attributes, options->stack_size);
    int error = create_blocked(&handle, &attributes, thread);
    pthread_attr_destroy(&attributes);
    if (error != 0)
        return ROTA_EAGAIN;
    memcpy(&thread->handle, &handle, sizeof handle); /* only the joiner reads it */
    return ROTA_OK;
}

void rota__os_thread_join(rota__os_thread *thread)
{
    pthread_t handle;
    int cancel_state;

    memcpy(&handle, &thread->handle, sizeof handle);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_join(handle, NULL);
    pthread_setcancelstate(cancel_state, NULL);
}

/* -- When a thread ends --------------------------------------------------- */

static pthread_key_t exit_key;
static bool exit_key_made;

static void run_exit(void *arg)
{
    rota__os_exit *exit = arg;

    exit->run(exit);
}

static void make_exit_key(void)
{
    exit_key_made = pthread_key_create(&exit_key, run_exit) == 0;
}

int rota__os_at_thread_exit(rota__os_exit *exit)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (rota__fault(ROTA__FAULT_THREAD_EXIT))
        return ROTA_ENOMEM;
    pthread_once(&once, make_exit_key);
    if (!exit_key_made || pthread_setspecific(exit_key, exit) != 0)
        return ROTA_ENOMEM;
    return ROTA_OK;
}

void rota__os_yield(void)
{
    sched_yield();
}
