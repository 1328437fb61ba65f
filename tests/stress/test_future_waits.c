/* SPDX-License-Identifier: MIT */
/*
 * Waits for a future that end at the moment when it does. A waiter lies on its thread's stack, so
 * one that is touched too late shows in the checkers; `payload` is no atomic (GEN-08).
 */
#include "rota_test_internal.h"
#include "rota_test_race.h"
#include "rota_test_tasks.h"

#include "future/future_internal.h"

static struct {
    unsigned number;
    rota_future *future;
    rota_task *task;
    int payload;
    int status[TEST_SIDES];
} shared;

static void make_promise(void *arg)
{
    shared.number++;
    shared.payload = 0;
    test_check(rota_promise_new(&shared.future) == ROTA_OK);
}

static void complete(void *arg)
{
    shared.payload = 1;
    test_check(rota_promise_complete(shared.future, &shared.payload));
}

static void get(int side, rota_ns timeout)
{
    void *result = NULL;
    int status = rota_future_get_timed(shared.future, timeout, &result);

    if (status == ROTA_OK)
        test_check(*(int *)result == 1);
    shared.status[side] = status;
}

static void get_forever_1(void *arg)
{
    get(1, ROTA_FOREVER);
}

static void get_forever_2(void *arg)
{
    get(2, ROTA_FOREVER);
}

static void get_long_3(void *arg)
{
    get(3, ROTA_HOURS(1));
}

/* Up to 40 microseconds: about as long as the other sides take. */
static rota_ns short_time(unsigned side)
{
    return (rota_ns)((shared.number * 7919 + side * 104729) % 40000);
}

static void get_short_0(void *arg)
{
    get(0, short_time(0));
}

static void get_short_1(void *arg)
{
    get(1, short_time(1));
}

static void get_short_2(void *arg)
{
    get(2, short_time(2));
}

static void check_pins(unsigned side)
{
    test_check(rota__load_acquire(&test_race_thread(side)->pins) == 0); /* thread.T3 */
}

/* -- Time against completion -------------------------------------------------------------- */

static void check_in_time_or_not(void *arg)
{
    for (unsigned side = 1; side <= 2; side++) {
        test_check(shared.status[side] == ROTA_OK || shared.status[side] == ROTA_ETIMEDOUT);
        check_pins(side);
    }
    test_check(rota_future_get_timed(shared.future, 0, NULL) == ROTA_OK);
    rota_future_unref(shared.future);
}

/* FUT-08, FUT-19, OWN-14: it is in time or not, and leaves nothing behind. */
TEST(a_timeout_near_completion)
{
    const test_race race = {
        make_promise, {complete, get_short_1, get_short_2}, check_in_time_or_not};

    test_race_run(&race, NULL);
}

static void check_all_gave_up(void *arg)
{
    for (unsigned side = 0; side <= 2; side++) {
        test_check(shared.status[side] == ROTA_ETIMEDOUT);
        check_pins(side);
    }
    test_check(rota__load_acquire(&shared.future->actions) == 0);
    test_check(rota_promise_complete(shared.future, NULL));
    rota_future_unref(shared.future);
}

/* FUT-19, OWN-14: several give up together, and nobody is left in the list. */
TEST(several_give_up_together)
{
    const test_race race = {
        make_promise, {get_short_0, get_short_1, get_short_2}, check_all_gave_up};

    test_race_run(&race, NULL);
}

/* -- Interrupt against completion --------------------------------------------------------- */

static void get_forever_0(void *arg)
{
    get(0, ROTA_FOREVER);
}

static void interrupt_0(void *arg)
{
    rota_thread_interrupt(test_race_thread(0));
}

static void check_interrupted_once(void *arg)
{
    bool told = shared.status[0] == ROTA_EINTERRUPTED;

    test_check(told || shared.status[0] == ROTA_OK);
    test_check(rota_interrupted() == !told);
    check_pins(0);
    rota_future_unref(shared.future);
}

/* INT-05, INT-06, COMP-25: an interrupt is either the answer or still there after it. */
TEST(an_interrupt_is_neither_lost_nor_invented)
{
    const test_race race = {
        make_promise, {get_forever_0, complete, interrupt_0}, check_interrupted_once};

    test_race_run(&race, NULL);
}

/* -- Many who wait ------------------------------------------------------------------------ */

static void *return_payload(void *arg)
{
    shared.payload = 1;
    return &shared.payload;
}

static void make_task(void *arg)
{
    shared.payload = 0;
    shared.task = test_task((rota_call){.fn = return_payload}, &shared.future);
}

static void run_task(void *arg)
{
    rota_task_run(shared.task);
}

static void check_all_have_it(void *arg)
{
    for (unsigned side = 1; side <= 3; side++) {
        test_check(shared.status[side] == ROTA_OK);
        check_pins(side);
    }
    rota_future_unref(shared.future);
}

/* FUT-15, FUT-18, GEN-08: all who wait are woken, and see what the task did. */
TEST(all_who_wait_are_woken)
{
    const test_race race = {
        make_task, {run_task, get_forever_1, get_forever_2, get_long_3}, check_all_have_it};

    test_race_run(&race, NULL);
}

static bool both_are_parked(void *arg)
{
    return test_is_parked(test_race_thread(1)) && test_is_parked(test_race_thread(2));
}

static void drop_when_they_wait(void *arg)
{
    test_until(both_are_parked, NULL);
    rota_future_unref(shared.future);
}

static void check_cancelled(void *arg)
{
    for (unsigned side = 1; side <= 2; side++) {
        test_check(shared.status[side] == ROTA_ECANCELED);
        check_pins(side);
    }
}

/* OWN-10, OWN-20: the last holder goes while others wait; the last of those frees it. */
TEST(a_promise_dropped_while_others_wait)
{
    const test_race race = {
        make_promise, {drop_when_they_wait, get_forever_1, get_forever_2}, check_cancelled};

    test_race_run(&race, NULL);
}
