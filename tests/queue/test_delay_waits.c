/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait in a delay queue: one of them for the time of the first element, the others
 * until they are called (QUEUE-29). All times are virtual.
 */
#include "queues.h"

#include "base/time.h"
#include "rota_test_internal.h"

enum { ITEMS = 10, TAKERS = 3 };

static rota_ns items[ITEMS];
static rota_queue *queue;
static rota_ns start;
static test_caller takers[TAKERS];

/* -- A clock that counts how often a thread is woken -------------------------------------- */

static atomic_uint wakes;
static const rota__clock *clock_below;

/* Neither by time nor for no reason: then the word has not changed. At most as often as it was. */
static void counting_wait(rota__os_word *word, uint32_t expected, rota_ns deadline)
{
    clock_below->wait(word, expected, deadline);
    if (atomic_load(word) != expected)
        atomic_fetch_add(&wakes, 1);
}

static void count_wakes(void)
{
    static rota__clock counting;

    clock_below = rota__clock_used;
    counting = (rota__clock){clock_below->now, counting_wait};
    rota__clock_replace(&counting);
}

/* -- One test ----------------------------------------------------------------------------- */

static rota_ns due_of(const void *element, void *ctx)
{
    return *(const rota_ns *)element;
}

static int make(void **state)
{
    test_clock_install();
    count_wakes();
    start = test_clock_now();
    return rota_delay_queue(due_of, NULL, &queue);
}

static int unmake(void **state)
{
    int status = rota_queue_free(queue);

    test_clock_remove();
    return status == ROTA_OK ? 0 : -1;
}

TEST_FIXTURE(.setup = make, .teardown = unmake);

/* Item i, so many seconds after the start. */
static void put_after(unsigned i, rota_ns seconds)
{
    items[i] = start + ROTA_SEC(seconds);
    assert_ok(rota_queue_put(queue, &items[i]));
}

static void pass(rota_ns seconds)
{
    test_clock_advance(ROTA_SEC(seconds));
}

static void start_taker(unsigned i)
{
    test_caller_start(&takers[i], queue, test_take, NULL, 0);
}

/* In this order, so that the first of them leads if there is an element. */
static void start_takers(void)
{
    for (unsigned i = 0; i < TAKERS; i++)
        start_taker(i);
    assert_int_equal(rota_queue_waiting(queue), TAKERS);
}

static void still_wait(unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        test_caller_still_waits(&takers[i]);
}

static bool all_are_parked(void *arg)
{
    for (unsigned i = 0; i < TAKERS; i++) {
        if (!test_is_parked(test_thread_handle(takers[i].thread)))
            return false;
    }
    return true;
}

/* Whoever has the item: one of the takers, and it has it now. */
static void one_gets(unsigned item, rota_ns seconds, size_t ended)
{
    unsigned getters = 0;

    test_callers_await(takers, TAKERS, ended);
    for (unsigned i = 0; i < TAKERS; i++) {
        if (!atomic_load(&takers[i].ended)) {
            test_caller_still_waits(&takers[i]);
        } else if (takers[i].element == &items[item]) {
            assert_true(takers[i].ended_at == start + ROTA_SEC(seconds));
            getters++;
        }
    }
    assert_int_equal(getters, 1);
    assert_int_equal(test_callers_ended(takers, TAKERS), ended);
}

/* Those that still wait are interrupted. */
static void end_takers(void)
{
    for (unsigned i = 0; i < TAKERS; i++) {
        bool ended = atomic_load(&takers[i].ended);
        if (!ended)
            test_caller_interrupt(&takers[i]);
        test_caller_ends_any(&takers[i], ended ? ROTA_OK : ROTA_EINTERRUPTED);
    }
}

/* -- One who waits ------------------------------------------------------------------------ */

/* DWQ-07: until it is due, and no longer. */
TEST(take_waits_until_the_first_is_due)
{
    put_after(0, 10);
    start_taker(0);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(10) - 1);
    still_wait(0, 1);
    test_clock_advance(1);
    test_caller_ends(&takers[0], ROTA_OK, &items[0]);
    assert_true(takers[0].ended_at == start + ROTA_SEC(10));
}

/* DWQ-09: one that comes later but is due earlier. */
TEST(an_earlier_one_comes_first_also_to_who_waits)
{
    put_after(0, 10);
    start_taker(0);
    put_after(1, 5);
    still_wait(0, 1);
    pass(5);
    test_caller_ends(&takers[0], ROTA_OK, &items[1]);
    assert_true(takers[0].ended_at == start + ROTA_SEC(5));
}

