/* SPDX-License-Identifier: MIT */
/*
 * Queues at the moment when a thread in one is interrupted: it has what it came for and still its
 * flag, or neither; and what it does not take another has (INT-05, INT-06).
 */
#include "queue_race.h"

TEST_FIXTURE(.setup = race_set_up, .teardown = race_tear_down);

static void make_empty_round(void *arg)
{
    race_next(suits_any);
    race_is_empty();
}

static void make_full_round(void *arg)
{
    race_next(suits_full);
    race_fill();
}

static void interrupt_0(void *arg)
{
    race_pause(3);
    rota_thread_interrupt(test_race_thread(0));
}

/* On the main thread, which is side 0. */
static void check_interrupted_once(void)
{
    bool told = race.status[0] == ROTA_EINTERRUPTED;

    test_check(told || race.status[0] == ROTA_OK);
    test_check(rota_interrupted() == !told);
}

/* -- Alone -------------------------------------------------------------------------------- */

/* The first time it may be interrupted; then it is not. */
static void take_in_the_end_0(void *arg)
{
    race.status[0] = rota_queue_take(race.queue, &race.got[0]);
    if (race.status[0] == ROTA_EINTERRUPTED) {
        test_check(race.got[0] == NULL);
        race.got[0] = race_take();
    }
}

static void put_one_1(void *arg)
{
    race_pause(1);
    race_put(1);
}

static void check_it_was_taken(void *arg)
{
    check_interrupted_once();
    test_check(race.got[0] == race_cell(1));
    race_is_empty();
}

/* INT-05, INT-06: an interrupted take has removed nothing. */
TEST(an_interrupt_near_an_insertion)
{
    static const test_race sides = {
        make_empty_round, {take_in_the_end_0, put_one_1, interrupt_0}, check_it_was_taken};

    test_race_run(&sides, NULL);
}

static void put_in_the_end_0(void *arg)
{
    race.status[0] = rota_queue_put(race.queue, race_cell(0));
    if (race.status[0] == ROTA_EINTERRUPTED) {
        test_check(!rota_queue_contains(race.queue, race_cell(0)));
        race_put(0);
    }
}

static void take_one_1(void *arg)
{
    race_pause(1);
    race.got[1] = race_take();
}

static void check_it_was_put_once(void *arg)
{
    check_interrupted_once();
    test_check(rota_queue_size(race.queue) == race.kind->capacity);
    test_check((race.got[1] == race_cell(0)) == (race.kind->capacity == 0));
    test_check(race.kind->capacity == 0 || rota_queue_remove(race.queue, race_cell(0)));
    test_check(!rota_queue_contains(race.queue, race_cell(0)));
    rota_queue_remove_if(race.queue, NULL, NULL);
}

/* INT-05, INT-06: an interrupted put has inserted nothing. */
TEST(an_interrupt_near_a_removal)
{
    static const test_race sides = {
        make_full_round, {put_in_the_end_0, take_one_1, interrupt_0}, check_it_was_put_once};

    test_race_run(&sides, NULL);
}

/* -- With another in line ----------------------------------------------------------------- */

/* What it gets it gives back, for the other. Its own flag must not end that. */
static void take_and_give_back_0(void *arg)
{
    race.status[0] = rota_queue_take(race.queue, &race.got[0]);
    if (race.status[0] == ROTA_OK) {
        bool flag = rota_interrupted();
        while (rota_queue_put(race.queue, race.got[0]) == ROTA_EINTERRUPTED)
            flag = true;
        if (flag)
            rota_thread_interrupt(test_race_thread(0));
    }
}

static void take_for_ever_2(void *arg)
{
    race.got[2] = race_take();
}

static void check_the_other_got_it(void *arg)
{
    check_interrupted_once();
    test_check(race.got[2] == race_cell(1));
    race_is_empty();
}

/* INT-06, QUEUE-08: who was called and interrupted takes it, or another does. */
TEST(an_interrupted_consumer_calls_another)
{
    static const test_race sides = {make_empty_round,
                                    {take_and_give_back_0, put_one_1, take_for_ever_2, interrupt_0},
                                    check_the_other_got_it};

    test_race_run(&sides, NULL);
}

static void put_and_let_in_0(void *arg)
{
    race.status[0] = rota_queue_put(race.queue, race_cell(0));
    if (race.status[0] == ROTA_OK) {
        bool flag = rota_interrupted();
        while (rota_queue_take(race.queue, &race.got[0]) == ROTA_EINTERRUPTED)
            flag = true;
        if (flag)
            rota_thread_interrupt(test_race_thread(0));
    }
}

static void put_for_ever_2(void *arg)
{
    race_put(2);
}

static void check_the_other_is_in(void *arg)
{
    check_interrupted_once();
    test_check(rota_queue_size(race.queue) == race.kind->capacity);
    rota_queue_remove_if(race.queue, NULL, NULL);
}

/* INT-06, QUEUE-08: the same for room. */
TEST(an_interrupted_producer_calls_another)
{
    static const test_race sides = {make_full_round,
                                    {put_and_let_in_0, take_one_1, put_for_ever_2, interrupt_0},
                                    check_the_other_is_in};

    test_race_run(&sides, NULL);
}
