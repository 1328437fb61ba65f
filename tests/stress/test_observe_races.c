/* SPDX-License-Identifier: MIT */
/*
 * Executors of every kind come, work and go, while others look at them, print what is known, and switch
 * figures, recorder and watchdog on and off. Nothing is seen that cannot be; with figures on, none is
 * missed.
 */
#define _GNU_SOURCE
#include "executors.h"
#include "forkjoin.h"
#include "observe/observe_internal.h"
#include "rota_test_internal.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAKERS = 2, TASKS = 30, KINDS = 4 };

#define DURATION ROTA_MS(600)

static rota_ns deadline;
static atomic_bool switches; /* figures are not on all the time */

static bool goes_on(void)
{
    return rota_now() < deadline;
}

/* -- Executors that come and go -------------------------------------------------------------- */

static rota_executor *make(size_t kind)
{
    rota_executor *executor = NULL;

    switch (kind) {
    case 0:
        return test_pool((rota_pool_options){.core_threads = 2});
    case 1:
        return test_sched((rota_sched_options){.core_threads = 1});
    case 2:
        return test_forkjoin_of(2);
    default:
        test_check(test_executor_direct(&executor) == ROTA_OK);
        return executor;
    }
}

typedef struct crew {
    rota_executor *executor;
    atomic_uint done; /* tasks */
} crew;

static void *work(void *arg)
{
    test_fib_task fib = {ROTA_FJ(test_fib), 8, 0};

    if (rota_fj_pool() != NULL)
        test_fib(&fib.task);
    return test_count(&((crew *)arg)->done);
}

static void *work_and_fail(void *arg)
{
    work(arg);
    return rota_fail(7);
}

/* One task inside of another, or a sleep. */
static void *submit_and_wait(void *arg)
{
    crew *mine = arg;
    rota_future *future;

    test_check(rota_submit(mine->executor, work, mine, &future) == ROTA_OK);
    test_check(rota_future_get(future, NULL) == ROTA_OK);
    rota_future_unref(future);
    return test_count(&mine->done);
}

/* How many tasks there are, all in all; they are done. */
static unsigned put_to_work(crew *mine, test_random *random)
{
    const rota_call calls[] = {{.fn = work, .arg = mine},
                               {.fn = work, .arg = mine, .name = "plain"},
                               {.fn = work_and_fail, .arg = mine, .name = "fails"},
                               {.fn = submit_and_wait, .arg = mine, .name = "waits"}};
    unsigned given = 0;

    for (unsigned i = 0; i < TASKS; i++) {
        size_t which = test_random_below(random, 4);
        test_check(rota_submit_call(mine->executor, &calls[which], NULL) == ROTA_OK);
        given += which == 3 ? 2 : 1;
    }
    test_await_count(&mine->done, given);
    return given;
}

/* Of one that has ended, and was on all the time, all is known. A stolen task is timed as well. */
static void check_account(rota_executor *executor, size_t kind, unsigned given)
{
    rota_figures figures;

    test_check(rota_figures_get(executor, &figures) == ROTA_OK);
    test_check(figures.queued == 0 && figures.oldest == 0);
    if (atomic_load(&switches) || kind == 3)
        return;
    test_check(figures.waiting.count == given);
    if (kind < 2)
        test_check(figures.running.count == given && figures.completed == given);
    else
        test_check(figures.running.count >= given);
}

static void make_and_close(void *arg)
{
    test_random *random = arg;

    while (goes_on()) {
        size_t kind = test_random_below(random, KINDS);
        crew mine = {.executor = make(kind)};
        test_check(rota_executor_set_name(mine.executor, "stressed") == ROTA_OK);
        unsigned given = put_to_work(&mine, random);
        test_check(rota_shutdown(mine.executor) == ROTA_OK);
        test_check(rota_await_termination(mine.executor, ROTA_FOREVER) == ROTA_OK);
        check_account(mine.executor, kind, given);
        test_check(rota_close(mine.executor) == ROTA_OK);
    }
}

/* -- Those who look -------------------------------------------------------------------------- */

static void check_histogram(const rota_histogram *histogram)
{
    uint64_t count = 0;

    for (size_t i = 0; i < ROTA_HISTOGRAM_BUCKETS; i++)
        count += histogram->bucket[i];
    test_check(count == histogram->count);
    test_check(histogram->max >= 0 && histogram->max < ROTA_HOURS(1));
    test_check(rota_histogram_up_to(histogram, ROTA_HOURS(24)) == count);
}

static bool look_at_task(const rota_task_figures *figures, void *arg)
{
    test_check(strlen(figures->name) < ROTA_NAME_SIZE);
    test_check(figures->failed == 0 || strcmp(figures->name, "fails") == 0);
    check_histogram(&figures->waiting);
    check_histogram(&figures->running);
    return true;
}

