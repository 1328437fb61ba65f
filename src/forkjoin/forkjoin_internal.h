/* SPDX-License-Identifier: MIT */
/*
 * forkjoin_internal.h - fork/join pools. README.md has the protocols and why they hold.
 *
 *   deck.c       a worker's deque: the owner's end and the thieves'
 *   fj.c         a task of the user's: forked, joined, cancelled, done
 *   completer.c  one that ends when those it waits for have
 *   wait.c       who joins a stolen task: helps, then blocks
 *   crew.c       workers sleep, wake, come and go; callers that take part
 *   worker.c     what a worker does from its start to its end
 *   inbox.c      tasks from outside
 *   pool.c       the executor: made, shut down
 *   quiet.c      until nothing is left to do
 *   figures.c    looked at
 *   taking.c     tasks taken back out
 *   common.c     the pool that is always there
 *
 *   forkjoin.F1  The end of a pool is announced with its lock held. The thread that frees the pool
 *                takes the lock once more, after which nobody else touches the pool.
 *   forkjoin.F2  The inbox changes with the pool's lock held.
 *   forkjoin.F4  A thread that joins a task which was stolen by mistake and given back takes the
 *                task from the inbox itself, since there may be nobody else to run it.
 *   forkjoin.F5  A thread that is no longer counted in `threads` or `guests` does three things
 *                before it leaves the lock: it calls a worker if there is work and a place, runs
 *                tasks for which no worker can be made, and ends the pool if nothing is left.
 */
#ifndef ROTA_FORKJOIN_INTERNAL_H
#define ROTA_FORKJOIN_INTERNAL_H

#include "base/atomic.h"

#define ROTA__FJ_WORD(type) rota__atomic(type)
#define ROTA_NO_INLINE
#include <rota/completer.h>

#include "base/wait.h"
#include "workers/workers_internal.h"

#include <rota/factory.h>

typedef struct rota__fj_pool rota__fj_pool;
typedef struct rota__fj_worker rota__fj_worker;

/* -- The state of a task (fj.c) ------------------------------------------- */

/* priv[0]: these, and above them the newest of those who wait for it, a stack. */
enum {
    FJ_FORKED = ROTA__FJ_FORKED,
    FJ_SHARED = 2,    /* not run by who forked it: its end is told by an addition to this word */
    FJ_CANCELLED = 4, /* it ends so, whether its body runs or not */
    FJ_DONE = 8,
    FJ_OUTSIDE = 16, /* it came from outside: its end is told like that of a shared one */
    FJ_COUNTED = ROTA__FJ_COUNTED, /* a completer: its end is not that of its body, and is told */
    FJ_FAILED = 64,                /* a completer that did; others have an error */
    FJ_FLAGS = 127,
};

/* priv[1]: ROTA__FJ_RAN once who forked it has run it; while it is in an inbox the next there; while
   it is shared who runs it, or 0. priv[2]: the code it failed with. */
enum { FJ_STATE, FJ_RUNNER, FJ_ERROR };

static inline rota__atomic(uintptr_t) * rota__fj_word(const rota_fj *task, int which)
{
    return (rota__atomic(uintptr_t) *)(uintptr_t)&task->priv[which];
}

static inline uintptr_t rota__fj_state(const rota_fj *task)
{
    return rota__load_acquire(rota__fj_word(task, FJ_STATE)); /* pairs with finish, in fj.c */
}

/* A thread that waits for a task, on its stack. */
typedef struct rota__fj_waiter {
    _Alignas(FJ_FLAGS + 1) struct rota__fj_waiter *next; /* who came before it */
    rota__waiter waiter;
} rota__fj_waiter;

void rota__fj_wake_all(rota__fj_waiter *newest);

bool rota__fj_is_done(const rota_fj *task);
int rota__fj_status(const rota_fj *task); /* of a done one */

/* A task that this worker forked, or that was never forked. */
void rota__fj_run_own(rota_fj *task);

