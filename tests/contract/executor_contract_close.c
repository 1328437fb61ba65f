/* SPDX-License-Identifier: MIT */
/*
 * executor_contract_close.c - shut down, wait and free in one call, with or without patience.
 */
#include "executor_contract.h"

enum { QUEUED = 30 };

/* GEN-08, POOL-52: all that was submitted has run, and what it did can be seen. */
CONTRACT(ANY_KIND, close_waits_for_every_task)
{
    contract *test = *state;

    for (size_t i = 0; i < 100; i++)
        assert_ok(rota_execute(test->executor, probe_returns, &test->probes[i]));
    assert_ok(rota_close(test->executor));
    test->executor = NULL;
    contract_end_each_once(test, 100);
    assert_int_equal(contract_bodies(test, 100), 100);
}

/* POOL-57: nothing was ever submitted, or it is over already: there is nothing to wait for. */
CONTRACT(ANY_KIND, an_executor_that_is_over_can_be_closed)
{
    contract *test = *state;
    rota_executor *unused;

    assert_ok(test->kind->make(&unused));
    assert_ok(rota_close(unused));
    assert_ok(rota_shutdown(test->executor));
    assert_ok(rota_await_termination(test->executor, ROTA_FOREVER));
    assert_ok(rota_close(test->executor));
    test->executor = NULL;
}

static void open_gate(void *arg)
{
    contract_open_gate(arg);
}

/* INT-05: an interrupt that was there before does not end the wait, and is left for the caller. */
CONTRACT(ANY_KIND, close_keeps_an_interrupt_for_later)
{
    contract *test = *state;

    contract_occupy(test);
    rota_thread_interrupt(test->main);
    test_thread *opener = test_thread_start(open_gate, test);
    assert_ok(rota_close(test->executor));
    test->executor = NULL;
    assert_true(rota_interrupted());
    assert_int_equal(test->busy[0].ended, 1);
    assert_false(test->busy[0].interrupted);
    test_thread_join(opener);
}

static void interrupt_and_open(void *arg)
{
    contract *test = arg;

    rota_thread_interrupt(test->main);
    contract_open_gate(test);
}

/* INT-05: nor does one that comes meanwhile. */
CONTRACT(ANY_KIND, close_waits_through_an_interrupt)
{
    contract *test = *state;

    contract_occupy(test);
    test_thread *other = test_thread_start(interrupt_and_open, test);
    assert_ok(rota_close(test->executor));
    test->executor = NULL;
    test_thread_join(other);
    assert_true(rota_interrupted());
    assert_int_equal(test->busy[0].ended, 1);
}

static void *closes_its_executor(void *arg)
{
    probe *self = arg;

    self->status = rota_close(self->test->executor);
    return probe_returns(arg);
}

/* OWN-11, FAULT-11: a task would wait for itself. */
CONTRACT(ANY_KIND, a_task_cannot_close_its_executor)
{
    contract *test = *state;

    assert_ok(rota_execute(test->executor, closes_its_executor, &test->probes[0]));
    contract_await_begun(test, 1);
    contract_end_each_once(test, 1);
    assert_status(test->probes[0].status, ROTA_EDEADLOCK);
}

static void *tries_to_close(void *arg)
{
    probe *self = arg;
    rota_executor *executor = self->test->executor;
    size_t dropped = 99;

    test_check(rota_close(executor) == ROTA_EDEADLOCK);
    test_check(rota_close_within(executor, 0, &dropped) == ROTA_EDEADLOCK);
    test_check(rota_close_within(executor, ROTA_FOREVER, NULL) == ROTA_EDEADLOCK);
    test_check(dropped == 99);
    test_check(rota_executor_state_of(executor) == ROTA_RUNNING);
    return probe_returns(arg);
}

/* OWN-11, FAULT-11: and a call that fails changes nothing. */
CONTRACT(KNOWS_ITS_TASKS, a_task_that_tries_to_close_changes_nothing)
{
    contract *test = *state;

    assert_ok(rota_execute(test->executor, tries_to_close, &test->probes[0]));
    contract_await_begun(test, 1);
    assert_ok(rota_execute(test->executor, probe_returns, &test->probes[1]));
    contract_end_each_once(test, 2);
}

/* -- With patience that ends -------------------------------------------------------------- */

