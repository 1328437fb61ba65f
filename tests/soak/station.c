/* SPDX-License-Identifier: MIT */
/*
 * station.c - a place where an executor is used by all, ended by one, settled and made anew.
 */
#include "soak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECENT = 30 };

struct station stations[STATIONS];
struct tally all;

void station_init(struct station *station)
{
    station->items = calloc(ITEMS, sizeof(struct item));
    test_check(station->items != NULL);
    test_check(pthread_rwlock_init(&station->lock, NULL) == 0);
}

static void clear(struct station *station)
{
    memset(station->items, 0, station_used(station) * sizeof(struct item));
    atomic_store(&station->used, 0);
    atomic_store(&station->started, 0);
    atomic_store(&station->exited, 0);
    atomic_store(&station->rejections, 0);
    atomic_store(&station->late, 0);
    atomic_store(&station->own_turns, 0);
    atomic_store(&station->terminations, 0);
    atomic_store(&station->has_discarded, false);
    atomic_store(&station->is_stopped, false);
    atomic_store(&station->is_ending, false);
    station->is_strict = false;
    station->has_hooks = false;
}

void station_open(struct station *station, const struct kind *kind, test_random *random)
{
    clear(station);
    station->takes_plain = test_random_below(random, 4) > 0;
    station->is_pure = test_random_below(random, 2) == 0;
    station->kind = kind;
    station->generation++;
    station->room = 1 + test_random_below(random, ITEMS);
    for (size_t i = 0; i < TEST_POLICIES; i++)
        station->policies[i] = (struct policy){station, test_policies[i]};
    station->executor = kind->make(station, random);
    atomic_fetch_add(&all.executors, 1);
}

/* For who must know why nothing goes on. */
void stations_describe(void)
{
    char line[200];

    for (size_t i = 0; i < STATIONS; i++) {
        if (rota_executor_describe(stations[i].executor, line, sizeof line) < 0)
            continue; /* there is none */
        fprintf(stderr, "%s (%s)%s\n", line, stations[i].kind->name,
                atomic_load(&stations[i].is_ending) ? ", is ending" : "");
    }
}

/* -- Items -------------------------------------------------------------------------------- */

size_t station_used(const struct station *station)
{
    size_t used = atomic_load(&station->used);

    return used < station->room ? used : station->room;
}

static enum what any_what(test_random *random)
{
    size_t n = test_random_below(random, 1000);

    if (n < 900)
        return RETURNS;
    if (n < 940)
        return FAILS;
    if (n < 960)
        return YIELDS;
    if (n < 962)
        return SLEEPS;
    return n < 998 ? NESTS : TEARS;
}

struct item *station_item(struct station *station, test_random *random)
{
    size_t i = atomic_fetch_add(&station->used, 1);

    if (i >= station->room)
        return NULL;
    struct item *item = &station->items[i];
    item->station = station;
    item->seed = (uint32_t)test_random_next(random);
    item->what = (uint8_t)any_what(random);
    if (item->what == NESTS && station->kind->outlived)
        item->what = RETURNS;
    return item;
}

/* As a rule one of the last, which are still under way. */
struct item *station_any(struct station *station, test_random *random)
{
    size_t used = station_used(station);
    size_t among = used > RECENT && test_random_below(random, 4) > 0 ? RECENT : used;

    return used > 0 ? &station->items[used - 1 - test_random_below(random, among)] : NULL;
}

bool station_noted(struct item *item, int status)
{
    test_check(status == ROTA_OK || status == ROTA_EREJECTED || status == ROTA_EINTERRUPTED);
    atomic_store(&item->offer, status == ROTA_OK ? ACCEPTED : REFUSED);
    return status == ROTA_OK;
}

bool station_submit(struct station *station, struct item *item)
{
    rota_call call = item_call(item);
    rota_future *future = NULL;
    int status;

    if (item->is_plain)
        status = rota_execute(station->executor, call.fn, item);
    else
        status = rota_submit_call(station->executor, &call, item->seed % 4 == 0 ? NULL : &future);
    if (status == ROTA_OK)
        atomic_store(&item->future, future);
    else
        test_check(future == NULL);
    return station_noted(item, status);
}

/* -- The end of an executor --------------------------------------------------------------- */

static void await(rota_executor *executor)
{
    int status;

    do
        status = rota_await_termination(executor, ROTA_FOREVER);
    while (status == ROTA_EINTERRUPTED);
    test_check(status == ROTA_OK && rota_is_terminated(executor));
}

