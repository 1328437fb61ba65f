/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.c - a pool is created, shut down, emptied and freed.
 */
#include "pool/pool_internal.h"

#include "base/alloc.h"

/* -- Termination ------------------------------------------------------------ */

/* POOL-56 */
void rota__pool_try_terminate(rota__pool *pool)
{
    uint32_t ctl = rota__ctl_load(&pool->workers.ctl);
    bool all_have_left = true;

    do {
        rota_executor_state state = rota__ctl_state(ctl);
        if (!all_have_left) /* the last thread that leaves calls this function */
            return;
        if (state == ROTA_RUNNING || state >= ROTA_TIDYING)
            return;
        if (state == ROTA_SHUTDOWN && !rota__queue_is_empty(pool->queue)) /* pool.P2 */
            return;
        if (rota__ctl_workers(ctl) > 0) {
            rota__queue_abort_consumers(pool->queue); /* they leave, and call this again */
            return;
        }
    } while (!rota__workers_begin_tidying(&pool->workers, &ctl, &all_have_left)); /* ctl.C1 */
    rota__workers_terminate(&pool->workers);
}

int rota__pool_await_termination(rota_executor *ex, rota_ns timeout)
{
    if (rota_is_terminated(ex))
        return ROTA_OK;
    return rota__workers_await_termination(&rota__pool_of(ex)->workers, timeout);
}

/* -- Shutdown --------------------------------------------------------------- */

int rota__pool_shutdown(rota_executor *ex, size_t *dropped)
{
    rota__pool *pool = rota__pool_of(ex);

    *dropped = 0;
    if (rota_is_shutdown(ex) || !rota__ctl_advance(&pool->workers.ctl, ROTA_SHUTDOWN))
        return ROTA_OK;
    rota__queue_abort_producers(pool->queue);
    *dropped = pool->ops->drop_on_shutdown(pool);
    rota__queue_abort_consumers(pool->queue);
    rota__pool_ensure_served(pool); /* queued tasks still run, also if there is no worker */
    return ROTA_OK;
}

static bool is_any(void *element, void *ctx)
{
    (void)element;
    (void)ctx;
    return true;
}

/* POOL-54: all tasks, in the order of the queue if it has one. */
static void drain_queue(rota__pool *pool, rota__task_slist *drained)
{
    void *task;

    while ((task = rota__queue_take(pool->queue, ROTA__ANY_EPOCH)) != NULL) {
        rota__pool_detach(pool, task);
        rota__task_slist_append(drained, task);
    }
    rota__pool_unqueue_if(pool, is_any, NULL, drained); /* also tasks that are not due */
    rota__mutex_lock(&pool->workers.lock);
    pool->removed += drained->count;
    rota__task_slist_join(drained, &pool->undelivered);
    rota__mutex_unlock(&pool->workers.lock);
}

static void keep(rota__pool *pool, rota__task_slist *drained)
{
    rota__mutex_lock(&pool->workers.lock);
    rota__task_slist_join(&pool->undelivered, drained);
    rota__mutex_unlock(&pool->workers.lock);
}

int rota__pool_shutdown_now(rota_executor *ex, rota_task_list *drained, size_t *count)
{
    rota__pool *pool = rota__pool_of(ex);
    rota__task_slist chain = {0};
    int status;

    if (!rota__pool_is_here(pool))
        return rota__export_tasks(&chain, drained, count);
    if (rota__ctl_advance(&pool->workers.ctl, ROTA_STOP)) {
        rota__queue_abort_producers(pool->queue);
        rota__queue_abort_consumers(pool->queue);
        rota__workers_stop(&pool->workers);
    }
    drain_queue(pool, &chain);
    status = rota__export_tasks(&chain, drained, count);
    if (status != ROTA_OK)
        keep(pool, &chain);
    rota__pool_try_terminate(pool);
    return status;
}

/* -- Removal from the queue ------------------------------------------------- */

bool rota__pool_unqueue(rota__pool *pool, rota_task *task)
{
    if (!pool->queue->kind->remove(pool->queue, task, ROTA__FRONT))
        return false;
    rota__pool_detach(pool, task);
    return true;
}

void rota__pool_recheck_idle(rota__pool *pool)
{
    uint32_t workers = rota__ctl_workers(rota__ctl_load(&pool->workers.ctl));

    if (workers > 0
        && (rota__load_relaxed(&pool->core_may_time_out)
            || workers > rota__load_relaxed(&pool->core))
        && rota__queue_is_empty(pool->queue))
        rota__queue_abort_consumers(pool->queue);
}

rota_queue *rota_pool_queue(rota_executor *ex)
{
    rota__pool *pool = rota__as_pool(ex);

    return pool != NULL ? pool->queue : NULL;
}

void rota__pool_tasks_removed(rota__pool *pool, size_t count)
{
    rota__mutex_lock(&pool->workers.lock);
    pool->removed += count;
    rota__mutex_unlock(&pool->workers.lock);
    if (count > 0)                     /* a needless wake-up would only cost time */
        rota__pool_recheck_idle(pool); /* pool.P9a */
    rota__pool_try_terminate(pool);    /* the last touch */
}

size_t rota__pool_discard_all(rota__pool *pool, rota__task_slist *chain)
{
    size_t count = chain->count;
    rota_task *task;

    while ((task = rota__task_slist_take(chain)) != NULL)
        rota_task_discard(task);
    rota__pool_tasks_removed(pool, count);
    return count;
}

