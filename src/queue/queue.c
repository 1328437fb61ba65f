/* SPDX-License-Identifier: MIT */
/*
 * queue.c - the calls of rota/queue.h, written once over the kinds.
 */
#include "queue/queue_internal.h"

#include "base/check.h"
#include "base/time.h"

/* The queue is const for the caller only: reading takes a lock, and a visit adds markers. */
static rota_queue *mutable(const rota_queue *queue)
{
    return (rota_queue *)(uintptr_t)queue;
}

/* -- Waiting: a try, and while it fails a wait and another try ------------ */

static ROTA__NOINLINE int insert_waiting(rota_queue *queue, void *element, rota__end end,
                                         rota_ns deadline, uint32_t epoch)
{
    rota__waitq *waitq = queue->producers; /* the queue may be gone after a try: waitq.W5 */
    rota__waitq_entry entry;
    int status;

    if (rota__waitq_spin(waitq)) {
        status = queue->kind->insert(queue, element, end);
        if (status != ROTA_EFULL)
            return status;
    }
    rota__waitq_entry_init(&entry, element);
    entry.epoch = epoch;
    do {
        status = rota__waitq_wait(waitq, &entry, deadline);
        if (status != ROTA_OK || entry.state == ROTA__WAITQ_HANDED_OFF)
            return status;
        status = queue->kind->insert(queue, element, end);
    } while (status == ROTA_EFULL);
    rota__waitq_done(waitq, &entry);
    return status;
}

static ROTA__NOINLINE int take_waiting(rota_queue *queue, void **element, rota__end end,
                                       rota_ns deadline, uint32_t epoch)
{
    rota__waitq *waitq = queue->consumers; /* as above */
    rota__waitq_entry entry;
    int status;

    if (rota__waitq_spin(waitq)) {
        status = queue->kind->take(queue, element, end, epoch, NULL);
        if (status != ROTA_EEMPTY)
            return status;
    }
    rota__waitq_entry_init(&entry, NULL);
    entry.epoch = epoch;
    do {
        status = rota__waitq_wait(waitq, &entry, deadline);
        if (status != ROTA_OK)
            return status;
        if (entry.state == ROTA__WAITQ_HANDED_OFF) {
            *element = entry.element;
            return ROTA_OK;
        }
        status = queue->kind->take(queue, element, end, epoch, &entry);
    } while (status == ROTA_EEMPTY);
    rota__waitq_done(ROTA__BUG(waitq.W5a, waitq, queue->consumers), &entry);
    return status;
}

/* -- Both ends ------------------------------------------------------------ */

static const rota_ns forever = ROTA_FOREVER;

static inline int check(const rota_queue *queue, const void *argument, bool needs_deque)
{
    if (queue == NULL || argument == NULL)
        return ROTA_EINVAL;
    return !needs_deque || queue->kind->is_deque ? ROTA_OK : ROTA_ENOTSUP;
}

/* `timeout` is NULL if the call does not wait. */
static inline int insert(rota_queue *queue, void *element, rota__end end, const rota_ns *timeout)
{
    int status = check(queue, element, end == ROTA__FRONT);

    if (status == ROTA_OK)
        status = queue->kind->insert(queue, element, end);
    if (ROTA__LIKELY(status != ROTA_EFULL || timeout == NULL))
        return status;
    return insert_waiting(queue, element, end, rota__deadline(*timeout), ROTA__ANY_EPOCH);
}

static inline int take(rota_queue *queue, void **element, rota__end end, const rota_ns *timeout)
{
    int status = check(queue, element, end == ROTA__BACK);

    if (status == ROTA_OK)
        status = queue->kind->take(queue, element, end, ROTA__ANY_EPOCH, NULL);
    if (ROTA__LIKELY(status != ROTA_EEMPTY || timeout == NULL))
        return status;
    return take_waiting(queue, element, end, rota__deadline(*timeout), ROTA__ANY_EPOCH);
}

static void note(void *element, void *noted)
{
    *(void **)noted = element;
}

static int peek(rota_queue *queue, void **element, rota__end end)
{
    int status = check(queue, element, end == ROTA__BACK);

    return status == ROTA_OK ? queue->kind->peek(queue, end, note, element) : status;
}

