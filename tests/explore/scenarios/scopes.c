/* SPDX-License-Identifier: MIT */
/*
 * Cleanup scopes: the explorer runs their handlers when a thread ends, as the C library does.
 */
#include "explore.h"

#include "os/cleanup.h"

typedef struct ledger {
    int handlers; /* how many have run */
    int outer;    /* when the outer handler ran, from 1; 0: not yet */
    int inner;
    bool ends_thread;
} ledger;

static void outer_handler(void *arg)
{
    ledger *mine = arg;

    mine->outer = ++mine->handlers;
}

static void inner_handler(void *arg)
{
    ledger *mine = arg;

    mine->inner = ++mine->handlers;
}

static void enter_scopes(void *arg)
{
    ledger *mine = arg;

    ROTA__CLEANUP_BEGIN(outer_handler, mine);
    ROTA__ON_UNWIND_BEGIN(inner_handler, mine);
    if (mine->ends_thread)
        ex_exit();
    ROTA__ON_UNWIND_END;
    ROTA__CLEANUP_END;
}

EXPLORE(a_thread_that_ends_inside_scopes_runs_their_handlers)
{
    ledger returning = {0};
    ledger ending = {.ends_thread = true};
    ex_thread *first = ex_start(enter_scopes, &returning);
    ex_thread *second = ex_start(enter_scopes, &ending);

    ex_join(first);
    ex_join(second);
    ex_check(returning.outer == 1 && returning.inner == 0);
    ex_check(ending.inner == 1 && ending.outer == 2);
}
