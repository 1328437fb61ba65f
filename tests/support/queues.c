/* SPDX-License-Identifier: MIT */
#include "queues.h"

#include "rota_test_internal.h"

#include <stdlib.h>

/* -- A ring ------------------------------------------------------------------------------- */

struct ring {
    size_t capacity;
    size_t first;
    size_t count;
    void *elements[];
};

static void **ring_at(struct ring *ring, size_t i)
{
    return &ring->elements[(ring->first + i) % ring->capacity];
}

static int ring_insert(void *self, void *element)
{
    struct ring *ring = self;

    if (ring->count == ring->capacity)
        return ROTA_EFULL;
    *ring_at(ring, ring->count++) = element;
    return ROTA_OK;
}

static void *ring_peek(void *self)
{
    struct ring *ring = self;

    return ring->count > 0 ? *ring_at(ring, 0) : NULL;
}

static void *ring_take(void *self)
{
    struct ring *ring = self;
    void *element = ring_peek(self);

    if (element != NULL) {
        ring->first = (ring->first + 1) % ring->capacity;
        ring->count--;
    }
    return element;
}

static void ring_filter(void *self, bool (*drop)(void *element, void *ctx), void *ctx)
{
    struct ring *ring = self;
    size_t kept = 0;

    for (size_t i = 0; i < ring->count; i++) {
        void *element = *ring_at(ring, i);
        if (!drop(element, ctx))
            *ring_at(ring, kept++) = element;
    }
    ring->count = kept;
}

static size_t ring_room(void *self)
{
    const struct ring *ring = self;

    return ring->capacity - ring->count;
}

int test_ring_queue(size_t capacity, rota_queue **out)
{
    const rota_queue_ops ops = {ring_insert, ring_take, ring_peek, ring_filter,
                                ring_room,   free,      {NULL}};
    struct ring *ring = malloc(sizeof *ring + capacity * sizeof(void *));

    if (ring == NULL)
        test_die(__FILE__, __LINE__, "no memory for a ring");
    *ring = (struct ring){.capacity = capacity};
    int status = rota_custom_queue(&ops, ring, out);
    if (status != ROTA_OK)
        free(ring);
    return status;
}

/* -- Kinds -------------------------------------------------------------------------------- */

int test_compare_ranks(const void *a, const void *b, void *ctx)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

rota_ns test_due_by_rank(const void *element, void *ctx)
{
    const uint64_t *rank = element;

    return INT64_MIN / 2 + (rota_ns)*rank;
}

static int make_array(rota_queue **out)
{
    return rota_array_queue(TEST_QUEUE_CAPACITY, out);
}

static int make_linked(rota_queue **out)
{
    return rota_linked_queue(TEST_QUEUE_CAPACITY, out);
}

static int make_long_linked(rota_queue **out)
{
    return rota_linked_queue(TEST_QUEUE_LONG, out);
}

static int make_unbounded_linked(rota_queue **out)
{
    return rota_linked_queue(ROTA_UNBOUNDED, out);
}

static int make_deque(rota_queue **out)
{
    return rota_deque(TEST_QUEUE_CAPACITY, out);
}

static int make_unbounded_deque(rota_queue **out)
{
    return rota_deque(ROTA_UNBOUNDED, out);
}

static int make_priority(rota_queue **out)
{
    return rota_priority_queue(test_compare_ranks, NULL, out);
}

static int make_delay(rota_queue **out)
{
    return rota_delay_queue(test_due_by_rank, NULL, out);
}

static int make_custom(rota_queue **out)
{
    return test_ring_queue(TEST_QUEUE_CAPACITY, out);
}

#define BOUNDED .capacity = TEST_QUEUE_CAPACITY
#define ENDLESS .capacity = ROTA_UNBOUNDED

const test_queue_kind test_queue_kinds[TEST_QUEUE_KINDS] = {
    {"array", make_array, BOUNDED},
    {"linked", make_linked, BOUNDED, .grows = true},
    {"long linked", make_long_linked, .capacity = TEST_QUEUE_LONG, .grows = true},
    {"unbounded linked", make_unbounded_linked, ENDLESS, .grows = true},
    {"deque", make_deque, BOUNDED, .grows = true, .is_deque = true},
    {"unbounded deque", make_unbounded_deque, ENDLESS, .grows = true, .is_deque = true},
    {"priority", make_priority, ENDLESS, .by_rank = true, .grows = true},
    {"delay", make_delay, ENDLESS, .by_rank = true, .grows = true},
    {"hand-off", rota_handoff_queue, .capacity = 0},
    {"fair hand-off", rota_fair_handoff_queue, .capacity = 0},
    {"transfer", rota_transfer_queue, ENDLESS, .grows = true, .is_transfer = true},
    {"custom", make_custom, BOUNDED},
};

/* -- Calls -------------------------------------------------------------------------------- */

int test_put(rota_queue *queue, void **element, rota_ns timeout)
{
    return rota_queue_put(queue, *element);
}

