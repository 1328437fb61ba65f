/* SPDX-License-Identifier: MIT */
/*
 * Producers and consumers on every kind of queue: nothing is lost, doubled or invented, and each
 * producer's elements leave in order (QUEUE-05).
 */
#include "queues.h"

#include <sched.h>

enum { TOTAL = 6000, MOST_THREADS = 5 };

/* `value` and `taken` are no atomics: whoever has the item writes them (GEN-08). */
struct item {
    uint64_t rank;
    unsigned producer;
    unsigned value;
    unsigned taken;
};

static struct item items[TOTAL];
static rota_queue *queue;
static unsigned producers;
static unsigned consumers;
static test_barrier start;
static test_random seeds; /* of the workers' numbers */

struct worker {
    unsigned number;
    test_random random;
};

/* -- In every way ------------------------------------------------------------------------- */

static rota_ns short_time(struct worker *self)
{
    return (rota_ns)test_random_below(&self->random, 20000);
}

/* Another way each time, as an offer and a poll alone would never meet in a hand-off. */
static void insert(struct worker *self, void *element)
{
    int status = ROTA_EFULL;

    while (status == ROTA_EFULL || status == ROTA_ETIMEDOUT) {
        size_t way = test_random_below(&self->random, 4);
        if (way == 0)
            status = rota_queue_offer(queue, element);
        else if (way == 1)
            status = rota_queue_offer_timed(queue, element, short_time(self));
        else
            status = rota_queue_put(queue, element);
    }
    test_check(status == ROTA_OK);
}

static struct item *removed(struct worker *self)
{
    void *element = NULL;
    int status = ROTA_EEMPTY;

    while (status == ROTA_EEMPTY || status == ROTA_ETIMEDOUT) {
        size_t way = test_random_below(&self->random, 4);
        if (way == 0)
            status = rota_queue_poll(queue, &element);
        else if (way == 1)
            status = rota_queue_poll_timed(queue, short_time(self), &element);
        else
            status = rota_queue_take(queue, &element);
    }
    test_check(status == ROTA_OK);
    return element;
}

/* -- Producers and consumers -------------------------------------------------------------- */

/* Every producers-th item, in order of their ranks. */
static void produce(void *arg)
{
    struct worker *self = arg;

    test_barrier_wait(&start);
    for (unsigned i = self->number; i < TOTAL; i += producers) {
        items[i].producer = self->number;
        items[i].value = i + 1;
        insert(self, &items[i]);
    }
}

/* Its share, and no more, so that nobody is left waiting. */
static void consume(void *arg)
{
    struct worker *self = arg;
    unsigned last[MOST_THREADS] = {0};
    unsigned share = TOTAL / consumers + (self->number < TOTAL % consumers);

    test_barrier_wait(&start);
    while (share-- > 0) {
        struct item *item = removed(self);
        test_check(item->value == item->rank + 1 && item->value > last[item->producer]);
        last[item->producer] = item->value;
        item->taken++;
    }
}

static void start_workers(test_thread **threads, struct worker *workers, unsigned count,
                          void (*body)(void *arg))
{
    for (unsigned i = 0; i < count; i++) {
        workers[i] = (struct worker){.number = i, .random = {test_random_next(&seeds) | 1}};
        threads[i] = test_thread_start(body, &workers[i]);
    }
}

static void run_loop(void)
{
    test_thread *threads[2 * MOST_THREADS];
    struct worker workers[2 * MOST_THREADS];

    for (unsigned i = 0; i < TOTAL; i++)
        items[i] = (struct item){.rank = i};
    test_barrier_init(&start, producers + consumers);
    start_workers(threads, workers, producers, produce);
    start_workers(threads + producers, workers + producers, consumers, consume);
    for (unsigned i = 0; i < producers + consumers; i++)
        test_thread_join(threads[i]);
    for (unsigned i = 0; i < TOTAL; i++)
        assert_int_equal(items[i].taken, 1);
    assert_int_equal(rota_queue_size(queue), 0);
    assert_int_equal(rota_queue_waiting(queue), 0);
}

static void on_every_kind(unsigned from, unsigned to)
{
    producers = from;
    consumers = to;
    for (size_t i = 0; i < TEST_QUEUE_KINDS; i++) {
        assert_ok(test_queue_kinds[i].make(&queue));
        run_loop();
        assert_ok(rota_queue_free(queue));
    }
}

/* QUEUE-05: one to five producers, one consumer. */
TEST(many_producers_and_one_consumer)
{
    for (unsigned n = 1; n <= MOST_THREADS; n += 2)
        on_every_kind(n, 1);
}

/*
 * QUEUE-05: one producer of increasing numbers, one to five consumers that all see them increase.
 */
