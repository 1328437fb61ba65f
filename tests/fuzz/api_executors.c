/* SPDX-License-Identifier: MIT */
/*
 * api_executors.c - what executors may do with a task, and how they end.
 */
#include "api.h"

#include "compose/compose_internal.h"

#include <stdio.h>

static executor executors[EXECUTORS];
static unsigned executor_count;
static bool is_making; /* one thread at a time */

void executors_begin(void)
{
    executor_count = 0;
    is_making = false;
}

executor *executor_any(void)
{
    return executor_count > 0 ? &executors[next_byte() % executor_count] : NULL;
}

executor *executor_of_kind(executor_kind kind)
{
    executor *any = executor_any();

    return any != NULL && any->kind == kind ? any : NULL;
}

/* -- Making them ----------------------------------------------------------------------------- */

/* Others see it only once it is made. */
void executor_make(void)
{
    if (executor_count == EXECUTORS || is_making)
        return;
    is_making = true;
    executor *self = &executors[executor_count];
    bool is_made = executor_fill(self, next_byte()) == ROTA_OK;
    show();
    executor_count += is_made;
    is_making = false;
}

/* -- Submitting ------------------------------------------------------------------------------ */

static bool is_allowed(const executor *self, bool was_shut, int status)
{
    switch (status) {
    case ROTA_OK:
        return !was_shut || self->keeps_refused;
    case ROTA_EREJECTED:
        return (was_shut && self->refuses) || self->is_ending || self->may_saturate
               || (self->kind == POOL && may_lack()); /* one more thread, beside others: POOL-28 */
    case ROTA_EINTERRUPTED:
        return self->may_wait;
    default:
        return is_lack(status);
    }
}

void executor_check_status(const executor *self, bool was_shut, int status)
{
    char text[80];

    if (is_allowed(self, was_shut, status))
        return;
    snprintf(text, sizeof text, "a submit to %s executor of kind %d returned %d",
             was_shut ? "a shut" : "an open", (int)self->kind, status);
    ex_fail(__FILE__, __LINE__, text);
}

bool executor_may_drop(const executor *self)
{
    if (self->kind == DELAYED
        && (self->base->is_ending || self->base->may_saturate || executor_may_drop(self->base)))
        return true;
    return self->may_drop || may_lack();
}

bool executor_may_refuse(const executor *self)
{
    return self->is_ending || self->may_saturate || executor_may_drop(self);
}

/* -- Ending ---------------------------------------------------------------------------------- */

static void hand_out(rota_task_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (i % 2 == 0)
            rota_task_run(list->tasks[i]);
        else
            rota_task_discard(list->tasks[i]);
    }
    rota_task_list_free(list);
    ex_check(list->count == 0 && list->tasks == NULL);
}

static void stop(executor *self, bool wants_list)
{
    rota_task_list list = {NULL, 0};

    self->may_drop = true;
    int status = rota_shutdown_now(self->handle, wants_list ? &list : NULL);
    if (status == ROTA_OK) {
        hand_out(&list);
        return;
    }
    check_status(status, status == ROTA_ENOMEM && wants_list && may_lack());
    ex_check(rota_shutdown_now(self->handle, NULL) == ROTA_OK);
}

void executor_end(executor *self, unsigned how)
{
    self->is_ending = true;
    self->may_drop |= self->kind == SCHED; /* what is periodic, or not due */
    if (how % 4 < 2)
        ex_check(rota_shutdown(self->handle) == ROTA_OK);
    else
        stop(self, how % 4 == 3);
    self->is_shut = true;
    ex_check(rota_is_shutdown(self->handle));
    ex_check(rota_executor_state_of(self->handle) >= ROTA_SHUTDOWN);
}

static void await(executor *self, rota_ns timeout)
{
    int status = rota_await_termination(self->handle, timeout);

    check_status(status, status == ROTA_OK || status == ROTA_ETIMEDOUT
                             || status == ROTA_EINTERRUPTED
                             || (status == ROTA_EDEADLOCK && !is_actor()) || is_lack(status));
    if (status == ROTA_OK)
        ex_check(self->is_ending && rota_is_terminated(self->handle));
}

void executor_look(executor *self)
{
    char line[8];
    rota_pool_stats stats;
    rota_forkjoin_stats fork_stats;
    bool is_pool = self->kind == POOL || self->kind == SCHED;

    ex_check(rota_executor_describe(self->handle, NULL, 0) > 0);
    ex_check(rota_executor_describe(self->handle, line, sizeof line) > 0);
    int status = rota_pool_stats_get(self->handle, &stats);
    check_status(status, status == (is_pool ? ROTA_OK : ROTA_ENOTSUP));
    if (is_pool)
        ex_check(stats.active <= stats.threads); /* `largest` lags behind while one is started */
    status = rota_forkjoin_stats_get(self->handle, &fork_stats);
    check_status(status, status == (self->kind == FORKJOIN ? ROTA_OK : ROTA_ENOTSUP));
    if (self->kind == FORKJOIN)
        ex_check(fork_stats.running <= fork_stats.active);
    await(self, 0);
    ex_check(rota_executor_free(NULL) == ROTA_EINVAL);
    if (!self->is_ending)
        ex_check(rota_executor_free(self->handle) == ROTA_EBUSY);
}

void executor_wait(executor *self)
{
    await(self, next_wait());
}

