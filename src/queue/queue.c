/* SPDX-License-Identifier: MIT */
/*
 * queue.c - the calls of rota/queue.h, written once over the kinds.
 */
#include "queue/queue_internal.h"

#include "base/check.h"
#include "base/time.h"

/*
 * Looking locks the queue, and a visitor leaves its mark in it, so these work
 * on what is const for the caller alone.
 */
static rota_queue *same(const rota_queue *queue)
{
    return (rota_queue *)(uintptr_t)queue;
}

/* -- Waiting: a try, and when that fails a wait and another --------------- */

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

static ROTA__NOINLINE int remove_waiting(rota_queue *queue, void **element, rota__end end,
                                         rota_ns deadline)
{
    rota__waitq *waitq = queue->consumers; /* as above */
    rota__waitq_entry entry;
    int status;

    if (rota__waitq_spin(waitq)) {
        status = queue->kind->take(queue, element, end, NULL);
        if (status != ROTA_EEMPTY)
            return status;
    }
    rota__waitq_entry_init(&entry, NULL);
    do {
        status = rota__waitq_wait(waitq, &entry, deadline);
        if (status != ROTA_OK)
            return status;
        if (entry.state == ROTA__WAITQ_HANDED_OFF) {
            *element = entry.element;
            return ROTA_OK;
        }
        status = queue->kind->take(queue, element, end, &entry);
    } while (status == ROTA_EEMPTY);
    rota__waitq_done(ROTA__BUG(waitq.W5a, waitq, queue->consumers), &entry);
    return status;
}

/* -- Both ends ------------------------------------------------------------ */

static int insert(rota_queue *queue, void *element, rota__end end, rota_ns timeout)
{
    int status = queue->kind->insert(queue, element, end);

    if (ROTA__LIKELY(status != ROTA_EFULL))
        return status;
    return insert_waiting(queue, element, end, rota__deadline(timeout), ROTA__ANY_EPOCH);
}

static int take(rota_queue *queue, void **element, rota__end end, rota_ns timeout)
{
    int status = queue->kind->take(queue, element, end, NULL);

    if (ROTA__LIKELY(status != ROTA_EEMPTY))
        return status;
    return remove_waiting(queue, element, end, rota__deadline(timeout));
}

static int check_deque(const rota_queue *queue, const void *argument)
{
    if (queue == NULL || argument == NULL)
        return ROTA_EINVAL;
    return queue->kind->is_deque ? ROTA_OK : ROTA_ENOTSUP;
}

int rota_queue_put(rota_queue *queue, void *element)
{
    if (queue == NULL || element == NULL)
        return ROTA_EINVAL;
    return insert(queue, element, ROTA__BACK, ROTA_FOREVER);
}

int rota_queue_offer(rota_queue *queue, void *element)
{
    if (queue == NULL || element == NULL)
        return ROTA_EINVAL;
    return queue->kind->insert(queue, element, ROTA__BACK);
}

int rota_queue_offer_timed(rota_queue *queue, void *element, rota_ns timeout)
{
    if (queue == NULL || element == NULL)
        return ROTA_EINVAL;
    return insert(queue, element, ROTA__BACK, timeout);
}

int rota_queue_take(rota_queue *queue, void **element)
{
    if (queue == NULL || element == NULL)
        return ROTA_EINVAL;
    return take(queue, element, ROTA__FRONT, ROTA_FOREVER);
}

int rota_queue_poll(rota_queue *queue, void **element)
{
    if (queue == NULL || element == NULL)
        return ROTA_EINVAL;
    return queue->kind->take(queue, element, ROTA__FRONT, NULL);
}

int rota_queue_poll_timed(rota_queue *queue, rota_ns timeout, void **element)
{
    if (queue == NULL || element == NULL)
        return ROTA_EINVAL;
    return take(queue, element, ROTA__FRONT, timeout);
}

static void note(void *element, void *noted)
{
    *(void **)noted = element;
}

int rota_queue_peek(rota_queue *queue, void **element)
{
    if (queue == NULL || element == NULL)
        return ROTA_EINVAL;
    return queue->kind->peek(queue, ROTA__FRONT, note, element);
}

