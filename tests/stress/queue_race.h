/* SPDX-License-Identifier: MIT */
/*
 * queue_race.h - races on queues, each round on another kind.
 */
#ifndef ROTA_TEST_QUEUE_RACE_H
#define ROTA_TEST_QUEUE_RACE_H

#include "queues.h"
#include "rota_test_race.h"

#include <sched.h>

enum { RACE_CELLS = 300 };

static struct {
    rota_queue *queues[TEST_QUEUE_KINDS]; /* used again and again */
    const test_queue_kind *kind;          /* of this round */
    rota_queue *queue;
    unsigned number;
    uint64_t cells[RACE_CELLS];
    int status[TEST_SIDES];
    void *got[TEST_SIDES];
} race;

static inline int race_set_up(void **state)
{
    for (size_t i = 0; i < RACE_CELLS; i++)
        race.cells[i] = i;
    for (size_t i = 0; i < TEST_QUEUE_KINDS; i++) {
        if (test_queue_kinds[i].make(&race.queues[i]) != ROTA_OK)
            return -1;
    }
    return 0;
}

static inline int race_tear_down(void **state)
{
    bool freed = true;

    for (size_t i = 0; i < TEST_QUEUE_KINDS; i++)
        freed &= rota_queue_free(race.queues[i]) == ROTA_OK;
    return freed && !rota_interrupted() ? 0 : -1;
}

/* A round on the next kind for which `suits` is true. */
static inline void race_next(bool (*suits)(const test_queue_kind *kind))
{
    size_t i;

    do
        i = race.number++ % TEST_QUEUE_KINDS;
    while (!suits(&test_queue_kinds[i]));
    race.kind = &test_queue_kinds[i];
    race.queue = race.queues[i];
    for (size_t side = 0; side < TEST_SIDES; side++) {
        race.status[side] = 1;
        race.got[side] = NULL;
    }
}

static inline bool suits_any(const test_queue_kind *kind)
{
    return true;
}

static inline bool suits_room(const test_queue_kind *kind)
{
    return kind->capacity > 0;
}

static inline bool suits_full(const test_queue_kind *kind)
{
    return kind->capacity != ROTA_UNBOUNDED;
}

/* Up to 40 microseconds: about as long as the other sides take. */
static inline rota_ns race_short_time(unsigned side)
{
    return (rota_ns)((race.number * 7919 + side * 104729) % 40000);
}

/* As long as a short wait takes, with the time that the system adds: so that they meet. */
static inline void race_pause(unsigned side)
{
    rota_ns until = rota_now() + 2 * race_short_time(side + TEST_SIDES);

    while (rota_now() < until)
        sched_yield();
}

/* The side's own element. */
static inline void *race_cell(unsigned side)
{
    return &race.cells[RACE_CELLS - TEST_SIDES + side];
}

static inline void race_put(unsigned side)
{
    test_check(rota_queue_put(race.queue, race_cell(side)) == ROTA_OK);
}

static inline void *race_take(void)
{
    void *element = NULL;

    test_check(rota_queue_take(race.queue, &element) == ROTA_OK);
    test_check(element != NULL);
    return element;
}

/* Fills one that has a bound. */
static inline void race_fill(void)
{
    for (size_t i = rota_queue_size(race.queue); i < race.kind->capacity; i++)
        test_check(rota_queue_put(race.queue, &race.cells[i]) == ROTA_OK);
}

static inline void race_is_empty(void)
{
    void *element;

    test_check(rota_queue_size(race.queue) == 0);
    test_check(rota_queue_waiting(race.queue) == 0);
    test_check(rota_queue_poll(race.queue, &element) == ROTA_EEMPTY);
}

#endif
