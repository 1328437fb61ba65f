/* SPDX-License-Identifier: MIT */
/*
 * The transfer queue: a put goes on, a transfer waits until a consumer has its element.
 */
#include "queues.h"

#include "rota_test_internal.h"

#include "queue/fifo.h"

enum { CELLS = 10 };

static uint64_t cells[CELLS];
static rota_queue *queue;

static int make(void **state)
{
    for (size_t i = 0; i < CELLS; i++)
        cells[i] = i;
    return rota_transfer_queue(&queue);
}

static int unmake(void **state)
{
    int status = rota_queue_free(queue);

    test_clock_remove();
    return status == ROTA_OK && !rota_interrupted() ? 0 : -1;
}

TEST_FIXTURE(.setup = make, .teardown = unmake);

static void put(size_t i)
{
    assert_ok(rota_queue_put(queue, &cells[i]));
}

static void start_transfer(test_caller *giver, size_t i)
{
    test_caller_start(giver, queue, test_transfer, &cells[i], ROTA_HOURS(1));
}

static void gives(size_t i)
{
    void *element = NULL;

    assert_ok(rota_queue_poll(queue, &element));
    assert_ptr_equal(element, &cells[i]);
}

static void is_empty(void)
{
    void *element = TEST_UNTOUCHED;

    assert_int_equal(rota_queue_size(queue), 0);
    assert_status(rota_queue_poll(queue, &element), ROTA_EEMPTY);
    assert_status(rota_queue_peek(queue, &element), ROTA_EEMPTY);
    assert_ptr_equal(element, TEST_UNTOUCHED);
}

/* GEN-02. */
TEST(it_needs_a_place)
{
    assert_status(rota_transfer_queue(NULL), ROTA_EINVAL);
}

/* -- To a consumer that waits ------------------------------------------------------------- */

/* QUEUE-35, QUEUE-37: at once, with any timeout, also when interrupted. */
TEST(who_waits_gets_it_at_once)
{
    test_queue_call *const giving[] = {test_try_transfer, test_transfer, test_transfer,
                                       test_transfer, test_transfer};
    const rota_ns timeouts[] = {0, 0, INT64_MIN, ROTA_HOURS(1), ROTA_FOREVER};

    for (size_t i = 0; i < 10; i++) {
        test_caller consumer;
        void *element = &cells[i];
        test_caller_start(&consumer, queue, i < 5 ? test_take : test_poll_timed, NULL,
                          ROTA_HOURS(1));
        rota_thread_interrupt(rota_thread_self());
        assert_ok(giving[i % 5](queue, &element, timeouts[i % 5]));
        assert_true(rota_interrupted()); /* INT-05: it did not wait */
        assert_int_equal(rota_queue_waiting(queue), 0);
        is_empty();
        test_caller_ends(&consumer, ROTA_OK, &cells[i]);
    }
}

/* QUEUE-35, QUEUE-39: nobody waits, and nothing is left behind. */
TEST(it_is_not_given_to_nobody)
{
    const rota_ns no_time[] = {0, -1, INT64_MIN};

    for (int full = 0; full < 2; full++) {
        if (full)
            put(0);
        assert_status(rota_queue_try_transfer(queue, &cells[1]), ROTA_EFULL);
        for (size_t i = 0; i < 3; i++)
            assert_status(rota_queue_transfer(queue, &cells[1], no_time[i]), ROTA_ETIMEDOUT);
        assert_int_equal(rota_queue_size(queue), full);
        assert_false(rota_queue_contains(queue, &cells[1]));
    }
    gives(0);
}

/* QUEUE-35, QUEUE-37: each of several consumers once, none twice. */
TEST(as_many_can_be_given_as_wait)
{
    test_caller consumers[3];
    unsigned got[3] = {0};

    for (size_t i = 0; i < 3; i++)
        test_caller_start(&consumers[i], queue, test_take, NULL, 0);
    for (size_t i = 0; i < 3; i++)
        assert_ok(rota_queue_try_transfer(queue, &cells[i]));
    assert_status(rota_queue_try_transfer(queue, &cells[3]), ROTA_EFULL);
    for (size_t i = 0; i < 3; i++) {
        test_caller_ends_any(&consumers[i], ROTA_OK);
        got[*(uint64_t *)consumers[i].element]++;
    }
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(got[i], 1);
}

/* QUEUE-35: an element that was put serves the consumer, so that there is nobody to give to. */
TEST(who_is_served_by_a_put_waits_no_more)
{
    test_caller consumer;

    test_caller_start(&consumer, queue, test_take, NULL, 0);
    put(0);
    is_empty(); /* it is the consumer's, whether that has woken up or not */
    assert_status(rota_queue_try_transfer(queue, &cells[1]), ROTA_EFULL);
    test_caller_ends(&consumer, ROTA_OK, &cells[0]);
    is_empty();
}

/* -- A transfer that waits ---------------------------------------------------------------- */

