/* SPDX-License-Identifier: MIT */
#include "queue/fifo.h"

#include "base/alloc.h"

/* -- Segments ------------------------------------------------------------- */

static size_t segment_size(size_t span)
{
    return sizeof(rota__segment) + span * sizeof(void *);
}

static rota__segment *segment_new(size_t span)
{
    if (span > (SIZE_MAX - sizeof(rota__segment)) / sizeof(void *))
        return NULL;
    rota__segment *segment = rota__alloc(segment_size(span));
    if (segment != NULL)
        segment->next = NULL;
    return segment;
}

void rota__segment_free(rota__fifo *fifo, rota__segment *segment)
{
    if (segment != NULL)
        rota__free(segment, segment_size(fifo->span));
}

/* The front has done with it; the back may need one. */
static void retire(rota__fifo *fifo, rota__segment *segment)
{
    segment->next = NULL;
    rota__segment_free(fifo, rota__swap_acq_rel(&fifo->spare, segment)); /* pairs with extend */
}

/* Sees to it that there is a slot after the back's place. */
static bool extend(rota__fifo *fifo)
{
    rota__segment *segment = fifo->back.place.segment;

    if (fifo->is_ring || fifo->back.place.offset < fifo->span)
        return true;
    segment->next = rota__swap_acq_rel(&fifo->spare, NULL); /* pairs with retire */
    if (segment->next == NULL)
        segment->next = segment_new(fifo->span);
    return segment->next != NULL;
}

/* -- What the ends tell one another --------------------------------------- */

static void publish(rota__fifo_end *end)
{
    rota__store_release(&end->published, end->passed); /* fifo.Q2; pairs with look */
}

static bool may_pass(const rota__fifo_end *end)
{
    return end->passed != end->limit;
}

/* May go `ahead` further than the other end. */
static void look(rota__fifo_end *end, const rota__fifo_end *other, size_t ahead)
{
    uint64_t published = rota__load_acquire(&other->published); /* fifo.Q2; pairs with publish */

    end->limit = published + ahead < published ? UINT64_MAX : published + ahead;
}

/*
 * Looks again and again, at growing intervals, while there is more each time; no longer than 5 us.
 * mutants: only how long it looks
 */
static void gather(rota__fifo_end *end, const rota__fifo_end *other, size_t ahead)
{
    enum { ENOUGH = 256, SHORTEST = 8, LONGEST = 64 };
    uint64_t before;
    int pauses = SHORTEST; /* longer than a line of memory is under way between two CPUs */

    do {
        before = end->limit;
        for (int pause = 0; pause < pauses; pause++)
            rota__cpu_relax();
        look(end, other, ahead);
        pauses *= 2;
    } while (end->limit != before && end->limit - end->passed < ENOUGH && pauses <= LONGEST);
    if (end->limit != before)
        end->shyness = 0;
    else if (end->shyness < 1024)
        end->shyness = 2 * end->shyness + 16;
}

/*
 * What there is beyond the limit. Two ends at the same speed would pass every
 * count, and every line of slots, to and fro between two CPUs, and wait for
 * them each time. So who finds little waits a moment for more; where there is
 * none, it does not do so again for a while. That makes 1p1c three times faster.
 */
static ROTA__NOINLINE bool look_further(rota__fifo_end *end, const rota__fifo_end *other,
                                        size_t ahead)
{
    enum { LITTLE = 64 };

    look(end, other, ahead);
    /* mutants: only when it waits for more */
    if (end->limit - end->passed < LITTLE && end->waitq.may_spin && ++end->looks > end->shyness) {
        end->looks = 0;
        gather(end, other, ahead);
    }
    return may_pass(end);
}

/* -- The back ------------------------------------------------------------- */

static bool has_room(rota__fifo *fifo)
{
    return ROTA__LIKELY(may_pass(&fifo->back))
           || look_further(&fifo->back, &fifo->front, fifo->capacity);
}

int rota__fifo_append(rota__fifo *fifo, void *element, rota__waitq_entry **next)
{
    rota__fifo_end *back = &fifo->back;

    *next = fifo->hands_over ? rota__waitq_hand_off(&back->waitq) : NULL;
    if (*next != NULL) {
        (*next)->element = element; /* fifo.Q5: it is the first */
        return ROTA_OK;
    }
    if (!has_room(fifo))
        return ROTA_EFULL;
    if (!extend(fifo))
        return ROTA_ENOMEM;
    *rota__next_slot(fifo, &back->place) = element; /* fifo.Q2a */
    back->passed++;
    publish(back);
    *next = rota__waitq_notify(&back->waitq);
    return ROTA_OK;
}

