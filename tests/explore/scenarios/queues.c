/* SPDX-License-Identifier: MIT */
/*
 * queues.c - who waits in a queue, who wakes whom, and what everybody saw.
 */
#include "explore.h"
#include "linearizable.h"

#include "queue/fifo.h"

#include <string.h>

static rota_queue *queue;
static int elements[8]; /* plain: what is written before an insertion is read after the removal */
static void *got[4];    /* by thread */
static int statuses[4];

static void begin(int status)
{
    ex_check(status == ROTA_OK);
    memset(elements, 0, sizeof elements);
    memset(got, 0, sizeof got);
    memset(statuses, 0, sizeof statuses);
}

static void end(void)
{
    ex_check(rota_queue_waiting(queue) == 0);
    ex_check(rota_queue_size(queue) == 0);
    ex_check(rota_queue_free(queue) == ROTA_OK);
}

static void *element(size_t i)
{
    elements[i] = (int)i;
    return &elements[i];
}

static void put(void *i)
{
    ex_check(rota_queue_put(queue, element((size_t)(uintptr_t)i)) == ROTA_OK);
}

static void take(void *thread)
{
    void *taken = NULL;

    ex_check(rota_queue_take(queue, &taken) == ROTA_OK);
    ex_check(*(int *)taken == (int *)taken - elements);
    got[(uintptr_t)thread] = taken;
}

static void take_timed(void *thread)
{
    uintptr_t i = (uintptr_t)thread;

    statuses[i] = rota_queue_poll_timed(queue, ROTA_MS(1), &got[i]);
    ex_check(statuses[i] == ROTA_OK || statuses[i] == ROTA_ETIMEDOUT);
}

#define NUMBER(i) ((void *)(uintptr_t)(i))

/* -- Both sides wait ------------------------------------------------------------------------- */

static void exchange(void)
{
    ex_thread *first = ex_start(take, NUMBER(0));
    ex_thread *second = ex_start(take, NUMBER(1));
    ex_thread *other = ex_start(put, NUMBER(1));
    put(NUMBER(0));
    ex_join(other);
    ex_join(first);
    ex_join(second);
    ex_check(got[0] != NULL && got[1] != NULL && got[0] != got[1]);
    end();
}

/* QUEUE-05, QUEUE-06, QUEUE-07: two producers, two consumers, room for one. */
EXPLORE(an_array_queue_loses_nothing)
{
    begin(rota_array_queue(1, &queue));
    exchange();
}

EXPLORE(a_linked_queue_loses_nothing)
{
    begin(rota_linked_queue(ROTA_UNBOUNDED, &queue));
    exchange();
}

EXPLORE(a_deque_loses_nothing)
{
    begin(rota_deque(1, &queue));
    exchange();
}

EXPLORE(a_handoff_queue_loses_nothing)
{
    begin(rota_handoff_queue(&queue));
    exchange();
}

EXPLORE(a_fair_handoff_queue_loses_nothing)
{
    begin(rota_fair_handoff_queue(&queue));
    exchange();
}

EXPLORE(a_transfer_queue_loses_nothing)
{
    begin(rota_transfer_queue(&queue));
    exchange();
}

/* QUEUE-07, QUEUE-21: one after the other is called, and none is left behind. */
static void two_wait(void)
{
    ex_thread *first = ex_start(take, NUMBER(0));
    ex_thread *second = ex_start(take, NUMBER(1));
    while (rota_queue_waiting(queue) < 2)
        rota__os_yield();
    put(NUMBER(0));
    ex_check(rota_queue_waiting(queue) <= 1); /* QUEUE-37 */
    put(NUMBER(1));
    ex_check(rota_queue_waiting(queue) == 0);
    ex_join(first);
    ex_join(second);
    end();
}

EXPLORE(two_consumers_of_an_array_queue_wait)
{
    begin(rota_array_queue(2, &queue));
    two_wait();
}

EXPLORE(two_consumers_of_a_transfer_queue_wait)
{
    begin(rota_transfer_queue(&queue));
    two_wait();
}

static rota_ns long_ago(const void *which, void *ctx)
{
    (void)which;
    (void)ctx;
    return 0;
}

