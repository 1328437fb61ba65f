/* SPDX-License-Identifier: MIT */
/*
 * rota/observe.h - what happens inside: figures, histograms, a recorder, a watchdog, a page.
 *
 *     rota_observe(true);                                 // from now on, for every executor
 *     rota_executor_set_name(pool, "resize");
 *     ...
 *     rota_metrics_print(stdout);                         // Prometheus text: counts, queue lengths,
 *                                                         // how long tasks waited and ran
 *
 *     rota_recorder_start(NULL);                          // what every thread did, and when
 *     ...
 *     rota_recorder_write(fd);                            // for https://ui.perfetto.dev
 *
 * All of this is for the whole process. It can be switched on and off at any time, and costs one
 * branch where it is off. It covers pools, scheduled pools and fork/join pools; of an executor of
 * your own only the name and the state are known. Forked tasks (rota_fork) are too short to be timed
 * one by one: only those that a worker took from another, or from outside, are timed.
 *
 * An executor is not held up by being looked at, except that rota_executor_free and rota_close wait
 * until a call that looks at it has returned.
 */
#ifndef ROTA_OBSERVE_H
#define ROTA_OBSERVE_H

#include <rota/executor.h>
#include <stdio.h>

ROTA_BEGIN

/* -- Histograms ------------------------------------------------------------------------------ */

/*
 * A histogram of times, from 0 to more than a day. Each time is counted in a bucket that is at most 1/8
 * as wide as the time, so a quantile is at most 1/16 off. All zero is an empty histogram. It is plain
 * memory, copied by assignment, and must not be used by several threads at once.
 */
enum { ROTA_HISTOGRAM_BUCKETS = 400 };

typedef struct rota_histogram {
    uint64_t count;
    uint64_t sum; /* of all times, in nanoseconds */
    rota_ns max;
    uint64_t bucket[ROTA_HISTOGRAM_BUCKETS];
} rota_histogram;

void rota_histogram_add(rota_histogram *histogram, rota_ns time); /* below 0 is 0 */
void rota_histogram_merge(rota_histogram *into, const rota_histogram *from);

/* The time that `part` of all times do not exceed: 0.5 gives the median, 1 the longest. 0 if the
   histogram is empty. */
rota_ns rota_histogram_quantile(const rota_histogram *histogram, double part);

/* How many times do not exceed `time`, give or take those in one bucket. */
uint64_t rota_histogram_up_to(const rota_histogram *histogram, rota_ns time);

/* -- Executors ------------------------------------------------------------------------------- */

/*
 * The name of an executor, for figures and traces; at first it is one like "pool-3". A name is copied,
 * and has 1 to ROTA_NAME_SIZE - 1 bytes of UTF-8 without control characters, else ROTA_EINVAL. Two
 * executors may have the same.
 */
enum { ROTA_NAME_SIZE = 32 };

int rota_executor_set_name(rota_executor *ex, const char *name);
int rota_executor_name(const rota_executor *ex, char *name, size_t size); /* like snprintf */

/*
 * Calls `visit` with every executor that there is, in the order they were made, until it returns false.
 * During that call the executor stays: to close it from there is ROTA_EDEADLOCK, to free it ROTA_EBUSY.
 * In a child of fork(2) the executors of the parent are left out. ROTA_EIO if the file cannot be
 * written, with errno set.
 */
typedef bool rota_executor_visitor(rota_executor *ex, void *ctx);

int rota_executors_visit(rota_executor_visitor *visit, void *ctx);
int rota_executors_print(FILE *file); /* for each a line: its name, rota_executor_describe */

/* -- Figures --------------------------------------------------------------------------------- */

/*
 * Switches observing on or off. While it is on, tasks are timed, and counted by name. When it is
 * switched off, the figures stay. ROTA_OK also if nothing changes.
 */
int rota_observe(bool on);
bool rota_is_observing(void);

/*
 * The figures of an executor, all from about one moment. State, threads and counts are always known;
 * oldest, failed and the histograms only for the time in which it was observed.
 *
 * oldest      how long the first task in the queue has waited; in a scheduled pool, since it was due; 0
 *             if there is none, or if it was submitted before observing began
 * failed      how many of the tasks that have run failed
 * waiting     times from submit to begin; for scheduled tasks from when they were due
 * running     times from begin to end
 */
typedef struct rota_figures {
    rota_executor_state state;
    unsigned threads, active;
    size_t queued;
    uint64_t submitted, completed, rejected, stolen;

    rota_ns oldest;
    uint64_t failed;
    rota_histogram waiting, running;
} rota_figures;

int rota_figures_get(rota_executor *ex, rota_figures *figures);

/*
 * Figures by the names of tasks (rota_call.name): `visit` is called for each name, until it returns
 * false. Tasks without a name are "", and all names beyond the first ROTA_OBSERVED_NAMES of the process
 * are "other".
 */
enum { ROTA_OBSERVED_NAMES = 200 };

typedef struct rota_task_figures {
    const char *name; /* good until the process ends */
    uint64_t completed, failed;
    rota_histogram waiting, running;
} rota_task_figures;

typedef bool rota_task_visitor(const rota_task_figures *figures, void *ctx);

int rota_figures_by_task(rota_executor *ex, rota_task_visitor *visit, void *ctx);

