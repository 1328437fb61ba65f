/* SPDX-License-Identifier: MIT */
/*
 * sched.c - the scheduled pool: which tasks may enter its queue and run, when a periodic task runs
 * again, what a shutdown and a cancel drop; then the calls of rota/sched.h.
 */
#include "sched/sched_internal.h"

#include "base/alloc.h"
#include "base/check.h"
#include "base/time.h"

/* -- What may run --------------------------------------------------------- */

static rota_executor_state state_of(const rota__pool *pool)
{
    return rota__ctl_state(rota__ctl_load(&pool->workers.ctl));
}

/* Decides after a shutdown: SCHED-23, SCHED-24. A task without a future is due at once. */
static bool policies_allow(rota__sched *sched, const rota_task *task)
{
    if (task->kind == ROTA__TASK_PLAIN)
        return true;
    if (task->periodic)
        return rota__load_relaxed(&sched->keep_periodic);
    return !rota__load_relaxed(&sched->drop_delayed)
           || rota__has_passed(rota__load_relaxed(&((const rota_future *)task)->time));
}

static bool may_run(rota__sched *sched, const rota_task *task)
{
    rota_executor_state state = state_of(&sched->pool);

    return state == ROTA_RUNNING || (state == ROTA_SHUTDOWN && policies_allow(sched, task));
}

/* -- Queueing ------------------------------------------------------------- */

static bool is_done(const rota_task *task)
{
    return task->kind == ROTA__TASK_FUTURE && rota_future_is_done((const rota_future *)task);
}

static bool is_repeat(rota_task *task)
{
    return task->periodic && rota__periodic_of(rota__future_of(task))->is_repeat;
}

/* A new task may enter while the pool is running, a repeated one as long as it may run. */
static int may_enter(void *ctx, rota_task *task)
{
    rota__sched *sched = ctx;

    if (!is_repeat(task)) {
        if (state_of(&sched->pool) != ROTA_RUNNING)
            return ROTA_EREJECTED; /* SCHED-17 */
        /* sched.D1b */
        return is_done(task) && !rota__load_relaxed(&sched->keep_cancelled) ? ROTA_ECANCELED
                                                                            : ROTA_OK;
    }
    if (is_done(task)) /* sched.D1a */
        return ROTA_ECANCELED;
    if (!may_run(sched, task)) /* SCHED-22a */
        return ROTA_EREJECTED;
    rota__store_relaxed(&sched->pool.requeued, rota__load_relaxed(&sched->pool.requeued) + 1);
    return ROTA_OK;
}

/* Starts core threads as tasks come, and one thread for any task: SCHED-18, SCHED-19. With an error
   the caller has the place of a worker that could not be started (pool.P8). */
static int ensure_worker(rota__pool *pool)
{
    rota__ctl *ctl = &pool->workers.ctl;
    int status = ROTA_EREJECTED;

    if (rota__ctl_workers(rota__ctl_load(ctl)) < rota__load_relaxed(&pool->core))
        status = rota__pool_add_worker(pool, NULL, ROTA__TO_CORE);
    /* Another thread may just have lowered `core`, also to 0. */
    if (status == ROTA_EREJECTED && rota__ctl_workers(rota__ctl_load(ctl)) == 0)
        status = rota__pool_add_worker(pool, NULL, ROTA__TO_LIMIT);
    /* ROTA_EREJECTED: there are enough workers, or the pool has been shut down. */
    return status != ROTA_EREJECTED ? status : ROTA_OK;
}

/* The task was not inserted. If it was cancelled meanwhile, the submission counts as accepted. */
static int undo_enqueue(rota__pool *pool, rota_task *task, int status)
{
    if (task->kind == ROTA__TASK_FUTURE)
        rota__future_clear_listener(rota__future_of(task));
    if (status == ROTA_EREJECTED)
        return ROTA__ASK_HANDLER; /* the pool is shut down */
    if (status != ROTA_ECANCELED)
        return status;
    rota__task_release(task);
    rota__pool_tasks_removed(pool, 1);
    return ROTA_OK;
}

/* sched.D3: only the address of `task` is used. */
static bool is_unrun(void *element, void *task)
{
    return element == task && !is_repeat(element);
}

static bool take_back(rota__pool *pool, rota_task *task)
{
    rota__task_slist chain = {0};

    rota__pool_unqueue_if(pool, is_unrun, task, &chain);
    return chain.count > 0;
}

