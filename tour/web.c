/* SPDX-License-Identifier: MIT */
/* web.c - the first act: a web server whose pages are made by a pool, under load from a second process. */
#include "live.h"
#include "server.h"
#include "text.h"
#include "tour.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The load process, as seen from here. */
typedef struct loader {
    pid_t pid;
    int out; /* what it says; each line of it in turn: */
    size_t have;
    char line[256];
    bool ended; /* it has said its last */
} loader;

static bool make_pool(web_result *result)
{
    unsigned threads = rota_cpu_count() < 2 ? 2 : rota_cpu_count();

    result->lanes.act = ACT_WEB;
    rota_pool_options options = {
        .core_threads = threads,
        .threads = lanes_threads(&result->lanes, "web-%u"),
        .hooks = lanes_hooks(&result->lanes),
    };
    return succeeded(rota_pool_new(&options, &result->pool), "The web pool cannot be made")
           && succeeded(rota_executor_set_name(result->pool, "web"), "The web pool gets no name");
}

/* -- The load process ------------------------------------------------------------------------ */

static bool spawn(loader *l, unsigned port, rota_ns length)
{
    char port_text[16], seconds[32];
    char program[] = "/proc/self/exe", load[] = "--load", for_seconds[] = "--seconds";
    char *words[] = {program, load, port_text, for_seconds, seconds, NULL};
    posix_spawn_file_actions_t actions;
    int fds[2];

    snprintf(port_text, sizeof port_text, "%u", port);
    snprintf(seconds, sizeof seconds, "%.3f", (double)length / 1e9);
    if (pipe2(fds, O_CLOEXEC) != 0)
        return complain("There is no pipe to the load process: %s.", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
    int error = posix_spawn(&l->pid, program, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    l->out = fds[0];
    if (error == 0)
        return true;
    close(l->out);
    return complain("The load process cannot be started: %s.", strerror(error));
}

static void hear_progress(web_result *r, long long ms, uint64_t requests, rota_ns p99)
{
    double seconds = (double)ms / 1e3;

    if (r->slots < WEB_SLOTS)
        r->in_slot[r->slots++] = (unsigned)(requests - r->requests);
    r->requests = requests;
    live_show(ACT_WEB, seconds * 1e9 / (double)r->length, "%s requests/s, 99 %% within %s",
              text_count((uint64_t)((double)requests / seconds)).s, text_ms(p99).s);
}

/* One line of load.c's. */
static void hear_line(loader *l, web_result *r)
{
    long long ms, time; /* in ns */
    unsigned long long requests, sum;
    int index;

    if (sscanf(l->line, "at %lld %llu %lld", &ms, &requests, &time) == 3 && ms > 0)
        hear_progress(r, ms, requests, time);
    else if (sscanf(l->line, "bucket %d %llu", &index, &requests) == 2 && index >= 0
             && index < ROTA_HISTOGRAM_BUCKETS)
        r->latency.bucket[index] = requests;
    else if (sscanf(l->line, "end %llu %llu %lld", &requests, &sum, &time) == 3) {
        r->requests = r->latency.count = requests;
        r->latency.sum = sum;
        r->latency.max = time;
        l->ended = true;
    }
}

static void hear_bytes(loader *l, web_result *r, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n' && l->have < sizeof l->line - 1) {
            l->line[l->have++] = bytes[i];
            continue;
        }
        l->line[l->have] = '\0';
        l->have = 0;
        hear_line(l, r);
    }
}

/* Until it has closed its end, or somebody stops the tour, which ends it. */
static void follow(loader *l, web_result *r)
{
    char bytes[512];
    struct pollfd fd = {.fd = l->out, .events = POLLIN};

    while (!tour_stopped()) {
        if (poll(&fd, 1, 100) <= 0)
            continue;
        ssize_t n = read(l->out, bytes, sizeof bytes);
        if (n <= 0)
            return;
        hear_bytes(l, r, bytes, (size_t)n);
    }
    kill(l->pid, SIGTERM);
}

static bool reap(loader *l)
{
    int status;

    close(l->out);
    while (waitpid(l->pid, &status, 0) < 0) {
        if (errno != EINTR)
            return complain("The load process is lost: %s.", strerror(errno));
    }
    if (tour_stopped())
        return false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !l->ended)
        return complain("The load process ended before its time.");
    return true;
}

/* -- Figures --------------------------------------------------------------------------------- */

uint64_t web_rate(const web_result *r)
{
    return (uint64_t)((double)r->requests * 1e9 / (double)r->length);
}

static bool keep_page(const rota_task_figures *figures, void *ctx)
{
    web_result *r = ctx;

    if (r->pages < WEB_PAGES)
        r->page[r->pages++] = *figures;
    return true;
}

static bool get_figures(web_result *r)
{
    return succeeded(rota_figures_get(r->pool, &r->figures), "The web pool gives no figures")
           && succeeded(rota_figures_by_task(r->pool, keep_page, r), "Nor by its tasks' names");
}

/* -- The act --------------------------------------------------------------------------------- */

static bool serve(const tour_options *options, web_result *r)
{
    server *s;
    loader l = {0};

    if (!server_start(r->pool, options->port, &s))
        return false;
    bool fine = spawn(&l, server_port(s), r->length);
    if (fine) {
        live_show(ACT_WEB, 0, "at http://127.0.0.1:%u", server_port(s));
        follow(&l, r);
        fine = reap(&l);
    }
    r->served = server_stop(s);
    return fine;
}

bool web_act(const tour_options *options, rota_ns length, web_result *r)
{
    r->length = length;
    r->begin = rota_now();
    r->lanes.zoom_begin = r->begin + length * 6 / 10;
    r->lanes.zoom_end = r->lanes.zoom_begin + ROTA_MS(10);
    if (!make_pool(r) || !serve(options, r))
        return false;
    if (r->served < r->requests) /* more: somebody has looked in with a browser */
        return complain("The client got %s answers, but the server gave %s.",
                        text_count(r->requests).s, text_count(r->served).s);
    live_done(ACT_WEB, "%s requests/s, 99 %% within %s", text_count(web_rate(r)).s,
              text_ms(rota_histogram_quantile(&r->latency, 0.99)).s);
    return get_figures(r);
}
