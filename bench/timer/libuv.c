/* SPDX-License-Identifier: MIT */
/* libuv.c - libuv's uv_timer_t, whose time is in ms */
#include "peer.h"

#include <bench/driver.h>
#include <uv.h>

struct timers {
    uv_loop_t loop;
    uv_timer_t end; /* of peer_run */
    size_t most;
    uv_timer_t all[];
};

static void run(uv_timer_t *timer)
{
    struct timers *timers = timer->loop->data;

    timer_ran((size_t)(timer - timers->all));
}

static void stop(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

/* Never too early. */
static uint64_t to_ms(uint64_t ns)
{
    return (ns + MS - 1) / MS;
}

void *peer_make(const char *kind, unsigned workers, size_t most)
{
    struct timers *timers = calloc(1, sizeof *timers + most * sizeof timers->all[0]);

    (void)kind;
    (void)workers;
    if (timers == NULL || uv_loop_init(&timers->loop) != 0)
        abort();
    timers->loop.data = timers;
    timers->most = most;
    uv_timer_init(&timers->loop, &timers->end);
    return timers;
}

static void close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    uv_close(handle, NULL);
}

void peer_free(void *arg)
{
    struct timers *timers = arg;

    uv_walk(&timers->loop, close_handle, NULL);
    uv_run(&timers->loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&timers->loop) != 0)
        abort();
    free(timers);
}

void peer_schedule(void *arg, size_t id, uint64_t delay)
{
    struct timers *timers = arg;
    uv_timer_t *timer = &timers->all[id];

    if (timer->loop == NULL)
        uv_timer_init(&timers->loop, timer);
    uv_timer_start(timer, run, to_ms(delay), 0);
}

void peer_again(void *arg, size_t id, uint64_t delay)
{
    struct timers *timers = arg;

    uv_update_time(&timers->loop);
    peer_schedule(timers, id, delay);
}

void peer_cancel(void *arg, size_t id)
{
    struct timers *timers = arg;

    uv_timer_stop(&timers->all[id]);
}

void peer_turn(void *arg)
{
    struct timers *timers = arg;

    uv_update_time(&timers->loop);
    uv_run(&timers->loop, UV_RUN_NOWAIT);
}

uint64_t peer_run(void *arg, uint64_t until)
{
    struct timers *timers = arg;
    uint64_t time = now(CLOCK_MONOTONIC);

    uv_update_time(&timers->loop);
    uv_timer_start(&timers->end, stop, until > time ? to_ms(until - time) : 0, 0);
    uv_run(&timers->loop, UV_RUN_DEFAULT);
    return 0;
}
