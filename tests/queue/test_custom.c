/* SPDX-License-Identifier: MIT */
/*
 * A queue of one's own: what the library asks of the container, and makes of it.
 */
#include "queues.h"

enum { DEPTH = 5, CELLS = 8 };

/* The stack of the manual, which counts what is asked of it. */
struct stack {
    int status;         /* of the next insertions, unless it is ROTA_OK */
    unsigned calls;     /* of any of its functions */
    unsigned inserts;   /* that it was asked for */
    unsigned drops;     /* elements that a filter asked about */
    unsigned frees;     /* ends */
    atomic_bool inside; /* one thread is in one of its functions */
    size_t count;
    void *elements[DEPTH];
};

static uint64_t cells[CELLS];
static struct stack stack;
static rota_queue *queue;

/* Plain memory, and two at once would be seen: one at a time, with the queue locked. */
static struct stack *enter(void *self)
{
    struct stack *entered = self;

    test_check(!atomic_exchange(&entered->inside, true));
    entered->calls++;
    return entered;
}

static void leave(struct stack *left)
{
    atomic_store(&left->inside, false);
}

static int push(void *self, void *element)
{
    struct stack *onto = enter(self);
    int status = onto->status;

    onto->inserts++;
    if (status == ROTA_OK && onto->count == DEPTH)
        status = ROTA_EFULL;
    if (status == ROTA_OK)
        onto->elements[onto->count++] = element;
    leave(onto);
    return status;
}

static void *pop(void *self)
{
    struct stack *from = enter(self);
    void *element = from->count > 0 ? from->elements[--from->count] : NULL;

    leave(from);
    return element;
}

static void *top(void *self)
{
    struct stack *of = enter(self);
    void *element = of->count > 0 ? of->elements[of->count - 1] : NULL;

    leave(of);
    return element;
}

/* From the top, as they would be taken. */
static void filter(void *self, bool (*drop)(void *element, void *ctx), void *ctx)
{
    struct stack *of = enter(self);
    size_t kept = of->count;

    for (size_t i = of->count; i-- > 0;) {
        of->drops++;
        if (!drop(of->elements[i], ctx))
            of->elements[--kept] = of->elements[i];
    }
    for (size_t i = kept; i < of->count; i++)
        of->elements[i - kept] = of->elements[i];
    of->count -= kept;
    leave(of);
}

static size_t room(void *self)
{
    struct stack *of = enter(self);
    size_t left = DEPTH - of->count;

    leave(of);
    return left;
}

static void end(void *self)
{
    struct stack *ended = enter(self);

    ended->frees++;
    leave(ended);
}

static const rota_queue_ops all_ops = {push, pop, top, filter, room, end, {NULL}};

static int make_of(rota_queue_ops ops)
{
    stack = (struct stack){.status = ROTA_OK};
    return rota_custom_queue(&ops, &stack, &queue); /* ops is copied */
}

static int make(void **state)
{
    for (size_t i = 0; i < CELLS; i++)
        cells[i] = i;
    return make_of(all_ops);
}

static int unmake(void **state)
{
    return rota_queue_free(queue);
}

TEST_FIXTURE(.setup = make, .teardown = unmake);

static void fill(void)
{
    for (size_t i = 0; i < DEPTH; i++)
        assert_ok(rota_queue_put(queue, &cells[i]));
}

static void gives(size_t i)
{
    void *element = NULL;

    assert_ok(rota_queue_poll(queue, &element));
    assert_ptr_equal(element, &cells[i]);
}

/* -- Making it ---------------------------------------------------------------------------- */

/* GEN-02: it takes four functions; none is called, and nothing is written. */
TEST(it_needs_its_functions)
{
    rota_queue_ops lacking[] = {all_ops, all_ops, all_ops, all_ops};
    rota_queue *other = TEST_UNTOUCHED;
    struct stack unused = {0};

    lacking[0].insert = NULL;
    lacking[1].take = NULL;
    lacking[2].peek = NULL;
    lacking[3].filter = NULL;
    for (size_t i = 0; i < 4; i++)
        assert_status(rota_custom_queue(&lacking[i], &unused, &other), ROTA_EINVAL);
    assert_status(rota_custom_queue(NULL, &unused, &other), ROTA_EINVAL);
    assert_status(rota_custom_queue(&all_ops, &unused, NULL), ROTA_EINVAL);
    assert_ptr_equal(other, TEST_UNTOUCHED);
    assert_int_equal(unused.calls, 0);
}

