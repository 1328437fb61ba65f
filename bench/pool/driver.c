/* SPDX-License-Identifier: MIT */
/*
 * driver.c - measures the pool of one peer. It answers each line that it reads with one:
 *
 *     BOUND MODE PRODUCERS WORKERS COUNT             1024 empty 2 4 1000000
 *     POOL;BOUND;MODE;PRODUCERS;WORKERS;FIGURE...    rota-array;1024;empty;2;4;80.1;153.7
 *
 * BOUND is the capacity of the queue, or unbounded. MODE says what is done COUNT times, and which
 * figures come of it, in ns for each where nothing else is said:
 *
 * empty   a task that does nothing: time from the first submit until all have run; processor time
 * work    the same with tasks that keep their thread busy for 1 us
 * trip    one producer submits a task and waits for its result: time, the mean of all, the median,
 *         the 99th percentile and the 99.9th
 * wake    nothing for 10 ms, then one task: time from the submit to its start, a figure for each
 * life    a pool is made, all its threads meet, and it is freed: time
 * idle    nothing for 1 ms: processor time that the pool uses in a second
 * rate    one task, 1 ms after the other: processor time
 * bytes   a task waits in the queue: bytes of memory, as the system counts them; then, if it is
 *         known, as the library asked for them
 *
 * The first argument, if any, is the kind of pool. With `futures` as the second one, the tasks of
 * empty, work and bytes have futures, whose results are read at the end. Every run checks that all
 * tasks have run. Jdk.java does the same for Java.
 */
#include "peer.h"

#include <bench/driver.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { THREADS = 64 };

struct request {
    const char *kind;
    bool futures;
    char bound[16], mode[16];
    unsigned producers, workers;
    uint64_t count;
};

/* -- Tasks, and who counts them -------------------------------------------------------------- */

/* One for each thread that runs tasks, so that counting costs next to nothing. */
struct counter {
    _Alignas(128) atomic_uint_fast64_t count; /* published after the sum */
    atomic_uint_fast64_t sum;                 /* of the arguments */
};

static struct counter counters[THREADS];
static atomic_uint counters_used;
static atomic_uint era; /* of the counters: one a run */

static _Thread_local struct counter *mine;
static _Thread_local unsigned my_era; /* in which `mine` is mine */

/* Between runs. Threads that outlive a run get new counters in the next one. */
static void reset_counters(void)
{
    memset(counters, 0, sizeof counters);
    atomic_store(&counters_used, 0);
    atomic_fetch_add(&era, 1);
}

static void take_counter(unsigned current)
{
    unsigned i = atomic_fetch_add(&counters_used, 1);

    if (i >= THREADS)
        fail("the pool has more threads than it should");
    mine = &counters[i];
    my_era = current;
}

static void *empty(void *arg)
{
    unsigned current = atomic_load_explicit(&era, memory_order_relaxed);

    if (my_era != current)
        take_counter(current);
    uint64_t sum = atomic_load_explicit(&mine->sum, memory_order_relaxed);
    uint64_t count = atomic_load_explicit(&mine->count, memory_order_relaxed);
    atomic_store_explicit(&mine->sum, sum + (uintptr_t)arg, memory_order_relaxed);
    atomic_store_explicit(&mine->count, count + 1, memory_order_release);
    return arg;
}

static void *work(void *arg)
{
    uint64_t begin = now(CLOCK_MONOTONIC);

    while (now(CLOCK_MONOTONIC) - begin < US)
        ;
    return empty(arg);
}

/* Small numbers, as Java has them without allocating. */
static uintptr_t argument(uint64_t i)
{
    return (uintptr_t)(i % 64 + 1);
}

static uint64_t arguments(uint64_t count)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < count; i++)
        sum += argument(i);
    return sum;
}

static uint64_t tasks_run(uint64_t *sum)
{
    uint64_t count = 0;

    *sum = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        count += atomic_load_explicit(&counters[i].count, memory_order_acquire);
        *sum += atomic_load_explicit(&counters[i].sum, memory_order_relaxed);
    }
    return count;
}

