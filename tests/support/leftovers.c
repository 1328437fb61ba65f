/* SPDX-License-Identifier: MIT */
/*
 * leftovers.c - ends what a test has left: threads that wait at latches, the library's timer, pools.
 */
#define _POSIX_C_SOURCE 200809L
#include "rota_test.h"

#include <sched.h>
#include <time.h>

enum { MOST_EXECUTORS = 64, SECONDS = 10 };

typedef struct executors {
    rota_executor *all[MOST_EXECUTORS];
    size_t count;
} executors;

static executors of_fixture; /* that the fixture has made, and will close */

/* NULL if the test does not use the timer. */
__attribute__((weak)) void rota__timer_end(rota_ns patience);

static bool add_executor(rota_executor *ex, void *list)
{
    executors *found = list;

    found->all[found->count++] = ex;
    return found->count < MOST_EXECUTORS;
}

static executors all_executors(void)
{
    executors found = {.count = 0};

    rota_executors_visit(add_executor, &found);
    return found;
}

static bool contains(const executors *list, const rota_executor *ex)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->all[i] == ex)
            return true;
    }
    return false;
}

static bool is_pool(rota_executor *ex)
{
    rota_pool_stats stats;
    rota_forkjoin_stats fj_stats;

    return rota_pool_stats_get(ex, &stats) == ROTA_OK
           || rota_forkjoin_stats_get(ex, &fj_stats) == ROTA_OK;
}

/* By the real clock, as the library's may stand still. */
static bool terminates(const rota_executor *pool)
{
    struct timespec now;
    time_t end;

    clock_gettime(CLOCK_MONOTONIC, &now);
    end = now.tv_sec + SECONDS;
    while (!rota_is_terminated(pool) && now.tv_sec < end) {
        sched_yield();
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    return rota_is_terminated(pool);
}

/* Runs what is queued, unless the test has failed. */
static bool end_pool(rota_executor *pool, bool has_failed)
{
    bool has_ended;

    rota_shutdown(pool);
    if (!rota_is_shutdown(pool))
        return true; /* the common pool */
    has_ended = !has_failed && terminates(pool);
    if (!has_ended)
        rota_shutdown_now(pool, NULL);
    return terminates(pool) && rota_close(pool) == ROTA_OK && (has_ended || has_failed);
}

void test_leftovers_begin(void)
{
    test_latches_hold(true);
    of_fixture = all_executors();
}

bool test_leftovers_end(bool has_failed)
{
    bool have_ended = true;

    test_memory_fail_at(0, false);
    test_memory_fail_only(NULL);
    test_latches_hold(false);
    if (rota__timer_end != NULL)
        rota__timer_end(ROTA_FOREVER);
    const executors left = all_executors();
    for (size_t i = 0; i < left.count; i++) {
        if (!contains(&of_fixture, left.all[i]) && is_pool(left.all[i]))
            have_ended &= end_pool(left.all[i], has_failed);
    }
    if (!have_ended)
        print_error("a pool that the test has left does not end\n");
    return have_ended;
}
