/* SPDX-License-Identifier: MIT */
/*
 * rota/factory.h - ready-made executors.
 *
 *     rota_executor *pool;
 *     rota_fixed_pool(rota_cpu_count(), &pool);      // for tasks that compute
 *     rota_cached_pool(&pool);                       // for many short tasks that wait
 *
 * They are closed like any executor, by rota_close. None is shut down by itself, and the end of the
 * process does not wait for their threads.
 */
#ifndef ROTA_FACTORY_H
#define ROTA_FACTORY_H

#include <rota/forkjoin.h>
#include <rota/sched.h>

ROTA_BEGIN

/*
 * Makes an executor, ready to use.
 *
 * fixed_pool           so many threads, and a queue without a bound. ROTA_EINVAL for 0.
 * single_thread        one thread: tasks run one at a time, in the order they were submitted. If a
 *                      task ends the thread, another takes its place. Its settings cannot be changed.
 * cached_pool          each task runs at once, on an idle thread or on a new one; an idle thread ends
 *                      after 60 seconds
 * scheduled_pool       core_threads threads, for tasks that run later or again and again: rota/sched.h
 * single_scheduled     the same with one thread. Its settings cannot be changed.
 * work_stealing_pool   so many fork/join workers, or one for each CPU with 0, for tasks that are not
 *                      joined; they run in about the order of their submission: rota/forkjoin.h
 * thread_per_task      a new thread for each task, as by pthread_create, but with futures, cancelling
 *                      and closing; `threads` may be NULL
 */
int rota_fixed_pool(unsigned threads, rota_executor **out);
int rota_single_thread(rota_executor **out);
int rota_cached_pool(rota_executor **out);
int rota_scheduled_pool(unsigned core_threads, rota_executor **out);
int rota_single_scheduled(rota_executor **out);
int rota_work_stealing_pool(unsigned parallelism, rota_executor **out);
int rota_thread_per_task(const rota_threads *threads, rota_executor **out);

/*
 * The common pool: a fork/join pool that is made when it is first asked for, belongs to the library,
 * and cannot be shut down or closed (ROTA_ENOTSUP). NULL when there is no memory. Its parallelism is
 * one less than the CPUs, at least 1, or what the environment variable ROTA_COMMON_PARALLELISM says;
 * with 0 there it has no threads, and whoever waits for a task runs it. When the process exits it ends
 * if it is idle: to threads that still run then submissions are ROTA_EREJECTED.
 */
rota_executor *rota_common_pool(void);

ROTA_END
#endif
