/* SPDX-License-Identifier: MIT */
/* ROTA_TEST_PUBLIC */
/*
 * Puts every kind of executor through the contract that they share (EXEC-01).
 */
#include "executor_contract.h"

#include "executors.h"

static int make_one_thread(rota_executor **out)
{
    return test_executor_threads(1, out);
}

static int make_three_threads(rota_executor **out)
{
    return test_executor_threads(3, out);
}

static int make_fixed_pool(rota_executor **out)
{
    return rota_fixed_pool(2, out);
}

/* REJ-11: it has room for all that a test submits, and would wait for more. */
static int make_blocking_pool(rota_executor **out)
{
    rota_pool_options options = {
        .core_threads = 1, .max_threads = 3, .on_reject = rota_reject_block};
    int status = rota_array_queue(PROBES + MOST_THREADS, &options.queue);

    if (status != ROTA_OK)
        return status;
    status = rota_pool_new(&options, out);
    if (status != ROTA_OK)
        rota_queue_free(options.queue);
    return status;
}

static int make_thread_per_task(rota_executor **out)
{
    return rota_thread_per_task(NULL, out);
}

static int make_scheduled_core_0(rota_executor **out)
{
    return rota_scheduled_pool(0, out);
}

static int make_scheduled(rota_executor **out)
{
    return rota_scheduled_pool(2, out);
}

static int make_scheduled_keeping(rota_executor **out)
{
    return rota_sched_new(&(rota_sched_options){.core_threads = 2, .keep_cancelled = true}, out);
}

static int make_forkjoin(rota_executor **out)
{
    return rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 2}, out);
}

static int make_forkjoin_alone(rota_executor **out)
{
    return rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 1}, out);
}

static int make_work_stealing(rota_executor **out)
{
    return rota_work_stealing_pool(2, out);
}

static int leave_as_it_is(rota_task *task, void *ctx)
{
    return rota_task_call(task)->fn != NULL ? ROTA_OK : ROTA_EINVAL;
}

static int make_scheduled_decorated(rota_executor **out)
{
    return rota_sched_new(&(rota_sched_options){.core_threads = 2, .decorate = leave_as_it_is},
                          out);
}

/* FJ-24: it hands over nothing. */
#define FORKJOIN .stops = true, .knows_its_tasks = true, .stands_in = true
#define POOL     .stops = true, .hands_over = true, .replaces = true, .knows_its_tasks = true

const executor_kind executor_kinds[] = {
    {"direct", test_executor_direct, .knows_its_tasks = true},
    {"one thread", make_one_thread, .threads = 1, .replaces = true},
    {"three threads", make_three_threads, .threads = 3, .replaces = true},
    {"fixed pool", make_fixed_pool, .threads = 2, POOL},
    {"single thread", rota_single_thread, .threads = 1, POOL},
    {"cached pool", rota_cached_pool, .threads = 4, .grows = true, POOL},
    {"blocking pool", make_blocking_pool, .threads = 1, POOL},
    {"scheduled pool", make_scheduled, .threads = 2, POOL},
    {"scheduled pool, core 0", make_scheduled_core_0, .threads = 1, POOL},
    {"scheduled pool, keeping cancelled", make_scheduled_keeping, .threads = 2, POOL},
    {"scheduled pool, decorated", make_scheduled_decorated, .threads = 2, POOL},
    {"single scheduled", rota_single_scheduled, .threads = 1, POOL},
    {"fork/join pool", make_forkjoin, .threads = 2, FORKJOIN},
    {"fork/join pool, one worker", make_forkjoin_alone, .threads = 1, FORKJOIN},
    {"work-stealing pool", make_work_stealing, .threads = 2, FORKJOIN},
    {"thread per task", make_thread_per_task, .threads = 4, .grows = true, POOL},
    {.name = NULL},
};
