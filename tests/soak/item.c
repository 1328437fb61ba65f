/* SPDX-License-Identifier: MIT */
/*
 * item.c - what became of one submission: invariants A3 to A5.
 */
#include "soak.h"

#include <sched.h>

_Thread_local bool is_worker;
_Thread_local const struct item *in_question;
static _Thread_local unsigned depth; /* of bodies on this thread's stack */

/* -- The body ----------------------------------------------------------------------------- */

/* A worker may have taken one task each by the time all are stopped; it sees its flag then. */
static void begin_late(struct item *item)
{
    test_check(rota_is_interrupted());
    test_check(atomic_fetch_add(&item->station->late, 1) < item->station->most_threads);
}

/* INT-07, INT-08: the flag is for this task, or for all of them. */
static void check_flag(const struct item *item)
{
    if (!rota_is_interrupted() || atomic_load(&item->is_disturbed))
        return;
    test_check(rota_executor_state_of(item->station->executor) >= ROTA_STOP);
}

static void begin(struct item *item)
{
    test_check(atomic_fetch_add(&item->runs, 1) == atomic_load(&item->ended));
    test_check(item->is_periodic || atomic_load(&item->runs) == 1);
    test_check(atomic_load(&item->discards) == 0);
    if (!is_worker)
        return;
    if (atomic_load(&item->station->is_stopped))
        begin_late(item);
    check_flag(item);
}

static void wait_for(const struct station *station, rota_future *future, test_random *random)
{
    bool has_time = station->kind->helps && !station->is_strict;
    int status = has_time && test_random_below(random, 2) == 0
                     ? rota_future_get(future, NULL)
                     : rota_future_get_timed(future, ROTA_US(20), NULL);

    test_check(status != ROTA_EINVAL && status != ROTA_EDEADLOCK);
}

/* Submits another to its own executor, and waits for it. */
static void nest(const struct item *outer)
{
    test_random random = {outer->seed | 1};
    struct item *inner = depth < DEEPEST_NEST ? station_item(outer->station, &random) : NULL;

    if (inner == NULL || !station_submit(outer->station, inner))
        return;
    rota_future *future = atomic_load(&inner->future);
    if (future != NULL)
        wait_for(outer->station, future, &random);
}

static bool tears(const struct item *item)
{
    return item->what == TEARS && is_worker && depth == 1 && item->station->kind->tears;
}

static void act(struct item *item)
{
    switch ((enum what)item->what) {
    case FAILS:
        rota_fail(CODE);
        break;
    case YIELDS:
        sched_yield();
        break;
    case SLEEPS:
        (void)rota_sleep(ROTA_US(20));
        break;
    case NESTS:
        nest(item);
        break;
    case RETURNS:
    case TEARS:
        break;
    }
}

/* A series that is slower than its period holds up all that is due later (SCHED-12), and others may
   wait for that: so none goes on for ever. */
static void end_series(struct item *item)
{
    rota_future *future = atomic_load(&item->future); /* NULL: who began it has not been told yet */

    if (item->is_periodic && future != NULL && atomic_load(&item->runs) >= LONGEST_SERIES)
        item_cancel(item, future, false);
}

static void *run(void *arg)
{
    struct item *item = arg;

    depth++;
    begin(item);
    act(item);
    end_series(item);
    bool is_torn = tears(item);
    item->is_torn = is_torn;
    atomic_fetch_add(&item->ended, 1); /* from here on it may be settled, and used again */
    if (is_torn)
        pthread_exit(NULL); /* GEN-14 */
    depth--;
    return item;
}

static void discard(void *arg)
{
    struct item *item = arg;

    test_check(atomic_load(&item->runs) == atomic_load(&item->ended));
    test_check(item->is_periodic || atomic_load(&item->runs) == 0);
    if (item == in_question)
        atomic_store(&item->dropped, true);
    test_check(atomic_fetch_add(&item->discards, 1) == 0);
}

static void free_result(void *result)
{
    struct item *item = result;

    unsigned most = atomic_load(&item->runs) + atomic_load(&item->is_claimed);

    test_check(atomic_fetch_add(&item->frees, 1) < most);
}

rota_call item_call(struct item *item)
{
    return (rota_call){.fn = run, .arg = item, .discard = discard, .free_result = free_result};
}

bool item_is_in(const rota_task *task)
{
    return rota_task_call(task)->fn == run;
}

struct item *item_of(const rota_task *task)
{
    return rota_task_call(task)->arg;
}

void item_step(struct item *item)
{
    test_check(atomic_fetch_add(&item->runs, 1) < item->most);
    atomic_fetch_add(&item->ended, 1);
}

void item_cancel(struct item *item, rota_future *future, bool now)
{
    atomic_store(&item->is_disturbed, true);
    if (now ? rota_future_cancel_now(future) : rota_future_cancel(future))
        test_check(!atomic_exchange(&item->is_cancelled, true));
}