/*
 * Writes all figures in the text format of Prometheus, version 0.0.4. rota_metrics_text writes to a
 * buffer and, like snprintf, returns the length of the whole text, which may be another a moment
 * later; a negative number is a status. The others write to a file or a descriptor. ROTA_EIO if that
 * cannot be written, with errno set.
 */
int rota_metrics_text(char *text, size_t size);
int rota_metrics_print(FILE *file);
int rota_metrics_write(int fd);

/* -- The recorder ---------------------------------------------------------------------------- */

/*
 * Options of the recorder. Each thread writes what happens into a ring of its own: tasks begin, end and
 * are stolen, threads wait and go on, a queue is full, a task is rejected, a timer is late. When a ring
 * is full, the newest event takes the place of the oldest. So the recorder can stay on, as a flight
 * recorder does: what is written out is the last that happened.
 *
 * events   how many each thread keeps, rounded up to a power of 2; 0: 16,384, which take 384 KiB
 * keep     events that are older than this when they are written out, or when the recorder was stopped,
 *          are left out; 0: none is
 */
typedef struct rota_recorder_options {
    size_t events;
    rota_ns keep;
    void *reserved[4];
} rota_recorder_options;

/* Starts the recorder, which forgets what it had recorded. NULL options are as all zero. ROTA_EBUSY
   if it runs already. */
int rota_recorder_start(const rota_recorder_options *options);
int rota_recorder_stop(void); /* what was recorded stays; ROTA_OK also if it does not run */

/* Writes what was recorded as trace JSON, for https://ui.perfetto.dev, while the recorder runs or after
   it was stopped. ROTA_EIO if that cannot be written, with errno set. */
int rota_recorder_print(FILE *file);
int rota_recorder_write(int fd);

/*
 * Writes what was recorded whenever the process gets `signal`: to the file `path`, in place of what
 * was in it. A thread of the library does that; the signal handler only wakes it. With a `signal` of
 * 0 this ends, and the signal gets back the handler that it had. ROTA_EAGAIN if no thread can be
 * made.
 */
int rota_recorder_on_signal(int signal, const char *path);

/* -- The watchdog ---------------------------------------------------------------------------- */

typedef enum rota_alarm_kind {
    ROTA_ALARM_TASK,  /* a task runs longer than it should              */
    ROTA_ALARM_QUEUE, /* the first in a queue has waited for too long    */
    ROTA_ALARM_CYCLE, /* it and others wait for one another, for ever    */
} rota_alarm_kind;

/* What the watchdog has seen. The texts are good until the alarm function returns. */
typedef struct rota_alarm {
    rota_alarm_kind kind;
    const char *executor; /* its name                                             */
    const char *task;     /* its name, or ""; of a queue: that of its first        */
    const char *thread;   /* its name, or "" for a queue                          */
    long thread_id;       /* as the system numbers it, else as we do; 0: a queue  */
    rota_ns since;        /* rota_now() when it began to run, wait, or be due     */
} rota_alarm;

/*
 * What the watchdog is to look for.
 *
 * longest_task    a task that runs for longer; a periodic task is timed run by run; 0: none is
 * oldest_queued   a queue whose first task has waited for longer; a task that is not due yet does not
 *                 wait; 0: none is
 * cycles          tasks that wait for one another's futures
 * period          the time between two looks; 0: a quarter of the shorter time above, at least 10 ms
 * alarm           is called on the watchdog's thread: once for each run of a task; once for each cycle,
 *                 for one task in it; and for a queue once, until its first task has waited for less
 * ctx             what alarm is given
 */
typedef struct rota_watchdog_options {
    rota_ns longest_task;
    rota_ns oldest_queued;
    rota_ns period;
    bool cycles;
    void (*alarm)(const rota_alarm *alarm, void *ctx);
    void *ctx;
    void *reserved[4];
} rota_watchdog_options;

/*
 * Starts or stops the watchdog, of which a process has one. It sees tasks that begin after its start,
 * and observes them as if rota_observe were on. ROTA_EBUSY if there is one. ROTA_EAGAIN if no thread
 * can be made. rota_watchdog_stop waits for an alarm function that runs. ROTA_EDEADLOCK from that
 * function.
 */
int rota_watchdog_start(const rota_watchdog_options *options);
int rota_watchdog_stop(void); /* ROTA_OK also if there is none */

/* -- A page that lives ----------------------------------------------------------------------- */

/*
 * Options of the page. One thread serves, with HTTP/1.1: `/`, a page with all executors that refreshes
 * itself; `/metrics` for Prometheus; and `/trace`, what the recorder has. Everything else is refused.
 *
 * address   where to listen; NULL: "127.0.0.1". With another it can be seen from the network: it asks
 *           for no password.
 * port      0: any that is free
 */
typedef struct rota_page_options {
    const char *address;
    unsigned port;
    void *reserved[4];
} rota_page_options;

/* Starts or stops the page, of which a process has one. NULL options are as all zero. *port is the
   port that it listens at; `port` may be NULL. ROTA_EBUSY if there is one. ROTA_EIO if it cannot
   listen there, with errno set. ROTA_EAGAIN if no thread can be made. */
int rota_page_start(const rota_page_options *options, unsigned *port);
int rota_page_stop(void); /* ROTA_OK also if there is none */

ROTA_END
#endif
