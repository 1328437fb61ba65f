/* SPDX-License-Identifier: MIT */
/*
 * deck.c - a worker's deque, in two parts: the older is public, the newer private.
 *
 *        0         head        split           top
 *        | stolen   | public    | private       |
 *
 * Slots are numbered; they lie in chunks, each as large as all before it, which
 * never move. `top` is the owner's. `head` and `split` are one word, `shared`:
 * a thief takes the oldest public task by raising head, the owner gets public
 * ones back by lowering split, and publishes by raising it. So all races meet in
 * one compare-and-swap, and pushing and popping private tasks needs none: after
 * Dijk and van de Pol, "Lace: Non-blocking Split Deque for Work-Stealing" (2014).
 *
 *   deck.Q1  A slot below head belongs to the thief that raised head past it until the thief has
 *            cleared it. A thief looks into a slot only after that.
 *   deck.Q2  A slot in [head, split) holds a task that anybody may take; it was written before
 *            split was raised past it.
 *   deck.Q3  A slot in [split, top) is the owner's alone.
 *   deck.Q4  The owner lowers top, and with it head and split, past stolen slots only if they are
 *            clear, when nothing else is left.
 *   deck.Q5  `limit` and `floor` decide whether the owner takes the short way, which looks at
 *            nothing else: a push below limit, a pop above floor. Whoever wants to be heard
 *            (rota__deque_request) puts them out of reach, as does a top that moves to another
 *            chunk: both are places in the chunk of top. On the short way a pop stores top before
 *            it looks at floor.
 *   deck.Q6  On the long way `visits` is odd. Who moves split in the owner's place sets FORCED,
 *            then makes every thread pass a barrier, and then knows by an even `visits` that has
 *            not changed that top stands still: the owner is not on the long way, and cannot be on
 *            the short one (deck.Q5). The owner's next visit begins with a look at FORCED, which it
 *            takes away.
 */
#include "forkjoin/forkjoin_internal.h"

#include "base/alloc.h"
#include "base/check.h"

#define NEVER ((rota_fj **)0)           /* a limit that nothing is below, */
#define ABOVE ((rota_fj **)UINTPTR_MAX) /* and a floor that nothing is above */

static uint32_t head_in(uint64_t shared)
{
    return (uint32_t)shared;
}

/* Beside split: somebody is about to move that in the owner's place. */
#define FORCED (UINT64_C(1) << 63)

static uint32_t split_in(uint64_t shared)
{
    return (uint32_t)((shared & ~FORCED) >> 32);
}

static uint64_t pair(uint32_t head, uint32_t split)
{
    return split * (UINT64_C(1) << 32) + head;
}

/* -- Slots ---------------------------------------------------------------- */

static uint32_t chunk_start(uint32_t chunk)
{
    return chunk == 0 ? 0 : (uint32_t)FJ_FIRST_CHUNK << (chunk - 1);
}

static uint32_t chunk_length(uint32_t chunk)
{
    return chunk == 0 ? FJ_FIRST_CHUNK : chunk_start(chunk);
}

static uint32_t chunk_of(uint32_t number)
{
    uint32_t rest = number / FJ_FIRST_CHUNK;

    return rest == 0 ? 0 : 32 - (uint32_t)__builtin_clz(rest);
}

static rota_fj **slot(const rota__deque *deque, uint32_t number)
{
    uint32_t chunk = chunk_of(number);

    return rota__load_relaxed(&deque->chunks[chunk]) + (number - chunk_start(chunk));
}

static rota__atomic(rota_fj *) * slot_word(const rota__deque *deque, uint32_t number)
{
    return (rota__atomic(rota_fj *) *)(void *)slot(deque, number);
}

static uint32_t top_number(const rota__deque *deque)
{
    uint32_t chunk = rota__load_relaxed(&deque->chunk);
    rota_fj **top = rota__load_acquire(&deque->deck.top); /* pairs with a push: its slot */

    return chunk_start(chunk) + (uint32_t)(top - rota__load_relaxed(&deque->chunks[chunk]));
}

/* Also if that is the end of its chunk, which it is then not in. */
static void set_top(rota__deque *deque, uint32_t number, uint32_t chunk)
{
    rota_fj **start = rota__load_relaxed(&deque->chunks[chunk]);

    if (rota__load_relaxed(&deque->chunk) != chunk)
        rota__deque_request(deque); /* deck.Q5a */
    rota__store_relaxed(&deque->chunk, chunk);
    rota__store_relaxed(&deque->deck.top, start + (number - chunk_start(chunk)));
}

/* -- The owner's end ------------------------------------------------------ */

