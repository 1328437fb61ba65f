/* SPDX-License-Identifier: MIT */
/*
 * load.c - a load with exact accounts, to be put under pressure from outside.
 *
 *     load SECONDS [--refusals] [--fork] [--leave]
 *
 * Two threads submit to a thread pool, a scheduled pool and a fork/join pool, and wait for results,
 * with and without a timeout. Nothing may be lost, run twice, or come before its time. At the end one
 * line tells how much was done and how late delayed tasks were.
 *
 * --refusals  threads or descriptors are refused; without it that is a failure
 * --fork      now and then forks a child, which finds the pools ended and makes its own
 * --leave     returns from main with all pools at work
 */
#include <poll.h>
#include <pthread.h>
#include <rota/rota.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 4, SUBMITTERS = 2, BATCH = 64, FDS = 4, FIB_OF = 12, FIB = 144 };

#define PERIOD  ROTA_MS(5)
#define DELAY   ROTA_MS(2)
#define AT_MOST ROTA_SEC(60) /* longer than any host holds us up */

#define check(condition) \
    ((condition) ? (void)0 : fail(__FILE__ ": " #condition " is not so in line", __LINE__))

static _Noreturn void fail(const char *what, int line)
{
    fprintf(stderr, "%s %d\n", what, line);
    abort();
}

static bool may_be_refused, forks, leaves;
static rota_executor *pool, *sched, *forkjoin;
static rota_ns end;
static unsigned largest; /* number of workers */

static struct {
    atomic_ullong accepted, ran, refused, delayed, delayed_ran, late_ns, late_most, forked;
} counts;

/* ROTA_OK, or a refusal that is allowed here. */
static bool taken(int status)
{
    if (status == ROTA_OK)
        return true;
    check(may_be_refused && (status == ROTA_EAGAIN || status == ROTA_ENOMEM));
    atomic_fetch_add(&counts.refused, 1);
    return false;
}

/* -- Tasks -------------------------------------------------------------------------------- */

static void *count(void *arg)
{
    atomic_fetch_add(&counts.ran, 1);
    return arg;
}

static void note_late(rota_ns late)
{
    unsigned long long most = atomic_load(&counts.late_most);

    check(late >= 0);
    atomic_fetch_add(&counts.late_ns, (unsigned long long)late);
    while ((unsigned long long)late > most
           && !atomic_compare_exchange_weak(&counts.late_most, &most, (unsigned long long)late))
        ;
}

/* Its argument is when it is due at the earliest, in memory of its own. */
static void *run_late(void *arg)
{
    rota_ns *due = arg;

    note_late(rota_now() - *due);
    atomic_fetch_add(&counts.delayed_ran, 1);
    free(due);
    return NULL;
}

/* A series: its n-th run is not before n periods; one that skips has no two runs in one. */
struct series {
    rota_ns begun;
    int64_t runs, last;
    bool skips;
};

static void *beat(void *arg)
{
    struct series *series = arg;
    int64_t periods = (rota_now() - series->begun) / PERIOD;

    check(periods >= series->runs);
    check(!series->skips || periods > series->last);
    series->last = periods;
    series->runs++;
    return NULL;
}

struct fib {
    rota_fj task; /* first */
    int n, value;
};

static void fib(rota_fj *task)
{
    struct fib *self = (struct fib *)task;

    self->value = self->n;
    if (self->n < 2)
        return;
    struct fib a = {ROTA_FJ(fib), self->n - 1, 0}, b = {ROTA_FJ(fib), self->n - 2, 0};
    rota_fork(&a.task);
    fib(&b.task);
    check(rota_join(&a.task) == ROTA_OK);
    self->value = a.value + b.value;
}

/* -- What a submitter does, again and again ----------------------------------------------- */

static void submit_some(void)
{
    rota_future *future;
    void *result;

    for (int i = 0; i < BATCH; i++) {
        if (taken(rota_execute(pool, count, NULL)))
            atomic_fetch_add(&counts.accepted, 1);
    }
    if (!taken(rota_submit(pool, count, &end, &future)))
        return;
    atomic_fetch_add(&counts.accepted, 1);
    check(rota_future_get_timed(future, AT_MOST, &result) == ROTA_OK);
    check(result == &end);
    rota_future_unref(future);
}

static void delay_one(void)
{
    rota_ns *due = malloc(sizeof *due);

    if (due == NULL) {
        check(may_be_refused);
        return;
    }
    *due = rota_now() + DELAY;
    if (taken(rota_schedule(sched, run_late, due, DELAY, NULL)))
        atomic_fetch_add(&counts.delayed, 1);
    else
        free(due);
}

static void compute(void)
{
    struct fib root = {ROTA_FJ(fib), FIB_OF, 0};

    check(rota_invoke(forkjoin, &root.task) == ROTA_OK);
    check(root.value == FIB);
}

static void time_out(void)
{
    rota_ns begun = rota_now();
    rota_future *promise;

    if (!taken(rota_promise_new(&promise)))
        return;
    check(rota_future_get_timed(promise, ROTA_MS(1), NULL) == ROTA_ETIMEDOUT);
    check(rota_now() - begun >= ROTA_MS(1));
    rota_future_unref(promise);
}

static void watch_descriptors(void)
{
    rota_future *promises[FDS];

    for (int i = 0; i < FDS; i++) {
        struct pollfd fd = {.events = POLLIN};
        if (!taken(rota_promise_new(&promises[i]))) {
            promises[i] = NULL;
        } else if (taken(rota_future_fd(promises[i], &fd.fd))) {
            check(rota_promise_complete(promises[i], NULL));
            check(poll(&fd, 1, 0) == 1);
        }
    }
    for (int i = 0; i < FDS; i++)
        rota_future_unref(promises[i]);
}

/* -- fork(2) ------------------------------------------------------------------------------ */

static _Noreturn void be_a_child(void)
{
    rota_executor *own;

    check(rota_execute(pool, count, NULL) == ROTA_EREJECTED);
    check(rota_close(pool) == ROTA_OK);
    check(rota_close(sched) == ROTA_OK);
    atomic_store(&counts.ran, 0);
    check(rota_fixed_pool(2, &own) == ROTA_OK);
    for (int i = 0; i < BATCH; i++)
        check(rota_execute(own, count, NULL) == ROTA_OK);
    check(rota_close(own) == ROTA_OK);
    check(atomic_load(&counts.ran) == BATCH);
    _exit(0);
}

static void fork_one(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        be_a_child();
    check(child > 0 && waitpid(child, &status, 0) == child);
    check(status == 0);
    atomic_fetch_add(&counts.forked, 1);
}

/* -- All of it ---------------------------------------------------------------------------- */

static void *submit(void *first)
{
    while (rota_now() < end) {
        submit_some();
        delay_one();
        compute();
        time_out();
        watch_descriptors();
        if (forks && first != NULL)
            fork_one();
    }
    return NULL;
}

static void begin(void)
{
    const rota_pool_options options = {.core_threads = WORKERS, .threads = {.name = "load-%u"}};

    check(rota_pool_new(&options, &pool) == ROTA_OK);
    check(rota_scheduled_pool(2, &sched) == ROTA_OK);
    check(rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 2}, &forkjoin) == ROTA_OK);
}

