/* SPDX-License-Identifier: MIT */
/*
 * exports.c - is each name in rota.map a call of some row?
 */
#include "parts.h"

#include <stdio.h>
#include <string.h>

static bool has_row(const char *name)
{
    for (size_t i = 0; i < sweep_part_count; i++) {
        for (size_t j = 0; j < sweep_parts[i]->count; j++) {
            if (strcmp(sweep_parts[i]->rows[j].call, name) == 0)
                return true;
        }
    }
    return false;
}

/* A line of the map that exports something is its name and a semicolon. */
static bool is_export(const char *line, char *name, size_t size)
{
    size_t length;

    line += strspn(line, " ");
    length = strcspn(line, ";");
    if (strncmp(line, "rota_", strlen("rota_")) != 0 || line[length] != ';' || length >= size)
        return false;
    memcpy(name, line, length);
    name[length] = '\0';
    return true;
}

size_t sweep_count_exports(const char *map)
{
    FILE *file = fopen(map, "r");
    char line[200], name[100];
    size_t count = 0;
    bool all = true;

    test_check(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        if (!is_export(line, name, sizeof name))
            continue;
        count++;
        if (!has_row(name)) {
            fprintf(stderr, "%s is exported, but in no row\n", name);
            all = false;
        }
    }
    fclose(file);
    test_check(count > 0);
    test_check(all);
    return count;
}
