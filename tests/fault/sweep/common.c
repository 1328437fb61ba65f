/* SPDX-License-Identifier: MIT */
/*
 * common.c - the common pool, which has one worker here, and forks from outside of any pool, which go
 * there; by the functions that the library has beside the inline ones.
 */
#define ROTA_NO_INLINE
#include "sweep.h"

#include "forkjoin.h"

/* It is there from the first success on. */
static int common(void)
{
    return rota_common_pool() != NULL ? ROTA_OK : ROTA_ENOMEM;
}

static rota_fj task;
static atomic_uint runs;

static void count(rota_fj *self)
{
    atomic_fetch_add(&runs, 1);
}

static void count_at_gate(rota_fj *self)
{
    count(self);
    test_wait_at(&stage.gate);
}

static void set_task(rota_fj_fn *body)
{
    test_fj_await_active(rota_common_pool(), 0);
    task = (rota_fj){.run = body};
    atomic_store(&runs, 0);
    test_gate_init(&stage.gate);
}

static void set_fresh(void)
{
    set_task(count);
}

/* It cannot begin, as the worker waits at the gate. */
static void set_forked(void)
{
    set_task(count);
    test_occupy(rota_common_pool(), &stage.gate, 1);
    rota_fork(&task);
}

/* It waits there itself. */
static void set_running(void)
{
    set_task(count_at_gate);
    rota_fork(&task);
    test_await_count(&stage.gate.begun, 1);
}

/* Joined, however often, it has run once. */
static void strike(void)
{
    sweep_open_gate();
    test_check(rota_join(&task) == ROTA_OK);
    test_check(runs == 1);
    test_await_count(&stage.gate.ended, stage.gate.begun); /* the gate goes with the stage */
}

static const sweep_scene fresh_task = {"fresh task", set_fresh, NULL, strike};
static const sweep_scene forked_task = {"forked task", set_forked, NULL, strike};
static const sweep_scene running_task = {"running task", set_running, NULL, strike};
static sweep_scenes fresh = {&fresh_task, NULL};
static sweep_scenes forked = {&forked_task, NULL};
static sweep_scenes forked_or_running = {&forked_task, &running_task, NULL};

static int fork_it(void)
{
    rota_fork(&task);
    return ROTA_OK;
}

static int fork_slow(void)
{
    rota__fork_slow(&task);
    return ROTA_OK;
}

static int join(void)
{
    return rota_join(&task);
}

static int join_slow(void)
{
    return rota__join_slow(&task);
}

static int unfork(void)
{
    return sweep_so(!rota_unfork(&task)); /* it is not here */
}

static int unfork_slow(void)
{
    return sweep_so(!rota__unfork_slow(&task));
}

static int invoke_both(void)
{
    rota_fj other = ROTA_FJ(count);
    int status = rota_invoke_both(&task, &other);

    return sweep_so(status == ROTA_OK && atomic_fetch_sub(&runs, 1) == 2);
}

static int invoke_many(void)
{
    rota_fj other = ROTA_FJ(count);
    int status = rota_invoke_many((rota_fj *[]){&task, &other}, 2);

    return sweep_so(status == ROTA_OK && atomic_fetch_sub(&runs, 1) == 2);
}

static int my_deck(void)
{
    return sweep_so(rota__my_deck != NULL);
}

static const sweep_row rows[] = {
    {"rota_common_pool", sweep_nowhere, common, SWEEP_NEEDS_MEMORY, .stays = true,
     .is_made_once = true},
    {"rota_fork", fresh, fork_it, .stays = true},
    {"rota__fork_slow", fresh, fork_slow, .stays = true},
    {"rota_join", forked_or_running, join, NULL, sweep_open_gate, .stays = true},
    {"rota__join_slow", forked_or_running, join_slow, NULL, sweep_open_gate, .stays = true},
    {"rota_invoke_both", fresh, invoke_both, .stays = true},
    {"rota_invoke_many", fresh, invoke_many, .stays = true},
    {"rota_unfork", forked, unfork, .is_quiet = true},
    {"rota__unfork_slow", forked, unfork_slow, .is_quiet = true},
    {"rota__my_deck", sweep_nowhere, my_deck, .is_quiet = true},
};
SWEEP_PART(sweep_common, rows);
