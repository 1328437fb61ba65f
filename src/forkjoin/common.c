/* SPDX-License-Identifier: MIT */
/*
 * common.c - the pool that is always there: made when it is first asked for.
 */
#include "forkjoin/forkjoin_internal.h"

#include "base/time.h"

#include <stdlib.h>

rota__atomic(rota__fj_pool *) rota__the_common;

unsigned rota__parse_parallelism(const char *text, unsigned usual)
{
    char *end;
    unsigned long number;

    if (text == NULL || *text < '0' || *text > '9')
        return usual;
    number = strtoul(text, &end, 10);
    return *end == '\0' && number <= 32767 ? (unsigned)number : usual;
}

/* ROTA_COMMON_PARALLELISM, or one less than the CPUs. */
static unsigned parallelism(void)
{
    unsigned cpus = rota_cpu_count();

    return rota__parse_parallelism(getenv("ROTA_COMMON_PARALLELISM"), cpus > 1 ? cpus - 1 : 1);
}

/* Of this process: a child of fork(2) makes its own. */
static rota__fj_pool *existing(void)
{
    rota__fj_pool *pool = rota__load_acquire(&rota__the_common); /* pairs with make */

    return pool != NULL && rota__fj_is_here(pool) ? pool : NULL;
}

/*
 * A common pool without threads: a thread that waits for a future runs its task (FJ-07). Taking the
 * task and entering the pool is one step under the lock, or the pool might seem quiescent in between.
 * So this is `run_others`, and `take` finds nothing.
 */
static bool help_outside(const rota__helper *helper, rota_future *future)
{
    rota__fj_pool *pool = existing();
    rota_task *task = &future->task;

    (void)helper;
    if (pool == NULL)
        return false;
    rota__mutex_lock(&pool->lock); /* forkjoin.F2b */
    if (rota__inbox_remove_task(pool, task)) {
        rota__fj_take_part(pool, rota__crew_enter(pool), rota__entry_of(task), NULL);
        return true;
    }
    rota__mutex_unlock(&pool->lock);
    return false;
}

static rota_task *take_nothing(const rota__helper *helper, rota_future *future, rota_ns *ready_at)
{
    (void)helper;
    (void)future;
    *ready_at = ROTA_FOREVER;
    return NULL;
}

static rota__fj_pool *make(void)
{
    static const rota__helper outsider = {.take = take_nothing, .run_others = help_outside};
    rota_forkjoin_options options = {.parallelism = parallelism(),
                                     .threads = {.name = "common-%u"}};
    rota__fj_pool *pool;

    if (rota__fj_pool_new(&options, true, &pool) != ROTA_OK)
        return NULL;
    rota__store_release(&rota__the_common, pool); /* pairs with existing */
    if (pool->parallelism == 0)
        rota__store_release(&rota__anyones_helper, &outsider); /* pairs with rota_future_get */
    return pool;
}

rota__fj_pool *rota__fj_common(void)
{
    rota__fj_pool *pool = existing();

    if (pool != NULL)
        return pool;
    rota__self();
    rota__mutex_lock(&rota__singleton_lock);
    pool = existing();
    if (pool == NULL)
        pool = make();
    rota__mutex_unlock(&rota__singleton_lock);
    return pool;
}

rota_executor *rota_common_pool(void)
{
    rota__fj_pool *pool = rota__fj_common();

    return pool != NULL ? &pool->executor : NULL;
}

#ifndef ROTA_EXPLORE
enum { AFTER_THE_TIMER = 102 }; /* of composed futures, which has a thread of its own */

/*
 * So that a clean program is clean to tools that look for what is left. Other threads that live on
 * find a pool that refuses; what they may hold of it is freed only if there are none.
 */
__attribute__((destructor(AFTER_THE_TIMER))) static void end_common(void)
{
    rota__fj_pool *pool = existing();

    if (pool != NULL && rota__fj_pool_end(pool))
        rota__store_relaxed(&rota__the_common, NULL);
}
#endif
