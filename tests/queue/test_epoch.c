/* SPDX-License-Identifier: MIT */
/*
 * The epoch of the consumers, for every kind of queue: waitq.W6, fifo.Q7.
 */
#include "queues.h"
#include "rota_test_internal.h"

#include "queue/fifo.h"

static uint64_t ranks[2] = {0, 1};
static rota_queue *queue;
static uint32_t old_epoch;

#define EACH_KIND(kind)                                  \
    for (const test_queue_kind *kind = test_queue_kinds; \
         kind < test_queue_kinds + TEST_QUEUE_KINDS; kind++)

static void make(const test_queue_kind *kind)
{
    assert_ok(kind->make(&queue));
    old_epoch = rota__queue_consumer_epoch(queue);
}

TEST(an_old_epoch_takes_nothing)
{
    EACH_KIND(kind)
    {
        void *taken = TEST_UNTOUCHED;

        if (kind->capacity == 0)
            continue;
        make(kind);
        assert_ok(rota__queue_insert(queue, &ranks[0]));
        assert_ok(rota__queue_insert(queue, &ranks[1]));
        assert_ptr_equal(rota__queue_take(queue, old_epoch), &ranks[0]);
        rota__queue_abort_consumers(queue);
        assert_int_not_equal(rota__queue_consumer_epoch(queue), old_epoch);
        assert_null(rota__queue_take(queue, old_epoch));
        assert_int_equal(rota__queue_take_waiting(queue, old_epoch, ROTA_FOREVER, &taken),
                         ROTA_EAGAIN);
        assert_ptr_equal(taken, TEST_UNTOUCHED);
        assert_ptr_equal(rota__queue_take(queue, rota__queue_consumer_epoch(queue)), &ranks[1]);
        assert_null(rota__queue_take(queue, ROTA__ANY_EPOCH));
        assert_ok(rota_queue_free(queue));
    }
}

static int take_in_epoch(rota_queue *from, void **element, rota_ns timeout)
{
    return rota__queue_take_waiting(from, old_epoch, timeout, element);
}

TEST(a_waiting_consumer_returns_when_its_epoch_ends)
{
    EACH_KIND(kind)
    {
        test_caller first, second;

        make(kind);
        test_caller_start(&first, queue, take_in_epoch, NULL, ROTA_FOREVER);
        test_caller_start(&second, queue, take_in_epoch, NULL, ROTA_FOREVER);
        rota__queue_abort_consumers(queue);
        test_caller_ends(&first, ROTA_EAGAIN, TEST_UNTOUCHED);
        test_caller_ends(&second, ROTA_EAGAIN, TEST_UNTOUCHED);
        assert_int_equal(rota_queue_waiting(queue), 0);
        assert_int_equal(rota__queue_take_waiting(queue, old_epoch, ROTA_FOREVER, &(void *){NULL}),
                         ROTA_EAGAIN);
        assert_ok(rota_queue_free(queue));
    }
}

static rota_ns in_an_hour(const void *element, void *ctx)
{
    return rota_now() + ROTA_HOURS(1);
}

/* The leader waits until its element is due, the other consumer for the leader. */
TEST(a_consumer_that_waits_for_a_time_returns_when_its_epoch_ends)
{
    test_caller first, second;

    assert_ok(rota_delay_queue(in_an_hour, NULL, &queue));
    old_epoch = rota__queue_consumer_epoch(queue);
    assert_ok(rota_queue_put(queue, &ranks[0]));
    test_caller_start(&first, queue, take_in_epoch, NULL, ROTA_FOREVER);
    test_caller_start(&second, queue, take_in_epoch, NULL, ROTA_FOREVER);
    rota__queue_abort_consumers(queue);
    test_caller_ends(&first, ROTA_EAGAIN, TEST_UNTOUCHED);
    test_caller_ends(&second, ROTA_EAGAIN, TEST_UNTOUCHED);
    assert_true(rota_queue_remove(queue, &ranks[0]));
    assert_ok(rota_queue_free(queue));
}

/* ready_at says when an element that is not due will be. */
TEST(an_element_is_removed_only_if_it_is_due)
{
    rota_ns ready_at = 0;

    assert_ok(rota_delay_queue(in_an_hour, NULL, &queue));
    rota_ns before = in_an_hour(NULL, NULL);
    assert_ok(rota_queue_put(queue, &ranks[0]));
    assert_false(queue->kind->remove_due(queue, &ranks[0], &ready_at));
    assert_true(ready_at >= before && ready_at <= in_an_hour(NULL, NULL));
    assert_false(queue->kind->remove_due(queue, &ranks[1], &ready_at));
    assert_true(ready_at == ROTA_FOREVER);
    assert_true(rota_queue_remove(queue, &ranks[0]));
    assert_ok(rota_queue_free(queue));
    EACH_KIND(kind)
    {
        make(kind);
        bool is_stored = rota_queue_offer(queue, &ranks[0]) == ROTA_OK;
        assert_int_equal(queue->kind->remove_due(queue, &ranks[0], &ready_at), is_stored);
        assert_false(queue->kind->remove_due(queue, &ranks[0], &ready_at));
        assert_true(ready_at == ROTA_FOREVER);
        assert_ok(rota_queue_free(queue));
    }
}