/* Queues a task whose due time is set. */
static int enqueue(rota__sched *sched, rota_task *task)
{
    rota__pool *pool = &sched->pool;
    int status;

    if (state_of(pool) != ROTA_RUNNING)
        return ROTA__ASK_HANDLER;
    status = sched->decorate != NULL ? sched->decorate(task, sched->decorate_ctx) : ROTA_OK;
    if (status != ROTA_OK)
        return status;
    if (task->kind == ROTA__TASK_FUTURE)
        rota__future_set_listener(rota__future_of(task), &sched->listener);
    status = rota__queue_insert(pool->queue, task);
    if (status != ROTA_OK)
        return undo_enqueue(pool, task, status);
    status = ensure_worker(pool);
    if (status == ROTA_OK)
        return ROTA_OK;
    if (rota__ctl_workers(rota__ctl_load(&pool->workers.ctl)) > 1
        || !ROTA__BUG(sched.D3, take_back(pool, task), rota__pool_unqueue(pool, task)))
        status = ROTA_OK;        /* another worker runs the task, or has it already */
    rota__pool_run_inline(pool); /* pool.P8 */
    return status;               /* SCHED-35 */
}

/* A task that comes from another executor and is refused keeps its due time: OWN-05. */
static int enqueue_future(rota__sched *sched, rota_future *future, rota_ns due)
{
    rota_ns before = rota__load_relaxed(&future->time);
    int status;

    rota__store_relaxed(&future->time, due != ROTA__AT_ONCE ? due : rota__now());
    if (future->task.periodic)
        rota__periodic_of(future)->is_repeat = false; /* it has not run in this pool */
    status = enqueue(sched, &future->task);
    if (status != ROTA_OK && due == ROTA__AT_ONCE)
        rota__store_relaxed(&future->time, before); /* the caller is its only owner */
    return status;
}

static int sched_accept(rota__pool *pool, rota_task *task, rota_ns due)
{
    rota__sched *sched = rota__sched_of(pool);

    if (task->kind == ROTA__TASK_FUTURE)
        return enqueue_future(sched, rota__future_of(task), due);
    return enqueue(sched, task);
}

/* -- Running -------------------------------------------------------------- */

static rota__sched *sched_of(rota_executor *ex)
{
    return rota__sched_of(rota__pool_of(ex));
}

static rota__run_mode admit_run(rota_executor *ex, rota_future *future)
{
    if (!future->task.periodic)
        rota__future_clear_listener(future);   /* before the body, which may set another */
    if (!may_run(sched_of(ex), &future->task)) /* SCHED-21 */
        return ROTA__RUN_REFUSED;
    return future->task.periodic ? ROTA__RUN_PERIODIC : ROTA__RUN_ONCE;
}

/* Returns -period, or the largest value. */
static rota_ns negated(rota_ns period)
{
    return period != INT64_MIN ? -period : INT64_MAX;
}

/* Returns how late a run is that was due at `time`, in whole periods. */
static rota_ns missed(const rota__periodic *periodic, rota_ns time)
{
    rota_ns late;

    if (!periodic->skips_missed || __builtin_sub_overflow(rota__now(), time, &late) || late < 0)
        return 0;
    return late - late % periodic->period;
}

static rota_ns next_time(const rota__periodic *periodic)
{
    rota_ns time = rota__load_relaxed(&periodic->future.time);

    if (periodic->period < 0)
        return rota__time_add(rota__now(), negated(periodic->period)); /* SCHED-13 */
    time = rota__time_add(time, missed(periodic, time));
    return rota__time_add(time, periodic->period); /* SCHED-12 */
}

/* Queues a periodic task again. Workers that wait for its future then search the queue again. */
static bool insert_again(rota__pool *pool, rota_future *future)
{
    rota__future_pin(future); /* another worker may run and free it at once */
    int status = rota__queue_insert(pool->queue, &future->task);
    if (status == ROTA_OK)
        rota__future_moved(future); /* exec.E5b */
    rota__future_unpin(future);
    return status == ROTA_OK;
}

