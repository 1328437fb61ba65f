/* SPDX-License-Identifier: MIT */
/*
 * The delay queue: what is due, earliest first; the rest can be seen, but not taken. Who waits for
 * it: queue.delay_waits.
 */
#include "queues.h"

#include "rota_test_internal.h"

#include <stdlib.h>

enum { MANY = 1000 };

struct timed {
    rota_ns due;
    unsigned number; /* in the order of insertion */
};

static struct timed items[MANY];
static rota_queue *queue;
static rota_ns start;

static rota_ns due_of(const void *element, void *ctx)
{
    const struct timed *item = element;

    ++*(unsigned *)ctx;
    return item->due;
}

static unsigned asked;

static int make(void **state)
{
    test_clock_install();
    start = test_clock_now();
    asked = 0;
    return rota_delay_queue(due_of, &asked, &queue);
}

static int unmake(void **state)
{
    int status = rota_queue_free(queue);

    test_clock_remove();
    return status == ROTA_OK ? 0 : -1;
}

TEST_FIXTURE(.setup = make, .teardown = unmake);

/* Item i, so long after the start. */
static void put_after(unsigned i, rota_ns delay)
{
    items[i] = (struct timed){.due = start + delay, .number = i};
    assert_ok(rota_queue_put(queue, &items[i]));
}

static void gives(unsigned i)
{
    void *element = NULL;

    assert_ok(rota_queue_poll(queue, &element));
    assert_ptr_equal(element, &items[i]);
}

static void gives_nothing(void)
{
    void *element = TEST_UNTOUCHED;

    assert_status(rota_queue_poll(queue, &element), ROTA_EEMPTY);
    assert_status(rota_queue_poll_timed(queue, 0, &element), ROTA_ETIMEDOUT);
    assert_status(rota_queue_poll_timed(queue, INT64_MIN, &element), ROTA_ETIMEDOUT);
    assert_int_equal(rota_queue_drain(queue, &element, 1), 0);
    assert_ptr_equal(element, TEST_UNTOUCHED);
}

/* GEN-02. */
TEST(it_needs_to_know_when_and_a_place)
{
    rota_queue *other = TEST_UNTOUCHED;

    assert_status(rota_delay_queue(NULL, NULL, &other), ROTA_EINVAL);
    assert_status(rota_delay_queue(due_of, NULL, NULL), ROTA_EINVAL);
    assert_status(rota_delay_queue(NULL, NULL, NULL), ROTA_EINVAL);
    assert_ptr_equal(other, TEST_UNTOUCHED);
}

/* QUEUE-27, QUEUE-28, DWQ-07: not a nanosecond early, but it can be seen. */
TEST(nothing_comes_out_before_its_time)
{
    void *next = NULL;
    test_shown shown = {.count = 0};

    put_after(0, ROTA_HOURS(1));
    gives_nothing();
    test_clock_advance(ROTA_HOURS(1) - 1);
    gives_nothing();
    assert_ok(rota_queue_peek(queue, &next));
    assert_ptr_equal(next, &items[0]);
    assert_int_equal(rota_queue_size(queue), 1);
    assert_true(rota_queue_room(queue) == ROTA_UNBOUNDED);
    assert_true(rota_queue_contains(queue, &items[0]));
    assert_int_equal(rota_queue_each(queue, test_show, &shown), 1);
    test_clock_advance(1);
    gives(0);
    assert_int_equal(rota_queue_size(queue), 0);
}

/* QUEUE-27: in the order of their times, whatever the order of insertion. */
TEST(the_earliest_comes_first)
{
    void *element;

    for (unsigned i = 0; i < 20; i++)
        put_after(i, ROTA_MS(20 - i));
    for (unsigned i = 20; i-- > 0;) {
        gives_nothing();
        test_clock_advance(ROTA_MS(1));
        assert_ok(rota_queue_take(queue, &element));
        assert_ptr_equal(element, &items[i]);
    }
}

/* First in, first out among those of one time; the others by their times. */
TEST(those_of_one_time_come_in_the_order_of_insertion)
{
    struct timed *last = NULL;
    void *element = NULL;
    test_random random;

    test_random_init(&random);
    for (unsigned i = 0; i < MANY; i++)
        put_after(i, (rota_ns)test_random_below(&random, 10));
    test_clock_advance(10);
    for (unsigned i = 0; i < MANY; i++) {
        assert_ok(rota_queue_poll(queue, &element));
        struct timed *item = element;
        if (last != NULL)
            assert_true(last->due < item->due
                        || (last->due == item->due && last->number < item->number));
        last = item;
    }
    gives_nothing();
}

/* What an element says later does not count. */
TEST(it_is_asked_once_when_it_is_inserted)
{
    void *element;

    put_after(0, 1);
    put_after(1, 2);
    put_after(2, 3);
    items[0].due = INT64_MAX;
    items[2].due = INT64_MIN;
    gives_nothing();
    test_clock_advance(1);
    gives(0);
    gives_nothing();
    assert_true(rota_queue_remove(queue, &items[1]));
    test_clock_advance(2);
    assert_ok(rota_queue_take(queue, &element));
    assert_ptr_equal(element, &items[2]);
    assert_int_equal(asked, 3);
}

