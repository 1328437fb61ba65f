/* SPDX-License-Identifier: MIT */
/*
 * ring.h - events as they come out of a ring.
 */
#ifndef ROTA_OBSERVE_RING_H
#define ROTA_OBSERVE_RING_H

#include "observe/observe_internal.h"

typedef struct rota__event_copy {
    int64_t time;
    uint64_t what;
    int64_t value;
} rota__event_copy;

size_t rota__ring_size(void); /* of each, in events; 0: nothing was ever recorded */

/* With the lock held: copies those that the ring has of this session, the oldest first; how many. */
size_t rota__ring_copy(const rota__ring *ring, rota__event_copy *copies, size_t size);

static inline uint64_t rota__event_word(rota__trace_event event, uint32_t executor, uint32_t name)
{
    return (uint64_t)event | (uint64_t)name << 8 | (uint64_t)executor << 32;
}

static inline rota__trace_event rota__event_kind(const rota__event_copy *event)
{
    return (rota__trace_event)(event->what & 0xff);
}

static inline uint32_t rota__event_name(const rota__event_copy *event)
{
    return (uint32_t)(event->what >> 8 & 0xffffff);
}

static inline uint32_t rota__event_executor(const rota__event_copy *event)
{
    return (uint32_t)(event->what >> 32);
}

#endif
