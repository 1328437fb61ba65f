/* SPDX-License-Identifier: MIT */
/*
 * Tasks that leave their thread otherwise than they have found it: nothing is put back for the next
 * task, and the pool works on as it did. (FAULT-39)
 */
#define _GNU_SOURCE
#include "forkjoin.h"

#include "os/fault.h"

#include <errno.h>
#include <signal.h>

enum { TASKS = 200 };

static void *spoil(void *runs)
{
    sigset_t none;
    int before;

    sigemptyset(&none);
    test_check(pthread_sigmask(SIG_SETMASK, &none, NULL) == 0);
    test_check(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before) == 0);
    test_check(pthread_setname_np(pthread_self(), "spoilt") == 0);
    errno = EDOM;
    return test_count(runs);
}

static void *nap(void *runs)
{
    rota_ns begin = rota_now();

    test_check(rota_sleep(ROTA_US(100)) == ROTA_OK);
    test_check(rota_now() - begin >= ROTA_US(100));
    return test_count(runs);
}

static void runs_on(rota_executor *pool)
{
    atomic_uint runs = 0;
    rota_future *future;
    test_gate gate;

    for (int i = 0; i < TASKS; i++)
        assert_ok(rota_execute(pool, i % 2 == 0 ? spoil : nap, &runs));
    test_await_count(&runs, TASKS);
    test_gate_init(&gate);
    assert_ok(rota_submit(pool, test_sleep_long, &gate, &future));
    test_await_count(&gate.begun, 1);
    assert_true(rota_future_cancel_now(future));
    rota_future_unref(future);
    assert_ok(rota_close(pool));
    assert_int_equal(gate.interrupted, 1);
}

/* FAULT-39 */
TEST(a_pool_works_on)
{
    runs_on(test_pool((rota_pool_options){.core_threads = 2}));
    runs_on(test_sched((rota_sched_options){.core_threads = 2}));
    runs_on(test_forkjoin_of(2));
}

static atomic_uint handled;

static void handle(int number)
{
    int saved = errno;

    atomic_fetch_add(&handled, number == SIGUSR1);
    errno = saved;
}

struct target {
    pthread_t thread;
    atomic_uint runs;
};

static void *unblock(void *arg)
{
    struct target *target = arg;

    target->thread = pthread_self();
    return spoil(&target->runs);
}

/*
 * FAULT-27, FAULT-39, FAULT-45: its signals interrupt the waits of a worker, which go on: no task
 * is lost, none is run early.
 */
TEST(a_worker_that_lets_signals_in_works_on)
{
    const struct sigaction action = {.sa_handler = handle};
    rota_executor *pool = test_sched((rota_sched_options){.core_threads = 1});
    struct target target = {.runs = 0};
    struct sigaction before;

    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    assert_ok(rota_execute(pool, unblock, &target));
    test_await_count(&target.runs, 1);
    for (unsigned i = 1; i <= TASKS; i++) {
        assert_ok(rota_schedule(pool, nap, &target.runs, ROTA_US(100), NULL));
        do
            assert_int_equal(pthread_kill(target.thread, SIGUSR1), 0);
        while (atomic_load(&target.runs) <= i);
    }
    assert_ok(rota_close(pool));
    assert_true(handled > 0);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

/* -- By a task that ends its thread ------------------------------------------------------- */

struct leaving {
    rota_executor *pool;
    test_gate gate;
    atomic_uint runs;
};

static void *end_thread_later(void *gate)
{
    test_wait_at(gate);
    pthread_exit(NULL);
}

/* Both look along all that the thread is in, and that it runs. */
static void *look_along(void *arg)
{
    struct leaving *leaving = arg;
    rota_future *promise;

    test_check(rota_promise_new(&promise) == ROTA_OK);
    test_check(rota_future_get_timed(promise, 1, NULL) == ROTA_ETIMEDOUT);
    rota_future_unref(promise);
    test_check(rota_await_termination(leaving->pool, ROTA_FOREVER) == ROTA_EDEADLOCK);
    return test_count(&leaving->runs);
}

static void is_left(struct leaving *leaving, rota_executor *pool)
{
    leaving->pool = pool;
    atomic_store(&leaving->runs, 0);
    test_gate_init(&leaving->gate);
    assert_ok(rota_execute(pool, end_thread_later, &leaving->gate));
    test_await_count(&leaving->gate.begun, 1);
    for (int i = 0; i < TASKS; i++)
        assert_ok(rota_execute(pool, look_along, leaving));
    rota__fault_arm(ROTA__FAULT_THREAD_START, 1, true);
    test_gate_open(&leaving->gate);
    test_await_count(&leaving->runs, TASKS);
    rota__fault_arm(ROTA__FAULT_THREAD_START, 0, false);
    assert_ok(rota_close(pool));
}

/* GEN-14, FAULT-35: no thread can be started in place of one that a task has ended, so the thread
   that ends runs what is queued. */
TEST(a_thread_that_a_task_has_ended_runs_what_is_queued)
{
    struct leaving leaving;

    is_left(&leaving, test_pool((rota_pool_options){.core_threads = 1}));
    is_left(&leaving, test_sched((rota_sched_options){.core_threads = 1}));
}