/* free is called once, and last of all; not when the queue is busy. */
TEST(its_end_comes_last)
{
    test_caller consumer;

    test_caller_start(&consumer, queue, test_take, NULL, 0);
    assert_status(rota_queue_free(queue), ROTA_EBUSY);
    assert_int_equal(stack.frees, 0);
    assert_ok(rota_queue_put(queue, &cells[0]));
    test_caller_ends(&consumer, ROTA_OK, &cells[0]);
    fill();
    assert_ok(rota_queue_free(queue));
    assert_int_equal(stack.frees, 1);
    assert_int_equal(stack.count, DEPTH); /* elements left in it are the user's */
    assert_ok(make_of(all_ops));
}

/* Without free nothing is to be done at the end; without room there is always room. */
TEST(it_can_do_without_two_of_them)
{
    rota_queue_ops few = all_ops;

    assert_ok(rota_queue_free(queue));
    few.room = NULL;
    few.free = NULL;
    assert_ok(make_of(few));
    assert_true(rota_queue_room(queue) == ROTA_UNBOUNDED);
    assert_ok(rota_queue_put(queue, &cells[0]));
    assert_true(rota_queue_room(queue) == ROTA_UNBOUNDED);
    stack.status = ROTA_EFULL; /* which it says itself, then: until one is removed */
    assert_status(rota_queue_offer(queue, &cells[1]), ROTA_EFULL);
    assert_int_equal(rota_queue_room(queue), 0);
    stack.status = ROTA_OK;
    gives(0);
    assert_true(rota_queue_room(queue) == ROTA_UNBOUNDED);
    assert_ok(rota_queue_free(queue));
    assert_int_equal(stack.frees, 0);
    assert_ok(make_of(all_ops));
}

static int push_null(void *self, void *element)
{
    return self == NULL ? ROTA_EFULL : ROTA_OK;
}

static void *pop_null(void *self)
{
    return self;
}

static void filter_null(void *self, bool (*drop)(void *element, void *ctx), void *ctx)
{
    test_check(self == NULL);
}

/* `self` is the user's, and may be NULL. */
TEST(self_may_be_null)
{
    const rota_queue_ops ops = {push_null, pop_null, pop_null, filter_null, NULL, NULL, {NULL}};
    rota_queue *other = NULL;
    void *element;

    assert_ok(rota_custom_queue(&ops, NULL, &other));
    assert_status(rota_queue_offer(other, &cells[0]), ROTA_EFULL);
    assert_status(rota_queue_poll(other, &element), ROTA_EEMPTY);
    assert_status(rota_queue_peek(other, &element), ROTA_EEMPTY);
    assert_false(rota_queue_contains(other, &cells[0]));
    assert_ok(rota_queue_free(other));
}

/* -- Using it ----------------------------------------------------------------------------- */

/* QUEUE-01: a stack stays one behind the calls of a queue. */
TEST(its_order_is_its_own)
{
    void *elements[DEPTH + 1];
    test_shown shown = {.count = 0};

    fill();
    assert_int_equal(rota_queue_size(queue), DEPTH);
    assert_int_equal(rota_queue_room(queue), 0);
    assert_ok(rota_queue_peek(queue, elements));
    assert_ptr_equal(elements[0], &cells[DEPTH - 1]);
    assert_int_equal(rota_queue_each(queue, test_show, &shown), DEPTH);
    for (size_t i = 0; i < DEPTH; i++)
        assert_ptr_equal(shown.elements[i], &cells[DEPTH - 1 - i]);
    gives(DEPTH - 1);
    assert_int_equal(rota_queue_drain(queue, elements, DEPTH + 1), DEPTH - 1);
    for (size_t i = 0; i < DEPTH - 1; i++)
        assert_ptr_equal(elements[i], &cells[DEPTH - 2 - i]);
}

