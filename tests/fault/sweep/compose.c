/* SPDX-License-Identifier: MIT */
/*
 * compose.c - futures made of futures.
 */
#include "compose/compose_internal.h" /* first: it has parameters that are called stage */

#include "sweep.h"

#define LONG ROTA_MINUTES(30)

static int value; /* what the sources end with */

/* A source that is not done, and a pool whose thread waits for the steps. */
static void set_source(void)
{
    sweep_waiting_pool.set();
    test_check(rota_promise_new(&stage.source) == ROTA_OK);
}

static void source_is_intact(void)
{
    test_check(!rota_future_is_done(stage.source));
    test_check(rota_future_dependents(stage.source) == 0);
}

static void strike_source(void)
{
    rota_promise_complete(stage.source, &value);
    rota_future_unref(stage.source);
    rota__timer_end(ROTA_FOREVER);
    sweep_waiting_pool.strike();
}

static const sweep_scene source = {"source", set_source, source_is_intact, strike_source};
static sweep_scenes a_source = {&source, NULL};

/* The same, done: the step runs here and now, or in the pool. */
static void set_done(void)
{
    set_source();
    test_check(rota_promise_complete(stage.source, &value));
}

static const sweep_scene done = {"done source", set_done, NULL, strike_source};
static sweep_scenes sources = {&source, &done, NULL};

/* -- Steps -------------------------------------------------------------------------------- */

static void *same(void *result, void *arg)
{
    return result;
}

static rota_future *give_source(void *result, void *arg)
{
    return rota_future_ref(stage.source);
}

static void *first_of(void *first, void *second, void *arg)
{
    return first;
}

static void *same_anyway(int status, void *result, int error, void *arg)
{
    return result;
}

static rota_future *give_anyway(int status, void *result, int error, void *arg)
{
    return rota_future_ref(stage.source);
}

static void see(rota_future *future, void *arg)
{
}

/* -- Calls -------------------------------------------------------------------------------- */

static int then(void)
{
    return rota_then(stage.source, stage.pool, same, NULL, &given.future);
}

static int chain(void)
{
    return rota_chain(stage.source, stage.pool, give_source, NULL, &given.future);
}

static int both(void)
{
    return rota_both(stage.source, stage.source, stage.pool, first_of, NULL, &given.future);
}

static int either(void)
{
    return rota_either(stage.source, stage.source, stage.pool, same, NULL, &given.future);
}

static int handle(void)
{
    return rota_handle(stage.source, stage.pool, same_anyway, NULL, &given.future);
}

static int handle_chain(void)
{
    return rota_handle_chain(stage.source, stage.pool, give_anyway, NULL, &given.future);
}

static int recover(void)
{
    return rota_recover(stage.source, stage.pool, same_anyway, NULL, &given.future);
}

static int when_done(void)
{
    return rota_when_done(stage.source, stage.pool, see, NULL, &given.future);
}

static int all_of(void)
{
    return rota_all_of((rota_future *[]){stage.source, stage.source}, 2, &given.future);
}

static int any_of(void)
{
    return rota_any_of((rota_future *[]){stage.source, stage.source}, 2, &given.future);
}

static int copy(void)
{
    return rota_copy(stage.source, &given.future);
}

static int time_out(void)
{
    return rota_timeout(stage.source, LONG, &given.future);
}

static int time_out_value(void)
{
    return rota_timeout_value(stage.source, LONG, &value, &given.future);
}

/* What follows ends with the source; a step that its executor refuses fails, with the status. */
static void it_follows(void)
{
    rota_promise_complete(stage.source, &value);
    int status = rota_future_get(given.future, NULL);
    test_check(status == ROTA_OK
               || (status == ROTA_EFAILED
                   && (rota_future_error(given.future) == ROTA_ENOMEM
                       || rota_future_error(given.future) == ROTA_ETIMEDOUT)));
    rota_future_unref(given.future);
}

/* -- More of one -------------------------------------------------------------------------- */

static rota_future *following; /* the engine resets what was given */

static void set_follower(void)
{
    set_source();
    test_check(rota_copy(stage.source, &following) == ROTA_OK);
}

static void strike_follower(void)
{
    rota_future_unref(following);
    strike_source();
}

static const sweep_scene follower = {"follower", set_follower, NULL, strike_follower};
static sweep_scenes a_follower = {&follower, NULL};

static int own(void)
{
    return rota_future_own(following);
}

static int get_now(void)
{
    return sweep_so(rota_future_get_now(stage.source, &value) == &value);
}

static int dependents(void)
{
    return sweep_so(rota_future_dependents(stage.source) == 1);
}

#define NEEDS_A_TIMER .may = {[SWEEP_MEMORY] = {ROTA_ENOMEM}, [SWEEP_THREAD] = {ROTA_EAGAIN}}

static const sweep_row rows[] = {
    {"rota_then", sources, then, it_follows, SWEEP_NEEDS_MEMORY},
    {"rota_chain", sources, chain, it_follows, SWEEP_NEEDS_MEMORY},
    {"rota_both", sources, both, it_follows, SWEEP_NEEDS_MEMORY},
    {"rota_either", sources, either, it_follows, SWEEP_NEEDS_MEMORY},
    {"rota_handle", sources, handle, it_follows, SWEEP_NEEDS_MEMORY},
    {"rota_handle_chain", sources, handle_chain, it_follows, SWEEP_NEEDS_MEMORY},
    {"rota_recover", sources, recover, it_follows, SWEEP_NEEDS_MEMORY},
    {"rota_when_done", sources, when_done, it_follows, SWEEP_NEEDS_MEMORY},
    {"rota_all_of", sources, all_of, it_follows, SWEEP_NEEDS_MEMORY},
    {"rota_any_of", sources, any_of, it_follows, SWEEP_NEEDS_MEMORY},
    {"rota_copy", sources, copy, it_follows, SWEEP_NEEDS_MEMORY},
    {"rota_timeout", a_source, time_out, it_follows, NEEDS_A_TIMER},
    {"rota_timeout_value", a_source, time_out_value, it_follows, NEEDS_A_TIMER},
    {"rota_future_own", a_follower, own, .is_quiet = true},
    {"rota_future_get_now", a_source, get_now, .is_quiet = true},
    {"rota_future_dependents", a_follower, dependents, .is_quiet = true},
};
SWEEP_PART(sweep_compose, rows);
