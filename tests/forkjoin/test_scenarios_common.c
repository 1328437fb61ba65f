/* SPDX-License-Identifier: MIT */
/*
 * Tasks and steps behind them in the common pool, of every size, and in a pool of one's own. Each test
 * has a process of its own.
 */
#define _GNU_SOURCE
#include "forkjoin.h"

#include <stdlib.h>

enum { CODE = 33 };

static void *give_back(void *arg)
{
    return arg;
}

static void *fail_with_code(void *arg)
{
    return rota_fail(CODE);
}

static void *take_over(int status, void *value, int error, void *arg)
{
    *(int *)arg = error;
    return value;
}

/* Both ends, and a step that sees each. */
static void ends_are_told(rota_executor *executor)
{
    rota_fn *const bodies[] = {give_back, fail_with_code};

    for (int fails = 0; fails < 2; fails++) {
        rota_future *future, *behind;
        void *result = NULL;
        int error = -1;

        test_check(rota_submit(executor, bodies[fails], executor, &future) == ROTA_OK);
        test_check(rota_handle(future, executor, take_over, &error, &behind) == ROTA_OK);
        test_check(rota_future_get(future, &result) == (fails ? ROTA_EFAILED : ROTA_OK));
        test_check(result == (fails ? NULL : executor));
        test_check(rota_future_error(future) == (fails ? CODE : 0));
        test_check(rota_future_get(behind, &result) == ROTA_OK);
        test_check(result == (fails ? NULL : executor));
        test_check(error == (fails ? CODE : 0));
        rota_future_unref(behind);
        rota_future_unref(future);
    }
}

static void tell_ends_with(void *parallelism)
{
    rota_executor *own = test_pool((rota_pool_options){.core_threads = 1});

    if (parallelism != NULL)
        test_check(setenv("ROTA_COMMON_PARALLELISM", parallelism, 1) == 0);
    ends_are_told(rota_common_pool());
    ends_are_told(own);
    test_check(rota_close(own) == ROTA_OK);
}

/* FJ-05, FJ-07, FUT-05 */
TEST(ends_are_told_whatever_the_size_of_the_common_pool)
{
    char *const sizes[] = {NULL, "0", "1", "3"};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        assert_int_equal(test_in_child(tell_ends_with, sizes[i]), 0);
}
