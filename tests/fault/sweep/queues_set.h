/* SPDX-License-Identifier: MIT */
/*
 * queues_set.h - scenes of queues, for the rows of queue.c, queue_waits.c and deque.c.
 */
#ifndef ROTA_SWEEP_QUEUES_SET_H
#define ROTA_SWEEP_QUEUES_SET_H

#include "queues.h"
#include "sweep.h"

extern sweep_scenes sweep_empty_queues; /* of every kind that has room */
extern sweep_scenes sweep_queues;       /* of those, with three elements */
extern sweep_scenes sweep_empty_deques, sweep_deques, sweep_full_deque;

extern sweep_scenes sweep_bare_queues; /* a put waits: bounded ones are full, others hand over */
extern sweep_scenes sweep_bare_takes;  /* a take waits: every kind, empty */

extern sweep_scenes sweep_consumers;      /* a thread waits in a take: every kind */
extern sweep_scenes sweep_producers;      /* a thread waits in a put: sweep_bare_queues' kinds */
extern sweep_scenes sweep_room_producers; /* of those, that wait for room */
extern sweep_scenes sweep_back_consumer, sweep_front_producer; /* the same at a deque */
extern sweep_scenes sweep_transfer, sweep_transfers;           /* the other is long, too */
extern sweep_scenes sweep_transfer_consumer;

extern test_caller sweep_other; /* that thread */
extern uint64_t sweep_elements[TEST_QUEUE_CAPACITY];
extern uint64_t sweep_extra; /* what is inserted; goes after all elements */

/* The calls of queues.h in the engine's form. */
int sweep_insert(test_queue_call *call, rota_ns timeout);
int sweep_remove(test_queue_call *call, rota_ns timeout);

void sweep_is_inserted(void);   /* the extra element, which this takes out */
void sweep_is_removed(void);    /* one of the elements */
void sweep_other_ends(void);    /* with success */
void sweep_producer_ends(void); /* likewise, or it met the fault */

/* Partners: until it has succeeded, or is not needed. */
void sweep_poll_one(void);
void sweep_put_one(void);

#endif
