/* SPDX-License-Identifier: MIT */
/*
 * queue_contract_arguments.c - what is missing or absurd: nothing happens, and no crash.
 */
#include "queue_contract.h"

static const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_SEC(10), 1, 0, -1, INT64_MIN};

enum { TIMEOUTS = sizeof timeouts / sizeof timeouts[0] };

static test_queue_call *const inserting[] = {
    test_put,          test_offer,     test_offer_timed, test_transfer,
    test_try_transfer, test_put_front, test_offer_front, test_offer_front_timed,
};
static test_queue_call *const removing[] = {
    test_take, test_poll, test_poll_timed, test_take_back, test_poll_back, test_poll_back_timed,
};

enum {
    INSERTING = sizeof inserting / sizeof inserting[0],
    REMOVING = sizeof removing / sizeof removing[0],
};

static void insert_fails(rota_queue *queue, void *element)
{
    for (size_t i = 0; i < TIMEOUTS; i++) {
        for (size_t j = 0; j < INSERTING; j++)
            assert_status(inserting[j](queue, &element, timeouts[i]), ROTA_EINVAL);
    }
}

static bool never_asked(void *element, void *ctx)
{
    test_die(__FILE__, __LINE__, "there was nothing to ask about");
}

static void never_shown(void *element, void *ctx)
{
    test_die(__FILE__, __LINE__, "there was nothing to show");
}

/*
 * GEN-02, QUEUE-39, FAULT-01: as an empty queue without room, or ROTA_EINVAL from rota_queue_put,
 * rota_queue_offer_timed, rota_queue_transfer, rota_queue_try_transfer, rota_deque_put_front,
 * rota_deque_offer_front, rota_deque_offer_front_timed.
 */
CONTRACT(ANY_KIND, without_a_queue_nothing_happens)
{
    contract *test = *state;
    void *cell = contract_cell(test, 0);
    void *element = TEST_UNTOUCHED;

    insert_fails(NULL, cell);
    for (size_t i = 0; i < TIMEOUTS; i++) {
        for (size_t j = 0; j < REMOVING; j++)
            assert_status(removing[j](NULL, &element, timeouts[i]), ROTA_EINVAL);
    }
    assert_status(rota_queue_peek(NULL, &element), ROTA_EINVAL);
    assert_status(rota_deque_peek_back(NULL, &element), ROTA_EINVAL);
    assert_status(rota_queue_free(NULL), ROTA_EINVAL);
    assert_int_equal(rota_queue_drain(NULL, &element, 1), 0);
    assert_ptr_equal(element, TEST_UNTOUCHED);
    assert_int_equal(rota_queue_remove_if(NULL, never_asked, NULL), 0);
    assert_int_equal(rota_queue_remove_if(NULL, NULL, NULL), 0);
    assert_int_equal(rota_queue_each(NULL, never_shown, NULL), 0);
    assert_int_equal(rota_deque_each_back(NULL, never_shown, NULL), 0);
    assert_int_equal(rota_queue_size(NULL), 0);
    assert_int_equal(rota_queue_room(NULL), 0);
    assert_int_equal(rota_queue_waiting(NULL), 0);
    assert_false(rota_queue_contains(NULL, cell));
    assert_false(rota_queue_remove(NULL, cell));
    assert_false(rota_deque_remove_last(NULL, cell));
}

/* QUEUE-02: at once, also when it is full. */
CONTRACT(ANY_KIND, null_is_no_element)
{
    contract *test = *state;

    insert_fails(test->queue, NULL);
    contract_holds(test, 0, 0);
    size_t count = contract_fill(test);
    rota_thread_interrupt(test->main);
    insert_fails(test->queue, NULL);
    assert_true(rota_interrupted()); /* INT-05 */
    contract_holds(test, 0, count);
}

/* GEN-02, FAULT-01: nowhere to put an element: none is removed, and nobody waits for one. */
CONTRACT(ANY_KIND, what_is_removed_needs_a_place)
{
    contract *test = *state;

    for (int full = 0; full < 2; full++) {
        size_t count = full ? contract_fill(test) : 0;
        for (size_t i = 0; i < TIMEOUTS; i++) {
            assert_status(rota_queue_take(test->queue, NULL), ROTA_EINVAL);
            assert_status(rota_queue_poll(test->queue, NULL), ROTA_EINVAL);
            assert_status(rota_queue_poll_timed(test->queue, timeouts[i], NULL), ROTA_EINVAL);
            assert_status(rota_deque_take_back(test->queue, NULL), ROTA_EINVAL);
            assert_status(rota_deque_poll_back(test->queue, NULL), ROTA_EINVAL);
            assert_status(rota_deque_poll_back_timed(test->queue, timeouts[i], NULL), ROTA_EINVAL);
        }
        assert_status(rota_queue_peek(test->queue, NULL), ROTA_EINVAL);
        assert_status(rota_deque_peek_back(test->queue, NULL), ROTA_EINVAL);
        contract_holds(test, 0, count);
    }
}

