/* SPDX-License-Identifier: MIT */
/*
 * inbox.c - tasks from outside, linked by words of their own: no memory is needed.
 */
#include "forkjoin/forkjoin_internal.h"

static void count(rota__fj_pool *pool, size_t change)
{
    rota__store_relaxed(&pool->submissions, rota__load_relaxed(&pool->submissions) + change);
}

void rota__inbox_put_task(rota__fj_pool *pool, rota_task *task)
{
    rota__task_slist_append(&pool->tasks, task);
    count(pool, 1);
}

static rota_fj *next_of(const rota_fj *task)
{
    return (rota_fj *)rota__load_relaxed(rota__fj_word(task, FJ_RUNNER));
}

static void link_to(rota_fj *task, rota_fj *next)
{
    rota__store_relaxed(rota__fj_word(task, FJ_RUNNER), (uintptr_t)next);
}

void rota__inbox_put(rota__fj_pool *pool, rota_fj *task)
{
    rota__or_acq_rel(rota__fj_word(task, FJ_STATE), FJ_FORKED | FJ_OUTSIDE);
    link_to(task, NULL);
    if (pool->last != NULL)
        link_to(pool->last, task);
    else
        pool->first = task;
    pool->last = task;
    count(pool, 1);
}

static rota_fj *take_fj(rota__fj_pool *pool)
{
    rota_fj *task = pool->first;

    if (task == NULL)
        return NULL;
    pool->first = next_of(task);
    if (pool->first == NULL)
        pool->last = NULL;
    link_to(task, NULL);
    return task;
}

static rota_fj *take_task(rota__fj_pool *pool)
{
    rota_task *task = rota__task_slist_take(&pool->tasks);

    return task != NULL ? rota__entry_of(task) : NULL;
}

rota_task *rota__inbox_take_task(rota__fj_pool *pool)
{
    rota_task *task = rota__task_slist_take(&pool->tasks);

    if (task != NULL)
        count(pool, (size_t)-1);
    return task;
}

rota_fj *rota__inbox_take(rota__fj_pool *pool)
{
    rota_fj *entry = pool->tasks_next ? take_task(pool) : take_fj(pool);

    if (entry == NULL)
        entry = pool->tasks_next ? take_fj(pool) : take_task(pool);
    pool->tasks_next = !pool->tasks_next; /* so that neither kind waits for ever */
    if (entry != NULL)
        count(pool, (size_t)-1);
    return entry;
}

/* -- By name -------------------------------------------------------------- */

rota_fj *rota__inbox_take_if(rota__fj_pool *pool, bool (*is_wanted)(rota_fj *, const void *),
                             const void *arg)
{
    rota_fj *before = NULL;
    rota_fj *here = pool->first;

    while (here != NULL && !is_wanted(here, arg)) {
        before = here;
        here = next_of(here);
    }
    if (here == NULL)
        return NULL;
    if (before == NULL)
        pool->first = next_of(here);
    else
        link_to(before, next_of(here));
    if (pool->last == here)
        pool->last = before;
    link_to(here, NULL);
    count(pool, (size_t)-1);
    return here;
}

static bool is_that(rota_fj *task, const void *arg)
{
    return task == arg;
}

bool rota__inbox_remove(rota__fj_pool *pool, const rota_fj *task)
{
    return rota__inbox_take_if(pool, is_that, task) != NULL;
}

bool rota__inbox_remove_task(rota__fj_pool *pool, const rota_task *task)
{
    bool found = false;
    rota__task_slist others = {0};
    rota_task *here;

    if (pool->tasks.count == 0)
        return false;
    while ((here = rota__task_slist_take(&pool->tasks)) != NULL) {
        if (here == task)
            found = true;
        else
            rota__task_slist_append(&others, here);
    }
    pool->tasks = others;
    if (found)
        count(pool, (size_t)-1);
    return found;
}