/* In a child of fork(2) no run follows, and the parent's queue may be locked for ever. */
static bool requeue(rota_executor *ex, rota_future *future)
{
    rota__pool *pool = rota__pool_of(ex);
    rota__periodic *periodic = rota__periodic_of(future);

    rota__store_relaxed(&future->time, next_time(periodic));
    periodic->is_repeat = true;
    if (rota__pool_is_here(pool)
        && ROTA__BUG(sched.D1c, true, may_enter(rota__sched_of(pool), &future->task) == ROTA_OK)
        && insert_again(pool, future))
        return true;
    rota_future_cancel(future); /* SCHED-22; no effect if it was already cancelled */
    return false;
}

static void detach(rota__pool *pool, rota_future *future)
{
    rota__future_clear_listener_if(future, &rota__sched_of(pool)->listener);
    if (future->task.periodic)
        rota__due_queue_unreserve(pool->queue); /* sched.D2 */
}

static void retire(rota_executor *ex, rota_future *future)
{
    if (rota__pool_is_here(rota__pool_of(ex)))
        detach(rota__pool_of(ex), future);
}

static const rota__run_ops run_ops = {admit_run, requeue, retire};

/* -- Cancelled, or not wanted any more ------------------------------------ */

/* Do cancelled tasks stay in the queue? Only while the pool runs: later they would delay its end
   (SCHED-26). */
static bool keeps_cancelled(rota__sched *sched)
{
    if (!rota__load_relaxed(&sched->keep_cancelled))
        return false;
    /* drop_unwanted takes this lock after the shutdown. If this call still finds the pool running,
       drop_unwanted finds the cancelled task. */
    rota__mutex_lock(&sched->pool.workers.lock);
    bool runs = state_of(&sched->pool) == ROTA_RUNNING;
    rota__mutex_unlock(&sched->pool.workers.lock);
    return runs;
}

static void on_future_ended(rota__cancel_listener *listener, rota_future *future)
{
    rota__sched *sched = ROTA__CONTAINER(listener, rota__sched, listener);
    rota__pool *pool = &sched->pool;

    if (!rota__pool_is_here(pool) || keeps_cancelled(sched)
        || !rota__pool_unqueue(pool, &future->task))
        return;
    rota__task_release(&future->task);
    rota__pool_tasks_removed(pool, 1);
}

static bool is_unwanted(void *element, void *ctx)
{
    const rota_task *task = element;

    return is_done(task) || !policies_allow(ctx, task); /* SCHED-26 */
}

static size_t drop_unwanted(rota__sched *sched)
{
    rota__task_slist chain = {0};
    size_t dropped = 0;

    /* A setter that held this lock before has stored its policy. A later one sees the shutdown. */
    rota__mutex_lock(&sched->pool.workers.lock);
    rota__mutex_unlock(&sched->pool.workers.lock);
    rota__pool_unqueue_if(&sched->pool, is_unwanted, sched, &chain);
    for (rota_task *task = chain.first; task != NULL; task = rota__load_relaxed(&task->next))
        dropped += rota_future_cancel(rota__future_of(task)); /* plain tasks always run */
    rota__pool_discard_all(&sched->pool, &chain);
    return dropped;
}

static size_t drop_on_shutdown(rota__pool *pool)
{
    return drop_unwanted(rota__sched_of(pool));
}

static const rota__pool_ops sched_pool_ops = {
    .name = "scheduled pool",
    .workers = {.precise_timers = true,
                .work = rota__pool_work,
                .unwound = rota__pool_unwound,
                .left = rota__pool_left},
    .accept = sched_accept,
    .run = &run_ops,
    .detach = detach,
    .drop_on_shutdown = drop_on_shutdown,
};

/* -- A pool --------------------------------------------------------------- */

static int sched_submit(rota_executor *ex, rota_task *task, rota_ns due)
{
    rota__pool *pool = rota__pool_of(ex);
    int status;

    if (!rota__pool_is_here(pool))
        return ROTA_EREJECTED;
    status = sched_accept(pool, task, due);
    return ROTA__LIKELY(status != ROTA__ASK_HANDLER) ? status : rota__pool_reject(pool, task);
}

static void sched_free(rota_executor *ex)
{
    rota__sched *sched = rota__sched_of(rota__pool_of(ex));

    if (!rota__pool_is_here(&sched->pool))
        return;
    rota__executor_unregister(ex);
    rota__cancel_listener_await_idle(&sched->listener); /* cancel_listener.L3a: before the queue */
    rota__pool_destroy(&sched->pool);
    rota__free(sched, sizeof *sched);
}

