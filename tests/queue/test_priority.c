/* SPDX-License-Identifier: MIT */
/*
 * The priority queue: least first, equal ones in the order they came, and any of them by name.
 */
#include "queues.h"

#include <stdlib.h>

enum { MANY = 1000 };

/* The first member is what test_compare_ranks looks at. */
struct item {
    uint64_t rank;
    uint64_t number; /* in the order of insertion */
};

static struct item items[MANY];
static rota_queue *queue;

static int make(void **state)
{
    return rota_priority_queue(test_compare_ranks, NULL, &queue);
}

static int unmake(void **state)
{
    return rota_queue_free(queue);
}

TEST_FIXTURE(.setup = make, .teardown = unmake);

/* `count` items of at most `ranks` ranks, at random. */
static void put_random(size_t count, size_t ranks)
{
    test_random random;

    test_random_init(&random);
    for (size_t i = 0; i < count; i++) {
        items[i] = (struct item){test_random_below(&random, ranks), i};
        assert_ok(rota_queue_put(queue, &items[i]));
    }
}

static void assert_before(const struct item *a, const struct item *b)
{
    assert_true(a->rank < b->rank || (a->rank == b->rank && a->number < b->number));
}

/* All that is left, which must be `count`, comes out in order. */
static void gives_in_order(size_t count)
{
    struct item *last = NULL;
    void *element = NULL;

    for (size_t i = 0; i < count; i++) {
        void *next = NULL;
        assert_ok(rota_queue_peek(queue, &next));
        assert_ok(rota_queue_poll(queue, &element));
        assert_ptr_equal(element, next);
        if (last != NULL)
            assert_before(last, element);
        last = element;
    }
    assert_status(rota_queue_poll(queue, &element), ROTA_EEMPTY);
}

/* GEN-02, QUEUE-25 */
TEST(it_needs_an_order_and_a_place)
{
    rota_queue *other = TEST_UNTOUCHED;

    assert_status(rota_priority_queue(NULL, NULL, &other), ROTA_EINVAL);
    assert_status(rota_priority_queue(test_compare_ranks, NULL, NULL), ROTA_EINVAL);
    assert_status(rota_priority_queue(NULL, NULL, NULL), ROTA_EINVAL);
    assert_ptr_equal(other, TEST_UNTOUCHED);
}

/* QUEUE-25: whatever the order of insertion. */
TEST(the_least_comes_first)
{
    put_random(MANY, UINT32_MAX);
    gives_in_order(MANY);
}

/* QUEUE-25: first in, first out among those of one rank. */
TEST(equal_ones_come_in_the_order_of_insertion)
{
    const size_t ranks[] = {1, 2, 7, 50};

    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        put_random(MANY, ranks[i]);
        gives_in_order(MANY);
    }
}

static int compare_reversed(const void *a, const void *b, void *ctx)
{
    atomic_fetch_add((atomic_size_t *)ctx, 1);
    return test_compare_ranks(b, a, NULL);
}

/* QUEUE-25: the order is the user's, and so is ctx. */
TEST(the_order_is_the_users)
{
    atomic_size_t asked = 0;
    rota_queue *reversed = NULL;
    void *element;

    assert_ok(rota_priority_queue(compare_reversed, &asked, &reversed));
    for (size_t i = 0; i < 20; i++) {
        items[i] = (struct item){(i * 7) % 20, i};
        assert_ok(rota_queue_offer(reversed, &items[i]));
    }
    for (uint64_t i = 20; i-- > 0;) {
        assert_ok(rota_queue_take(reversed, &element));
        assert_int_equal(((struct item *)element)->rank, i);
    }
    assert_true(asked > 0);
    assert_ok(rota_queue_free(reversed));
}

/* QUEUE-26: in order of removal, not of insertion. */
TEST(a_drain_gives_the_least_first)
{
    void *elements[MANY];

    put_random(MANY, 100);
    for (size_t left = MANY; left > 0; left -= 100) {
        assert_int_equal(rota_queue_drain(queue, elements, 100), 100);
        for (size_t i = 1; i < 100; i++)
            assert_before(elements[i - 1], elements[i]);
        void *next = NULL;
        if (rota_queue_peek(queue, &next) == ROTA_OK)
            assert_before(elements[99], next);
    }
    assert_int_equal(rota_queue_size(queue), 0);
}

static bool is_odd(void *element, void *ctx)
{
    return ((struct item *)element)->number % 2 == 1;
}

/* QUEUE-13: half of them, wherever they stand. */
TEST(what_is_left_is_in_order)
{
    put_random(MANY, 30);
    assert_int_equal(rota_queue_remove_if(queue, is_odd, NULL), MANY / 2);
    gives_in_order(MANY / 2);
}

