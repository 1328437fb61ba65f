/* SPDX-License-Identifier: MIT */
/*
 * tour.c - rota at work, in half a minute: four acts, a summary, and a report with pictures.
 *
 *     tour [--seconds N] [--port N] [--out FOLDER]
 */
#include "tour.h"
#include "live.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STOPPED = 130 /* as a shell has it */ };

static volatile sig_atomic_t stopped;

/* -- Saying what is wrong -------------------------------------------------------------------- */

bool complain(const char *format, ...)
{
    va_list args;

    fflush(stdout);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return false;
}

bool succeeded(int status, const char *what)
{
    return status == ROTA_OK || complain("%s: %s.", what, rota_strerror(status));
}

bool tour_stopped(void)
{
    return stopped != 0;
}

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

static void listen_for_stop(void)
{
    struct sigaction action = {.sa_handler = stop};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* -- Words ----------------------------------------------------------------------------------- */

static bool read_number(const char *word, double most, double *number)
{
    char *end = NULL;

    *number = word == NULL ? -1 : strtod(word, &end);
    return word != NULL && end != word && *end == '\0' && *number > 0 && *number <= most;
}

static bool read_words(char **words, tour_options *options)
{
    double number;

    for (; *words != NULL; words += 2) {
        if (strcmp(*words, "--out") == 0 && words[1] != NULL)
            options->out = words[1];
        else if (strcmp(*words, "--seconds") == 0 && read_number(words[1], 50, &number))
            options->seconds = number;
        else if (strcmp(*words, "--port") == 0 && read_number(words[1], 65535, &number))
            options->port = (unsigned)number;
        else if (strcmp(*words, "--load") == 0 && read_number(words[1], 65535, &number))
            options->load = (unsigned)number;
        else
            return complain("How? tour [--seconds N, up to 50] [--port N] [--out FOLDER]");
    }
    return true;
}

/* -- Files ----------------------------------------------------------------------------------- */

static int open_file(const tour *t, const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", t->options.out, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        complain("%s cannot be written: %s.", path, strerror(errno));
    return fd;
}

/* Before anything else, so that nobody waits for a report that cannot be. */
static bool make_folder(const tour *t)
{
    if (mkdir(t->options.out, 0755) != 0 && errno != EEXIST)
        return complain("The folder %s cannot be made: %s.", t->options.out, strerror(errno));
    int fd = open_file(t, "tour.html");
    return fd >= 0 && close(fd) == 0;
}

static bool write_with(const tour *t, const char *name, int (*write_to)(int fd))
{
    int fd = open_file(t, name);

    if (fd < 0)
        return false;
    int status = write_to(fd);
    if (close(fd) != 0 || status != ROTA_OK)
        return complain("%s cannot be written: %s.", name, rota_strerror(status));
    return true;
}

static bool write_report(const tour *t)
{
    int fd = open_file(t, "tour.html");
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

    if (file == NULL)
        return false;
    report_print(t, file);
    bool bad = ferror(file) != 0;
    return (fclose(file) == 0 && !bad) || complain("tour.html cannot be written.");
}

/* -- The acts -------------------------------------------------------------------------------- */

bool tour_was_disturbed(const tour *t)
{
    return t->load > 0.5 * rota_cpu_count();
}

static bool perform(tour *t)
{
    rota_ns second = ROTA_SEC(t->options.seconds / 28); /* as it is with 28 */

    if (getloadavg(&t->load, 1) != 1)
        t->load = 0;
    t->begin = rota_now();
    lanes_begin(t->begin);
    bool fine = web_act(&t->options, 8 * second, &t->web)
                && jobs_act(&t->options, 6 * second, &t->jobs) && sort_act(&t->options, &t->sort)
                && pipeline_act(&t->options, &t->pipeline);
    t->length = rota_now() - t->begin;
    return fine;
}

static bool observe(void)
{
    return succeeded(rota_observe(true), "Tasks cannot be timed")
           && succeeded(rota_recorder_start(NULL), "The recorder cannot start");
}

static bool write_observed(const tour *t)
{
    return write_with(t, "tour.metrics.txt", rota_metrics_write)
           && write_with(t, "tour.trace.json", rota_recorder_write);
}

static void close_pools(tour *t)
{
    rota_close(t->web.pool);
    rota_close(t->jobs.pool);
    for (unsigned i = 0; i < t->sort.cases; i++)
        rota_close(t->sort.of[i].pool);
    rota_close(t->pipeline.fetchers);
    rota_close(t->pipeline.steps);
    rota_recorder_stop();
}

static int run(tour *t)
{
    listen_for_stop();
    if (!make_folder(t) || !observe())
        return 1;
    live_begin();
    bool fine = perform(t);
    live_end();
    fine = fine && write_observed(t);
    close_pools(t);
    fine = fine && write_report(t);
    lanes_free();
    if (tour_stopped()) {
        printf("\nStopped before the end: there is no report.\n");
        return STOPPED;
    }
    if (fine)
        summary_print(t);
    return fine ? 0 : 1;
}

int main(int argc, char **argv)
{
    static tour t = {.options = {.seconds = 28, .out = "out"}};

    (void)argc;
    if (!read_words(argv + 1, &t.options))
        return 2;
    return t.options.load != 0 ? load_main(&t.options) : run(&t);
}
