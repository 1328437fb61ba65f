/* SPDX-License-Identifier: MIT */
/*
 * Composed futures when memory is refused: every call fails cleanly, at every point, and what is
 * made already works to its end.
 */
#include "executors.h"
#include "pools.h"
#include "rota_test_compose.h"
#include "rota_test_internal.h"

#include "base/block.h"
#include "compose/compose_internal.h"
#include "os/fault.h"

#define LATER ROTA_SEC(10)

static rota_executor *executor;
static test_manual *manual;
static rota_future *source; /* is not done */
static rota_future *out;
static test_probe probe;

static int prepare(void **state)
{
    test_clock_install();
    manual = test_executor_manual(&executor);
    source = test_promise();
    out = TEST_UNTOUCHED;
    probe = (test_probe){.error = 0};
    return 0;
}

static int clean_up(void **state)
{
    test_memory_fail_at(0, false);
    rota__fault_arm(ROTA__FAULT_THREAD_START, 0, false);
    rota_future_unref(source);
    test_clock_remove();
    return rota_close(executor);
}

TEST_FIXTURE(.setup = prepare, .teardown = clean_up);

static void *same(void *value, void *arg)
{
    return value;
}

static void *first_of(void *first, void *second, void *arg)
{
    return first;
}

static rota_future *give(void *value, void *inner)
{
    return rota_future_ref(inner);
}

static void *same_anyway(int status, void *value, int error, void *arg)
{
    return value;
}

static rota_future *give_anyway(int status, void *value, int error, void *inner)
{
    return rota_future_ref(inner);
}

static void count_done(rota_future *future, void *arg)
{
    atomic_fetch_add(&probe.runs, 1);
}

/* -- Making them (GEN-10) ----------------------------------------------------------------- */

static int make_then(void)
{
    return rota_then(source, executor, same, NULL, &out);
}

static int make_chain(void)
{
    return rota_chain(source, NULL, give, source, &out);
}

static int make_both(void)
{
    return rota_both(source, source, NULL, first_of, NULL, &out);
}

static int make_either(void)
{
    return rota_either(source, source, NULL, same, NULL, &out);
}

static int make_handle(void)
{
    return rota_handle(source, NULL, same_anyway, NULL, &out);
}

static int make_handle_chain(void)
{
    return rota_handle_chain(source, NULL, give_anyway, NULL, &out);
}

static int make_recover(void)
{
    return rota_recover(source, NULL, same_anyway, NULL, &out);
}

static int make_when_done(void)
{
    return rota_when_done(source, NULL, count_done, NULL, &out);
}

static int make_copy(void)
{
    return rota_copy(source, &out);
}

static int make_all(void)
{
    return rota_all_of((rota_future *[]){source, source, source}, 3, &out);
}

static int make_any(void)
{
    return rota_any_of((rota_future *[]){source, source, source}, 3, &out);
}

static int make_timeout(void)
{
    return rota_timeout(source, LATER, &out);
}

static int make_timeout_value(void)
{
    return rota_timeout_value(source, LATER, &probe, &out);
}

static int (*const makes[])(void) = {
    make_then,         make_chain,   make_both,          make_either, make_handle,
    make_handle_chain, make_recover, make_when_done,     make_copy,   make_all,
    make_any,          make_timeout, make_timeout_value,
};

static int attempt(void *arg)
{
    int status = (*(int (*const *)(void))arg)();

    assert_true((status == ROTA_OK) == (out != TEST_UNTOUCHED)); /* GEN-01 */
    assert_true((status == ROTA_OK) == (rota_future_dependents(source) > 0));
    if (status != ROTA_OK)
        rota__timer_end(ROTA_FOREVER);
    return status;
}

static void undo(void *arg)
{
    assert_true(rota_future_cancel(out));
    rota_future_unref(out);
    out = TEST_UNTOUCHED;
    assert_int_equal(rota_future_dependents(source), 0);
    rota__timer_end(ROTA_FOREVER);
}

/*
 * GEN-10, FAULT-19: each is made, or nothing has happened. ROTA_ENOMEM from rota_then, rota_chain,
 * rota_both, rota_either, rota_handle, rota_handle_chain, rota_recover, rota_when_done, rota_copy,
 * rota_all_of, rota_any_of, rota_timeout, rota_timeout_value.
 */
TEST(each_form_is_made_or_not)
{
    for (size_t i = 0; i < sizeof makes / sizeof makes[0]; i++) {
        int (*make)(void) = makes[i];
        test_every_allocation_fails(attempt, undo, &make, ROTA_ENOMEM);
    }
}

/* GEN-10: the one thread that all share cannot be made; the next time it can. */
TEST(without_a_thread_there_is_no_timeout)
{
    rota__blocks_flush();
    size_t live = test_memory_live();

    rota__fault_arm(ROTA__FAULT_THREAD_START, 1, true);
    assert_status(rota_timeout(source, LATER, &out), ROTA_EAGAIN);
    assert_status(rota_timeout_value(source, LATER, &probe, &out), ROTA_EAGAIN);
    rota__fault_arm(ROTA__FAULT_THREAD_START, 0, false);
    assert_ptr_equal(out, TEST_UNTOUCHED);
    assert_int_equal(rota_future_dependents(source), 0);
    rota__timer_end(ROTA_FOREVER);
    rota__blocks_flush();
    assert_int_equal(test_memory_live(), live);
    assert_ok(make_timeout());
    undo(NULL);
}

