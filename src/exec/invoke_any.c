/* SPDX-License-Identifier: MIT */
/*
 * invoke_any.c - many calls for one result: the first that succeeds.
 *
 * The caller submits one call after the other while none is done. Each
 * future, when it is done, puts its entry on a stack and unparks the caller,
 * which looks at what came in the order in which it came.
 *
 *   invoke_any.Y1  An entry is on the stack at most once, put there by its future's action; the
 *                  caller alone takes entries off, all at a time.
 *   invoke_any.Y2  The caller is one reference to the race's memory, each action that was added
 *                  another. An action may still be at work when the caller returns.
 *   invoke_any.Y3  The caller's thread is held as long as that memory is there.
 */
#include "exec/exec_internal.h"

#include "base/alloc.h"
#include "base/time.h"

typedef struct entry {
    rota__action action;
    struct race *race;
    rota_future *future;
    struct entry *next; /* on the stack, then in the caller's list */
} entry;

struct race {
    rota_thread *caller;
    rota__atomic(entry *) ended;       /* invoke_any.Y1 */
    rota__atomic(uint32_t) references; /* invoke_any.Y2 */
    size_t bytes;

    /* The rest is the caller's alone. */
    rota_executor *ex;
    rota_ns deadline;
    size_t n;
    size_t submitted;
    size_t under_way;    /* submitted, and not yet seen to be done */
    entry *seen;         /* taken off the stack, oldest first */
    rota_future *winner; /* or the last that failed, or NULL */
    entry entries[];
};

/* -- Memory --------------------------------------------------------------- */

static void race_unref(struct race *race)
{
    if (rota__sub_acq_rel(&race->references, 1) != 1)
        return;
    rota_thread *caller = race->caller;
    rota__free(race, race->bytes);
    rota__thread_release(caller); /* invoke_any.Y3 */
}

/* No task was submitted: as if there had been none. */
static void unmake(struct race *race)
{
    for (size_t i = 0; i < race->n; i++) {
        rota__future_refuse(race->entries[i].future);
        rota_future_unref(race->entries[i].future);
    }
    race_unref(race);
}

static struct race *race_alloc(size_t n)
{
    rota_thread *self = rota__self();
    size_t bytes;

    if (!self->watched || __builtin_mul_overflow(n, sizeof(entry), &bytes)
        || __builtin_add_overflow(bytes, sizeof(struct race), &bytes))
        return NULL;
    struct race *made = rota__alloc(bytes);
    if (made == NULL)
        return NULL;
    *made = (struct race){.caller = self, .bytes = bytes};
    rota__store_relaxed(&made->ended, NULL);
    rota__store_relaxed(&made->references, 1);
    rota__thread_hold(self);
    return made;
}

static struct race *race_new(const rota_call *calls, size_t n)
{
    struct race *made = race_alloc(n);

    if (made == NULL)
        return NULL;
    for (made->n = 0; made->n < n; made->n++) {
        rota_future *future = rota__future_new(&calls[made->n], true, sizeof *future);
        if (future == NULL) {
            unmake(made);
            return NULL;
        }
        made->entries[made->n] = (entry){.race = made, .future = future};
    }
    return made;
}

/* -- Entries come in ------------------------------------------------------ */

static void entry_ended(rota__action *action, rota__action_queue *more)
{
    entry *self = ROTA__CONTAINER(action, entry, action);
    struct race *race = self->race;

    (void)more;
    self->next = rota__load_relaxed(&race->ended);
    while (!rota__cas_acq_rel(&race->ended, &self->next, self)) /* invoke_any.Y1; for next_ended */
        continue;
    rota__unpark(race->caller); /* invoke_any.Y3a: held by this reference */
    race_unref(race);
}

/* The oldest that has not been looked at, or NULL. */
static entry *next_ended(struct race *race)
{
    if (race->seen == NULL) {
        entry *newest = rota__swap_acquire(&race->ended, NULL); /* invoke_any.Y1 */
        while (newest != NULL) {
            entry *older = newest->next;
            newest->next = race->seen;
            race->seen = newest;
            newest = older;
        }
    }
    entry *first = race->seen;
    if (first != NULL)
        race->seen = first->next;
    return first;
}

