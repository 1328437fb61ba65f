/* SPDX-License-Identifier: MIT */
/*
 * The queue of a scheduled pool, alone (DWQ), and as a pool shows it. Times are virtual.
 */
#include "pools.h"
#include "queues.h"
#include "rota_test_internal.h"
#include "sched/sched_internal.h"

enum { ITEMS = 20 };

static rota_queue *queue;
static rota_task *tasks[ITEMS];
static test_probe probe;
static test_caller callers[3];

static int admit_all(void *ctx, rota_task *task)
{
    return ROTA_OK;
}

static int make(void **state)
{
    test_clock_before(state);
    for (unsigned i = 0; i < ITEMS; i++)
        tasks[i] = test_task(test_probe_call(&probe), NULL);
    return rota__due_queue_new(admit_all, NULL, &queue);
}

/* Each test has taken out what it put in. */
static int unmake(void **state)
{
    int status = rota_queue_free(queue);

    for (unsigned i = 0; i < ITEMS; i++)
        rota_task_discard(tasks[i]);
    return status == ROTA_OK ? test_clock_after(state) : -1;
}

static const test_fixture test_alone = {.setup = make, .teardown = unmake};

/* Task i, due so many seconds from now. */
static int offer_in(unsigned i, rota_ns seconds)
{
    rota__store_relaxed(&rota__future_of(tasks[i])->time, rota_now() + ROTA_SEC(seconds));
    return rota_queue_offer(queue, tasks[i]);
}

static void put_in(unsigned i, rota_ns seconds)
{
    assert_ok(offer_in(i, seconds));
}

static void polls(unsigned i)
{
    void *task = NULL;

    assert_ok(rota_queue_poll(queue, &task));
    assert_ptr_equal(task, tasks[i]);
}

static void polls_nothing(void)
{
    void *task = TEST_UNTOUCHED;

    assert_status(rota_queue_poll(queue, &task), ROTA_EEMPTY);
    assert_ptr_equal(task, TEST_UNTOUCHED);
}

static void taker_starts(unsigned i)
{
    test_caller_start(&callers[i], queue, test_take, NULL, 0);
}

/* -- In and out --------------------------------------------------------------------------- */

/* DWQ-07 */
TEST_WITH(test_alone, poll_takes_the_head_if_it_is_due_and_peek_looks_at_it_anyway)
{
    void *head = NULL;

    polls_nothing();
    assert_status(rota_queue_peek(queue, &head), ROTA_EEMPTY);
    put_in(0, 2);
    put_in(1, 1);
    polls_nothing();
    assert_ok(rota_queue_peek(queue, &head));
    assert_ptr_equal(head, tasks[1]);
    assert_int_equal(rota_queue_size(queue), 2);
    test_clock_advance(ROTA_SEC(1) - 1);
    polls_nothing();
    test_clock_advance(1);
    polls(1);
    polls_nothing();
    test_clock_advance(ROTA_SEC(1));
    polls(0);
    assert_int_equal(rota_queue_size(queue), 0);
}

/* DWQ-04, DWQ-06, SCHED-05 */
TEST_WITH(test_alone, tasks_leave_by_time_and_then_by_insertion)
{
    static const rota_ns times[] = {3, 1, 2, 1, 3, 0, 2, 1};
    static const unsigned order[] = {5, 1, 3, 7, 2, 6, 0, 4};

    for (unsigned i = 0; i < 8; i++)
        put_in(i, times[i]);
    test_clock_advance(ROTA_SEC(3));
    for (unsigned i = 0; i < 8; i++)
        polls(order[i]);
}

/* DWQ-03, DWQ-05 */
TEST_WITH(test_alone, any_task_can_be_removed_by_name_once)
{
    for (unsigned i = 0; i < 10; i++)
        put_in(i, (rota_ns)i * 7 % 10);
    for (unsigned i = 0; i < 10; i += 2) {
        assert_true(rota_queue_contains(queue, tasks[i]));
        assert_true(rota_queue_remove(queue, tasks[i]));
        assert_false(rota_queue_contains(queue, tasks[i]));
        assert_false(rota_queue_remove(queue, tasks[i]));
    }
    assert_false(rota_queue_remove(queue, tasks[10])); /* in none */
    assert_int_equal(rota_queue_size(queue), 5);
    test_clock_advance(ROTA_SEC(10));
    polls(3); /* 1: 7, 3: 1, 5: 5, 7: 9, 9: 3 */
    polls(9);
    polls(5);
    polls(1);
    polls(7);
}

