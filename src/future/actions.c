/* SPDX-License-Identifier: MIT */
/*
 * actions.c - what is to happen when a future is done.
 *
 * The word `actions` is the newest of a stack of actions, each linked to the
 * one added before it. Adding is one compare-and-swap, taking all of them at
 * the end another. Taking out one from the middle needs both neighbours, so
 * it locks the stack for that moment: the lowest bit of the word.
 *
 *   actions.N1  DONE is the last value of the word. Who stored it has all actions.
 *   actions.N2  While LOCKED is set only who set it changes the word or a link.
 *   actions.N3  action->previous is NULL or right. If it is right, so is that of every action
 *               further down. It becomes so when somebody first needs it, which makes taking one
 *               out cheap, however many there are: a link is set once.
 *   actions.N4  While LOCKED is not set, the word changes by a compare-and-swap from the value that
 *               was seen, so that no action which came meanwhile is lost.
 */
#include "future/future_internal.h"

#include "base/check.h"
#include "os/cleanup.h"

#define LOCKED ((uintptr_t)1)
#define DONE   ((uintptr_t)2)

_Static_assert(_Alignof(rota__action) > 2, "the address of an action leaves two bits");

static rota__action *newest_in(uintptr_t word)
{
    return (rota__action *)(word & ~LOCKED);
}

/*
 * Moves the word from what it is, once that is not locked, to `next_word(word)`.
 * Returns what it was, DONE if it is done and was left so.
 */
static uintptr_t move_word(rota_future *future, uintptr_t (*next_word)(uintptr_t word, void *arg),
                           void *arg)
{
    uintptr_t word = rota__load_acquire(&future->actions);
    unsigned turns = ROTA__BACKOFF_INIT;

    while (word != DONE) {
        if (word & LOCKED) { /* actions.N2 */
            rota__backoff(&turns);
            word = rota__load_acquire(&future->actions);
        } else if (rota__cas_acq_rel(&future->actions, &word,
                                     next_word(word, arg))) { /* actions.N4 */
            break; /* acquire: the links below; release: those that next_word wrote */
        }
    }
    return word;
}

/* -- Adding --------------------------------------------------------------- */

static uintptr_t put_on_top(uintptr_t word, void *arg)
{
    rota__action *action = arg;

    action->next = newest_in(word);
    return (uintptr_t)action;
}

bool rota__future_add(rota_future *future, rota__action *action)
{
    action->previous = NULL; /* actions.N3 */
    return move_word(future, put_on_top, action) != DONE;
}

/* -- Taking one out ------------------------------------------------------- */

static uintptr_t lock(uintptr_t word, void *arg)
{
    (void)arg;
    return word | LOCKED;
}

static void link_back(rota__action *newest)
{
    for (rota__action *action = newest; action->next != NULL; action = action->next) {
        if (action->next->previous == action) /* actions.N3: and so are the rest */
            break;
        action->next->previous = action;
    }
}

bool rota__future_remove(rota_future *future, rota__action *action)
{
    uintptr_t word = move_word(future, lock, NULL);

    if (word == DONE)
        return false;
    rota__action *newest = newest_in(word);
    ROTA__ASSERT(newest != NULL);
    link_back(newest);
    if (action == newest)
        newest = action->next;
    else
        action->previous->next = action->next;
    if (action->next != NULL)
        action->next->previous = action->previous; /* actions.N3a; NULL if that is the newest now */
    rota__store_release(&future->actions, (uintptr_t)newest); /* unlocks; pairs with move_word */
    return true;
}

/* -- Done ----------------------------------------------------------------- */

static uintptr_t close_for_good(uintptr_t word, void *arg)
{
    (void)word;
    (void)arg;
    return DONE;
}

static void wake(rota__action *action)
{
    rota__getter *getter = ROTA__CONTAINER(action, rota__getter, action);

    rota__waiter_wake(&getter->waiter); /* the last touch: it lies on the waiter's stack */
}

static void append(rota__action_queue *queue, rota__action_queue added)
{
    if (added.first == NULL)
        return;
    if (queue->first == NULL)
        queue->first = added.first;
    else
        queue->last->next = added.first;
    queue->last = added.last;
}

bool rota__future_collect(rota_future *future, rota__action_queue *queue)
{
    rota__action *action = newest_in(move_word(future, close_for_good, NULL)); /* actions.N1 */
    rota__action_queue oldest_first = {NULL, NULL};
    bool is_seen = false;

    while (action != NULL) {
        rota__action *older = action->next;
        is_seen |= action->run != rota__event_signal;
        if (action->run == NULL) {
            wake(action);
        } else {
            action->next = oldest_first.first;
            oldest_first.first = action;
            if (oldest_first.last == NULL)
                oldest_first.last = action;
        }
        action = older;
    }
    append(queue, oldest_first);
    return is_seen;
}

/* If an action runs a task that ends the thread, the actions behind it are run all the same. */
static void run_each(void *arg)
{
    rota__action_queue *queue = arg;

    ROTA__ON_UNWIND_BEGIN(run_each, queue);
    while (queue->first != NULL) {
        rota__action *action = queue->first;
        queue->first = action->next;
        action->run(action, queue);
    }
    ROTA__ON_UNWIND_END;
}

void rota__actions_run(rota__action_queue *queue)
{
    if (queue->first != NULL)
        run_each(queue);
}

void rota__action_run(rota__action *action)
{
    rota__action_queue queue = {action, action};

    action->next = NULL;
    rota__actions_run(&queue);
}

void rota__future_finish(rota_future *future)
{
    rota__action_queue queue = {NULL, NULL};

    rota__future_collect(future, &queue);
    rota__actions_run(&queue);
}

size_t rota__future_count_actions(rota_future *future)
{
    uintptr_t word = move_word(future, lock, NULL);
    size_t count = 0;

    if (word == DONE)
        return 0;
    for (const rota__action *action = newest_in(word); action != NULL; action = action->next)
        count += action->run != NULL;
    rota__store_release(&future->actions, word); /* unlocks; pairs with move_word */
    return count;
}

/* -- Poking --------------------------------------------------------------- */

static void poke(rota__getter *getter)
{
    if (getter->waiter.poked == NULL)
        return;                             /* its thread cannot help */
    rota__store_release(&getter->poked, 1); /* pairs with is_poked in wait.c */
    rota__unpark(getter->waiter.thread);
}

void rota__future_moved(rota_future *future)
{
    uintptr_t word = rota__add_acq_rel(&future->actions, 0); /* future.F8b */

    if (word == 0 || word == DONE)
        return;
    word = move_word(future, lock, NULL); /* actions.N2: no getter leaves meanwhile */
    if (word == DONE)
        return;
    for (rota__action *action = newest_in(word); action != NULL; action = action->next) {
        if (action->run == NULL)
            poke(ROTA__CONTAINER(action, rota__getter, action));
    }
    rota__store_release(&future->actions, word); /* unlocks; pairs with move_word */
}
