/* SPDX-License-Identifier: MIT */
/*
 * future_internal.h - the future, as the modules above see it.
 *
 * One object is the task, its state, its outcome and the list of what is to
 * happen when it is done: threads that wait, and actions.
 *
 *   future.F1  `state` has one home, future_state.h. Whoever moves it out of NEW has won, alone
 *              writes the outcome, and then calls rota__future_finish.
 *   future.F2  The outcome is read only once the state is past COMPLETING.
 *   future.F3  A task's body begins only after its runner has claimed the state, in one step with
 *              seeing it NEW; so it begins at most once, and never after the future is done.
 *   future.F4  Whoever ends a future that nobody runs, discards its argument. If somebody runs it,
 *              the body deals with its argument, and nobody discards it; except that of a periodic
 *              task, which its runner discards when it finds after the run that no other will
 *              follow.
 *   future.F5  The holders share one reference, the task in an executor's hands is one, and whoever
 *              works on a future without holding it pins one. The storage goes with the last. A
 *              promise that no holder is left to complete is cancelled.
 *   future.F6  The thread that ends a future that no thread runs notifies its cancel listener, if
 *              it has one: cancel_listener.c.
 *   future.F7  Every use of a future happens before its destruction: a thread that gives a
 *              reference back releases, and the thread that destroys the future acquires.
 *   future.F8  A worker that waits adds its getter first, and then looks for the task in its queue.
 *              A thread that inserts the task does that first, and then looks for getters. Both
 *              change the word `actions`, so one of them sees the other.
 */
#ifndef ROTA_FUTURE_FUTURE_INTERNAL_H
#define ROTA_FUTURE_FUTURE_INTERNAL_H

#include "base/wait.h"
#include "task/task_internal.h"

#include <rota/future.h>

typedef struct rota__event rota__event;
typedef struct rota__action_queue rota__action_queue;
typedef struct rota__cancel_listener rota__cancel_listener;

/* A future's `time` is when it is due; or less than 0: it is not scheduled, and this is when it was
   submitted, as a tracer puts it; or, for none: */
#define ROTA__NOT_SCHEDULED INT64_MIN

struct rota_future {
    rota_task task;                      /* first: a future is a task */
    rota__atomic(uintptr_t) state;       /* future_state.h only */
    rota__atomic(uintptr_t) actions;     /* actions.c only */
    void *result;                        /* future.F2; as is task.error */
    rota__atomic(uintptr_t) free_result; /* the function, or 0 */
    rota__atomic(rota__event *) event;   /* event.c only; made on demand */
    rota__atomic(uintptr_t) listener;    /* cancel_listener.c only */
    rota__atomic(rota_ns) time;          /* see above */
    rota_future *value_of;               /* whose result its own is, and is kept for it; or NULL */
};

_Static_assert(sizeof(void *) != 8 || sizeof(struct rota_future) <= 128,
               "a future takes two cache lines");

static inline rota_future *rota__future_of(rota_task *task)
{
    return (rota_future *)task;
}

/* When a task was submitted, or is due, as above; 0 or ROTA__NOT_SCHEDULED: it is not known. */
static inline int64_t rota__task_stamp(const rota_task *task)
{
    if (task->kind == ROTA__TASK_PLAIN)
        return (int64_t)rota__load_relaxed(&task->counts); /* which it has no other use for */
    return rota__load_relaxed(&((const rota_future *)task)->time);
}

/* Before it is given to an executor. What is due stays so. */
static inline void rota__task_set_stamp(rota_task *task, int64_t stamp)
{
    if (task->kind == ROTA__TASK_PLAIN)
        rota__store_relaxed(&task->counts, (uint64_t)stamp);
    else if (rota__task_stamp(task) < 0)
        rota__store_relaxed(&rota__future_of(task)->time, stamp);
}

/* -- Life (future.c) ------------------------------------------------------ */

/*
 * NULL: no memory. `size` is that of a struct that begins with a future. With
 * `call` the task is one reference, without it is a promise; `held` makes
 * one holder.
 */
rota_future *rota__future_new(const rota_call *call, bool held, size_t size);

bool rota__future_is_held(const rota_future *future); /* at this moment */

void rota__future_pin(rota_future *future); /* future.F5 */
void rota__future_unpin(rota_future *future);

/* discard(arg), if the call has one (future.F4). */
void rota__future_discard_argument(rota_future *future);

/* Frees a result of the body's, if it is the future's and not that of the one that made it. */
void rota__future_free_result(const rota_future *future, void *result, const rota_future *maker);

rota_future *rota__future_maker(rota_future *future); /* of its result */

/* -- Ending a future without a run (future.c) ------------------------------- */

