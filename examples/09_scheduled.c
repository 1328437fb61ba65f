/* SPDX-License-Identifier: MIT */
/* 09_scheduled.c - later, every so often, and never: a service with a heartbeat and a clean-up */
#include <rota/rota.h>
#include <stdatomic.h>
#include <stdio.h>

static rota_ns start;
static atomic_int beats, cleanings;

static void say(const char *what)
{
    printf("  %4lld ms  %s\n", (long long)((rota_now() - start) / ROTA_MS(1)), what);
}

static void *warm_up(void *arg)
{
    say("the cache is warm");
    return arg;
}

/* With a fixed delay: the next begins so long after this has ended; until one fails. */
static void *beat(void *arg)
{
    (void)arg;
    if (atomic_fetch_add(&beats, 1) == 4) {
        say("no answer to the fifth heartbeat");
        return rota_fail(503);
    }
    say("heartbeat");
    return NULL;
}

/* At a fixed rate, however long it takes; until it is cancelled. */
static void *clean_up(void *arg)
{
    atomic_fetch_add(&cleanings, 1);
    return arg;
}

static void *give_up(void *arg)
{
    say("too late: given up"); /* this does not happen: the answer comes first */
    return arg;
}

int main(void)
{
    rota_executor *sched;
    rota_future *heart, *cleaner, *limit;

    if (rota_scheduled_pool(2, &sched) != ROTA_OK)
        return 1;
    start = rota_now();
    if (rota_schedule(sched, warm_up, NULL, ROTA_MS(25), NULL) != ROTA_OK
        || rota_schedule(sched, give_up, NULL, ROTA_SEC(60), &limit) != ROTA_OK
        || rota_schedule_at_fixed_rate(sched, clean_up, NULL, 0, ROTA_MS(5), &cleaner) != ROTA_OK
        || rota_schedule_with_fixed_delay(sched, beat, NULL, 0, ROTA_MS(20), &heart) != ROTA_OK)
        return 1;
    int status = rota_future_get(heart, NULL); /* a periodic task is done when a run fails */
    printf("           the heart has stopped: %s, code %d\n", rota_strerror(status),
           rota_future_error(heart));
    rota_future_cancel(cleaner);
    rota_future_cancel(limit); /* it leaves the queue at once, so that close need not wait for it */
    rota_future_unref(heart);
    rota_future_unref(cleaner);
    rota_future_unref(limit);
    if (rota_close(sched) != ROTA_OK)
        return 1;
    printf("           cleaned up %d times meanwhile\n", atomic_load(&cleanings));
    return status == ROTA_EFAILED && atomic_load(&beats) == 5 && atomic_load(&cleanings) > 0 ? 0
                                                                                             : 1;
}
