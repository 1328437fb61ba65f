/* SPDX-License-Identifier: MIT */
/*
 * Those who run, complete, cancel and read one future at the same time: it has one end, and all see
 * the same one. `payload` is no atomic, so that the race detector sees whether the end of a future
 * orders what was done before it with what is done after (GEN-08).
 */
#include "rota_test_race.h"
#include "rota_test_tasks.h"

#include "future/future_internal.h"

#include <sched.h>

static struct {
    rota_future *future;
    rota_task *task;
    rota_task *next_task;
    test_probe probe;
    int payload;
    bool won[TEST_SIDES];
    int status[TEST_SIDES];
    void *result[TEST_SIDES];
} shared;

static void write_payload(void *arg)
{
    shared.payload++;
}

/* A task of which the body writes the payload. */
static void make_task(void *arg)
{
    shared.probe = (test_probe){.during = write_payload};
    shared.payload = 0;
    shared.task = test_task(test_probe_call(&shared.probe), &shared.future);
}

static void run_task(void *arg)
{
    rota_task_run(shared.task);
}

static void cancel(void *arg)
{
    shared.won[1] = rota_future_cancel(shared.future);
}

static void cancel_now(void *arg)
{
    shared.won[1] = rota_future_cancel_now(shared.future);
}

static void get(void *arg)
{
    shared.status[3] = rota_future_get(shared.future, &shared.result[3]);
    if (shared.status[3] == ROTA_OK)
        test_check(shared.payload == 1);
}

/* -- Cancel against run ------------------------------------------------------------------- */

static void check_run_or_cancelled(void *arg)
{
    test_check(shared.status[3] == (shared.won[1] ? ROTA_ECANCELED : ROTA_OK));
    test_check(rota_future_get_timed(shared.future, 0, NULL) == shared.status[3]);
    rota_future_unref(shared.future);
    test_check(shared.probe.runs + shared.probe.discards == 1); /* OWN-04 */
    test_check(shared.probe.frees == shared.probe.runs);        /* OWN-17 */
}

/* FUT-02, FUT-04, FUT-10, FUT-22: it runs or is discarded, and who waits agrees with who cancels. */
TEST(cancel_against_run_against_get)
{
    const test_race race = {make_task, {run_task, cancel, get}, check_run_or_cancelled};
    const test_race race_now = {make_task, {run_task, cancel_now, get}, check_run_or_cancelled};

    test_race_run(&race, NULL);
    test_race_run(&race_now, NULL);
}

static void check_flag(void *arg)
{
    test_check(!rota_is_interrupted());
}

static void make_two_tasks(void *arg)
{
    static test_probe next;

    make_task(NULL);
    next = (test_probe){.during = check_flag};
    shared.next_task = test_task(test_probe_call(&next), NULL);
}

static void run_two_tasks(void *arg)
{
    rota_task_run(shared.task);
    check_flag(NULL);
    rota_task_run(shared.next_task);
    check_flag(NULL);
}

static void drop_future(void *arg)
{
    rota_future_unref(shared.future);
}

/* INT-08, FUT-13, FUT-21: an interrupt that comes late is not seen by what the thread does next. */
TEST(a_late_interrupt_is_void)
{
    const test_race race = {make_two_tasks, {run_two_tasks, cancel_now}, drop_future};

    test_race_run(&race, NULL);
}

/* -- Complete against cancel against fail ------------------------------------------------- */

static void complete(void *arg)
{
    shared.payload = 1;
    shared.won[0] = rota_promise_complete(shared.future, NULL);
}

static void fail_by_hand(void *arg)
{
    shared.won[2] = rota_promise_fail(shared.future, 7);
}

static void make_unowned_task(void *arg)
{
    rota_call call = test_probe_call(&shared.probe);

    shared.probe = (test_probe){.error = 0};
    shared.payload = 0;
    call.free_result = NULL;
    shared.task = test_task(call, &shared.future);
}