typedef struct choice {
    rota__predicate *which;
    void *ctx;
    rota__task_slist *chain;
} choice;

static bool choose(void *element, void *ctx)
{
    choice *chosen = ctx;

    if (!chosen->which(element, chosen->ctx))
        return false;
    rota__task_slist_append(chosen->chain, element);
    return true;
}

void rota__pool_unqueue_if(rota__pool *pool, rota__predicate *which, void *ctx,
                           rota__task_slist *chain)
{
    rota__task_slist taken = {0};
    choice chosen = {which, ctx, &taken};

    pool->queue->kind->remove_if(pool->queue, choose, &chosen); /* pool.P1: no worker gets these */
    /* cancel_listener.L1a: the tasks may outlast the pool. */
    for (rota_task *task = taken.first; task != NULL; task = rota__load_relaxed(&task->next))
        rota__pool_detach(pool, task);
    rota__task_slist_join(chain, &taken);
}

bool rota_pool_remove(rota_executor *ex, rota_future *future)
{
    rota__pool *pool = rota__as_pool(ex);

    if (pool == NULL || future == NULL || !rota__pool_unqueue(pool, &future->task))
        return false;
    rota_task_discard(&future->task); /* POOL-51 */
    rota__pool_tasks_removed(pool, 1);
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
    rota__task_slist chain = {0};

    if (pool == NULL)
        return 0;
    rota__pool_unqueue_if(pool, is_cancelled, NULL, &chain);
    return rota__pool_discard_all(pool, &chain);
}

/* -- Beginning and end ------------------------------------------------------ */

rota_executor_state rota__pool_state_of(const rota_executor *ex)
{
    const rota__pool *pool = ROTA__CONST_CONTAINER(ex, rota__pool, executor);

    if (!rota__pool_is_here(pool))
        return ROTA_TERMINATED;
    return rota__ctl_state(rota__ctl_load(&pool->workers.ctl));
}

void rota__pool_destroy(rota__pool *pool)
{
    size_t count;

    rota__workers_destroy(&pool->workers);
    rota__export_tasks(&pool->undelivered, NULL, &count);
    rota_queue_free(pool->queue);
}

static void pool_free(rota_executor *ex)
{
    rota__pool *pool = rota__pool_of(ex);

    if (!rota__pool_is_here(pool))
        return;
    rota__executor_unregister(ex); /* exec.E4a */
    /* cancel_listener.L3: before the queue is freed */
    rota__cancel_listener_await_idle(&pool->listener);
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
    .workers = {.work = rota__pool_work, .unwound = rota__pool_unwound, .left = rota__pool_left},
    .accept = rota__pool_accept,
    .has_maximum = true,
    .run = &rota__run_once,
    .detach = pool_detach,
    .drop_on_shutdown = pool_drop_on_shutdown,
};

static const rota__pool_ops listed_pool_ops = {
    .name = "pool",
    .workers = {.work = rota__pool_work, .unwound = rota__pool_unwound, .left = rota__pool_left},
    .accept = rota__pool_accept,
    .has_maximum = true,
    .run = &rota__run_listed,
    .detach = rota__pool_detach_listed,
    .drop_on_shutdown = pool_drop_on_shutdown,
};

const char rota__pool_family[] = "pool";

static const rota__executor_ops pool_executor_ops = {
    .family = rota__pool_family,
    .has_queue = true,
    .submit = rota__pool_submit,
    .shutdown = rota__pool_shutdown,
    .shutdown_now = rota__pool_shutdown_now,
    .await_termination = rota__pool_await_termination,
    .state_of = rota__pool_state_of,
    .describe = rota__pool_describe,
    .snapshot = rota__pool_snapshot,
    .free = pool_free,
};

void rota__pool_freeze(rota_executor *ex)
{
    rota__pool_of(ex)->is_frozen = true;
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
        .workers = {.executor = &pool->executor,
                    .ops = &ops->workers,
                    .run_ops = ops->run,
                    .hooks = options->hooks,
                    .helper = rota__pool_helper,
                    .strict_wait = options->strict_wait},
        .queue = queue,
        .on_reject = options->on_reject != NULL ? options->on_reject : rota_reject_abort,
        .reject_ctx = options->reject_ctx,
    };
    rota__workers_init(&pool->workers, plan);
    rota__pool_store_limits(pool, options->core_threads, max_of(options));
    rota__store_relaxed(&pool->keep_alive, keep_alive == 0   ? ROTA_SEC(60)
                                           : keep_alive == 1 ? 0
                                                             : keep_alive);
    rota__store_relaxed(&pool->core_may_time_out, options->core_may_time_out);
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
    queue->element_ops = &rota__pool_element_ops;
    if (ops == &listed_pool_ops)
        rota__pool_list(pool);
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
    bool is_listed = options->queue != NULL && options->queue->kind->has_user_functions;
    status = rota__pool_init(pool, options, is_listed ? &listed_pool_ops : &pool_ops,
                             &pool_executor_ops, "pool");
    if (status != ROTA_OK) {
        rota__free(pool, sizeof *pool);
        return status;
    }
    *out = &pool->executor;
    return ROTA_OK;
}
