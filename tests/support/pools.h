/* SPDX-License-Identifier: MIT */
/*
 * pools.h - pools in a known state: tasks that wait at a gate, and figures that a test waits for.
 *
 *     test_gate gate;
 *     rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2});
 *
 *     test_gate_init(&gate);
 *     test_occupy(pool, &gate, 2);               // two tasks run now, and wait
 *     assert_ok(rota_execute(pool, work, NULL)); // is queued
 *     test_gate_open(&gate);
 *     assert_ok(rota_close(pool));
 */
#ifndef ROTA_TEST_POOLS_H
#define ROTA_TEST_POOLS_H

#include "rota_test_tasks.h"

/* -- Pools ----------------------------------------------------------------------------------- */

/* End the process if it cannot be done. */
rota_executor *test_pool(rota_pool_options options);
rota_executor *test_small_pool(unsigned core, unsigned max, size_t room); /* with an array queue */
rota_queue *test_array(size_t capacity);
rota_queue *test_handoff(void);

rota_pool_stats test_stats(rota_executor *pool);
rota_pool_options test_options(rota_executor *pool);

rota_executor *test_sched(rota_sched_options options); /* a scheduled one */
rota_sched_options test_sched_options(rota_executor *sched);

/* Closes a pool and discards what it has queued, due or not. */
void test_stop(rota_executor *pool);

void test_await_threads(rota_executor *pool, unsigned count);
void test_await_active(rota_executor *pool, unsigned count);
void test_await_completed(rota_executor *pool, uint64_t count);
void test_await_waiting(rota_executor *pool, size_t count); /* workers, for a task */
void test_await_state(rota_executor *pool, rota_executor_state state);
void test_await_count(atomic_uint *counter, unsigned count); /* until it is at least that */

/* -- Tasks that wait at a gate --------------------------------------------------------------- */

typedef struct test_gate {
    test_latch latch;
    atomic_uint begun;
    atomic_uint ended;
    atomic_uint interrupted; /* of the ended, that saw their flag */
} test_gate;

void test_gate_init(test_gate *gate);
void test_gate_open(test_gate *gate);

void *test_wait_at(void *gate);    /* a task: deaf to interrupts until the gate opens */
void *test_sleep_long(void *gate); /* a task: until it is interrupted; the gate only counts */

/* `count` tasks more wait at the gate, and all of them run. */
void test_occupy(rota_executor *pool, test_gate *gate, unsigned count);

/* One task of a pool of one thread waits at the gate, which this makes, and so many are queued. */
void test_fill(rota_executor *pool, test_gate *gate, test_probe *probe, unsigned queued);

/* -- Tasks that note when they run ----------------------------------------------------------- */

enum { TEST_NOTES = 512 };

typedef struct test_journal {
    atomic_uint count;
    unsigned numbers[TEST_NOTES]; /* in the order in which they ran */
} test_journal;

typedef struct test_note {
    test_journal *journal;
    unsigned number;
} test_note;

void test_notes_init(test_note *notes, unsigned count, test_journal *journal);
void *test_note_down(void *note);
void *test_count(void *counter); /* a task: adds one to an atomic_uint, which it returns */

/* Asserts that these ran, in this order, and no others. */
void test_journal_is(const test_journal *journal, const unsigned *numbers, unsigned count);

/* -- Tests in virtual time (timed.c) --------------------------------------------------------- */

/* A fixture: the clock of rota_test_internal.h is installed during the test. */
int test_clock_before(void **state);
int test_clock_after(void **state);
extern const test_fixture test_virtual_time;

/* Lets time pass, and waits until all `count` workers wait for a task again. */
void test_pass(rota_executor *pool, rota_ns duration, size_t count);

#endif
