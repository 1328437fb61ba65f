/* SPDX-License-Identifier: MIT */
/* text.h - numbers for people. Each is good until the end of the expression that it stands in. */
#ifndef TEXT_H
#define TEXT_H

#include <rota/base.h>

typedef struct text {
    char s[32];
} text;

text text_count(uint64_t n);  /* 1,234,567                                  */
text text_time(rota_ns time); /* 64 ns, 3.1 µs, 12 ms, 1.52 s               */
text text_ms(rota_ns time);   /* in ms, whatever it is: for terminals       */
text text_number(double x);   /* three digits that matter: 0.064, 1.52, 310 */
#endif