/* DWQ-09, GEN-13: one that waits in an empty queue learns of the first that comes, due or not. */
TEST(the_first_one_that_comes_is_waited_for)
{
    start_taker(0);
    put_after(0, 10);
    test_clock_await_waiting(1);
    assert_int_equal(rota_queue_waiting(queue), 1); /* QUEUE-37: it does not serve it yet */
    pass(10);
    test_caller_ends(&takers[0], ROTA_OK, &items[0]);
}

/* DWQ-11: who waited for the first one waits for the next when that is gone. */
TEST(the_first_may_be_removed_while_one_waits_for_it)
{
    put_after(0, 5);
    put_after(1, 10);
    start_taker(0);
    assert_true(rota_queue_remove(queue, &items[0]));
    pass(5);
    still_wait(0, 1);
    pass(5);
    test_caller_ends(&takers[0], ROTA_OK, &items[1]);
}

/* DWQ-11: the only one is removed; the next that comes, later or earlier, is waited for. */
TEST(the_only_one_may_be_removed_while_one_waits_for_it)
{
    const rota_ns seconds[] = {3, 7};

    for (unsigned i = 0; i < 2; i++) {
        start = test_clock_now();
        put_after(0, 5);
        start_taker(0);
        assert_true(rota_queue_remove(queue, &items[0]));
        put_after(1, seconds[i]);
        pass(seconds[i] - 1);
        still_wait(0, 1);
        pass(1);
        test_caller_ends(&takers[0], ROTA_OK, &items[1]);
        assert_true(takers[0].ended_at == start + ROTA_SEC(seconds[i]));
    }
}

/* GEN-04: one that never comes is no reason to stop waiting for others. */
TEST(who_waits_for_ever_can_still_be_served)
{
    items[0] = INT64_MAX;
    assert_ok(rota_queue_put(queue, &items[0]));
    start_taker(0);
    assert_int_equal(rota_queue_waiting(queue), 1);
    pass(1000000);
    still_wait(0, 1);
    items[1] = INT64_MIN;
    assert_ok(rota_queue_put(queue, &items[1]));
    test_caller_ends(&takers[0], ROTA_OK, &items[1]);
}

/* -- Timed polls -------------------------------------------------------------------------- */

/* DWQ-07: its time ends before that of the first. */
TEST(a_poll_gives_up_before_the_first_is_due)
{
    put_after(0, 10);
    test_caller_start(&takers[0], queue, test_poll_timed, NULL, ROTA_SEC(5));
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(5) - 1);
    still_wait(0, 1);
    test_clock_advance(1);
    test_caller_ends(&takers[0], ROTA_ETIMEDOUT, TEST_UNTOUCHED);
    assert_int_equal(rota_queue_size(queue), 1);
}

/* DWQ-07: its time ends after that of the first, or with it. */
TEST(a_poll_gets_what_comes_due_in_its_time)
{
    const rota_ns patience[] = {7, 5};

    for (unsigned i = 0; i < 2; i++) {
        start = test_clock_now();
        put_after(0, 5);
        test_caller_start(&takers[0], queue, test_poll_timed, NULL, ROTA_SEC(patience[i]));
        test_clock_await_waiting(1);
        pass(5);
        test_caller_ends(&takers[0], ROTA_OK, &items[0]);
        assert_true(takers[0].ended_at == start + ROTA_SEC(5));
    }
}

/* QUEUE-29, DWQ-12: a poll that cannot see the first one come leaves that to those who can. */
TEST(a_poll_without_patience_does_not_lead)
{
    put_after(0, 10);
    test_caller_start(&takers[0], queue, test_poll_timed, NULL, ROTA_SEC(5));
    start_taker(1);
    test_clock_await_waiting(2); /* one for each of the two times */
    pass(5);
    test_caller_ends(&takers[0], ROTA_ETIMEDOUT, TEST_UNTOUCHED);
    still_wait(1, 1);
    test_clock_await_waiting(1);
    pass(5);
    test_caller_ends(&takers[1], ROTA_OK, &items[0]);
}

/* DWQ-10, DWQ-11: a poll that leads gives up when the element it waited for is gone. */
TEST(a_poll_that_led_gives_up_and_another_follows)
{
    put_after(0, 5);
    test_caller_start(&takers[0], queue, test_poll_timed, NULL, ROTA_SEC(7));
    start_taker(1);
    assert_true(rota_queue_remove(queue, &items[0]));
    put_after(1, 9);
    pass(7);
    test_caller_ends(&takers[0], ROTA_ETIMEDOUT, TEST_UNTOUCHED);
    still_wait(1, 1);
    pass(2);
    test_caller_ends(&takers[1], ROTA_OK, &items[1]);
    assert_true(takers[1].ended_at == start + ROTA_SEC(9));
}

