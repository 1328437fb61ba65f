/* SPDX-License-Identifier: MIT */
/*
 * The linked queue: a bound of its own, or none, and memory for what is in it.
 */
#include "queue/fifo.h"
#include "queues.h"

enum { MANY = 2000 };

static uint64_t cells[MANY];

static rota_queue *make(size_t capacity)
{
    rota_queue *queue = NULL;

    assert_ok(rota_linked_queue(capacity, &queue));
    return queue;
}

static void put_all(rota_queue *queue, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_ok(rota_queue_put(queue, &cells[i]));
}

/* QUEUE-04, GEN-02: nothing is written. */
TEST(it_needs_a_capacity_and_a_place)
{
    rota_queue *queue = TEST_UNTOUCHED;

    assert_status(rota_linked_queue(0, &queue), ROTA_EINVAL);
    assert_status(rota_linked_queue(1, NULL), ROTA_EINVAL);
    assert_status(rota_linked_queue(ROTA_UNBOUNDED, NULL), ROTA_EINVAL);
    assert_ptr_equal(queue, TEST_UNTOUCHED);
}

/* QUEUE-20, QUEUE-39, FAULT-05: a bound that cannot be reached is a bound all the same. */
TEST(its_bound_may_be_as_large_as_one_likes)
{
    const size_t large[] = {1, 2, SIZE_MAX / 2, SIZE_MAX - 1};

    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        rota_queue *queue = make(large[i]);
        assert_true(rota_queue_room(queue) == large[i]);
        put_all(queue, 1);
        assert_true(rota_queue_room(queue) == large[i] - 1);
        assert_ok(rota_queue_free(queue));
    }
}

/* QUEUE-20, QUEUE-39: then its room is never less. */
TEST(without_a_bound_its_room_does_not_change)
{
    rota_queue *queue = make(ROTA_UNBOUNDED);

    assert_true(rota_queue_room(queue) == ROTA_UNBOUNDED);
    put_all(queue, MANY);
    assert_true(rota_queue_room(queue) == ROTA_UNBOUNDED);
    assert_int_equal(rota_queue_size(queue), MANY);
    assert_ok(rota_queue_free(queue));
}

/* QUEUE-20: the bound is exact. */
TEST(its_capacity_is_exact)
{
    for (size_t capacity = 1; capacity < MANY; capacity = 2 * capacity + 1) {
        rota_queue *queue = make(capacity);
        put_all(queue, capacity);
        assert_status(rota_queue_offer(queue, &cells[0]), ROTA_EFULL);
        assert_int_equal(rota_queue_size(queue), capacity);
        assert_int_equal(rota_queue_room(queue), 0);
        assert_ok(rota_queue_free(queue));
    }
}

/* GEN-10: a large bound costs nothing; elements do. */
TEST(memory_is_for_what_is_in_it)
{
    size_t before = test_memory_bytes();
    rota_queue *queue = make(SIZE_MAX / 2);
    size_t empty = test_memory_bytes() - before;

    assert_in_range(empty, 1, 8192);
    put_all(queue, MANY);
    assert_true(test_memory_bytes() - before >= MANY * sizeof(void *));
    assert_ok(rota_queue_free(queue));
}

/* QUEUE-21: each producer that goes on lets the next go on as long as there is room. */
TEST(one_drain_lets_all_producers_in)
{
    enum { PRODUCERS = 6, CAPACITY = 4 };
    rota_queue *queue = make(CAPACITY);
    test_caller producers[PRODUCERS];
    void *elements[CAPACITY];

    put_all(queue, CAPACITY);
    for (size_t i = 0; i < PRODUCERS; i++)
        test_caller_start(&producers[i], queue, test_put, &cells[CAPACITY + i], 0);
    assert_int_equal(rota_queue_drain(queue, elements, CAPACITY), CAPACITY);
    test_callers_await(producers, PRODUCERS, CAPACITY);
    assert_int_equal(rota_queue_drain(queue, elements, CAPACITY), CAPACITY);
    for (size_t i = 0; i < PRODUCERS; i++)
        test_caller_ends(&producers[i], ROTA_OK, &cells[CAPACITY + i]);
    assert_int_equal(rota_queue_size(queue), PRODUCERS - CAPACITY);
    assert_ok(rota_queue_free(queue));
}

/* QUEUE-07, QUEUE-21: each consumer that goes on lets the next go on as long as there are some. */
TEST(elements_that_come_together_serve_all_consumers)
{
    enum { CONSUMERS = 6 };
    rota_queue *queue = make(ROTA_UNBOUNDED);
    test_caller consumers[CONSUMERS];
    unsigned got[CONSUMERS] = {0};

    for (size_t i = 0; i < CONSUMERS; i++)
        test_caller_start(&consumers[i], queue, test_take, NULL, 0);
    put_all(queue, CONSUMERS);
    for (size_t i = 0; i < CONSUMERS; i++) {
        test_caller_ends_any(&consumers[i], ROTA_OK);
        got[*(uint64_t *)consumers[i].element]++;
    }
    for (size_t i = 0; i < CONSUMERS; i++)
        assert_int_equal(got[i], 1);
    assert_ok(rota_queue_free(queue));
}

/* QUEUE-13: removal anywhere in a long queue, in one go and one by one, keeps the rest in order. */
TEST(what_is_left_of_many_is_in_order)
{
    rota_queue *queue = make(ROTA_UNBOUNDED);
    void *element;

    put_all(queue, MANY);
    for (size_t i = 0; i < MANY; i++) {
        if (i % 3 != 1)
            assert_true(rota_queue_remove(queue, &cells[i]));
    }
    for (size_t i = 1; i < MANY; i += 3) {
        assert_ok(rota_queue_poll(queue, &element));
        assert_ptr_equal(element, &cells[i]);
    }
    assert_status(rota_queue_poll(queue, &element), ROTA_EEMPTY);
    assert_ok(rota_queue_free(queue));
}

/* QUEUE-20: "insert at the tail and removal at the head do not block each other": else this hangs. */
TEST(one_end_goes_on_while_the_other_is_held)
{
    const size_t capacities[] = {MANY, ROTA_UNBOUNDED};

    for (int i = 0; i < 2; i++) {
        rota_queue *queue = make(capacities[i]);
        rota__fifo *fifo = rota__fifo_of(queue);
        void *element;

        put_all(queue, 2);
        rota__mutex_lock(&fifo->front.lock);
        put_all(queue, MANY - 2);
        rota__mutex_unlock(&fifo->front.lock);
        assert_int_equal(rota_queue_size(queue), MANY);
        assert_ok(rota_queue_poll(queue, &element));
        rota__mutex_lock(&fifo->back.lock);
        for (int n = 1; n < MANY; n++)
            assert_ok(rota_queue_poll(queue, &element));
        rota__mutex_unlock(&fifo->back.lock);
        assert_status(rota_queue_poll(queue, &element), ROTA_EEMPTY);
        assert_ok(rota_queue_free(queue));
    }
}

BEFORE_TESTS
{
    for (size_t i = 0; i < MANY; i++)
        cells[i] = i;
    return true;
}
