/* SPDX-License-Identifier: MIT */
/*
 * A million elements through every kind of queue, and as many waits that come to nothing: no
 * memory is left behind. ROTA_ROUNDS=100000 makes it ten million.
 */
#include "queues.h"

#include "base/block.h"

#include <stdlib.h>

enum { DEFAULT_ROUNDS = TEST_IS_SLOW ? 3000 : 10000, LOT = 100, WAITS = 10, ENOUGH = 4096 };

static uint64_t cells[LOT];
static rota_queue *queue;
static const test_queue_kind *kind;

static unsigned long rounds(void)
{
    const char *wanted = getenv("ROTA_ROUNDS");

    return wanted != NULL ? strtoul(wanted, NULL, 0) : DEFAULT_ROUNDS;
}

static size_t bytes_in_use(void)
{
    rota__blocks_flush();
    return test_memory_bytes();
}

/* After `run` there is no more in use than after one round of it. */
static void leaves_nothing_behind(void (*run)(unsigned long count))
{
    for (size_t i = 0; i < TEST_QUEUE_KINDS; i++) {
        kind = &test_queue_kinds[i];
        assert_ok(kind->make(&queue));
        run(1);
        size_t before = bytes_in_use();
        run(rounds());
        assert_in_range(bytes_in_use(), 0, before + ENOUGH);
        assert_ok(rota_queue_free(queue));
    }
}

/* -- Elements ----------------------------------------------------------------------------- */

static size_t lot(void)
{
    return kind->capacity < LOT ? kind->capacity : LOT;
}

/* One in ten leaves by name, the others from the front. */
static void pass_one_lot(void)
{
    size_t left = lot();
    void *element;

    for (size_t i = 0; i < lot(); i++)
        test_check(rota_queue_put(queue, &cells[i]) == ROTA_OK);
    for (size_t i = 0; i < lot(); i += 10, left--)
        test_check(rota_queue_remove(queue, &cells[i]));
    for (; left > 0; left--)
        test_check(rota_queue_take(queue, &element) == ROTA_OK);
}

/* A lot is as large as the room, so that it takes more of them to make a hundred. */
static void pass_through(unsigned long count)
{
    if (kind->capacity == 0)
        return;
    for (unsigned long i = 0; i < count * LOT; i += lot())
        pass_one_lot();
    assert_int_equal(rota_queue_size(queue), 0);
}

/* DWQ-14, DWQ-15, QUEUE-13: in and out, by name and from the front. */
TEST(a_million_elements_pass_through)
{
    leaves_nothing_behind(pass_through);
}

static atomic_ulong to_take;

static void take_all(void *arg)
{
    void *element;

    for (unsigned long i = 0; i < atomic_load(&to_take); i++)
        test_check(rota_queue_take(queue, &element) == ROTA_OK);
}

/* A tenth, as each may cost two switches of threads. */
static void hand_over(unsigned long count)
{
    atomic_store(&to_take, count * LOT / 10);
    test_thread *consumer = test_thread_start(take_all, NULL);
    for (unsigned long i = 0; i < count * LOT / 10; i++)
        test_check(rota_queue_put(queue, &cells[i % LOT]) == ROTA_OK);
    test_thread_join(consumer);
}

/* QUEUE-05: from one thread to another. */
TEST(many_are_handed_over)
{
    leaves_nothing_behind(hand_over);
}

/* -- Waits -------------------------------------------------------------------------------- */

/* Some of them sleep, most find that their time is over already. */
static rota_ns tiny(unsigned long i)
{
    return i % 100 == 0 ? ROTA_US(1) : 1;
}

static void wait_in_vain(unsigned long count)
{
    void *element;

    for (unsigned long i = 0; i < count * WAITS; i++)
        test_check(rota_queue_poll_timed(queue, tiny(i), &element) == ROTA_ETIMEDOUT);
    assert_int_equal(rota_queue_waiting(queue), 0);
}

/* QUEUE-08, QUEUE-34: a hundred thousand. */
TEST(waits_for_an_element_in_vain_cost_nothing)
{
    leaves_nothing_behind(wait_in_vain);
}

static void wait_for_room_in_vain(unsigned long count)
{
    void *late = &cells[LOT - 1];

    if (kind->capacity == ROTA_UNBOUNDED)
        return;
    while (rota_queue_room(queue) > 0)
        test_check(rota_queue_put(queue, &cells[0]) == ROTA_OK);
    for (unsigned long i = 0; i < count * WAITS; i++)
        test_check(rota_queue_offer_timed(queue, late, tiny(i)) == ROTA_ETIMEDOUT);
    assert_false(rota_queue_contains(queue, late));
}

/* QUEUE-08, QUEUE-34. */
TEST(waits_for_room_in_vain_cost_nothing)
{
    leaves_nothing_behind(wait_for_room_in_vain);
}

static void transfer_in_vain(unsigned long count)
{
    if (!kind->is_transfer)
        return;
    for (unsigned long i = 0; i < count * WAITS; i++)
        test_check(rota_queue_transfer(queue, &cells[0], tiny(i)) == ROTA_ETIMEDOUT);
    assert_int_equal(rota_queue_size(queue), 0);
}

/* QUEUE-35. */
TEST(transfers_in_vain_cost_nothing)
{
    leaves_nothing_behind(transfer_in_vain);
}

BEFORE_TESTS
{
    for (size_t i = 0; i < LOT; i++)
        cells[i] = i;
    return true;
}
