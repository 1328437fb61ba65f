/* SPDX-License-Identifier: MIT */
#include "page.h"
#include <stdlib.h>
#include <time.h>

static const char style[] =
    ":root { color-scheme: light dark; --back: #f7f6f3; --card: #fff; --ink: #1d2126;\n"
    "  --soft: #626a73; --line: #e4e2dc; --0: #2b6cd9; --1: #d07a12; --2: #1a9361;\n"
    "  --3: #8450c9; --4: #c9405b; }\n"
    "@media (prefers-color-scheme: dark) { :root { --back: #121519; --card: #1b1f25;\n"
    "  --ink: #e8eaed; --soft: #9aa3ad; --line: #2e343c; --0: #6ea4ff; --1: #f0a94b;\n"
    "  --2: #4fc592; --3: #b68cf2; --4: #f27d93; } }\n"
    "* { box-sizing: border-box; margin: 0; }\n"
    "body { background: var(--back); color: var(--ink); padding: 0 16px 48px;\n"
    "  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; }\n"
    "main { max-width: 1080px; margin: 0 auto; }\n"
    "header { padding: 40px 0 24px; }\n"
    "header p, .say, .unit, .key, .legend { color: var(--soft); }\n"
    "h1 { font-size: 30px; line-height: 1.3; letter-spacing: -0.02em; }\n"
    "h2 { font-size: 21px; margin: 44px 0 4px; letter-spacing: -0.01em; }\n"
    "h2 i { display: inline-block; width: 12px; height: 12px; border-radius: 3px;\n"
    "  margin-right: 10px; }\n"
    "p { max-width: 76ch; text-wrap: pretty; overflow-wrap: break-word; }\n"
    "code { font: 13px ui-monospace, 'DejaVu Sans Mono', monospace; }\n"
    "a { color: var(--0); }\n"
    ".cards, .figures { display: grid; gap: 16px; }\n"
    ".cards { grid-template-columns: repeat(auto-fit, minmax(min(100%, 150px), 1fr)); }\n"
    ".figures { grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr));\n"
    "  margin-top: 16px; }\n"
    ".card, figure { background: var(--card); border: 1px solid var(--line);\n"
    "  border-radius: 10px; padding: 16px; min-width: 0; }\n"
    ".card b { display: block; font-size: 28px; line-height: 1.25; letter-spacing: -0.02em; }\n"
    ".card span { display: block; font-size: 14px; line-height: 1.4; color: var(--soft); }\n"
    ".t0 { border-top: 4px solid var(--0); } .t1 { border-top: 4px solid var(--1); }\n"
    ".t2 { border-top: 4px solid var(--2); } .t3 { border-top: 4px solid var(--3); }\n"
    "figure.whole { grid-column: 1 / -1; }\n"
    "figcaption { font-weight: 600; font-size: 15px; }\n"
    ".unit, .key, .legend { font-size: 13px; }\n"
    ".key { display: flex; flex-wrap: wrap; gap: 0 16px; margin-top: 4px; }\n"
    ".key b, .legend b { color: var(--ink); font-weight: 600; }\n"
    "svg { display: block; overflow: visible; max-width: 100%; }\n"
    "text { font-size: 11px; fill: var(--soft); } text.value { fill: var(--ink); }\n"
    ".line { stroke: var(--line); stroke-width: 1; } .idle { fill: var(--line); }\n"
    ".c0 { fill: var(--0); } .c1 { fill: var(--1); } .c2 { fill: var(--2); }\n"
    ".c3 { fill: var(--3); } .c4 { fill: var(--4); }\n"
    ".b0 { background: var(--0); } .b1 { background: var(--1); } .b2 { background: var(--2); }\n"
    ".b3 { background: var(--3); } .b4 { background: var(--4); }\n"
    ".lanes { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 10px;\n"
    "  margin-top: 8px; }\n"
    ".lanes ol, .legend, .flow { list-style: none; padding: 0; }\n"
    ".lanes li { font-size: 11px; line-height: 15px; height: 15px; text-align: right;\n"
    "  color: var(--soft); }\n"
    ".lanes.tall li { line-height: 27px; height: 27px; }\n"
    ".legend { display: flex; flex-wrap: wrap; gap: 2px 16px; margin-top: 4px; }\n"
    ".legend.rows { flex-direction: column; }\n"
    ".legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px;\n"
    "  margin-right: 6px; }\n"
    ".bars { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: 8px 12px;\n"
    "  align-items: center; margin-top: 12px; font-size: 14px; }\n"
    "table { width: 100%; border-collapse: collapse; font-size: 14px; margin-top: 8px; }\n"
    "th { font-weight: normal; color: var(--soft); font-size: 13px; vertical-align: bottom; }\n"
    "th, td { text-align: right; padding: 6px 0 6px 12px; }\n"
    "td { border-top: 1px solid var(--line); }\n"
    "th:first-child, td:first-child { text-align: left; padding-left: 0;\n"
    "  white-space: nowrap; }\n"
    ".flow { display: flex; flex-wrap: wrap; gap: 8px 28px; margin-top: 12px;\n"
    "  padding-right: 24px; }\n"
    ".flow li { background: var(--card); border: 1px solid var(--line); border-radius: 8px;\n"
    "  font-size: 14px; padding: 4px 12px; position: relative; }\n"
    ".flow li:not(:last-child)::after { content: '\u2192'; color: var(--soft); position: "
    "absolute;\n"
    "  right: -22px; }\n"
    ".more p { margin-top: 8px; }\n";

void page_begin(FILE *file, const tour *t)
{
    char date[64] = "";
    time_t now = time(NULL);
    struct tm local;

    if (localtime_r(&now, &local) != NULL)
        strftime(date, sizeof date, "%e\u00a0%b\u00a0%Y, %H:%M", &local);
    fprintf(file,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
            "<title>rota at work</title>\n<style>\n%s</style></head>\n<body><main>\n",
            style);
    fprintf(file,
            "<header><h1>rota at work</h1>\n<p>Thread pools, timers, fork/join and futures for C, "
            "each under a real load.</p>\n<p>Version %s on %u CPU%s, %.0f seconds, "
            "%s.%s</p></header>\n",
            rota_version(), rota_cpu_count(), rota_cpu_count() == 1 ? "" : "s",
            (double)t->length / 1e9, date,
            tour_was_disturbed(t) ? " The machine had other work, too: it can do better." : "");
}

void page_end(FILE *file)
{
    fputs("<div class=\"more\"><h2>More</h2>\n<p><code>tour.trace.json</code>, beside this page, "
          "is what the library's "
          "recorder kept: the last tasks, steals and waits of each thread. To look at it, open "
          "<a href=\"https://ui.perfetto.dev\">ui.perfetto.dev</a>, choose &#8220;Open trace "
          "file&#8221; and take that file; the keys W and S zoom, A and D move.</p>\n"
          "<p><code>tour.metrics.txt</code> has the figures of every pool, as Prometheus reads "
          "them.</p></div>\n</main></body></html>\n",
          file);
}
