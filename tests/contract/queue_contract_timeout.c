/* SPDX-License-Identifier: MIT */
/*
 * queue_contract_timeout.c - waits that come to nothing: never early, and they leave no trace.
 */
#include "queue_contract.h"

#include "rota_test_internal.h"

/* GEN-06, QUEUE-09: not early by the clock on the wall. */
CONTRACT(ANY_KIND, a_poll_gives_up_not_early)
{
    contract *test = *state;
    void *element = TEST_UNTOUCHED;
    rota_ns start = rota_now();

    assert_status(rota_queue_poll_timed(test->queue, ROTA_MS(2), &element), ROTA_ETIMEDOUT);
    assert_true(rota_now() - start >= ROTA_MS(2));
    assert_ptr_equal(element, TEST_UNTOUCHED);
    assert_false(rota_is_interrupted());
}

/* GEN-06, QUEUE-09: likewise, and it has inserted nothing. */
CONTRACT(MAY_BE_FULL, an_offer_gives_up_not_early)
{
    contract *test = *state;
    size_t count = contract_fill(test);
    rota_ns start = rota_now();

    assert_status(rota_queue_offer_timed(test->queue, contract_cell(test, LATE), ROTA_MS(2)),
                  ROTA_ETIMEDOUT);
    assert_true(rota_now() - start >= ROTA_MS(2));
    assert_false(rota_is_interrupted());
    contract_holds(test, 0, count);
}

/* GEN-04, QUEUE-09: one attempt, which does not wait: virtual time stands still. */
CONTRACT(ANY_KIND, no_time_is_one_attempt)
{
    contract *test = *state;
    void *element = TEST_UNTOUCHED;

    test_clock_install();
    for (size_t i = 0; i < CONTRACT_NO_TIMES; i++)
        assert_status(rota_queue_poll_timed(test->queue, contract_no_time[i], &element),
                      ROTA_ETIMEDOUT);
    assert_ptr_equal(element, TEST_UNTOUCHED);
    size_t count = contract_fill(test);
    for (size_t i = 0; i < CONTRACT_NO_TIMES && test->kind->capacity != ROTA_UNBOUNDED; i++)
        assert_status(
            rota_queue_offer_timed(test->queue, contract_cell(test, LATE), contract_no_time[i]),
            ROTA_ETIMEDOUT);
    contract_holds(test, 0, count);
}

static void gives_up_on_time(contract *test, test_queue_call *call, void *element)
{
    test_caller caller;
    rota_ns start = test_clock_now();

    test_caller_start(&caller, test->queue, call, element, ROTA_HOURS(1));
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_HOURS(1) - 1);
    test_caller_still_waits(&caller);
    test_clock_advance(1);
    test_caller_ends(&caller, ROTA_ETIMEDOUT, element != NULL ? element : TEST_UNTOUCHED);
    assert_true(caller.ended_at == start + ROTA_HOURS(1));
}

/* GEN-06: not a nanosecond early, and no later. */
CONTRACT(ANY_KIND, a_poll_waits_just_as_long_as_it_was_told)
{
    contract *test = *state;

    test_clock_install();
    gives_up_on_time(test, test_poll_timed, NULL);
    contract_holds(test, 0, 0);
}

/* GEN-06. */
CONTRACT(MAY_BE_FULL, an_offer_waits_just_as_long_as_it_was_told)
{
    contract *test = *state;

    test_clock_install();
    size_t count = contract_fill(test);
    gives_up_on_time(test, test_offer_timed, contract_cell(test, LATE));
    contract_holds(test, 0, count);
}

/* GEN-15: who waits without a timeout sleeps until it is woken, and does not look again and again. */
CONTRACT(ANY_KIND, who_waits_for_ever_waits_for_no_time)
{
    contract *test = *state;
    test_caller consumer;

    test_clock_install();
    test_caller_start(&consumer, test->queue, test_take, NULL, 0);
    assert_int_equal(test_clock_waiting(), 0);
    test_clock_advance(ROTA_HOURS(1000));
    test_caller_still_waits(&consumer);
    contract_insert(test, 0, 1);
    test_caller_ends(&consumer, ROTA_OK, contract_cell(test, 0));
}

