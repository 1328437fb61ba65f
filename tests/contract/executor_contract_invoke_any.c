/* SPDX-License-Identifier: MIT */
/*
 * executor_contract_invoke_any.c - many calls for one result.
 */
#include "executor_contract.h"

enum { CALLS = 12 };

/* Invokes the first n probes. */
static int invoke_any(contract *test, rota_fn *fn, size_t n, rota_ns timeout, rota_future **first)
{
    rota_call calls[CALLS];

    contract_calls(test, calls, n, fn);
    return rota_invoke_any(test->executor, calls, n, timeout, first);
}

/* EXEC-09, EXEC-15: a success, done, whose result lives as long as the reference. */
CONTRACT(ANY_KIND, one_of_many_successes_is_returned)
{
    contract *test = *state;
    rota_future *first = UNTOUCHED;
    void *result;

    assert_ok(invoke_any(test, probe_returns, CALLS, ROTA_FOREVER, &first));
    assert_int_equal(rota_future_state_of(first), ROTA_FUTURE_SUCCEEDED);
    assert_ok(rota_future_get_timed(first, 0, &result));
    probe *winner = result;
    assert_in_range((uintmax_t)(winner - test->probes), 0, CALLS - 1);
    contract_end_each_once(test, CALLS);
    assert_int_equal(winner->begun, 1);
    assert_int_equal(winner->freed, 0); /* EXEC-13 */
    rota_future_unref(first);
    for (size_t i = 0; i < CALLS; i++) /* OWN-17 */
        assert_int_equal(test->probes[i].freed, test->probes[i].begun);
}

/* EXEC-10: in the caller each has ended before the next would begin. */
CONTRACT(IN_CALLER, an_early_success_keeps_the_others_from_running)
{
    contract *test = *state;
    rota_future *first;
    void *result;

    assert_ok(invoke_any(test, probe_returns, CALLS, ROTA_FOREVER, &first));
    assert_ok(rota_future_get(first, &result));
    assert_ptr_equal(result, &test->probes[0]);
    assert_int_equal(contract_bodies(test, CALLS), 1);
    for (size_t i = 1; i < CALLS; i++)
        assert_int_equal(test->probes[i].discarded, 1);
    rota_future_unref(first);
}

enum { MOST = 6 };

static atomic_bool won[MOST + 1]; /* of a round with so many calls */

/* The first of its round returns, the others sleep. */
static void *only_the_first_returns(void *arg)
{
    probe *self = arg;

    if (atomic_exchange(&won[self->value], true))
        return probe_sleeps(arg);
    self->interrupted = true; /* not asked of this one */
    return probe_returns(arg);
}

/* EXEC-09: whoever began beside the winner is interrupted, the rest is discarded. */
CONTRACT(ANY_KIND, the_others_are_interrupted)
{
    contract *test = *state;
    size_t used = 0;

    for (unsigned n = 1; n <= MOST; used += n, n++) {
        rota_call calls[MOST];
        rota_future *first;
        void *result;

        atomic_store(&won[n], false);
        for (size_t i = 0; i < n; i++) {
            calls[i] = contract_call(test, used + i, only_the_first_returns);
            test->probes[used + i].value = n;
        }
        assert_ok(rota_invoke_any(test->executor, calls, n, ROTA_FOREVER, &first));
        assert_ok(rota_future_get(first, &result));
        assert_in_range((uintmax_t)((probe *)result - test->probes), used, used + n - 1);
        rota_future_unref(first);
    }
    contract_end_each_once(test, used);
    assert_true(contract_all_interrupted(test, used));
}

/* EXEC-11, EXEC-12, EXEC-15: if all fail, one that failed, long before the time is up. */
CONTRACT(ANY_KIND, if_all_fail_a_failure_is_returned)
{
    contract *test = *state;
    rota_future *first = UNTOUCHED;

    assert_status(invoke_any(test, probe_fails, CALLS, ROTA_HOURS(1), &first), ROTA_EFAILED);
    assert_int_equal(rota_future_state_of(first), ROTA_FUTURE_FAILED);
    assert_in_range((uintmax_t)rota_future_error(first), FAILURE, FAILURE + CALLS - 1);
    rota_future_unref(first);
    contract_end_each_once(test, CALLS);
    assert_int_equal(contract_bodies(test, CALLS), CALLS);
}

/* EXEC-11: in the caller the last that failed is the last. */
CONTRACT(IN_CALLER, in_the_caller_it_is_the_last_failure)
{
    contract *test = *state;
    rota_future *first;

    assert_status(invoke_any(test, probe_fails, CALLS, ROTA_FOREVER, &first), ROTA_EFAILED);
    assert_int_equal(rota_future_error(first), FAILURE + CALLS - 1);
    rota_future_unref(first);
}

