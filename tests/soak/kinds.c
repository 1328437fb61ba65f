/* SPDX-License-Identifier: MIT */
/*
 * kinds.c - every kind of executor that there is.
 */
#include "executors.h"
#include "soak.h"

/* -- Fork/join ---------------------------------------------------------------------------- */

static rota_executor *trees_make(struct station *station, test_random *random)
{
    bool is_narrow = test_random_below(random, 2) == 0;
    rota_executor *pool = test_wood_pool(random, is_narrow);

    test_wood_begin(&station->wood, pool, rota_common_pool(), is_narrow);
    return pool;
}

static void compute(rota_executor *pool)
{
    test_fib_task fib = {ROTA_FJ(test_fib), 15, 0};
    int status = rota_invoke(pool, &fib.task);

    test_check(status == ROTA_EREJECTED || (status == ROTA_OK && fib.value == 610));
    if (status == ROTA_OK)
        atomic_fetch_add(&all.forks, 986); /* fib(16) - 1 */
}

static void count_each(size_t begin, size_t end, void *ctx)
{
    atomic_fetch_add((atomic_size_t *)ctx, end - begin);
}

static void loop(rota_executor *pool, test_random *random)
{
    size_t n = test_random_below(random, 10000);
    atomic_size_t counter = 0;
    int status =
        rota_parallel_for(pool, 0, n, 1 + test_random_below(random, 500), count_each, &counter);

    test_check(status == ROTA_OK || rota_is_shutdown(pool));
    test_check(status == ROTA_OK ? atomic_load(&counter) == n : atomic_load(&counter) <= n);
}

static void trees_move(struct station *station, test_random *random)
{
    switch (test_random_below(random, 4)) {
    case 0:
        loop(station->executor, random);
        break;
    case 1:
        test_wood_submit_and_get(&station->wood);
        break;
    case 2:
        if (station->kind->stays) /* others may be stopped in the middle of it */
            compute(station->executor);
        break;
    default:
        test_wood_invoke(station->executor, &station->wood, random, 4);
    }
}

static void trees_check(struct station *station)
{
    if (!rota_is_terminated(station->executor))
        return;
    test_wood_end(&station->wood);
    test_check(test_fj_stats(station->executor).threads == 0);
    atomic_fetch_add(&all.forks, atomic_load(&station->wood.begun));
}

/* For tasks that no one joins, which may end their threads. */
static rota_executor *stealing_make(struct station *station, test_random *random)
{
    return test_forkjoin((rota_forkjoin_options){
        .parallelism = 1 + (unsigned)test_random_below(random, 3),
        .keep_alive = test_random_below(random, 2) == 0 ? 1 : 0,
        .fifo = test_random_below(random, 2) == 0,
        .threads = station_threads(station),
        .hooks = station_hooks(station),
    });
}

static rota_executor *common_make(struct station *station, test_random *random)
{
    test_wood_begin(&station->wood, rota_common_pool(), rota_common_pool(), false);
    return rota_common_pool();
}

/* -- Others ------------------------------------------------------------------------------- */

static rota_executor *ready_made(struct station *station, test_random *random)
{
    rota_executor *made = NULL;
    int status;

    switch (test_random_below(random, 4)) {
    case 0:
        status = rota_fixed_pool(2, &made);
        break;
    case 1:
        status = rota_single_thread(&made);
        break;
    case 2:
        status = rota_work_stealing_pool(2, &made);
        break;
    default:
        status = rota_single_scheduled(&made);
    }
    test_check(status == ROTA_OK);
    return made;
}

/* A thread for each task, or nearly so: few of them at a time. */
static rota_executor *many_threads(struct station *station, test_random *random)
{
    rota_executor *made = NULL;
    bool is_cached = test_random_below(random, 2) == 0;

    station->room = 300;
    test_check((is_cached ? rota_cached_pool(&made) : rota_thread_per_task(NULL, &made))
               == ROTA_OK);
    return made;
}

static rota_executor *custom(struct station *station, test_random *random)
{
    rota_executor *made = NULL;
    bool is_direct = test_random_below(random, 2) == 0;

    station->room = 2000;
    test_check((is_direct ? test_executor_direct(&made) : test_executor_threads(2, &made))
               == ROTA_OK);
    return made;
}

static rota_executor *delayed(struct station *station, test_random *random)
{
    rota_executor *made = NULL;
    rota_ns delay = (rota_ns)test_random_below(random, ROTA_US(100));

    station->room = 1000;
    test_check(rota_delayed(rota_common_pool(), delay, &made) == ROTA_OK);
    return made;
}

/* -- All ---------------------------------------------------------------------------------- */

static const struct kind kinds[] = {
    {.name = "pool",
     .make = plain_make,
     .move = plain_move,
     .check = plain_check,
     .helps = true,
     .tears = true},
    {.name = "scheduled",
     .make = timed_make,
     .move = timed_move,
     .release = timed_release,
     .check = timed_check,
     .repeats = true,
     .helps = true,
     .tears = true},
    {.name = "fork/join",
     .make = trees_make,
     .move = trees_move,
     .check = trees_check,
     .helps = true},
    {.name = "stealing", .make = stealing_make, .helps = true},
    {.name = "ready-made", .make = ready_made, .helps = true},
    {.name = "many threads", .make = many_threads, .helps = true},
    {.name = "custom", .make = custom},
    {.name = "delayed", .make = delayed, .outlived = true},
};

const struct kind common_kind = {
    .name = "common", .make = common_make, .move = trees_move, .helps = true, .stays = true};

const struct kind *any_kind(test_random *random)
{
    static const uint8_t chances[] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7};

    return &kinds[chances[test_random_below(random, sizeof chances)]];
}
