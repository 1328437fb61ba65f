/* SPDX-License-Identifier: MIT */
/*
 * fuzz_queue.c - a fuzzer's bytes are calls on one queue of any kind, which are compared with what a
 * plain list does. One thread: where a call would wait it is interrupted, or its time is up.
 *
 *   byte 0   the kind, and whether its comparator can be relied upon
 *   byte 1   its capacity
 *   then     a call and its argument, two bytes each
 *
 * With a comparator that contradicts itself a priority queue may give elements in any order, but must
 * neither lose nor double one.
 */
#include "queue_parts.h"

#include <rota/rota.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define check(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

static void fail(int line, const char *what)
{
    fprintf(stderr, "FOUND: fuzz_queue.c:%d: not so: %s\n", line, what);
    abort();
}

/* -- Memory, which may be refused ------------------------------------------------------------ */

static unsigned until_refusal; /* 0: none is near */
static bool was_refused;
static size_t live;

static void *allocate(size_t size, void *ctx)
{
    (void)ctx;
    if (size > 1 << 24 || (until_refusal > 0 && --until_refusal == 0)) {
        was_refused = true;
        return NULL;
    }
    live++;
    return malloc(size);
}

static void release(void *block, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    live--;
    free(block);
}

/* -- The model ------------------------------------------------------------------------------- */

typedef enum kind {
    ARRAY,
    LINKED,
    DEQUE,
    PRIORITY,
    DELAY,
    HANDOFF,
    FAIR_HANDOFF,
    TRANSFER,
    STACK,
    KINDS
} kind;

static kind kind_of;
static bool is_consistent; /* its comparator */
static size_t capacity;
static rota_queue *queue;
static item *list[MOST]; /* as they were inserted; of a deque from front to back */
static size_t count;

static bool is_due(const item *element)
{
    return kind_of != DELAY || element->time <= 1000;
}

static bool goes_before(const item *a, const item *b)
{
    if (kind_of == PRIORITY)
        return a->rank < b->rank;
    return kind_of == DELAY && a->time < b->time;
}

/* Where the next to leave is. */
static size_t next_index(void)
{
    size_t best = 0;

    if (kind_of == STACK)
        return count - 1;
    for (size_t i = 1; i < count; i++) {
        if (goes_before(list[i], list[best]))
            best = i;
    }
    return best;
}

static bool has_next(void)
{
    return count > 0 && is_due(list[next_index()]);
}

static size_t room(void)
{
    if (kind_of == HANDOFF || kind_of == FAIR_HANDOFF)
        return 0;
    return capacity == ROTA_UNBOUNDED ? ROTA_UNBOUNDED : capacity - count;
}

static void take_out(size_t at)
{
    count--;
    memmove(&list[at], &list[at + 1], (count - at) * sizeof list[0]);
}

static void put_in(item *element, size_t at)
{
    memmove(&list[at + 1], &list[at], (count - at) * sizeof list[0]);
    list[at] = element;
    count++;
}

static size_t find(const item *element) /* the first to leave; `count`: none */
{
    size_t at = 0;

    if (kind_of == STACK) {
        for (at = count; at-- > 0;) {
            if (list[at] == element)
                return at;
        }
        return count;
    }
    while (at < count && list[at] != element)
        at++;
    return at;
}

static size_t find_last(const item *element)
{
    for (size_t at = count; at-- > 0;) {
        if (list[at] == element)
            return at;
    }
    return count;
}

/* -- Inserting ------------------------------------------------------------------------------- */

static void check_insertion(int status, int if_full, item *element, size_t at)
{
    if (status == ROTA_ENOMEM) {
        check(was_refused);
        return;
    }
    check(status == (room() > 0 ? ROTA_OK : if_full));
    if (status == ROTA_OK)
        put_in(element, at);
}

static void interrupt(void)
{
    rota_thread_interrupt(rota_thread_self());
}

/* A put that would wait is interrupted instead. */
static int put(int (*call)(rota_queue *queue, void *element), item *element)
{
    if (room() == 0)
        interrupt();
    int status = call(queue, element);
    check(!rota_interrupted());
    return status;
}

static void insert(uint8_t how, item *element)
{
    size_t back = count;

    if (count == MOST - 1)
        return;
    switch (how % 4) {
    case 0:
        check_insertion(rota_queue_offer(queue, element), ROTA_EFULL, element, back);
        break;
    case 1:
        check_insertion(rota_queue_offer_timed(queue, element, how % 8 == 1 ? 0 : INT64_MIN),
                        ROTA_ETIMEDOUT, element, back);
        break;
    case 2:
        check_insertion(put(rota_queue_put, element), ROTA_EINTERRUPTED, element, back);
        break;
    default:
        check(rota_queue_put(queue, NULL) == ROTA_EINVAL);
        check(rota_queue_offer(queue, NULL) == ROTA_EINVAL);
        check(rota_queue_offer_timed(queue, NULL, INT64_MAX) == ROTA_EINVAL);
        check(rota_queue_offer(NULL, element) == ROTA_EINVAL);
        break;
    }
}

