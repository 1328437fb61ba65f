/* SPDX-License-Identifier: MIT */
/*
 * Element ops: which elements a visitor and a predicate see, for every kind of queue that holds
 * elements; and which elements may enter.
 */
#include "queues.h"
#include "rota_test_internal.h"

#include "queue/queue_internal.h"

#include <string.h>

enum { MANY = 3 * ROTA__VISIT_BATCH + 5 };

struct item {
    uint64_t rank;
    bool has_ended;
    bool ends_when_shown;
    bool is_shown; /* between visit_begin and visit_end */
    unsigned shows;
    unsigned finishes;
};

static struct item items[MANY];
static rota_queue *queue;
static struct item *refused;

static int may_enter(void *ctx, void *element)
{
    test_check(ctx == items);
    return element == refused ? ROTA_ECANCELED : ROTA_OK;
}

static bool visit_begin(void *element)
{
    struct item *item = element;

    item->is_shown = !item->has_ended;
    return item->is_shown;
}

static bool visit_end(void *element)
{
    struct item *item = element;

    test_check(item->is_shown);
    item->is_shown = false;
    return item->has_ended;
}

/* Would wait for ever if a lock of the queue were held. A pool takes the task out here. */
static void visit_done(void *element)
{
    struct item *item = element;

    item->finishes++;
    rota_queue_remove(queue, item);
}

static const rota__element_ops ops = {may_enter, visit_begin, visit_end, visit_done};

static void show(void *element, void *ctx)
{
    struct item *item = element;

    test_check(item->is_shown);
    item->shows++;
    if (item->ends_when_shown)
        item->has_ended = true;
}

static bool is_odd(void *element, void *ctx)
{
    show(element, ctx);
    return ((struct item *)element)->rank % 2 == 1;
}

static size_t count_in(const test_queue_kind *kind)
{
    return kind->capacity < MANY ? kind->capacity : MANY;
}

/* A queue full of elements that end as they are shown. */
static size_t fill(const test_queue_kind *kind)
{
    size_t count = count_in(kind);

    assert_ok(kind->make(&queue));
    queue->element_ops = &ops;
    queue->element_ctx = items;
    for (size_t i = 0; i < MANY; i++)
        items[i] = (struct item){.rank = i, .ends_when_shown = true};
    for (size_t i = 0; i < count; i++)
        assert_ok(rota_queue_offer(queue, &items[i]));
    return count;
}

static void empty_and_free(void)
{
    rota_queue_remove_if(queue, NULL, NULL);
    assert_ok(rota_queue_free(queue));
}

#define EACH_KIND(kind)                                  \
    for (const test_queue_kind *kind = test_queue_kinds; \
         kind < test_queue_kinds + TEST_QUEUE_KINDS; kind++)

/* An ended element stays in the queue, but no visitor and no predicate sees it. */
TEST(an_element_that_has_ended_is_not_shown)
{
    EACH_KIND(kind)
    {
        size_t count = fill(kind);
        for (size_t i = 0; i < count; i++)
            items[i].has_ended = true;
        assert_int_equal(rota_queue_each(queue, show, NULL), 0);
        assert_int_equal(rota_deque_each_back(queue, show, NULL), 0);
        assert_int_equal(rota_queue_remove_if(queue, is_odd, NULL), 0);
        assert_int_equal(rota_queue_size(queue), count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(items[i].shows + items[i].finishes, 0);
        assert_int_equal(rota_queue_remove_if(queue, NULL, NULL), count);
        empty_and_free();
    }
}

/* Also if more elements end than a batch has, and although visit_done takes each out. */
TEST(an_element_that_ends_while_a_visitor_sees_it_is_finished_after_unlocking)
{
    EACH_KIND(kind)
    {
        size_t count = fill(kind);
        assert_int_equal(rota_queue_each(queue, show, NULL), count);
        assert_int_equal(rota_queue_size(queue), 0);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(items[i].shows, 1);
            assert_int_equal(items[i].finishes, 1);
        }
        empty_and_free();
    }
}

/* Elements that end and elements that do not, elements that go and elements that stay. */
TEST(an_element_that_ends_while_a_predicate_sees_it_is_finished_after_unlocking)
{
    EACH_KIND(kind)
    {
        size_t count = fill(kind), left = 0;
        for (size_t i = 0; i < count; i += 3)
            items[i].ends_when_shown = false;
        assert_int_equal(rota_queue_remove_if(queue, is_odd, NULL), count / 2);
        for (size_t i = 0; i < count; i++) {
            bool stays = i % 3 == 0 && i % 2 == 0;
            assert_int_equal(items[i].shows, 1);
            assert_int_equal(items[i].finishes, i % 3 != 0);
            assert_int_equal(rota_queue_contains(queue, &items[i]), stays);
            left += stays;
        }
        assert_int_equal(rota_queue_size(queue), left);
        empty_and_free();
    }
}

/* Only a queue that is walked in one go needs memory, and only for more than a batch. */
TEST(a_visit_without_memory_shows_a_batch)
{
    assert_ok(test_ring_queue(MANY, &queue));
    queue->element_ops = &ops;
    queue->element_ctx = items;
    for (size_t i = 0; i < MANY; i++) {
        items[i] = (struct item){.rank = i, .ends_when_shown = true};
        assert_ok(rota_queue_offer(queue, &items[i]));
    }
    test_memory_fail_at(1, true);
    size_t shown = rota_queue_each(queue, show, NULL);
    test_memory_fail_at(0, false);
    assert_int_equal(shown, ROTA__VISIT_BATCH);
    assert_int_equal(rota_queue_each(queue, show, NULL), MANY - ROTA__VISIT_BATCH);
    empty_and_free();
}

/* -- Entering ----------------------------------------------------------------------------- */

TEST(an_element_that_may_not_enter_is_refused)
{
    EACH_KIND(kind)
    {
        bool has_one_lock = kind->by_rank || kind->is_deque || strcmp(kind->name, "custom") == 0;
        fill(kind);
        rota_queue_remove_if(queue, NULL, NULL);
        refused = &items[0];
        int status = rota_queue_offer(queue, refused);
        refused = NULL;
        if (has_one_lock)
            assert_int_equal(status, ROTA_ECANCELED);
        assert_int_equal(rota_queue_contains(queue, &items[0]), status == ROTA_OK);
        empty_and_free();
    }
}
