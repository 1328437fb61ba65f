/* SPDX-License-Identifier: MIT */
/*
 * locked.h - a queue that is a container with one lock around it.
 */
/* layers: open, a container of another module becomes a queue */
#ifndef ROTA_QUEUE_LOCKED_H
#define ROTA_QUEUE_LOCKED_H

#include "queue/queue_internal.h"

typedef struct rota__locked rota__locked;

/* Called with the lock held, except free. */
typedef struct rota__container {
    int (*insert)(rota__locked *queue, void *element, rota__end end); /* ROTA_EFULL, ROTA_ENOMEM */
    void *(*take)(rota__locked *queue, rota__end end);                /* NULL: there is none */
    void *(*peek)(rota__locked *queue, rota__end end);
    size_t (*room)(rota__locked *queue);
    /* When the first element may be taken; ROTA_FOREVER: there is none. NULL: at once. */
    rota_ns (*due)(rota__locked *queue);
    size_t (*count_due)(rota__locked *queue, size_t most); /* NULL: all are */
    /* When this element is due; ROTA_FOREVER: the container does not hold it. NULL: at once. */
    rota_ns (*due_at)(rota__locked *queue, const void *element);
    bool (*remove_element)(rota__locked *queue, const void *element, rota__end from);
    bool (*contains)(rota__locked *queue, const void *element);
    /* Asks about each once, in order, and takes out those that `drop` says. */
    void (*filter)(rota__locked *queue, rota__predicate *drop, void *ctx);
    void (*free)(rota__locked *queue);
} rota__container;

struct rota__locked {
    rota_queue queue;
    const rota__container *container;
    rota__mutex lock;
    rota__waitq producers;
    rota__waitq consumers;
    rota__atomic(size_t) size; /* written with the lock held */
    rota__atomic(size_t) room;
};

/* A kind gives its own `visit` and is_deque; the rest is here. */
#define ROTA__LOCKED_KIND                                                                    \
    .insert = rota__locked_insert, .take = rota__locked_take, .peek = rota__locked_peek,     \
    .drain = rota__locked_drain, .remove = rota__locked_remove,                              \
    .remove_due = rota__locked_remove_due, .remove_if = rota__locked_remove_if,              \
    .contains = rota__locked_contains, .size = rota__locked_size, .room = rota__locked_room, \
    .waiting = rota__locked_waiting, .free = rota__locked_free

void rota__locked_init(rota__locked *queue, const rota__queue_kind *kind,
                       const rota__container *container, size_t room);

static inline rota__locked *rota__locked_of(rota_queue *queue)
{
    return ROTA__CONTAINER(queue, rota__locked, queue);
}

int rota__locked_insert(rota_queue *queue, void *element, rota__end end);
int rota__locked_take(rota_queue *queue, void **element, rota__end end, rota__waitq_entry *entry);
int rota__locked_peek(rota_queue *queue, rota__end end, rota__visitor *show, void *ctx);
size_t rota__locked_drain(rota_queue *queue, void **elements, size_t max);
bool rota__locked_remove(rota_queue *queue, const void *element, rota__end from);
bool rota__locked_remove_due(rota_queue *queue, const void *element, rota_ns *ready_at);
size_t rota__locked_remove_if(rota_queue *queue, rota__predicate *which, void *ctx);
bool rota__locked_contains(rota_queue *queue, const void *element);
size_t rota__locked_size(rota_queue *queue);
size_t rota__locked_room(rota_queue *queue);
size_t rota__locked_waiting(rota_queue *queue);
void rota__locked_free(rota_queue *queue);

#endif