EXPLORE(two_consumers_of_a_delay_queue_wait)
{
    begin(rota_delay_queue(long_ago, NULL, &queue));
    two_wait();
}

/* -- A wake-up is passed on ------------------------------------------------------------------ */

/* QUEUE-08: who gives up at the moment it is called leaves the element to the other. */
static void one_gives_up(void)
{
    ex_thread *patient = ex_start(take, NUMBER(0));
    ex_thread *hasty = ex_start(take_timed, NUMBER(1));
    put(NUMBER(0));
    ex_join(hasty);
    if (statuses[1] == ROTA_OK)
        put(NUMBER(1));
    ex_join(patient);
    ex_check(got[0] != NULL && got[0] != got[1]);
    end();
}

EXPLORE(a_consumer_whose_time_is_up_passes_the_call_on)
{
    begin(rota_array_queue(2, &queue));
    one_gives_up();
}

EXPLORE(a_consumer_of_a_deque_whose_time_is_up_passes_the_call_on)
{
    begin(rota_deque(2, &queue));
    one_gives_up();
}

EXPLORE(a_consumer_of_a_transfer_queue_whose_time_is_up_leaves)
{
    begin(rota_transfer_queue(&queue));
    one_gives_up();
}

static rota_thread *waiting_thread;

static void interrupt_it(void *unused)
{
    (void)unused;
    rota_thread_interrupt(waiting_thread);
}

/* INT-05, INT-06: an interrupt is seen or stays, and takes no element with it. */
static void one_is_interrupted(void)
{
    void *taken = NULL;

    waiting_thread = rota_thread_self();
    ex_thread *patient = ex_start(take, NUMBER(0));
    ex_thread *producer = ex_start(put, NUMBER(0));
    ex_thread *other = ex_start(interrupt_it, NULL);
    int status = rota_queue_take(queue, &taken);
    ex_check(status == ROTA_OK || status == ROTA_EINTERRUPTED);
    ex_join(other);
    ex_check(rota_interrupted() == (status == ROTA_OK));
    if (status == ROTA_OK)
        put(NUMBER(1));
    ex_join(producer);
    ex_join(patient);
    end();
}

EXPLORE(an_interrupted_consumer_passes_the_call_on)
{
    begin(rota_linked_queue(ROTA_UNBOUNDED, &queue));
    one_is_interrupted();
}

EXPLORE(an_interrupted_consumer_leaves_a_handoff_queue)
{
    begin(rota_handoff_queue(&queue));
    one_is_interrupted();
}

static void put_timed(void *i)
{
    uintptr_t which = (uintptr_t)i;

    statuses[which] = rota_queue_offer_timed(queue, element(which), ROTA_MS(1));
    ex_check(statuses[which] == ROTA_OK || statuses[which] == ROTA_ETIMEDOUT);
}

/* QUEUE-08: if a producer gives up when there is room, the other producer has the room. */
static void one_producer_gives_up(void)
{
    put(NUMBER(0));
    ex_thread *patient = ex_start(put, NUMBER(1));
    ex_thread *hasty = ex_start(put_timed, NUMBER(2));
    take(NUMBER(0));
    ex_join(hasty);
    if (statuses[2] == ROTA_OK)
        take(NUMBER(1));
    ex_join(patient);
    take(NUMBER(2));
    end();
}

EXPLORE(a_producer_whose_time_is_up_passes_the_call_on)
{
    begin(rota_array_queue(1, &queue));
    one_producer_gives_up();
}

EXPLORE(a_producer_of_a_deque_whose_time_is_up_passes_the_call_on)
{
    begin(rota_deque(1, &queue));
    one_producer_gives_up();
}

