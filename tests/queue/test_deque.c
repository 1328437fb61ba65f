/* SPDX-License-Identifier: MIT */
/*
 * The deque: both ends. Its front takes and its back puts are those of every queue.
 */
#include "queues.h"

#include "rota_test_internal.h"

#include <string.h>

enum { FULL = 6, CELLS = 64 };

static uint64_t cells[CELLS];
static rota_queue *deque;

static int make(void **state)
{
    for (size_t i = 0; i < CELLS; i++)
        cells[i] = i;
    return rota_deque(FULL, &deque);
}

static int unmake(void **state)
{
    int status = rota_queue_free(deque);

    test_clock_remove();
    return status == ROTA_OK && !rota_interrupted() ? 0 : -1;
}

TEST_FIXTURE(.setup = make, .teardown = unmake);

static void fill(void)
{
    for (size_t i = 0; i < FULL; i++)
        assert_ok(rota_queue_put(deque, &cells[i]));
}

/* Both ways, in this order from the front. */
static void holds(size_t count, void *const *expected)
{
    test_shown shown = {.count = 0};
    test_shown back = {.count = 0};

    assert_int_equal(rota_queue_size(deque), count);
    assert_int_equal(rota_queue_each(deque, test_show, &shown), count);
    assert_int_equal(rota_deque_each_back(deque, test_show, &back), count);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(shown.elements[i], expected[i]);
        assert_ptr_equal(back.elements[i], expected[count - 1 - i]);
    }
}

static void holds_all(void)
{
    void *expected[FULL];

    for (size_t i = 0; i < FULL; i++)
        expected[i] = &cells[i];
    holds(FULL, expected);
}

static void gives(test_queue_call *call, rota_ns timeout, size_t i)
{
    void *element = NULL;

    assert_ok(call(deque, &element, timeout));
    assert_ptr_equal(element, &cells[i]);
}

/* -- Nobody waits ------------------------------------------------------------------------- */

/* QUEUE-04, QUEUE-39 */
TEST(it_needs_a_capacity_and_a_place)
{
    const size_t large[] = {1, SIZE_MAX / 2, SIZE_MAX - 1, ROTA_UNBOUNDED};
    rota_queue *other = TEST_UNTOUCHED;

    assert_status(rota_deque(0, &other), ROTA_EINVAL);
    assert_status(rota_deque(1, NULL), ROTA_EINVAL);
    assert_ptr_equal(other, TEST_UNTOUCHED);
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        assert_ok(rota_deque(large[i], &other));
        assert_true(rota_queue_room(other) == large[i]);
        assert_ok(rota_queue_free(other));
    }
}

static void pushed_come_back(test_queue_call *push, rota_ns timeout, test_queue_call *pull)
{
    for (size_t i = 0; i < FULL; i++) {
        void *element = &cells[i];
        void *front = NULL;
        assert_ok(push(deque, &element, timeout));
        assert_ok(rota_queue_peek(deque, &front));
        assert_ptr_equal(front, &cells[i]);
    }
    assert_status(rota_deque_offer_front(deque, &cells[FULL]), ROTA_EFULL);
    assert_false(rota_queue_contains(deque, &cells[FULL]));
    for (size_t i = 0; i < FULL; i++)
        gives(pull, 0, pull == test_poll_back ? i : FULL - 1 - i);
}

/* QUEUE-22: a stack from the front, a queue from behind. */
TEST(the_front_takes_elements_in_every_way)
{
    test_queue_call *const pulls[] = {test_poll, test_poll_back};

    for (size_t i = 0; i < 2; i++) {
        pushed_come_back(test_put_front, 0, pulls[i]);
        pushed_come_back(test_offer_front, 0, pulls[i]);
        pushed_come_back(test_offer_front_timed, 0, pulls[i]);
        pushed_come_back(test_offer_front_timed, INT64_MIN, pulls[i]);
        pushed_come_back(test_offer_front_timed, ROTA_FOREVER, pulls[i]);
    }
}

