/* SPDX-License-Identifier: MIT */
/*
 * turn.c - a pool runs a task, and counts it.
 */
#include "pool/pool_internal.h"

/* On the stack of the thread that runs it. */
typedef struct pool_turn {
    rota__turn turn;
    rota__pool *pool;
    rota__worker *worker; /* NULL: no worker runs it */
    bool comes_again;     /* is to be queued anew */
} pool_turn;

/* Only the worker itself writes its counts. */
static void count(pool_turn *now, uint64_t change)
{
    rota__worker *worker = now->worker;

    if (worker != NULL) {
        rota__store_release(&worker->counts,
                            rota__load_relaxed(&worker->counts) + change); /* pairs with add_up */
    } else if (change != ROTA__ONE_RUNNING) {
        rota__mutex_lock(&now->pool->lock);
        now->pool->completed++;
        rota__mutex_unlock(&now->pool->lock);
    }
}

static void run_by_kind(rota__turn *turn, rota_future *future)
{
    pool_turn *now = ROTA__CONTAINER(turn, pool_turn, turn);

    now->comes_again = now->pool->ops->run(now->pool, future);
}

static void ended(rota__turn *turn)
{
    pool_turn *now = ROTA__CONTAINER(turn, pool_turn, turn);
    rota__pool *pool = now->pool;

    count(now, ROTA__ONE_COMPLETED - ROTA__ONE_RUNNING);
    if (now->comes_again && pool->ops->requeue(pool, rota__future_of(turn->task)))
        return; /* it is not ours any more */
    rota__pool_detach(pool, turn->task);
    rota__task_release(turn->task);
}

static pool_turn turn_of(rota__pool *pool, rota__worker *worker, rota_task *task)
{
    return (pool_turn){.turn = {.executor = &pool->executor,
                                .hooks = &pool->hooks,
                                .task = task,
                                .run = run_by_kind,
                                .ended = ended},
                       .pool = pool,
                       .worker = worker};
}

void rota__pool_run_task(rota__pool *pool, rota__worker *worker, rota_task *task)
{
    pool_turn now = turn_of(pool, worker, task);

    count(&now, ROTA__ONE_RUNNING);
    rota__turn_run(&now.turn);
}

void rota__pool_run_first(rota__worker *worker)
{
    pool_turn now = turn_of(worker->pool, worker, worker->first);

    worker->first = NULL;
    if (now.turn.task != NULL)
        rota__turn_run(&now.turn); /* it has been counted since the worker began */
}

void rota__pool_run_for_caller(rota__pool *pool, rota_task *task)
{
    rota__turn now = {.task = task};

    if (pool != NULL) {
        now.executor = &pool->executor;
        now.hooks = &pool->hooks;
    }
    rota__turn_run_bare(&now);
}
