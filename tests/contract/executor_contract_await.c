/* SPDX-License-Identifier: MIT */
/*
 * executor_contract_await.c - waiting for the end, and the line for logs.
 */
#include "executor_contract.h"

#include <string.h>

static const rota_ns no_time[] = {0, -1, INT64_MIN};

static void assert_not_terminated(rota_executor *executor)
{
    rota_ns start = rota_now();

    for (size_t i = 0; i < sizeof no_time / sizeof no_time[0]; i++)
        assert_status(rota_await_termination(executor, no_time[i]), ROTA_ETIMEDOUT);
    assert_status(rota_await_termination(executor, ROTA_MS(2)), ROTA_ETIMEDOUT);
    assert_true(rota_now() - start >= ROTA_MS(2));
}

/* POOL-58, GEN-04, GEN-06: as long as it is not shut down, and while tasks run, it is not over. */
CONTRACT(ANY_KIND, before_the_end_the_time_runs_out)
{
    contract *test = *state;

    assert_not_terminated(test->executor);
    contract_occupy(test);
    assert_not_terminated(test->executor);
    assert_ok(rota_shutdown(test->executor));
    assert_not_terminated(test->executor);
    assert_false(rota_is_terminated(test->executor));
}

/* POOL-58, INT-05: when it is over, it says so whatever the time-out, also to the interrupted. */
CONTRACT(ANY_KIND, after_the_end_there_is_no_waiting)
{
    contract *test = *state;

    assert_ok(rota_execute(test->executor, probe_returns, &test->probes[0]));
    assert_ok(rota_shutdown(test->executor));
    assert_ok(rota_await_termination(test->executor, ROTA_FOREVER));
    rota_thread_interrupt(test->main);
    for (size_t i = 0; i < sizeof no_time / sizeof no_time[0]; i++)
        assert_ok(rota_await_termination(test->executor, no_time[i]));
    assert_ok(rota_await_termination(test->executor, ROTA_FOREVER));
    assert_true(rota_interrupted());
    assert_int_equal(test->probes[0].ended, 1);
}

static void *writes(void *arg)
{
    probe *self = arg;

    self->value = 1;
    return NULL;
}

/* GEN-08: who has waited for the end sees all that the tasks did. */
CONTRACT(ANY_KIND, what_the_tasks_wrote_can_be_seen_at_the_end)
{
    contract *test = *state;

    for (size_t i = 0; i < 100; i++)
        assert_ok(rota_execute(test->executor, writes, &test->probes[i]));
    assert_ok(rota_shutdown(test->executor));
    assert_ok(rota_await_termination(test->executor, ROTA_FOREVER));
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(test->probes[i].value, 1);
}

static void await_the_end(void *arg)
{
    contract *test = arg;

    test_check(rota_await_termination(test->executor, ROTA_FOREVER) == ROTA_OK);
    test_check(rota_is_terminated(test->executor));
}

/* GEN-11: many may wait, from before the shutdown on, and all are woken. */
CONTRACT(ANY_KIND, many_may_wait_for_the_end)
{
    contract *test = *state;
    test_thread *threads[4];

    contract_occupy(test);
    for (size_t i = 0; i < 4; i++)
        threads[i] = test_thread_start(await_the_end, test);
    assert_ok(rota_shutdown(test->executor));
    contract_open_gate(test);
    for (size_t i = 0; i < 4; i++)
        test_thread_join(threads[i]);
}

/* INT-03, INT-04, INT-05: the wait can be interrupted before it begins ... */
CONTRACT(ANY_KIND, an_interrupted_thread_does_not_wait)
{
    contract *test = *state;

    rota_thread_interrupt(test->main);
    assert_status(rota_await_termination(test->executor, ROTA_FOREVER), ROTA_EINTERRUPTED);
    assert_false(rota_is_interrupted());
    contract_occupy(test);
    assert_ok(rota_shutdown(test->executor));
    rota_thread_interrupt(test->main);
    assert_status(rota_await_termination(test->executor, ROTA_FOREVER), ROTA_EINTERRUPTED);
    assert_false(rota_is_interrupted());
}

