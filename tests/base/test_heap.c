/* SPDX-License-Identifier: MIT */
/*
 * The heap of timed items, mostly against a sorted array: heap.H1 to heap.H3.
 */
#include "rota_test_internal.h"

#include "base/heap.h"

#include <string.h>

enum { MANY = 500 };

static rota__heap heap;
static rota__heap_item items[MANY];

static int prepare(void **state)
{
    heap = (rota__heap){0};
    for (int i = 0; i < MANY; i++)
        rota__heap_item_init(&items[i]);
    return 0;
}

static int clean(void **state)
{
    test_memory_fail_at(0, false);
    rota__heap_free(&heap);
    return 0;
}

TEST_FIXTURE(.setup = prepare, .teardown = clean);

static void insert(int item, rota_ns time, uint64_t sequence)
{
    assert_ok(rota__heap_insert(&heap, &items[item], time, sequence));
    rota__heap_check(&heap);
}

static bool drop(int item)
{
    bool removed = rota__heap_remove(&heap, &items[item]);

    rota__heap_check(&heap);
    return removed;
}

/* The index of the first item, which is taken out; -1: there is none. */
static int take(void)
{
    const rota__heap_slot *top = rota__heap_top(&heap);

    if (top == NULL)
        return -1;
    int item = (int)(top->item - items);
    assert_true(drop(item));
    return item;
}

/* -- Order -------------------------------------------------------------------------------- */

/* A heap of zeros is an empty one, and needs no memory. */
TEST(a_heap_of_zeros_is_empty)
{
    assert_null(rota__heap_top(&heap));
    assert_false(drop(0));
    rota__heap_check(&heap);
    assert_int_equal(test_memory_live(), 0);
}

/* SCHED-05: by time, over all times that there are. */
TEST(items_come_in_the_order_of_their_times)
{
    static const rota_ns times[] = {5, INT64_MAX,     0,  -1, INT64_MIN, 7, INT64_MAX - 1,
                                    1, INT64_MIN + 1, -5, 6};
    static const int order[] = {4, 8, 9, 3, 2, 7, 0, 10, 5, 6, 1};
    enum { COUNT = sizeof times / sizeof times[0] };

    for (int i = 0; i < COUNT; i++)
        insert(i, times[i], 0);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(take(), order[i]);
    assert_int_equal(take(), -1);
}

/* SCHED-05: equal times by sequence, whatever was inserted first. */
TEST(equal_times_come_in_the_order_of_their_sequence)
{
    static const uint64_t sequences[] = {3, UINT64_MAX, 0, 2, 1, UINT64_MAX - 1};
    static const int order[] = {2, 4, 3, 0, 5, 1};

    for (int i = 0; i < 6; i++)
        insert(i, 100, sequences[i]);
    for (int i = 0; i < 6; i++)
        assert_int_equal(take(), order[i]);
}

/* -- Against a sorted array --------------------------------------------------------------- */

static struct entry {
    rota_ns time;
    uint64_t sequence;
    int item;
} sorted[MANY];

static int sorted_count;

static void sorted_insert(struct entry entry)
{
    int at = sorted_count++;

    while (
        at > 0
        && (sorted[at - 1].time > entry.time
            || (sorted[at - 1].time == entry.time && sorted[at - 1].sequence > entry.sequence))) {
        sorted[at] = sorted[at - 1];
        at--;
    }
    sorted[at] = entry;
}

static bool sorted_remove(int item)
{
    for (int i = 0; i < sorted_count; i++) {
        if (sorted[i].item == item) {
            sorted_count--;
            memmove(&sorted[i], &sorted[i + 1], (size_t)(sorted_count - i) * sizeof sorted[0]);
            return true;
        }
    }
    return false;
}

static void compare_tops(void)
{
    const rota__heap_slot *top = rota__heap_top(&heap);

    assert_int_equal(heap.count, sorted_count);
    if (sorted_count == 0) {
        assert_null(top);
        return;
    }
    assert_true(top->time == sorted[0].time && top->sequence == sorted[0].sequence);
    assert_ptr_equal(top->item, &items[sorted[0].item]);
}

