/* SPDX-License-Identifier: MIT */
/* tbb.cc - oneTBB's concurrent_bounded_queue, with and without a capacity */
#include "peer.h"

#include <tbb/concurrent_queue.h>

using queue_type = tbb::concurrent_bounded_queue<void *>;

static queue_type &typed(void *queue)
{
    return *static_cast<queue_type *>(queue);
}

void *peer_make(const char *, size_t capacity)
{
    if (capacity == HANDOFF)
        return nullptr;
    auto *queue = new queue_type;
    if (capacity != UNBOUNDED)
        queue->set_capacity(static_cast<queue_type::size_type>(capacity));
    return queue;
}

void peer_free(void *queue)
{
    delete &typed(queue);
}

void peer_put(void *queue, void *element)
{
    typed(queue).push(element);
}

void *peer_take(void *queue)
{
    void *element;

    typed(queue).pop(element);
    return element;
}

bool peer_offer(void *queue, void *element)
{
    return typed(queue).try_push(element);
}

void *peer_poll(void *queue)
{
    void *element;

    return typed(queue).try_pop(element) ? element : nullptr;
}
