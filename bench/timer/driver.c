/* SPDX-License-Identifier: MIT */
/*
 * driver.c - measures the timers of one peer. It answers each line that it reads with one:
 *
 *     PENDING MODE PRODUCERS WORKERS COUNT             1000000 fill 1 1 1
 *     TIMERS;PENDING;MODE;PRODUCERS;WORKERS;FIGURE...  rota-held;1000000;fill;1;1;80.1;153.7
 *
 * There is one producer, always. MODE says what is done with PENDING timers, and which figures come
 * of it, in ns for each where nothing else is said:
 *
 * fill     they are scheduled, in an hour or two, where there were none; then some are cancelled and
 *          scheduled anew, which kinds without futures leave out; COUNT times
 * expire   they are all due, and nothing has kept them from running since then but that the only
 *          worker was held: time from its release to the end of the last; COUNT times
 * bytes    they are scheduled: bytes of memory, as the system counts them; then, if it is known, as
 *          the library asked for them
 * idle     they are far away: processor time, in ns for a second, during COUNT ms
 * beat     they run at fixed rates of 1 to 10 ms, for COUNT ms: how late, the median, the 99th
 *          percentile and the most; processor time, in ns for a second; runs in a second
 *
 * The first argument, if any, is the kind of timers. Every request is answered by a process of its
 * own: its memory is as good as new, and need not be freed. Every run checks that all that were due
 * have run, once. Jdk.java does the same for Java.
 */
#include "peer.h"

#include <bench/driver.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define HOUR (3600 * 1000 * MS)

enum {
    MOST_AGAIN = 200000,  /* cancelled and scheduled anew */
    NS_TO_SCHEDULE = 400, /* about as long as one may take: none is due before all are there */
    PATIENCE = 300,       /* seconds */
};

struct request {
    const char *kind;
    char mode[16];
    uint64_t pending;
    unsigned producers, workers;
    uint64_t count;
};

/* As fast as chance can be. */
static uint64_t chance(uint64_t below)
{
    static uint64_t state = UINT64_C(88172645463325252);

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static uint64_t far_away(void)
{
    return HOUR + chance(HOUR);
}

/* -- Timers that run ------------------------------------------------------------------------- */

/* Those of a run with one worker, or none. */
static struct {
    uint64_t expected;
    uint64_t sum; /* of their numbers */
    uint64_t end; /* when the last had run */
    atomic_uint_fast64_t count;
} ran;

/* A timer at a fixed rate: its runs do not overlap. */
struct beat {
    uint64_t next, period;
    uint64_t room, runs;
    uint64_t *late; /* by run */
};

static void *timers;
static struct beat *beats; /* NULL: timers are counted */
static bool peer_repeats;
static atomic_bool over;

static void count(size_t id)
{
    uint64_t number = atomic_load_explicit(&ran.count, memory_order_relaxed) + 1;

    ran.sum += id;
    if (number == ran.expected)
        ran.end = now(CLOCK_MONOTONIC);
    atomic_store_explicit(&ran.count, number, memory_order_release);
}

static void beat(size_t id)
{
    struct beat *self = &beats[id];
    uint64_t time = now(CLOCK_MONOTONIC);

    if (atomic_load_explicit(&over, memory_order_relaxed))
        return;
    if (self->runs < self->room)
        self->late[self->runs++] = time > self->next ? time - self->next : 0;
    self->next += self->period;
    if (!peer_repeats)
        peer_again(timers, id, self->next > time ? self->next - time : 0);
}

void timer_ran(size_t id)
{
    if (beats != NULL)
        beat(id);
    else
        count(id);
}

/* -- What it costs --------------------------------------------------------------------------- */

static void make(const struct request *request)
{
    timers = peer_make(request->kind, request->workers, request->pending);
    if (timers == NULL)
        fail("there are no such timers");
}

static void fill(uint64_t pending)
{
    for (uint64_t id = 0; id < pending; id++)
        peer_schedule(timers, id, far_away());
}

static void schedule_anew(uint64_t pending, uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        uint64_t id = chance(pending);
        peer_cancel(timers, id);
        peer_schedule(timers, id, far_away());
    }
}

static void measure_fill(const struct request *request)
{
    uint64_t again = request->pending < MOST_AGAIN ? request->pending : MOST_AGAIN;
    bool cancels = strcmp(request->kind, "dropped") != 0;
    uint64_t filled = 0;
    uint64_t changed = 0;

    for (uint64_t i = 0; i < request->count; i++) {
        if (i > 0)
            peer_free(timers);
        make(request);
        uint64_t begin = now(CLOCK_MONOTONIC);
        fill(request->pending);
        uint64_t middle = now(CLOCK_MONOTONIC);
        if (cancels)
            schedule_anew(request->pending, again);
        filled += middle - begin;
        changed += now(CLOCK_MONOTONIC) - middle;
    }
    printf(";%.2f", (double)filled / (double)(request->pending * request->count));
    if (cancels)
        printf(";%.2f", (double)changed / (double)(again * request->count));
}

/* In random order. Returns when all are due. */
static void schedule_soon(uint64_t count)
{
    uint64_t span = MS + count * NS_TO_SCHEDULE;
    uint64_t begin = now(CLOCK_MONOTONIC) + span;

    for (uint64_t id = 0; id < count; id++) {
        uint64_t time = now(CLOCK_MONOTONIC);
        uint64_t then = begin + chance(span);
        peer_schedule(timers, id, then > time ? then - time : 0);
    }
    sleep_until(begin + span + 2 * MS); /* some round up to ms */
}

