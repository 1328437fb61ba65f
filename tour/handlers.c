/* SPDX-License-Identifier: MIT */
#include "handlers.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRIMES_BELOW = 50000, COLUMNS = 60, ROWS = 24, DEPTH = 120 };

static size_t hello(const char *name, char *body, size_t room)
{
    return (size_t)snprintf(body, room, "Hello, %.40s!\n", *name == '\0' ? "world" : name);
}

static unsigned count_primes(unsigned below)
{
    bool composite[PRIMES_BELOW] = {false};
    unsigned count = 0;

    for (unsigned i = 2; i < below; i++) {
        if (composite[i])
            continue;
        count++;
        for (unsigned j = 2 * i; j < below; j += i)
            composite[j] = true;
    }
    return count;
}

static size_t primes(const char *argument, char *body, size_t room)
{
    unsigned long below = strtoul(argument, NULL, 10);

    if (below > PRIMES_BELOW)
        below = PRIMES_BELOW;
    return (size_t)snprintf(body, room, "%u primes below %lu\n", count_primes((unsigned)below),
                            below);
}

/* How long a point stays near 0: the set of Mandelbrot. */
static int steps(double cx, double cy)
{
    double x = 0, y = 0;
    int n = 0;

    while (n < DEPTH && x * x + y * y < 4) {
        double next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        n++;
    }
    return n;
}

static size_t picture(const char *argument, char *body, size_t room)
{
    static const char shades[] = " .:-=+*%@#";
    size_t length = 0;

    (void)argument;
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < COLUMNS && length + 2 < room; column++) {
            int n = steps(-2.2 + 3.2 * column / COLUMNS, -1.2 + 2.4 * row / ROWS);
            body[length++] = shades[n * 9 / DEPTH];
        }
        body[length++] = '\n';
    }
    return length;
}

static const page pages[] = {
    {"/hello/", "GET /hello", hello},
    {"/primes/", "GET /primes", primes},
    {"/picture/", "GET /picture", picture},
};

const page *page_find(const char *path)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        if (strncmp(path, pages[i].path, strlen(pages[i].path)) == 0)
            return &pages[i];
    }
    return NULL;
}
