/* SPDX-License-Identifier: MIT */
/* lanes_chart.c - timelines: a row for each worker thread, its name beside it. */
#include "charts.h"
#include "text.h"
#include <string.h>

enum { ROW = 15, TALL_ROW = 27, FEW = 5, AXIS = 22, COLUMNS = 400, MANY = 48 };

typedef struct rows {
    unsigned n, hidden;
    int height; /* of each; higher where there are few */
    const lane *of[LANES];
} rows;

/* "web-2" before "web-10". */
static bool goes_before(const lane *a, const lane *b)
{
    size_t x = strlen(a->name), y = strlen(b->name);

    return x != y ? x < y : strcmp(a->name, b->name) < 0;
}

/* A fork/join pool may have threads that stand in for others, and hardly ever do. */
static bool did_something(const lane *l)
{
    rota_ns busy = 0;

    for (unsigned i = 0; i < LANE_BINS; i++)
        busy += l->busy[i];
    return busy > ROTA_MS(1);
}

/* Of large pools the first threads must do, where there are many in all. */
static void hide(rows *r, unsigned first)
{
    unsigned most = first + (lanes_count() > MANY ? 4 : MANY);

    if (r->n <= most)
        return;
    r->hidden += r->n - most;
    r->n = most;
}

static void add_group(rows *r, const lane_group *group)
{
    unsigned first = r->n;

    for (size_t i = 0; i < lanes_count(); i++) {
        const lane *l = lanes_at(i);
        unsigned at = r->n;
        if (l->group != group || !did_something(l))
            continue;
        for (; at > first && goes_before(l, r->of[at - 1]); at--)
            r->of[at] = r->of[at - 1];
        r->of[at] = l;
        r->n++;
    }
    hide(r, first);
    r->height = r->n <= FEW ? TALL_ROW : ROW;
}

/* Group after group, as they came. */
static void add_all_groups(rows *r)
{
    for (size_t i = 0; i < lanes_count(); i++) {
        bool known = false;
        for (size_t j = 0; j < i; j++)
            known = known || lanes_at(j)->group == lanes_at(i)->group;
        if (!known)
            add_group(r, lanes_at(i)->group);
    }
}

static void begin(FILE *file, const rows *r, const char *about)
{
    fprintf(file, "<div class=\"lanes%s\"><ol>", r->height == TALL_ROW ? " tall" : "");
    for (unsigned i = 0; i < r->n; i++)
        fprintf(file, "<li>%s</li>", r->of[i]->name);
    fprintf(file, "</ol>\n<svg role=\"img\" aria-label=\"%s\" width=\"100%%\" height=\"%d\">\n",
            about, (int)r->n * r->height + AXIS);
}

static void end(FILE *file, const rows *r)
{
    fputs("</svg></div>\n", file);
    if (r->hidden > 0)
        fprintf(file, "<p class=\"unit\">%u more threads are not shown.</p>\n", r->hidden);
}

static void row_begin(FILE *file, const rows *r, unsigned row, int columns)
{
    fprintf(file,
            "<svg y=\"%d\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 %d 100\" "
            "preserveAspectRatio=\"none\"><path class=\"idle\" d=\"M0 100h%dv-8H0z\"/>",
            (int)row * r->height + 1, r->height - 3, columns, columns);
}

/* -- All the time ---------------------------------------------------------------------------- */

static void draw_busy(FILE *file, const lane *l, rota_ns from, rota_ns to)
{
    rota_ns step = (to - from) / COLUMNS;
    int last = 0;

    fprintf(file, "<path class=\"c%u\" d=\"M0 100", l->group->act);
    for (unsigned i = 0; i < COLUMNS; i++) {
        int busy = (int)(100 * lane_busy(l, from + i * step, from + (i + 1) * step) + 0.5);
        if (busy != last)
            fprintf(file, "H%uV%d", i, 100 - busy);
        last = busy;
    }
    fprintf(file, "H%uV100Z\"/>", COLUMNS);
}

void chart_all_lanes(FILE *file, rota_ns from, rota_ns to)
{
    static rows r;

    r.n = r.hidden = 0;
    add_all_groups(&r);
    chart_begin(file, "How busy each thread was", "whole");
    begin(file, &r, "How busy each thread was, from the first second to the last");
    chart_time_axis(file, to - from, 0, (int)r.n * r.height);
    for (unsigned i = 0; i < r.n; i++) {
        row_begin(file, &r, i, COLUMNS);
        draw_busy(file, r.of[i], from, to);
        fputs("</svg>\n", file);
    }
    end(file, &r);
    chart_end(file);
}

/* -- Single tasks ---------------------------------------------------------------------------- */

/* Where a task lies, from 0 to 1000: cut at both ends, wide enough to be seen, and with a little space
   before the next. */
static void draw_task(FILE *file, const lane_span *span, const lane_group *group)
{
    double scale = 1000.0 / (double)(group->zoom_end - group->zoom_begin);
    double x = (double)(span->begin - group->zoom_begin) * scale;
    double end = (double)(span->end - group->zoom_begin) * scale;

    x = x < 0 ? 0 : x;
    end = end > 1000 ? 1000 : end;
    double width = end - x > 3 ? end - x - 1 : end - x;
    width = width < 1 ? 1 : width;
    fprintf(file, "M%.1f 0h%.1fv100h-%.1fz", x, width, width);
}

/* All tasks of one name, as one path. */
static void draw_tasks(FILE *file, const lane *l, const char *name, unsigned colour)
{
    fprintf(file, "<path class=\"c%u\" d=\"M0 0", colour);
    for (unsigned i = 0; i < l->spans; i++) {
        if (strcmp(l->span[i].name, name) == 0)
            draw_task(file, &l->span[i], l->group);
    }
    fputs("\"/>", file);
}

static void draw_legend(FILE *file, const zoom_chart *chart)
{
    fputs("<ul class=\"legend\">", file);
    for (unsigned i = 0; i < 5 && chart->names[i] != NULL; i++)
        fprintf(file, "<li><i class=\"b%u\"></i>%s</li>", i,
                chart->labels[i] == NULL ? chart->names[i] : chart->labels[i]);
    fputs("</ul>\n", file);
}

void chart_zoom(FILE *file, const zoom_chart *chart)
{
    static rows r;

    r.n = r.hidden = 0;
    for (unsigned i = 0; i < 2 && chart->groups[i] != NULL; i++)
        add_group(&r, chart->groups[i]);
    chart_begin(file, chart->title, "whole");
    begin(file, &r, chart->title);
    chart_time_axis(file, chart->groups[0]->zoom_end - chart->groups[0]->zoom_begin, 0,
                    (int)r.n * r.height);
    for (unsigned i = 0; i < r.n; i++) {
        row_begin(file, &r, i, 1000);
        for (unsigned k = 0; k < 5 && chart->names[k] != NULL; k++)
            draw_tasks(file, r.of[i], chart->names[k], k);
        fputs("</svg>\n", file);
    }
    end(file, &r);
    draw_legend(file, chart);
    chart_end(file);
}
