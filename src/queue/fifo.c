/* SPDX-License-Identifier: MIT */
#include "queue/fifo.h"

#include "base/alloc.h"

/* -- Segments ------------------------------------------------------------- */

static size_t segment_size(size_t slots)
{
    return sizeof(rota__segment) + slots * sizeof(void *);
}

static rota__segment *segment_new(size_t slots)
{
    if (slots > (SIZE_MAX - sizeof(rota__segment)) / sizeof(void *))
        return NULL;
    rota__segment *segment = rota__alloc(segment_size(slots));
    if (segment != NULL)
        segment->next = NULL;
    return segment;
}

void rota__segment_free(rota__fifo *fifo, rota__segment *segment)
{
    if (segment != NULL)
        rota__free(segment, segment_size(fifo->segment_slots));
}

/* The front has emptied the segment: the back may use it next. */
static void recycle_segment(rota__fifo *fifo, rota__segment *segment)
{
    segment->next = NULL;
    segment = rota__swap_acq_rel(&fifo->spare, segment); /* pairs with add_segment */
    rota__segment_free(fifo, segment);
}

/* Makes sure that there is a slot after the back's cursor. False: no memory. */
static bool add_segment(rota__fifo *fifo)
{
    rota__segment *last = fifo->back.cursor.segment;

    if (fifo->is_ring || fifo->back.cursor.offset < fifo->segment_slots)
        return true;
    last->next = rota__swap_acq_rel(&fifo->spare, NULL); /* pairs with recycle_segment */
    if (last->next == NULL)
        last->next = segment_new(fifo->segment_slots);
    return last->next != NULL;
}

/* -- Limits: what an end knows about the other one ------------------------ */

static void publish(rota__fifo_end *end)
{
    rota__store_release(&end->published, end->count); /* fifo.Q2; pairs with refresh_limit */
}

static bool is_below_limit(const rota__fifo_end *end)
{
    return end->count != end->limit;
}

/* This end may go `ahead` further than the other one has gone. */
static void refresh_limit(rota__fifo_end *end, const rota__fifo_end *other, size_t ahead)
{
    uint64_t published = rota__load_acquire(&other->published); /* fifo.Q2; pairs with publish */

    end->limit = published + ahead < published ? UINT64_MAX : published + ahead;
}

/*
 * Refreshes the limit at growing intervals while it grows each time, for at most 5 us.
 * mutants: only how long it waits
 */
static void await_batch(rota__fifo_end *end, const rota__fifo_end *other, size_t ahead)
{
    enum { ENOUGH = 256, SHORTEST = 8, LONGEST = 64 };
    uint64_t before;
    int pauses = SHORTEST; /* longer than a cache line travels between two CPUs */

    do {
        before = end->limit;
        for (int pause = 0; pause < pauses; pause++)
            rota__cpu_relax();
        refresh_limit(end, other, ahead);
        pauses *= 2;
    } while (end->limit != before && end->limit - end->count < ENOUGH && pauses <= LONGEST);
    if (end->limit != before)
        end->backoff = 0;
    else if (end->backoff < 1024)
        end->backoff = 2 * end->backoff + 16;
}

/*
 * Refreshes a limit that was reached. True: there is more. Two ends of the same speed would pass each
 * count and each line of slots from CPU to CPU and wait for it. So an end that finds little waits a
 * moment for a batch; if none comes, it does not try again for a while.
 */
static ROTA__NOINLINE bool refresh_limit_slow(rota__fifo_end *end, const rota__fifo_end *other,
                                              size_t ahead)
{
    enum { LITTLE = 64 };

    refresh_limit(end, other, ahead);
    /* mutants: only when it waits for more */
    if (end->limit - end->count < LITTLE && end->waitq.may_spin
        && ++end->refreshes > end->backoff) {
        end->refreshes = 0;
        await_batch(end, other, ahead);
    }
    return is_below_limit(end);
}

/* -- The back ------------------------------------------------------------- */

static bool has_room(rota__fifo *fifo)
{
    return is_below_limit(&fifo->back)
           || refresh_limit_slow(&fifo->back, &fifo->front, fifo->capacity);
}

