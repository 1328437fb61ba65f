/* SPDX-License-Identifier: MIT */
#include "sweep.h"

#include "forkjoin.h"
#include "pool/pool_internal.h"

static const sweep_scene nowhere = {.name = "-"};
sweep_scenes sweep_nowhere = {&nowhere, NULL};

/* -- Executors ---------------------------------------------------------------------------- */

void sweep_open_gate(void)
{
    if (!stage.is_open)
        test_gate_open(&stage.gate);
    stage.is_open = true;
}

static void set_idle(rota_executor *pool)
{
    stage.pool = pool;
    stage.is_open = true;
}

static void set_busy(rota_executor *pool)
{
    stage.pool = pool;
    test_fill(pool, &stage.gate, &stage.queued, 1);
}

static void set_idle_pool(void)
{
    set_idle(test_pool((rota_pool_options){.core_threads = 2}));
}

static void set_busy_pool(void)
{
    set_busy(test_pool((rota_pool_options){.core_threads = 1}));
}

static void set_idle_forkjoin(void)
{
    set_idle(test_forkjoin_of(2));
}

static void set_busy_forkjoin(void)
{
    set_busy(test_forkjoin_of(1));
}

static void set_idle_sched(void)
{
    set_idle(test_sched((rota_sched_options){.core_threads = 2}));
}

static void set_busy_sched(void)
{
    set_busy(test_sched((rota_sched_options){.core_threads = 1}));
}

static bool are_parked(void *arg)
{
    rota__pool *pool = rota__as_pool(arg);
    const rota__list *list = &pool->workers.list;
    bool all = true;

    rota__mutex_lock(&pool->workers.lock);
    for (rota__link *link = list->head.next; link != &list->head; link = link->next) {
        rota__worker *worker = ROTA__CONTAINER(link, rota__worker, link);
        all = all && worker->self != NULL && test_is_parked(worker->self);
    }
    rota__mutex_unlock(&pool->workers.lock);
    return all;
}

void sweep_await_parked(rota_executor *pool, unsigned count)
{
    test_await_waiting(pool, count);
    test_until(are_parked, pool);
}

/* A thread of theirs waits for a task. */
static void set_waiting(rota_executor *pool)
{
    unsigned started;

    set_idle(pool);
    test_check(rota_pool_prestart(pool, &started) == ROTA_OK);
    sweep_await_parked(pool, 1);
}

static void set_waiting_pool(void)
{
    set_waiting(test_pool((rota_pool_options){.core_threads = 1}));
}

static void set_waiting_sched(void)
{
    set_waiting(test_sched((rota_sched_options){.core_threads = 1}));
}

static void nothing(void *arg)
{
}

static void set_waiting_forkjoin(void)
{
    set_idle(test_forkjoin_of(1));
    test_fj_inside(stage.pool, nothing, NULL);
    test_fj_await_active(stage.pool, 0);
}

/* OWN-05: the task is neither taken nor dropped, and what was queued still is. */
static void nothing_was_taken(void)
{
    test_check(stage.probe.runs + stage.probe.discards == 0);
    test_check(stage.queued.runs + stage.queued.discards == 0);
    test_check(!rota_is_shutdown(stage.pool));
}

static void pool_is_intact(void)
{
    bool is_busy = !stage.is_open;

    nothing_was_taken();
    test_check(test_stats(stage.pool).queued == is_busy);
    test_check(test_stats(stage.pool).submitted == (is_busy ? 2 : 0));
}

static void forkjoin_is_intact(void)
{
    nothing_was_taken();
    test_check(test_fj_stats(stage.pool).submissions == !stage.is_open);
}

/* NULL: the call has closed it. */
static void strike_idle(void)
{
    if (stage.pool != NULL)
        test_check(rota_close(stage.pool) == ROTA_OK);
}

static void strike_busy(void)
{
    sweep_open_gate();
    strike_idle();
    test_check(stage.queued.runs + stage.queued.discards == 1);
    test_check(stage.gate.ended == 1);
}