int rota_deque_put_front(rota_queue *queue, void *element)
{
    int status = check_deque(queue, element);

    return status == ROTA_OK ? insert(queue, element, ROTA__FRONT, ROTA_FOREVER) : status;
}

int rota_deque_offer_front(rota_queue *queue, void *element)
{
    int status = check_deque(queue, element);

    return status == ROTA_OK ? queue->kind->insert(queue, element, ROTA__FRONT) : status;
}

int rota_deque_offer_front_timed(rota_queue *queue, void *element, rota_ns timeout)
{
    int status = check_deque(queue, element);

    return status == ROTA_OK ? insert(queue, element, ROTA__FRONT, timeout) : status;
}

int rota_deque_take_back(rota_queue *queue, void **element)
{
    int status = check_deque(queue, element);

    return status == ROTA_OK ? take(queue, element, ROTA__BACK, ROTA_FOREVER) : status;
}

int rota_deque_poll_back(rota_queue *queue, void **element)
{
    int status = check_deque(queue, element);

    return status == ROTA_OK ? queue->kind->take(queue, element, ROTA__BACK, NULL) : status;
}

int rota_deque_poll_back_timed(rota_queue *queue, rota_ns timeout, void **element)
{
    int status = check_deque(queue, element);

    return status == ROTA_OK ? take(queue, element, ROTA__BACK, timeout) : status;
}

int rota_deque_peek_back(rota_queue *queue, void **element)
{
    int status = check_deque(queue, element);

    return status == ROTA_OK ? queue->kind->peek(queue, ROTA__BACK, note, element) : status;
}

/* -- Transfers ------------------------------------------------------------ */

static int check_transfer(const rota_queue *queue, const void *element)
{
    if (queue == NULL || element == NULL)
        return ROTA_EINVAL;
    return queue->kind->transfer != NULL ? ROTA_OK : ROTA_ENOTSUP;
}

int rota_queue_try_transfer(rota_queue *queue, void *element)
{
    int status = check_transfer(queue, element);

    return status == ROTA_OK ? queue->kind->try_transfer(queue, element) : status;
}

int rota_queue_transfer(rota_queue *queue, void *element, rota_ns timeout)
{
    int status = rota_queue_try_transfer(queue, element);

    if (status != ROTA_EFULL)
        return status;
    return queue->kind->transfer(queue, element, rota__deadline(timeout));
}

/* -- Elements by name, and all of them ------------------------------------ */

bool rota_queue_remove(rota_queue *queue, const void *element)
{
    if (queue == NULL || element == NULL)
        return false;
    return queue->kind->remove(queue, element, ROTA__FRONT);
}

bool rota_deque_remove_last(rota_queue *queue, const void *element)
{
    if (check_deque(queue, element) != ROTA_OK)
        return false;
    return queue->kind->remove(queue, element, ROTA__BACK);
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
    return queue != NULL && element != NULL && queue->kind->contains(same(queue), element);
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
    return visit_all(same(queue), visit, ctx, ROTA__FRONT);
}

size_t rota_deque_each_back(const rota_queue *queue, void (*visit)(void *element, void *ctx),
                            void *ctx)
{
    if (queue == NULL || visit == NULL || !queue->kind->is_deque)
        return 0;
    return visit_all(same(queue), visit, ctx, ROTA__BACK);
}

/* -- Counts --------------------------------------------------------------- */

size_t rota_queue_size(const rota_queue *queue)
{
    return queue != NULL ? queue->kind->size(same(queue)) : 0;
}

size_t rota_queue_room(const rota_queue *queue)
{
    return queue != NULL ? queue->kind->room(same(queue)) : 0;
}

size_t rota_queue_waiting(const rota_queue *queue)
{
    return queue != NULL ? queue->kind->waiting(same(queue)) : 0;
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
    return rota__until(ready_at);
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
    if (queue->kind->is_busy != NULL && queue->kind->is_busy(queue))
        return ROTA_EBUSY;
    queue->kind->free(queue);
    return ROTA_OK;
}