static const rota__executor_ops sched_executor_ops = {
    .family = rota__pool_family,
    .has_queue = true,
    .submit = sched_submit,
    .shutdown = rota__pool_shutdown,
    .shutdown_now = rota__pool_shutdown_now,
    .await_termination = rota__pool_await_termination,
    .state_of = rota__pool_state_of,
    .describe = rota__pool_describe,
    .snapshot = rota__pool_snapshot,
    .free = sched_free,
};

static void init(rota__sched *sched, const rota_sched_options *options)
{
    sched->listener.notify = on_future_ended;
    rota__store_relaxed(&sched->listener.inflight, 0);
    sched->decorate = options->decorate;
    sched->decorate_ctx = options->decorate_ctx;
    rota__store_relaxed(&sched->drop_delayed, options->drop_delayed_on_shutdown);
    rota__store_relaxed(&sched->keep_periodic, options->keep_periodic_after_shutdown);
    rota__store_relaxed(&sched->keep_cancelled, options->keep_cancelled);
}

static int init_pool(rota__sched *sched, const rota_sched_options *options)
{
    rota_pool_options pool = {
        .core_threads = options->core_threads,
        .max_threads = ROTA__MOST_WORKERS, /* has no effect: SCHED-18 */
        .keep_alive = options->keep_alive != 0 ? options->keep_alive : ROTA_MS(10),
        .core_may_time_out = options->core_may_time_out,
        .on_reject = options->on_reject,
        .reject_ctx = options->reject_ctx,
        .threads = options->threads,
        .hooks = options->hooks,
        .strict_wait = options->strict_wait,
    };
    int status = rota__due_queue_new(may_enter, sched, &pool.queue);

    if (status != ROTA_OK)
        return status;
    status =
        rota__pool_init(&sched->pool, &pool, &sched_pool_ops, &sched_executor_ops, "scheduled");
    if (status != ROTA_OK)
        rota_queue_free(pool.queue);
    return status;
}

int rota_sched_new(const rota_sched_options *options, rota_executor **out)
{
    rota__sched *sched;
    int status;

    if (options == NULL || out == NULL)
        return ROTA_EINVAL;
    sched = rota__alloc(sizeof *sched);
    if (sched == NULL)
        return ROTA_ENOMEM;
    init(sched, options);
    status = init_pool(sched, options);
    if (status != ROTA_OK) {
        rota__free(sched, sizeof *sched);
        return status;
    }
    *out = &sched->pool.executor;
    return ROTA_OK;
}

/* -- Policies ------------------------------------------------------------- */

static int find(rota_executor *ex, rota__sched **sched)
{
    if (ex == NULL)
        return ROTA_EINVAL;
    if (ex->ops != &sched_executor_ops)
        return ROTA_ENOTSUP;
    *sched = rota__sched_of(rota__pool_of(ex));
    return ROTA_OK;
}

typedef enum policy { DROP_DELAYED, KEEP_PERIODIC, KEEP_CANCELLED } policy;

static void store(rota__sched *sched, policy which, bool on)
{
    /* A shutdown takes this lock after it has changed the control word: SCHED-25. */
    rota__mutex_lock(&sched->pool.workers.lock);
    if (which == DROP_DELAYED)
        rota__store_relaxed(&sched->drop_delayed, on);
    else if (which == KEEP_PERIODIC)
        rota__store_relaxed(&sched->keep_periodic, on);
    else
        rota__store_relaxed(&sched->keep_cancelled, on);
    rota__mutex_unlock(&sched->pool.workers.lock);
}

static int set(rota_executor *ex, policy which, bool on)
{
    rota__sched *sched;
    int status = find(ex, &sched);

    if (status != ROTA_OK)
        return status;
    if (sched->pool.is_frozen || !rota__pool_is_here(&sched->pool))
        return ROTA_ENOTSUP;
    store(sched, which, on);
    if (rota_is_shutdown(ex))
        drop_unwanted(sched);
    return ROTA_OK;
}

int rota_sched_set_drop_delayed_on_shutdown(rota_executor *ex, bool on)
{
    return set(ex, DROP_DELAYED, on);
}

int rota_sched_set_keep_periodic_after_shutdown(rota_executor *ex, bool on)
{
    return set(ex, KEEP_PERIODIC, on);
}

int rota_sched_set_keep_cancelled(rota_executor *ex, bool on)
{
    return set(ex, KEEP_CANCELLED, on);
}