int rota__fifo_append(rota__fifo *fifo, void *element, rota__waitq_entry **next)
{
    rota__fifo_end *back = &fifo->back;

    *next = fifo->hands_off ? rota__waitq_hand_off(&back->waitq) : NULL;
    if (*next != NULL) {
        (*next)->element = element; /* fifo.Q5: no element is before it */
        return ROTA_OK;
    }
    if (!has_room(fifo))
        return ROTA_EFULL;
    if (!add_segment(fifo))
        return ROTA_ENOMEM;
    *rota__fifo_next_slot(fifo, &back->cursor) = element; /* fifo.Q2 */
    back->count++;
    publish(back);
    *next = rota__waitq_notify(&back->waitq);
    return ROTA_OK;
}

ROTA__NOINLINE int rota__fifo_insert_slow_and_unlock(rota__fifo *fifo, void *element)
{
    rota__waitq_entry *next;
    int status = rota__fifo_append(fifo, element, &next);

    rota__mutex_unlock(&fifo->back.lock);
    rota__waitq_wake(next);
    return status;
}

static int insert(rota_queue *queue, void *element, rota__end end)
{
    (void)end;
    return rota__fifo_insert(rota__fifo_of(queue), element);
}

/* -- The front ------------------------------------------------------------ */

static bool has_element(rota__fifo *fifo)
{
    return is_below_limit(&fifo->front) || refresh_limit_slow(&fifo->front, &fifo->back, 0);
}

/* Called with the front lock held, and with an element in the queue. The caller publishes. */
static void *pop_locked(rota__fifo *fifo)
{
    rota__fifo_end *front = &fifo->front;
    rota__segment *before = front->cursor.segment;
    void *element = *rota__fifo_next_slot(fifo, &front->cursor);

    if (front->cursor.segment != before)
        recycle_segment(fifo, before);
    /* Relaxed: a producer counts its transfer before it publishes the element. */
    if (ROTA__UNLIKELY(rota__load_relaxed(&fifo->transfer_count) != 0))
        rota__transfer_taken(fifo, front->count);
    front->count++;
    return element;
}

ROTA__NOINLINE int rota__fifo_take_slow_and_unlock(rota__fifo *fifo, void **element, uint32_t epoch,
                                                   rota__waitq_entry *entry)
{
    rota__fifo_end *front = &fifo->front;
    rota__waitq_entry *next = NULL;
    int status = ROTA_EEMPTY;

    if (rota__epoch_is_over(&fifo->queue, epoch)) { /* fifo.Q7b */
        status = ROTA_EAGAIN;
    } else if (has_element(fifo)) {
        *element = pop_locked(fifo);
        if (entry != NULL)
            entry->has_element = true;
        publish(front);
        next = rota__waitq_notify(&front->waitq);
        status = ROTA_OK;
    }
    rota__mutex_unlock(&front->lock);
    rota__waitq_wake(next);
    return status;
}

static int take(rota_queue *queue, void **element, rota__end end, uint32_t epoch,
                rota__waitq_entry *entry)
{
    rota__fifo *fifo = rota__fifo_of(queue);

    (void)end;
    if (ROTA__LIKELY(entry == NULL && epoch == ROTA__ANY_EPOCH)) {
        void *first = rota__fifo_take(fifo, ROTA__ANY_EPOCH);
        if (first == NULL)
            return ROTA_EEMPTY;
        *element = first;
        return ROTA_OK;
    }
    rota__mutex_lock(&fifo->front.lock);
    return rota__fifo_take_slow_and_unlock(fifo, element, epoch, entry);
}

/* Called with the front lock held. Fills `elements` up to `max` in all. The caller publishes. */
static size_t pop_batch(rota__fifo *fifo, void **elements, size_t count, size_t max)
{
    refresh_limit(&fifo->front, &fifo->back, 0);
    while (count < max && is_below_limit(&fifo->front))
        elements[count++] = pop_locked(fifo);
    return count;
}

/*
 * If fewer elements than `max` are returned, the queue was empty when the new count was published.
 * So no thread may insert between the last refresh and the publishing (QUEUE-38).
 */
static size_t drain(rota_queue *queue, void **elements, size_t max)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    rota__fifo_end *front = &fifo->front;
    rota__waitq_entry *next = NULL;
    size_t count;

    rota__mutex_lock(&front->lock);
    count = pop_batch(fifo, elements, 0, max);
    bool takes_all = count < max; /* fifo.Q3a */
    if (takes_all) {
        rota__mutex_lock(&fifo->back.lock); /* fifo.Q3 */
        count = pop_batch(fifo, elements, count, max);
    }
    publish(front);
    if (takes_all)
        rota__mutex_unlock(&fifo->back.lock);
    if (count > 0)
        next = rota__waitq_notify(&front->waitq);
    rota__mutex_unlock(&front->lock);
    rota__waitq_wake(next);
    return count;
}

