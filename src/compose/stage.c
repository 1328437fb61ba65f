/* SPDX-License-Identifier: MIT */
/*
 * stage.c - a stage waits for its sources, runs its step, and ends.
 */
#include "compose/compose_internal.h"

#include "base/alloc.h"
#include "base/check.h"

/* -- Sources -------------------------------------------------------------- */

static bool has_ties(const rota__stage *stage)
{
    return stage->action.run == NULL;
}

/* The last lets the sources go, so that whoever looks at one of several may look at all. */
static void leave_ties(rota__ties *ties)
{
    if (rota__sub_acq_rel(&ties->users, 1) != 1) /* pairs with the others' */
        return;
    for (size_t i = 0; i < ties->n; i++)
        rota__future_unpin(ties->tie[i].source);
    rota__free(ties, sizeof *ties + ties->n * sizeof ties->tie[0]);
}

/* compose.X4 */
static void let_sources_go(void *arg)
{
    rota__stage *stage = arg;

    if (stage->kind->ended != NULL)
        stage->kind->ended(stage);
    if (has_ties(stage))
        leave_ties(stage->ties);
    else
        rota__future_unpin(stage->source);
}

/* -- Cutting ties --------------------------------------------------------- */

enum { TIED = 1, TAKEN = 2, CUT = 4 }; /* all are made; the first is done; somebody has cut them */

static void cut(rota__tie *tie)
{
    rota__stage *stage = tie->stage;
    rota__ties *ties = stage->ties;

    if (!rota__future_remove(tie->source, &tie->action))
        return; /* it runs, and sees to this itself */
    leave_ties(ties);
    rota__future_unpin(&stage->future); /* compose.X2 */
}

/* All that are left, with the stage and its ties held by the caller. */
static void cut_all(rota__stage *stage, const rota__tie *but)
{
    rota__ties *ties = stage->ties;

    for (size_t i = 0; i < ties->n; i++) {
        if (&ties->tie[i] != but)
            cut(&ties->tie[i]);
    }
}

/* -- Cancelling what it owns ---------------------------------------------- */

static void cancel_each(rota__stage *stage)
{
    if (!has_ties(stage)) {
        rota_future_cancel(stage->source);
        rota__future_unpin(stage->source);
        return;
    }
    for (size_t i = 0; i < stage->ties->n; i++)
        rota_future_cancel(stage->ties->tie[i].source);
    leave_ties(stage->ties);
}

static void hold_sources(rota__stage *stage)
{
    if (has_ties(stage))
        rota__add_relaxed(&stage->ties->users, 1);
    else
        rota__future_pin(stage->source);
}

/*
 * The sources may own theirs, and so on: a loop. A stage whose sources are to be
 * cancelled while this thread cancels others waits in a list, linked by its action,
 * which nobody else needs any more.
 */
static void cancel_sources(rota__stage *stage)
{
    rota_thread *self = rota__self();
    void *list = NULL;
    void **waiting = self->cancelling != NULL ? self->cancelling : &list;

    rota__future_pin(&stage->future);
    hold_sources(stage);
    stage->action.next = *waiting;
    *waiting = &stage->action;
    if (waiting != &list)
        return;
    self->cancelling = &list;
    while (list != NULL) {
        stage = ROTA__CONTAINER(list, rota__stage, action);
        list = stage->action.next;
        cancel_each(stage);
        rota__future_unpin(&stage->future);
    }
    self->cancelling = NULL;
}

static void cancel_owned(rota__stage *stage)
{
    if (rota__stage_owns(stage) && rota_future_state_of(&stage->future) == ROTA_FUTURE_CANCELED)
        cancel_sources(stage);
}

/* -- Withdrawing ---------------------------------------------------------- */

static void withdraw(rota__stage *stage)
{
    if (!rota__future_remove(stage->source, &stage->action))
        return; /* the source is done, and what runs sees to the rest */
    cancel_owned(stage);
    rota__future_unpin(&stage->future); /* compose.X2: the tie */
}

