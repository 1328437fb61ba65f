/* SPDX-License-Identifier: MIT */
/*
 * threads.c - threads, and how they wait for one another.
 */
#include "rota_test.h"

#include <sched.h>
#include <stdlib.h>

struct test_thread {
    pthread_t id;
    void (*body)(void *arg);
    void *arg;
    rota_thread *handle; /* written before `known` */
    atomic_bool known;
};

static void *thread_main(void *arg)
{
    test_thread *thread = arg;

    thread->handle = rota_thread_self();
    atomic_store(&thread->known, true);
    thread->body(thread->arg);
    return NULL;
}

test_thread *test_thread_start(void (*body)(void *arg), void *arg)
{
    test_thread *thread = malloc(sizeof *thread);

    if (thread == NULL)
        test_die(__FILE__, __LINE__, "no memory for a thread");
    thread->body = body;
    thread->arg = arg;
    atomic_init(&thread->known, false);
    if (pthread_create(&thread->id, NULL, thread_main, thread) != 0)
        test_die(__FILE__, __LINE__, "a thread could not be started");
    return thread;
}

void test_thread_join(test_thread *thread)
{
    if (pthread_join(thread->id, NULL) != 0)
        test_die(__FILE__, __LINE__, "a thread could not be joined");
    free(thread);
}

static bool is_known(void *arg)
{
    test_thread *thread = arg;

    return atomic_load(&thread->known);
}

rota_thread *test_thread_handle(test_thread *thread)
{
    test_until(is_known, thread);
    return thread->handle;
}

void test_until(bool (*condition)(void *arg), void *arg)
{
    while (!condition(arg))
        sched_yield();
}

/* -- Latches ------------------------------------------------------------------------------ */

void test_latch_init(test_latch *latch, unsigned count)
{
    pthread_mutex_init(&latch->mutex, NULL);
    pthread_cond_init(&latch->opened, NULL);
    latch->closed = count;
}

void test_latch_open(test_latch *latch)
{
    pthread_mutex_lock(&latch->mutex);
    test_check(latch->closed > 0);
    if (--latch->closed == 0)
        pthread_cond_broadcast(&latch->opened);
    pthread_mutex_unlock(&latch->mutex);
}

void test_latch_wait(test_latch *latch)
{
    pthread_mutex_lock(&latch->mutex);
    while (latch->closed > 0)
        pthread_cond_wait(&latch->opened, &latch->mutex);
    pthread_mutex_unlock(&latch->mutex);
}

/* -- Barriers ----------------------------------------------------------------------------- */

void test_barrier_init(test_barrier *barrier, unsigned count)
{
    barrier->count = count;
    atomic_init(&barrier->arrived, 0);
    atomic_init(&barrier->rounds, 0);
}

void test_barrier_wait(test_barrier *barrier)
{
    unsigned round = atomic_load(&barrier->rounds);

    if (atomic_fetch_add(&barrier->arrived, 1) + 1 == barrier->count) {
        atomic_store(&barrier->arrived, 0); /* before the others may come again */
        atomic_fetch_add(&barrier->rounds, 1);
        return;
    }
    for (unsigned turn = 1; atomic_load(&barrier->rounds) == round; turn++) {
        if (turn % 64 == 0) /* seldom, so that all leave at one moment */
            sched_yield();
    }
}