/* INT-05, INT-06, QUEUE-08: a producer that is interrupted leaves the room to the other producer. */
EXPLORE(an_interrupted_producer_passes_the_call_on)
{
    begin(rota_array_queue(1, &queue));
    put(NUMBER(0));
    waiting_thread = rota_thread_self();
    ex_thread *patient = ex_start(put, NUMBER(1));
    ex_thread *consumer = ex_start(take, NUMBER(0));
    ex_thread *other = ex_start(interrupt_it, NULL);
    int status = rota_queue_put(queue, element(2));
    ex_check(status == ROTA_OK || status == ROTA_EINTERRUPTED);
    ex_join(other);
    ex_check(rota_interrupted() == (status == ROTA_OK));
    ex_join(consumer);
    if (status == ROTA_OK)
        take(NUMBER(1));
    ex_join(patient);
    take(NUMBER(2));
    end();
}

/* QUEUE-06: what makes room for two releases two producers. */
static void two_producers_wait(size_t (*make_room)(void))
{
    put(NUMBER(0));
    put(NUMBER(1));
    ex_thread *first = ex_start(put, NUMBER(2));
    ex_thread *second = ex_start(put, NUMBER(3));
    size_t out = 0;
    while (out < 4)
        out += make_room();
    ex_join(first);
    ex_join(second);
    end();
}

static size_t drain_two(void)
{
    void *drained[2];
    size_t count = rota_queue_drain(queue, drained, 2);

    if (count > 0)
        return count;
    ex_check(rota_queue_take(queue, drained) == ROTA_OK);
    return 1;
}

static size_t clear(void)
{
    void *taken;
    size_t count = rota_queue_remove_if(queue, NULL, NULL);

    if (count > 0)
        return count;
    ex_check(rota_queue_take(queue, &taken) == ROTA_OK);
    return 1;
}

EXPLORE(a_drain_releases_as_many_producers)
{
    begin(rota_array_queue(2, &queue));
    two_producers_wait(drain_two);
}

EXPLORE(removing_all_releases_as_many_producers)
{
    begin(rota_array_queue(2, &queue));
    two_producers_wait(clear);
}

EXPLORE(a_drained_deque_releases_as_many_producers)
{
    begin(rota_deque(2, &queue));
    two_producers_wait(drain_two);
}

/* -- Time ------------------------------------------------------------------------------------ */

static rota_ns due_at[8];

static rota_ns due(const void *which, void *ctx)
{
    (void)ctx;
    return due_at[(const int *)which - elements];
}

static void begin_delayed(void)
{
    rota_ns now = rota_now();

    begin(rota_delay_queue(due, NULL, &queue));
    for (int i = 0; i < 8; i++)
        due_at[i] = now + ROTA_MS(8 - i); /* the later inserted, the earlier due */
}

/* DWQ-08 to DWQ-11: an earlier element, and the leader, at the same time. */
EXPLORE(an_earlier_element_reaches_a_delay_queue_in_time)
{
    begin_delayed();
    ex_thread *first = ex_start(take, NUMBER(0));
    ex_thread *second = ex_start(take, NUMBER(1));
    put(NUMBER(0));
    put(NUMBER(1));
    ex_join(first);
    ex_join(second);
    ex_check(got[0] != got[1]);
    ex_check(rota_now() >= due_at[0]);
    end();
}

static rota_ns taken_at;

static void take_and_note_time(void *thread)
{
    take(thread);
    taken_at = rota_now();
}

static void remove_what_is_left(void)
{
    rota_queue_remove_if(queue, NULL, NULL);
    end();
}

/* waitq.W1: the leader is notified of an earlier element, and does not sleep until the later one. */
EXPLORE(a_leader_is_notified_of_an_earlier_element)
{
    rota_ns far = rota_now() + ROTA_HOURS(1000);

    begin_delayed();
    due_at[0] = far;
    put(NUMBER(0));
    ex_thread *consumer = ex_start(take_and_note_time, NUMBER(0));
    put(NUMBER(1));
    rota_ns now = rota_now();
    ex_join(consumer);
    ex_check(now >= far || taken_at < far);
    remove_what_is_left();
}

/*
 * waitq.W1: a thread is notified of elements that are due after its deadline, so it does not lead, and
 * another thread is queued behind it. If both elements are due before it gives up, it takes one of
 * them and notifies the other thread.
 */
