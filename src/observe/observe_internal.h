/* SPDX-License-Identifier: MIT */
/*
 * observe_internal.h - what is known of executors, and how it comes to be known.
 *
 *   clock.c       a clock that costs little
 *   histogram.c   times in buckets
 *   names.c       names of tasks, each once
 *   record.c      what each thread writes: the tracer
 *   figures.c     what all threads have written, added up
 *   out.c         text into a buffer, a file or a descriptor
 *   prometheus.c  figures as text
 *   recorder.c    rings of events; switching on and off
 *   chrome.c      events as text
 *   signal.c      events are written out when a signal comes
 *   watchdog.c    a thread that looks for what takes too long
 *   http.c, page.c, page_answer.c, page_html.c, socket.c   figures for a browser
 *
 *   observe.B1  A record has one owner, the thread that uses it, which alone writes to it; but for
 *               what is marked as under the lock, and that who begins to watch clears `awaited`.
 *               Others read its atomics at any time.
 *   observe.B2  Records, cells and rings are linked, and cells given another meaning, with
 *               rota__process_lock held; who reads more than one word of them holds it, too.
 *   observe.B3  A record that its thread has left goes to the next thread that needs one, with its
 *               counts: so there are never more than there were threads at a time.
 *   observe.B4  What a record points to is good for ever: names, and cells as long as their record.
 */
#ifndef ROTA_OBSERVE_INTERNAL_H
#define ROTA_OBSERVE_INTERNAL_H

#include "base/list.h"
#include "base/mutex.h"
#include "base/trace.h"
#include "exec/exec_internal.h"

#include <rota/observe.h>
#include <stdarg.h>

/* -- clock.c -------------------------------------------------------------- */

/* Before the first rota__ticks. It may take some milliseconds, once. */
void rota__ticks_prepare(void);

/* Nanoseconds, as rota_now counts them, but for 1 in 10,000; a fraction of the cost. */
rota_ns rota__ticks(void);

/* -- histogram.c ---------------------------------------------------------- */

/* A histogram that one thread writes and others read. */
typedef struct rota__tally {
    rota__atomic(uint64_t) sum;
    rota__atomic(int64_t) max;
    rota__atomic(uint64_t) bucket[ROTA_HISTOGRAM_BUCKETS];
} rota__tally;

void rota__tally_add(rota__tally *tally, rota_ns time);
void rota__tally_clear(rota__tally *tally);
void rota__tally_merge(rota_histogram *into, const rota__tally *from);

/* -- names.c -------------------------------------------------------------- */

enum { ROTA__NO_NAME, ROTA__OTHER_NAME, ROTA__FIRST_NAME };

/* The number of a name, which is given one if it has none and there is one left. With the lock held. */
uint32_t rota__name_number(const char *name);
const char *rota__name_of(uint32_t number);

/* -- record.c ------------------------------------------------------------- */

/* Tasks of one name in one executor, as one thread has run them. */
typedef struct rota__cell {
    struct rota__cell *next;
    uint32_t executor; /* its number; changed under the lock: observe.B2 */
    uint32_t name;
    uint32_t session;                   /* of the recorder that noted it last, or 0; the owner's */
    char executor_name[ROTA_NAME_SIZE]; /* when this was made */
    rota__atomic(uint64_t) completed;
    rota__atomic(uint64_t) failed;
    rota__tally waiting;
    rota__tally running;
} rota__cell;

typedef struct rota__ring_event {
    rota__atomic(int64_t) time;
    rota__atomic(uint64_t) what; /* a rota__trace_event, the executor's number, the name's */
    rota__atomic(int64_t) value;
} rota__ring_event;

/* The newest events of one thread, since the recorder was started. */
typedef struct rota__ring {
    uint32_t session;               /* of the recorder; changed under the lock */
    size_t size;                    /* a power of 2 */
    rota__atomic(uint64_t) written; /* so many; the last of them are there */
    rota__ring_event event[];
} rota__ring;