static int attempt_delayed(void *arg)
{
    rota_executor *delayed = NULL;
    rota_call call = test_probe_call(&probe);
    int status = rota_delayed(executor, LATER, &delayed);

    if (status != ROTA_OK) {
        assert_null(delayed);
        return status;
    }
    status = rota_submit_call(delayed, &call, &out);
    assert_int_equal(probe.discards, 0); /* OWN-05 */
    assert_true((status == ROTA_OK) == (out != TEST_UNTOUCHED));
    if (status == ROTA_OK) {
        test_await_waiting(rota__timer(), 1);
        test_clock_advance(LATER);
        test_manual_await_count(manual, 1);
    }
    assert_ok(rota_close(delayed));
    rota__timer_end(ROTA_FOREVER);
    return status;
}

static void undo_delayed(void *arg)
{
    test_manual_run(manual, 0);
    assert_int_equal(probe.runs, 1);
    rota_future_unref(out);
}

/* GEN-10, OWN-05: ROTA_ENOMEM from rota_delayed, or from a submit to what it made. */
TEST(a_task_is_delayed_or_not)
{
    test_every_allocation_fails(attempt_delayed, undo_delayed, NULL, ROTA_ENOMEM);
}

static int attempt_retry(void *arg)
{
    rota_call call = test_probe_call(&probe);
    rota_retry_options options = {.attempts = 3};
    int status = rota_retry(executor, &call, &options, &out);

    assert_true((status == ROTA_OK) == (out != TEST_UNTOUCHED));
    assert_int_equal(test_manual_count(manual), status == ROTA_OK);
    assert_int_equal(probe.discards, 0); /* OWN-05 */
    return status;
}

static void undo_retry(void *arg)
{
    assert_true(rota_future_cancel(out));
    rota_future_unref(out);
    out = TEST_UNTOUCHED;
    test_manual_run(manual, 0);
    assert_int_equal(probe.runs, 0);
    assert_int_equal(probe.discards, 1);
}

/* GEN-10, OWN-05: ROTA_ENOMEM from rota_retry. */
TEST(a_retry_is_begun_or_not)
{
    test_every_allocation_fails(attempt_retry, undo_retry, NULL, ROTA_ENOMEM);
}

/* GEN-10: it is not begun, ROTA_ENOMEM from rota_hedge, or has one attempt at least. */
TEST(a_hedge_has_one_attempt_or_two)
{
    bool is_reached = true;

    for (unsigned n = 1; is_reached; n++) {
        rota_call call = test_probe_call(&probe);
        rota__blocks_flush();
        size_t live = test_memory_live();
        test_memory_fail_at(n, false);
        int status = rota_hedge(executor, &call, LATER, &out);
        is_reached = test_memory_asked() >= n;
        test_memory_fail_at(0, false);
        assert_status(status, test_manual_count(manual) == 1 ? ROTA_OK : ROTA_ENOMEM);
        assert_true(is_reached || status == ROTA_OK);
        if (status == ROTA_OK) {
            test_manual_run(manual, 0);
            test_has_ended(out, TEST_SUCCEEDS, &probe);
            rota_future_unref(out);
        }
        rota__timer_end(ROTA_FOREVER);
        rota__blocks_flush();
        assert_int_equal(test_memory_live(), live);
    }
    assert_true(probe.runs > 1);
}

/* -- Later -------------------------------------------------------------------------------- */

/* GEN-10: without memory for the next attempt a retry ends as the last one has. */
TEST(a_retry_ends_without_memory_for_a_timer)
{
    rota__blocks_flush();
    size_t live = test_memory_live();

    assert_ok(attempt_retry(NULL));
    probe.error = TEST_CODE;
    rota_task *task = test_manual_take(manual, 0);
    rota__blocks_flush();
    test_memory_fail_at(1, true);
    rota_task_run(task);
    test_memory_fail_at(0, false);
    test_has_ended(out, TEST_FAILS, NULL);
    rota_future_unref(out);
    rota__timer_end(ROTA_FOREVER);
    rota__blocks_flush();
    assert_int_equal(test_memory_live(), live);
}

/* What is made already, of which only `source` and `inner` are left to end. */
static struct {
    rota_future *inner;
    rota_future *then, *both, *any, *chain, *owner, *done;
} graph;

static void make_graph(void)
{
    graph.inner = test_promise();
    assert_ok(rota_then(source, NULL, same, NULL, &graph.then));
    assert_ok(rota_both(graph.then, source, NULL, first_of, NULL, &graph.both));
    assert_ok(rota_any_of((rota_future *[]){graph.inner, graph.both}, 2, &graph.any));
    assert_ok(rota_chain(graph.any, NULL, give, graph.inner, &graph.chain));
    assert_ok(rota_when_done(graph.chain, NULL, count_done, NULL, &graph.done));
    assert_ok(rota_copy(graph.inner, &graph.owner));
    assert_ok(rota_future_own(graph.owner));
}

static void drop_graph(void)
{
    rota_future_unref(graph.inner);
    rota_future_unref(graph.then);
    rota_future_unref(graph.both);
    rota_future_unref(graph.any);
    rota_future_unref(graph.chain);
    rota_future_unref(graph.owner);
    rota_future_unref(graph.done);
}

/* GEN-10: what is there already is run, passed on, withdrawn and cancelled without memory. */
TEST(the_rest_needs_no_memory)
{
    make_graph();
    rota__blocks_flush();
    test_memory_fail_at(1, true);
    test_end(source, TEST_SUCCEEDS, &probe);
    test_has_ended(graph.any, TEST_SUCCEEDS, &probe);
    test_is_pending(graph.chain);
    assert_int_equal(rota_future_dependents(graph.inner), 2);
    assert_true(rota_future_cancel(graph.owner));
    test_has_ended(graph.inner, TEST_CANCELLED, NULL);
    test_has_ended(graph.done, TEST_CANCELLED, NULL);
    assert_int_equal(probe.runs, 1);
    drop_graph();
    assert_int_equal(test_memory_asked(), 0);
}
