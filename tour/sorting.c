/* SPDX-License-Identifier: MIT */
/* sorting.c - the third act: ten million numbers, sorted by qsort, by one worker, and by all. */
#include "live.h"
#include "text.h"
#include "tour.h"
#include <stdlib.h>
#include <string.h>

enum { N = 10000000, ROUNDS = 2 };

typedef struct sorting {
    sort_result *result;
    int *source, *sorted, *work; /* the numbers, what qsort makes of them, and what is sorted now */
    unsigned done, steps;        /* for how far it is */
    rota_ns patience;            /* until then another round may begin */
} sorting;

/* One sort, as a task. */
typedef struct sort_task {
    int *numbers;
    size_t n;
    bool by_qsort;
    rota_ns took;
} sort_task;

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

static int compare_with(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return compare(a, b);
}

/* On a worker, so the sort spreads over the pool that this runs in. */
static void *sort(void *arg)
{
    sort_task *task = arg;
    rota_ns begin = rota_now();
    int status = ROTA_OK;

    if (task->by_qsort)
        qsort(task->numbers, task->n, sizeof(int), compare);
    else
        status = rota_parallel_sort(NULL, task->numbers, task->n, sizeof(int), compare_with, NULL);
    task->took = rota_now() - begin;
    return status == ROTA_OK ? arg : rota_fail(status);
}

static bool add_case(sort_result *r, unsigned workers)
{
    sort_case *c = &r->of[r->cases++];
    char thread_name[16];

    c->workers = workers;
    c->took = ROTA_FOREVER;
    if (workers == 0)
        snprintf(c->name, sizeof c->name, "qsort");
    else
        snprintf(c->name, sizeof c->name, "%u worker%s", workers, workers == 1 ? "" : "s");
    c->lanes.act = ACT_SORT;
    snprintf(thread_name, sizeof thread_name, workers == 0 ? "qsort" : "sort%u-%%u", workers);
    rota_forkjoin_options options = {
        .parallelism = workers == 0 ? 1 : workers,
        .threads = lanes_threads(&c->lanes, thread_name),
    };
    return succeeded(rota_forkjoin_new(&options, &c->pool), "The fork/join pool cannot be made")
           && succeeded(rota_executor_set_name(c->pool, c->name), "It gets no name");
}

/* qsort, then 1, 2, 4 ... workers, and all. */
static bool add_cases(sort_result *r)
{
    unsigned all = rota_cpu_count();

    if (!add_case(r, 0))
        return false;
    for (unsigned workers = 1; workers < all && r->cases < SORT_CASES - 1; workers *= 2) {
        if (!add_case(r, workers))
            return false;
    }
    return add_case(r, all);
}

/* Looks on while the task runs: a sort that has begun is not cut short. */
static bool await(sorting *s, const sort_case *c, rota_future *future)
{
    int status;

    while ((status = rota_future_get_timed(future, ROTA_MS(10), NULL)) == ROTA_ETIMEDOUT) {
        lanes_sample(&c->lanes);
        live_show(ACT_SORT, (double)s->done / s->steps, "%s ints, %s", text_count(s->result->n).s,
                  c->name);
    }
    lanes_sample(&c->lanes);
    return succeeded(status, "The sort failed");
}

static bool sort_once(sorting *s, sort_case *c)
{
    size_t n = s->result->n;
    sort_task task = {.n = n, .by_qsort = c->workers == 0};
    rota_call call = {
        .fn = sort, .arg = &task, .name = c->workers == 0 ? "qsort" : "parallel sort"};
    rota_future *future;

    task.numbers = task.by_qsort ? s->sorted : s->work;
    memcpy(task.numbers, s->source, n * sizeof(int));
    if (!succeeded(rota_submit_call(c->pool, &call, &future), "The sort cannot be submitted"))
        return false;
    bool fine = await(s, c, future);
    rota_future_unref(future);
    s->done++;
    if (fine && memcmp(task.numbers, s->sorted, n * sizeof(int)) != 0)
        return complain("The sort by %s is wrong.", c->name);
    if (task.took < c->took)
        c->took = task.took;
    return fine && !tour_stopped();
}

static void fill(sorting *s)
{
    uint32_t x = 88172645;

    for (size_t i = 0; i < s->result->n; i++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        s->source[i] = (int)(x >> 1);
    }
}

static bool run(sorting *s)
{
    sort_result *r = s->result;

    if (s->source == NULL || s->sorted == NULL || s->work == NULL)
        return complain("There is no memory to sort %s numbers.", text_count(r->n).s);
    fill(s);
    if (!add_cases(r))
        return false;
    s->steps = r->cases * ROUNDS;
    do {
        for (unsigned i = 0; i < r->cases; i++) {
            if (!sort_once(s, &r->of[i]))
                return false;
        }
    } while (++r->rounds < ROUNDS && rota_now() < s->patience);
    return true;
}

double sort_speedup(const sort_result *sort)
{
    return (double)sort->of[1].took / (double)sort->of[sort->cases - 1].took;
}

bool sort_act(const tour_options *options, sort_result *r)
{
    r->begin = rota_now();
    double part = options->seconds / 20; /* a very short tour is a test, perhaps a slow one */
    r->n = part >= 1 ? N : (size_t)(N * part * part);
    size_t size = r->n * sizeof(int);
    sorting s = {.result = r, .source = malloc(size), .sorted = malloc(size), .work = malloc(size)};
    s.patience = r->begin + ROTA_SEC(options->seconds / 4);
    bool fine = run(&s);

    free(s.source);
    free(s.sorted);
    free(s.work);
    r->length = rota_now() - r->begin;
    if (fine)
        live_done(ACT_SORT, "%s ints in %s s, qsort %s s", text_count(r->n).s,
                  text_number((double)r->of[r->cases - 1].took / 1e9).s,
                  text_number((double)r->of[0].took / 1e9).s);
    return fine;
}
