/* SPDX-License-Identifier: MIT */
/*
 * fj.c - a task of the user's: what its words mean, and every change of them.
 *
 *   fj.J1  A task is run by who forked it, who then stores RAN, or is taken by somebody else, who
 *          first makes it SHARED and in the end adds DONE. Who forked it cannot mistake one for the
 *          other: what is not in its deque any more was taken.
 *   fj.J2  Only a task that is SHARED, or that came from outside, has waiters: its end is an
 *          addition to the word that has them, so none is missed. So is that of a completer. The
 *          end of any other is looked for.
 *   fj.J3  To tell the end is the last touch of a task, which may be gone then.
 *   fj.J4  Cancelling adds a flag that stays. It is looked at before a body runs, and when the
 *          outcome is asked for.
 *   fj.J5  Who forks a task, takes it back or runs it itself looks at the word and then stores it,
 *          as no other thread changes it meanwhile: it is not SHARED, so it has no taker and no
 *          waiters. But for who cancels it between the two, whose flag is lost: the header says so.
 *          What was cancelled before the look is seen.
 */
#include "forkjoin/forkjoin_internal.h"

void rota__fj_add(rota_fj *task, uintptr_t flags)
{
    rota__or_acq_rel(rota__fj_word(task, FJ_STATE), flags);
}

/* -- Looking -------------------------------------------------------------- */

bool rota__fj_is_done(const rota_fj *task)
{
    return (rota__fj_state(task) & FJ_DONE) != 0
           || rota__load_acquire(rota__fj_word(task, FJ_RUNNER)) == ROTA__FJ_RAN; /* run_own's */
}

int rota__fj_status(const rota_fj *task)
{
    uintptr_t state = rota__fj_state(task);

    if (state & FJ_CANCELLED)
        return ROTA_ECANCELED;
    if (state & FJ_COUNTED)
        return state & FJ_FAILED ? ROTA_EFAILED : ROTA_OK;
    return task->priv[FJ_ERROR] != 0 ? ROTA_EFAILED : ROTA_OK;
}

bool rota_fj_is_done(const rota_fj *task)
{
    return task != NULL && rota__fj_is_done(task);
}

int rota_fj_error(const rota_fj *task)
{
    if (task == NULL || !rota__fj_is_done(task) || rota__fj_status(task) != ROTA_EFAILED)
        return 0;
    /* Those who would fail a completer once more look at it, too; it stays. */
    return (int)rota__load_relaxed(rota__fj_word(task, FJ_ERROR));
}

/* -- Its body ------------------------------------------------------------- */

void rota_fj_fail(rota_fj *self, int code)
{
    if (self == NULL)
        return;
    if (rota__is_counted(self))
        rota__completer_fail(self, code);
    else
        self->priv[FJ_ERROR] = (uintptr_t)(unsigned)code;
}

/* fj.J4. A pool that is stopped cancels what has not begun. */
static bool may_begin(rota_fj *task, const rota__fj_worker *worker)
{
    if (rota__fj_state(task) & FJ_CANCELLED)
        return false;
    if (worker == NULL || rota__fj_pool_state(worker->pool) < ROTA_STOP)
        return true;
    rota__fj_add(task, FJ_CANCELLED);
    return false;
}

static void run_counted(rota_fj *task, const rota__fj_worker *runner)
{
    if (!rota__fj_is_fresh(task) || rota__completer_prepare(task))
        rota__completer_turn(task, runner);
}

void rota__fj_run_own(rota_fj *task)
{
    if (rota__is_counted(task)) {
        run_counted(task, rota__fj_me());
        return;
    }
    if (rota__fj_state(task) == 0)
        rota__store_relaxed(rota__fj_word(task, FJ_STATE), FJ_FORKED); /* fj.J5 */
    if (may_begin(task, rota__fj_me()))
        ROTA__MUST_RETURN("a fork/join task", task->run(task));
    rota__store_release(rota__fj_word(task, FJ_RUNNER), ROTA__FJ_RAN); /* fj.J1, fj.J3 */
}