static int peek(rota_queue *queue, rota__end end, rota__visitor *show, void *ctx)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    int status = ROTA_EEMPTY;

    (void)end;
    rota__mutex_lock(&fifo->front.lock);
    if (has_element(fifo)) {
        rota__fifo_cursor cursor = fifo->front.cursor;
        show(*rota__fifo_next_slot(fifo, &cursor), ctx);
        status = ROTA_OK;
    }
    rota__mutex_unlock(&fifo->front.lock);
    return status;
}

/* -- Counts --------------------------------------------------------------- */

/*
 * Exact at the moment of the load of `back`, unless elements are removed from the middle meanwhile,
 * or the front changes in every try. Then the result is a size that the queue could have.
 */
static size_t size(rota_queue *queue)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    uint64_t front, back;
    int tries = 4;

    do {
        front = rota__load_acquire(&fifo->front.published); /* pairs with publish */
        back = rota__fifo_back_count(fifo);
        /* mutants: only how exact the size is */
    } while (rota__load_relaxed(&fifo->front.published) != front && --tries > 0);
    if (back < front) /* elements were removed from the middle */
        return 0;     /* GCOVR_EXCL_LINE: just between two loads */
    return back - front < fifo->capacity ? (size_t)(back - front) : fifo->capacity;
}

static size_t room(rota_queue *queue)
{
    rota__fifo *fifo = rota__fifo_of(queue);

    return fifo->capacity == ROTA_UNBOUNDED ? ROTA_UNBOUNDED : fifo->capacity - size(queue);
}

/* With both locks held, no consumer is between taking an element and noting that in its entry. */
static size_t waiting(rota_queue *queue)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    size_t count;

    rota__fifo_lock_both(fifo);
    count = rota__waitq_count_waiting(&fifo->back.waitq, size(queue));
    rota__fifo_unlock_both(fifo);
    return count;
}

/* -- Waiting -------------------------------------------------------------- */

static bool element_seems_ready(const rota__waitq *waitq)
{
    const rota__fifo *fifo = waitq->owner;

    return rota__load_acquire(&fifo->front.published) != rota__fifo_back_count(fifo); /* fifo.Q2 */
}

static bool room_seems_ready(const rota__waitq *waitq)
{
    const rota__fifo *fifo = waitq->owner;
    uint64_t front = rota__load_acquire(&fifo->front.published); /* fifo.Q2 */

    return rota__fifo_back_count(fifo) - front < fifo->capacity;
}

/* The lock keeps one of the two counts as it is. The other can only have grown: fifo.Q4. */
static rota_ns element_ready_at(const rota__waitq *waitq)
{
    return element_seems_ready(waitq) ? ROTA__READY : ROTA_FOREVER;
}

static rota_ns room_ready_at(const rota__waitq *waitq)
{
    return room_seems_ready(waitq) ? ROTA__READY : ROTA_FOREVER;
}

static const rota__waitq_ops for_element = {element_ready_at, element_seems_ready};
static const rota__waitq_ops for_room = {room_ready_at, room_seems_ready};

static void abort_consumers(rota_queue *queue)
{
    rota__fifo *fifo = rota__fifo_of(queue);

    rota__fifo_lock_both(fifo); /* fifo.Q7 */
    /* Pairs with rota__queue_consumer_epoch. */
    rota__store_release(&fifo->front.epoch, rota__waitq_next_epoch(&fifo->back.waitq));
    rota__mutex_unlock(&fifo->front.lock);
    rota__waitq_abort_all_and_unlock(&fifo->back.waitq); /* the last access: waitq.W5 */
}

/* -- Making and freeing --------------------------------------------------- */

static size_t allocation_size(void)
{
    return sizeof(rota__fifo) + ROTA__CACHE_LINE - 1;
}

static rota__fifo *fifo_alloc(void)
{
    void *memory = rota__alloc(allocation_size());

    if (memory == NULL)
        return NULL;
    size_t padding = -(uintptr_t)memory % ROTA__CACHE_LINE;
    rota__fifo *fifo = (rota__fifo *)(void *)((char *)memory + padding);
    *fifo = (rota__fifo){.memory = memory};
    return fifo;
}