/* POOL-60: what ends in time is as with close. */
CONTRACT(ANY_KIND, close_within_waits_for_what_ends_in_time)
{
    contract *test = *state;
    size_t dropped = 99;

    for (size_t i = 0; i < 100; i++)
        assert_ok(rota_execute(test->executor, probe_returns, &test->probes[i]));
    assert_ok(rota_close_within(test->executor, ROTA_FOREVER, &dropped));
    test->executor = NULL;
    assert_int_equal(dropped, 0);
    contract_end_each_once(test, 100);
    assert_int_equal(contract_bodies(test, 100), 100);
}

/* POOL-60: without patience it still closes what is idle; nobody need ask what was dropped. */
CONTRACT(ANY_KIND, close_within_needs_no_time_if_idle)
{
    contract *test = *state;

    assert_ok(rota_shutdown(test->executor));
    assert_ok(rota_await_termination(test->executor, ROTA_FOREVER));
    assert_ok(rota_close_within(test->executor, INT64_MIN, NULL));
    test->executor = NULL;
}

static void submit_queued(contract *test)
{
    for (size_t i = 0; i < QUEUED; i++) {
        rota_call call = contract_call(test, i, probe_returns);
        assert_ok(rota_submit_call(test->executor, &call, NULL));
    }
}

/*
 * POOL-60, POOL-59, GEN-06, FAULT-38: a task that ignores all stays; the call gives up and can be
 * repeated.
 */
CONTRACT(ANY_KIND, close_within_gives_up_and_can_be_repeated)
{
    contract *test = *state;
    bool queues = test->kind->threads > 0 && !test->kind->grows;

    contract_occupy(test);
    if (queues)
        submit_queued(test);
    for (int i = 0; i < 3; i++) {
        rota_ns start = rota_now();
        size_t dropped = 99;

        assert_status(rota_close_within(test->executor, ROTA_MS(1), &dropped), ROTA_ETIMEDOUT);
        assert_true(rota_now() - start >= ROTA_MS(2));
        assert_int_equal(dropped, i == 0 && queues && test->kind->hands_over ? QUEUED : 0);
        assert_true(rota_is_shutdown(test->executor));
        assert_false(rota_is_terminated(test->executor));
        assert_status(rota_execute(test->executor, probe_returns, NULL), ROTA_EREJECTED);
    }
    assert_status(rota_close_within(test->executor, INT64_MIN, NULL), ROTA_ETIMEDOUT);
    contract_open_gate(test);
    assert_ok(rota_close_within(test->executor, ROTA_FOREVER, NULL));
    test->executor = NULL;
    contract_end_each_once(test, queues ? QUEUED : 0);
    assert_int_equal(contract_bodies(test, QUEUED), queues && !test->kind->stops ? QUEUED : 0);
}

/* POOL-60: an interrupt ends the first wait alone, and is left for the caller. */
CONTRACT(ANY_KIND, close_within_keeps_an_interrupt_for_later)
{
    contract *test = *state;
    size_t dropped = 99;

    contract_occupy(test);
    rota_thread_interrupt(test->main);
    test_thread *opener = test_thread_start(open_gate, test);
    assert_ok(rota_close_within(test->executor, ROTA_FOREVER, &dropped));
    test->executor = NULL;
    assert_true(rota_interrupted());
    assert_int_equal(dropped, 0);
    assert_int_equal(test->busy[0].ended, 1);
    test_thread_join(opener);
}

/* POOL-60: what sleeps is interrupted, so it ends in the second grace, however long that is. */
CONTRACT(QUEUES | STOPS, close_within_interrupts_what_runs)
{
    contract *test = *state;
    unsigned busy = contract_busy(test);
    size_t dropped = 99;

    for (size_t i = 0; i < busy; i++)
        assert_ok(rota_execute(test->executor, probe_sleeps, &test->probes[QUEUED + i]));
    contract_await_begun(test, busy);
    submit_queued(test);
    rota_thread_interrupt(test->main); /* skips the first */
    assert_ok(rota_close_within(test->executor, ROTA_FOREVER, &dropped));
    test->executor = NULL;
    assert_true(rota_interrupted());
    assert_int_equal(dropped, test->kind->hands_over ? QUEUED : 0);
    contract_end_each_once(test, QUEUED + busy);
    if (!test->kind->stands_in)
        assert_int_equal(contract_bodies(test, QUEUED), 0);
}
