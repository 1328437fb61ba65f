/* SPDX-License-Identifier: MIT */
#include "sweep.h"

#include <string.h>

/* -- Making ------------------------------------------------------------------------------- */

static int make_pool(void)
{
    return rota_pool_new(&(rota_pool_options){.core_threads = 2}, &given.executor);
}

static void pool_works(void)
{
    atomic_uint runs = 0;

    test_check(rota_execute(given.executor, test_count, &runs) == ROTA_OK);
    test_check(rota_close(given.executor) == ROTA_OK);
    test_check(runs == 1);
}

/* -- Settings ----------------------------------------------------------------------------- */

static int options_get(void)
{
    rota_pool_options options;

    return rota_pool_options_get(stage.pool, &options);
}

static int set_core_may_time_out(void)
{
    return rota_pool_set_core_may_time_out(stage.pool, true);
}

static int set_keep_alive(void)
{
    return rota_pool_set_keep_alive(stage.pool, ROTA_SEC(1));
}

static int set_reject(void)
{
    return rota_pool_set_reject(stage.pool, rota_reject_discard, NULL);
}

static int set_threads(void)
{
    return rota_pool_set_threads(stage.pool, &(rota_threads){.name = "changed"});
}

static void threads_are_set(void)
{
    test_check(strcmp(test_options(stage.pool).threads.name, "changed") == 0);
}

static int set_max_threads(void)
{
    return rota_pool_set_max_threads(stage.pool, 1);
}

/* Those that are too many are woken. */
static void set_two_waiting(void)
{
    unsigned started;

    sweep_idle_pool.set();
    test_check(rota_pool_prestart(stage.pool, &started) == ROTA_OK && started == 2);
    sweep_await_parked(stage.pool, 2);
}

/* One of which is not core any more. */
static void set_one_too_many(void)
{
    set_two_waiting();
    test_check(rota_pool_set_core_threads(stage.pool, 1) == ROTA_OK);
    sweep_await_parked(stage.pool, 2);
}

static void strike_two(void)
{
    sweep_idle_pool.strike();
}

static const sweep_scene two_waiting = {"two threads", set_two_waiting, NULL, strike_two};
static const sweep_scene one_too_many = {"a spare thread", set_one_too_many, NULL, strike_two};
static sweep_scenes with_two = {&two_waiting, NULL};
static sweep_scenes with_spare = {&one_too_many, NULL};

static int set_fewer(void)
{
    return rota_pool_set_core_threads(stage.pool, 1);
}

/* What is queued brings a thread for each that is more; without one, it is set all the same. */
static void set_room_for_more(void)
{
    sweep_busy_pool.set();
    test_check(rota_pool_set_max_threads(stage.pool, 3) == ROTA_OK);
}

static void strike_more(void)
{
    sweep_busy_pool.strike();
}

static const sweep_scene may_grow = {"may grow", set_room_for_more, NULL, strike_more};
static sweep_scenes growing = {&may_grow, NULL};

static int set_more(void)
{
    return rota_pool_set_core_threads(stage.pool, 3);
}

static int resize(void)
{
    return rota_pool_resize(stage.pool, 3, 3);
}

static void core_is_set(void)
{
    test_check(test_options(stage.pool).core_threads == 3);
}

/* -- Threads ------------------------------------------------------------------------------ */

static unsigned started;

static int prestart(void)
{
    return rota_pool_prestart(stage.pool, &started);
}

static int prestart_one(void)
{
    return rota_pool_prestart_one(stage.pool, &started);
}

/* Those that were missing; what a call that failed had started is there. */
static void two_are_there(void)
{
    test_check(test_stats(stage.pool).threads == 2);
}

static void one_is_there(void)
{
    test_check(started == 1 && test_stats(stage.pool).threads == 1);
}

static void strike_idle(void)
{
    sweep_idle_pool.strike();
}

static void set_idle(void)
{
    sweep_idle_pool.set();
}

static const sweep_scene without_threads = {"idle pool", set_idle, NULL, strike_idle};
static sweep_scenes no_threads = {&without_threads, NULL};

/* -- The queue ---------------------------------------------------------------------------- */

static int queue_of(void)
{
    return sweep_so(rota_queue_size(rota_pool_queue(stage.pool)) == 1);
}

/* With a task behind the queued one, that has a future, for which a thread waits. */
static void set_removable(void)
{
    rota_call call = test_probe_call(&stage.probe);

    sweep_busy_pool.set();
    test_check(rota_submit_call(stage.pool, &call, &stage.source) == ROTA_OK);
    sweep_start_getter(stage.source);
}

static void strike_removable(void)
{
    if (stage.getter.thread != NULL)
        sweep_getter_gets(ROTA_ECANCELED);
    rota_future_unref(stage.source);
    sweep_busy_pool.strike();
    test_check(stage.probe.discards == 1);
}

static const sweep_scene removable = {"queued task", set_removable, NULL, strike_removable};
static sweep_scenes with_queued = {&removable, NULL};

static int remove_task(void)
{
    return sweep_so(rota_pool_remove(stage.pool, stage.source));
}

static void set_cancelled(void)
{
    set_removable();
    test_check(rota_future_cancel(stage.source));
}

static const sweep_scene cancelled = {"cancelled task", set_cancelled, NULL, strike_removable};
static sweep_scenes with_cancelled = {&cancelled, NULL};

static int purge(void)
{
    return sweep_so(rota_pool_purge(stage.pool) == 1);
}

static int stats_get(void)
{
    rota_pool_stats stats;

    return rota_pool_stats_get(stage.pool, &stats);
}

static const sweep_row rows[] = {
    {"rota_pool_new", sweep_nowhere, make_pool, pool_works, SWEEP_NEEDS_MEMORY},
    {"rota_pool_set_threads", sweep_a_busy_pool, set_threads, threads_are_set, SWEEP_NEEDS_MEMORY},
    {"rota_pool_set_core_threads", with_two, set_fewer},
    {"rota_pool_set_core_threads", growing, set_more, core_is_set},
    {"rota_pool_set_core_may_time_out", with_two, set_core_may_time_out},
    {"rota_pool_set_keep_alive", with_two, set_keep_alive},
    {"rota_pool_set_max_threads", with_spare, set_max_threads},
    {"rota_pool_resize", growing, resize, core_is_set},
    {"rota_pool_set_reject", sweep_a_busy_pool, set_reject, .is_quiet = true},
    {"rota_pool_options_get", sweep_a_busy_pool, options_get, .is_quiet = true},
    {"rota_pool_prestart", no_threads, prestart, two_are_there,
     .may = {[SWEEP_MEMORY] = {ROTA_EAGAIN}, [SWEEP_THREAD] = {ROTA_EAGAIN}}},
    {"rota_pool_prestart_one", sweep_a_pool, prestart_one, one_is_there,
     .may = {[SWEEP_MEMORY] = {ROTA_EAGAIN}, [SWEEP_THREAD] = {ROTA_EAGAIN}}},
    {"rota_pool_queue", sweep_a_busy_pool, queue_of, .is_quiet = true},
    {"rota_pool_remove", with_queued, remove_task},
    {"rota_pool_purge", with_cancelled, purge, .is_quiet = true},
    {"rota_pool_stats_get", sweep_a_busy_pool, stats_get, .is_quiet = true},
};
SWEEP_PART(sweep_pool, rows);
