/* SPDX-License-Identifier: MIT */
/*
 * random.c - xorshift64*, after Marsaglia and Vigna.
 */
#include "rota_test.h"

#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_SEED UINT64_C(20240229)

uint64_t test_seed(void)
{
    const char *wanted = getenv("ROTA_SEED");

    return wanted != NULL ? strtoull(wanted, NULL, 0) : DEFAULT_SEED;
}

void test_random_start(test_random *random, uint64_t seed)
{
    random->state = seed ^ UINT64_C(0x9e3779b97f4a7c15);
    if (random->state == 0)
        random->state = 1; /* where it would stay for ever */
}

void test_random_init(test_random *random)
{
    uint64_t seed = test_seed();

    /* CTest shows what a test prints when it fails. */
    fprintf(stderr, "ROTA_SEED=%llu gives the same numbers again\n", (unsigned long long)seed);
    test_random_start(random, seed);
}

uint64_t test_random_next(test_random *random)
{
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return random->state * UINT64_C(2685821657736338717);
}

void test_randoms_init(test_random *randoms, size_t count)
{
    test_random_init(&randoms[0]);
    for (size_t i = 1; i < count; i++)
        randoms[i].state = test_random_next(&randoms[0]) | 1;
}

size_t test_random_below(test_random *random, size_t limit)
{
    return (size_t)(test_random_next(random) >> 11) % limit;
}
