/* SPDX-License-Identifier: MIT */
/*
 * choice.c - all choices of a schedule are made here, so a schedule is what was chosen.
 *
 * The choice 0 is always the quiet one: the running thread goes on, nothing fails. So a schedule is
 * written down by the few choices that were not 0, and a shorter list is a simpler schedule. Where
 * they were made is counted in steps, also those at which there was nothing to choose, so that the
 * list means the same whatever was learned of the scenario (memory.M3).
 *
 *   random  any thread at each step
 *   PCT     threads have priorities, and the running one falls behind at `depth` - 1 random steps.
 *           (Burckhardt et al., "A randomized scheduler with probabilistic guarantees of finding
 *           bugs", ASPLOS 2010)
 *   DFS     all schedules with at most `depth` preemptions (Musuvathi and Qadeer, "Iterative context
 *           bounding", PLDI 2007)
 *   bytes   a fuzzer's
 *   replay  a list of choices
 */
#include "engine.h"

#include <stdlib.h>

enum { CHOICES = 65536 };

static ex_options options;
static const ex_schedule *replayed;
static ex_schedule taken;
static uint32_t count;    /* choices in this schedule */
static uint32_t position; /* of the next: also counts where there was nothing to choose */
static unsigned spent[EX_KINDS];
static uint64_t random_state;

uint32_t choice_count(void)
{
    return count;
}

const ex_schedule *choice_taken(void)
{
    return &taken;
}

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static unsigned below(unsigned n)
{
    return (unsigned)((next_random() >> 32) * n >> 32);
}

/* -- PCT ------------------------------------------------------------------------------------- */

static int priority[EX_THREADS];
static int lowest;
static uint32_t change_at[16];
static uint32_t usual_count = 64; /* choices in a schedule, as seen so far */

static void pct_begin(void)
{
    for (int i = 0; i < EX_THREADS; i++)
        priority[i] = (int)below(1 << 20);
    for (unsigned i = 0; i + 1 < options.depth && i < 16; i++)
        change_at[i] = below(usual_count + 1);
    lowest = 0;
}

static bool is_change(void)
{
    for (unsigned i = 0; i + 1 < options.depth && i < 16; i++) {
        if (change_at[i] == count)
            return true;
    }
    return false;
}

static unsigned pct_thread(const int *ids, unsigned n, unsigned timed, bool stays)
{
    unsigned best = 0;

    if (stays && is_change())
        priority[ids[0]] = --lowest;
    if (timed == 0 || (timed < n && below(16) == 0)) /* time passes now and then */
        return timed + below(n - timed);
    for (unsigned i = 1; i < timed; i++) {
        if (priority[ids[i]] > priority[ids[best]])
            best = i;
    }
    return best;
}

void choice_yielded(int thread)
{
    priority[thread] = --lowest;
}

/* -- DFS ------------------------------------------------------------------------------------- */

static struct {
    uint8_t value;
    uint8_t n;
    bool costs; /* another value than 0 is a preemption */
} path[CHOICES];
static uint32_t path_length; /* of the part that is given */

static unsigned dfs_choose(unsigned n, bool costs)
{
    if (count >= CHOICES)
        return 0;
    if (count >= path_length)
        path[count].value = 0;
    path[count].n = (uint8_t)n;
    path[count].costs = costs;
    return path[count].value;
}

bool choice_next(void)
{
    uint32_t length = count < CHOICES ? count : CHOICES;
    unsigned preemptions = 0;

    for (uint32_t i = 0; i < length; i++)
        preemptions += path[i].costs && path[i].value > 0;
    for (uint32_t i = length; i-- > 0;) {
        bool counted = path[i].costs && path[i].value > 0;
        unsigned before = preemptions - counted;
        preemptions = before;
        if (path[i].value + 1U < path[i].n && before + path[i].costs <= options.depth) {
            path[i].value++;
            path_length = i + 1;
            return true;
        }
    }
    return false;
}

/* -- One choice ------------------------------------------------------------------------------ */

static unsigned given_choice(unsigned n)
{
    static size_t at;

    if (options.strategy == EX_BYTES)
        return count < options.byte_count ? options.bytes[count] % n : 0;
    if (count == 0)
        at = 0;
    while (at < replayed->count && replayed->turns[at].index < position)
        at++;
    if (at == replayed->count || replayed->turns[at].index != position)
        return 0;
    return replayed->turns[at].value < n ? replayed->turns[at].value : 0;
}

static unsigned note(ex_kind kind, unsigned value)
{
    if (value != 0 && taken.count < EX_TURNS)
        taken.turns[taken.count++] = (ex_turn){position, (uint8_t)value, (uint8_t)kind};
    spent[kind] += value != 0;
    count++;
    return value;
}

void choice_tick(void)
{
    position++;
}

bool choice_allows(ex_kind kind)
{
    return options.budget[kind] > 0;
}

bool choice_is_replay(void)
{
    return options.strategy == EX_REPLAY;
}

unsigned choice_make(ex_kind kind, unsigned n)
{
    choice_tick();
    if (n < 2 || (kind != EX_FREE && spent[kind] >= options.budget[kind]))
        return 0;
    switch (options.strategy) {
    case EX_RANDOM:
    case EX_PCT:
        return note(kind, kind == EX_FREE || below(8) == 0 ? below(n) : 0);
    case EX_DFS:
        return note(kind, dfs_choose(n, false));
    case EX_BYTES:
    case EX_REPLAY:
        break;
    }
    return note(kind, given_choice(n));
}

unsigned choice_thread(const int *ids, unsigned n, unsigned timed, bool stays)
{
    if (n < 2)
        return 0;
    switch (options.strategy) {
    case EX_RANDOM:
        if (timed > 0 && timed < n && below(8) != 0)
            n = timed; /* time passes now and then */
        return note(EX_SWITCH, below(n));
    case EX_PCT:
        return note(EX_SWITCH, pct_thread(ids, n, timed, stays));
    case EX_DFS:
        return note(EX_SWITCH, dfs_choose(n, stays));
    case EX_BYTES:
    case EX_REPLAY:
        break;
    }
    return note(EX_SWITCH, given_choice(n));
}

unsigned ex_choose(unsigned n)
{
    return choice_make(EX_FREE, n);
}

/* -- Schedules ------------------------------------------------------------------------------- */

void choice_setup(const ex_options *wanted, const ex_schedule *replay)
{
    options = *wanted;
    replayed = replay;
    random_state = wanted->seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    path_length = 0;
    count = 0;
    usual_count = 64;
}

void choice_begin(void)
{
    if (count > 0)
        usual_count = (usual_count * 7 + count) / 8;
    count = 0;
    position = 0;
    taken.count = 0;
    for (int i = 0; i < EX_KINDS; i++)
        spent[i] = 0;
    if (options.strategy == EX_PCT)
        pct_begin();
}
