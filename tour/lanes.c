/* SPDX-License-Identifier: MIT */
#include "lanes.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static lane *lanes[LANES]; /* by order of their threads' start; with the lock */
static size_t count;
static rota_ns origin;

static _Thread_local lane *mine; /* NULL: there was no room for one */

void lanes_begin(rota_ns now)
{
    origin = now;
}

/* Time spent busy from begin to end, into the bins that this touches. */
static void add_busy(lane *l, rota_ns begin, rota_ns end, double part)
{
    for (rota_ns at = begin; at < end;) {
        rota_ns bin = (at - origin) / LANE_BIN, next = origin + (bin + 1) * LANE_BIN;
        rota_ns until = next < end ? next : end;
        if (bin < 0 || bin >= LANE_BINS)
            return;
        l->busy[bin] += (uint32_t)((double)(until - at) * part);
        at = until;
    }
}

static void add_span(lane *l, const lane_span *span)
{
    const lane_group *group = l->group;

    add_busy(l, span->begin, span->end, 1);
    if (span->end > group->zoom_begin && span->begin < group->zoom_end && l->spans < LANE_SPANS)
        l->span[l->spans++] = *span;
}

static rota_ns cpu_time(clockid_t clock)
{
    struct timespec now;

    return clock_gettime(clock, &now) == 0 ? ROTA_SEC(now.tv_sec) + now.tv_nsec : 0;
}

/* -- On the workers -------------------------------------------------------------------------- */

static void thread_starts(void *group)
{
    lane *l = calloc(1, sizeof *l);

    if (l == NULL)
        return;
    l->group = group;
    l->sampled = rota_now();
    pthread_getname_np(pthread_self(), l->name, sizeof l->name);
    if (pthread_getcpuclockid(pthread_self(), &l->clock) != 0)
        l->clock = CLOCK_THREAD_CPUTIME_ID;
    pthread_mutex_lock(&lock);
    if (count < LANES) {
        lanes[count++] = l;
        mine = l;
    }
    pthread_mutex_unlock(&lock);
    if (mine == NULL)
        free(l);
}

static void before(rota_executor *ex, rota_task *task, void *ctx)
{
    const char *name = rota_task_call(task)->name;

    (void)ex, (void)ctx;
    if (mine == NULL || mine->depth++ > 0)
        return;
    mine->now.name = name == NULL ? "" : name;
    mine->now.begin = rota_now();
}

static void after(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    (void)ex, (void)task, (void)status, (void)error, (void)ctx;
    if (mine == NULL || --mine->depth > 0)
        return;
    mine->now.end = rota_now();
    add_span(mine, &mine->now);
}

rota_threads lanes_threads(lane_group *group, const char *thread_name)
{
    return (rota_threads){.name = thread_name, .on_start = thread_starts, .ctx = group};
}

rota_hooks lanes_hooks(lane_group *group)
{
    return (rota_hooks){.before_execute = before, .after_execute = after, .ctx = group};
}

/* -- From outside ---------------------------------------------------------------------------- */

static void sample(lane *l)
{
    rota_ns now = rota_now(), cpu = cpu_time(l->clock), passed = now - l->sampled;

    if (passed <= 0 || cpu < l->cpu)
        return;
    double part = (double)(cpu - l->cpu) / (double)passed;
    add_busy(l, l->sampled, now, part > 1 ? 1 : part);
    l->sampled = now;
    l->cpu = cpu;
}

void lanes_sample(const lane_group *group)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        if (lanes[i]->group == group)
            sample(lanes[i]);
    }
    pthread_mutex_unlock(&lock);
}

size_t lanes_count(void)
{
    return count;
}

const lane *lanes_at(size_t i)
{
    return lanes[i];
}

void lanes_free(void)
{
    for (size_t i = 0; i < count; i++)
        free(lanes[i]);
    count = 0;
}

double lane_busy(const lane *l, rota_ns begin, rota_ns end)
{
    double busy = 0;
    rota_ns first = (begin - origin) / LANE_BIN, last = (end - origin - 1) / LANE_BIN;

    for (rota_ns bin = first; bin <= last && bin < LANE_BINS; bin++)
        busy += (double)l->busy[bin];
    busy /= (double)((last - first + 1) * LANE_BIN);
    return busy > 1 ? 1 : busy;
}
