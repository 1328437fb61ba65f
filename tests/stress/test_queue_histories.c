/* SPDX-License-Identifier: MIT */
/* ROTA_TEST_PUBLIC */
/*
 * Linearizability: QUEUE-05, QUEUE-38. Four threads, three random operations each, thousands of
 * times; what they saw must have an order in which a queue for one thread gives the same answers.
 */
#include "rota_test_race.h"

#include "linearizable.h"

#include <string.h>

enum { THREADS = 4, STEPS = 3, ELEMENTS = THREADS * STEPS, SMALL = 2, PRIORITIES = 3 };

enum {
    OFFER,
    OFFER_TIMED,
    POLL,
    POLL_TIMED,
    REMOVE,
    DRAIN,
    BOTH_ENDS,
    OFFER_FRONT = BOTH_ENDS,
    POLL_BACK,
    ALL
};

/* -- The model: elements are numbers from 1, in the order in which they would be removed ----- */

typedef struct model_state {
    uint8_t count;
    uint8_t items[LIN_STATE - 1];
} model_state;

static size_t capacity;  /* of the kind at hand */
static bool by_priority; /* the least remainder first, equal ones in the order they came */

static size_t place_of_new(const model_state *state, long item)
{
    size_t place = state->count;

    while (by_priority && place > 0 && state->items[place - 1] % PRIORITIES > item % PRIORITIES)
        place--;
    return place;
}

static void insert_at(model_state *state, size_t place, long item)
{
    memmove(&state->items[place + 1], &state->items[place], state->count - place);
    state->items[place] = (uint8_t)item;
    state->count++;
}

static long remove_at(model_state *state, size_t place)
{
    long item = state->items[place];

    state->count--;
    memmove(&state->items[place], &state->items[place + 1], state->count - place);
    state->items[state->count] = 0;
    return item;
}

static bool model_offer(model_state *state, const lin_operation *seen, int refusal)
{
    if (state->count == capacity)
        return seen->result == refusal;
    insert_at(state, seen->kind == OFFER_FRONT ? 0 : place_of_new(state, seen->argument),
              seen->argument);
    return seen->result == ROTA_OK;
}

static bool model_poll(model_state *state, const lin_operation *seen, int refusal)
{
    if (state->count == 0)
        return seen->result == refusal;
    return seen->result == remove_at(state, seen->kind == POLL_BACK ? state->count - 1u : 0);
}

static bool model_remove(model_state *state, const lin_operation *seen)
{
    for (size_t place = 0; place < state->count; place++) {
        if (state->items[place] == seen->argument) {
            remove_at(state, place);
            return seen->result == 1;
        }
    }
    return seen->result == 0;
}

/* What was drained, as one number. */
static long add_drained(long drained, long item)
{
    return drained * (ELEMENTS + 1) + item;
}

static bool model_drain(model_state *state, const lin_operation *seen)
{
    long drained = 0;

    for (long i = 0; i < seen->argument && state->count > 0; i++)
        drained = add_drained(drained, remove_at(state, 0));
    return seen->result == drained;
}

static bool model_apply(void *bytes, const lin_operation *seen)
{
    model_state *state = bytes;

    switch (seen->kind) {
    case OFFER:
    case OFFER_FRONT:
        return model_offer(state, seen, ROTA_EFULL);
    case OFFER_TIMED:
        return model_offer(state, seen, ROTA_ETIMEDOUT);
    case POLL:
    case POLL_BACK:
        return model_poll(state, seen, ROTA_EEMPTY);
    case POLL_TIMED:
        return model_poll(state, seen, ROTA_ETIMEDOUT);
    case REMOVE:
        return model_remove(state, seen);
    default:
        return model_drain(state, seen);
    }
}

/* -- The real thing -------------------------------------------------------------------------- */

typedef struct fixture {
    int (*make)(rota_queue **out);
    int kinds; /* of operations */
    rota_queue *queue;
    test_random random;
    atomic_uint clock;
    lin_operation programs[THREADS][STEPS];
} fixture;

static char names[ELEMENTS + 1]; /* an element is the address of its number's char */

static long number_of(const void *element)
{
    return (const char *)element - names;
}

static int offer(fixture *f, const lin_operation *todo, void *element)
{
    switch (todo->kind) {
    case OFFER:
        return rota_queue_offer(f->queue, element);
    case OFFER_FRONT:
        return rota_deque_offer_front(f->queue, element);
    default:
        return rota_queue_offer_timed(f->queue, element, todo->argument % 2 ? ROTA_US(20) : 0);
    }
}

static long poll(fixture *f, const lin_operation *todo)
{
    void *element = NULL;
    int status;

    if (todo->kind == POLL)
        status = rota_queue_poll(f->queue, &element);
    else if (todo->kind == POLL_BACK)
        status = rota_deque_poll_back(f->queue, &element);
    else
        status = rota_queue_poll_timed(f->queue, todo->argument % 2 ? ROTA_US(20) : 0, &element);
    return status == ROTA_OK ? number_of(element) : status;
}

static long drain(fixture *f, const lin_operation *todo)
{
    void *elements[ELEMENTS];
    size_t count = rota_queue_drain(f->queue, elements, (size_t)todo->argument);
    long drained = 0;

    for (size_t i = 0; i < count; i++)
        drained = add_drained(drained, number_of(elements[i]));
    return drained;
}