/* EXEC-09: failures do not count while there is a success, wherever it is. */
CONTRACT(ANY_KIND, a_success_beats_all_failures)
{
    contract *test = *state;

    for (size_t good = 0; good < CALLS; good++) {
        rota_call calls[CALLS];
        rota_future *first;
        void *result;

        for (size_t i = 0; i < CALLS; i++)
            calls[i] = contract_call(test, good * CALLS + i, probe_fails);
        calls[good].fn = probe_returns;
        assert_ok(rota_invoke_any(test->executor, calls, CALLS, ROTA_HOURS(1), &first));
        assert_ok(rota_future_get(first, &result));
        assert_ptr_equal(result, calls[good].arg);
        rota_future_unref(first);
    }
    contract_end_each_once(test, (size_t)CALLS * CALLS);
}

/* EXEC-12, GEN-04, GEN-06: time that runs out cancels all; not too early, and nothing is returned. */
CONTRACT(ON_THREADS, when_time_runs_out_all_are_cancelled)
{
    const rota_ns timeouts[] = {ROTA_MS(5), 0, -1, INT64_MIN};
    contract *test = *state;

    for (size_t round = 0; round < 4; round++) {
        rota_ns start = rota_now();
        rota_future *first = UNTOUCHED;
        rota_call calls[CALLS];

        for (size_t i = 0; i < CALLS; i++)
            calls[i] = contract_call(test, round * CALLS + i, probe_sleeps);
        assert_status(rota_invoke_any(test->executor, calls, CALLS, timeouts[round], &first),
                      ROTA_ETIMEDOUT);
        assert_true(timeouts[round] < 0 || rota_now() - start >= timeouts[round]);
        assert_ptr_equal(first, UNTOUCHED);
    }
    contract_end_each_once(test, (size_t)4 * CALLS);
    assert_true(contract_all_interrupted(test, (size_t)4 * CALLS));
}

/* EXEC-12: a success that is there at once is returned without any time. */
CONTRACT(IN_CALLER, without_time_an_immediate_success_counts)
{
    const rota_ns timeouts[] = {0, -1, INT64_MIN};
    contract *test = *state;

    for (size_t i = 0; i < 3; i++) {
        rota_future *first;

        assert_ok(invoke_any(test, probe_returns, 1, timeouts[i], &first));
        rota_future_unref(first);
    }
}

/* EXEC-13, INT-05: an interrupt cancels all, and nothing is returned. */
CONTRACT(ON_THREADS, an_interrupt_cancels_all)
{
    contract *test = *state;
    rota_fn *const bodies[] = {probe_interrupts_main, probe_sleeps};

    for (size_t round = 0; round < 2; round++) {
        rota_future *first = UNTOUCHED;
        rota_call calls[CALLS];

        for (size_t i = 0; i < CALLS; i++)
            calls[i] = contract_call(test, round * CALLS + i, bodies[round]);
        if (round == 1) /* before it begins to wait */
            rota_thread_interrupt(test->main);
        assert_status(rota_invoke_any(test->executor, calls, CALLS, ROTA_FOREVER, &first),
                      ROTA_EINTERRUPTED);
        assert_false(rota_is_interrupted());
        assert_ptr_equal(first, UNTOUCHED);
    }
    contract_end_each_once(test, (size_t)2 * CALLS);
    assert_true(contract_all_interrupted(test, (size_t)2 * CALLS));
}

/* INT-05: a call that need not wait leaves the flag alone. */
CONTRACT(IN_CALLER, an_interrupt_is_left_where_none_is_waited_for)
{
    contract *test = *state;
    rota_future *first;

    rota_thread_interrupt(test->main);
    assert_ok(invoke_any(test, probe_returns, CALLS, ROTA_FOREVER, &first));
    assert_true(rota_interrupted());
    rota_future_unref(first);
}

/* EXEC-16: rejected, every call is discarded. */
CONTRACT(ANY_KIND, rejected_calls_are_all_discarded)
{
    contract *test = *state;
    rota_future *first = UNTOUCHED;

    assert_ok(rota_shutdown(test->executor));
    assert_status(invoke_any(test, probe_returns, CALLS, ROTA_FOREVER, &first), ROTA_EREJECTED);
    assert_ptr_equal(first, UNTOUCHED);
    contract_end_each_once(test, CALLS);
    assert_int_equal(contract_bodies(test, CALLS), 0);
}
