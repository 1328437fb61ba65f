/* SPDX-License-Identifier: MIT */
/*
 * gate.h - where threads wait for a queue: for an element, or for room.
 *
 * A gate is guarded by one lock of its queue: the one under which comes what
 * its guests wait for. Guests stand in line. Whoever makes something come calls
 * one, which tries again and then calls the next if there is more; while one is
 * on its way nobody else is called. So n insertions wake n threads, one after
 * the other, and a thread that inserts pays for no wake while one is under way.
 * In a delay queue the same one waits for the time at which the first element
 * comes due, and all others without a time: leader and followers, after Schmidt
 * et al., "Leader/Followers" (2000).
 *
 *   gate.G1  While there is, or will be at a known time, what guests in line wait for, a guest
 *            leads: it was called and is on its way, or it waits for that time; or else one in line
 *            gives up before that time, and then sees to this.
 *   gate.G2  Whoever stops leading, or leaves the line, sees to gate.G1 under the lock.
 *   gate.G3  A guest is taken out of the line once, under the lock, by whoever calls or serves it,
 *            which wakes it after the lock is free, or by itself.
 *   gate.G4  A guest that was called tries once more whatever else has happened to it meanwhile, an
 *            interrupt or the end of its time.
 *   gate.G5  A guest that was served has what it came for, and does not touch the queue again. One
 *            that was called does, and so keeps it from being freed.
 *   gate.G6  A guest that came for one round does not wait in a later one: its submitter looked
 *            around before all were sent away.
 */
#ifndef ROTA_QUEUE_GATE_H
#define ROTA_QUEUE_GATE_H

#include "base/list.h"
#include "base/mutex.h"
#include "base/park.h"

#define ROTA__OPEN      INT64_MIN /* a time that has passed: what is waited for is there */
#define ROTA__ANY_ROUND UINT64_MAX

typedef struct rota__gate rota__gate;
typedef struct rota__guest rota__guest;

typedef struct rota__gate_kind {
    /* With the lock held: when it is there. ROTA_FOREVER: nobody knows. */
    rota_ns (*opens)(const rota__gate *gate);
    /* Without the lock, so perhaps wrong. NULL: to look is not worth while. */
    bool (*seems_open)(const rota__gate *gate);
} rota__gate_kind;

struct rota__gate {
    const rota__gate_kind *kind;
    rota__mutex *lock;
    void *queue;
    rota__list line; /* the first is the next to be called */
    rota__guest *leader;
    rota__atomic(size_t) count; /* in line; written with the lock held */
    bool oldest_first;
    bool may_spin;
    uint64_t rounds;         /* how often all were sent away */
    rota__patience patience; /* of the first in line */
};

typedef enum rota__guest_state {
    ROTA__OUT,
    ROTA__IN_LINE,
    ROTA__WAITS_AHEAD, /* leads, until a time */
    ROTA__CALLED,      /* leads, on its way */
    ROTA__SERVED,      /* has handed its element over, or has been given one: done */
    ROTA__SENT_AWAY    /* must not wait here any more */
} rota__guest_state;

/* A thread that waits, on its stack. */
struct rota__guest {
    rota__link link;
    rota__waiter waiter;
    rota__guest_state state; /* under the lock, or one's own when woken */
    rota_ns until;           /* how long it waits */
    void *element;
    bool has_taken;           /* one out of the queue; under the lock it was taken with */
    uint64_t round;           /* it waits in this one alone; ROTA__ANY_ROUND: in all */
    rota_ns spun;             /* how long it spins at first; 0: not at all */
    rota__atomic(bool) spins; /* still */
};

void rota__gate_init(rota__gate *gate, const rota__gate_kind *kind, rota__mutex *lock, void *queue,
                     bool oldest_first);

/* -- For those who wait, without the lock --------------------------------- */

/* `element` is what it brings, or NULL. */
static inline void rota__guest_init(rota__guest *guest, void *element)
{
    guest->state = ROTA__OUT;
    guest->element = element;
    guest->has_taken = false;
    guest->round = ROTA__ANY_ROUND;
}

/* A few looks, some time apart: true if it seems to be there. Nothing has been touched. */
bool rota__gate_glance(const rota__gate *gate);

/*
 * ROTA_OK: served, or it is time to try. Else ROTA_ETIMEDOUT, ROTA_EINTERRUPTED,
 * which clears the flag, ROTA_ENOMEM or, sent away, ROTA_EAGAIN, and it is out.
 */
int rota__gate_wait(rota__gate *gate, rota__guest *guest, rota_ns deadline);

/* After a try that ends the visit. */
void rota__gate_leave(rota__gate *gate, rota__guest *guest);

/* -- For those who change the queue, with the lock held ------------------- */

rota__guest *rota__gate_call_slow(rota__gate *gate);

static inline size_t rota__gate_in_line(const rota__gate *gate)
{
    return rota__load_relaxed(&gate->count); /* exact with the lock held, else a glance */
}

/* Something came. The guest, if any, must be woken once the lock is free. */
static inline rota__guest *rota__gate_call(rota__gate *gate)
{
    if (ROTA__LIKELY(rota__gate_in_line(gate) == 0 && gate->leader == NULL))
        return NULL;
    return rota__gate_call_slow(gate);
}

/*
 * Sends all in line away, with ROTA_EAGAIN: for a pool whose submitters wait for
 * more than room. Who has looked around before that, and comes to wait in a
 * round that is over, is sent away, too. Unlocks.
 */
void rota__gate_send_away(rota__gate *gate);

/* Takes the next out of the line, if any, to give it an element or to take its own. */
rota__guest *rota__gate_serve(rota__gate *gate);

static inline void rota__gate_wake(rota__guest *guest)
{
    if (ROTA__UNLIKELY(guest != NULL))
        rota__waiter_wake(&guest->waiter);
}

/* How many wait, also one that was called and has not taken anything yet, though not those whom
   elements at hand will serve. */
size_t rota__gate_waiting(const rota__gate *gate, size_t at_hand);

static inline bool rota__gate_is_busy(const rota__gate *gate)
{
    return rota__gate_in_line(gate) > 0 || gate->leader != NULL;
}

#endif
