/* SPDX-License-Identifier: MIT */
/*
 * queue_contract.h - what every kind of queue must do, as tests that any kind can be put through:
 * one line in the table of support/queues.c.
 *
 *     CONTRACT(BOUNDED, a_full_queue_refuses_an_offer) // for each kind that has a bound
 *     {
 *         contract *test = *state;
 *         ...
 *     }
 *
 * What a kind cannot do by its nature it says in the table, and the tests that need it are left out.
 */
#ifndef ROTA_TEST_QUEUE_CONTRACT_H
#define ROTA_TEST_QUEUE_CONTRACT_H

#include "queues.h"

extern const test_fixture queue_contract;

#define CONTRACT(its_needs, name) TEST_CASE(name, .fixture = &queue_contract, .needs = (its_needs))

/* -- For the files of the suite -------------------------------------------------------------- */

/* A test is made for each kind that has all it needs. */
enum {
    ANY_KIND = 0,
    HAS_ROOM = 1 << 0,    /* no hand-off */
    UNBOUNDED = 1 << 1,   /* room without end */
    BOUNDED = 1 << 2,     /* room that can be filled */
    MAY_BE_FULL = 1 << 3, /* a hand-off, or room that can be filled: producers may wait */
    ANY_POINTER = 1 << 4, /* elements are not looked behind */
    NO_TRANSFER = 1 << 5, /* cannot transfer */
    NO_DEQUE = 1 << 6,    /* has no back */
};

/* -- A test under way ------------------------------------------------------------------------ */

enum { CELLS = 1100, LATE = 500 };

typedef struct contract {
    const test_queue_kind *kind;
    rota_queue *queue; /* NULL: gone */
    rota_thread *main;
    uint64_t cells[CELLS];
} contract;

void *contract_cell(contract *test, size_t i); /* of rank i; no full queue has those from LATE on */

/* Inserts the elements from `first` on. */
void contract_insert(contract *test, size_t first, size_t count);

/* Until it is full, from rank 0 on; 20 into one without a bound: how many. */
size_t contract_fill(contract *test);

/* Just the elements from `first` on are in it, in this order. */
void contract_holds(contract *test, size_t first, size_t count);

/* The same, by taking them out. */
void contract_gives(contract *test, size_t first, size_t count);

/* What a timeout that is no time may be. */
#define CONTRACT_NO_TIMES 3
extern const rota_ns contract_no_time[CONTRACT_NO_TIMES];

#endif
