/* SPDX-License-Identifier: MIT */
/* mutex_ring.c - a ring of fixed size, a mutex and two conditions, as one writes it by hand */
#include "peer.h"

#include <pthread.h>
#include <stdlib.h>

struct ring {
    size_t capacity;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t not_empty;
    pthread_cond_t not_full;
    size_t head, count;
    void *elements[];
};

void *peer_make(const char *kind, size_t capacity)
{
    (void)kind;
    if (capacity == UNBOUNDED || capacity == HANDOFF)
        return NULL;
    struct ring *ring = calloc(1, sizeof *ring + capacity * sizeof(void *));
    if (ring == NULL)
        return NULL;
    ring->capacity = capacity;
    pthread_mutex_init(&ring->lock, NULL);
    pthread_cond_init(&ring->not_empty, NULL);
    pthread_cond_init(&ring->not_full, NULL);
    return ring;
}

void peer_free(void *queue)
{
    struct ring *ring = queue;

    pthread_cond_destroy(&ring->not_full);
    pthread_cond_destroy(&ring->not_empty);
    pthread_mutex_destroy(&ring->lock);
    free(ring);
}

/* Both with the lock held, and with room or an element. */
static void insert(struct ring *ring, void *element)
{
    size_t at = ring->head + ring->count++;

    ring->elements[at < ring->capacity ? at : at - ring->capacity] = element;
    pthread_cond_signal(&ring->not_empty);
}

static void *removed(struct ring *ring)
{
    void *element = ring->elements[ring->head];

    ring->head = ring->head + 1 < ring->capacity ? ring->head + 1 : 0;
    ring->count--;
    pthread_cond_signal(&ring->not_full);
    return element;
}

void peer_put(void *queue, void *element)
{
    struct ring *ring = queue;

    pthread_mutex_lock(&ring->lock);
    while (ring->count == ring->capacity)
        pthread_cond_wait(&ring->not_full, &ring->lock);
    insert(ring, element);
    pthread_mutex_unlock(&ring->lock);
}

void *peer_take(void *queue)
{
    struct ring *ring = queue;

    pthread_mutex_lock(&ring->lock);
    while (ring->count == 0)
        pthread_cond_wait(&ring->not_empty, &ring->lock);
    void *element = removed(ring);
    pthread_mutex_unlock(&ring->lock);
    return element;
}

bool peer_offer(void *queue, void *element)
{
    struct ring *ring = queue;

    pthread_mutex_lock(&ring->lock);
    bool room = ring->count < ring->capacity;
    if (room)
        insert(ring, element);
    pthread_mutex_unlock(&ring->lock);
    return room;
}

void *peer_poll(void *queue)
{
    struct ring *ring = queue;

    pthread_mutex_lock(&ring->lock);
    void *element = ring->count > 0 ? removed(ring) : NULL;
    pthread_mutex_unlock(&ring->lock);
    return element;
}
