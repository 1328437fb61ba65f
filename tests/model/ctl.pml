/* SPDX-License-Identifier: MIT */
/*
 * ctl.pml - two tasks are submitted to a pool of at most two threads, none of which is there for long,
 * while it is shut down; each thread may be refused (ctl.C1, ctl.C2, pool.P2
 * to workers.W2; POOL-25 to POOL-30, POOL-56).
 *
 *   BUG 1  who has queued a task does not look again whether there is somebody to run it
 *   BUG 2  the last worker leaves though something is queued, and nobody looks after that
 *   BUG 3  the pool ends while a worker that is counted out is still leaving
 *   BUG 4  a task that nobody can run is refused, and what others have queued meanwhile is left
 *   BUG 5  so is it when no thread could be made, but that task has been run
 */
#define TASKS 2
#define MAX   2
#define SLOTS 2 /* for threads, those among them that are leaving */

#define RUNNING    0
#define SHUTDOWN   1
#define TIDYING    2
#define TERMINATED 3

byte state = RUNNING, workers;   /* one word: changed together, in one step */
bool queued[TASKS];
byte registered, rescuers;       /* under the pool's lock */
byte alive;                      /* workers that have begun */
bool is_made[SLOTS];
byte accepted, refused, ran, ends;

#define IS_EMPTY (!queued[0] && !queued[1])

inline run_task()
{
    assert(state < TIDYING);
    ran++
}

inline try_terminate()
{
    if
    :: state != SHUTDOWN
    :: state == SHUTDOWN && !IS_EMPTY
    :: state == SHUTDOWN && IS_EMPTY && workers > 0
    :: else ->
       if
       :: atomic {
              state == SHUTDOWN && workers == 0 && (BUG == 3 || (registered == 0 && rescuers == 0))
              -> state = TIDYING
          };
          atomic { assert(registered == 0); ends++; state = TERMINATED } /* the hook */
       :: !(state == SHUTDOWN && workers == 0 && (BUG == 3 || (registered == 0 && rescuers == 0)))
       fi
    fi
}

#define MADE     0
#define REJECTED 1
#define FAILED   2

/* A worker is counted in by one step, and then its thread is made, or not. */
inline worker_add(answer)
{
    if
    :: atomic {
           !(state >= TIDYING || (state == SHUTDOWN && IS_EMPTY) || workers >= MAX) ->
           workers++; registered++ /* in two steps, but who looks at both sees the first */
       };
       if
       :: atomic { !is_made[0] -> is_made[0] = true; answer = MADE }
       :: atomic { is_made[0] && !is_made[1] -> is_made[1] = true; answer = MADE }
       :: registered--; atomic { workers--; answer = FAILED }; try_terminate()
       fi
    :: state >= TIDYING || (state == SHUTDOWN && IS_EMPTY) || workers >= MAX -> answer = REJECTED
    fi
}

/* pool.P8: runs what is queued, as long as there is nobody else and nobody can be made. */
inline rescue(answer, may_wait)
{
    rescuers++;
    do
    :: state >= TIDYING || IS_EMPTY -> break
    :: else ->
       if
       :: workers > 0 && !may_wait -> break
       :: workers > 0 && may_wait -> /* until one has begun, or failed to */
          if
          :: alive > 0 -> break
          :: workers == 0
          fi
       :: else ->
          worker_add(answer);
          if
          :: answer == MADE -> break
          :: answer == REJECTED
          :: answer == FAILED ->
             if
             :: atomic { queued[0] -> queued[0] = false }; run_task()
             :: atomic { queued[1] -> queued[1] = false }; run_task()
             :: IS_EMPTY
             fi
          fi
       fi
    od;
    rescuers--;
    try_terminate()
}

proctype worker(byte me)
{
    byte answer;

end_not_made:
    atomic { is_made[me] -> alive++ };
    do
    :: atomic { queued[0] -> queued[0] = false }; run_task()
    :: atomic { queued[1] -> queued[1] = false }; run_task()
    :: atomic { state >= TIDYING || (state == SHUTDOWN && IS_EMPTY) -> workers-- }; break
    :: atomic { (workers > 1 || IS_EMPTY || BUG == 2) -> workers-- }; break /* its time is up */
    od;
    atomic { registered--; alive-- };
    try_terminate();
    if
    :: state < TIDYING && !IS_EMPTY && workers == 0 && BUG != 2 ->
       worker_add(answer);
       if
       :: answer != MADE -> rescue(answer, true)
       :: else
       fi
    :: else
    fi;
    atomic { answer = 0; is_made[me] = false; goto end_not_made }
}

proctype submitter(byte me)
{
    byte answer;
    bool is_mine;

    if
    :: state != RUNNING -> refused++; goto done
    :: else
    fi;
    queued[me] = true;
    if
    :: BUG == 1 -> goto is_in
    :: BUG != 1 && state == RUNNING && workers > 0 -> goto is_in
    :: else
    fi;
    answer = REJECTED;
    if
    :: state == RUNNING ->
       worker_add(answer);
       if
       :: answer == MADE || workers > 0 -> goto is_in
       :: else
       fi
    :: else
    fi;
    atomic { is_mine = queued[me]; queued[me] = false };
    if
    :: (BUG == 4 && is_mine) || (BUG == 5 && !is_mine)
    :: else -> rescue(answer, false)
    fi;
    if
    :: is_mine -> refused++; goto done
    :: else /* somebody has it */
    fi;
is_in:
    accepted++;
done:
    skip
}

proctype shutting_down()
{
    byte answer;

    atomic { state == RUNNING -> state = SHUTDOWN };
    rescue(answer, false)
}

init {
    atomic {
        run worker(0); run worker(1);
        run submitter(0); run submitter(1); run shutting_down()
    };
    timeout;
    assert(IS_EMPTY && ran == accepted && accepted + refused == TASKS);
    assert(state == TERMINATED && ends == 1);
    assert(workers == 0 && registered == 0 && rescuers == 0)
}
