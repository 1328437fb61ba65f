/* SPDX-License-Identifier: MIT */
/*
 * 15_requests.c - many requests, few threads: each asks for a part of its answer in the same pool
 *
 * A task that waits for another one of its own pool is no deadlock, not even with one thread: if
 * nobody has begun it, the one who waits runs it.
 */
#include <rota/rota.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 4, REQUESTS = 2000 };

typedef struct request {
    long user;
    long balance;
} request;

static rota_executor *pool;
static atomic_int queries;

static void *query(void *arg)
{
    request *mine = arg;

    mine->balance = mine->user * 2;
    atomic_fetch_add(&queries, 1);
    return mine;
}

static void *handle(void *arg)
{
    rota_future *part;

    int status = rota_submit(pool, query, arg, &part);
    if (status != ROTA_OK)
        return rota_fail(status);
    status = rota_future_get(part, NULL);
    rota_future_unref(part);
    return status == ROTA_OK ? arg : rota_fail(status);
}

int main(void)
{
    static request requests[REQUESTS];
    static rota_future *futures[REQUESTS];
    rota_pool_stats stats;
    int right = 0;

    if (rota_fixed_pool(THREADS, &pool) != ROTA_OK)
        return 1;
    for (int i = 0; i < REQUESTS; i++) {
        requests[i].user = i;
        if (rota_submit(pool, handle, &requests[i], &futures[i]) != ROTA_OK)
            return 1;
    }
    for (int i = 0; i < REQUESTS; i++) {
        void *answer;
        if (rota_future_get(futures[i], &answer) == ROTA_OK)
            right += ((request *)answer)->balance == 2L * i;
        rota_future_unref(futures[i]);
    }
    if (rota_pool_stats_get(pool, &stats) != ROTA_OK || rota_close(pool) != ROTA_OK)
        return 1;
    printf("  %d of %d requests answered, with %d queries, by %u threads\n", right, REQUESTS,
           atomic_load(&queries), stats.largest);
    return right == REQUESTS && atomic_load(&queries) == REQUESTS && stats.largest <= THREADS ? 0
                                                                                              : 1;
}
