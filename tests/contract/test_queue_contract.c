/* SPDX-License-Identifier: MIT */
/*
 * Puts every kind of queue through the contract that they share (QUEUE-01).
 */
#include "queue_contract.h"

int main(void)
{
    test_memory_install();
    return queue_contract_run(test_queue_kinds, TEST_QUEUE_KINDS);
}
