/* SPDX-License-Identifier: MIT */
/* report.c - what the page says of each act, and which pictures it shows. */
#include "charts.h"
#include "page.h"
#include "text.h"

static void heading(FILE *file, unsigned act, const char *title)
{
    fprintf(file, "<h2><i class=\"b%u\"></i>%s</h2>\n", act, title);
}

/* -- At a glance ----------------------------------------------------------------------------- */

static void card(FILE *file, unsigned act, const char *number, const char *about)
{
    fprintf(file, "<div class=\"card t%u\"><b>%s</b><span>%s</span></div>\n", act, number, about);
}

static void cards(FILE *file, const tour *t)
{
    const sort_case *all = &t->sort.of[t->sort.cases - 1];
    char about[160], times[40];

    fputs("<div class=\"cards\">\n", file);
    snprintf(about, sizeof about, "requests a second; 99 %% were answered within %s",
             text_time(rota_histogram_quantile(&t->web.latency, 0.99)).s);
    card(file, ACT_WEB, text_count(web_rate(&t->web)).s, about);
    snprintf(about, sizeof about, "is the median lateness of %s timed runs",
             text_count(t->jobs.late.count).s);
    card(file, ACT_JOBS, text_time(rota_histogram_quantile(&t->jobs.late, 0.5)).s, about);
    snprintf(times, sizeof times, "%.24s\u00d7", text_number(sort_speedup(&t->sort)).s);
    snprintf(about, sizeof about, "is the speed-up of a sort of %s ints by %s",
             text_count(t->sort.n).s, all->name);
    card(file, ACT_SORT, times, about);
    card(file, ACT_PIPELINE, text_count(t->pipeline.items).s,
         "items through a pipeline that fails now and then: each has its answer");
    fputs("</div>\n", file);
}

static void all_threads(FILE *file, const tour *t)
{
    fputs("<h2>Every thread, all the time</h2>\n"
          "<p class=\"say\">A row for each worker thread; the fuller it is, the busier the thread. "
          "The acts follow one another.</p>\n<div class=\"figures\">",
          file);
    chart_all_lanes(file, t->begin, t->begin + t->length);
    fputs("</div>\n", file);
}

/* -- The acts -------------------------------------------------------------------------------- */

static void times(FILE *file, unsigned act, const char *title, const char *what,
                  const rota_histogram *of)
{
    chart_histogram(file,
                    &(histogram_chart){.title = title, .what = what, .of = of, .colour = act});
}

static void pages(FILE *file, const web_result *r)
{
    fputs("<figure class=\"whole\"><figcaption>By page</figcaption>\n<table><tr><th>task</th>"
          "<th>how many</th><th>half ran within</th><th>99 % within</th></tr>\n",
          file);
    for (unsigned i = 0; i < r->pages; i++) {
        const rota_task_figures *page = &r->page[i];
        fprintf(file, "<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", page->name,
                text_count(page->completed).s,
                text_time(rota_histogram_quantile(&page->running, 0.5)).s,
                text_time(rota_histogram_quantile(&page->running, 0.99)).s);
    }
    fputs("</table></figure>\n", file);
}

static void web(FILE *file, const web_result *r)
{
    heading(file, ACT_WEB, "A web server");
    fprintf(file,
            "<p class=\"say\">One thread waits for all sockets with epoll; a pool of %u makes the "
            "pages; results come back through a descriptor. A second process keeps %d connections "
            "busy, each with one request at a time. It got an answer to every one of its %s "
            "requests.</p>\n<div class=\"figures\">\n",
            r->figures.threads, WEB_CONNECTIONS, text_count(r->requests).s);
    chart_rate(file, &(rate_chart){.title = "Requests",
                                   .unit = "requests a second",
                                   .in_slot = r->in_slot,
                                   .slots = r->slots,
                                   .slot = WEB_SLOT,
                                   .colour = ACT_WEB});
    times(file, ACT_WEB, "From request to answer, as the client sees it", "requests", &r->latency);
    times(file, ACT_WEB, "Waiting for a thread, in the pool", "tasks", &r->figures.waiting);
    times(file, ACT_WEB, "Making the page", "tasks", &r->figures.running);
    pages(file, r);
    chart_zoom(file, &(zoom_chart){.title = "10 ms of it, task by task",
                                   .groups = {&r->lanes},
                                   .names = {"GET /hello", "GET /primes", "GET /picture"}});
    fputs("</div>\n", file);
}

static void lateness(FILE *file, const jobs_result *r, const job_result *job)
{
    char title[64];

    snprintf(title, sizeof title, "Lateness: %s", job->name);
    chart_histogram(file, &(histogram_chart){.title = title,
                                             .what = "runs",
                                             .of = &job->late,
                                             .range = &r->late,
                                             .colour = ACT_JOBS});
}