/* GEN-04, QUEUE-27: times are compared as they are; none overflows, the latest never comes. */
TEST(the_ends_of_time_are_times)
{
    const rota_ns times[] = {INT64_MAX, INT64_MAX - 1, 0, -1, INT64_MIN, INT64_MIN + 1};
    const unsigned order[] = {4, 5, 3, 2};
    void *next = NULL;

    for (unsigned i = 0; i < 6; i++) {
        items[i] = (struct timed){.due = times[i]};
        assert_ok(rota_queue_offer(queue, &items[i]));
    }
    for (unsigned i = 0; i < 4; i++)
        gives(order[i]);
    gives_nothing();
    assert_ok(rota_queue_peek(queue, &next));
    assert_ptr_equal(next, &items[1]);
    test_clock_advance(ROTA_HOURS(100000));
    gives_nothing();
    test_clock_advance(INT64_MAX - 1 - test_clock_now());
    gives(1);
    gives_nothing();
    assert_true(rota_queue_remove(queue, &items[0]));
}

/* A far one does not hold up one that is due. */
TEST(a_far_time_delays_nobody)
{
    void *element;

    items[0] = (struct timed){.due = INT64_MAX};
    assert_ok(rota_queue_put(queue, &items[0]));
    put_after(1, 0);
    assert_ok(rota_queue_take(queue, &element));
    assert_ptr_equal(element, &items[1]);
    gives_nothing();
}

/* DWQ-13, QUEUE-28: due ones alone, in order; the others stay. */
TEST(a_drain_takes_what_is_due)
{
    void *elements[10];

    for (unsigned i = 0; i < 10; i++)
        put_after(i, ROTA_SEC(i));
    test_clock_advance(ROTA_SEC(4));
    assert_int_equal(rota_queue_drain(queue, elements, 2), 2);
    assert_int_equal(rota_queue_drain(queue, elements + 2, 8), 3);
    for (unsigned i = 0; i < 5; i++)
        assert_ptr_equal(elements[i], &items[i]);
    assert_int_equal(rota_queue_size(queue), 5);
    gives_nothing();
    test_clock_advance(ROTA_SEC(5));
    assert_int_equal(rota_queue_drain(queue, elements, 10), 5);
    for (unsigned i = 0; i < 5; i++)
        assert_ptr_equal(elements[i], &items[i + 5]);
}

static bool is_odd(void *element, void *ctx)
{
    return ((struct timed *)element)->number % 2 == 1;
}

/* DWQ-13, QUEUE-28: due or not, by name, by condition and all of them. */
TEST(what_is_not_due_can_be_removed)
{
    for (unsigned i = 0; i < 10; i++)
        put_after(i, ROTA_SEC(i));
    assert_true(rota_queue_remove(queue, &items[9]));
    assert_true(rota_queue_remove(queue, &items[0]));
    assert_false(rota_queue_remove(queue, &items[0]));
    assert_int_equal(rota_queue_remove_if(queue, is_odd, NULL), 4);
    assert_int_equal(rota_queue_size(queue), 4);
    test_clock_advance(ROTA_SEC(2));
    gives(2);
    gives_nothing();
    assert_int_equal(rota_queue_remove_if(queue, NULL, NULL), 3);
    test_clock_advance(ROTA_HOURS(1));
    gives_nothing();
}

/* QUEUE-03: the same element at several times comes at each of them. */
TEST(the_same_element_may_come_at_several_times)
{
    put_after(0, 5);
    put_after(1, 6);
    put_after(0, 7);
    put_after(0, 9);
    assert_int_equal(rota_queue_size(queue), 4);
    test_clock_advance(8);
    gives(0);
    gives(1);
    gives(0);
    gives_nothing();
    assert_true(rota_queue_remove(queue, &items[0]));
    assert_false(rota_queue_remove(queue, &items[0]));
    test_clock_advance(8);
    gives_nothing();
}

/* QUEUE-12: in the order of insertion, due or not. */
TEST(each_shows_them_in_the_order_of_insertion)
{
    test_shown shown = {.count = 0};

    for (unsigned i = 0; i < 20; i++)
        put_after(i, ROTA_SEC(i * 7 % 20));
    test_clock_advance(ROTA_SEC(10));
    assert_int_equal(rota_queue_each(queue, test_show, &shown), 20);
    for (unsigned i = 0; i < 20; i++)
        assert_ptr_equal(shown.elements[i], &items[i]);
}

/* -- A great many ------------------------------------------------------------------------- */

enum { GREAT_MANY = 300000 };

/*
 * DWQ-05, DWQ-15: removal by name costs the same among many as among few. If each looked at all the
 * others, the test would not end in time.
 */
TEST(removal_by_name_is_as_cheap_among_many_as_among_few)
{
    struct timed *all = malloc(GREAT_MANY * sizeof *all);
    test_random random;

    assert_non_null(all);
    test_random_init(&random);
    for (size_t i = 0; i < GREAT_MANY; i++) {
        all[i].due = start + 1 + (rota_ns)test_random_below(&random, GREAT_MANY);
        assert_ok(rota_queue_put(queue, &all[i]));
    }
    for (size_t i = 0; i < GREAT_MANY; i++) /* 7919 is prime: each once, far from one another */
        assert_true(rota_queue_remove(queue, &all[i * 7919 % GREAT_MANY]));
    assert_int_equal(rota_queue_size(queue), 0);
    free(all);
}

/* -- By the real clock -------------------------------------------------------------------- */

/* GEN-06, QUEUE-27: each not before its time, all in the order of their times. */
TEST(by_the_real_clock_none_is_early)
{
    rota_queue *real = NULL;
    void *element = NULL;

    test_clock_remove();
    start = rota_now();
    assert_ok(rota_delay_queue(due_of, &asked, &real));
    for (unsigned i = 0; i < 20; i++) {
        items[i].due = start + ROTA_MS(20 - i);
        assert_ok(rota_queue_put(real, &items[i]));
    }
    for (unsigned i = 20; i-- > 0;) {
        assert_ok(rota_queue_take(real, &element));
        assert_ptr_equal(element, &items[i]);
        assert_true(rota_now() >= items[i].due);
    }
    assert_ok(rota_queue_free(real));
}
