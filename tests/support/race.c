/* SPDX-License-Identifier: MIT */
#include "rota_test_race.h"

#include <stdlib.h>

enum { DEFAULT_ROUNDS = 10000, LONGEST_DELAY = 1000 };

struct side {
    void (*step)(void *arg);
    void *arg;
    unsigned number;
    unsigned long rounds;
    test_random random;
};

static test_barrier start;
static test_barrier finish;
static rota_thread *threads[TEST_SIDES];

static unsigned long rounds_wanted(void)
{
    const char *wanted = getenv("ROTA_ROUNDS");

    return wanted != NULL ? strtoul(wanted, NULL, 0) : DEFAULT_ROUNDS;
}

static void take_part(struct side *side)
{
    volatile size_t delay = test_random_below(&side->random, LONGEST_DELAY);

    test_barrier_wait(&start);
    while (delay > 0)
        delay--;
    side->step(side->arg);
    test_barrier_wait(&finish);
}

static void side_main(void *arg)
{
    struct side *side = arg;

    threads[side->number] = rota_thread_self();
    test_barrier_wait(&finish);
    for (unsigned long i = 0; i < side->rounds; i++)
        take_part(side);
}

rota_thread *test_race_thread(unsigned side)
{
    return threads[side];
}

void test_race_run(const test_race *race, void *arg)
{
    struct side sides[TEST_SIDES];
    test_thread *others[TEST_SIDES] = {NULL};
    unsigned count = 0;
    unsigned long rounds = rounds_wanted();
    test_random random;

    test_random_init(&random);
    for (; count < TEST_SIDES && race->sides[count] != NULL; count++) {
        sides[count] = (struct side){race->sides[count], arg, count, rounds, random};
        sides[count].random.state ^= test_random_next(&random) | 1;
    }
    test_barrier_init(&start, count);
    test_barrier_init(&finish, count);
    threads[0] = rota_thread_self();
    for (unsigned i = 1; i < count; i++)
        others[i] = test_thread_start(side_main, &sides[i]);
    test_barrier_wait(&finish); /* all handles are there */
    for (unsigned long i = 0; i < rounds; i++) {
        race->before(arg);
        take_part(&sides[0]);
        race->after(arg);
    }
    for (unsigned i = 1; i < count; i++)
        test_thread_join(others[i]);
}