const sweep_scene sweep_idle_pool = {"idle pool", set_idle_pool, pool_is_intact, strike_idle};
const sweep_scene sweep_busy_pool = {"busy pool", set_busy_pool, pool_is_intact, strike_busy};
const sweep_scene sweep_idle_forkjoin = {"idle fork/join", set_idle_forkjoin, forkjoin_is_intact,
                                         strike_idle};
const sweep_scene sweep_busy_forkjoin = {"busy fork/join", set_busy_forkjoin, forkjoin_is_intact,
                                         strike_busy};
const sweep_scene sweep_idle_sched = {"idle scheduled", set_idle_sched, pool_is_intact,
                                      strike_idle};
const sweep_scene sweep_busy_sched = {"busy scheduled", set_busy_sched, pool_is_intact,
                                      strike_busy};

const sweep_scene sweep_waiting_pool = {"waiting pool", set_waiting_pool, pool_is_intact,
                                        strike_idle};
const sweep_scene sweep_waiting_forkjoin = {"waiting fork/join", set_waiting_forkjoin,
                                            forkjoin_is_intact, strike_idle};
const sweep_scene sweep_waiting_sched = {"waiting scheduled", set_waiting_sched, pool_is_intact,
                                         strike_idle};

sweep_scenes sweep_executors = {
    &sweep_idle_pool,     &sweep_busy_pool,
    &sweep_waiting_pool,  &sweep_idle_forkjoin,
    &sweep_busy_forkjoin, &sweep_waiting_forkjoin,
    &sweep_idle_sched,    &sweep_busy_sched,
    &sweep_waiting_sched, NULL,
};

/* For calls that may have begun when they fail. */
static const sweep_scene changed_idle_pool = {"idle pool", set_idle_pool, NULL, strike_idle};
static const sweep_scene changed_busy_pool = {"busy pool", set_busy_pool, NULL, strike_busy};
static const sweep_scene changed_idle_forkjoin = {"idle fork/join", set_idle_forkjoin, NULL,
                                                  strike_idle};
static const sweep_scene changed_busy_forkjoin = {"busy fork/join", set_busy_forkjoin, NULL,
                                                  strike_busy};
static const sweep_scene changed_idle_sched = {"idle scheduled", set_idle_sched, NULL, strike_idle};
static const sweep_scene changed_busy_sched = {"busy scheduled", set_busy_sched, NULL, strike_busy};

sweep_scenes sweep_changed_idle = {&changed_idle_pool, &changed_idle_forkjoin, &changed_idle_sched,
                                   NULL};
sweep_scenes sweep_changed_busy = {&changed_busy_pool, &changed_busy_forkjoin, &changed_busy_sched,
                                   NULL};
sweep_scenes sweep_a_pool = {&sweep_idle_pool, NULL};
sweep_scenes sweep_a_busy_pool = {&sweep_busy_pool, NULL};
sweep_scenes sweep_a_sched = {&sweep_idle_sched, NULL};
sweep_scenes sweep_a_forkjoin = {&sweep_idle_forkjoin, NULL};
sweep_scenes sweep_a_busy_forkjoin = {&sweep_busy_forkjoin, NULL};

/* -- A promise ---------------------------------------------------------------------------- */

void sweep_start_getter(rota_future *future)
{
    test_getter_start(&stage.getter, future, ROTA_FOREVER);
}

void sweep_getter_gets(int status)
{
    test_thread_join(stage.getter.thread);
    stage.getter.thread = NULL;
    test_check(stage.getter.status == status);
}

static void set_promise(void)
{
    test_check(rota_promise_new(&stage.source) == ROTA_OK);
}

void sweep_set_source(void)
{
    set_promise();
    sweep_start_getter(stage.source);
}

static void source_is_intact(void)
{
    test_check(!rota_future_is_done(stage.source));
}

void sweep_strike_source(void)
{
    rota_promise_complete(stage.source, NULL);
    if (stage.getter.thread != NULL)
        sweep_getter_gets(ROTA_OK);
    rota_future_unref(stage.source);
}

static const sweep_scene promise = {"promise", set_promise, source_is_intact, sweep_strike_source};
static const sweep_scene awaited = {"awaited promise", sweep_set_source, source_is_intact,
                                    sweep_strike_source};
sweep_scenes sweep_promise = {&promise, NULL};
sweep_scenes sweep_awaited = {&awaited, NULL};
