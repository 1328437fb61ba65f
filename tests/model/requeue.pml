/* SPDX-License-Identifier: MIT */
/*
 * requeue.pml - a periodic task runs again and again while it is cancelled and its pool shut down
 * (sched.D1, future.F6; SCHED-21 to SCHED-23). A step in braces is under the queue's lock.
 *
 *   BUG 1  whether it may come again is looked at before the lock is taken
 *   BUG 2  what may not come again is not cancelled
 *   BUG 3  one that is done is queued again
 */
bool is_shut_down;
bool in_heap = true;
bool is_due = true;
bool is_done;           /* the future, cancelled */
bool worker_has_it;
byte ends, releases;

inline cancel()
{
    atomic {
        if
        :: !is_done -> is_done = true; ends++
        :: else
        fi
    }
}

#define MAY_COME_AGAIN (!is_shut_down && (!is_done || BUG == 3))

active proctype worker()
{
    bool may;

end_idle:
    do
    :: atomic { in_heap && is_due -> in_heap = false; is_due = false; worker_has_it = true };
       if
       :: is_shut_down -> cancel() /* SCHED-21 */
       :: else -> skip /* its body */
       fi;
       may = MAY_COME_AGAIN;
       atomic {
           if
           :: (BUG == 1 -> may : MAY_COME_AGAIN) -> in_heap = true; worker_has_it = false
           :: else
           fi
       };
       if
       :: worker_has_it ->
          if
          :: BUG != 2 -> cancel() /* SCHED-22 */
          :: else
          fi;
          releases++;
          worker_has_it = false
       :: else
       fi
    :: is_shut_down && !in_heap -> break
    od
}

active proctype cancelling()
{
    bool is_mine;

    if
    :: cancel();
       atomic { is_mine = in_heap; in_heap = false }; /* the listener: it leaves at once */
       if
       :: is_mine -> releases++
       :: else
       fi
    :: skip
    fi
}

active proctype shutting_down()
{
    bool is_mine;

    if
    :: is_shut_down = true;
       atomic { is_mine = in_heap; in_heap = false }; /* SCHED-23 */
       if
       :: is_mine -> cancel(); releases++
       :: else
       fi
    :: skip
    fi
}

/* It comes due again, or its time is far away. */
active proctype clock()
{
    do
    :: is_due = true
    :: break
    od
}

active proctype rest()
{
    timeout;
    assert(!worker_has_it);
    assert(!(is_done && in_heap));
    assert(!is_shut_down || is_done);
    assert(ends == is_done && releases == is_done)
}
