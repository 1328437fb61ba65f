/* SPDX-License-Identifier: MIT */
#include "queues_set.h"

#define LONG ROTA_MINUTES(30)
#define VAIN ROTA_MS(1)

static int put_front(void)
{
    return sweep_insert(test_put_front, 0);
}

static int offer_front(void)
{
    return sweep_insert(test_offer_front, 0);
}

static int offer_front_timed(void)
{
    return sweep_insert(test_offer_front_timed, LONG);
}

static int offer_front_in_vain(void)
{
    return sweep_insert(test_offer_front_timed, VAIN);
}

static int take_back(void)
{
    return sweep_remove(test_take_back, 0);
}

static int poll_back(void)
{
    return sweep_remove(test_poll_back, 0);
}

static int poll_back_timed(void)
{
    return sweep_remove(test_poll_back_timed, LONG);
}

static int poll_back_in_vain(void)
{
    return sweep_remove(test_poll_back_timed, VAIN);
}

static void got_extra(void)
{
    test_check(given.any == &sweep_extra);
}

static int peek_back(void)
{
    return rota_deque_peek_back(stage.queue, &given.any);
}

static int remove_last(void)
{
    return sweep_so(rota_deque_remove_last(stage.queue, &sweep_elements[0]));
}

static int each_back(void)
{
    test_shown shown = {.count = 0};

    return sweep_so(rota_deque_each_back(stage.queue, test_show, &shown) == 3);
}

static const sweep_row rows[] = {
    {"rota_deque_put_front", sweep_empty_deques, put_front, sweep_is_inserted, SWEEP_NEEDS_MEMORY},
    {"rota_deque_offer_front", sweep_empty_deques, offer_front, sweep_is_inserted,
     SWEEP_NEEDS_MEMORY},
    {"rota_deque_offer_front_timed", sweep_empty_deques, offer_front_timed, sweep_is_inserted,
     SWEEP_NEEDS_MEMORY},
    {"rota_deque_put_front", sweep_full_deque, put_front, NULL, sweep_poll_one,
     SWEEP_GROWS_AND_WAITS, .is_chance = true},
    {"rota_deque_offer_front_timed", sweep_full_deque, offer_front_timed, NULL, sweep_poll_one,
     SWEEP_GROWS_AND_IS_TIMED, .is_chance = true},
    {"rota_deque_offer_front_timed", sweep_full_deque, offer_front_in_vain,
     .status = ROTA_ETIMEDOUT, .least = VAIN, SWEEP_NEEDS_TO_WAIT},
    {"rota_deque_put_front", sweep_back_consumer, put_front, sweep_other_ends, SWEEP_NEEDS_MEMORY},
    {"rota_deque_offer_front", sweep_back_consumer, offer_front, sweep_other_ends,
     SWEEP_NEEDS_MEMORY},
    {"rota_deque_take_back", sweep_empty_deques, take_back, got_extra, sweep_put_one,
     SWEEP_NEEDS_TO_WAIT},
    {"rota_deque_poll_back_timed", sweep_empty_deques, poll_back_timed, got_extra, sweep_put_one,
     SWEEP_TIMED},
    {"rota_deque_poll_back_timed", sweep_empty_deques, poll_back_in_vain, .status = ROTA_ETIMEDOUT,
     .least = VAIN, SWEEP_NEEDS_TO_WAIT},
    {"rota_deque_take_back", sweep_front_producer, take_back, sweep_producer_ends},
    {"rota_deque_poll_back", sweep_front_producer, poll_back, sweep_producer_ends},
    {"rota_deque_poll_back_timed", sweep_front_producer, poll_back_timed, sweep_producer_ends},
    {"rota_deque_remove_last", sweep_front_producer, remove_last, sweep_producer_ends},
    {"rota_deque_peek_back", sweep_deques, peek_back, .is_quiet = true},
    {"rota_deque_each_back", sweep_deques, each_back, .is_quiet = true},
};
SWEEP_PART(sweep_deque, rows);