/* Few times, so that many are equal, and a few of them extreme. */
static rota_ns random_time(test_random *random)
{
    size_t pick = test_random_below(random, 40);

    return pick == 0 ? INT64_MIN : pick == 1 ? INT64_MAX : (rota_ns)pick - 20;
}

/* DWQ-01, DWQ-04, DWQ-05: as a sorted array, wherever one inserts and removes, growing or not. */
TEST(it_does_as_a_sorted_array_would)
{
    test_random random;
    size_t largest = 0;

    test_random_init(&random);
    sorted_count = 0;
    for (uint64_t step = 0; step < 20000; step++) {
        bool growing = step / 2500 % 2 == 0;
        int item = (int)test_random_below(&random, MANY);
        bool inside = rota__load_relaxed(&items[item].place) != ROTA__NOT_IN_HEAP;

        if (test_random_below(&random, 10) < (growing ? 7 : 2)) {
            rota_ns time = random_time(&random);
            int expected = inside ? ROTA_EINVAL : ROTA_OK;
            assert_status(rota__heap_insert(&heap, &items[item], time, step), expected);
            if (!inside)
                sorted_insert((struct entry){time, step, item});
        } else if (test_random_below(&random, 3) > 0) {
            assert_int_equal(rota__heap_remove(&heap, &items[item]), sorted_remove(item));
        } else {
            assert_int_equal(take(), sorted_count > 0 ? sorted[0].item : -1);
            if (sorted_count > 0)
                sorted_remove(sorted[0].item);
        }
        rota__heap_check(&heap);
        compare_tops();
        largest = heap.count > largest ? heap.count : largest;
    }
    assert_true(largest > 200);
}

/* -- What is refused ---------------------------------------------------------------------- */

/* FAULT-09: an item is in one heap, once. */
TEST(an_item_that_is_in_a_heap_is_refused)
{
    rota__heap other = {0};

    insert(0, 10, 0);
    assert_status(rota__heap_insert(&heap, &items[0], 5, 1), ROTA_EINVAL);
    assert_status(rota__heap_insert(&other, &items[0], 5, 1), ROTA_EINVAL);
    assert_int_equal(heap.count, 1);
    assert_int_equal(rota__heap_top(&heap)->time, 10);
    assert_true(drop(0));
    insert(0, 5, 1); /* then it can come back */
    rota__heap_free(&other);
}

/* DWQ-05: an item of another heap, at a place that this one has, too, is left alone. */
TEST(an_item_of_another_heap_is_not_removed)
{
    rota__heap other = {0};

    insert(0, 1, 0);
    insert(1, 2, 0);
    assert_ok(rota__heap_insert(&other, &items[2], 1, 0));
    assert_false(drop(2));
    assert_false(drop(3)); /* in none */
    assert_int_equal(heap.count, 2);
    assert_true(rota__heap_remove(&other, &items[2]));
    assert_false(rota__heap_remove(&other, &items[2]));
    rota__heap_free(&other);
}

/* -- Memory ------------------------------------------------------------------------------- */

/* GEN-10, DWQ-02: without memory to grow it is as before, and works on with what it has. */
TEST(failing_to_grow_changes_nothing)
{
    int in = 0;

    test_memory_fail_at(2, true);
    while (rota__heap_insert(&heap, &items[in], -in, 0) == ROTA_OK)
        in++;
    assert_true(in > 0 && in < MANY);
    assert_int_equal(heap.count, in);
    assert_int_equal(rota__load_relaxed(&items[in].place), ROTA__NOT_IN_HEAP);
    rota__heap_check(&heap);
    assert_status(rota__heap_insert(&heap, &items[in], 0, 0), ROTA_ENOMEM);
    test_memory_fail_at(0, false);
    insert(in, -in, 0);
    for (; in >= 0; in--)
        assert_int_equal(take(), in);
}

