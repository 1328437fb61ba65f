/* SPDX-License-Identifier: MIT */
/*
 * queue_contract_interrupt.c - an interrupt ends a wait, and nothing else; it loses nothing.
 */
#include "queue_contract.h"

static const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_HOURS(1), 1, 0, -1, INT64_MIN};

enum { TIMEOUTS = sizeof timeouts / sizeof timeouts[0] };

/* -- Where it would have to wait ---------------------------------------------------------- */

static void is_refused(contract *test, test_queue_call *call, void *element)
{
    for (size_t i = 0; i < TIMEOUTS; i++) {
        void *given = element;
        rota_thread_interrupt(test->main);
        assert_status(call(test->queue, &given, timeouts[i]), ROTA_EINTERRUPTED);
        assert_false(rota_is_interrupted());
        assert_ptr_equal(given, element);
    }
}

/*
 * INT-04, INT-05: with any timeout. ROTA_EINTERRUPTED from rota_queue_take, rota_queue_poll_timed.
 */
CONTRACT(ANY_KIND, an_interrupted_consumer_does_not_wait)
{
    contract *test = *state;

    is_refused(test, test_take, TEST_UNTOUCHED);
    is_refused(test, test_poll_timed, TEST_UNTOUCHED);
    contract_holds(test, 0, 0);
    assert_int_equal(rota_queue_waiting(test->queue), 0);
}

/* INT-04, INT-05: ROTA_EINTERRUPTED from rota_queue_put, rota_queue_offer_timed. */
CONTRACT(MAY_BE_FULL, an_interrupted_producer_does_not_wait)
{
    contract *test = *state;
    size_t count = contract_fill(test);

    is_refused(test, test_put, contract_cell(test, LATE));
    is_refused(test, test_offer_timed, contract_cell(test, LATE));
    contract_holds(test, 0, count);
}

static void is_stopped(contract *test, test_queue_call *call, void *element)
{
    test_caller caller;

    test_caller_start(&caller, test->queue, call, element, ROTA_HOURS(1));
    test_caller_interrupt(&caller);
    test_caller_ends(&caller, ROTA_EINTERRUPTED, element != NULL ? element : TEST_UNTOUCHED);
}

/* INT-04, INT-05 */
CONTRACT(ANY_KIND, a_consumer_that_waits_can_be_interrupted)
{
    contract *test = *state;

    is_stopped(test, test_take, NULL);
    is_stopped(test, test_poll_timed, NULL);
    contract_holds(test, 0, 0);
    assert_int_equal(rota_queue_waiting(test->queue), 0);
}

/* INT-04, INT-05 */
CONTRACT(MAY_BE_FULL, a_producer_that_waits_can_be_interrupted)
{
    contract *test = *state;
    size_t count = contract_fill(test);

    is_stopped(test, test_put, contract_cell(test, LATE));
    is_stopped(test, test_offer_timed, contract_cell(test, LATE));
    contract_holds(test, 0, count);
    contract_gives(test, 0, count);
}

/* -- Where it need not wait --------------------------------------------------------------- */

/* INT-05, QUEUE-14, QUEUE-16: there is room, there is an element, or the call never waits. */
CONTRACT(HAS_ROOM, what_need_not_wait_leaves_an_interrupt_alone)
{
    contract *test = *state;
    void *element;

    rota_thread_interrupt(test->main);
    assert_ok(rota_queue_put(test->queue, contract_cell(test, 0)));
    assert_ok(rota_queue_offer(test->queue, contract_cell(test, 1)));
    for (size_t i = 0; i < TIMEOUTS; i++)
        assert_ok(rota_queue_offer_timed(test->queue, contract_cell(test, 2 + i), timeouts[i]));
    assert_ok(rota_queue_take(test->queue, &element));
    assert_ok(rota_queue_poll(test->queue, &element));
    for (size_t i = 0; i < TIMEOUTS; i++)
        assert_ok(rota_queue_poll_timed(test->queue, timeouts[i], &element));
    assert_status(rota_queue_poll(test->queue, &element), ROTA_EEMPTY);
    assert_status(rota_queue_peek(test->queue, &element), ROTA_EEMPTY);
    assert_int_equal(rota_queue_drain(test->queue, &element, 1), 0);
    contract_holds(test, 0, 0);
    assert_true(rota_interrupted());
}

