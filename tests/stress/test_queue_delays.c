/* SPDX-License-Identifier: MIT */
/*
 * Threads in a delay queue at the moment when an element comes due, goes, or an earlier one comes
 * (DWQ-08 to DWQ-11), by the real clock. A wake-up that was lost shows as a thread that waits for
 * ever: nothing ends it.
 */
#include "queues.h"
#include "rota_test_race.h"

#include <sched.h>

static rota_ns due_of(const void *element, void *ctx)
{
    return *(const rota_ns *)element;
}

static struct {
    rota_queue *queue;
    unsigned number;
    rota_ns items[TEST_SIDES]; /* when each is due */
    rota_ns far;
    int status;
    void *got[TEST_SIDES];
} race;

static int set_up(void **state)
{
    return rota_delay_queue(due_of, NULL, &race.queue);
}

static int tear_down(void **state)
{
    return rota_queue_free(race.queue) == ROTA_OK && !rota_interrupted() ? 0 : -1;
}

TEST_FIXTURE(.setup = set_up, .teardown = tear_down);

/* Up to 40 microseconds: about as long as the sides take; sometimes none. */
static rota_ns short_time(unsigned side)
{
    unsigned number = race.number * 7919 + side * 104729;

    return number % 8 == 0 ? 0 : (rota_ns)(number % 40000);
}

static void put_soon(unsigned item)
{
    race.items[item] = rota_now() + short_time(item);
    test_check(rota_queue_put(race.queue, &race.items[item]) == ROTA_OK);
}

/* Never early (GEN-06). */
static void *take_when_due(void)
{
    void *element = NULL;

    test_check(rota_queue_take(race.queue, &element) == ROTA_OK);
    test_check(*(rota_ns *)element <= rota_now());
    return element;
}

static void begin(void *arg)
{
    race.number++;
    race.got[1] = race.got[2] = NULL;
    test_check(rota_queue_size(race.queue) == 0);
}

static void begin_with_a_far_one(void *arg)
{
    begin(NULL);
    race.far = rota_now() + ROTA_HOURS(1);
    test_check(rota_queue_put(race.queue, &race.far) == ROTA_OK);
}

static void put_soon_0(void *arg)
{
    put_soon(0);
}

/* What it gets it gives back, for the one that waits for ever. */
static void poll_and_give_back_1(void *arg)
{
    void *element = NULL;

    race.status = rota_queue_poll_timed(race.queue, short_time(1), &element);
    if (race.status == ROTA_OK)
        test_check(rota_queue_put(race.queue, element) == ROTA_OK);
}

static void take_1(void *arg)
{
    race.got[1] = take_when_due();
}

static void take_2(void *arg)
{
    race.got[2] = take_when_due();
}

static void check_it_was_got(void *arg)
{
    test_check(race.status == ROTA_OK || race.status == ROTA_ETIMEDOUT);
    test_check(race.got[2] == &race.items[0]);
    rota_queue_remove(race.queue, &race.far);
}

/* DWQ-10, DWQ-11: a poll gives up, perhaps as the leader, while an element comes due. */
TEST(a_timeout_near_the_time)
{
    static const test_race sides = {
        begin, {put_soon_0, poll_and_give_back_1, take_2}, check_it_was_got};

    test_race_run(&sides, NULL);
}

/* DWQ-09, DWQ-11: the same while one waits for a later element. */
TEST(an_earlier_one_near_a_timeout)
{
    static const test_race sides = {
        begin_with_a_far_one, {put_soon_0, poll_and_give_back_1, take_2}, check_it_was_got};

    test_race_run(&sides, NULL);
}

/* -- The first one goes ------------------------------------------------------------------- */

static void begin_with_one(void *arg)
{
    begin(NULL);
    put_soon(3);
}

/* So that there are two in all, whoever has had the first. */
static void remove_the_first_0(void *arg)
{
    bool was_removed = rota_queue_remove(race.queue, &race.items[3]);

    put_soon(0);
    if (was_removed)
        put_soon(2);
}

static void check_both_got_one(void *arg)
{
    test_check(race.got[1] != race.got[2]);
    test_check(rota_queue_waiting(race.queue) == 0);
}

/* DWQ-11: it is removed while one waits for its time, or has just seen it come. */
TEST(a_removal_of_the_first_near_its_time)
{
    static const test_race sides = {
        begin_with_one, {remove_the_first_0, take_1, take_2}, check_both_got_one};

    test_race_run(&sides, NULL);
}

/* -- The leader goes ---------------------------------------------------------------------- */

static void take_interrupted_0(void *arg)
{
    void *element = NULL;

    race.status = rota_queue_take(race.queue, &element);
    if (race.status == ROTA_OK) /* for the other; an insertion is deaf to interrupts */
        test_check(rota_queue_put(race.queue, element) == ROTA_OK);
}

static void put_soon_1(void *arg)
{
    put_soon(1);
}

/* Some time before or after the element is due. */
static void interrupt_0(void *arg)
{
    rota_ns until = rota_now() + 2 * short_time(3);

    while (rota_now() < until)
        sched_yield();
    rota_thread_interrupt(test_race_thread(0));
}

static void check_the_other_got_it(void *arg)
{
    bool told = race.status == ROTA_EINTERRUPTED;

    test_check(told || race.status == ROTA_OK);
    test_check(rota_interrupted() == !told);
    test_check(race.got[2] == &race.items[1]);
}

/* DWQ-11, INT-06: an interrupt of the one that waits for the time. */
TEST(an_interrupt_near_the_time)
{
    static const test_race sides = {
        begin, {take_interrupted_0, put_soon_1, take_2, interrupt_0}, check_the_other_got_it};

    test_race_run(&sides, NULL);
}

/* -- Many --------------------------------------------------------------------------------- */

enum { TAKERS = 3, EACH = 1500, TOTAL = TAKERS * EACH, SPARE = 300 };

static rota_ns many[TOTAL + SPARE];
static unsigned taken[TOTAL + SPARE];

static void take_share(void *arg)
{
    for (unsigned i = 0; i < EACH; i++) {
        rota_ns *element = take_when_due();
        taken[element - many]++;
    }
}

static unsigned put_all(void)
{
    unsigned was_removed = 0;
    test_random random;

    test_random_init(&random);
    for (unsigned i = 0; i < TOTAL + was_removed; i++) {
        many[i] = rota_now() + (rota_ns)test_random_below(&random, 100000);
        test_check(rota_queue_put(race.queue, &many[i]) == ROTA_OK);
        if (i % 20 == 0 && was_removed < SPARE && rota_queue_remove(race.queue, &many[i])) {
            taken[i]++;
            was_removed++;
        }
        if (i % 7 == 0)
            sched_yield();
    }
    return TOTAL + was_removed;
}

/* QUEUE-05, QUEUE-27: elements come, come due and are removed; takers without a time-out get all. */
TEST(all_that_come_due_are_taken)
{
    test_thread *takers[TAKERS];

    for (unsigned i = 0; i < TAKERS; i++)
        takers[i] = test_thread_start(take_share, NULL);
    unsigned count = put_all();
    for (unsigned i = 0; i < TAKERS; i++)
        test_thread_join(takers[i]);
    for (unsigned i = 0; i < TOTAL + SPARE; i++)
        assert_int_equal(taken[i], i < count);
    assert_int_equal(rota_queue_size(race.queue), 0);
}
