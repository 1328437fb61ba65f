/* SPDX-License-Identifier: MIT */
/* 21_delayed_order.c - timers: by time, not by order; cancelled at once; handed back at the end */
#include <rota/rota.h>
#include <stdio.h>

enum { FEW = 5, MANY = 1000 };

static int heard[MANY], count; /* one thread at a time: no lock needed */

static void *remind(void *number)
{
    heard[count++] = *(int *)number;
    return number;
}

static void *wait_for(void *gate)
{
    return rota_future_get(gate, NULL) == ROTA_OK ? gate : NULL;
}

/* The later it is submitted, the earlier it is due. */
static bool by_time(void)
{
    int numbers[FEW] = {5, 4, 3, 2, 1};
    rota_executor *sched;
    rota_future *gate;

    if (rota_promise_new(&gate) != ROTA_OK || rota_scheduled_pool(1, &sched) != ROTA_OK
        || rota_execute(sched, wait_for, gate) != ROTA_OK) /* the thread, until all are there */
        return false;
    rota_ns start = rota_now();
    for (int i = 0; i < FEW; i++) {
        rota_ns delay = start + ROTA_MS(10) * numbers[i] - rota_now();
        if (rota_schedule(sched, remind, &numbers[i], delay, NULL) != ROTA_OK)
            return false;
    }
    bool in_time = rota_now() < start + ROTA_MS(10); /* this thread was not held up */
    rota_promise_complete(gate, NULL);
    if (rota_close(sched) != ROTA_OK) /* waits for what is not due yet */
        return false;
    rota_future_unref(gate);
    for (int i = 0; i < FEW; i++)
        printf("  reminder %d, after %d ms\n", i + 1, 10 * heard[i]);
    return count == FEW && (!in_time || (heard[0] == 1 && heard[FEW - 1] == FEW));
}

/* What is cancelled leaves the queue at once, and what is left at the end is not lost. */
static bool handed_back(void)
{
    static rota_future *futures[MANY];
    rota_executor *sched;
    rota_pool_stats stats;
    rota_task_list left;

    if (rota_scheduled_pool(1, &sched) != ROTA_OK)
        return false;
    for (int i = 0; i < MANY; i++) {
        if (rota_schedule(sched, remind, &count, ROTA_HOURS(1 + i % 7), &futures[i]) != ROTA_OK)
            return false;
    }
    for (int i = 0; i < MANY; i++) {
        if (i % 4 == 0)
            rota_future_cancel(futures[i]);
        rota_future_unref(futures[i]);
    }
    if (rota_pool_stats_get(sched, &stats) != ROTA_OK || rota_shutdown_now(sched, &left) != ROTA_OK)
        return false;
    printf("  %d set for later, %zu left, all of them run now instead\n", MANY, stats.queued);
    count = 0;
    for (size_t i = 0; i < left.count; i++)
        rota_task_run(left.tasks[i]); /* or rota_task_discard: each must meet one of them */
    rota_task_list_free(&left);
    return rota_close(sched) == ROTA_OK && count == MANY - MANY / 4
           && stats.queued == (size_t)count;
}

int main(void)
{
    return by_time() && handed_back() ? 0 : 1;
}
