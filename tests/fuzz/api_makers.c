/* SPDX-License-Identifier: MIT */
/*
 * api_makers.c - executors of every kind are made, with options of every kind.
 */
#include "api.h"

/* -- Hooks and handlers ---------------------------------------------------------------------- */

static void before(rota_executor *handle, rota_task *task, void *ctx)
{
    executor *self = ctx;

    ex_check(handle == self->handle && rota_task_call(task) != NULL);
    self->before++;
}

static void after(rota_executor *handle, rota_task *task, int status, int error, void *ctx)
{
    executor *self = ctx;

    ex_check(handle == self->handle && rota_task_call(task) != NULL);
    check_status(status, status == ROTA_OK || status == ROTA_EFAILED || status == ROTA_ECANCELED);
    check_status(status, (status == ROTA_EFAILED) == (error != 0));
    self->after++;
}

static void unobserved(rota_executor *handle, const rota_call *call, int error, void *ctx)
{
    ex_check(handle == ((executor *)ctx)->handle && call != NULL && error != 0);
}

static void terminated(rota_executor *handle, void *ctx)
{
    executor *self = ctx;

    ex_check(!rota_is_terminated(handle));
    self->terminated++;
}

static int reject_by_hand(rota_executor *handle, rota_task *task, void *ctx)
{
    executor *self = ctx;

    ex_check(handle == self->handle);
    switch (self->before % 3) {
    case 0:
        return ROTA_EREJECTED;
    case 1:
        rota_task_discard(task);
        return ROTA_OK;
    default:
        rota_task_run(task);
        return ROTA_OK;
    }
}

/* Any rejection policy, and what it means for tasks. */
rota_reject *executor_policy(executor *self)
{
    static rota_reject *const policies[] = {NULL,
                                            rota_reject_abort,
                                            rota_reject_caller_runs,
                                            rota_reject_discard,
                                            rota_reject_discard_oldest,
                                            rota_reject_block,
                                            reject_by_hand};
    rota_reject *policy = policies[next_byte() % 7];

    self->keeps_refused |= policy == rota_reject_caller_runs || policy == rota_reject_discard
                           || policy == rota_reject_discard_oldest || policy == reject_by_hand;
    self->refuses |= policy != rota_reject_caller_runs && policy != rota_reject_discard
                     && policy != rota_reject_discard_oldest;
    self->may_saturate |= policy != rota_reject_caller_runs && policy != rota_reject_discard;
    self->may_drop |= self->keeps_refused;
    self->may_wait |= policy == rota_reject_block;
    return policy;
}

/* -- Making them ----------------------------------------------------------------------------- */

static int compare_nothing(const void *a, const void *b, void *ctx)
{
    (void)a;
    (void)b;
    (void)ctx;
    return 0;
}

static rota_ns due_always(const void *element, void *ctx)
{
    (void)element;
    (void)ctx;
    return 0;
}

static rota_queue *any_queue(void)
{
    rota_queue *queue = NULL;

    switch (next_byte() % 10) {
    case 0:
        rota_array_queue(1, &queue);
        break;
    case 1:
        rota_array_queue(3, &queue);
        break;
    case 2:
        rota_linked_queue(1, &queue);
        break;
    case 3:
        rota_deque(2, &queue);
        break;
    case 4:
        rota_priority_queue(compare_nothing, NULL, &queue);
        break;
    case 5:
        rota_delay_queue(due_always, NULL, &queue);
        break;
    case 6:
        rota_handoff_queue(&queue);
        break;
    case 7:
        rota_fair_handoff_queue(&queue);
        break;
    case 8:
        rota_transfer_queue(&queue);
        break;
    default:
        break;
    }
    return queue;
}

static rota_hooks hooks_of(executor *self)
{
    return (rota_hooks){.before_execute = before,
                        .after_execute = after,
                        .unobserved_failure = unobserved,
                        .terminated = terminated,
                        .ctx = self};
}

static void check_made(int status, bool is_possible)
{
    check_status(status, status == (is_possible ? ROTA_OK : ROTA_EINVAL) || is_lack(status));
}

