/* SPDX-License-Identifier: MIT */
/*
 * handover.pml - a future is run, cancelled with an interrupt and completed by hand, all at once; two
 * threads try to run it (future_state.S1, future_state.S2, future.F3, future.F4).
 *
 *   BUG 1  the runner leaves while it is being interrupted
 *   BUG 2  who cancels looks for the runner before it changes the state
 *   BUG 3  two threads may run it
 */
mtype = { NEW, COMPLETING, NORMAL, CANCELLED, INTERRUPTING, INTERRUPTED };

mtype phase = NEW;
byte runner;          /* 0: none; else one more than the number of its thread */
bool lives[2];        /* the execution on that thread's stack */
byte ends, runs, discards;

proctype running(byte me)
{
    bool is_mine;

    lives[me] = true;
    if
    :: atomic { phase == NEW && (runner == 0 || BUG == 3) -> runner = me + 1 }; is_mine = true
    :: phase != NEW || runner != 0
    fi;
    if
    :: is_mine ->
       runs++;
       if
       :: atomic { phase == NEW -> phase = COMPLETING };
          atomic { phase = NORMAL; runner = 0 }; /* nobody else writes the word now: future_state.S2 */
          ends++
       :: phase != NEW ->
          atomic { (phase != INTERRUPTING || BUG == 1) -> runner = 0 } /* future_state.S1 */
       fi
    :: else
    fi;
    lives[me] = false
}

active proctype cancelling()
{
    byte whom;

    if
    :: BUG == 2 -> whom = runner
    :: else
    fi;
    if
    :: atomic { phase == NEW ->
           if
           :: BUG != 2 -> whom = runner
           :: else
           fi;
           phase = (whom == 0 -> CANCELLED : INTERRUPTING)
       };
       if
       :: whom == 0 -> discards++ /* future.F4 */
       :: else ->
          assert(lives[whom - 1]); /* its flag is set there */
          phase = INTERRUPTED
       fi;
       ends++
    :: phase != NEW
    fi
}

active proctype completing()
{
    byte whom;

    if
    :: atomic { phase == NEW -> whom = runner; phase = COMPLETING };
       if
       :: whom == 0 -> discards++
       :: else
       fi;
       phase = NORMAL;
       ends++
    :: phase != NEW
    fi
}

init {
    atomic { run running(0); run running(1) };
    timeout;
    assert(ends == 1);
    assert(runs + discards == 1);
    assert(runner == 0)
}
