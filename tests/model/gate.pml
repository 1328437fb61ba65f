/* SPDX-License-Identifier: MIT */
/*
 * gate.pml - three threads take from a delay queue, one of which may be interrupted, while two elements
 * are inserted, the later one first (gate.G1 to gate.G4: leader and followers). A step in
 * braces is under the queue's lock.
 *
 *   BUG 1  who gives up calls no successor
 *   BUG 2  an element that becomes the first does not call the leader
 *   BUG 3  who was called and interrupted leaves without trying
 *   BUG 4  who has taken an element calls no successor
 */
#define TAKERS  3
#define NOBODY  TAKERS
#define FOREVER 3

mtype = { OUT, IN_LINE, WAITS_AHEAD, CALLED };

byte now;                  /* 0, 1, 2 */
bool has[3];               /* has[t]: the element that comes due at t */
mtype state[TAKERS] = OUT;
byte until[TAKERS];
bool woken[TAKERS];
bool interrupted[TAKERS];
byte leader = NOBODY;
byte taken;

#define OPENS      (has[1] -> 1 : (has[2] -> 2 : FOREVER))
#define IS_WAITING (state[0] == IN_LINE || state[1] == IN_LINE || state[2] == IN_LINE)

/* Under the lock: the next in line leads; it is woken when the lock is free. */
inline call_next(whom)
{
    if
    :: state[0] == IN_LINE -> whom = 0
    :: state[1] == IN_LINE -> whom = 1
    :: state[2] == IN_LINE -> whom = 2
    :: else
    fi;
    if
    :: whom != NOBODY -> leader = whom; state[whom] = CALLED
    :: else
    fi
}

inline call_successor(whom)
{
    if
    :: leader == NOBODY && OPENS != FOREVER -> call_next(whom)
    :: else
    fi
}

inline resign()
{
    if
    :: leader == me -> leader = NOBODY
    :: else
    fi;
    state[me] = OUT
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
    bool has_one, walked_in;

again:
    woken[me] = false;
    atomic { /* waits */
        walked_in = OPENS <= now;
        if
        :: walked_in ->
           if
           :: leader == NOBODY && IS_WAITING -> leader = me
           :: else
           fi;
           state[me] = (leader == me -> CALLED : OUT)
        :: !walked_in && interrupted[me] ->
           resign();
           if
           :: BUG != 1 -> call_successor(next)
           :: else
           fi
        :: else ->
           resign();
           if
           :: leader == NOBODY && OPENS != FOREVER ->
              leader = me; state[me] = WAITS_AHEAD; until[me] = OPENS
           :: else -> state[me] = IN_LINE; until[me] = FOREVER
           fi
        fi
    };
    if
    :: walked_in -> goto try
    :: !walked_in && state[me] == OUT -> wake(next); goto done
    :: else
    fi;
end_waits:
    woken[me] || now >= until[me] || interrupted[me];
    if
    :: woken[me]
    :: else ->
       atomic {
           if
           :: state[me] == IN_LINE || state[me] == WAITS_AHEAD -> resign(); goto again
           :: else
           fi
       };
       if
       :: BUG == 3 && interrupted[me] -> goto done
       :: else
       fi;
       woken[me] /* gate.G4 */
    fi;
try:
    atomic {
        if
        :: OPENS <= now ->
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
       atomic { /* has an element, and leaves */
           if
           :: state[me] == CALLED -> resign(); call_successor(next)
           :: else -> state[me] = OUT
           fi
       };
       wake(next)
    :: has_one && BUG == 4 -> atomic { resign() }
    fi;
done:
    skip
}

inline insert(time)
{
    atomic {
        has[time] = true;
        if
        :: leader == NOBODY -> call_next(next)
        :: leader != NOBODY && state[leader] == WAITS_AHEAD && OPENS < until[leader] && BUG != 2 ->
           next = leader;
           state[leader] = CALLED
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

/* The second moment may be far away: what is due at the first must not wait for it. */
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
    /* Nobody waits while something is due; two take two, a third may go on waiting. */
    assert(OPENS > now || !(IS_WAITING || leader != NOBODY));
    /* Who waits for a time is there, unless somebody else is on his way: gate.G1. */
    assert(OPENS == FOREVER || leader != NOBODY || !IS_WAITING)
}