/* One that was taken from somewhere else. `runner` may be NULL. Cancelled if the pool is stopped. */
void rota__fj_run_shared(rota_fj *task, rota__fj_worker *runner);

/* It was never begun, and is not going to be. */
void rota__fj_drop(rota_fj *task);

void rota__fj_add(rota_fj *task, uintptr_t flags);

/* Adds them to what is not done yet, and wakes those who wait; fj.J3. False: it was done. */
bool rota__fj_end(rota_fj *task, uintptr_t flags);

static inline bool rota__fj_is_fresh(const rota_fj *task)
{
    return (rota__fj_state(task) & ~(uintptr_t)FJ_COUNTED) == 0; /* it was never forked */
}

/* -- Completers (completer.c) --------------------------------------------- */

static inline bool rota__is_counted(const rota_fj *task)
{
    return (rota__fj_state(task) & FJ_COUNTED) != 0;
}

/* It was taken out of a deque or an inbox, or never was in one. */
void rota__completer_turn(rota_fj *task, const rota__fj_worker *runner);

bool rota__completer_prepare(rota_fj *task); /* to be queued; false: there is nothing to do */
void rota__completer_unfork(rota_fj *task);
void rota__completer_drop(rota_fj *task); /* and all above it: CC-13 */
bool rota__completer_cancel(rota_fj *task);
void rota__completer_fail(rota_fj *task, int code);

/* -- Entries of a deque: tasks of every kind, which their last bits tell --- */

enum { ENTRY_TASK = 1, ENTRY_COUNTED = 2, ENTRY_KINDS = 3 };

static inline rota_fj *rota__entry_of(rota_task *task)
{
    return (rota_fj *)(void *)((char *)task + ENTRY_TASK);
}

static inline rota_fj *rota__entry_of_counted(rota_fj *task)
{
    return (rota_fj *)(void *)((char *)task + ENTRY_COUNTED);
}

static inline bool rota__entry_is_task(const rota_fj *entry)
{
    return ((uintptr_t)entry & ENTRY_TASK) != 0;
}

static inline bool rota__entry_is_counted(const rota_fj *entry)
{
    return ((uintptr_t)entry & ENTRY_COUNTED) != 0;
}

static inline rota_task *rota__task_in(rota_fj *entry)
{
    return (rota_task *)(void *)((char *)entry - ENTRY_TASK);
}

static inline rota_fj *rota__fj_in(rota_fj *entry)
{
    return (rota_fj *)(void *)((char *)entry - ((uintptr_t)entry & ENTRY_KINDS));
}

/* -- A worker's deque (deck.c) -------------------------------------------- */

#ifdef ROTA_EXPLORE
enum { FJ_FIRST_CHUNK = 2, FJ_CHUNKS = 3 };
#else
enum { FJ_FIRST_CHUNK = 1024, FJ_CHUNKS = 16 };
#endif

typedef struct rota__deque {
    rota__deck deck;                            /* first: what inline functions see */
    rota__atomic(uint32_t) chunk;               /* which one `top` is in; the owner writes it */
    rota__atomic(rota_fj **) chunks[FJ_CHUNKS]; /* do not move; the next is made when needed */
    rota__atomic(uint32_t) visits;              /* deck.c only */
    char apart[64];
    rota__atomic(uint64_t) shared; /* deck.c only; not in a cache line with the owner's words */
    char apart_too[64];
} rota__deque;

int rota__deque_init(rota__deque *deque); /* ROTA_ENOMEM */
void rota__deque_free(rota__deque *deque);

/* For the owner. */
bool rota__deque_push(rota__deque *deque, rota_fj *entry); /* false: no memory */
rota_fj *rota__deque_pop(rota__deque *deque);              /* the newest, or NULL */
void rota__deque_close(rota__deque *deque); /* what is pushed next stays private: the short ways */
void rota__deque_open(rota__deque *deque); /* all of it is public, and the next goes the long way */

