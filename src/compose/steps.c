/* SPDX-License-Identifier: MIT */
/*
 * steps.c - the kinds of steps.
 */
#include "compose/compose_internal.h"

/* -- When there is a step ------------------------------------------------- */

static bool has_succeeded(const rota_future *source)
{
    return rota_future_state_of(source) == ROTA_FUTURE_SUCCEEDED;
}

static rota_future *pass_unless_succeeded(rota__stage *stage)
{
    return has_succeeded(stage->source) ? NULL : stage->source;
}

static rota_future *pass_if_succeeded(rota__stage *stage)
{
    return has_succeeded(stage->source) ? stage->source : NULL;
}

static rota_future *pass_never(rota__stage *stage)
{
    (void)stage;
    return NULL;
}

static rota_future *pass_always(rota__stage *stage)
{
    return stage->source;
}

static rota_future *pass_unless_all(rota__stage *stage)
{
    for (size_t i = 0; i < stage->ties->n; i++) {
        if (!has_succeeded(stage->ties->tie[i].source))
            return stage->ties->tie[i].source;
    }
    return NULL;
}

static rota_future *pass_unless_first(rota__stage *stage)
{
    return has_succeeded(stage->ties->first) ? NULL : stage->ties->first;
}

/* -- What it does --------------------------------------------------------- */

/* What a get of a done source would return. */
static int status_of(rota_future *source)
{
    return rota_future_get_timed(source, 0, NULL);
}

static void *call_then(rota__stage *stage)
{
    rota_future *source = stage->source;

    return rota__stage_value(source, stage->fn.then(source->result, stage->arg));
}

static void *call_either(rota__stage *stage)
{
    rota_future *source = stage->ties->first;

    return rota__stage_value(source, stage->fn.then(source->result, stage->arg));
}

static void *call_both(rota__stage *stage)
{
    rota_future *first = stage->ties->tie[0].source;
    rota_future *second = stage->ties->tie[1].source;
    void *value = stage->fn.both(first->result, second->result, stage->arg);

    return rota__stage_value(first, rota__stage_value(second, value));
}

static void *call_handle(rota__stage *stage)
{
    rota_future *source = stage->source;
    void *value = stage->fn.handle(status_of(source), rota_future_get_now(source, NULL),
                                   rota_future_error(source), stage->arg);

    return rota__stage_value(source, value);
}

static void *call_chain(rota__stage *stage)
{
    return rota__stage_end_as(stage, stage->fn.chain(stage->source->result, stage->arg));
}

static void *call_handle_chain(rota__stage *stage)
{
    rota_future *source = stage->source;

    return rota__stage_end_as(stage, stage->fn.handle_chain(status_of(source),
                                                            rota_future_get_now(source, NULL),
                                                            rota_future_error(source), stage->arg));
}

static void *call_done(rota__stage *stage)
{
    rota_future *source = stage->source;

    stage->fn.done(source, stage->arg);
    rota__run_follow(source);
    return rota__stage_value(source, rota_future_get_now(source, NULL));
}

static const rota__stage_kind then_kind = {.passes = pass_unless_succeeded, .step = call_then};
static const rota__stage_kind chain_kind = {.passes = pass_unless_succeeded, .step = call_chain};
static const rota__stage_kind handle_kind = {.passes = pass_never, .step = call_handle};
static const rota__stage_kind handle_chain_kind = {.passes = pass_never, .step = call_handle_chain};
static const rota__stage_kind recover_kind = {.passes = pass_if_succeeded, .step = call_handle};
static const rota__stage_kind copy_kind = {.passes = pass_always};
static const rota__stage_kind done_kind = {
    .passes = pass_never, .step = call_done, .runs_anyway = true};
static const rota__stage_kind both_kind = {
    .passes = pass_unless_all, .step = call_both, .needs_all = true};
static const rota__stage_kind either_kind = {.passes = pass_unless_first, .step = call_either};

/* -- The calls ------------------------------------------------------------ */

int rota_then(rota_future *f, rota_executor *ex, rota_then_fn *fn, void *arg, rota_future **out)
{
    if (f == NULL || fn == NULL || out == NULL)
        return ROTA_EINVAL;
    return rota__stage_follow(&then_kind, f, ex, (rota__step_fn){.then = fn}, arg, out);
}