static void insert_front(uint8_t how, item *element)
{
    if (kind_of != DEQUE) {
        check(rota_deque_offer_front(queue, element) == ROTA_ENOTSUP);
        check(rota_deque_put_front(queue, element) == ROTA_ENOTSUP);
        check(rota_deque_offer_front_timed(queue, element, 0) == ROTA_ENOTSUP);
        return;
    }
    if (count == MOST - 1)
        return;
    if (how % 3 == 0)
        check_insertion(rota_deque_offer_front(queue, element), ROTA_EFULL, element, 0);
    else if (how % 3 == 1)
        check_insertion(rota_deque_offer_front_timed(queue, element, 0), ROTA_ETIMEDOUT, element,
                        0);
    else
        check_insertion(put(rota_deque_put_front, element), ROTA_EINTERRUPTED, element, 0);
}

/* Nobody waits for it, so it is withdrawn. */
static void transfer(uint8_t how, item *element)
{
    if (kind_of != TRANSFER) {
        check(rota_queue_transfer(queue, element, INT64_MAX) == ROTA_ENOTSUP);
        check(rota_queue_try_transfer(queue, element) == ROTA_ENOTSUP);
        return;
    }
    if (how % 3 == 0) {
        check(rota_queue_try_transfer(queue, element) == ROTA_EFULL);
    } else if (how % 3 == 1) {
        int status = rota_queue_transfer(queue, element, -5);
        check(status == ROTA_ETIMEDOUT || (status == ROTA_ENOMEM && was_refused));
    } else {
        interrupt();
        int status = rota_queue_transfer(queue, element, INT64_MAX);
        check(status == ROTA_EINTERRUPTED || (status == ROTA_ENOMEM && was_refused));
        rota_interrupted();
    }
}

/* -- Removing -------------------------------------------------------------------------------- */

/* Whatever it is, it was there; and it is the right one, where there is a right one. */
static void check_next(const item *element, bool is_removed)
{
    size_t at = find(element);

    check(at < count);
    check(!is_consistent || element == list[next_index()]);
    if (is_removed)
        take_out(at);
}

static void check_removal(int status, int if_empty, void *const *element)
{
    check(status == (has_next() ? ROTA_OK : if_empty));
    if (status == ROTA_OK)
        check_next(*element, true);
    else
        check(*element == &queue);
}

static void remove_next(uint8_t how)
{
    void *element = &queue;

    if (how % 3 == 0) {
        check_removal(rota_queue_poll(queue, &element), ROTA_EEMPTY, &element);
    } else if (how % 3 == 1) {
        check_removal(rota_queue_poll_timed(queue, how % 2 ? 0 : INT64_MIN, &element),
                      ROTA_ETIMEDOUT, &element);
    } else {
        if (!has_next())
            interrupt();
        check_removal(rota_queue_take(queue, &element), ROTA_EINTERRUPTED, &element);
        check(!rota_interrupted());
    }
}

static void remove_back(uint8_t how)
{
    void *element = &queue;
    int status = how % 2 ? rota_deque_poll_back(queue, &element)
                         : rota_deque_poll_back_timed(queue, 0, &element);

    if (kind_of != DEQUE) {
        check(status == ROTA_ENOTSUP && element == &queue);
    } else if (count == 0) {
        check(status == (how % 2 ? ROTA_EEMPTY : ROTA_ETIMEDOUT) && element == &queue);
    } else {
        check(status == ROTA_OK && element == list[count - 1]);
        count--;
    }
}

static void remove_by_name(uint8_t how, item *element)
{
    bool from_back = how % 2;
    size_t at = from_back ? find_last(element) : find(element);
    bool is_there = at < count && (kind_of == DEQUE || !from_back);

    check((from_back ? rota_deque_remove_last(queue, element) : rota_queue_remove(queue, element))
          == is_there);
    if (is_there)
        take_out(at);
    check(!rota_queue_remove(queue, NULL));
}

static void drain(uint8_t how)
{
    void *elements[MOST];
    size_t most = how % 16 < 15 ? how % 16 : MOST;
    size_t moved = rota_queue_drain(queue, elements, most);

    for (size_t i = 0; i < moved; i++) {
        check(has_next());
        check_next(elements[i], true);
    }
    check(moved == most || !has_next());
    check(rota_queue_drain(queue, NULL, 5) == 0);
}

typedef struct choice {
    unsigned mask;
    size_t asked;
} choice;

static bool is_chosen(void *element, void *ctx)
{
    choice *choice = ctx;

    choice->asked++;
    return ((size_t)((item *)element - items) & choice->mask) != 0;
}

static void remove_if(uint8_t how)
{
    choice choice = {.mask = how, .asked = 0};
    size_t before = count;
    size_t kept = 0;
    size_t removed = rota_queue_remove_if(queue, how == 255 ? NULL : is_chosen, &choice);

    check(how == 255 || choice.asked == before);
    for (size_t i = 0; i < count; i++) {
        if (how != 255 && ((size_t)(list[i] - items) & how) == 0)
            list[kept++] = list[i];
    }
    count = kept;
    check(removed == before - count);
}

/* -- Looking --------------------------------------------------------------------------------- */

