/* SPDX-License-Identifier: MIT */
/*
 * executor_contract_shutdown.c - nothing new is taken, what was taken is run.
 */
#include "executor_contract.h"

#include "executors.h"

static void shut_down(void *arg)
{
    contract *test = arg;

    for (int i = 0; i < 100; i++)
        test_check(rota_shutdown(test->executor) == ROTA_OK);
}

/* POOL-52: again and again, on many threads, it is as once. */
CONTRACT(ANY_KIND, shutdown_may_be_repeated)
{
    contract *test = *state;
    test_thread *threads[3];

    for (size_t i = 0; i < 3; i++)
        threads[i] = test_thread_start(shut_down, test);
    for (size_t i = 0; i < 3; i++)
        test_thread_join(threads[i]);
    assert_true(rota_is_shutdown(test->executor));
    assert_ok(rota_await_termination(test->executor, ROTA_FOREVER));
    assert_ok(rota_shutdown(test->executor));
    assert_ok(rota_shutdown_now(test->executor, NULL));
    assert_int_equal(rota_executor_state_of(test->executor), ROTA_TERMINATED);
}

static void assert_all_rejected(contract *test)
{
    rota_executor *executor = test->executor;
    rota_call call = contract_call(test, 0, probe_returns);
    rota_future *future = UNTOUCHED;

    assert_status(rota_execute(executor, call.fn, call.arg), ROTA_EREJECTED);
    assert_status(rota_submit(executor, call.fn, call.arg, &future), ROTA_EREJECTED);
    assert_status(rota_submit(executor, call.fn, call.arg, NULL), ROTA_EREJECTED);
    assert_status(rota_submit_call(executor, &call, &future), ROTA_EREJECTED);
    assert_status(rota_submit_call(executor, &call, NULL), ROTA_EREJECTED);
    assert_ptr_equal(future, UNTOUCHED);
}

static void assert_not_used(const probe *unused)
{
    assert_int_equal(unused->begun, 0);
    assert_int_equal(unused->discarded, 0);
}

/* OWN-05, POOL-52: a rejected call stays the caller's: not run, not discarded, no future. */
CONTRACT(ANY_KIND, after_shutdown_nothing_is_taken)
{
    contract *test = *state;

    assert_ok(rota_shutdown(test->executor));
    assert_all_rejected(test);
    assert_ok(rota_await_termination(test->executor, ROTA_FOREVER));
    assert_all_rejected(test);
    contract_end(test);
    assert_not_used(&test->probes[0]);
}

/* OWN-05: nor is anything taken while the last tasks still run. */
CONTRACT(ANY_KIND, while_it_ends_nothing_is_taken)
{
    contract *test = *state;

    contract_occupy(test);
    assert_ok(rota_shutdown(test->executor));
    assert_all_rejected(test);
    contract_end(test);
    assert_not_used(&test->probes[0]);
    assert_int_equal(test->busy[0].ended, 1);
}

/* OWN-05: a task that is passed on and refused is still the caller's, who may run it. */
CONTRACT(ANY_KIND, a_task_that_is_refused_is_still_there)
{
    contract *test = *state;
    rota_call call = contract_call(test, 0, probe_returns);
    rota_executor *hand;
    test_manual *manual = test_executor_manual(&hand);
    rota_future *future;

    assert_ok(rota_shutdown(test->executor));
    assert_ok(rota_submit_call(hand, &call, &future));
    rota_task *task = test_manual_take(manual, 0);
    assert_status(rota_execute_task(test->executor, task), ROTA_EREJECTED);
    assert_not_used(&test->probes[0]);
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_PENDING);
    rota_task_run(task);
    assert_ok(rota_future_get_timed(future, 0, NULL));
    rota_future_unref(future);
    assert_ok(rota_close(hand));
}

