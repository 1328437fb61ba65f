/* SPDX-License-Identifier: MIT */
/*
 * queue_contract_free.c - the end of a queue.
 */
#include "queue_contract.h"

static void free_now(contract *test)
{
    assert_ok(rota_queue_free(test->queue));
    test->queue = NULL;
}

/* OWN-13: what is left in it stays the user's, untouched; the rest is checked after the test. */
CONTRACT(HAS_ROOM, elements_left_in_it_are_the_users)
{
    contract *test = *state;
    size_t count = contract_fill(test);

    free_now(test);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(test->cells[i], i);
}

/* A queue that has been in use, and is empty again, goes like a new one. */
CONTRACT(HAS_ROOM, a_used_queue_can_be_freed)
{
    contract *test = *state;
    size_t count = contract_fill(test);

    contract_gives(test, 0, count);
    free_now(test);
}

static void refuses_while_it_waits(contract *test, test_queue_call *call)
{
    test_caller consumer;

    test_caller_start(&consumer, test->queue, call, NULL, ROTA_HOURS(1));
    for (int i = 0; i < 3; i++)
        assert_status(rota_queue_free(test->queue), ROTA_EBUSY);
    test_caller_still_waits(&consumer);
    contract_insert(test, 0, 1);
    test_caller_ends(&consumer, ROTA_OK, contract_cell(test, 0));
}

/* OWN-13: EBUSY, and nothing has changed: it can be used, and freed, afterwards. */
CONTRACT(ANY_KIND, it_is_not_freed_while_a_consumer_waits)
{
    contract *test = *state;

    refuses_while_it_waits(test, test_take);
    refuses_while_it_waits(test, test_poll_timed);
    free_now(test);
}

/* OWN-13: EBUSY, with all its elements in it. */
CONTRACT(MAY_BE_FULL, it_is_not_freed_while_a_producer_waits)
{
    contract *test = *state;
    test_caller producer;
    size_t count = contract_fill(test);
    void *element = NULL;

    test_caller_start(&producer, test->queue, test_put, contract_cell(test, LATE), 0);
    for (int i = 0; i < 3; i++)
        assert_status(rota_queue_free(test->queue), ROTA_EBUSY);
    test_caller_still_waits(&producer);
    contract_holds(test, 0, count);
    assert_ok(rota_queue_take(test->queue, &element));
    test_caller_ends(&producer, ROTA_OK, contract_cell(test, LATE));
    free_now(test);
}

/* Nobody waits any more, also if it was interrupted or its time ran out. */
CONTRACT(ANY_KIND, it_is_freed_when_the_last_has_given_up)
{
    contract *test = *state;
    test_caller consumer;
    void *element;

    assert_status(rota_queue_poll_timed(test->queue, 1, &element), ROTA_ETIMEDOUT);
    test_caller_start(&consumer, test->queue, test_take, NULL, 0);
    assert_status(rota_queue_free(test->queue), ROTA_EBUSY);
    test_caller_interrupt(&consumer);
    test_caller_ends(&consumer, ROTA_EINTERRUPTED, TEST_UNTOUCHED);
    free_now(test);
}

/* The same for producers. */
CONTRACT(MAY_BE_FULL, it_is_freed_when_the_last_producer_has_given_up)
{
    contract *test = *state;
    test_caller producer;

    contract_fill(test);
    test_caller_start(&producer, test->queue, test_put, contract_cell(test, LATE), 0);
    assert_status(rota_queue_free(test->queue), ROTA_EBUSY);
    test_caller_interrupt(&producer);
    test_caller_ends_any(&producer, ROTA_EINTERRUPTED);
    free_now(test);
}
