/* SPDX-License-Identifier: MIT */
/* 04_event_loop.c - futures beside sockets and timers, in the loop that a program has anyway */
#include <poll.h>
#include <rota/rota.h>
#include <stdio.h>

static void *work(void *arg)
{
    rota_ns *duration = arg;

    return rota_sleep(*duration) == ROTA_OK ? arg : NULL;
}

int main(void)
{
    enum { JOBS = 3 };
    static rota_ns durations[JOBS] = {ROTA_MS(30), ROTA_MS(10), ROTA_MS(20)};
    struct pollfd fds[JOBS];
    rota_future *futures[JOBS];
    rota_executor *executor;
    int left = JOBS;

    if (rota_fixed_pool(3, &executor) != ROTA_OK)
        return 1;
    for (int i = 0; i < JOBS; i++) {
        fds[i] = (struct pollfd){.events = POLLIN};
        if (rota_submit(executor, work, &durations[i], &futures[i]) != ROTA_OK
            || rota_future_fd(futures[i], &fds[i].fd) != ROTA_OK)
            return 1;
    }
    while (left > 0) {
        if (poll(fds, JOBS, -1) < 0)
            return 1;
        for (int i = 0; i < JOBS; i++) {
            if (!(fds[i].revents & POLLIN))
                continue;
            printf("  the loop hears of job %d\n", i);
            fds[i].fd = -1;                /* out of the loop first, */
            rota_future_unref(futures[i]); /* as the descriptor goes with the future */
            left--;
        }
    }
    return rota_close(executor) == ROTA_OK ? 0 : 1;
}
