/* SPDX-License-Identifier: MIT */
/*
 * requests.pml - the owner of a deque forks and pops, while two others search, ask, and fall asleep
 * (crew.W1, crew.W2, crew.W5). Nothing is made public by force here: at rest what is private must be
 * within reach of the owner's next step.
 *
 *   BUG 1  the owner looks who wants something before it puts the words back
 *   BUG 2  who falls asleep does not look around once it is counted
 *   BUG 3  the owner takes a public task back and does not answer
 *   BUG 4  who falls asleep does not ask again, though another may have had its answer
 *   BUG 5  the owner does not look again after its answer, which may be gone
 */
#define FORKS   3
#define THIEVES 2

bool is_asked = true;        /* limit and floor are out of reach; so is a new deque's */
byte private, public;
byte searching, sleeping;    /* crowd: one word, changed by additions */
bool is_woken[THIEVES], is_asleep[THIEVES];
byte forked, done;

#define IS_WANTED (searching > 0 || sleeping > 0)

/* crew.W2: nobody is woken while somebody searches. */
inline call()
{
    atomic {
        if
        :: searching == 0 && is_asleep[0] -> wake(0)
        :: searching == 0 && !is_asleep[0] && is_asleep[1] -> wake(1)
        :: else
        fi
    }
}

inline wake(whom)
{
    is_asleep[whom] = false; sleeping--; searching++; is_woken[whom] = true
}

/* crew.W5 */
inline ask_for_more()
{
    if
    :: public == 0 ->
       if
       :: sleeping > 0 -> is_asked = true
       :: else
       fi
    :: else
    fi
}

inline answer()
{
    if
    :: BUG == 1 -> wanted = IS_WANTED; is_asked = false
    :: else -> is_asked = false; wanted = IS_WANTED
    fi;
    if
    :: wanted ->
       atomic {
           wanted = public + private > 0;
           if
           :: public == 0 && private > 0 -> public = private; private = 0
           :: public == 0 && private == 0 -> is_asked = true /* it stays */
           :: else
           fi
       };
       if
       :: wanted ->
          is_asked = false; /* the words follow what is public */
          call();
          if
          :: BUG != 5 -> ask_for_more()
          :: else
          fi
       :: else
       fi
    :: else
    fi
}

active proctype owner()
{
    bool wanted, long_way;

    do
    :: forked < FORKS ->
       long_way = is_asked;
       atomic { private++; forked++ };
       if
       :: long_way -> answer()
       :: else
       fi
    :: private + public > 0 -> /* a join */
       long_way = is_asked;
       if
       :: atomic { private > 0 -> private--; done++ }
       :: atomic { private == 0 && public > 0 -> public--; done++; long_way = BUG != 3 }
       :: private + public == 0
       fi;
       if
       :: long_way -> answer()
       :: else
       fi
    :: forked == FORKS -> break
    od /* it computes, and does not answer */
}

active [THIEVES] proctype thief()
{
    byte me = _pid - 1;
    bool has_one, is_last;

search:
    searching++;
look:
    has_one = false;
    if
    :: atomic { public > 0 -> public--; has_one = true }
    :: public == 0 -> is_asked = true
    fi;
    if
    :: has_one ->
       ask_for_more();
       atomic { is_last = searching == 1; searching-- };
       if
       :: is_last && public > 0 -> call() /* crew.W2 */
       :: else
       fi;
       done++;
       if
       :: goto search
       :: goto end_computes /* for long */
       fi
    :: else
    fi;
    atomic { searching--; sleeping++; is_asleep[me] = true; is_woken[me] = false }; /* crew.W1 */
    if
    :: BUG != 4 -> is_asked = true /* crew.W5 */
    :: else
    fi;
    if
    :: public > 0 && BUG != 2 ->
       atomic {
           if
           :: is_asleep[me] -> is_asleep[me] = false; sleeping--; searching++
           :: else
           fi
       };
       goto look
    :: else
    fi;
end_asleep:
    is_woken[me];
    goto look;
end_computes:
    false
}

active proctype rest()
{
    timeout;
    assert(done + private + public == FORKS);
    /* Who sleeps need not: nothing is public, and what is private will be at the owner's next step. */
    assert(sleeping == 0 || public == 0);
    assert(sleeping == 0 || private == 0 || is_asked)
}
