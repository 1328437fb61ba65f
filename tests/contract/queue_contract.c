/* SPDX-License-Identifier: MIT */
/*
 * queue_contract.c - makes the tests for each kind, and what they have in common.
 */
#include "queue_contract.h"

#include "base/cache.h"
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
    rota__cache_flush();
    test->live = test_memory_live();
    *state = test;
    return kind->make(&test->queue) == ROTA_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    contract *test = *state;
    bool interrupted = rota_interrupted(); /* no test leaves the flag set */
    int status = test->queue != NULL ? rota_queue_free(test->queue) : ROTA_OK;

    test_clock_remove();
    rota__cache_flush();
    bool leaked = test_memory_live() != test->live;
    if (interrupted || status != ROTA_OK || leaked)
        print_error("left behind: %s%s%s\n", interrupted ? "an interrupt " : "",
                    status != ROTA_OK ? "a thread that waits " : "", leaked ? "memory" : "");
    free(test);
    return status == ROTA_OK && !interrupted && !leaked ? 0 : -1;
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

/* -- All of them -------------------------------------------------------------------------- */

static const contract_test *const lists[] = {
    contract_argument_tests, contract_insert_tests,    contract_remove_tests, contract_wait_tests,
    contract_timeout_tests,  contract_interrupt_tests, contract_look_tests,   contract_model_tests,
    contract_free_tests,     contract_memory_tests,
};

static const contract_suite suite = {lists, sizeof lists / sizeof lists[0], set_up, tear_down};

int queue_contract_run(const test_queue_kind *kinds, size_t count)
{
    int failed = 0;

    for (size_t i = 0; i < count; i++)
        failed += contract_run(&suite, kinds[i].name, abilities(&kinds[i]), &kinds[i]);
    return failed;
}
