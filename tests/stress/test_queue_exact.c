/* SPDX-License-Identifier: MIT */
/*
 * What one thread knows to be in a queue no other misses (QUEUE-38): threads count what they have
 * put in and taken out, and who has claimed one of those must get one at the first try.
 */
#include "queues.h"

#include <sched.h>

enum { PRODUCERS = 2, MOST_CONSUMERS = 2, EACH = 6000, TOTAL = PRODUCERS * EACH };

static uint64_t cells[TOTAL];
static unsigned taken[TOTAL]; /* no atomics: whoever took it writes it */
static rota_queue *queue;
static const test_queue_kind *kind;
static unsigned consumers;
static atomic_int known_in;   /* elements in it that nobody has claimed */
static atomic_int known_room; /* the same for places */
static atomic_bool over;
static atomic_uint next_worker;

static bool claimed(atomic_int *known)
{
    int seen = atomic_load(known);

    while (seen > 0) {
        if (atomic_compare_exchange_weak(known, &seen, seen - 1))
            return true;
    }
    return false;
}

static void claim(atomic_int *known)
{
    while (!claimed(known))
        sched_yield();
}

static void produce(void *arg)
{
    unsigned number = atomic_fetch_add(&next_worker, 1) % PRODUCERS;

    for (unsigned i = number; i < TOTAL; i += PRODUCERS) {
        claim(&known_room);
        int status = i % 3 == 0 ? rota_queue_offer_timed(queue, &cells[i], 0)
                                : rota_queue_offer(queue, &cells[i]);
        test_check(status == ROTA_OK);
        atomic_fetch_add(&known_in, 1);
    }
}

/* The only consumer also sees what it will get, where nothing can come before it. */
static void peek_as_well(const void *element, const void *next)
{
    test_check(next != NULL && (kind->by_rank || element == next));
}

static void take_claimed(unsigned turn)
{
    void *element = NULL;
    void *next = NULL;

    if (consumers == 1)
        test_check(rota_queue_peek(queue, &next) == ROTA_OK);
    switch (turn % 3) {
    case 0:
        test_check(rota_queue_poll_timed(queue, 0, &element) == ROTA_OK);
        break;
    case 1:
        test_check(rota_queue_drain(queue, &element, 1) == 1);
        break;
    default:
        test_check(rota_queue_poll(queue, &element) == ROTA_OK);
    }
    if (consumers == 1)
        peek_as_well(element, next);
    taken[(uint64_t *)element - cells]++;
}

static void consume(void *arg)
{
    for (unsigned i = 0; i < TOTAL / consumers; i++) {
        claim(&known_in);
        take_claimed(i);
        atomic_fetch_add(&known_room, 1);
    }
}

static void is_a_cell(void *element, void *ctx)
{
    test_check((uint64_t *)element >= cells && (uint64_t *)element < cells + TOTAL);
}

/* So few that it is full now and then. */
static size_t most_inside(void)
{
    return kind->capacity == ROTA_UNBOUNDED ? TEST_QUEUE_CAPACITY : kind->capacity;
}

/* GEN-13: counts are never larger than what there was. */
static void look(void *arg)
{
    while (!atomic_load(&over)) {
        test_check(rota_queue_size(queue) <= most_inside());
        test_check(rota_queue_room(queue) <= kind->capacity);
        test_check(rota_queue_each(queue, is_a_cell, NULL) <= TOTAL);
        rota_queue_contains(queue, &cells[TOTAL - 1]);
        sched_yield();
    }
}

static void run_loop(void)
{
    test_thread *threads[PRODUCERS + MOST_CONSUMERS];

    atomic_store(&known_in, 0);
    atomic_store(&known_room, (int)most_inside());
    atomic_store(&over, false);
    for (size_t i = 0; i < TOTAL; i++)
        taken[i] = 0;
    test_thread *looker = test_thread_start(look, NULL);
    for (unsigned i = 0; i < PRODUCERS; i++)
        threads[i] = test_thread_start(produce, NULL);
    for (unsigned i = 0; i < consumers; i++)
        threads[PRODUCERS + i] = test_thread_start(consume, NULL);
    for (unsigned i = 0; i < PRODUCERS + consumers; i++)
        test_thread_join(threads[i]);
    atomic_store(&over, true);
    test_thread_join(looker);
    for (size_t i = 0; i < TOTAL; i++)
        assert_int_equal(taken[i], 1);
    assert_int_equal(rota_queue_size(queue), 0);
}

static void on_every_kind_with(unsigned count)
{
    consumers = count;
    for (size_t i = 0; i < TEST_QUEUE_KINDS; i++) {
        kind = &test_queue_kinds[i];
        if (kind->capacity == 0)
            continue;
        assert_ok(kind->make(&queue));
        run_loop();
        assert_ok(rota_queue_free(queue));
    }
}

/* QUEUE-38: neither is it ever empty nor full for who knows better. */
TEST(who_knows_that_there_is_one_gets_one)
{
    on_every_kind_with(2);
}

/* QUEUE-16, QUEUE-38: and who alone takes from it can see it. */
TEST(who_knows_that_there_is_one_sees_it)
{
    on_every_kind_with(1);
}

BEFORE_TESTS
{
    for (size_t i = 0; i < TOTAL; i++)
        cells[i] = i;
    return true;
}