EXPLORE(a_consumer_that_finds_an_element_due_as_it_gives_up_is_followed)
{
    begin_delayed();
    ex_thread *patient = ex_start(take, NUMBER(0));
    while (rota_queue_waiting(queue) < 1)
        rota__os_yield();
    ex_thread *hasty = ex_start(take_timed, NUMBER(1));
    put(NUMBER(0));
    put(NUMBER(1));
    ex_check(rota_sleep(ROTA_MS(20))
             == ROTA_OK); /* perhaps before `hasty` sees that its time is up */
    ex_join(hasty);
    ex_join(patient);
    remove_what_is_left();
}

/* DWQ-11, DWQ-12: the leader, or one that could not lead, gives up. */
EXPLORE(a_leader_that_gives_up_is_followed)
{
    begin_delayed();
    ex_thread *hasty = ex_start(take_timed, NUMBER(1));
    ex_thread *patient = ex_start(take, NUMBER(0));
    put(NUMBER(7)); /* due as the hasty one's time is up */
    ex_join(hasty);
    if (statuses[1] == ROTA_OK)
        put(NUMBER(6));
    ex_join(patient);
    end();
}

/* The same with an interrupt: DWQ-10. */
EXPLORE(an_interrupted_leader_is_followed)
{
    void *taken = NULL;

    begin_delayed();
    waiting_thread = rota_thread_self();
    put(NUMBER(0));
    ex_thread *patient = ex_start(take, NUMBER(0));
    ex_thread *other = ex_start(interrupt_it, NULL);
    int status = rota_queue_take(queue, &taken);
    ex_join(other);
    ex_check(rota_interrupted() == (status == ROTA_OK));
    if (status == ROTA_OK)
        put(NUMBER(1));
    ex_join(patient);
    end();
}

/* The head is removed under the leader's feet. */
EXPLORE(the_head_of_a_delay_queue_is_removed)
{
    begin_delayed();
    put(NUMBER(7));
    ex_thread *consumer = ex_start(take, NUMBER(0));
    bool removed = rota_queue_remove(queue, &elements[7]);
    ex_check(removed || rota_queue_size(queue) == 0);
    if (removed)
        put(NUMBER(0));
    ex_join(consumer);
    end();
}

/* -- Transfers ------------------------------------------------------------------------------- */

static void transfer_timed(void *i)
{
    uintptr_t which = (uintptr_t)i;

    statuses[which] = rota_queue_transfer(queue, element(which), ROTA_MS(1));
    ex_check(statuses[which] == ROTA_OK || statuses[which] == ROTA_ETIMEDOUT);
}

/* QUEUE-35: taken or withdrawn, never both, with others around it. */
EXPLORE(a_transfer_is_taken_or_withdrawn)
{
    void *first = NULL, *second = NULL;

    begin(rota_transfer_queue(&queue));
    ex_thread *producer = ex_start(transfer_timed, NUMBER(0));
    ex_thread *other = ex_start(put, NUMBER(1));
    ex_check(rota_queue_take(queue, &first) == ROTA_OK);
    ex_join(producer);
    ex_join(other);
    int more = rota_queue_poll(queue, &second);
    bool taken = first == &elements[0] || (more == ROTA_OK && second == &elements[0]);
    if (statuses[0] == ROTA_ETIMEDOUT)
        ex_check(!taken);
    else
        ex_check(taken);
    ex_check(first == &elements[1] || second == &elements[1]);
    end();
}

/* QUEUE-39: removed by name is as taken; the one behind it moves up. */
EXPLORE(a_transfer_is_removed_by_name)
{
    begin(rota_transfer_queue(&queue));
    ex_thread *first = ex_start(transfer_timed, NUMBER(0));
    ex_thread *second = ex_start(transfer_timed, NUMBER(1));
    bool removed = rota_queue_remove(queue, &elements[0]);
    take_timed(NUMBER(2));
    ex_join(first);
    ex_join(second);
    ex_check(!removed || statuses[0] == ROTA_OK);
    ex_check(statuses[2] != ROTA_OK || statuses[(int *)got[2] - elements] == ROTA_OK);
    ex_check((statuses[0] == ROTA_OK) + (statuses[1] == ROTA_OK) == removed + (got[2] != NULL));
    end();
}

