/* SPDX-License-Identifier: MIT */
#include "queues_set.h"

#include <sched.h>

test_caller sweep_other;
uint64_t sweep_elements[TEST_QUEUE_CAPACITY];
uint64_t sweep_extra = 1000;

static size_t filled; /* elements that the scene put in */

/* -- Setting and striking ----------------------------------------------------------------- */

enum {
    ARRAY = 0,
    LINKED = 1,
    UNBOUNDED = 3,
    DEQUE = 4,
    UNBOUNDED_DEQUE = 5,
    PRIORITY = 6,
    DELAY = 7,
    HANDOFF = 8,
    FAIR = 9,
    TRANSFER = 10,
    CUSTOM = 11
}; /* in test_queue_kinds */

enum { FEW = 3 };

static void set_queue(int kind, size_t count)
{
    test_check(test_queue_kinds[kind].make(&stage.queue) == ROTA_OK);
    for (filled = 0; filled < count; filled++) {
        sweep_elements[filled] = filled;
        test_check(rota_queue_put(stage.queue, &sweep_elements[filled]) == ROTA_OK);
    }
}

/* Until the next insertion needs memory. */
static void set_long(int kind)
{
    enum { TOO_LONG = 1000 };

    set_queue(kind, 0);
    sweep_refuse_memory(true);
    while (filled < TOO_LONG && rota_queue_put(stage.queue, &sweep_elements[0]) == ROTA_OK)
        filled++;
    sweep_refuse_memory(false);
    test_check(filled < TOO_LONG);
}

static size_t capacity_of(int kind)
{
    return test_queue_kinds[kind].capacity;
}

static void set_consumer(int kind, test_queue_call *take)
{
    set_queue(kind, 0);
    test_caller_start(&sweep_other, stage.queue, take, NULL, ROTA_FOREVER);
}

static void set_producer(int kind, test_queue_call *put)
{
    set_queue(kind, capacity_of(kind));
    test_caller_start(&sweep_other, stage.queue, put, &sweep_extra, ROTA_FOREVER);
}

static void is_intact(void)
{
    test_check(rota_queue_size(stage.queue) == filled);
}

static void strike(void)
{
    rota_queue_remove_if(stage.queue, NULL, NULL);
    test_check(rota_queue_free(stage.queue) == ROTA_OK);
}

