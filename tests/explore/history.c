/* SPDX-License-Identifier: MIT */
/*
 * history.c - C11's memory model: every atomic object keeps its history.
 *
 * In this mode a load may return an old value, and a store may take its place before stores that were
 * executed earlier. The model is that of Kang et al., "A promising semantics for relaxed-memory
 * concurrency" (POPL 2017), without promises: a load never returns the value of a store that is executed
 * later, so load buffering is not explored. In one point the model is weaker than C11: as in C++20, a relaxed
 * store of the releasing thread ends a release sequence.
 *
 *   history.V1  The stores to an object are messages, in modification order. The view of a thread
 *               holds for each object the oldest message that the thread may still read. Reading or
 *               writing a message raises the view to it.
 *   history.V2  A release leaves the view and the clock of its thread in the message; an acquire
 *               adds those of the message to its own. A read-modify-write passes on what is in the
 *               message that it reads, so it continues a release sequence. Every other store ends
 *               the sequence.
 *   history.V3  A read-modify-write comes directly behind the message that it reads, and nothing
 *               comes between them.
 *   history.V4  A plain write to an object begins a new history, which every thread sees.
 *   history.V5  A history that is full forgets its older half. Behaviour may be missed then; none
 *               is invented.
 *   history.V6  A thread that is about to sleep sees everything that came before each earlier wake
 *               of the same word, as the lock of the futex guarantees. So does a look at a
 *               descriptor.
 */
#include "engine.h"

#include <string.h>

enum { OBJECTS = 256 * EX_SCALE, MESSAGES = 12, TRACKED = 4096 };

typedef uint8_t view[OBJECTS]; /* for each object: the position of a message */

typedef struct message {
    uint64_t value;
    bool is_attached; /* history.V3: to the message before it */
    uint32_t clock[EX_THREADS];
    view view;
} message;

typedef struct object {
    uintptr_t address;
    size_t size;
    bool is_outdated; /* history.V4 */
    unsigned count;
    message messages[MESSAGES]; /* in modification order; the newest value is also in memory */
    view woken;                 /* history.V6 */
} object;

static object objects[OBJECTS];
static unsigned object_count;
static uint16_t slots[2 * OBJECTS]; /* hash table: 0, or 1 + the index of an object */
static bool tracked[TRACKED];       /* by hash: does this granule of eight bytes hold an object? */
static view views[EX_THREADS];

bool history_is_on(void)
{
    return choice_allows(EX_STALE);
}

void history_begin(void)
{
    object_count = 0;
    memset(slots, 0, sizeof slots);
    memset(tracked, 0, sizeof tracked);
    memset(views, 0, sizeof views);
}

/* -- Views ----------------------------------------------------------------------------------- */

static uint8_t *own_view(void)
{
    return views[ex_running->id];
}

