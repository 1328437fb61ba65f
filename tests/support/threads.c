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

/* A thread inside test_latch_wait. It is in the list for as long as it may touch the latch. */
typedef struct waiter {
    test_latch *latch;
    struct waiter *next;
} waiter;

static pthread_mutex_t waiters_mutex = PTHREAD_MUTEX_INITIALIZER; /* after that of a latch */
static waiter *waiters;
static atomic_uint epoch; /* odd: no thread waits at a latch */

static void add_waiter(waiter *self)
{
    pthread_mutex_lock(&waiters_mutex);
    self->next = waiters;
    waiters = self;
    pthread_mutex_unlock(&waiters_mutex);
}

static void remove_waiter(const waiter *self)
{
    waiter **at = &waiters;

    pthread_mutex_lock(&waiters_mutex);
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    pthread_mutex_unlock(&waiters_mutex);
}

/* The other threads do not exist in a child of fork(2), and one may have held the mutex. */
static void forget_waiters(void)
{
    pthread_mutex_init(&waiters_mutex, NULL);
    waiters = NULL;
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_waiters);
}

/* Fails if a thread is about to leave its latch, and so holds the latch's mutex. */
static bool wake_waiters(void)
{
    bool is_done = true;

    pthread_mutex_lock(&waiters_mutex);
    for (waiter *one = waiters; one != NULL; one = one->next) {
        if (pthread_mutex_trylock(&one->latch->mutex) != 0) {
            is_done = false;
            continue;
        }
        pthread_cond_broadcast(&one->latch->opened);
        pthread_mutex_unlock(&one->latch->mutex);
    }
    pthread_mutex_unlock(&waiters_mutex);
    return is_done;
}

void test_latches_hold(bool do_hold)
{
    bool are_held = atomic_load(&epoch) % 2 == 0;

    if (do_hold != are_held)
        atomic_fetch_add(&epoch, 1);
    while (!do_hold && !wake_waiters())
        sched_yield();
}

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
    unsigned entered = atomic_load(&epoch);
    waiter self = {.latch = latch};

    if (entered % 2 != 0)
        return;
    pthread_mutex_lock(&latch->mutex);
    add_waiter(&self);
    while (latch->closed > 0 && atomic_load(&epoch) == entered)
        pthread_cond_wait(&latch->opened, &latch->mutex);
    remove_waiter(&self);
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
