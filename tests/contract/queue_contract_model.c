/* SPDX-License-Identifier: MIT */
/*
 * queue_contract_model.c - thousands of calls at random, and beside the queue a plain list that
 * says what each of them must answer (QUEUE-05, QUEUE-13, QUEUE-38).
 */
#include "queue_contract.h"

#include <string.h>

enum { STEPS = 20000, FEW = 5, LONG = 400 };

/* The elements in order of removal, which is that of insertion. */
struct model {
    contract *test;
    test_random random;
    size_t limit; /* no more than so many in it */
    size_t count;
    size_t next; /* the rank of the next element to be inserted */
    void *list[CELLS];
};

static size_t below(struct model *model, size_t limit)
{
    return test_random_below(&model->random, limit);
}

static void forget(struct model *model, size_t first, size_t count)
{
    model->count -= count;
    memmove(&model->list[first], &model->list[first + count],
            (model->count - first) * sizeof(void *));
}

/* CELLS: it is not in it. */
static size_t find(const struct model *model, const void *element)
{
    for (size_t i = 0; i < model->count; i++) {
        if (model->list[i] == element)
            return i;
    }
    return CELLS;
}

/* One that is in it mostly, else any. */
static void *some_element(struct model *model)
{
    if (model->count > 0 && below(model, 4) > 0)
        return model->list[below(model, model->count)];
    return contract_cell(model->test, below(model, CELLS));
}

/* -- Steps -------------------------------------------------------------------------------- */

static void insert(struct model *model)
{
    rota_queue *queue = model->test->queue;
    void *cell = contract_cell(model->test, model->next % CELLS);
    bool timed = below(model, 2) == 0;
    size_t capacity = model->test->kind->capacity;

    if (capacity == ROTA_UNBOUNDED && model->count == model->limit)
        return;
    *(uint64_t *)cell = model->next; /* it has long been out */
    int status = timed ? rota_queue_offer_timed(queue, cell, 0) : rota_queue_offer(queue, cell);
    if (model->count == capacity) {
        assert_status(status, timed ? ROTA_ETIMEDOUT : ROTA_EFULL);
        return;
    }
    assert_ok(status);
    model->list[model->count++] = cell;
    model->next++;
}

/* In a long one until it is full, now and then. */
static void insert_many(struct model *model)
{
    for (size_t i = below(model, model->limit); i > 0; i--)
        insert(model);
}

static void take_out(struct model *model)
{
    void *element = TEST_UNTOUCHED;
    bool timed = below(model, 2) == 0;
    rota_queue *queue = model->test->queue;
    int status =
        timed ? rota_queue_poll_timed(queue, 0, &element) : rota_queue_poll(queue, &element);

    if (model->count == 0) {
        assert_status(status, timed ? ROTA_ETIMEDOUT : ROTA_EEMPTY);
        assert_ptr_equal(element, TEST_UNTOUCHED);
        return;
    }
    assert_ok(status);
    assert_ptr_equal(element, model->list[0]);
    forget(model, 0, 1);
}

static void drain_some(struct model *model)
{
    void *elements[FEW];
    size_t max = below(model, FEW + 1);
    size_t drained = rota_queue_drain(model->test->queue, elements, max);

    assert_int_equal(drained, max < model->count ? max : model->count);
    for (size_t i = 0; i < drained; i++)
        assert_ptr_equal(elements[i], model->list[i]);
    forget(model, 0, drained);
}

static void remove_one(struct model *model)
{
    const void *element = some_element(model);
    size_t i = find(model, element);

    assert_int_equal(rota_queue_remove(model->test->queue, element), i < CELLS);
    if (i < CELLS)
        forget(model, i, 1);
}

static void look_for_one(struct model *model)
{
    const void *element = some_element(model);

    assert_int_equal(rota_queue_contains(model->test->queue, element),
                     find(model, element) < CELLS);
}

static bool is_divided(void *element, void *ctx)
{
    return *(uint64_t *)element % *(uint64_t *)ctx == 0;
}

static void remove_some(struct model *model)
{
    uint64_t divisor = below(model, 20) + 2;
    size_t before = model->count;

    for (size_t i = model->count; i-- > 0;) {
        if (is_divided(model->list[i], &divisor))
            forget(model, i, 1);
    }
    assert_int_equal(rota_queue_remove_if(model->test->queue, is_divided, &divisor),
                     before - model->count);
}

static void remove_all(struct model *model)
{
    if (below(model, 10) > 0)
        return;
    assert_int_equal(rota_queue_remove_if(model->test->queue, NULL, NULL), model->count);
    model->count = 0;
}

static void look_at_all(struct model *model)
{
    static test_shown shown;
    void *next = TEST_UNTOUCHED;
    rota_queue *queue = model->test->queue;

    shown.count = 0;
    assert_int_equal(rota_queue_size(queue), model->count);
    assert_int_equal(rota_queue_each(queue, test_show, &shown), model->count);
    assert_memory_equal(shown.elements, model->list, model->count * sizeof(void *));
    assert_status(rota_queue_peek(queue, &next), model->count > 0 ? ROTA_OK : ROTA_EEMPTY);
    assert_ptr_equal(next, model->count > 0 ? model->list[0] : TEST_UNTOUCHED);
}

static void (*const steps[])(struct model *model) = {
    insert,     insert,     insert,      insert_many, take_out,     take_out,    drain_some,
    remove_one, remove_one, remove_some, remove_all,  look_for_one, look_at_all,
};

static void run(contract *test, size_t limit, size_t count)
{
    struct model model = {.test = test, .limit = limit};

    test_random_init(&model.random);
    for (size_t i = 0; i < count; i++)
        steps[below(&model, sizeof steps / sizeof steps[0])](&model);
    look_at_all(&model);
    remove_all(&model);
}

/* QUEUE-05, QUEUE-13, QUEUE-16, QUEUE-18, QUEUE-38: whatever was called before. */
CONTRACT(HAS_ROOM, it_does_what_a_plain_list_does)
{
    run(*state, TEST_QUEUE_CAPACITY, STEPS);
}

/* QUEUE-13: the same with hundreds in it. */
CONTRACT(HAS_ROOM, it_does_what_a_long_list_does)
{
    run(*state, LONG, STEPS / 10);
}
