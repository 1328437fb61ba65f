/* SPDX-License-Identifier: MIT */
/*
 * queue.c - queues are made, looked at and freed; calls that need not wait.
 */
#include "queues_set.h"

/* -- Making ------------------------------------------------------------------------------- */

static int make_array(void)
{
    return rota_array_queue(3, &given.queue);
}

static int make_linked(void)
{
    return rota_linked_queue(3, &given.queue);
}

static int make_deque(void)
{
    return rota_deque(3, &given.queue);
}

static int make_priority(void)
{
    return rota_priority_queue(test_compare_ranks, NULL, &given.queue);
}

static int make_delay(void)
{
    return rota_delay_queue(test_due_by_rank, NULL, &given.queue);
}

static int make_handoff(void)
{
    return rota_handoff_queue(&given.queue);
}

static int make_fair(void)
{
    return rota_fair_handoff_queue(&given.queue);
}

static int make_transfer(void)
{
    return rota_transfer_queue(&given.queue);
}

static void holds_one(void)
{
    void *element;

    test_check(rota_queue_put(given.queue, &sweep_extra) == ROTA_OK);
    test_check(rota_queue_poll(given.queue, &element) == ROTA_OK && element == &sweep_extra);
    test_check(rota_queue_free(given.queue) == ROTA_OK);
}

static void hands_over(void)
{
    test_check(rota_queue_offer(given.queue, &sweep_extra) == ROTA_EFULL);
    test_check(rota_queue_free(given.queue) == ROTA_OK);
}

/* A box for one element. */
static void *box;

static int box_insert(void *self, void *element)
{
    if (box != NULL)
        return ROTA_EFULL;
    box = element;
    return ROTA_OK;
}

static void *box_peek(void *self)
{
    return box;
}

static void *box_take(void *self)
{
    void *element = box;

    box = NULL;
    return element;
}

static void box_filter(void *self, bool (*drop)(void *element, void *ctx), void *ctx)
{
    if (box != NULL && drop(box, ctx))
        box = NULL;
}

static int make_custom(void)
{
    const rota_queue_ops ops = {
        .insert = box_insert, .take = box_take, .peek = box_peek, .filter = box_filter};

    return rota_custom_queue(&ops, NULL, &given.queue);
}

/* -- Without waiting ---------------------------------------------------------------------- */

static int put(void)
{
    return sweep_insert(test_put, 0);
}

static int offer(void)
{
    return sweep_insert(test_offer, 0);
}

static int offer_timed(void)
{
    return sweep_insert(test_offer_timed, ROTA_MINUTES(30));
}

static int take(void)
{
    return sweep_remove(test_take, 0);
}

static int poll(void)
{
    return sweep_remove(test_poll, 0);
}

static int poll_timed(void)
{
    return sweep_remove(test_poll_timed, ROTA_MINUTES(30));
}

static int peek(void)
{
    return rota_queue_peek(stage.queue, &given.any);
}

static int drain(void)
{
    void *elements[5];

    return sweep_so(rota_queue_drain(stage.queue, elements, 5) == 3);
}

static int remove_one(void)
{
    return sweep_so(rota_queue_remove(stage.queue, &sweep_elements[1]));
}

static bool is_first(void *element, void *ctx)
{
    return element == &sweep_elements[0];
}

static int remove_if(void)
{
    return sweep_so(rota_queue_remove_if(stage.queue, is_first, NULL) == 1);
}

/* -- Looking ------------------------------------------------------------------------------ */

static int contains(void)
{
    return sweep_so(rota_queue_contains(stage.queue, &sweep_elements[2]));
}

static int size_of(void)
{
    return sweep_so(rota_queue_size(stage.queue) == 3);
}

static int room(void)
{
    return sweep_so(rota_queue_room(stage.queue) > 3);
}

static int waiting(void)
{
    return sweep_so(rota_queue_waiting(stage.queue) == 0);
}

static int each(void)
{
    test_shown shown = {.count = 0};

    return sweep_so(rota_queue_each(stage.queue, test_show, &shown) == 3 && shown.count == 3);
}

static int free_awaited(void)
{
    return rota_queue_free(stage.queue);
}

static void put_for_other(void)
{
    test_check(rota_queue_put(stage.queue, &sweep_extra) == ROTA_OK);
    sweep_other_ends();
}

static const sweep_row rows[] = {
    {"rota_array_queue", sweep_nowhere, make_array, holds_one, SWEEP_NEEDS_MEMORY},
    {"rota_linked_queue", sweep_nowhere, make_linked, holds_one, SWEEP_NEEDS_MEMORY},
    {"rota_deque", sweep_nowhere, make_deque, holds_one, SWEEP_NEEDS_MEMORY},
    {"rota_priority_queue", sweep_nowhere, make_priority, holds_one, SWEEP_NEEDS_MEMORY},
    {"rota_delay_queue", sweep_nowhere, make_delay, holds_one, SWEEP_NEEDS_MEMORY},
    {"rota_handoff_queue", sweep_nowhere, make_handoff, hands_over, SWEEP_NEEDS_MEMORY},
    {"rota_fair_handoff_queue", sweep_nowhere, make_fair, hands_over, SWEEP_NEEDS_MEMORY},
    {"rota_transfer_queue", sweep_nowhere, make_transfer, holds_one, SWEEP_NEEDS_MEMORY},
    {"rota_custom_queue", sweep_nowhere, make_custom, holds_one, SWEEP_NEEDS_MEMORY},
    {"rota_queue_put", sweep_empty_queues, put, sweep_is_inserted, SWEEP_NEEDS_MEMORY},
    {"rota_queue_offer", sweep_empty_queues, offer, sweep_is_inserted, SWEEP_NEEDS_MEMORY},
    {"rota_queue_offer_timed", sweep_empty_queues, offer_timed, sweep_is_inserted,
     SWEEP_NEEDS_MEMORY},
    {"rota_queue_take", sweep_queues, take, sweep_is_removed},
    {"rota_queue_poll", sweep_queues, poll, sweep_is_removed},
    {"rota_queue_poll_timed", sweep_queues, poll_timed, sweep_is_removed},
    {"rota_queue_peek", sweep_queues, peek, .is_quiet = true},
    {"rota_queue_drain", sweep_queues, drain},
    {"rota_queue_remove", sweep_queues, remove_one},
    {"rota_queue_remove_if", sweep_queues, remove_if, .is_quiet = true},
    {"rota_queue_contains", sweep_queues, contains, .is_quiet = true},
    {"rota_queue_size", sweep_queues, size_of, .is_quiet = true},
    {"rota_queue_room", sweep_queues, room, .is_quiet = true},
    {"rota_queue_waiting", sweep_queues, waiting},
    {"rota_queue_each", sweep_queues, each, .is_quiet = true},
    {"rota_queue_free", sweep_consumers, free_awaited, put_for_other, .status = ROTA_EBUSY,
     .is_quiet = true},
};
SWEEP_PART(sweep_queue, rows);
