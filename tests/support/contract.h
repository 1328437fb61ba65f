/* SPDX-License-Identifier: MIT */
/*
 * contract.h - the same tests for several kinds of a thing, each as far as the kind is able to.
 */
#ifndef ROTA_TEST_CONTRACT_H
#define ROTA_TEST_CONTRACT_H

#include "rota_test.h"

typedef struct contract_test {
    const char *name; /* NULL: the end of a list */
    void (*run)(void **state);
    unsigned needs; /* abilities of the kind, as bits */
} contract_test;

#define CONTRACT_TEST(wanted, test)                 \
    {                                               \
        .name = #test, .run = test, .needs = wanted \
    }

/* Lists of tests, and what comes before and after each: `state` is the kind there at first. */
typedef struct contract_suite {
    const contract_test *const *lists;
    size_t count;
    int (*set_up)(void **state);
    int (*tear_down)(void **state);
} contract_suite;

/* All that `able` is enough for, named after the kind: how many failed. */
int contract_run(const contract_suite *suite, const char *name, unsigned able, const void *kind);

#endif
