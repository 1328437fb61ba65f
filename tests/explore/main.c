/* SPDX-License-Identifier: MIT */
/*
 * main.c - explores scenarios from the command line; says what was tried and what was found.
 */
#define _GNU_SOURCE
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static ex_scenario *scenarios;
static ex_schedule schedule; /* to replay */

void ex_register(ex_scenario *scenario)
{
    scenario->next = scenarios;
    scenarios = scenario;
}

static clockid_t clock_used = CLOCK_MONOTONIC;

static double seconds(void)
{
    struct timespec now;

    clock_gettime(clock_used, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* -- A schedule that fails ------------------------------------------------------------------- */

static const char *replay(const ex_scenario *scenario, const ex_options *options, bool trace)
{
    ex_options given = *options;

    given.strategy = EX_REPLAY;
    choice_setup(&given, &schedule);
    return ex_run(scenario, trace);
}

/* Takes out every choice that the failure does not need. */
static void minimise(const ex_scenario *scenario, const ex_options *options)
{
    bool smaller = true;

    while (smaller) {
        smaller = false;
        for (size_t i = schedule.count; i-- > 0;) {
            ex_turn turn = schedule.turns[i];
            memmove(&schedule.turns[i], &schedule.turns[i + 1],
                    (schedule.count - i - 1) * sizeof turn);
            schedule.count--;
            if (replay(scenario, options, false) != NULL) {
                smaller = true;
                continue;
            }
            memmove(&schedule.turns[i + 1], &schedule.turns[i], (schedule.count - i) * sizeof turn);
            schedule.turns[i] = turn;
            schedule.count++;
        }
    }
}

static const char *file_name(const char *path)
{
    const char *slash = strstr(path, "src/");

    return slash != NULL ? slash : path;
}

static void print_step(const ex_step *step)
{
    printf("      %d  %-8s %p  %s:%d\n", step->thread, step->operation, step->object,
           file_name(step->file), step->line);
}

/* The first and the last steps of each stretch that one thread runs. */
static void print_trace(void)
{
    enum { ENDS = 2 };

    for (unsigned begin = 0, end; begin < ex_trace_count; begin = end) {
        end = begin + 1;
        while (end < ex_trace_count && ex_trace[end].thread == ex_trace[begin].thread)
            end++;
        printf("    thread %d, %u steps\n", ex_trace[begin].thread, end - begin);
        for (unsigned i = begin; i < end; i++) {
            if (i < begin + ENDS || i + ENDS >= end)
                print_step(&ex_trace[i]);
            else if (i == begin + ENDS)
                printf("         ...\n");
        }
    }
}

/* Says which line of code an address in `text` is. */
static void print_address(const char *text)
{
    const char *address = strstr(text, "code address ");
    char command[256];

    if (address == NULL)
        return;
    snprintf(command, sizeof command, "addr2line -e /proc/%ld/exe %s 2>/dev/null", (long)getpid(),
             address + strlen("code address "));
    FILE *line = popen(command, "r");
    if (line == NULL)
        return;
    if (fgets(command, sizeof command, line) != NULL)
        printf("  that is %s", file_name(command));
    pclose(line);
}

static void print_replay(const ex_scenario *scenario, const ex_options *options)
{
    printf("  replay: explore --replay %s/%u,%u,%u,%u,%u/", scenario->name,
           options->budget[EX_DELAY], options->budget[EX_SPURIOUS], options->budget[EX_TIME],
           options->budget[EX_FAULT], options->budget[EX_STALE]);
    for (size_t i = 0; i < schedule.count; i++)
        printf("%s%u=%u", i > 0 ? "," : "", schedule.turns[i].index, schedule.turns[i].value);
    printf("\n");
}

static void report(const ex_scenario *scenario, const ex_options *options)
{
    minimise(scenario, options);
    const char *problem = replay(scenario, options, true);

    printf("FOUND in %s: %s\n", scenario->name, problem != NULL ? problem : "gone when replayed");
    if (problem != NULL)
        print_address(problem);
    print_replay(scenario, options);
    print_trace();
}

/* -- Trying schedules ------------------------------------------------------------------------ */

typedef struct effort {
    uint64_t schedules; /* done */
    uint64_t found_at;  /* 0: nothing */
    double seconds;
} effort;

/* Up to `most` schedules, or for DFS until all were tried: *exhausted. */
static effort try_schedules(const ex_scenario *scenario, const ex_options *options, uint64_t most,
                            double until, bool *exhausted)
{
    effort effort = {0, 0, seconds()};

    *exhausted = false;
    choice_setup(options, NULL);
    while (effort.schedules < most && ((effort.schedules & 1023) || seconds() < until)) {
        effort.schedules++;
        if (ex_run(scenario, false) != NULL) {
            effort.found_at = effort.schedules;
            schedule = *choice_taken();
            break;
        }
        if (options->strategy != EX_DFS)
            continue;
        if (memory_learned()) {
            choice_setup(options, NULL); /* memory.M3: all over again */
        } else if (!choice_next()) {
            *exhausted = true;
            break;
        }
    }
    effort.seconds = seconds() - effort.seconds;
    return effort;
}

typedef struct totals {
    uint64_t schedules;
    double seconds;
    uint64_t before; /* schedules of the scenarios before this one */
    unsigned scenarios, failed;
} totals;

static bool account(totals *totals, const ex_scenario *scenario, const ex_options *options,
                    effort effort)
{
    totals->schedules += effort.schedules;
    totals->seconds += effort.seconds;
    if (effort.found_at == 0)
        return true;
    printf("after %llu schedules: ", (unsigned long long)(totals->schedules - totals->before));
    report(scenario, options);
    return false;
}

/* All schedules with 0, 1, 2 ... preemptions; the last bound that was exhausted, or -1. */
static bool explore_dfs(totals *totals, const ex_scenario *scenario, const unsigned *budget,
                        unsigned bound, double until, int *exhausted_to)
{
    ex_options options = {.strategy = EX_DFS};

    memcpy(options.budget, budget, sizeof options.budget);
    for (*exhausted_to = -1; options.depth <= bound; options.depth++) {
        bool exhausted;
        effort effort = try_schedules(scenario, &options, UINT64_MAX, until, &exhausted);
        if (!account(totals, scenario, &options, effort))
            return false;
        if (!exhausted)
            break;
        *exhausted_to = (int)options.depth;
    }
    return true;
}

static bool explore_random(totals *totals, const ex_scenario *scenario, const unsigned *budget,
                           uint64_t seed, double until)
{
    static const unsigned depths[] = {3, 5, 0};
    double begin = seconds();

    for (int i = 0; i < 3; i++) {
        ex_options options = {.strategy = depths[i] > 0 ? EX_PCT : EX_RANDOM,
                              .seed = seed + (uint64_t)i,
                              .depth = depths[i]};
        double share = begin + (until - begin) * (i + 1) / 3;
        bool exhausted;

        memcpy(options.budget, budget, sizeof options.budget);
        effort effort = try_schedules(scenario, &options, UINT64_MAX, share, &exhausted);
        if (!account(totals, scenario, &options, effort))
            return false;
    }
    return true;
}

typedef struct plan {
    double seconds; /* for each scenario */
    double exhaust; /* and so much more, if all schedules up to the bound need it */
    unsigned bound;
    uint64_t seed;
    bool is_c11; /* in C11's memory model, not in x86's */
} plan;

/* How far the searches came that were to be exhaustive: preemptions, or -1. */
typedef struct reach {
    int quiet;
    int mishaps;
} reach;

/*
 * First all schedules up to the bound, then for the time that is planned: depth first with what else
 * may happen, at random without and with it.
 */
static bool explore_x86(totals *totals, const ex_scenario *scenario, const plan *plan, reach *reach)
{
    const unsigned quiet[EX_KINDS] = {0};
    const unsigned some[EX_KINDS] = {
        [EX_DELAY] = 1, [EX_SPURIOUS] = 1, [EX_TIME] = 1, [EX_FAULT] = scenario->faults};
    const unsigned wild[EX_KINDS] = {
        [EX_DELAY] = 2, [EX_SPURIOUS] = 1, [EX_TIME] = 1, [EX_FAULT] = scenario->faults ? 2 : 0};
    double begin = seconds();
    bool good = explore_dfs(totals, scenario, quiet, plan->bound,
                            begin + plan->seconds * 0.3 + plan->exhaust, &reach->quiet);
    double rest = seconds();
    double left = plan->seconds * 0.7;

    return good
           && explore_dfs(totals, scenario, some, plan->bound, rest + left * 0.3, &reach->mishaps)
           && explore_random(totals, scenario, quiet, plan->seed, rest + left * 0.6)
           && explore_random(totals, scenario, wild, plan->seed + 7, rest + left);
}

/* The same in C11's model: one operation out of order in the depth, several at random. */
static bool explore_c11(totals *totals, const ex_scenario *scenario, const plan *plan, reach *reach)
{
    const unsigned some[EX_KINDS] = {[EX_STALE] = 1};
    const unsigned wild[EX_KINDS] = {
        [EX_STALE] = 4, [EX_SPURIOUS] = 1, [EX_TIME] = 1, [EX_FAULT] = scenario->faults ? 2 : 0};
    double begin = seconds();

    return explore_dfs(totals, scenario, some, plan->bound,
                       begin + plan->seconds * 0.5 + plan->exhaust, &reach->mishaps)
           && explore_random(totals, scenario, wild, plan->seed, seconds() + plan->seconds * 0.5);
}

static bool explore_scenario(totals *totals, const ex_scenario *scenario, const plan *plan)
{
    double begin = seconds();
    reach reach = {-1, -1};

    memory_forget();
    totals->before = totals->schedules;
    bool good = (plan->is_c11 ? explore_c11 : explore_x86)(totals, scenario, plan, &reach);
    double took = seconds() - begin;

    totals->scenarios++;
    totals->failed += !good;
    printf("%-4s %-58s %9llu schedules %8.0f/s  all up to %d, with mishaps %d preemptions\n",
           good ? "ok" : "BAD", scenario->name,
           (unsigned long long)(totals->schedules - totals->before),
           (double)(totals->schedules - totals->before) / took, reach.quiet, reach.mishaps);
    fflush(stdout);
    return good;
}

/* -- The command line ------------------------------------------------------------------------ */

static const char help[] =
    "explore [NAME...]           explores the scenarios whose names contain one of the words\n"
    "  --seconds N               for each scenario (1),\n"
    "  --exhaust N               and so many more for all up to the bound, if they need it (15)\n"
    "  --bound N                 preemptions, depth first, at most (3)\n"
    "  --c11                     in C11's memory model, not in that of x86\n"
    "  --seed N                  of the random strategies (ROTA_SEED, or 1)\n"
    "  --bug PLACE               with this deliberate bug, in a build by tools/bugs.py\n"
    "  --first                   stops at the first failure\n"
    "  --list                    only lists them\n"
    "  --replay TEXT             runs one schedule again, with all its steps\n";

static const ex_scenario *find_scenario(const char *name, size_t length)
{
    for (const ex_scenario *scenario = scenarios; scenario != NULL; scenario = scenario->next) {
        if (strlen(scenario->name) == length && memcmp(scenario->name, name, length) == 0)
            return scenario;
    }
    return NULL;
}

/* NAME/delays,spurious,times,faults,stale/INDEX=VALUE,... */
static int replay_text(const char *text)
{
    const char *slash = strchr(text, '/');
    const ex_scenario *scenario = slash ? find_scenario(text, (size_t)(slash - text)) : NULL;
    ex_options options = {.strategy = EX_REPLAY};
    unsigned *budget = options.budget;
    int used = 0;

    if (scenario == NULL
        || sscanf(slash, "/%u,%u,%u,%u,%u/%n", &budget[EX_DELAY], &budget[EX_SPURIOUS],
                  &budget[EX_TIME], &budget[EX_FAULT], &budget[EX_STALE], &used)
               != 5) {
        fprintf(stderr, "explore: no such schedule: %s\n", text);
        return 2;
    }
    for (const char *at = slash + used; schedule.count < EX_TURNS;) {
        unsigned index, value;
        if (sscanf(at, "%u=%u%n", &index, &value, &used) != 2)
            break;
        schedule.turns[schedule.count++] = (ex_turn){index, (uint8_t)value, EX_SWITCH};
        at += used;
        at += *at == ',';
    }
    const char *problem = replay(scenario, &options, true);
    for (unsigned i = 0; i < ex_trace_count; i++)
        print_step(&ex_trace[i]);
    printf("%s\n", problem != NULL ? problem : "nothing was found");
    if (problem != NULL)
        print_address(problem);
    return problem != NULL;
}

static bool is_wanted(const ex_scenario *scenario, char **words, int count)
{
    for (int i = 0; i < count; i++) {
        if (strstr(scenario->name, words[i]) != NULL)
            return true;
    }
    return count == 0;
}

int main(int argc, char **argv)
{
    const char *seed = getenv("ROTA_SEED");
    plan plan = {.seconds = 1,
                 .exhaust = 15,
                 .bound = 3,
                 .seed = seed != NULL ? strtoull(seed, NULL, 10) : 1};
    totals totals = {0};
    bool list = false;
    bool first = false;
    int at = 1;

    for (; at < argc && argv[at][0] == '-'; at++) {
        const char *value = at + 1 < argc ? argv[at + 1] : "";
        if (strcmp(argv[at], "--list") == 0)
            list = true;
        else if (strcmp(argv[at], "--first") == 0)
            first = true;
        else if (strcmp(argv[at], "--c11") == 0)
            plan.is_c11 = true;
        else if (strcmp(argv[at], "--seconds") == 0)
            plan.seconds = atof(value), at++;
        else if (strcmp(argv[at], "--exhaust") == 0)
            plan.exhaust = atof(value), at++;
        else if (strcmp(argv[at], "--bound") == 0)
            plan.bound = (unsigned)atoi(value), at++;
        else if (strcmp(argv[at], "--seed") == 0)
            plan.seed = strtoull(value, NULL, 10), at++;
        else if (strcmp(argv[at], "--bug") == 0 && ex_bug_switch(value))
            clock_used = CLOCK_PROCESS_CPUTIME_ID, at++; /* found on a busy machine, too */
        else if (strcmp(argv[at], "--replay") == 0)
            return rota_set_allocator(&heap_allocator) == ROTA_OK ? replay_text(value) : 2;
        else
            return fputs(help, stderr), 2;
    }
    if (rota_set_allocator(&heap_allocator) != ROTA_OK)
        return 2;
    for (ex_scenario *scenario = scenarios; scenario != NULL; scenario = scenario->next) {
        if (!is_wanted(scenario, argv + at, argc - at) || (plan.is_c11 && scenario->only_x86))
            continue;
        if (list)
            puts(scenario->name);
        else if (!explore_scenario(&totals, scenario, &plan) && first)
            break;
    }
    if (!list)
        printf("%u scenarios, %llu schedules, %.0f a second; %u failed\n", totals.scenarios,
               (unsigned long long)totals.schedules, (double)totals.schedules / totals.seconds,
               totals.failed);
    return totals.failed > 0 || (!list && totals.scenarios == 0);
}