/* A burst's memory goes back; what cannot be exchanged for less is kept. */
TEST(it_shrinks_after_a_burst)
{
    for (int i = 0; i < MANY; i++)
        insert(i, i, 0);
    size_t grown = heap.capacity;
    assert_true(grown >= MANY);
    test_memory_fail_at(1, true);
    for (int i = 0; i < MANY - 10; i++)
        assert_int_equal(take(), i);
    assert_int_equal(heap.capacity, grown);
    test_memory_fail_at(0, false);
    for (int i = MANY - 10; i < MANY; i++)
        assert_int_equal(take(), i);
    assert_true(heap.capacity <= 64);
}

/* DWQ-03: items left in a heap that is freed are in none. */
TEST(freeing_lets_its_items_go)
{
    insert(0, 1, 0);
    insert(1, 2, 0);
    rota__heap_free(&heap);
    assert_int_equal(rota__load_relaxed(&items[0].place), ROTA__NOT_IN_HEAP);
    assert_int_equal(rota__load_relaxed(&items[1].place), ROTA__NOT_IN_HEAP);
    assert_int_equal(test_memory_live(), 0);
    insert(0, 1, 0);
}

/* -- Another order ------------------------------------------------------------------------ */

/* By the last digit of their index, the greatest first. */
static int by_last_digit(const rota__heap_item *a, const rota__heap_item *b, const void *ctx)
{
    assert_ptr_equal(ctx, items);
    return (int)((b - items) % 10) - (int)((a - items) % 10);
}

TEST(items_come_in_the_order_that_a_function_says)
{
    heap.order = by_last_digit;
    heap.ctx = items;
    for (int i = 0; i < 50; i++)
        insert(i, 0, (uint64_t)i);
    for (int i = 0; i < 50; i++)
        assert_int_equal(take(), i % 5 * 10 + 9 - i / 5); /* equal ones by sequence */
}

/* An order that changes its mind: every item comes out, once (heap.H2). */
static int by_chance(const rota__heap_item *a, const rota__heap_item *b, const void *ctx)
{
    static test_random random = {7};

    return (int)test_random_below(&random, 3) - 1;
}

/* FAULT-15 */
TEST(no_order_at_all_loses_nothing)
{
    bool seen[MANY] = {false};

    heap.order = by_chance;
    for (int i = 0; i < MANY; i++)
        assert_ok(rota__heap_insert(&heap, &items[i], 0, (uint64_t)i));
    for (int i = 0; i < MANY; i += 3)
        assert_true(seen[i] = rota__heap_remove(&heap, &items[i]));
    while (heap.count > 0) {
        const rota__heap_slot *top = rota__heap_top(&heap);
        assert_false(seen[top->item - items]);
        seen[top->item - items] = true;
        assert_true(rota__heap_remove(&heap, top->item));
    }
    for (int i = 0; i < MANY; i++)
        assert_true(seen[i]);
}

/* -- Counting ------------------------------------------------------------------------------ */

TEST(items_up_to_a_time_are_counted)
{
    for (int i = 0; i < 100; i++)
        insert(i, i * 7 % 100, (uint64_t)i);
    for (rota_ns time = -1; time < 101; time++) {
        size_t expected = time < 0 ? 0 : time < 99 ? (size_t)time + 1 : 100;
        assert_int_equal(rota__heap_count_until(&heap, time, 1000), expected);
        assert_int_equal(rota__heap_count_until(&heap, time, 5), expected < 5 ? expected : 5);
    }
    assert_int_equal(rota__heap_find(&heap, &items[42])->sequence, 42);
}

/* -- Filtering ------------------------------------------------------------------------------ */

struct filter {
    unsigned asked[MANY];
    const bool *drops;
    int last; /* that was dropped, or -1 */
};

static bool drop_if(rota__heap_item *item, void *ctx)
{
    struct filter *filter = ctx;
    int i = (int)(item - items);

    if (filter->last >= 0)
        assert_int_equal(rota__load_relaxed(&items[filter->last].place), ROTA__NOT_IN_HEAP);
    filter->asked[i]++;
    if (filter->drops[i])
        filter->last = i;
    return filter->drops[i];
}

