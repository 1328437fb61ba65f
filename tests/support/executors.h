/* SPDX-License-Identifier: MIT */
/*
 * executors.h - executors of the tests' own, made with rota_executor_new as a user would.
 *
 *     test_manual *manual;
 *     rota_executor *executor;
 *     manual = test_executor_manual(&executor);
 *     rota_submit(executor, work, NULL, &future);      // nothing runs yet
 *     test_manual_run(manual, 0);                      // now it has run
 *     rota_close(executor);                            // discards what is left
 */
#ifndef ROTA_TEST_EXECUTORS_H
#define ROTA_TEST_EXECUTORS_H

#include "rota_test.h"

/* Runs each task at once, in the thread that submits it. */
int test_executor_direct(rota_executor **out);

/*
 * Runs tasks on `count` threads, in the order in which they came. A task may end its thread, which
 * is then replaced. One of its own tasks that waits for its end without a time-out is told
 * ROTA_EDEADLOCK.
 */
int test_executor_threads(unsigned count, rota_executor **out);

/* -- By hand --------------------------------------------------------------------------------- */

/* Keeps each task until the test runs or discards it, in any order and on any thread. */
typedef struct test_manual test_manual;

/* Good until the executor is freed, which discards what is left. Ends the process without memory. */
test_manual *test_executor_manual(rota_executor **out);

/* Takes `count` more, and refuses all that come after them; ROTA_OK: refuses none. */
void test_manual_refuse_after(test_manual *manual, size_t count, int status);

/* From now on called inside execute with each task that was taken, counted from 0; NULL: nothing. */
void test_manual_on_taken(test_manual *manual, void (*taken)(size_t nth, void *arg), void *arg);

size_t test_manual_count(test_manual *manual); /* that it keeps */
void test_manual_await_count(test_manual *manual, size_t count);
rota_task *test_manual_take(test_manual *manual, size_t i); /* the i-th of them, from the oldest */
void test_manual_run(test_manual *manual, size_t i);
void test_manual_discard(test_manual *manual, size_t i);

#endif
