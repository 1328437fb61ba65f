/* SPDX-License-Identifier: MIT */
/*
 * A transfer that is given up at the moment when its element is taken or removed: it has one end,
 * and both sides know the same one.
 */
#include "queue_race.h"

TEST_FIXTURE(.setup = race_set_up, .teardown = race_tear_down);

static bool suits_transfer(const test_queue_kind *kind)
{
    return kind->is_transfer;
}

static void make_transfer_round(void *arg)
{
    race_next(suits_transfer);
    race_is_empty();
}

static void transfer_0(void *arg)
{
    race.status[0] = rota_queue_transfer(race.queue, race_cell(0), ROTA_FOREVER);
}

static void transfer_for_a_short_time_0(void *arg)
{
    race.status[0] = rota_queue_transfer(race.queue, race_cell(0), race_short_time(0));
}

static void poll_for_a_short_time_1(void *arg)
{
    race.status[1] = rota_queue_poll_timed(race.queue, race_short_time(1), &race.got[1]);
}

static void poll_later_1(void *arg)
{
    race_pause(1);
    race.status[1] = rota_queue_poll(race.queue, &race.got[1]);
}

static void remove_it_2(void *arg)
{
    race_pause(2);
    race.status[2] = rota_queue_remove(race.queue, race_cell(0)) ? ROTA_OK : ROTA_EEMPTY;
}

/* It has one end: taken, removed or given up. */
static void check_one_end(void)
{
    bool taken = race.status[1] == ROTA_OK;
    bool was_removed = race.status[2] == ROTA_OK;

    test_check(taken + was_removed + (race.status[0] != ROTA_OK) == 1);
    test_check(!taken || race.got[1] == race_cell(0));
    race_is_empty();
}

static void check_given_up_in_time(void *arg)
{
    test_check(race.status[0] == ROTA_OK || race.status[0] == ROTA_ETIMEDOUT);
    check_one_end();
}

/* QUEUE-35, QUEUE-39: a transfer whose time runs out at the moment when it is taken or removed. */
TEST(a_timeout_near_the_end_of_a_transfer)
{
    static const test_race sides = {make_transfer_round,
                                    {transfer_for_a_short_time_0, poll_later_1, remove_it_2},
                                    check_given_up_in_time};

    test_race_run(&sides, NULL);
}

static void interrupt_0(void *arg)
{
    race_pause(3);
    rota_thread_interrupt(test_race_thread(0));
}

/* On the main thread, which is side 0. */
static void check_given_up_when_interrupted(void *arg)
{
    bool told = race.status[0] == ROTA_EINTERRUPTED;

    test_check(told || race.status[0] == ROTA_OK);
    test_check(rota_interrupted() == !told);
    check_one_end();
}

/* QUEUE-35, INT-06: the same for an interrupt. */
TEST(an_interrupt_near_the_end_of_a_transfer)
{
    static const test_race sides = {make_transfer_round,
                                    {transfer_0, poll_later_1, remove_it_2, interrupt_0},
                                    check_given_up_when_interrupted};

    test_race_run(&sides, NULL);
}

static void try_transfer_0(void *arg)
{
    race_pause(0);
    race.status[0] = rota_queue_try_transfer(race.queue, race_cell(0));
}

static void check_given_or_not(void *arg)
{
    bool given = race.status[0] == ROTA_OK;

    test_check(given || race.status[0] == ROTA_EFULL);
    test_check(race.status[1] == (given ? ROTA_OK : ROTA_ETIMEDOUT));
    race_is_empty();
}

/* QUEUE-35, QUEUE-38: given to one that has it, or nothing has happened. */
TEST(a_try_near_a_timeout)
{
    static const test_race sides = {
        make_transfer_round, {try_transfer_0, poll_for_a_short_time_1}, check_given_or_not};

    test_race_run(&sides, NULL);
}
