/* SPDX-License-Identifier: MIT */
/* ROTA_TEST_PUBLIC */
/*
 * Puts every kind of executor through the contract that they share (EXEC-01).
 */
#include "executor_contract.h"

#include "executors.h"

static int make_one_thread(rota_executor **out)
{
    return test_executor_threads(1, out);
}

static int make_three_threads(rota_executor **out)
{
    return test_executor_threads(3, out);
}

static const executor_kind kinds[] = {
    {"direct", test_executor_direct, .knows_its_tasks = true},
    {"one thread", make_one_thread, .threads = 1, .replaces = true},
    {"three threads", make_three_threads, .threads = 3, .replaces = true},
};

int main(void)
{
    test_memory_install();
    return executor_contract_run(kinds, sizeof kinds / sizeof kinds[0]);
}
