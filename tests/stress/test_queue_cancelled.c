/* SPDX-License-Identifier: MIT */
/*
 * Pairs of a producer and a consumer, all but one of which are interrupted: those all
 * notice, nothing is lost with them, and the last pair runs on.
 */
#include "queues.h"

#include <sched.h>

enum { PAIRS = 3, CELLS = 64, WARM = 50, MORE = 1000, ROUNDS = 20, MOST_INSIDE = 200 };

struct worker {
    rota_queue *queue;
    test_thread *thread;
    atomic_ulong passed; /* elements that it has inserted, or removed */
    unsigned noticed;    /* interrupts */
    uint64_t cells[CELLS];
};

static struct worker producers[PAIRS];
static struct worker consumers[PAIRS];
static atomic_bool over;

/* The interrupt is the answer, or it is still there because nobody had to wait. */
static bool goes_on(struct worker *self, int status)
{
    if (status == ROTA_OK)
        atomic_fetch_add(&self->passed, 1);
    else
        test_check(status == ROTA_EINTERRUPTED || status == ROTA_ETIMEDOUT);
    if (status == ROTA_EINTERRUPTED)
        self->noticed++;
    self->noticed += rota_interrupted();
    return self->noticed == 0 && !atomic_load(&over);
}

static void produce(struct worker *self, rota_ns timeout)
{
    unsigned i = 0;
    int status;

    do {
        while (rota_queue_size(self->queue) > MOST_INSIDE && !atomic_load(&over))
            sched_yield(); /* in one without a bound */
        status = rota_queue_offer_timed(self->queue, &self->cells[i++ % CELLS], timeout);
    } while (goes_on(self, status));
}

static void consume(struct worker *self, rota_ns timeout)
{
    void *element;
    int status;

    do
        status = rota_queue_poll_timed(self->queue, timeout, &element);
    while (goes_on(self, status));
}

static void produce_until_interrupted(void *arg)
{
    produce(arg, ROTA_HOURS(1));
}

static void consume_until_interrupted(void *arg)
{
    consume(arg, ROTA_HOURS(1));
}

/* The pair that stays: its waits are short, so that it sees the end. */
static void produce_to_the_end(void *arg)
{
    produce(arg, ROTA_US(100));
}

static void consume_to_the_end(void *arg)
{
    consume(arg, ROTA_US(100));
}

static void start(struct worker *worker, rota_queue *queue, void (*body)(void *arg))
{
    worker->queue = queue;
    worker->noticed = 0;
    atomic_store(&worker->passed, 0);
    worker->thread = test_thread_start(body, worker);
}

/* -- Liveness: each of these would wait for ever if a wake-up were lost ------------------- */

struct wanted {
    struct worker *worker;
    unsigned long passed;
};

static bool has_passed(void *arg)
{
    const struct wanted *wanted = arg;

    return atomic_load(&wanted->worker->passed) >= wanted->passed;
}

static void await_more(struct worker *worker, unsigned long more)
{
    struct wanted wanted = {worker, atomic_load(&worker->passed) + more};

    test_until(has_passed, &wanted);
}

static void interrupt(struct worker *worker)
{
    rota_thread_interrupt(test_thread_handle(worker->thread));
}

static void join_interrupted(struct worker *worker)
{
    test_thread_join(worker->thread);
    test_check(worker->noticed == 1);
}

static unsigned long passed_by(const struct worker *workers)
{
    unsigned long sum = 0;

    for (unsigned i = 0; i < PAIRS; i++)
        sum += atomic_load(&workers[i].passed);
    return sum;
}

static void run_round(rota_queue *queue)
{
    atomic_store(&over, false);
    for (unsigned i = 0; i < PAIRS; i++) {
        start(&producers[i], queue, i == 0 ? produce_to_the_end : produce_until_interrupted);
        start(&consumers[i], queue, i == 0 ? consume_to_the_end : consume_until_interrupted);
    }
    await_more(&consumers[0], WARM);
    for (unsigned i = 1; i < PAIRS; i++) {
        interrupt(&producers[i]);
        interrupt(&consumers[i]);
    }
    for (unsigned i = 1; i < PAIRS; i++) {
        join_interrupted(&producers[i]);
        join_interrupted(&consumers[i]);
    }
    await_more(&producers[0], MORE);
    await_more(&consumers[0], MORE);
    atomic_store(&over, true);
    test_thread_join(producers[0].thread);
    test_thread_join(consumers[0].thread);
    test_check(passed_by(producers) == passed_by(consumers) + rota_queue_size(queue));
    rota_queue_remove_if(queue, NULL, NULL);
}

/* INT-06, QUEUE-05: on every kind. */
TEST(the_last_pair_runs_on)
{
    for (size_t i = 0; i < TEST_QUEUE_KINDS; i++) {
        rota_queue *queue = NULL;
        assert_ok(test_queue_kinds[i].make(&queue));
        for (int round = 0; round < ROUNDS; round++)
            run_round(queue);
        assert_int_equal(rota_queue_waiting(queue), 0);
        assert_ok(rota_queue_free(queue));
    }
}

BEFORE_TESTS
{
    for (unsigned i = 0; i < PAIRS; i++) {
        for (unsigned j = 0; j < CELLS; j++)
            producers[i].cells[j] = j;
    }
    return true;
}