static void jobs(FILE *file, const jobs_result *r)
{
    zoom_chart zoom = {.title = "60 ms of it, run by run", .groups = {&r->lanes}};

    heading(file, ACT_JOBS, "Timed jobs");
    fprintf(file,
            "<p class=\"say\">A scheduled pool of two threads runs three periodic jobs and %s "
            "single ones, while %s more tasks wait for their hour, which costs nothing. How late "
            "does each run begin? Never early.</p>\n<div class=\"figures\">\n",
            text_count(r->job[JOBS - 1].late.count).s, text_count(r->sleepers).s);
    for (unsigned i = 0; i < JOBS; i++) {
        lateness(file, r, &r->job[i]);
        zoom.names[i] = r->job[i].name;
    }
    chart_zoom(file, &zoom);
    fputs("</div>\n", file);
}

/* Bars for one way to sort: how long it took, and how much faster than one worker it is. */
static void measure(const sort_result *r, const sort_case *c, bar *took, bar *gain)
{
    unsigned colour = c->workers == 0 ? 4 : ACT_SORT;

    *took = (bar){.name = c->name, .value = (double)c->took / 1e9, .colour = colour};
    *gain = (bar){.name = c->name, .ideal = c->workers, .colour = colour};
    gain->value = (double)r->of[1].took / (double)c->took;
    snprintf(took->text, sizeof took->text, "%.24s\u00a0s", text_number(took->value).s);
    snprintf(gain->text, sizeof gain->text, "%.24s\u00d7", text_number(gain->value).s);
}

static void sort(FILE *file, const sort_result *r)
{
    bar took[SORT_CASES], gain[SORT_CASES];

    for (unsigned i = 0; i < r->cases; i++)
        measure(r, &r->of[i], &took[i], &gain[i]);
    heading(file, ACT_SORT, "A sort, divided");
    fprintf(file,
            "<p class=\"say\">%s random ints, by <code>qsort</code> of the C library and by "
            "<code>rota_parallel_sort</code>, which is stable. The results are the same%s.</p>\n"
            "<div class=\"figures\">\n",
            text_count(r->n).s, r->rounds > 1 ? "; of two rounds the better counts" : "");
    chart_bars(file, "Time, in seconds: shorter is better", took, r->cases);
    chart_bars(file, "Speed-up beside one worker; pale: the ideal", gain, r->cases);
    fputs("</div>\n", file);
}

static void flow(FILE *file)
{
    fputs("<ol class=\"flow\"><li>fetch, up to 4 times</li><li>within 100 ms</li>"
          "<li>checksum and shrink, side by side</li><li>both</li>"
          "<li>or else a substitute</li></ol>\n",
          file);
}

static void outcomes(FILE *file, const pipeline_result *r)
{
    bar bars[] = {
        {.name = "at the first try", .value = r->at_once, .colour = ACT_PIPELINE},
        {.name = "at another try", .value = r->again, .colour = 0},
        {.name = "a substitute: every try failed", .value = r->failed, .colour = 4},
        {.name = "a substitute: it took too long", .value = r->late, .colour = 1},
    };

    for (unsigned i = 0; i < 4; i++)
        snprintf(bars[i].text, sizeof bars[i].text, "%.24s", text_count((uint64_t)bars[i].value).s);
    chart_parts(file, "How the items ended", bars, 4);
}

static void pipeline(FILE *file, const pipeline_result *r)
{
    heading(file, ACT_PIPELINE, "A pipeline of futures");
    fprintf(file,
            "<p class=\"say\">%s items, 32 at a time. Fetching is waiting, as for a network, and "
            "fails or hangs now and then, on purpose: %s tries were made. Nothing blocks a thread "
            "but the fetch itself.</p>\n",
            text_count(r->items).s, text_count(r->attempts).s);
    flow(file);
    fputs("<div class=\"figures\">\n", file);
    outcomes(file, r);
    times(file, ACT_PIPELINE, "From begin to answer", "items", &r->took);
    times(file, ACT_PIPELINE, "Steps: waiting for a thread", "steps", &r->steps_figures.waiting);
    times(file, ACT_PIPELINE, "Steps: running", "steps", &r->steps_figures.running);
    chart_zoom(file, &(zoom_chart){.title = "120 ms of it, task by task",
                                   .groups = {&r->fetch_lanes, &r->step_lanes},
                                   .names = {"fetch", ""},
                                   .labels = {NULL, "checksum, shrink"}});
    fputs("</div>\n", file);
}

void report_print(const tour *t, FILE *file)
{
    page_begin(file, t);
    cards(file, t);
    all_threads(file, t);
    web(file, &t->web);
    jobs(file, &t->jobs);
    sort(file, &t->sort);
    pipeline(file, &t->pipeline);
    page_end(file);
}