static void filter_items(const bool *drops, int count)
{
    struct filter filter = {.drops = drops, .last = -1};

    rota__heap_filter(&heap, drop_if, &filter);
    rota__heap_check(&heap);
    for (int i = 0; i < count; i++) {
        assert_int_equal(filter.asked[i], 1);
        assert_int_equal(rota__heap_find(&heap, &items[i]) == NULL, drops[i]);
        if (drops[i])
            assert_int_equal(rota__load_relaxed(&items[i].place), ROTA__NOT_IN_HEAP);
    }
}

static void insert_by_chance(test_random *random, int count)
{
    sorted_count = 0;
    for (int i = 0; i < count; i++) {
        rota_ns time = random_time(random);
        insert(i, time, (uint64_t)i);
        sorted_insert((struct entry){time, (uint64_t)i, i});
    }
}

/* Each is asked about once, those that stay keep their order, and those that go are out. */
TEST(filtering_leaves_a_heap_of_the_rest)
{
    test_random random;
    bool drops[MANY];

    test_random_init(&random);
    for (int round = 0; round < 40; round++) {
        int count = round < 20 ? round : (int)test_random_below(&random, MANY);
        insert_by_chance(&random, count);
        for (int i = 0; i < count; i++)
            drops[i] = test_random_below(&random, 4) < (size_t)round % 5; /* none to all */
        filter_items(drops, count);
        for (int i = 0; i < count; i++)
            assert_true(!drops[i] || sorted_remove(i));
        for (int i = 0; i < sorted_count; i++)
            assert_int_equal(take(), sorted[i].item);
        assert_int_equal(take(), -1);
    }
}

TEST(filtering_an_empty_heap_asks_nothing)
{
    struct filter filter = {.drops = NULL, .last = -1};

    rota__heap_filter(&heap, drop_if, &filter);
    rota__heap_check(&heap);
    assert_int_equal(test_memory_live(), 0);
}

/* A burst that is filtered out gives its memory back. */
TEST(filtering_gives_memory_back)
{
    bool drops[MANY];

    for (int i = 0; i < MANY; i++) {
        insert(i, i, 0);
        drops[i] = i != 7;
    }
    filter_items(drops, MANY);
    assert_true(heap.capacity <= 64);
    assert_int_equal(take(), 7);
}

/* -- Room for what comes back ---------------------------------------------------------------- */

/* heap.H3: what was taken out and set aside room for comes back without memory. */
TEST(spare_room_is_not_given_to_others)
{
    int in = 0;

    do {
        insert(in, in, 0);
        in++;
    } while (heap.count < heap.capacity);
    for (int i = 0; i < 5; i++) {
        heap.reserved++;
        assert_true(drop(i));
    }
    test_memory_fail_at(1, true);
    assert_status(rota__heap_insert(&heap, &items[in], 0, 0), ROTA_ENOMEM);
    rota__heap_check(&heap);
    for (int i = 0; i < 5; i++) {
        heap.reserved--;
        insert(i, i, 0);
    }
    test_memory_fail_at(0, false);
    insert(in, INT64_MAX, 0);
    for (int i = 0; i <= in; i++)
        assert_int_equal(take(), i);
}

/* heap.H3: neither does the heap shrink below it, one by one or by a filter. */
TEST(spare_room_is_kept_when_it_shrinks)
{
    bool drops[MANY];

    for (int i = 0; i < MANY; i++) {
        insert(i, i, 0);
        drops[i] = i < MANY - 1;
    }
    for (int i = 0; i < MANY / 2; i++) {
        heap.reserved++;
        assert_true(drop(i));
        insert(i, i, 0); /* others, which need room of their own */
    }
    filter_items(drops, MANY);
    assert_true(heap.capacity >= MANY / 2 + 1);
    test_memory_fail_at(1, true);
    for (int i = 0; i < MANY / 2; i++) {
        heap.reserved--;
        insert(i, i, 0);
    }
    assert_int_equal(heap.count, MANY / 2 + 1);
    test_memory_fail_at(0, false);
}
