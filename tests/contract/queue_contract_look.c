/* SPDX-License-Identifier: MIT */
/*
 * queue_contract_look.c - looking changes nothing. Beside others that change it: queue.each.
 */
#include "queue_contract.h"

#include <string.h>

enum { MANY = TEST_QUEUE_CAPACITY };

/* QUEUE-12 */
CONTRACT(HAS_ROOM, each_shows_every_element_once_and_in_order)
{
    contract *test = *state;

    for (size_t count = 0; count <= MANY; count++) {
        contract_insert(test, 0, count);
        contract_holds(test, 0, count);
        contract_holds(test, 0, count); /* it has changed nothing */
        contract_gives(test, 0, count);
    }
}

/* QUEUE-12: wherever the elements lie in it. */
CONTRACT(HAS_ROOM, each_shows_them_also_after_many_others)
{
    contract *test = *state;
    void *element;

    contract_insert(test, 0, MANY - 1);
    for (size_t i = 0; i < 3 * MANY; i++) {
        contract_insert(test, MANY - 1 + i, 1);
        contract_holds(test, i, MANY);
        assert_ok(rota_queue_poll(test->queue, &element));
    }
}

/* QUEUE-12: a queue that was looked at group by group. */
CONTRACT(UNBOUNDED, each_shows_a_thousand)
{
    contract *test = *state;

    contract_insert(test, 0, 1000);
    contract_holds(test, 0, 1000);
}

static void never(void *element, void *ctx)
{
    test_die(__FILE__, __LINE__, "an empty queue has shown an element");
}

/* QUEUE-12: never, also not a second time. */
CONTRACT(ANY_KIND, an_empty_queue_shows_nothing)
{
    contract *test = *state;

    assert_int_equal(rota_queue_each(test->queue, never, NULL), 0);
    size_t count = contract_fill(test);
    contract_gives(test, 0, count);
    assert_int_equal(rota_queue_each(test->queue, never, NULL), 0);
}

static bool is_odd(void *element, void *ctx)
{
    return *(uint64_t *)element % 2 == 1;
}

/* QUEUE-12, QUEUE-13: neither what was removed nor too little. */
CONTRACT(HAS_ROOM, each_shows_what_is_left)
{
    contract *test = *state;
    test_shown shown = {.count = 0};

    contract_insert(test, 0, MANY);
    assert_int_equal(rota_queue_remove_if(test->queue, is_odd, NULL), MANY / 2);
    assert_true(rota_queue_remove(test->queue, contract_cell(test, 0)));
    assert_true(rota_queue_remove(test->queue, contract_cell(test, MANY - 2)));
    contract_insert(test, MANY, 1);
    assert_int_equal(rota_queue_each(test->queue, test_show, &shown), MANY / 2 - 1);
    for (size_t i = 0; i < shown.count; i++)
        assert_ptr_equal(shown.elements[i],
                         contract_cell(test, i == shown.count - 1 ? MANY : 2 * (i + 1)));
}

/* The same pointer twice is shown twice. */
CONTRACT(HAS_ROOM, each_shows_the_same_element_as_often_as_it_is_in)
{
    contract *test = *state;
    test_shown shown = {.count = 0};

    for (int i = 0; i < 3; i++)
        contract_insert(test, 5, 1);
    assert_int_equal(rota_queue_each(test->queue, test_show, &shown), 3);
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(shown.elements[i], contract_cell(test, 5));
}

/* QUEUE-16: an element shows in all ways at once, and in none when it is gone. */
CONTRACT(HAS_ROOM, all_ways_of_looking_agree)
{
    contract *test = *state;
    uint64_t before[CELLS];

    memcpy(before, test->cells, sizeof before);
    for (size_t i = 0; i < MANY; i++) {
        contract_insert(test, i, 1);
        contract_holds(test, i, 1);
        assert_true(rota_queue_contains(test->queue, contract_cell(test, i)));
        contract_gives(test, i, 1);
        contract_holds(test, 0, 0);
        assert_false(rota_queue_contains(test->queue, contract_cell(test, i)));
    }
    assert_memory_equal(before, test->cells, sizeof before); /* elements are the user's */
}

static void look_around(void *arg)
{
    contract *test = arg;
    test_shown shown = {.count = 0};
    void *element;

    test_check(rota_queue_size(test->queue) == 0);
    test_check(rota_queue_room(test->queue) == test->kind->capacity);
    test_check(!rota_queue_contains(test->queue, contract_cell(test, 0)));
    test_check(rota_queue_peek(test->queue, &element) == ROTA_EEMPTY);
    test_check(rota_queue_each(test->queue, test_show, &shown) == 0);
    test_check(rota_queue_waiting(test->queue) == 1);
}

/* QUEUE-16, GEN-13: none of them waits for what a consumer waits for. */
CONTRACT(ANY_KIND, looking_waits_for_nobody)
{
    contract *test = *state;
    test_caller consumer;

    test_caller_start(&consumer, test->queue, test_take, NULL, 0);
    look_around(test);
    test_thread_join(test_thread_start(look_around, test));
    contract_insert(test, 0, 1);
    test_caller_ends(&consumer, ROTA_OK, contract_cell(test, 0));
}
