/* SPDX-License-Identifier: MIT */
/*
 * queue_contract_remove.c - taking elements out, as far as nobody has to wait.
 */
#include "queue_contract.h"

enum { MANY = TEST_QUEUE_CAPACITY };

/* -- From the front ----------------------------------------------------------------------- */

static void come_out_by(contract *test, test_queue_call *call, rota_ns timeout)
{
    void *element = NULL;

    contract_insert(test, 0, MANY);
    for (size_t i = 0; i < MANY; i++) {
        assert_ok(call(test->queue, &element, timeout));
        assert_ptr_equal(element, contract_cell(test, i));
    }
    contract_gives(test, 0, 0);
}

/* QUEUE-40 */
CONTRACT(HAS_ROOM, take_gives_them_in_order)
{
    come_out_by(*state, test_take, 0);
}

/* QUEUE-40 */
CONTRACT(HAS_ROOM, poll_gives_them_in_order)
{
    come_out_by(*state, test_poll, 0);
}

/* QUEUE-09: with any timeout. */
CONTRACT(HAS_ROOM, a_timed_poll_gives_them_in_order)
{
    const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_SEC(10), 1, 0, -1, INT64_MIN};

    for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++)
        come_out_by(*state, test_poll_timed, timeouts[i]);
}

/* QUEUE-40: and leaves it there. */
CONTRACT(HAS_ROOM, peek_shows_what_comes_next)
{
    contract *test = *state;
    void *next = NULL;
    void *element = NULL;

    contract_insert(test, 0, MANY);
    for (size_t i = 0; i < MANY; i++) {
        assert_ok(rota_queue_peek(test->queue, &next));
        assert_int_equal(rota_queue_size(test->queue), MANY - i);
        assert_ok(rota_queue_poll(test->queue, &element));
        assert_ptr_equal(element, next);
    }
    next = TEST_UNTOUCHED;
    assert_status(rota_queue_peek(test->queue, &next), ROTA_EEMPTY);
    assert_ptr_equal(next, TEST_UNTOUCHED);
}

/* -- By name ------------------------------------------------------------------------------ */

/* QUEUE-16 */
CONTRACT(HAS_ROOM, it_contains_what_has_not_left)
{
    contract *test = *state;
    void *element;

    contract_insert(test, 0, MANY);
    for (size_t left = 0; left < MANY; left++) {
        for (size_t i = 0; i < MANY; i++)
            assert_int_equal(rota_queue_contains(test->queue, contract_cell(test, i)), i >= left);
        assert_ok(rota_queue_poll(test->queue, &element));
    }
    assert_false(rota_queue_contains(test->queue, contract_cell(test, MANY - 1)));
}

static void remove_every_second(contract *test, size_t first)
{
    for (size_t i = first; i < MANY; i += 2) {
        void *cell = contract_cell(test, i);
        assert_true(rota_queue_contains(test->queue, cell));
        assert_true(rota_queue_remove(test->queue, cell));
        assert_false(rota_queue_contains(test->queue, cell));
        assert_false(rota_queue_remove(test->queue, cell));
    }
}

/* QUEUE-03: true once for each that was there. */
CONTRACT(HAS_ROOM, each_can_be_removed_by_name)
{
    contract *test = *state;

    contract_insert(test, 0, MANY);
    remove_every_second(test, 1);
    assert_int_equal(rota_queue_size(test->queue), MANY / 2);
    remove_every_second(test, 0);
    contract_holds(test, 0, 0);
    contract_gives(test, 0, 0);
}

/* What is left of the first `count` after the i-th has gone comes out in order. */
static void gives_all_but(contract *test, size_t gone, size_t count)
{
    void *element = NULL;

    for (size_t i = 0; i < count; i++) {
        if (i == gone)
            continue;
        assert_ok(rota_queue_poll(test->queue, &element));
        assert_ptr_equal(element, contract_cell(test, i));
    }
    contract_gives(test, 0, 0);
}

/* QUEUE-13: first, last or in between, from queues of any length: as if it had never been there. */
CONTRACT(HAS_ROOM, what_is_removed_leaves_no_trace)
{
    contract *test = *state;

    for (size_t count = 1; count <= MANY; count++) {
        for (size_t gone = 0; gone < count; gone++) {
            contract_insert(test, 0, count);
            assert_true(rota_queue_remove(test->queue, contract_cell(test, gone)));
            assert_int_equal(rota_queue_size(test->queue), count - 1);
            contract_insert(test, count, 1);
            gives_all_but(test, gone, count + 1);
        }
    }
}

/* QUEUE-13: two in, both out by name, one in, which is the one that comes. */
CONTRACT(HAS_ROOM, the_next_comes_after_two_were_removed)
{
    contract *test = *state;
    void *element = NULL;

    contract_insert(test, 0, 2);
    assert_true(rota_queue_remove(test->queue, contract_cell(test, 0)));
    assert_true(rota_queue_remove(test->queue, contract_cell(test, 1)));
    contract_holds(test, 0, 0);
    assert_ok(rota_queue_put(test->queue, contract_cell(test, 2)));
    assert_ok(rota_queue_take(test->queue, &element));
    assert_ptr_equal(element, contract_cell(test, 2));
}

