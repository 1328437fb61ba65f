/* SPDX-License-Identifier: MIT */
/*
 * queue_contract_wait.c - threads that wait for room or for an element are released by whatever
 * brings it, as many as it is enough for.
 */
#include "queue_contract.h"

enum { THREADS = 3 };

/* -- Producers ---------------------------------------------------------------------------- */

static void by_take(contract *test)
{
    void *element;

    assert_ok(rota_queue_take(test->queue, &element));
}

static void by_poll(contract *test)
{
    void *element;

    assert_ok(rota_queue_poll(test->queue, &element));
}

static void by_timed_poll(contract *test)
{
    void *element;

    assert_ok(rota_queue_poll_timed(test->queue, 0, &element));
}

static void by_name(contract *test)
{
    assert_true(rota_queue_remove(test->queue, contract_cell(test, 3)));
}

static bool is_third(void *element, void *ctx)
{
    return element == contract_cell(ctx, 2);
}

static void by_condition(contract *test)
{
    assert_int_equal(rota_queue_remove_if(test->queue, is_third, test), 1);
}

static void by_drain(contract *test)
{
    void *element;

    assert_int_equal(rota_queue_drain(test->queue, &element, 1), 1);
}

static void clear(contract *test)
{
    assert_true(rota_queue_remove_if(test->queue, NULL, NULL) > 0);
}

static void producer_goes_on(contract *test, test_queue_call *call, void (*leave)(contract *test))
{
    test_caller producer;
    void *late = contract_cell(test, LATE);
    size_t count = contract_fill(test);

    assert_status(rota_queue_offer(test->queue, late), ROTA_EFULL);
    test_caller_start(&producer, test->queue, call, late, ROTA_HOURS(1));
    assert_false(rota_queue_contains(test->queue, late));
    assert_int_equal(rota_queue_size(test->queue), count);
    leave(test);
    test_caller_ends(&producer, ROTA_OK, late);
    assert_int_equal(rota_queue_size(test->queue), leave == clear ? 1 : count);
    assert_true(rota_queue_remove(test->queue, late));
    assert_int_equal(rota_queue_remove_if(test->queue, NULL, NULL), leave == clear ? 0 : count - 1);
}

static void producers_go_on(contract *test, void (*leave)(contract *test))
{
    producer_goes_on(test, test_put, leave);
    producer_goes_on(test, test_offer_timed, leave);
}

/* QUEUE-06 */
CONTRACT(BOUNDED, a_producer_goes_on_after_a_take)
{
    producers_go_on(*state, by_take);
}

/* QUEUE-06. */
CONTRACT(BOUNDED, a_producer_goes_on_after_a_poll)
{
    producers_go_on(*state, by_poll);
}

/* QUEUE-06. */
CONTRACT(BOUNDED, a_producer_goes_on_after_a_timed_poll)
{
    producers_go_on(*state, by_timed_poll);
}

/* QUEUE-06. */
CONTRACT(BOUNDED, a_producer_goes_on_after_a_removal_by_name)
{
    producers_go_on(*state, by_name);
}

/* QUEUE-06. */
CONTRACT(BOUNDED, a_producer_goes_on_after_a_removal_by_condition)
{
    producers_go_on(*state, by_condition);
}

/* QUEUE-06 */
CONTRACT(BOUNDED, a_producer_goes_on_after_a_drain)
{
    producers_go_on(*state, by_drain);
}

/* QUEUE-06. */
CONTRACT(BOUNDED, a_producer_goes_on_after_all_were_removed)
{
    producers_go_on(*state, clear);
}

static void start_producers(contract *test, test_caller *producers)
{
    for (size_t i = 0; i < THREADS; i++)
        test_caller_start(&producers[i], test->queue, i == 1 ? test_offer_timed : test_put,
                          contract_cell(test, LATE + i), ROTA_HOURS(1));
}

/* Two of them have ended, and the third still waits. */
static void one_still_waits(test_caller *callers)
{
    test_callers_await(callers, THREADS, 2);
    for (size_t i = 0; i < THREADS; i++) {
        if (!atomic_load(&callers[i].ended))
            test_caller_still_waits(&callers[i]);
    }
    assert_int_equal(test_callers_ended(callers, THREADS), 2);
}

