/* SPDX-License-Identifier: MIT */
/*
 * executor_contract_shutdown_now.c - what waits is handed over, what runs is interrupted.
 */
#include "executor_contract.h"

enum { QUEUED = 40 };

/* Fills the queue of an executor whose threads are busy. */
static void submit_queued(contract *test, rota_future **futures)
{
    for (size_t i = 0; i < QUEUED; i++) {
        rota_call call = contract_call(test, i, probe_returns);
        assert_ok(rota_submit_call(test->executor, &call, &futures[i]));
    }
}

static void unref_all(rota_future **futures)
{
    for (size_t i = 0; i < QUEUED; i++)
        rota_future_unref(futures[i]);
}

/* POOL-53: where nothing waits there is nothing to hand over; a second call gives nothing. */
CONTRACT(ANY_KIND, an_idle_executor_hands_over_nothing)
{
    contract *test = *state;

    for (int i = 0; i < 2; i++) {
        rota_task_list list = {(rota_task **)(uintptr_t)0x5ca1ab1e, 99};

        assert_ok(rota_shutdown_now(test->executor, &list));
        assert_int_equal(list.count, 0);
        rota_task_list_free(&list);
        assert_null(list.tasks);
        assert_true(rota_is_shutdown(test->executor));
    }
    assert_ok(rota_await_termination(test->executor, ROTA_FOREVER));
    assert_status(rota_execute(test->executor, probe_returns, &test->probes[0]), ROTA_EREJECTED);
    assert_ok(rota_shutdown_now(test->executor, NULL));
    contract_end(test);
    assert_int_equal(test->probes[0].begun, 0);
}

/* POOL-59: whatever the kind, it ends only when what runs has ended. */
CONTRACT(ANY_KIND, what_runs_is_waited_for)
{
    contract *test = *state;

    contract_occupy(test);
    assert_ok(rota_shutdown_now(test->executor, NULL));
    assert_status(rota_await_termination(test->executor, 0), ROTA_ETIMEDOUT);
    assert_status(rota_executor_free(test->executor), ROTA_EBUSY);
    contract_open_gate(test);
    assert_ok(rota_await_termination(test->executor, ROTA_FOREVER));
    assert_int_equal(test->busy[0].ended, 1);
    assert_true(test->busy[0].interrupted == test->kind->stops);
}

/* POOL-53, OWN-07, POOL-55: oldest first, neither done nor cancelled; the caller's to end. */
CONTRACT(QUEUES | HANDS_OVER, what_waits_is_handed_over_in_order)
{
    contract *test = *state;
    rota_future *futures[QUEUED];
    rota_task_list list;
    rota_task_list again;

    contract_occupy(test);
    submit_queued(test, futures);
    assert_ok(rota_shutdown_now(test->executor, &list));
    assert_true(rota_executor_state_of(test->executor) >= ROTA_STOP);
    assert_int_equal(list.count, QUEUED);
    assert_ok(rota_shutdown_now(test->executor, &again));
    assert_int_equal(again.count, 0);
    rota_task_list_free(&again);
    for (size_t i = 0; i < QUEUED; i++) {
        assert_ptr_equal(rota_task_future(list.tasks[i]), futures[i]);
        assert_ptr_equal(rota_task_call(list.tasks[i])->arg, &test->probes[i]);
        assert_int_equal(rota_future_state_of(futures[i]), ROTA_FUTURE_PENDING);
        if (i % 2 == 0)
            rota_task_run(list.tasks[i]);
        else
            rota_task_discard(list.tasks[i]);
        assert_status(rota_future_get(futures[i], NULL), i % 2 == 0 ? ROTA_OK : ROTA_ECANCELED);
    }
    rota_task_list_free(&list);
    assert_null(list.tasks);
    assert_int_equal(list.count, 0);
    unref_all(futures);
    contract_end_each_once(test, QUEUED);
    assert_int_equal(contract_bodies(test, QUEUED), QUEUED / 2);
}

static void get_cancelled(void *arg)
{
    test_check(rota_future_get(arg, NULL) == ROTA_ECANCELED);
}

