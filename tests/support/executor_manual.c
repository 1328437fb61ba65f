/* SPDX-License-Identifier: MIT */
/*
 * executor_manual.c - an executor that does nothing by itself.
 */
#include "executors.h"

#include <stdlib.h>

struct test_manual {
    pthread_mutex_t mutex; /* guards the rest */
    rota_task **tasks;     /* the oldest first */
    size_t count;
    size_t room;
    size_t taken;      /* in all */
    size_t still_take; /* so many, if `status` is not ROTA_OK */
    int status;
    void (*on_taken)(size_t nth, void *arg);
    void *arg;
};

static int manual_keep(test_manual *self, rota_task *task)
{
    if (self->status != ROTA_OK && self->still_take == 0)
        return self->status;
    if (self->status != ROTA_OK)
        self->still_take--;
    if (self->count == self->room) {
        self->room = self->room * 2 + 16;
        self->tasks = realloc(self->tasks, self->room * sizeof(rota_task *));
        if (self->tasks == NULL)
            test_die(__FILE__, __LINE__, "no memory for tasks");
    }
    self->tasks[self->count++] = task;
    self->taken++;
    return ROTA_OK;
}

static int manual_execute(void *arg, rota_task *task)
{
    test_manual *self = arg;

    pthread_mutex_lock(&self->mutex);
    int status = manual_keep(self, task);
    size_t nth = self->taken - 1;
    void (*on_taken)(size_t, void *) = self->on_taken;
    pthread_mutex_unlock(&self->mutex);
    if (status == ROTA_OK && on_taken != NULL)
        on_taken(nth, self->arg);
    return status;
}

static void manual_free(void *arg)
{
    test_manual *self = arg;

    while (self->count > 0)
        test_manual_discard(self, 0);
    pthread_mutex_destroy(&self->mutex);
    free(self->tasks);
    free(self);
}

test_manual *test_executor_manual(rota_executor **out)
{
    const rota_executor_ops ops = {.execute = manual_execute, .free = manual_free};
    test_manual *self = calloc(1, sizeof *self);

    if (self == NULL || rota_executor_new(&ops, self, out) != ROTA_OK)
        test_die(__FILE__, __LINE__, "no memory for a test executor");
    pthread_mutex_init(&self->mutex, NULL);
    return self;
}

void test_manual_refuse_after(test_manual *manual, size_t count, int status)
{
    pthread_mutex_lock(&manual->mutex);
    manual->still_take = count;
    manual->status = status;
    pthread_mutex_unlock(&manual->mutex);
}

void test_manual_on_taken(test_manual *manual, void (*taken)(size_t nth, void *arg), void *arg)
{
    pthread_mutex_lock(&manual->mutex);
    manual->taken = 0;
    manual->on_taken = taken;
    manual->arg = arg;
    pthread_mutex_unlock(&manual->mutex);
}

size_t test_manual_count(test_manual *manual)
{
    pthread_mutex_lock(&manual->mutex);
    size_t count = manual->count;
    pthread_mutex_unlock(&manual->mutex);
    return count;
}

struct expected {
    test_manual *manual;
    size_t count;
};

static bool keeps_so_many(void *arg)
{
    const struct expected *expected = arg;

    return test_manual_count(expected->manual) == expected->count;
}

void test_manual_await_count(test_manual *manual, size_t count)
{
    test_until(keeps_so_many, &(struct expected){manual, count});
}

rota_task *test_manual_take(test_manual *manual, size_t i)
{
    pthread_mutex_lock(&manual->mutex);
    test_check(i < manual->count);
    rota_task *task = manual->tasks[i];
    manual->count--;
    for (; i < manual->count; i++)
        manual->tasks[i] = manual->tasks[i + 1];
    pthread_mutex_unlock(&manual->mutex);
    return task;
}

void test_manual_run(test_manual *manual, size_t i)
{
    rota_task_run(test_manual_take(manual, i));
}

void test_manual_discard(test_manual *manual, size_t i)
{
    rota_task_discard(test_manual_take(manual, i));
}
