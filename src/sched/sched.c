/* SPDX-License-Identifier: MIT */
/*
 * sched.c - the calls of rota/sched.h.
 */
#include "sched/sched_internal.h"

#include "base/alloc.h"
#include "base/time.h"

/* -- A pool --------------------------------------------------------------- */

static int sched_submit(rota_executor *ex, rota_task *task, rota_ns due)
{
    rota__pool *pool = rota__pool_of(ex);
    int status;

    if (!rota__pool_is_here(pool))
        return ROTA_EREJECTED;
    status = rota__sched_accept(pool, task, due);
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
    sched->listener.notify = rota__sched_ended;
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
    int status = rota__due_queue_new(rota__sched_admits, sched, &pool.queue);

    if (status != ROTA_OK)
        return status;
    status = rota__pool_init(&sched->pool, &pool, &rota__sched_pool_ops, &sched_executor_ops,
                             "scheduled");
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
    rota__mutex_lock(
        &sched->pool.workers
             .lock); /* a shutdown takes this lock after it has changed ctl: SCHED-25 */
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
        rota__sched_tidy(sched);
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