bool rota__fj_end(rota_fj *task, uintptr_t flags)
{
    uintptr_t state = rota__fj_state(task);

    do {                     /* fj.J2a */
        if (state & FJ_DONE) /* completer.N4a */
            return false;    /* a completer: who ended it woke them */
    } while (!rota__cas_acq_rel(rota__fj_word(task, FJ_STATE), &state, state | flags | FJ_DONE));
    rota__fj_wake_all((rota__fj_waiter *)(state & ~(uintptr_t)FJ_FLAGS)); /* fj.J2 */
    return true;
}

static void finish(rota_fj *task)
{
    rota__fj_end(task, 0); /* fj.J3 */
}

void rota__fj_run_shared(rota_fj *task, rota__fj_worker *runner)
{
    rota__execution execution; /* an interrupt flag of its own: INT-01 */

    if (rota__is_counted(task)) {
        run_counted(task, runner);
        return;
    }
    rota__store_relaxed(rota__fj_word(task, FJ_RUNNER), (uintptr_t)runner);
    rota__fj_add(task, FJ_SHARED); /* fj.J1; releases the runner to who helps it */
    if (may_begin(task, runner)) {
        rota__execution_begin(&execution, NULL, rota__fj_stop_word(runner));
        execution.may_fail = false;
        ROTA__MUST_RETURN("a fork/join task", task->run(task));
        rota__execution_end(&execution);
    }
    finish(task);
}

void rota__fj_drop(rota_fj *task)
{
    if (rota__is_counted(task))
        rota__completer_drop(task);
    else
        rota__fj_end(task, FJ_CANCELLED);
}

/* -- Its life ------------------------------------------------------------- */

bool rota_fj_cancel(rota_fj *task)
{
    uintptr_t state, next;

    if (task == NULL)
        return false;
    state = rota__fj_state(task);
    if (state & FJ_COUNTED)
        return rota__completer_cancel(task);
    do {
        if (rota__fj_is_done(task))
            return (rota__fj_state(task) & FJ_CANCELLED) != 0;
        next = state | FJ_CANCELLED | (state == 0 ? FJ_DONE : 0); /* never forked: that is all */
    } while (!rota__cas_acq_rel(rota__fj_word(task, FJ_STATE), &state, next));
    return true;
}

void rota_fj_reset(rota_fj *task)
{
    if (task == NULL)
        return;
    rota__store_relaxed(rota__fj_word(task, FJ_STATE), rota__fj_state(task) & FJ_COUNTED);
    rota__store_relaxed(rota__fj_word(task, FJ_RUNNER), 0);
    rota__store_relaxed(rota__fj_word(task, FJ_ERROR), 0);
}

/* -- Forking -------------------------------------------------------------- */

/* From a thread that is no worker: to the common pool. */
static void fork_outside(rota_fj *task)
{
    rota__fj_pool *pool = rota__fj_common();

    if (pool == NULL || rota__fj_submit(pool, task) != ROTA_OK)
        rota__fj_run_own(task);
}

static rota_fj *entry_of(rota_fj *task)
{
    return rota__is_counted(task) ? rota__entry_of_counted(task) : task;
}

static bool prepare(rota_fj *task)
{
    uintptr_t state = rota__fj_state(task);

    if (state & FJ_COUNTED)
        return rota__completer_prepare(task);
    if (state != 0)
        return false;
    rota__store_relaxed(rota__fj_word(task, FJ_STATE), FJ_FORKED); /* fj.J5 */
    return true;
}

void rota__fork_slow(rota_fj *task)
{
    rota__fj_worker *worker = rota__fj_me();

    if (task == NULL || task->run == NULL || !prepare(task))
        return; /* GEN-02, FJT-07 */
    if (worker == NULL) {
        fork_outside(task);
        return;
    }
    if (!rota__deque_push(&worker->deque, entry_of(task)))
        rota__fj_run_own(task);
    rota__fj_answer(worker);
}

void rota_fork(rota_fj *task)
{
    rota__deck *deck = rota__fj_deck();
    rota_fj **top = rota__load_relaxed(&deck->top);

    if (ROTA__LIKELY(top < rota__load_relaxed(&deck->limit) && task != NULL && task->run != NULL
                     && rota__load_relaxed(rota__fj_word(task, FJ_STATE)) == 0)) {
        rota__store_relaxed(rota__fj_word(task, FJ_STATE), FJ_FORKED); /* fj.J5 */
        rota__store_relaxed((rota__atomic(rota_fj *) *)(void *)top, task);
        rota__store_release(&deck->top, top + 1); /* for who forces: deck.Q6 */
    } else {
        rota__fork_slow(task);
    }
}

