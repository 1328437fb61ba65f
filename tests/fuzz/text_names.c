/* SPDX-License-Identifier: MIT */
/* text_names.c - src/pool/threads.c, and a way to its names. */
#include "pool/threads.c"
#include "text.h"

bool text_is_good_name(const char *name)
{
    return is_good_name(name);
}

void text_make_name(char *name, size_t size, const char *pattern, uint64_t number)
{
    make_name(name, size, pattern, number);
}
