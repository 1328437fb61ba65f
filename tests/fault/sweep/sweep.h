/* SPDX-License-Identifier: MIT */
/*
 * sweep.h - every call of the library, with every fault at every place.
 *
 * A row is a call, and what it is made on: a scene. The engine sets the scene, makes the call while
 * the k-th request of one kind is refused, looks at what came of it and strikes the scene; then the
 * same with k + 1, until the call is over before the fault is reached. Each fault comes once, and
 * then from the k-th request on until the call is over; each on the thread that calls, and then on
 * the library's own threads.
 *
 * After a call that failed: the status is one that the row names for that kind of fault, nothing was
 * given, the scene is as it was, and the same call succeeds when it is made again. In any case what
 * was queued has run when the scene is struck, all memory and descriptors are back, and a timed call
 * was not early. A row that names a status which never comes is wrong, too.
 *
 * All checks are test_check: when one fails, the engine says which run it was.
 */
#ifndef ROTA_SWEEP_H
#define ROTA_SWEEP_H

#include "pools.h"
#include "rota_test_internal.h"

typedef enum sweep_kind {
    SWEEP_MEMORY,
    SWEEP_THREAD,
    SWEEP_EXIT,  /* that the thread's end can be watched for: memory of the C library */
    SWEEP_EVENT, /* a descriptor */
    SWEEP_WAIT,
    SWEEP_WAKE,
    SWEEP_STOP, /* of the clock */
    SWEEP_JUMP, /* likewise */
    SWEEP_KINDS
} sweep_kind;

/* -- Scenes ---------------------------------------------------------------------------------- */

typedef struct sweep_scene {
    const char *name;
    void (*set)(void);
    void (*intact)(void); /* checks that it is as it was set; NULL: there is nothing to see */
    void (*strike)(void);
} sweep_scene;

typedef const sweep_scene *const sweep_scenes[]; /* ended by NULL */

extern sweep_scenes sweep_nowhere; /* nothing is there before the call */

/* What most scenes are made of. Fresh in each run. */
typedef struct sweep_stage {
    rota_executor *pool;
    test_gate gate;      /* at which a task of the pool waits */
    bool is_open;        /* the gate */
    test_probe queued;   /* a task behind that one */
    test_probe probe;    /* what the call is about */
    rota_future *source; /* not done */
    rota_task *task;
    test_getter getter; /* a thread that waits for the source, or the task's future */
    rota_queue *queue;
} sweep_stage;

extern sweep_stage stage;

/* What the call gives goes here; untouched by one that fails. */
typedef union sweep_given {
    void *any;
    rota_future *future;
    rota_executor *executor;
    rota_queue *queue;
    rota_task *task;
    rota_completion *completion;
} sweep_given;

extern sweep_given given;

void sweep_open_gate(void);                                   /* unless it is open */
void sweep_await_parked(rota_executor *pool, unsigned count); /* its workers, for a task */

/* A promise, and a thread that waits for it; it must end so. */
void sweep_set_source(void);
void sweep_strike_source(void);
void sweep_start_getter(rota_future *future);
void sweep_getter_gets(int status);

/*
 * Executors of each kind: idle ones without threads, busy ones with a task that waits at the gate and
 * one that is queued behind it, waiting ones with a thread that waits for a task.
 */
extern const sweep_scene sweep_idle_pool, sweep_busy_pool, sweep_waiting_pool;
extern const sweep_scene sweep_idle_forkjoin, sweep_busy_forkjoin, sweep_waiting_forkjoin;
extern const sweep_scene sweep_idle_sched, sweep_busy_sched, sweep_waiting_sched;

extern sweep_scenes sweep_executors; /* all of these */
extern sweep_scenes sweep_changed_idle,
    sweep_changed_busy; /* without a look whether they are intact */
extern sweep_scenes sweep_a_pool, sweep_a_busy_pool, sweep_a_sched;
extern sweep_scenes sweep_a_forkjoin, sweep_a_busy_forkjoin; /* the idle and the busy one alone */