static void stop(struct station *station, test_random *random, bool with_list)
{
    rota_task_list list = {NULL, 0};

    atomic_store(&station->has_discarded, true);
    test_check(rota_shutdown_now(station->executor, with_list ? &list : NULL) == ROTA_OK);
    atomic_store(&station->is_stopped, true);
    test_use_up(&list, random);
}

static void begin_to_end(struct station *station, test_random *random)
{
    size_t how = test_random_below(random, 6);

    if (how == 0 || how == 1)
        test_check(rota_shutdown(station->executor) == ROTA_OK);
    if (how == 1 || how == 2)
        stop(station, random, true);
    if (how == 3)
        stop(station, random, false);
    if (how > 3)
        return; /* who settles it does all */
    if (station->kind->release != NULL)
        station->kind->release(station);
    if (test_random_below(random, 2) == 0)
        await(station->executor);
}

void station_end(struct station *station, test_random *random)
{
    unsigned generation = station->generation;

    atomic_store(&station->is_ending, true);
    if (!station->kind->stays)
        begin_to_end(station, random);
    pthread_rwlock_unlock(&station->lock);
    pthread_rwlock_wrlock(&station->lock);
    if (generation == station->generation) { /* else another was quicker */
        station_settle(station, random);
        station_open(station, station->kind->stays ? station->kind : any_kind(random), random);
    }
    pthread_rwlock_unlock(&station->lock);
}

/* -- Settling ----------------------------------------------------------------------------- */

static bool is_met(void *item)
{
    return item_is_met(item);
}

/* All ends by itself, without a shutdown, which would wake whoever was forgotten. */
static void rest(struct station *station)
{
    for (size_t i = 0; i < station_used(station); i++) { /* tasks may still submit others */
        struct item *item = &station->items[i];
        if (atomic_load(&item->offer) == ACCEPTED && (item->is_periodic || item->is_far))
            item_cancel(item, atomic_load(&item->future), item->seed % 2 == 0);
        test_until(is_met, item);
    }
}

static void check(struct station *station)
{
    if (station->kind->check != NULL)
        station->kind->check(station);
    if (!rota_is_terminated(station->executor) || !station->has_hooks)
        return;
    test_check(atomic_load(&station->started) == atomic_load(&station->exited));
    test_check(atomic_load(&station->terminations) == 1);
}

static void close_somehow(struct station *station, test_random *random)
{
    size_t how = test_random_below(random, 8);
    int status = ROTA_ETIMEDOUT;

    if (station->kind->release != NULL)
        station->kind->release(station);
    if (how == 0) {
        atomic_store(&station->has_discarded, true);
        status = rota_close_within(station->executor,
                                   (rota_ns)test_random_below(random, ROTA_US(100)), NULL);
    } else if (how > 2) {
        test_check(rota_shutdown(station->executor) == ROTA_OK);
        await(station->executor);
        check(station);
        status = rota_executor_free(station->executor);
    }
    if (status == ROTA_ETIMEDOUT)
        status = rota_close(station->executor);
    test_check(status == ROTA_OK);
    station->executor = NULL;
}

static void add_up(const struct counts *counts)
{
    test_check(counts->offered
               == counts->refused + counts->succeeded + counts->failed + counts->discarded);
    atomic_fetch_add(&all.offered, counts->offered);
    atomic_fetch_add(&all.refused, counts->refused);
    atomic_fetch_add(&all.succeeded, counts->succeeded);
    atomic_fetch_add(&all.failed, counts->failed);
    atomic_fetch_add(&all.discarded, counts->discarded);
    atomic_fetch_add(&all.cancelled, counts->cancelled);
    atomic_fetch_add(&all.again, counts->again);
    atomic_fetch_add(&all.steps, counts->steps);
}

void station_settle(struct station *station, test_random *random)
{
    const struct kind *kind = station->kind;
    struct counts counts = {0};

    if (kind->stays
        || (!rota_is_shutdown(station->executor) && test_random_below(random, 2) == 0)) {
        rest(station);
        check(station);
    }
    if (!kind->stays)
        close_somehow(station, random);
    if (kind->outlived)
        rest(station);
    for (size_t i = 0; i < station_used(station); i++)
        item_settle(&station->items[i], &counts);
    add_up(&counts);
}
