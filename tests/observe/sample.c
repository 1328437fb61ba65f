/* SPDX-License-Identifier: MIT */
/*
 * sample FILE metrics|running|stopped|wrapped - puts executors of all kinds to work, with names of all
 * kinds, and writes to a file what is known of it: metrics, or what was recorded, while it goes on, when it
 * was stopped, or with small rings. For check_metrics.py, promtool and check_trace.py.
 */
#include <rota/rota.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 2000 };

static void must(bool so, const char *what)
{
    if (so)
        return;
    fprintf(stderr, "sample: %s\n", what);
    exit(1);
}

static void *work(void *arg)
{
    (void)arg;
    return rota_now() % 7 == 0 ? rota_fail(7) : NULL;
}

static void *submit_and_wait(void *executor)
{
    rota_future *future;

    if (rota_submit(executor, work, NULL, &future) != ROTA_OK)
        return rota_fail(1);
    rota_future_get(future, NULL); /* a task inside of a task, or a sleep */
    rota_future_unref(future);
    return NULL;
}

static rota_executor *named(rota_executor *executor, const char *name)
{
    must(rota_executor_set_name(executor, name) == ROTA_OK, name);
    return executor;
}

static void put_to_work(rota_executor *executor)
{
    static const char *const names[] = {NULL,
                                        "plain",
                                        "\"quoted\"",
                                        "back\\slash",
                                        "line\nfeed",
                                        "gr\xc3\xb6\xc3\x9f"
                                        "e",
                                        "\xff\xfe",
                                        "{le=\"1\"} 3",
                                        "other"};
    enum { NAMES = sizeof names / sizeof names[0] };

    for (unsigned i = 0; i < TASKS; i++) {
        rota_call call = {.fn = work, .name = names[i % NAMES]};
        if (i % 10 == 0)
            call = (rota_call){.fn = submit_and_wait, .arg = executor, .name = "outer"};
        int status = rota_submit_call(executor, &call, NULL);
        must(status == ROTA_OK || status == ROTA_EREJECTED, "a task was not taken");
    }
}

static void await_quiet(rota_executor *executor)
{
    rota_figures figures;

    do {
        sched_yield();
        must(rota_figures_get(executor, &figures) == ROTA_OK, "no figures");
    } while (figures.queued + figures.active > 0);
}

static void write_to(const char *path, int (*print)(FILE *file))
{
    FILE *file = fopen(path, "w");

    must(file != NULL, "the file cannot be opened");
    must(print(file) == ROTA_OK, "it cannot be written");
    must(fclose(file) == 0, "it cannot be written out");
}

int main(int count, char **words)
{
    rota_executor *executors[4];
    rota_recorder_options options = {.events = 0};
    rota_queue *queue;

    must(count == 3, "sample FILE metrics|running|stopped|wrapped");
    if (strcmp(words[2], "wrapped") == 0)
        options.events = 100;
    must(rota_observe(true) == ROTA_OK, "it is not observed");
    must(rota_recorder_start(&options) == ROTA_OK, "nothing is recorded");
    must(rota_array_queue(50, &queue) == ROTA_OK, "no queue");
    must(rota_pool_new(&(rota_pool_options){.core_threads = 2, .max_threads = 2, .queue = queue},
                       &executors[0])
             == ROTA_OK,
         "no pool");
    must(rota_fixed_pool(2, &executors[1]) == ROTA_OK, "no second pool");
    must(rota_sched_new(&(rota_sched_options){.core_threads = 1}, &executors[2]) == ROTA_OK,
         "no scheduled pool");
    must(rota_forkjoin_new(&(rota_forkjoin_options){.parallelism = 2}, &executors[3]) == ROTA_OK,
         "no fork/join pool");
    named(executors[0], "a \"small\" one\\");
    named(executors[1], "the same");
    named(executors[2], "the same");
    for (unsigned i = 0; i < 4; i++)
        put_to_work(executors[i]);
    await_quiet(executors[1]); /* the others go on; but there is a task in what is written */
    if (strcmp(words[2], "stopped") == 0) {
        for (unsigned i = 0; i < 4; i++)
            await_quiet(executors[i]);
        must(rota_recorder_stop() == ROTA_OK, "it does not stop");
    }
    write_to(words[1], strcmp(words[2], "metrics") == 0 ? rota_metrics_print : rota_recorder_print);
    for (unsigned i = 0; i < 4; i++)
        must(rota_close(executors[i]) == ROTA_OK, "an executor does not close");
    return 0;
}
