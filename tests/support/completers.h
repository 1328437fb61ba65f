/* SPDX-License-Identifier: MIT */
/*
 * completers.h - completers that count what is done with them.
 *
 *     test_counted line[3];
 *
 *     test_counted_line(line, 3);               // the first is the root, each the parent of the next
 *     rota_try_complete(&line[2].completer);
 *     assert_int_equal(line[0].completions, 1);
 */
#ifndef ROTA_TEST_COMPLETERS_H
#define ROTA_TEST_COMPLETERS_H

#include "forkjoin.h"

typedef struct test_counted {
    rota_completer completer; /* first */
    atomic_uint computes, completions, failures;
    rota_completer *caller; /* of the last on_completion or on_failure */
    int code;               /* what on_failure was told */
    bool stops_failure;     /* on_failure: it goes no higher */
    int fails_with;         /* its own compute, unless this is 0 */
    void *arg;              /* the test's */
} test_counted;

/* All zero; its compute counts, then fails or completes it. `parent` may be NULL. */
void test_counted_init(test_counted *counted, test_counted *parent);
void test_counted_line(test_counted *line, unsigned count);

void test_counted_compute(rota_completer *self);

/* On any thread: how often each of the three was called. */
#define test_counted_is(counted, computes, completions, failures) \
    test_counted_check((counted), (computes), (completions), (failures), __FILE__, __LINE__)

void test_counted_check(const test_counted *counted, unsigned computes, unsigned completions,
                        unsigned failures, const char *file, int line);

#endif
