/* SPDX-License-Identifier: MIT */
/*
 * The index of elements by address, against an array: index.X1.
 */
#include "rota_test_internal.h"

#include "queue/index.h"

enum { MANY = 3000, FIRST_ARRAY = 16 };

static rota__index by_name;
static rota__index_item items[MANY];
static char keys[MANY];

static int prepare(void **state)
{
    rota__index_init(&by_name);
    return 0;
}

static int clean(void **state)
{
    test_memory_fail_at(0, false);
    rota__index_free(&by_name);
    return 0;
}

TEST_FIXTURE(.setup = prepare, .teardown = clean);

static void add_all(void)
{
    for (size_t i = 0; i < MANY; i++)
        rota__index_add(&by_name, &items[i], &keys[i]);
    rota__index_check(&by_name);
}

static void assert_all_are_found(size_t from)
{
    for (size_t i = 0; i < MANY; i++) {
        rota__index_item *expected = i >= from ? &items[i] : NULL;
        assert_ptr_equal(rota__index_first(&by_name, &keys[i]), expected);
    }
}

TEST(an_empty_index_finds_nothing_and_needs_no_memory)
{
    assert_null(rota__index_first(&by_name, &keys[0]));
    assert_null(rota__index_first(&by_name, NULL));
    assert_int_equal(test_memory_live(), 0);
}

TEST(what_is_added_is_found_until_it_is_removed)
{
    add_all();
    assert_all_are_found(0);
    for (size_t i = 0; i < MANY; i++) {
        rota__index_remove(&by_name, &items[i]);
        assert_null(rota__index_first(&by_name, &keys[i]));
        if (i % 100 == 0) {
            rota__index_check(&by_name);
            assert_all_are_found(i + 1);
        }
    }
}

/* One address as often as it was added, and no other. */
TEST(the_same_address_is_found_as_often_as_it_was_added)
{
    rota__index_item *found;

    rota__index_add(&by_name, &items[0], &keys[7]);
    rota__index_add(&by_name, &items[1], &keys[8]);
    rota__index_add(&by_name, &items[2], &keys[7]);
    found = rota__index_first(&by_name, &keys[7]);
    assert_true(found == &items[0] || found == &items[2]);
    rota__index_item *other = rota__index_next(found);
    assert_true(other != found && (other == &items[0] || other == &items[2]));
    assert_null(rota__index_next(other));
    rota__index_remove(&by_name, found);
    assert_ptr_equal(rota__index_first(&by_name, &keys[7]), other);
}

/* QUEUE-15: chains get longer, that is all. */
TEST(without_memory_it_still_finds_everything)
{
    test_memory_fail_at(1, true);
    add_all();
    assert_all_are_found(0);
    assert_int_equal(test_memory_live(), 0);
    test_memory_fail_at(0, false);
}

TEST(memory_returns_as_items_go)
{
    add_all();
    size_t full = test_memory_bytes();
    for (size_t i = 0; i < MANY; i++)
        rota__index_remove(&by_name, &items[i]);
    rota__index_check(&by_name);
    assert_true(test_memory_bytes() <= FIRST_ARRAY * sizeof(void *));
    assert_true(full >= MANY * sizeof(void *));
}

/* Shrinking needs memory for the smaller array; without, it keeps the larger one. */
TEST(shrinking_without_memory_loses_nothing)
{
    add_all();
    test_memory_fail_at(1, true);
    for (size_t i = 0; i < MANY - 10; i++)
        rota__index_remove(&by_name, &items[i]);
    rota__index_check(&by_name);
    assert_all_are_found(MANY - 10);
}

TEST(random_steps_agree_with_an_array)
{
    static bool inside[MANY];
    test_random random;

    test_random_init(&random);
    for (int step = 0; step < 50000; step++) {
        size_t i = test_random_below(&random, step % 20000 < 10000 ? MANY : MANY / 10);
        if (inside[i])
            rota__index_remove(&by_name, &items[i]);
        else
            rota__index_add(&by_name, &items[i], &keys[i]);
        inside[i] = !inside[i];
        assert_ptr_equal(rota__index_first(&by_name, &keys[i]), inside[i] ? &items[i] : NULL);
        if (step % 1000 == 0)
            rota__index_check(&by_name);
    }
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(rota__index_first(&by_name, &keys[i]), inside[i] ? &items[i] : NULL);
}
