/* SPDX-License-Identifier: MIT */
/*
 * Calls that end just when the time is up: they were in time or they were not, and the status, the
 * future and the call say the same.
 */
#include "executors.h"
#include "rota_test_tasks.h"

enum { ROUNDS = 5000 };

struct timed {
    rota_ns when; /* it returns */
    atomic_uint freed;
    atomic_uint discarded;
};

/* One for each round, as a cancelled body still uses it. */
static struct timed calls[ROUNDS];

static void *return_in_time(void *arg)
{
    const struct timed *timed = arg;

    while (rota_now() < timed->when)
        continue;
    return arg;
}

static void discard(void *arg)
{
    atomic_fetch_add(&((struct timed *)arg)->discarded, 1);
}

static void free_result(void *result)
{
    atomic_fetch_add(&((struct timed *)result)->freed, 1);
}

typedef int invoke_fn(rota_executor *ex, const rota_call *calls, size_t n, rota_ns timeout,
                      rota_future **futures);

/* Invokes one call each round, with a time-out that is over at about the time of its end. */
static void run(invoke_fn *invoke, void (*check)(int status, rota_future *future))
{
    const rota_ns timeout = ROTA_US(20);
    rota_executor *executor;
    test_random random;

    test_random_init(&random);
    assert_ok(test_executor_threads(1, &executor));
    for (size_t i = 0; i < ROUNDS; i++) {
        const rota_call call = {return_in_time, &calls[i], discard, free_result, NULL, {NULL}};
        rota_future *future = TEST_UNTOUCHED;

        calls[i] = (struct timed){.when = rota_now() + timeout};
        calls[i].when += (rota_ns)test_random_below(&random, ROTA_US(150));
        int status = invoke(executor, &call, 1, timeout, &future);
        check(status, future);
    }
    assert_ok(rota_close(executor));
    for (size_t i = 0; i < ROUNDS; i++) /* OWN-17, EXEC-16 */
        assert_int_equal(calls[i].freed + calls[i].discarded, 1);
}

static void check_all(int status, rota_future *future)
{
    bool cancelled = rota_future_state_of(future) == ROTA_FUTURE_CANCELED;

    test_check(status == (cancelled ? ROTA_ETIMEDOUT : ROTA_OK));
    rota_future_unref(future);
}

/* EXEC-07: it is done, or it is cancelled and ROTA_ETIMEDOUT says so. */
TEST(invoke_all_tells_whether_the_time_was_enough)
{
    run(rota_invoke_all, check_all);
}

static void check_any(int status, rota_future *future)
{
    test_check(status == ROTA_OK || status == ROTA_ETIMEDOUT);
    test_check((status == ROTA_OK) == (future != TEST_UNTOUCHED));
    if (status != ROTA_OK)
        return;
    test_check(rota_future_state_of(future) == ROTA_FUTURE_SUCCEEDED);
    rota_future_unref(future);
}

/* EXEC-12: a success in time, or nothing. */
TEST(invoke_any_returns_what_was_in_time)
{
    run(rota_invoke_any, check_any);
}
