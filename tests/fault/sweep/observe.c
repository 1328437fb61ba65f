/* SPDX-License-Identifier: MIT */
/*
 * observe.c - what looks at executors, and what switches that on and off.
 */
#define _GNU_SOURCE
#include "observe/observe_internal.h"

#include "sweep.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- Scenes ------------------------------------------------------------------------------- */

static FILE *nowhere;

/* A pool that has been seen at work, with something queued. */
static void set_observed(void)
{
    nowhere = fopen("/dev/null", "w");
    test_check(nowhere != NULL);
    test_check(rota_observe(true) == ROTA_OK);
    test_check(rota_recorder_start(&(rota_recorder_options){.events = 64}) == ROTA_OK);
    sweep_busy_pool.set();
    test_check(rota_executor_set_name(stage.pool, "observed") == ROTA_OK);
}

static void strike_observed(void)
{
    sweep_busy_pool.strike();
    test_check(rota_recorder_stop() == ROTA_OK);
    test_check(rota_observe(false) == ROTA_OK);
    rota__observe_forget();
    fclose(nowhere);
}

static const sweep_scene observed = {"observed pool", set_observed, NULL, strike_observed};
static sweep_scenes an_observed = {&observed, NULL};

static void stop_all(void)
{
    test_check(rota_watchdog_stop() == ROTA_OK);
    test_check(rota_recorder_stop() == ROTA_OK);
    test_check(rota_observe(false) == ROTA_OK);
    test_check(rota_recorder_on_signal(0, NULL) == ROTA_OK);
    rota__observe_forget();
}

/* Afterwards all is off. */
static const sweep_scene off = {"-", NULL, NULL, stop_all};
static sweep_scenes all_off = {&off, NULL};

/* -- Executors ---------------------------------------------------------------------------- */

static int set_name(void)
{
    return rota_executor_set_name(stage.pool, "another");
}

static int name(void)
{
    char text[ROTA_NAME_SIZE];

    return sweep_so(rota_executor_name(stage.pool, text, sizeof text) == (int)strlen(text));
}

/* There may be others: the common pool, the timer of composed futures. */
static bool count_it(rota_executor *ex, void *count)
{
    *(unsigned *)count += ex == stage.pool;
    return true;
}

static int visit(void)
{
    unsigned count = 0;
    int status = rota_executors_visit(count_it, &count);

    test_check(count == (status == ROTA_OK ? 1 : 0));
    return status;
}

static int print_executors(void)
{
    return rota_executors_print(nowhere);
}

/* -- Figures ------------------------------------------------------------------------------ */

static int get_figures(void)
{
    static rota_figures figures;

    return rota_figures_get(stage.pool, &figures);
}

static bool count_task(const rota_task_figures *figures, void *count)
{
    ++*(unsigned *)count;
    return true;
}

static int by_task(void)
{
    unsigned count = 0;
    int status = rota_figures_by_task(stage.pool, count_task, &count);

    test_check(count == (status == ROTA_OK ? 1 : 0));
    return status;
}

static int observe(void)
{
    int status = rota_observe(true);

    test_check(rota_is_observing() == (status == ROTA_OK));
    return status;
}

static int is_observing(void)
{
    return sweep_so(!rota_is_observing());
}

static int metrics_text(void)
{
    int length = rota_metrics_text(NULL, 0);

    return length > 0 ? ROTA_OK : length;
}

static int metrics_print(void)
{
    return rota_metrics_print(nowhere);
}

static int metrics_write(void)
{
    return rota_metrics_write(fileno(nowhere));
}

/* -- The recorder ------------------------------------------------------------------------- */

static int start_recorder(void)
{
    return rota_recorder_start(NULL);
}

static void it_records(void)
{
    test_check(rota_recorder_start(NULL) == ROTA_EBUSY);
}

static void it_has_stopped(void)
{
    test_check(rota_recorder_start(NULL) == ROTA_OK);
}

static int recorder_print(void)
{
    return rota_recorder_print(nowhere);
}

static int recorder_write(void)
{
    return rota_recorder_write(fileno(nowhere));
}

static int on_signal(void)
{
    return rota_recorder_on_signal(SIGUSR1, "/dev/null/nowhere");
}

/* Without it, the process ends. */
static void the_signal_is_taken(void)
{
    test_check(raise(SIGUSR1) == 0);
}