TEST(one_producer_and_many_consumers)
{
    for (unsigned n = 2; n <= MOST_THREADS; n += 3)
        on_every_kind(1, n);
}

/* QUEUE-05: one to five of each. */
TEST(many_producers_and_many_consumers)
{
    on_every_kind(2, 2);
    on_every_kind(3, 3);
    on_every_kind(5, 5);
}

/* -- Both ends of a deque ----------------------------------------------------------------- */

static void produce_at_both_ends(void *arg)
{
    struct worker *self = arg;

    test_barrier_wait(&start);
    for (unsigned i = self->number; i < TOTAL; i += producers) {
        bool front = test_random_below(&self->random, 2) == 0;
        items[i].value = i + 1;
        test_check((front ? rota_deque_put_front : rota_queue_put)(queue, &items[i]) == ROTA_OK);
    }
}

static void consume_at_both_ends(void *arg)
{
    struct worker *self = arg;
    unsigned share = TOTAL / consumers + (self->number < TOTAL % consumers);

    test_barrier_wait(&start);
    while (share-- > 0) {
        bool back = test_random_below(&self->random, 2) == 0;
        void *element = NULL;
        test_check((back ? rota_deque_take_back : rota_queue_take)(queue, &element) == ROTA_OK);
        struct item *item = element;
        test_check(item->value == item->rank + 1);
        item->taken++;
    }
}

/* QUEUE-05, QUEUE-24: all four at once. */
TEST(both_ends_of_a_deque_at_once)
{
    const size_t capacities[] = {1, 3, 20, ROTA_UNBOUNDED};
    test_thread *threads[4];
    struct worker workers[4];

    producers = consumers = 2;
    for (size_t round = 0; round < 4; round++) {
        for (unsigned i = 0; i < TOTAL; i++)
            items[i] = (struct item){.rank = i};
        assert_ok(rota_deque(capacities[round], &queue));
        test_barrier_init(&start, 4);
        start_workers(threads, workers, 2, produce_at_both_ends);
        start_workers(threads + 2, workers + 2, 2, consume_at_both_ends);
        for (unsigned i = 0; i < 4; i++)
            test_thread_join(threads[i]);
        for (unsigned i = 0; i < TOTAL; i++)
            assert_int_equal(items[i].taken, 1);
        assert_ok(rota_queue_free(queue));
    }
}

/* -- Drains and scans --------------------------------------------------------------------- */

static atomic_bool over;

static void offer_in_turn(void *arg)
{
    test_barrier_wait(&start);
    for (unsigned i = 0; i < TOTAL; i++) {
        while (rota_queue_offer(queue, &items[i]) != ROTA_OK)
            sched_yield();
    }
}

/* What is shown may just be leaving, but not before it was shown. */
static void is_increasing(void *element, void *last)
{
    const struct item *item = element;
    uint64_t *at = last;

    test_check(item != NULL && item->rank + 1 > *at);
    *at = item->rank + 1;
}

static void scan(void *arg)
{
    test_barrier_wait(&start);
    while (!atomic_load(&over)) {
        uint64_t last = 0;
        rota_queue_each(queue, is_increasing, &last);
        sched_yield();
    }
}

static void drain_in_turn(void)
{
    void *elements[100];
    uint64_t next = 0;

    test_barrier_wait(&start);
    for (unsigned turn = 0; next < TOTAL; turn++) {
        size_t drained = rota_queue_drain(queue, elements, turn % 2 == 0 ? 100 : 3);
        for (size_t i = 0; i < drained; i++)
            test_check(elements[i] == &items[next++]);
        if (drained == 0)
            sched_yield();
    }
    atomic_store(&over, true);
}

/* QUEUE-05, QUEUE-10, QUEUE-12: every drained batch is consecutive, and scans are increasing. */
TEST(offers_against_drains_against_scans)
{
    for (unsigned i = 0; i < TOTAL; i++)
        items[i] = (struct item){.rank = i};
    for (size_t i = 0; i < TEST_QUEUE_KINDS; i++) {
        if (test_queue_kinds[i].capacity == 0)
            continue;
        assert_ok(test_queue_kinds[i].make(&queue));
        atomic_store(&over, false);
        test_barrier_init(&start, 3);
        test_thread *producer = test_thread_start(offer_in_turn, NULL);
        test_thread *scanner = test_thread_start(scan, NULL);
        drain_in_turn();
        test_thread_join(producer);
        test_thread_join(scanner);
        assert_int_equal(rota_queue_size(queue), 0);
        assert_ok(rota_queue_free(queue));
    }
}

BEFORE_TESTS
{
    test_random_init(&seeds);
    return true;
}
