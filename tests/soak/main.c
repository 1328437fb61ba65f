/* SPDX-License-Identifier: MIT */
/*
 * soak [--seconds N | --minutes N]: everything at once, for so long.
 *
 * Prints a line every ten seconds, and one at the end. What does not come out ends it, with a line
 * that begins again with the round in which that was: ROTA_SEED=... soak. Threads are not as
 * repeatable as numbers are: it may take some rounds to come back.
 */
#include "soak.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUND  ROTA_SEC(1)
#define REPORT ROTA_SEC(10)

enum { LONGEST_ROUND = 60 }; /* seconds: then it is said to hang */

/* -- When it fails ------------------------------------------------------------------------ */

static char replay[100]; /* what to say then */

static void say(const char *line)
{
    if (write(STDERR_FILENO, line, strlen(line)) < 0)
        _exit(1);
}

/* Then it ends by the signal. */
static void it_failed(int number)
{
    say(replay);
    signal(number, SIG_DFL);
    raise(number);
}

/* Best effort: who hangs may hold a lock. */
static void it_hangs(int number)
{
    say("soak: a round does not end\n");
    say(replay);
    signal(SIGALRM, SIG_DFL);
    alarm(5);
    stations_describe();
    signal(SIGABRT, SIG_DFL);
    abort();
}

static void begin_round(uint64_t seed)
{
    snprintf(replay, sizeof replay, "ROTA_SEED=%llu soak --seconds 20\n", (unsigned long long)seed);
    alarm(LONGEST_ROUND);
}

/* -- Reports ------------------------------------------------------------------------------ */

static rota_ns begun_at;

static rota_ns gone(void)
{
    return rota_now() - begun_at;
}

static void report(const struct quiet *now)
{
    unsigned long long offered = atomic_load(&all.offered);
    double seconds = (double)gone() / (double)ROTA_SEC(1);

    printf("%.0f s: %llu tasks (%.2f M/s): %llu succeeded, %llu failed, %llu discarded, "
           "%llu refused; %llu cancelled, %llu runs again, %llu steps, %llu forks; %u executors; "
           "%zu kB, %zu descriptors, %zu threads\n",
           seconds, offered, (double)offered / seconds / 1e6, atomic_load(&all.succeeded),
           atomic_load(&all.failed), atomic_load(&all.discarded), atomic_load(&all.refused),
           atomic_load(&all.cancelled), atomic_load(&all.again), atomic_load(&all.steps),
           atomic_load(&all.forks), atomic_load(&all.executors), now->rss / 1024, now->descriptors,
           now->threads);
    fflush(stdout);
}

static void report_at_last(const struct quiet *now)
{
    double error;

    report(now);
    if (trend_is_known()) {
        double slope = trend_slope(&error);
        printf("memory grows by %.0f kB an hour, +- %.0f\n", slope / 1024, error / 1024);
    }
    puts("soak: all accounts are right");
}

/* -- Rounds ------------------------------------------------------------------------------- */

static uint64_t seed_after(uint64_t seed)
{
    test_random random;

    test_random_start(&random, seed);
    return test_random_next(&random);
}

static struct quiet play_round(uint64_t seed, rota_ns duration)
{
    begin_round(seed);
    players_run(seed, duration);
    struct quiet now = quiet_check();
    trend_add(gone(), now.rss);
    trend_check();
    return now;
}

static void soak(rota_ns duration)
{
    rota_ns next_report = REPORT;
    uint64_t seed = test_seed();
    struct quiet now;

    do {
        now = play_round(seed, duration < ROUND ? duration : ROUND);
        seed = seed_after(seed);
        if (gone() >= next_report && gone() < duration) {
            report(&now);
            next_report = gone() + REPORT;
        }
    } while (gone() < duration);
    alarm(0);
    report_at_last(&now);
}

static rota_ns duration_of(int argc, char **argv)
{
    double number = argc == 3 ? strtod(argv[2], NULL) : 0;

    if (argc == 1)
        return ROTA_SEC(5);
    if (number > 0 && strcmp(argv[1], "--seconds") == 0)
        return ROTA_SEC(number);
    if (number > 0 && strcmp(argv[1], "--minutes") == 0)
        return ROTA_MINUTES(number);
    fprintf(stderr, "%s [--seconds N | --minutes N]\n", argv[0]);
    exit(2);
}

/* Unless a sanitizer does, which has more to say of a fault. */
static void watch_faults(void)
{
    struct sigaction now;

    if (sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        signal(SIGSEGV, it_failed);
}

int main(int argc, char **argv)
{
    rota_ns duration = duration_of(argc, argv);

    test_memory_install();
    signal(SIGABRT, it_failed);
    watch_faults();
    signal(SIGALRM, it_hangs);
    printf("ROTA_SEED=%llu\n", (unsigned long long)test_seed());
    for (size_t i = 0; i < STATIONS; i++)
        station_init(&stations[i]);
    quiet_begin();
    begun_at = rota_now();
    soak(duration);
    return 0;
}