static void poll_once(void *thread)
{
    uintptr_t i = (uintptr_t)thread;

    statuses[i] = rota_queue_poll(queue, &got[i]);
}

/* QUEUE-35, INT-06: an interrupted transfer was taken, or nobody has its element. */
EXPLORE(an_interrupted_transfer_is_taken_or_withdrawn)
{
    begin(rota_transfer_queue(&queue));
    waiting_thread = rota_thread_self();
    ex_thread *consumer = ex_start(poll_once, NUMBER(1));
    ex_thread *other = ex_start(interrupt_it, NULL);
    int status = rota_queue_transfer(queue, element(0), ROTA_FOREVER);
    ex_check(status == ROTA_OK || status == ROTA_EINTERRUPTED);
    ex_join(other);
    ex_check(rota_interrupted() == (status == ROTA_OK));
    ex_join(consumer);
    ex_check(statuses[1] == (status == ROTA_OK ? ROTA_OK : ROTA_EEMPTY));
    end();
}

/* QUEUE-35, QUEUE-38: a tried transfer reaches a consumer, or nothing has happened. */
EXPLORE(a_transfer_is_tried_as_a_consumer_gives_up)
{
    begin(rota_transfer_queue(&queue));
    ex_thread *consumer = ex_start(take_timed, NUMBER(1));
    int status = rota_queue_try_transfer(queue, element(0));
    ex_check(status == ROTA_OK || status == ROTA_EFULL);
    ex_join(consumer);
    ex_check(statuses[1] == (status == ROTA_OK ? ROTA_OK : ROTA_ETIMEDOUT));
    end();
}

static void transfer_if_memory(void *i)
{
    uintptr_t which = (uintptr_t)i;

    statuses[which] = rota_queue_transfer(queue, element(which), ROTA_MS(1));
    ex_check(statuses[which] == ROTA_OK || statuses[which] == ROTA_ETIMEDOUT
             || statuses[which] == ROTA_ENOMEM);
}

/* QUEUE-15: a producer that finds no memory leaves the others' list, in which who takes another element
   looks for its producer. */
EXPLORE_WITH_FAULTS(a_transfer_is_refused_as_another_element_is_taken)
{
    int status = rota_transfer_queue(&queue);

    if (status == ROTA_ENOMEM)
        return;
    begin(status);
    put(NUMBER(0));
    put(NUMBER(1)); /* the first segment is full */
    ex_thread *producer = ex_start(transfer_if_memory, NUMBER(2));
    take(NUMBER(0));
    take(NUMBER(1));
    status = rota_queue_poll(queue, &got[2]);
    ex_join(producer);
    ex_check(got[0] == &elements[0] && got[1] == &elements[1]);
    ex_check((status == ROTA_OK) == (statuses[2] == ROTA_OK));
    end();
}

/* -- The end --------------------------------------------------------------------------------- */

/* waitq.W5: once a put has returned, whoever got the element needs the queue no more. */
EXPLORE(a_handoff_queue_is_freed_as_soon_as_both_have_met)
{
    begin(rota_handoff_queue(&queue));
    ex_thread *consumer = ex_start(take, NUMBER(0));
    put(NUMBER(0));
    end();
    ex_join(consumer);
}

EXPLORE(a_transfer_queue_is_freed_as_soon_as_the_consumer_is_served)
{
    begin(rota_transfer_queue(&queue));
    ex_thread *consumer = ex_start(take, NUMBER(0));
    while (rota_queue_waiting(queue) == 0)
        rota__os_yield();
    ex_check(rota_queue_try_transfer(queue, element(0)) == ROTA_OK);
    end();
    ex_join(consumer);
}

/* One that was called keeps the queue until it has been there. */
EXPLORE(a_queue_with_a_guest_on_its_way_is_busy)
{
    void *mine;

    begin(rota_array_queue(1, &queue));
    ex_thread *consumer = ex_start(take, NUMBER(0));
    put(NUMBER(0));
    if (rota_queue_poll(queue, &mine) == ROTA_OK) {
        int status = rota_queue_waiting(queue) > 0 ? rota_queue_free(queue) : ROTA_EBUSY;
        ex_check(status == ROTA_EBUSY);
        put(NUMBER(1));
    }
    ex_join(consumer);
    end();
}