/* -- Several ------------------------------------------------------------------------------ */

/* QUEUE-29, DWQ-08: one waits for the time, the others for nothing but a call. */
TEST(one_waits_for_the_time)
{
    put_after(0, 10);
    start_takers();
    assert_int_equal(test_clock_waiting(), 1);
    pass(10);
    one_gets(0, 10, 1);
    assert_int_equal(test_clock_waiting(), 0);
    end_takers();
}

/* DWQ-09: an earlier one wakes one of them, not all; one that is not the first wakes nobody. */
TEST(an_earlier_one_wakes_one)
{
    put_after(0, 10);
    start_takers();
    unsigned before = atomic_load(&wakes);
    put_after(1, 20);
    test_until(all_are_parked, NULL);
    assert_int_equal(atomic_load(&wakes), before);
    put_after(2, 5);
    test_until(all_are_parked, NULL);
    assert_in_range(atomic_load(&wakes), before, before + 1);
    pass(5);
    one_gets(2, 5, 1);
    pass(5);
    one_gets(0, 10, 2);
    pass(10);
    one_gets(1, 20, 3);
    end_takers();
}

/* DWQ-10: who leaves with an element calls one, which waits for the time of the next. */
TEST(who_leaves_calls_one)
{
    put_after(0, 5);
    put_after(1, 10);
    start_takers();
    unsigned before = atomic_load(&wakes);
    pass(5);
    one_gets(0, 5, 1);
    test_clock_await_waiting(1);
    assert_in_range(atomic_load(&wakes), before, before + 1);
    pass(5);
    one_gets(1, 10, 2);
    assert_in_range(atomic_load(&wakes), before, before + 1); /* nothing is left to wait for */
    end_takers();
}

/* DWQ-10: all of one time, and as many takers. */
TEST(those_of_one_time_go_to_as_many)
{
    for (unsigned i = 0; i < TAKERS; i++)
        put_after(i, 5);
    start_takers();
    pass(5);
    for (unsigned i = 0; i < TAKERS; i++)
        one_gets(i, 5, TAKERS);
    end_takers();
}

/* DWQ-10, DWQ-11, INT-06: the one that led is interrupted, and another leads. */
TEST(another_leads_when_the_leader_is_interrupted)
{
    put_after(0, 10);
    start_takers();
    test_caller_interrupt(&takers[0]);
    test_caller_ends(&takers[0], ROTA_EINTERRUPTED, TEST_UNTOUCHED);
    test_clock_await_waiting(1);
    pass(10);
    test_callers_await(takers, TAKERS, 2);
    unsigned got = takers[1].element == &items[0] ? 1 : 2;
    test_caller_ends(&takers[got], ROTA_OK, &items[0]);
    still_wait(3 - got, 1);
    test_caller_interrupt(&takers[3 - got]);
    test_caller_ends(&takers[3 - got], ROTA_EINTERRUPTED, TEST_UNTOUCHED);
}

/* DWQ-10, DWQ-11: an element that is taken by another leaves those who waited for it to wait on. */
TEST(who_comes_first_may_take_what_others_waited_for)
{
    void *element = NULL;

    put_after(0, 0);
    put_after(1, 10);
    assert_ok(rota_queue_poll(queue, &element));
    start_takers();
    put_after(2, 0); /* at once, to one of them */
    one_gets(2, 0, 1);
    pass(10);
    one_gets(1, 10, 2);
    end_takers();
}

/* QUEUE-37: elements that are due serve as many, those that are not serve nobody. */
TEST(waiting_counts_those_that_nothing_due_serves)
{
    put_after(0, 10);
    start_takers();
    assert_int_equal(rota_queue_waiting(queue), TAKERS);
    put_after(1, 0);
    assert_int_equal(rota_queue_waiting(queue), TAKERS - 1);
    one_gets(1, 0, 1);
    put_after(2, 20);
    assert_int_equal(rota_queue_waiting(queue), TAKERS - 1);
    pass(10);
    one_gets(0, 10, 2);
    assert_int_equal(rota_queue_waiting(queue), TAKERS - 2);
    end_takers();
}

/* It is not freed while one waits for the time. */
TEST(it_is_not_freed_while_one_waits_for_the_time)
{
    put_after(0, 10);
    start_taker(0);
    assert_status(rota_queue_free(queue), ROTA_EBUSY);
    pass(10);
    test_caller_ends(&takers[0], ROTA_OK, &items[0]);
}