/* All of it is public, and what is pushed next is private. False: there is nothing, and what is pushed
   next goes the long way. */
bool rota__deque_publish(rota__deque *deque);
size_t rota__deque_size(const rota__deque *deque); /* exact for the owner, else about */

/* For everybody. */
rota_fj *rota__deque_steal(rota__deque *deque); /* the oldest that is public, or NULL */
bool rota__deque_has_public(const rota__deque *deque);
const rota_fj *rota__deque_peek(const rota__deque *deque); /* for its kind: it may be gone */
bool rota__deque_has_private(const rota__deque *deque);    /* and nothing else; about */

/* Makes public what the owner has, though it does nothing to answer. One thread at a time. False: it
   is not possible, or not necessary. */
bool rota__deque_force(rota__deque *deque);
void rota__deque_request(rota__deque *deque); /* the owner is to take the long way */

/* -- A worker ------------------------------------------------------------- */

struct rota__fj_worker {
    rota__deque deque; /* first */
    rota__fj_pool *pool;
    unsigned number;
    unsigned turns;   /* tasks it has run, roughly */
    unsigned helping; /* tasks that it runs while one waits for a future, inside one another */
    unsigned blocks;  /* rota_block_begin, and waits of tasks, nested */
    unsigned waits;   /* joins that help a thief, nested */
    uint32_t random;
    rota__atomic(uint64_t) steals;
    rota__spin_budget spin;
    rota_thread *self; /* NULL: nobody is this worker now; under the pool's lock */
    rota__helper helper;
    const rota__helper *outer_helper; /* of a caller that takes part */
    rota__deck *outer_deck;
    rota__inside inside;
    rota__link link;     /* among the sleepers, or those that left */
    rota__waiter waiter; /* while it sleeps */
    rota__thread_plan *plan;
    rota__os_thread thread;
    rota__os_thread thread_before; /* of the worker before this one, which has left: */
    bool has_thread_before;        /* to be joined */
    rota__fj_worker *next_free;
};

rota__deck *rota__fj_deck(void);    /* the calling thread's, or one that is no worker's */
rota__fj_worker *rota__fj_me(void); /* the calling thread's worker, or NULL */
void rota__fj_become(rota__fj_worker *worker); /* it is that one now, or none */

/* Runs what was taken out of a deque or an inbox. */
void rota__fj_run_entry(rota__fj_worker *worker, rota_fj *entry, bool is_own);

rota_fj *rota__fj_find(rota__fj_worker *worker); /* own, or anybody's; NULL: nothing is public */

/* Who took it cannot use it: to the inbox, unless the pool is stopped. rota__crew_call is to follow. */
void rota__fj_give_back(rota__fj_pool *pool, rota_fj *entry);
void rota__fj_drop_entry(rota_fj *entry);

/* One task of any kind, for a worker that waits: EXEC-18, FJ-16. False: there is none. */
bool rota__fj_run_one(rota__fj_worker *worker);

/* After something was pushed, or popped the long way. */
void rota__fj_answer(rota__fj_worker *worker);

/* Until it is done. */
void rota__fj_join_stolen(rota__fj_worker *worker, rota_fj *task);
void rota__fj_join_outside(rota_fj *task);
int rota__fj_invoke_from_outside(rota__fj_pool *pool, rota__fj_worker *worker, rota_fj *task);

/* With the pool's lock held, which it leaves: the caller runs it, as the worker that
   rota__crew_enter gave it; NULL: outside the pool. `goal` is done then, if it is not NULL and there
   was a place. */
void rota__fj_take_part(rota__fj_pool *pool, rota__fj_worker *place, rota_fj *entry, rota_fj *goal);

extern const rota__helper rota__fj_helper; /* of a worker */

/* Its thread begins; stays until it may leave. */
void rota__fj_worker_main(void *worker);

/* -- A pool --------------------------------------------------------------- */

