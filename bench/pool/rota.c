/* SPDX-License-Identifier: MIT */
/* rota.c - rota's thread pool on a queue: linked, array; counted is linked and counts its bytes */
#include "peer.h"

#include <bench/counted.h>
#include <rota/pool.h>
#include <string.h>

static int make_queue(const char *kind, size_t capacity, rota_queue **queue)
{
    if (strcmp(kind, "array") == 0)
        return rota_array_queue(capacity, queue);
    if (strcmp(kind, "linked") == 0 || strcmp(kind, "counted") == 0)
        return rota_linked_queue(capacity, queue);
    return ROTA_EINVAL;
}

void *peer_make(const char *kind, unsigned threads, size_t capacity)
{
    rota_pool_options options = {.core_threads = threads, .on_reject = rota_reject_block};
    rota_executor *pool;
    unsigned started;

    if (strcmp(kind, "counted") == 0)
        count_bytes();
    if (make_queue(kind, capacity, &options.queue) != ROTA_OK)
        return NULL;
    if (rota_pool_new(&options, &pool) != ROTA_OK || rota_pool_prestart(pool, &started) != ROTA_OK)
        abort();
    return pool;
}

size_t peer_bytes(void)
{
    return atomic_load(&counted_bytes);
}

void peer_free(void *pool)
{
    if (rota_close(pool) != ROTA_OK)
        abort();
}

void peer_execute(void *pool, task *run, void *arg)
{
    if (rota_execute(pool, run, arg) != ROTA_OK)
        abort();
}

void *peer_submit(void *pool, task *run, void *arg)
{
    rota_future *future;

    if (rota_submit(pool, run, arg, &future) != ROTA_OK)
        abort();
    return future;
}

void *peer_get(void *pool, void *future)
{
    void *result;

    (void)pool;
    if (rota_future_get(future, &result) != ROTA_OK)
        abort();
    rota_future_unref(future);
    return result;
}
