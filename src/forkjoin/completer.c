/* SPDX-License-Identifier: MIT */
/*
 * completer.c - tasks that count what they wait for: their turn, and their end.
 *
 *   completer.N1  A completer has one turn: FORKED, it is to come; SHARED, it has come, and the
 *                 completer is run, passed over, or was completed before. One change of the word
 *                 takes it from the first to the second.
 *   completer.N2  The turn is run when the completer is not done; passed over, so that its parent
 *                 is told, when it was cancelled; and skipped when it is done in any other way, of
 *                 which its parent has been told.
 *   completer.N3  Who takes the last from a count, and nobody else, goes on to the parent. After
 *                 any other taking, and after a root's end, nothing is touched: the memory may be
 *                 gone.
 *   completer.N4  It ends once: DONE is added, with how it ended, to a word without DONE.
 *   completer.N5  The first failure decides the code of a completer, and only the thread that
 *                 stored it goes on to the parent.
 *   completer.N6  The completers above one that is dropped are cancelled with it, since nobody will
 *                 complete them.
 */
#include "forkjoin/forkjoin_internal.h"

#include "base/check.h"

static rota_completer *completer_of(rota_fj *task)
{
    return (rota_completer *)(void *)task;
}

/* -- The count ------------------------------------------------------------ */

static rota__atomic(uintptr_t) * pending_of(const rota_completer *c)
{
    return (rota__atomic(uintptr_t) *)(uintptr_t)&c->priv[0];
}

static uintptr_t word_of(int count)
{
    return (uintptr_t)(intptr_t)count;
}

static int count_in(uintptr_t word)
{
    return (int)(intptr_t)word;
}

int rota_pending(const rota_completer *c)
{
    return c != NULL ? count_in(rota__load_acquire(pending_of(c))) : 0; /* pairs with all changes */
}

void rota_set_pending(rota_completer *c, int count)
{
    if (c != NULL)
        rota__store_release(pending_of(c), word_of(count)); /* pairs with rota_take_pending */
}

int rota_add_pending(rota_completer *c, int count)
{
    return c != NULL ? count_in(rota__add_acq_rel(pending_of(c), word_of(count))) : 0;
}

bool rota_swap_pending(rota_completer *c, int from, int to)
{
    uintptr_t word = word_of(from);

    return c != NULL && rota__cas_acq_rel(pending_of(c), &word, word_of(to));
}

int rota_take_pending(rota_completer *c)
{
    uintptr_t word;

    if (c == NULL)
        return 0;
    word = rota__load_acquire(pending_of(c)); /* pairs with the others' taking: what they did */
    while (count_in(word) != 0) {
        /* completer.N3a */
        if (rota__cas_acq_rel(pending_of(c), &word, word_of(count_in(word) - 1)))
            break;
    }
    return count_in(word);
}

/* -- Up to the root ------------------------------------------------------- */

static bool has_failed(const rota_completer *c)
{
    return (rota__fj_state(&c->task) & FJ_FAILED) != 0;
}

/* From `c`, whose count is to be taken from. completer.N3. */
static void climb(rota_completer *c, rota_completer *caller, bool tells)
{
    while (ROTA__BUG(completer.N3b, rota_take_pending(c) == 0,
                     rota_take_pending(c) == 0 || c->parent == c)) {
        if (tells && c->on_completion != NULL && !has_failed(c)) /* CC-12 */
            c->on_completion(c, caller);
        if (c->parent == NULL) {
            rota__fj_end(&c->task, 0);
            return;
        }
        caller = c;
        c = c->parent;
    }
}

void rota_try_complete(rota_completer *c)
{
    if (c != NULL)
        climb(c, c, true);
}

void rota_propagate_completion(rota_completer *c)
{
    if (c != NULL)
        climb(c, c, false);
}

/* completer.N1: its turn, if it has not come, is not going to. */
static void give_up_turn(rota_fj *task)
{
    uintptr_t state = rota__fj_state(task);

    while (!rota__cas_acq_rel(rota__fj_word(task, FJ_STATE), &state,
                              (state & ~(uintptr_t)FJ_FORKED) | FJ_SHARED))
        continue;
}

void rota_complete(rota_completer *c)
{
    rota_completer *parent;

    if (c == NULL)
        return;
    parent = c->parent;
    give_up_turn(&c->task); /* completer.N1b */
    if (c->on_completion != NULL && !has_failed(c))
        c->on_completion(c, c);
    rota__fj_end(&c->task, 0);
    if (parent != NULL)
        climb(parent, c, true);
}

