/* SPDX-License-Identifier: MIT */
/*
 * lanes.h - what each worker thread did, and when: the timelines of the report.
 *
 * A lane belongs to one thread. How busy it was is kept for the whole tour, in bins; single tasks
 * only for the short time that the report looks at more closely. Lanes are written by their threads
 * alone, and read when the pools are closed.
 */
#ifndef LANES_H
#define LANES_H

#include <rota/pool.h>
#include <time.h>

enum { LANE_BINS = 6000, LANE_SPANS = 1500, LANES = 512 };
#define LANE_BIN ROTA_MS(10)

/* The threads of one pool. Between zoom_begin and zoom_end every task is kept. */
typedef struct lane_group {
    unsigned act;
    rota_ns zoom_begin, zoom_end;
} lane_group;

typedef struct lane_span {
    rota_ns begin, end;
    const char *name; /* of the task; "" for one without */
} lane_span;

typedef struct lane {
    const lane_group *group;
    char name[16];
    unsigned depth; /* tasks that run inside of one another */
    lane_span now;  /* the outermost */
    clockid_t clock;
    rota_ns sampled, cpu; /* when its CPU time was last looked at, and what it was */
    unsigned spans;
    lane_span span[LANE_SPANS];
    uint32_t busy[LANE_BINS]; /* ns in each bin */
} lane;

void lanes_begin(rota_ns now); /* where the first bin begins */

/* Options for a pool's threads and hooks, so that they keep the lanes of `group`. */
rota_threads lanes_threads(lane_group *group, const char *thread_name);
rota_hooks lanes_hooks(lane_group *group);

/* For workers that fork: their tasks are too short for hooks, so their CPU time is looked at now and
   then. Together with lanes_threads, without lanes_hooks. */
void lanes_sample(const lane_group *group);

size_t lanes_count(void);
const lane *lanes_at(size_t i);
void lanes_free(void);

double lane_busy(const lane *l, rota_ns begin, rota_ns end); /* from 0 to 1 */
#endif
