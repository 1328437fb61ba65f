/* SPDX-License-Identifier: MIT */
/* libev.c - libev's ev_timer */
#include "peer.h"

#include <bench/driver.h>
#include <ev.h>

struct timers {
    struct ev_loop *loop;
    ev_timer end; /* of peer_run */
    ev_timer all[];
};

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

static void run(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct timers *timers = ev_userdata(loop);

    (void)events;
    timer_ran((size_t)(timer - timers->all));
}

static void stop(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

void *peer_make(const char *kind, unsigned workers, size_t most)
{
    struct timers *timers = calloc(1, sizeof *timers + most * sizeof timers->all[0]);

    (void)kind;
    (void)workers;
    if (timers == NULL)
        abort();
    timers->loop = ev_loop_new(EVFLAG_AUTO);
    if (timers->loop == NULL)
        abort();
    ev_set_userdata(timers->loop, timers);
    return timers;
}

void peer_free(void *arg)
{
    struct timers *timers = arg;

    ev_loop_destroy(timers->loop);
    free(timers);
}

static void start(struct ev_loop *loop, ev_timer *timer,
                  void (*call)(struct ev_loop *, ev_timer *, int), uint64_t delay)
{
    timer->cb = call;
    timer->at = seconds(delay);
    timer->repeat = 0;
    ev_timer_start(loop, timer);
}

void peer_schedule(void *arg, size_t id, uint64_t delay)
{
    struct timers *timers = arg;

    start(timers->loop, &timers->all[id], run, delay);
}

void peer_again(void *arg, size_t id, uint64_t delay)
{
    struct timers *timers = arg;

    ev_now_update(timers->loop);
    peer_schedule(timers, id, delay);
}

void peer_cancel(void *arg, size_t id)
{
    struct timers *timers = arg;

    ev_timer_stop(timers->loop, &timers->all[id]);
}

void peer_turn(void *arg)
{
    struct timers *timers = arg;

    ev_now_update(timers->loop);
    ev_run(timers->loop, EVRUN_NOWAIT);
}

uint64_t peer_run(void *arg, uint64_t until)
{
    struct timers *timers = arg;
    uint64_t time = now(CLOCK_MONOTONIC);

    ev_now_update(timers->loop);
    start(timers->loop, &timers->end, stop, until > time ? until - time : 0);
    ev_run(timers->loop, 0);
    return 0;
}
