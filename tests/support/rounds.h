/* SPDX-License-Identifier: MIT */
/*
 * rounds.h - rounds of a race around an executor: tasks that count, sides that submit and end it, and
 * the sums that must come out.
 */
#ifndef ROTA_TEST_ROUNDS_H
#define ROTA_TEST_ROUNDS_H

#include "rota_test_race.h"

/* The first member of what a race is about, so that its functions take that as well. */
typedef struct test_round {
    rota_executor *pool;
    test_random random;
    unsigned yields;      /* before the other side */
    atomic_uint accepted; /* tasks */
    atomic_uint runs, discards;
} test_round;

/* All rounds of a race; `round` begins with a test_round, which is all zero but for test_random_init. */
void test_round_race(const test_race *race, test_round *round);

void test_round_begin(test_round *round, rota_executor *pool);
void test_round_linger(const test_round *round); /* for a moment that differs from round to round */

/* -- Tasks: of each, one of these is called ------------------------------------------------- */

void *test_round_run(void *round);
void test_round_discard(void *round);

/* -- Sides ----------------------------------------------------------------------------------- */

void test_round_submit_until_refused(void *round);
void test_round_shut_down(void *round); /* after a moment; and waits for the end */
void test_round_stop(void *round);

/* -- After a round: close the pool, and count ------------------------------------------------ */

void test_round_all_ran(void *round);
void test_round_all_ran_or_were_discarded(void *round);

#endif
