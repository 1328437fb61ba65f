/* SPDX-License-Identifier: MIT */
/*
 * executor_contract_submit.c - tasks are submitted, run once, and their results found.
 */
#include "executor_contract.h"

#include "executors.h"

#include <string.h>

static void *returns_nothing(void *arg)
{
    probe_returns(arg);
    return NULL;
}

/* EXEC-02, FUT-27: what the body returns, NULL or not, is what get gives. */
CONTRACT(ANY_KIND, what_a_task_returns_is_its_result)
{
    contract *test = *state;
    rota_fn *const bodies[] = {probe_returns, returns_nothing};
    void *const results[] = {&test->probes[0], NULL};

    for (size_t i = 0; i < 2; i++) {
        rota_future *future;
        void *result = test;

        assert_ok(rota_submit(test->executor, bodies[i], &test->probes[0], &future));
        assert_ok(rota_future_get(future, &result));
        assert_ptr_equal(result, results[i]);
        assert_ok(rota_future_get_timed(future, 0, NULL));
        assert_true(rota_future_is_done(future));
        assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_SUCCEEDED);
        rota_future_unref(future);
    }
    assert_int_equal(test->probes[0].begun, 2);
}

/* EXEC-02, FUT-05, FAULT-34: a failure is told with the task's own code, every time the same. */
CONTRACT(ANY_KIND, a_failure_is_told_with_its_code)
{
    contract *test = *state;
    rota_future *future;
    void *result = test;

    assert_ok(rota_submit(test->executor, probe_fails, &test->probes[3], &future));
    for (int i = 0; i < 2; i++) {
        assert_status(rota_future_get(future, &result), ROTA_EFAILED);
        assert_int_equal(rota_future_error(future), FAILURE + 3);
    }
    assert_ptr_equal(result, test);
    rota_future_unref(future);
}

/* EXEC-01, EXEC-02: all ways to submit, with or without a future; none discards what it ran. */
CONTRACT(ANY_KIND, every_form_of_submission_runs_the_task)
{
    contract *test = *state;
    rota_executor *executor = test->executor;
    rota_executor *hand;
    test_manual *manual = test_executor_manual(&hand);
    rota_call calls[6];
    rota_future *futures[3];

    contract_calls(test, calls, 6, probe_returns);
    assert_ok(rota_execute(executor, calls[0].fn, calls[0].arg));
    assert_ok(rota_submit(executor, calls[1].fn, calls[1].arg, &futures[0]));
    assert_ok(rota_submit(executor, calls[2].fn, calls[2].arg, NULL));
    assert_ok(rota_submit_call(executor, &calls[3], &futures[1]));
    assert_ok(rota_submit_call(executor, &calls[4], NULL));
    assert_ok(rota_submit_call(hand, &calls[5], &futures[2]));
    assert_ok(rota_execute_task(executor, test_manual_take(manual, 0)));
    for (size_t i = 0; i < 3; i++) {
        assert_ok(rota_future_get(futures[i], NULL));
        rota_future_unref(futures[i]);
    }
    assert_ok(rota_close(hand));
    contract_end_each_once(test, 6);
    assert_int_equal(contract_bodies(test, 6), 6);
}

/* EXEC-02: the call is copied; the caller's may become another before the task runs. */
CONTRACT(QUEUES, a_call_is_copied)
{
    contract *test = *state;
    rota_call call = contract_call(test, 0, probe_returns);
    rota_future *future;
    void *result;

    contract_occupy(test);
    assert_ok(rota_submit_call(test->executor, &call, &future));
    memset(&call, 0xA5, sizeof call);
    contract_open_gate(test);
    assert_ok(rota_future_get(future, &result));
    assert_ptr_equal(result, &test->probes[0]);
    rota_future_unref(future);
    contract_end_each_once(test, 1);
    assert_int_equal(test->probes[0].freed, 1);
}

static void *doubles(void *arg)
{
    probe *self = arg;

    self->value *= 2;
    return self;
}

