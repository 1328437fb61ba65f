/* SPDX-License-Identifier: MIT */
/*
 * names.c - names of tasks, each once. There are so many and no more, as they stay for ever.
 */
#include "observe/observe_internal.h"

#include <string.h>

enum { MOST = ROTA__FIRST_NAME + ROTA_OBSERVED_NAMES };

static char names[MOST][ROTA_NAME_SIZE] = {"", "other"}; /* observe.B4: each is written once */
static uint32_t count = ROTA__FIRST_NAME;

/* As much as fits, in whole characters; what is none, or one that controls, is a question mark. */
static void copy(char *to, const char *name)
{
    size_t length = 0;

    while (*name != '\0') {
        size_t step = rota__character(name);
        size_t bytes = step > 0 ? step : 1;
        if (length + bytes >= ROTA_NAME_SIZE)
            break;
        if (step > 0)
            memcpy(to + length, name, step);
        else
            to[length] = '?';
        length += bytes;
        name += bytes;
    }
    to[length] = '\0';
}

uint32_t rota__name_number(const char *name)
{
    char wanted[ROTA_NAME_SIZE];

    if (name == NULL || name[0] == '\0')
        return ROTA__NO_NAME;
    copy(wanted, name);
    for (uint32_t i = ROTA__OTHER_NAME; i < count; i++) {
        if (strcmp(names[i], wanted) == 0)
            return i;
    }
    if (count == MOST)
        return ROTA__OTHER_NAME;
    memcpy(names[count], wanted, sizeof wanted);
    return count++;
}

const char *rota__name_of(uint32_t number)
{
    return names[number];
}