/* Ends a future that nobody runs as `source`, which is done, has, or with NULL without one. False:
   it was done. What follows is appended to `more`. The argument is not discarded. */
bool rota__future_end_like(rota_future *future, rota_future *source, rota__action_queue *more);
bool rota__future_end_failed(rota_future *future, int code, rota__action_queue *more);

/* The end of a task that no executor took: cancelled, argument and discard untouched (OWN-05). */
void rota__future_refuse(rota_future *future);

/* -- When it is done (actions.c) ------------------------------------------ */

typedef struct rota__action rota__action;

/* Actions to run, in order. */
struct rota__action_queue {
    rota__action *first;
    rota__action *last;
};

/* In memory of whoever adds it, until it is run or removed. */
struct rota__action {
    rota__action *next;     /* the one added before it */
    rota__action *previous; /* the one added after it; may not be known yet */

    /*
     * Called once, on the thread that completes the future, with the future
     * done. What follows from that, it appends to `more` instead of recursing.
     * NULL: the action is a rota__getter.
     */
    void (*run)(rota__action *self, rota__action_queue *more);
};

/* A thread that waits. */
typedef struct rota__getter {
    rota__action action;
    rota__waiter waiter;
    rota__atomic(uint32_t) poked; /* not 0: its thread looks for the task again */
    rota_future *future;
} rota__getter;

/* False: the future is done, or about to be, and the action will not run. */
bool rota__future_add(rota_future *future, rota__action *action);

/* True: it was taken out and will not run. False: it ran, runs, or is about to. */
bool rota__future_remove(rota_future *future, rota__action *action);

/*
 * What follows from being done: wakes all who wait, and appends the actions to
 * `queue` in the order in which they were added. Once, by who won future.F1.
 * True: a waiting thread or an action has seen the end; a descriptor does not count.
 */
bool rota__future_collect(rota_future *future, rota__action_queue *queue);

/* Runs what is in there, and what follows from that: a loop, however long the chain. */
void rota__actions_run(rota__action_queue *queue);
void rota__action_run(rota__action *action); /* that one, whose future was done already */

/* Both. */
void rota__future_finish(rota_future *future);

size_t rota__future_count_actions(rota_future *future); /* but for threads that wait */

/* Checks what a future that no one uses at the moment must be like. */
void rota__future_check(const rota_future *future);

/* -- The object that holds it back (cancel_listener.c) -------------------- */

struct rota__cancel_listener {
    /* The future has ended before any thread ran it. Called on the thread that ended it. */
    void (*notify)(rota__cancel_listener *listener, rota_future *future);
    rota__atomic(uint32_t) inflight; /* threads inside `notify` */
};

/* Sets the listener. Called before other threads can find the task. */
void rota__future_set_listener(rota_future *future, rota__cancel_listener *listener);

/*
 * Clears the listener, whichever it is. False: there was none, or it is being notified. The thread
 * that has taken the task out calls this before another thread gets the task: `notify` is not called
 * any more, though a thread may still be inside it.
 */
bool rota__future_clear_listener(rota_future *future);

/* The same if it is this listener, else false. */
bool rota__future_clear_listener_if(rota_future *future, const rota__cancel_listener *listener);

/* Notifies the listener, if there is one (future.F6). */
void rota__future_notify_listener(rota_future *future);

/* Waits until no thread is inside `notify`. No future has this listener any more. */
void rota__cancel_listener_await_idle(rota__cancel_listener *listener);

/* -- Visits (future.c) ----------------------------------------------------- */

/*
 * A visitor of a queue may look at a pending future only while its thread has claimed it, so that no
 * thread discards the argument meanwhile. The calls are those of rota__element_ops. To users the
 * future is still pending. False from visit_begin: the future is done. True from visit_end: another
 * thread, or the visitor, has ended it; visit_done does what is left (future.F4, future.F6).
 */
bool rota__future_visit_begin(rota_future *future);
bool rota__future_visit_end(rota_future *future);
void rota__future_visit_done(rota_future *future);

/* -- Helping (get.c) ------------------------------------------------------- */

/*
 * Runs the task of a pending future, if the helper can take it, or other tasks. False: it has run
 * none, and *ready_at is the time at which the task will be due, or ROTA_FOREVER.
 */
bool rota__future_help(rota_future *future, const rota__helper *helper, rota_ns *ready_at);

/*
 * The future was inserted into another queue, or once more: workers that wait for it look for its task
 * again (future.F8). The caller pins the future.
 */
void rota__future_moved(rota_future *future);

/* -- Its descriptor (event.c) --------------------------------------------- */

void rota__event_free(rota__event *event); /* NULL is allowed */
void rota__event_signal(rota__action *action,
                        rota__action_queue *more); /* the descriptor's action */

#endif
