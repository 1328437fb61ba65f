/* SPDX-License-Identifier: MIT */
/*
 * executor_contract.h - what every kind of executor must do, as tests that any kind can be put
 * through: one line in the table of test_executor_contract.c.
 *
 *     CONTRACT(ON_THREADS, a_task_runs_on_another_thread) // for each kind that has threads
 *     {
 *         contract *test = *state;
 *         ...
 *     }
 *
 * The suite uses the public headers alone. What a kind cannot do by its nature it says in the
 * table, and the tests that need it are left out.
 */
#ifndef ROTA_TEST_EXECUTOR_CONTRACT_H
#define ROTA_TEST_EXECUTOR_CONTRACT_H

#include "rota_test.h"

/* It must take a thousand tasks at once. Zero is every field's default. */
typedef struct executor_kind {
    const char *name;
    int (*make)(rota_executor **out);
    unsigned threads;     /* tasks that it runs at once, at most MOST_THREADS; 0: in the caller */
    bool grows;           /* more threads start instead, so nothing is ever queued              */
    bool stops;           /* shutdown_now interrupts what runs, and ends what is queued         */
    bool hands_over;      /* the latter is what it hands over, and close_within counts          */
    bool replaces;        /* a task may end its thread                                          */
    bool knows_its_tasks; /* close and close_within in one of them change nothing               */
    bool stands_in;       /* while a task waits in a rota call, another thread runs the next    */
} executor_kind;

enum { MOST_THREADS = 8 };

extern const executor_kind executor_kinds[]; /* the last has no name */
extern const test_fixture executor_contract;

#define CONTRACT(its_needs, name) \
    TEST_CASE(name, .fixture = &executor_contract, .needs = (its_needs))

/* -- For the files of the suite -------------------------------------------------------------- */

/* A test is made for each kind that has all it needs. */
enum {
    ANY_KIND = 0,
    IN_CALLER = 1 << 0,
    ON_THREADS = 1 << 1,
    TWO_THREADS = 1 << 2,
    QUEUES = 1 << 3,
    STOPS = 1 << 4,
    HANDS_OVER = 1 << 5,
    REPLACES = 1 << 6,
    KNOWS_ITS_TASKS = 1 << 7,
};

/* -- Probes: calls that note what becomes of them -------------------------------------------- */

enum { PROBES = 1000, FAILURE = 77 };

typedef struct contract contract;

typedef struct probe {
    contract *test;
    atomic_uint begun;
    atomic_uint ended;
    atomic_uint discarded;
    atomic_uint freed; /* its result, which is the probe itself */
    bool interrupted;  /* the body saw it; to be read once that has ended */
    int status;        /* what a call inside the body gave; likewise */
    unsigned value;    /* plain memory for the test */
} probe;

/* Bodies; the argument is a probe. */
void *probe_returns(void *arg);         /* the probe */
void *probe_fails(void *arg);           /* with FAILURE and its number */
void *probe_waits(void *arg);           /* for the gate, deaf to interrupts */
void *probe_sleeps(void *arg);          /* until it is interrupted */
void *probe_interrupts_main(void *arg); /* if it is the first of the test; then sleeps */

/* -- A test under way ------------------------------------------------------------------------ */

struct contract {
    const executor_kind *kind;
    rota_executor *executor; /* NULL: gone */
    rota_thread *main;
    test_latch gate;
    atomic_bool gate_is_open;
    atomic_bool main_was_interrupted;
    atomic_uint begun;  /* of all probes */
    test_thread *guest; /* occupies an executor that has no threads */
    probe busy[MOST_THREADS];
    probe probes[PROBES];
};

rota_call contract_call(contract *test, size_t i, rota_fn *fn); /* of the i-th probe, in full */
void contract_calls(contract *test, rota_call *calls, size_t n, rota_fn *fn); /* the first n */

void contract_await_begun(contract *test, unsigned count);

/* Until the gate opens something runs, and all threads are busy. Returns when it is so. */
void contract_occupy(contract *test);
unsigned contract_busy(const contract *test); /* how many probes that takes */
void contract_open_gate(contract *test);      /* on any thread; twice is as once */

/* rota_close and the end of the test's own threads. */
void contract_end(contract *test);

/* Ends it. Each of the first n calls met its body, all the way, or its discard, once (EXEC-16). */
void contract_end_each_once(contract *test, size_t n);

/* After the end. */
unsigned contract_bodies(const contract *test, size_t n);
bool contract_all_interrupted(const contract *test, size_t n); /* all that began */

/* What is not to be written. */
#define UNTOUCHED ((rota_future *)(uintptr_t)0x5ca1ab1e)

#endif
