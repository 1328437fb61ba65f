/* SPDX-License-Identifier: MIT */
#include "pool/pool_internal.h"

#include "base/alloc.h"

/* -- Taking a task -------------------------------------------------------- */

bool rota__pool_take_back(rota__pool *pool, rota_task *task)
{
    if (!pool->queue->kind->remove(pool->queue, task, ROTA__FRONT))
        return false;
    rota__pool_detach(pool, task);
    return true;
}

/* A task that is refused after all was in the queue: who looked there meanwhile has counted it. If
   nobody has, the next to look adds up the right sum. */
static void count_out(rota__pool *pool)
{
    rota__mutex_lock(&pool->lock);
    if (pool->submitted > 0)
        pool->submitted--;
    rota__mutex_unlock(&pool->lock);
}

/* pool.P2: the task is in the queue; will somebody run it? */
int rota__pool_look_again(rota__pool *pool, rota_task *task)
{
    uint32_t ctl = rota__ctl_load(&pool->ctl);
    int status = ROTA__ASK_HANDLER;

    if (ROTA__LIKELY(rota__ctl_state(ctl) == ROTA_RUNNING && rota__ctl_workers(ctl) > 0))
        return ROTA_OK;
    if (rota__ctl_state(ctl) == ROTA_RUNNING) {
        status = rota__worker_add(pool, NULL, ROTA__TO_MAX);
        if (status == ROTA_OK || rota__ctl_workers(rota__ctl_load(&pool->ctl)) > 0)
            return ROTA_OK;
        if (status == ROTA_EREJECTED) /* the pool has been shut down meanwhile */
            status = ROTA__ASK_HANDLER;
    }
    if (rota__pool_take_back(pool, task))
        count_out(pool);
    else
        status = ROTA_OK;           /* somebody has it */
    rota__pool_rescue(pool, false); /* pool.P8; also ends a pool that this task has held up */
    return status;
}

static int pool_accept(rota__pool *pool, rota_task *task, rota_ns due)
{
    uint32_t ctl = rota__ctl_load(&pool->ctl);
    int status;

    (void)due;
    if (rota__ctl_workers(ctl) < rota__load_relaxed(&pool->core)) {
        status = rota__worker_add(pool, task, ROTA__TO_CORE);
        if (status == ROTA_OK)
            return ROTA_OK;
        if (status != ROTA_EREJECTED)
            rota__pool_rescue(pool, false); /* pool.P8 */
        ctl = rota__ctl_load(&pool->ctl);
    }
    if (rota__ctl_state(ctl) == ROTA_RUNNING) {
        status = rota__queue_insert(pool->queue, task);
        if (ROTA__LIKELY(status == ROTA_OK))
            return rota__pool_look_again(pool, task); /* pool.P2a */
        if (status != ROTA_EFULL)
            return status;
        rota__trace_full(&pool->executor);
    }
    status = rota__worker_add(pool, task, ROTA__TO_MAX);
    if (status == ROTA_OK)
        return ROTA_OK;
    if (status == ROTA_EREJECTED)
        return ROTA__ASK_HANDLER;
    rota__pool_rescue(pool, false); /* pool.P8 */
    if (rota__ctl_workers(rota__ctl_load(&pool->ctl)) == 0)
        return status;
    return ROTA__ASK_HANDLER; /* the workers that exist are busy: POOL-28 */
}

ROTA__NOINLINE int rota__pool_reject(rota__pool *pool, rota_task *task)
{
    rota_reject *on_reject;
    void *ctx;

    rota__trace_reject(&pool->executor);
    rota__mutex_lock(&pool->lock);
    pool->rejected++;
    on_reject = pool->on_reject;
    ctx = pool->reject_ctx;
    rota__mutex_unlock(&pool->lock);
    return on_reject(&pool->executor, task, ctx); /* pool.P5 */
}

static int pool_submit(rota_executor *ex, rota_task *task, rota_ns due)
{
    rota__pool *pool = rota__pool_of(ex);
    int status;

    if (ROTA__UNLIKELY(!rota__pool_is_here(pool)))
        return ROTA_EREJECTED;
    status = pool_accept(pool, task, due);
    return ROTA__LIKELY(status != ROTA__ASK_HANDLER) ? status : rota__pool_reject(pool, task);
}

