/* SPDX-License-Identifier: MIT */
/*
 * queue_contract_memory.c - what a queue keeps. Failing memory: fault.queue_faults; for long:
 * stress.queue_memory.
 */
#include "queue_contract.h"

#include "base/block.h"
#include "rota_test_internal.h"

enum { BURST = 100000, ENOUGH = 4096 };

static uint64_t burst[BURST];

static void insert_burst(contract *test)
{
    for (size_t i = 0; i < BURST; i++) {
        burst[i] = i;
        assert_ok(rota_queue_put(test->queue, &burst[i]));
    }
}

/* In use, not counting what the library keeps for all queues. */
static size_t bytes_in_use(void)
{
    rota__blocks_flush();
    return test_memory_bytes();
}

/* A few blocks, so that those that are kept for the next elements are there. */
static void warm_up(contract *test)
{
    contract_insert(test, 0, TEST_QUEUE_CAPACITY);
    contract_gives(test, 0, TEST_QUEUE_CAPACITY);
}

/* After many elements at once it is about as small as before, once they are gone. */
CONTRACT(UNBOUNDED, a_burst_leaves_nothing_behind)
{
    contract *test = *state;
    void *element;

    warm_up(test);
    size_t before = bytes_in_use();
    insert_burst(test);
    assert_true(bytes_in_use() >= before + BURST * sizeof(void *));
    for (size_t i = 0; i < BURST; i++)
        assert_ok(rota_queue_take(test->queue, &element));
    assert_in_range(bytes_in_use(), 0, before + ENOUGH);
}

/* The same when they leave all together. */
CONTRACT(UNBOUNDED, a_burst_that_is_removed_leaves_nothing_behind)
{
    contract *test = *state;

    warm_up(test);
    size_t before = bytes_in_use();
    insert_burst(test);
    assert_int_equal(rota_queue_remove_if(test->queue, NULL, NULL), BURST);
    assert_in_range(bytes_in_use(), 0, before + ENOUGH);
}

/* As many elements as one likes, one after the other, need no more than one. */
CONTRACT(HAS_ROOM, elements_that_pass_through_leave_nothing_behind)
{
    contract *test = *state;
    void *element;

    warm_up(test);
    size_t before = bytes_in_use();
    for (size_t i = 0; i < BURST; i++) {
        assert_ok(rota_queue_put(test->queue, contract_cell(test, i % CELLS)));
        if (i % 4 == 3)
            assert_true(rota_queue_remove(test->queue, contract_cell(test, i % CELLS)));
        else
            assert_ok(rota_queue_take(test->queue, &element));
    }
    assert_in_range(bytes_in_use(), 0, before + ENOUGH);
}

/* Waits that come to nothing leave nothing behind. */
CONTRACT(ANY_KIND, waiting_needs_no_memory)
{
    contract *test = *state;
    void *element;

    assert_status(rota_queue_poll_timed(test->queue, 1, &element), ROTA_ETIMEDOUT);
    size_t live = test_memory_live();
    for (size_t i = 0; i < 1000; i++) {
        rota_ns timeout = (rota_ns)(i % 3);
        assert_status(rota_queue_poll_timed(test->queue, timeout, &element), ROTA_ETIMEDOUT);
    }
    assert_int_equal(test_memory_live(), live);
}

/* The same for producers. */
CONTRACT(MAY_BE_FULL, waiting_for_room_leaves_nothing_behind)
{
    contract *test = *state;
    void *late = contract_cell(test, LATE);

    contract_fill(test);
    assert_status(rota_queue_offer_timed(test->queue, late, 1), ROTA_ETIMEDOUT);
    rota__blocks_flush();
    size_t live = test_memory_live();
    for (size_t i = 0; i < 1000; i++) {
        rota_ns timeout = (rota_ns)(i % 3);
        assert_status(rota_queue_offer_timed(test->queue, late, timeout), ROTA_ETIMEDOUT);
    }
    rota__blocks_flush();
    assert_int_equal(test_memory_live(), live);
}
