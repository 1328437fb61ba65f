/* SPDX-License-Identifier: MIT */
/*
 * soak.h - everything at once, for as long as one likes, with exact accounts.
 *
 *   main.c      the command line, rounds, what is printed
 *   quiet.c     between two rounds: memory, descriptors and threads are as at first
 *   trend.c     does memory grow?
 *   player.c    threads that make random moves at random stations
 *   station.c   a station: an executor, its items; ended, settled and made anew
 *   item.c      what became of one submission
 *   kinds.c     the kinds of executor, but for
 *   plain.c     pools, and
 *   timed.c     scheduled ones
 *   groups.c    several tasks at once: invoke_all, invoke_any, completions
 *   graphs.c    composed futures
 *
 * A round takes about a second. Its players submit, cancel, wait, interrupt, change settings and
 * end executors, all of them after random numbers from the round's own seed. Whenever an executor is
 * ended, and when a round is, what it says of itself is compared with what its tasks have noted.
 */
#ifndef ROTA_SOAK_H
#define ROTA_SOAK_H

#include "chance.h"
#include "wood.h"

enum {
    STATIONS = 8, /* the first is the common pool's */
    PLAYERS = 4,
    ITEMS = 1 << 14,  /* of a station, until it is settled */
    MOST_THREADS = 5, /* of a pool */
    CODE = 4711,      /* that bodies fail with */
    DEEPEST_NEST = 8,
    LONGEST_SERIES = 100, /* runs */
};

#define PATIENCE ROTA_SEC(20) /* with what must come any moment */

/* -- Items ----------------------------------------------------------------------------------- */

/* What a body does. */
enum what { RETURNS, FAILS, YIELDS, SLEEPS, NESTS, TEARS };

enum { REFUSED = 1, ACCEPTED = 2 }; /* 0: it is not known, as of a step that is not a task */

struct item {
    struct station *station;
    _Atomic(rota_future *) future; /* held until it is settled; or NULL */
    uint32_t seed;
    uint8_t what;
    uint8_t most;     /* runs of a step, or of an attempt; 0: it is a task, and runs once */
    bool is_plain;    /* rota_execute's: nobody is told that it was discarded */
    bool is_periodic; /* its future is held */
    bool is_far;      /* not due for an hour; likewise */
    bool is_torn;     /* it has ended its thread */
    atomic_uchar offer;
    atomic_uint runs, ended; /* bodies begun, and ended */
    atomic_uint frees;       /* of results */
    atomic_uint turns;       /* runs by the pool, as after_execute tells */
    atomic_uchar discards;
    atomic_uchar told;        /* of its failure, that nobody sees */
    atomic_bool by_caller;    /* run by the thread that submitted it, ... */
    atomic_bool dropped;      /* ... or discarded there, instead of being accepted */
    atomic_bool is_disturbed; /* somebody may have cancelled it, ... */
    atomic_bool is_cancelled; /* ... or has */
    atomic_bool is_claimed;   /* somebody completes it by hand, ... */
    atomic_bool is_given;     /* ... or has */
};

/* A1, A2: each that is offered ends in one of the next four ways. */
struct counts {
    unsigned long long offered, refused, succeeded, failed, discarded;
    unsigned long long cancelled, again, steps;
};

rota_call item_call(struct item *item);
void item_step(struct item *item); /* a step, or an attempt, runs */
bool item_is_met(const struct item *item);
void item_cancel(struct item *item, rota_future *future, bool now);
void item_complete(struct item *item, rota_future *future); /* by hand */
void item_settle(struct item *item, struct counts *counts); /* when nothing can come any more */

bool item_is_in(const rota_task *task); /* else the task is one of the library's own */
struct item *item_of(const rota_task *task);

extern _Thread_local bool is_worker; /* of an executor with hooks */

/* This thread's rejection handler decides on it. */
extern _Thread_local const struct item *in_question;

/* -- Stations -------------------------------------------------------------------------------- */