/* GEN-08: the task sees what was done before it was submitted, the getter what the task did. */
CONTRACT(ANY_KIND, plain_memory_is_passed_to_a_task_and_back)
{
    contract *test = *state;

    for (unsigned i = 0; i < 100; i++) {
        probe *self = &test->probes[i];
        rota_future *future;

        self->value = i + 1;
        assert_ok(rota_submit(test->executor, doubles, self, &future));
        assert_ok(rota_future_get(future, NULL));
        assert_int_equal(self->value, 2 * (i + 1));
        rota_future_unref(future);
    }
}

/* FUT-04: each task runs once, however many there are. */
CONTRACT(ANY_KIND, a_thousand_tasks_run_once_each)
{
    contract *test = *state;

    for (size_t i = 0; i < PROBES; i++) {
        if (i % 2 == 0)
            assert_ok(rota_execute(test->executor, probe_returns, &test->probes[i]));
        else
            assert_ok(rota_submit(test->executor, probe_returns, &test->probes[i], NULL));
    }
    contract_end_each_once(test, PROBES);
    assert_int_equal(contract_bodies(test, PROBES), PROBES);
}

enum { SUBMITTERS = 4 };

static void submit_a_share(void *arg)
{
    probe *first = arg;

    for (size_t i = 0; i < PROBES / SUBMITTERS; i++)
        test_check(rota_execute(first->test->executor, probe_returns, first + i) == ROTA_OK);
}

/* GEN-11: an executor may be used by many threads at once. */
CONTRACT(ANY_KIND, tasks_of_many_threads_run_once_each)
{
    contract *test = *state;
    test_thread *threads[SUBMITTERS];

    for (size_t i = 0; i < SUBMITTERS; i++)
        threads[i] = test_thread_start(submit_a_share, &test->probes[i * PROBES / SUBMITTERS]);
    for (size_t i = 0; i < SUBMITTERS; i++)
        test_thread_join(threads[i]);
    contract_end_each_once(test, PROBES);
    assert_int_equal(contract_bodies(test, PROBES), PROBES);
}

/* OWN-02, OWN-06: letting go is no cancel; each result is freed once, nothing discarded. */
CONTRACT(ANY_KIND, futures_may_be_let_go_of_at_once)
{
    contract *test = *state;

    for (size_t i = 0; i < PROBES; i++) {
        rota_call call = contract_call(test, i, probe_returns);
        rota_future *future;

        assert_ok(rota_submit_call(test->executor, &call, &future));
        rota_future_unref(future);
    }
    contract_end_each_once(test, PROBES);
    assert_int_equal(contract_bodies(test, PROBES), PROBES);
    for (size_t i = 0; i < PROBES; i++)
        assert_int_equal(test->probes[i].freed, 1);
}

/* Each submits the next. */
static void *submits_another(void *arg)
{
    probe *self = arg;
    probe *next = self + 1;

    if (next < self->test->probes + 50)
        test_check(rota_execute(self->test->executor, submits_another, next) == ROTA_OK);
    return probe_returns(arg);
}

/* GEN-09, FAULT-14: a task may use its own executor. */
CONTRACT(ANY_KIND, a_task_may_submit_another)
{
    contract *test = *state;

    assert_ok(rota_execute(test->executor, submits_another, &test->probes[0]));
    contract_await_begun(test, 50);
    contract_end_each_once(test, 50);
}

static void *gets_another(void *arg)
{
    probe *self = arg;
    rota_future *future;
    void *result = NULL;

    test_check(rota_submit(self->test->executor, probe_returns, self + 1, &future) == ROTA_OK);
    test_check(rota_future_get(future, &result) == ROTA_OK);
    test_check(result == self + 1);
    rota_future_unref(future);
    return probe_returns(arg);
}

/* GEN-09: and may wait for what it submitted, while there is a thread to run it. */
CONTRACT(TWO_THREADS, a_task_may_wait_for_another)
{
    contract *test = *state;
    rota_future *future;

    assert_ok(rota_submit(test->executor, gets_another, &test->probes[0], &future));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
}
