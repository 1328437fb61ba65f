/* SPDX-License-Identifier: MIT */
/*
 * memory.c - what threads see of one another's memory.
 *
 * Atomic operations come through explore_atomic.h. Plain accesses of the library and of scenarios
 * come through the calls that the compiler adds with -fsanitize=thread; its own run-time library is
 * not linked, so they end here.
 *
 *   memory.M1  A thread's clock has, for each thread, how much of that one's past it has seen. A
 *              release leaves the clock with the object, an acquire takes it from there; a
 *              read-modify-write adds to what is there. Two plain accesses of which neither is in
 *              the other's past, and one is a write, are a data race, whatever the order in which
 *              they happened to come.
 *   memory.M2  A delayed store waits in its thread's buffer, and so does every store after it. Its
 *              thread sees it, the others do not. It is carried out before the thread's next
 *              read-modify-write, system call, free or end. That is x86's order; history.c has
 *              C11's.
 *   memory.M3  An operation is a point for a switch only if its object is used by several threads
 *              and written by one. That is learned as schedules are run; when something new was
 *              learned, a search that is to be exhaustive begins again.
 */
#include "engine.h"

#include <stdio.h>
#include <string.h>

/* -- Clocks of atomic objects (memory.M1) ---------------------------------------------------- */

enum { LOCATIONS = 1024 * EX_SCALE, SHADOWS = 4096, USAGES = 8192 };

typedef struct location {
    uintptr_t address;
    uint32_t generation;
    uint32_t clock[EX_THREADS];
} location;

static location locations[LOCATIONS];
static uint32_t generation = 1;

static size_t hash(uintptr_t key, size_t size)
{
    return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 40) % size;
}

static location *location_of(const void *address)
{
    size_t i = hash((uintptr_t)address >> 2, LOCATIONS);

    while (locations[i].generation == generation && locations[i].address != (uintptr_t)address)
        i = (i + 1) % LOCATIONS;
    if (locations[i].generation != generation) {
        memset(&locations[i], 0, sizeof locations[i]);
        locations[i].address = (uintptr_t)address;
        locations[i].generation = generation;
    }
    return &locations[i];
}