/* -- Settings -------------------------------------------------------------------------------- */

static unsigned any_size(void)
{
    static const unsigned sizes[] = {0, 1, 2, 3, UINT32_MAX, INT32_MAX};

    return sizes[next_byte() % 6];
}

static int change(executor *self, uint8_t what)
{
    rota_pool_options options;
    unsigned started;

    switch (what % 12) {
    case 0:
        return rota_pool_set_core_threads(self->handle, any_size());
    case 1:
        self->may_saturate = true;
        return rota_pool_set_max_threads(self->handle, any_size());
    case 2:
        return rota_pool_set_keep_alive(self->handle, next_time());
    case 3:
        return rota_pool_set_core_may_time_out(self->handle, next_byte() % 2);
    case 4:
        return rota_pool_set_reject(self->handle, executor_policy(self), self);
    case 5:
        return rota_pool_prestart(self->handle, &started);
    case 6:
        return rota_pool_prestart_one(self->handle, &started);
    case 7:
        rota_pool_purge(self->handle);
        return rota_pool_options_get(self->handle, &options);
    case 8:
        self->may_drop = true;
        return rota_sched_set_drop_delayed_on_shutdown(self->handle, next_byte() % 2);
    case 9:
        self->may_drop = true;
        return rota_sched_set_keep_periodic_after_shutdown(self->handle, next_byte() % 2);
    case 10:
        return rota_sched_set_keep_cancelled(self->handle, next_byte() % 2);
    default:
        return rota_await_quiescence(self->handle, next_wait());
    }
}

void executor_change(executor *self)
{
    bool is_pool = self->kind == POOL || self->kind == SCHED;
    uint8_t what = next_byte();
    int status = change(self, what);

    if (what % 12 == 11 && self->kind == FORKJOIN)
        check_status(status, status == ROTA_OK || status == ROTA_ETIMEDOUT
                                 || status == ROTA_EINTERRUPTED || is_lack(status));
    else if (what % 12 == 11)
        check_status(status, status == ROTA_ENOTSUP);
    else if (is_pool)
        check_status(status, status == ROTA_OK || status == ROTA_EINVAL || status == ROTA_ENOTSUP
                                 || is_lack(status));
    else
        check_status(status, status == ROTA_ENOTSUP || status == ROTA_EINVAL);
}

/* -- The end --------------------------------------------------------------------------------- */

static void run_kept(executor *self)
{
    rota_task *task = self->kept[--self->kept_count];

    if (next_byte() % 4 == 3)
        rota_task_discard(task);
    else
        rota_task_run(task);
}

bool executors_pump(void)
{
    bool any = false;

    for (unsigned i = 0; i < executor_count; i++) {
        while (executors[i].kind == MANUAL && executors[i].kept_count > 0) {
            run_kept(&executors[i]);
            any = true;
        }
    }
    return any;
}

void executors_shut(void)
{
    for (unsigned i = 0; i < executor_count; i++) {
        uint8_t how = next_byte();
        if (how % 8 < 4)
            executor_end(&executors[i], how);
    }
}

/* All its threads have ended then, but it is there for who is about to submit a step to it. */
static void terminate(executor *self)
{
    self->is_ending = true;
    self->may_drop |= self->kind == SCHED;
    ex_check(rota_shutdown(self->handle) == ROTA_OK);
    ex_check(rota_await_termination(self->handle, ROTA_FOREVER) == ROTA_OK);
    ex_check(rota_executor_state_of(self->handle) == ROTA_TERMINATED);
    ex_check(self->terminated == self->has_hook);
}

static void release(executor *self, uint8_t how)
{
    size_t dropped = 1;

    if (how % 3 == 0) {
        ex_check(rota_executor_free(self->handle) == ROTA_OK);
    } else if (how % 3 == 1) {
        ex_check(rota_close(self->handle) == ROTA_OK);
    } else {
        ex_check(rota_close_within(self->handle, next_time(), &dropped) == ROTA_OK);
        ex_check(dropped == 0);
    }
}

/* Without a wait before it, where nobody else may submit to it. */
static void close_at_once(executor *self, uint8_t how)
{
    size_t dropped;

    self->may_drop = true;
    if (how % 2 == 0) {
        ex_check(rota_close(self->handle) == ROTA_OK);
        return;
    }
    int status = rota_close_within(self->handle, next_wait(), &dropped);
    if (status == ROTA_ETIMEDOUT)
        status = rota_close(self->handle);
    check_status(status, status == ROTA_OK);
}

static void close_kind(bool is_delayed)
{
    for (unsigned i = executor_count; i-- > 0;) {
        executor *self = &executors[i];
        uint8_t how = next_byte();

        if ((self->kind == DELAYED) != is_delayed)
            continue;
        self->is_gone = !self->is_target && self->users == 0 && how % 2 == 0;
        if (self->is_gone)
            close_at_once(self, how / 2);
        else
            terminate(self);
    }
}

/* Those that delay need the timer, and what they pass tasks on to. */
void executors_close(void)
{
    close_kind(true);
    rota__timer_end(ROTA_FOREVER);
    close_kind(false);
    rota__timer_end(ROTA_FOREVER);
    for (unsigned i = executor_count; i-- > 0;) {
        if (!executors[i].is_gone)
            release(&executors[i], next_byte());
    }
}