static void interrupt_main(void *arg)
{
    contract *test = arg;

    rota_thread_interrupt(test->main);
}

/* ... and at any time later. */
CONTRACT(ANY_KIND, a_wait_for_the_end_can_be_interrupted)
{
    contract *test = *state;

    contract_occupy(test);
    for (int i = 0; i < 20; i++) {
        if (i == 10)
            assert_ok(rota_shutdown(test->executor));
        test_thread *other = test_thread_start(interrupt_main, test);
        assert_status(rota_await_termination(test->executor, ROTA_FOREVER), ROTA_EINTERRUPTED);
        assert_false(rota_is_interrupted());
        test_thread_join(other);
    }
    contract_open_gate(test);
    assert_ok(rota_await_termination(test->executor, ROTA_FOREVER));
}

static void *awaits_its_own_end(void *arg)
{
    probe *self = arg;
    rota_executor *executor = self->test->executor;

    test_check(rota_shutdown(executor) == ROTA_OK);
    for (size_t i = 0; i < sizeof no_time / sizeof no_time[0]; i++)
        test_check(rota_await_termination(executor, no_time[i]) == ROTA_ETIMEDOUT);
    test_check(rota_await_termination(executor, ROTA_MS(1)) == ROTA_ETIMEDOUT);
    self->status = rota_await_termination(executor, ROTA_FOREVER);
    return probe_returns(arg);
}

/* POOL-58, FAULT-12: a task would wait for itself; with a time-out it may. */
CONTRACT(ANY_KIND, a_task_cannot_wait_for_its_own_end)
{
    contract *test = *state;

    assert_ok(rota_execute(test->executor, awaits_its_own_end, &test->probes[0]));
    contract_await_begun(test, 1);
    contract_end_each_once(test, 1);
    assert_status(test->probes[0].status, ROTA_EDEADLOCK);
}

/* OWN-11, FAULT-11: EBUSY, and nothing has changed, as long as anything runs. */
CONTRACT(ANY_KIND, only_a_terminated_executor_can_be_freed)
{
    contract *test = *state;

    assert_status(rota_executor_free(test->executor), ROTA_EBUSY);
    contract_occupy(test);
    assert_ok(rota_shutdown(test->executor));
    assert_status(rota_executor_free(test->executor), ROTA_EBUSY);
    contract_open_gate(test);
    assert_ok(rota_await_termination(test->executor, ROTA_FOREVER));
    assert_ok(rota_executor_free(test->executor));
    test->executor = NULL;
    assert_int_equal(test->busy[0].ended, 1);
}

static void assert_describes(rota_executor *executor)
{
    char line[512];
    char cut[512];
    int length = rota_executor_describe(executor, NULL, 0);

    assert_in_range(length, 1, sizeof line - 1);
    assert_int_equal(rota_executor_describe(executor, line, sizeof line), length);
    assert_int_equal(strlen(line), length);
    assert_null(strchr(line, '\n'));
    for (size_t size = 0; size <= (size_t)length + 1; size++) {
        memset(cut, '#', sizeof cut);
        assert_int_equal(rota_executor_describe(executor, cut, size), length);
        if (size > 0) {
            assert_int_equal(strlen(cut), size - 1);
            assert_memory_equal(cut, line, size - 1);
        }
        assert_int_equal(cut[size], '#');
    }
}

/* GEN-16: one line, cut to what fits, in every state. */
CONTRACT(ANY_KIND, it_describes_itself_in_one_line)
{
    contract *test = *state;

    assert_describes(test->executor);
    contract_occupy(test);
    assert_describes(test->executor);
    assert_ok(rota_shutdown(test->executor));
    assert_describes(test->executor);
    contract_open_gate(test);
    assert_ok(rota_await_termination(test->executor, ROTA_FOREVER));
    assert_describes(test->executor);
}
