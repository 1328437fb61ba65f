/* SPDX-License-Identifier: MIT */
/*
 * rota/factory.h - ready-made executors.
 *
 *     rota_executor *pool;
 *     rota_fixed_pool(rota_cpu_count(), &pool);      // for tasks that compute
 *     rota_cached_pool(&pool);                       // for many short tasks that wait
 *
 * Every executor that these calls create belongs to the caller. Close it with rota_close. No
 * executor is shut down by itself, and the end of the process does not wait for its threads. Only
 * the common pool belongs to the library.
 */
#ifndef ROTA_FACTORY_H
#define ROTA_FACTORY_H

#include <rota/forkjoin.h>
#include <rota/sched.h>

ROTA_BEGIN

/* -- Pools ----------------------------------------------------------------------------------- */

/* Creates a thread pool with a fixed number of threads and an unbounded queue. ROTA_EINVAL if
   `threads` is 0. */
int rota_fixed_pool(unsigned threads, rota_executor **out);

/* Creates a thread pool with one thread. Tasks run one at a time, in the order in which they were
   submitted. If a task ends the thread, another thread replaces it. The settings of the pool cannot
   be changed. */
int rota_single_thread(rota_executor **out);

/* Creates a thread pool that starts each task at once, on an idle thread or on a new one. A thread
   ends when it has been idle for 60 seconds. */
int rota_cached_pool(rota_executor **out);

/* Creates a scheduled pool, for tasks that run later or periodically. See rota/sched.h. */
int rota_scheduled_pool(unsigned core_threads, rota_executor **out);

/* Creates a scheduled pool with one thread. The settings of the pool cannot be changed. */
int rota_single_scheduled(rota_executor **out);

/* Creates a fork/join pool for tasks that are not joined. The tasks start in about the order in
   which they were submitted. If `parallelism` is 0, the pool has one worker for each CPU. See
   rota/forkjoin.h. */
int rota_work_stealing_pool(unsigned parallelism, rota_executor **out);

/* Creates an executor that starts a new thread for each task. It is like pthread_create, but with
   futures, cancelling and closing. `threads` may be NULL. */
int rota_thread_per_task(const rota_threads *threads, rota_executor **out);

/* -- The common pool ------------------------------------------------------------------------- */

/*
 * Returns the common pool, a fork/join pool that the whole process shares. The library creates it
 * at the first call and owns it. It cannot be shut down or closed: these calls return ROTA_ENOTSUP.
 * The result is NULL if no memory is available.
 *
 * The pool has one worker fewer than there are CPUs, but at least one. The environment variable
 * ROTA_COMMON_PARALLELISM sets another number. If that number is 0, the pool has no threads, and a
 * thread that waits for a task runs it. When the process exits, the pool ends if it is idle. A
 * thread that is still running and submits a task then gets ROTA_EREJECTED.
 */
rota_executor *rota_common_pool(void);

ROTA_END
#endif
