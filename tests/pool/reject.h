/* SPDX-License-Identifier: MIT */
/*
 * reject.h - a pool that has no room, and what its hooks are told.
 */
#ifndef ROTA_TEST_REJECT_H
#define ROTA_TEST_REJECT_H

#include "pools.h"
#include "queues.h"

/* -- A saturated pool --------------------------------------------------------------------- */

/* One thread, which is busy, and a queue with room for one task, which is there. */
struct full {
    rota_executor *pool;
    test_gate gate;
    test_probe queued, rejected;
    rota_future *of_queued;
};

static inline void full_init(struct full *full, rota_pool_options options)
{
    *full = (struct full){.pool = NULL};
    options.core_threads = 1;
    if (options.queue == NULL)
        options.queue = test_array(1);
    full->pool = test_pool(options);
    test_gate_init(&full->gate);
    test_occupy(full->pool, &full->gate, 1);
    rota_call call = test_probe_call(&full->queued);
    if (rota_queue_room(rota_pool_queue(full->pool)) > 0)
        assert_ok(rota_submit_call(full->pool, &call, &full->of_queued));
}

static inline int submit(struct full *full, rota_future **out)
{
    rota_call call = test_probe_call(&full->rejected);

    return rota_submit_call(full->pool, &call, out);
}

static inline void full_close(struct full *full)
{
    test_gate_open(&full->gate);
    assert_ok(rota_close(full->pool));
    rota_future_unref(full->of_queued);
}

/* -- Hooks ------------------------------------------------------------------------------- */

struct heard {
    atomic_uint before, after, unobserved;
    pthread_t thread;
    int error;
};

static inline void hear_before(rota_executor *ex, rota_task *task, void *ctx)
{
    atomic_fetch_add(&((struct heard *)ctx)->before, 1);
}

static inline void hear_after(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    atomic_fetch_add(&((struct heard *)ctx)->after, 1);
}

static inline void hear_unobserved(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    struct heard *heard = ctx;

    heard->thread = pthread_self();
    heard->error = error;
    atomic_fetch_add(&heard->unobserved, 1);
}

static inline rota_hooks hear(struct heard *heard)
{
    return (rota_hooks){hear_before, hear_after, hear_unobserved, NULL, heard};
}

#endif
