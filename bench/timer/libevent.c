/* SPDX-License-Identifier: MIT */
/* libevent.c - libevent's timers, as precise as they can be */
#include "peer.h"

#include <bench/driver.h>
#include <event2/event.h>
#include <event2/event_struct.h>

struct timers {
    struct event_base *base;
    struct event all[];
};

static struct timeval timeval_of(uint64_t ns)
{
    uint64_t us = (ns + US - 1) / US; /* never too early */

    return (struct timeval){(time_t)(us / MS), (suseconds_t)(us % MS)};
}

static void run(evutil_socket_t none, short what, void *id)
{
    (void)none;
    (void)what;
    timer_ran((size_t)(uintptr_t)id);
}

static struct event_base *make_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base;

    if (config == NULL || event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) != 0
        || event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME) != 0)
        abort();
    base = event_base_new_with_config(config);
    event_config_free(config);
    if (base == NULL)
        abort();
    return base;
}

void *peer_make(const char *kind, unsigned workers, size_t most)
{
    struct timers *timers = calloc(1, sizeof *timers + most * sizeof timers->all[0]);

    (void)kind;
    (void)workers;
    if (timers == NULL)
        abort();
    timers->base = make_base();
    return timers;
}

void peer_free(void *arg)
{
    struct timers *timers = arg;

    event_base_free(timers->base);
    free(timers);
}

void peer_schedule(void *arg, size_t id, uint64_t delay)
{
    struct timers *timers = arg;
    struct event *event = &timers->all[id];
    struct timeval time = timeval_of(delay);

    if (!event_initialized(event))
        evtimer_assign(event, timers->base, run, (void *)(uintptr_t)id);
    if (evtimer_add(event, &time) != 0)
        abort();
}

void peer_cancel(void *arg, size_t id)
{
    struct timers *timers = arg;

    evtimer_del(&timers->all[id]);
}

void peer_turn(void *arg)
{
    struct timers *timers = arg;

    event_base_loop(timers->base, EVLOOP_NONBLOCK);
}

uint64_t peer_run(void *arg, uint64_t until)
{
    struct timers *timers = arg;
    uint64_t time = now(CLOCK_MONOTONIC);
    struct timeval left = timeval_of(until > time ? until - time : 0);

    event_base_loopexit(timers->base, &left);
    event_base_dispatch(timers->base);
    return 0;
}