/* EXEC-18: runs one that is in the queue of the caller's own pool, if there is one. */
static bool help(struct race *race)
{
    const rota__helper *helper = race->caller->helper;
    bool has_run = false;
    rota_ns ready_at;

    for (size_t i = 0; helper != NULL && i < race->n && !has_run; i++) {
        rota_future *future = race->entries[i].future;
        has_run = rota__future_help(future, helper, &ready_at);
    }
    return has_run;
}

static bool has_ended_entry(void *race)
{
    return rota__load_acquire(&((struct race *)race)->ended) != NULL; /* pairs with entry_ended */
}

static int wait_for_entry(struct race *race)
{
    const rota__helper *helper = race->caller->helper;
    bool has_hooks = helper != NULL && helper->wait_begins != NULL;

    if (!rota__has_passed(race->deadline) && help(race))
        return ROTA_OK;
    if (has_hooks)
        helper->wait_begins(helper); /* another worker may take its place */
    int status = rota__park_until(race->caller, has_ended_entry, race, race->deadline);
    if (has_hooks)
        helper->wait_ends(helper);
    if (status == ROTA_EINTERRUPTED)
        rota__take_interrupt(race->caller);
    return status;
}

/* -- The race ------------------------------------------------------------- */

static int submit_next(struct race *race)
{
    entry *next = &race->entries[race->submitted];

    next->action.run = entry_ended;
    rota__add_relaxed(&race->references, 1); /* invoke_any.Y2 */
    rota__future_add(next->future, &next->action);
    int status = rota__submit(race->ex, &next->future->task, ROTA__AT_ONCE);
    if (status != ROTA_OK)
        return rota__late_status(status, race->submitted);
    race->submitted++;
    race->under_way++;
    return ROTA_OK;
}

/* Submits the next call, or waits. Called after all calls that are done have been looked at. */
static int go_on(struct race *race)
{
    if (race->submitted == race->n)
        return wait_for_entry(race);
    if (race->submitted > 0 && rota__has_passed(race->deadline))
        return ROTA_ETIMEDOUT;
    return submit_next(race);
}

/* ROTA_OK, ROTA_EFAILED: it is race->winner. */
static int run_race(struct race *race)
{
    int status = ROTA_OK;

    while (status == ROTA_OK) {
        entry *ended = next_ended(race);
        if (ended == NULL && race->submitted == race->n && race->under_way == 0)
            return race->winner != NULL ? ROTA_EFAILED : ROTA_ECANCELED;
        if (ended == NULL) {
            status = go_on(race);
            continue;
        }
        race->under_way--;
        rota_future_state state = rota_future_state_of(ended->future);
        if (state != ROTA_FUTURE_CANCELED)
            race->winner = ended->future;
        if (state == ROTA_FUTURE_SUCCEEDED)
            return ROTA_OK;
    }
    race->winner = NULL;
    return status;
}

/* Cancels and releases all futures but the winner. */
static void end_race(struct race *race)
{
    for (size_t i = 0; i < race->n; i++) {
        rota_future *future = race->entries[i].future;
        if (i < race->submitted)
            rota_future_cancel_now(future); /* without effect on the winner, which is done */
        else
            rota_task_discard(&future->task);
    }
    for (size_t i = 0; i < race->n; i++) {
        if (race->entries[i].future != race->winner)
            rota_future_unref(race->entries[i].future);
    }
    race_unref(race);
}

int rota_invoke_any(rota_executor *ex, const rota_call *calls, size_t n, rota_ns timeout,
                    rota_future **first)
{
    if (ex == NULL || first == NULL || n == 0 || !rota__calls_are_valid(calls, n))
        return ROTA_EINVAL;
    rota_ns deadline = rota__deadline(timeout);
    struct race *race = race_new(calls, n);
    if (race == NULL)
        return ROTA_ENOMEM;
    race->ex = ex;
    race->deadline = deadline;
    int status = run_race(race);
    if (status == ROTA_EINVAL || status == ROTA_ENOMEM) {
        unmake(race);
        return status;
    }
    if (race->winner != NULL)
        *first = race->winner;
    end_race(race);
    return status;
}