/* GEN-15. */
CONTRACT(MAY_BE_FULL, who_waits_for_room_for_ever_waits_for_no_time)
{
    contract *test = *state;
    test_caller producer;
    void *element;

    test_clock_install();
    contract_fill(test);
    test_caller_start(&producer, test->queue, test_put, contract_cell(test, LATE), 0);
    assert_int_equal(test_clock_waiting(), 0);
    test_clock_advance(ROTA_HOURS(1000));
    test_caller_still_waits(&producer);
    assert_ok(rota_queue_poll(test->queue, &element));
    test_caller_ends(&producer, ROTA_OK, contract_cell(test, LATE));
}

/* GEN-04: the longest times there are do not overflow. */
CONTRACT(ANY_KIND, the_longest_timeout_is_long)
{
    contract *test = *state;
    const rota_ns longest[] = {ROTA_FOREVER, ROTA_FOREVER - 1};

    for (size_t i = 0; i < 2; i++) {
        test_caller consumer;
        test_caller_start(&consumer, test->queue, test_poll_timed, NULL, longest[i]);
        contract_insert(test, 0, 1);
        test_caller_ends(&consumer, ROTA_OK, contract_cell(test, 0));
    }
}

/* GEN-04. */
CONTRACT(MAY_BE_FULL, the_longest_timeout_of_an_offer_is_long)
{
    contract *test = *state;
    const rota_ns longest[] = {ROTA_FOREVER, ROTA_FOREVER - 1};

    contract_fill(test);
    for (size_t i = 0; i < 2; i++) {
        test_caller producer;
        void *element;
        test_caller_start(&producer, test->queue, test_offer_timed, contract_cell(test, LATE),
                          longest[i]);
        assert_ok(rota_queue_poll(test->queue, &element));
        test_caller_ends(&producer, ROTA_OK, contract_cell(test, LATE));
    }
}

/* QUEUE-08, QUEUE-34: who has given up gets nothing; the element is for the next, who waits on. */
CONTRACT(ANY_KIND, a_consumer_that_gave_up_is_gone)
{
    contract *test = *state;
    test_caller patient;
    test_caller hasty[2]; /* one came before the patient one, one after it */

    test_clock_install();
    test_caller_start(&hasty[0], test->queue, test_poll_timed, NULL, ROTA_SEC(1));
    test_caller_start(&patient, test->queue, test_take, NULL, 0);
    test_caller_start(&hasty[1], test->queue, test_poll_timed, NULL, ROTA_SEC(1));
    test_clock_await_waiting(2);
    test_clock_advance(ROTA_SEC(1));
    for (size_t i = 0; i < 2; i++)
        test_caller_ends(&hasty[i], ROTA_ETIMEDOUT, TEST_UNTOUCHED);
    test_caller_still_waits(&patient);
    assert_int_equal(rota_queue_waiting(test->queue), 1);
    contract_insert(test, 0, 1);
    test_caller_ends(&patient, ROTA_OK, contract_cell(test, 0));
}

/* QUEUE-08, QUEUE-34: nor does its element come later. */
CONTRACT(MAY_BE_FULL, a_producer_that_gave_up_is_gone)
{
    contract *test = *state;
    test_caller patient;
    test_caller hasty[2];
    size_t count = contract_fill(test);
    void *element = NULL;

    test_clock_install();
    test_caller_start(&hasty[0], test->queue, test_offer_timed, contract_cell(test, LATE + 1),
                      ROTA_SEC(1));
    test_caller_start(&patient, test->queue, test_put, contract_cell(test, LATE), 0);
    test_caller_start(&hasty[1], test->queue, test_offer_timed, contract_cell(test, LATE + 2),
                      ROTA_SEC(1));
    test_clock_await_waiting(2);
    test_clock_advance(ROTA_SEC(1));
    for (size_t i = 0; i < 2; i++)
        test_caller_ends_any(&hasty[i], ROTA_ETIMEDOUT);
    test_caller_still_waits(&patient);
    for (size_t i = 0; i < count; i++)
        assert_ok(rota_queue_poll(test->queue, &element));
    assert_ok(rota_queue_take(test->queue, &element));
    assert_ptr_equal(element, contract_cell(test, LATE));
    test_caller_ends_any(&patient, ROTA_OK);
    contract_gives(test, 0, 0);
}