enum { ROTA__DEPTH = 8, ROTA__CELL_CACHE = 16 };

/* A task that runs now, for who looks from outside. */
typedef struct rota__running {
    rota__atomic(rota__cell *) cell;
    rota__atomic(int64_t) begun;
    rota__atomic(uintptr_t) future; /* or 0; only ever compared */
    uintptr_t outer;                /* the owner's: what the thread awaited when it began */
    rota_ns told;                   /* the watchdog's: of the run that began then */
} rota__running;

typedef struct rota__record {
    rota__trace_record trace; /* first */
    rota__link link;          /* in the list of all; under the lock */
    bool is_used;             /* likewise: it has an owner */
    long thread_id;           /* of the owner, or the last; likewise */
    char thread_name[ROTA__OS_NAME_SIZE];
    rota__cell *cells; /* likewise */
    unsigned cell_count;
    rota__ring *ring;
    uint32_t introduced; /* the owner's: in this session of the recorder it said who it is */
    rota_ns ended;       /* likewise: its last task, that was not inside of another */
    unsigned inside;     /* likewise: tasks that it runs */

    struct { /* the owner's */
        const char *name;
        rota__cell *cell;
        char text[ROTA_NAME_SIZE]; /* what was there */
    } cache[ROTA__CELL_CACHE];

    rota__atomic(uint32_t) depth;    /* of `running`, where what is deeper is missing */
    rota__atomic(uint32_t) changes;  /* of that, and of `awaited` */
    rota__atomic(uintptr_t) awaited; /* the future that the thread waits for, or 0; only compared */
    rota__running running[ROTA__DEPTH];

    unsigned
        cycle_looks; /* the watchdog's, as is the next: in how many the thread was in a cycle, */
    uint32_t cycle_changes; /* with nothing changed: 2 is for good */
} rota__record;

/* What the tracer does; under the lock to change. */
typedef enum rota__mode { ROTA__FIGURES = 1, ROTA__RECORDS = 2, ROTA__WATCHES = 4 } rota__mode;

void rota__mode_set(rota__mode mode, bool on); /* with the lock held */
bool rota__mode_is(rota__mode mode);

extern rota__list rota__records; /* under the lock */

/* With the lock held: what the executor of that number is called, or was. */
void rota__executor_called(uint32_t number, char *name);

/* -- recorder.c ----------------------------------------------------------- */

/* Of the calling thread, whose record this is. */
void rota__ring_note(rota__record *record, rota__trace_event event, uint32_t executor,
                     uint32_t name, rota_ns time, int64_t value);
void rota__ring_free(rota__ring *ring); /* or NULL */
uint32_t rota__recorder_session(void);  /* the last, or 0 */

/* -- record.c, for tests -------------------------------------------------- */

/* Frees the records that no other thread owns: for tests. */
void rota__observe_forget(void);

/* -- figures.c ------------------------------------------------------------ */

typedef struct rota__summed {
    uint32_t name;
    uint64_t completed, failed;
    rota_histogram waiting, running;
} rota__summed;

/* What is known of an executor's tasks, name by name, in a block of rota__alloc_array. ROTA_ENOMEM. */
int rota__sum_up(const rota_executor *ex, rota__summed **sums, size_t *count);

rota_ns rota__age(int64_t stamp); /* of a task that was submitted, or was due, then; 0: none */

/* -- out.c ---------------------------------------------------------------- */

typedef struct rota__out {
    FILE *file; /* or NULL */
    int fd;     /* or -1 */
    char *text; /* else, with `size` */
    size_t size;
    size_t length; /* of all that was written */
    int status;
    int error; /* errno, of the first that went wrong */
    size_t filled;
    char buffer[1024]; /* for a descriptor */
} rota__out;

void rota__out_begin(rota__out *out, FILE *file, int fd);
void rota__out_print(rota__out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rota__out_escaped(rota__out *out,
                       const char *text); /* for JSON, and for Prometheus's labels */
int rota__out_end(rota__out *out);

#endif