/* OWN-08: without a list all are discarded, and who waits for one is told. */
CONTRACT(QUEUES | STOPS, without_a_list_all_are_discarded)
{
    contract *test = *state;
    rota_future *futures[QUEUED];
    test_thread *getters[3];

    contract_occupy(test);
    submit_queued(test, futures);
    for (size_t i = 0; i < 3; i++)
        getters[i] = test_thread_start(get_cancelled, futures[i]);
    assert_ok(rota_shutdown_now(test->executor, NULL));
    for (size_t i = 0; i < 3; i++)
        test_thread_join(getters[i]);
    for (size_t i = 0; i < QUEUED; i++)
        assert_status(rota_future_get(futures[i], NULL), ROTA_ECANCELED);
    unref_all(futures);
    contract_end_each_once(test, QUEUED);
    assert_int_equal(contract_bodies(test, QUEUED), 0);
}

/* POOL-53: what runs is interrupted, and its future ends as its body says. */
CONTRACT(ON_THREADS | STOPS, what_runs_is_interrupted)
{
    contract *test = *state;
    unsigned count = contract_busy(test);
    rota_future *futures[MOST_THREADS];

    for (size_t i = 0; i < count; i++)
        assert_ok(rota_submit(test->executor, probe_sleeps, &test->probes[i], &futures[i]));
    contract_await_begun(test, count);
    assert_ok(rota_shutdown_now(test->executor, NULL));
    for (size_t i = 0; i < count; i++) {
        assert_ok(rota_future_get(futures[i], NULL));
        rota_future_unref(futures[i]);
    }
    contract_end_each_once(test, count);
    assert_true(contract_all_interrupted(test, count));
}

static void *stops_its_executor(void *arg)
{
    probe *self = arg;

    test_check(rota_shutdown_now(self->test->executor, NULL) == ROTA_OK);
    self->interrupted = rota_is_interrupted();
    return probe_returns(arg);
}

/* POOL-53, FAULT-14: a task that does it interrupts itself, too. */
CONTRACT(ANY_KIND, a_task_may_stop_its_executor)
{
    contract *test = *state;

    assert_ok(rota_execute(test->executor, stops_its_executor, &test->probes[0]));
    contract_await_begun(test, 1);
    contract_end_each_once(test, 1);
    assert_true(test->probes[0].interrupted == test->kind->stops);
}

typedef int invoke_fn(rota_executor *ex, const rota_call *calls, size_t n, rota_ns timeout,
                      rota_future **futures);

struct invocation {
    contract *test;
    invoke_fn *invoke;
    rota_fn *fn;
    size_t n;
    int status;
    rota_future *futures[QUEUED];
};

static void invoke_on_thread(void *arg)
{
    struct invocation *self = arg;
    rota_call calls[QUEUED];

    contract_calls(self->test, calls, self->n, self->fn);
    self->status = self->invoke(self->test->executor, calls, self->n, ROTA_FOREVER, self->futures);
}

/* EXEC-14: calls of invoke_all that run are interrupted, and with their end it returns. */
CONTRACT(ON_THREADS | STOPS, invoke_all_ends_with_its_tasks)
{
    contract *test = *state;
    struct invocation all = {test, rota_invoke_all, probe_sleeps, contract_busy(test), 0, {NULL}};
    test_thread *caller = test_thread_start(invoke_on_thread, &all);

    contract_await_begun(test, contract_busy(test)); /* so all of them were submitted */
    assert_ok(rota_shutdown_now(test->executor, NULL));
    test_thread_join(caller);
    assert_ok(all.status);
    for (size_t i = 0; i < all.n; i++) {
        assert_ok(rota_future_get_timed(all.futures[i], 0, NULL));
        rota_future_unref(all.futures[i]);
    }
    contract_end_each_once(test, all.n);
    assert_true(contract_all_interrupted(test, all.n));
}

/* EXEC-14, EXEC-15, OWN-09: nobody hangs whose calls were discarded from the queue. */
CONTRACT(QUEUES | STOPS, invoke_ends_when_its_tasks_are_discarded)
{
    contract *test = *state;
    struct invocation any = {test, rota_invoke_any, probe_returns, QUEUED, 0, {NULL}};

    contract_occupy(test);
    test_thread *caller = test_thread_start(invoke_on_thread, &any);
    assert_ok(rota_shutdown_now(test->executor, NULL));
    test_thread_join(caller);
    assert_true(any.status == ROTA_ECANCELED || any.status == ROTA_EREJECTED);
    contract_end_each_once(test, QUEUED);
    assert_int_equal(contract_bodies(test, QUEUED), 0);
}