/* QUEUE-22: the newest first, then nothing. */
TEST(the_back_gives_elements_in_every_way)
{
    test_queue_call *const pulls[] = {test_take_back, test_poll_back, test_poll_back_timed};
    void *element = TEST_UNTOUCHED;

    for (size_t way = 0; way < 3; way++) {
        fill();
        for (size_t i = FULL; i-- > 0;)
            gives(pulls[way], way == 2 ? -1 : 0, i);
    }
    assert_status(rota_deque_poll_back(deque, &element), ROTA_EEMPTY);
    assert_status(rota_deque_poll_back_timed(deque, 0, &element), ROTA_ETIMEDOUT);
    assert_status(rota_deque_poll_back_timed(deque, INT64_MIN, &element), ROTA_ETIMEDOUT);
    assert_ptr_equal(element, TEST_UNTOUCHED);
}

/* QUEUE-22: the last one, left there. */
TEST(peek_back_shows_the_last)
{
    void *element = NULL;

    fill();
    for (size_t i = FULL; i-- > 0;) {
        assert_ok(rota_deque_peek_back(deque, &element));
        assert_ptr_equal(element, &cells[i]);
        assert_int_equal(rota_queue_size(deque), i + 1);
        gives(test_poll_back, 0, i);
    }
    element = TEST_UNTOUCHED;
    assert_status(rota_deque_peek_back(deque, &element), ROTA_EEMPTY);
    assert_ptr_equal(element, TEST_UNTOUCHED);
}

/* QUEUE-23: the first call takes that nearest its end, the others stay in order. */
TEST(an_element_can_be_removed_from_either_end)
{
    void *const all[] = {&cells[1], &cells[0], &cells[2], &cells[0], &cells[3], &cells[0]};
    void *const but_last[] = {&cells[1], &cells[0], &cells[2], &cells[0], &cells[3]};
    void *const middle[] = {&cells[1], &cells[2], &cells[0], &cells[3]};

    for (size_t i = 0; i < 6; i++)
        assert_ok(rota_queue_put(deque, all[i]));
    assert_true(rota_deque_remove_last(deque, &cells[0]));
    holds(5, but_last);
    assert_true(rota_queue_remove(deque, &cells[0]));
    holds(4, middle);
    assert_true(rota_deque_remove_last(deque, &cells[0]));
    assert_false(rota_deque_remove_last(deque, &cells[0]));
    assert_false(rota_queue_remove(deque, &cells[0]));
    assert_int_equal(rota_queue_size(deque), 3);
}

static void never(void *element, void *ctx)
{
    test_die(__FILE__, __LINE__, "an empty deque has shown an element");
}

/* QUEUE-23: in reverse. */
TEST(each_back_begins_at_the_back)
{
    assert_int_equal(rota_deque_each_back(deque, never, NULL), 0);
    fill();
    holds_all();
    gives(test_poll, 0, 0);
    gives(test_poll_back, 0, FULL - 1);
    void *const left[] = {&cells[1], &cells[2], &cells[3], &cells[4]};
    holds(FULL - 2, left);
}

/* -- Threads wait ------------------------------------------------------------------------- */

static void remove_in_the_middle(void)
{
    assert_true(rota_queue_remove(deque, &cells[3]));
}

static void remove_from_behind(void)
{
    assert_true(rota_deque_remove_last(deque, &cells[3]));
}

static void take_from_the_front(void)
{
    gives(test_take, 0, 0);
}

static void take_from_the_back(void)
{
    gives(test_take_back, 0, FULL - 1);
}

static void poll_the_back(void)
{
    gives(test_poll_back, 0, FULL - 1);
}