/*
 * `crowd`, 16 bits each:
 *   searching  workers that look for something to do
 *   sleeping   workers that found nothing
 *   waiting    workers that joined a stolen task and look at its thief
 *   active     workers, and callers that take part, that neither sleep nor are blocked
 */
#define FJ_SEARCHING UINT64_C(1)
#define FJ_SLEEPING  (UINT64_C(1) << 16)
#define FJ_WAITING   (UINT64_C(1) << 32)
#define FJ_ACTIVE    (UINT64_C(1) << 48)

static inline unsigned rota__crowd_get(uint64_t crowd, uint64_t unit)
{
    return (unsigned)(crowd / unit & 0xffff);
}

struct rota__fj_pool {
    rota_executor executor; /* first */
    uint32_t generation;
    unsigned parallelism;
    unsigned max_threads;
    rota_ns keep_alive;
    bool fifo;
    bool is_common;
    rota_hooks hooks;
    rota__thread_plan *plan;
    rota__atomic(uint32_t) state; /* rota_executor_state; grows with the lock held */
    rota__stop_word stopped;      /* set after the state is ROTA_STOP */
    rota__atomic(uint64_t) crowd;
    rota__atomic(size_t) submissions;          /* in the inbox; written with the lock held */
    rota__atomic(rota__fj_worker *) * workers; /* max_threads; those that were ever made stay */
    rota__atomic(uint32_t) made;
    rota__atomic(uint32_t) forcing; /* 1: somebody does */

    rota__mutex lock;       /* the rest */
    rota__task_slist tasks; /* the inbox: of rota_submit and rota_execute, */
    rota_fj *first, *last;  /* and of rota_fork and rota_invoke */
    bool tasks_next;        /* whose turn it is */
    rota__list sleepers;    /* the first is the next to wake */
    rota__list ended;       /* left, but not joined */
    rota__latch quiet;      /* for quiescence */
    rota__latch waiters;    /* for the end */
    rota__fj_worker *free;
    unsigned threads; /* made, or being made, and not left */
    unsigned guests;  /* callers that take part */
    unsigned resting; /* workers in rota_await_quiescence */
    uint64_t quiets;  /* moments when only those were busy */
    uint64_t number;  /* of the next thread */
};

static inline rota__fj_pool *rota__fj_pool_of(rota_executor *ex)
{
    return ROTA__CONTAINER(ex, rota__fj_pool, executor);
}

static inline rota_executor_state rota__fj_pool_state(const rota__fj_pool *pool)
{
    return (rota_executor_state)rota__load_acquire(&pool->state); /* pairs with its change */
}

static inline bool rota__fj_is_here(const rota__fj_pool *pool)
{
    return pool->generation == rota__process_generation();
}

/* For an execution of a task that `runner` runs; NULL: the task runs outside of its pool. */
static inline rota__stop_word *rota__fj_stop_word(const rota__fj_worker *runner)
{
    return runner != NULL ? &runner->pool->stopped : NULL;
}

rota__fj_pool *rota__as_forkjoin(rota_executor *ex); /* NULL: another kind */
int rota__fj_pool_new(const rota_forkjoin_options *options, bool is_common, rota__fj_pool **out);
bool rota__fj_pool_end(rota__fj_pool *pool); /* with the process; true: it is freed, too */
rota__fj_pool *rota__fj_common(void);        /* NULL: no memory */
/* The number in `text`, or `usual` if `text` is NULL or not a number from 0 to 32767. */
unsigned rota__parse_parallelism(const char *text, unsigned usual);
extern rota__atomic(rota__fj_pool *) rota__the_common; /* common.c only, and tests */

/* With the lock held: nothing is queued, and so many are busy. */
unsigned rota__fj_count_busy(const rota__fj_pool *pool);
bool rota__fj_has_only(const rota__fj_pool *pool, unsigned busy);
int rota__fj_await_quiet(rota__fj_pool *pool, rota_ns deadline); /* without: until none is */