/* Its result is then the one that its body would have returned, and is freed like that. */
void item_complete(struct item *item, rota_future *future)
{
    if (atomic_exchange(&item->is_claimed, true))
        return;
    atomic_store(&item->is_disturbed, true);
    if (rota_promise_complete(future, item))
        atomic_store(&item->is_given, true);
}

/* -- What came of it ---------------------------------------------------------------------- */

bool item_is_met(const struct item *item)
{
    if (atomic_load(&item->offer) != ACCEPTED || item->most > 0)
        return true;
    if (atomic_load(&item->discards) == 1 || atomic_load(&item->dropped))
        return true;
    return !item->is_periodic && atomic_load(&item->ended) == 1;
}

static bool fails(const struct item *item)
{
    return item->what == FAILS || item->is_torn;
}

/* A4. A plain task has no discard: it has run, unless all that was left was discarded. */
static void check_meeting(const struct item *item)
{
    unsigned runs = atomic_load(&item->runs);
    unsigned discards = atomic_load(&item->discards);

    test_check(runs == atomic_load(&item->ended));
    if (item->most > 0)
        test_check(runs <= item->most);
    else if (atomic_load(&item->offer) != ACCEPTED)
        test_check(runs + discards == 0);
    else if (item->is_plain)
        test_check(runs == 1 || atomic_load(&item->dropped) || item->station->has_discarded);
    else
        test_check(item->is_periodic ? discards == 1 : runs + discards == 1);
}

static void check_state(const struct item *item, rota_future *future)
{
    rota_future_state state = rota_future_state_of(future);

    if (atomic_load(&item->is_given))
        test_check(state == ROTA_FUTURE_SUCCEEDED);
    else if (state == ROTA_FUTURE_SUCCEEDED)
        test_check(atomic_load(&item->runs) >= 1 && !fails(item));
    if (state == ROTA_FUTURE_FAILED)
        test_check(rota_future_error(future) == (item->is_torn ? ROTA_ECANCELED : CODE));
    if (state == ROTA_FUTURE_FAILED)
        test_check(fails(item));
    if (state == ROTA_FUTURE_CANCELED)
        test_check(atomic_load(&item->discards) == 1 || atomic_load(&item->is_disturbed));
    if (atomic_load(&item->is_cancelled))
        test_check(state == ROTA_FUTURE_CANCELED);
}

/* POOL-32: of a plain task's failure the hook is told, once, wherever the pool has run it. */
static void check_told(const struct item *item)
{
    bool is_pools = atomic_load(&item->turns) > 0 || atomic_load(&item->by_caller);

    if (!item->station->has_hooks)
        return;
    test_check(atomic_load(&item->told) <= 1);
    if (item->is_plain)
        test_check(atomic_load(&item->told) == (fails(item) && is_pools));
}

static bool has_freed(const struct item *item)
{
    unsigned runs = atomic_load(&item->runs);

    if (item->is_plain)
        runs = 0;
    else if (fails(item) && runs > 0)
        runs--;
    return atomic_load(&item->frees) == runs + atomic_load(&item->is_given);
}

static bool is_done(const struct item *item)
{
    return rota_future_is_done(atomic_load(&item->future));
}

/* Where the executor goes on, the thread that had the item last may be about to finish. */
static void await(bool (*condition)(const struct item *item), const struct item *item)
{
    rota_ns deadline = 0;

    while (!condition(item)) {
        if (deadline == 0)
            deadline = rota_now() + PATIENCE;
        if (rota_now() > deadline)
            test_die(__FILE__, __LINE__, "a future is not done, or lives on, or its result does");
        sched_yield();
    }
}

static void count(const struct item *item, struct counts *counts)
{
    unsigned runs = atomic_load(&item->runs);
    bool is_accepted = atomic_load(&item->offer) == ACCEPTED;

    if (item->most > 0) {
        counts->steps += runs;
        return;
    }
    counts->offered++;
    counts->refused += atomic_load(&item->offer) == REFUSED;
    counts->succeeded += runs > 0 && !fails(item);
    counts->failed += runs > 0 && fails(item);
    counts->discarded += runs == 0 && is_accepted;
    counts->cancelled += atomic_load(&item->is_cancelled);
    counts->again += runs > 1 ? runs - 1 : 0;
}

void item_settle(struct item *item, struct counts *counts)
{
    rota_future *future = atomic_load(&item->future);

    check_meeting(item);
    check_told(item);
    if (future != NULL) {
        await(is_done, item);
        check_state(item, future);
        rota_future_unref(future);
    }
    if (item->most == 0)
        await(has_freed, item); /* OWN-06 */
    count(item, counts);
}
