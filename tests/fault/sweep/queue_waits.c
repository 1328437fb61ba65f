/* SPDX-License-Identifier: MIT */
/*
 * queue_waits.c - calls that wait in a queue, and calls that wake those who do.
 */
#include "queues_set.h"

#define LONG ROTA_MINUTES(30)
#define VAIN ROTA_MS(1)

/* -- Waiting ------------------------------------------------------------------------------ */

static int put(void)
{
    return sweep_insert(test_put, 0);
}

static int offer_timed(void)
{
    return sweep_insert(test_offer_timed, LONG);
}

static int offer_in_vain(void)
{
    return sweep_insert(test_offer_timed, VAIN);
}

static int take(void)
{
    return sweep_remove(test_take, 0);
}

static int poll_timed(void)
{
    return sweep_remove(test_poll_timed, LONG);
}

static int poll_in_vain(void)
{
    return sweep_remove(test_poll_timed, VAIN);
}

static void got_extra(void)
{
    test_check(given.any == &sweep_extra);
}

static int transfer(void)
{
    return sweep_insert(test_transfer, LONG);
}

static int transfer_in_vain(void)
{
    return sweep_insert(test_transfer, VAIN);
}

static void nobody_has_it(void)
{
    test_check(!rota_queue_contains(stage.queue, &sweep_extra));
}

/* -- Waking ------------------------------------------------------------------------------- */

static int offer(void)
{
    return sweep_insert(test_offer, 0);
}

static int try_transfer(void)
{
    return sweep_insert(test_try_transfer, 0);
}

static int poll(void)
{
    return sweep_remove(test_poll, 0);
}

static int drain_one(void)
{
    return sweep_so(rota_queue_drain(stage.queue, &given.any, 1) == 1);
}

static bool is_any(void *element, void *ctx)
{
    bool *has_found = ctx;
    bool is_first = !*has_found;

    *has_found = true;
    return is_first;
}

static int remove_if(void)
{
    bool has_found = false;

    return sweep_so(rota_queue_remove_if(stage.queue, is_any, &has_found) == 1);
}

static int remove_first(void)
{
    return sweep_so(rota_queue_remove(stage.queue, &sweep_elements[0]));
}

static const sweep_row rows[] = {
    {"rota_queue_put", sweep_bare_queues, put, NULL, sweep_poll_one, SWEEP_NEEDS_TO_WAIT},
    {"rota_queue_offer_timed", sweep_bare_queues, offer_timed, NULL, sweep_poll_one, SWEEP_TIMED},
    {"rota_queue_offer_timed", sweep_bare_queues, offer_in_vain, .status = ROTA_ETIMEDOUT,
     .least = VAIN, SWEEP_NEEDS_TO_WAIT},
    {"rota_queue_put", sweep_full_deque, put, NULL, sweep_poll_one, SWEEP_GROWS_AND_WAITS,
     .is_chance = true},
    {"rota_queue_offer_timed", sweep_full_deque, offer_timed, NULL, sweep_poll_one,
     SWEEP_GROWS_AND_IS_TIMED, .is_chance = true},
    {"rota_queue_take", sweep_bare_takes, take, got_extra, sweep_put_one, SWEEP_NEEDS_TO_WAIT},
    {"rota_queue_poll_timed", sweep_bare_takes, poll_timed, got_extra, sweep_put_one, SWEEP_TIMED},
    {"rota_queue_poll_timed", sweep_bare_takes, poll_in_vain, .status = ROTA_ETIMEDOUT,
     .least = VAIN, SWEEP_NEEDS_TO_WAIT},
    {"rota_queue_transfer", sweep_transfer, transfer, NULL, sweep_poll_one, SWEEP_TIMED},
    {"rota_queue_transfer", sweep_transfers, transfer_in_vain, nobody_has_it,
     .status = ROTA_ETIMEDOUT, .least = VAIN, SWEEP_GROWS_AND_WAITS},
    {"rota_queue_put", sweep_consumers, put, sweep_other_ends, SWEEP_NEEDS_MEMORY},
    {"rota_queue_offer", sweep_consumers, offer, sweep_other_ends, SWEEP_NEEDS_MEMORY},
    {"rota_queue_offer_timed", sweep_consumers, offer_timed, sweep_other_ends, SWEEP_NEEDS_MEMORY},
    {"rota_queue_transfer", sweep_transfer_consumer, transfer, sweep_other_ends},
    {"rota_queue_try_transfer", sweep_transfer_consumer, try_transfer, sweep_other_ends},
    {"rota_queue_take", sweep_producers, take, sweep_producer_ends},
    {"rota_queue_poll", sweep_producers, poll, sweep_producer_ends},
    {"rota_queue_poll_timed", sweep_producers, poll_timed, sweep_producer_ends},
    {"rota_queue_drain", sweep_producers, drain_one, sweep_producer_ends},
    {"rota_queue_remove", sweep_room_producers, remove_first, sweep_producer_ends},
    {"rota_queue_remove_if", sweep_room_producers, remove_if, sweep_producer_ends},
};
SWEEP_PART(sweep_queue_waits, rows);