/* -- The queue ------------------------------------------------------------ */

rota_queue *rota_pool_queue(rota_executor *ex)
{
    rota__pool *pool = rota__as_pool(ex);

    return pool != NULL ? pool->queue : NULL;
}

void rota__pool_took_out(rota__pool *pool, size_t count)
{
    rota__mutex_lock(&pool->lock);
    pool->taken_out += count;
    rota__mutex_unlock(&pool->lock);
    rota__pool_let_idle_go(pool);   /* pool.P9 */
    rota__pool_try_terminate(pool); /* the last touch */
}

size_t rota__pool_drop(rota__pool *pool, rota__chain *chain)
{
    size_t count = chain->count;
    rota_task *task;

    while ((task = rota__chain_take(chain)) != NULL)
        rota_task_discard(task);
    rota__pool_took_out(pool, count);
    return count;
}

typedef struct choice {
    rota__predicate *which;
    void *ctx;
    rota__chain *chain;
} choice;

static bool choose(void *element, void *ctx)
{
    choice *chosen = ctx;

    if (!chosen->which(element, chosen->ctx))
        return false;
    rota__chain_append(chosen->chain, element);
    return true;
}

void rota__pool_take_if(rota__pool *pool, rota__predicate *which, void *ctx, rota__chain *chain)
{
    rota__chain taken = {0};
    choice chosen = {which, ctx, &taken};

    pool->queue->kind->remove_if(pool->queue, choose, &chosen); /* pool.P1: no worker gets these */
    /* cancel_listener.L1a: the tasks may outlast the pool. */
    for (rota_task *task = taken.first; task != NULL; task = rota__load_relaxed(&task->next))
        rota__pool_detach(pool, task);
    rota__chain_join(chain, &taken);
}

bool rota_pool_remove(rota_executor *ex, rota_future *future)
{
    rota__pool *pool = rota__as_pool(ex);

    if (pool == NULL || future == NULL || !rota__pool_take_back(pool, &future->task))
        return false;
    rota_task_discard(&future->task); /* POOL-51 */
    rota__pool_took_out(pool, 1);
    return true;
}

static bool is_cancelled(void *element, void *ctx)
{
    rota_task *task = element;

    (void)ctx;
    return task->kind == ROTA__TASK_FUTURE
           && rota_future_state_of(rota__future_of(task)) == ROTA_FUTURE_CANCELED;
}

size_t rota_pool_purge(rota_executor *ex)
{
    rota__pool *pool = rota__as_pool(ex);
    rota__chain chain = {0};

    if (pool == NULL)
        return 0;
    rota__pool_take_if(pool, is_cancelled, NULL, &chain);
    return rota__pool_drop(pool, &chain);
}

/* -- Beginning and end ---------------------------------------------------- */

rota_executor_state rota__pool_state_of(const rota_executor *ex)
{
    const rota__pool *pool = ROTA__CONST_CONTAINER(ex, rota__pool, executor);

    if (!rota__pool_is_here(pool))
        return ROTA_TERMINATED;
    return rota__ctl_state(rota__ctl_load(&pool->ctl));
}

void rota__pool_destroy(rota__pool *pool)
{
    size_t count;

    rota__pool_join_ended(
        pool); /* takes the lock: the thread that ended the pool has released it */
    rota__export_tasks(&pool->drained, NULL, &count);
    rota_queue_free(pool->queue);
    rota__thread_plan_unref(pool->plan);
}

static void pool_free(rota_executor *ex)
{
    rota__pool *pool = rota__pool_of(ex);

    if (!rota__pool_is_here(pool))
        return;
    rota__executor_unregister(ex); /* exec.E4a */
    rota__pool_destroy(pool);
    rota__free(pool, sizeof *pool);
}

static void pool_detach(rota__pool *pool, rota_future *future)
{
    (void)pool;
    (void)future;
}

static size_t pool_drop_on_shutdown(rota__pool *pool)
{
    (void)pool;
    return 0; /* queued tasks still run */
}

static const rota__pool_ops pool_ops = {
    .name = "pool",
    .accept = pool_accept,
    .has_maximum = true,
    .run = &rota__run_once,
    .detach = pool_detach,
    .drop_on_shutdown = pool_drop_on_shutdown,
};

