/* SPDX-License-Identifier: MIT */
/*
 * park.pml - one thread waits in a list; it is woken, interrupted, or its time passes
 * (wait.K2, wait.K3, thread.T2, thread.T3).
 *
 *   BUG 1  an unpark that comes before the park is not kept
 *   BUG 2  the thread is not held, and ends while it is being unparked
 *   BUG 3  who interrupts unparks first and sets the flag after that
 *   BUG 4  who was interrupted leaves, though it was woken just then
 */
mtype = { EMPTY, PARKED, NOTIFIED };

mtype permit = EMPTY;
bool asleep;               /* in futex(2), on the permit */
bool interrupted, passed;  /* its flag; its time */
bool woken, in_list;       /* the waiter */
bool may_wake, may_interrupt, may_pass;
bool waiter_lives, thread_lives = true;
byte pins;

inline park()
{
    if
    :: atomic { permit == EMPTY -> permit = PARKED };
       atomic {
           if
           :: permit == PARKED && !passed -> asleep = true
           :: else
           fi
       };
       !asleep
    :: permit != EMPTY
    fi;
    permit = EMPTY
}

inline unpark(was)
{
    assert(thread_lives);
    if
    :: BUG == 1 && permit != PARKED -> skip
    :: else ->
       atomic { was = permit; permit = NOTIFIED };
       if
       :: was == PARKED -> asleep = false
       :: else
       fi
    fi
}

active proctype waiting()
{
    bool is_mine;

    may_wake || may_interrupt || may_pass;
    waiter_lives = true;
    if
    :: BUG != 2 -> pins++
    :: else
    fi;
    in_list = true;
    do
    :: woken -> goto end_wait
    :: else ->
       if
       :: interrupted || passed -> break
       :: else -> park()
       fi
    od;
    atomic { is_mine = in_list; in_list = false }; /* wait.K2 */
    if
    :: is_mine && BUG != 2 -> pins--
    :: is_mine && BUG == 2
    :: !is_mine && BUG != 4 ->
       do
       :: woken -> break
       :: else -> park()
       od
    :: !is_mine && BUG == 4
    fi;
end_wait:
    waiter_lives = false;
    atomic { pins == 0 -> thread_lives = false } /* thread.T3 */
}

active proctype waking()
{
    mtype was;

end_not_at_all:
    may_wake;
    if
    :: atomic { in_list -> in_list = false };
       assert(waiter_lives);
       woken = true; /* wait.K3 */
       unpark(was);
       if
       :: BUG != 2 -> pins--
       :: else
       fi
    :: !thread_lives
    fi
}

/* It knows the thread by a handle, which does not outlive it. */
active proctype interrupting()
{
    mtype was;

end_not_at_all:
    may_interrupt;
    if
    :: atomic { thread_lives -> pins++ };
       if
       :: BUG == 3 -> unpark(was); interrupted = true
       :: else -> interrupted = true; unpark(was) /* thread.T2 */
       fi;
       pins--
    :: !thread_lives
    fi
}

active proctype clock()
{
end_not_at_all:
    may_pass;
    atomic { passed = true; asleep = false }
}

/* What happens at all: anything but nothing. */
active proctype choose()
{
    atomic {
        if :: may_wake = true :: may_interrupt = true :: may_pass = true fi;
        if :: may_wake = true :: skip fi;
        if :: may_interrupt = true :: skip fi;
        if :: may_pass = true :: skip fi
    }
}

/* At rest nobody waits: what happened has ended the wait. */
active proctype rest()
{
    timeout;
    assert(!thread_lives)
}