/* -- Epochs ---------------------------------------------------------------------------------- */

static rota__atomic(uint32_t) is_closed;

/* As a worker does: reads the epoch, looks, and takes in that epoch only. */
static void take_until_closed(void *unused)
{
    void *taken;

    (void)unused;
    for (;;) {
        uint32_t epoch = rota__queue_consumer_epoch(queue);
        if (rota__load_acquire(&is_closed) != 0)
            return;
        if (rota__queue_take(queue, epoch) != NULL)
            continue;
        int status = rota__queue_take_waiting(queue, epoch, ROTA_FOREVER, &taken);
        ex_check(status == ROTA_OK || status == ROTA_EAGAIN);
    }
}

static void close_queue(void)
{
    rota__store_release(&is_closed, 1);
    rota__queue_abort_consumers(queue);
}

/* waitq.W6: once consumers are aborted, one that has looked before takes nothing, and does not wait. */
static void abort_a_consumer(void)
{
    rota__store_relaxed(&is_closed, 0);
    put(NUMBER(0));
    put(NUMBER(1));
    ex_thread *consumer = ex_start(take_until_closed, NULL);
    close_queue();
    size_t left = rota_queue_size(queue);
    put(NUMBER(2));
    ex_join(consumer);
    ex_check(rota_queue_size(queue) == left + 1);
    rota_queue_remove_if(queue, NULL, NULL);
    end();
}

EXPLORE(an_aborted_consumer_of_a_linked_queue_takes_nothing)
{
    begin(rota_linked_queue(ROTA_UNBOUNDED, &queue));
    abort_a_consumer();
}

EXPLORE(an_aborted_consumer_of_a_transfer_queue_takes_nothing)
{
    begin(rota_transfer_queue(&queue));
    abort_a_consumer();
}

EXPLORE(an_aborted_consumer_of_a_deque_takes_nothing)
{
    begin(rota_deque(ROTA_UNBOUNDED, &queue));
    abort_a_consumer();
}

static void offer(void *i)
{
    statuses[0] = rota_queue_offer(queue, element((size_t)(uintptr_t)i));
}

/* The element is handed off, or refused; two consumers wait, and both return. */
EXPLORE(aborted_consumers_of_a_handoff_queue_return)
{
    begin(rota_handoff_queue(&queue));
    rota__store_relaxed(&is_closed, 0);
    ex_thread *first = ex_start(take_until_closed, NULL);
    ex_thread *second = ex_start(take_until_closed, NULL);
    ex_thread *producer = ex_start(offer, NUMBER(0));
    close_queue();
    ex_join(first);
    ex_join(second);
    ex_join(producer);
    ex_check(statuses[0] == ROTA_OK || statuses[0] == ROTA_EFULL);
    end();
}

/* One of them may be parked until the element is due. */
EXPLORE(aborted_consumers_of_a_delay_queue_return)
{
    begin_delayed();
    rota__store_relaxed(&is_closed, 0);
    due_at[0] = rota_now() + ROTA_HOURS(1);
    put(NUMBER(0));
    ex_thread *first = ex_start(take_until_closed, NULL);
    ex_thread *second = ex_start(take_until_closed, NULL);
    close_queue();
    ex_join(first);
    ex_join(second);
    rota_queue_remove_if(queue, NULL, NULL); /* unless the hour has passed before */
    end();
}

static rota_ns left_at;

static void take_until_closed_and_note_time(void *unused)
{
    take_until_closed(unused);
    left_at = rota_now();
}

/* waitq.W6: a leader that is parked until a known time leaves when it is aborted, not then. */
EXPLORE(an_aborted_leader_leaves_before_its_element_is_due)
{
    rota_ns far = rota_now() + ROTA_HOURS(1000);

    begin_delayed();
    rota__store_relaxed(&is_closed, 0);
    due_at[0] = far;
    put(NUMBER(0));
    ex_thread *consumer = ex_start(take_until_closed_and_note_time, NULL);
    close_queue();
    rota_ns now = rota_now();
    ex_join(consumer);
    ex_check(now >= far || left_at < far);
    remove_what_is_left();
}

