/* SPDX-License-Identifier: MIT */
/*
 * wait.c - who joins a task that somebody else has, or waits for a future.
 *
 * A worker first runs what the thief has forked since: that is a part of what it
 * waits for, so its stack grows no deeper than the computation would on one thread
 * (leapfrogging: Wagner and Calder, 1993). Then it spins a little, and then it
 * blocks, and counts as blocked, so that another may stand in.
 */
#include "forkjoin/forkjoin_internal.h"

#include "base/time.h"

#include <limits.h>

enum { MOST_HELPING = 16 }; /* waits inside one another that run any task */

/* -- The waiters of a task ------------------------------------------------ */

void rota__fj_wake_all(rota__fj_waiter *newest)
{
    while (newest != NULL) {
        rota__fj_waiter *next = newest->next;
        rota__waiter_wake(&newest->waiter);
        newest = next;
    }
}

/* False: it is done, and nobody will wake it. */
static bool get_in_line(rota_fj *task, rota__fj_waiter *mine)
{
    uintptr_t state = rota__fj_state(task);

    do {
        if (state & FJ_DONE)
            return false;
        mine->next = (rota__fj_waiter *)(state & ~(uintptr_t)FJ_FLAGS);
    } while (!rota__cas_acq_rel(rota__fj_word(task, FJ_STATE), &state,
                                (uintptr_t)mine | (state & FJ_FLAGS))); /* pairs with finish */
    return true;
}

/* fj.J2: its end is not told, or there is no memory to wait with. */
static void look_until_done(const rota_fj *task, bool until_shared)
{
    unsigned turns = ROTA__BACKOFF_INIT;

    while (!rota__fj_is_done(task)
           && !(until_shared && rota__fj_state(task) & (FJ_SHARED | FJ_OUTSIDE | FJ_COUNTED)))
        rota__backoff(&turns);
}

static void wait_until_done(rota_fj *task)
{
    rota__fj_waiter mine;

    look_until_done(task, true);
    if (rota__waiter_begin_uninterruptible(&mine.waiter) != ROTA_OK) {
        look_until_done(task, false);
        return;
    }
    if (rota__fj_is_done(task) || !get_in_line(task, &mine))
        rota__waiter_cancel(&mine.waiter);
    else
        rota__waiter_wait_uninterruptible(&mine.waiter); /* deaf: INT-11 */
}

/* -- A worker ------------------------------------------------------------- */

/* NULL: nobody runs it yet, or nobody that could be helped. */
static rota__fj_worker *thief_of(const rota_fj *task)
{
    if (!(rota__fj_state(task) & FJ_SHARED)) /* mutants: only whom it helps */
        return NULL;
    return (rota__fj_worker *)rota__load_relaxed(rota__fj_word(task, FJ_RUNNER));
}

/* Of another pool it may be gone any moment. */
static bool is_colleague(const rota__fj_pool *pool, const rota__fj_worker *thief)
{
    uint32_t made = rota__load_acquire(&pool->made);

    for (uint32_t i = 0; i < made; i++) {
        if (rota__load_relaxed(&pool->workers[i]) == thief)
            return true;
    }
    return false;
}

static bool help_thief(rota__fj_worker *worker, const rota_fj *task)
{
    rota__fj_worker *thief = thief_of(task);
    rota_fj *entry;

    if (thief == NULL || !is_colleague(worker->pool, thief))
        return false;
    entry = rota__crew_steal(worker->pool, &thief->deque);
    if (entry == NULL) {
        rota__deque_request(&thief->deque);
        return false;
    }
    rota__store_relaxed(&worker->steals, rota__load_relaxed(&worker->steals) + 1);
    rota__fj_run_entry(worker, entry, false);
    return true;
}

/* True: it is done. What it forked while it helped has been joined, or is run now. */
static bool help_or_spin(rota__fj_worker *worker, const rota_fj *task)
{
    rota_ns length = rota__spin_budget_get(&worker->spin);
    rota_ns end = rota__time_add(rota__os_now(), length);
    bool has_helped = false;

    do {
        for (int look = 0; look < 16; look++) {
            if (rota__fj_is_done(task)) {
                rota__spin_budget_update(&worker->spin, length, true);
                return true;
            }
            if (help_thief(worker, task)) {
                has_helped = true; /* mutants: only how long it spins the next time */
                end = rota__time_add(rota__os_now(), length);
            }
            rota__cpu_relax();
        }
    } while (rota__os_now() < end);
    if (!has_helped)
        rota__spin_budget_update(&worker->spin, length, false);
    return rota__fj_is_done(task);
}