int test_offer(rota_queue *queue, void **element, rota_ns timeout)
{
    return rota_queue_offer(queue, *element);
}

int test_offer_timed(rota_queue *queue, void **element, rota_ns timeout)
{
    return rota_queue_offer_timed(queue, *element, timeout);
}

int test_take(rota_queue *queue, void **element, rota_ns timeout)
{
    return rota_queue_take(queue, element);
}

int test_poll(rota_queue *queue, void **element, rota_ns timeout)
{
    return rota_queue_poll(queue, element);
}

int test_poll_timed(rota_queue *queue, void **element, rota_ns timeout)
{
    return rota_queue_poll_timed(queue, timeout, element);
}

int test_transfer(rota_queue *queue, void **element, rota_ns timeout)
{
    return rota_queue_transfer(queue, *element, timeout);
}

int test_try_transfer(rota_queue *queue, void **element, rota_ns timeout)
{
    return rota_queue_try_transfer(queue, *element);
}

int test_put_front(rota_queue *queue, void **element, rota_ns timeout)
{
    return rota_deque_put_front(queue, *element);
}

int test_offer_front(rota_queue *queue, void **element, rota_ns timeout)
{
    return rota_deque_offer_front(queue, *element);
}

int test_offer_front_timed(rota_queue *queue, void **element, rota_ns timeout)
{
    return rota_deque_offer_front_timed(queue, *element, timeout);
}

int test_take_back(rota_queue *queue, void **element, rota_ns timeout)
{
    return rota_deque_take_back(queue, element);
}

int test_poll_back(rota_queue *queue, void **element, rota_ns timeout)
{
    return rota_deque_poll_back(queue, element);
}

int test_poll_back_timed(rota_queue *queue, void **element, rota_ns timeout)
{
    return rota_deque_poll_back_timed(queue, timeout, element);
}

/* -- Threads in them ---------------------------------------------------------------------- */

static void caller_main(void *arg)
{
    test_caller *caller = arg;

    caller->status = caller->call(caller->queue, &caller->element, caller->timeout);
    caller->interrupted = rota_is_interrupted();
    caller->ended_at = rota_now();
    atomic_store(&caller->ended, true);
}

static bool waits_or_has_ended(void *arg)
{
    test_caller *caller = arg;

    return atomic_load(&caller->ended) || test_is_parked(test_thread_handle(caller->thread));
}

void test_caller_start(test_caller *caller, rota_queue *queue, test_queue_call *call, void *element,
                       rota_ns timeout)
{
    *caller = (test_caller){.queue = queue, .call = call, .timeout = timeout};
    caller->element = element != NULL ? element : TEST_UNTOUCHED;
    caller->thread = test_thread_start(caller_main, caller);
    test_caller_still_waits(caller);
}

void test_caller_interrupt(test_caller *caller)
{
    rota_thread_interrupt(test_thread_handle(caller->thread));
}

static bool has_ended(void *arg)
{
    test_caller *caller = arg;

    return atomic_load(&caller->ended);
}

void test_caller_await_end(test_caller *caller)
{
    test_until(has_ended, caller);
}

void test_caller_still_waits(test_caller *caller)
{
    test_until(waits_or_has_ended, caller);
    assert_false(atomic_load(&caller->ended));
}

void test_caller_ends_any(test_caller *caller, int status)
{
    test_thread_join(caller->thread);
    assert_status(caller->status, status);
    assert_false(caller->interrupted);
}

void test_caller_ends(test_caller *caller, int status, const void *element)
{
    test_caller_ends_any(caller, status);
    assert_ptr_equal(caller->element, element);
}

size_t test_callers_ended(test_caller *callers, size_t count)
{
    size_t ended = 0;

    for (size_t i = 0; i < count; i++)
        ended += atomic_load(&callers[i].ended);
    return ended;
}

struct wanted {
    test_caller *callers;
    rota_queue *queue;
    size_t count;
    size_t number;
};

static bool so_many_have_ended(void *arg)
{
    const struct wanted *wanted = arg;

    return test_callers_ended(wanted->callers, wanted->count) >= wanted->number;
}

void test_callers_await(test_caller *callers, size_t count, size_t ended)
{
    struct wanted wanted = {.callers = callers, .count = count, .number = ended};

    test_until(so_many_have_ended, &wanted);
}

static bool so_many_wait(void *arg)
{
    const struct wanted *wanted = arg;

    return rota_queue_waiting(wanted->queue) == wanted->number;
}

void test_queue_await_waiting(rota_queue *queue, size_t count)
{
    test_until(so_many_wait, &(struct wanted){.queue = queue, .number = count});
}

/* -- What is in it ------------------------------------------------------------------------ */

void test_show(void *element, void *shown)
{
    test_shown *all = shown;

    test_check(all->count < sizeof all->elements / sizeof all->elements[0]);
    all->elements[all->count++] = element;
}