typedef struct shown {
    item *elements[MOST];
    size_t count;
} shown;

static void show(void *element, void *ctx)
{
    shown *seen = ctx;

    check(seen->count < count);
    seen->elements[seen->count++] = element;
}

static size_t occurrences(item *const *elements, const item *element)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        found += elements[i] == element;
    return found;
}

/* As they were inserted; which one of two equal pointers has left is open without an order. */
static void check_shown(const shown *seen)
{
    for (size_t i = 0; i < count; i++) {
        if (is_consistent)
            check(seen->elements[i] == list[kind_of == STACK ? count - 1 - i : i]);
        else
            check(occurrences(seen->elements, list[i]) == occurrences(list, list[i]));
    }
}

static void look_at_each(void)
{
    shown forth = {.count = 0};
    shown back = {.count = 0};

    check(rota_queue_each(queue, show, &forth) == count && forth.count == count);
    check_shown(&forth);
    check(rota_deque_each_back(queue, show, &back) == (kind_of == DEQUE ? count : 0));
    for (size_t i = 0; i < back.count; i++)
        check(back.elements[i] == list[count - 1 - i]);
}

static void look(item *element)
{
    void *found = &queue;
    int status = rota_queue_peek(queue, &found);

    check(status == (count > 0 ? ROTA_OK : ROTA_EEMPTY));
    if (status == ROTA_OK)
        check_next(found, false);
    status = rota_deque_peek_back(queue, &found);
    if (kind_of != DEQUE)
        check(status == ROTA_ENOTSUP);
    else
        check(count > 0 ? status == ROTA_OK && found == list[count - 1] : status == ROTA_EEMPTY);
    check(rota_queue_contains(queue, element) == (find(element) < count));
    check(!rota_queue_contains(queue, NULL));
}

static void check_sizes(void)
{
    check(rota_queue_size(queue) == count);
    check(rota_queue_room(queue) == room());
    check(rota_queue_waiting(queue) == 0);
}

/* -- A run ----------------------------------------------------------------------------------- */

static int make(kind wanted, size_t size)
{
    capacity = size;
    switch (wanted) {
    case ARRAY:
        capacity = size == ROTA_UNBOUNDED ? 40 : size;
        return rota_array_queue(capacity, &queue);
    case LINKED:
        return rota_linked_queue(size, &queue);
    case DEQUE:
        return rota_deque(size, &queue);
    case PRIORITY:
        capacity = ROTA_UNBOUNDED;
        return rota_priority_queue(item_compare, &is_consistent, &queue);
    case DELAY:
        capacity = ROTA_UNBOUNDED;
        return rota_delay_queue(item_due, NULL, &queue);
    case HANDOFF:
        return rota_handoff_queue(&queue);
    case FAIR_HANDOFF:
        return rota_fair_handoff_queue(&queue);
    case TRANSFER:
        capacity = ROTA_UNBOUNDED;
        return rota_transfer_queue(&queue);
    default:
        capacity = size == ROTA_UNBOUNDED ? 40 : size;
        return stack_queue(capacity, &queue);
    }
}

static void operate(uint8_t call, uint8_t arg)
{
    item *element = &items[arg % ITEMS];

    was_refused = false;
    until_refusal = call >= 224 ? 1 + arg % 3 : 0;
    switch (call % 14) {
    case 0:
    case 1:
    case 2:
    case 3:
        insert(call / 14, element);
        break;
    case 4:
        insert_front(call / 14, element);
        break;
    case 5:
        transfer(call / 14, element);
        break;
    case 6:
    case 7:
        remove_next(arg);
        break;
    case 8:
        remove_back(arg);
        break;
    case 9:
        remove_by_name(call / 14, element);
        break;
    case 10:
        drain(arg);
        break;
    case 11:
        remove_if(arg);
        break;
    case 12:
        look_at_each();
        break;
    default:
        look(element);
        break;
    }
    until_refusal = 0;
    check_sizes();
}

static void empty(void)
{
    void *element = NULL;

    while (has_next()) {
        check(rota_queue_poll(queue, &element) == ROTA_OK);
        check_next(element, true);
    }
    check(rota_queue_poll(queue, &element) == ROTA_EEMPTY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const rota_allocator allocator = {allocate, release, NULL};
    static bool prepared;

    if (!prepared && rota_set_allocator(&allocator) != ROTA_OK)
        abort();
    prepared = true;
    if (size < 2)
        return 0;
    rota_thread_self(); /* what it needs stays with the thread */
    items_begin(data[1]);
    count = 0;
    kind_of = data[0] % KINDS;
    is_consistent = kind_of != PRIORITY || data[0] < 128;
    size_t before = live;
    if (make(kind_of, data[1] > 0 ? data[1] % 80 : ROTA_UNBOUNDED) != ROTA_OK) {
        check(capacity == 0);
        return 0;
    }
    check_sizes();
    for (size_t i = 2; i + 1 < size; i += 2)
        operate(data[i], data[i + 1]);
    empty();
    check(rota_queue_free(queue) == ROTA_OK);
    check(live == before);
    return 0;
}