/* A completer: any task may be what it waits for. Bounded as a wait for a future is. */
static void help_anybody(rota__fj_worker *worker, const rota_fj *task)
{
    if (worker->helping == MOST_HELPING)
        return;
    worker->helping++;
    while (!rota__fj_is_done(task) && rota__fj_run_one(worker))
        continue;
    worker->helping--;
}

/* It was taken by mistake and given back (rota__fj_give_back), where there may be nobody to run it. */
static bool take_given_back(rota__fj_pool *pool, const rota_fj *task)
{
    bool is_mine;

    look_until_done(task, true);
    if ((rota__fj_state(task) & (FJ_OUTSIDE | FJ_SHARED | FJ_COUNTED)) != FJ_OUTSIDE)
        return false;
    rota__mutex_lock(&pool->lock);
    is_mine = rota__inbox_remove(pool, task);
    rota__mutex_unlock(&pool->lock);
    return is_mine;
}

void rota__fj_join_stolen(rota__fj_worker *worker, rota_fj *task)
{
    rota__fj_pool *pool = worker->pool;
    bool is_done, is_mine;

    if (rota__is_counted(task))
        help_anybody(worker, task);
    worker->waits++;
    rota__add_acq_rel(&pool->crowd, FJ_WAITING); /* so that the thief's forks are public */
    is_done = help_or_spin(worker, task);
    rota__sub_acq_rel(&pool->crowd, FJ_WAITING);
    worker->waits--;
    if (is_done)
        return;
    rota__crew_block(worker, false);
    is_mine = take_given_back(pool, task); /* forkjoin.F4 */
    if (!is_mine)
        wait_until_done(task);
    rota__crew_unblock(worker);
    if (is_mine)
        rota__fj_run_entry(worker, task, false);
}

/* -- Any other thread ----------------------------------------------------- */

/* It was run by a stranger, and what it forked may have nobody else. */
static void help_along(rota_fj *task)
{
    if (rota__is_counted(task) && !rota__fj_is_done(task))
        rota_help_complete((rota_completer *)(void *)task, INT_MAX);
}

/* It is still in the common pool's inbox: run here, where its forks find workers. */
static bool run_outside(rota__fj_pool *pool, rota_fj *task)
{
    bool is_mine;

    rota__mutex_lock(&pool->lock);
    is_mine = rota__inbox_remove(pool, task);
    if (!is_mine) {
        rota__mutex_unlock(&pool->lock);
        return false;
    }
    rota__fj_take_part(pool, rota__crew_enter(pool), task, task); /* unlocks */
    help_along(task);
    return true;
}

void rota__fj_join_outside(rota_fj *task)
{
    rota__fj_pool *pool = rota__fj_common();

    if (pool == NULL || !rota__fj_is_here(pool) || !run_outside(pool, task)
        || !rota__fj_is_done(task))
        wait_until_done(task);
}

int rota_invoke(rota_executor *ex, rota_fj *task)
{
    rota__fj_pool *pool = ex != NULL ? rota__as_forkjoin(ex) : NULL;
    rota__fj_worker *worker = rota__fj_me();

    if (ex == NULL || task == NULL || task->run == NULL)
        return ROTA_EINVAL;
    if (pool == NULL)
        return ROTA_ENOTSUP;
    if (rota__fj_is_done(task))
        return rota__fj_status(task);
    if (worker != NULL && worker->pool == pool) {
        if (rota__fj_pool_state(pool) >= ROTA_STOP)
            return ROTA_EREJECTED;
        rota__fj_run_own(task);
        return rota__join_slow(task); /* a completer is not done yet */
    }
    return rota__fj_invoke_from_outside(pool, worker, task);
}