static int insert(rota_queue *queue, void *element, rota__end end)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    rota__waitq_entry *next;
    int status;

    (void)end;
    rota__mutex_lock(&fifo->back.lock);
    status = rota__fifo_append(fifo, element, &next);
    rota__mutex_unlock(&fifo->back.lock);
    rota__waitq_wake(next);
    return status;
}

/* -- The front ------------------------------------------------------------ */

static bool has_element(rota__fifo *fifo)
{
    return ROTA__LIKELY(may_pass(&fifo->front)) || look_further(&fifo->front, &fifo->back, 0);
}

/* There is one. To be published. */
static void *shift(rota__fifo *fifo)
{
    rota__fifo_end *front = &fifo->front;
    rota__segment *before = front->place.segment;
    void *element = *rota__next_slot(fifo, &front->place);

    if (front->place.segment != before)
        retire(fifo, before);
    /* Relaxed: who inserts counts its transfer before it publishes the element. */
    if (ROTA__UNLIKELY(rota__load_relaxed(&fifo->transfers) != 0))
        rota__transfer_taken(fifo, front->passed);
    front->passed++;
    return element;
}

static int take_first(rota_queue *queue, void **element, rota__end end, rota__waitq_entry *entry)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    rota__fifo_end *front = &fifo->front;
    rota__waitq_entry *next = NULL;
    int status = ROTA_EEMPTY;

    (void)end;
    rota__mutex_lock(&front->lock);
    if (has_element(fifo)) {
        *element = shift(fifo);
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

/* With the front lock held, up to `max` in all; to be published. */
static size_t shift_some(rota__fifo *fifo, void **elements, size_t count, size_t max)
{
    look(&fifo->front, &fifo->back, 0);
    while (count < max && may_pass(&fifo->front))
        elements[count++] = shift(fifo);
    return count;
}

/*
 * Fewer than wanted means that no more were there: at the moment they are
 * published as gone, so nobody may insert between the look and that.
 */
static size_t drain(rota_queue *queue, void **elements, size_t max)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    rota__fifo_end *front = &fifo->front;
    rota__waitq_entry *next = NULL;
    size_t count;

    rota__mutex_lock(&front->lock);
    count = shift_some(fifo, elements, 0, max);
    bool takes_all = count < max; /* fifo.Q3a */
    if (takes_all) {
        rota__mutex_lock(&fifo->back.lock); /* fifo.Q3 */
        count = shift_some(fifo, elements, count, max);
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
        rota__place place = fifo->front.place;
        show(*rota__next_slot(fifo, &place), ctx);
        status = ROTA_OK;
    }
    rota__mutex_unlock(&fifo->front.lock);
    return status;
}

/* -- Counts --------------------------------------------------------------- */

/*
 * Exact at the moment of the middle load, if nothing was removed around it;
 * with others at work all the time it stays within what can be.
 */
static size_t size(rota_queue *queue)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    uint64_t front, back;
    int looks = 4;

    do {
        front = rota__load_acquire(&fifo->front.published); /* pairs with publish */
        back = rota__fifo_end_number(fifo);
        /* mutants: only how exact the size is */
    } while (rota__load_relaxed(&fifo->front.published) != front && --looks > 0);
    if (back < front) /* elements were removed from the middle */
        return 0;     /* GCOVR_EXCL_LINE: just between two loads */
    return back - front < fifo->capacity ? (size_t)(back - front) : fifo->capacity;
}

static size_t room(rota_queue *queue)
{
    rota__fifo *fifo = rota__fifo_of(queue);

    return fifo->capacity == ROTA_UNBOUNDED ? ROTA_UNBOUNDED : fifo->capacity - size(queue);
}

/* With both locks nobody is between taking an element and saying so. */
static size_t waiting(rota_queue *queue)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    size_t count;

    rota__fifo_lock_both(fifo);
    count = rota__waitq_count_waiting(&fifo->back.waitq, size(queue));
    rota__fifo_unlock_both(fifo);
    return count;
}

/* -- Wait queues ---------------------------------------------------------- */

static bool seems_filled(const rota__waitq *waitq)
{
    const rota__fifo *fifo = waitq->owner;

    return rota__load_acquire(&fifo->front.published) != rota__fifo_end_number(fifo); /* fifo.Q2 */
}

static bool seems_roomy(const rota__waitq *waitq)
{
    const rota__fifo *fifo = waitq->owner;
    uint64_t front = rota__load_acquire(&fifo->front.published); /* fifo.Q2 */

    return rota__fifo_end_number(fifo) - front < fifo->capacity;
}

/* With one count held still by the lock, the other can only have been more: fifo.Q4. */
static rota_ns filled_when(const rota__waitq *waitq)
{
    return seems_filled(waitq) ? ROTA__READY : ROTA_FOREVER;
}