int rota_queue_put(rota_queue *queue, void *element)
{
    return insert(queue, element, ROTA__BACK, &forever);
}

int rota_queue_offer(rota_queue *queue, void *element)
{
    return insert(queue, element, ROTA__BACK, NULL);
}

int rota_queue_offer_timed(rota_queue *queue, void *element, rota_ns timeout)
{
    return insert(queue, element, ROTA__BACK, &timeout);
}

int rota_queue_take(rota_queue *queue, void **element)
{
    return take(queue, element, ROTA__FRONT, &forever);
}

int rota_queue_poll(rota_queue *queue, void **element)
{
    return take(queue, element, ROTA__FRONT, NULL);
}

int rota_queue_poll_timed(rota_queue *queue, rota_ns timeout, void **element)
{
    return take(queue, element, ROTA__FRONT, &timeout);
}

int rota_queue_peek(rota_queue *queue, void **element)
{
    return peek(queue, element, ROTA__FRONT);
}

int rota_deque_put_front(rota_queue *queue, void *element)
{
    return insert(queue, element, ROTA__FRONT, &forever);
}

int rota_deque_offer_front(rota_queue *queue, void *element)
{
    return insert(queue, element, ROTA__FRONT, NULL);
}

int rota_deque_offer_front_timed(rota_queue *queue, void *element, rota_ns timeout)
{
    return insert(queue, element, ROTA__FRONT, &timeout);
}

int rota_deque_take_back(rota_queue *queue, void **element)
{
    return take(queue, element, ROTA__BACK, &forever);
}

int rota_deque_poll_back(rota_queue *queue, void **element)
{
    return take(queue, element, ROTA__BACK, NULL);
}

int rota_deque_poll_back_timed(rota_queue *queue, rota_ns timeout, void **element)
{
    return take(queue, element, ROTA__BACK, &timeout);
}

int rota_deque_peek_back(rota_queue *queue, void **element)
{
    return peek(queue, element, ROTA__BACK);
}

/* -- Transfers ------------------------------------------------------------ */

int rota__no_transfer(rota_queue *queue, void *element, rota_ns deadline)
{
    (void)deadline;
    return rota__no_try_transfer(queue, element);
}

int rota__no_try_transfer(rota_queue *queue, void *element)
{
    (void)queue;
    (void)element;
    return ROTA_ENOTSUP;
}

bool rota__has_no_transfers(rota_queue *queue)
{
    (void)queue;
    return false;
}

int rota_queue_try_transfer(rota_queue *queue, void *element)
{
    int status = check(queue, element, false);

    return status == ROTA_OK ? queue->kind->try_transfer(queue, element) : status;
}

int rota_queue_transfer(rota_queue *queue, void *element, rota_ns timeout)
{
    int status = rota_queue_try_transfer(queue, element);

    if (status != ROTA_EFULL)
        return status;
    return queue->kind->transfer(queue, element, rota__deadline(timeout));
}

/* -- Single elements, and all of them ------------------------------------- */

bool rota_queue_remove(rota_queue *queue, const void *element)
{
    return check(queue, element, false) == ROTA_OK
           && queue->kind->remove(queue, element, ROTA__FRONT);
}

bool rota_deque_remove_last(rota_queue *queue, const void *element)
{
    return check(queue, element, true) == ROTA_OK
           && queue->kind->remove(queue, element, ROTA__BACK);
}

size_t rota_queue_drain(rota_queue *queue, void **elements, size_t max)
{
    if (queue == NULL || elements == NULL || max == 0)
        return 0;
    return queue->kind->drain(queue, elements, max);
}

static bool any(void *element, void *ctx)
{
    (void)element;
    (void)ctx;
    return true;
}

static size_t remove_shown(rota_queue *queue, rota__predicate *which, void *ctx)
{
    rota__queue_visit visit;

    rota__queue_visit_init(&visit, queue, which, ctx);
    size_t removed = queue->kind->remove_if(queue, rota__queue_visit_ask, &visit);
    rota__queue_visit_finish(&visit);
    return removed;
}

size_t rota_queue_remove_if(rota_queue *queue, bool (*which)(void *element, void *ctx), void *ctx)
{
    if (queue == NULL)
        return 0;
    if (which != NULL && queue->element_ops != NULL)
        return remove_shown(queue, which, ctx);
    return queue->kind->remove_if(queue, which != NULL ? which : any, ctx);
}