/* QUEUE-24, QUEUE-06: room that comes anywhere serves who waits at either end. */
TEST(a_producer_is_released_by_any_removal)
{
    void (*const ways[])(void) = {remove_in_the_middle, remove_from_behind, take_from_the_front,
                                  take_from_the_back, poll_the_back};

    for (size_t i = 0; i < 2 * sizeof ways / sizeof ways[0]; i++) {
        bool front = i % 2 == 0;
        test_caller producer;
        void *end = NULL;

        fill();
        test_caller_start(&producer, deque, front ? test_put_front : test_put, &cells[FULL], 0);
        ways[i / 2]();
        test_caller_ends(&producer, ROTA_OK, &cells[FULL]);
        assert_ok(front ? rota_queue_peek(deque, &end) : rota_deque_peek_back(deque, &end));
        assert_ptr_equal(end, &cells[FULL]); /* it is where it wanted to be */
        assert_int_equal(rota_queue_remove_if(deque, NULL, NULL), FULL);
    }
}

/* QUEUE-24, QUEUE-07, QUEUE-37: an element that comes anywhere serves who waits at either end. */
TEST(a_consumer_is_released_by_any_insertion)
{
    test_queue_call *const inserting[] = {test_put,       test_offer,       test_offer_timed,
                                          test_put_front, test_offer_front, test_offer_front_timed};
    test_queue_call *const removing[] = {test_take_back, test_poll_back_timed, test_take};

    for (size_t i = 0; i < 18; i++) {
        void *element = &cells[i];
        test_caller consumer;
        test_caller_start(&consumer, deque, removing[i % 3], NULL, ROTA_HOURS(1));
        assert_int_equal(rota_queue_waiting(deque), 1);
        assert_ok(inserting[i / 3](deque, &element, ROTA_HOURS(1)));
        assert_int_equal(rota_queue_waiting(deque), 0);
        test_caller_ends(&consumer, ROTA_OK, element);
    }
}

static const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_HOURS(1), 1, 0, -1, INT64_MIN};

static void does_not_wait(test_queue_call *call, void *element)
{
    for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
        void *given = element;
        rota_thread_interrupt(rota_thread_self());
        assert_status(call(deque, &given, timeouts[i]), ROTA_EINTERRUPTED);
        assert_false(rota_is_interrupted());
        assert_ptr_equal(given, element);
    }
}

static void stops_waiting(test_queue_call *call, void *element)
{
    test_caller caller;

    test_caller_start(&caller, deque, call, element, ROTA_HOURS(1));
    assert_status(rota_queue_free(deque), ROTA_EBUSY);
    test_caller_interrupt(&caller);
    test_caller_ends(&caller, ROTA_EINTERRUPTED, element != NULL ? element : TEST_UNTOUCHED);
}

/*
 * INT-04, INT-05: before it waits and while it does. ROTA_EINTERRUPTED from rota_deque_take_back,
 * rota_deque_poll_back_timed.
 */
TEST(a_take_from_the_back_can_be_interrupted)
{
    does_not_wait(test_take_back, TEST_UNTOUCHED);
    does_not_wait(test_poll_back_timed, TEST_UNTOUCHED);
    stops_waiting(test_take_back, NULL);
    stops_waiting(test_poll_back_timed, NULL);
    assert_int_equal(rota_queue_waiting(deque), 0);
}

/*
 * INT-04, INT-05: nothing was inserted. ROTA_EINTERRUPTED from rota_deque_put_front,
 * rota_deque_offer_front_timed.
 */
TEST(a_put_at_the_front_can_be_interrupted)
{
    fill();
    does_not_wait(test_put_front, &cells[FULL]);
    does_not_wait(test_offer_front_timed, &cells[FULL]);
    stops_waiting(test_put_front, &cells[FULL]);
    stops_waiting(test_offer_front_timed, &cells[FULL]);
    holds_all();
}

