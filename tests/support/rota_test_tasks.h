/* SPDX-License-Identifier: MIT */
/*
 * rota_test_tasks.h - tasks in a test's hands, and calls that count what becomes of them.
 *
 *     test_probe probe = {.error = 0};
 *     rota_future *future;
 *     rota_task *task = test_task(test_probe_call(&probe), &future);
 *
 *     rota_task_run(task);
 *     assert_int_equal(probe.runs, 1);
 */
#ifndef ROTA_TEST_TASKS_H
#define ROTA_TEST_TASKS_H

#include "rota_test.h"

/* -- Tasks ----------------------------------------------------------------------------------- */

/* As an executor gets it: must meet rota_task_run or rota_task_discard. `out` may be NULL. */
rota_task *test_task(rota_call call, rota_future **out);
rota_task *test_plain_task(rota_fn *fn, void *arg); /* rota_execute's */

/* Runs the task on a thread of its own. */
test_thread *test_run_on_thread(rota_task *task);

/* Until its body runs. */
void test_await_running(const rota_future *future);

/* -- Runs ------------------------------------------------------------------------------------ */

/* Runs the task of a future once, as an executor does, and keeps the task's reference. */
void test_future_run(rota_future *future);

/* The same for a periodic task, or one that cannot run: true if it is pending again, with another run to come. */
bool test_future_run_and_reset(rota_future *future);

/* -- Probes ---------------------------------------------------------------------------------- */

/* Counts what is done with its call. Zero is every field's default. */
typedef struct test_probe {
    atomic_uint runs;
    atomic_uint discards;
    atomic_uint frees;         /* of its result, which is the probe itself */
    void (*during)(void *arg); /* in the body; NULL: nothing */
    void *arg;
    int error; /* what the body fails with, unless it is 0 */
} test_probe;

/* With discard and free_result; take out what is not wanted. */
rota_call test_probe_call(test_probe *probe);

/* -- Threads in rota_future_get -------------------------------------------------------------- */

typedef struct test_getter {
    rota_future *future;
    rota_ns timeout; /* ROTA_FOREVER: rota_future_get, else the timed one */
    test_thread *thread;
    int status;
    void *result;
    bool interrupted; /* its flag afterwards */
} test_getter;

/* When this returns, it waits. */
void test_getter_start(test_getter *getter, rota_future *future, rota_ns timeout);

/* Asserts what it got, which is TEST_UNTOUCHED where nothing is to be written, and no flag. */
void test_getter_ends(test_getter *getter, int status, const void *result);

extern char test_untouched;
#define TEST_UNTOUCHED ((void *)&test_untouched)

#endif