#define SCENE(scene, name, how)   \
    static void set_##scene(void) \
    {                             \
        how;                      \
    }                             \
    static const sweep_scene scene = {name, set_##scene, is_intact, strike}

SCENE(empty_array, "empty array", set_queue(ARRAY, 0));
SCENE(empty_linked, "empty linked", set_queue(LINKED, 0));
SCENE(empty_unbounded, "empty unbounded", set_queue(UNBOUNDED, 0));
SCENE(empty_deque, "empty deque", set_queue(DEQUE, 0));
SCENE(empty_unbounded_deque, "unbounded deque", set_queue(UNBOUNDED_DEQUE, 0));
SCENE(empty_priority, "empty priority", set_queue(PRIORITY, 0));
SCENE(empty_delay, "empty delay", set_queue(DELAY, 0));
SCENE(empty_handoff, "hand-off", set_queue(HANDOFF, 0));
SCENE(empty_fair, "fair hand-off", set_queue(FAIR, 0));
SCENE(empty_transfer, "empty transfer", set_queue(TRANSFER, 0));
SCENE(empty_custom, "empty custom", set_queue(CUSTOM, 0));

/* As many as the first segment holds, so that the next needs memory. */
SCENE(long_linked, "long linked", set_long(UNBOUNDED));
SCENE(long_transfer, "long transfer", set_long(TRANSFER));

SCENE(few_array, "array", set_queue(ARRAY, FEW));
SCENE(few_linked, "linked", set_queue(LINKED, FEW));
SCENE(few_deque, "deque", set_queue(DEQUE, FEW));
SCENE(few_priority, "priority", set_queue(PRIORITY, FEW));
SCENE(few_delay, "delay", set_queue(DELAY, FEW));
SCENE(few_transfer, "transfer", set_queue(TRANSFER, FEW));
SCENE(few_custom, "custom", set_queue(CUSTOM, FEW));

SCENE(full_array, "full array", set_queue(ARRAY, capacity_of(ARRAY)));
SCENE(full_linked, "full linked", set_queue(LINKED, capacity_of(LINKED)));
SCENE(full_deque, "full deque", set_queue(DEQUE, capacity_of(DEQUE)));
SCENE(full_custom, "full custom", set_queue(CUSTOM, capacity_of(CUSTOM)));

SCENE(take_array, "take from array", set_consumer(ARRAY, test_take));
SCENE(take_linked, "take from linked", set_consumer(LINKED, test_take));
SCENE(take_deque, "take from deque", set_consumer(DEQUE, test_take));
SCENE(take_priority, "take from prio.", set_consumer(PRIORITY, test_take));
SCENE(take_delay, "take from delay", set_consumer(DELAY, test_take));
SCENE(take_handoff, "take from h.-off", set_consumer(HANDOFF, test_take));
SCENE(take_fair, "take from fair", set_consumer(FAIR, test_take));
SCENE(take_transfer, "take from trans.", set_consumer(TRANSFER, test_take));
SCENE(take_custom, "take from custom", set_consumer(CUSTOM, test_take));
SCENE(take_back_deque, "take from back", set_consumer(DEQUE, test_take_back));

SCENE(put_array, "put into array", set_producer(ARRAY, test_put));
SCENE(put_linked, "put into linked", set_producer(LINKED, test_put));
SCENE(put_deque, "put into deque", set_producer(DEQUE, test_put));
SCENE(put_custom, "put into custom", set_producer(CUSTOM, test_put));
SCENE(put_handoff, "put into h.-off", set_producer(HANDOFF, test_put));
SCENE(put_fair, "put into fair", set_producer(FAIR, test_put));
SCENE(put_front_deque, "put into front", set_producer(DEQUE, test_put_front));

sweep_scenes sweep_empty_queues = {
    &empty_array, &long_linked,    &long_transfer, &empty_linked,   &empty_unbounded,
    &empty_deque, &empty_priority, &empty_delay,   &empty_transfer, &empty_custom,
    NULL};
sweep_scenes sweep_queues = {&few_array, &few_linked,   &few_deque,  &few_priority,
                             &few_delay, &few_transfer, &few_custom, NULL};
sweep_scenes sweep_empty_deques = {&empty_deque, &empty_unbounded_deque, NULL};
sweep_scenes sweep_deques = {&few_deque, NULL};
sweep_scenes sweep_full_deque = {&full_deque, NULL};
sweep_scenes sweep_bare_queues = {&full_array,    &full_linked, &full_custom,
                                  &empty_handoff, &empty_fair,  NULL};
sweep_scenes sweep_bare_takes = {&empty_array, &empty_linked, &empty_deque,    &empty_priority,
                                 &empty_delay, &empty_custom, &empty_transfer, &empty_handoff,
                                 &empty_fair,  NULL};
sweep_scenes sweep_consumers = {&take_array,  &take_linked,  &take_deque, &take_priority,
                                &take_delay,  &take_handoff, &take_fair,  &take_transfer,
                                &take_custom, NULL};
sweep_scenes sweep_producers = {&put_array,   &put_linked, &put_deque, &put_custom,
                                &put_handoff, &put_fair,   NULL};
sweep_scenes sweep_room_producers = {&put_array, &put_linked, &put_deque, &put_custom, NULL};
sweep_scenes sweep_back_consumer = {&take_back_deque, NULL};
sweep_scenes sweep_front_producer = {&put_front_deque, NULL};
sweep_scenes sweep_transfer = {&empty_transfer, NULL};
sweep_scenes sweep_transfers = {&empty_transfer, &long_transfer, NULL};
sweep_scenes sweep_transfer_consumer = {&take_transfer, NULL};

/* -- Calls -------------------------------------------------------------------------------- */

int sweep_insert(test_queue_call *call, rota_ns timeout)
{
    void *element = &sweep_extra;

    return call(stage.queue, &element, timeout);
}

int sweep_remove(test_queue_call *call, rota_ns timeout)
{
    return call(stage.queue, &given.any, timeout);
}

void sweep_is_inserted(void)
{
    test_check(rota_queue_remove(stage.queue, &sweep_extra));
}

void sweep_is_removed(void)
{
    test_check(given.any != TEST_UNTOUCHED);
    test_check(!rota_queue_contains(stage.queue, given.any));
}

void sweep_other_ends(void)
{
    test_thread_join(sweep_other.thread);
    test_check(sweep_other.status == ROTA_OK);
    test_check(sweep_other.element == &sweep_extra);
}

void sweep_producer_ends(void)
{
    test_thread_join(sweep_other.thread);
    test_check(sweep_other.status == ROTA_OK || sweep_other.status == ROTA_ENOMEM);
}

/* -- Partners ----------------------------------------------------------------------------- */

void sweep_poll_one(void)
{
    void *element;

    while (rota_queue_poll(stage.queue, &element) != ROTA_OK && !sweep_is_over())
        sched_yield();
}

void sweep_put_one(void)
{
    while (rota_queue_offer(stage.queue, &sweep_extra) != ROTA_OK && !sweep_is_over())
        sched_yield();
}