/* waitq.W2, waitq.W6: a consumer is notified and then aborted. One that comes later gets an element. */
EXPLORE(a_consumer_that_was_notified_is_aborted_and_followed)
{
    begin(rota_deque(ROTA_UNBOUNDED, &queue));
    rota__store_relaxed(&is_closed, 0);
    ex_thread *aborted = ex_start(take_until_closed, NULL);
    put(NUMBER(0));
    close_queue();
    ex_thread *producer = ex_start(put, NUMBER(1));
    take(NUMBER(0));
    ex_join(producer);
    ex_join(aborted);
    remove_what_is_left();
}

/* -- Looking while others are at work -------------------------------------------------------- */

static size_t shown[8];

static void show(void *which, void *ctx)
{
    (void)ctx;
    shown[(int *)which - elements]++;
}

static void take_and_remove(void *unused)
{
    void *taken;

    (void)unused;
    ex_check(rota_queue_poll(queue, &taken) == ROTA_OK && taken == &elements[0]);
    ex_check(rota_queue_remove(queue, &elements[1]));
    ex_check(rota_queue_put(queue, element(3)) == ROTA_OK);
}

/* QUEUE-12: who stays is shown once, who goes or comes once or not at all. */
static void visit(void)
{
    memset(shown, 0, sizeof shown);
    for (uintptr_t i = 0; i < 3; i++)
        put(NUMBER(i));
    ex_thread *other = ex_start(take_and_remove, NULL);
    size_t count = rota_queue_each(queue, show, NULL);
    ex_join(other);
    ex_check(shown[2] == 1 && shown[0] <= 1 && shown[1] <= 1 && shown[3] <= 1);
    ex_check(count == shown[0] + shown[1] + shown[2] + shown[3]);
    ex_check(rota_queue_remove_if(queue, NULL, NULL) == 2);
    end();
}

EXPLORE(a_visitor_of_a_linked_queue_sees_who_stays)
{
    begin(rota_linked_queue(ROTA_UNBOUNDED, &queue));
    visit();
}

EXPLORE(a_visitor_of_a_deque_sees_who_stays)
{
    begin(rota_deque(ROTA_UNBOUNDED, &queue));
    visit();
}

/* -- Histories ------------------------------------------------------------------------------- */

enum { PUT, POLL, REMOVE, DRAIN, CAPACITY = 2 };

static lin_history history;

struct fifo_state {
    uint8_t count;
    uint8_t items[LIN_STATE - 1];
};

static bool fifo_remove(struct fifo_state *state, long item)
{
    for (uint8_t i = 0; i < state->count; i++) {
        if (state->items[i] != item)
            continue;
        memmove(&state->items[i], &state->items[i + 1], (size_t)(state->count - i - 1));
        state->items[--state->count] = 0;
        return true;
    }
    return false;
}

static long fifo_drain(struct fifo_state *state)
{
    long drained = 0;

    while (state->count > 0) {
        drained = 8 * drained + state->items[0];
        fifo_remove(state, state->items[0]);
    }
    return drained;
}

static bool fifo_apply(void *bytes, const lin_operation *done)
{
    struct fifo_state *state = bytes;

    switch (done->kind) {
    case PUT:
        if (done->result != ROTA_OK)
            return done->result == ROTA_EFULL && state->count == CAPACITY;
        if (state->count == CAPACITY)
            return false;
        state->items[state->count++] = (uint8_t)done->argument;
        return true;
    case POLL:
        if (done->result < 0)
            return done->result == ROTA_EEMPTY && state->count == 0;
        return state->count > 0 && state->items[0] == done->result
               && fifo_remove(state, done->result);
    case REMOVE:
        return fifo_remove(state, done->argument) == (done->result != 0);
    default: /* all that there are, as one number */
        return fifo_drain(state) == done->result;
    }
}

static const lin_model fifo_model = {fifo_apply};

static void offer_in_history(size_t i)
{
    size_t call = lin_call(&history, PUT, (long)i);
    lin_return(&history, call, rota_queue_offer(queue, element(i)));
}

