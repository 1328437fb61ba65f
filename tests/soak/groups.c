/* SPDX-License-Identifier: MIT */
/*
 * groups.c - several tasks at once: invoke_all, invoke_any, completions.
 */
#include "soak.h"

enum { MOST = 12 };

struct group {
    size_t count;
    struct item *items[MOST];
    rota_call calls[MOST];
};

/* All of them are as if accepted: they run, or are discarded, also if the executor refuses. */
static void gather(struct group *group, struct station *station, test_random *random)
{
    size_t wanted = 1 + test_random_below(random, MOST);

    for (group->count = 0; group->count < wanted; group->count++) {
        struct item *item = station_item(station, random);
        if (item == NULL)
            return;
        atomic_store(&item->is_disturbed, true); /* the slow ones will be cancelled */
        atomic_store(&item->offer, ACCEPTED);
        group->items[group->count] = item;
        group->calls[group->count] = item_call(item);
    }
}

static rota_ns any_timeout(test_random *random)
{
    if (test_random_below(random, 2) == 0)
        return ROTA_FOREVER;
    return (rota_ns)test_random_below(random, ROTA_US(200));
}

static void invoke_all(struct station *station, test_random *random)
{
    rota_future *futures[MOST];
    struct group group;

    gather(&group, station, random);
    int status =
        rota_invoke_all(station->executor, group.calls, group.count, any_timeout(random), futures);
    test_check(status == ROTA_OK || status == ROTA_ETIMEDOUT || status == ROTA_EREJECTED
               || status == ROTA_EINTERRUPTED);
    if (status != ROTA_OK && status != ROTA_ETIMEDOUT)
        return;
    for (size_t i = 0; i < group.count; i++) {
        test_check(rota_future_is_done(futures[i]));
        atomic_store(&group.items[i]->future, futures[i]);
    }
}

static void invoke_any(struct station *station, test_random *random)
{
    rota_future *first = NULL;
    struct group group;

    gather(&group, station, random);
    if (group.count == 0)
        return;
    int status =
        rota_invoke_any(station->executor, group.calls, group.count, any_timeout(random), &first);
    test_check((status == ROTA_OK || status == ROTA_EFAILED) == (first != NULL));
    test_check(first == NULL || rota_future_get_timed(first, 0, NULL) == status);
    rota_future_unref(first);
}

/* -- Completions -------------------------------------------------------------------------- */

static size_t submit(rota_completion *completion, const struct group *group)
{
    size_t accepted = 0;

    for (size_t i = 0; i < group->count; i++) {
        rota_future *future = NULL;
        int status = rota_completion_submit(completion, &group->calls[i], &future);
        accepted += station_noted(group->items[i], status);
        atomic_store(&group->items[i]->future, future);
    }
    return accepted;
}

static bool take_one(rota_completion *completion, bool waits)
{
    rota_future *done = NULL;
    int status = waits ? rota_completion_take(completion, &done)
                       : rota_completion_poll_timed(completion, ROTA_US(30), &done);

    test_check((status == ROTA_OK) == (done != NULL));
    test_check(done == NULL || rota_future_is_done(done));
    rota_future_unref(done);
    return done != NULL;
}

/* Some are left behind in it at times. */
static void complete(struct station *station, test_random *random)
{
    bool waits = test_random_below(random, 2) == 0;
    rota_completion *completion = NULL;
    struct group group;

    gather(&group, station, random);
    test_check(rota_completion_new(station->executor, &completion) == ROTA_OK);
    size_t left = submit(completion, &group);
    for (size_t tries = 2 * left; left > 0 && (waits || tries > 0); tries--)
        left -= take_one(completion, waits);
    if (left == 0)
        test_check(rota_completion_poll(completion, &(rota_future *){NULL}) == ROTA_EEMPTY);
    rota_completion_free(completion);
}

void group_move(struct station *station, test_random *random)
{
    switch (test_random_below(random, 3)) {
    case 0:
        invoke_all(station, random);
        break;
    case 1:
        invoke_any(station, random);
        break;
    default:
        complete(station, random);
    }
}
