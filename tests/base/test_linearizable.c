/* SPDX-License-Identifier: MIT */
/*
 * The search for an order: finds one where there is one, and none where there is none.
 */
#include "rota_test.h"

#include "linearizable.h"

enum { PUT, POLL, EMPTY = -1 };

/* A FIFO queue of up to seven numbers. */
typedef struct fifo {
    long count;
    long elements[7];
} fifo;

static bool fifo_apply(void *state, const lin_operation *operation)
{
    fifo *queue = state;

    if (operation->kind == PUT) {
        queue->elements[queue->count++] = operation->argument;
        return true;
    }
    if (queue->count == 0)
        return operation->result == EMPTY;
    long first = queue->elements[0];
    for (long i = 1; i < queue->count; i++)
        queue->elements[i - 1] = queue->elements[i];
    queue->elements[--queue->count] = 0;
    return operation->result == first;
}

static const lin_model model = {fifo_apply};
_Static_assert(sizeof(fifo) <= LIN_STATE, "the model's state must fit");

/* One after the other. */
static void put(lin_history *history, long element)
{
    lin_return(history, lin_call(history, PUT, element), 0);
}

static void poll(lin_history *history, long result)
{
    lin_return(history, lin_call(history, POLL, 0), result);
}

/* What a single thread does in order is in order. */
TEST(a_sequence_that_fits_is_accepted)
{
    lin_history history = {0};

    put(&history, 1);
    put(&history, 2);
    poll(&history, 1);
    poll(&history, 2);
    poll(&history, EMPTY);
    assert_true(lin_check(&history, &model));
}

TEST(a_sequence_that_does_not_fit_is_refused)
{
    lin_history history = {0};

    put(&history, 1);
    put(&history, 2);
    poll(&history, 2);
    assert_false(lin_check(&history, &model));
}

/* Operations that overlap may have happened in either order. */
TEST(overlapping_puts_may_come_in_either_order)
{
    for (long first = 1; first <= 2; first++) {
        lin_history history = {0};
        size_t one = lin_call(&history, PUT, 1);
        size_t two = lin_call(&history, PUT, 2);
        lin_return(&history, one, 0);
        lin_return(&history, two, 0);
        poll(&history, first);
        poll(&history, 3 - first);
        assert_true(lin_check(&history, &model));
    }
}

/* Those that do not overlap may not. */
TEST(an_element_that_was_there_is_not_missed)
{
    lin_history history = {0};
    size_t late = lin_call(&history, PUT, 2);

    put(&history, 1);
    poll(&history, EMPTY); /* 1 was in it, and nobody else took it */
    lin_return(&history, late, 0);
    assert_false(lin_check(&history, &model));
}

/* Two cannot have got the same element. */
TEST(an_element_taken_twice_is_refused)
{
    lin_history history = {0};

    put(&history, 1);
    size_t a = lin_call(&history, POLL, 0);
    size_t b = lin_call(&history, POLL, 0);
    lin_return(&history, a, 1);
    lin_return(&history, b, 1);
    assert_false(lin_check(&history, &model));
}

/* An operation that never returned may have happened, or not. */
TEST(one_that_never_returned_may_count_or_not)
{
    for (long seen = EMPTY; seen <= 1; seen += 2) {
        lin_history history = {0};
        lin_call(&history, PUT, 1);
        poll(&history, seen);
        assert_true(lin_check(&history, &model));
    }
}

/* Twelve operations of three threads, all at once: the search ends soon, either way. */
TEST(a_long_history_is_decided)
{
    for (long wrong = 0; wrong < 2; wrong++) {
        lin_history history = {0};
        size_t puts[6], polls[6];
        for (long i = 0; i < 6; i++)
            puts[i] = lin_call(&history, PUT, i + 1);
        for (int i = 0; i < 6; i++)
            polls[i] = lin_call(&history, POLL, 0);
        for (int i = 0; i < 6; i++)
            lin_return(&history, puts[i], 0);
        for (long i = 0; i < 6; i++)
            lin_return(&history, polls[i], i == 5 && wrong ? 1 : i + 1); /* 1 came first already */
        assert_int_equal(lin_check(&history, &model), !wrong);
    }
}