static void join_view(uint8_t *to, const uint8_t *from)
{
    for (unsigned i = 0; i < object_count; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

/* Calls `change` for the position of one object in every view that there is. */
static void change_positions(unsigned index, uint8_t (*change)(uint8_t position, unsigned arg),
                             unsigned arg)
{
    for (int i = 0; i < EX_THREADS; i++)
        views[i][index] = change(views[i][index], arg);
    for (unsigned i = 0; i < object_count; i++) {
        object *object = &objects[i];
        object->woken[index] = change(object->woken[index], arg);
        for (unsigned j = 0; j < object->count; j++)
            object->messages[j].view[index] = change(object->messages[j].view[index], arg);
    }
}

static uint8_t reset(uint8_t position, unsigned unused)
{
    (void)position;
    (void)unused;
    return 0;
}

static uint8_t lower(uint8_t position, unsigned by)
{
    return position > by ? (uint8_t)(position - by) : 0;
}

static uint8_t make_room(uint8_t position, unsigned at)
{
    return position >= at ? position + 1 : position;
}

void history_start(const ex_thread *parent, const ex_thread *child)
{
    memcpy(views[child->id], views[parent->id], sizeof(view));
}

void history_join(const ex_thread *parent, const ex_thread *child)
{
    join_view(views[parent->id], views[child->id]);
}

void history_barrier(void)
{
    for (int i = 0; i < EX_THREADS; i++)
        join_view(own_view(), views[i]);
    for (int i = 0; i < EX_THREADS; i++)
        join_view(views[i], own_view());
}

/* -- Objects --------------------------------------------------------------------------------- */

static unsigned index_of(const object *object)
{
    return (unsigned)(object - objects);
}

static size_t hash(uintptr_t key, size_t size)
{
    return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 40) % size;
}

static uint16_t *slot_of(uintptr_t address)
{
    size_t i = hash(address, 2 * OBJECTS);

    while (slots[i] != 0 && objects[slots[i] - 1].address != address)
        i = (i + 1) % (2 * OBJECTS);
    return &slots[i];
}

static uint64_t read_memory(const void *address, size_t size)
{
    uint64_t value = 0;

    memcpy(&value, address, size);
    return value;
}

static object *new_object(uintptr_t address, size_t size)
{
    if (object_count == OBJECTS)
        ex_fail("history", 0, "the scenario has more atomic objects than there is room for");
    object *object = &objects[object_count++];
    object->address = address;
    object->size = size;
    object->count = 0;
    memset(object->woken, 0, sizeof object->woken);
    tracked[hash(address >> 3, TRACKED)] = true;
    return object;
}

/* The value in memory becomes the only message. */
static void restart(object *object, uint64_t value)
{
    if (object->count > 0)
        change_positions(index_of(object), reset, 0);
    memset(&object->messages[0], 0, sizeof object->messages[0]);
    object->messages[0].value = value;
    object->count = 1;
    object->is_outdated = false;
}

/* The compiler may write to a stack without being seen: then memory differs from the newest message. */
static object *find_object(const void *address, size_t size)
{
    uint16_t *slot = slot_of((uintptr_t)address);
    uint64_t value = read_memory(address, size);

    if (*slot == 0) {
        restart(new_object((uintptr_t)address, size), value);
        *slot = (uint16_t)object_count;
    }
    object *object = &objects[*slot - 1];
    if (object->size != size) { /* another object of a reused stack */
        object->size = size;
        object->is_outdated = true;
    }
    if (object->is_outdated || object->messages[object->count - 1].value != value)
        restart(object, value); /* history.V4 */
    return object;
}

void history_plain_write(uintptr_t begin, size_t size)
{
    for (uintptr_t granule = begin >> 3; granule <= (begin + size - 1) >> 3; granule++) {
        if (!tracked[hash(granule, TRACKED)])
            continue;
        for (uintptr_t address = granule << 3; address < (granule + 1) << 3; address++) {
            uint16_t slot = *slot_of(address);
            if (slot != 0 && address < begin + size && begin < address + objects[slot - 1].size)
                objects[slot - 1].is_outdated = true;
        }
    }
}

/* -- Messages -------------------------------------------------------------------------------- */

/* True if a message may be inserted after the one at this position: history.V3. */
static bool is_open(const object *object, unsigned at)
{
    return at + 1 == object->count || !object->messages[at + 1].is_attached;
}

static void forget_older_half(object *object)
{
    unsigned half = MESSAGES / 2;

    memmove(object->messages, object->messages + half,
            (MESSAGES - half) * sizeof object->messages[0]);
    object->count -= half;
    object->messages[0].is_attached = false;
    change_positions(index_of(object), lower, half);
}

/* A new message, with an empty view and clock, at this position. */
static message *insert(object *object, unsigned at, uint64_t value)
{
    if (at == object->count++) {
        memcpy((void *)object->address, &value, object->size); /* the newest value is in memory */
    } else {
        memmove(&object->messages[at + 1], &object->messages[at],
                (object->count - 1 - at) * sizeof object->messages[0]);
        change_positions(index_of(object), make_room, at);
    }
    message *message = &object->messages[at];
    memset(message, 0, sizeof *message);
    memcpy(&message->value, &value, object->size);
    own_view()[index_of(object)] = (uint8_t)at; /* history.V1 */
    ex_progress();
    return message;
}

static bool is_acquire(ex_order order)
{
    return order == EX_ACQUIRE || order == EX_ACQ_REL;
}

static bool is_release(ex_order order)
{
    return order == EX_RELEASE || order == EX_ACQ_REL;
}

static void read_message(const object *object, unsigned at, ex_order order)
{
    const message *message = &object->messages[at];

    own_view()[index_of(object)] = (uint8_t)at; /* history.V1 */
    if (is_acquire(order)) {
        join_view(own_view(), message->view); /* history.V2 */
        clock_join(ex_running->clock, message->clock);
    }
}

static void release_to(message *message, ex_order order)
{
    if (!is_release(order))
        return;
    join_view(message->view, own_view()); /* history.V2 */
    clock_join(message->clock, ex_running->clock);
    clock_tick(ex_running);
}

/* Chooses one of the positions in `options`. The last one is the quiet choice. */
static unsigned choose(const unsigned *options, unsigned n)
{
    return options[n - 1 - choice_make(EX_STALE, n)];
}

/* -- Atomic operations ----------------------------------------------------------------------- */

uint64_t history_load(const void *address, size_t size, ex_order order)
{
    object *object = find_object(address, size);
    unsigned oldest = own_view()[index_of(object)];
    unsigned at = object->count - 1 - choice_make(EX_STALE, object->count - oldest);

    read_message(object, at, order);
    return object->messages[at].value;
}

void history_store(void *address, size_t size, uint64_t value, ex_order order)
{
    object *object = find_object(address, size);
    unsigned options[MESSAGES];
    unsigned n = 0;

    if (object->count == MESSAGES)
        forget_older_half(object); /* history.V5 */
    for (unsigned before = own_view()[index_of(object)]; before < object->count; before++) {
        if (is_open(object, before))
            options[n++] = before + 1;
    }
    release_to(insert(object, choose(options, n), value), order);
}

/* Inserts the message of a read-modify-write after the one at `at`, which it has read. */
static void modify(object *object, unsigned at, uint64_t value, ex_order order)
{
    read_message(object, at, order);
    message *message = insert(object, at + 1, value);
    message->is_attached = true;
    memcpy(message->view, message[-1].view, sizeof message->view); /* history.V2: passed on */
    memcpy(message->clock, message[-1].clock, sizeof message->clock);
    release_to(message, order);
}

uint64_t history_modify(void *address, size_t size, ex_rmw how, uint64_t operand, ex_order order)
{
    object *object = find_object(address, size);
    unsigned options[MESSAGES];
    unsigned n = 0;

    if (object->count == MESSAGES)
        forget_older_half(object);
    for (unsigned at = own_view()[index_of(object)]; at < object->count; at++) {
        if (is_open(object, at))
            options[n++] = at;
    }
    unsigned at = choose(options, n);
    uint64_t old = object->messages[at].value;
    modify(object, at, rmw_result(old, how, operand), order);
    return old;
}

bool history_cas(void *address, size_t size, uint64_t *expected, uint64_t desired, ex_order order)
{
    object *object = find_object(address, size);
    unsigned options[MESSAGES];
    unsigned n = 0;

    if (object->count == MESSAGES)
        forget_older_half(object);
    for (unsigned at = own_view()[index_of(object)]; at < object->count; at++) {
        if (is_open(object, at) || object->messages[at].value != *expected)
            options[n++] = at;
    }
    unsigned at = choose(options, n);
    uint64_t old = object->messages[at].value;
    if (old == *expected) {
        modify(object, at, desired, order);
        return true;
    }
    read_message(object, at, EX_ACQUIRE); /* both kinds acquire on failure */
    *expected = old;
    return false;
}

/* -- Sleeping and descriptors (history.V6) ----------------------------------------------------------- */

void history_wake(const void *address, size_t size)
{
    if (!heap_is_freed(address)) /* else nobody can sleep there */
        join_view(find_object(address, size)->woken, own_view());
}

void history_see_wakes(const void *address, size_t size)
{
    join_view(own_view(), find_object(address, size)->woken);
}
