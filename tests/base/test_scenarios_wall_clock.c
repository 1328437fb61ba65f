/* SPDX-License-Identifier: MIT */
/*
 * Somebody sets the clock on the wall: nobody who waits notices. The clocks that a program can ask are
 * this test's own, so that it need not set those of the machine.
 */
#define _GNU_SOURCE
#include "pools.h"
#include "rota_test_internal.h"

#include "base/park.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
static atomic_long wall_step; /* seconds that were added */

int clock_gettime(clockid_t clock, struct timespec *now)
{
    long status = syscall(SYS_clock_gettime, clock, now);

    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        now->tv_sec += atomic_load(&wall_step);
    return (int)status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec exact;

    clock_gettime(CLOCK_REALTIME, &exact);
    *now = (struct timeval){exact.tv_sec, exact.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec exact;

    clock_gettime(CLOCK_REALTIME, &exact);
    if (out != NULL)
        *out = exact.tv_sec;
    return exact.tv_sec;
}

static const long steps[] = {3600, -3600};

enum { STEPS = sizeof steps / sizeof steps[0] };

/* A wait by that clock would end early after the first, and an hour late after the second. */
static void a_timed_get_lasts_as_long_as_it_was_told(void **state)
{
    const rota_ns timeout = ROTA_MS(20);

    for (int i = 0; i < STEPS; i++) {
        rota_ns begin = rota_now();
        rota_future *promise;
        test_getter getter;

        assert_ok(rota_promise_new(&promise));
        test_getter_start(&getter, promise, timeout);
        atomic_fetch_add(&wall_step, steps[i]);
        rota__unpark(test_thread_handle(getter.thread)); /* so that it looks at its clock */
        test_getter_ends(&getter, ROTA_ETIMEDOUT, TEST_UNTOUCHED);
        assert_true(rota_now() - begin >= timeout);
        rota_future_unref(promise);
    }
}

static void *note_time(void *arg)
{
    *(rota_ns *)arg = rota_now();
    return arg;
}

static void a_scheduled_task_runs_when_it_is_due(void **state)
{
    const rota_ns delay = ROTA_MS(20);
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});

    for (int i = 0; i < STEPS; i++) {
        rota_ns ran = 0, due = rota_now() + delay;
        rota_future *future;

        assert_ok(rota_schedule(sched, note_time, &ran, delay, &future));
        atomic_fetch_add(&wall_step, steps[i]);
        assert_ok(rota_pool_set_keep_alive(sched, ROTA_SEC(1 + i))); /* the worker looks, too */
        assert_ok(rota_future_get(future, NULL));
        assert_true(ran >= due);
        rota_future_unref(future);
    }
    assert_ok(rota_close(sched));
}
#endif

/* CON-15, GEN-05 */
static void a_step_of_the_wall_clock_moves_no_deadline(void **state)
{
#ifdef __linux__
    time_t before = time(NULL);

    atomic_fetch_add(&wall_step, 3600);
    assert_true(time(NULL) >= before + 3600); /* it can be seen */
    atomic_fetch_sub(&wall_step, 3600);
    a_timed_get_lasts_as_long_as_it_was_told(state);
    a_scheduled_task_runs_when_it_is_due(state);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_memory(a_step_of_the_wall_clock_moves_no_deadline),
    };

    test_memory_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
