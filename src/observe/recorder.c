/* SPDX-License-Identifier: MIT */
/*
 * recorder.c - each thread's newest events, in a ring.
 *
 * The owner writes an event and then counts it. Who reads copies an event, and then looks at the count
 * again: if so many were written meanwhile that its place has been used anew, or may be just now, the
 * copy is void.
 */
#include "observe/observe_internal.h"

#include "base/alloc.h"
#include "base/fork.h"
#include "observe/ring.h"

#include <string.h>

enum { DEFAULT_EVENTS = 16384, LEAST_EVENTS = 64 };
#define MOST_EVENTS ((size_t)1 << 24)

static rota__atomic(uint32_t) session; /* the recorder's; changed under the lock, as is the rest */
static size_t events;
static rota_ns keeps;
static rota_ns begun, ended; /* the latter: when it was last stopped */

/* -- Writing -------------------------------------------------------------- */

static size_t bytes_of(size_t size)
{
    return sizeof(rota__ring) + size * sizeof(rota__ring_event);
}

void rota__ring_free(rota__ring *ring)
{
    if (ring != NULL)
        rota__free(ring, bytes_of(ring->size));
}

uint32_t rota__recorder_session(void)
{
    return rota__load_relaxed(&session);
}

/* A ring of this session, or none. It may be there, from a thread before this one. */
static rota__ring *renew(rota__record *record)
{
    rota__ring *ring;

    rota__mutex_lock(&rota__process_lock);
    ring = record->ring;
    if (ring != NULL && ring->size != events) {
        rota__ring_free(ring);
        ring = NULL;
    }
    if (ring == NULL)
        ring = rota__alloc(bytes_of(events));
    if (ring != NULL && (ring != record->ring || ring->session != rota__load_relaxed(&session))) {
        ring->size = events;
        ring->session = rota__load_relaxed(&session);
        rota__store_relaxed(&ring->written, 0);
    }
    record->ring = ring;
    record->introduced = ring != NULL ? ring->session : 0;
    rota__mutex_unlock(&rota__process_lock);
    return ring;
}

static void write(rota__ring *ring, rota_ns time, uint64_t what, int64_t value)
{
    uint64_t written = rota__load_relaxed(&ring->written);
    rota__ring_event *event = &ring->event[written & (ring->size - 1)];

    /* Release: who sees one of these sees that `written` has come this far. Pairs with copy. */
    rota__store_release(&event->time, time);
    rota__store_release(&event->what, what);
    rota__store_release(&event->value, value);
    rota__store_release(&ring->written, written + 1);
}

/* Says who writes here from now on. False: there is no memory for it. */
static ROTA__NOINLINE bool introduce(rota__record *record, rota_ns time)
{
    rota__ring *ring = renew(record);
    int64_t name[2];

    _Static_assert(sizeof name == ROTA__OS_NAME_SIZE, "a name takes two events");
    if (ring == NULL)
        return false;
    memcpy(name, record->thread_name, sizeof name);
    write(ring, time, ROTA__TRACE_THREAD, record->thread_id);
    write(ring, time, ROTA__TRACE_NAME, name[0]);
    write(ring, time, ROTA__TRACE_NAMED, name[1]);
    return true;
}

void rota__ring_note(rota__record *record, rota__trace_event what, uint32_t executor, uint32_t name,
                     rota_ns time, int64_t value)
{
    if (ROTA__UNLIKELY(record->introduced != rota__load_relaxed(&session))
        && !introduce(record, time))
        return;
    write(record->ring, time, rota__event_word(what, executor, name), value);
}

/* -- Reading -------------------------------------------------------------- */

static rota__event_copy copy(const rota__ring *ring, uint64_t index)
{
    const rota__ring_event *event = &ring->event[index & (ring->size - 1)];

    /* Acquire: before the look at `written` that follows. Pairs with write. */
    return (rota__event_copy){.time = rota__load_acquire(&event->time),
                              .what = rota__load_acquire(&event->what),
                              .value = rota__load_acquire(&event->value)};
}

size_t rota__ring_size(void)
{
    size_t size;

    rota__mutex_lock(&rota__process_lock);
    size = events;
    rota__mutex_unlock(&rota__process_lock);
    return size;
}

size_t rota__ring_copy(const rota__ring *ring, rota__event_copy *copies, size_t size)
{
    rota_ns last = rota__mode_is(ROTA__RECORDS) ? rota__ticks() : ended;
    rota_ns oldest = keeps > 0 ? last - keeps : begun;
    size_t count = 0;
    uint64_t written;

    if (ring == NULL || ring->session != rota__load_relaxed(&session) || ring->size != size)
        return 0;
    written = rota__load_acquire(&ring->written); /* pairs with write */
    for (uint64_t i = written > size ? written - size : 0; i < written; i++) {
        rota__event_copy event = copy(ring, i);
        uint64_t now = rota__load_acquire(&ring->written); /* likewise */
        if (i + size <= now)
            count = 0; /* it is gone, and so are those before it */
        else if (event.time >= oldest)
            copies[count++] = event;
    }
    return count;
}

/* -- Starting and stopping ------------------------------------------------ */

static size_t power_of_2(size_t least)
{
    size_t power = LEAST_EVENTS;

    while (power < least)
        power *= 2;
    return power;
}

/* With the lock held. */
static void start(const rota_recorder_options *options)
{
    rota__ticks_prepare();
    events = power_of_2(options->events > 0 ? options->events : DEFAULT_EVENTS);
    keeps = options->keep;
    begun = rota__ticks();
    rota__store_relaxed(&session, rota__load_relaxed(&session) + 1);
    rota__mode_set(ROTA__RECORDS, true);
}

int rota_recorder_start(const rota_recorder_options *options)
{
    static const rota_recorder_options defaults;
    bool runs;

    if (options == NULL)
        options = &defaults;
    if (options->events > MOST_EVENTS || options->keep < 0)
        return ROTA_EINVAL;
    if (!rota__self()->watched)
        return ROTA_ENOMEM;
    rota__mutex_lock(&rota__process_lock);
    runs = rota__mode_is(ROTA__RECORDS);
    if (!runs)
        start(options);
    rota__mutex_unlock(&rota__process_lock);
    return runs ? ROTA_EBUSY : ROTA_OK;
}

int rota_recorder_stop(void)
{
    rota__self();
    rota__mutex_lock(&rota__process_lock);
    if (rota__mode_is(ROTA__RECORDS))
        ended = rota__ticks();
    rota__mode_set(ROTA__RECORDS, false);
    rota__mutex_unlock(&rota__process_lock);
    return ROTA_OK;
}