/* QUEUE-02: not in it, empty or not. */
CONTRACT(ANY_KIND, null_is_not_in_it)
{
    contract *test = *state;

    for (int full = 0; full < 2; full++) {
        size_t count = full ? contract_fill(test) : 0;
        assert_false(rota_queue_contains(test->queue, NULL));
        assert_false(rota_queue_remove(test->queue, NULL));
        assert_false(rota_deque_remove_last(test->queue, NULL));
        contract_holds(test, 0, count);
    }
}

/* QUEUE-10: to nowhere, or none at all. */
CONTRACT(ANY_KIND, a_drain_without_a_place_moves_nothing)
{
    contract *test = *state;
    void *element = TEST_UNTOUCHED;
    size_t count = contract_fill(test);

    assert_int_equal(rota_queue_drain(test->queue, NULL, 0), 0);
    assert_int_equal(rota_queue_drain(test->queue, NULL, 1), 0);
    assert_int_equal(rota_queue_drain(test->queue, NULL, SIZE_MAX), 0);
    assert_int_equal(rota_queue_drain(test->queue, &element, 0), 0);
    assert_ptr_equal(element, TEST_UNTOUCHED);
    contract_holds(test, 0, count);
}

/* GEN-02: without a visitor there is nothing to count. */
CONTRACT(ANY_KIND, there_must_be_somebody_to_show_it_to)
{
    contract *test = *state;
    size_t count = contract_fill(test);

    assert_int_equal(rota_queue_each(test->queue, NULL, NULL), 0);
    assert_int_equal(rota_deque_each_back(test->queue, NULL, NULL), 0);
    contract_holds(test, 0, count);
}

/*
 * GEN-02: nothing is made that nobody could free. ROTA_EINVAL from rota_handoff_queue,
 * rota_fair_handoff_queue.
 */
CONTRACT(ANY_KIND, a_new_queue_needs_a_place)
{
    contract *test = *state;
    size_t live = test_memory_live();

    assert_status(test->kind->make(NULL), ROTA_EINVAL);
    assert_int_equal(test_memory_live(), live);
}

/* QUEUE-39, GEN-18: ENOTSUP whatever the timeout; an interrupt is left alone. */
CONTRACT(NO_TRANSFER, only_a_transfer_queue_transfers)
{
    contract *test = *state;
    void *cell = contract_cell(test, LATE);
    size_t count = contract_fill(test);

    rota_thread_interrupt(test->main);
    for (size_t i = 0; i < TIMEOUTS; i++)
        assert_status(rota_queue_transfer(test->queue, cell, timeouts[i]), ROTA_ENOTSUP);
    assert_status(rota_queue_try_transfer(test->queue, cell), ROTA_ENOTSUP);
    assert_true(rota_interrupted());
    contract_holds(test, 0, count);
}

/* QUEUE-22, QUEUE-39, GEN-18: ENOTSUP, 0 or false, and the queue is as it was. */
CONTRACT(NO_DEQUE, only_a_deque_has_a_back)
{
    contract *test = *state;
    void *cell = contract_cell(test, LATE);
    void *element = TEST_UNTOUCHED;
    size_t count = contract_fill(test);

    for (size_t i = 0; i < TIMEOUTS; i++) {
        rota_ns timeout = timeouts[i];
        assert_status(rota_deque_offer_front_timed(test->queue, cell, timeout), ROTA_ENOTSUP);
        assert_status(rota_deque_poll_back_timed(test->queue, timeout, &element), ROTA_ENOTSUP);
    }
    assert_status(rota_deque_put_front(test->queue, cell), ROTA_ENOTSUP);
    assert_status(rota_deque_offer_front(test->queue, cell), ROTA_ENOTSUP);
    assert_status(rota_deque_take_back(test->queue, &element), ROTA_ENOTSUP);
    assert_status(rota_deque_poll_back(test->queue, &element), ROTA_ENOTSUP);
    assert_status(rota_deque_peek_back(test->queue, &element), ROTA_ENOTSUP);
    assert_ptr_equal(element, TEST_UNTOUCHED);
    assert_false(rota_deque_remove_last(test->queue, contract_cell(test, 0)));
    assert_int_equal(rota_deque_each_back(test->queue, never_shown, NULL), 0);
    contract_holds(test, 0, count);
}