static void withdraw_from_all(rota__stage *stage)
{
    if (!(rota__or_acq_rel(&stage->ties->flags, CUT) & CUT)) /* compose.X5a; pairs with end_tying */
        cut_all(stage, NULL);
    cancel_owned(stage);
}

/* compose.X3: somebody else has ended it. */
static void ended(rota__cancel_listener *mine, rota_future *future)
{
    rota__stage *stage = (rota__stage *)future;

    (void)mine;
    if (has_ties(stage))
        withdraw_from_all(stage);
    else if (rota__or_acq_rel(&stage->executor, ROTA__STAGE_ENDED)
             & ROTA__STAGE_TIED) /* compose.X5b */
        withdraw(stage);         /* else wait_for_inner does, with which this pairs */
    rota__future_unpin(future);  /* compose.X2: the task */
}

static rota__cancel_listener listener = {.notify = ended};

/* -- Going on ------------------------------------------------------------- */

/* It ends without its step. */
static void end_like(rota__stage *stage, rota_future *source, rota__action_queue *more)
{
    if (rota__future_end_like(&stage->future, source, more))
        let_sources_go(stage); /* compose.X4 */
    rota__future_unpin(&stage->future);
}

static void refused(rota__stage *stage, int status, rota__action_queue *more)
{
    if (stage->kind->runs_anyway) {
        rota__run_here(&stage->future, more);
        return;
    }
    if (rota__future_end_failed(&stage->future, status, more))
        let_sources_go(stage); /* compose.X4 */
    rota__future_unpin(&stage->future);
}

/* The sources are done, as far as it needs them, and the listener is cleared: compose.X3. They are held
   by the caller, as who ends it now lets them go. True: it is the step's turn. */
static bool is_for_step(rota__stage *stage, rota__action_queue *more)
{
    rota_future *passed;

    if (rota_future_is_done(&stage->future)) { /* who ended it has seen to the sources */
        rota__future_unpin(&stage->future);
        return false;
    }
    passed = stage->kind->passes(stage);
    if (passed == NULL && stage->kind->step != NULL)
        return true;
    end_like(stage, passed, more);
    return false;
}

/* The caller holds nothing any more but the task's reference. */
static void go_on(rota__stage *stage, rota__action_queue *more)
{
    rota_executor *executor = rota__stage_executor(stage);
    int status;

    if (executor == NULL) {
        rota__run_here(&stage->future, more);
        return;
    }
    rota__inflight_begin(executor);
    status = rota__submit_inflight(executor, &stage->future.task, more);
    if (status != ROTA_OK)
        refused(stage, status, more);
}

static void source_done(rota__action *action, rota__action_queue *more)
{
    rota__stage *stage = ROTA__CONTAINER(action, rota__stage, action);
    /* compose.X3b */
    bool goes_on = rota__future_clear_listener(&stage->future) && is_for_step(stage, more);

    rota__future_unpin(&stage->future); /* compose.X2: the tie */
    if (goes_on)
        go_on(stage, more);
}

static bool last_is_done(rota__stage *stage)
{
    return rota__sub_acq_rel(&stage->ties->waiting, 1) == 1 /* pairs with the others' */
           && rota__future_clear_listener(&stage->future);
}

/* Who comes second of the first that is done and who makes the ties, cuts them. */
static bool first_is_done(rota__stage *stage, rota__tie *tie)
{
    rota__ties *ties = stage->ties;
    uint32_t flags = rota__or_acq_rel(&ties->flags, TAKEN);

    if (flags & TAKEN || !rota__future_clear_listener(&stage->future))
        return false;
    ties->first = tie->source;
    if (flags & TIED)
        cut_all(stage, tie);
    return true;
}

static void one_done(rota__action *action, rota__action_queue *more)
{
    rota__tie *tie = ROTA__CONTAINER(action, rota__tie, action);
    rota__stage *stage = tie->stage;
    rota__ties *ties = stage->ties;
    bool goes_on = (stage->kind->needs_all ? last_is_done(stage) : first_is_done(stage, tie))
                   && is_for_step(stage, more);

    leave_ties(ties);
    rota__future_unpin(&stage->future); /* compose.X2: the tie */
    if (goes_on)
        go_on(stage, more);
}

