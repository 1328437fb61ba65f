/* SPDX-License-Identifier: MIT */
/*
 * pool.c - the executor around a crew: made, given tasks, shut down.
 */
#include "forkjoin/forkjoin_internal.h"

#include "base/alloc.h"
#include "base/time.h"

/* -- Quiet, and the end --------------------------------------------------- */

static bool is_quiet(const rota__fj_pool *pool)
{
    return rota__fj_has_only(pool, 0);
}

static void set_state(rota__fj_pool *pool, rota_executor_state state)
{
    rota__store_release(&pool->state, (uint32_t)state); /* pairs with rota__fj_pool_state */
}

static void call_terminated(void *arg)
{
    rota__fj_pool *pool = arg;

    pool->hooks.terminated(&pool->executor, pool->hooks.ctx);
}

/* With the lock held, which it leaves. */
static void terminate(rota__fj_pool *pool)
{
    set_state(pool, ROTA_TIDYING);
    rota__mutex_unlock(&pool->lock);
    rota__call_thread_hook("terminated", pool->hooks.terminated != NULL ? call_terminated : NULL,
                           pool);
    rota__mutex_lock(&pool->lock);
    set_state(pool, ROTA_TERMINATED);
    rota__latch_signal_all(&pool->waiters); /* forkjoin.F1 */
    rota__mutex_unlock(&pool->lock);
}

void rota__fj_settle(rota__fj_pool *pool)
{
    rota_executor_state state = rota__fj_pool_state(pool);

    if (is_quiet(pool)) {
        rota__latch_signal_all(&pool->quiet);
        if (state == ROTA_SHUTDOWN) { /* FJ-23: that was all */
            set_state(pool, ROTA_STOP);
            rota__crew_wake_all(pool);
            state = ROTA_STOP;
        }
    }
    if (state == ROTA_STOP && pool->threads + pool->guests == 0)
        terminate(pool);
    else
        rota__mutex_unlock(&pool->lock);
}

/* -- Taking tasks --------------------------------------------------------- */

/* With the lock held, which it leaves. */
static bool refuses(rota__fj_pool *pool)
{
    if (rota__fj_pool_state(pool) == ROTA_RUNNING)
        return false;
    rota__mutex_unlock(&pool->lock);
    return true;
}

static int execute_here(rota__fj_worker *worker, rota_task *task)
{
    if (rota__fj_pool_state(worker->pool) != ROTA_RUNNING)
        return ROTA_EREJECTED;
    if (!rota__deque_push(&worker->deque, rota__entry_of(task)))
        return ROTA_ENOMEM;
    rota__deque_publish(&worker->deque); /* FJ-14: it need not be joined here */
    rota__fj_answer(worker);
    return ROTA_OK;
}

/* Without a worker, and none to be had: it is not accepted, unless the pool is not to have any. */
static int take_back(rota__fj_pool *pool, rota_task *task, int status)
{
    bool removed;

    rota__mutex_lock(&pool->lock);
    removed = rota__inbox_remove_task(pool, task);
    rota__crew_insist(pool); /* others counted on the thread that could not be made */
    return removed ? status : ROTA_OK;
}

static int fj_submit(rota_executor *ex, rota_task *task, rota_ns due)
{
    rota__fj_pool *pool = rota__fj_pool_of(ex);
    rota__fj_worker *worker = rota__fj_me();
    int status;

    (void)due;
    if (!rota__fj_is_here(pool))
        return ROTA_EREJECTED;
    if (worker != NULL && worker->pool == pool)
        return execute_here(worker, task);
    rota__mutex_lock(&pool->lock);
    if (refuses(pool))
        return ROTA_EREJECTED;
    rota__inbox_put_task(pool, task);
    status = rota__crew_call_locked(pool);
    return status == ROTA_OK ? ROTA_OK : take_back(pool, task, status);
}

bool rota__fj_take_back(rota__fj_pool *pool, rota_fj *task)
{
    bool removed;

    rota__mutex_lock(&pool->lock);
    removed = rota__inbox_remove(pool, task);
    rota__crew_insist(pool); /* as above */
    return removed;
}

int rota__fj_submit(rota__fj_pool *pool, rota_fj *task)
{
    int status;

    rota__mutex_lock(&pool->lock);
    if (refuses(pool))
        return ROTA_EREJECTED;
    rota__inbox_put(pool, task);
    status = rota__crew_call_locked(pool);
    if (status != ROTA_OK && rota__fj_take_back(pool, task))
        rota__fj_run_shared(task, NULL); /* here and now */
    return ROTA_OK;
}

/* -- Shutdown ------------------------------------------------------------- */