/* As an executor's kind has them. */
rota_executor_state rota__fj_state_of(const rota_executor *ex);
void rota__fj_snapshot(rota_executor *ex, rota__snapshot *snapshot);
int rota__fj_describe(const rota_executor *ex, char *line, size_t size);

/* With the lock held, which it leaves, after something that may have ended all work. */
void rota__fj_settle(rota__fj_pool *pool);

int rota__fj_submit(rota__fj_pool *pool, rota_fj *task); /* ROTA_OK: somebody runs it */

/* Out of the inbox, for want of a worker. False: somebody has it. */
bool rota__fj_take_back(rota__fj_pool *pool, rota_fj *task);

/* -- inbox.c: all with the lock held -------------------------------------- */

void rota__inbox_put_task(rota__fj_pool *pool, rota_task *task);
void rota__inbox_put(rota__fj_pool *pool, rota_fj *task);
rota_fj *rota__inbox_take(rota__fj_pool *pool); /* the oldest, as an entry; or NULL */
bool rota__inbox_remove_task(rota__fj_pool *pool, const rota_task *task);
bool rota__inbox_remove(rota__fj_pool *pool, const rota_fj *task);
rota_fj *rota__inbox_take_if(rota__fj_pool *pool, /* of rota_fork and rota_invoke; or NULL */
                             bool (*is_wanted)(rota_fj *task, const void *arg), const void *arg);
rota_task *rota__inbox_take_task(rota__fj_pool *pool);

/* -- crew.c --------------------------------------------------------------- */

/* Something became public: wakes or makes a worker, if one is wanted and nobody searches. */
void rota__crew_call(rota__fj_pool *pool);

/* The same after tasks from outside, with the lock held, which it leaves. ROTA_EAGAIN, ROTA_ENOMEM:
   there is no worker, and none could be made. */
int rota__crew_call_locked(rota__fj_pool *pool);

/* The same; tasks that were accepted, and for which nobody is there or can be made, run here. */
void rota__crew_insist(rota__fj_pool *pool);

/* With the lock held, which it leaves: one has gone, on whom somebody may have counted. The pool may
   be gone after that, too. */
void rota__crew_hand_on(rota__fj_pool *pool);

bool rota__crew_wants_more(const rota__fj_pool *pool, uint64_t crowd);

/* One is not active any more, and has not looked at all: those whose tasks are private, as enough
   were active when they last asked, are to ask again. */
void rota__crew_place_is_free(rota__fj_pool *pool);

/* If nothing in there is public any more: what its owner forks next is for those who sleep. */
void rota__crew_ask_for_more(rota__fj_pool *pool, rota__deque *deque);

/* As rota__deque_steal, and that. */
rota_fj *rota__crew_steal(rota__fj_pool *pool, rota__deque *deque);

/* True: a worker that does not answer requests has tasks for others now. */
bool rota__crew_force(rota__fj_pool *pool);

bool rota__crew_has_work(rota__fj_pool *pool); /* that is public, or came from outside */

/* That, or something private for one who could still be called, and gets it by a request or by force. */
bool rota__crew_has_more(rota__fj_pool *pool);

void rota__crew_search(rota__fj_worker *worker);
void rota__crew_found(rota__fj_worker *worker); /* ends a search that found something */
bool rota__crew_sleep(rota__fj_worker *worker); /* ends one that did not; false: it is to leave */
void rota__crew_leave(rota__fj_worker *worker); /* the last that a worker's thread does */

int rota__crew_block(rota__fj_worker *worker, bool needs_one); /* as rota_block_begin */
void rota__crew_unblock(rota__fj_worker *worker);

/* A caller takes part: with the lock held. NULL: no more may. */
rota__fj_worker *rota__crew_enter(rota__fj_pool *pool);
void rota__crew_exit(rota__fj_worker *worker); /* without */

void rota__crew_wake_all(rota__fj_pool *pool); /* with the lock held */
void rota__crew_join_ended(rota__fj_pool *pool);

#endif
