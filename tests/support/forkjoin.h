/* SPDX-License-Identifier: MIT */
/*
 * forkjoin.h - fork/join pools for tests, and tests that run inside of them.
 *
 *     WORKER_TEST(a_fork_is_run_by_its_join) // on a worker of every kind of pool: test_check only
 *     {
 *         ...
 *     }
 */
#ifndef ROTA_TEST_FORKJOIN_H
#define ROTA_TEST_FORKJOIN_H

#include "pools.h"

/* -- Pools ----------------------------------------------------------------------------------- */

/* End the process if it cannot be done. */
rota_executor *test_forkjoin(rota_forkjoin_options options);
rota_executor *test_forkjoin_of(unsigned parallelism);
rota_forkjoin_stats test_fj_stats(rota_executor *pool);

void test_fj_await_threads(rota_executor *pool, unsigned count);
void test_fj_await_active(rota_executor *pool, unsigned count);
void test_fj_await_submissions(rota_executor *pool, size_t count);

/* -- Inside a pool --------------------------------------------------------------------------- */

/* Runs the body on one of the pool's own threads, and waits for its end. */
void test_fj_inside(rota_executor *pool, void (*body)(void *arg), void *arg);

/* The same on the calling thread, which takes part if there is a place. */
void test_fj_taking_part(rota_executor *pool, void (*body)(void *arg), void *arg);

/* Until somebody else has begun with what the caller has forked, and counts there; it forks and joins
   meanwhile, as a computation does. */
void test_fj_until_stolen(atomic_uint *begun);

/* -- Something to compute -------------------------------------------------------------------- */

/* Two tasks for each number above 1: {ROTA_FJ(test_fib), 16, 0}. */
typedef struct test_fib_task {
    rota_fj task; /* first */
    int n;
    long value;
} test_fib_task;

void test_fib(rota_fj *task);

/* -- Tests that run inside a pool ------------------------------------------------------------ */

enum { TEST_LONE_WORKER = 1 << 0 };
extern const test_fixture test_workers;

/* Runs on a worker, in each kind of pool; the second only where one worker does everything. */
#define WORKER_TEST(name)      TEST_WITH(test_workers, name)
#define LONE_WORKER_TEST(name) TEST_CASE(name, .fixture = &test_workers, .needs = TEST_LONE_WORKER)

#endif
