/* SPDX-License-Identifier: MIT */
/*
 * fifo_walk.c - the elements of a queue one after the other: removing some,
 * finding one, showing all.
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

/* -- Visits --------------------------------------------------------------- */

/* Somebody looks at the elements in groups; between two the queue may change. */
typedef struct iterator {
    rota__link link;
    uint64_t number; /* of the next to be shown, and where it is */
    rota__place place;
    uint64_t stop; /* before this one */
} iterator;

/* The element of this number, or the end, has another number and place now. */
static void move_visits(rota__fifo *fifo, uint64_t number, uint64_t now, rota__place place)
{
    for (rota__link *link = fifo->visits.head.next; link != &fifo->visits.head; link = link->next) {
        iterator *moved = ROTA__CONTAINER(link, iterator, link);
        if (moved->number == number) {
            moved->number = now;
            moved->place = place;
        }
        if (moved->stop == number)
            moved->stop = now;
    }
}

/* -- Removing ------------------------------------------------------------- */

/* What is behind the new end is needed no more. */
static void cut_off(rota__fifo *fifo, rota__place end)
{
    rota__segment *rest = end.segment->next;

    fifo->back.place = end;
    if (fifo->is_ring)
        return;
    end.segment->next = NULL;
    while (rest != NULL) {
        rota__segment *next = rest->next;
        rota__segment_free(fifo, rest);
        rest = next;
    }
}

static void lower_end(rota__fifo *fifo, size_t removed)
{
    fifo->back.passed -= removed;
    fifo->front.limit = fifo->back.passed;
    rota__store_release(&fifo->back.published, fifo->back.passed); /* fifo.Q3 */
}

static void move_transfer(rota__fifo *fifo, uint64_t number, uint64_t now, bool goes)
{
    if (rota__load_relaxed(&fifo->transfers) == 0) /* under the lock that adds them */
        return;
    if (goes)
        rota__transfer_taken(fifo, number); /* QUEUE-39 */
    else
        rota__transfer_moved(fifo, number, now);
}

/* Those that stay move forward over those that go, each once. */
size_t rota__fifo_sift(rota__fifo *fifo, rota__fifo_drop *drop, void *ctx)
{
    rota__place from = fifo->front.place;
    rota__place to = from;
    uint64_t number = fifo->front.passed;
    size_t removed = 0;

    for (; number != fifo->back.passed; number++) {
        void *element = *rota__next_slot(fifo, &from);
        bool goes = drop(element, number, ctx);
        move_visits(fifo, number, number - removed, to); /* fifo.Q6 */
        move_transfer(fifo, number, number - removed, goes);
        if (goes)
            removed++;
        else
            *rota__next_slot(fifo, &to) = element;
    }
    move_visits(fifo, number, number - removed, to);
    if (removed > 0) {
        cut_off(fifo, to);
        lower_end(fifo, removed);
    }
    return removed;
}

static size_t remove_those(rota__fifo *fifo, rota__fifo_drop *drop, void *ctx)
{
    rota__waitq_entry *next = NULL;
    size_t removed;

    rota__fifo_lock_both(fifo);
    removed = rota__fifo_sift(fifo, drop, ctx);
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
    return remove_those(rota__fifo_of(queue), is_first, &wanted) > 0;
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

size_t rota__fifo_remove_if(rota_queue *queue, rota__predicate *which, void *ctx)
{
    choice chosen = {which, ctx};

    return remove_those(rota__fifo_of(queue), is_chosen, &chosen);
}

/* -- Looking -------------------------------------------------------------- */

bool rota__fifo_contains(rota_queue *queue, const void *element)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    bool found = false;

    rota__mutex_lock(&fifo->front.lock);
    uint64_t end = rota__fifo_end_number(fifo);
    rota__place place = fifo->front.place;
    for (uint64_t number = fifo->front.passed; number != end && !found; number++)
        found = *rota__next_slot(fifo, &place) == element;
    rota__mutex_unlock(&fifo->front.lock);
    return found;
}

/* Shows the next elements. Called with the front lock held, which keeps them in their slots. */
static void show_batch(rota__fifo *fifo, iterator *now, rota__queue_visit *visit)
{
    if (now->number < fifo->front.passed) { /* the next one has left */
        now->number = fifo->front.passed;
        now->place = fifo->front.place;
    }
    while (!rota__queue_visit_is_full(visit) && now->number < now->stop) {
        rota__queue_visit_ask(*rota__next_slot(fifo, &now->place), visit);
        now->number++;
    }
}

void rota__fifo_visit(rota_queue *queue, rota__queue_visit *visit, rota__end from)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    iterator now = {.number = 0};

    (void)from;
    rota__mutex_lock(&fifo->front.lock);
    now.number = fifo->front.passed;
    now.place = fifo->front.place;
    now.stop = rota__fifo_end_number(fifo); /* elements inserted later are not shown, so it ends */
    rota__link_init(&now.link);
    rota__list_append(&fifo->visits, &now.link);
    while (now.number < now.stop) {
        show_batch(fifo, &now, visit);
        rota__queue_visit_yield(visit, &fifo->front.lock);
    }
    rota__list_remove(&now.link);
    rota__mutex_unlock(&fifo->front.lock);
}
