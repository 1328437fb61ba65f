/* SPDX-License-Identifier: MIT */
/*
 * workers_internal.h - the threads of a pool, from their start to the pool's termination.
 *
 *   ctl.h          the state of a pool and the number of its workers, with every transition
 *   workers.c      a worker's thread; callers; stop, termination
 *   thread_plan.c  how threads are created
 *
 * A worker is counted in the control word (its place) and has a record in a list. A pool decides when
 * a place is taken and given up; this module starts the thread for a place, registers it and joins
 * it. A caller is a thread of the program that runs tasks of the pool for a while. It is registered
 * like a worker, so that a stop reaches it and the pool does not terminate before it has left.
 *
 *   workers.W1  The list has every worker whose thread is being started or has not left yet, and every
 *               caller. It and the other fields below `lock` change with the lock held.
 *   workers.W2  A pool begins to terminate in one step with the check that no worker is counted and
 *               that the list is empty. A thread that still touches the pool afterwards is one of the
 *               ended threads, which are joined before the pool is freed, or holds an in-flight
 *               reference.
 *   workers.W3  The termination is announced with the lock held. The thread that frees the pool takes
 *               the lock once more, after which no other thread touches the pool.
 *   workers.W4  User functions are called with no lock held: hooks, on_start, on_exit, create.
 *   workers.W5  In a child of fork(2) the pool looks terminated, and its memory is left alone, because
 *               its locks may be held for ever: fork.h.
 */
#ifndef ROTA_WORKERS_INTERNAL_H
#define ROTA_WORKERS_INTERNAL_H

#include "base/fork.h"
#include "base/wait.h"
#include "exec/exec_internal.h"
#include "workers/ctl.h"

#include <rota/pool.h>

typedef struct rota__workers rota__workers;
typedef struct rota__worker rota__worker;

/* -- How threads are created (thread_plan.c) -------------------------------- */

/* A copy of rota_threads, shared by the workers that are started with it. */
typedef struct rota__thread_plan {
    rota__atomic(uint32_t) references;
    size_t size; /* of this block */
    rota_threads threads;
} rota__thread_plan;

int rota__thread_plan_new(const rota_threads *threads, rota__thread_plan **out);
rota__thread_plan *rota__thread_plan_ref(rota__thread_plan *plan);
void rota__thread_plan_unref(rota__thread_plan *plan);

/* Starts a thread that calls body(arg), as the plan says. `number` is the number in its name. */
int rota__thread_plan_start(const rota__thread_plan *plan, uint64_t number, rota__os_thread *thread,
                            void (*body)(void *arg), void *arg);

/* Writes the name of a thread: "resize-%u" and 7 make "resize-7", cut to `size`. */
void rota__format_thread_name(char *name, size_t size, const char *pattern, uint64_t number);

/* -- Workers ---------------------------------------------------------------- */

/* The record of one thread of a pool, or of a caller, which lies on the caller's stack. */
struct rota__worker {
    rota__link link; /* in workers->list, or in workers->ended */
    rota__workers *workers;
    rota_task *first;  /* runs before any task of the queue; or NULL */
    rota_thread *self; /* NULL until the thread has registered; under the lock */
    rota__os_thread thread;
    rota__helper helper;           /* while the thread waits inside a task */
    const rota__helper *outer;     /* the helper that a caller had before */
    rota__thread_plan *plan;       /* NULL: a caller */
    rota__task_counts task_counts; /* written by the thread alone */
    rota__run *run;                /* in the frame of worker_main; NULL for a caller */
    rota__inside inside;           /* exec.E3 */
};

/* The decisions of a pool about its workers. No member is NULL. */
typedef struct rota__workers_ops {
    bool precise_timers;                /* workers wait until a task is due */
    void (*work)(rota__worker *worker); /* returns when the worker has given up its place */
    /* A task has ended the thread. Returns when the place is another thread's, or gone. */
    void (*unwound)(rota__worker *worker);
    void (*left)(rota__workers *workers); /* a worker or a caller has left the list */
} rota__workers_ops;