static void taken_by(test_queue_call *call)
{
    test_caller giver;
    void *element = NULL;

    start_transfer(&giver, 3);
    assert_int_equal(rota_queue_size(queue), 1);
    assert_int_equal(rota_queue_waiting(queue), 0);
    assert_ok(call(queue, &element, 0));
    assert_ptr_equal(element, &cells[3]);
    test_caller_ends(&giver, ROTA_OK, &cells[3]);
    is_empty();
}

/* QUEUE-35: until a consumer has it, however it takes it. */
TEST(a_transfer_waits_until_its_element_is_taken)
{
    taken_by(test_take);
    taken_by(test_poll);
    taken_by(test_poll_timed);
}

/* QUEUE-36: in every way of looking, in its place. */
TEST(what_is_being_transferred_is_in_the_queue)
{
    test_caller giver;
    test_shown shown = {.count = 0};
    void *next = NULL;

    put(0);
    start_transfer(&giver, 1);
    put(2);
    assert_int_equal(rota_queue_size(queue), 3);
    assert_true(rota_queue_room(queue) == ROTA_UNBOUNDED);
    assert_true(rota_queue_contains(queue, &cells[1]));
    assert_int_equal(rota_queue_each(queue, test_show, &shown), 3);
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(shown.elements[i], &cells[i]);
    gives(0);
    assert_ok(rota_queue_peek(queue, &next));
    assert_ptr_equal(next, &cells[1]);
    test_caller_still_waits(&giver); /* looking takes nothing */
    gives(1);
    test_caller_ends(&giver, ROTA_OK, &cells[1]);
    gives(2);
}

/* QUEUE-36: several transfers and puts leave in the order in which they came. */
TEST(transfers_keep_their_place)
{
    test_caller givers[CELLS / 2];

    for (size_t i = 0; i < CELLS; i += 2) {
        put(i);
        start_transfer(&givers[i / 2], i + 1);
    }
    for (size_t i = 0; i < CELLS; i++) {
        gives(i);
        test_callers_await(givers, CELLS / 2, (i + 1) / 2);
        assert_int_equal(test_callers_ended(givers, CELLS / 2), (i + 1) / 2);
    }
    for (size_t i = 0; i < CELLS / 2; i++)
        test_caller_ends(&givers[i], ROTA_OK, &cells[2 * i + 1]);
    is_empty();
}

static void by_name(void)
{
    assert_true(rota_queue_remove(queue, &cells[1]));
    assert_false(rota_queue_remove(queue, &cells[1]));
    gives(0);
    gives(2);
}

static bool is_first(void *element, void *ctx)
{
    return element == &cells[1];
}

static void by_condition(void)
{
    assert_int_equal(rota_queue_remove_if(queue, is_first, NULL), 1);
    gives(0);
    gives(2);
}

static void all_of_them(void)
{
    assert_int_equal(rota_queue_remove_if(queue, NULL, NULL), 3);
}

static void by_drain(void)
{
    void *elements[3];

    assert_int_equal(rota_queue_drain(queue, elements, 3), 3);
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(elements[i], &cells[i]);
}

/* QUEUE-36, QUEUE-39: whoever removes it has it, so the transfer is done. */
TEST(a_transfer_ends_when_its_element_is_removed)
{
    void (*const ways[])(void) = {by_name, by_condition, all_of_them, by_drain};

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        test_caller giver;
        put(0);
        start_transfer(&giver, 1);
        put(2);
        ways[i]();
        test_caller_ends(&giver, ROTA_OK, &cells[1]);
        is_empty();
    }
}

/* -- A transfer that gives up ------------------------------------------------------------- */

/* INT-04, INT-05: with any timeout; nothing is left in the queue. */
TEST(an_interrupted_transfer_does_not_wait)
{
    const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_HOURS(1), 1, 0, -1, INT64_MIN};

    for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
        rota_thread_interrupt(rota_thread_self());
        assert_status(rota_queue_transfer(queue, &cells[0], timeouts[i]), ROTA_EINTERRUPTED);
        assert_false(rota_is_interrupted());
        is_empty();
    }
    rota_thread_interrupt(rota_thread_self());
    assert_status(rota_queue_try_transfer(queue, &cells[0]), ROTA_EFULL);
    assert_true(rota_interrupted()); /* INT-03: it never waits */
}

/* QUEUE-13, QUEUE-35, INT-06: out of the queue again, from its place between others. */
TEST(a_transfer_that_is_interrupted_takes_its_element_back)
{
    test_caller givers[3];

    put(0);
    for (size_t i = 0; i < 3; i++)
        start_transfer(&givers[i], i + 1);
    put(4);
    test_caller_interrupt(&givers[1]);
    test_caller_ends(&givers[1], ROTA_EINTERRUPTED, &cells[2]);
    assert_int_equal(rota_queue_size(queue), 4);
    assert_false(rota_queue_contains(queue, &cells[2]));
    gives(0);
    gives(1);
    test_caller_ends(&givers[0], ROTA_OK, &cells[1]);
    test_caller_still_waits(&givers[2]);
    gives(3);
    test_caller_ends(&givers[2], ROTA_OK, &cells[3]);
    gives(4);
}

