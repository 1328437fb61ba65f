/* SPDX-License-Identifier: MIT */
/*
 * queue_parts.h - what fuzz_queue.c puts into queues, and a container of its own to make one of.
 */
#ifndef ROTA_TESTS_FUZZ_QUEUE_PARTS_H
#define ROTA_TESTS_FUZZ_QUEUE_PARTS_H

#include <rota/queue.h>

enum { ITEMS = 32, MOST = 400 };

typedef struct item {
    int rank;
    rota_ns time; /* when it is due: long ago, or never */
} item;

extern item items[ITEMS];
void items_begin(unsigned seed);

/* By rank; or, where *ctx is false, by nothing that could be relied upon. */
int item_compare(const void *a, const void *b, void *ctx);
rota_ns item_due(const void *element, void *ctx);

int stack_queue(size_t room, rota_queue **out); /* at most MOST */

#endif
