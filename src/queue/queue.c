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
                                         rota_ns deadline, uint64_t round)
{
    rota__gate *gate = queue->producers; /* the queue may be gone after a try: gate.G5 */
    rota__guest guest;
    int status;

    if (rota__gate_glance(gate)) {
        status = queue->kind->insert(queue, element, end);
        if (status != ROTA_EFULL)
            return status;
    }
    rota__guest_init(&guest, element);
    guest.round = round;
    do {
        status = rota__gate_wait(gate, &guest, deadline);
        if (status != ROTA_OK || guest.state == ROTA__SERVED)
            return status;
        status = queue->kind->insert(queue, element, end);
    } while (status == ROTA_EFULL);
    rota__gate_leave(gate, &guest);
    return status;
}

static ROTA__NOINLINE int remove_waiting(rota_queue *queue, void **element, rota__end end,
                                         rota_ns deadline)
{
    rota__gate *gate = queue->consumers; /* as above */
    rota__guest guest;
    int status;

    if (rota__gate_glance(gate)) {
        status = queue->kind->take(queue, element, end, NULL);
        if (status != ROTA_EEMPTY)
            return status;
    }
    rota__guest_init(&guest, NULL);
    do {
        status = rota__gate_wait(gate, &guest, deadline);
        if (status != ROTA_OK)
            return status;
        if (guest.state == ROTA__SERVED) {
            *element = guest.element;
            return ROTA_OK;
        }
        status = queue->kind->take(queue, element, end, &guest);
    } while (status == ROTA_EEMPTY);
    rota__gate_leave(ROTA__BUG(gate.G5a, gate, queue->consumers), &guest);
    return status;
}

/* -- Both ends ------------------------------------------------------------ */

static int insert(rota_queue *queue, void *element, rota__end end, rota_ns timeout)
{
    int status = queue->kind->insert(queue, element, end);

    if (ROTA__LIKELY(status != ROTA_EFULL))
        return status;
    return insert_waiting(queue, element, end, rota__deadline(timeout), ROTA__ANY_ROUND);
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
    if (rota_interrupted()) /* before the time: INT-04 */
        return ROTA_EINTERRUPTED;
    if (timeout <= 0)
        return ROTA_ETIMEDOUT;
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

size_t rota_queue_remove_if(rota_queue *queue, bool (*which)(void *element, void *ctx), void *ctx)
{
    if (queue == NULL)
        return 0;
    return queue->kind->remove_if(queue, which != NULL ? which : any, ctx);
}

bool rota_queue_contains(const rota_queue *queue, const void *element)
{
    return queue != NULL && element != NULL && queue->kind->contains(same(queue), element);
}

size_t rota_queue_each(const rota_queue *queue, void (*visit)(void *element, void *ctx), void *ctx)
{
    if (queue == NULL || visit == NULL)
        return 0;
    return queue->kind->visit(same(queue), visit, ctx, ROTA__FRONT);
}

size_t rota_deque_each_back(const rota_queue *queue, void (*visit)(void *element, void *ctx),
                            void *ctx)
{
    if (queue == NULL || visit == NULL || !queue->kind->is_deque)
        return 0;
    return queue->kind->visit(same(queue), visit, ctx, ROTA__BACK);
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

rota_ns rota__queue_opens_in(rota_queue *queue)
{
    rota__mutex_lock(queue->consumers->lock);
    rota_ns opens = queue->consumers->kind->opens(queue->consumers);
    rota__mutex_unlock(queue->consumers->lock);
    return rota__until(opens);
}

uint64_t rota__queue_round(rota_queue *queue)
{
    rota__mutex_lock(queue->producers->lock);
    uint64_t round = queue->producers->rounds;
    rota__mutex_unlock(queue->producers->lock);
    return round;
}

int rota__queue_insert_in(rota_queue *queue, void *element, uint64_t round, rota_ns timeout)
{
    int status = queue->kind->insert(queue, element, ROTA__BACK);

    if (status != ROTA_EFULL)
        return status; /* GCOVR_EXCL_LINE: there is room just now */
    return insert_waiting(queue, element, ROTA__BACK, rota__deadline(timeout), round);
}

void rota__queue_send_producers_away(rota_queue *queue)
{
    rota__mutex_lock(queue->producers->lock);
    rota__gate_send_away(queue->producers);
}

/* -- The end -------------------------------------------------------------- */

static bool has_guests(rota__gate *gate)
{
    rota__mutex_lock(gate->lock);
    bool busy = rota__gate_is_busy(gate);
    rota__mutex_unlock(gate->lock);
    return busy;
}

int rota_queue_free(rota_queue *queue)
{
    if (queue == NULL)
        return ROTA_EINVAL;
    if (has_guests(queue->producers) || has_guests(queue->consumers))
        return ROTA_EBUSY;
    if (queue->kind->is_busy != NULL && queue->kind->is_busy(queue))
        return ROTA_EBUSY;
    queue->kind->free(queue);
    return ROTA_OK;
}