/* Returns how long it took them to run. */
static uint64_t expire(uint64_t due)
{
    uint64_t begin = now(CLOCK_MONOTONIC);

    peer_release(timers);
    while (atomic_load_explicit(&ran.count, memory_order_acquire) < due)
        peer_turn(timers);
    if (ran.count != due || ran.sum != due * (due - 1) / 2)
        fail("other timers have run than were due");
    return ran.end - begin;
}

static void measure_expire(const struct request *request)
{
    uint64_t due = request->pending;
    uint64_t ns = 0;

    for (uint64_t i = 0; i < request->count; i++) {
        if (i > 0)
            peer_free(timers);
        make(request);
        ran.expected = due;
        ran.sum = ran.count = 0;
        peer_hold(timers);
        schedule_soon(due);
        ns += expire(due);
    }
    printf(";%.2f", (double)ns / (double)(due * request->count));
}

static void measure_bytes(const struct request *request)
{
    make(request);
    uint64_t resident_before = resident();
    uint64_t asked_before = peer_bytes();
    fill(request->pending);
    printf(";%.1f", more(resident(), resident_before, request->pending));
    if (peer_bytes() > 0)
        printf(";%.1f", more(peer_bytes(), asked_before, request->pending));
}

/* -- Over time ------------------------------------------------------------------------------- */

/* Lets them run for so long; returns the processor time of a second. */
static double run_for(uint64_t ns)
{
    uint64_t begin = now(CLOCK_MONOTONIC);
    uint64_t cpu = now(CLOCK_PROCESS_CPUTIME_ID);

    uint64_t own = peer_run(timers, begin + ns);
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    return (double)(cpu - own) * 1e9 / (double)(now(CLOCK_MONOTONIC) - begin);
}

static void measure_idle(const struct request *request)
{
    make(request);
    fill(request->pending);
    run_for(100 * MS); /* what is still to be done afterwards */
    printf(";%.0f", run_for(request->count * MS));
}

static void start_beat(size_t id, uint64_t ns)
{
    struct beat *self = &beats[id];

    self->period = (id % 10 + 1) * MS;
    self->room = 2 * ns / self->period + 100;
    self->late = calloc(self->room, sizeof *self->late);
    if (self->late == NULL)
        fail("no memory");
    memset(self->late, 0xff, self->room * sizeof *self->late); /* now, not while it beats */
    uint64_t delay = 50 * MS + chance(self->period);
    self->next = now(CLOCK_MONOTONIC) + delay;
    peer_repeats = peer_repeat(timers, id, delay, self->period);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* All that were seen, in order. */
static uint64_t *lateness(uint64_t pending, uint64_t *seen)
{
    uint64_t *all;

    *seen = 0;
    for (uint64_t id = 0; id < pending; id++)
        *seen += beats[id].runs;
    all = calloc(*seen + 1, sizeof *all);
    if (all == NULL || *seen == 0)
        fail("no memory, or nothing has run");
    uint64_t *end = all;
    for (uint64_t id = 0; id < pending; id++) {
        memcpy(end, beats[id].late, beats[id].runs * sizeof *end);
        end += beats[id].runs;
    }
    qsort(all, *seen, sizeof *all, compare);
    return all;
}

static void measure_beat(const struct request *request)
{
    uint64_t ns = request->count * MS;
    uint64_t seen;

    make(request);
    beats = calloc(request->pending, sizeof *beats);
    if (beats == NULL)
        fail("no memory");
    for (uint64_t id = 0; id < request->pending; id++)
        start_beat(id, ns);
    double cpu = run_for(ns);
    atomic_store(&over, true);
    sleep_for(20 * MS); /* who is in the middle */
    uint64_t *late = lateness(request->pending, &seen);
    printf(";%" PRIu64 ";%" PRIu64 ";%" PRIu64 ";%.0f;%.0f", late[seen / 2], late[seen * 99 / 100],
           late[seen - 1], cpu, (double)seen * 1e9 / (double)ns);
}

/* -- Requests -------------------------------------------------------------------------------- */

static const struct mode {
    const char *name;
    void (*measure)(const struct request *request);
} modes[] = {
    {"fill", measure_fill}, {"expire", measure_expire}, {"bytes", measure_bytes},
    {"idle", measure_idle}, {"beat", measure_beat},
};

static const struct mode *mode_of(const struct request *request)
{
    if (request->pending == 0 || request->producers != 1 || request->workers == 0
        || request->count == 0)
        return NULL;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(request->mode, modes[i].name) == 0)
            return &modes[i];
    return NULL;
}

static void answer(const char *program, const struct request *request)
{
    const struct mode *mode = mode_of(request);

    if (mode == NULL)
        fail("the request makes no sense");
    printf("%s%s%s;%" PRIu64 ";%s;%u;%u", program, *request->kind ? "-" : "", request->kind,
           request->pending, request->mode, request->producers, request->workers);
    mode->measure(request);
    printf("\n");
    fflush(stdout);
}

/* In a child, which ends without tidying up. */
static void answer_apart(const char *program, const struct request *request)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        alarm(PATIENCE);
        answer(program, request);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        fail("the run has failed");
}

int main(int argc, char **argv)
{
    struct request request = {.kind = argc > 1 ? argv[1] : ""};
    int words;

    while ((words = scanf("%" SCNu64 " %15s %u %u %" SCNu64, &request.pending, request.mode,
                          &request.producers, &request.workers, &request.count))
           == 5)
        answer_apart(name_of(argv[0]), &request);
    if (words != EOF)
        fail("a request is: PENDING MODE PRODUCERS WORKERS COUNT");
    return 0;
}