static bool look_at(rota_executor *ex, void *arg)
{
    static _Thread_local rota_figures figures;
    char name[ROTA_NAME_SIZE], line[200];

    test_check(rota_executor_name(ex, name, sizeof name) > 0);
    test_check(rota_executor_describe(ex, line, sizeof line) > 0);
    test_check(rota_figures_get(ex, &figures) == ROTA_OK);
    test_check(figures.oldest < ROTA_HOURS(1));
    check_histogram(&figures.waiting);
    check_histogram(&figures.running);
    test_check(rota_figures_by_task(ex, look_at_task, NULL) == ROTA_OK);
    return true;
}

static void look_at_all(void *arg)
{
    while (goes_on())
        test_check(rota_executors_visit(look_at, NULL) == ROTA_OK);
}

static void print_metrics(void *arg)
{
    static char text[1 << 16];
    int nowhere = open("/dev/null", O_WRONLY);

    test_check(nowhere >= 0);
    while (goes_on()) {
        int length = rota_metrics_text(text, sizeof text);
        test_check(length > 0);
        test_check(strlen(text)
                   == ((size_t)length < sizeof text ? (size_t)length : sizeof text - 1));
        test_check(rota_metrics_write(nowhere) == ROTA_OK);
    }
    close(nowhere);
}

/* -- What was recorded ----------------------------------------------------------------------- */

/* Of one thread: until the next is named. */
typedef struct reading {
    int open;
    double time;
} reading;

/* What begins ends, and time does not go back. */
static void check_event(reading *now, const char *event)
{
    const char *time = strstr(event, "\"ts\":");
    double at;

    test_check(time != NULL);
    at = strtod(time + 5, NULL);
    if (event[7] == 'M') {
        test_check(now->open == 0);
        now->time = at;
    }
    test_check(at >= now->time);
    now->time = at;
    now->open += event[7] == 'B';
    now->open -= event[7] == 'E';
    test_check(now->open >= 0);
}

static void print_trace(void *arg)
{
    while (goes_on()) {
        reading now = {0, 0};
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        test_check(file != NULL && rota_recorder_print(file) == ROTA_OK && fclose(file) == 0);
        for (const char *at = text; (at = strstr(at, "{\"ph\":\"")) != NULL; at++)
            check_event(&now, at);
        test_check(now.open == 0);
        free(text);
    }
}

/* -- Switches -------------------------------------------------------------------------------- */

static void hear(const rota_alarm *alarm, void *ctx)
{
    test_check(alarm->kind != ROTA_ALARM_CYCLE); /* there is none */
    test_check(strlen(alarm->executor) > 0 && strlen(alarm->executor) < ROTA_NAME_SIZE);
    atomic_fetch_add((atomic_uint *)ctx, 1);
}

static void switch_on_and_off(void *arg)
{
    test_random *random = arg;
    atomic_uint alarms = 0;

    while (goes_on()) {
        rota_recorder_options recorder = {.events = test_random_below(random, 300)};
        rota_watchdog_options watchdog = {.longest_task = ROTA_US(1),
                                          .oldest_queued = ROTA_US(1),
                                          .cycles = true,
                                          .period = ROTA_US(100),
                                          .alarm = hear,
                                          .ctx = &alarms};
        test_check(rota_observe(!atomic_load(&switches) || test_random_below(random, 2) == 0)
                   == ROTA_OK);
        test_check(rota_recorder_start(&recorder) == ROTA_OK);
        test_check(rota_watchdog_start(&watchdog) == ROTA_OK);
        for (size_t i = test_random_below(random, 300); i > 0; i--)
            sched_yield();
        test_check(rota_recorder_stop() == ROTA_OK);
        test_check(rota_watchdog_stop() == ROTA_OK);
    }
}

/* -- All of it ------------------------------------------------------------------------------- */

static void run_all(bool figures_are_switched)
{
    void (*const sides[])(void *) = {look_at_all, print_metrics, print_trace};
    enum { SIDES = sizeof sides / sizeof sides[0] };
    test_thread *threads[MAKERS + SIDES];
    test_random randoms[MAKERS + 1];
    unsigned count = 0;

    test_randoms_init(randoms, MAKERS + 1);
    atomic_store(&switches, figures_are_switched);
    assert_ok(rota_observe(true));
    deadline = rota_now() + DURATION;
    for (unsigned i = 0; i < MAKERS; i++)
        threads[count++] = test_thread_start(make_and_close, &randoms[i]);
    for (unsigned i = 0; i < SIDES; i++)
        threads[count++] = test_thread_start(sides[i], NULL);
    switch_on_and_off(&randoms[MAKERS]);
    while (count > 0)
        test_thread_join(threads[--count]);
    assert_ok(rota_observe(false));
    rota__observe_forget();
}

TEST(figures_are_complete_whoever_looks)
{
    run_all(false);
}

TEST(figures_may_be_switched_at_any_time)
{
    run_all(true);
}