/* QUEUE-03: of the same one twice, that which came first; visiting shows which is left. */
CONTRACT(HAS_ROOM, the_first_of_two_is_removed)
{
    contract *test = *state;
    const size_t all[] = {0, 1, 0, 2};
    const size_t left[] = {1, 0, 2};
    test_shown shown = {.count = 0};

    for (size_t i = 0; i < 4; i++)
        contract_insert(test, all[i], 1);
    assert_true(rota_queue_remove(test->queue, contract_cell(test, 0)));
    assert_int_equal(rota_queue_each(test->queue, test_show, &shown), 3);
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(shown.elements[i], contract_cell(test, left[i]));
}

/* QUEUE-03: an element is a pointer; what lies behind it does not count. */
CONTRACT(HAS_ROOM, an_equal_element_is_another_one)
{
    contract *test = *state;
    uint64_t twin = test->cells[0];

    contract_insert(test, 0, 2);
    assert_false(rota_queue_contains(test->queue, &twin));
    assert_false(rota_queue_remove(test->queue, &twin));
    contract_holds(test, 0, 2);
}

/* -- By condition ------------------------------------------------------------------------- */

struct condition {
    uint64_t least; /* those of lower rank go */
    uint64_t step;  /* and of the others each whose rank this divides; 0: none */
    unsigned asked[MANY];
};

static bool is_to_go(void *element, void *ctx)
{
    struct condition *condition = ctx;
    uint64_t rank = *(uint64_t *)element;

    condition->asked[rank]++;
    return rank < condition->least || (condition->step > 0 && rank % condition->step == 0);
}

/* QUEUE-41: those not kept go, and it says how many. */
CONTRACT(HAS_ROOM, those_that_are_not_kept_are_removed)
{
    contract *test = *state;

    contract_insert(test, 0, MANY);
    for (size_t least = 0; least <= MANY; least++) {
        struct condition condition = {.least = least};
        assert_int_equal(rota_queue_remove_if(test->queue, is_to_go, &condition), least > 0);
        contract_holds(test, least, MANY - least);
        assert_int_equal(rota_queue_remove_if(test->queue, is_to_go, &condition), 0);
    }
}

/* QUEUE-41: just those, wherever they are. */
CONTRACT(HAS_ROOM, those_that_are_named_are_removed)
{
    contract *test = *state;

    for (size_t step = 1; step <= MANY; step++) {
        struct condition condition = {.step = step};
        size_t named = (MANY - 1) / step + 1;
        void *element;

        contract_insert(test, 0, MANY);
        assert_int_equal(rota_queue_remove_if(test->queue, is_to_go, &condition), named);
        assert_int_equal(rota_queue_size(test->queue), MANY - named);
        for (size_t i = 0; i < MANY; i++) {
            assert_int_equal(condition.asked[i], 1); /* once about each */
            if (i % step == 0)
                continue;
            assert_ok(rota_queue_poll(test->queue, &element));
            assert_ptr_equal(element, contract_cell(test, i));
        }
        contract_gives(test, 0, 0);
    }
}

/* QUEUE-01, QUEUE-13: without a condition all go, and then it is as new. */
CONTRACT(HAS_ROOM, all_can_be_removed)
{
    contract *test = *state;

    for (size_t count = 0; count <= MANY; count++) {
        contract_insert(test, 0, count);
        assert_int_equal(rota_queue_remove_if(test->queue, NULL, NULL), count);
        contract_holds(test, 0, 0);
    }
    contract_insert(test, 0, MANY);
    contract_gives(test, 0, MANY);
}

/* -- Into an array ------------------------------------------------------------------------ */

static void drain(contract *test, size_t first, size_t max, size_t expected)
{
    void *elements[MANY + 2];

    for (size_t i = 0; i < MANY + 2; i++)
        elements[i] = TEST_UNTOUCHED;
    assert_int_equal(rota_queue_drain(test->queue, elements, max), expected);
    for (size_t i = 0; i < MANY + 2; i++)
        assert_ptr_equal(elements[i],
                         i < expected ? contract_cell(test, first + i) : TEST_UNTOUCHED);
}

/* QUEUE-10: all, then those that came after. */
CONTRACT(HAS_ROOM, a_drain_gives_all_in_order)
{
    contract *test = *state;

    contract_insert(test, 0, MANY);
    drain(test, 0, MANY + 1, MANY);
    contract_holds(test, 0, 0);
    contract_insert(test, MANY, 2);
    contract_holds(test, MANY, 2);
    drain(test, MANY, SIZE_MAX, 2);
    contract_holds(test, 0, 0);
    drain(test, 0, MANY, 0);
}

/* QUEUE-10: at most as many as wanted, and the rest stays in order. */
CONTRACT(HAS_ROOM, a_drain_gives_no_more_than_wanted)
{
    contract *test = *state;

    for (size_t max = 0; max <= MANY; max++) {
        contract_insert(test, 0, MANY);
        drain(test, 0, max, max);
        contract_holds(test, max, MANY - max);
        contract_gives(test, max, MANY - max);
    }
}
