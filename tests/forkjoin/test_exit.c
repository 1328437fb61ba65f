/* SPDX-License-Identifier: MIT */
/*
 * The common pool at the end of the process.
 */
#define _POSIX_C_SOURCE 200809L
#include "forkjoin/forkjoin_internal.h"

#include "forkjoin.h"
#include "rota_test_internal.h"

#include <rota/compose.h>
#include <stdlib.h>
#include <unistd.h>

enum { STATUS = 5, NOT_YET = 6 }; /* of a child */

static atomic_uint runs;

static void set_parallelism(const char *value)
{
    test_check(setenv("ROTA_COMMON_PARALLELISM", value, 1) == 0);
}

/* -- The last destructor ------------------------------------------------------------------ */

enum { USERS = 3 };

static enum { ANYHOW, IN_USE, ENDED, FREED } expected;
static atomic_uint uses;
static size_t live_before;

static bool is_as_expected(void)
{
    const rota__fj_pool *pool = rota__load_relaxed(&rota__the_common);

    if (expected == FREED)
        return pool == NULL && test_memory_live() <= live_before;
    return pool == NULL || rota__fj_pool_state(pool) == ROTA_TERMINATED;
}

/* After those of the library: now all of its users come to it again. */
__attribute__((destructor(101))) static void look_back(void)
{
    if (expected == IN_USE)
        test_await_count(&uses, atomic_load(&uses) + 2 * USERS);
    else if (expected != ANYHOW)
        _exit(is_as_expected() ? STATUS : NOT_YET);
}

/* -- At work ------------------------------------------------------------------------------ */

static void leave_at_work(void *until_done)
{
    set_parallelism("2");
    for (int i = 0; i < 100; i++)
        test_check(rota_execute(rota_common_pool(), test_count, &runs) == ROTA_OK);
    if (until_done != NULL)
        test_await_count(&runs, 100);
    exit(STATUS);
}

/* FACT-11, FAULT-47: it waits for nothing, whatever the pool does at that moment. */
TEST(the_process_may_end_at_any_time)
{
    for (int i = 0; i < 20; i++) {
        assert_int_equal(test_in_child(leave_at_work, NULL), STATUS);
        assert_int_equal(test_in_child(leave_at_work, &runs), STATUS);
    }
}

/* -- While others use it ------------------------------------------------------------------ */

static void *use_for_ever(void *arg)
{
    rota_executor *pool = rota_common_pool();

    for (;;) {
        test_fib_task fib = {ROTA_FJ(test_fib), 5, 0};
        int status = rota_execute(pool, test_count, &runs);
        test_check(status == ROTA_OK || status == ROTA_EREJECTED);
        rota_fork(&fib.task);
        rota_join(&fib.task);
        test_check(fib.value == 5);
        atomic_fetch_add(&uses, 1);
        rota_sleep(ROTA_US(20)); /* so that the pool is quiet now and then */
    }
    return arg;
}

static void leave_with_users(void *arg)
{
    pthread_t users[USERS];

    expected = IN_USE;
    for (int i = 0; i < USERS; i++)
        test_check(pthread_create(&users[i], NULL, use_for_ever, NULL) == 0);
    test_await_count(&uses, USERS);
    exit(STATUS);
}

/* FAULT-47: between two tasks the pool is quiescent, and ends; it is not freed. */
TEST(threads_that_live_on_are_refused)
{
    for (int round = 0; round < 20; round++)
        assert_int_equal(test_in_child(leave_with_users, NULL), STATUS);
}

/* -- When nobody does --------------------------------------------------------------------- */

static void leave_without_threads(void *arg)
{
    test_fib_task fib = {ROTA_FJ(test_fib), 8, 0};

    set_parallelism("0");
    test_check(rota_thread_self() != NULL);
    live_before = test_memory_live();
    expected = rota__os_thread_count() == 1 ? FREED : ENDED; /* a sanitizer's; or it is not known */
    test_check(rota_invoke(rota_common_pool(), &fib.task) == ROTA_OK);
    exit(0);
}

static void leave_when_quiet(void)
{
    set_parallelism("2");
    test_check(rota_execute(rota_common_pool(), test_count, &runs) == ROTA_OK);
    test_check(rota_await_quiescence(rota_common_pool(), ROTA_FOREVER) == ROTA_OK);
    exit(0);
}

static void leave_with_threads(void *arg)
{
    expected = ENDED;
    leave_when_quiet();
}

/* A pool that nobody uses is freed, for tools that look for what is left. */
TEST(a_quiet_pool_goes_with_the_process)
{
    assert_int_equal(test_in_child(leave_without_threads, NULL), STATUS);
    assert_int_equal(test_in_child(leave_with_threads, NULL), STATUS);
}

static void leave_with_the_timer(void *arg)
{
    rota_future *promise, *timed;

    expected = rota__os_thread_count() == 1 ? FREED : ENDED;
    live_before = SIZE_MAX;
    test_check(rota_promise_new(&promise) == ROTA_OK);
    test_check(rota_timeout(promise, 1, &timed) == ROTA_OK);
    (void)rota_future_get(timed, NULL);
    rota_future_unref(timed);
    rota_future_unref(promise);
    leave_when_quiet();
}

/* Once its thread has been joined, the system may count it for a moment longer. */
TEST(the_timer_of_composed_futures_goes_first)
{
    int status = NOT_YET;

    for (int round = 0; round < 100 && status == NOT_YET; round++)
        status = test_in_child(leave_with_the_timer, NULL);
    assert_int_equal(status, STATUS);
}
