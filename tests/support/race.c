/* SPDX-License-Identifier: MIT */
#include "rota_test_race.h"

#include <stdlib.h>

enum { DEFAULT_ROUNDS = 10000, LONGEST_DELAY = 1000 };

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define LONGEST_RACE ROTA_MS(600)
#else
#define LONGEST_RACE ROTA_SEC(1)
#endif

struct side {
    void (*step)(void *arg);
    void *arg;
    unsigned number;
    test_random random;
};

static test_barrier start;
static test_barrier finish;
static bool over; /* written by the main thread before the last start */
static rota_thread *threads[TEST_SIDES];

/* So many rounds, or no more than there is time for. */
struct limit {
    unsigned long rounds;
    rota_ns deadline;
};

static struct limit limit_of_race(void)
{
    const char *wanted = getenv("ROTA_ROUNDS");

    if (wanted != NULL)
        return (struct limit){strtoul(wanted, NULL, 0), ROTA_FOREVER};
    return (struct limit){DEFAULT_ROUNDS, rota_now() + LONGEST_RACE};
}

static bool take_part(struct side *side)
{
    volatile size_t delay = test_random_below(&side->random, LONGEST_DELAY);

    test_barrier_wait(&start);
    if (over)
        return false;
    while (delay > 0)
        delay--;
    side->step(side->arg);
    test_barrier_wait(&finish);
    return true;
}

static void side_main(void *arg)
{
    struct side *side = arg;

    threads[side->number] = rota_thread_self();
    test_barrier_wait(&finish);
    while (take_part(side))
        continue;
}

rota_thread *test_race_thread(unsigned side)
{
    return threads[side];
}

static unsigned sides_init(struct side *sides, const test_race *race, void *arg)
{
    unsigned count = 0;
    test_random random;

    test_random_init(&random);
    for (; count < TEST_SIDES && race->sides[count] != NULL; count++) {
        sides[count] = (struct side){race->sides[count], arg, count, random};
        sides[count].random.state ^= test_random_next(&random) | 1;
    }
    return count;
}

void test_race_run(const test_race *race, void *arg)
{
    struct side sides[TEST_SIDES];
    test_thread *others[TEST_SIDES] = {NULL};
    unsigned count = sides_init(sides, race, arg);
    struct limit limit = limit_of_race();

    over = false;
    test_barrier_init(&start, count);
    test_barrier_init(&finish, count);
    threads[0] = rota_thread_self();
    for (unsigned i = 1; i < count; i++)
        others[i] = test_thread_start(side_main, &sides[i]);
    test_barrier_wait(&finish); /* all handles are there */
    for (unsigned long i = 0; i < limit.rounds && rota_now() < limit.deadline; i++) {
        race->before(arg);
        take_part(&sides[0]);
        race->after(arg);
    }
    over = true;
    test_barrier_wait(&start);
    for (unsigned i = 1; i < count; i++)
        test_thread_join(others[i]);
}