struct kind {
    const char *name;
    rota_executor *(*make)(struct station *station, test_random *random);
    void (*move)(struct station *station, test_random *random); /* of its own; or NULL */
    void (*release)(struct station *station); /* what would hold up its end; or NULL */
    void (*check)(struct station *station);   /* its figures; or NULL */
    bool helps;                               /* a worker that waits for a queued task runs it */
    bool tears;                               /* a body may end its thread */
    bool outlived;                            /* its tasks run elsewhere, also after its end */
    bool repeats;                             /* one task may be completed many times */
    bool stays;                               /* it cannot be ended */
};

extern const struct kind common_kind;
const struct kind *any_kind(test_random *random);

/* A rejection policy, and whose calls of it are counted. */
struct policy {
    struct station *station;
    rota_reject *reject;
};

struct station {
    const struct kind *kind;
    rota_executor *executor;
    pthread_rwlock_t lock; /* read by who uses the executor; written by who settles it */
    unsigned generation;
    unsigned most_threads;
    bool is_strict; /* waits do not help */
    bool has_hooks;
    bool takes_plain; /* tasks of rota_execute, too */
    bool is_pure;     /* only items are submitted, one by one: all figures are exact */
    atomic_bool is_ending;
    atomic_bool has_discarded; /* plain tasks, perhaps, that are in no other count */
    atomic_bool is_stopped;    /* shutdown_now has returned */

    struct item *items;
    size_t room; /* of them that are to be used */
    atomic_size_t used;

    atomic_uint started, exited; /* threads */
    atomic_uint rejections;      /* calls of the handler */
    atomic_uint late;            /* bodies that began after shutdown_now had returned */
    atomic_uint own_turns;       /* of tasks that are no items */
    atomic_uint terminations;
    struct policy policies[TEST_POLICIES];
    test_wood wood;
};

extern struct station stations[STATIONS];

void station_init(struct station *station);
void station_open(struct station *station, const struct kind *kind, test_random *random);
size_t station_used(const struct station *station);
void stations_describe(void);

/* One that is new, or NULL when all are used up; and one of the used, or NULL. */
struct item *station_item(struct station *station, test_random *random);
struct item *station_any(struct station *station, test_random *random);

bool station_submit(struct station *station, struct item *item); /* false: it was refused */
bool station_noted(struct item *item, int status);               /* what a submission returned */

/* By who holds it for reading, and then no more; and by who is alone with it. */
void station_end(struct station *station, test_random *random);
void station_settle(struct station *station, test_random *random);

/* -- Pools and scheduled pools (plain.c, timed.c) -------------------------------------------- */

rota_hooks station_hooks(struct station *station);
rota_threads station_threads(struct station *station);
rota_reject station_reject; /* its ctx: */
struct policy *station_policy(struct station *station, test_random *random);

rota_executor *plain_make(struct station *station, test_random *random);
void plain_move(struct station *station, test_random *random);
void plain_check(struct station *station);

rota_executor *timed_make(struct station *station, test_random *random);
void timed_move(struct station *station, test_random *random);
void timed_release(struct station *station);
void timed_check(struct station *station);

/* -- Moves of all kinds ---------------------------------------------------------------------- */

void group_move(struct station *station, test_random *random);
void graph_move(struct station *station, test_random *random);

/* -- Rounds ---------------------------------------------------------------------------------- */

void players_run(uint64_t seed, rota_ns duration);

/* What has happened so far. */
struct tally {
    atomic_ullong offered, refused, succeeded, failed, discarded, cancelled, again, steps;
    atomic_ullong forks;
    atomic_uint executors;
};

extern struct tally all;

struct quiet {
    size_t blocks, rss, descriptors, threads;
};

/* First, without executors; and after each round: ends the process if something is left. */
void quiet_begin(void);
struct quiet quiet_check(void);

/* How memory in use changes: bytes an hour, once enough is known, and the error of that. */
void trend_add(rota_ns at, size_t bytes);
bool trend_is_known(void);
double trend_slope(double *error);
void trend_check(void);

#endif
