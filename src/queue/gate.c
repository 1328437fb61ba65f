/* SPDX-License-Identifier: MIT */
#include "queue/gate.h"

#include "base/check.h"
#include "base/time.h"

void rota__gate_init(rota__gate *gate, const rota__gate_kind *kind, rota__mutex *lock, void *queue,
                     bool oldest_first)
{
    gate->kind = kind;
    gate->lock = lock;
    gate->queue = queue;
    gate->leader = NULL;
    rota__store_relaxed(&gate->count, 0);
    gate->oldest_first = oldest_first;
    gate->rounds = 0;
    gate->patience = (rota__patience){0};
    gate->may_spin = rota__patience_now(&gate->patience) > 0; /* mutants: only whether it spins */
    rota__list_init(&gate->line);
}

static rota__guest *guest_of(rota__link *link)
{
    return ROTA__CONTAINER(link, rota__guest, link);
}

/* -- The line ------------------------------------------------------------- */

/* After a wait: did it spin in vain? */
static void learn(rota__gate *gate, const rota__guest *guest)
{
    if (guest->spun > 0)
        rota__patience_learn(&gate->patience, guest->spun, rota__load_relaxed(&guest->spins));
}

static void take_out(rota__gate *gate, rota__guest *guest, rota__guest_state state)
{
    ROTA__ASSERT(guest->state == ROTA__IN_LINE);
    rota__list_remove(&guest->link);
    rota__store_relaxed(&gate->count, rota__gate_in_line(gate) - 1);
    guest->state = state; /* gate.G3 */
    learn(gate, guest);
}

/* The newest goes first, unless the one before it still spins and would be served at once. */
static void get_in_line(rota__gate *gate, rota__guest *guest, rota_ns deadline)
{
    rota__link *first = rota__list_first(&gate->line);
    bool is_next = gate->oldest_first
                       ? first == NULL
                       : first == NULL || !rota__load_relaxed(&guest_of(first)->spins);

    guest->spun = is_next && gate->may_spin ? rota__patience_now(&gate->patience) : 0;
    rota__store_relaxed(&guest->spins, guest->spun > 0);
    rota__link_init(&guest->link);
    if (gate->oldest_first)
        rota__list_append(&gate->line, &guest->link);
    else if (is_next)
        rota__list_prepend(&gate->line, &guest->link);
    else
        rota__list_insert_after(first, &guest->link);
    rota__store_relaxed(&gate->count, rota__gate_in_line(gate) + 1);
    guest->state = ROTA__IN_LINE;
    guest->until = deadline;
}

static rota__guest *call_next(rota__gate *gate)
{
    rota__link *first = rota__list_first(&gate->line);

    if (first == NULL)
        return NULL;
    gate->leader = guest_of(first);
    take_out(gate, gate->leader, ROTA__CALLED); /* gate.G1 */
    return gate->leader;
}

rota__guest *rota__gate_serve(rota__gate *gate)
{
    rota__link *first = rota__list_first(&gate->line);

    if (first == NULL)
        return NULL;
    take_out(gate, guest_of(first), ROTA__SERVED);
    return guest_of(first);
}

void rota__gate_send_away(rota__gate *gate)
{
    rota__guest *guests = NULL;

    gate->rounds++;
    for (rota__link *first; (first = rota__list_first(&gate->line)) != NULL;) {
        rota__guest *guest = guest_of(first);
        take_out(gate, guest, ROTA__SENT_AWAY);
        guest->element = guests; /* a list of those to wake; what it brings, its caller knows */
        guests = guest;
    }
    rota__mutex_unlock(gate->lock);
    while (guests != NULL) {
        rota__guest *guest = guests;
        guests = guest->element;
        rota__gate_wake(guest);
    }
}

size_t rota__gate_waiting(const rota__gate *gate, size_t at_hand)
{
    size_t guests = rota__gate_in_line(gate);

    if (gate->leader != NULL && !gate->leader->has_taken)
        guests++;
    return guests > at_hand ? guests - at_hand : 0; /* QUEUE-37; mutants: 0 if equal */
}

/* -- The leader ----------------------------------------------------------- */

ROTA__NOINLINE rota__guest *rota__gate_call_slow(rota__gate *gate)
{
    rota__guest *leader = gate->leader;

    if (leader == NULL)
        return call_next(gate);
    if (leader->state != ROTA__WAITS_AHEAD || gate->kind->opens(gate) >= leader->until)
        return NULL;
    leader->state = ROTA__CALLED; /* for an earlier time: gate.G1 */
    return leader;
}

static void lead_until(rota__gate *gate, rota__guest *guest, rota_ns time)
{
    gate->leader = guest; /* gate.G1 */
    guest->state = ROTA__WAITS_AHEAD;
    guest->until = time;
    guest->spun = 0;
}

static void resign(rota__gate *gate, rota__guest *guest)
{
    if (gate->leader == guest)
        gate->leader = NULL;
    guest->state = ROTA__OUT;
}

