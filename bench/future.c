/* SPDX-License-Identifier: MIT */
/* future.c - what a future costs where nothing waits: ns for each, one thread */
#include <rota/rota.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 5, TIMES = 2000000 };

static _Atomic(uintptr_t) word = 2;
static rota_executor *direct;
static rota_future *done;

static int run_here(void *self, rota_task *task)
{
    (void)self;
    rota_task_run(task);
    return ROTA_OK;
}

static void *nothing(void *arg)
{
    return arg;
}

/* The limit for a get: what any way to ask an atomic variable costs. */
__attribute__((noinline)) static int load_and_branch(void)
{
    return atomic_load_explicit(&word, memory_order_acquire) == 2 ? 0 : -1;
}

static void load(void)
{
    if (load_and_branch() != 0)
        abort();
}

static void get_done(void)
{
    void *result;

    if (rota_future_get(done, &result) != ROTA_OK)
        abort();
}

static void malloc_free(void)
{
    void *volatile block = malloc(128);

    free(block);
}

static void promise(void)
{
    rota_future *made;

    if (rota_promise_new(&made) != ROTA_OK || !rota_promise_complete(made, NULL))
        abort();
    rota_future_unref(made);
}

static void execute(void)
{
    if (rota_execute(direct, nothing, NULL) != ROTA_OK)
        abort();
}

static void submit_and_get(void)
{
    rota_future *future;

    if (rota_submit(direct, nothing, NULL, &future) != ROTA_OK
        || rota_future_get(future, NULL) != ROTA_OK)
        abort();
    rota_future_unref(future);
}

/* The best of a few rounds: what disturbs a measurement only ever adds to it. */
static double measure(const char *what, void (*once)(void))
{
    double best = 1e9;

    for (int round = 0; round < ROUNDS; round++) {
        rota_ns begin = rota_now();
        for (int i = 0; i < TIMES; i++)
            once();
        double each = (double)(rota_now() - begin) / TIMES;
        best = each < best ? each : best;
    }
    printf("%-44s %7.1f ns\n", what, best);
    return best;
}

int main(void)
{
    if (rota_executor_new(&(rota_executor_ops){.execute = run_here}, NULL, &direct) != ROTA_OK
        || rota_promise_new(&done) != ROTA_OK)
        return 1;
    rota_promise_complete(done, NULL);

    double limit = measure("limit: an atomic load and a branch", load);
    double get = measure("rota_future_get, done", get_done);
    measure("malloc(128) and free", malloc_free);
    measure("promise: new, complete, unref", promise);
    measure("rota_execute, run in the same thread", execute);
    measure("rota_submit, run in the same thread, get", submit_and_get);
    printf("a done get takes %.1f times the limit\n", get / limit);
    rota_future_unref(done);
    return rota_close(direct) == ROTA_OK ? 0 : 1;
}
