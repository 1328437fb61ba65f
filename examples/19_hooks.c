/* SPDX-License-Identifier: MIT */
/* 19_hooks.c - a pool of one's own making: its threads, what is around tasks, unseen failures */
#include <rota/rota.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 2, TASKS = 100, BAD_LINE = 3 };

static atomic_int made, connected, before, after, unseen, ended;

/* Instead of pthread_create: to count, to limit, to place the stack. The library joins it. */
static int make(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *), void *arg,
                void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&made, 1);
    return pthread_create(out, attr, start, arg);
}

/* On each thread, first: what every task needs and no task should have to make. on_exit is last. */
static void connect_database(void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&connected, 1);
}

static void on_before(rota_executor *pool, rota_task *task, void *ctx)
{
    (void)pool, (void)ctx;
    atomic_fetch_add(&before, strcmp(rota_task_call(task)->name, "parse") == 0);
}

static void on_after(rota_executor *pool, rota_task *task, int status, int error, void *ctx)
{
    (void)pool, (void)task, (void)ctx;
    atomic_fetch_add(&after, status == ROTA_OK || error == BAD_LINE);
}

/* A failure that nobody can see otherwise: no one holds the future. */
static void on_unseen(rota_executor *pool, const rota_call *call, int error, void *ctx)
{
    (void)pool, (void)ctx;
    if (atomic_fetch_add(&unseen, 1) == 0)
        printf("  %s failed with %d, and maybe others\n", call->name, error);
}

static void on_end(rota_executor *pool, void *ctx)
{
    (void)pool, (void)ctx;
    atomic_fetch_add(&ended, 1);
}

static void *parse(void *line)
{
    return line == NULL ? rota_fail(BAD_LINE) : line;
}

int main(void)
{
    rota_pool_options options = {
        .core_threads = THREADS,
        .threads = {.name = "parse-%u", .create = make, .on_start = connect_database},
        .hooks = {on_before, on_after, on_unseen, on_end, NULL}};
    rota_executor *pool;
    unsigned started;

    if (rota_pool_new(&options, &pool) != ROTA_OK || rota_pool_prestart(pool, &started) != ROTA_OK)
        return 1;
    for (int i = 0; i < TASKS; i++) {
        rota_call call = {.fn = parse, .arg = i % 4 == 0 ? NULL : &options, .name = "parse"};
        if (rota_submit_call(pool, &call, NULL) != ROTA_OK)
            return 1;
    }
    if (rota_close(pool) != ROTA_OK || ended != 1)
        return 1;
    bool threads = started == THREADS && made == THREADS && connected == THREADS;
    return threads && before == TASKS && after == TASKS && unseen == TASKS / 4 ? 0 : 1;
}