/* gate.G2 */
static rota__guest *call_successor(rota__gate *gate)
{
    if (gate->leader != NULL || gate->kind->opens(gate) == ROTA_FOREVER)
        return NULL;
    return call_next(gate);
}

void rota__gate_leave(rota__gate *gate, rota__guest *guest)
{
    if (guest->state != ROTA__CALLED)
        return;
    rota__mutex_lock(gate->lock);
    resign(gate, guest);
    rota__guest *next = call_successor(gate); /* gate.G2a */
    rota__mutex_unlock(gate->lock);           /* the last touch: gate.G5 */
    rota__gate_wake(next);
}

/* -- Waiting -------------------------------------------------------------- */

bool rota__gate_glance(const rota__gate *gate)
{
    enum { LONGEST_PAUSE = 16 };

    if (!gate->may_spin || gate->kind->seems_open == NULL)
        return false;
    for (int pauses = 1; pauses <= LONGEST_PAUSE; pauses *= 2) {
        if (gate->kind->seems_open(gate))
            return true;
        for (int pause = 0; pause < pauses; pause++)
            rota__cpu_relax();
    }
    return gate->kind->seems_open(gate);
}

/* With the lock held. Who finds the gate open and others in line is on its way as if called:
   gate.G1. */
static bool walks_in(rota__gate *gate, rota__guest *guest, rota_ns opens)
{
    if (opens != ROTA__OPEN && !rota__has_passed(opens))
        return false;
    if (gate->leader == NULL && rota__gate_in_line(gate) > 0)
        gate->leader = guest;
    guest->state = gate->leader == guest ? ROTA__CALLED : ROTA__OUT;
    return true;
}

/* With the lock held. */
static int take_place(rota__gate *gate, rota__guest *guest, rota_ns opens, rota_ns deadline)
{
    int status;

    if (rota__take_interrupt(rota__self())) /* before the time: INT-04 */
        return ROTA_EINTERRUPTED;
    if (rota__has_passed(deadline))
        return ROTA_ETIMEDOUT;
    if (guest->round != ROTA__ANY_ROUND && guest->round != gate->rounds) /* gate.G6 */
        return ROTA_EAGAIN;
    status = rota__waiter_init(&guest->waiter);
    if (status != ROTA_OK)
        return status;
    if (gate->leader == NULL && opens != ROTA_FOREVER && opens <= deadline)
        lead_until(gate, guest, opens);
    else
        get_in_line(gate, guest, deadline);
    return ROTA_OK;
}

static bool sleep_in_place(rota__guest *guest)
{
    if (guest->spun > 0) { /* mutants: only whether it spins */
        if (rota__waiter_spin(&guest->waiter, guest->spun))
            return true;
        rota__store_relaxed(&guest->spins, false); /* mutants: only a needless wake */
    }
    return rota__waiter_wait(&guest->waiter, guest->until) == ROTA_OK;
}

/* With the lock held, after a sleep that nobody ended. False: somebody did, just now. */
static bool step_out(rota__gate *gate, rota__guest *guest)
{
    if (guest->state != ROTA__IN_LINE && guest->state != ROTA__WAITS_AHEAD) /* gate.G4a */
        return false;
    if (guest->state == ROTA__IN_LINE)
        take_out(gate, guest, ROTA__OUT);
    resign(gate, guest); /* mutants: the caller resigns again */
    rota__waiter_withdraw(&guest->waiter);
    return true;
}

/* Unlocks. */
static int give_up(rota__gate *gate, int status)
{
    rota__guest *next = call_successor(gate); /* gate.G2b */

    rota__mutex_unlock(gate->lock);
    rota__gate_wake(next);
    return status;
}

int rota__gate_wait(rota__gate *gate, rota__guest *guest, rota_ns deadline)
{
    rota__mutex_lock(gate->lock);
    for (;;) {
        rota_ns opens =
            ROTA__BUG(gate.G1a, gate->kind->opens(gate),
                      guest->state == ROTA__OUT ? ROTA_FOREVER : gate->kind->opens(gate));
        if (walks_in(gate, guest, opens))
            break;
        resign(gate, guest);
        int status = take_place(gate, guest, opens, deadline);
        if (status != ROTA_OK)
            return give_up(gate, status);
        rota__mutex_unlock(gate->lock);
        if (sleep_in_place(guest))
            return guest->state == ROTA__SENT_AWAY ? ROTA_EAGAIN : ROTA_OK;
        rota__mutex_lock(gate->lock);
        if (!step_out(gate, guest)) {
            rota__mutex_unlock(gate->lock);
            rota__waiter_wait_only(&guest->waiter); /* gate.G3, gate.G4 */
            return guest->state == ROTA__SENT_AWAY ? ROTA_EAGAIN : ROTA_OK;
        }
    }
    rota__mutex_unlock(gate->lock);
    return ROTA_OK;
}