/* Looks seldom enough to disturb nobody, and often enough for runs of 20 ms and more. */
static void await_tasks(uint64_t count, uint64_t sum)
{
    uint64_t found;

    while (tasks_run(&found) < count)
        sleep_for(150 * US);
    if (tasks_run(&found) != count || found != sum)
        fail("other tasks have run than were submitted");
}

/* -- Pools ----------------------------------------------------------------------------------- */

static void *make(const struct request *request)
{
    bool bounded = strcmp(request->bound, "unbounded") != 0;
    size_t capacity = bounded ? (size_t)strtoul(request->bound, NULL, 10) : UNBOUNDED;
    void *pool = peer_make(request->kind, request->workers, capacity);

    if (pool == NULL)
        fail("there is no such pool");
    return pool;
}

/* A pool that has run tasks: its threads are there, and its memory is warm. */
static void *make_warm(const struct request *request)
{
    uint64_t count = UINT64_C(200) * request->workers;
    void *pool = make(request);

    reset_counters();
    for (uint64_t i = 0; i < count; i++)
        peer_execute(pool, empty, (void *)argument(i));
    peer_finish(pool);
    await_tasks(count, arguments(count));
    reset_counters();
    return pool;
}

static void *meet(void *barrier)
{
    pthread_barrier_wait(barrier);
    return NULL;
}

/* Returns when all threads of the pool have run a task at the same time. */
static void let_all_meet(void *pool, unsigned workers)
{
    pthread_barrier_t barrier;

    pthread_barrier_init(&barrier, NULL, workers + 1);
    for (unsigned i = 0; i < workers; i++)
        peer_execute(pool, meet, &barrier);
    pthread_barrier_wait(&barrier);
    pthread_barrier_destroy(&barrier); /* waits until all have left */
}

/* -- Throughput ------------------------------------------------------------------------------ */

struct producer {
    pthread_t id;
    pthread_barrier_t *start;
    void *pool;
    task *run;
    uint64_t count;
    void **futures; /* room for them; NULL: tasks without */

    uint64_t begin, sum; /* the results; the sum is that of the futures */
};

static void execute_all(const struct producer *producer)
{
    for (uint64_t i = 0; i < producer->count; i++)
        peer_execute(producer->pool, producer->run, (void *)argument(i));
}

static void submit_all(const struct producer *producer)
{
    for (uint64_t i = 0; i < producer->count; i++)
        producer->futures[i] = peer_submit(producer->pool, producer->run, (void *)argument(i));
}

static void get_all(struct producer *producer)
{
    for (uint64_t i = 0; i < producer->count; i++)
        producer->sum += (uintptr_t)peer_get(producer->pool, producer->futures[i]);
}

static void *produce(void *arg)
{
    struct producer *producer = arg;

    pthread_barrier_wait(producer->start);
    producer->begin = now(CLOCK_MONOTONIC);
    if (producer->futures != NULL) {
        submit_all(producer);
        get_all(producer);
    } else {
        execute_all(producer);
    }
    peer_finish(producer->pool);
    return NULL;
}

/* Runs them all; when the first began. */
static uint64_t produce_all(struct producer *producers, unsigned count)
{
    pthread_barrier_t start;
    uint64_t begin = UINT64_MAX;

    pthread_barrier_init(&start, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        producers[i].start = &start;
        if (pthread_create(&producers[i].id, NULL, produce, &producers[i]) != 0)
            fail("no thread");
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(producers[i].id, NULL);
        begin = producers[i].begin < begin ? producers[i].begin : begin;
    }
    pthread_barrier_destroy(&start);
    return begin;
}

/* Memory that is really there, if any is wanted. */
static void **room_for_futures(const struct request *request)
{
    size_t size = request->count * sizeof(void *);

    if (!request->futures)
        return NULL;
    void **futures = malloc(size);
    if (futures == NULL)
        fail("no memory");
    memset(futures, 1, size);
    return futures;
}

