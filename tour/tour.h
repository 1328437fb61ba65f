/* SPDX-License-Identifier: MIT */
/*
 * tour.h - what the parts of the tour know of one another. Each act runs one kind of executor under
 * real load, shows how far it is (live.h), and leaves its figures and its pools, which tour.c closes
 * once everything has been written down.
 */
#ifndef TOUR_H
#define TOUR_H

#include "lanes.h"
#include <rota/observe.h>
#include <rota/rota.h>
#include <stdio.h>

enum { ACT_WEB, ACT_JOBS, ACT_SORT, ACT_PIPELINE, ACTS };

/* -- tour.c ---------------------------------------------------------------------------------- */

typedef struct tour_options {
    double seconds; /* how long it may take, about */
    unsigned port;  /* of the web server; 0: any */
    unsigned load;  /* not 0: this is the process that makes load, on that port */
    const char *out;
} tour_options;

bool tour_stopped(void); /* somebody has pressed Ctrl-C */

/* Says on stderr, in a sentence, why the tour cannot go on. Always false. */
bool complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ROTA_OK or a complaint: what could not be done, and the status's own words. */
bool succeeded(int status, const char *what);

/* -- web.c ----------------------------------------------------------------------------------- */

enum { WEB_SLOTS = 600, WEB_CONNECTIONS = 16, WEB_PAGES = 3 };
#define WEB_SLOT ROTA_MS(100)

typedef struct web_result {
    rota_executor *pool;
    lane_group lanes;
    rota_ns begin, length;
    uint64_t requests, served; /* as the client counts them, and as the server does */
    rota_histogram latency;
    rota_figures figures;
    unsigned pages; /* figures by the tasks' names */
    rota_task_figures page[WEB_PAGES];
    unsigned slots; /* requests in each tenth of a second */
    unsigned in_slot[WEB_SLOTS];
} web_result;

uint64_t web_rate(const web_result *r); /* requests a second */
bool web_act(const tour_options *options, rota_ns length, web_result *result);

/* -- load.c: the second process -------------------------------------------------------------- */

int load_main(const tour_options *options);

/* -- jobs.c ---------------------------------------------------------------------------------- */

enum { JOBS = 4 };

typedef struct job_result {
    const char *name;
    rota_histogram late;
} job_result;

typedef struct jobs_result {
    rota_executor *pool;
    lane_group lanes;
    rota_ns begin, length;
    unsigned sleepers; /* tasks that just wait for their time */
    job_result job[JOBS];
    rota_histogram late; /* of all */
} jobs_result;

bool jobs_act(const tour_options *options, rota_ns length, jobs_result *result);

/* -- sorting.c ------------------------------------------------------------------------------- */

enum { SORT_CASES = 12 };

typedef struct sort_case {
    char name[24];
    unsigned workers; /* 0: qsort */
    rota_ns took;
    rota_executor *pool;
    lane_group lanes;
} sort_case;

typedef struct sort_result {
    size_t n;
    rota_ns begin, length;
    unsigned rounds; /* of which the best counts */
    unsigned cases;
    sort_case of[SORT_CASES];
} sort_result;

bool sort_act(const tour_options *options, sort_result *result);

/* -- pipeline.c ------------------------------------------------------------------------------ */

typedef struct pipeline_result {
    rota_executor *fetchers, *steps;
    lane_group fetch_lanes, step_lanes;
    rota_ns begin, length;
    unsigned items, attempts;
    unsigned at_once, again, late, failed; /* how the items ended: they add up to all */
    rota_histogram took;
    rota_figures steps_figures;
} pipeline_result;

bool pipeline_act(const tour_options *options, pipeline_result *result);

/* -- What is told in the end: summary.c, report.c -------------------------------------------- */

typedef struct tour {
    tour_options options;
    rota_ns begin, length;
    double load; /* average before it began: programs that want a CPU */
    web_result web;
    jobs_result jobs;
    sort_result sort;
    pipeline_result pipeline;
} tour;

void summary_print(const tour *t);
void report_print(const tour *t, FILE *file);

bool tour_was_disturbed(const tour *t);       /* the machine had other work */
double sort_speedup(const sort_result *sort); /* of all workers beside one */
#endif
