/* SPDX-License-Identifier: MIT */
/*
 * scopes.c - does the explorer find a cleanup scope that is left without its END (cleanup.U1)?
 */
#include "engine.h"

#include <stdio.h>
#include <string.h>

static bool leaves_early;

static void ignore(void *arg)
{
    (void)arg;
}

static void enter_scope(void *arg)
{
    ROTA__CLEANUP_BEGIN(ignore, arg);
    if (leaves_early)
        return; /* the bug */
    ROTA__CLEANUP_END;
}

static void enter_scope_in_scope(void *arg)
{
    ROTA__ON_UNWIND_BEGIN(ignore, arg);
    enter_scope(arg);
    ROTA__ON_UNWIND_END;
}

static void one_scope(void)
{
    enter_scope(NULL);
}

static void two_scopes(void)
{
    enter_scope_in_scope(NULL);
}

static void two_scopes_on_another_thread(void)
{
    ex_join(ex_start(enter_scope_in_scope, NULL));
}

static const char *problem_of(void (*run)(void))
{
    const ex_scenario scenario = {.name = "scope", .run = run};
    const ex_options options = {.strategy = EX_DFS};

    choice_setup(&options, NULL);
    return ex_run(&scenario, false);
}

static bool is_found(void (*run)(void))
{
    leaves_early = false;
    if (problem_of(run) != NULL)
        return false;
    leaves_early = true;
    const char *problem = problem_of(run);
    return problem != NULL && strstr(problem, "scope was left without its END") != NULL;
}

int main(void)
{
    void (*const runs[])(void) = {one_scope, two_scopes, two_scopes_on_another_thread};
    unsigned failed = 0;

    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
        failed += !is_found(runs[i]);
    printf("%zu programs, %u failed\n", sizeof runs / sizeof runs[0], failed);
    return failed > 0;
}