/* -- Making one ----------------------------------------------------------- */

static void *run_step(void *arg)
{
    rota__stage *stage = arg;
    void *result;

    ROTA__MUST_RETURN("the step of a composed future", result = stage->kind->step(stage));
    if (!rota__run_is_deferred())
        let_sources_go(stage); /* compose.X4 */
    return result;
}

static rota__stage *new_stage(const rota__stage_kind *kind, rota_executor *ex, rota__step_fn fn,
                              void *arg, bool held)
{
    rota_call call = {.fn = run_step, .discard = let_sources_go};
    rota__stage *stage = (rota__stage *)rota__future_new(&call, held, sizeof *stage);

    if (stage == NULL)
        return NULL;
    stage->future.task.call.arg = stage;
    stage->kind = kind;
    rota__store_relaxed(&stage->executor, (uintptr_t)ex | ROTA__STAGE_TIED);
    stage->fn = fn;
    stage->arg = arg;
    stage->action.run = NULL;
    return stage;
}

rota__stage *rota__stage_new(const rota__stage_kind *kind, rota_future *source, rota_executor *ex,
                             rota__step_fn fn, void *arg, bool held)
{
    rota__stage *stage = new_stage(kind, ex, fn, arg, held);

    if (stage == NULL)
        return NULL;
    stage->action.run = source_done;
    stage->source = source;
    rota__future_pin(source); /* compose.X1 */
    return stage;
}

void rota__stage_start(rota__stage *stage)
{
    rota__future_pin(&stage->future); /* compose.X2 */
    rota__future_set_listener(&stage->future, &listener);
    if (!rota__future_add(stage->source, &stage->action))
        rota__action_run(&stage->action);
}

int rota__stage_follow(const rota__stage_kind *kind, rota_future *source, rota_executor *ex,
                       rota__step_fn fn, void *arg, rota_future **out)
{
    rota__stage *stage = rota__stage_new(kind, source, ex, fn, arg, out != NULL);

    if (stage == NULL)
        return ROTA_ENOMEM;
    if (out != NULL)
        *out = &stage->future;
    rota__stage_start(stage);
    return ROTA_OK;
}

static rota__ties *make_ties(rota__stage *stage, rota_future *const *sources, size_t n)
{
    rota__ties *ties;

    if (n > UINT32_MAX / 2)
        return NULL; /* GCOVR_EXCL_LINE: 16 GiB of futures */
    ties = rota__alloc(sizeof *ties + n * sizeof ties->tie[0]);
    if (ties == NULL)
        return NULL;
    rota__store_relaxed(&ties->users, (uint32_t)n + 2); /* the stage, and who makes it */
    rota__store_relaxed(&ties->waiting, (uint32_t)n + 1);
    rota__store_relaxed(&ties->flags, 0);
    ties->first = NULL;
    ties->n = n;
    for (size_t i = 0; i < n; i++) {
        ties->tie[i] =
            (rota__tie){.action = {.run = one_done}, .source = sources[i], .stage = stage};
        rota__future_pin(sources[i]); /* compose.X1 */
    }
    return ties;
}

/* From the first that is done on the rest need not be tied. */
static size_t tie_all(rota__stage *stage)
{
    rota__ties *ties = stage->ties;

    for (size_t i = 0; i < ties->n; i++) {
        if (!stage->kind->needs_all && rota__load_acquire(&ties->flags) & TAKEN)
            return i;
        rota__future_pin(&stage->future); /* compose.X2 */
        if (!rota__future_add(ties->tie[i].source, &ties->tie[i].action))
            rota__action_run(&ties->tie[i].action);
    }
    return ties->n;
}

static void cut_made(rota__stage *stage, size_t made)
{
    for (size_t i = 0; i < made; i++)
        cut(&stage->ties->tie[i]);
}

