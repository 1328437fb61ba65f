/* SPDX-License-Identifier: MIT */
/*
 * peer.h - what a queue must bring to be measured by driver.c: six functions in one file.
 *
 * Elements are never NULL. What cannot fail here, but does, aborts.
 */
#ifndef BENCH_QUEUE_PEER_H
#define BENCH_QUEUE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Capacities besides the usual ones. */
#define UNBOUNDED SIZE_MAX
#define HANDOFF   ((size_t)0)

/* The kind is a word for programs with several queues, else "". NULL: there is no such queue. */
void *peer_make(const char *kind, size_t capacity);
void peer_free(void *queue);

/* Waiting for room, and for an element. */
void peer_put(void *queue, void *element);
void *peer_take(void *queue);

/* Not waiting: false when the queue is full, NULL when it is empty. */
bool peer_offer(void *queue, void *element);
void *peer_poll(void *queue);

#ifdef __cplusplus
}
#endif
#endif