/* QUEUE-13: one by one, at random, while others come. */
TEST(any_can_be_removed_by_name)
{
    test_random random;
    size_t left = MANY;

    put_random(MANY, 30);
    test_random_init(&random);
    for (size_t i = 0; i < 500; i++) {
        struct item *item = &items[test_random_below(&random, MANY)];
        bool there = rota_queue_contains(queue, item);
        assert_int_equal(rota_queue_remove(queue, item), there);
        assert_false(rota_queue_contains(queue, item));
        left -= there;
    }
    assert_int_equal(rota_queue_size(queue), left);
    gives_in_order(left);
}

/* QUEUE-03: the same pointer many times, removed by name as often as it is there. */
TEST(the_same_one_can_be_removed_as_often_as_it_is_in)
{
    put_random(50, 10);
    for (size_t i = 0; i < 20; i++)
        assert_ok(rota_queue_put(queue, &items[7]));
    for (size_t i = 0; i < 21; i++) {
        assert_true(rota_queue_contains(queue, &items[7]));
        assert_true(rota_queue_remove(queue, &items[7]));
        assert_int_equal(rota_queue_size(queue), 69 - i);
    }
    assert_false(rota_queue_contains(queue, &items[7]));
    assert_false(rota_queue_remove(queue, &items[7]));
    gives_in_order(49);
}

/* QUEUE-12: the order of visiting is that of insertion, and visiting changes nothing. */
TEST(each_shows_them_in_the_order_of_insertion)
{
    static test_shown shown;
    size_t at = 0;

    put_random(MANY, 10);
    for (size_t i = 0; i < MANY; i += 10)
        assert_true(rota_queue_remove(queue, &items[i]));
    assert_int_equal(rota_queue_each(queue, test_show, &shown), MANY - MANY / 10);
    for (size_t i = 0; i < MANY; i++) {
        if (i % 10 != 0)
            assert_ptr_equal(shown.elements[at++], &items[i]);
    }
    gives_in_order(MANY - MANY / 10);
}

static int compare_at_random(const void *a, const void *b, void *ctx)
{
    return (int)test_random_below(ctx, 3) - 1;
}

static void count_item(void *element, void *ctx)
{
    ((struct item *)element)->number++;
}

/*
 * FAULT-15: an order that contradicts itself is no order, but nothing is lost, doubled or broken.
 */
TEST(without_a_real_order_nothing_is_lost)
{
    test_random random;
    rota_queue *mad = NULL;
    void *element;

    test_random_init(&random);
    assert_ok(rota_priority_queue(compare_at_random, &random, &mad));
    for (size_t i = 0; i < MANY; i++) {
        items[i].number = 0;
        assert_ok(rota_queue_put(mad, &items[i]));
    }
    for (size_t i = 0; i < MANY; i += 2)
        assert_true(rota_queue_remove(mad, &items[i]));
    assert_int_equal(rota_queue_each(mad, count_item, NULL), MANY / 2);
    for (size_t i = 0; i < MANY / 2; i++) {
        assert_ok(rota_queue_poll(mad, &element));
        count_item(element, NULL);
    }
    assert_int_equal(rota_queue_size(mad), 0);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(items[i].number, i % 2 == 0 ? 0 : 2);
    assert_ok(rota_queue_free(mad));
}

/* -- A great many ------------------------------------------------------------------------- */

enum { GREAT_MANY = 300000 };

static int compare_counting(const void *a, const void *b, void *ctx)
{
    ++*(size_t *)ctx;
    return test_compare_ranks(a, b, NULL);
}

static struct item *shuffled_items(test_random *random, struct item **order[])
{
    struct item *all = malloc(GREAT_MANY * sizeof *all);

    *order = malloc(GREAT_MANY * sizeof(struct item *));
    assert_true(all != NULL && *order != NULL);
    for (size_t i = 0; i < GREAT_MANY; i++) {
        size_t other = test_random_below(random, i + 1);
        all[i] = (struct item){test_random_next(random) % 1000, i};
        (*order)[i] = (*order)[other];
        (*order)[other] = &all[i];
    }
    return all;
}

/*
 * Removal by name costs about as much as one from the front: a few comparisons. If each looked at
 * all the others, the test would not end in time.
 */
TEST(removal_by_name_is_as_cheap_among_many_as_among_few)
{
    test_random random;
    struct item **order;
    size_t comparisons = 0;
    rota_queue *many = NULL;

    test_random_init(&random);
    struct item *all = shuffled_items(&random, &order);
    assert_ok(rota_priority_queue(compare_counting, &comparisons, &many));
    for (size_t i = 0; i < GREAT_MANY; i++)
        assert_ok(rota_queue_put(many, &all[i]));
    comparisons = 0;
    for (size_t i = 0; i < GREAT_MANY; i++)
        assert_true(rota_queue_remove(many, order[i]));
    assert_in_range(comparisons / GREAT_MANY, 0, 60);
    assert_int_equal(rota_queue_size(many), 0);
    assert_ok(rota_queue_free(many));
    free(order);
    free(all);
}
