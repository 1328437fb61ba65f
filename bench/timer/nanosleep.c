/* SPDX-License-Identifier: MIT */
/* nanosleep.c - one thread with a binary heap of its own, asleep in clock_nanosleep: the limit */
#include "heap.h"
#include "peer.h"

#include <bench/driver.h>
#include <sys/prctl.h>

void *peer_make(const char *kind, unsigned workers, size_t most)
{
    struct heap *heap = calloc(1, sizeof *heap);

    (void)kind;
    (void)workers;
    if (heap == NULL)
        abort();
    heap_init(heap, most);
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    return heap;
}

void peer_free(void *heap)
{
    heap_free(heap);
    free(heap);
}

void peer_schedule(void *heap, size_t id, uint64_t delay)
{
    heap_insert(heap, now(CLOCK_MONOTONIC) + delay, id);
}

void peer_cancel(void *heap, size_t id)
{
    heap_remove(heap, id);
}

void peer_turn(void *heap)
{
    size_t id;

    while (heap_take(heap, now(CLOCK_MONOTONIC), &id))
        timer_ran(id);
}

uint64_t peer_run(void *arg, uint64_t until)
{
    struct heap *heap = arg;

    while (now(CLOCK_MONOTONIC) < until) {
        uint64_t first = heap->count > 0 ? heap->entries[0].time : until;
        sleep_until(first < until ? first : until);
        peer_turn(heap);
    }
    return 0;
}
