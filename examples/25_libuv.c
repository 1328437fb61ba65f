/* SPDX-License-Identifier: MIT */
/* 25_libuv.c - work on a pool, results in a libuv loop, which ticks meanwhile */
#include <rota/rota.h>
#include <stdio.h>
#include <uv.h>

enum { JOBS = 5, TICKS = 3 };

static rota_completion *done;
static rota_future *disk; /* what the jobs wait for: it comes with the last tick */
static uv_timer_t timer;
static uv_poll_t results;
static int ticks, left = JOBS;
static long sum;

/* On a thread of the pool: it may wait, and compute for long. */
static void *square(void *arg)
{
    long *number = arg;

    if (rota_future_get(disk, NULL) == ROTA_OK)
        *number *= *number;
    return number;
}

/* In the loop. */
static void on_tick(uv_timer_t *handle)
{
    (void)handle;
    printf("  tick\n");
    if (++ticks == TICKS)
        rota_promise_complete(disk, NULL);
}

/* In the loop: at least one is done. */
static void on_results(uv_poll_t *handle, int status, int events)
{
    rota_future *future;
    void *number;

    (void)handle, (void)status, (void)events;
    while (rota_completion_poll(done, &future) == ROTA_OK) {
        if (rota_future_get(future, &number) == ROTA_OK)
            sum += *(long *)number;
        rota_future_unref(future);
        left--;
    }
    if (left == 0) { /* nothing more to watch: uv_run returns */
        uv_close((uv_handle_t *)&timer, NULL);
        uv_close((uv_handle_t *)&results, NULL);
    }
}

int main(void)
{
    long numbers[JOBS] = {1, 2, 3, 4, 5};
    uv_loop_t *loop = uv_default_loop();
    rota_executor *pool;
    int fd;

    if (rota_promise_new(&disk) != ROTA_OK || rota_fixed_pool(2, &pool) != ROTA_OK
        || rota_completion_new(pool, &done) != ROTA_OK || rota_completion_fd(done, &fd) != ROTA_OK
        || uv_timer_init(loop, &timer) != 0 || uv_timer_start(&timer, on_tick, 5, 5) != 0
        || uv_poll_init(loop, &results, fd) != 0
        || uv_poll_start(&results, UV_READABLE, on_results) != 0)
        return 1;
    for (int i = 0; i < JOBS; i++) {
        rota_call call = {.fn = square, .arg = &numbers[i]};
        if (rota_completion_submit(done, &call, NULL) != ROTA_OK)
            return 1;
    }
    uv_run(loop, UV_RUN_DEFAULT);
    printf("  %d jobs, the sum of their squares is %ld\n", JOBS, sum);
    rota_completion_free(done); /* out of the loop by now, with its descriptor */
    rota_future_unref(disk);
    return uv_loop_close(loop) == 0 && rota_close(pool) == ROTA_OK && sum == 55 ? 0 : 1;
}