/* deck.Q6 */
static void begin_visit(rota__deque *deque)
{
    uint64_t shared;

    rota__store_relaxed(&deque->visits, rota__load_relaxed(&deque->visits) + 1);
    rota__compiler_barrier(); /* the rest is the forcer's barrier */
    shared = rota__load_relaxed(&deque->shared);
    while (ROTA__UNLIKELY(shared & FORCED)) {
        if (rota__cas_acq_rel(&deque->shared, &shared, shared & ~FORCED))
            break;
    }
}

static void end_visit(rota__deque *deque)
{
    rota__store_release(&deque->visits, rota__load_relaxed(&deque->visits) + 1);
}

static bool has_room(rota__deque *deque, uint32_t number)
{
    uint32_t chunk = chunk_of(number);

    if (chunk >= FJ_CHUNKS)
        return false;
    if (rota__load_relaxed(&deque->chunks[chunk]) == NULL)
        rota__store_relaxed(&deque->chunks[chunk],
                            rota__alloc_array(chunk_length(chunk), sizeof(rota_fj *)));
    return rota__load_relaxed(&deque->chunks[chunk]) != NULL;
}

bool rota__deque_push(rota__deque *deque, rota_fj *entry)
{
    uint32_t number = top_number(deque);
    bool has_place = has_room(deque, number);

    begin_visit(deque);
    if (has_place) {
        rota__store_relaxed(slot_word(deque, number), entry); /* for rota__deque_peek */
        set_top(deque, number + 1, chunk_of(number));
    }
    end_visit(deque);
    return has_place;
}

/* deck.Q4: it is empty. */
static void lower_top(rota__deque *deque, uint32_t head)
{
    uint32_t number = head;

    while (number > 0 && rota__load_acquire(slot_word(deque, number - 1)) == NULL) /* deck.Q1b */
        number--;
    if (number == head)
        return;
    /* Thieves find nothing to take before and after: nobody else changes it. */
    rota__store_release(&deque->shared, pair(number, number));
    set_top(deque, number, number == 0 ? 0 : chunk_of(number - 1));
}

/* Gets the newer half of what is public back. False: a thief was quicker. */
static bool reclaim(rota__deque *deque, uint64_t *shared, uint32_t top)
{
    uint32_t head = head_in(*shared);
    uint64_t less = pair(head, head + (top - head) / 2);

    if (!rota__cas_acq_rel(&deque->shared, shared, less)) /* pairs with the thieves' */
        return false;
    *shared = less;
    return true; /* mutants: the caller tries once more */
}

static rota_fj *pop(rota__deque *deque)
{
    uint64_t shared = rota__load_acquire(&deque->shared);
    uint32_t top = top_number(deque);

    while (top > head_in(shared)) {
        if (top - 1 < split_in(shared) && !reclaim(deque, &shared, top))
            continue;
        set_top(deque, top - 1, chunk_of(top - 1)); /* deck.Q3 */
        return rota__load_relaxed(slot_word(deque, top - 1));
    }
    lower_top(deque, top);
    return NULL;
}

rota_fj *rota__deque_pop(rota__deque *deque)
{
    rota_fj *newest;

    begin_visit(deque);
    newest = pop(deque);
    end_visit(deque);
    return newest;
}

/* deck.Q5 */
static void set_bounds(rota__deque *deque)
{
    uint32_t split = split_in(rota__load_relaxed(&deque->shared));
    uint32_t chunk = rota__load_relaxed(&deque->chunk);
    rota_fj **start = rota__load_relaxed(&deque->chunks[chunk]);
    uint32_t first = chunk_start(chunk);

    rota__store_relaxed(&deque->deck.limit, start + chunk_length(chunk));
    rota__store_relaxed(&deque->deck.floor, start + (split > first ? split - first : 0));
}

void rota__deque_close(rota__deque *deque)
{
    begin_visit(deque);
    set_bounds(deque);
    end_visit(deque);
}

/* deck.Q2; with FORCED taken away. True: there is more now. */
static bool raise_split(rota__deque *deque, uint64_t shared, uint32_t top)
{
    while (split_in(shared) < top) {
        if (rota__cas_acq_rel(&deque->shared, &shared, pair(head_in(shared), top))) /* deck.Q2a */
            return true;
    }
    return false;
}

void rota__deque_open(rota__deque *deque)
{
    begin_visit(deque);
    rota__deque_request(deque);
    raise_split(deque, rota__load_relaxed(&deque->shared), top_number(deque));
    end_visit(deque);
}

bool rota__deque_publish(rota__deque *deque)
{
    bool has_some;

    begin_visit(deque);
    raise_split(deque, rota__load_relaxed(&deque->shared), top_number(deque));
    has_some = rota__deque_has_public(deque);
    if (has_some)
        set_bounds(deque);
    else
        rota__deque_request(deque);
    end_visit(deque);
    return has_some;
}

/* -- The thieves' end ----------------------------------------------------- */

