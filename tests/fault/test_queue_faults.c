/* SPDX-License-Identifier: MIT */
/*
 * Queues when memory or the system refuse: ROTA_ENOMEM, and the queue is as it was (GEN-10).
 */
#include "queues.h"
#include "rota_test_internal.h"

#include "os/fault.h"

enum { CELLS = 300, ENOUGH = 260 };

static uint64_t cells[CELLS];
static const test_queue_kind *kind;
static rota_queue *queue;

static void holds(size_t count)
{
    test_shown shown = {.count = 0};

    assert_int_equal(rota_queue_size(queue), count);
    assert_int_equal(rota_queue_each(queue, test_show, &shown), count);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(shown.elements[i], &cells[i]);
        assert_true(rota_queue_contains(queue, &cells[i]));
    }
    assert_false(rota_queue_contains(queue, &cells[count]));
}

static void gives(size_t count)
{
    void *element = NULL;

    for (size_t i = 0; i < count; i++) {
        assert_ok(rota_queue_poll(queue, &element));
        assert_ptr_equal(element, &cells[i]);
    }
    assert_status(rota_queue_poll(queue, &element), ROTA_EEMPTY);
}

/* -- Making one --------------------------------------------------------------------------- */

static int make(void *arg)
{
    queue = TEST_UNTOUCHED;
    int status = kind->make(&queue);
    assert_true((status == ROTA_OK) == (queue != TEST_UNTOUCHED)); /* GEN-01 */
    return status;
}

static void unmake(void *arg)
{
    assert_ok(rota_queue_free(queue));
}

/*
 * QUEUE-39: ROTA_ENOMEM from rota_array_queue, rota_linked_queue, rota_deque, rota_priority_queue,
 * rota_delay_queue, rota_handoff_queue, rota_fair_handoff_queue, rota_transfer_queue,
 * rota_custom_queue.
 */
TEST(a_queue_is_made_or_not)
{
    for (size_t i = 0; i < TEST_QUEUE_KINDS; i++) {
        kind = &test_queue_kinds[i];
        test_every_allocation_fails(make, unmake, NULL, ROTA_ENOMEM);
    }
}

/* -- Inserting ---------------------------------------------------------------------------- */

static const struct way {
    test_queue_call *call;
    bool at_the_front;
} ways[] = {
    {test_put, false},      {test_offer, false},      {test_offer_timed, false},
    {test_put_front, true}, {test_offer_front, true}, {test_offer_front_timed, true},
};

enum { WAYS = sizeof ways / sizeof ways[0], TOO_MANY = 10000 };

/* As many as make every part of it grow. */
static size_t many(void)
{
    return kind->capacity < ENOUGH ? kind->capacity : ENOUGH;
}

/* The i-th, so that they come out in the order of the cells whichever end they go in at. */
static int insert(const struct way *way, size_t i)
{
    void *element = &cells[way->at_the_front ? many() - 1 - i : i];

    return way->call(queue, &element, ROTA_HOURS(1));
}

/* It failed once: those before it are there, and it works when it is tried again. */
static void goes_on(const struct way *way, size_t i)
{
    assert_int_equal(rota_queue_size(queue), i);
    for (; i < many(); i++)
        assert_ok(insert(way, i));
    holds(many());
    gives(many());
}

/* It fails until there is memory again; what is there can leave meanwhile. */
static void fails_on(const struct way *way, size_t i)
{
    for (int again = 0; again < 3; again++)
        assert_status(insert(way, i), ROTA_ENOMEM);
    assert_int_equal(rota_queue_size(queue), i);
    assert_int_equal(rota_queue_remove_if(queue, NULL, NULL), i);
    test_memory_fail_at(0, false);
    goes_on(way, 0);
}

/* ROTA_OK if all of it went well. */
static int fill(const struct way *way, bool onwards)
{
    if (make(NULL) != ROTA_OK)
        return ROTA_ENOMEM;
    for (size_t i = 0; i < many(); i++) {
        int status = insert(way, i);
        if (status != ROTA_OK) {
            (onwards ? fails_on : goes_on)(way, i);
            unmake(NULL);
            return status;
        }
    }
    holds(many());
    gives(many());
    unmake(NULL);
    return ROTA_OK;
}

/* Not every allocation must succeed: without memory for a larger index it keeps a smaller one. */
static void each_allocation_fails(const struct way *way, bool onwards)
{
    unsigned refused = 0;
    bool over = false;

    for (unsigned n = 1; !over; n++) {
        rota__blocks_flush();
        size_t before = test_memory_live();
        test_memory_fail_at(n, onwards);
        int status = fill(way, onwards);
        over = status == ROTA_OK && test_memory_asked() < n;
        test_memory_fail_at(0, false);
        assert_true(status == ROTA_OK || status == ROTA_ENOMEM);
        refused += status != ROTA_OK;
        rota__blocks_flush();
        assert_int_equal(test_memory_live(), before);
        assert_true(n < TOO_MANY);
    }
    assert_true(refused > (kind->grows ? 1 : 0)); /* not only when it was made */
}

