/* SPDX-License-Identifier: MIT */
/*
 * On one CPU nobody spins: what is waited for could not happen meanwhile.
 */
#define _GNU_SOURCE
#include "rota_test_internal.h"
#include "rota_test_tasks.h"

#include "base/wait.h"

#include <sched.h>

static void stay_on_one_cpu(void)
{
    cpu_set_t all, one;
    size_t cpu = 0;

    test_check(sched_getaffinity(0, sizeof all, &all) == 0);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    test_check(sched_setaffinity(0, sizeof one, &one) == 0);
}

/* In a process that has not asked how many there are. */
static void wait_on_one_cpu(void *arg)
{
    rota__spin_budget spin = {0};
    rota_future *promise;
    test_getter getter;

    stay_on_one_cpu();
    test_check(rota_promise_new(&promise) == ROTA_OK);
    test_getter_start(&getter, promise, ROTA_FOREVER);
    test_check(rota_promise_complete(promise, &spin));
    test_getter_ends(&getter, ROTA_OK, &spin);
    rota_future_unref(promise);
    if (test_is_linux()) /* the other counts the machine's */
        test_check(rota__spin_budget_get(&spin) == 0);
}

TEST(a_getter_sleeps_at_once)
{
    assert_int_equal(test_in_child(wait_on_one_cpu, NULL), 0);
}
