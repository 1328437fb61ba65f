/* SPDX-License-Identifier: MIT */
/*
 * rota_test_race.h - the same few steps on several threads at once, again and again.
 *
 *     static const test_race race = {.before = make, .sides = {run, cancel}, .after = check};
 *
 *     test_race_run(&race, &shared);
 *
 * Each side has a thread, the first the main one, for all rounds. They begin a round together, each
 * after a short random delay. `before` and `after` run on the main thread while the sides wait. All
 * of them use test_check, as an assertion of cmocka would leave the other threads behind.
 */
#ifndef ROTA_TEST_RACE_H
#define ROTA_TEST_RACE_H

#include "rota_test.h"

enum { TEST_SIDES = 4 };

typedef struct test_race {
    void (*before)(void *arg);
    void (*sides[TEST_SIDES])(void *arg); /* NULL: fewer */
    void (*after)(void *arg);
} test_race;

/* 10,000 rounds, fewer if that takes long; or as many as the environment's ROTA_ROUNDS says. */
void test_race_run(const test_race *race, void *arg);

/* What rota_thread_self is on the thread of a side, from the first round on. */
rota_thread *test_race_thread(unsigned side);

#endif
