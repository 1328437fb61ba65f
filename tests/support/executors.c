/* SPDX-License-Identifier: MIT */
/*
 * executors.c - executors that run tasks in the caller, and on threads.
 */
#include "executors.h"

#include <stdlib.h>

static void *allocated(void *block)
{
    if (block == NULL)
        test_die(__FILE__, __LINE__, "no memory for a test executor");
    return block;
}

/* -- In the caller ------------------------------------------------------------------------ */

static int direct_execute(void *self, rota_task *task)
{
    rota_task_run(task);
    return ROTA_OK;
}

int test_executor_direct(rota_executor **out)
{
    return rota_executor_new(&(rota_executor_ops){.execute = direct_execute}, NULL, out);
}

/* -- On threads --------------------------------------------------------------------------- */

struct node {
    rota_task *task;
    struct node *next;
};

/* A thread, also after it has ended: all are joined at the end. */
struct worker {
    struct threads *owner;
    struct worker *next;
    pthread_t id;
};

struct threads {
    rota_future *ended;    /* done when `running` is 0 */
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t changed;
    struct node *first;
    struct node **last;
    struct worker *workers;
    unsigned running;
    bool shut;
};

/* The one that the calling thread works for, or NULL. */
static _Thread_local struct threads *working_for;

static void *worker_main(void *arg);

static void start_worker(struct threads *self)
{
    struct worker *worker = allocated(malloc(sizeof *worker));

    worker->owner = self;
    pthread_mutex_lock(&self->mutex);
    worker->next = self->workers;
    self->workers = worker;
    self->running++;
    if (pthread_create(&worker->id, NULL, worker_main, worker) != 0)
        test_die(__FILE__, __LINE__, "a thread could not be started");
    pthread_mutex_unlock(&self->mutex);
}

static void worker_ended(struct threads *self)
{
    pthread_mutex_lock(&self->mutex);
    bool last = --self->running == 0;
    pthread_mutex_unlock(&self->mutex);
    if (last)
        rota_promise_complete(self->ended, NULL);
}

/* NULL: it is over. */
static rota_task *next_task(struct threads *self)
{
    rota_task *task = NULL;

    pthread_mutex_lock(&self->mutex);
    while (self->first == NULL && !self->shut)
        pthread_cond_wait(&self->changed, &self->mutex);
    struct node *node = self->first;
    if (node != NULL) {
        task = node->task;
        self->first = node->next;
        if (self->first == NULL)
            self->last = &self->first;
    }
    pthread_mutex_unlock(&self->mutex);
    free(node);
    return task;
}

/* The task ended the thread. */
static void worker_torn(void *arg)
{
    start_worker(arg);
    worker_ended(arg);
}

static void *worker_main(void *arg)
{
    struct worker *worker = arg;
    struct threads *self = worker->owner;
    rota_task *task;

    working_for = self;
    while ((task = next_task(self)) != NULL) {
        pthread_cleanup_push(worker_torn, self);
        rota_task_run(task);
        pthread_cleanup_pop(0);
    }
    worker_ended(self);
    return NULL;
}

static int threads_execute(void *arg, rota_task *task)
{
    struct threads *self = arg;
    struct node *node = malloc(sizeof *node);

    if (node == NULL)
        return ROTA_ENOMEM;
    *node = (struct node){task, NULL};
    pthread_mutex_lock(&self->mutex);
    bool taken = !self->shut;
    if (taken) {
        *self->last = node;
        self->last = &node->next;
        pthread_cond_signal(&self->changed);
    }
    pthread_mutex_unlock(&self->mutex);
    if (!taken)
        free(node);
    return taken ? ROTA_OK : ROTA_EREJECTED;
}

static int threads_shutdown(void *arg)
{
    struct threads *self = arg;

    pthread_mutex_lock(&self->mutex);
    self->shut = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
    return ROTA_OK;
}

static int threads_await(void *arg, rota_ns timeout)
{
    struct threads *self = arg;

    if (timeout == ROTA_FOREVER && working_for == self)
        return ROTA_EDEADLOCK;
    return rota_future_get_timed(self->ended, timeout, NULL);
}

static void threads_free(void *arg)
{
    struct threads *self = arg;

    while (self->workers != NULL) {
        struct worker *worker = self->workers;
        self->workers = worker->next;
        test_check(pthread_join(worker->id, NULL) == 0);
        free(worker);
    }
    test_check(self->first == NULL);
    rota_future_unref(self->ended);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}

int test_executor_threads(unsigned count, rota_executor **out)
{
    const rota_executor_ops ops = {
        threads_execute, threads_shutdown, threads_await, threads_free, {NULL}};
    struct threads *self = allocated(calloc(1, sizeof *self));
    int status = rota_promise_new(&self->ended);

    if (status == ROTA_OK)
        status = rota_executor_new(&ops, self, out);
    if (status != ROTA_OK) {
        rota_future_unref(self->ended);
        free(self);
        return status;
    }
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->changed, NULL);
    self->last = &self->first;
    while (count-- > 0)
        start_worker(self);
    return ROTA_OK;
}