const char rota__pool_family[] = "pool";

static const rota__executor_ops pool_executor_ops = {
    .family = rota__pool_family,
    .has_queue = true,
    .submit = pool_submit,
    .shutdown = rota__pool_shutdown,
    .shutdown_now = rota__pool_shutdown_now,
    .await_termination = rota__pool_await_termination,
    .state_of = rota__pool_state_of,
    .describe = rota__pool_describe,
    .snapshot = rota__pool_snapshot,
    .free = pool_free,
};

void rota__pool_fix(rota_executor *ex)
{
    rota__pool_of(ex)->is_fixed = true;
}

rota__pool *rota__as_pool(rota_executor *ex)
{
    if (ex == NULL || ex->ops->family != rota__pool_family
        || !rota__pool_is_here(rota__pool_of(ex)))
        return NULL;
    return rota__pool_of(ex);
}

static uint32_t max_of(const rota_pool_options *options)
{
    unsigned max = options->max_threads != 0 ? options->max_threads : options->core_threads;

    return max < ROTA__MOST_WORKERS ? max : ROTA__MOST_WORKERS;
}

static bool are_possible(const rota_pool_options *options)
{
    uint32_t max = max_of(options);

    return max >= options->core_threads && max > 0 && options->keep_alive >= 0;
}

void rota__pool_store_limits(rota__pool *pool, uint32_t core, uint32_t max)
{
    rota__store_relaxed(&pool->core, core);
    rota__store_relaxed(&pool->max, max);
    if (pool->ops->has_maximum)
        rota__store_relaxed(&pool->limit, max);
    else
        rota__store_relaxed(&pool->limit, core > 0 ? core : 1); /* SCHED-18, SCHED-19 */
}

static void init(rota__pool *pool, const rota_pool_options *options, const rota__pool_ops *ops,
                 rota__thread_plan *plan, rota_queue *queue)
{
    rota_ns keep_alive = options->keep_alive;

    *pool = (rota__pool){
        .ops = ops,
        .generation = rota__generation_now(),
        .hooks = options->hooks,
        .queue = queue,
        .strict_wait = options->strict_wait,
        .plan = plan,
        .on_reject = options->on_reject != NULL ? options->on_reject : rota_reject_abort,
        .reject_ctx = options->reject_ctx,
    };
    rota__pool_store_limits(pool, options->core_threads, max_of(options));
    rota__store_relaxed(&pool->keep_alive, keep_alive == 0   ? ROTA_SEC(60)
                                           : keep_alive == 1 ? 0
                                                             : keep_alive);
    rota__store_relaxed(&pool->core_may_time_out, options->core_may_time_out);
    rota__list_init(&pool->workers);
    rota__list_init(&pool->ended);
    rota__latch_init(&pool->waiters);
}

int rota__pool_init(rota__pool *pool, const rota_pool_options *options, const rota__pool_ops *ops,
                    const rota__executor_ops *executor_ops, const char *what)
{
    rota_queue *queue = options->queue;
    rota__thread_plan *plan;
    int status;

    if (!are_possible(options))
        return ROTA_EINVAL;
    status = rota__thread_plan_new(&options->threads, &plan);
    if (status != ROTA_OK)
        return status;
    if (queue == NULL)
        status = rota_linked_queue(ROTA_UNBOUNDED, &queue);
    if (status != ROTA_OK) {
        rota__thread_plan_unref(plan);
        return status;
    }
    init(pool, options, ops, plan, queue);
    rota__executor_register(&pool->executor, executor_ops, what);
    return ROTA_OK;
}

int rota_pool_new(const rota_pool_options *options, rota_executor **out)
{
    rota__pool *pool;
    int status;

    if (options == NULL || out == NULL || !are_possible(options))
        return ROTA_EINVAL;
    pool = rota__alloc(sizeof *pool);
    if (pool == NULL)
        return ROTA_ENOMEM;
    status = rota__pool_init(pool, options, &pool_ops, &pool_executor_ops, "pool");
    if (status != ROTA_OK) {
        rota__free(pool, sizeof *pool);
        return status;
    }
    *out = &pool->executor;
    return ROTA_OK;
}