static void begin_series(struct series *series)
{
    rota_call call = {.fn = beat, .arg = series};

    series->begun = rota_now();
    series->last = -1;
    taken(series->skips ? rota_schedule_skipping(sched, &call, 0, PERIOD, NULL)
                        : rota_schedule_call(sched, &call, 0, PERIOD, NULL));
}

/* Without a second thread there is one submitter. */
static void submit_by_all(void)
{
    pthread_t threads[SUBMITTERS];
    int count_of = 0;

    while (count_of < SUBMITTERS - 1 && pthread_create(&threads[count_of], NULL, submit, NULL) == 0)
        count_of++;
    check(may_be_refused || count_of == SUBMITTERS - 1);
    submit(&end);
    for (int i = 0; i < count_of; i++)
        check(pthread_join(threads[i], NULL) == 0);
}

static void settle(const struct series *all, int count_of)
{
    rota_pool_stats stats;

    check(rota_pool_stats_get(pool, &stats) == ROTA_OK);
    largest = stats.largest;
    check(rota_close(pool) == ROTA_OK);
    check(rota_close(sched) == ROTA_OK);
    check(rota_close(forkjoin) == ROTA_OK);
    check(atomic_load(&counts.ran) == atomic_load(&counts.accepted));
    check(atomic_load(&counts.delayed_ran) == atomic_load(&counts.delayed));
    check(atomic_load(&counts.accepted) > 0);
    check(!may_be_refused || largest < WORKERS || atomic_load(&counts.refused) > 0); /* some was */
    for (int i = 0; i < count_of; i++)
        check(may_be_refused || all[i].runs > 0);
}

static void tell(const struct series *all)
{
    unsigned long long delayed = atomic_load(&counts.delayed_ran);
    double late = delayed > 0 ? (double)atomic_load(&counts.late_ns) / (double)delayed : 0;

    printf("%llu tasks, late by %.2f ms on average and %.0f ms at most, %lld + %lld beats",
           atomic_load(&counts.ran), late / 1e6, (double)atomic_load(&counts.late_most) / 1e6,
           (long long)all[0].runs, (long long)all[1].runs);
    if (may_be_refused)
        printf(", %u of %d workers, %llu refused", largest, WORKERS, atomic_load(&counts.refused));
    if (forks)
        printf(", %llu children", atomic_load(&counts.forked));
    printf("\n");
}

static void read_arguments(int count_of, char **arguments)
{
    check(count_of >= 2);
    end = rota_now() + ROTA_SEC(atof(arguments[1]));
    for (int i = 2; i < count_of; i++) {
        bool *flag = strcmp(arguments[i], "--refusals") == 0 ? &may_be_refused
                     : strcmp(arguments[i], "--fork") == 0   ? &forks
                     : strcmp(arguments[i], "--leave") == 0  ? &leaves
                                                             : NULL;
        check(flag != NULL);
        *flag = true;
    }
}

int main(int count_of, char **arguments)
{
    static struct series all[] = {{.skips = false}, {.skips = true}};

    read_arguments(count_of, arguments);
    begin();
    begin_series(&all[0]);
    begin_series(&all[1]);
    submit_by_all();
    if (leaves)
        return 0;
    settle(all, 2);
    tell(all);
    return 0;
}
