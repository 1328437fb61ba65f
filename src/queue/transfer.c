/* SPDX-License-Identifier: MIT */
/*
 * transfer.c - a producer that waits until its element has been taken.
 *
 * The element is in the queue like any other. Its producer is in a list that is ordered by the
 * numbers of elements: the thread that takes the element wakes the producer. The list grows under
 * the back lock and mostly shrinks under the front lock, so it has a lock of its own. A thread that
 * holds both locks of the queue (fifo.Q3) needs no third one.
 *
 *   transfer.T1  A transfer ends once: a consumer takes its element and wakes the producer, or the
 *                producer takes the element out again. A producer that finds its element taken
 *                waits for the wake-up.
 *   transfer.T2  The list changes with its own lock held, or with both locks of the queue.
 */
#include "queue/fifo.h"

typedef struct transfer {
    rota__link link;
    rota__waiter waiter;
    rota__fifo *fifo;
    uint64_t number;
} transfer;

static void add(rota__fifo *fifo, transfer *mine)
{
    rota__link_init(&mine->link);
    rota__mutex_lock(&fifo->transfers_lock);
    rota__list_append(&fifo->transfers, &mine->link);
    rota__add_relaxed(&fifo->transfer_count,
                      1); /* before the element is published: see pop_locked */
    rota__mutex_unlock(&fifo->transfers_lock);
}

static void drop(rota__fifo *fifo, transfer *gone)
{
    rota__list_remove(&gone->link);
    rota__sub_release(&fifo->transfer_count, 1); /* pairs with rota__fifo_has_transfers */
}

static void take_back(rota__fifo *fifo, transfer *mine)
{
    rota__mutex_lock(&fifo->transfers_lock);
    drop(fifo, mine); /* transfer.T2 */
    rota__mutex_unlock(&fifo->transfers_lock);
}

static transfer *find(rota__fifo *fifo, uint64_t number)
{
    rota__link *link = fifo->transfers.head.next;

    for (; link != &fifo->transfers.head; link = link->next) {
        transfer *found = ROTA__CONTAINER(link, transfer, link);
        if (found->number >= number)
            return found->number == number ? found : NULL;
    }
    return NULL;
}

ROTA__NOINLINE void rota__transfer_taken(rota__fifo *fifo, uint64_t number)
{
    rota__mutex_lock(&fifo->transfers_lock);
    transfer *found = find(fifo, number);
    if (found != NULL)
        drop(fifo, found);
    rota__mutex_unlock(&fifo->transfers_lock);
    if (found != NULL)
        rota__waiter_wake(&found->waiter);
}

void rota__transfer_moved(rota__fifo *fifo, uint64_t number, uint64_t now)
{
    transfer *found = find(fifo, number);

    if (found != NULL)
        found->number = now;
}

static bool is_number(void *element, uint64_t number, void *ctx)
{
    (void)element;
    return number == *(const uint64_t *)ctx;
}

/* Takes the element out of the queue again, and its producer out of the list. */
static bool withdraw(rota__waiter *waiter, int why)
{
    transfer *mine = ROTA__CONTAINER(waiter, transfer, waiter);
    rota__fifo *fifo = mine->fifo;

    (void)why;
    rota__fifo_lock_both(fifo);
    bool is_listed = rota__link_is_in_list(&mine->link);
    if (is_listed) { /* transfer.T1 */
        drop(fifo, mine);
        rota__fifo_filter(fifo, is_number, &mine->number);
    }
    rota__fifo_unlock_both(fifo);
    return is_listed;
}

int rota__fifo_transfer(rota_queue *queue, void *element, rota_ns deadline)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    rota__waitq_entry *next;
    transfer mine = {.fifo = fifo};
    int status = rota__waiter_begin(&mine.waiter, deadline);

    if (status != ROTA_OK)
        return status;
    rota__mutex_lock(&fifo->back.lock);
    mine.number = fifo->back.count;
    add(fifo, &mine);
    status = rota__fifo_append(fifo, element, &next);
    bool is_inside = status == ROTA_OK && next == NULL; /* neither refused nor handed off */
    if (!is_inside)
        take_back(fifo, &mine);
    rota__mutex_unlock(&fifo->back.lock);
    rota__waitq_wake(next);
    if (is_inside)
        return rota__waiter_wait(&mine.waiter, deadline, withdraw);
    rota__waiter_cancel(&mine.waiter);
    return status;
}

int rota__fifo_try_transfer(rota_queue *queue, void *element)
{
    rota__fifo *fifo = rota__fifo_of(queue);

    rota__mutex_lock(&fifo->back.lock);
    rota__waitq_entry *entry = rota__waitq_hand_off(&fifo->back.waitq);
    if (entry != NULL)
        entry->element = element;
    rota__mutex_unlock(&fifo->back.lock);
    rota__waitq_wake(entry);
    return entry != NULL ? ROTA_OK : ROTA_EFULL;
}

bool rota__fifo_has_transfers(rota_queue *queue)
{
    rota__fifo *fifo = rota__fifo_of(queue);

    return rota__load_acquire(&fifo->transfer_count) != 0; /* pairs with drop */
}