static void check_results(const struct producer *producer, uint64_t sum)
{
    if (producer->futures != NULL && producer->sum != sum)
        fail("a future has the wrong result");
}

static void measure_tasks(const struct request *request, task *run)
{
    struct producer producers[THREADS];
    unsigned p = request->producers;
    uint64_t each = request->count / p;
    uint64_t sum = arguments(each);
    void **futures = room_for_futures(request);
    void *pool = make_warm(request);

    for (unsigned i = 0; i < p; i++)
        producers[i] = (struct producer){.pool = pool,
                                         .run = run,
                                         .count = each,
                                         .futures = futures ? futures + i * each : NULL};

    uint64_t cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t begin = produce_all(producers, p);
    await_tasks(request->count, p * sum);
    uint64_t ns = now(CLOCK_MONOTONIC) - begin;
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;

    for (unsigned i = 0; i < p; i++)
        check_results(&producers[i], sum);
    peer_free(pool);
    free(futures);
    printf(";%.2f;%.2f", (double)ns / (double)request->count, (double)cpu / (double)request->count);
}

static void measure_empty(const struct request *request)
{
    measure_tasks(request, empty);
}

static void measure_work(const struct request *request)
{
    measure_tasks(request, work);
}

/* -- One task at a time ---------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void print_spread(uint64_t *times, uint64_t count)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < count; i++)
        sum += times[i];
    qsort(times, count, sizeof *times, compare);
    printf(";%.2f;%" PRIu64 ";%" PRIu64 ";%" PRIu64, (double)sum / (double)count, times[count / 2],
           times[count * 99 / 100], times[count * 999 / 1000]);
}

static void measure_trip(const struct request *request)
{
    uint64_t *times = calloc(request->count, sizeof *times);
    void *pool = make_warm(request);

    if (times == NULL)
        fail("no memory");
    uint64_t begin = now(CLOCK_MONOTONIC);
    for (uint64_t i = 0; i < request->count; i++) {
        void *future = peer_submit(pool, empty, (void *)argument(i));
        if ((uintptr_t)peer_get(pool, future) != argument(i))
            fail("a future has the wrong result");
        uint64_t end = now(CLOCK_MONOTONIC);
        times[i] = end - begin;
        begin = end;
    }
    await_tasks(request->count, arguments(request->count));
    peer_free(pool);
    print_spread(times, request->count);
    free(times);
}

static void *stamp(void *started)
{
    atomic_store((atomic_uint_fast64_t *)started, now(CLOCK_MONOTONIC));
    return NULL;
}

static void measure_wake(const struct request *request)
{
    void *pool = make_warm(request);

    sleep_for(10 * MS);
    for (uint64_t i = 0; i < request->count; i++) {
        atomic_uint_fast64_t started = 0;
        uint64_t begin = now(CLOCK_MONOTONIC);
        peer_execute(pool, stamp, &started);
        do {
            sleep_for(10 * MS); /* also for the next one */
        } while (atomic_load(&started) == 0);
        peer_finish(pool);
        printf(";%" PRIu64, (uint64_t)atomic_load(&started) - begin);
    }
    peer_free(pool);
}

/* -- A pool that has little to do ------------------------------------------------------------ */

static void measure_life(const struct request *request)
{
    uint64_t begin = now(CLOCK_MONOTONIC);

    for (uint64_t i = 0; i < request->count; i++) {
        void *pool = make(request);
        let_all_meet(pool, request->workers);
        peer_free(pool);
    }
    printf(";%.0f", (double)(now(CLOCK_MONOTONIC) - begin) / (double)request->count);
}

/* Processor time of all threads but this one. */
static uint64_t cpu_of_others(void)
{
    return now(CLOCK_PROCESS_CPUTIME_ID) - now(CLOCK_THREAD_CPUTIME_ID);
}