struct rota__workers {
    rota_executor *executor;
    const rota__workers_ops *ops;
    const rota__run_ops *run_ops;
    rota_hooks hooks;
    rota__helper helper; /* copied into each worker */
    bool strict_wait;    /* workers do not help */
    uint32_t generation; /* workers.W5 */
    rota__ctl ctl;
    rota__stop_word stopped; /* ctl.C3 */

    rota__mutex lock; /* protects the rest: workers.W1 */
    rota__list list;
    rota__list ended;       /* threads that have left and are not joined yet */
    rota__latch terminated; /* threads that wait for the termination */
    rota__thread_plan *plan;
    uint32_t size;        /* workers in the list */
    uint32_t starting;    /* workers in the list whose start may still fail */
    uint32_t started;     /* workers in the list that have registered */
    uint32_t callers;     /* callers in the list */
    uint32_t largest;     /* POOL-47 */
    uint64_t next_thread; /* the number of the next thread */
    uint64_t completed;   /* tasks of workers and callers that have left */
};

/* Initialises the generation, the lists and the latch. The caller has set the fields above, and the
   rest is zero. Takes over a reference to the plan. */
void rota__workers_init(rota__workers *workers, rota__thread_plan *plan);

/* Frees everything that the workers own, after the termination. */
void rota__workers_destroy(rota__workers *workers);

static inline bool rota__workers_are_here(const rota__workers *workers)
{
    return workers->generation == rota__process_generation(); /* workers.W5 */
}

static inline rota_executor_state rota__workers_state(const rota__workers *workers)
{
    return rota__ctl_state(rota__ctl_load(&workers->ctl));
}

/* Starts a thread for a place that the caller has counted (ctl.C2). If that fails, the place still
   belongs to the caller. The first task counts as running from the start. */
int rota__worker_start(rota__workers *workers, rota_task *first);

/* The record of the calling thread in this pool, or NULL. */
rota__worker *rota__worker_self(rota__workers *workers);

/* Runs a task inside another task of the worker, or of the caller. */
void rota__worker_run_nested(rota__worker *worker, const rota__run_ops *ops, rota_task *task);

/* -- Callers ---------------------------------------------------------------- */

/*
 * Registers the calling thread as a caller. Its record must stay valid until rota__caller_leave. A
 * thread with a place always succeeds, and helps while it waits in a task. A thread without a place
 * fails if the pool has been shut down; that check and the registration are one step. The thread is
 * inside the executor and holds an in-flight reference until it leaves.
 */
bool rota__caller_enter(rota__worker *caller, rota__workers *workers, bool has_place);
void rota__caller_leave(void *caller); /* also while the thread is being unwound */

/* -- The end of a pool ------------------------------------------------------ */

/* Interrupts all tasks that run, and all that will. The state must be STOP already (ctl.C3). */
void rota__workers_stop(rota__workers *workers);

/* Begins to terminate, if the list is empty and *seen is still the control word. *all_have_left says
   whether the list was empty. After true, the caller must call rota__workers_terminate. */
bool rota__workers_begin_tidying(rota__workers *workers, uint32_t *seen, bool *all_have_left);
void rota__workers_terminate(rota__workers *workers);

int rota__workers_await_termination(rota__workers *workers, rota_ns timeout);

/* Joins the threads that have ended. Their thread-specific destructors have then run. */
void rota__workers_join_ended(rota__workers *workers);

/* -- Counts ----------------------------------------------------------------- */

static inline uint64_t rota__counts_running(uint64_t counts)
{
    return counts & (ROTA__ONE_COMPLETED - 1);
}

static inline uint64_t rota__counts_completed(uint64_t counts)
{
    return counts >> ROTA__RUNNING_BITS;
}

#endif
