/* SPDX-License-Identifier: MIT */
/*
 * Actions that end further futures: what follows from that is appended, not called.
 */
#include "rota_test_tasks.h"

#include "future/future_state.h"

#include <stdlib.h>

enum { LINKS = 1000000 };

static rota_future *promise_new(void)
{
    rota_future *promise = NULL;

    test_check(rota_promise_new(&promise) == ROTA_OK);
    return promise;
}

/* An action that ends a future, if it has one, and writes its letter down. */
struct link {
    rota__action action;
    rota_future *next;
    char letter;
};

static char written[8];
static size_t letters;

static void end_next(rota__action *self, rota__action_queue *more)
{
    struct link *link = ROTA__CONTAINER(self, struct link, action);

    written[letters++] = link->letter;
    if (link->next == NULL)
        return;
    test_check(future_cancel(link->next) == FUTURE_WAS_PENDING);
    rota__future_collect(link->next, more);
    rota_future_unref(link->next);
}

/* FUT-16: what follows comes after all that was there, in the order in which it was appended. */
TEST(what_follows_is_appended)
{
    rota_future *first = promise_new();
    rota_future *second = promise_new();
    rota_future *third = promise_new();
    struct link links[] = {{{.run = end_next}, second, 'a'}, {{.run = end_next}, third, 'b'},
                           {{.run = end_next}, NULL, 'c'},   {{.run = end_next}, NULL, 'd'},
                           {{.run = end_next}, NULL, 'e'},   {{.run = end_next}, NULL, 'f'}};
    rota_future *homes[] = {first, first, first, second, second, third};

    for (int i = 0; i < 6; i++)
        assert_true(rota__future_add(homes[i], &links[i].action));
    rota_promise_complete(first, NULL);
    assert_string_equal(written, "abcdef");
    rota_future_unref(first);
}

struct chain {
    rota__action action;
    size_t left;
    uintptr_t frame; /* of the first call */
    uintptr_t deepest;
};

static uintptr_t distance(uintptr_t a, uintptr_t b)
{
    return a > b ? a - b : b - a;
}

static void next_of_chain(rota__action *self, rota__action_queue *more)
{
    struct chain *chain = ROTA__CONTAINER(self, struct chain, action);
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

    if (chain->frame == 0)
        chain->frame = frame;
    if (distance(frame, chain->frame) > chain->deepest)
        chain->deepest = distance(frame, chain->frame);
    if (chain->left-- == 0)
        return;
    rota_future *next = promise_new();
    test_check(rota__future_add(next, self));
    test_check(future_cancel(next) == FUTURE_WAS_PENDING);
    rota__future_collect(next, more);
    rota_future_unref(next);
}

/* COMP-24: a chain of any length is a loop: the stack does not grow with it. */
TEST(a_long_chain_is_a_loop)
{
    struct chain chain = {.action = {.run = next_of_chain}, .left = LINKS};
    rota_future *promise = promise_new();

    assert_true(rota__future_add(promise, &chain.action));
    rota_promise_complete(promise, NULL);
    assert_int_equal(chain.left, SIZE_MAX);
    assert_int_equal(chain.deepest, 0);
    rota_future_unref(promise);
}

/* Waiters of a future that ends along the chain are woken as it is collected. */
TEST(waiters_along_the_chain_are_woken)
{
    rota_future *first = promise_new();
    rota_future *second = promise_new();
    struct link link = {{.run = end_next}, rota_future_ref(second), 'a'};
    test_getter getters[2];

    letters = 0;
    assert_true(rota__future_add(first, &link.action));
    test_getter_start(&getters[0], first, ROTA_FOREVER);
    test_getter_start(&getters[1], second, ROTA_FOREVER);
    rota_promise_complete(first, NULL);
    test_getter_ends(&getters[0], ROTA_OK, NULL);
    test_getter_ends(&getters[1], ROTA_ECANCELED, TEST_UNTOUCHED);
    rota_future_unref(first);
    rota_future_unref(second);
}
