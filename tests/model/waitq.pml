/* SPDX-License-Identifier: MIT */
/*
 * waitq.pml - three threads take from a delay queue, one of which may be interrupted, while two elements
 * are inserted, the later one first (waitq.W1 to waitq.W4: leader and followers). A step in
 * braces is under the queue's lock.
 *
 *   BUG 1  a thread that gives up notifies no successor
 *   BUG 2  the insertion of an earlier element does not notify the leader
 *   BUG 3  a thread that was notified and interrupted leaves without trying
 *   BUG 4  a thread that has taken an element notifies no successor
 */
#define TAKERS  3
#define NOBODY  TAKERS
#define FOREVER 3

mtype = { IDLE, QUEUED, LEADING, NOTIFIED };

byte now;                  /* 0, 1, 2 */
bool has[3];               /* has[t]: the element that comes due at t */
mtype state[TAKERS] = IDLE;
byte until[TAKERS];
bool woken[TAKERS];
bool interrupted[TAKERS];
byte leader = NOBODY;
byte taken;

#define READY_AT      (has[1] -> 1 : (has[2] -> 2 : FOREVER))
#define IS_QUEUED (state[0] == QUEUED || state[1] == QUEUED || state[2] == QUEUED)

/* Under the lock: the first entry leads. Its thread is woken after unlocking. */
inline notify_first(whom)
{
    if
    :: state[0] == QUEUED -> whom = 0
    :: state[1] == QUEUED -> whom = 1
    :: state[2] == QUEUED -> whom = 2
    :: else
    fi;
    if
    :: whom != NOBODY -> leader = whom; state[whom] = NOTIFIED
    :: else
    fi
}

inline notify_successor(whom)
{
    if
    :: leader == NOBODY && READY_AT != FOREVER -> notify_first(whom)
    :: else
    fi
}

inline stop_leading()
{
    if
    :: leader == me -> leader = NOBODY
    :: else
    fi;
    state[me] = IDLE
}

inline wake(whom)
{
    if
    :: whom != NOBODY -> woken[whom] = true
    :: else
    fi;
    whom = NOBODY
}

proctype taker(byte me)
{
    byte next = NOBODY;
    bool has_one, retries;

again:
    woken[me] = false;
    atomic { /* waits */
        retries = READY_AT <= now;
        if
        :: retries ->
           if
           :: leader == NOBODY && IS_QUEUED -> leader = me
           :: else
           fi;
           state[me] = (leader == me -> NOTIFIED : IDLE)
        :: !retries && interrupted[me] ->
           stop_leading();
           if
           :: BUG != 1 -> notify_successor(next)
           :: else
           fi
        :: else ->
           stop_leading();
           if
           :: leader == NOBODY && READY_AT != FOREVER ->
              leader = me; state[me] = LEADING; until[me] = READY_AT
           :: else -> state[me] = QUEUED; until[me] = FOREVER
           fi
        fi
    };
    if
    :: retries -> goto try
    :: !retries && state[me] == IDLE -> wake(next); goto done
    :: else
    fi;
end_waits:
    woken[me] || now >= until[me] || interrupted[me];
    if
    :: woken[me]
    :: else ->
       atomic {
           if
           :: state[me] == QUEUED || state[me] == LEADING -> stop_leading(); goto again
           :: else
           fi
       };
       if
       :: BUG == 3 && interrupted[me] -> goto done
       :: else
       fi;
       woken[me] /* waitq.W4 */
    fi;
try:
    atomic {
        if
        :: READY_AT <= now ->
           has_one = true;
           taken++;
           if
           :: has[1] -> has[1] = false
           :: else -> has[2] = false
           fi
        :: else
        fi
    };
    if
    :: !has_one -> goto again
    :: has_one && BUG != 4 ->
       atomic { /* has an element, and is done */
           if
           :: state[me] == NOTIFIED -> stop_leading(); notify_successor(next)
           :: else -> state[me] = IDLE
           fi
       };
       wake(next)
    :: has_one && BUG == 4 -> atomic { stop_leading() }
    fi;
done:
    skip
}

inline insert(time)
{
    atomic {
        has[time] = true;
        if
        :: leader == NOBODY -> notify_first(next)
        :: leader != NOBODY && state[leader] == LEADING && READY_AT < until[leader] && BUG != 2 ->
           next = leader;
           state[leader] = NOTIFIED
        :: else
        fi
    };
    wake(next)
}

active proctype inserter()
{
    byte next = NOBODY;

    insert(2);
    insert(1)
}

/* The second moment may be far away: an element that is due at the first must not wait for it. */
active proctype clock()
{
    now = 1;
    if
    :: now = 2
    :: skip
    fi
}

active proctype interrupter()
{
    if
    :: interrupted[2] = true
    :: skip
    fi
}

init {
    atomic { run taker(0); run taker(1); run taker(2) };
    timeout;
    /* No thread waits while an element is due. Two threads take two elements; a third may go on waiting. */
    assert(READY_AT > now || !(IS_QUEUED || leader != NOBODY));
    /* If threads are queued and an element is left, a thread leads: waitq.W1. */
    assert(READY_AT == FOREVER || leader != NOBODY || !IS_QUEUED)
}
