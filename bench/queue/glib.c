/* SPDX-License-Identifier: MIT */
/* glib.c - GLib's GAsyncQueue, which has no bound */
#include "peer.h"

#include <glib.h>

void *peer_make(const char *kind, size_t capacity)
{
    (void)kind;
    return capacity == UNBOUNDED ? g_async_queue_new() : NULL;
}

void peer_free(void *queue)
{
    g_async_queue_unref(queue);
}

void peer_put(void *queue, void *element)
{
    g_async_queue_push(queue, element);
}

void *peer_take(void *queue)
{
    return g_async_queue_pop(queue);
}

bool peer_offer(void *queue, void *element)
{
    g_async_queue_push(queue, element);
    return true;
}

void *peer_poll(void *queue)
{
    return g_async_queue_try_pop(queue);
}