/* -- Joining -------------------------------------------------------------- */

/* deck.Q5: the short way. */
static bool take_back(rota_fj *task)
{
    rota__deck *deck = rota__fj_deck();
    rota_fj **top = rota__load_relaxed(&deck->top);

    if (top <= rota__load_relaxed(&deck->floor)
        || rota__load_relaxed((rota__atomic(rota_fj *) *)(void *)(top - 1)) != task)
        return false;
    rota__store_relaxed(&deck->top, top - 1);
    rota__compiler_barrier();
    if (top > rota__load_relaxed(&deck->floor)
        && rota__load_relaxed(rota__fj_word(task, FJ_STATE)) == FJ_FORKED)
        return true;
    rota__store_relaxed(&deck->top, top);
    return false;
}

int rota__join_odd(rota_fj *task)
{
    rota__store_release(rota__fj_word(task, FJ_RUNNER), ROTA__FJ_RAN);
    return rota__fj_status(task);
}

/* Runs what lies above it in the own deque, and it: FJT-21. True: it was there. */
static bool join_here(rota__fj_worker *worker, const rota_fj *task)
{
    rota_fj *newest;

    while (!rota__fj_is_done(task) && (newest = rota__deque_pop(&worker->deque)) != NULL) {
        rota__fj_answer(worker);
        rota__fj_run_entry(worker, newest, true);
    }
    if (rota__fj_is_done(task))
        return true;
    rota__fj_answer(worker); /* the deque has become empty */
    return false;
}

int rota__join_slow(rota_fj *task)
{
    rota__fj_worker *worker = rota__fj_me();

    if (task == NULL || task->run == NULL)
        return ROTA_EINVAL;
    if (!rota__fj_is_done(task) && rota__fj_is_fresh(task))
        rota__fj_run_own(task);
    if (rota__fj_is_done(task))
        return rota__fj_status(task);
    if (worker == NULL)
        rota__fj_join_outside(task);
    else if (!join_here(worker, task))
        rota__fj_join_stolen(worker, task);
    return rota__fj_status(task);
}

int rota_join(rota_fj *task)
{
    if (!take_back(task))
        return rota__join_slow(task);
    task->run(task);
    return rota__join_odd(task);
}

bool rota__unfork_slow(rota_fj *task)
{
    rota__fj_worker *worker = rota__fj_me();
    rota_fj *newest;

    if (task == NULL || worker == NULL
        || (rota__fj_state(task) & ~(uintptr_t)FJ_COUNTED) != FJ_FORKED)
        return false;
    newest = rota__deque_pop(&worker->deque);
    if (newest != NULL && newest != entry_of(task))
        rota__deque_push(&worker->deque, newest); /* where it has just been */
    rota__fj_answer(worker);
    if (newest != entry_of(task))
        return false;
    if (rota__is_counted(task))
        rota__completer_unfork(task);
    else
        rota__store_relaxed(rota__fj_word(task, FJ_STATE), 0); /* fj.J5 */
    return true;
}

bool rota_unfork(rota_fj *task)
{
    if (!take_back(task))
        return rota__unfork_slow(task);
    rota__store_relaxed(rota__fj_word(task, FJ_STATE), 0); /* fj.J5 */
    return true;
}

/* -- Several -------------------------------------------------------------- */

int rota_invoke_many(rota_fj *const *tasks, size_t n)
{
    int first = ROTA_OK;

    for (size_t i = 0; i < n; i++) {
        if (tasks == NULL || tasks[i] == NULL || tasks[i]->run == NULL)
            return ROTA_EINVAL;
    }
    for (size_t i = n; i-- > 1;) /* mutants: a fork of the first is joined, too */
        rota_fork(tasks[i]);
    for (size_t i = 0; i < n; i++) { /* the first was not forked: it runs here */
        int status = rota_join(tasks[i]);
        if (first == ROTA_OK)
            first = status;
    }
    return first;
}

int rota_invoke_both(rota_fj *a, rota_fj *b)
{
    rota_fj *both[] = {a, b};

    return rota_invoke_many(both, 2);
}