rota_completer *rota_first_complete(rota_completer *c)
{
    return c != NULL && rota_take_pending(c) == 0 ? c : NULL;
}

rota_completer *rota_next_complete(rota_completer *c)
{
    if (c == NULL)
        return NULL;
    if (c->parent != NULL)
        return rota_first_complete(c->parent);
    rota__fj_end(&c->task, 0);
    return NULL;
}

rota_completer *rota_completer_root(rota_completer *c)
{
    while (c != NULL && c->parent != NULL)
        c = c->parent;
    return c;
}

void rota_complete_root(rota_completer *c)
{
    if (c != NULL)
        rota__fj_end(&rota_completer_root(c)->task, 0);
}

/* -- Failing and cancelling ----------------------------------------------- */

/* False: it is done, and not because it was cancelled, so all above it have been told; or another
   has been quicker, and goes on with its own code, which stays. It counts only with FAILED. */
static bool mark_failed(rota_fj *task, int code)
{
    uintptr_t none = 0;

    /* completer.N5 */
    if (!rota__cas_acq_rel(rota__fj_word(task, FJ_ERROR), &none, (uintptr_t)(unsigned)code))
        return false;
    return rota__fj_end(task, FJ_FAILED) || (rota__fj_state(task) & FJ_CANCELLED) != 0;
}

/* CC-07 */
static void fail(rota_completer *c, int code)
{
    rota_completer *caller = c;

    while (c != NULL && mark_failed(&c->task, code)
           && (c->on_failure == NULL || c->on_failure(c, code, caller))) {
        caller = c;
        c = c->parent;
    }
}

/* In its own `compute` it is only noted, as what it says last counts. */
void rota__completer_fail(rota_fj *task, int code)
{
    rota__execution *execution = rota__self()->current;

    while (execution != NULL && execution->subject != task)
        execution = execution->outer;
    if (execution != NULL)
        execution->error = code;
    else if (code != 0)
        fail(completer_of(task), code);
}

bool rota__completer_cancel(rota_fj *task)
{
    return ROTA__BUG(completer.N4b, rota__fj_end(task, FJ_CANCELLED),
                     (rota__fj_add(task, FJ_CANCELLED), rota__fj_end(task, 0)))
           || (rota__fj_state(task) & FJ_CANCELLED) != 0;
}

void rota__completer_drop(rota_fj *task)
{
    for (rota_completer *c = completer_of(task); c != NULL; c = c->parent) /* completer.N6 */
        rota__completer_cancel(&c->task);
}

/* -- Its turn ------------------------------------------------------------- */

/* completer.N2 */
static void pass_over(rota_completer *c)
{
    if (rota_take_pending(c) == 0 && c->parent != NULL)
        climb(c->parent, c, true);
}

bool rota__completer_prepare(rota_fj *task)
{
    uintptr_t state = rota__fj_state(task);

    do {
        if (state & (FJ_FORKED | FJ_SHARED) || (state & FJ_DONE && !(state & FJ_CANCELLED)))
            return false;
    } while (!rota__cas_acq_rel(rota__fj_word(task, FJ_STATE), &state, state | FJ_FORKED));
    if (!(state & FJ_CANCELLED))
        return true;
    give_up_turn(task);
    pass_over(completer_of(task)); /* completer.N2c */
    return false;
}

void rota__completer_unfork(rota_fj *task)
{
    uintptr_t state = rota__fj_state(task);

    while (!rota__cas_acq_rel(rota__fj_word(task, FJ_STATE), &state, state & ~(uintptr_t)FJ_FORKED))
        continue;
}

/* completer.N1. The state before; 0: it has come already. */
static uintptr_t begin_turn(rota_fj *task)
{
    uintptr_t state = rota__fj_state(task);

    do { /* completer.N1a */
        if (!(state & FJ_FORKED) || state & FJ_SHARED)
            return 0;
    } while (!rota__cas_acq_rel(rota__fj_word(task, FJ_STATE), &state,
                                (state & ~(uintptr_t)FJ_FORKED) | FJ_SHARED));
    return state;
}

void rota_completer_run(rota_fj *task)
{
    rota_completer *c = completer_of(task);

    if (c->compute != NULL)
        c->compute(c);
    else
        rota_fj_fail(task, ROTA_EINVAL);
}

