/* SPDX-License-Identifier: MIT */
/*
 * chance.h - queues, policies and ends that are left to chance.
 */
#ifndef ROTA_TEST_CHANCE_H
#define ROTA_TEST_CHANCE_H

#include "pools.h"

enum { TEST_POLICIES = 5 };

extern rota_reject *const test_policies[TEST_POLICIES]; /* all that there are */

rota_reject *test_any_policy(test_random *random);

/* Small, without room, or, as NULL, without a bound. */
rota_queue *test_any_queue(test_random *random);

/* Runs some of the drained tasks, discards the others, and frees the list. */
void test_use_up(rota_task_list *list, test_random *random);

#endif
