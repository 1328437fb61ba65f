/* SPDX-License-Identifier: MIT */
/* layers: printing, the last words before abort */
/* layers: abort, the state of the library is wrong */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

void rota__bug(const char *file, int line, const char *condition)
{
    fprintf(stderr, "rota: bug in the library: %s:%d: not so: %s\n", file, line, condition);
    abort();
}

void rota__misuse(const char *mistake)
{
    fprintf(stderr, "rota: %s\n", mistake);
    abort();
}

void rota__did_not_return(void *name)
{
    fprintf(stderr, "rota: %s has ended its thread: it must return\n", (const char *)name);
    abort();
}