int rota_chain(rota_future *f, rota_executor *ex, rota_chain_fn *fn, void *arg, rota_future **out)
{
    if (f == NULL || fn == NULL || out == NULL)
        return ROTA_EINVAL;
    return rota__stage_follow(&chain_kind, f, ex, (rota__step_fn){.chain = fn}, arg, out);
}

int rota_both(rota_future *f, rota_future *g, rota_executor *ex, rota_both_fn *fn, void *arg,
              rota_future **out)
{
    rota_future *both[] = {f, g};

    if (f == NULL || g == NULL || fn == NULL || out == NULL)
        return ROTA_EINVAL;
    return rota__stage_follow_many(&both_kind, both, 2, ex, (rota__step_fn){.both = fn}, arg, out);
}

int rota_either(rota_future *f, rota_future *g, rota_executor *ex, rota_then_fn *fn, void *arg,
                rota_future **out)
{
    rota_future *both[] = {f, g};

    if (f == NULL || g == NULL || fn == NULL || out == NULL)
        return ROTA_EINVAL;
    return rota__stage_follow_many(&either_kind, both, 2, ex, (rota__step_fn){.then = fn}, arg,
                                   out);
}

int rota_handle(rota_future *f, rota_executor *ex, rota_handle_fn *fn, void *arg, rota_future **out)
{
    if (f == NULL || fn == NULL || out == NULL)
        return ROTA_EINVAL;
    return rota__stage_follow(&handle_kind, f, ex, (rota__step_fn){.handle = fn}, arg, out);
}

int rota_handle_chain(rota_future *f, rota_executor *ex, rota_handle_chain_fn *fn, void *arg,
                      rota_future **out)
{
    rota__step_fn step = {.handle_chain = fn};

    if (f == NULL || fn == NULL || out == NULL)
        return ROTA_EINVAL;
    return rota__stage_follow(&handle_chain_kind, f, ex, step, arg, out);
}

int rota_recover(rota_future *f, rota_executor *ex, rota_handle_fn *fn, void *arg,
                 rota_future **out)
{
    if (f == NULL || fn == NULL || out == NULL)
        return ROTA_EINVAL;
    return rota__stage_follow(&recover_kind, f, ex, (rota__step_fn){.handle = fn}, arg, out);
}

int rota_when_done(rota_future *f, rota_executor *ex, rota_done_fn *fn, void *arg,
                   rota_future **out)
{
    if (f == NULL || fn == NULL)
        return ROTA_EINVAL;
    return rota__stage_follow(&done_kind, f, ex, (rota__step_fn){.done = fn}, arg, out);
}

int rota_copy(rota_future *f, rota_future **out)
{
    if (f == NULL || out == NULL)
        return ROTA_EINVAL;
    return rota__stage_follow(&copy_kind, f, NULL, (rota__step_fn){NULL}, NULL, out);
}

/* -- Several -------------------------------------------------------------- */

static rota_future *pass_first(rota__stage *stage)
{
    return stage->ties->first;
}

static const rota__stage_kind all_kind = {.passes = pass_unless_all, .needs_all = true};
static const rota__stage_kind any_kind = {.passes = pass_first};

static int follow_many(const rota__stage_kind *kind, rota_future *const *futures, size_t n,
                       rota_future **out)
{
    if (out == NULL || (futures == NULL && n > 0))
        return ROTA_EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (futures[i] == NULL)
            return ROTA_EINVAL;
    }
    return rota__stage_follow_many(kind, futures, n, NULL, (rota__step_fn){NULL}, NULL, out);
}

int rota_all_of(rota_future *const *futures, size_t n, rota_future **out)
{
    return follow_many(&all_kind, futures, n, out);
}

int rota_any_of(rota_future *const *futures, size_t n, rota_future **out)
{
    return follow_many(&any_kind, futures, n, out);
}

/* -- Looking, and owning -------------------------------------------------- */

int rota_future_own(rota_future *f)
{
    rota__stage *stage = f != NULL ? rota__as_stage(f) : NULL;

    if (f == NULL)
        return ROTA_EINVAL;
    if (stage == NULL)
        return ROTA_ENOTSUP;
    rota__or_acq_rel(&stage->executor, ROTA__STAGE_OWNS);
    return ROTA_OK;
}

void *rota_future_get_now(const rota_future *f, void *otherwise)
{
    if (f == NULL || rota_future_state_of(f) != ROTA_FUTURE_SUCCEEDED)
        return otherwise;
    return f->result;
}

size_t rota_future_dependents(rota_future *f)
{
    return f != NULL ? rota__future_count_actions(f) : 0;
}
