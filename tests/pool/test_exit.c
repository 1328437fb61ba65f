/* SPDX-License-Identifier: MIT */
/*
 * The end of the process waits for no pool: FACT-11.
 */
#include "pools.h"

#include <stdlib.h>

enum { TASKS = 100, STATUS = 5 };

static rota_executor *pools[2]; /* still known at the end, so that nothing is lost */
static atomic_uint runs;

static void *sleep_long(void *arg)
{
    rota_sleep(ROTA_HOURS(1));
    return arg;
}

static void leave_with_pools_at_work(void *arg)
{
    test_check(rota_fixed_pool(2, &pools[0]) == ROTA_OK);
    test_check(rota_cached_pool(&pools[1]) == ROTA_OK);
    for (int i = 0; i < TASKS; i++) {
        test_check(rota_execute(pools[0], i == 0 ? sleep_long : test_count, &runs) == ROTA_OK);
        test_check(rota_execute(pools[1], test_count, &runs) == ROTA_OK);
    }
    exit(STATUS);
}

/*
 * FACT-11, FAULT-47: with threads that sleep, run and wait for work; again and again, as they are
 * all over the place.
 */
TEST(the_process_may_end_without_a_shutdown)
{
    for (int round = 0; round < 20; round++)
        assert_int_equal(test_in_child(leave_with_pools_at_work, NULL), STATUS);
}
