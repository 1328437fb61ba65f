/* SPDX-License-Identifier: MIT */
/*
 * 08_own_executor.c - an executor of one's own: a new thread for each task
 *
 * This is all it takes to be submitted to, shut down and waited for like any other executor.
 */
#include <pthread.h>
#include <rota/rota.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct thread_per_task {
    atomic_int alive;    /* tasks that have not ended, and one until the shutdown */
    rota_future *nobody; /* a promise: completed when that is 0 */
};

static void one_less(struct thread_per_task *self)
{
    rota_future *nobody = rota_future_ref(self->nobody); /* self may go once it is completed */

    if (atomic_fetch_sub(&self->alive, 1) == 1)
        rota_promise_complete(nobody, NULL);
    rota_future_unref(nobody);
}

struct start {
    struct thread_per_task *self;
    rota_task *task;
};

static void *thread_main(void *arg)
{
    struct start start = *(struct start *)arg;

    free(arg);
    rota_task_run(start.task);
    one_less(start.self);
    return NULL;
}

static int execute(void *arg, rota_task *task)
{
    struct thread_per_task *self = arg;
    struct start *start = malloc(sizeof *start);
    pthread_t thread;

    if (start == NULL)
        return ROTA_ENOMEM;
    *start = (struct start){self, task};
    atomic_fetch_add(&self->alive, 1);
    if (pthread_create(&thread, NULL, thread_main, start) != 0) {
        free(start);
        one_less(self);
        return ROTA_EAGAIN; /* not taken: the submitter is told */
    }
    pthread_detach(thread);
    return ROTA_OK;
}

static int shut_down(void *self)
{
    one_less(self);
    return ROTA_OK;
}

static int await(void *arg, rota_ns timeout)
{
    struct thread_per_task *self = arg;

    return rota_future_get_timed(self->nobody, timeout, NULL);
}

static void destroy(void *arg)
{
    struct thread_per_task *self = arg;

    rota_future_unref(self->nobody);
    free(self);
}

static int thread_per_task_new(rota_executor **out)
{
    static const rota_executor_ops ops = {
        .execute = execute, .shutdown = shut_down, .await_termination = await, .free = destroy};
    struct thread_per_task *self = malloc(sizeof *self);
    int status = self != NULL ? rota_promise_new(&self->nobody) : ROTA_ENOMEM;

    if (status == ROTA_OK) {
        atomic_init(&self->alive, 1);
        status = rota_executor_new(&ops, self, out);
        if (status != ROTA_OK)
            rota_future_unref(self->nobody);
    }
    if (status != ROTA_OK)
        free(self);
    return status;
}

static void *greet(void *arg)
{
    printf("  hello from a thread of its own\n");
    return arg;
}

int main(void)
{
    rota_executor *executor;

    if (thread_per_task_new(&executor) != ROTA_OK || rota_execute(executor, greet, NULL) != ROTA_OK)
        return 1;
    return rota_close(executor) == ROTA_OK ? 0 : 1;
}