static void poll_in_history(void)
{
    void *taken = NULL;
    size_t call = lin_call(&history, POLL, 0);
    int status = rota_queue_poll(queue, &taken);
    lin_return(&history, call, status == ROTA_OK ? (int *)taken - elements : status);
}

static void remove_in_history(size_t i)
{
    size_t call = lin_call(&history, REMOVE, (long)i);
    lin_return(&history, call, rota_queue_remove(queue, &elements[i]));
}

static void drain_in_history(void)
{
    void *drained[4];
    long result = 0;
    size_t call = lin_call(&history, DRAIN, 0);
    size_t count = rota_queue_drain(queue, drained, 4);

    for (size_t i = 0; i < count; i++)
        result = 8 * result + ((int *)drained[i] - elements);
    lin_return(&history, call, result);
}

static void produce_three(void *unused)
{
    (void)unused;
    offer_in_history(1);
    offer_in_history(2);
    offer_in_history(3);
}

static void consume_and_remove(void *unused)
{
    (void)unused;
    poll_in_history();
    remove_in_history(2);
    poll_in_history();
}

static void record(void)
{
    lin_clear(&history);
    ex_thread *producer = ex_start(produce_three, NULL);
    ex_thread *consumer = ex_start(consume_and_remove, NULL);
    offer_in_history(4);
    poll_in_history();
    ex_join(producer);
    ex_join(consumer);
    ex_check(lin_check(&history, &fifo_model));
    rota_queue_remove_if(queue, NULL, NULL);
    end();
}

/*
 * QUEUE-05, QUEUE-38: what all threads saw has an order in which it could have happened. In C11's model a
 * poll may find the queue empty after an offer has found it full: each end stores its own count before it
 * loads the other's.
 */
EXPLORE_ON_X86(an_array_queue_is_linearizable)
{
    begin(rota_array_queue(CAPACITY, &queue));
    record();
}

EXPLORE(a_deque_is_linearizable)
{
    begin(rota_deque(CAPACITY, &queue));
    record();
}

static void produce_two(void *unused)
{
    (void)unused;
    offer_in_history(1);
    offer_in_history(2);
}

static void record_drain(void)
{
    lin_clear(&history);
    offer_in_history(3);
    ex_thread *producer = ex_start(produce_two, NULL);
    drain_in_history();
    ex_join(producer);
    drain_in_history();
    ex_check(lin_check(&history, &fifo_model));
    end();
}

/* A drain of fewer than wanted says that there were no more, at one moment. */
EXPLORE(a_drain_of_an_array_queue_is_one_step)
{
    begin(rota_array_queue(CAPACITY, &queue));
    record_drain();
}

EXPLORE(a_drain_of_a_deque_is_one_step)
{
    begin(rota_deque(CAPACITY, &queue));
    record_drain();
}

/* -- Faults ---------------------------------------------------------------------------------- */

static void put_if_memory(void *i)
{
    int status = rota_queue_put(queue, element((size_t)(uintptr_t)i));

    ex_check(status == ROTA_OK || status == ROTA_ENOMEM);
    statuses[(uintptr_t)i] = status;
}

static void insert_and_count(void)
{
    void *taken;
    size_t inside = 0;

    ex_thread *other = ex_start(put_if_memory, NUMBER(1));
    put_if_memory(NUMBER(0));
    ex_join(other);
    while (rota_queue_poll(queue, &taken) == ROTA_OK)
        inside++;
    ex_check(inside == (size_t)(statuses[0] == ROTA_OK) + (statuses[1] == ROTA_OK));
    end();
}

static int no_order(const void *a, const void *b, void *ctx)
{
    (void)a;
    (void)b;
    (void)ctx;
    return 0;
}

/* QUEUE-15 */
EXPLORE_WITH_FAULTS(a_queue_without_memory_stays_as_it_is)
{
    int status = ex_choose(2) ? rota_priority_queue(no_order, NULL, &queue)
                              : rota_deque(ROTA_UNBOUNDED, &queue);

    if (status == ROTA_ENOMEM)
        return;
    begin(status);
    insert_and_count();
}