/* INT-05: where there is room, or an element, nobody waits. */
TEST(what_need_not_wait_leaves_an_interrupt_alone)
{
    void *element;

    rota_thread_interrupt(rota_thread_self());
    assert_ok(rota_deque_put_front(deque, &cells[0]));
    assert_ok(rota_deque_offer_front(deque, &cells[1]));
    assert_ok(rota_deque_offer_front_timed(deque, &cells[2], 0));
    assert_ok(rota_deque_take_back(deque, &element));
    assert_ok(rota_deque_poll_back(deque, &element));
    assert_ok(rota_deque_poll_back_timed(deque, 0, &element));
    assert_status(rota_deque_poll_back(deque, &element), ROTA_EEMPTY);
    fill();
    assert_status(rota_deque_offer_front(deque, &cells[0]), ROTA_EFULL);
    assert_true(rota_interrupted());
}

static void gives_up_on_time(test_queue_call *call, void *element)
{
    test_caller caller;
    rota_ns start = test_clock_now();

    test_caller_start(&caller, deque, call, element, ROTA_HOURS(1));
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_HOURS(1) - 1);
    test_caller_still_waits(&caller);
    test_clock_advance(1);
    test_caller_ends(&caller, ROTA_ETIMEDOUT, element != NULL ? element : TEST_UNTOUCHED);
    assert_true(caller.ended_at == start + ROTA_HOURS(1));
}

/*
 * GEN-06, QUEUE-22: not a nanosecond early. ROTA_ETIMEDOUT from rota_deque_poll_back_timed,
 * rota_deque_offer_front_timed.
 */
TEST(a_wait_at_either_end_takes_as_long_as_it_was_told)
{
    test_clock_install();
    gives_up_on_time(test_poll_back_timed, NULL);
    fill();
    gives_up_on_time(test_offer_front_timed, &cells[FULL]);
    holds_all();
}

/* -- At random ---------------------------------------------------------------------------- */

struct model {
    test_random random;
    size_t count;
    void *list[FULL];
};

static void model_insert(struct model *model, void *element, bool front)
{
    int status = front ? rota_deque_offer_front(deque, element) : rota_queue_offer(deque, element);

    assert_status(status, model->count < FULL ? ROTA_OK : ROTA_EFULL);
    if (status != ROTA_OK)
        return;
    if (front)
        memmove(&model->list[1], &model->list[0], model->count * sizeof(void *));
    model->list[front ? 0 : model->count] = element;
    model->count++;
}

static void model_forget(struct model *model, size_t i)
{
    model->count--;
    memmove(&model->list[i], &model->list[i + 1], (model->count - i) * sizeof(void *));
}

static void model_remove(struct model *model, bool front)
{
    void *element = NULL;
    int status = front ? rota_queue_poll(deque, &element) : rota_deque_poll_back(deque, &element);

    assert_status(status, model->count > 0 ? ROTA_OK : ROTA_EEMPTY);
    if (status != ROTA_OK)
        return;
    size_t i = front ? 0 : model->count - 1;
    assert_ptr_equal(element, model->list[i]);
    model_forget(model, i);
}

static void model_remove_named(struct model *model, const void *element, bool front)
{
    size_t found = FULL;

    for (size_t i = 0; i < model->count; i++) {
        if (model->list[i] == element && (found == FULL || !front))
            found = i;
    }
    bool removed =
        front ? rota_queue_remove(deque, element) : rota_deque_remove_last(deque, element);
    assert_int_equal(removed, found < FULL);
    if (removed)
        model_forget(model, found);
}

/* QUEUE-13, QUEUE-22, QUEUE-23: a few elements, again and again the same ones, at both ends. */
TEST(it_does_what_a_plain_list_does)
{
    struct model model = {.count = 0};

    test_random_init(&model.random);
    for (int step = 0; step < 20000; step++) {
        bool front = test_random_below(&model.random, 2) == 0;
        void *element = &cells[test_random_below(&model.random, 4)];
        size_t kind = test_random_below(&model.random, 5);
        if (kind < 2)
            model_insert(&model, element, front);
        else if (kind < 4)
            model_remove(&model, front);
        else
            model_remove_named(&model, element, front);
        holds(model.count, model.list);
    }
}