static void check_one_won(void *arg)
{
    int expected = shared.won[0] ? ROTA_OK : shared.won[1] ? ROTA_ECANCELED : ROTA_EFAILED;

    test_check(shared.won[0] + shared.won[1] + shared.won[2] == 1);
    test_check(shared.status[3] == expected);
    test_check(rota_future_get(shared.future, NULL) == expected);
    test_check(rota_future_error(shared.future) == (shared.won[2] ? 7 : 0));
    rota_task_run(shared.task);
    rota_future_unref(shared.future);
    test_check(shared.probe.runs == 0 && shared.probe.discards == 1);
}

/* FUT-02, FUT-17: exactly one wins, all agree, and the body never runs. */
TEST(of_several_ends_one_wins)
{
    const test_race race = {
        make_unowned_task, {complete, cancel, fail_by_hand, get}, check_one_won};

    test_race_run(&race, NULL);
}

/* -- Done is done ------------------------------------------------------------------------- */

static void make_promise(void *arg)
{
    shared.payload = 0;
    test_check(rota_promise_new(&shared.future) == ROTA_OK);
}

static void look_until_done(void *arg)
{
    while (!rota_future_is_done(shared.future))
        sched_yield();
    test_check(rota_future_get_timed(shared.future, 0, NULL) == ROTA_OK);
    test_check(shared.payload == 1);
}

static void look_until_done_interrupted(void *arg)
{
    rota_thread_interrupt(rota_thread_self());
    look_until_done(NULL);
    test_check(rota_interrupted());
}

/* FUT-07: who has seen it done is never told of time or interrupts. */
TEST(once_done_it_answers)
{
    const test_race race = {
        make_promise, {complete, look_until_done, look_until_done_interrupted}, drop_future};

    test_race_run(&race, NULL);
}

/* -- Several who run it ------------------------------------------------------------------- */

static void run_it_too(void *arg)
{
    rota__future_run(shared.future);
}

static void check_ran_once(void *arg)
{
    test_check(rota_future_get_timed(shared.future, 0, NULL) == ROTA_OK);
    test_check(shared.payload == 1);
    rota_future_unref(shared.future);
    test_check(shared.probe.runs == 1 && shared.probe.frees == 1);
}

/* FUT-04: whoever runs it, the body runs once. */
TEST(of_several_runners_one_runs_it)
{
    const test_race race = {make_task, {run_task, run_it_too, run_it_too}, check_ran_once};

    test_race_run(&race, NULL);
}

static void make_periodic(void *arg)
{
    rota_call call = test_probe_call(&shared.probe);

    shared.probe = (test_probe){.during = write_payload};
    shared.payload = 0;
    shared.future = rota__future_new(&call, true, sizeof *shared.future);
    test_check(shared.future != NULL);
    shared.future->task.periodic = true;
}

static void run_until_done(void *arg)
{
    while (!rota_future_is_done(shared.future)) {
        rota__future_run_and_reset(shared.future);
        sched_yield(); /* else a canceller without a CPU of its own waits long */
    }
}

static void check_periodic(void *arg)
{
    test_check(shared.won[1]);
    test_check((unsigned)shared.payload == shared.probe.runs);
    rota_task_discard(&shared.future->task);
    rota_future_unref(shared.future);
    test_check(shared.probe.frees == shared.probe.runs);
    test_check(shared.probe.discards == 1);
}

/* FUT-20, GEN-08, OWN-19: runs follow one another, also on two threads, and end with a cancel. */
TEST(runs_of_a_periodic_task_do_not_overlap)
{
    const test_race race = {
        make_periodic, {run_until_done, cancel, run_until_done}, check_periodic};
    const test_race race_now = {
        make_periodic, {run_until_done, cancel_now, run_until_done}, check_periodic};

    test_race_run(&race, NULL);
    test_race_run(&race_now, NULL);
}
