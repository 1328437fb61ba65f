/* SPDX-License-Identifier: MIT */
/* 27_glib.c - work on a pool, results in a GLib main loop, which ticks meanwhile */
#include <glib-unix.h>
#include <rota/rota.h>
#include <stdio.h>

enum { JOBS = 5, TICKS = 3 };

static rota_future *disk; /* what the jobs wait for: it comes with the last tick */
static GMainLoop *loop;
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
static gboolean on_tick(gpointer data)
{
    (void)data;
    printf("  tick\n");
    if (++ticks == TICKS)
        rota_promise_complete(disk, NULL);
    return G_SOURCE_CONTINUE;
}

/* In the loop: at least one is done. */
static gboolean on_results(gint fd, GIOCondition condition, gpointer done)
{
    rota_future *future;
    void *number;

    (void)fd, (void)condition;
    while (rota_completion_poll(done, &future) == ROTA_OK) {
        if (rota_future_get(future, &number) == ROTA_OK)
            sum += *(long *)number;
        rota_future_unref(future);
        left--;
    }
    if (left > 0)
        return G_SOURCE_CONTINUE;
    g_main_loop_quit(loop);
    return G_SOURCE_REMOVE; /* and with it the descriptor, out of the loop */
}

int main(void)
{
    long numbers[JOBS] = {1, 2, 3, 4, 5};
    rota_executor *pool;
    rota_completion *done;
    int fd;

    if (rota_promise_new(&disk) != ROTA_OK || rota_fixed_pool(2, &pool) != ROTA_OK
        || rota_completion_new(pool, &done) != ROTA_OK || rota_completion_fd(done, &fd) != ROTA_OK)
        return 1;
    for (int i = 0; i < JOBS; i++) {
        rota_call call = {.fn = square, .arg = &numbers[i]};
        if (rota_completion_submit(done, &call, NULL) != ROTA_OK)
            return 1;
    }
    loop = g_main_loop_new(NULL, FALSE);
    g_unix_fd_add(fd, G_IO_IN, on_results, done);
    guint timer = g_timeout_add(5, on_tick, NULL);
    g_main_loop_run(loop);
    printf("  %d jobs, the sum of their squares is %ld\n", JOBS, sum);
    g_source_remove(timer);
    g_main_loop_unref(loop);
    rota_completion_free(done);
    rota_future_unref(disk);
    return rota_close(pool) == ROTA_OK && sum == 55 ? 0 : 1;
}