void clock_join(uint32_t *to, const uint32_t *from)
{
    for (int i = 0; i < EX_THREADS; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

void clock_tick(ex_thread *thread)
{
    thread->clock[thread->id]++;
}

void memory_begin(void)
{
    generation++;
    if (history_is_on())
        history_begin();
}

void memory_start(ex_thread *parent, ex_thread *child)
{
    memory_drain(parent);
    memcpy(child->clock, parent->clock, sizeof child->clock);
    history_start(parent, child);
    clock_tick(child);
    clock_tick(parent);
}

void memory_join(ex_thread *parent, const ex_thread *child)
{
    clock_join(parent->clock, child->clock);
    history_join(parent, child);
}

/* -- Which objects matter (memory.M3) -------------------------------------------------------- */

typedef struct usage {
    uintptr_t address;
    int8_t thread; /* the first that used it */
    bool used;
    bool several; /* others did, too */
    bool written;
} usage;

static usage usages[USAGES];
static bool learned;

void memory_forget(void)
{
    memset(usages, 0, sizeof usages);
    learned = false;
}

bool memory_learned(void)
{
    bool was = learned;

    learned = false;
    return was;
}

static usage *usage_of(const void *object)
{
    size_t i = hash((uintptr_t)object >> 2, USAGES);
    unsigned tries = 0;

    while (usages[i].used && usages[i].address != (uintptr_t)object && ++tries < USAGES)
        i = (i + 1) % USAGES;
    return &usages[i];
}

static bool matters(const void *object, bool writes)
{
    usage *usage = usage_of(object);

    if (!usage->used || usage->address != (uintptr_t)object)
        *usage = (struct usage){(uintptr_t)object, (int8_t)ex_running->id, true, false, false};
    bool before = usage->several && usage->written;
    usage->several |= usage->thread != ex_running->id;
    usage->written |= writes;
    bool now = usage->several && usage->written;
    learned |= now && !before;
    return now;
}

static void point(const char *operation, const void *object, bool writes, const char *file,
                  int line)
{
    if (matters(object, writes) || choice_is_replay())
        ex_point(operation, object, file, line);
    else
        choice_tick();
    memory_check(object, operation, file, line);
}

/* -- Values and store buffers (memory.M2) ---------------------------------------------------- */

static uint64_t read_value(const void *address, size_t size)
{
    uint64_t value = 0;

    memcpy(&value, address, size); /* little-endian machines: x86-64, aarch64 */
    return value;
}

static void write_value(void *address, size_t size, uint64_t value)
{
    memcpy(address, &value, size);
}

static void carry_out(const ex_store *store)
{
    location *location = location_of(store->address);

    ex_progress();
    write_value(store->address, store->size, store->value);
    if (store->release)
        memcpy(location->clock, store->clock, sizeof location->clock);
    else
        memset(location->clock, 0, sizeof location->clock);
}

void memory_drain(ex_thread *thread)
{
    for (unsigned i = 0; i < thread->buffered; i++)
        carry_out(&thread->buffer[i]);
    thread->buffered = 0;
}

static bool read_buffer(const void *address, uint64_t *value)
{
    for (unsigned i = ex_running->buffered; i-- > 0;) {
        if (ex_running->buffer[i].address == address) {
            *value = ex_running->buffer[i].value;
            return true;
        }
    }
    return false;
}

/*
 * Not a store to the thread's own stack: the compiler uses that again, by stores that are not seen
 * here and must come after it.
 */
static bool may_delay(const void *object)
{
    ex_thread *owner;

    return !ex_owns_stack(object, &owner) || owner != ex_running;
}

/* -- Atomic operations ----------------------------------------------------------------------- */

static bool is_acquire(ex_order order)
{
    return order == EX_ACQUIRE || order == EX_ACQ_REL;
}

static bool is_release(ex_order order)
{
    return order == EX_RELEASE || order == EX_ACQ_REL;
}

uint64_t ex_load(const void *object, size_t size, ex_order order, const char *file, int line)
{
    uint64_t value;

    point("load", object, false, file, line);
    if (history_is_on())
        return history_load(object, size, order);
    if (!read_buffer(object, &value))
        value = read_value(object, size);
    if (is_acquire(order))
        clock_join(ex_running->clock, location_of(object)->clock);
    return value;
}

void ex_store_value(void *object, size_t size, uint64_t value, ex_order order, const char *file,
                    int line)
{
    point("store", object, true, file, line);
    if (history_is_on()) {
        history_store(object, size, value, order);
        return;
    }
    ex_store store = {object, value, (uint8_t)size, is_release(order), {0}};
    memcpy(store.clock, ex_running->clock, sizeof store.clock);
    if (ex_running->buffered == EX_BUFFER)
        memory_drain(ex_running);
    if (may_delay(object) && (ex_running->buffered > 0 || choice_make(EX_DELAY, 2) == 1))
        ex_running->buffer[ex_running->buffered++] = store;
    else
        carry_out(&store);
    if (is_release(order))
        clock_tick(ex_running);
}

/* A read-modify-write: memory.M2, memory.M1. */
static void modified(void *object, size_t size, uint64_t value, ex_order order)
{
    location *location = location_of(object);

    ex_progress();
    write_value(object, size, value);
    if (is_acquire(order))
        clock_join(ex_running->clock, location->clock);
    if (is_release(order)) {
        clock_join(location->clock, ex_running->clock);
        clock_tick(ex_running);
    }
}

uint64_t rmw_result(uint64_t old, ex_rmw how, uint64_t operand)
{
    switch (how) {
    case EX_ADD:
        return old + operand;
    case EX_SUB:
        return old - operand;
    case EX_OR:
        return old | operand;
    default:
        return operand;
    }
}

uint64_t ex_modify(void *object, size_t size, ex_rmw how, uint64_t operand, ex_order order,
                   const char *file, int line)
{
    static const char *const names[] = {"swap", "add", "sub", "or"};

    point(names[how], object, true, file, line);
    if (history_is_on())
        return history_modify(object, size, how, operand, order);
    memory_drain(ex_running);
    uint64_t old = read_value(object, size);
    modified(object, size, rmw_result(old, how, operand), order);
    return old;
}

bool ex_cas(void *object, size_t size, uint64_t *expected, uint64_t desired, ex_order order,
            const char *file, int line)
{
    point("cas", object, true, file, line);
    if (history_is_on())
        return history_cas(object, size, expected, desired, order);
    memory_drain(ex_running);
    uint64_t old = read_value(object, size);
    if (old == *expected) {
        modified(object, size, desired, order);
        return true;
    }
    clock_join(ex_running->clock, location_of(object)->clock); /* both kinds acquire on failure */
    *expected = old;
    return false;
}

uint64_t ex_torn_modify(void *object, size_t size, ex_rmw how, uint64_t operand, ex_order order,
                        const char *file, int line)
{
    uint64_t old = ex_load(object, size, order, file, line);

    ex_store_value(object, size, rmw_result(old, how, operand), order, file, line);
    return old;
}

bool ex_torn_cas(void *object, size_t size, uint64_t *expected, uint64_t desired, ex_order order,
                 const char *file, int line)
{
    uint64_t old = ex_load(object, size, order, file, line);

    if (old == *expected) {
        ex_store_value(object, size, desired, order, file, line);
        return true;
    }
    *expected = old;
    return false;
}

/* -- Plain accesses -------------------------------------------------------------------------- */

typedef struct shadow { /* of eight bytes */
    uintptr_t granule;
    uint32_t generation;
    uint8_t write_mask; /* the bytes of the last write */
    uint8_t writer;
    uint32_t write_clock;
    uint8_t read_mask[EX_THREADS];
    uint32_t read_clock[EX_THREADS];
} shadow;

static shadow shadows[SHADOWS];

static shadow *shadow_of(uintptr_t granule)
{
    size_t first = hash(granule, SHADOWS);

    for (size_t i = 0; i < 8; i++) {
        shadow *entry = &shadows[(first + i) % SHADOWS];
        if (entry->generation == generation && entry->granule == granule)
            return entry;
        if (entry->generation != generation) {
            memset(entry, 0, sizeof *entry);
            entry->granule = granule;
            entry->generation = generation;
            return entry;
        }
    }
    shadow *entry = &shadows[first]; /* forgets another: a race may be missed, none invented */
    memset(entry, 0, sizeof *entry);
    entry->granule = granule;
    entry->generation = generation;
    return entry;
}

static void found_race(int other, bool other_wrote, bool writes, const void *where)
{
    char text[200];

    snprintf(text, sizeof text, "data race: it %s memory that thread %d %s, at code address %p",
             writes ? "writes" : "reads", other, other_wrote ? "wrote" : "read", where);
    ex_fail("plain access", 0, text);
}

static void touch_granule(uintptr_t granule, uint8_t mask, bool writes, const void *where)
{
    shadow *entry = shadow_of(granule);
    const ex_thread *self = ex_running;
    uint32_t now = self->clock[self->id];

    if (!writes && entry->read_clock[self->id] == now
        && (entry->read_mask[self->id] & mask) == mask)
        return; /* as a moment ago */
    if ((entry->write_mask & mask) && entry->writer != self->id
        && entry->write_clock > self->clock[entry->writer])
        found_race(entry->writer, true, writes, where);
    if (!writes) {
        uint8_t others = entry->read_clock[self->id] == now ? entry->read_mask[self->id] : 0;
        entry->read_mask[self->id] = others | mask;
        entry->read_clock[self->id] = now;
        return;
    }
    for (int i = 0; i < EX_THREADS; i++) {
        if ((entry->read_mask[i] & mask) && i != self->id && entry->read_clock[i] > self->clock[i])
            found_race(i, false, true, where);
    }
    entry->write_mask = mask;
    entry->writer = (uint8_t)self->id;
    entry->write_clock = now;
}

void memory_check(const void *address, const char *what, const char *file, int line)
{
    uintptr_t in_stack = (uintptr_t)address - (uintptr_t)ex_running->fiber.stack;
    ex_thread *owner;
    char text[100];

    if (in_stack < EX_STACK)
        return;
    if (heap_is_freed(address)) {
        snprintf(text, sizeof text, "use after free: %s", what);
        ex_fail(file, line, text);
    }
    if (ex_owns_memory(address, &owner) && owner->status == EX_ENDED) {
        snprintf(text, sizeof text, "%s in memory of thread %d, which has ended", what, owner->id);
        ex_fail(file, line, text);
    }
}

/* Fast for what lies within eight bytes, as most does. */
static void touch(const void *address, size_t size, bool writes, const void *where)
{
    uintptr_t begin = (uintptr_t)address;
    uintptr_t end = begin + size;

    if (ex_running == NULL)
        return;
    memory_check(address, writes ? "plain write" : "plain read", "plain access", 0);
    if (writes && history_is_on())
        history_plain_write(begin, size);
    while (begin < end) {
        uintptr_t granule = begin >> 3;
        uintptr_t stop = (granule + 1) << 3;
        unsigned from = (unsigned)(begin & 7);
        unsigned bytes = (unsigned)((stop < end ? stop : end) - begin);
        touch_granule(granule, (uint8_t)(((1U << bytes) - 1) << from), writes, where);
        begin = stop;
    }
}

void memory_freed(void *block, size_t size)
{
    touch(block, size, true, __builtin_return_address(0));
}

/* The compiler's calls. */
#define PLAIN(name, size, writes)                                  \
    void __tsan_##name(void *address);                             \
    void __tsan_##name(void *address)                              \
    {                                                              \
        touch(address, size, writes, __builtin_return_address(0)); \
    }
PLAIN(read1, 1, false)
PLAIN(read2, 2, false)
PLAIN(read4, 4, false)
PLAIN(read8, 8, false)
PLAIN(read16, 16, false)
PLAIN(write1, 1, true)
PLAIN(write2, 2, true)
PLAIN(write4, 4, true)
PLAIN(write8, 8, true)
PLAIN(write16, 16, true)
PLAIN(unaligned_read2, 2, false)
PLAIN(unaligned_read4, 4, false)
PLAIN(unaligned_read8, 8, false)
PLAIN(unaligned_read16, 16, false)
PLAIN(unaligned_write2, 2, true)
PLAIN(unaligned_write4, 4, true)
PLAIN(unaligned_write8, 8, true)
PLAIN(unaligned_write16, 16, true)

#define RANGE(name, writes)                                        \
    void __tsan_##name(void *address, unsigned long size);         \
    void __tsan_##name(void *address, unsigned long size)          \
    {                                                              \
        touch(address, size, writes, __builtin_return_address(0)); \
    }
RANGE(read_range, false)
RANGE(write_range, true)

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

/* Updates a counter of --coverage, which is no access of the explored program. */
uint64_t __tsan_atomic64_fetch_add(volatile uint64_t *counter, uint64_t n, int order);
uint64_t __tsan_atomic64_fetch_add(volatile uint64_t *counter, uint64_t n, int order)
{
    (void)order;
    *counter += n;
    return *counter - n;
}