static void on_every_kind(bool onwards)
{
    for (size_t i = 0; i < TEST_QUEUE_KINDS; i++) {
        kind = &test_queue_kinds[i];
        for (size_t j = 0; j < WAYS; j++) {
            if (kind->capacity > 0 && (kind->is_deque || !ways[j].at_the_front))
                each_allocation_fails(&ways[j], onwards);
        }
    }
}

/* QUEUE-15, DWQ-02, FAULT-19: each allocation fails once. */
TEST(an_insertion_succeeds_or_changes_nothing)
{
    on_every_kind(false);
}

/*
 * QUEUE-15, FAULT-20: all fail from then on, until there is memory again. ROTA_ENOMEM from
 * rota_queue_put, rota_queue_offer, rota_queue_offer_timed, rota_deque_put_front,
 * rota_deque_offer_front, rota_deque_offer_front_timed.
 */
TEST(an_insertion_fails_as_long_as_there_is_no_memory)
{
    on_every_kind(true);
}

static int transfer(void *arg)
{
    if (rota_transfer_queue(&queue) != ROTA_OK)
        return ROTA_ENOMEM;
    int status = rota_queue_transfer(queue, &cells[0], ROTA_US(1));
    assert_int_equal(rota_queue_size(queue), 0);
    assert_status(rota_queue_try_transfer(queue, &cells[0]), ROTA_EFULL);
    assert_ok(rota_queue_free(queue));
    return status == ROTA_ETIMEDOUT ? ROTA_OK : status;
}

/* QUEUE-15: a transfer waits, or has left nothing behind. */
TEST(a_transfer_waits_or_changes_nothing)
{
    test_every_allocation_fails(transfer, NULL, NULL, ROTA_ENOMEM);
}

/* -- Threads that wait -------------------------------------------------------------------- */

/* QUEUE-15: nobody is released by what did not come. */
TEST(a_consumer_waits_on_when_an_insertion_failed)
{
    for (size_t i = 0; i < TEST_QUEUE_KINDS; i++) {
        test_caller consumer;

        kind = &test_queue_kinds[i];
        assert_ok(kind->make(&queue));
        test_caller_start(&consumer, queue, test_take, NULL, 0);
        rota__blocks_flush();
        test_memory_fail_at(1, true);
        int status = rota_queue_put(queue, &cells[0]);
        test_memory_fail_at(0, false);
        if (status == ROTA_ENOMEM) {
            assert_true(kind->grows);
            test_caller_still_waits(&consumer);
            assert_int_equal(rota_queue_waiting(queue), 1);
            status = rota_queue_put(queue, &cells[0]);
        }
        assert_ok(status);
        test_caller_ends(&consumer, ROTA_OK, &cells[0]);
        unmake(NULL);
    }
}

/* Of two producers the one that is let in first finds no memory: the other has its room. */
static void room_is_passed_on(void)
{
    test_caller producers[2];
    void *element;
    size_t inside = kind->capacity - 1;

    assert_ok(kind->make(&queue));
    for (size_t i = 0; i < kind->capacity; i++)
        assert_ok(rota_queue_put(queue, &cells[i]));
    for (size_t i = 0; i < 2; i++)
        test_caller_start(&producers[i], queue, test_put, &cells[kind->capacity + i], 0);
    rota__blocks_flush();
    test_memory_fail_at(1, false);
    assert_ok(rota_queue_poll(queue, &element));
    test_callers_await(producers, 2, 1);
    bool refused = false;
    for (size_t i = 0; i < 2; i++)
        refused |= atomic_load(&producers[i].ended) && producers[i].status == ROTA_ENOMEM;
    if (!refused) /* it had memory: room for the other one */
        assert_ok(rota_queue_poll(queue, &element));
    for (size_t i = 0; i < 2; i++) {
        test_thread_join(producers[i].thread);
        assert_true(producers[i].status == ROTA_OK || producers[i].status == ROTA_ENOMEM);
        inside += producers[i].status == ROTA_OK;
    }
    test_memory_fail_at(0, false);
    assert_int_equal(rota_queue_size(queue), refused ? inside : inside - 1);
    unmake(NULL);
}