static int fj_shutdown(rota_executor *ex, size_t *dropped)
{
    rota__fj_pool *pool = rota__fj_pool_of(ex);

    *dropped = 0;
    if (pool->is_common)
        return ROTA_ENOTSUP; /* FJ-06 */
    if (!rota__fj_is_here(pool))
        return ROTA_OK;
    rota__mutex_lock(&pool->lock);
    if (rota__fj_pool_state(pool) == ROTA_RUNNING)
        set_state(pool, ROTA_SHUTDOWN);
    rota__fj_settle(pool);
    return ROTA_OK;
}

/* With the lock held. What they fork from now on goes the long way, which looks at the state: an owner
   that closes its deque just now adds to the crowd before this, and its words are overwritten, or after
   it, and sees the state. */
static void stop_workers(rota__fj_pool *pool)
{
    uint32_t made = rota__load_relaxed(&pool->made);

    rota__add_acq_rel(&pool->crowd, 0); /* pairs with rota__fj_answer */
    rota__stop_set(&pool->stopped);
    for (uint32_t i = 0; i < made; i++) {
        rota__fj_worker *worker = rota__load_relaxed(&pool->workers[i]);
        rota__deque_request(&worker->deque);
        if (worker->self != NULL)
            rota__stop_wake(worker->self, &pool->stopped);
    }
}

static void drop_all(rota__fj_pool *pool)
{
    rota_fj *entry;

    for (;;) {
        rota__mutex_lock(&pool->lock);
        entry = rota__inbox_take(pool);
        rota__mutex_unlock(&pool->lock);
        if (entry == NULL)
            return;
        rota__fj_drop_entry(entry);
    }
}

static void steal_and_drop(rota__fj_pool *pool)
{
    uint32_t made = rota__load_acquire(&pool->made);
    rota_fj *entry;

    for (uint32_t i = 0; i < made; i++) {
        rota__fj_worker *worker = rota__load_relaxed(&pool->workers[i]);
        while ((entry = rota__deque_steal(&worker->deque)) != NULL)
            rota__fj_drop_entry(entry);
    }
}

static int fj_shutdown_now(rota_executor *ex, rota_task_list *drained, size_t *count)
{
    rota__fj_pool *pool = rota__fj_pool_of(ex);
    rota__task_slist none = {0};

    if (pool->is_common)
        return ROTA_ENOTSUP;
    if (rota__fj_is_here(pool)) {
        rota__mutex_lock(&pool->lock);
        pool->guests++; /* the pool does not end before this call does */
        if (rota__fj_pool_state(pool) < ROTA_STOP)
            set_state(pool, ROTA_STOP);
        stop_workers(pool);
        rota__crew_wake_all(pool);
        rota__mutex_unlock(&pool->lock);
        drop_all(pool);
        steal_and_drop(pool);
        rota__mutex_lock(&pool->lock);
        pool->guests--;
        rota__fj_settle(pool);
    }
    return rota__export_tasks(&none, drained, count); /* FJ-24: nothing */
}

static int fj_await_termination(rota_executor *ex, rota_ns timeout)
{
    rota__fj_pool *pool = rota__fj_pool_of(ex);
    rota_ns deadline = rota__deadline(timeout);
    int status;

    if (!rota__fj_is_here(pool))
        return ROTA_OK;
    if (pool->is_common) { /* FJ-06 */
        status = rota__fj_await_quiet(pool, deadline);
        return status == ROTA_OK ? ROTA_ETIMEDOUT : status;
    }
    rota__mutex_lock(&pool->lock);
    if (rota__fj_pool_state(pool) != ROTA_TERMINATED)
        return rota__latch_wait(&pool->waiters, &pool->lock, deadline);
    rota__mutex_unlock(&pool->lock);
    return ROTA_OK;
}

/* -- Beginning and end ---------------------------------------------------- */

static void free_memory(rota__fj_pool *pool)
{
    uint32_t made = rota__load_relaxed(&pool->made);

    for (uint32_t i = 0; i < made; i++) {
        rota__fj_worker *worker = rota__load_relaxed(&pool->workers[i]);
        rota__deque_free(&worker->deque);
        rota__free(worker, sizeof *worker);
    }
    rota__thread_plan_unref(pool->plan);
    rota__free(pool->workers, pool->max_threads * sizeof pool->workers[0]);
    rota__free(pool, sizeof *pool);
}

static void fj_free(rota_executor *ex)
{
    rota__fj_pool *pool = rota__fj_pool_of(ex);

    if (!rota__fj_is_here(pool))
        return;
    rota__executor_unregister(ex);
    rota__crew_join_ended(pool); /* with the lock: who ended the pool has left that, too */
    free_memory(pool);
}

