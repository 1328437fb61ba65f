/* SPDX-License-Identifier: MIT */
/*
 * executor_contract_invoke_all.c - many calls at once, until all of them are done.
 */
#include "executor_contract.h"

enum { CALLS = 20 };

static void unref_all(rota_future **futures, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rota_future_unref(futures[i]);
}

static void untouched(rota_future **futures, size_t n)
{
    for (size_t i = 0; i < n; i++)
        futures[i] = UNTOUCHED;
}

static void assert_untouched(rota_future **futures, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_ptr_equal(futures[i], UNTOUCHED);
}

/* EXEC-05: one future each, in order; failures stop nothing. */
CONTRACT(ANY_KIND, futures_come_back_in_the_order_of_the_calls)
{
    contract *test = *state;
    const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_FOREVER - 1, ROTA_HOURS(1)};
    rota_call calls[3 * CALLS];

    for (size_t i = 0; i < 3 * CALLS; i++)
        calls[i] = contract_call(test, i, i % 3 == 1 ? probe_fails : probe_returns);
    for (size_t round = 0; round < 3; round++) {
        rota_future *futures[CALLS];
        size_t first = round * CALLS;

        assert_ok(rota_invoke_all(test->executor, &calls[first], CALLS, timeouts[round], futures));
        for (size_t i = 0; i < CALLS; i++) {
            bool fails = calls[first + i].fn == probe_fails;
            void *result = NULL;

            assert_true(rota_future_is_done(futures[i]));
            assert_status(rota_future_get_timed(futures[i], 0, &result),
                          fails ? ROTA_EFAILED : ROTA_OK);
            assert_ptr_equal(result, fails ? NULL : calls[first + i].arg);
            assert_int_equal(rota_future_error(futures[i]), fails ? FAILURE + (int)(first + i) : 0);
        }
        unref_all(futures, CALLS);
    }
    contract_end_each_once(test, (size_t)3 * CALLS);
    assert_int_equal(contract_bodies(test, (size_t)3 * CALLS), 3 * CALLS);
    for (size_t i = 0; i < 3 * CALLS; i++) /* OWN-06 */
        assert_int_equal(test->probes[i].freed, calls[i].fn == probe_returns);
}

static void *writes(void *arg)
{
    probe *self = arg;

    self->value++;
    return self;
}

/* GEN-08: when it returns, what the tasks did is there to be seen. */
CONTRACT(ANY_KIND, what_the_tasks_wrote_is_visible)
{
    contract *test = *state;
    rota_future *futures[CALLS];
    rota_call calls[CALLS];

    contract_calls(test, calls, CALLS, writes);
    for (unsigned i = 0; i < CALLS; i++)
        test->probes[i].value = i;
    assert_ok(rota_invoke_all(test->executor, calls, CALLS, ROTA_FOREVER, futures));
    for (unsigned i = 0; i < CALLS; i++)
        assert_int_equal(test->probes[i].value, i + 1);
    unref_all(futures, CALLS);
}

/* EXEC-07, EXEC-08: a time-out of 0 or less runs nothing and cancels all. */
CONTRACT(ANY_KIND, without_time_nothing_runs)
{
    contract *test = *state;
    const rota_ns timeouts[] = {0, -1, INT64_MIN};

    for (size_t round = 0; round < 3; round++) {
        rota_future *futures[CALLS];
        rota_call calls[CALLS];

        for (size_t i = 0; i < CALLS; i++)
            calls[i] = contract_call(test, round * CALLS + i, probe_returns);
        assert_status(rota_invoke_all(test->executor, calls, CALLS, timeouts[round], futures),
                      ROTA_ETIMEDOUT);
        for (size_t i = 0; i < CALLS; i++)
            assert_status(rota_future_get(futures[i], NULL), ROTA_ECANCELED);
        unref_all(futures, CALLS);
    }
    contract_end_each_once(test, (size_t)3 * CALLS);
    assert_int_equal(contract_bodies(test, (size_t)3 * CALLS), 0);
}

/* EXEC-07, GEN-06: time that runs out cancels and interrupts the rest, and not too early. */
CONTRACT(ON_THREADS, when_time_runs_out_the_rest_is_cancelled)
{
    contract *test = *state;
    rota_ns timeout = ROTA_MS(5);
    rota_ns start = rota_now();
    rota_future *futures[CALLS];
    rota_call calls[CALLS];

    contract_calls(test, calls, CALLS, probe_sleeps);
    assert_status(rota_invoke_all(test->executor, calls, CALLS, timeout, futures), ROTA_ETIMEDOUT);
    assert_true(rota_now() - start >= timeout);
    for (size_t i = 0; i < CALLS; i++)
        assert_status(rota_future_get_timed(futures[i], 0, NULL), ROTA_ECANCELED);
    unref_all(futures, CALLS);
    contract_end_each_once(test, CALLS);
    assert_true(contract_all_interrupted(test, CALLS));
}

static void *takes_too_long(void *arg)
{
    rota_sleep(ROTA_MS(2));
    return probe_returns(arg);
}