/* Who can take no part, as enough others do. */
static int wait_for_others(rota__fj_pool *pool, rota__fj_worker *worker, rota_fj *task)
{
    int status;

    rota__inbox_put(pool, task);
    status = rota__crew_call_locked(pool);
    if ((status != ROTA_OK || pool->parallelism == 0) && rota__fj_take_back(pool, task)) {
        rota__fj_run_shared(task, NULL); /* there is nobody: GEN-10, FJ-07 */
        help_along(task);
        if (rota__fj_is_done(task))
            return rota__fj_status(task);
    }
    if (worker != NULL)
        rota__crew_block(worker, false);
    wait_until_done(task);
    if (worker != NULL)
        rota__crew_unblock(worker);
    return rota__fj_status(task);
}

int rota__fj_invoke_from_outside(rota__fj_pool *pool, rota__fj_worker *worker, rota_fj *task)
{
    rota__fj_worker *place;

    if (!rota__fj_is_here(pool))
        return ROTA_EREJECTED;
    rota__mutex_lock(&pool->lock);
    if (rota__fj_pool_state(pool) != ROTA_RUNNING) {
        rota__mutex_unlock(&pool->lock);
        return ROTA_EREJECTED;
    }
    place = rota__crew_enter(pool);
    if (place == NULL)
        return wait_for_others(pool, worker, task);
    rota__fj_take_part(pool, place, task, task);
    return rota__fj_status(task);
}

/* -- Waits of tasks ------------------------------------------------------- */

/* Takes it, and no other: from where tasks come in, or from the top of the own deque. */
static bool take_task(rota__fj_worker *worker, rota_task *task)
{
    rota__fj_pool *pool = worker->pool;
    rota_fj *newest;

    rota__mutex_lock(&pool->lock);
    bool was_in_inbox = rota__inbox_remove_task(pool, task);
    rota__mutex_unlock(&pool->lock);
    if (was_in_inbox)
        return true;
    newest = rota__deque_pop(&worker->deque);
    if (newest != NULL && newest != rota__entry_of(task))
        rota__deque_push(&worker->deque, newest); /* where it has just been */
    rota__fj_answer(worker);
    return newest == rota__entry_of(task);
}

static rota__fj_worker *worker_of(const rota__helper *helper)
{
    return ROTA__CONTAINER((rota__helper *)(uintptr_t)helper, rota__fj_worker, helper);
}

static rota_task *help_take(const rota__helper *helper, rota_future *future, rota_ns *ready_at)
{
    *ready_at = ROTA_FOREVER;
    return take_task(worker_of(helper), &future->task) ? &future->task : NULL;
}

static void help_run(const rota__helper *helper, rota_task *task)
{
    rota__fj_run_entry(worker_of(helper), rota__entry_of(task), false);
}

static bool help_run_others(const rota__helper *helper, rota_future *future)
{
    rota__fj_worker *worker = worker_of(helper);
    bool has_run = false;

    if (worker->helping == MOST_HELPING)
        return false;
    worker->helping++;
    while (!rota_future_is_done(future) && rota__fj_run_one(worker))
        has_run = true;
    worker->helping--;
    return has_run;
}

/* -- Blocking ------------------------------------------------------------- */

int rota_block_begin(void)
{
    rota__fj_worker *worker = rota__fj_me();
    int status;

    if (worker == NULL || worker->blocks++ > 0)
        return ROTA_OK;
    status = rota__crew_block(worker, true);
    if (status != ROTA_OK)
        worker->blocks = 0;
    return status;
}

void rota_block_end(void)
{
    rota__fj_worker *worker = rota__fj_me();

    if (worker != NULL && worker->blocks > 0 && --worker->blocks == 0)
        rota__crew_unblock(worker);
}

/* wait.c calls these around every wait of a task. */
static void wait_begins(const rota__helper *helper)
{
    rota__fj_worker *worker = worker_of(helper);

    if (worker->blocks++ == 0)
        rota__crew_block(worker, false);
}

static void wait_ends(const rota__helper *helper)
{
    rota__fj_worker *worker = worker_of(helper);

    if (--worker->blocks == 0)
        rota__crew_unblock(worker);
}

const rota__helper rota__fj_helper = {.take = help_take,
                                      .run = help_run,
                                      .run_others = help_run_others,
                                      .wait_begins = wait_begins,
                                      .wait_ends = wait_ends};
