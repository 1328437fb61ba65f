/* SPDX-License-Identifier: MIT */
/*
 * The hand-off queue, in both modes: no room at all, a put meets a take.
 */
#include "queues.h"

#include "rota_test_internal.h"

enum { CELLS = 10 };

static uint64_t cells[CELLS];
static rota_queue *queue;
static bool is_fair;

static int make(void **state)
{
    is_fair = *state != NULL;
    return is_fair ? rota_fair_handoff_queue(&queue) : rota_handoff_queue(&queue);
}

static int unmake(void **state)
{
    int status = rota_queue_free(queue);

    test_clock_remove();
    return status == ROTA_OK && !rota_interrupted() ? 0 : -1;
}

static test_kind mode(size_t i)
{
    const test_kind modes[] = {
        {.name = "newest first"}, {.name = "fair", .value = &is_fair}, {.name = NULL}};

    return modes[i];
}

TEST_FIXTURE(.setup = make, .teardown = unmake, .kind = mode);

static void start_producer(test_caller *producer, test_queue_call *call, size_t i)
{
    test_caller_start(producer, queue, call, &cells[i], ROTA_HOURS(1));
}

static void start_producers(test_caller *producers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        start_producer(&producers[i], i % 2 == 0 ? test_put : test_offer_timed, i);
}

static bool never_asked(void *element, void *ctx)
{
    test_die(__FILE__, __LINE__, "there was nothing to ask about");
}

static void never_shown(void *element, void *ctx)
{
    test_die(__FILE__, __LINE__, "there was nothing to show");
}

static void looks_empty(void)
{
    void *element = TEST_UNTOUCHED;

    assert_int_equal(rota_queue_size(queue), 0);
    assert_int_equal(rota_queue_room(queue), 0);
    assert_status(rota_queue_peek(queue, &element), ROTA_EEMPTY);
    assert_ptr_equal(element, TEST_UNTOUCHED);
    assert_false(rota_queue_contains(queue, &cells[0]));
    assert_false(rota_queue_remove(queue, &cells[0]));
    assert_int_equal(rota_queue_remove_if(queue, never_asked, NULL), 0);
    assert_int_equal(rota_queue_remove_if(queue, NULL, NULL), 0);
    assert_int_equal(rota_queue_each(queue, never_shown, NULL), 0);
}

/* -- Nobody there ------------------------------------------------------------------------- */

/* QUEUE-30, QUEUE-31 */
TEST(alone_nobody_gets_rid_of_anything)
{
    void *element = TEST_UNTOUCHED;

    looks_empty();
    assert_status(rota_queue_offer(queue, &cells[0]), ROTA_EFULL);
    assert_status(rota_queue_offer_timed(queue, &cells[0], 0), ROTA_ETIMEDOUT);
    assert_status(rota_queue_offer_timed(queue, &cells[0], INT64_MIN), ROTA_ETIMEDOUT);
    assert_status(rota_queue_poll(queue, &element), ROTA_EEMPTY);
    assert_status(rota_queue_poll_timed(queue, 0, &element), ROTA_ETIMEDOUT);
    assert_int_equal(rota_queue_drain(queue, &element, 1), 0);
    assert_ptr_equal(element, TEST_UNTOUCHED);
    looks_empty();
}

/* QUEUE-30: what a producer holds out is not in the queue, and stays with it. */
TEST(it_is_empty_while_producers_wait)
{
    test_caller producers[2];
    void *element = NULL;

    start_producers(producers, 2);
    looks_empty();
    for (size_t i = 0; i < 2; i++)
        test_caller_still_waits(&producers[i]);
    for (size_t i = 0; i < 2; i++)
        assert_ok(rota_queue_poll(queue, &element));
    for (size_t i = 0; i < 2; i++)
        test_caller_ends_any(&producers[i], ROTA_OK);
}

/* QUEUE-30, QUEUE-37: nor does a consumer make room. */
TEST(it_has_no_room_while_a_consumer_waits)
{
    test_caller consumer;

    test_caller_start(&consumer, queue, test_take, NULL, 0);
    looks_empty();
    assert_int_equal(rota_queue_waiting(queue), 1);
    assert_ok(rota_queue_offer(queue, &cells[0]));
    assert_int_equal(rota_queue_waiting(queue), 0);
    assert_status(rota_queue_offer(queue, &cells[1]), ROTA_EFULL); /* it is served */
    test_caller_ends(&consumer, ROTA_OK, &cells[0]);
}

