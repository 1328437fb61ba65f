/* SPDX-License-Identifier: MIT */
#include "sweep.h"

static int fixed(void)
{
    return rota_fixed_pool(2, &given.executor);
}

static int single(void)
{
    return rota_single_thread(&given.executor);
}

static int cached(void)
{
    return rota_cached_pool(&given.executor);
}

static int scheduled(void)
{
    return rota_scheduled_pool(2, &given.executor);
}

static int single_scheduled(void)
{
    return rota_single_scheduled(&given.executor);
}

static int work_stealing(void)
{
    return rota_work_stealing_pool(2, &given.executor);
}

static int thread_per_task(void)
{
    return rota_thread_per_task(&(rota_threads){.name = "one"}, &given.executor);
}

static void it_works(void)
{
    atomic_uint runs = 0;

    test_check(rota_execute(given.executor, test_count, &runs) == ROTA_OK);
    test_check(rota_close(given.executor) == ROTA_OK);
    test_check(runs == 1);
}

static const sweep_row rows[] = {
    {"rota_fixed_pool", sweep_nowhere, fixed, it_works, SWEEP_NEEDS_MEMORY},
    {"rota_single_thread", sweep_nowhere, single, it_works, SWEEP_NEEDS_MEMORY},
    {"rota_cached_pool", sweep_nowhere, cached, it_works, SWEEP_NEEDS_MEMORY},
    {"rota_scheduled_pool", sweep_nowhere, scheduled, it_works, SWEEP_NEEDS_MEMORY},
    {"rota_single_scheduled", sweep_nowhere, single_scheduled, it_works, SWEEP_NEEDS_MEMORY},
    {"rota_work_stealing_pool", sweep_nowhere, work_stealing, it_works, SWEEP_NEEDS_MEMORY},
    {"rota_thread_per_task", sweep_nowhere, thread_per_task, it_works, SWEEP_NEEDS_MEMORY},
};
SWEEP_PART(sweep_factory, rows);
