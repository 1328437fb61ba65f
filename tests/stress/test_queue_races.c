/* SPDX-License-Identifier: MIT */
/*
 * Queues at the moment when a time runs out, or when several want the same element or the same
 * room. A wake-up that was lost shows as a thread that waits for ever: nothing ends it.
 */
#include "queue_race.h"

TEST_FIXTURE(.setup = race_set_up, .teardown = race_tear_down);

static void make_empty_round(void *arg)
{
    race_next(suits_any);
    race_is_empty();
}

static void put_one(void *arg)
{
    race_pause(0);
    race_put(0);
}

/* -- A time-out against an insertion ------------------------------------------------------ */

/* What it gets it gives back, for the one that waits for ever. */
static void poll_for_a_short_time_1(void *arg)
{
    void *element = NULL;

    race.status[1] = rota_queue_poll_timed(race.queue, race_short_time(1), &element);
    if (race.status[1] == ROTA_OK)
        test_check(rota_queue_put(race.queue, element) == ROTA_OK);
}

static void take_for_ever_2(void *arg)
{
    race.got[2] = race_take();
}

static void check_the_other_got_it(void *arg)
{
    test_check(race.status[1] == ROTA_OK || race.status[1] == ROTA_ETIMEDOUT);
    test_check(race.got[2] == race_cell(0));
    race_is_empty();
}

/* QUEUE-08: whoever gives up at that moment, another has the element. */
TEST(a_timeout_near_an_insertion)
{
    static const test_race sides = {make_empty_round,
                                    {put_one, poll_for_a_short_time_1, take_for_ever_2},
                                    check_the_other_got_it};

    test_race_run(&sides, NULL);
}

/* -- A time-out against a removal --------------------------------------------------------- */

static void make_full_round(void *arg)
{
    race_next(suits_full);
    race_fill();
}

static void take_one(void *arg)
{
    race_pause(0);
    race.got[0] = race_take();
}

/* If it is let in it lets another in. */
static void offer_for_a_short_time_1(void *arg)
{
    race.status[1] = rota_queue_offer_timed(race.queue, race_cell(1), race_short_time(1));
    if (race.status[1] == ROTA_OK)
        race_take();
}

static void put_for_ever_2(void *arg)
{
    race_put(2);
}

static void check_it_is_full(void *arg)
{
    test_check(race.status[1] == ROTA_OK || race.status[1] == ROTA_ETIMEDOUT);
    test_check(rota_queue_size(race.queue) == race.kind->capacity);
    test_check(rota_queue_room(race.queue) == 0);
    test_check(race.status[1] == ROTA_OK || !rota_queue_contains(race.queue, race_cell(1)));
    rota_queue_remove_if(race.queue, NULL, NULL);
}

/* QUEUE-08: whoever gives up at that moment, another has the room. */
TEST(a_timeout_near_a_removal)
{
    static const test_race sides = {
        make_full_round, {take_one, offer_for_a_short_time_1, put_for_ever_2}, check_it_is_full};

    test_race_run(&sides, NULL);
}

/* -- Time-outs together ------------------------------------------------------------------- */

static void give_up(unsigned side)
{
    race.status[side] = rota_queue_poll_timed(race.queue, race_short_time(side), &race.got[side]);
}

static void give_up_0(void *arg)
{
    give_up(0);
}

static void give_up_1(void *arg)
{
    give_up(1);
}

static void give_up_2(void *arg)
{
    give_up(2);
}

static void check_all_gave_up(void *arg)
{
    for (unsigned side = 0; side < 3; side++)
        test_check(race.status[side] == ROTA_ETIMEDOUT && race.got[side] == NULL);
    race_is_empty();
}

/* QUEUE-34: several give up together, and nobody is left in line. */
TEST(several_give_up_together)
{
    static const test_race sides = {
        make_empty_round, {give_up_0, give_up_1, give_up_2}, check_all_gave_up};

    test_race_run(&sides, NULL);
}

/* -- One element, several who want it ----------------------------------------------------- */

static void make_one_round(void *arg)
{
    race_next(suits_room);
    race_is_empty();
    race_put(0);
}

static void remove_it_0(void *arg)
{
    race.status[0] = rota_queue_remove(race.queue, race_cell(0)) ? ROTA_OK : ROTA_EEMPTY;
}

static void poll_it_1(void *arg)
{
    race.status[1] = rota_queue_poll(race.queue, &race.got[1]);
}