rota_fj *rota__deque_steal(rota__deque *deque)
{
    uint64_t shared = rota__load_acquire(&deque->shared); /* pairs with open: deck.Q2 */
    uint32_t head;
    rota_fj *entry;

    do {
        head = head_in(shared);
        if (head >= split_in(shared))
            return NULL;
        entry = ROTA__BUG(deck.Q1a, NULL, *slot(deque, head));
    } while (!rota__cas_acq_rel(&deque->shared, &shared, shared + 1)); /* head, and no more */
    entry = ROTA__BUG(deck.Q1a, *slot(deque, head), entry);
    rota__store_release(slot_word(deque, head), NULL); /* pairs with lower_top */
    return entry;
}

bool rota__deque_has_public(const rota__deque *deque)
{
    uint64_t shared = rota__load_acquire(&deque->shared);

    return head_in(shared) < split_in(shared);
}

const rota_fj *rota__deque_peek(const rota__deque *deque)
{
    uint64_t shared = rota__load_acquire(&deque->shared);

    if (head_in(shared) >= split_in(shared))
        return NULL;
    return rota__load_relaxed(slot_word(deque, head_in(shared)));
}

bool rota__deque_has_private(const rota__deque *deque)
{
    /* mutants: only a needless wake */
    return rota__deque_size(deque) > 0 && !rota__deque_has_public(deque);
}

/* With FORCED set: false if the owner was here. */
static bool force(rota__deque *deque, uint32_t visits)
{
    uint64_t shared;
    uint32_t top;

    /* The barrier (deck.Q6a) comes before the look at `visits` (deck.Q6b). */
    if (!rota__os_membarrier() || rota__load_acquire(&deque->visits) != visits)
        return false;
    top = top_number(deque);
    shared = rota__load_acquire(&deque->shared);
    while (shared & FORCED) {
        uint32_t split = split_in(shared) < top ? top : split_in(shared);
        if (rota__cas_acq_rel(&deque->shared, &shared, pair(head_in(shared), split)))
            return split_in(shared) < top;
    }
    return false;
}

static void stop_forcing(rota__deque *deque)
{
    uint64_t shared = rota__load_relaxed(&deque->shared);

    while (shared & FORCED) {
        if (rota__cas_acq_rel(&deque->shared, &shared, shared & ~FORCED))
            break;
    }
}

bool rota__deque_force(rota__deque *deque)
{
    uint32_t visits = rota__load_acquire(&deque->visits); /* pairs with end_visit */
    uint64_t shared = rota__load_acquire(&deque->shared);
    bool has_more;

    if (visits % 2 != 0 || shared & FORCED)
        return false;
    if (!rota__cas_acq_rel(&deque->shared, &shared, shared | FORCED)) /* deck.Q6 */
        return false; /* GCOVR_EXCL_LINE: the owner changed it just now */
    rota__deque_request(deque);
    has_more = force(deque, visits);
    stop_forcing(deque);
    return has_more;
}

void rota__deque_request(rota__deque *deque)
{
    if (rota__load_relaxed(&deque->deck.limit) == NEVER
        && rota__load_relaxed(&deque->deck.floor) == ABOVE)
        return; /* not to touch its cache line without need */
    rota__store_relaxed(&deque->deck.limit, NEVER);
    rota__store_relaxed(&deque->deck.floor, ABOVE);
}

size_t rota__deque_size(const rota__deque *deque)
{
    uint64_t shared = rota__load_relaxed(&deque->shared);
    uint32_t chunk = rota__load_relaxed(&deque->chunk);
    uintptr_t start = (uintptr_t)rota__load_relaxed(&deque->chunks[chunk]);
    uintptr_t place = ((uintptr_t)rota__load_relaxed(&deque->deck.top) - start) / sizeof(rota_fj *);
    uint32_t top = split_in(shared);

    /* Else the owner moves it just now. */
    if (place <= chunk_length(chunk) && chunk_start(chunk) + place > top)
        top = chunk_start(chunk) + (uint32_t)place;
    return top > head_in(shared) ? top - head_in(shared) : 0;
}

/* -- Beginning and end ---------------------------------------------------- */

int rota__deque_init(rota__deque *deque)
{
    *deque = (rota__deque){.apart = {0}}; /* all of it */
    if (!has_room(deque, 0))
        return ROTA_ENOMEM;
    set_top(deque, 0, 0);
    rota__deque_request(deque);
    rota__store_relaxed(&deque->deck.floor, ABOVE);
    return ROTA_OK;
}

void rota__deque_free(rota__deque *deque)
{
    for (uint32_t chunk = 0; chunk < FJ_CHUNKS; chunk++) {
        rota__free(rota__load_relaxed(&deque->chunks[chunk]),
                   chunk_length(chunk) * sizeof(rota_fj *));
    }
}