/* POOL-52: what was taken before is run, and not interrupted. */
CONTRACT(QUEUES, what_was_submitted_before_still_runs)
{
    contract *test = *state;

    contract_occupy(test);
    for (size_t i = 0; i < 100; i++) {
        rota_call call = contract_call(test, i, probe_waits);
        assert_ok(rota_submit_call(test->executor, &call, NULL));
    }
    assert_ok(rota_shutdown(test->executor));
    contract_open_gate(test);
    assert_ok(rota_await_termination(test->executor, ROTA_FOREVER));
    contract_end_each_once(test, 100);
    assert_int_equal(contract_bodies(test, 100), 100);
    for (size_t i = 0; i < 100; i++)
        assert_false(test->probes[i].interrupted);
    assert_false(test->busy[0].interrupted); /* INT-09 */
}

static void *shuts_down(void *arg)
{
    probe *self = arg;
    rota_executor *executor = self->test->executor;
    rota_future *future = UNTOUCHED;

    test_check(rota_shutdown(executor) == ROTA_OK);
    test_check(rota_shutdown(executor) == ROTA_OK);
    test_check(rota_is_shutdown(executor));
    test_check(!rota_is_terminated(executor)); /* this one still runs */
    test_check(rota_execute(executor, probe_returns, self + 1) == ROTA_EREJECTED);
    test_check(rota_submit(executor, probe_returns, self + 1, &future) == ROTA_EREJECTED);
    test_check(future == UNTOUCHED);
    test_check(rota_executor_free(executor) == ROTA_EBUSY);
    self->interrupted = rota_is_interrupted();
    return probe_returns(arg);
}

/* POOL-52, INT-09, FAULT-14: a task may shut down its own executor, and goes on. */
CONTRACT(ANY_KIND, a_task_may_shut_down)
{
    contract *test = *state;
    rota_future *future;

    assert_ok(rota_submit(test->executor, shuts_down, &test->probes[0], &future));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
    assert_true(rota_is_shutdown(test->executor));
    assert_ok(rota_await_termination(test->executor, ROTA_FOREVER));
    contract_end_each_once(test, 1);
    assert_false(test->probes[0].interrupted);
    assert_not_used(&test->probes[1]);
}

static bool has_ended(void *arg)
{
    return rota_is_terminated(arg);
}

/* GEN-13, POOL-49: the getters alone show how it ends, without anybody waiting for it. */
CONTRACT(ANY_KIND, the_state_grows_to_its_end)
{
    contract *test = *state;

    assert_int_equal(rota_executor_state_of(test->executor), ROTA_RUNNING);
    assert_false(rota_is_shutdown(test->executor));
    assert_false(rota_is_terminated(test->executor));
    contract_occupy(test);
    assert_int_equal(rota_executor_state_of(test->executor), ROTA_RUNNING);
    assert_ok(rota_shutdown(test->executor));
    assert_int_equal(rota_executor_state_of(test->executor), ROTA_SHUTDOWN);
    assert_true(rota_is_shutdown(test->executor));
    assert_false(rota_is_terminated(test->executor));
    contract_open_gate(test);
    test_until(has_ended, test->executor);
    assert_int_equal(rota_executor_state_of(test->executor), ROTA_TERMINATED);
    assert_true(rota_is_shutdown(test->executor));
}

static void watch_the_state(void *arg)
{
    contract *test = arg;
    rota_executor_state before = ROTA_RUNNING;

    while (before != ROTA_TERMINATED) {
        rota_executor_state now = rota_executor_state_of(test->executor);
        test_check(now >= before);
        before = now;
    }
}

/* POOL-02, POOL-03: the state only ever grows, whoever looks. */
CONTRACT(ANY_KIND, nobody_sees_the_state_shrink)
{
    contract *test = *state;
    test_thread *watchers[2];

    for (size_t i = 0; i < 2; i++)
        watchers[i] = test_thread_start(watch_the_state, test);
    for (size_t i = 0; i < 100; i++)
        assert_ok(rota_execute(test->executor, probe_returns, &test->probes[i]));
    assert_ok(rota_shutdown(test->executor));
    assert_ok(rota_shutdown_now(test->executor, NULL));
    for (size_t i = 0; i < 2; i++)
        test_thread_join(watchers[i]);
}
