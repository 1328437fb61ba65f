/* SPDX-License-Identifier: MIT */
/* driver.h - what the drivers of several benchmarks need: clocks, sleep, memory, an end */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static inline void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static inline const char *name_of(const char *program)
{
    const char *slash = strrchr(program, '/');

    return slash != NULL ? slash + 1 : program;
}

static inline uint64_t now(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000 * MS + (uint64_t)time.tv_nsec;
}

static inline struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / (1000 * MS)), (long)(ns % (1000 * MS))};
}

static inline void sleep_until(uint64_t then)
{
    struct timespec time = timespec_of(then);

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

static inline void sleep_for(uint64_t ns)
{
    sleep_until(now(CLOCK_MONOTONIC) + ns);
}

/* The bytes of this process that are in memory. */
static inline uint64_t resident(void)
{
    uint64_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%*u %" SCNu64, &pages) != 1)
        fail("no /proc/self/statm");
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Difference for each, also if there is less than before. */
static inline double more(uint64_t after, uint64_t before, uint64_t count)
{
    return ((double)after - (double)before) / (double)count;
}

#endif
