/* SPDX-License-Identifier: MIT */
/* rota.c - rota's queues: array, linked, deque, transfer, handoff, fair */
#include "peer.h"

#include <rota/queue.h>
#include <stdlib.h>
#include <string.h>

static int make(const char *kind, size_t capacity, rota_queue **queue)
{
    if (strcmp(kind, "array") == 0)
        return rota_array_queue(capacity, queue);
    if (strcmp(kind, "linked") == 0)
        return rota_linked_queue(capacity, queue);
    if (strcmp(kind, "deque") == 0)
        return rota_deque(capacity, queue);
    if (strcmp(kind, "transfer") == 0 && capacity == UNBOUNDED)
        return rota_transfer_queue(queue);
    if (strcmp(kind, "handoff") == 0 && capacity == HANDOFF)
        return rota_handoff_queue(queue);
    if (strcmp(kind, "fair") == 0 && capacity == HANDOFF)
        return rota_fair_handoff_queue(queue);
    return ROTA_EINVAL;
}

void *peer_make(const char *kind, size_t capacity)
{
    rota_queue *queue;

    return make(kind, capacity, &queue) == ROTA_OK ? queue : NULL;
}

void peer_free(void *queue)
{
    if (rota_queue_free(queue) != ROTA_OK)
        abort();
}

void peer_put(void *queue, void *element)
{
    if (rota_queue_put(queue, element) != ROTA_OK)
        abort();
}

void *peer_take(void *queue)
{
    void *element;

    if (rota_queue_take(queue, &element) != ROTA_OK)
        abort();
    return element;
}

bool peer_offer(void *queue, void *element)
{
    int status = rota_queue_offer(queue, element);

    if (status != ROTA_OK && status != ROTA_EFULL)
        abort();
    return status == ROTA_OK;
}

void *peer_poll(void *queue)
{
    void *element;

    return rota_queue_poll(queue, &element) == ROTA_OK ? element : NULL;
}
