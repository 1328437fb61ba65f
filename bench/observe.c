/* SPDX-License-Identifier: MIT */
/*
 * observe.c - what it costs to be observed: a pool's tasks with nothing on, with figures and histograms,
 * and with the recorder as well.
 *
 *     bench/run observe [--quick]
 *
 * For each task, from the first submit until all have run: tasks that do nothing, and tasks that keep
 * their thread busy for 1 us. The ways take turns, round after round, so that what else the machine does
 * hits all alike; a number is the median of the rounds. The first round only warms up.
 */
#define _GNU_SOURCE
#include "driver.h"

#include <rota/factory.h>
#include <rota/observe.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { MOST_ROUNDS = 41 };

typedef enum way { OFF, FIGURES, RECORDER, WAYS } way;

static const char *const names[WAYS] = {"off", "figures", "recorder"};

typedef struct load {
    const char *name;
    rota_fn *task;
    unsigned workers;
    size_t count;
} load;

static atomic_size_t left;
static uint64_t turns_for_1us;

static void *nothing(void *arg)
{
    atomic_fetch_sub_explicit(&left, 1, memory_order_release);
    return arg;
}

static void turn(uint64_t turns)
{
    for (uint64_t i = 0; i < turns; i++)
        __asm__ volatile("" ::: "memory");
}

static void *busy(void *arg)
{
    turn(turns_for_1us);
    return nothing(arg);
}

static void calibrate(void)
{
    uint64_t turns = 100000000;
    uint64_t begin = now(CLOCK_MONOTONIC);

    turn(turns);
    turns_for_1us = turns * US / (now(CLOCK_MONOTONIC) - begin);
}

static void switch_to(way way)
{
    if (rota_observe(way != OFF) != ROTA_OK || rota_recorder_stop() != ROTA_OK)
        fail("cannot switch");
    if (way == RECORDER && rota_recorder_start(NULL) != ROTA_OK)
        fail("cannot record");
}

/* Nanoseconds for a task. */
static double run(const load *load, way way)
{
    rota_executor *pool;
    uint64_t begin;

    switch_to(way);
    if (rota_fixed_pool(load->workers, &pool) != ROTA_OK)
        fail("no pool");
    atomic_store(&left, load->count);
    begin = now(CLOCK_MONOTONIC);
    for (size_t i = 0; i < load->count; i++) {
        if (rota_execute(pool, load->task, NULL) != ROTA_OK)
            fail("not accepted");
    }
    while (atomic_load_explicit(&left, memory_order_acquire) > 0)
        sleep_for(20 * US);
    uint64_t end = now(CLOCK_MONOTONIC);
    rota_close(pool);
    return (double)(end - begin) / (double)load->count;
}

static int compare(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;

    return (difference > 0) - (difference < 0);
}

static void measure(const load *load, unsigned rounds)
{
    static double times[WAYS][MOST_ROUNDS];
    double median[WAYS];

    for (unsigned round = 0; round <= rounds; round++) {
        for (unsigned way = 0; way < WAYS; way++) {
            double time = run(load, (enum way)way);
            if (round > 0)
                times[way][round - 1] = time;
        }
    }
    for (unsigned way = 0; way < WAYS; way++) {
        qsort(times[way], rounds, sizeof times[way][0], compare);
        median[way] = times[way][rounds / 2];
        printf("%-22s %-9s %8.1f ns", load->name, names[way], median[way]);
        if (way != OFF)
            printf("   %+6.1f ns  %+5.1f %%", median[way] - median[OFF],
                   (median[way] / median[OFF] - 1) * 100);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    static const load loads[] = {
        {.name = "empty, 1 worker", .task = nothing, .workers = 1, .count = 300000},
        {.name = "empty, 2 workers", .task = nothing, .workers = 2, .count = 300000},
        {.name = "1 us, 1 worker", .task = busy, .workers = 1, .count = 60000},
        {.name = "1 us, 2 workers", .task = busy, .workers = 2, .count = 60000},
    };

    if (argc > 1 && !quick)
        fail("bench/run observe [--quick]");
    calibrate();
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        measure(&loads[i], quick ? 7 : MOST_ROUNDS);
    return 0;
}
