/* SPDX-License-Identifier: MIT */
/*
 * Every transition of future_state.h, from every state.
 */
#include "rota_test.h"

#include "future/future_state.h"

#include <sched.h>

enum { PHASES = FUTURE_INTERRUPTED + 1 };

static rota_future *future;
static rota__execution runner;

static int make(void **state)
{
    return rota_promise_new(&future);
}

static int drop(void **state)
{
    rota__store_relaxed(&future->state, FUTURE_CANCELLED);
    rota_future_unref(future);
    return 0;
}

TEST_FIXTURE(.setup = make, .teardown = drop);

static uintptr_t word(int phase, bool runs)
{
    return (runs ? (uintptr_t)&runner : 0) | (uintptr_t)phase;
}

static void set(int phase, bool runs)
{
    rota__store_release(&future->state, word(phase, runs));
}

static void assert_state(int phase, bool runs)
{
    uintptr_t state = future_state_load(future);

    assert_int_equal(future_phase_in(state), phase);
    assert_ptr_equal(future_runner_in(state), runs ? &runner : NULL);
}

/* -- Out of NEW --------------------------------------------------------------------------- */

/* FUT-04: only a pending future that nobody runs can be claimed. */
TEST(claim_takes_what_nobody_runs)
{
    for (int phase = 0; phase < PHASES; phase++) {
        for (int runs = 0; runs < 2; runs++) {
            bool may = phase == FUTURE_NEW && !runs;
            rota__execution other;
            set(phase, runs);
            assert_int_equal(future_claim(future, may ? &runner : &other), may);
            assert_state(phase, runs || may);
        }
    }
}

static future_end interrupt(rota_future *of)
{
    rota__execution *found = NULL;
    future_end end = future_begin_interrupting(of, &found);

    if (end != FUTURE_TOO_LATE)
        assert_ptr_equal(found, end == FUTURE_WAS_RUNNING ? &runner : NULL);
    return end;
}

static void check_end(future_end (*end)(rota_future *of), int idle_phase, int running_phase)
{
    for (int phase = FUTURE_COMPLETING; phase < PHASES; phase++) {
        for (int runs = 0; runs < 2; runs++) {
            set(phase, runs);
            assert_int_equal(end(future), FUTURE_TOO_LATE);
            assert_state(phase, runs);
        }
    }
    set(FUTURE_NEW, false);
    assert_int_equal(end(future), FUTURE_WAS_PENDING);
    assert_state(idle_phase, false);
    set(FUTURE_NEW, true);
    assert_int_equal(end(future), FUTURE_WAS_RUNNING);
    assert_state(running_phase, true);
}

/* FUT-01, FUT-02: completing begins in NEW alone, and keeps the runner. */
TEST(completing_begins_in_new_alone)
{
    check_end(future_begin_completing, FUTURE_COMPLETING, FUTURE_COMPLETING);
}

/* FUT-01, FUT-10, FUT-11: so does cancel. */
TEST(cancel_is_for_new_alone)
{
    check_end(future_cancel, FUTURE_CANCELLED, FUTURE_CANCELLED);
}

/* FUT-01, FUT-12: INTERRUPTING is for one that runs; else there is nobody to interrupt. */
TEST(interrupt_is_for_new_alone)
{
    check_end(interrupt, FUTURE_CANCELLED, FUTURE_INTERRUPTING);
}

/* -- To the end --------------------------------------------------------------------------- */

/* FUT-01: COMPLETING ends in one of two ways, and the runner is left to leave by itself. */
TEST(completing_ends_as_normal_or_failed)
{
    const int outcomes[] = {FUTURE_NORMAL, FUTURE_FAILED};

    for (int i = 0; i < 2; i++) {
        for (int runs = 0; runs < 2; runs++) {
            set(FUTURE_COMPLETING, runs);
            future_end_completing(future, (future_phase)outcomes[i]);
            assert_state(outcomes[i], runs);
        }
        set(FUTURE_COMPLETING, true);
        future_end_completing_and_leave(future, (future_phase)outcomes[i]);
        assert_state(outcomes[i], false);
    }
}

