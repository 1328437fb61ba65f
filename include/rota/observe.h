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
 * All of this is for the process: it is switched on and off at any time, and costs one branch where
 * it is off. Calls tell of the executors that there are: pools, scheduled pools and
 * fork/join pools. Of an executor of your own, which runs tasks as it likes, they know the name and
 * the state. Tasks that are forked (rota_fork) are too short to be timed one by one: what is timed is
 * what a worker took from another, or from outside.
 *
 * Whoever looks takes part in nothing: an executor is not held up by being looked at, except that
 * rota_executor_free and rota_close wait until who looks has looked away.
 */
#ifndef ROTA_OBSERVE_H
#define ROTA_OBSERVE_H

#include <rota/executor.h>
#include <stdio.h>

ROTA_BEGIN

/* -- Histograms ------------------------------------------------------------------------------ */

/*
 * A histogram of times, from 0 to more than a day. Each is in a bucket that is at most 1/8 as wide as
 * its value, so a quantile is at most 1/16 off. All zero is an empty one. Plain memory: it is copied by
 * assignment, and not for several threads at once.
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

/* The time that `part` of all were not longer than: 0.5 is the median, 1 the longest. 0: it is empty. */
rota_ns rota_histogram_quantile(const rota_histogram *histogram, double part);

/* How many were not longer than `time`, but for the width of one bucket. */
uint64_t rota_histogram_up_to(const rota_histogram *histogram, rota_ns time);

/* -- Executors ------------------------------------------------------------------------------- */

/*
 * An executor has a name, "pool-3" at first, for what is told of it. At most ROTA_NAME_SIZE - 1 bytes,
 * not empty, in UTF-8 without control characters, copied; else ROTA_EINVAL. Two may have the same.
 */
enum { ROTA_NAME_SIZE = 32 };

int rota_executor_set_name(rota_executor *ex, const char *name);
int rota_executor_name(const rota_executor *ex, char *name, size_t size); /* as snprintf */

/*
 * Calls `visit` with every executor there is, in the order they were made, until that returns false.
 * In there the executor cannot go: to close or free it is ROTA_EDEADLOCK or ROTA_EBUSY. Without
 * memory it is ROTA_ENOMEM. Executors that a parent of fork(2) has made are not there.
 */
typedef bool rota_executor_visitor(rota_executor *ex, void *ctx);

int rota_executors_visit(rota_executor_visitor *visit, void *ctx);
int rota_executors_print(FILE *file); /* a line for each: its name, and rota_executor_describe's */

/* -- Figures --------------------------------------------------------------------------------- */

/*
 * Begins to observe, or ends it. On: from now on tasks are timed, and counted by name. Off: what is
 * known stays. ROTA_ENOMEM; ROTA_OK also if it is so already.
 */
int rota_observe(bool on);
bool rota_is_observing(void);

/*
 * What is known of an executor, all at about one moment. Those of the first lines are known always;
 * the rest only for the time that it was observed.
 *
 * oldest      how long the first in the queue has waited to be taken, of a scheduled pool: since it was due;
 *             0: there is none, or it was submitted before
 * waiting     from submit to begin; of scheduled tasks from when they were due
 * running     from begin to end
 * failed      of those that have run
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
 * Figures by the names of tasks (rota_call.name): `visit` is called for each, until it returns
 * false. Tasks without a name are "", and all beyond the first ROTA_OBSERVED_NAMES names of the
 * process are "other". ROTA_ENOMEM.
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
 * All figures in the text format of Prometheus, version 0.0.4. To a buffer: as snprintf, the length of
 * all of it, which a moment later may be another; negative: a status. To a file or a descriptor:
 * ROTA_OK, ROTA_ENOMEM, or ROTA_EIO with errno set.
 */
int rota_metrics_text(char *text, size_t size);
int rota_metrics_print(FILE *file);
int rota_metrics_write(int fd);

/* -- The recorder ---------------------------------------------------------------------------- */