bool rota_queue_contains(const rota_queue *queue, const void *element)
{
    return queue != NULL && element != NULL && queue->kind->contains(mutable(queue), element);
}

typedef struct visit_call {
    rota__visitor *visitor;
    void *ctx;
} visit_call;

static bool show(void *element, void *ctx)
{
    const visit_call *call = ctx;

    call->visitor(element, call->ctx);
    return false;
}

static size_t visit_all(rota_queue *queue, rota__visitor *visitor, void *ctx, rota__end from)
{
    visit_call call = {visitor, ctx};
    rota__queue_visit visit;

    rota__queue_visit_init(&visit, queue, show, &call);
    queue->kind->visit(queue, &visit, from);
    rota__queue_visit_finish(&visit);
    return visit.shown;
}

size_t rota_queue_each(const rota_queue *queue, void (*visit)(void *element, void *ctx), void *ctx)
{
    if (queue == NULL || visit == NULL)
        return 0;
    return visit_all(mutable(queue), visit, ctx, ROTA__FRONT);
}

size_t rota_deque_each_back(const rota_queue *queue, void (*visit)(void *element, void *ctx),
                            void *ctx)
{
    if (queue == NULL || visit == NULL || !queue->kind->is_deque)
        return 0;
    return visit_all(mutable(queue), visit, ctx, ROTA__BACK);
}

/* -- Counts --------------------------------------------------------------- */

size_t rota_queue_size(const rota_queue *queue)
{
    return queue != NULL ? queue->kind->size(mutable(queue)) : 0;
}

size_t rota_queue_room(const rota_queue *queue)
{
    return queue != NULL ? queue->kind->room(mutable(queue)) : 0;
}

size_t rota_queue_waiting(const rota_queue *queue)
{
    return queue != NULL ? queue->kind->waiting(mutable(queue)) : 0;
}

/* -- For pools ------------------------------------------------------------ */

bool rota__queue_is_empty(rota_queue *queue)
{
    rota__mutex_lock(queue->consumers->lock);
    bool is_empty = queue->kind->size(queue) == 0;
    rota__mutex_unlock(queue->consumers->lock);
    return is_empty;
}

rota_ns rota__queue_ready_in(rota_queue *queue)
{
    rota__mutex_lock(queue->consumers->lock);
    rota_ns ready_at = queue->consumers->ops->ready_at(queue->consumers);
    rota__mutex_unlock(queue->consumers->lock);
    return rota__time_left(ready_at);
}

uint32_t rota__queue_producer_epoch(const rota_queue *queue)
{
    return rota__waitq_epoch(queue->producers);
}

int rota__queue_insert_in_epoch(rota_queue *queue, void *element, uint32_t epoch, rota_ns timeout)
{
    int status = queue->kind->insert(queue, element, ROTA__BACK);

    if (status != ROTA_EFULL)
        return status; /* GCOVR_EXCL_LINE: there is room just now */
    return insert_waiting(queue, element, ROTA__BACK, rota__deadline(timeout), epoch);
}

void rota__queue_abort_producers(rota_queue *queue)
{
    rota__mutex_lock(queue->producers->lock);
    rota__waitq_abort_all_and_unlock(queue->producers);
}

int rota__queue_take_waiting(rota_queue *queue, uint32_t epoch, rota_ns deadline, void **element)
{
    return take_waiting(queue, element, ROTA__FRONT, deadline, epoch);
}

/* -- The end -------------------------------------------------------------- */

static bool is_waited_on(rota__waitq *waitq)
{
    rota__mutex_lock(waitq->lock);
    bool is_idle = rota__waitq_is_idle(waitq);
    rota__mutex_unlock(waitq->lock);
    return !is_idle;
}

int rota_queue_free(rota_queue *queue)
{
    if (queue == NULL)
        return ROTA_EINVAL;
    if (is_waited_on(queue->producers) || is_waited_on(queue->consumers))
        return ROTA_EBUSY;
    if (queue->kind->has_transfers(queue))
        return ROTA_EBUSY;
    queue->kind->free(queue);
    return ROTA_OK;
}
