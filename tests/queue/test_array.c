/* SPDX-License-Identifier: MIT */
/*
 * The array queue: a ring of fixed size.
 */
#include "queues.h"

enum { CELLS = 100 };

static uint64_t cells[CELLS];

static rota_queue *make(size_t capacity)
{
    rota_queue *queue = NULL;

    assert_ok(rota_array_queue(capacity, &queue));
    return queue;
}

static void put(rota_queue *queue, size_t i)
{
    assert_ok(rota_queue_offer(queue, &cells[i % CELLS]));
}

static void gives(rota_queue *queue, size_t i)
{
    void *element = NULL;

    assert_ok(rota_queue_poll(queue, &element));
    assert_ptr_equal(element, &cells[i % CELLS]);
}

/* Also a drain of one makes room, and lets in who waits for it. */
TEST(a_drain_of_one_lets_a_producer_in)
{
    rota_queue *queue = make(2);
    test_caller producer;
    void *element = NULL;

    put(queue, 0);
    put(queue, 1);
    test_caller_start(&producer, queue, test_put, &cells[2], ROTA_FOREVER);
    assert_int_equal(rota_queue_drain(queue, &element, 1), 1);
    assert_ptr_equal(element, &cells[0]);
    test_caller_ends(&producer, ROTA_OK, &cells[2]);
    gives(queue, 1);
    gives(queue, 2);
    assert_ok(rota_queue_free(queue));
}

/* QUEUE-04, GEN-02, FAULT-05: nothing is written. */
TEST(it_needs_a_capacity_and_a_place)
{
    rota_queue *queue = TEST_UNTOUCHED;

    assert_status(rota_array_queue(0, &queue), ROTA_EINVAL);
    assert_status(rota_array_queue(1, NULL), ROTA_EINVAL);
    assert_status(rota_array_queue(0, NULL), ROTA_EINVAL);
    assert_ptr_equal(queue, TEST_UNTOUCHED);
}

/*
 * QUEUE-39, FAULT-05: a size that overflows is never a small buffer; there is no array without a
 * bound.
 */
TEST(an_array_that_no_memory_holds_is_refused)
{
    const size_t absurd[] = {SIZE_MAX / 2, SIZE_MAX - 1, SIZE_MAX / 2 + 2, SIZE_MAX / 8 + 1,
                             SIZE_MAX / 8, SIZE_MAX - 7, ROTA_UNBOUNDED};
    rota_queue *queue = TEST_UNTOUCHED;

    for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++)
        assert_status(rota_array_queue(absurd[i], &queue), ROTA_ENOMEM);
    assert_ptr_equal(queue, TEST_UNTOUCHED);
}

/* QUEUE-04: exactly, from one on. */
TEST(its_capacity_is_exact)
{
    for (size_t capacity = 1; capacity < CELLS; capacity++) {
        rota_queue *queue = make(capacity);
        for (size_t i = 0; i < capacity; i++) {
            assert_int_equal(rota_queue_room(queue), capacity - i);
            put(queue, i);
            assert_int_equal(rota_queue_size(queue), i + 1);
        }
        assert_int_equal(rota_queue_room(queue), 0);
        assert_status(rota_queue_offer(queue, &cells[0]), ROTA_EFULL);
        assert_int_equal(rota_queue_size(queue), capacity);
        assert_ok(rota_queue_free(queue));
    }
}

/* QUEUE-18: at every level of filling, many times round. */
TEST(indices_wrap)
{
    for (size_t capacity = 1; capacity <= 9; capacity++) {
        for (size_t level = 0; level < capacity; level++) {
            rota_queue *queue = make(capacity);
            for (size_t i = 0; i < level; i++)
                put(queue, i);
            for (size_t i = 0; i < 10 * capacity; i++) {
                put(queue, level + i);
                gives(queue, i);
                assert_int_equal(rota_queue_size(queue), level);
            }
            assert_ok(rota_queue_free(queue));
        }
    }
}