static void drain_it_2(void *arg)
{
    race.status[2] = rota_queue_drain(race.queue, &race.got[2], 1) == 1 ? ROTA_OK : ROTA_EEMPTY;
}

static void clear_it_3(void *arg)
{
    race.status[3] = rota_queue_remove_if(race.queue, NULL, NULL) == 1 ? ROTA_OK : ROTA_EEMPTY;
}

static void check_one_has_it(void *arg)
{
    unsigned have = 0;

    for (unsigned side = 0; side < 4; side++) {
        test_check(race.status[side] == ROTA_OK || race.status[side] == ROTA_EEMPTY);
        have += race.status[side] == ROTA_OK;
    }
    test_check(have == 1);
    race_is_empty();
}

/* QUEUE-05, QUEUE-38: one of four ways to remove it has it, and nobody else. */
TEST(one_of_several_has_the_element)
{
    static const test_race sides = {
        make_one_round, {remove_it_0, poll_it_1, drain_it_2, clear_it_3}, check_one_has_it};

    test_race_run(&sides, NULL);
}

/* -- One place, several who want it ------------------------------------------------------- */

static bool suits_bound(const test_queue_kind *kind)
{
    return suits_room(kind) && suits_full(kind);
}

static void make_one_place_round(void *arg)
{
    race_next(suits_bound);
    rota_queue_remove_if(race.queue, NULL, NULL);
    race_fill();
    race_take();
}

static void offer(unsigned side)
{
    race.status[side] = side % 2 == 0 ? rota_queue_offer(race.queue, race_cell(side))
                                      : rota_queue_offer_timed(race.queue, race_cell(side), 0);
}

static void offer_0(void *arg)
{
    offer(0);
}

static void offer_1(void *arg)
{
    offer(1);
}

static void offer_2(void *arg)
{
    offer(2);
}

static void check_one_is_in(void *arg)
{
    unsigned in = 0;

    for (unsigned side = 0; side < 3; side++) {
        bool is_in = rota_queue_contains(race.queue, race_cell(side));
        test_check(race.status[side]
                   == (is_in       ? ROTA_OK
                       : side == 1 ? ROTA_ETIMEDOUT
                                   : ROTA_EFULL));
        in += is_in;
    }
    test_check(in == 1);
    test_check(rota_queue_size(race.queue) == race.kind->capacity);
}

/* QUEUE-04, QUEUE-38: a full queue is full, and one with a place has one. */
TEST(one_of_several_has_the_place)
{
    static const test_race sides = {
        make_one_place_round, {offer_0, offer_1, offer_2}, check_one_is_in};

    test_race_run(&sides, NULL);
}

/* -- What waits in line and what passes by ------------------------------------------------ */

static void put_two(void *arg)
{
    race_put(0);
    race_put(3);
}

static void take_for_ever_1(void *arg)
{
    race.got[1] = race_take();
}

static void check_each_has_one(void *arg)
{
    test_check(race.got[1] != race.got[2]);
    race_is_empty();
}

/* QUEUE-07, QUEUE-21: two that come at once serve two, asleep, awake or on their way. */
TEST(two_elements_serve_two)
{
    static const test_race sides = {
        make_empty_round, {put_two, take_for_ever_1, take_for_ever_2}, check_each_has_one};

    test_race_run(&sides, NULL);
}

static void drain_two(void *arg)
{
    void *elements[2];
    size_t drained = 0;

    for (; drained < 2; sched_yield()) /* in a hand-off they come when they come */
        drained += rota_queue_drain(race.queue, elements + drained, 2 - drained);
}

static void put_for_ever_1(void *arg)
{
    race_put(1);
}

static void check_both_are_in(void *arg)
{
    test_check(rota_queue_size(race.queue) == race.kind->capacity);
    if (race.kind->capacity > 0)
        test_check(rota_queue_remove(race.queue, race_cell(1))
                   && rota_queue_remove(race.queue, race_cell(2)));
    rota_queue_remove_if(race.queue, NULL, NULL);
}

/* QUEUE-06, QUEUE-21, QUEUE-32: a drain of two lets two in. */
TEST(a_drain_of_two_lets_two_in)
{
    static const test_race sides = {
        make_full_round, {drain_two, put_for_ever_1, put_for_ever_2}, check_both_are_in};

    test_race_run(&sides, NULL);
}
