/* SPDX-License-Identifier: MIT */
/*
 * api.h - what the parts of fuzz_api know of one another.
 *
 *   fuzz_api.c       the program: bytes to calls, and the end of everything
 *   api_jobs.c       bodies of tasks, and what became of them
 *   api_makers.c     executors of every kind are made
 *   api_executors.c  what they may do with a task, and how they end
 *   api_nodes.c      futures, what they were made of, and how they must have ended
 *   api_steps.c      futures made of futures
 *   api_rubbish.c    calls with arguments that cannot be
 *
 * Threads are the explorer's fibers: they take turns only inside the library's calls, so nothing here
 * needs a lock. But what a thread has written may be hidden from the others for a while, so whoever
 * has made something that they will find calls `show` first.
 */
#ifndef ROTA_TESTS_FUZZ_API_H
#define ROTA_TESTS_FUZZ_API_H

#define ROTA_NO_INLINE /* every step is the explorer's to see */
#include "engine.h"

#include <rota/rota.h>

/* -- The program (fuzz_api.c) ---------------------------------------------------------------- */

uint8_t next_byte(void); /* of the program; 0 when there is none left */
rota_ns next_time(void); /* any time, also absurd ones */
rota_ns next_wait(void); /* one that ends, or is none */

bool may_lack(void);       /* memory and threads may be refused in this run, or have run out */
void show(void);           /* all that the calling thread has written */
bool is_actor(void);       /* the calling thread is one of ours, not the library's */
bool interrupt_self(void); /* false: no memory for it */
bool is_lack(int code);    /* ROTA_ENOMEM or ROTA_EAGAIN, where they may be */

/* As ex_check, and says what the status was. */
#define check_status(status, condition) \
    ((condition) ? (void)0 : fail_status(__FILE__, __LINE__, status, #condition))
void fail_status(const char *file, int line, int status, const char *condition);

/* -- Jobs (api_jobs.c) ----------------------------------------------------------------------- */

enum { JOBS = 160, EXECUTORS = 5, NODES = 64 };

typedef struct node node;
typedef struct executor executor;

typedef struct outcome {
    rota_future_state state;
    void *value; /* of success */
    int error;   /* of failure */
} outcome;

/* How often the body of a job may run. */
typedef enum job_kind { ONCE, PERIODIC, TRIES } job_kind;

typedef struct job {
    job_kind kind;
    uint8_t behaviour;
    uint8_t detail;
    bool accepted;
    bool is_bare; /* it has no discard */
    bool owns_result;
    unsigned begun, ended, succeeded, discarded, freed;
    unsigned by_hand; /* results that were given to its future from outside */
    outcome last;     /* of the run that ended last */
    executor *executor;
    node *node; /* NULL: nobody holds its future */
} job;

void jobs_begin(void);
job *job_new(executor *executor, job_kind kind, uint8_t behaviour); /* NULL: enough of them */
rota_call job_call(job *job);
void *job_body(void *job);
void job_refused(const job *job); /* nothing has happened to it */
void jobs_check(void);            /* at the very end */

/* -- Executors (api_makers.c, api_executors.c) ----------------------------------------------- */

typedef enum executor_kind {
    POOL,
    SCHED,
    FORKJOIN,
    HERE,   /* runs each task in the call that submits it */
    MANUAL, /* keeps each task until the program runs or discards it */
    DELAYED
} executor_kind;

enum { KEPT = 16 };

struct executor {
    executor_kind kind;
    rota_executor *handle;
    executor *base;     /* of DELAYED */
    bool is_ending;     /* a shutdown was begun */
    bool is_shut;       /* a shutdown has returned */
    bool may_drop;      /* tasks may be discarded though nobody cancels them */
    bool may_saturate;  /* may refuse tasks while it runs */
    bool may_wait;      /* a submit may wait for room */
    bool refuses;       /* what it cannot take is told the submitter, */
    bool keeps_refused; /* or accepted all the same, and dropped */
    bool has_hook;
    bool is_target; /* steps are submitted to it, by any thread */
    bool is_gone;
    unsigned users; /* tasks of others that are at it */
    unsigned terminated;
    unsigned before, after; /* calls of its hooks */
    rota_task *kept[KEPT];
    unsigned kept_count;
};

int executor_fill(executor *executor, uint8_t kind); /* ROTA_OK: it is there */
rota_reject *executor_policy(executor *executor);    /* any; for its own use */

void executors_begin(void);
void executor_make(void);
executor *executor_any(void);                   /* by the next byte; NULL: there is none */
executor *executor_of_kind(executor_kind kind); /* likewise */
void executor_check_status(const executor *executor, bool was_shut, int status);
bool executor_may_drop(const executor *executor);
bool executor_may_refuse(const executor *executor);  /* a step, or drop it */
void executor_end(executor *executor, unsigned how); /* shutdown, shutdown_now */
void executor_wait(executor *executor);
void executor_look(executor *executor);
void executor_change(executor *executor);
bool executors_pump(void); /* what manual ones keep; false: nothing */
void executors_shut(void);
void executors_close(void);

/* -- Nodes (api_nodes.c) --------------------------------------------------------------------- */

typedef enum node_kind {
    PROMISE,
    TASK,
    THEN,
    CHAIN,
    BOTH,
    EITHER,
    HANDLE,
    HANDLE_CHAIN,
    RECOVER,
    WHEN_DONE,
    ALL_OF,
    ANY_OF,
    TIMEOUT,
    TIMEOUT_VALUE,
    COPY,
    AGAIN /* a retry or a hedge */
} node_kind;

enum { SOURCES = 3 };

struct node {
    node_kind kind;
    rota_future *future; /* a reference; NULL: not made */
    job *job;            /* of TASK and AGAIN */
    node *sources[SOURCES];
    unsigned source_count;
    executor *executor; /* of its step; NULL: none */
    uint8_t detail;     /* what the step does */
    node *inner;        /* what a chain's step gave */
    unsigned runs;      /* of the step */
    unsigned wins;      /* calls that have ended it, */
    outcome won;        /* like this */
    bool is_owner;      /* cancelling it may cancel its sources */
    bool is_owned;      /* cancelling another may cancel it */
    bool is_endless;    /* it may never end by itself */
    bool is_used;       /* another is made of it */
    bool is_removed;    /* from its pool's queue */
    bool is_let_go;
    unsigned users;  /* threads that are at it, */
    unsigned enders; /* and those of them that may be about to say that they have ended it */
};

void nodes_begin(void);
node *node_new(node_kind kind, executor *executor); /* not there before it has a future */
bool node_is_there(const node *node);
node *node_any(void);                               /* by the next byte; NULL: there is none */
node *node_before(const node *than, uint8_t which); /* NULL: before the next */
outcome node_outcome(const node *node);             /* it is done */
void node_end_by_hand(node *node, unsigned how);
void node_get(node *node, rota_ns timeout);
void node_look(node *node);
void node_do(node *node, void (*what)(rota_future *future)); /* which nobody lets go of meanwhile */
void node_let_go(node *node);
void nodes_finish(void); /* until all are done */
void nodes_check(void);
void nodes_release(void);

bool is_same(outcome a, outcome b);
outcome succeeded_with(void *value);
outcome failed_with(int error);
extern const outcome cancelled;

/* -- Steps (api_steps.c) --------------------------------------------------------------------- */

void step_make(void);
void step_own(node *node);
void step_check(const node *node, outcome actual);

/* -- Rubbish (api_rubbish.c) ----------------------------------------------------------------- */

void rubbish_call(void);

#endif
