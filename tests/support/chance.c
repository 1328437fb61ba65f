/* SPDX-License-Identifier: MIT */
#include "chance.h"

rota_reject *const test_policies[TEST_POLICIES] = {rota_reject_abort, rota_reject_caller_runs,
                                                   rota_reject_discard, rota_reject_discard_oldest,
                                                   rota_reject_block};

rota_reject *test_any_policy(test_random *random)
{
    return test_policies[test_random_below(random, TEST_POLICIES)];
}

rota_queue *test_any_queue(test_random *random)
{
    rota_queue *queue = NULL;

    switch (test_random_below(random, 4)) {
    case 0:
        return test_array(1 + test_random_below(random, 4));
    case 1:
        return test_handoff();
    case 2:
        test_check(rota_linked_queue(3, &queue) == ROTA_OK);
        return queue;
    default:
        return NULL;
    }
}

void test_use_up(rota_task_list *list, test_random *random)
{
    for (size_t i = 0; i < list->count; i++) {
        if (test_random_below(random, 2) == 0)
            rota_task_run(list->tasks[i]);
        else
            rota_task_discard(list->tasks[i]);
    }
    rota_task_list_free(list);
}