/* DWQ-05 */
TEST_WITH(test_alone, a_task_of_another_queue_is_not_removed)
{
    rota_queue *other;
    void *task;

    assert_ok(rota__due_queue_new(admit_all, NULL, &other));
    put_in(0, 0);
    rota__store_relaxed(&rota__future_of(tasks[1])->time, rota_now());
    assert_ok(rota_queue_offer(other, tasks[1]));
    assert_false(rota_queue_remove(queue, tasks[1]));
    assert_false(rota_queue_contains(other, tasks[0]));
    polls(0);
    assert_ok(rota_queue_poll(other, &task));
    assert_ok(rota_queue_free(other));
}

/* DWQ-16, FAULT-09 */
TEST_WITH(test_alone, no_task_and_one_that_is_inside_are_refused)
{
    assert_status(rota_queue_offer(queue, NULL), ROTA_EINVAL);
    put_in(0, 5);
    put_in(1, 6);
    assert_status(offer_in(0, 9), ROTA_EINVAL);
    assert_int_equal(rota_queue_size(queue), 2);
    test_clock_advance(ROTA_SEC(5));
    polls(0); /* at its first time */
    test_clock_advance(ROTA_SEC(9));
    polls(1);
    polls_nothing();
}

/* DWQ-02 */
TEST_WITH(test_alone, without_memory_to_grow_it_stays_as_it_was)
{
    unsigned in = 0;

    put_in(in++, 5);
    test_memory_fail_at(1, true);
    while (offer_in(in, 5) == ROTA_OK)
        in++;
    assert_int_equal(in, 16);
    assert_status(offer_in(in, 5), ROTA_ENOMEM);
    assert_false(rota_queue_contains(queue, tasks[in]));
    assert_int_equal(rota_queue_size(queue), 16);
    test_memory_fail_at(0, false);
    put_in(in++, 5);
    test_clock_advance(ROTA_SEC(5));
    for (unsigned i = 0; i < in; i++)
        polls(i);
}

static bool is_any(void *task, void *ctx)
{
    return true;
}

/* DWQ-13, DWQ-06 */
TEST_WITH(test_alone, a_drain_takes_what_is_due_and_size_counts_all)
{
    void *drained[ITEMS];
    test_shown shown = {0};

    for (unsigned i = 0; i < 6; i++)
        put_in(i, 6 - (rota_ns)i);
    assert_int_equal(rota_queue_drain(queue, drained, ITEMS), 0);
    test_clock_advance(ROTA_SEC(3));
    assert_int_equal(rota_queue_size(queue), 6);
    assert_int_equal(rota_queue_each(queue, test_show, &shown), 6);
    assert_int_equal(shown.count, 6);
    assert_int_equal(rota_queue_drain(queue, drained, 2), 2);
    assert_ptr_equal(drained[0], tasks[5]);
    assert_ptr_equal(drained[1], tasks[4]);
    assert_int_equal(rota_queue_drain(queue, drained, ITEMS), 1);
    assert_ptr_equal(drained[0], tasks[3]);
    assert_int_equal(rota_queue_size(queue), 3);
    assert_int_equal(rota_queue_remove_if(queue, is_any, NULL), 3);
    assert_int_equal(rota_queue_size(queue), 0);
}

/* -- Waiting ------------------------------------------------------------------------------ */

/* DWQ-07 */
TEST_WITH(test_alone, take_waits_until_the_head_is_due)
{
    put_in(0, 5);
    taker_starts(0);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(5) - 1);
    test_caller_still_waits(&callers[0]);
    test_clock_advance(1);
    test_caller_ends(&callers[0], ROTA_OK, tasks[0]);
}

/* DWQ-07, DWQ-12: one with less time than the head does not lead, and another does. */
TEST_WITH(test_alone, a_timed_poll_that_is_shorter_leaves_the_head_to_others)
{
    put_in(0, 10);
    test_caller_start(&callers[0], queue, test_poll_timed, NULL, ROTA_SEC(3));
    taker_starts(1);
    test_clock_await_waiting(2);
    test_clock_advance(ROTA_SEC(3));
    test_caller_ends(&callers[0], ROTA_ETIMEDOUT, TEST_UNTOUCHED);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(7));
    test_caller_ends(&callers[1], ROTA_OK, tasks[0]);
}