/* -- Two meet ----------------------------------------------------------------------------- */

/* QUEUE-31: every way of taking meets every way of putting that waits. */
TEST(a_producer_that_waits_meets_a_consumer)
{
    test_queue_call *const putting[] = {test_put, test_offer_timed};
    test_queue_call *const taking[] = {test_take, test_poll, test_poll_timed};

    for (size_t i = 0; i < 6; i++) {
        test_caller producer;
        void *element = NULL;
        start_producer(&producer, putting[i % 2], i);
        assert_ok(taking[i / 2](queue, &element, 0));
        assert_ptr_equal(element, &cells[i]);
        test_caller_ends(&producer, ROTA_OK, &cells[i]);
        assert_status(rota_queue_poll(queue, &element), ROTA_EEMPTY); /* it came once */
    }
}

/* QUEUE-31: and the other way round; the put returns at once. */
TEST(a_consumer_that_waits_meets_a_producer)
{
    test_queue_call *const putting[] = {test_put, test_offer, test_offer_timed};
    test_queue_call *const taking[] = {test_take, test_poll_timed};

    for (size_t i = 0; i < 6; i++) {
        test_caller consumer;
        void *element = &cells[i];
        test_caller_start(&consumer, queue, taking[i % 2], NULL, ROTA_HOURS(1));
        assert_ok(putting[i / 2](queue, &element, 0));
        test_caller_ends(&consumer, ROTA_OK, &cells[i]);
        assert_status(rota_queue_offer(queue, element), ROTA_EFULL);
    }
}

/* QUEUE-32: as many as there are, or as are wanted; those that gave are released. */
TEST(a_drain_takes_from_producers_that_wait)
{
    test_caller producers[3];
    void *elements[4] = {NULL, NULL, NULL, TEST_UNTOUCHED};
    unsigned got[3] = {0};

    start_producers(producers, 3);
    assert_int_equal(rota_queue_drain(queue, elements, 2), 2);
    test_callers_await(producers, 3, 2);
    assert_int_equal(test_callers_ended(producers, 3), 2);
    assert_int_equal(rota_queue_drain(queue, elements + 2, 2), 1);
    assert_ptr_equal(elements[3], TEST_UNTOUCHED);
    for (size_t i = 0; i < 3; i++) {
        test_caller_ends_any(&producers[i], ROTA_OK);
        got[*(uint64_t *)elements[i]]++;
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(got[i], 1);
        if (is_fair)
            assert_ptr_equal(elements[i], &cells[i]);
    }
    assert_int_equal(rota_queue_drain(queue, elements, 4), 0);
}

/* -- Who goes first ----------------------------------------------------------------------- */

/* QUEUE-33: producers that came one after the other; the fair mode keeps the order. */
TEST(producers_are_served_in_turn)
{
    test_caller producers[CELLS];
    unsigned got[CELLS] = {0};
    void *element = NULL;

    start_producers(producers, CELLS);
    for (size_t i = 0; i < CELLS; i++) {
        assert_ok(rota_queue_take(queue, &element));
        got[*(uint64_t *)element]++;
        if (is_fair)
            assert_ptr_equal(element, &cells[i]);
    }
    for (size_t i = 0; i < CELLS; i++) {
        test_caller_ends(&producers[i], ROTA_OK, &cells[i]);
        assert_int_equal(got[i], 1);
    }
}

/* QUEUE-33: the same for consumers. */
TEST(consumers_are_served_in_turn)
{
    test_caller consumers[CELLS];
    unsigned got[CELLS] = {0};

    for (size_t i = 0; i < CELLS; i++)
        test_caller_start(&consumers[i], queue, i % 2 == 0 ? test_take : test_poll_timed, NULL,
                          ROTA_HOURS(1));
    for (size_t i = 0; i < CELLS; i++)
        assert_ok(rota_queue_offer(queue, &cells[i]));
    for (size_t i = 0; i < CELLS; i++) {
        test_caller_ends_any(&consumers[i], ROTA_OK);
        got[*(uint64_t *)consumers[i].element]++;
        if (is_fair)
            assert_ptr_equal(consumers[i].element, &cells[i]);
    }
    for (size_t i = 0; i < CELLS; i++)
        assert_int_equal(got[i], 1);
}

