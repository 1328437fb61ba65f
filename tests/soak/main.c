/* SPDX-License-Identifier: MIT */
/*
 * soak [--seconds N] [--minutes N]: everything at once, for so long.
 *
 * Prints a line every ten seconds. What does not come out ends it, with a line that begins with the
 * round in which that was: ROTA_SEED=... soak.
 */
#include "soak.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUND  ROTA_SEC(1)
#define REPORT ROTA_SEC(10)

enum { PATIENCE = 120 }; /* seconds that a round may take before it is said to hang */
enum { MOST_GROWTH = 64 << 20, WARM_UP = 5 };

/* -- When it fails ------------------------------------------------------------------------ */

static char replay[100]; /* what to say then */

static void say_how_to_replay(int signal)
{
    static const char hangs[] = "soak: a round does not end\n";

    if (signal == SIGALRM)
        (void)!write(STDERR_FILENO, hangs, sizeof hangs - 1);
    (void)!write(STDERR_FILENO, replay, strlen(replay));
    if (signal == SIGALRM)
        abort();
}

static void begin_round(uint64_t seed)
{
    snprintf(replay, sizeof replay, "ROTA_SEED=%llu soak --seconds 10\n", (unsigned long long)seed);
    alarm(PATIENCE);
}

/* -- Reports ------------------------------------------------------------------------------ */

static rota_ns begun_at;

static double seconds_gone(void)
{
    return (double)(rota_now() - begun_at) / 1e9;
}

static void report(const char *what, const struct quiet *now)
{
    unsigned long long offered = atomic_load(&all.offered);

    printf("%s %.0f s: %llu tasks (%.2f M/s): %llu succeeded, %llu failed, %llu discarded, "
           "%llu refused; %llu cancelled, %llu runs again, %llu forks; %u executors; "
           "%.1f MB, %zu descriptors, %zu threads\n",
           what, seconds_gone(), offered, (double)offered / seconds_gone() / 1e6,
           atomic_load(&all.succeeded), atomic_load(&all.failed), atomic_load(&all.discarded),
           atomic_load(&all.refused), atomic_load(&all.cancelled), atomic_load(&all.again),
           atomic_load(&all.forks), atomic_load(&all.executors), (double)now->rss / 1e6,
           now->descriptors - 3, now->threads - 2);
    fflush(stdout);
}

/* -- Rounds ------------------------------------------------------------------------------- */

static void soak(rota_ns duration)
{
    uint64_t seed = test_seed();
    rota_ns reported = begun_at;
    size_t rss = 0;
    struct quiet now;

    for (unsigned round = 0; round == 0 || rota_now() - begun_at < duration; round++) {
        test_random next;
        begin_round(seed);
        players_run(seed, duration < ROUND ? duration : ROUND);
        now = quiet_check();
        if (round <= WARM_UP)
            rss = now.rss;
        test_check(now.rss < rss + MOST_GROWTH);
        if (rota_now() - reported >= REPORT) {
            reported = rota_now();
            report("after", &now);
        }
        test_random_start(&next, seed);
        seed = test_random_next(&next);
    }
    report("soak: ok after", &now);
}

static rota_ns duration_of(int argc, char **argv)
{
    rota_ns duration = ROTA_SEC(5);

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seconds") == 0)
            duration = ROTA_SEC(atof(argv[i + 1]));
        else if (strcmp(argv[i], "--minutes") == 0)
            duration = ROTA_MINUTES(atof(argv[i + 1]));
    }
    return duration;
}

int main(int argc, char **argv)
{
    test_memory_install();
    signal(SIGABRT, say_how_to_replay);
    signal(SIGALRM, say_how_to_replay);
    printf("ROTA_SEED=%llu\n", (unsigned long long)test_seed());
    for (size_t i = 0; i < STATIONS; i++)
        station_init(&stations[i]);
    quiet_begin();
    begun_at = rota_now();
    soak(duration_of(argc, argv));
    return 0;
}
