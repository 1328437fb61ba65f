/* SPDX-License-Identifier: MIT */
#include "text.h"
#include <stdio.h>

text text_count(uint64_t n)
{
    text plain, out;
    size_t length = (size_t)snprintf(plain.s, sizeof plain.s, "%llu", (unsigned long long)n),
           to = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out.s[to++] = ',';
        out.s[to++] = plain.s[i];
    }
    out.s[to] = '\0';
    return out;
}

text text_number(double x)
{
    text out;
    int places = x >= 99.95 ? 0 : x >= 9.995 ? 1 : x >= 0.0995 ? 2 : 3;

    snprintf(out.s, sizeof out.s, "%.*f", x == 0 ? 0 : places, x);
    return out;
}

static text with_unit(double x, const char *unit)
{
    text out;

    snprintf(out.s, sizeof out.s, "%.*f\u00a0%s", x < 9.95 && x != (double)(int)x ? 1 : 0, x, unit);
    return out;
}

text text_time(rota_ns time)
{
    double ns = (double)time;

    if (time == 0)
        return (text){"0"};
    if (ns < 999.5)
        return with_unit((double)time, "ns");
    if (ns < 999.5e3)
        return with_unit(ns / 1e3, "µs");
    if (ns < 999.5e6)
        return with_unit(ns / 1e6, "ms");
    return with_unit(ns / 1e9, "s");
}

text text_ms(rota_ns time)
{
    text out;

    snprintf(out.s, sizeof out.s, "%.24s ms", text_number((double)time / 1e6).s);
    return out;
}