/* QUEUE-08, QUEUE-15: room is not lost with a producer that cannot use it. */
TEST(room_is_not_lost_when_a_producer_finds_no_memory)
{
    for (size_t i = 0; i < TEST_QUEUE_KINDS; i++) {
        kind = &test_queue_kinds[i];
        if (kind->capacity > 0 && kind->capacity != ROTA_UNBOUNDED)
            room_is_passed_on();
    }
}

/* -- What needs no memory ----------------------------------------------------------------- */

static bool is_fourth(void *element, void *ctx)
{
    return *(uint64_t *)element % 4 == 0;
}

static void leaves_without_memory(void)
{
    size_t count = many();
    size_t left = count;
    void *elements[4];

    for (size_t i = 0; i < count; i++)
        assert_ok(rota_queue_put(queue, &cells[i]));
    test_memory_fail_at(1, true);
    holds(count);
    left -= rota_queue_remove_if(queue, is_fourth, NULL);
    for (size_t i = 1; i < count; i += 4, left--)
        assert_true(rota_queue_remove(queue, &cells[i]));
    left -= rota_queue_drain(queue, elements, 4);
    assert_ok(rota_queue_peek(queue, elements));
    for (; left > 1; left--)
        assert_ok(rota_queue_take(queue, elements));
    assert_int_equal(rota_queue_size(queue), 1);
    unmake(NULL); /* with one in it */
    test_memory_fail_at(0, false);
}

/* GEN-10, FAULT-20: looking, removing and the end cannot fail for want of memory. */
TEST(what_is_in_it_can_leave_without_memory)
{
    for (size_t i = 0; i < TEST_QUEUE_KINDS; i++) {
        kind = &test_queue_kinds[i];
        if (kind->capacity == 0)
            continue;
        assert_ok(kind->make(&queue));
        leaves_without_memory();
    }
}

/* -- A thread whose end cannot be watched for --------------------------------------------- */

static void consume_unwatched(void *arg)
{
    void *element = TEST_UNTOUCHED;

    test_check(rota_thread_self() == NULL);
    test_check(rota_queue_take(queue, &element) == ROTA_ENOMEM);
    test_check(rota_queue_poll_timed(queue, ROTA_HOURS(1), &element) == ROTA_ENOMEM);
    test_check(rota_queue_poll_timed(queue, 0, &element) == ROTA_ETIMEDOUT);
    test_check(rota_queue_poll(queue, &element) == ROTA_EEMPTY);
    if (kind->is_deque) {
        test_check(rota_deque_take_back(queue, &element) == ROTA_ENOMEM);
        test_check(rota_deque_poll_back_timed(queue, ROTA_SEC(1), &element) == ROTA_ENOMEM);
    }
    test_check(element == TEST_UNTOUCHED);
    test_check(rota_queue_waiting(queue) == 0);
}

static void produce_unwatched(void *arg)
{
    size_t room = many();
    void *element;

    for (size_t i = 0; i < room; i++)
        test_check(rota_queue_put(queue, &cells[i]) == ROTA_OK);
    if (kind->capacity != ROTA_UNBOUNDED) {
        test_check(rota_queue_put(queue, &cells[room]) == ROTA_ENOMEM);
        test_check(rota_queue_offer_timed(queue, &cells[room], ROTA_SEC(1)) == ROTA_ENOMEM);
        test_check(rota_queue_offer_timed(queue, &cells[room], 0) == ROTA_ETIMEDOUT);
        test_check(rota_queue_offer(queue, &cells[room]) == ROTA_EFULL);
    }
    if (kind->is_transfer)
        test_check(rota_queue_transfer(queue, &cells[room], ROTA_HOURS(1)) == ROTA_ENOMEM);
    if (room > 0) {
        test_check(rota_queue_take(queue, &element) == ROTA_OK && element == &cells[0]);
        test_check(rota_queue_size(queue) == room - 1);
    }
}

static void unwatched(void (*body)(void *arg))
{
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 1, true);
    test_thread_join(test_thread_start(body, NULL));
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
}

/* GEN-10: it can do all but wait, and what it would have waited with is not in the queue. */
TEST(a_thread_that_is_not_watched_can_use_queues)
{
    for (size_t i = 0; i < TEST_QUEUE_KINDS; i++) {
        kind = &test_queue_kinds[i];
        assert_ok(kind->make(&queue));
        unwatched(consume_unwatched);
        unwatched(produce_unwatched);
        size_t count = kind->capacity > 0 ? many() - 1 : 0;
        assert_int_equal(rota_queue_remove_if(queue, NULL, NULL), count);
        unmake(NULL);
    }
}

static int clean_up(void **state)
{
    test_memory_fail_at(0, false);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    return 0;
}

TEST_FIXTURE(.teardown = clean_up);

BEFORE_TESTS
{
    for (size_t i = 0; i < CELLS; i++)
        cells[i] = i;
    return true;
}