extern sweep_scenes sweep_promise; /* the source */
extern sweep_scenes sweep_awaited; /* the source, and a thread that waits for it */

/* -- Rows ------------------------------------------------------------------------------------ */

typedef struct sweep_row {
    const char *call;
    const sweep_scene *const *scenes;
    int (*run)(void);        /* the call, and its status; or sweep_so of what it returns */
    void (*check)(void);     /* after the call that did what it should; lets go of what it gave */
    void (*partner)(void);   /* on another thread, when the caller waits */
    int status;              /* without a fault */
    int may[SWEEP_KINDS][2]; /* what a fault may lead to besides; 0: nothing */
    rota_ns least;           /* how long it takes at least, with that status */
    bool is_quiet;           /* asks for nothing that a fault could meet: tried once, with all */
    bool is_chance;          /* whether a fault has its effect depends on other threads, too */
    bool is_made_once;       /* what it gives is there for good: it cannot be called as new again */
    bool stays;              /* what the common pool has made is there afterwards */
} sweep_row;

enum { SWEEP_WRONG = 1 }; /* no status of the library */

static inline int sweep_so(bool so)
{
    return so ? ROTA_OK : SWEEP_WRONG;
}

#define SWEEP_NEEDS_MEMORY    .may = {[SWEEP_MEMORY] = {ROTA_ENOMEM}}
#define SWEEP_NEEDS_TO_WAIT   .may = {[SWEEP_EXIT] = {ROTA_ENOMEM}}
#define SWEEP_GROWS_AND_WAITS .may = {[SWEEP_MEMORY] = {ROTA_ENOMEM}, [SWEEP_EXIT] = {ROTA_ENOMEM}}
#define SWEEP_GROWS_AND_IS_TIMED         \
    .may = {                             \
        [SWEEP_MEMORY] = {ROTA_ENOMEM},  \
        [SWEEP_EXIT] = {ROTA_ENOMEM},    \
        [SWEEP_JUMP] = {ROTA_ETIMEDOUT}, \
    }
#define SWEEP_TIMED .may = {[SWEEP_EXIT] = {ROTA_ENOMEM}, [SWEEP_JUMP] = {ROTA_ETIMEDOUT}}

/* Rows of one module. */
typedef struct sweep_part {
    const sweep_row *rows;
    size_t count;
} sweep_part;

#define SWEEP_PART(name, table) const sweep_part name = {table, sizeof(table) / sizeof(table)[0]}

extern const sweep_part sweep_base, sweep_task, sweep_future, sweep_executor, sweep_endings;
extern const sweep_part sweep_queue, sweep_queue_waits, sweep_deque, sweep_pool, sweep_reject;
extern const sweep_part sweep_sched, sweep_factory, sweep_compose, sweep_again, sweep_completion;
extern const sweep_part sweep_forkjoin, sweep_completer;
extern const sweep_part sweep_common, sweep_inside, sweep_tree, sweep_parallel;
extern const sweep_part sweep_page, sweep_observe;

/* -- The engine (engine.c) ------------------------------------------------------------------- */

/* Of one row in one scene: how many places there are for each kind, here and there. */
typedef struct sweep_tally {
    unsigned here[SWEEP_KINDS];
    unsigned there[SWEEP_KINDS];
    unsigned runs;
} sweep_tally;

extern const char *const sweep_kind_names[SWEEP_KINDS];

void sweep_prepare(void);
void sweep_observe_prepare(void); /* observe.c */
void sweep_begin_row(void);
bool sweep_end_row(const sweep_row *row); /* were all the statuses that it names seen? */
sweep_tally sweep_every_fault(const sweep_row *row, const sweep_scene *scene);
unsigned sweep_every_pair(const sweep_row *row, const sweep_scene *scene); /* runs */

/* Is the calling thread's partner, or a helper of the scene's: it meets no faults. */
void sweep_spare_this_thread(void);
bool sweep_is_over(void); /* the call that a partner helps with */

void sweep_refuse_memory(bool refused); /* to the caller, while a scene is set */

#endif