/* DWQ-08, DWQ-10 */
TEST_WITH(test_alone, one_of_those_who_wait_does_so_for_the_time_of_the_head)
{
    put_in(0, 1);
    put_in(1, 2);
    put_in(2, 3);
    for (unsigned i = 0; i < 3; i++)
        taker_starts(i);
    for (unsigned i = 1; i <= 3; i++) {
        test_clock_await_waiting(1);
        test_queue_await_waiting(queue, 4 - i);
        test_clock_advance(ROTA_SEC(1));
        test_callers_await(callers, 3, i);
    }
    for (unsigned i = 0; i < 3; i++)
        test_caller_ends_any(&callers[i], ROTA_OK);
    assert_int_equal(rota_queue_size(queue), 0);
}

/* DWQ-09 */
TEST_WITH(test_alone, an_earlier_head_is_taken_in_time)
{
    put_in(0, 10);
    taker_starts(0);
    taker_starts(1);
    test_clock_await_waiting(1);
    put_in(1, 5);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(5));
    test_callers_await(callers, 2, 1);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(5));
    test_callers_await(callers, 2, 2);
    test_caller_ends_any(&callers[0], ROTA_OK);
    test_caller_ends_any(&callers[1], ROTA_OK);
}

/* DWQ-11 */
TEST_WITH(test_alone, a_leader_that_leaves_is_followed_by_another)
{
    put_in(0, 10);
    taker_starts(0);
    test_clock_await_waiting(1);
    taker_starts(1);
    test_caller_interrupt(&callers[0]);
    test_caller_ends(&callers[0], ROTA_EINTERRUPTED, TEST_UNTOUCHED);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(10));
    test_caller_ends(&callers[1], ROTA_OK, tasks[0]);
}

/* DWQ-11, DWQ-14: who waits for a head that is gone waits for the next, and no shorter. */
TEST_WITH(test_alone, who_waits_for_a_head_that_is_removed_waits_for_the_next)
{
    put_in(0, 5);
    put_in(1, 10);
    taker_starts(0);
    test_clock_await_waiting(1);
    assert_true(rota_queue_remove(queue, tasks[0]));
    test_clock_advance(ROTA_SEC(5));
    test_caller_still_waits(&callers[0]);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(5));
    test_caller_ends(&callers[0], ROTA_OK, tasks[1]);
}

/* -- As a pool shows it ------------------------------------------------------------------- */

/* POOL-50 */
TEST_WITH(test_virtual_time, the_queue_of_a_pool_has_what_waits_and_not_what_runs)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    rota_future *futures[5];
    test_gate gate;
    void *head;

    test_gate_init(&gate);
    assert_ok(rota_schedule(sched, test_wait_at, &gate, 0, &futures[0]));
    test_await_count(&gate.begun, 1);
    for (unsigned i = 1; i < 5; i++)
        assert_ok(rota_schedule(sched, test_wait_at, &gate, ROTA_MS(i), &futures[i]));
    assert_int_equal(rota_queue_size(rota_pool_queue(sched)), 4);
    assert_false(rota_queue_contains(rota_pool_queue(sched), &futures[0]->task));
    assert_true(rota_queue_contains(rota_pool_queue(sched), &futures[4]->task));
    assert_ok(rota_queue_peek(rota_pool_queue(sched), &head));
    assert_ptr_equal(rota_task_future(head), futures[1]);
    test_gate_open(&gate);
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_MS(5), 1);
    assert_int_equal(gate.ended, 5);
    for (unsigned i = 0; i < 5; i++)
        rota_future_unref(futures[i]);
    assert_ok(rota_close(sched));
}

/* SCHED-02: those without a future are in it, too. */
TEST_WITH(test_virtual_time, the_queue_of_a_pool_shows_every_kind_of_task)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    rota_future *periodic;
    test_shown shown = {0};
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(sched, &gate, 1);
    assert_ok(rota_execute(sched, test_wait_at, &gate));
    assert_ok(rota_schedule(sched, test_wait_at, &gate, ROTA_SEC(1), NULL));
    assert_ok(rota_schedule_at_fixed_rate(sched, test_wait_at, &gate, 0, ROTA_SEC(1), &periodic));
    assert_int_equal(rota_queue_each(rota_pool_queue(sched), test_show, &shown), 3);
    for (unsigned i = 0; i < 3; i++)
        assert_ptr_equal(rota_task_call(shown.elements[i])->arg, &gate);
    test_gate_open(&gate);
    test_stop(sched);
    rota_future_unref(periodic);
}
