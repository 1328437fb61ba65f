/* SPDX-License-Identifier: MIT */
#include "live.h"
#include "tour.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR = 20, LINE = 200 };

typedef enum act_state { WAITS, RUNS, DONE } act_state;

static const char *const names[ACTS] = {"web server", "timed jobs", "sort", "pipeline"};

static struct {
    bool fancy, utf8, drawn;
    rota_ns next; /* when to draw or print again */
    struct {
        act_state state;
        double part;
        char text[LINE];
    } act[ACTS];
} live;

static bool says_utf8(const char *variable)
{
    const char *value = getenv(variable);

    return value != NULL && (strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL);
}

void live_begin(void)
{
    const char *term = getenv("TERM");

    live.fancy = isatty(STDOUT_FILENO) && term != NULL && strcmp(term, "dumb") != 0
                 && getenv("NO_COLOR") == NULL;
    live.utf8 = says_utf8("LC_ALL") || says_utf8("LC_CTYPE") || says_utf8("LANG");
    setvbuf(stdout, NULL, _IOFBF, 1 << 14);
    printf("\n%srota %s%s on %u CPU%s: four acts, each a real load.\n\n", live_bold(),
           rota_version(), live_plain(), rota_cpu_count(), rota_cpu_count() == 1 ? "" : "s");
    fflush(stdout);
}

const char *live_bold(void)
{
    return live.fancy ? "\033[1m" : "";
}

const char *live_plain(void)
{
    return live.fancy ? "\033[0m" : "";
}

static unsigned columns(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col;
}

static void draw_bar(double part)
{
    int full = (int)(part * BAR + 0.5);

    for (int i = 0; i < BAR; i++) {
        if (live.utf8)
            fputs(i < full ? "\u2588" : "\033[2m\u2591\033[0m", stdout);
        else
            fputs(i < full ? "#" : ".", stdout);
    }
}

/* "  1 web server  ##########..........  text": 38 columns before the text. */
static void draw_line(unsigned act, unsigned width)
{
    int room = width > 40 ? (int)width - 39 : 0;
    bool runs = live.act[act].state == RUNS;

    printf("\r  %s%u %-11s%s ", runs ? "\033[1m" : "", act + 1, names[act], runs ? "\033[0m" : "");
    fputs(live.act[act].state == DONE ? "\033[32m" : runs ? "\033[36m" : "\033[2m", stdout);
    draw_bar(live.act[act].part);
    printf("\033[0m  %.*s\033[K\n", room, live.act[act].text);
}

static void draw(void)
{
    unsigned width = columns();

    if (live.drawn)
        printf("\033[%dA", ACTS);
    for (unsigned i = 0; i < ACTS; i++)
        draw_line(i, width);
    live.drawn = true;
    fflush(stdout);
}

static void print(unsigned act)
{
    printf("  %u %-11s %s\n", act + 1, names[act], live.act[act].text);
    fflush(stdout);
}

static void show(unsigned act, rota_ns pause)
{
    live.next = rota_now() + pause;
    if (live.fancy)
        draw();
    else
        print(act);
}

void live_show(unsigned act, double part, const char *format, ...)
{
    va_list args;
    bool first = live.act[act].state == WAITS;

    if (!first && rota_now() < live.next)
        return;
    live.act[act].state = RUNS;
    live.act[act].part = part < 0 ? 0 : part > 1 ? 1 : part;
    va_start(args, format);
    vsnprintf(live.act[act].text, LINE, format, args);
    va_end(args);
    show(act, live.fancy ? ROTA_MS(50) : ROTA_SEC(3));
}

void live_done(unsigned act, const char *format, ...)
{
    va_list args;

    live.act[act].state = DONE;
    live.act[act].part = 1;
    va_start(args, format);
    vsnprintf(live.act[act].text, LINE, format, args);
    va_end(args);
    show(act, 0);
}

void live_end(void)
{
    fflush(stdout);
}
