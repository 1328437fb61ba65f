/* SPDX-License-Identifier: MIT */
/*
 * engine.h - what the parts of the explorer know of one another.
 *
 *   engine.c    threads as fibers: who runs, who waits, what is wrong
 *   choice.c    every choice of a schedule, by one of the strategies
 *   memory.c    atomic operations, store buffers, clocks, data races
 *   history.c   atomic operations as C11 allows them
 *   heap.c      memory that knows whether it was freed
 *   platform.c  os.h for the library
 *   main.c      the command line, reports, replay
 */
#ifndef ROTA_TESTS_ENGINE_H
#define ROTA_TESTS_ENGINE_H

#include "base/thread.h"
#include "explore.h"
#include "fiber.h"
#include "os/cleanup.h"

/* More for longer programs, as a fuzzer writes them. */
#ifndef EX_SCALE
#define EX_SCALE 1
#endif

enum { EX_THREADS = 8 * EX_SCALE, EX_STACK = 64 * 1024 * EX_SCALE, EX_BUFFER = 8 };

/* Who waits until then waits for ever: a clock that came so far would count no further. */
#define EX_END_OF_TIME (INT64_MAX / 2)

/* -- Choices (choice.c) ---------------------------------------------------------------------- */

typedef enum ex_kind {
    EX_SWITCH,   /* which thread goes on; 0 is the one that runs, if it can */
    EX_DELAY,    /* 1: a store stays in the store buffer for a while */
    EX_SPURIOUS, /* 1: a wait ends for no reason */
    EX_TIME,     /* 1: much time passes before a look at the clock */
    EX_FAULT,    /* 1: memory, or whatever else is asked for, is refused */
    EX_STALE,    /* how many messages before the newest an atomic operation reads or writes */
    EX_FREE,     /* the scenario's own, and which of several waiters is woken */
    EX_KINDS
} ex_kind;

typedef enum ex_strategy { EX_RANDOM, EX_PCT, EX_DFS, EX_BYTES, EX_REPLAY } ex_strategy;

typedef struct ex_options {
    ex_strategy strategy;
    uint64_t seed;
    unsigned depth;            /* of PCT; or the bound on preemptions of DFS */
    unsigned budget[EX_KINDS]; /* how often a choice other than 0, in one schedule */
    const uint8_t *bytes;      /* EX_BYTES: one for each choice */
    size_t byte_count;
} ex_options;

/* Choices other than 0, which are a schedule: at the index-th step, this value. */
typedef struct ex_turn {
    uint32_t index;
    uint8_t value;
    uint8_t kind;
} ex_turn;

enum { EX_TURNS = 4096 };

typedef struct ex_schedule {
    ex_turn turns[EX_TURNS];
    size_t count;
} ex_schedule;

void choice_setup(const ex_options *options, const ex_schedule *replay);
void choice_begin(void); /* of a schedule */
bool choice_next(void);  /* DFS: false when all were tried */
void choice_tick(void);  /* a step without a choice */
bool choice_is_replay(void);
bool choice_allows(ex_kind kind); /* can it be other than 0 in this schedule? */
unsigned choice_make(ex_kind kind, unsigned n);
/* Among threads[0..n-1]; the first is the running one if `stays`. Those from `timed` on wait for a time. */
unsigned choice_thread(const int *threads, unsigned n, unsigned timed, bool stays);
void choice_yielded(int thread);
const ex_schedule *choice_taken(void); /* in this schedule, so far */
uint32_t choice_count(void);

/* -- Threads (engine.c) ---------------------------------------------------------------------- */

typedef enum ex_status { EX_UNUSED, EX_RUNNABLE, EX_WAITING, EX_JOINING, EX_ENDED } ex_status;

typedef struct ex_store {
    void *address;
    uint64_t value;
    uint8_t size;
    bool release;
    uint32_t clock[EX_THREADS];
} ex_store;