static void two_go_on(contract *test, void (*leave)(contract *test))
{
    test_caller producers[THREADS];
    size_t count = contract_fill(test);

    start_producers(test, producers);
    leave(test);
    one_still_waits(producers);
    assert_int_equal(rota_queue_size(test->queue), count);
    by_poll(test);
    for (size_t i = 0; i < THREADS; i++)
        test_caller_ends(&producers[i], ROTA_OK, contract_cell(test, LATE + i));
    for (size_t i = 0; i < THREADS; i++)
        assert_true(rota_queue_contains(test->queue, contract_cell(test, LATE + i)));
}

static void drain_two(contract *test)
{
    void *elements[2];

    assert_int_equal(rota_queue_drain(test->queue, elements, 2), 2);
    assert_ptr_equal(elements[0], contract_cell(test, 0));
    assert_ptr_equal(elements[1], contract_cell(test, 1));
}

/* QUEUE-06, QUEUE-21: a drain of two releases two, not one and not three. */
CONTRACT(BOUNDED, a_drain_of_several_releases_as_many)
{
    two_go_on(*state, drain_two);
}

static bool is_one_of_two(void *element, void *ctx)
{
    return element == contract_cell(ctx, 2) || element == contract_cell(ctx, 5);
}

static void remove_two(contract *test)
{
    assert_int_equal(rota_queue_remove_if(test->queue, is_one_of_two, test), 2);
}

/* QUEUE-06, QUEUE-21. */
CONTRACT(BOUNDED, a_removal_of_several_releases_as_many)
{
    two_go_on(*state, remove_two);
}

/* QUEUE-06, QUEUE-21. */
CONTRACT(BOUNDED, all_producers_go_on_after_all_were_removed)
{
    contract *test = *state;
    test_caller producers[THREADS];
    size_t count = contract_fill(test);

    start_producers(test, producers);
    assert_int_equal(rota_queue_remove_if(test->queue, NULL, NULL), count);
    for (size_t i = 0; i < THREADS; i++)
        test_caller_ends(&producers[i], ROTA_OK, contract_cell(test, LATE + i));
    assert_int_equal(rota_queue_size(test->queue), THREADS);
}

/* QUEUE-06, QUEUE-10: a drain of all, and of what a producer brings meanwhile. */
CONTRACT(BOUNDED, a_drain_may_take_what_a_producer_brings)
{
    contract *test = *state;
    test_caller producer;
    void *elements[LATE + 1];
    size_t count = contract_fill(test);

    test_caller_start(&producer, test->queue, test_put, contract_cell(test, LATE), 0);
    size_t drained = rota_queue_drain(test->queue, elements, count + 1);
    assert_in_range(drained, count, count + 1);
    for (size_t i = 0; i < drained; i++)
        assert_ptr_equal(elements[i], contract_cell(test, i < count ? i : LATE));
    test_caller_ends(&producer, ROTA_OK, contract_cell(test, LATE));
    contract_gives(test, LATE, count + 1 - drained);
}

static void put_one(void *arg)
{
    contract *test = arg;

    test_check(rota_queue_put(test->queue, &test->cells[LATE]) == ROTA_OK);
}

/* QUEUE-05, QUEUE-10: the old ones first; nothing is lost. */
CONTRACT(UNBOUNDED, a_drain_beside_a_put_loses_nothing)
{
    contract *test = *state;
    void *elements[LATE + 1];
    size_t count = contract_fill(test);
    test_thread *producer = test_thread_start(put_one, test);

    size_t drained = rota_queue_drain(test->queue, elements, count + 1);
    test_thread_join(producer);
    assert_in_range(drained, count, count + 1);
    drained += rota_queue_drain(test->queue, elements + drained, count + 1 - drained);
    assert_int_equal(drained, count + 1);
    for (size_t i = 0; i < drained; i++)
        assert_ptr_equal(elements[i], contract_cell(test, i < count ? i : LATE));
}

/* -- Consumers ---------------------------------------------------------------------------- */