/*
 * Each thread writes what happens into a ring of its own: tasks begin and end, are stolen, threads
 * wait and go on, a queue is full, a task is rejected, a timer is late. When the ring is full, the
 * newest takes the place of the oldest. So it can stay on, as a flight recorder: what is written out
 * is the last of it.
 *
 * events   for each thread, rounded up to a power of 2; 0: 16,384, which take 384 KiB
 * keep     what is older, when it is written out or was stopped, is left out; 0: all that is in the rings
 */
typedef struct rota_recorder_options {
    size_t events;
    rota_ns keep;
    void *reserved[4];
} rota_recorder_options;

/* Starts the recorder, afresh; NULL: all zero. ROTA_EBUSY: it runs already. ROTA_EINVAL, ROTA_ENOMEM. */
int rota_recorder_start(const rota_recorder_options *options);
int rota_recorder_stop(void); /* what was recorded stays; ROTA_OK also if it does not run */

/* What was recorded as Chrome's trace JSON, while it goes on or after it was stopped. ROTA_ENOMEM, or
   ROTA_EIO with errno set. */
int rota_recorder_print(FILE *file);
int rota_recorder_write(int fd);

/*
 * Whenever the process gets `signal`, what was recorded is written to `path`, in place of what is
 * there. By a thread of the library's: the handler does no more than wake that. `signal` 0 ends it, and
 * gives the signal back to who had it. ROTA_EINVAL, ROTA_ENOMEM, ROTA_EAGAIN: no thread.
 */
int rota_recorder_on_signal(int signal, const char *path);

/* -- The watchdog ---------------------------------------------------------------------------- */

typedef enum rota_alarm_kind {
    ROTA_ALARM_TASK,  /* a task runs longer than it should              */
    ROTA_ALARM_QUEUE, /* the first in a queue has waited for too long    */
    ROTA_ALARM_CYCLE, /* it and others wait for one another, for ever    */
} rota_alarm_kind;

/* Texts are good during the call. */
typedef struct rota_alarm {
    rota_alarm_kind kind;
    const char *executor; /* its name                                             */
    const char *task;     /* its name, or ""; of a queue: that of its first        */
    const char *thread;   /* its name, or "" for a queue                          */
    long thread_id;       /* as the system numbers it, else as we do; 0: a queue  */
    rota_ns since;        /* rota_now() when it began to run, wait, or be due     */
} rota_alarm;

/*
 * longest_task    0: tasks may run for ever. A periodic task is timed run by run.
 * oldest_queued   0: they may wait for ever. What is not due yet does not wait.
 * cycles          looks for tasks that wait for one another's futures
 * period          between two looks; 0: a quarter of the shorter time above, at least 10 ms
 * alarm           on the watchdog's thread; once for each run, once for each cycle (of one task in it),
 *                 and of a queue once until its first has been young again
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
 * Starts the watchdog, of which a process has one. It sees tasks that begin after it, and observes
 * them (rota_observe) while it is there. ROTA_EINVAL, ROTA_EBUSY: there is one; ROTA_ENOMEM,
 * ROTA_EAGAIN: no thread.
 */
int rota_watchdog_start(const rota_watchdog_options *options);
int rota_watchdog_stop(void); /* waits for an alarm that is being told; ROTA_EDEADLOCK from that */

/* -- A page that lives ----------------------------------------------------------------------- */

/*
 * Serves, on one thread, with HTTP/1.1: `/metrics` for Prometheus, `/` a page with all executors that
 * refreshes itself, `/trace` what the recorder has. Everything else is refused.
 *
 * address   to listen at; NULL: "127.0.0.1". Another makes it visible to the network: it knows no
 *           passwords.
 * port      0: any that is free
 */
typedef struct rota_page_options {
    const char *address;
    unsigned port;
    void *reserved[4];
} rota_page_options;

/* Starts the page, of which a process has one. The port that it has: *port, which may be NULL. NULL
   options: all zero. ROTA_EINVAL, ROTA_EBUSY: there is one; ROTA_EIO with errno set, ROTA_ENOMEM,
   ROTA_EAGAIN. */
int rota_page_start(const rota_page_options *options, unsigned *port);
int rota_page_stop(void); /* ROTA_OK also if there is none */

ROTA_END
#endif