/* INT-03, INT-05: a call that never waits is deaf to it. */
CONTRACT(MAY_BE_FULL, an_offer_of_no_use_leaves_an_interrupt_alone)
{
    contract *test = *state;
    size_t count = contract_fill(test);

    rota_thread_interrupt(test->main);
    assert_status(rota_queue_offer(test->queue, contract_cell(test, LATE)), ROTA_EFULL);
    contract_holds(test, 0, count);
    assert_true(rota_interrupted());
}

/* QUEUE-14, QUEUE-26, QUEUE-39: insertions without a bound never wait. */
CONTRACT(UNBOUNDED, without_a_bound_an_insertion_ignores_an_interrupt)
{
    contract *test = *state;

    rota_thread_interrupt(test->main);
    for (size_t i = 0; i < 1000; i++) {
        void *cell = contract_cell(test, i);
        assert_ok(i % 2 == 0 ? rota_queue_put(test->queue, cell)
                             : rota_queue_offer_timed(test->queue, cell, timeouts[i % TIMEOUTS]));
    }
    assert_true(rota_interrupted());
    contract_gives(test, 0, 1000);
}

/* INT-05: a consumer waits already, so that neither put nor offer has to. */
CONTRACT(ANY_KIND, a_ready_consumer_is_served_by_an_interrupted_producer)
{
    contract *test = *state;
    test_queue_call *const inserting[] = {test_put, test_offer, test_offer_timed};

    for (size_t i = 0; i < 3; i++) {
        test_caller consumer;
        void *cell = contract_cell(test, i);
        test_caller_start(&consumer, test->queue, test_take, NULL, 0);
        rota_thread_interrupt(test->main);
        assert_ok(inserting[i](test->queue, &cell, ROTA_FOREVER));
        assert_true(rota_interrupted());
        test_caller_ends(&consumer, ROTA_OK, cell);
    }
}

/* -- Others ------------------------------------------------------------------------------- */

/* INT-06, QUEUE-08: who was interrupted is gone, whether it came before the others or after. */
CONTRACT(ANY_KIND, the_other_consumers_are_served)
{
    contract *test = *state;
    test_caller consumers[3];

    for (size_t i = 0; i < 3; i++)
        test_caller_start(&consumers[i], test->queue, test_take, NULL, 0);
    test_caller_interrupt(&consumers[0]);
    test_caller_interrupt(&consumers[2]);
    test_caller_ends(&consumers[0], ROTA_EINTERRUPTED, TEST_UNTOUCHED);
    test_caller_ends(&consumers[2], ROTA_EINTERRUPTED, TEST_UNTOUCHED);
    test_caller_still_waits(&consumers[1]);
    contract_insert(test, 0, 1);
    test_caller_ends(&consumers[1], ROTA_OK, contract_cell(test, 0));
}

/* INT-06, QUEUE-08, QUEUE-34. */
CONTRACT(MAY_BE_FULL, the_other_producers_are_served)
{
    contract *test = *state;
    test_caller producers[3];
    size_t count = contract_fill(test);
    void *element = NULL;

    for (size_t i = 0; i < 3; i++)
        test_caller_start(&producers[i], test->queue, test_put, contract_cell(test, LATE + i), 0);
    test_caller_interrupt(&producers[0]);
    test_caller_interrupt(&producers[2]);
    test_caller_ends_any(&producers[0], ROTA_EINTERRUPTED);
    test_caller_ends_any(&producers[2], ROTA_EINTERRUPTED);
    test_caller_still_waits(&producers[1]);
    for (size_t i = 0; i <= count; i++)
        assert_ok(rota_queue_take(test->queue, &element));
    assert_ptr_equal(element, contract_cell(test, LATE + 1));
    test_caller_ends_any(&producers[1], ROTA_OK);
    contract_gives(test, 0, 0);
}

/* INT-05: the flag is gone, so that the same thread can wait again. */
CONTRACT(ANY_KIND, who_was_interrupted_can_wait_again)
{
    contract *test = *state;
    void *element = TEST_UNTOUCHED;

    for (int i = 0; i < 3; i++) {
        rota_thread_interrupt(test->main);
        assert_status(rota_queue_take(test->queue, &element), ROTA_EINTERRUPTED);
        assert_status(rota_queue_poll_timed(test->queue, ROTA_US(10), &element), ROTA_ETIMEDOUT);
    }
    assert_ptr_equal(element, TEST_UNTOUCHED);
}
