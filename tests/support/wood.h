/* SPDX-License-Identifier: MIT */
/*
 * wood.h - random trees of tasks in fork/join pools. Tasks fail, are cancelled, are taken back and
 * joined in any order; they block, sleep, submit others, wait for them, and spread to another pool.
 *
 *     test_wood wood;
 *     test_wood_begin(&wood, pool, other, false);
 *     test_wood_invoke(pool, &wood, &random, 4);       // on any threads, as often as one likes
 *     rota_close(pool), rota_close(other);
 *     test_wood_end(&wood);                            // each task is accounted for once
 */
#ifndef ROTA_TEST_WOOD_H
#define ROTA_TEST_WOOD_H

#include "forkjoin.h"

typedef struct test_wood {
    rota_executor *pool;
    rota_executor *other; /* a second one, for trees that spread */
    bool is_narrow;       /* too few may stand in for all who could wait for one another */
    atomic_uint accepted, runs, discards; /* of what was submitted */
    atomic_uint begun, ended;             /* bodies */
} test_wood;

/* A narrow one has hardly any threads that could stand in for blocked ones. */
rota_executor *test_wood_pool(test_random *random, bool is_narrow);

void test_wood_begin(test_wood *wood, rota_executor *pool, rota_executor *other, bool is_narrow);
void test_wood_end(test_wood *wood); /* when nothing runs any more */

/* A tree of that depth; waits for all of it. */
void test_wood_invoke(rota_executor *pool, test_wood *wood, test_random *random, unsigned depth);

/* A task that only counts, or another function that calls it first; false: it was refused. */
void *test_wood_run(void *wood);
bool test_wood_submit(test_wood *wood, rota_fn *fn, rota_future **future);
void test_wood_submit_and_get(test_wood *wood);

void test_yield_some(test_random *random, size_t most);

#endif
