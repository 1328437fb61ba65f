/* SPDX-License-Identifier: MIT */
/*
 * executor_contract_arguments.c - NULL where something is needed: nothing happens, and no crash.
 */
#include "executor_contract.h"

#include "executors.h"

static void submit_without(rota_executor *executor, rota_call *call)
{
    rota_call empty = *call;
    rota_future *future = UNTOUCHED;

    empty.fn = NULL;
    assert_status(rota_execute(NULL, call->fn, call->arg), ROTA_EINVAL);
    assert_status(rota_execute(executor, NULL, call->arg), ROTA_EINVAL);
    assert_status(rota_submit(NULL, call->fn, call->arg, &future), ROTA_EINVAL);
    assert_status(rota_submit(executor, NULL, call->arg, &future), ROTA_EINVAL);
    assert_status(rota_submit(executor, NULL, call->arg, NULL), ROTA_EINVAL);
    assert_status(rota_submit_call(NULL, call, &future), ROTA_EINVAL);
    assert_status(rota_submit_call(executor, NULL, &future), ROTA_EINVAL);
    assert_status(rota_submit_call(executor, &empty, &future), ROTA_EINVAL);
    assert_status(rota_submit_call(executor, &empty, NULL), ROTA_EINVAL);
    assert_status(rota_execute_task(executor, NULL), ROTA_EINVAL);
    assert_status(rota_execute_task(NULL, NULL), ROTA_EINVAL);
    assert_ptr_equal(future, UNTOUCHED);
}

enum { CALLS = 4 };

typedef int invoke_fn(rota_executor *ex, const rota_call *calls, size_t n, rota_ns timeout,
                      rota_future **futures);

/* What both say alike. */
static void invoke_without(invoke_fn *invoke, rota_executor *executor, const rota_call *calls,
                           rota_ns timeout)
{
    rota_future *futures[CALLS] = {UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED};

    assert_status(invoke(NULL, calls, CALLS, timeout, futures), ROTA_EINVAL);
    assert_status(invoke(NULL, calls, 0, timeout, futures), ROTA_EINVAL);
    assert_status(invoke(executor, NULL, CALLS, timeout, futures), ROTA_EINVAL);
    assert_status(invoke(executor, calls, CALLS, timeout, NULL), ROTA_EINVAL);
    for (size_t hole = 0; hole < CALLS; hole++) {
        rota_call holed[CALLS] = {calls[0], calls[1], calls[2], calls[3]};

        holed[hole].fn = NULL;
        assert_status(invoke(executor, holed, CALLS, timeout, futures), ROTA_EINVAL);
    }
    for (size_t i = 0; i < CALLS; i++)
        assert_ptr_equal(futures[i], UNTOUCHED);
}

static void all_calls_without(contract *test)
{
    const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_SEC(10), 0, -1};
    rota_future *future = UNTOUCHED;
    rota_call calls[CALLS];

    contract_calls(test, calls, CALLS, probe_returns);
    submit_without(test->executor, &calls[0]);
    for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
        invoke_without(rota_invoke_all, test->executor, calls, timeouts[i]);
        invoke_without(rota_invoke_any, test->executor, calls, timeouts[i]);
        assert_status(rota_invoke_any(test->executor, calls, 0, timeouts[i], &future), ROTA_EINVAL);
        assert_status(rota_invoke_any(test->executor, NULL, 0, timeouts[i], &future), ROTA_EINVAL);
    }
    assert_ptr_equal(future, UNTOUCHED);
    assert_status(rota_executor_describe(test->executor, NULL, 1), ROTA_EINVAL);
}

static void assert_nothing_happened(contract *test)
{
    contract_end(test);
    for (size_t i = 0; i < CALLS; i++) {
        assert_int_equal(test->probes[i].begun, 0);
        assert_int_equal(test->probes[i].discarded, 0);
    }
}

/* GEN-02, EXEC-04, FAULT-01, FAULT-16: EINVAL. */
CONTRACT(ANY_KIND, nothing_happens_without_an_argument)
{
    contract *test = *state;

    all_calls_without(test);
    assert_int_equal(rota_executor_state_of(test->executor), ROTA_RUNNING);
    assert_nothing_happened(test);
}

/*
 * GEN-03, FAULT-02: arguments are looked at first, so it is EINVAL also when the executor takes
 * nothing.
 */
CONTRACT(ANY_KIND, a_missing_argument_comes_before_a_shutdown)
{
    contract *test = *state;

    assert_ok(rota_shutdown(test->executor));
    all_calls_without(test);
    assert_nothing_happened(test);
}

/* EXEC-04, FAULT-16: no calls are no futures, with any time-out. */
CONTRACT(ANY_KIND, invoke_all_of_nothing_is_nothing)
{
    contract *test = *state;
    const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_SEC(1), 0, -1, INT64_MIN};
    rota_future *future = UNTOUCHED;
    rota_call call = contract_call(test, 0, probe_returns);

    for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
        assert_ok(rota_invoke_all(test->executor, &call, 0, timeouts[i], &future));
        assert_ok(rota_invoke_all(test->executor, NULL, 0, timeouts[i], NULL));
    }
    assert_ptr_equal(future, UNTOUCHED);
    assert_nothing_happened(test);
}

/* GEN-02: a call on no executor at all; what returns no status answers as the headers say. */
CONTRACT(ANY_KIND, no_executor_is_as_one_that_is_gone)
{
    rota_task_list list = {NULL, 7};
    size_t dropped = 7;
    char line[8] = "as it is";

    assert_status(rota_shutdown(NULL), ROTA_EINVAL);
    assert_status(rota_shutdown_now(NULL, &list), ROTA_EINVAL);
    assert_status(rota_shutdown_now(NULL, NULL), ROTA_EINVAL);
    assert_status(rota_await_termination(NULL, ROTA_FOREVER), ROTA_EINVAL);
    assert_status(rota_executor_free(NULL), ROTA_EINVAL);
    assert_status(rota_close(NULL), ROTA_EINVAL);
    assert_status(rota_close_within(NULL, ROTA_FOREVER, &dropped), ROTA_EINVAL);
    assert_status(rota_executor_describe(NULL, line, sizeof line), ROTA_EINVAL);
    assert_int_equal(rota_executor_state_of(NULL), ROTA_TERMINATED);
    assert_true(rota_is_shutdown(NULL));
    assert_true(rota_is_terminated(NULL));
    rota_task_list_free(NULL);
    assert_int_equal(list.count, 7);
    assert_int_equal(dropped, 7);
    assert_memory_equal(line, "as it is", sizeof line);
}
