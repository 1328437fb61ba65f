/* SPDX-License-Identifier: MIT */
/* summary.c - what a stranger should know in the end, in a minute. */
#include "live.h"
#include "text.h"
#include "tour.h"

static void web(const web_result *r)
{
    printf("  Web server   %s requests from another process, %s a second, none lost:\n"
           "               half were answered within %s, 99 %% within %s.\n",
           text_count(r->requests).s, text_count(web_rate(r)).s,
           text_ms(rota_histogram_quantile(&r->latency, 0.5)).s,
           text_ms(rota_histogram_quantile(&r->latency, 0.99)).s);
}

static void jobs(const jobs_result *r)
{
    printf("  Timed jobs   %s runs while %s tasks waited: half began within %s of\n"
           "               their time, 99 %% within %s, and none before.\n",
           text_count(r->late.count).s, text_count(r->sleepers).s,
           text_ms(rota_histogram_quantile(&r->late, 0.5)).s,
           text_ms(rota_histogram_quantile(&r->late, 0.99)).s);
}

static void sort(const sort_result *r)
{
    const sort_case *all = &r->of[r->cases - 1];

    printf("  Sort         %s ints: %s s by qsort, %s s by one worker, %s s by\n"
           "               %s, which is %s times as fast as one.\n",
           text_count(r->n).s, text_number((double)r->of[0].took / 1e9).s,
           text_number((double)r->of[1].took / 1e9).s, text_number((double)all->took / 1e9).s,
           all->name, text_number(sort_speedup(r)).s);
}

static void pipeline(const pipeline_result *r)
{
    printf("  Pipeline     %s items, each with an answer: %s at once, %s at another\n"
           "               try, %s by a substitute (%u failed for good, %u took too long).\n",
           text_count(r->items).s, text_count(r->at_once).s, text_count(r->again).s,
           text_count(r->failed + r->late).s, r->failed, r->late);
}

void summary_print(const tour *t)
{
    const char *out = t->options.out;

    printf("\n%sWhat happened, in %.0f seconds%s\n\n", live_bold(), (double)t->length / 1e9,
           live_plain());
    web(&t->web);
    jobs(&t->jobs);
    sort(&t->sort);
    pipeline(&t->pipeline);
    if (tour_was_disturbed(t))
        printf("\n  The machine had other work, too (load %.1f on %u CPUs): it can do better.\n",
               t->load, rota_cpu_count());
    printf("\n  %s/tour.html         %sthe report: open it in a browser%s\n"
           "  %s/tour.trace.json   what each thread did, for https://ui.perfetto.dev\n"
           "  %s/tour.metrics.txt  the figures, for Prometheus\n",
           out, live_bold(), live_plain(), out, out);
}
