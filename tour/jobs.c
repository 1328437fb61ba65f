/* SPDX-License-Identifier: MIT */
/*
 * jobs.c - the second act: a scheduled pool with jobs at a fixed rate, with a fixed delay, and once; and
 * with many more that wait for an hour that does not come. How late is each run?
 */
#include "live.h"
#include "text.h"
#include "tour.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS = 2, ONCE = 3 /* the job that is many one-shots */, MANY = 100000, SHOTS = 200 };

/* A periodic job. Its runs never overlap, so they need no lock. */
typedef struct job {
    const char *name;
    rota_ns period; /* as in rota_schedule_call: negative is a delay after the end */
    rota_ns work;
    rota_ns due; /* of the next run */
    job_result *result;
} job;

typedef struct shot {
    rota_ns due, late; /* late: below 0 if it has not run */
} shot;

static atomic_ullong runs;
static atomic_uint early; /* runs that began before their time, which must not be */

static void compute_for(rota_ns time)
{
    for (rota_ns end = rota_now() + time; rota_now() < end;)
        continue;
}

static rota_ns lateness(rota_ns due)
{
    rota_ns late = rota_now() - due;

    atomic_fetch_add_explicit(&runs, 1, memory_order_relaxed);
    if (late < 0)
        atomic_fetch_add_explicit(&early, 1, memory_order_relaxed);
    return late < 0 ? 0 : late;
}

static void *run_job(void *arg)
{
    job *j = arg;

    rota_histogram_add(&j->result->late, lateness(j->due));
    compute_for(j->work);
    j->due = j->period > 0 ? j->due + j->period : rota_now() - j->period;
    return NULL;
}

static void *run_shot(void *arg)
{
    shot *s = arg;

    s->late = lateness(s->due);
    return NULL;
}

static void *sleep_on(void *arg)
{
    return arg; /* in an hour */
}

static bool make_pool(jobs_result *result)
{
    unsigned started;

    result->lanes.act = ACT_JOBS;
    rota_sched_options options = {
        .core_threads = THREADS,
        .drop_delayed_on_shutdown = true, /* those that wait for their hour */
        .threads = lanes_threads(&result->lanes, "jobs-%u"),
        .hooks = lanes_hooks(&result->lanes),
    };
    return succeeded(rota_sched_new(&options, &result->pool), "The scheduled pool cannot be made")
           && succeeded(rota_executor_set_name(result->pool, "jobs"), "It gets no name")
           && succeeded(rota_pool_prestart(result->pool, &started), "It gets no threads");
}

static bool schedule(rota_executor *pool, job *j)
{
    rota_call call = {.fn = run_job, .arg = j, .name = j->name};

    j->result->name = j->name;
    j->due = rota_now() + ROTA_MS(5);
    return succeeded(rota_schedule_call(pool, &call, ROTA_MS(5), j->period, NULL),
                     "A job cannot be scheduled");
}

/* Spread over the act, at odd times. */
static bool schedule_shots(rota_executor *pool, shot *shots, unsigned n, rota_ns length)
{
    rota_call call = {.fn = run_shot, .name = "once"};

    for (unsigned i = 0; i < n; i++) {
        rota_ns delay =
            length / 10 + (rota_ns)((uint64_t)i * 2654435761u % (uint64_t)(length * 8 / 10));
        shots[i] = (shot){.due = rota_now() + delay, .late = -1};
        call.arg = &shots[i];
        if (!succeeded(rota_schedule_call(pool, &call, delay, 0, NULL),
                       "A task cannot be scheduled"))
            return false;
    }
    return true;
}

static bool schedule_sleepers(rota_executor *pool, unsigned n)
{
    rota_call call = {.fn = sleep_on, .name = "in an hour"};

    for (unsigned i = 0; i < n; i++) {
        if (!succeeded(rota_schedule_call(pool, &call, ROTA_HOURS(1), 0, NULL),
                       "A task cannot be scheduled"))
            return false;
    }
    return true;
}

static void watch(const jobs_result *r)
{
    for (rota_ns now = rota_now(); now < r->begin + r->length && !tour_stopped();
         now = rota_now()) {
        live_show(ACT_JOBS, (double)(now - r->begin) / (double)r->length,
                  "%s runs; %s more tasks wait",
                  text_count(atomic_load_explicit(&runs, memory_order_relaxed)).s,
                  text_count(r->sleepers).s);
        rota_sleep(ROTA_MS(50));
    }
}

static void collect(jobs_result *r, const shot *shots, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (shots[i].late >= 0)
            rota_histogram_add(&r->job[ONCE].late, shots[i].late);
    }
    for (unsigned i = 0; i < JOBS; i++)
        rota_histogram_merge(&r->late, &r->job[i].late);
}

static bool run(jobs_result *r, shot *shots, unsigned n)
{
    job jobs[ONCE] = {
        {.name = "every 1 ms", .period = ROTA_MS(1), .work = ROTA_US(20)},
        {.name = "every 10 ms", .period = ROTA_MS(10), .work = ROTA_US(500)},
        {.name = "20 ms after the last", .period = -ROTA_MS(20), .work = ROTA_MS(3)},
    };
    bool fine = schedule_sleepers(r->pool, r->sleepers);

    r->begin = rota_now();
    r->lanes.zoom_begin = r->begin + r->length * 6 / 10;
    r->lanes.zoom_end = r->lanes.zoom_begin + ROTA_MS(60);
    r->job[ONCE].name = "once";
    fine = fine && schedule_shots(r->pool, shots, n, r->length);
    for (unsigned i = 0; i < ONCE && fine; i++) {
        jobs[i].result = &r->job[i];
        fine = schedule(r->pool, &jobs[i]);
    }
    if (fine)
        watch(r);
    rota_shutdown(r->pool); /* ends what is periodic, drops what is delayed; what runs runs on */
    rota_await_termination(r->pool, ROTA_FOREVER);
    collect(r, shots, n);
    if (atomic_load(&early) > 0)
        return complain("%u runs began before their time.", atomic_load(&early));
    return fine && !tour_stopped();
}

bool jobs_act(const tour_options *options, rota_ns length, jobs_result *r)
{
    unsigned n = (unsigned)((double)SHOTS * (double)length / 1e9) + 10;
    shot *shots = calloc(n, sizeof *shots);

    r->length = length;
    r->sleepers = (unsigned)(options->seconds >= 20 ? MANY : MANY * options->seconds / 20);
    if (shots == NULL)
        return complain("There is no memory for the timed jobs.");
    bool fine = make_pool(r) && run(r, shots, n);
    free(shots);
    if (fine)
        live_done(ACT_JOBS, "%s runs, 99 %% at most %s late", text_count(r->late.count).s,
                  text_ms(rota_histogram_quantile(&r->late, 0.99)).s);
    return fine;
}