static rota_ns roomy_when(const rota__waitq *waitq)
{
    return seems_roomy(waitq) ? ROTA__READY : ROTA_FOREVER;
}

static const rota__waitq_ops consumers = {filled_when, seems_filled};
static const rota__waitq_ops producers = {roomy_when, seems_roomy};

/* -- Beginning and end ---------------------------------------------------- */

static void fifo_free(rota_queue *queue)
{
    rota__fifo *fifo = rota__fifo_of(queue);
    rota__segment *segment = fifo->front.place.segment;

    rota__segment_free(fifo, rota__load_relaxed(&fifo->spare));
    if (fifo->is_ring)
        segment->next = NULL;
    while (segment != NULL) {
        rota__segment *next = segment->next;
        rota__segment_free(fifo, segment);
        segment = next;
    }
    rota__free(fifo, sizeof *fifo);
}

static void end_init(rota__fifo *fifo, rota__fifo_end *end, rota__segment *first)
{
    bool is_back = end == &fifo->back;

    end->lock = (rota__mutex){0};
    end->passed = 0;
    end->limit = is_back ? fifo->capacity : 0;
    end->looks = end->shyness = 0; /* mutants: only when it waits for more */
    end->place = (rota__place){first, 0};
    rota__store_relaxed(&end->published, 0);
    rota__waitq_init(&end->waitq, is_back ? &consumers : &producers, &end->lock, fifo,
                     is_back ? ROTA__NEWEST_FIRST : ROTA__OLDEST_FIRST);
}

static int fifo_new(const rota__queue_kind *kind, size_t capacity, size_t span, rota_queue **out)
{
    rota__fifo *fifo = rota__alloc(sizeof *fifo);
    rota__segment *first = segment_new(span);

    if (fifo == NULL || first == NULL) {
        if (first != NULL)
            rota__free(first, segment_size(span));
        if (fifo != NULL)
            rota__free(fifo, sizeof *fifo);
        return ROTA_ENOMEM;
    }
    *fifo = (rota__fifo){
        .queue = {.kind = kind, .producers = &fifo->front.waitq, .consumers = &fifo->back.waitq},
        .capacity = capacity,
        .span = span,
        .is_ring = capacity == span,
        .hands_over = kind->transfer != NULL,
    };
    rota__store_relaxed(&fifo->spare, NULL);
    rota__list_init(&fifo->visits);
    rota__store_relaxed(&fifo->transfers, 0);
    rota__list_init(&fifo->transferring);
    if (fifo->is_ring)
        first->next = first;
    end_init(fifo, &fifo->back, first);
    end_init(fifo, &fifo->front, first);
    *out = &fifo->queue;
    return ROTA_OK;
}

static bool remove_due(rota_queue *queue, const void *element, rota_ns *ready_at)
{
    *ready_at = ROTA_FOREVER;
    return rota__fifo_remove(queue, element, ROTA__FRONT);
}

#define FIFO_KIND                                                                             \
    .insert = insert, .take = take_first, .peek = peek, .drain = drain,                       \
    .remove = rota__fifo_remove, .remove_due = remove_due, .remove_if = rota__fifo_remove_if, \
    .contains = rota__fifo_contains, .visit = rota__fifo_visit, .size = size, .room = room,   \
    .waiting = waiting, .is_busy = rota__fifo_is_busy, .free = fifo_free

static const rota__queue_kind fifo_kind = {FIFO_KIND};
static const rota__queue_kind transfer_kind = {
    FIFO_KIND,
    .transfer = rota__fifo_transfer,
    .try_transfer = rota__fifo_try_transfer,
};

/* As many slots as make a segment of one KiB. */
#ifdef ROTA_EXPLORE
enum { SPAN = 2 }; /* so that a few elements need another segment */
#else
enum { SPAN = (1024 - sizeof(rota__segment)) / sizeof(void *) };
#endif

int rota_array_queue(size_t capacity, rota_queue **out)
{
    if (capacity == 0 || out == NULL)
        return ROTA_EINVAL;
    return fifo_new(&fifo_kind, capacity, capacity, out);
}

/* One that never needs more than a segment is an array queue. */
int rota_linked_queue(size_t capacity, rota_queue **out)
{
    if (capacity == 0 || out == NULL)
        return ROTA_EINVAL;
    return fifo_new(&fifo_kind, capacity, capacity < SPAN ? capacity : SPAN, out);
}

int rota_transfer_queue(rota_queue **out)
{
    if (out == NULL)
        return ROTA_EINVAL;
    return fifo_new(&transfer_kind, ROTA_UNBOUNDED, SPAN, out);
}
