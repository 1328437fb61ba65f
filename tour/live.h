/* SPDX-License-Identifier: MIT */
/*
 * live.h - how far the tour is. On a terminal one line for each act, redrawn in place; elsewhere, and
 * where NO_COLOR is set, a plain line every few seconds. For the main thread alone.
 */
#ifndef LIVE_H
#define LIVE_H

void live_begin(void);
void live_show(unsigned act, double part, const char *format, ...)
    __attribute__((format(printf, 3,
                          4))); /* part from 0 to 1 of the act; draws 20 times a second */
void live_done(unsigned act, const char *format, ...) __attribute__((format(printf, 2, 3)));
void live_end(void);

const char *live_bold(void); /* escapes around a heading, or "" */
const char *live_plain(void);
#endif