/* -- Who gives up ------------------------------------------------------------------------- */

/* QUEUE-34: of five in line, the first, the last and one between leave; their elements never come. */
TEST(who_was_interrupted_is_out_of_the_line)
{
    test_caller producers[5];
    void *element = NULL;
    uint64_t sum = 0;

    start_producers(producers, 5);
    for (size_t i = 0; i < 5; i += 2) {
        test_caller_interrupt(&producers[i]);
        test_caller_ends_any(&producers[i], ROTA_EINTERRUPTED);
    }
    for (size_t i = 1; i < 5; i += 2) {
        assert_ok(rota_queue_poll(queue, &element));
        sum += *(uint64_t *)element;
        if (is_fair)
            assert_ptr_equal(element, &cells[i]);
    }
    assert_int_equal(sum, 1 + 3);
    assert_status(rota_queue_poll(queue, &element), ROTA_EEMPTY);
    for (size_t i = 1; i < 5; i += 2)
        test_caller_ends_any(&producers[i], ROTA_OK);
}

/* QUEUE-34: the same when their time runs out. */
TEST(whose_time_ran_out_is_out_of_the_line)
{
    test_caller producers[3];
    void *element = NULL;

    test_clock_install();
    for (size_t i = 0; i < 3; i++)
        test_caller_start(&producers[i], queue, test_offer_timed, &cells[i],
                          ROTA_SEC(i == 1 ? 2 : 1));
    test_clock_await_waiting(3);
    test_clock_advance(ROTA_SEC(1));
    test_caller_ends_any(&producers[0], ROTA_ETIMEDOUT);
    test_caller_ends_any(&producers[2], ROTA_ETIMEDOUT);
    assert_ok(rota_queue_poll(queue, &element));
    assert_ptr_equal(element, &cells[1]);
    test_caller_ends_any(&producers[1], ROTA_OK);
    assert_status(rota_queue_poll(queue, &element), ROTA_EEMPTY);
}

/* QUEUE-34: a consumer that gave up cannot be served. */
TEST(consumers_that_gave_up_are_out_of_the_line)
{
    test_caller consumers[3];

    for (size_t i = 0; i < 3; i++)
        test_caller_start(&consumers[i], queue, test_take, NULL, 0);
    for (size_t i = 0; i < 3; i += 2) {
        test_caller_interrupt(&consumers[i]);
        test_caller_ends(&consumers[i], ROTA_EINTERRUPTED, TEST_UNTOUCHED);
    }
    assert_int_equal(rota_queue_waiting(queue), 1);
    assert_ok(rota_queue_offer(queue, &cells[0]));
    assert_status(rota_queue_offer(queue, &cells[1]), ROTA_EFULL);
    test_caller_ends(&consumers[1], ROTA_OK, &cells[0]);
}

/* GEN-10: who waits brings its own memory along. */
TEST(it_needs_no_memory)
{
    test_caller producer;
    test_caller consumer;
    void *element;

    start_producer(&producer, test_put, 0);
    test_memory_fail_at(1, true);
    assert_ok(rota_queue_take(queue, &element));
    assert_status(rota_queue_poll_timed(queue, 1, &element), ROTA_ETIMEDOUT);
    assert_status(rota_queue_offer_timed(queue, &cells[0], 1), ROTA_ETIMEDOUT);
    assert_int_equal(test_memory_asked(), 0);
    test_memory_fail_at(0, false);
    test_caller_start(&consumer, queue, test_take, NULL, 0);
    test_memory_fail_at(1, true);
    assert_ok(rota_queue_put(queue, &cells[1]));
    assert_int_equal(test_memory_asked(), 0);
    test_memory_fail_at(0, false);
    test_caller_ends(&producer, ROTA_OK, &cells[0]);
    test_caller_ends(&consumer, ROTA_OK, &cells[1]);
}

BEFORE_TESTS
{
    for (size_t i = 0; i < CELLS; i++)
        cells[i] = i;
    return true;
}