struct ex_thread {
    fiber fiber;
    int id;
    ex_status status;
    bool yielded;      /* lets others go first */
    const void *word;  /* EX_WAITING: on this, */
    rota_ns deadline;  /* until then */
    ex_thread *joined; /* EX_JOINING */
    void (*body)(void *arg);
    void *arg;
    ex_scope *scopes; /* the innermost, or NULL */
    rota__os_exit_hook *at_exit;
    rota_thread self; /* the library's thread-local data */
    uint32_t clock[EX_THREADS];
    ex_store buffer[EX_BUFFER]; /* oldest first */
    unsigned buffered;
};

extern ex_thread *ex_running;
extern rota_ns ex_now;

/* Before each step that other threads can see: any of them may go first. */
void ex_point(const char *operation, const void *object, const char *file, int line);
void ex_yield(void);    /* others go first, until one of them changes something */
void ex_progress(void); /* somebody did */
void ex_barrier(void);  /* what any thread did so far is before what the running one does next */
void ex_wait(const void *word, rota_ns deadline); /* not runnable until woken or in time */
void ex_wake(const void *word);                   /* one who waits there */

bool ex_has_room(void); /* for another thread */

/*
 * Deliberate bugs. tools/bugs.py writes a copy of src/ that has them, with a table of their places
 * that ends with NULL; the library's own source has none. At most one is switched on.
 */
extern const char *const ex_bugs[] __attribute__((weak));
bool ex_bug(int number);               /* is it on? 1 is the first of ex_bugs */
bool ex_bug_switch(const char *place); /* on; false if there is no such bug */

/* Descriptors: numbered from 1 in each schedule. */
int ex_event_new(void);
void ex_event_set(int event, bool readable);

/* A step of a schedule, for its trace. */
typedef struct ex_step {
    int thread;
    const char *operation;
    const void *object;
    const char *file;
    int line;
} ex_step;

enum { EX_STEPS = 20000 * EX_SCALE };
extern ex_step ex_trace[EX_STEPS]; /* of the last schedule that was traced */
extern unsigned ex_trace_count;

/* One schedule of the scenario. NULL: nothing was found, else what. */
const char *ex_run(const ex_scenario *scenario, bool trace);
bool ex_owns_stack(const void *address, ex_thread **owner);
bool ex_owns_memory(const void *address, ex_thread **owner); /* its stack, or thread-local */

/* -- Memory (memory.c, heap.c) --------------------------------------------------------------- */

void memory_begin(void);
void memory_forget(void);  /* what was learned of another scenario's objects */
bool memory_learned(void); /* something new, since this was last asked */
void memory_start(ex_thread *parent,
                  ex_thread *child); /* what the parent did is before the child */
void memory_join(ex_thread *parent, const ex_thread *child);
void memory_drain(ex_thread *thread);        /* its store buffer */
void memory_freed(void *block, size_t size); /* as if it were written to */
void memory_check(const void *address, const char *what, const char *file, int line);

void clock_join(uint32_t *to, const uint32_t *from);
void clock_tick(ex_thread *thread);
uint64_t rmw_result(uint64_t old, ex_rmw how, uint64_t operand);

/* -- Memory as C11 has it (history.c) -------------------------------------------------------- */

bool history_is_on(void); /* in this schedule */
void history_begin(void);
void history_start(const ex_thread *parent, const ex_thread *child);
void history_join(const ex_thread *parent, const ex_thread *child);
void history_barrier(void); /* membarrier(2): every thread sees what any thread did before */
void history_plain_write(uintptr_t begin, size_t size);
uint64_t history_load(const void *address, size_t size, ex_order order);
void history_store(void *address, size_t size, uint64_t value, ex_order order);
uint64_t history_modify(void *address, size_t size, ex_rmw how, uint64_t operand, ex_order order);
bool history_cas(void *address, size_t size, uint64_t *expected, uint64_t desired, ex_order order);
void history_wake(const void *address, size_t size); /* the running thread wakes sleepers there */
void history_see_wakes(const void *address, size_t size); /* it is about to sleep there */

void heap_begin(void);
size_t heap_live(void);
bool heap_is_freed(const void *address);
extern const rota_allocator heap_allocator;

#endif
