/* SPDX-License-Identifier: MIT */
#include "forkjoin.h"

/* -- Pools -------------------------------------------------------------------------------- */

rota_executor *test_forkjoin(rota_forkjoin_options options)
{
    rota_executor *pool = NULL;

    test_check(rota_forkjoin_new(&options, &pool) == ROTA_OK);
    return pool;
}

rota_executor *test_forkjoin_of(unsigned parallelism)
{
    return test_forkjoin((rota_forkjoin_options){.parallelism = parallelism});
}

rota_forkjoin_stats test_fj_stats(rota_executor *pool)
{
    rota_forkjoin_stats stats;

    test_check(rota_forkjoin_stats_get(pool, &stats) == ROTA_OK);
    return stats;
}

struct wanted {
    rota_executor *pool;
    size_t count;
};

static bool has_threads(void *arg)
{
    const struct wanted *wanted = arg;

    return test_fj_stats(wanted->pool).threads == wanted->count;
}

void test_fj_await_threads(rota_executor *pool, unsigned count)
{
    test_until(has_threads, &(struct wanted){pool, count});
}

static bool has_active(void *arg)
{
    const struct wanted *wanted = arg;

    return test_fj_stats(wanted->pool).active == wanted->count;
}

void test_fj_await_active(rota_executor *pool, unsigned count)
{
    test_until(has_active, &(struct wanted){pool, count});
}

static bool has_submissions(void *arg)
{
    const struct wanted *wanted = arg;

    return test_fj_stats(wanted->pool).submissions == wanted->count;
}

void test_fj_await_submissions(rota_executor *pool, size_t count)
{
    test_until(has_submissions, &(struct wanted){pool, count});
}

/* -- Inside a pool ------------------------------------------------------------------------ */

struct inside {
    rota_fj task; /* first */
    void (*body)(void *arg);
    void *arg;
};

static void *run_submitted(void *arg)
{
    const struct inside *inside = arg;

    inside->body(inside->arg);
    return NULL;
}

void test_fj_inside(rota_executor *pool, void (*body)(void *arg), void *arg)
{
    struct inside inside = {.body = body, .arg = arg};
    rota_future *future = NULL;

    test_check(rota_submit(pool, run_submitted, &inside, &future) == ROTA_OK);
    test_check(rota_future_get(future, NULL) == ROTA_OK);
    rota_future_unref(future);
}

static void run_invoked(rota_fj *task)
{
    const struct inside *inside = (struct inside *)task;

    inside->body(inside->arg);
}

void test_fj_taking_part(rota_executor *pool, void (*body)(void *arg), void *arg)
{
    struct inside inside = {ROTA_FJ(run_invoked), body, arg};

    test_check(rota_invoke(pool, &inside.task) == ROTA_OK);
}

static void do_nothing(rota_fj *task)
{
}

void test_fj_until_stolen(atomic_uint *begun)
{
    while (atomic_load(begun) == 0) {
        rota_fj task = ROTA_FJ(do_nothing);
        rota_fork(&task);
        rota_join(&task); /* cancelled, if somebody stops the pool now */
    }
}

/* -- Tests that run inside a pool -------------------------------------------------------- */

typedef struct place {
    const char *name;
    rota_forkjoin_options options;
    bool is_alone;   /* nobody else can steal */
    bool takes_part; /* the test runs in the caller */
    bool is_common;
} place;

static const place places[] = {
    {"three workers", {.parallelism = 3}, false, false, false},
    {"one worker", {.parallelism = 1}, true, false, false},
    {"two workers, fifo", {.parallelism = 2, .fifo = true}, false, false, false},
    {"a caller and a worker", {.parallelism = 2}, false, true, false},
    {"a caller alone", {.parallelism = 1}, true, true, false},
    {"common pool", {.parallelism = 0}, false, true, true},
};

static test_kind place_kind(size_t i)
{
    if (i == sizeof places / sizeof places[0])
        return (test_kind){.name = NULL};
    return (test_kind){
        .name = places[i].name,
        .able = places[i].is_alone ? TEST_LONE_WORKER : 0,
        .keeps_memory = places[i].is_common,
        .value = &places[i],
    };
}

typedef struct worker_call {
    void (*test)(void **state);
    void **state;
} worker_call;

static void call_test(void *arg)
{
    const worker_call *call = arg;

    call->test(call->state);
}

static void call_inside(void (*test)(void **state), void **state)
{
    const place *here = *state;
    rota_executor *pool = here->is_common ? rota_common_pool() : test_forkjoin(here->options);
    worker_call call = {test, state};

    if (here->takes_part)
        test_fj_taking_part(pool, call_test, &call);
    else
        test_fj_inside(pool, call_test, &call);
    if (!here->is_common)
        assert_ok(rota_close(pool));
}

const test_fixture test_workers = {.kind = place_kind, .call = call_inside};

/* -- Something to compute -------------------------------------------------------------------- */

void test_fib(rota_fj *task)
{
    test_fib_task *f = (test_fib_task *)task;

    if (f->n < 2) {
        f->value = f->n;
        return;
    }
    test_fib_task a = {ROTA_FJ(test_fib), f->n - 1, 0}, b = {ROTA_FJ(test_fib), f->n - 2, 0};
    rota_fork(&a.task);
    test_fib(&b.task);
    test_check(rota_join(&a.task) == ROTA_OK);
    f->value = a.value + b.value;
}
