/* SPDX-License-Identifier: MIT */
/* 07_pool.c - a pool under load: threads, queue, back-pressure, and an end that loses nothing */
#include <rota/rota.h>
#include <stdatomic.h>
#include <stdio.h>

enum { JOBS = 2000, ROOM = 32 };

static atomic_int served;
static atomic_int dropped;

static void *serve(void *arg)
{
    rota_sleep(ROTA_US(100)); /* a database, say */
    atomic_fetch_add(&served, 1);
    return arg;
}

static void drop(void *arg)
{
    (void)arg;
    atomic_fetch_add(&dropped, 1);
}

static void show(rota_executor *pool, const char *when)
{
    char line[160];

    rota_executor_describe(pool, line, sizeof line);
    printf("  %-10s %s\n", when, line);
}

int main(void)
{
    rota_call call = {.fn = serve, .discard = drop};
    rota_executor *pool;
    rota_queue *queue;
    int accepted = 0;
    size_t left;

    if (rota_array_queue(ROOM, &queue) != ROTA_OK)
        return 1;
    rota_pool_options options = {.core_threads = 2,
                                 .max_threads = 4,
                                 .queue = queue,
                                 .on_reject = rota_reject_block, /* a submitter waits for room */
                                 .threads = {.name = "serve-%u"}};
    if (rota_pool_new(&options, &pool) != ROTA_OK)
        return 1;
    show(pool, "new");
    for (int i = 0; i < JOBS; i++) {
        accepted += rota_submit_call(pool, &call, NULL) == ROTA_OK;
        if (i == JOBS / 2)
            show(pool, "half way");
    }
    show(pool, "submitted");
    if (rota_close_within(pool, ROTA_SEC(10), &left) != ROTA_OK) /* then interrupts, drops */
        return 1;
    printf("  %d accepted = %d served + %d dropped\n", accepted, atomic_load(&served),
           atomic_load(&dropped));
    return accepted == atomic_load(&served) + atomic_load(&dropped) ? 0 : 1;
}
