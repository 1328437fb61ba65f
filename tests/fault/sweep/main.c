/* SPDX-License-Identifier: MIT */
/*
 * sweep - tries every fault at every place of every call.
 *
 *     sweep              all of it; says how much that was
 *     sweep --list       and prints for each call how many places there are, by kind
 *     sweep --pairs      two faults at once
 *     sweep NAME ...     only these calls
 */
#define _GNU_SOURCE
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const sweep_part
    *const sweep_parts[] =
        {
            &sweep_base,      &sweep_task,   &sweep_future,      &sweep_executor,
            &sweep_endings,   &sweep_queue,  &sweep_queue_waits, &sweep_deque,
            &sweep_pool,      &sweep_reject, &sweep_sched,       &sweep_factory,
            &sweep_compose,   &sweep_again,  &sweep_completion,  &sweep_forkjoin,
            &sweep_completer, &sweep_common, /* makes the common pool, whose threads and memory stay, or come and go */
            &sweep_inside,    &sweep_tree,   &sweep_parallel,    &sweep_page,
            &sweep_observe,
};
const size_t sweep_part_count = sizeof sweep_parts / sizeof sweep_parts[0];

static struct {
    bool lists;
    bool pairs;
    char **names; /* ended by NULL; none: all */
} options;

static struct {
    unsigned rows, quiet, places, runs, wrong;
} total;

static bool is_wanted(const sweep_row *row)
{
    char **name = options.names;

    while (*name != NULL && strcmp(*name, row->call) != 0)
        name++;
    return *name != NULL || options.names[0] == NULL;
}

static void print_head(void)
{
    printf("%-42s %-16s", "call", "made on");
    for (int kind = 0; kind < SWEEP_KINDS; kind++)
        printf(" %7s", sweep_kind_names[kind]);
    printf("\n");
}

/* Places that the caller meets, and those that the library's threads do. */
static void print_tally(const sweep_row *row, const sweep_scene *scene, const sweep_tally *tally)
{
    printf("%-42s %-16s", row->call, scene->name);
    for (int kind = 0; kind < SWEEP_KINDS; kind++) {
        if (tally->there[kind] > 0)
            printf(" %3u+%-3u", tally->here[kind], tally->there[kind]);
        else if (tally->here[kind] > 0)
            printf(" %3u    ", tally->here[kind]);
        else
            printf("   .    ");
    }
    printf("\n");
    fflush(stdout);
}

static unsigned count_places(const sweep_tally *tally)
{
    unsigned places = 0;

    for (int kind = 0; kind < SWEEP_KINDS; kind++)
        places += tally->here[kind] + tally->there[kind];
    return places;
}

static void sweep_row_once(const sweep_row *row)
{
    unsigned places = 0;

    sweep_begin_row();
    for (const sweep_scene *const *scene = row->scenes; *scene != NULL; scene++) {
        sweep_tally tally = sweep_every_fault(row, *scene);
        places += count_places(&tally);
        total.runs += tally.runs;
        if (options.lists)
            print_tally(row, *scene, &tally);
    }
    total.wrong += !sweep_end_row(row);
    if (!row->is_quiet && places == 0) {
        fprintf(stderr, "%s meets no fault: is it quiet?\n", row->call);
        total.wrong++;
    }
    total.rows++;
    total.quiet += row->is_quiet;
    total.places += places;
}

static void sweep_row_twice(const sweep_row *row)
{
    if (row->is_quiet)
        return;
    total.rows++;
    for (const sweep_scene *const *scene = row->scenes; *scene != NULL; scene++)
        total.runs += sweep_every_pair(row, *scene);
}

static void sweep_all(void (*one)(const sweep_row *row))
{
    for (size_t i = 0; i < sweep_part_count; i++) {
        for (size_t j = 0; j < sweep_parts[i]->count; j++) {
            if (is_wanted(&sweep_parts[i]->rows[j]))
                one(&sweep_parts[i]->rows[j]);
        }
    }
}

static void read_options(char **argv)
{
    for (argv++; *argv != NULL && strncmp(*argv, "--", 2) == 0; argv++) {
        options.lists |= strcmp(*argv, "--list") == 0;
        options.pairs |= strcmp(*argv, "--pairs") == 0;
    }
    options.names = argv;
}

int main(int argc, char **argv)
{
    size_t exports;

    read_options(argv);
    setenv("ROTA_COMMON_PARALLELISM", "1", 1); /* before its first use */
    test_memory_install();
    exports = sweep_count_exports(SWEEP_MAP);
    sweep_prepare();
    sweep_observe_prepare();
    if (options.lists)
        print_head();
    sweep_all(options.pairs ? sweep_row_twice : sweep_row_once);
    printf("%zu exports, %u rows (%u quiet), %u fault points, %u runs\n", exports, total.rows,
           total.quiet, total.places, total.runs);
    return total.wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
