/* SPDX-License-Identifier: MIT */
#include "charts.h"
#include "text.h"

enum { TOP = 18, BOTTOM = 138, HEIGHT = 160, MOST_BARS = 24 };

void chart_begin(FILE *file, const char *title, const char *class)
{
    fprintf(file, "<figure class=\"%s\"><figcaption>%s</figcaption>\n", class, title);
}

void chart_end(FILE *file)
{
    fputs("</figure>\n", file);
}

static void svg_begin(FILE *file, const char *about, int height)
{
    fprintf(file, "<svg role=\"img\" aria-label=\"%s\" width=\"100%%\" height=\"%d\">\n", about,
            height);
}

static const char *anchor(double percent)
{
    return percent < 4 ? "start" : percent > 96 ? "end" : "middle";
}

static void tick(FILE *file, double percent, int top, int bottom, const char *label)
{
    fprintf(file, "<line class=\"line\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>", percent,
            percent, top, bottom);
    fprintf(file, "<text x=\"%.2f%%\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", percent,
            bottom + 15, anchor(percent), label);
}

/* 1, 2 or 5 times a power of ten: the step that gives at most six ticks, which fit a phone. */
static rota_ns nice_step(rota_ns length)
{
    rota_ns step = 1;

    for (int i = 0; length / step > 5; i++)
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}

void chart_time_axis(FILE *file, rota_ns length, int top, int bottom)
{
    rota_ns step = nice_step(length);

    for (rota_ns at = 0; at <= length; at += step) {
        if (at == 0 || length - at > step / 3 || at == length)
            tick(file, 100.0 * (double)at / (double)length, top, bottom, text_time(at).s);
    }
}

/* -- Histograms ------------------------------------------------------------------------------ */

typedef struct edges {
    unsigned n;
    rota_ns at[MOST_BARS + 1]; /* bar i is from at[i] to at[i + 1] */
} edges;

static rota_ns next_edge(rota_ns edge)
{
    rota_ns power = 1;

    while (power * 10 <= edge)
        power *= 10;
    return edge < 2 * power ? 2 * power : edge < 5 * power ? 5 * power : 10 * power;
}

/* From about the shortest to the longest, in steps of 1, 2, 5, 10: */
static edges find_edges(const rota_histogram *range)
{
    edges e = {.n = 0, .at = {1}};
    rota_ns low = rota_histogram_quantile(range, 0.002), high = range->max;

    while (next_edge(e.at[0]) <= low)
        e.at[0] = next_edge(e.at[0]);
    do {
        e.at[e.n + 1] = next_edge(e.at[e.n]);
        e.n++;
    } while (e.at[e.n] < high && e.n < MOST_BARS);
    return e;
}

/* The share of bar i, in per cent; the outer bars also have what lies beyond. */
static double share(const rota_histogram *h, const edges *e, unsigned i)
{
    uint64_t below = i == 0 ? 0 : rota_histogram_up_to(h, e->at[i]);
    uint64_t up_to = i + 1 == e->n ? h->count : rota_histogram_up_to(h, e->at[i + 1]);

    return h->count == 0 || up_to < below ? 0 : 100.0 * (double)(up_to - below) / (double)h->count;
}

static void draw_share(FILE *file, unsigned i, unsigned n, double percent, double most)
{
    double width = 100.0 / n, height = (BOTTOM - TOP) * percent / most;

    if (percent <= 0)
        return;
    if (height < 1)
        height = 1;
    fprintf(file, "<rect x=\"%.2f%%\" y=\"%.1f\" width=\"%.2f%%\" height=\"%.1f\"/>",
            i * width + 0.06 * width, BOTTOM - height, 0.88 * width, height);
    fprintf(file,
            "<text class=\"value\" x=\"%.2f%%\" y=\"%.1f\" text-anchor=\"middle\">%s%.0f</text>\n",
            (i + 0.5) * width, BOTTOM - height - 4, percent < 0.5 ? "&lt;" : "",
            percent < 0.5 ? 1 : percent);
}

static bool is_power_of_ten(rota_ns edge)
{
    while (edge % 10 == 0)
        edge /= 10;
    return edge == 1;
}

static void draw_edges(FILE *file, const edges *e)
{
    for (unsigned i = 0; i <= e->n; i++) {
        if (e->n > 12 && i == e->n) /* on a phone its label would meet the one before */
            break;
        if (e->n <= 4 || is_power_of_ten(e->at[i]))
            tick(file, 100.0 * i / e->n, TOP, BOTTOM, text_time(e->at[i]).s);
    }
}

static void in_words(FILE *file, const histogram_chart *chart)
{
    const rota_histogram *h = chart->of;

    fprintf(
        file,
        "<p class=\"key\"><span>half within <b>%s</b></span> <span>99 %% within <b>%s</b></span>"
        " <span>longest <b>%s</b></span> <span>%s %s</span></p>\n",
        text_time(rota_histogram_quantile(h, 0.5)).s, text_time(rota_histogram_quantile(h, 0.99)).s,
        text_time(h->max).s, text_count(h->count).s, chart->what);
}