static void consumer_gets(contract *test, test_queue_call *remove, test_queue_call *insert)
{
    test_caller consumer;
    void *cell = contract_cell(test, 7);

    test_caller_start(&consumer, test->queue, remove, NULL, ROTA_HOURS(1));
    assert_ok(insert(test->queue, &cell, ROTA_HOURS(1)));
    test_caller_ends(&consumer, ROTA_OK, cell);
    contract_holds(test, 0, 0);
}

/* QUEUE-07: by every way in which one can come, while one waits in each way. */
CONTRACT(ANY_KIND, a_consumer_gets_what_comes)
{
    test_queue_call *const removing[] = {test_take, test_poll_timed};
    test_queue_call *const inserting[] = {test_put, test_offer, test_offer_timed};

    for (size_t i = 0; i < 6; i++)
        consumer_gets(*state, removing[i / 3], inserting[i % 3]);
}

static void start_consumers(contract *test, test_caller *consumers)
{
    for (size_t i = 0; i < THREADS; i++)
        test_caller_start(&consumers[i], test->queue, i == 1 ? test_poll_timed : test_take, NULL,
                          ROTA_HOURS(1));
}

/* QUEUE-05, QUEUE-07, QUEUE-21: as many as elements, each with another one; the rest wait on. */
CONTRACT(ANY_KIND, as_many_consumers_go_on_as_elements_come)
{
    contract *test = *state;
    test_caller consumers[THREADS];
    unsigned got[THREADS] = {0};

    start_consumers(test, consumers);
    contract_insert(test, 0, 2);
    one_still_waits(consumers);
    contract_insert(test, 2, 1);
    for (size_t i = 0; i < THREADS; i++) {
        test_caller_ends_any(&consumers[i], ROTA_OK);
        got[*(uint64_t *)consumers[i].element]++;
    }
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(got[i], 1);
    contract_holds(test, 0, 0);
}

/* QUEUE-37: an insertion that serves one lowers the number before it returns. */
CONTRACT(ANY_KIND, waiting_counts_the_consumers_that_nothing_serves)
{
    contract *test = *state;
    test_caller consumers[THREADS];

    assert_int_equal(rota_queue_waiting(test->queue), 0);
    for (size_t i = 0; i < THREADS; i++) {
        test_caller_start(&consumers[i], test->queue, i == 1 ? test_poll_timed : test_take, NULL,
                          ROTA_HOURS(1));
        assert_int_equal(rota_queue_waiting(test->queue), i + 1);
    }
    for (size_t i = 0; i < THREADS; i++) {
        contract_insert(test, i, 1);
        assert_int_equal(rota_queue_waiting(test->queue), THREADS - 1 - i);
    }
    for (size_t i = 0; i < THREADS; i++)
        test_caller_ends_any(&consumers[i], ROTA_OK);
    assert_int_equal(rota_queue_waiting(test->queue), 0);
}

/* QUEUE-37: neither those that wait for room nor those that have given up. */
CONTRACT(ANY_KIND, waiting_counts_no_one_else)
{
    contract *test = *state;
    test_caller consumer;
    void *element;

    assert_status(rota_queue_poll_timed(test->queue, 1, &element), ROTA_ETIMEDOUT);
    assert_int_equal(rota_queue_waiting(test->queue), 0);
    test_caller_start(&consumer, test->queue, test_take, NULL, 0);
    assert_int_equal(rota_queue_waiting(test->queue), 1);
    test_caller_interrupt(&consumer);
    test_caller_ends(&consumer, ROTA_EINTERRUPTED, TEST_UNTOUCHED);
    assert_int_equal(rota_queue_waiting(test->queue), 0);
}

/* QUEUE-37. */
CONTRACT(MAY_BE_FULL, waiting_does_not_count_producers)
{
    contract *test = *state;
    test_caller producer;
    size_t count = contract_fill(test);

    test_caller_start(&producer, test->queue, test_put, contract_cell(test, LATE), 0);
    assert_int_equal(rota_queue_waiting(test->queue), 0);
    by_poll(test);
    test_caller_ends(&producer, ROTA_OK, contract_cell(test, LATE));
    assert_int_equal(rota_queue_waiting(test->queue), 0);
    assert_int_equal(rota_queue_size(test->queue), count);
}
