/* SPDX-License-Identifier: MIT */
/* ROTA_TEST_PUBLIC */
/*
 * Every call with NULL, and other arguments that cannot be: nothing happens.
 */
#include "rota_test.h"

static rota_future *source; /* never ends */
static rota_executor *executor;
static rota_future *const untouched = (rota_future *)&executor;
static rota_future *out;

static void *on_value(void *value, void *arg)
{
    return value;
}

static rota_future *on_value_chain(void *value, void *arg)
{
    return NULL;
}

static void *on_both(void *first, void *second, void *arg)
{
    return first;
}

static void *on_end(int status, void *value, int error, void *arg)
{
    return value;
}

static rota_future *on_end_chain(int status, void *value, int error, void *arg)
{
    return NULL;
}

static void on_done(rota_future *future, void *arg)
{
}

static void *work(void *arg)
{
    return arg;
}

static int run_here(void *self, rota_task *task)
{
    rota_task_run(task);
    return ROTA_OK;
}

static int prepare(void **state)
{
    const rota_executor_ops ops = {.execute = run_here};

    out = untouched;
    if (rota_executor_new(&ops, NULL, &executor) != ROTA_OK)
        return -1;
    return rota_promise_new(&source);
}

static int clean_up(void **state)
{
    bool is_untouched = out == untouched && rota_future_dependents(source) == 0;

    rota_future_unref(source);
    return is_untouched ? rota_close(executor) : -1;
}

TEST_FIXTURE(.setup = prepare, .teardown = clean_up);

#define refused(call) assert_status(call, ROTA_EINVAL)

/*
 * COMP-28, GEN-02, FAULT-01: ROTA_EINVAL from rota_then, rota_chain, rota_handle,
 * rota_handle_chain, rota_recover, rota_when_done, rota_copy.
 */
TEST(steps_need_a_source_a_function_and_an_out)
{
    refused(rota_then(NULL, NULL, on_value, NULL, &out));
    refused(rota_then(source, NULL, NULL, NULL, &out));
    refused(rota_then(source, NULL, on_value, NULL, NULL));
    refused(rota_chain(NULL, NULL, on_value_chain, NULL, &out));
    refused(rota_chain(source, NULL, NULL, NULL, &out));
    refused(rota_chain(source, NULL, on_value_chain, NULL, NULL));
    refused(rota_handle(NULL, NULL, on_end, NULL, &out));
    refused(rota_handle(source, NULL, NULL, NULL, &out));
    refused(rota_handle(source, NULL, on_end, NULL, NULL));
    refused(rota_handle_chain(NULL, NULL, on_end_chain, NULL, &out));
    refused(rota_handle_chain(source, NULL, NULL, NULL, &out));
    refused(rota_handle_chain(source, NULL, on_end_chain, NULL, NULL));
    refused(rota_recover(NULL, NULL, on_end, NULL, &out));
    refused(rota_recover(source, NULL, NULL, NULL, &out));
    refused(rota_recover(source, NULL, on_end, NULL, NULL));
    refused(rota_when_done(NULL, NULL, on_done, NULL, &out));
    refused(rota_when_done(source, NULL, NULL, NULL, &out));
    refused(rota_copy(NULL, &out));
    refused(rota_copy(source, NULL));
}

/* COMP-28: ROTA_EINVAL from rota_both, rota_either. */
TEST(both_and_either_need_two_sources)
{
    refused(rota_both(NULL, source, NULL, on_both, NULL, &out));
    refused(rota_both(source, NULL, NULL, on_both, NULL, &out));
    refused(rota_both(source, source, NULL, NULL, NULL, &out));
    refused(rota_both(source, source, NULL, on_both, NULL, NULL));
    refused(rota_either(NULL, source, NULL, on_value, NULL, &out));
    refused(rota_either(source, NULL, NULL, on_value, NULL, &out));
    refused(rota_either(source, source, NULL, NULL, NULL, &out));
    refused(rota_either(source, source, NULL, on_value, NULL, NULL));
}

/* COMP-28: each of several must be there. ROTA_EINVAL from rota_all_of, rota_any_of. */
TEST(several_need_each_of_them)
{
    rota_future *with_a_gap[] = {source, source, NULL};

    refused(rota_all_of(NULL, 1, &out));
    refused(rota_all_of(with_a_gap, 3, &out));
    refused(rota_all_of(with_a_gap, 2, NULL));
    refused(rota_all_of(NULL, 0, NULL));
    refused(rota_any_of(NULL, 1, &out));
    refused(rota_any_of(with_a_gap, 3, &out));
    refused(rota_any_of(with_a_gap, 2, NULL));
    refused(rota_any_of(NULL, 0, NULL));
}

/* GEN-02: ROTA_EINVAL from rota_timeout, rota_timeout_value, rota_delayed. */
TEST(time_needs_something_to_wait_for)
{
    rota_executor *delayed = NULL;

    refused(rota_timeout(NULL, 1, &out));
    refused(rota_timeout(source, 1, NULL));
    refused(rota_timeout_value(NULL, 1, NULL, &out));
    refused(rota_timeout_value(source, 1, NULL, NULL));
    refused(rota_delayed(NULL, 1, &delayed));
    refused(rota_delayed(executor, 1, NULL));
    assert_null(delayed);
}

/* GEN-02 */
TEST(looking_at_nothing_is_allowed)
{
    assert_int_equal(rota_future_dependents(NULL), 0);
    assert_null(rota_future_get_now(NULL, NULL));
    refused(rota_future_own(NULL));
}

/* GEN-02: ROTA_EINVAL from rota_retry, also for options that cannot be. */
TEST(retry_needs_options_that_can_be)
{
    const rota_call call = {.fn = work};
    const rota_call no_call = {.arg = NULL};
    const rota_retry_options good = {.attempts = 1};
    const rota_retry_options bad[] = {
        {.attempts = 0},
        {.attempts = 1, .first_delay = -1},
        {.attempts = 1, .factor = -0.5},
        {.attempts = 1, .factor = __builtin_nan("")},
        {.attempts = 1, .cap = -1},
        {.attempts = 1, .jitter = -0.1},
        {.attempts = 1, .jitter = 1.1},
        {.attempts = 1, .jitter = __builtin_nan("")},
    };

    refused(rota_retry(NULL, &call, &good, &out));
    refused(rota_retry(executor, NULL, &good, &out));
    refused(rota_retry(executor, &no_call, &good, &out));
    refused(rota_retry(executor, &call, NULL, &out));
    refused(rota_retry(executor, &call, &good, NULL));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refused(rota_retry(executor, &call, &bad[i], &out));
}

/* GEN-02: ROTA_EINVAL from rota_hedge. */
TEST(hedge_needs_a_call)
{
    const rota_call call = {.fn = work};
    const rota_call no_call = {.arg = NULL};

    refused(rota_hedge(NULL, &call, 1, &out));
    refused(rota_hedge(executor, NULL, 1, &out));
    refused(rota_hedge(executor, &no_call, 1, &out));
    refused(rota_hedge(executor, &call, 1, NULL));
}
