/* SPDX-License-Identifier: MIT */
/*
 * Tasks that leave their thread otherwise than they have found it: nothing is put back for the next
 * task, and the pool works on as it did. (Fault 39)
 */
#define _GNU_SOURCE
#include "forkjoin.h"

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

static void a_pool_works_on(void **state)
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

/* Its signals interrupt the waits of a worker, which go on: no task is lost, none is run early. */
static void a_worker_that_lets_signals_in_works_on(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_memory(a_pool_works_on),
        test_with_memory(a_worker_that_lets_signals_in_works_on),
    };

    test_memory_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
