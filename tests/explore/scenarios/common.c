/* SPDX-License-Identifier: MIT */
/*
 * common.c - the common pool, and threads that are none of its workers.
 */
#define _GNU_SOURCE
#include "forkjoin/forkjoin_internal.h"

#include "explore.h"

#include <stdlib.h>

static rota__os_word ran;

static void begin(const char *parallelism)
{
    rota__store_relaxed(&rota__the_common, NULL); /* one that a run before this has left */
    rota__store_relaxed(&rota__anyones_helper, NULL);
    rota__store_relaxed(&ran, 0);
    setenv("ROTA_COMMON_PARALLELISM", parallelism, 1);
    ex_check(rota_common_pool() != NULL);
    unsetenv("ROTA_COMMON_PARALLELISM");
}

static void end(void)
{
    rota__fj_pool *common = rota__fj_common();

    ex_check(rota_await_quiescence(&common->executor, ROTA_FOREVER) == ROTA_OK);
    ex_check(rota__load_relaxed(&ran) == 2);
    rota__store_relaxed(&rota__the_common, NULL);
    rota__store_relaxed(&rota__anyones_helper, NULL);
    common->is_common = false; /* which can be closed */
    ex_check(rota_close(&common->executor) == ROTA_OK);
}

/* -- Completers ------------------------------------------------------------------------------- */

static void run_and_complete(rota_completer *self)
{
    rota__add_acq_rel(&ran, 1);
    rota_try_complete(self);
}

/* CC-10: who is no worker, and a worker, take what was forked from outside, each once. */
EXPLORE(somebody_outside_helps_as_a_worker_of_the_common_pool_takes)
{
    static rota_completer root, a, b;

    begin("1");
    root = (rota_completer)ROTA_COMPLETER(run_and_complete, NULL);
    a = (rota_completer)ROTA_COMPLETER(run_and_complete, &root);
    b = (rota_completer)ROTA_COMPLETER(run_and_complete, &root);
    rota_set_pending(&root, 2); /* so that it stays pending */
    rota_fork(&a.task);
    rota_fork(&b.task);
    rota_help_complete(&root, 1);
    end();
    ex_check(rota_pending(&root) == 0);
}

/* -- Futures ---------------------------------------------------------------------------------- */

static void *count(void *arg)
{
    rota__add_acq_rel(&ran, 1);
    return arg;
}

static void get(void *future)
{
    ex_check(rota_future_get(future, NULL) == ROTA_OK);
}

/* FJ-07: without threads, two that wait run what they wait for, each once. */
EXPLORE(two_outside_wait_for_tasks_of_a_common_pool_without_threads)
{
    rota_future *first = NULL, *second = NULL;

    begin("0");
    ex_check(rota_submit(rota_common_pool(), count, NULL, &first) == ROTA_OK);
    ex_check(rota_submit(rota_common_pool(), count, NULL, &second) == ROTA_OK);
    ex_thread *other = ex_start(get, second);
    get(first);
    ex_join(other);
    rota_future_unref(first);
    rota_future_unref(second);
    end();
}