int rota_sched_options_get(rota_executor *ex, rota_sched_options *now)
{
    rota_pool_options pool;
    rota__sched *sched;
    int status = now != NULL ? find(ex, &sched) : ROTA_EINVAL;

    if (status == ROTA_OK)
        status = rota_pool_options_get(ex, &pool);
    if (status != ROTA_OK)
        return status;
    *now = (rota_sched_options){
        .core_threads = pool.core_threads,
        .on_reject = pool.on_reject,
        .reject_ctx = pool.reject_ctx,
        .threads = pool.threads,
        .hooks = pool.hooks,
        .keep_alive = pool.keep_alive,
        .core_may_time_out = pool.core_may_time_out,
        .strict_wait = pool.strict_wait,
        .drop_delayed_on_shutdown = rota__load_relaxed(&sched->drop_delayed),
        .keep_periodic_after_shutdown = rota__load_relaxed(&sched->keep_periodic),
        .keep_cancelled = rota__load_relaxed(&sched->keep_cancelled),
        .decorate = sched->decorate,
        .decorate_ctx = sched->decorate_ctx,
    };
    return ROTA_OK;
}

/* -- Scheduling ----------------------------------------------------------- */

static rota_future *make(const rota_call *call, bool held, rota_ns period, bool skips_missed)
{
    size_t size = period != 0 ? sizeof(rota__periodic) : sizeof(rota_future);
    rota_future *future = rota__future_new(call, held, size);

    if (future == NULL || period == 0)
        return future;
    rota__periodic *periodic = rota__periodic_of(future);
    future->task.periodic = true;
    periodic->period = period;
    periodic->skips_missed = skips_missed;
    periodic->is_repeat = false;
    return future;
}

static int schedule(rota_executor *ex, const rota_call *call, rota_ns delay, rota_ns period,
                    bool skips_missed, rota_future **out)
{
    rota__sched *sched;
    rota_future *future;
    int status;

    if (call == NULL || call->fn == NULL)
        return ROTA_EINVAL;
    status = find(ex, &sched);
    if (status == ROTA_OK && !rota__pool_is_here(&sched->pool))
        status = ROTA_EREJECTED;
    if (status != ROTA_OK)
        return status;
    future = make(call, out != NULL, period, skips_missed);
    if (future == NULL)
        return ROTA_ENOMEM;
    status = rota__submit(ex, &future->task, rota__time_add(rota__now(), delay > 0 ? delay : 0));
    return rota__finish_submit(future, status, out);
}

int rota_schedule(rota_executor *ex, rota_fn *fn, void *arg, rota_ns delay, rota_future **out)
{
    return schedule(ex, &(rota_call){.fn = fn, .arg = arg}, delay, 0, false, out);
}

int rota_schedule_at_fixed_rate(rota_executor *ex, rota_fn *fn, void *arg, rota_ns initial_delay,
                                rota_ns period, rota_future **out)
{
    if (period <= 0)
        return ROTA_EINVAL;
    return schedule(ex, &(rota_call){.fn = fn, .arg = arg}, initial_delay, period, false, out);
}

int rota_schedule_with_fixed_delay(rota_executor *ex, rota_fn *fn, void *arg, rota_ns initial_delay,
                                   rota_ns delay, rota_future **out)
{
    if (delay <= 0)
        return ROTA_EINVAL;
    return schedule(ex, &(rota_call){.fn = fn, .arg = arg}, initial_delay, -delay, false, out);
}

int rota_schedule_call(rota_executor *ex, const rota_call *call, rota_ns initial_delay,
                       rota_ns period, rota_future **out)
{
    return schedule(ex, call, initial_delay, period, false, out);
}

int rota_schedule_skipping(rota_executor *ex, const rota_call *call, rota_ns initial_delay,
                           rota_ns period, rota_future **out)
{
    if (period <= 0)
        return ROTA_EINVAL;
    return schedule(ex, call, initial_delay, period, true, out);
}

/* -- Futures -------------------------------------------------------------- */

rota_ns rota_future_delay(const rota_future *future)
{
    rota_ns time = future != NULL ? rota__load_relaxed(&future->time) : ROTA__NOT_SCHEDULED;

    return time >= 0 ? time - rota__now() : ROTA_FOREVER;
}

bool rota_future_is_periodic(const rota_future *future)
{
    return future != NULL && future->task.periodic;
}
