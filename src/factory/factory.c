/* SPDX-License-Identifier: MIT */
/*
 * factory.c - ready-made executors: pools with fixed options.
 */
#include "pool/pool_internal.h"

#include <rota/factory.h>

int rota_fixed_pool(unsigned threads, rota_executor **out)
{
    return rota_pool_new(&(rota_pool_options){.core_threads = threads}, out);
}

int rota_single_thread(rota_executor **out)
{
    int status = rota_fixed_pool(1, out);

    if (status == ROTA_OK)
        rota__pool_freeze(*out);
    return status;
}

/* Creates a pool with a hand-off queue. If there is no pool, the queue is freed. */
static int pool_with_handoff(rota_pool_options *options, rota_executor **out)
{
    int status = rota_handoff_queue(&options->queue);

    if (status != ROTA_OK)
        return status;
    status = rota_pool_new(options, out);
    if (status != ROTA_OK)
        rota_queue_free(options->queue);
    return status;
}

int rota_cached_pool(rota_executor **out)
{
    rota_pool_options options = {.max_threads = ROTA__MOST_WORKERS};

    return out != NULL ? pool_with_handoff(&options, out) : ROTA_EINVAL;
}

int rota_scheduled_pool(unsigned core_threads, rota_executor **out)
{
    return rota_sched_new(&(rota_sched_options){.core_threads = core_threads}, out);
}

int rota_single_scheduled(rota_executor **out)
{
    int status = rota_scheduled_pool(1, out);

    if (status == ROTA_OK)
        rota__pool_freeze(*out);
    return status;
}

int rota_work_stealing_pool(unsigned parallelism, rota_executor **out)
{
    return rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = parallelism, .fifo = true},
                             out);
}

/* keep_alive is 1, so a thread ends after its task instead of waiting for another. */
int rota_thread_per_task(const rota_threads *threads, rota_executor **out)
{
    rota_pool_options options = {.max_threads = ROTA__MOST_WORKERS, .keep_alive = 1};

    if (out == NULL)
        return ROTA_EINVAL;
    if (threads != NULL)
        options.threads = *threads;
    return pool_with_handoff(&options, out);
}
