/* SPDX-License-Identifier: MIT */
#include "contract.h"

#include <stdio.h>

enum { MOST_TESTS = 200, NAME_SIZE = 120 };

int contract_run(const contract_suite *suite, const char *name, unsigned able, const void *kind)
{
    static struct CMUnitTest tests[MOST_TESTS];
    static char names[MOST_TESTS][NAME_SIZE];
    size_t count = 0;

    for (size_t i = 0; i < suite->count; i++) {
        for (const contract_test *test = suite->lists[i]; test->name != NULL; test++) {
            if (test->needs & ~able)
                continue;
            test_check(count < MOST_TESTS);
            snprintf(names[count], NAME_SIZE, "%s: %s", name, test->name);
            tests[count] = (struct CMUnitTest){names[count], test->run, suite->set_up,
                                               suite->tear_down, (void *)(uintptr_t)kind};
            count++;
        }
    }
    return _cmocka_run_group_tests(name, tests, count, NULL, NULL);
}
