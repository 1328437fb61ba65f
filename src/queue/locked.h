/* SPDX-License-Identifier: MIT */
/*
 * locked.h - a queue that consists of one lock and a container.
 *
 * The container knows nothing of threads. The library has a deque, ordered containers (priority and
 * delay queue) and an empty one (hand-off queue); a scheduled pool has its own. A user's container
 * gets the defaults.
 */
/* layers: open, a container of another module becomes a queue */
#ifndef ROTA_QUEUE_LOCKED_H
#define ROTA_QUEUE_LOCKED_H

#include "queue/queue_internal.h"

typedef struct rota__locked rota__locked;

/* The functions of a container. Called with the lock held, except base.free. */
typedef struct rota__container_ops {
    rota_queue_ops base; /* no member is NULL, not even `room` and `free` */

    /* The other ends of a deque. Only a deque is asked for them. Other containers repeat the
       functions of `base`. */
    int (*insert_front)(void *self, void *element);
    void *(*take_back)(void *self);
    void *(*peek_back)(void *self);

    /* When elements may be taken. The defaults say: at once. */
    rota_ns (*due)(void *self);                         /* the first element; there is one */
    rota_ns (*due_at)(void *self, const void *element); /* ROTA_FOREVER: not in the container */
    size_t (*count_due)(void *self, size_t most);       /* no more than `most` */

    /* Single elements, and all of them. The defaults use base.filter of the queue's container. */
    bool (*remove)(rota__locked *queue, const void *element, rota__end from);
    bool (*contains)(rota__locked *queue, const void *element);
    void (*visit)(rota__locked *queue, rota__queue_visit *visit, rota__end from);
} rota__container_ops;

struct rota__locked {
    rota_queue queue;
    rota__container_ops ops;
    void *self; /* the container */
    rota__mutex lock;
    rota__waitq producers;
    rota__waitq consumers;
    rota__atomic(size_t) size; /* written with the lock held */
    rota__atomic(size_t) room; /* likewise */
};

static inline rota__locked *rota__locked_of(rota_queue *queue)
{
    return ROTA__CONTAINER(queue, rota__locked, queue);
}

/* Makes a queue of an empty container, and copies `ops`. ROTA_ENOMEM: `self` stays the caller's. */
int rota__locked_new(const rota__queue_kind *kind, const rota__container_ops *ops, void *self,
                     rota_queue **out);

/* The same for a container that has the defaults below. `room` and `free` may be NULL here. */
int rota__locked_new_of(const rota__queue_kind *kind, const rota_queue_ops *base, void *self,
                        rota_queue **out);

extern const rota__queue_kind rota__locked_kind;

/* Members for kinds that replace some functions of rota__locked_kind. */
#define ROTA__LOCKED_ENDS \
    .insert = rota__locked_insert, .take = rota__locked_take, .drain = rota__locked_drain
#define ROTA__LOCKED_REST                                                                      \
    .peek = rota__locked_peek, .remove = rota__locked_remove,                                  \
    .remove_due = rota__locked_remove_due, .remove_if = rota__locked_remove_if,                \
    .contains = rota__locked_contains, .visit = rota__locked_visit, .size = rota__locked_size, \
    .room = rota__locked_room, .waiting = rota__locked_waiting,                                \
    .abort_consumers = rota__locked_abort_consumers, ROTA__NO_TRANSFERS, .free = rota__locked_free

int rota__locked_insert(rota_queue *queue, void *element, rota__end end);
int rota__locked_take(rota_queue *queue, void **element, rota__end end, uint32_t epoch,
                      rota__waitq_entry *entry);
size_t rota__locked_drain(rota_queue *queue, void **elements, size_t max);
int rota__locked_peek(rota_queue *queue, rota__end end, rota__visitor *show, void *ctx);
bool rota__locked_remove(rota_queue *queue, const void *element, rota__end from);
bool rota__locked_remove_due(rota_queue *queue, const void *element, rota_ns *ready_at);
size_t rota__locked_remove_if(rota_queue *queue, rota__predicate *which, void *ctx);
bool rota__locked_contains(rota_queue *queue, const void *element);
void rota__locked_visit(rota_queue *queue, rota__queue_visit *visit, rota__end from);
size_t rota__locked_size(rota_queue *queue);
size_t rota__locked_room(rota_queue *queue);
size_t rota__locked_waiting(rota_queue *queue);
void rota__locked_abort_consumers(rota_queue *queue);
void rota__locked_free(rota_queue *queue);

/* -- Defaults of a container ---------------------------------------------- */

rota_ns rota__due_now(void *self);
rota_ns rota__due_at_now(void *self, const void *element);
size_t rota__count_all_due(void *self, size_t most);
size_t rota__unbounded_room(void *self);
void rota__visit_by_filter(rota__locked *queue, rota__queue_visit *visit, rota__end from);

#endif