static void removed_leaves_the_rest(size_t capacity, size_t offset, size_t gone)
{
    rota_queue *queue = make(capacity);

    for (size_t i = 0; i < offset; i++) {
        put(queue, i);
        gives(queue, i);
    }
    for (size_t i = 0; i < capacity; i++)
        put(queue, i);
    assert_true(rota_queue_remove(queue, &cells[gone]));
    assert_int_equal(rota_queue_room(queue), 1);
    put(queue, capacity);
    assert_status(rota_queue_offer(queue, &cells[0]), ROTA_EFULL);
    for (size_t i = 0; i <= capacity; i++) {
        if (i != gone)
            gives(queue, i);
    }
    assert_int_equal(rota_queue_size(queue), 0);
    assert_ok(rota_queue_free(queue));
}

/* QUEUE-13, QUEUE-18: each element of a full ring, wherever the ring begins. */
TEST(each_element_can_be_removed_wherever_it_lies)
{
    enum { CAPACITY = 7 };

    for (size_t offset = 0; offset < CAPACITY; offset++) {
        for (size_t gone = 0; gone < CAPACITY; gone++)
            removed_leaves_the_rest(CAPACITY, offset, gone);
    }
}

static bool is_even(void *element, void *ctx)
{
    return *(uint64_t *)element % 2 == 0;
}

/* QUEUE-06, QUEUE-13: what was removed in between is room again, at once and in full. */
TEST(holes_are_room)
{
    enum { CAPACITY = 8 };
    rota_queue *queue = make(CAPACITY);

    for (size_t round = 0; round < 20; round++) {
        for (size_t i = 0; i < CAPACITY; i++)
            put(queue, i);
        assert_int_equal(rota_queue_remove_if(queue, is_even, NULL), CAPACITY / 2);
        assert_int_equal(rota_queue_room(queue), CAPACITY / 2);
        for (size_t i = 0; i < CAPACITY / 2; i++)
            put(queue, 2 * CAPACITY + i);
        assert_status(rota_queue_offer(queue, &cells[0]), ROTA_EFULL);
        for (size_t i = 0; i < CAPACITY / 2; i++)
            gives(queue, 2 * i + 1);
        for (size_t i = 0; i < CAPACITY / 2; i++)
            gives(queue, 2 * CAPACITY + i);
        put(queue, round); /* so that it begins elsewhere next time */
        gives(queue, round);
    }
    assert_ok(rota_queue_free(queue));
}

/* QUEUE-08: holes do not keep a consumer waiting, nor let it in: what is left is what counts. */
TEST(an_array_of_holes_is_empty)
{
    rota_queue *queue = make(4);
    test_caller consumer;

    for (size_t i = 0; i < 4; i++)
        put(queue, i);
    for (size_t i = 4; i-- > 0;)
        assert_true(rota_queue_remove(queue, &cells[i]));
    test_caller_start(&consumer, queue, test_take, NULL, 0);
    assert_int_equal(rota_queue_waiting(queue), 1);
    put(queue, 9);
    test_caller_ends(&consumer, ROTA_OK, &cells[9]);
    assert_ok(rota_queue_free(queue));
}

/* GEN-10: all its memory was there when it was made. */
TEST(it_needs_no_more_memory)
{
    rota_queue *queue = make(8);
    void *elements[8];

    test_memory_fail_at(1, true);
    for (size_t round = 0; round < 100; round++) {
        for (size_t i = 0; i < 8; i++)
            put(queue, i);
        assert_true(rota_queue_remove(queue, &cells[round % 8]));
        assert_true(rota_queue_remove_if(queue, is_even, NULL) >= 3);
        gives(queue, round % 8 == 1 ? 3 : 1);
        assert_true(rota_queue_drain(queue, elements, 8) >= 2);
    }
    assert_int_equal(test_memory_asked(), 0);
    test_memory_fail_at(0, false);
    assert_ok(rota_queue_free(queue));
}

BEFORE_TESTS
{
    for (size_t i = 0; i < CELLS; i++)
        cells[i] = i;
    return true;
}
