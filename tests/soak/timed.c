/* SPDX-License-Identifier: MIT */
/*
 * timed.c - scheduled pools: tasks that run later, or again and again.
 */
#include "soak.h"

rota_executor *timed_make(struct station *station, test_random *random)
{
    station->most_threads = MOST_THREADS;
    station->is_strict = test_random_below(random, 8) == 0;
    return test_sched((rota_sched_options){
        .core_threads = (unsigned)test_random_below(random, 4),
        .core_may_time_out = test_random_below(random, 2) == 0,
        .keep_alive = ROTA_US(50),
        .strict_wait = station->is_strict,
        .drop_delayed_on_shutdown = test_random_below(random, 2) == 0,
        .keep_periodic_after_shutdown = test_random_below(random, 2) == 0,
        .keep_cancelled = test_random_below(random, 2) == 0,
        .on_reject = station_reject,
        .reject_ctx = station_policy(station, random),
        .threads = station_threads(station),
        .hooks = station_hooks(station),
    });
}

/* -- Tasks -------------------------------------------------------------------------------- */

static rota_ns any_delay(struct item *item, test_random *random)
{
    item->is_far = test_random_below(random, 8) == 0;
    return item->is_far ? ROTA_HOURS(1) : (rota_ns)test_random_below(random, ROTA_US(200));
}

static int schedule(struct item *item, test_random *random, rota_future **future)
{
    rota_call call = item_call(item);
    rota_executor *executor = item->station->executor;
    rota_ns delay = any_delay(item, random);
    rota_ns period = (rota_ns)(ROTA_US(20) + test_random_below(random, ROTA_US(200)));

    item->is_periodic = test_random_below(random, 16) == 0;
    if (!item->is_periodic)
        return rota_schedule_call(executor, &call, delay, 0, future);
    switch (test_random_below(random, 3)) {
    case 0:
        return rota_schedule_call(executor, &call, delay, period, future);
    case 1:
        return rota_schedule_call(executor, &call, delay, -period, future);
    default:
        return rota_schedule_skipping(executor, &call, delay, period, future);
    }
}

static void schedule_some(struct station *station, test_random *random)
{
    struct item *item;

    for (size_t left = 1 + test_random_below(random, 40); left > 0; left--) {
        rota_future *future = NULL;
        if ((item = station_item(station, random)) == NULL)
            return;
        int status = schedule(item, random, &future);
        atomic_store(&item->future, future);
        station_noted(item, status);
    }
}

/* -- Settings ----------------------------------------------------------------------------- */

static int change(rota_executor *sched, test_random *random)
{
    bool on = test_random_below(random, 2) == 0;

    switch (test_random_below(random, 6)) {
    case 0:
        return rota_pool_set_core_threads(sched, (unsigned)test_random_below(random, MOST_THREADS));
    case 1:
        return rota_pool_set_core_may_time_out(sched, on);
    case 2:
        rota_pool_purge(sched);
        return ROTA_OK;
    case 3:
        return rota_sched_set_drop_delayed_on_shutdown(sched, on);
    case 4:
        return rota_sched_set_keep_periodic_after_shutdown(sched, on);
    default:
        return rota_sched_set_keep_cancelled(sched, on);
    }
}

void timed_move(struct station *station, test_random *random)
{
    if (test_random_below(random, 4) > 0)
        schedule_some(station, random);
    else
        test_check(change(station->executor, random) == ROTA_OK);
}

/* What is far away is dropped, and series end. */
void timed_release(struct station *station)
{
    test_check(rota_sched_set_drop_delayed_on_shutdown(station->executor, true) == ROTA_OK);
    test_check(rota_sched_set_keep_periodic_after_shutdown(station->executor, false) == ROTA_OK);
}

/* What was completed by hand, but is kept until its time. */
static void remove_far(const struct station *station)
{
    for (size_t i = 0; i < station_used(station); i++) {
        const struct item *item = &station->items[i];
        if (item->is_far)
            rota_pool_remove(station->executor, atomic_load(&item->future));
    }
}

void timed_check(struct station *station)
{
    rota_pool_purge(station->executor); /* of what was cancelled, and kept */
    remove_far(station);
    plain_check(station);
}
