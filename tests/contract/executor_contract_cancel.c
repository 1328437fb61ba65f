/* SPDX-License-Identifier: MIT */
/*
 * executor_contract_cancel.c - tasks are cancelled, interrupted, or end their thread.
 */
#include "executor_contract.h"

static rota_future *submitted(contract *test, size_t i, rota_fn *fn)
{
    rota_call call = contract_call(test, i, fn);
    rota_future *future = NULL;

    assert_ok(rota_submit_call(test->executor, &call, &future));
    return future;
}

/* POOL-19, FUT-14, FUT-10: cancelled in the queue it never runs, and is discarded once. */
CONTRACT(QUEUES, a_queued_task_that_is_cancelled_never_runs)
{
    contract *test = *state;

    contract_occupy(test);
    for (size_t i = 0; i < 2; i++) {
        rota_future *future = submitted(test, i, probe_returns);

        assert_true(i == 0 ? rota_future_cancel(future) : rota_future_cancel_now(future));
        assert_false(rota_future_cancel(future));
        assert_false(rota_future_cancel_now(future));
        assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
        assert_int_equal(test->probes[i].discarded, 1);
        rota_future_unref(future);
    }
    contract_end_each_once(test, 2);
    assert_int_equal(contract_bodies(test, 2), 0);
}

/* OWN-20: nobody waits for it, nobody holds it, it is cancelled: discarded all the same. */
CONTRACT(QUEUES, a_cancelled_task_that_nobody_holds_is_discarded)
{
    contract *test = *state;

    contract_occupy(test);
    for (size_t i = 0; i < 100; i++) {
        rota_future *future = submitted(test, i, probe_returns);

        assert_true(rota_future_cancel(future));
        rota_future_unref(future);
    }
    contract_end_each_once(test, 100);
    assert_int_equal(contract_bodies(test, 100), 0);
}

/* FUT-12, FUT-22: cancel_now interrupts it; nobody waits for its end, and it is not discarded. */
CONTRACT(ON_THREADS, a_running_task_can_be_interrupted)
{
    contract *test = *state;
    rota_future *future = submitted(test, 0, probe_sleeps);

    contract_await_begun(test, 1);
    assert_true(rota_future_cancel_now(future));
    assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
    rota_future_unref(future);
    contract_end_each_once(test, 1);
    assert_true(test->probes[0].interrupted);
    assert_int_equal(test->probes[0].discarded, 0);
    assert_int_equal(test->probes[0].freed, 1); /* OWN-17: nobody can see its result */
}

/* FUT-11: cancel alone leaves its flag; it goes on unseen, and what it returns is freed (OWN-17). */
CONTRACT(ON_THREADS, cancel_alone_does_not_interrupt)
{
    contract *test = *state;
    rota_future *future = submitted(test, 0, probe_waits);

    contract_await_begun(test, 1);
    assert_true(rota_future_cancel(future));
    assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
    assert_int_equal(test->probes[0].ended, 0);
    contract_end_each_once(test, 1);
    assert_false(test->probes[0].interrupted);
    assert_int_equal(test->probes[0].freed, 1);
    rota_future_unref(future);
}

/* FUT-10: what is done stays as it is. */
CONTRACT(ANY_KIND, a_done_task_cannot_be_cancelled)
{
    contract *test = *state;
    rota_future *future = submitted(test, 0, probe_returns);

    assert_ok(rota_future_get(future, NULL));
    assert_false(rota_future_cancel(future));
    assert_false(rota_future_cancel_now(future));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
    contract_end_each_once(test, 1);
}

static void *looks_at_its_flag(void *arg)
{
    probe *self = arg;

    self->interrupted = rota_is_interrupted();
    return probe_returns(arg);
}

/* INT-07, INT-08: the interrupt of one task is not seen by the next. */
CONTRACT(ON_THREADS, the_next_task_does_not_see_an_interrupt)
{
    contract *test = *state;
    size_t next = 0;

    for (unsigned round = 0; round < 20; round++) {
        rota_future *first = submitted(test, next++, probe_sleeps);
        contract_await_begun(test, (unsigned)next);
        assert_true(rota_future_cancel_now(first));
        rota_future_unref(first);
        for (size_t i = 0; i < MOST_THREADS; i++, next++) {
            rota_future *future = submitted(test, next, looks_at_its_flag);
            assert_ok(rota_future_get(future, NULL));
            assert_false(test->probes[next].interrupted);
            rota_future_unref(future);
        }
    }
    contract_end_each_once(test, next);
}

/* INT-01: a task that runs in an interrupted caller does not see that, and leaves it. */
CONTRACT(IN_CALLER, a_task_does_not_see_the_interrupt_of_its_caller)
{
    contract *test = *state;

    rota_thread_interrupt(test->main);
    rota_future_unref(submitted(test, 0, looks_at_its_flag));
    assert_true(rota_interrupted());
    contract_end_each_once(test, 1);
    assert_false(test->probes[0].interrupted);
}

/* FUT-08, INT-05: whoever waits can be interrupted, and the task is none the wiser. */
CONTRACT(ON_THREADS, a_getter_can_be_interrupted)
{
    contract *test = *state;
    rota_future *future = submitted(test, 0, probe_waits);
    void *result = test;

    rota_thread_interrupt(test->main);
    assert_status(rota_future_get(future, &result), ROTA_EINTERRUPTED);
    assert_false(rota_is_interrupted());
    assert_ptr_equal(result, test);
    contract_open_gate(test);
    assert_ok(rota_future_get(future, &result));
    assert_ptr_equal(result, &test->probes[0]);
    assert_false(test->probes[0].interrupted);
    rota_future_unref(future);
}

static void *ends_its_thread(void *arg)
{
    probe_returns(arg);
    pthread_exit(NULL);
}

/* GEN-14, FAULT-35: it has failed, and there are as many threads as before. */
CONTRACT(REPLACES, a_task_may_end_its_thread)
{
    contract *test = *state;

    for (size_t i = 0; i < MOST_THREADS; i++) {
        rota_future *future = submitted(test, i, ends_its_thread);

        assert_status(rota_future_get(future, NULL), ROTA_EFAILED);
        assert_int_equal(rota_future_error(future), ROTA_ECANCELED);
        rota_future_unref(future);
        assert_ok(rota_execute(test->executor, ends_its_thread, &test->probes[MOST_THREADS + i]));
    }
    contract_occupy(test); /* comes back only if all of them run at once */
    contract_end_each_once(test, (size_t)2 * MOST_THREADS);
    assert_int_equal(test->probes[0].freed, 0);
}