/* By name the first occurrence goes, in the container's order, and no other. */
TEST(an_element_is_removed_by_name)
{
    assert_ok(rota_queue_put(queue, &cells[0]));
    assert_ok(rota_queue_put(queue, &cells[1]));
    assert_ok(rota_queue_put(queue, &cells[0]));
    assert_ok(rota_queue_put(queue, &cells[2]));
    assert_true(rota_queue_contains(queue, &cells[0]));
    assert_true(rota_queue_remove(queue, &cells[0]));
    assert_false(rota_queue_remove(queue, &cells[3]));
    assert_int_equal(rota_queue_size(queue), 3);
    gives(2);
    gives(1);
    gives(0);
}

static bool is_even(void *element, void *ctx)
{
    ++*(unsigned *)ctx;
    return *(uint64_t *)element % 2 == 0;
}

/* Each element is asked about once, whatever is looked for. */
TEST(a_filter_asks_once_about_each)
{
    unsigned asked = 0;

    fill();
    stack.drops = 0;
    assert_int_equal(rota_queue_remove_if(queue, is_even, &asked), 3);
    assert_int_equal(asked, DEPTH);
    assert_int_equal(stack.drops, DEPTH);
    assert_int_equal(rota_queue_size(queue), 2);
    assert_int_equal(rota_queue_room(queue), DEPTH - 2);
    gives(3);
    gives(1);
    assert_int_equal(rota_queue_remove_if(queue, NULL, NULL), 0);
}

/* What insert says is what the caller hears; nothing has changed. */
TEST(its_refusals_are_passed_on)
{
    test_queue_call *const inserting[] = {test_put, test_offer, test_offer_timed};

    assert_ok(rota_queue_put(queue, &cells[0]));
    stack.status = ROTA_ENOMEM;
    for (size_t i = 0; i < 3; i++) {
        void *element = &cells[1];
        assert_status(inserting[i](queue, &element, ROTA_HOURS(1)), ROTA_ENOMEM);
    }
    stack.status = ROTA_OK;
    assert_int_equal(rota_queue_size(queue), 1);
    gives(0);
}

/* QUEUE-15: a consumer that waits is not released by an insertion that failed. */
TEST(a_consumer_waits_on_after_a_refusal)
{
    test_caller consumer;

    test_caller_start(&consumer, queue, test_take, NULL, 0);
    stack.status = ROTA_ENOMEM;
    assert_status(rota_queue_put(queue, &cells[0]), ROTA_ENOMEM);
    test_caller_still_waits(&consumer);
    assert_int_equal(rota_queue_waiting(queue), 1);
    stack.status = ROTA_OK;
    assert_ok(rota_queue_put(queue, &cells[1]));
    test_caller_ends(&consumer, ROTA_OK, &cells[1]);
}

/* QUEUE-06: EFULL makes a put wait; it tries again when an element has left, in whatever way. */
TEST(a_put_waits_while_it_is_full)
{
    test_caller producer;

    fill();
    test_caller_start(&producer, queue, test_put, &cells[DEPTH], 0);
    gives(DEPTH - 1);
    test_caller_ends(&producer, ROTA_OK, &cells[DEPTH]);
    test_caller_start(&producer, queue, test_put, &cells[DEPTH + 1], 0);
    assert_true(rota_queue_remove(queue, &cells[0]));
    test_caller_ends(&producer, ROTA_OK, &cells[DEPTH + 1]);
    gives(DEPTH + 1);
    assert_int_equal(rota_queue_size(queue), DEPTH - 1);
}

/* -- One at a time ------------------------------------------------------------------------ */

enum { THREADS = 4, ROUNDS = 3000 };

static void put_and_take(void *arg)
{
    void *element;

    for (int i = 0; i < ROUNDS; i++) {
        test_check(rota_queue_put(queue, arg) == ROTA_OK);
        test_check(rota_queue_size(queue) <= DEPTH && rota_queue_room(queue) <= DEPTH);
        rota_queue_contains(queue, arg);
        test_check(rota_queue_take(queue, &element) == ROTA_OK);
    }
}

/* GEN-11: whatever the threads do, the container is for one at a time: see `enter`. */
TEST(its_functions_are_called_one_at_a_time)
{
    test_thread *threads[THREADS];

    for (size_t i = 0; i < THREADS; i++)
        threads[i] = test_thread_start(put_and_take, &cells[i]);
    for (size_t i = 0; i < THREADS; i++)
        test_thread_join(threads[i]);
    assert_int_equal(stack.count, 0);
    assert_true(stack.inserts >= THREADS * ROUNDS);
}
