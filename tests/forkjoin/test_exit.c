/* SPDX-License-Identifier: MIT */
/*
 * The common pool at the end of the process: FACT-11, FJ-06.
 */
#include "forkjoin/forkjoin_internal.h"

#include "forkjoin.h"
#include "rota_test_internal.h"

#include <rota/compose.h>
#include <stdlib.h>
#include <unistd.h>

enum { USERS = 3, STATUS = 5, STILL_THERE = 6 };

static atomic_uint uses;
static bool must_be_gone;

/* The last destructor of the process: those of the library come later in it, and run earlier. */
__attribute__((destructor(101))) static void look_back(void)
{
    if (must_be_gone)
        _exit(rota__load_relaxed(&rota__the_common) == NULL ? STATUS : STILL_THERE);
}

/* -- While others use it ------------------------------------------------------------------ */

static void *use_for_ever(void *arg)
{
    rota_executor *pool = rota_common_pool();

    for (;;) {
        test_check(rota_execute(pool, test_count, &uses) == ROTA_OK);
        test_check(rota_common_pool() == pool);
        rota_sleep(ROTA_US(20));
    }
    return arg;
}

static void leave_with_users(void *arg)
{
    pthread_t users[USERS];

    for (int i = 0; i < USERS; i++)
        test_check(pthread_create(&users[i], NULL, use_for_ever, NULL) == 0);
    test_await_count(&uses, USERS);
    exit(STATUS);
}

/* Fault 47: "no destructor races". Between two tasks the pool is quiet, but not forgotten. */
static void threads_may_use_the_common_pool_until_the_process_is_gone(void **state)
{
    for (int round = 0; round < 50; round++)
        assert_int_equal(test_in_child(leave_with_users, NULL), STATUS);
}

/* -- When nobody does --------------------------------------------------------------------- */

static void use_timer(void)
{
    rota_future *promise, *timed;

    test_check(rota_promise_new(&promise) == ROTA_OK);
    test_check(rota_timeout(promise, 1, &timed) == ROTA_OK);
    (void)rota_future_get(timed, NULL);
    rota_future_unref(timed);
    rota_future_unref(promise);
}

static void leave_alone(void *with_timer)
{
    if (rota__os_thread_count() != 1) /* a sanitizer has its own; or the system does not tell */
        _exit(STATUS);
    test_check(rota_execute(rota_common_pool(), test_count, &uses) == ROTA_OK);
    if (with_timer != NULL)
        use_timer();
    test_check(rota_await_quiescence(rota_common_pool(), ROTA_FOREVER) == ROTA_OK);
    must_be_gone = true;
    exit(0);
}

/* Tools that look for what is left find nothing. */
static void the_common_pool_ends_when_no_other_thread_is_left(void **state)
{
    for (int round = 0; round < 20; round++)
        assert_int_equal(test_in_child(leave_alone, NULL), STATUS);
}

/* The timer's thread is joined before, and the system may count it for a moment longer. */
static void the_timer_of_composed_futures_ends_before_it(void **state)
{
    int status = STILL_THERE;

    for (int round = 0; round < 100 && status == STILL_THERE; round++)
        status = test_in_child(leave_alone, &status);
    assert_int_equal(status, STATUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_may_use_the_common_pool_until_the_process_is_gone),
        cmocka_unit_test(the_common_pool_ends_when_no_other_thread_is_left),
        cmocka_unit_test(the_timer_of_composed_futures_ends_before_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
