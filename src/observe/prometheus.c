/* SPDX-License-Identifier: MIT */
/*
 * prometheus.c - figures in the text format of Prometheus, version 0.0.4.
 *
 * All samples of a metric must stand together, so every executor is looked at first, and held as a
 * guest, as it were: by what was copied of it.
 */
#include "observe/observe_internal.h"

#include "base/alloc.h"

#include <limits.h>
#include <string.h>

typedef struct seen {
    struct seen *next;
    char name[ROTA_NAME_SIZE];
    uint32_t number;
    rota_figures figures;
    rota__summed *sums;
    size_t count;
} seen;

typedef struct survey {
    seen *first;
    seen **last;
    int status;
} survey;

/* -- Looking -------------------------------------------------------------- */

static bool see(rota_executor *ex, void *arg)
{
    survey *all = arg;
    seen *one = rota__alloc(sizeof *one);

    all->status = one != NULL ? rota__sum_up(ex, &one->sums, &one->count) : ROTA_ENOMEM;
    if (all->status != ROTA_OK) {
        rota__free(one, sizeof *one);
        return false;
    }
    one->next = NULL;
    one->number = ex->number;
    rota_executor_name(ex, one->name, sizeof one->name);
    rota_figures_get(ex, &one->figures);
    *all->last = one;
    all->last = &one->next;
    return true;
}

static void forget(survey *all)
{
    while (all->first != NULL) {
        seen *one = all->first;
        all->first = one->next;
        rota__free(one->sums, one->count * sizeof *one->sums);
        rota__free(one, sizeof *one);
    }
}

/* -- One value for each executor ------------------------------------------ */

static const struct {
    const char *name, *type, *help;
} metrics[] = {
    {"rota_executor_state", "gauge",
     "0 runs, 1 shut down, 2 stopped, 3 about to end, 4 terminated."},
    {"rota_executor_threads", "gauge", "Threads that there are."},
    {"rota_executor_active_threads", "gauge", "Threads that run a task."},
    {"rota_executor_queued_tasks", "gauge", "Tasks that wait in the queue."},
    {"rota_executor_submitted_tasks_total", "counter", "Tasks that were accepted."},
    {"rota_executor_completed_tasks_total", "counter",
     "Tasks that have run, or were cancelled when their turn came."},
    {"rota_executor_failed_tasks_total", "counter", "Tasks that have failed."},
    {"rota_executor_rejected_tasks_total", "counter", "Tasks that found no room, or no executor."},
    {"rota_executor_stolen_tasks_total", "counter", "Tasks that one worker took from another."},
    {"rota_executor_oldest_queued_seconds", "gauge",
     "How long the first in the queue has waited, or is due."},
};

enum { METRICS = sizeof metrics / sizeof metrics[0], TIME_METRIC = METRICS - 1 };

static uint64_t value_of(const rota_figures *figures, size_t which)
{
    const uint64_t values[METRICS] = {
        (uint64_t)figures->state, figures->threads,          figures->active, figures->queued,
        figures->submitted,       figures->completed,        figures->failed, figures->rejected,
        figures->stolen,          (uint64_t)figures->oldest,
    };

    return values[which];
}

/* Without a point that depends on the language. */
static void print_value(rota__out *out, uint64_t value, bool is_time)
{
    if (is_time)
        rota__out_print(out, "%llu.%09u\n", (unsigned long long)(value / 1000000000),
                        (unsigned)(value % 1000000000));
    else
        rota__out_print(out, "%llu\n", (unsigned long long)value);
}

static void print_labels(rota__out *out, const seen *one)
{
    rota__out_print(out, "{executor=\"");
    rota__out_escaped(out, one->name);
    rota__out_print(out, "\",id=\"%u\"", (unsigned)one->number);
}

static void print_metric(rota__out *out, const survey *all, size_t which)
{
    const char *name = metrics[which].name;

    rota__out_print(out, "# HELP %s %s\n# TYPE %s %s\n", name, metrics[which].help, name,
                    metrics[which].type);
    for (const seen *one = all->first; one != NULL; one = one->next) {
        rota__out_print(out, "%s", name);
        print_labels(out, one);
        rota__out_print(out, "} ");
        print_value(out, value_of(&one->figures, which), which == TIME_METRIC);
    }
}

/* -- Histograms ----------------------------------------------------------- */