/* -- The watchdog ------------------------------------------------------------------------- */

static void hear(const rota_alarm *alarm, void *ctx)
{
}

static int start_watchdog(void)
{
    return rota_watchdog_start(&(rota_watchdog_options){.longest_task = ROTA_HOURS(1),
                                                        .oldest_queued = ROTA_HOURS(1),
                                                        .cycles = true,
                                                        .period = ROTA_US(100),
                                                        .alarm = hear});
}

static void it_watches(void)
{
    test_check(start_watchdog() == ROTA_EBUSY);
}

static void set_watched(void)
{
    test_check(start_watchdog() == ROTA_OK);
}

static void it_does_not_watch(void)
{
    test_check(start_watchdog() == ROTA_OK);
}

static const sweep_scene watched = {"watchdog", set_watched, NULL, stop_all};
static sweep_scenes a_watchdog = {&watched, NULL};

/* -- Histograms --------------------------------------------------------------------------- */

static int add(void)
{
    rota_histogram histogram = {.count = 0};

    rota_histogram_add(&histogram, 3);
    return sweep_so(histogram.count == 1);
}

static int merge(void)
{
    rota_histogram histogram = {.count = 2};

    rota_histogram_merge(&histogram, &histogram);
    return sweep_so(histogram.count == 4);
}

static int quantile(void)
{
    return sweep_so(rota_histogram_quantile(&(rota_histogram){.count = 0}, 0.5) == 0);
}

static int up_to(void)
{
    return sweep_so(rota_histogram_up_to(&(rota_histogram){.count = 0}, 1) == 0);
}

#define NEEDS_A_THREAD                  \
    .may = {                            \
        [SWEEP_MEMORY] = {ROTA_ENOMEM}, \
        [SWEEP_EXIT] = {ROTA_ENOMEM},   \
        [SWEEP_THREAD] = {ROTA_EAGAIN}, \
    }

static const sweep_row rows[] = {
    {"rota_executor_set_name", an_observed, set_name, .is_quiet = true},
    {"rota_executor_name", an_observed, name, .is_quiet = true},
    {"rota_executors_visit", an_observed, visit, SWEEP_NEEDS_TO_WAIT},
    {"rota_executors_print", an_observed, print_executors, SWEEP_NEEDS_TO_WAIT},
    {"rota_figures_get", sweep_a_pool, get_figures, .is_quiet = true},
    {"rota_figures_by_task", an_observed, by_task, SWEEP_NEEDS_MEMORY},
    {"rota_observe", all_off, observe, SWEEP_NEEDS_TO_WAIT},
    {"rota_is_observing", all_off, is_observing, .is_quiet = true},
    {"rota_metrics_text", an_observed, metrics_text, SWEEP_GROWS_AND_WAITS},
    {"rota_metrics_print", an_observed, metrics_print, SWEEP_GROWS_AND_WAITS},
    {"rota_metrics_write", an_observed, metrics_write, SWEEP_GROWS_AND_WAITS},
    {"rota_recorder_start", all_off, start_recorder, it_records, SWEEP_NEEDS_TO_WAIT},
    {"rota_recorder_stop", an_observed, rota_recorder_stop, it_has_stopped},
    {"rota_recorder_print", an_observed, recorder_print, SWEEP_NEEDS_MEMORY},
    {"rota_recorder_write", an_observed, recorder_write, SWEEP_NEEDS_MEMORY},
    {"rota_recorder_on_signal", all_off, on_signal, the_signal_is_taken, NEEDS_A_THREAD},
    {"rota_watchdog_start", all_off, start_watchdog, it_watches, NEEDS_A_THREAD},
    {"rota_watchdog_stop", a_watchdog, rota_watchdog_stop, it_does_not_watch},
    {"rota_histogram_add", sweep_nowhere, add, .is_quiet = true},
    {"rota_histogram_merge", sweep_nowhere, merge, .is_quiet = true},
    {"rota_histogram_quantile", sweep_nowhere, quantile, .is_quiet = true},
    {"rota_histogram_up_to", sweep_nowhere, up_to, .is_quiet = true},
};
SWEEP_PART(sweep_observe, rows);

/* What is there for good: how fast the processor's clock is, and the descriptor of signals. */
void sweep_observe_prepare(void)
{
    test_check(rota_observe(true) == ROTA_OK);
    test_check(on_signal() == ROTA_OK);
    stop_all();
}
