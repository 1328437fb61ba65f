/* SPDX-License-Identifier: MIT */
/*
 * rota/rota.h - executors, futures and queues for C11: all of it.
 *
 *     static void *square(void *arg)                     // a task is a function
 *     {
 *         long *number = arg;
 *         *number *= *number;
 *         return number;
 *     }
 *
 *     rota_fixed_pool(4, &pool);                         // four threads
 *     rota_submit(pool, square, &number, &future);       // one of them will run it
 *     rota_future_get(future, &result);                  // waits for it
 *     rota_future_unref(future);
 *     rota_close(pool);                                  // when all is done
 */
#ifndef ROTA_ROTA_H
#define ROTA_ROTA_H

#include <rota/base.h>
#include <rota/completer.h>
#include <rota/completion.h>
#include <rota/compose.h>
#include <rota/executor.h>
#include <rota/factory.h>
#include <rota/forkjoin.h>
#include <rota/future.h>
#include <rota/observe.h>
#include <rota/parallel.h>
#include <rota/pool.h>
#include <rota/queue.h>
#include <rota/sched.h>
#include <rota/task.h>

#endif