static long perform(fixture *f, const lin_operation *todo)
{
    switch (todo->kind) {
    case OFFER:
    case OFFER_TIMED:
    case OFFER_FRONT:
        return offer(f, todo, &names[todo->argument]);
    case REMOVE:
        return rota_queue_remove(f->queue, &names[todo->argument]);
    case DRAIN:
        return drain(f, todo);
    default:
        return poll(f, todo);
    }
}

static void run_program(fixture *f, size_t thread)
{
    for (size_t step = 0; step < STEPS; step++) {
        lin_operation *todo = &f->programs[thread][step];
        todo->called = 1 + atomic_fetch_add(&f->clock, 1);
        todo->result = perform(f, todo);
        todo->returned = 1 + atomic_fetch_add(&f->clock, 1);
    }
}

static void run_first(void *f)
{
    run_program(f, 0);
}

static void run_second(void *f)
{
    run_program(f, 1);
}

static void run_third(void *f)
{
    run_program(f, 2);
}

static void run_fourth(void *f)
{
    run_program(f, 3);
}

/* -- Rounds ---------------------------------------------------------------------------------- */

/* A program inserts elements of its own, which no other inserts. */
static lin_operation random_operation(fixture *f, size_t own)
{
    int kind = (int)test_random_below(&f->random, (size_t)f->kinds);
    long argument = 1 + (long)own;

    if (kind == REMOVE)
        argument = 1 + (long)test_random_below(&f->random, ELEMENTS);
    else if (kind == DRAIN)
        argument = 1 + (long)test_random_below(&f->random, 3);
    return (lin_operation){.kind = kind, .argument = argument};
}

static void begin(void *arg)
{
    fixture *f = arg;

    test_check(f->make(&f->queue) == ROTA_OK);
    atomic_store(&f->clock, 0);
    for (size_t i = 0; i < ELEMENTS; i++)
        f->programs[i / STEPS][i % STEPS] = random_operation(f, i);
}

static void check(void *arg)
{
    static const lin_model model = {model_apply};
    fixture *f = arg;
    lin_history history;
    lin_operation rest = {.kind = DRAIN, .argument = ELEMENTS};

    lin_clear(&history);
    for (size_t i = 0; i < ELEMENTS; i++)
        history.operations[history.count++] = f->programs[i / STEPS][i % STEPS];
    rest.called = 1 + atomic_fetch_add(&f->clock, 1);
    rest.result = drain(f, &rest); /* nothing is left behind, and nothing is there twice */
    rest.returned = 1 + atomic_fetch_add(&f->clock, 1);
    history.operations[history.count++] = rest;
    test_check(lin_check(&history, &model));
    test_check(rota_queue_size(f->queue) == 0 && rota_queue_waiting(f->queue) == 0);
    test_check(rota_queue_free(f->queue) == ROTA_OK);
}

static void run(int (*make)(rota_queue **), size_t room, int kinds)
{
    static const test_race race = {begin, {run_first, run_second, run_third, run_fourth}, check};
    fixture f = {.make = make, .kinds = kinds};

    capacity = room;
    test_random_init(&f.random);
    test_race_run(&race, &f);
}

static int small_array(rota_queue **out)
{
    return rota_array_queue(SMALL, out);
}

static int small_linked(rota_queue **out)
{
    return rota_linked_queue(SMALL, out);
}

static int unbounded_linked(rota_queue **out)
{
    return rota_linked_queue(ROTA_UNBOUNDED, out);
}

static int small_deque(rota_queue **out)
{
    return rota_deque(SMALL, out);
}

static int compare(const void *a, const void *b, void *ctx)
{
    return (int)(number_of(a) % PRIORITIES - number_of(b) % PRIORITIES);
}

static int priority(rota_queue **out)
{
    return rota_priority_queue(compare, NULL, out);
}

static rota_ns long_ago(const void *element, void *ctx)
{
    return number_of(element) % PRIORITIES;
}

static int delay(rota_queue **out)
{
    return rota_delay_queue(long_ago, NULL, out);
}

TEST(an_array_queue_is_linearizable)
{
    run(small_array, SMALL, BOTH_ENDS);
}

TEST(a_bounded_linked_queue_is_linearizable)
{
    run(small_linked, SMALL, BOTH_ENDS);
}

TEST(an_unbounded_linked_queue_is_linearizable)
{
    run(unbounded_linked, ROTA_UNBOUNDED, BOTH_ENDS);
}

TEST(a_transfer_queue_is_linearizable)
{
    run(rota_transfer_queue, ROTA_UNBOUNDED, BOTH_ENDS);
}

TEST(a_deque_is_linearizable)
{
    run(small_deque, SMALL, ALL);
}

TEST(a_priority_queue_is_linearizable)
{
    by_priority = true;
    run(priority, ROTA_UNBOUNDED, BOTH_ENDS);
    by_priority = false;
}

TEST(a_delay_queue_is_linearizable)
{
    by_priority = true;
    run(delay, ROTA_UNBOUNDED, BOTH_ENDS);
    by_priority = false;
}