void chart_histogram(FILE *file, const histogram_chart *chart)
{
    edges e = find_edges(chart->range == NULL ? chart->of : chart->range);
    double most = 1;

    for (unsigned i = 0; i < e.n; i++) {
        if (share(chart->of, &e, i) > most)
            most = share(chart->of, &e, i);
    }
    chart_begin(file, chart->title, "half");
    fprintf(file, "<p class=\"unit\">%% of the %s</p>\n", chart->what);
    svg_begin(file, chart->title, HEIGHT);
    draw_edges(file, &e);
    fprintf(file, "<g class=\"c%u\">", chart->colour);
    for (unsigned i = 0; i < e.n; i++)
        draw_share(file, i, e.n, share(chart->of, &e, i), most);
    fputs("</g></svg>\n", file);
    in_words(file, chart);
    chart_end(file);
}

/* -- Rates ----------------------------------------------------------------------------------- */

static double per_second(const rate_chart *chart, unsigned i)
{
    return (double)chart->in_slot[i] * 1e9 / (double)chart->slot;
}

/* Stretched to the width of the chart: x counts slots, y is from 0 to 100. */
static void draw_area(FILE *file, const rate_chart *chart, double most)
{
    fprintf(file,
            "<svg y=\"%d\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 %u 100\" "
            "preserveAspectRatio=\"none\"><path class=\"c%u\" d=\"M0 100",
            TOP, BOTTOM - TOP, chart->slots, chart->colour);
    for (unsigned i = 0; i < chart->slots; i++)
        fprintf(file, "V%.1fH%u", 100 - 100 * per_second(chart, i) / most, i + 1);
    fputs("V100Z\"/></svg>\n", file);
}

void chart_rate(FILE *file, const rate_chart *chart)
{
    double most = 1;

    for (unsigned i = 0; i < chart->slots; i++) {
        if (per_second(chart, i) > most)
            most = per_second(chart, i);
    }
    chart_begin(file, chart->title, "half");
    fprintf(file, "<p class=\"unit\">%s, up to %s</p>\n", chart->unit,
            text_count((uint64_t)most).s);
    svg_begin(file, chart->title, HEIGHT);
    if (chart->slots > 0) {
        chart_time_axis(file, chart->slots * chart->slot, TOP, BOTTOM);
        draw_area(file, chart, most);
    }
    fputs("</svg>\n", file);
    chart_end(file);
}

/* -- Bars ------------------------------------------------------------------------------------ */

static void draw_bar(FILE *file, const bar *b, double most)
{
    fprintf(file,
            "<span>%s</span><svg role=\"img\" aria-label=\"%s: %s\" width=\"100%%\" height=\"26\">",
            b->name, b->name, b->text);
    fprintf(file, "<rect class=\"idle\" y=\"3\" rx=\"3\" width=\"%.1f%%\" height=\"20\"/>",
            100 * b->ideal / most);
    fprintf(file,
            "<rect class=\"c%u\" y=\"3\" rx=\"3\" width=\"%.1f%%\" height=\"20\"/></svg>"
            "<span>%s</span>\n",
            b->colour, 100 * b->value / most, b->text);
}

void chart_bars(FILE *file, const char *title, const bar *bars, unsigned n)
{
    double most = 0;

    for (unsigned i = 0; i < n; i++) {
        most = bars[i].value > most ? bars[i].value : most;
        most = bars[i].ideal > most ? bars[i].ideal : most;
    }
    chart_begin(file, title, "half");
    fputs("<div class=\"bars\">\n", file);
    for (unsigned i = 0; i < n; i++)
        draw_bar(file, &bars[i], most);
    fputs("</div>\n", file);
    chart_end(file);
}

void chart_parts(FILE *file, const char *title, const bar *bars, unsigned n)
{
    double all = 0, at = 0;

    for (unsigned i = 0; i < n; i++)
        all += bars[i].value;
    chart_begin(file, title, "half");
    svg_begin(file, title, 34);
    for (unsigned i = 0; i < n && all > 0; i++) {
        fprintf(file, "<rect class=\"c%u\" x=\"%.2f%%\" y=\"4\" width=\"%.2f%%\" height=\"26\"/>\n",
                bars[i].colour, 100 * at / all, 100 * bars[i].value / all);
        at += bars[i].value;
    }
    fputs("</svg>\n<ul class=\"legend rows\">\n", file);
    for (unsigned i = 0; i < n; i++)
        fprintf(file, "<li><i class=\"b%u\"></i>%s <b>%s</b></li>\n", bars[i].colour, bars[i].name,
                bars[i].text);
    fputs("</ul>\n", file);
    chart_end(file);
}
