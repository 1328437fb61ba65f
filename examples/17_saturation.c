/* SPDX-License-Identifier: MIT */
/* 17_saturation.c - how a pool fills: core threads, then the queue, then more threads, then no */
#include <rota/rota.h>
#include <stdatomic.h>
#include <stdio.h>

enum { CORE = 2, ROOM = 3, MOST = 4, TASKS = MOST + ROOM };

static atomic_int gone;

static void *wait_for(void *gate)
{
    return rota_future_get(gate, NULL) == ROTA_OK ? gate : NULL;
}

/* A rejection handler of one's own: on the thread that submits, which is told what it returns. */
static int say_no(rota_executor *pool, rota_task *task, void *ctx)
{
    int *refused = ctx;

    (void)pool;
    (void)task; /* not taken over: it stays the submitter's */
    ++*refused;
    return ROTA_EREJECTED;
}

/* A thread above CORE that has had nothing to do for keep_alive goes. */
static void on_exit_of_one(void *smaller)
{
    if (atomic_fetch_add(&gone, 1) == MOST - CORE - 1)
        rota_promise_complete(smaller, NULL);
}

int main(void)
{
    static const unsigned threads[TASKS] = {1, 2, 2, 2, 2, 3, 4};
    static const size_t queued[TASKS] = {0, 0, 1, 2, 3, 3, 3};
    int refused = 0, right = 0;
    rota_pool_stats stats;
    rota_executor *pool;
    rota_future *gate, *smaller;

    if (rota_promise_new(&gate) != ROTA_OK || rota_promise_new(&smaller) != ROTA_OK)
        return 1;
    rota_pool_options options = {.core_threads = CORE,
                                 .max_threads = MOST,
                                 .keep_alive = ROTA_MS(5),
                                 .on_reject = say_no,
                                 .reject_ctx = &refused,
                                 .threads = {.on_exit = on_exit_of_one, .ctx = smaller}};
    if (rota_array_queue(ROOM, &options.queue) != ROTA_OK
        || rota_pool_new(&options, &pool) != ROTA_OK)
        return 1;
    for (int i = 0; i < TASKS; i++) {
        if (rota_execute(pool, wait_for, gate) != ROTA_OK
            || rota_pool_stats_get(pool, &stats) != ROTA_OK)
            return 1;
        printf("  task %d: %u threads, %zu queued\n", i + 1, stats.threads, stats.queued);
        right += stats.threads == threads[i] && stats.queued == queued[i];
    }
    int status = rota_execute(pool, wait_for, gate);
    printf("  task %d: %s\n", TASKS + 1, rota_strerror(status));

    rota_promise_complete(gate, NULL);
    if (rota_future_get(smaller, NULL) != ROTA_OK)
        return 1;
    printf("  all have run, and %d threads have gone\n", MOST - CORE);
    if (rota_close(pool) != ROTA_OK)
        return 1;
    rota_future_unref(gate);
    rota_future_unref(smaller);
    return right == TASKS && status == ROTA_EREJECTED && refused == 1 ? 0 : 1;
}
