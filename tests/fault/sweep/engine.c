/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "sweep.h"

#include "base/block.h"
#include "os/fault.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const sweep_kind_names[SWEEP_KINDS] = {"memory", "thread", "exit", "event",
                                                   "wait",   "wake",   "stop", "jump"};

sweep_stage stage;
sweep_given given;

/* -- Whose requests count ----------------------------------------------------------------- */

/* The thread that calls, while it does; the library's; and all others. */
enum { SPARED = 0, HERE = 1, THERE = 2, ANYWHERE = HERE | THERE };

static _Thread_local int my_side = THERE;
static atomic_int aim = SPARED; /* at the threads of these sides */

static bool counts(void)
{
    return (my_side & atomic_load_explicit(&aim, memory_order_relaxed)) != 0;
}

void sweep_spare_this_thread(void)
{
    my_side = SPARED;
}

/* -- Faults ------------------------------------------------------------------------------- */

struct fault {
    sweep_kind kind;
    unsigned nth; /* 0: none */
    bool onwards;
};

enum { STANDSTILL = 50 }; /* readings of the clock: it must go on before the call is over */

static const rota__fault_kind os_kinds[SWEEP_KINDS] = {
    [SWEEP_THREAD] = ROTA__FAULT_THREAD_START, [SWEEP_EXIT] = ROTA__FAULT_THREAD_EXIT,
    [SWEEP_EVENT] = ROTA__FAULT_EVENT,         [SWEEP_WAIT] = ROTA__FAULT_WAIT,
    [SWEEP_WAKE] = ROTA__FAULT_WAKE,           [SWEEP_STOP] = ROTA__FAULT_CLOCK_STOPS,
    [SWEEP_JUMP] = ROTA__FAULT_CLOCK_JUMPS,
};

static void arm(struct fault fault)
{
    if (fault.kind == SWEEP_MEMORY)
        test_memory_fail_at(fault.nth, fault.onwards);
    else if (fault.kind == SWEEP_STOP && fault.onwards)
        rota__fault_arm_range(os_kinds[fault.kind], fault.nth, fault.nth + STANDSTILL);
    else
        rota__fault_arm(os_kinds[fault.kind], fault.nth, fault.onwards);
}

/* The second of two faults. */
static void arm_too(struct fault first, struct fault second)
{
    if (first.kind != second.kind)
        arm(second);
    else if (second.kind == SWEEP_MEMORY)
        test_memory_fail_at_too(second.nth);
    else
        rota__fault_arm_also(os_kinds[second.kind], second.nth);
}

static unsigned asked(sweep_kind kind)
{
    return kind == SWEEP_MEMORY ? test_memory_asked() : rota__fault_count(os_kinds[kind]);
}

static void disarm_all(void)
{
    atomic_store(&aim, SPARED);
    for (int kind = 0; kind < SWEEP_KINDS; kind++)
        arm((struct fault){(sweep_kind)kind, 0, false});
}

void sweep_refuse_memory(bool refused)
{
    disarm_all();
    arm((struct fault){SWEEP_MEMORY, refused, true});
    atomic_store(&aim, refused ? HERE : SPARED);
    my_side = refused ? HERE : SPARED;
}

/* -- Which run this is, for the message when it fails ------------------------------------- */

enum { MOST_FAULTS = 2, HANGS = 30 }; /* seconds */

struct run {
    const sweep_row *row;
    const sweep_scene *scene;
    int side; /* or both */
    struct fault faults[MOST_FAULTS];
    int status;
};

static struct run current;
static bool was_reached;       /* its faults */
static const char *doing = ""; /* what the engine does, in words */

static void tell_run(int signal)
{
    static const char *const side_names[] = {"without a fault", "by the caller", "elsewhere",
                                             "anywhere"};

    fprintf(stderr, "%s%s (%s), %s", signal == SIGALRM ? "hangs: " : "", current.row->call,
            current.scene->name, side_names[current.side]);
    for (int i = 0; i < MOST_FAULTS; i++) {
        const struct fault *fault = &current.faults[i];
        if (fault->nth != 0)
            fprintf(stderr, ", %s %u%s", sweep_kind_names[fault->kind], fault->nth,
                    fault->onwards ? " onwards" : "");
    }
    fprintf(stderr, ", %s: status %d (%s)\n", doing, current.status, rota_strerror(current.status));
    if (signal == SIGALRM)
        abort();
}

/* -- One call ----------------------------------------------------------------------------- */

