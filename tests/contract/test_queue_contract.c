/* SPDX-License-Identifier: MIT */
/*
 * Puts every kind of queue through the contract that they share (QUEUE-01).
 */
#include "queue_contract.h"

#include "rota_test_internal.h"

#include <stdio.h>
#include <stdlib.h>

const rota_ns contract_no_time[CONTRACT_NO_TIMES] = {0, -1, INT64_MIN};

/* -- Elements ----------------------------------------------------------------------------- */

void *contract_cell(contract *test, size_t i)
{
    test_check(i < CELLS);
    return &test->cells[i];
}

void contract_insert(contract *test, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_ok(rota_queue_offer(test->queue, contract_cell(test, first + i)));
}

size_t contract_fill(contract *test)
{
    size_t capacity = test->kind->capacity;
    size_t count = capacity == ROTA_UNBOUNDED ? TEST_QUEUE_CAPACITY : capacity;

    contract_insert(test, 0, count);
    return count;
}

void contract_holds(contract *test, size_t first, size_t count)
{
    static test_shown shown;
    size_t capacity = test->kind->capacity;
    void *next = TEST_UNTOUCHED;

    shown.count = 0;
    assert_int_equal(rota_queue_size(test->queue), count);
    assert_true(rota_queue_room(test->queue)
                == (capacity == ROTA_UNBOUNDED ? capacity : capacity - count));
    assert_int_equal(rota_queue_each(test->queue, test_show, &shown), count);
    assert_int_equal(shown.count, count);
    for (size_t i = 0; i < count; i++)
        assert_ptr_equal(shown.elements[i], contract_cell(test, first + i));
    assert_status(rota_queue_peek(test->queue, &next), count > 0 ? ROTA_OK : ROTA_EEMPTY);
    assert_ptr_equal(next, count > 0 ? contract_cell(test, first) : TEST_UNTOUCHED);
}

void contract_gives(contract *test, size_t first, size_t count)
{
    void *element = TEST_UNTOUCHED;

    for (size_t i = 0; i < count; i++) {
        assert_ok(rota_queue_poll(test->queue, &element));
        assert_ptr_equal(element, contract_cell(test, first + i));
    }
    element = TEST_UNTOUCHED;
    assert_status(rota_queue_poll(test->queue, &element), ROTA_EEMPTY);
    assert_ptr_equal(element, TEST_UNTOUCHED);
    assert_int_equal(rota_queue_size(test->queue), 0);
}

/* -- One test for one kind ---------------------------------------------------------------- */

static int set_up(void **state)
{
    const test_queue_kind *kind = *state;
    contract *test = calloc(1, sizeof *test);

    if (test == NULL)
        return -1;
    for (size_t i = 0; i < CELLS; i++)
        test->cells[i] = i;
    test->kind = kind;
    test->main = rota_thread_self();
    *state = test;
    return kind->make(&test->queue) == ROTA_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    contract *test = *state;
    bool interrupted = rota_interrupted(); /* no test leaves the flag set */
    int status = test->queue != NULL ? rota_queue_free(test->queue) : ROTA_OK;

    test_clock_remove();
    if (interrupted || status != ROTA_OK)
        print_error("left behind: %s%s\n", interrupted ? "an interrupt " : "",
                    status != ROTA_OK ? "a thread that waits " : "");
    free(test);
    return status == ROTA_OK && !interrupted ? 0 : -1;
}

static unsigned abilities(const test_queue_kind *kind)
{
    unsigned able = 0;

    able |= kind->capacity > 0 ? HAS_ROOM : 0;
    able |= kind->capacity == ROTA_UNBOUNDED ? UNBOUNDED : MAY_BE_FULL;
    able |= (able & HAS_ROOM) && (able & MAY_BE_FULL) ? BOUNDED : 0;
    able |= kind->by_rank ? 0 : ANY_POINTER;
    able |= kind->is_transfer ? 0 : NO_TRANSFER;
    able |= kind->is_deque ? 0 : NO_DEQUE;
    return able;
}

/* -- The fixture ---------------------------------------------------------------------------- */

static test_kind kind_at(size_t i)
{
    const test_queue_kind *kind = &test_queue_kinds[i];

    if (i == TEST_QUEUE_KINDS)
        return (test_kind){.name = NULL};
    return (test_kind){.name = kind->name, .able = abilities(kind), .value = kind};
}

const test_fixture queue_contract = {set_up, tear_down, .kind = kind_at};
