/* SPDX-License-Identifier: MIT */
/*
 * driver.c - measures the queue of one peer. It answers each line that it reads with one:
 *
 *     BOUND MODE PRODUCERS CONSUMERS COUNT           1024 wait 2 2 1000000
 *     QUEUE;BOUND;MODE;PRODUCERS;CONSUMERS;NS;CPU    rota-array;1024;wait;2;2;80.1;153.7
 *
 * BOUND   a capacity, or unbounded, or handoff
 * MODE    wait: put and take. try: offer and poll, and a yield when refused. echo: two threads send
 *         one element there and back through two queues; NS and CPU are for a round trip.
 * COUNT   elements in all, a multiple of both numbers of threads
 * NS      time for each, from the start of the first thread to the end of the last
 * CPU     processor time for each, of the whole process
 *
 * The first argument, if any, is the kind of queue. Jdk.java does the same for Java.
 */
#include "peer.h"

#include <bench/driver.h>
#include <pthread.h>
#include <sched.h>

enum { THREADS = 64 };

struct worker;

/* What a thread does with `count` elements; returns their sum. */
typedef uint64_t role(const struct worker *worker);

struct worker {
    pthread_t id;
    pthread_barrier_t *start;
    role *run;
    void *queue;
    void *back; /* echo: where the answers go */
    uint64_t count;

    uint64_t sum, begin, end; /* the results */
};

/* -- Roles ----------------------------------------------------------------------------------- */

/* Small numbers, as Java has them without allocating. */
static uintptr_t element(uint64_t i)
{
    return (uintptr_t)(i % 64 + 1);
}

static uint64_t put(const struct worker *worker)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < worker->count; i++) {
        peer_put(worker->queue, (void *)element(i));
        sum += element(i);
    }
    return sum;
}

static uint64_t take(const struct worker *worker)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < worker->count; i++)
        sum += (uintptr_t)peer_take(worker->queue);
    return sum;
}

static uint64_t offer(const struct worker *worker)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < worker->count; i++) {
        while (!peer_offer(worker->queue, (void *)element(i)))
            sched_yield();
        sum += element(i);
    }
    return sum;
}

static uint64_t poll(const struct worker *worker)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < worker->count; i++) {
        void *got;
        while ((got = peer_poll(worker->queue)) == NULL)
            sched_yield();
        sum += (uintptr_t)got;
    }
    return sum;
}

static uint64_t call(const struct worker *worker)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < worker->count; i++) {
        peer_put(worker->queue, (void *)element(i));
        if ((uintptr_t)peer_take(worker->back) != element(i))
            fail("another element came back");
        sum += element(i);
    }
    return sum;
}

static uint64_t answer(const struct worker *worker)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < worker->count; i++) {
        void *got = peer_take(worker->queue);
        peer_put(worker->back, got);
        sum += (uintptr_t)got;
    }
    return sum;
}

/* -- Measuring ------------------------------------------------------------------------------- */

struct request {
    char bound[16], mode[16];
    unsigned producers, consumers;
    uint64_t count;
};

static size_t capacity(const char *bound)
{
    if (strcmp(bound, "unbounded") == 0)
        return UNBOUNDED;
    return strcmp(bound, "handoff") == 0 ? HANDOFF : (size_t)strtoul(bound, NULL, 10);
}

/* Whether it makes sense, and the roles of the two sides. */
static bool understand(const struct request *request, role **producer, role **consumer)
{
    unsigned p = request->producers;
    unsigned c = request->consumers;

    if (p == 0 || c == 0 || p > THREADS / 2 || c > THREADS / 2 || request->count == 0
        || request->count % p != 0 || request->count % c != 0)
        return false;
    if (strcmp(request->mode, "wait") == 0) {
        *producer = put;
        *consumer = take;
    } else if (strcmp(request->mode, "try") == 0) {
        *producer = offer;
        *consumer = poll;
    } else if (strcmp(request->mode, "echo") == 0 && p == 1 && c == 1) {
        *producer = call;
        *consumer = answer;
    } else {
        return false;
    }
    return true;
}

static void *work(void *arg)
{
    struct worker *worker = arg;

    pthread_barrier_wait(worker->start);
    worker->begin = now(CLOCK_MONOTONIC);
    worker->sum = worker->run(worker);
    worker->end = now(CLOCK_MONOTONIC);
    return NULL;
}

/* Runs them all; the time from the first to begin to the last to end. */
static uint64_t run(struct worker *workers, unsigned count)
{
    pthread_barrier_t start;
    uint64_t begin = UINT64_MAX;
    uint64_t end = 0;

    pthread_barrier_init(&start, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        workers[i].start = &start;
        if (pthread_create(&workers[i].id, NULL, work, &workers[i]) != 0)
            fail("no thread");
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(workers[i].id, NULL);
        begin = workers[i].begin < begin ? workers[i].begin : begin;
        end = workers[i].end > end ? workers[i].end : end;
    }
    pthread_barrier_destroy(&start);
    return end - begin;
}

static void measure(const char *program, const char *kind, const struct request *request)
{
    struct worker workers[THREADS];
    role *producer;
    role *consumer;
    unsigned p = request->producers;
    unsigned c = request->consumers;
    double count = (double)request->count;

    if (!understand(request, &producer, &consumer))
        fail("the request makes no sense");
    void *queue = peer_make(kind, capacity(request->bound));
    void *back = peer_make(kind, capacity(request->bound));
    if (queue == NULL || back == NULL)
        fail("there is no such queue");
    for (unsigned i = 0; i < p + c; i++)
        workers[i] = (struct worker){.run = i < p ? producer : consumer,
                                     .queue = queue,
                                     .back = back,
                                     .count = request->count / (i < p ? p : c)};

    uint64_t cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t ns = run(workers, p + c);
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;

    uint64_t left = 0;
    for (unsigned i = 0; i < p + c; i++)
        left += i < p ? workers[i].sum : 0 - workers[i].sum;
    if (left != 0)
        fail("what came out is not what went in");
    peer_free(queue);
    peer_free(back);
    printf("%s%s%s;%s;%s;%u;%u;%.2f;%.2f\n", program, *kind ? "-" : "", kind, request->bound,
           request->mode, p, c, (double)ns / count, (double)cpu / count);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct request request;
    int words;

    while ((words = scanf("%15s %15s %u %u %" SCNu64, request.bound, request.mode,
                          &request.producers, &request.consumers, &request.count))
           == 5)
        measure(name_of(argv[0]), argc > 1 ? argv[1] : "", &request);
    if (words != EOF)
        fail("a request is: BOUND MODE PRODUCERS CONSUMERS COUNT");
    return 0;
}
