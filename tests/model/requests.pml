/* SPDX-License-Identifier: MIT */
/*
 * requests.pml - the owner of a deque forks and pops, while a thief searches, asks, and falls asleep
 * (src/forkjoin/worker.c, rota__fj_answer; crew.c, W1, W2; docs/design/deque.md). Nothing is made public
 * by force here: at rest what is private must be within reach of the owner's next step.
 *
 *   BUG 1  the owner looks who wants something before it puts the words back
 *   BUG 2  who falls asleep does not look around once it is counted
 *   BUG 3  the owner takes a public task back and does not answer
 *   BUG 4  a thief asks before it is counted
 */
#define FORKS 3

bool is_asked = true;        /* limit and floor are out of reach; so is a new deque's */
byte private, public;
byte searching, sleeping;    /* crowd: one word, changed by additions */
bool is_woken;
byte forked, done;

#define IS_WANTED (searching > 0 || sleeping > 0)

inline call()
{
    atomic {
        if
        :: searching == 0 && sleeping > 0 -> sleeping--; searching++; is_woken = true
        :: else
        fi
    }
}

inline answer()
{
    if
    :: BUG == 1 -> wanted = IS_WANTED; is_asked = false
    :: else -> is_asked = false; wanted = IS_WANTED
    fi;
    if
    :: wanted && public == 0 && private > 0 ->
       atomic { public = private; private = 0 };
       call()
    :: wanted && public > 0 -> call()
    :: wanted && public == 0 && private == 0 -> is_asked = true /* it stays */
    :: !wanted
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

active proctype thief()
{
    bool has_one;

search:
    if
    :: BUG == 4 -> is_asked = true; searching++
    :: else -> searching++
    fi;
look:
    has_one = false;
    if
    :: atomic { public > 0 -> public--; has_one = true }
    :: public == 0 ->
       if
       :: BUG == 4
       :: else -> is_asked = true
       fi
    fi;
    if
    :: has_one ->
       if
       :: public == 0 -> is_asked = true
       :: else
       fi;
       searching--;
       done++;
       goto search
    :: else
    fi;
    atomic { searching--; sleeping++; is_woken = false }; /* W1 */
    if
    :: public > 0 && BUG != 2 ->
       atomic {
           if
           :: is_woken
           :: else -> sleeping--; searching++
           fi
       };
       goto look
    :: else
    fi;
end_asleep:
    is_woken;
    goto look
}

active proctype rest()
{
    timeout;
    /* The thief sleeps: nothing is public, and what is private will be at the owner's next step. */
    assert(public == 0);
    assert(private == 0 || is_asked);
    assert(done + private == FORKS)
}
