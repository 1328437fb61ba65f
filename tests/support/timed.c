/* SPDX-License-Identifier: MIT */
#include "pools.h"

#include "rota_test_internal.h"

int test_clock_before(void **state)
{
    test_clock_install();
    return 0;
}

int test_clock_after(void **state)
{
    test_clock_remove();
    return 0;
}

const test_fixture test_virtual_time = {.setup = test_clock_before, .teardown = test_clock_after};

void test_pass(rota_executor *pool, rota_ns duration, size_t count)
{
    test_clock_advance(duration);
    test_await_waiting(pool, count);
}