static const rota__executor_ops forkjoin_ops = {
    .family = "forkjoin",
    .submit = fj_submit,
    .shutdown = fj_shutdown,
    .shutdown_now = fj_shutdown_now,
    .await_termination = fj_await_termination,
    .state_of = rota__fj_state_of,
    .describe = rota__fj_describe,
    .snapshot = rota__fj_snapshot,
    .free = fj_free,
};

rota__fj_pool *rota__as_forkjoin(rota_executor *ex)
{
    return ex->ops == &forkjoin_ops ? rota__fj_pool_of(ex) : NULL;
}

/* No other thread can hold any of it. Those that were joined are counted for a moment longer. */
static bool is_forgotten(rota__fj_pool *pool)
{
    rota_ns deadline = rota__deadline(ROTA_MS(1));
    unsigned turns = ROTA__BACKOFF_INIT;

    rota__crew_join_ended(pool);
    while (rota__os_thread_count() != 1) {
        if (rota__has_passed(deadline))
            return false;
        rota__backoff(&turns);
    }
    return true;
}

bool rota__fj_pool_end(rota__fj_pool *pool)
{
    rota__mutex_lock(&pool->lock); /* mutants: matters only at exit */
    if (!is_quiet(pool)) { /* somebody still uses it, whom the end of the process will end */
        rota__mutex_unlock(&pool->lock);
        return false;
    }
    set_state(pool, ROTA_SHUTDOWN);
    rota__fj_settle(pool);
    rota__mutex_lock(&pool->lock);
    if (rota__fj_pool_state(pool) != ROTA_TERMINATED)
        rota__latch_wait(&pool->waiters, &pool->lock, rota__deadline(ROTA_SEC(1)));
    else
        rota__mutex_unlock(&pool->lock);
    if (rota__fj_pool_state(pool) != ROTA_TERMINATED || !is_forgotten(pool))
        return false;
    fj_free(&pool->executor);
    return true;
}

enum { MOST_PARALLEL = 32767, SPARE = 256 };

static int init(rota__fj_pool *pool, const rota_forkjoin_options *options, bool is_common)
{
    unsigned most = options->max_threads;
    int status = rota__thread_plan_new(&options->threads, &pool->plan);

    if (status != ROTA_OK)
        return status;
    pool->generation = rota__process_generation();
    pool->parallelism = options->parallelism;
    pool->max_threads = most != 0 ? most : options->parallelism + SPARE;
    pool->keep_alive = options->keep_alive != 0 ? options->keep_alive : ROTA_SEC(60);
    pool->fifo = options->fifo;
    pool->is_common = is_common;
    pool->hooks = options->hooks;
    rota__list_init(&pool->sleepers);
    rota__list_init(&pool->ended);
    rota__latch_init(&pool->quiet);
    rota__latch_init(&pool->waiters);
    pool->workers = rota__alloc_array(pool->max_threads, sizeof pool->workers[0]);
    if (pool->workers != NULL)
        return ROTA_OK;
    rota__thread_plan_unref(pool->plan);
    return ROTA_ENOMEM;
}

static bool are_possible(const rota_forkjoin_options *options)
{
    return options->parallelism <= MOST_PARALLEL && options->keep_alive >= 0
           && (options->max_threads == 0 || options->max_threads >= options->parallelism)
           && options->max_threads <= MOST_PARALLEL + SPARE;
}

int rota__fj_pool_new(const rota_forkjoin_options *options, bool is_common, rota__fj_pool **out)
{
    rota__fj_pool *pool;
    int status;

    if (!are_possible(options))
        return ROTA_EINVAL;
    pool = rota__alloc(sizeof *pool);
    if (pool == NULL)
        return ROTA_ENOMEM;
    *pool = (rota__fj_pool){0};
    status = init(pool, options, is_common);
    if (status != ROTA_OK) {
        rota__free(pool, sizeof *pool);
        return status;
    }
    rota__executor_register(&pool->executor, &forkjoin_ops, is_common ? "common" : "forkjoin");
    *out = pool;
    return ROTA_OK;
}

int rota_forkjoin_new(const rota_forkjoin_options *options, rota_executor **out)
{
    rota_forkjoin_options full;
    rota__fj_pool *pool;
    int status;

    if (options == NULL || out == NULL)
        return ROTA_EINVAL;
    full = *options;
    if (full.parallelism == 0)
        full.parallelism = rota_cpu_count();
    status = rota__fj_pool_new(&full, false, &pool);
    if (status == ROTA_OK)
        *out = &pool->executor;
    return status;
}
