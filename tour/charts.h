/* SPDX-License-Identifier: MIT */
/*
 * charts.h - the pictures of the report, as SVG in the page. Places along a chart are in per cent and
 * texts in pixels, so each fits a desk and a phone, and its letters stay as large as the page's.
 * Colours are classes of the page: c0 to c4.
 */
#ifndef CHARTS_H
#define CHARTS_H

#include "lanes.h"
#include <rota/observe.h>
#include <stdio.h>

/* How long things took: a bar for each range of times, and below it what one asks for in words. */
typedef struct histogram_chart {
    const char *title;
    const char *what; /* was counted: "requests" */
    const rota_histogram *of;
    const rota_histogram *range; /* NULL: its own; else as wide as this one's, to compare */
    unsigned colour;
} histogram_chart;

void chart_histogram(FILE *file, const histogram_chart *chart);

/* How many in each slot of time, as an area. */
typedef struct rate_chart {
    const char *title, *unit;
    const unsigned *in_slot;
    unsigned slots;
    rota_ns slot;
    unsigned colour;
} rate_chart;

void chart_rate(FILE *file, const rate_chart *chart);

typedef struct bar {
    const char *name;
    double value;
    double ideal;  /* what it could be at best, shown behind it; 0: not shown */
    char text[48]; /* beside it */
    unsigned colour;
} bar;

void chart_bars(FILE *file, const char *title, const bar *bars, unsigned n); /* one below another */
void chart_parts(FILE *file, const char *title, const bar *bars, unsigned n); /* of a whole */

/* -- lanes_chart.c: timelines ---------------------------------------------------------------- */

/* All threads, all the time, in the colours of their acts. */
void chart_all_lanes(FILE *file, rota_ns begin, rota_ns end);

/* Single tasks, in the short time that these groups have kept; names[i] has colour i. */
typedef struct zoom_chart {
    const char *title;
    const lane_group *groups[2];
    const char *names[5], *labels[5]; /* labels: NULL is the name */
} zoom_chart;

void chart_zoom(FILE *file, const zoom_chart *chart);

/* -- For both -------------------------------------------------------------------------------- */

void chart_begin(FILE *file, const char *title, const char *class);
void chart_end(FILE *file);
void chart_time_axis(FILE *file, rota_ns length, int top, int bottom); /* lines, and times below */
#endif
