/* SPDX-License-Identifier: MIT */
/*
 * rota_test_compose.h - futures that end in each of the ways there are.
 *
 *     rota_future *promise = test_promise();
 *
 *     test_end(promise, TEST_FAILS, NULL);
 *     test_has_ended(promise, TEST_FAILS, NULL);
 *     rota_future_unref(promise);
 */
#ifndef ROTA_TEST_COMPOSE_H
#define ROTA_TEST_COMPOSE_H

#include "rota_test_tasks.h"

enum { TEST_SUCCEEDS, TEST_FAILS, TEST_CANCELLED, TEST_ENDINGS };
typedef int test_ending; /* one of these: loops count through them */

enum { TEST_CODE = 4711 }; /* of failures */

rota_future *test_promise(void); /* ends the process without memory */
rota_future *test_done(test_ending ending, void *value);

/* On any thread; the promise must not be done. */
void test_end(rota_future *promise, test_ending ending, void *value);

/* Asserts how it ended, by every call that tells; without a value if it did not succeed. */
void test_has_ended(rota_future *future, test_ending ending, const void *value);
void test_has_failed(rota_future *future, int code);

/* Asserts that it is not done. */
void test_is_pending(rota_future *future);

/* Runs `body` on a thread with a stack of 256 KiB. */
void test_on_small_stack(void (*body)(void *arg), void *arg);

#endif