static rota_thread *caller;
static atomic_bool is_over;
static atomic_bool was_helped; /* the scene is not as it was */

bool sweep_is_over(void)
{
    return atomic_load(&is_over);
}

/* Where the caller cannot park and the call does not fail for that, it waits in another way. */
static bool waits(const struct run *run)
{
    return test_is_parked(caller)
           || ((run->side & HERE) && run->row->may[SWEEP_EXIT][0] == ROTA_OK
               && asked(SWEEP_EXIT) > 0);
}

static void be_partner(void *arg)
{
    const struct run *run = arg;

    sweep_spare_this_thread();
    while (!waits(run)) {
        if (sweep_is_over())
            return;
        sched_yield();
    }
    atomic_store(&was_helped, true);
    run->row->partner();
}

/* The fault is on while `run` runs, and with a partner's help. */
static int make_call(const struct run *run)
{
    test_thread *thread = NULL;

    doing = "in the call";
    atomic_store(&is_over, false);
    atomic_store(&was_helped, false);
    given.any = TEST_UNTOUCHED;
    if (run->row->partner != NULL) {
        thread = test_thread_start(be_partner, (void *)(uintptr_t)run);
        test_thread_handle(thread); /* it is known by then, and meets no fault */
    }
    caller->watched = false; /* so that it enters the library anew */
    if (run->faults[0].nth != 0)
        arm(run->faults[0]);
    if (run->faults[1].nth != 0)
        arm_too(run->faults[0], run->faults[1]);
    atomic_store(&aim, run->side);
    my_side = HERE;
    int status = run->row->run();
    my_side = SPARED;
    atomic_store(&is_over, true);
    if (thread != NULL)
        test_thread_join(thread);
    return status;
}

static bool is_reached(const struct fault *fault)
{
    return fault->nth == 0 || asked(fault->kind) >= fault->nth;
}

static void recover(const struct run *run)
{
    was_reached |= is_reached(&run->faults[0]) && is_reached(&run->faults[1]);
    disarm_all();
}

static bool explains(const struct fault *fault, const struct run *run)
{
    const int *may = run->row->may[fault->kind];

    return fault->nth != 0 && is_reached(fault) && run->status != ROTA_OK
           && (run->status == may[0] || run->status == may[1]);
}

static bool is_explained(const struct run *run)
{
    return run->status == run->row->status || explains(&run->faults[0], run)
           || explains(&run->faults[1], run);
}

/* GEN-10, GEN-01; and the next call works. */
static void call_again(const struct run *run)
{
    struct run again = {.row = run->row, .scene = run->scene, .side = SPARED};

    recover(run);
    test_check(given.any == TEST_UNTOUCHED);
    if (run->scene->intact != NULL && !atomic_load(&was_helped))
        run->scene->intact();
    test_check(make_call(&again) == run->row->status);
}

/* The number that the next descriptor will have: the same as before if none was left open. */
static int next_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    test_check(fd >= 0);
    close(fd);
    return fd;
}

/* -- One run ------------------------------------------------------------------------------ */

static void set(const struct run *run)
{
    doing = "setting the scene";
    stage = (sweep_stage){.pool = NULL};
    if (run->scene->set != NULL)
        run->scene->set();
    rota__blocks_flush();
}

static void judge(struct run *run, rota_ns begun)
{
    doing = "after the call";
    test_check(is_explained(run));
    if (run->status == run->row->status)
        test_check(rota_now() - begun >= run->row->least); /* GEN-06 */
    else if (run->row->is_made_once)
        return; /* with the next fault, or the one after it */
    else
        call_again(run);
    if (run->row->check != NULL)
        run->row->check();
}

/* True: the faults were reached. */
static bool do_run(struct run *run)
{
    rota__blocks_flush();
    size_t live = test_memory_live();
    int fd = next_descriptor();

    alarm(HANGS);
    current = *run;
    was_reached = false;
    set(run);
    rota_ns begun = rota_now();
    run->status = current.status = make_call(run);
    judge(run, begun);
    recover(run);
    doing = "striking the scene";
    if (run->scene->strike != NULL)
        run->scene->strike();
    rota__blocks_flush();
    test_check(test_memory_live() == live || run->row->stays);
    test_check(next_descriptor() == fd);
    return was_reached;
}

/* -- All runs of a row -------------------------------------------------------------------- */

enum { MOST_PLACES = 5000 };

static bool seen[SWEEP_KINDS][2];