/* EXEC-08: the time is looked at between submissions, too. */
CONTRACT(IN_CALLER, time_that_runs_out_between_calls_cancels_the_rest)
{
    contract *test = *state;
    rota_future *futures[CALLS];
    rota_call calls[CALLS];

    contract_calls(test, calls, CALLS, probe_returns);
    calls[0].fn = takes_too_long;
    assert_status(rota_invoke_all(test->executor, calls, CALLS, ROTA_MS(2), futures),
                  ROTA_ETIMEDOUT);
    assert_ok(rota_future_get(futures[0], NULL));
    for (size_t i = 1; i < CALLS; i++)
        assert_status(rota_future_get(futures[i], NULL), ROTA_ECANCELED);
    unref_all(futures, CALLS);
    contract_end_each_once(test, CALLS);
    assert_int_equal(contract_bodies(test, CALLS), 1);
}

/* EXEC-06, INT-03, INT-05: an interrupt ends the wait and what was waited for. */
CONTRACT(ON_THREADS, an_interrupt_cancels_them_all)
{
    contract *test = *state;
    rota_fn *const bodies[] = {probe_interrupts_main, probe_sleeps};

    for (size_t round = 0; round < 2; round++) {
        rota_future *futures[CALLS];
        rota_call calls[CALLS];

        untouched(futures, CALLS);
        for (size_t i = 0; i < CALLS; i++)
            calls[i] = contract_call(test, round * CALLS + i, bodies[round]);
        if (round == 1) /* before it begins to wait */
            rota_thread_interrupt(test->main);
        assert_status(rota_invoke_all(test->executor, calls, CALLS, ROTA_FOREVER, futures),
                      ROTA_EINTERRUPTED);
        assert_false(rota_is_interrupted());
        assert_untouched(futures, CALLS);
    }
    contract_end_each_once(test, (size_t)2 * CALLS);
    assert_true(contract_all_interrupted(test, (size_t)2 * CALLS));
}

/* INT-05: a call that need not wait leaves the flag alone. */
CONTRACT(IN_CALLER, an_interrupt_is_left_where_nothing_is_waited_for)
{
    contract *test = *state;
    rota_future *futures[CALLS];
    rota_call calls[CALLS];

    contract_calls(test, calls, CALLS, probe_returns);
    rota_thread_interrupt(test->main);
    assert_ok(rota_invoke_all(test->executor, calls, CALLS, ROTA_FOREVER, futures));
    assert_true(rota_interrupted());
    unref_all(futures, CALLS);
    contract_end_each_once(test, CALLS);
}

/* EXEC-06, EXEC-16: rejected, there are no futures, and every call is discarded. */
CONTRACT(ANY_KIND, rejected_calls_are_discarded)
{
    contract *test = *state;
    rota_future *futures[CALLS];
    rota_call calls[CALLS];

    untouched(futures, CALLS);
    contract_calls(test, calls, CALLS, probe_returns);
    assert_ok(rota_shutdown(test->executor));
    assert_status(rota_invoke_all(test->executor, calls, CALLS, ROTA_FOREVER, futures),
                  ROTA_EREJECTED);
    assert_untouched(futures, CALLS);
    contract_end_each_once(test, CALLS);
    assert_int_equal(contract_bodies(test, CALLS), 0);
}

static void invoke_many_times(void *arg)
{
    probe *first = arg;

    for (size_t round = 0; round < 10; round++) {
        rota_future *futures[CALLS];
        rota_call calls[CALLS];

        for (size_t i = 0; i < CALLS; i++)
            calls[i] = (rota_call){.fn = probe_returns, .arg = first + round * CALLS + i};
        test_check(rota_invoke_all(first->test->executor, calls, CALLS, ROTA_FOREVER, futures)
                   == ROTA_OK);
        unref_all(futures, CALLS);
    }
}

/* GEN-11: an executor may be used by many threads at once. */
CONTRACT(ANY_KIND, many_threads_may_invoke_at_once)
{
    contract *test = *state;
    test_thread *threads[3];

    for (size_t i = 0; i < 3; i++)
        threads[i] = test_thread_start(invoke_many_times, &test->probes[i * 10 * CALLS]);
    for (size_t i = 0; i < 3; i++)
        test_thread_join(threads[i]);
    contract_end_each_once(test, (size_t)3 * 10 * CALLS);
    assert_int_equal(contract_bodies(test, (size_t)3 * 10 * CALLS), 3 * 10 * CALLS);
}

static void *invokes_others(void *arg)
{
    probe *self = arg;

    invoke_many_times(self + 1);
    return probe_returns(arg);
}

/* GEN-09: a task may, too, while there is a thread to run them. */
CONTRACT(TWO_THREADS, a_task_may_invoke_others)
{
    contract *test = *state;
    rota_future *future;

    assert_ok(rota_submit(test->executor, invokes_others, &test->probes[0], &future));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
    contract_end_each_once(test, 1 + (size_t)10 * CALLS);
}
