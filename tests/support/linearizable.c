/* SPDX-License-Identifier: MIT */
#include "linearizable.h"

#ifdef ROTA_EXPLORE
#include "explore.h"
#endif

#include <stdlib.h>
#include <string.h>

void lin_clear(lin_history *history)
{
    memset(history->operations, 0, sizeof history->operations);
    atomic_store(&history->count, 0);
    atomic_store(&history->time, 0);
}

/* An operation that returns before another is called is ordered before it, in memory, too. */
static uint32_t next_time(lin_history *history)
{
#ifdef ROTA_EXPLORE
    ex_synchronise(); /* the explorer does not see the atomic operation */
#endif
    return atomic_fetch_add(&history->time, 1) + 1;
}

size_t lin_call(lin_history *history, int kind, long argument)
{
    size_t operation = atomic_fetch_add(&history->count, 1);

    if (operation >= LIN_OPERATIONS)
        abort();
    history->operations[operation] = (lin_operation){kind, argument, .called = next_time(history)};
    return operation;
}

void lin_return(lin_history *history, size_t operation, long result)
{
    history->operations[operation].result = result;
    history->operations[operation].returned = next_time(history);
}

/* -- The search ------------------------------------------------------------------------------ */

/* What was reached before: these operations done, in this state, and no way on from there. */
typedef struct dead_end {
    uint32_t done;
    unsigned char state[LIN_STATE];
} dead_end;

enum { DEAD_ENDS = 1024 };

struct search {
    const lin_history *history;
    const lin_model *model;
    dead_end dead_ends[DEAD_ENDS];
    size_t count;
};

static bool is_dead_end(const struct search *search, uint32_t done, const void *state)
{
    for (size_t i = 0; i < search->count; i++) {
        if (search->dead_ends[i].done == done
            && memcmp(search->dead_ends[i].state, state, LIN_STATE) == 0)
            return true;
    }
    return false;
}

static void note_dead_end(struct search *search, uint32_t done, const void *state)
{
    if (search->count == DEAD_ENDS)
        return; /* slower then, not wrong */
    search->dead_ends[search->count].done = done;
    memcpy(search->dead_ends[search->count++].state, state, LIN_STATE);
}

static bool all_returned_are_done(const lin_history *history, uint32_t done)
{
    for (size_t i = 0; i < history->count; i++) {
        if (history->operations[i].returned != 0 && !(done & UINT32_C(1) << i))
            return false;
    }
    return true;
}

/* May it come next: has everything that returned before its call been done? */
static bool may_be_next(const lin_history *history, uint32_t done, size_t next)
{
    if (done & UINT32_C(1) << next)
        return false;
    for (size_t i = 0; i < history->count; i++) {
        const lin_operation *other = &history->operations[i];
        if (!(done & UINT32_C(1) << i) && other->returned != 0
            && other->returned < history->operations[next].called)
            return false;
    }
    return true;
}

/* The depth is the number of operations: at most LIN_OPERATIONS. */
static bool extend(struct search *search, uint32_t done, const void *state)
{
    unsigned char next_state[LIN_STATE];

    if (all_returned_are_done(search->history, done))
        return true;
    if (is_dead_end(search, done, state))
        return false;
    for (size_t i = 0; i < search->history->count; i++) {
        if (!may_be_next(search->history, done, i))
            continue;
        memcpy(next_state, state, LIN_STATE);
        bool fits = search->model->apply(next_state, &search->history->operations[i])
                    || search->history->operations[i].returned == 0;
        if (fits && extend(search, done | UINT32_C(1) << i, next_state))
            return true;
    }
    note_dead_end(search, done, state);
    return false;
}

bool lin_check(const lin_history *history, const lin_model *model)
{
    static struct search search; /* large, and only one thread searches at a time */
    unsigned char state[LIN_STATE] = {0};

    search.history = history;
    search.model = model;
    search.count = 0;
    return extend(&search, 0, state);
}
