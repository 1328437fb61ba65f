/* SPDX-License-Identifier: MIT */
/*
 * queue_contract_insert.c - putting elements in, as far as nobody has to wait.
 */
#include "queue_contract.h"

static const struct way {
    test_queue_call *call;
    rota_ns timeout;
} ways[] = {
    {test_put, 0},
    {test_offer, 0},
    {test_offer_timed, 0},
    {test_offer_timed, -1},
    {test_offer_timed, INT64_MIN},
    {test_offer_timed, ROTA_MS(1)},
    {test_offer_timed, ROTA_HOURS(1)},
    {test_offer_timed, ROTA_FOREVER},
};

enum { WAYS = sizeof ways / sizeof ways[0] };

static int insert_by(contract *test, size_t i)
{
    const struct way *way = &ways[i % WAYS];
    void *element = contract_cell(test, i);

    return way->call(test->queue, &element, way->timeout);
}

static bool never_asked(void *element, void *ctx)
{
    test_die(__FILE__, __LINE__, "there was nothing to ask about");
}

/* QUEUE-16, QUEUE-40: nothing is in it, by any call. */
CONTRACT(ANY_KIND, a_new_queue_is_empty)
{
    contract *test = *state;
    void *element = TEST_UNTOUCHED;

    contract_holds(test, 0, 0);
    contract_gives(test, 0, 0);
    for (size_t i = 0; i < CONTRACT_NO_TIMES; i++)
        assert_status(rota_queue_poll_timed(test->queue, contract_no_time[i], &element),
                      ROTA_ETIMEDOUT);
    assert_int_equal(rota_queue_drain(test->queue, &element, 1), 0);
    assert_ptr_equal(element, TEST_UNTOUCHED);
    assert_false(rota_queue_contains(test->queue, contract_cell(test, 0)));
    assert_false(rota_queue_remove(test->queue, contract_cell(test, 0)));
    assert_int_equal(rota_queue_remove_if(test->queue, never_asked, NULL), 0);
    assert_int_equal(rota_queue_remove_if(test->queue, NULL, NULL), 0);
    assert_int_equal(rota_queue_waiting(test->queue), 0);
}

/* QUEUE-16: in every way. */
CONTRACT(HAS_ROOM, what_is_inserted_is_seen_at_once)
{
    contract *test = *state;

    for (size_t i = 0; i < TEST_QUEUE_CAPACITY; i++) {
        assert_false(rota_queue_contains(test->queue, contract_cell(test, i)));
        assert_ok(insert_by(test, i));
        assert_true(rota_queue_contains(test->queue, contract_cell(test, i)));
        contract_holds(test, 0, i + 1);
    }
    contract_gives(test, 0, TEST_QUEUE_CAPACITY);
}

static void assert_full(contract *test)
{
    void *late = contract_cell(test, LATE);

    assert_status(rota_queue_offer(test->queue, late), ROTA_EFULL);
    for (size_t i = 0; i < CONTRACT_NO_TIMES; i++)
        assert_status(rota_queue_offer_timed(test->queue, late, contract_no_time[i]),
                      ROTA_ETIMEDOUT);
    assert_false(rota_queue_contains(test->queue, late));
    assert_int_equal(rota_queue_room(test->queue), 0);
}

/* QUEUE-04 */
CONTRACT(MAY_BE_FULL, what_is_full_takes_no_more)
{
    contract *test = *state;
    size_t count = contract_fill(test);

    assert_full(test);
    contract_holds(test, 0, count);
    contract_gives(test, 0, count);
}

/* QUEUE-04: each that leaves makes room for one. */
CONTRACT(BOUNDED, each_that_leaves_makes_room_for_one)
{
    contract *test = *state;
    size_t count = contract_fill(test);
    void *element;

    for (size_t i = 0; i < 3 * count; i++) {
        assert_ok(rota_queue_poll(test->queue, &element));
        assert_ptr_equal(element, contract_cell(test, i));
        contract_holds(test, i + 1, count - 1);
        assert_ok(insert_by(test, count + i));
        assert_status(rota_queue_offer(test->queue, element), ROTA_EFULL);
        contract_holds(test, i + 1, count);
    }
}

/* QUEUE-04 */
CONTRACT(HAS_ROOM, size_and_room_are_exact)
{
    contract *test = *state;
    void *element;

    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < TEST_QUEUE_CAPACITY; i++) {
            contract_holds(test, 0, i);
            assert_ok(insert_by(test, i));
        }
        for (size_t i = 0; i < TEST_QUEUE_CAPACITY; i++) {
            contract_holds(test, i, TEST_QUEUE_CAPACITY - i);
            assert_ok(rota_queue_poll(test->queue, &element));
        }
    }
}

/* QUEUE-04, QUEUE-39: in every way, and it always has room. */
CONTRACT(UNBOUNDED, without_a_bound_it_is_never_full)
{
    contract *test = *state;

    for (size_t i = 0; i < 1000; i++)
        assert_ok(insert_by(test, i));
    contract_holds(test, 0, 1000);
    contract_gives(test, 0, 1000);
}

/* The same pointer may be in it twice, and leaves twice. */
CONTRACT(HAS_ROOM, the_same_element_may_be_in_it_twice)
{
    contract *test = *state;
    void *cell = contract_cell(test, 0);
    void *element = NULL;

    for (int i = 0; i < 3; i++)
        assert_ok(rota_queue_put(test->queue, cell));
    contract_insert(test, 1, 1);
    assert_int_equal(rota_queue_size(test->queue), 4);
    assert_true(rota_queue_remove(test->queue, cell)); /* QUEUE-03: one of them */
    assert_true(rota_queue_contains(test->queue, cell));
    for (int i = 0; i < 2; i++) {
        assert_ok(rota_queue_take(test->queue, &element));
        assert_ptr_equal(element, cell);
    }
    assert_false(rota_queue_contains(test->queue, cell));
    contract_gives(test, 1, 1);
}

/* An element is a pointer, and is not looked behind. */
CONTRACT(HAS_ROOM | ANY_POINTER, any_pointer_but_null_is_an_element)
{
    contract *test = *state;
    void *const odd[] = {(void *)1, (void *)UINTPTR_MAX, (void *)(UINTPTR_MAX / 2 + 1), (void *)2};
    void *element;

    for (size_t i = 0; i < 4; i++)
        assert_ok(rota_queue_offer(test->queue, odd[i]));
    assert_true(rota_queue_contains(test->queue, odd[1]));
    assert_true(rota_queue_remove(test->queue, odd[2]));
    for (size_t i = 0; i < 4; i++) {
        if (i == 2)
            continue;
        assert_ok(rota_queue_poll(test->queue, &element));
        assert_ptr_equal(element, odd[i]);
    }
}