/* Who made the ties was counted as one of those it waits for. */
static void all_tied(rota__action *action, rota__action_queue *more)
{
    rota__stage *stage = ROTA__CONTAINER(action, rota__tie, action)->stage;
    rota__ties *ties = stage->ties;
    bool goes_on = last_is_done(stage) && is_for_step(stage, more);

    leave_ties(ties);
    if (goes_on)
        go_on(stage, more);
}

static void end_tying(rota__stage *stage, size_t made)
{
    rota__ties *ties = stage->ties;
    rota__tie mine = {.action = {.run = all_tied}, .stage = stage};

    for (size_t i = made; i < ties->n; i++)
        leave_ties(ties);
    if (rota__or_acq_rel(&ties->flags, TIED) & TAKEN) { /* pairs with first_is_done */
        rota__or_acq_rel(&ties->flags, CUT); /* who ends it now finds its listener: compose.X3 */
        cut_made(stage, made);
    }
    if (stage->kind->needs_all)
        rota__action_run(&mine.action);
    else
        leave_ties(ties);
}

int rota__stage_follow_many(const rota__stage_kind *kind, rota_future *const *sources, size_t n,
                            rota_executor *ex, rota__step_fn fn, void *arg, rota_future **out)
{
    rota__stage *stage = new_stage(kind, ex, fn, arg, true);

    if (stage == NULL)
        return ROTA_ENOMEM;
    stage->ties = make_ties(stage, sources, n);
    if (stage->ties == NULL) {
        rota__future_refuse(&stage->future);
        rota_future_unref(&stage->future);
        return ROTA_ENOMEM;
    }
    rota__future_set_listener(&stage->future, &listener);
    *out = &stage->future;
    end_tying(stage, tie_all(stage));
    return ROTA_OK;
}

/* -- From inside a step --------------------------------------------------- */

void *rota__stage_value(rota_future *source, void *value)
{
    if (value != NULL && value == source->result)
        rota__run_return_of(source);
    return value;
}

/* Its source, from now on: compose.X1. */
static void set_source(rota__stage *stage, rota_future *source)
{
    let_sources_go(stage);
    stage->action.run = source_done;
    stage->source = source;
    rota__future_pin(source);
    rota__sub_acq_rel(&stage->executor, ROTA__STAGE_TIED);
}

static rota_future *pass_source(rota__stage *stage)
{
    return stage->source;
}

static const rota__stage_kind inner_kind = {.passes = pass_source};

/* Its body is over, and it waits again. */
static void wait_for_inner(rota_future *future)
{
    rota__stage *stage = (rota__stage *)future;
    rota_future *inner = stage->source;

    rota__future_pin(inner);  /* who ends the stage now lets it go */
    rota__future_pin(future); /* compose.X2: as the task that this was is over */
    rota__stage_start(stage);
    if (rota__or_acq_rel(&stage->executor, ROTA__STAGE_TIED) & ROTA__STAGE_ENDED)
        withdraw(stage);
    /* compose.X3a: a thread that ended it before the listener was set could not notify it. That
       thread has added to the listener word, which was swapped since, so this look comes after that
       end (cancel_listener.L4). */
    if (rota_future_is_done(future))
        rota__future_notify_listener(future);
    rota__future_unpin(inner);
}

void *rota__stage_end_as(rota__stage *stage, rota_future *inner)
{
    int error = rota__self()->current->error;

    if (error == 0 && inner == NULL)
        error = ROTA_EINVAL;
    if (error == 0 && inner == &stage->future)
        error = ROTA_EDEADLOCK;
    if (error != 0) {
        rota_future_unref(inner);
        return rota_fail(error);
    }
    set_source(stage, inner);
    stage->kind = &inner_kind;
    rota_future_unref(inner); /* OWN-20: it is no holder */
    if (!rota_future_is_done(inner)) {
        rota__run_defer(wait_for_inner);
        return NULL;
    }
    rota__run_follow(inner);
    return rota__stage_value(inner, inner->result);
}

rota__stage *rota__as_stage(rota_future *future)
{
    return future->task.call.fn == run_step ? (rota__stage *)future : NULL;
}