static void note_status(const struct run *run, sweep_kind kind)
{
    for (int i = 0; i < 2; i++)
        seen[kind][i] |= run->status == run->row->may[kind][i];
}

void sweep_begin_row(void)
{
    memset(seen, 0, sizeof seen);
}

bool sweep_end_row(const sweep_row *row)
{
    bool all = true;

    for (int kind = 0; kind < SWEEP_KINDS; kind++) {
        for (int i = 0; i < 2; i++) {
            if (row->may[kind][i] == ROTA_OK || seen[kind][i] || row->is_chance)
                continue;
            fprintf(stderr, "%s: no %s fault led to status %d (%s)\n", row->call,
                    sweep_kind_names[kind], row->may[kind][i], rota_strerror(row->may[kind][i]));
            all = false;
        }
    }
    return all;
}

/* How many places there are. */
static unsigned sweep_kind_of(struct run run, struct fault fault, sweep_tally *tally)
{
    for (fault.nth = 1; fault.nth < MOST_PLACES; fault.nth++) {
        run.faults[0] = fault;
        tally->runs++;
        bool reached = do_run(&run);
        note_status(&run, fault.kind);
        if (!reached)
            return fault.nth - 1;
    }
    test_check(fault.nth < MOST_PLACES);
    return 0;
}

static unsigned once_and_onwards(struct run run, sweep_kind kind, sweep_tally *tally)
{
    unsigned once = sweep_kind_of(run, (struct fault){.kind = kind}, tally);
    unsigned onwards = sweep_kind_of(run, (struct fault){.kind = kind, .onwards = true}, tally);

    return once > onwards ? once : onwards;
}

/* Tried once: all faults from the first request on, and nobody asks. */
static void meets_none(struct run run)
{
    rota__blocks_flush();
    current = run;
    set(&run);
    given.any = TEST_UNTOUCHED;
    for (int kind = 0; kind < SWEEP_KINDS; kind++)
        arm((struct fault){(sweep_kind)kind, 1, true});
    atomic_store(&aim, HERE);
    my_side = HERE;
    current.status = run.row->run();
    my_side = SPARED;
    for (int kind = 0; kind < SWEEP_KINDS; kind++)
        test_check(asked((sweep_kind)kind) == 0);
    test_check(current.status == run.row->status);
    disarm_all();
    if (run.row->check != NULL)
        run.row->check();
    if (run.scene->strike != NULL)
        run.scene->strike();
}

sweep_tally sweep_every_fault(const sweep_row *row, const sweep_scene *scene)
{
    struct run run = {.row = row, .scene = scene};
    sweep_tally tally = {.runs = 0};

    if (row->is_quiet) {
        meets_none(run);
        tally.runs = 1;
        return tally;
    }
    for (int kind = 0; kind < SWEEP_KINDS; kind++) {
        run.side = HERE;
        tally.here[kind] = once_and_onwards(run, (sweep_kind)kind, &tally);
        run.side = THERE;
        tally.there[kind] = once_and_onwards(run, (sweep_kind)kind, &tally);
    }
    return tally;
}

/* -- Two faults --------------------------------------------------------------------------- */

/* The n-th of all places, by kind. */
static struct fault place(const unsigned *places, unsigned n)
{
    int kind = 0;

    while (n >= places[kind])
        n -= places[kind++];
    return (struct fault){.kind = (sweep_kind)kind, .nth = n + 1};
}

/* Some are not reached when the first fault has cut the call short, or threads take turns otherwise. */
unsigned sweep_every_pair(const sweep_row *row, const sweep_scene *scene)
{
    sweep_tally tally = sweep_every_fault(row, scene);
    unsigned places[SWEEP_KINDS], all = 0;

    for (int kind = 0; kind < SWEEP_KINDS; kind++) {
        places[kind] = tally.here[kind] + tally.there[kind];
        all += places[kind];
    }
    for (unsigned i = 0; i < all; i++) {
        for (unsigned j = i + 1; j < all; j++) {
            struct run run = {.row = row, .scene = scene, .side = ANYWHERE};
            run.faults[0] = place(places, i);
            run.faults[1] = place(places, j);
            do_run(&run);
            tally.runs++;
        }
    }
    return tally.runs;
}

void sweep_prepare(void)
{
    my_side = SPARED;
    caller = rota_thread_self();
    test_check(caller != NULL);
    rota__fault_set_filter(counts);
    test_memory_fail_only(counts);
    disarm_all();
    signal(SIGABRT, tell_run);
    signal(SIGALRM, tell_run);
}