/* After it, the completer is touched only if it has failed: completer.N3. */
static void run(rota_completer *c, rota__stop_word *stop)
{
    rota__execution execution; /* `error`: the code of rota_fj_fail */

    rota__execution_begin(&execution, &c->task, stop);
    execution.may_fail = false;
    ROTA__MUST_RETURN("a completer", rota_completer_run(&c->task));
    rota__execution_end(&execution);
    if (execution.error != 0)
        fail(c, execution.error);
}

void rota__completer_turn(rota_fj *task, const rota__fj_worker *runner)
{
    uintptr_t state = begin_turn(task);

    if (state == 0)
        return;
    if (ROTA__BUG(completer.N2b, state & FJ_CANCELLED, state & FJ_DONE)) /* completer.N2a */
        pass_over(completer_of(task));
    else if (state & FJ_DONE)
        return;
    else if (runner != NULL && rota__fj_pool_state(runner->pool) >= ROTA_STOP)
        rota__completer_drop(task);
    else
        run(completer_of(task), rota__fj_stop_word(runner));
}

/* -- Helping -------------------------------------------------------------- */

static bool leads_to(rota_fj *task, const void *goal)
{
    if (!rota__is_counted(task))
        return false;
    for (const rota_completer *c = completer_of(task); c != NULL; c = c->parent) {
        if (c == goal)
            return true;
    }
    return false;
}

static bool entry_leads_to(rota_fj *entry, const rota_completer *goal)
{
    return entry != NULL && rota__entry_is_counted(entry) && leads_to(rota__fj_in(entry), goal);
}

enum { DEEPEST = 16 }; /* so far down the own deque; what is older is rarely wanted */

static rota_fj *take_own(rota__fj_worker *worker, const rota_completer *goal)
{
    rota_fj *others[DEEPEST];
    rota_fj *entry = NULL;
    int count = 0;

    while (count < DEEPEST && (entry = rota__deque_pop(&worker->deque)) != NULL
           && !entry_leads_to(entry, goal))
        others[count++] = entry;
    if (!entry_leads_to(entry, goal))
        entry = NULL; /* the last of the others, or there are no more */
    while (count > 0)
        rota__deque_push(&worker->deque, others[--count]); /* where it has just been */
    rota__fj_answer(worker);
    return entry;
}

/* Whose it is can be seen only when it is taken. */
static rota_fj *steal(rota__fj_worker *worker, const rota_completer *goal)
{
    rota__fj_pool *pool = worker->pool;
    uint32_t made = rota__load_acquire(&pool->made);

    for (uint32_t i = 0; i < made; i++) {
        rota__deque *deque = &rota__load_relaxed(&pool->workers[i])->deque;
        const rota_fj *seen = rota__deque_peek(deque);
        rota_fj *entry;
        if (seen == NULL || !rota__entry_is_counted(seen))
            continue;
        entry = rota__crew_steal(pool, deque);
        if (entry_leads_to(entry, goal))
            return entry;
        if (entry != NULL) {
            rota__fj_give_back(pool, entry);
            rota__crew_call(pool); /* crew.W1c */
        }
    }
    return NULL;
}

static rota_fj *take_submitted(rota__fj_pool *pool, const rota_completer *goal)
{
    rota_fj *task;

    rota__mutex_lock(&pool->lock);
    task = rota__inbox_take_if(pool, leads_to, goal);
    rota__mutex_unlock(&pool->lock);
    return task;
}

static bool help(rota__fj_worker *worker, const rota_completer *goal)
{
    rota_fj *entry = take_own(worker, goal);

    if (entry == NULL)
        entry = steal(worker, goal);
    if (entry == NULL)
        entry = take_submitted(worker->pool, goal);
    if (entry == NULL)
        return false;
    rota__fj_run_entry(worker, entry, false);
    return true;
}

/* By a thread that is no worker: what it, or another one, has forked. */
static bool help_outside(rota__fj_pool *pool, const rota_completer *goal)
{
    rota_fj *task;

    if (pool == NULL)
        return false;
    rota__mutex_lock(&pool->lock); /* forkjoin.F2a */
    task = rota__inbox_take_if(pool, leads_to, goal);
    if (task == NULL) {
        rota__mutex_unlock(&pool->lock);
        return false;
    }
    rota__fj_take_part(pool, rota__crew_enter(pool), task, NULL); /* unlocks */
    return true;
}

void rota_help_complete(rota_completer *c, int most)
{
    rota__fj_worker *worker = rota__fj_me();

    for (int i = 0; c != NULL && i < most; i++) {
        if (!(worker != NULL ? help(worker, c) : help_outside(rota__fj_common(), c)))
            return;
    }
}