static void fifo_free(rota_queue *queue)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    rota__segment *segment = fifo->front.cursor.segment;

    rota__segment_free(fifo, rota__load_relaxed(&fifo->spare));
    if (fifo->is_ring)
        segment->next = NULL;
    while (segment != NULL) {
        rota__segment *next = segment->next;
        rota__segment_free(fifo, segment);
        segment = next;
    }
    rota__free(fifo->memory, allocation_size());
}

#define FIFO_KIND                                                                              \
    .insert = insert, .take = take, .drain = drain, .peek = peek, .remove = rota__fifo_remove, \
    .remove_due = rota__fifo_remove_due, .remove_if = rota__fifo_remove_if,                    \
    .contains = rota__fifo_contains, .visit = rota__fifo_visit, .size = size, .room = room,    \
    .waiting = waiting, .abort_consumers = abort_consumers, .free = fifo_free

const rota__queue_kind rota__fifo_kind = {FIFO_KIND, ROTA__NO_TRANSFERS};
static const rota__queue_kind transfer_kind = {
    FIFO_KIND,
    .transfer = rota__fifo_transfer,
    .try_transfer = rota__fifo_try_transfer,
    .has_transfers = rota__fifo_has_transfers,
};

static void end_init(rota__fifo *fifo, rota__fifo_end *end, rota__segment *first)
{
    bool is_back = end == &fifo->back;

    end->limit = is_back ? fifo->capacity : 0;
    end->cursor = (rota__fifo_cursor){first, 0};
    rota__store_relaxed(&end->epoch, 0);
    rota__store_relaxed(&end->published, 0);
    rota__waitq_init(&end->waitq, is_back ? &for_element : &for_room, &end->lock, fifo,
                     is_back ? ROTA__NEWEST_FIRST : ROTA__OLDEST_FIRST);
}

static int fifo_new(const rota__queue_kind *kind, size_t capacity, size_t segment_slots,
                    rota_queue **out)
{
    rota__segment *first = segment_new(segment_slots);
    rota__fifo *fifo = first != NULL ? fifo_alloc() : NULL;

    if (fifo == NULL) {
        if (first != NULL)
            rota__free(first, segment_size(segment_slots));
        return ROTA_ENOMEM;
    }
    fifo->queue = (rota_queue){.kind = kind,
                               .producers = &fifo->front.waitq,
                               .consumers = &fifo->back.waitq,
                               .consumer_epoch = &fifo->front.epoch};
    fifo->capacity = capacity;
    fifo->segment_slots = segment_slots;
    fifo->is_ring = capacity == segment_slots;
    fifo->hands_off = kind == &transfer_kind;
    if (fifo->is_ring)
        first->next = first;
    rota__store_relaxed(&fifo->spare, NULL);
    rota__store_relaxed(&fifo->transfer_count, 0);
    rota__list_init(&fifo->iterators);
    rota__list_init(&fifo->transfers);
    end_init(fifo, &fifo->back, first);
    end_init(fifo, &fifo->front, first);
    *out = &fifo->queue;
    return ROTA_OK;
}

/* A segment takes one KiB. */
#ifdef ROTA_EXPLORE
enum { SEGMENT_SLOTS = 2 }; /* so that a few elements need another segment */
#else
enum { SEGMENT_SLOTS = (1024 - sizeof(rota__segment)) / sizeof(void *) };
#endif

int rota_array_queue(size_t capacity, rota_queue **out)
{
    if (capacity == 0 || out == NULL)
        return ROTA_EINVAL;
    return fifo_new(&rota__fifo_kind, capacity, capacity, out);
}

/* A linked queue that fits into one segment is an array queue. */
int rota_linked_queue(size_t capacity, rota_queue **out)
{
    if (capacity == 0 || out == NULL)
        return ROTA_EINVAL;
    return fifo_new(&rota__fifo_kind, capacity, capacity < SEGMENT_SLOTS ? capacity : SEGMENT_SLOTS,
                    out);
}

int rota_transfer_queue(rota_queue **out)
{
    if (out == NULL)
        return ROTA_EINVAL;
    return fifo_new(&transfer_kind, ROTA_UNBOUNDED, SEGMENT_SLOTS, out);
}
