/* SPDX-License-Identifier: MIT */
/*
 * main.c - runs the row whose choices are given as words: combine
 *          executor work body place wait event moment start setting
 */
#include "combine.h"

#include <dlfcn.h>

/* Finds the function LIST_CHOICE in this program. */
static void *find(const char *list, const char *choice)
{
    char name[100];

    snprintf(name, sizeof name, "%s_%s", list, choice);
    void *function = dlsym(NULL, name);
    if (function == NULL) {
        fprintf(stderr, "combine: there is no %s\n", name);
        exit(2);
    }
    return function;
}

#define CHOOSE(list, word) memcpy(&row.list, &(void *){find(#list, word)}, sizeof row.list)

int main(int argc, char **argv)
{
    if (argc != 10) {
        fprintf(stderr,
                "usage: combine executor work body place wait event moment start setting\n");
        return 2;
    }
    CHOOSE(executor, argv[1]);
    CHOOSE(work, argv[2]);
    CHOOSE(body, argv[3]);
    CHOOSE(place, argv[4]);
    CHOOSE(wait, argv[5]);
    CHOOSE(event, argv[6]);
    CHOOSE(moment, argv[7]);
    CHOOSE(start, argv[8]);
    CHOOSE(setting, argv[9]);
    row_is(argv[4], argv[5]);
    return row_run();
}
