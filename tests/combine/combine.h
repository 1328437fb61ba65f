/* SPDX-License-Identifier: MIT */
/*
 * combine.h - one program of tests/combine: the state of a row, its jobs and its accounts.
 *
 * A row is one choice from each list. A choice is a function named LIST_CHOICE, such as work_then; the lists are read
 * from the sources. Choices describe themselves by the flags of `row`, and the oracle in harness.c reads only these
 * flags. These files include <rota/...> alone, as users do.
 */
#ifndef COMBINE_H
#define COMBINE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <rota/rota.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* One function that the library was given, with the account of its runs. */
typedef struct job job;
typedef void *job_fn(job *self);
struct job {
    const char *name;
    job_fn *fn;
    bool is_call;             /* it has a discard function */
    bool is_task;             /* it runs as a task of the row's executor */
    bool is_periodic;         /* its third run fails */
    atomic_bool must_be_calm; /* it begins without an interrupt, also after a stop */
    bool may_vanish;          /* the headers do not promise that it runs or is discarded */
    bool has_value;           /* its result is a value with a free function */
    void *given;              /* the value of a source, which it returns */
    int most;                 /* the most runs */
    atomic_bool accepted;
    atomic_int begun, ended, discarded;
    atomic_bool ends_if_interrupted;
    atomic_bool is_stopped; /* it ran when the event interrupted the tasks */
    _Atomic(pthread_t) thread;
    _Atomic(rota_future *) future; /* of the row's job; a reference */
    _Atomic(rota_fj *) fj;         /* the fork/join task around it */
    rota_thread *sleeper;          /* the thread that sleeps until it is interrupted; row.lock */
};

enum { MOST_JOBS = 64 };

typedef struct row {
    /* The choices. */
    void (*setting)(void);
    void (*moment)(void);
    void (*start)(void);
    void (*event)(bool happens); /* first called with false, to set the flags */
    void (*executor)(void);
    void (*work)(void);
    job_fn *body;
    void (*place)(void);
    int (*wait)(rota_future *future);

    /* Set by the setting, the moment and the start. */
    atomic_bool hooks, owns, queued, late;

    /* Set by the executor. */
    rota_executor *ex,
        *behind;         /* `behind` is the executor that a delayed one passes its tasks to */
    unsigned hold, fill; /* `hold` tasks hold all its threads, and `fill` more fill its queue */
    atomic_bool is_forkjoin, is_common, is_user, is_delayed;
    atomic_bool knows_threads;  /* on_start and on_exit are called on its threads */
    atomic_bool runs_in_caller; /* it may run a task on a thread that submits */
    atomic_bool runs_anywhere;  /* the row itself runs tasks of this executor on other threads */
    atomic_bool submit_waits;   /* if it is full, a submitter waits */
    atomic_bool has_order;      /* it runs tasks one by one */
    atomic_bool one_each;       /* it makes one thread for each task */

    /* Set by the work. */
    rota_future *future;           /* a reference of the row; NULL: the work has none */
    atomic_bool is_composed;       /* to cancel the future does not cancel the job */
    atomic_bool is_source;         /* the composed future is made of the job's own future */
    atomic_bool has_steps;         /* functions of the library run in the executor, too */
    atomic_bool is_awaited;        /* the call that starts the work waits for it */
    atomic_bool caller_takes_part; /* the thread that starts the work runs it if no other does */
    atomic_bool uses_common;       /* memory of the common pool stays until the process ends */
    atomic_bool may_lose;          /* the job is cancelled and interrupted if another is first */
    _Atomic(job *) rival;          /* that other one */
    void (*_Atomic later)(void);   /* the second part of the work, when the waiter waits */
    rota_completion *completion;
    atomic_int start_status; /* ROTA_OK: the work was accepted */

    /* The ends that the headers allow. */
    atomic_int natural;     /* ROTA_OK, ROTA_EFAILED or ROTA_ECANCELED */
    atomic_int error;       /* the code of a failure */
    atomic_bool may_cancel; /* also ROTA_ECANCELED */
    atomic_bool may_refuse; /* also a refusal by an executor that is shut down or full */
    atomic_bool may_starve; /* also a refusal because memory or threads are refused */
    atomic_bool may_time_out;
    atomic_bool may_succeed;   /* also ROTA_OK, if the body could not do what it does */
    atomic_bool may_interrupt; /* tasks may be interrupted */
    atomic_bool stops;         /* the event interrupts all tasks of the executor */
    atomic_bool interrupts;    /* the event interrupts the job, if it runs by then */
    atomic_bool is_dropped;    /* the waiter releases the future at once */
    atomic_bool waits_in_time; /* the waiter's first wait has a timeout */
    atomic_bool is_inside;     /* the waiter is a task of the executor */
    atomic_bool closes;        /* the event closes the executor */
    atomic_bool runs_inline;   /* a call that cannot make a thread may run tasks */

    /* The state. */
    rota_ns limit; /* of the time */
    pthread_mutex_t lock;
    pthread_mutex_t
        closing; /* held while the row submits, and while a job closes a delayed executor */
    pthread_cond_t changed;
    job jobs[MOST_JOBS];
    atomic_int job_count;
    job *main;
    rota_future *sibling, *promise, *late_start, *proxy;
    _Atomic(rota_future *) cancelled;         /* a call to cancel it has returned true */
    rota_executor *other, *forkjoin, *source; /* of the waiters, and of a drained task */
    atomic_bool all_started, happened, is_drained, watches, arrived, go, started, waiting,
        timed_out, waited, released, closed, finished;
    atomic_int failures, threads_made, running, most_running, terminated, values;
    const char *_Atomic phase, *_Atomic waiter_phase;
} row_state;

extern row_state row;
extern _Thread_local int thread_state; /* 0: of the row; 1: after on_start; 2: after on_exit */

/* harness.c */
int row_run(void);
void row_is(const char *place, const char *wait);
void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool check_status(const char *call, int status, int expected);
void set_alarm(rota_ns time);
void changed(void);
bool wait_until(atomic_bool *flag, rota_ns timeout);

/* jobs.c */
job *job_new(const char *name, job_fn *fn);
job *job_find(const void *arg);
rota_call job_call(job *self);
void *job_run(void *arg);
void job_discard(void *arg);
void *job_step(job *self);
void job_is_accepted(job *self, rota_future *future);
void *job_fail(job *self, int code);
void *job_value(job *self);
int job_submit(rota_executor *ex, job *self, rota_future **out);
void sleep_until_interrupted(job *self);
void *quick(job *self);
void *brief(job *self);
void *block(job *self);
void value_free(void *value);
bool value_is_alive(void *value);

/* faults.c */
pthread_t thread_new(void *(*fn)(void *), void *arg);
void refuse_threads(bool on);
void refuse_memory(bool on);
long memory_in_use(void);
void count_memory(void);
unsigned entries(const char *folder);

/* waiters.c */
void *waiter(void *unused);
void check_end(rota_future *future, int status);
rota_future *row_future(void);
void work_is_started(int status, rota_future *future);
void cancel_future(rota_future *future, bool now);

#endif