static int make_pool(executor *self)
{
    uint8_t flags = next_byte();
    rota_pool_options options = {.core_threads = flags % 4,
                                 .max_threads = flags / 4 % 4,
                                 .keep_alive = next_time(),
                                 .core_may_time_out = flags & 16,
                                 .strict_wait = flags & 32,
                                 .queue = any_queue(),
                                 .on_reject = executor_policy(self),
                                 .reject_ctx = self,
                                 .hooks = hooks_of(self)};
    bool is_possible = (options.max_threads == 0 || options.max_threads >= options.core_threads)
                       && options.core_threads + options.max_threads > 0 && options.keep_alive >= 0;

    self->has_hook = true;
    int status = rota_pool_new(&options, &self->handle);
    check_status(status,
                 is_possible ? status == ROTA_OK || is_lack(status) : status == ROTA_EINVAL);
    if (status != ROTA_OK)
        rota_queue_free(options.queue);
    return status;
}

static int make_sched(executor *self)
{
    uint8_t flags = next_byte();
    rota_sched_options options = {.core_threads = flags % 3,
                                  .keep_alive = next_time(),
                                  .core_may_time_out = flags & 4,
                                  .strict_wait = flags & 8,
                                  .drop_delayed_on_shutdown = flags & 16,
                                  .keep_periodic_after_shutdown = flags & 32,
                                  .keep_cancelled = flags & 64,
                                  .on_reject = executor_policy(self),
                                  .reject_ctx = self,
                                  .hooks = hooks_of(self)};

    self->has_hook = true;
    int status = rota_sched_new(&options, &self->handle);
    check_made(status, options.keep_alive >= 0);
    return status;
}

static int make_forkjoin(executor *self)
{
    uint8_t flags = next_byte();
    rota_forkjoin_options options = {.parallelism = flags % 4,
                                     .max_threads = flags / 4 % 8,
                                     .keep_alive = next_time(),
                                     .fifo = flags & 32,
                                     .hooks = hooks_of(self)};

    self->has_hook = true;
    int status = rota_forkjoin_new(&options, &self->handle);
    check_status(status, status == ROTA_OK || status == ROTA_EINVAL || is_lack(status));
    return status;
}

static int run_here(void *arg, rota_task *task)
{
    executor *self = arg;

    if (self->may_saturate && ++self->kept_count % 4 == 0)
        return ROTA_EREJECTED;
    rota_task_run(task);
    return ROTA_OK;
}

static int keep(void *arg, rota_task *task)
{
    executor *self = arg;

    if (self->kept_count == KEPT)
        return ROTA_EREJECTED;
    self->kept[self->kept_count++] = task;
    return ROTA_OK;
}

static int make_own(executor *self)
{
    rota_executor_ops ops = {.execute = self->kind == HERE ? run_here : keep};

    self->refuses = true;
    self->may_saturate = self->kind == MANUAL || next_byte() % 2 == 1;
    self->may_drop = self->kind == MANUAL; /* the program may discard what it keeps */
    int status = rota_executor_new(&ops, self, &self->handle);
    check_status(status, status == ROTA_OK || is_lack(status));
    return status;
}

static int make_delayed(executor *self)
{
    self->refuses = true;
    self->base = executor_any();
    if (self->base == NULL || self->base == self)
        return ROTA_EINVAL;
    self->is_target = true;
    self->base->is_target = true;
    int status = rota_delayed(self->base->handle, next_wait(), &self->handle);
    check_status(status, status == ROTA_OK || is_lack(status));
    return status;
}

static int make_ready(executor *self)
{
    uint8_t which = next_byte() % 7;

    self->refuses = true;
    self->kind = which < 3 || which == 6 ? POOL : which == 5 ? FORKJOIN : SCHED;
    switch (which) {
    case 0:
        return rota_fixed_pool(1 + next_byte() % 3, &self->handle);
    case 1:
        return rota_single_thread(&self->handle);
    case 2:
        return rota_cached_pool(&self->handle);
    case 3:
        return rota_scheduled_pool(next_byte() % 3, &self->handle);
    case 4:
        return rota_single_scheduled(&self->handle);
    case 5:
        return rota_work_stealing_pool(next_byte() % 3, &self->handle);
    default:
        return rota_thread_per_task(NULL, &self->handle);
    }
}

int executor_fill(executor *self, uint8_t which)
{
    *self = (executor){.kind = which % 7};
    switch (which % 7) {
    case POOL:
        return make_pool(self);
    case SCHED:
        return make_sched(self);
    case FORKJOIN:
        self->refuses = true;
        return make_forkjoin(self);
    case HERE:
    case MANUAL:
        return make_own(self);
    case DELAYED:
        return make_delayed(self);
    default:
        return make_ready(self);
    }
}