/* FUT-01, FUT-12: INTERRUPTING ends as INTERRUPTED, and the runner is still there. */
TEST(interrupting_ends_as_interrupted)
{
    set(FUTURE_INTERRUPTING, true);
    future_end_interrupting(future);
    assert_state(FUTURE_INTERRUPTED, true);
}

/* FUT-21: the runner takes itself out, and leaves the phase as it is. */
TEST(leave_keeps_the_phase)
{
    for (int phase = 0; phase < PHASES; phase++) {
        if (phase == FUTURE_INTERRUPTING)
            continue;
        set(phase, true);
        assert_int_equal(future_leave(future), phase);
        assert_state(phase, false);
    }
}

/* -- Waiting a step out ------------------------------------------------------------------- */

struct waiting {
    test_barrier start;
    atomic_bool ended;
    int found;
};

static void leave_later(void *arg)
{
    struct waiting *waiting = arg;

    test_barrier_wait(&waiting->start);
    waiting->found = (int)future_leave(future);
    atomic_store(&waiting->ended, true);
}

static void look_later(void *arg)
{
    struct waiting *waiting = arg;

    test_barrier_wait(&waiting->start);
    waiting->found = (int)rota_future_state_of(future);
    atomic_store(&waiting->ended, true);
}

static void get_later(void *arg)
{
    struct waiting *waiting = arg;

    test_barrier_wait(&waiting->start);
    waiting->found = rota_future_get_timed(future, 0, NULL);
    atomic_store(&waiting->ended, true);
}

static void error_later(void *arg)
{
    struct waiting *waiting = arg;

    test_barrier_wait(&waiting->start);
    waiting->found = rota_future_error(future);
    atomic_store(&waiting->ended, true);
}

/* Lets `body` run into the step, looks that it waits, ends the step; what it found then. */
static int waited_out(void (*body)(void *arg), void (*end_step)(void))
{
    struct waiting waiting = {.found = -100};

    test_barrier_init(&waiting.start, 2);
    atomic_init(&waiting.ended, false);
    test_thread *thread = test_thread_start(body, &waiting);
    test_barrier_wait(&waiting.start);
    for (int i = 0; i < 500; i++) {
        sched_yield();
        assert_false(atomic_load(&waiting.ended));
    }
    end_step();
    test_thread_join(thread);
    return waiting.found;
}

static void end_interrupting(void)
{
    future_end_interrupting(future);
}

static void end_completing(void)
{
    future->task.error = 7;
    future_end_completing(future, FUTURE_FAILED);
}

/* FUT-13: the runner does not leave while somebody still interrupts it. */
TEST(the_runner_waits_for_who_interrupts_it)
{
    set(FUTURE_INTERRUPTING, true);
    assert_int_equal(waited_out(leave_later, end_interrupting), FUTURE_INTERRUPTED);
    assert_state(FUTURE_INTERRUPTED, false);
}

/* FUT-02, FUT-07: who finds it COMPLETING waits that out, and never sees half an outcome. */
TEST(completing_is_waited_out)
{
    set(FUTURE_COMPLETING, false);
    assert_true(rota_future_is_done(future)); /* FUT-06 */
    assert_int_equal(waited_out(look_later, end_completing), ROTA_FUTURE_FAILED);
    set(FUTURE_COMPLETING, true);
    assert_int_equal(waited_out(get_later, end_completing), ROTA_EFAILED);
    set(FUTURE_COMPLETING, false);
    assert_int_equal(waited_out(error_later, end_completing), 7);
}

/* FUT-06, FUT-07, FUT-12: INTERRUPTING answers as cancelled already. */
TEST(interrupting_is_as_cancelled)
{
    set(FUTURE_INTERRUPTING, true);
    assert_true(rota_future_is_done(future));
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_CANCELED);
    assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
    assert_int_equal(rota_future_error(future), 0);
    assert_false(rota_future_cancel(future));
    assert_false(rota_future_cancel_now(future));
    assert_false(rota_promise_complete(future, NULL));
    assert_false(rota_promise_fail(future, 1));
    assert_state(FUTURE_INTERRUPTING, true);
}
