/* SPDX-License-Identifier: MIT */
#include "sweep.h"

static rota_completer root, child;

static void leave_it(rota_completer *self)
{
}

static int end_of_invoke;

static void invoke_root(void *pool)
{
    end_of_invoke = rota_invoke(pool, &root.task);
}

static test_thread *thread;

/* -- A root that another thread waits for, and its child ---------------------------------- */

static void make_pair(void)
{
    root = (rota_completer)ROTA_COMPLETER(leave_it, NULL);
    child = (rota_completer)ROTA_COMPLETER(leave_it, &root);
}

static void set_awaited(void)
{
    make_pair();
    sweep_idle_forkjoin.set();
    thread = test_thread_start(invoke_root, stage.pool);
    test_await_parked(test_thread_handle(thread));
}

static void strike_awaited(void)
{
    test_thread_join(thread);
    test_check(end_of_invoke == ROTA_OK);
    test_check(rota_fj_is_done(&root.task));
    sweep_idle_forkjoin.strike();
}

static const sweep_scene awaited = {"awaited root", set_awaited, NULL, strike_awaited};
static sweep_scenes an_awaited_root = {&awaited, NULL};

static int try_complete(void)
{
    rota_try_complete(&child);
    return ROTA_OK;
}

static int propagate(void)
{
    rota_propagate_completion(&child);
    return ROTA_OK;
}

static int complete(void)
{
    rota_complete(&child);
    return ROTA_OK;
}

static int complete_root(void)
{
    rota_complete_root(&child);
    return ROTA_OK;
}

static int next_complete(void)
{
    return sweep_so(rota_next_complete(&child) == &root && rota_next_complete(&root) == NULL);
}

/* -- By itself ---------------------------------------------------------------------------- */

static const sweep_scene by_itself = {"pair", make_pair, NULL, NULL};
static sweep_scenes a_pair = {&by_itself, NULL};

static int first_complete(void)
{
    return sweep_so(rota_first_complete(&child) == &child);
}

static int root_of(void)
{
    return sweep_so(rota_completer_root(&child) == &root);
}

static int pending(void)
{
    return sweep_so(rota_pending(&child) == 0);
}

static int set_pending(void)
{
    rota_set_pending(&child, 2);
    return ROTA_OK;
}

static int add_pending(void)
{
    return sweep_so(rota_add_pending(&child, 2) == 0);
}

static int swap_pending(void)
{
    return sweep_so(rota_swap_pending(&child, 0, 1));
}

static int take_pending(void)
{
    return sweep_so(rota_take_pending(&child) == 0);
}

/* -- A tree, in a pool -------------------------------------------------------------------- */

enum { KIDS = 5, NODES = 1 + KIDS + KIDS * KIDS };

static rota_completer nodes[NODES];
static atomic_uint visits;
static int most_help; /* that the root gives */

static void visit(rota_completer *self)
{
    size_t number = (size_t)(self - nodes);

    atomic_fetch_add(&visits, 1);
    if (number <= KIDS) {
        rota_set_pending(self, KIDS);
        for (size_t i = 0; i < KIDS; i++) {
            rota_completer *kid = &nodes[number * KIDS + 1 + i];
            *kid = (rota_completer)ROTA_COMPLETER(visit, self);
            rota_fork(&kid->task);
        }
    }
    rota_try_complete(self);
    if (number == 0)
        rota_help_complete(self, most_help);
}

static int visit_all(int help)
{
    nodes[0] = (rota_completer)ROTA_COMPLETER(visit, NULL);
    most_help = help;
    atomic_store(&visits, 0);
    int status = rota_invoke(stage.pool, &nodes[0].task);
    test_check(visits == NODES);
    return status;
}

static int invoke_tree(void)
{
    return visit_all(0);
}

static int invoke_and_help(void)
{
    return visit_all(NODES);
}

static sweep_scenes pools = {&sweep_idle_forkjoin, &sweep_waiting_forkjoin, NULL};

static const sweep_row rows[] = {
    {"rota_try_complete", an_awaited_root, try_complete},
    {"rota_propagate_completion", an_awaited_root, propagate},
    {"rota_complete", an_awaited_root, complete},
    {"rota_complete_root", an_awaited_root, complete_root},
    {"rota_next_complete", an_awaited_root, next_complete},
    {"rota_first_complete", a_pair, first_complete, .is_quiet = true},
    {"rota_completer_root", a_pair, root_of, .is_quiet = true},
    {"rota_pending", a_pair, pending, .is_quiet = true},
    {"rota_set_pending", a_pair, set_pending, .is_quiet = true},
    {"rota_add_pending", a_pair, add_pending, .is_quiet = true},
    {"rota_swap_pending", a_pair, swap_pending, .is_quiet = true},
    {"rota_take_pending", a_pair, take_pending, .is_quiet = true},
};
SWEEP_PART(sweep_completer, rows);

/* Where the caller cannot take part, it forks into the common pool. */
static const sweep_row tree_rows[] = {
    {"rota_completer_run", pools, invoke_tree, .stays = true},
    {"rota_help_complete", pools, invoke_and_help, .stays = true},
};
SWEEP_PART(sweep_tree, tree_rows);