static void measure_idle(const struct request *request)
{
    void *pool = make_warm(request);

    let_all_meet(pool, request->workers);
    peer_finish(pool);
    sleep_for(100 * MS); /* what is still to be done afterwards */
    uint64_t before = cpu_of_others();
    sleep_for(request->count * MS);
    uint64_t after = cpu_of_others();
    peer_free(pool);
    /* Reading two clocks takes time, too: seen the wrong way round it is less than nothing. */
    printf(";%.0f",
           after > before ? (double)(after - before) * 1000 / (double)request->count : 0.0);
}

static void measure_rate(const struct request *request)
{
    void *pool = make_warm(request);
    uint64_t begin = now(CLOCK_MONOTONIC);
    uint64_t cpu = now(CLOCK_PROCESS_CPUTIME_ID);

    for (uint64_t i = 0; i < request->count; i++) {
        sleep_until(begin + i * MS);
        peer_execute(pool, empty, (void *)argument(i));
    }
    peer_finish(pool);
    await_tasks(request->count, arguments(request->count));
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    peer_free(pool);
    printf(";%.0f", (double)cpu / (double)request->count);
}

/* -- Memory ---------------------------------------------------------------------------------- */

static void *hold(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

static void measure_bytes(const struct request *request)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    uint64_t sum = arguments(request->count);
    struct producer producer = {.run = empty,
                                .count = request->count,
                                .futures = room_for_futures(request),
                                .pool = make_warm(request)};

    pthread_mutex_lock(&gate);
    for (unsigned i = 0; i < request->workers; i++)
        peer_execute(producer.pool, hold, &gate);
    sleep_for(10 * MS); /* until all are held */
    uint64_t resident_before = resident();
    uint64_t asked_before = peer_bytes();
    if (producer.futures != NULL)
        submit_all(&producer);
    else
        execute_all(&producer);
    printf(";%.1f", more(resident(), resident_before, request->count));
    if (peer_bytes() > 0)
        printf(";%.1f", more(peer_bytes(), asked_before, request->count));

    pthread_mutex_unlock(&gate);
    if (producer.futures != NULL)
        get_all(&producer);
    peer_finish(producer.pool);
    await_tasks(request->count, sum);
    check_results(&producer, sum);
    peer_free(producer.pool);
    pthread_mutex_destroy(&gate);
    free(producer.futures);
}

/* -- Requests -------------------------------------------------------------------------------- */

static const struct mode {
    const char *name;
    void (*measure)(const struct request *request);
} modes[] = {
    {"empty", measure_empty}, {"work", measure_work},   {"trip", measure_trip},
    {"wake", measure_wake},   {"life", measure_life},   {"idle", measure_idle},
    {"rate", measure_rate},   {"bytes", measure_bytes},
};

static const struct mode *mode_of(const struct request *request)
{
    unsigned p = request->producers;
    unsigned w = request->workers;

    if (p == 0 || w == 0 || p > THREADS || w > THREADS || request->count == 0
        || request->count % p != 0)
        return NULL;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(request->mode, modes[i].name) == 0)
            return &modes[i];
    return NULL;
}

static void answer(const char *program, const struct request *request)
{
    const struct mode *mode = mode_of(request);

    if (mode == NULL)
        fail("the request makes no sense");
    printf("%s%s%s%s;%s;%s;%u;%u", program, *request->kind ? "-" : "", request->kind,
           request->futures ? "-futures" : "", request->bound, request->mode, request->producers,
           request->workers);
    mode->measure(request);
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct request request = {.kind = argc > 1 ? argv[1] : "",
                              .futures = argc > 2 && strcmp(argv[2], "futures") == 0};
    int words;

    while ((words = scanf("%15s %15s %u %u %" SCNu64, request.bound, request.mode,
                          &request.producers, &request.workers, &request.count))
           == 5)
        answer(name_of(argv[0]), &request);
    if (words != EOF)
        fail("a request is: BOUND MODE PRODUCERS WORKERS COUNT");
    return 0;
}
