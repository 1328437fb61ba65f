/* SPDX-License-Identifier: MIT */
/*
 * fifo_scan.c - operations on all elements of a FIFO: remove some, find one, show all.
 */
#include "queue/fifo.h"

void rota__fifo_lock_both(rota__fifo *fifo)
{
    rota__mutex_lock(&fifo->front.lock);
    rota__mutex_lock(&fifo->back.lock);
}

void rota__fifo_unlock_both(rota__fifo *fifo)
{
    rota__mutex_unlock(&fifo->back.lock);
    rota__mutex_unlock(&fifo->front.lock);
}

/* -- Iterators ------------------------------------------------------------ */

/* The position of a visit while the lock is yielded. */
typedef struct iterator {
    rota__link link;
    uint64_t number; /* of the next element to be shown */
    rota__fifo_cursor cursor;
    uint64_t stop; /* the number after the last one to be shown */
} iterator;

/* The element of this number, or the end of the queue, has a new number and position. */
static void move_iterators(rota__fifo *fifo, uint64_t number, uint64_t now,
                           rota__fifo_cursor cursor)
{
    rota__link *head = &fifo->iterators.head;

    for (rota__link *link = head->next; link != head; link = link->next) {
        iterator *moved = ROTA__CONTAINER(link, iterator, link);
        if (moved->number == number) {
            moved->number = now;
            moved->cursor = cursor;
        }
        if (moved->stop == number)
            moved->stop = now;
    }
}

/* -- Removing ------------------------------------------------------------- */

/* Sets the back's cursor, and frees the segments behind it. */
static void truncate_at(rota__fifo *fifo, rota__fifo_cursor end)
{
    rota__segment *rest = end.segment->next;

    fifo->back.cursor = end;
    if (fifo->is_ring)
        return;
    end.segment->next = NULL;
    while (rest != NULL) {
        rota__segment *next = rest->next;
        rota__segment_free(fifo, rest);
        rest = next;
    }
}

static void lower_back_count(rota__fifo *fifo, size_t removed)
{
    fifo->back.count -= removed;
    fifo->front.limit = fifo->back.count;
    rota__store_release(&fifo->back.published, fifo->back.count); /* fifo.Q3 */
}

static void move_transfer(rota__fifo *fifo, uint64_t number, uint64_t now, bool goes)
{
    if (rota__load_relaxed(&fifo->transfer_count) == 0) /* exact: the back lock is held */
        return;
    if (goes)
        rota__transfer_taken(fifo, number); /* QUEUE-39 */
    else
        rota__transfer_moved(fifo, number, now);
}

/* Each element that stays moves once, towards the front, over the removed elements. */
size_t rota__fifo_filter(rota__fifo *fifo, rota__fifo_predicate *drop, void *ctx)
{
    rota__fifo_cursor from = fifo->front.cursor;
    rota__fifo_cursor to = from;
    uint64_t number = fifo->front.count;
    size_t removed = 0;

    for (; number != fifo->back.count; number++) {
        void *element = *rota__fifo_next_slot(fifo, &from);
        bool goes = drop(element, number, ctx);
        move_iterators(fifo, number, number - removed, to); /* fifo.Q6 */
        move_transfer(fifo, number, number - removed, goes);
        if (goes)
            removed++;
        else
            *rota__fifo_next_slot(fifo, &to) = element;
    }
    move_iterators(fifo, number, number - removed, to);
    if (removed > 0) {
        truncate_at(fifo, to);
        lower_back_count(fifo, removed);
    }
    return removed;
}

static size_t remove_chosen(rota__fifo *fifo, rota__fifo_predicate *drop, void *ctx)
{
    rota__waitq_entry *next = NULL;
    size_t removed;

    rota__fifo_lock_both(fifo);
    removed = rota__fifo_filter(fifo, drop, ctx);
    if (removed > 0) /* mutants: only a needless wake */
        next = rota__waitq_notify(&fifo->front.waitq);
    rota__fifo_unlock_both(fifo);
    rota__waitq_wake(next);
    return removed;
}

typedef struct search {
    const void *element;
    bool found;
} search;

static bool is_first(void *element, uint64_t number, void *ctx)
{
    search *wanted = ctx;

    (void)number;
    if (wanted->found || element != wanted->element)
        return false;
    return wanted->found = true;
}

bool rota__fifo_remove(rota_queue *queue, const void *element, rota__end from)
{
    search wanted = {element, false};

    (void)from;
    return remove_chosen(rota__fifo_of(queue), is_first, &wanted) > 0;
}

typedef struct choice {
    rota__predicate *which;
    void *ctx;
} choice;

static bool is_chosen(void *element, uint64_t number, void *ctx)
{
    const choice *chosen = ctx;

    (void)number;
    return chosen->which(element, chosen->ctx);
}

bool rota__fifo_remove_due(rota_queue *queue, const void *element, rota_ns *ready_at)
{
    *ready_at = ROTA_FOREVER;
    return rota__fifo_remove(queue, element, ROTA__FRONT);
}

size_t rota__fifo_remove_if(rota_queue *queue, rota__predicate *which, void *ctx)
{
    choice chosen = {which, ctx};

    return remove_chosen(rota__fifo_of(queue), is_chosen, &chosen);
}

/* -- Reading -------------------------------------------------------------- */

bool rota__fifo_contains(rota_queue *queue, const void *element)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    bool found = false;

    rota__mutex_lock(&fifo->front.lock);
    uint64_t end = rota__fifo_back_count(fifo);
    rota__fifo_cursor cursor = fifo->front.cursor;
    for (uint64_t number = fifo->front.count; number != end && !found; number++)
        found = *rota__fifo_next_slot(fifo, &cursor) == element;
    rota__mutex_unlock(&fifo->front.lock);
    return found;
}

/* Shows the next elements. Called with the front lock held, which keeps them in their slots. */
static void show_batch(rota__fifo *fifo, iterator *now, rota__queue_visit *visit)
{
    if (now->number < fifo->front.count) { /* the next one has left */
        now->number = fifo->front.count;
        now->cursor = fifo->front.cursor;
    }
    while (!rota__queue_visit_is_full(visit) && now->number < now->stop) {
        rota__queue_visit_ask(*rota__fifo_next_slot(fifo, &now->cursor), visit);
        now->number++;
    }
}

void rota__fifo_visit(rota_queue *queue, rota__queue_visit *visit, rota__end from)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    iterator now = {.number = 0};

    (void)from;
    rota__mutex_lock(&fifo->front.lock);
    now.number = fifo->front.count;
    now.cursor = fifo->front.cursor;
    now.stop = rota__fifo_back_count(fifo); /* elements inserted later are not shown, so it ends */
    rota__link_init(&now.link);
    rota__list_append(&fifo->iterators, &now.link);
    while (now.number < now.stop) {
        show_batch(fifo, &now, visit);
        rota__queue_visit_yield(visit, &fifo->front.lock);
    }
    rota__list_remove(&now.link);
    rota__mutex_unlock(&fifo->front.lock);
}
