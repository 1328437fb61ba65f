/* SPDX-License-Identifier: MIT */
/*
 * Somebody sets the clock on the wall: nobody who waits notices. The clock that the library asks is
 * this test's own, so that it need not set that of the machine.
 */
#define _GNU_SOURCE
#include "pools.h"
#include "rota_test_internal.h"

#include "base/wait.h"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
static atomic_long wall_step; /* seconds that were added */

int clock_gettime(clockid_t clock, struct timespec *now)
{
    long status;

    *now = (struct timespec){0}; /* a sanitizer does not see what a system call writes */
    status = syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        now->tv_sec += atomic_load(&wall_step);
    return (int)status;
}

/* rota_now may be wrong here. */
static rota_ns now_by(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return ROTA_SEC(now.tv_sec) + now.tv_nsec;
}

/* -- An hour ahead, an hour back ---------------------------------------------------------- */

static atomic_bool is_over;

/* Wakes the thread each time, so that it looks at its clock. */
static void step_until_it_is_over(void *thread)
{
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        atomic_store(&wall_step, i % 2 == 0 ? 3600 : -3600);
        rota__unpark(thread);
        sched_yield();
    }
}

/* By that clock it would end early, or an hour late. */
static void a_timed_get_lasts_as_long_as_it_was_told(void)
{
    const rota_ns timeout = ROTA_MS(20);
    rota_ns begin = now_by(CLOCK_MONOTONIC);
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    assert_status(rota_future_get_timed(promise, timeout, NULL), ROTA_ETIMEDOUT);
    assert_true(now_by(CLOCK_MONOTONIC) - begin >= timeout);
    rota_future_unref(promise);
}

static void *note_time(void *arg)
{
    *(rota_ns *)arg = now_by(CLOCK_MONOTONIC);
    return arg;
}

static void a_scheduled_task_runs_when_it_is_due(rota_executor *sched)
{
    const rota_ns delay = ROTA_MS(20);
    rota_ns ran = 0, due = now_by(CLOCK_MONOTONIC) + delay;
    rota_future *future;

    assert_ok(rota_schedule(sched, note_time, &ran, delay, &future));
    assert_ok(rota_future_get(future, NULL));
    assert_true(ran >= due);
    rota_future_unref(future);
}
#endif

/* GEN-05, FAULT-31 */
TEST(steps_of_the_wall_clock_move_no_deadline)
{
#ifdef __linux__
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    test_thread *other = test_thread_start(step_until_it_is_over, rota_thread_self());

    for (int i = 0; i < 3; i++) {
        a_timed_get_lasts_as_long_as_it_was_told();
        a_scheduled_task_runs_when_it_is_due(sched);
    }
    atomic_store(&is_over, true);
    test_thread_join(other);
    assert_ok(rota_close(sched));
#else
    skip();
#endif
}