static const struct {
    const char *text;
    rota_ns time;
} bounds[] = {
    {"1e-06", ROTA_US(1)},    {"2.5e-06", 2500},         {"5e-06", ROTA_US(5)},
    {"1e-05", ROTA_US(10)},   {"2.5e-05", ROTA_US(25)},  {"5e-05", ROTA_US(50)},
    {"0.0001", ROTA_US(100)}, {"0.00025", ROTA_US(250)}, {"0.0005", ROTA_US(500)},
    {"0.001", ROTA_MS(1)},    {"0.0025", ROTA_US(2500)}, {"0.005", ROTA_MS(5)},
    {"0.01", ROTA_MS(10)},    {"0.025", ROTA_MS(25)},    {"0.05", ROTA_MS(50)},
    {"0.1", ROTA_MS(100)},    {"0.25", ROTA_MS(250)},    {"0.5", ROTA_MS(500)},
    {"1", ROTA_SEC(1)},       {"2.5", ROTA_MS(2500)},    {"5", ROTA_SEC(5)},
    {"10", ROTA_SEC(10)},     {"25", ROTA_SEC(25)},      {"50", ROTA_SEC(50)},
    {"100", ROTA_SEC(100)},
};

static void print_bucket(rota__out *out, const char *name, const seen *one, uint32_t task,
                         const char *bound, uint64_t count)
{
    rota__out_print(out, "%s_bucket", name);
    print_labels(out, one);
    rota__out_print(out, ",task=\"");
    rota__out_escaped(out, rota__name_of(task));
    rota__out_print(out, "\",le=\"%s\"} %llu\n", bound, (unsigned long long)count);
}

static void print_total(rota__out *out, const char *name, const char *part, const seen *one,
                        uint32_t task, uint64_t value, bool is_time)
{
    rota__out_print(out, "%s_%s", name, part);
    print_labels(out, one);
    rota__out_print(out, ",task=\"");
    rota__out_escaped(out, rota__name_of(task));
    rota__out_print(out, "\"} ");
    print_value(out, value, is_time);
}

static void print_histogram(rota__out *out, const char *name, const seen *one, uint32_t task,
                            const rota_histogram *histogram)
{
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        print_bucket(out, name, one, task, bounds[i].text,
                     rota_histogram_up_to(histogram, bounds[i].time));
    print_bucket(out, name, one, task, "+Inf", histogram->count);
    print_total(out, name, "sum", one, task, histogram->sum, true);
    print_total(out, name, "count", one, task, histogram->count, false);
}

static void print_histograms(rota__out *out, const survey *all, bool of_waiting)
{
    const char *name = of_waiting ? "rota_task_wait_seconds" : "rota_task_run_seconds";

    rota__out_print(out, "# HELP %s %s\n# TYPE %s histogram\n", name,
                    of_waiting ? "From submit, or from when it was due, to begin."
                               : "From begin to end.",
                    name);
    for (const seen *one = all->first; one != NULL; one = one->next) {
        for (size_t i = 0; i < one->count; i++) {
            const rota__summed *sum = &one->sums[i];
            print_histogram(out, name, one, sum->name, of_waiting ? &sum->waiting : &sum->running);
        }
    }
}

/* -- All of it ------------------------------------------------------------ */

static int print(rota__out *out)
{
    survey all = {.last = &all.first, .status = ROTA_OK};
    int status = rota_executors_visit(see, &all);

    if (status == ROTA_OK)
        status = all.status;
    if (status == ROTA_OK) {
        for (size_t i = 0; i < METRICS; i++)
            print_metric(out, &all, i);
        print_histograms(out, &all, true);
        print_histograms(out, &all, false);
    }
    forget(&all);
    return status == ROTA_OK ? rota__out_end(out) : status;
}

int rota_metrics_text(char *text, size_t size)
{
    rota__out out;
    int status;

    if (text == NULL && size != 0)
        return ROTA_EINVAL;
    rota__out_begin(&out, NULL, -1);
    out.text = text;
    out.size = size;
    status = print(&out);
    if (status != ROTA_OK)
        return status;
    return out.length <= INT_MAX ? (int)out.length : ROTA_ENOMEM;
}

int rota_metrics_print(FILE *file)
{
    rota__out out;

    if (file == NULL)
        return ROTA_EINVAL;
    rota__out_begin(&out, file, -1);
    return print(&out);
}

int rota_metrics_write(int fd)
{
    rota__out out;

    if (fd < 0)
        return ROTA_EINVAL;
    rota__out_begin(&out, NULL, fd);
    return print(&out);
}