/* QUEUE-13, QUEUE-36: what is removed before them does not confuse those that wait. */
TEST(each_transfer_ends_with_its_own_element)
{
    test_caller givers[2];

    put(0);
    put(1);
    start_transfer(&givers[0], 2);
    put(3);
    start_transfer(&givers[1], 4);
    assert_true(rota_queue_remove(queue, &cells[1]));
    gives(0);
    test_caller_still_waits(&givers[0]);
    gives(2);
    test_caller_ends(&givers[0], ROTA_OK, &cells[2]);
    assert_true(rota_queue_remove(queue, &cells[3]));
    test_caller_still_waits(&givers[1]);
    gives(4);
    test_caller_ends(&givers[1], ROTA_OK, &cells[4]);
}

/* GEN-06, QUEUE-35: not a nanosecond early; what was there before is there still. */
TEST(a_transfer_gives_up_on_time)
{
    test_caller giver;

    test_clock_install();
    rota_ns start = test_clock_now();
    put(0);
    start_transfer(&giver, 1);
    put(2);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_HOURS(1) - 1);
    test_caller_still_waits(&giver);
    assert_int_equal(rota_queue_size(queue), 3);
    test_clock_advance(1);
    test_caller_ends(&giver, ROTA_ETIMEDOUT, &cells[1]);
    assert_true(giver.ended_at == start + ROTA_HOURS(1));
    assert_int_equal(rota_queue_size(queue), 2);
    gives(0);
    gives(2);
}

/* GEN-06, QUEUE-35: by the real clock. */
TEST(a_transfer_gives_up_not_early)
{
    rota_ns start = rota_now();

    assert_status(rota_queue_transfer(queue, &cells[0], ROTA_MS(2)), ROTA_ETIMEDOUT);
    assert_true(rota_now() - start >= ROTA_MS(2));
    is_empty();
}

/* The first, the last and the only one in the queue give up, and it works on. */
TEST(the_queue_works_on_after_transfers_that_gave_up)
{
    test_caller givers[3];

    for (size_t i = 0; i < 3; i++)
        start_transfer(&givers[i], i);
    for (size_t i = 3; i-- > 0;) {
        test_caller_interrupt(&givers[i]);
        test_caller_ends(&givers[i], ROTA_EINTERRUPTED, &cells[i]);
        assert_int_equal(rota_queue_size(queue), i);
    }
    is_empty();
    for (size_t i = 0; i < CELLS; i++)
        put(i);
    for (size_t i = 0; i < CELLS; i++)
        gives(i);
    is_empty();
}

/* The same element may be transferred twice at once; each transfer has its own. */
TEST(the_same_element_may_be_transferred_twice)
{
    test_caller givers[2];

    for (size_t i = 0; i < 2; i++)
        start_transfer(&givers[i], 5);
    assert_int_equal(rota_queue_size(queue), 2);
    gives(5);
    test_callers_await(givers, 2, 1);
    assert_int_equal(test_callers_ended(givers, 2), 1);
    gives(5);
    for (size_t i = 0; i < 2; i++)
        test_caller_ends(&givers[i], ROTA_OK, &cells[5]);
}

/* -- The end ------------------------------------------------------------------------------ */

/* EBUSY; when the transfer is over it can be freed. */
TEST(it_is_not_freed_while_a_transfer_waits)
{
    test_caller giver;

    put(0);
    start_transfer(&giver, 1);
    for (int i = 0; i < 3; i++)
        assert_status(rota_queue_free(queue), ROTA_EBUSY);
    test_caller_still_waits(&giver);
    gives(0);
    assert_status(rota_queue_free(queue), ROTA_EBUSY);
    test_caller_interrupt(&giver);
    test_caller_ends(&giver, ROTA_EINTERRUPTED, &cells[1]);
}

static bool is_contended(void *lock)
{
    return rota__load_acquire(&((rota__mutex *)lock)->word) == ROTA__CONTENDED;
}

/* Its time is up while a consumer, who has the lock, takes its element. */
TEST(a_transfer_whose_element_is_taken_as_it_gives_up_was_one)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    test_caller giver;

    test_clock_install();
    test_caller_start(&giver, queue, test_transfer, &cells[0], ROTA_SEC(1));
    test_clock_await_waiting(1);
    rota__mutex_lock(&fifo->front.lock);
    test_clock_advance(ROTA_SEC(1));
    test_until(is_contended, &fifo->front.lock);
    rota__transfer_taken(fifo, 0);
    rota__mutex_unlock(&fifo->front.lock);
    test_caller_ends(&giver, ROTA_OK, &cells[0]);
    gives(0);
}
