/* SPDX-License-Identifier: MIT */
/*
 * A step that its pool has no room for, run by the thread that ended the source: inside of the pool, as a
 * guest of whom its owner does not know (exec.E3 and exec.E4).
 */
#include "pools.h"
#include "rota_test_compose.h"

struct visit {
    rota_executor *pool; /* of one thread, which is busy, and a full queue */
    test_gate gate;
    test_probe probe;
    rota_future *source, *out;
    int closed, freed;
};

static void begin(struct visit *visit, rota_then_fn *step)
{
    *visit = (struct visit){.pool = test_small_pool(1, 1, 1), .source = test_promise()};
    assert_ok(rota_pool_set_reject(visit->pool, rota_reject_caller_runs, NULL));
    test_fill(visit->pool, &visit->gate, &visit->probe, 1);
    assert_ok(rota_then(visit->source, visit->pool, step, visit, &visit->out));
}

static void end(struct visit *visit)
{
    rota_future_unref(visit->out);
    rota_future_unref(visit->source);
    assert_ok(rota_close(visit->pool));
    assert_int_equal(visit->probe.runs, 1);
}

static void *end_pool(void *value, void *arg)
{
    struct visit *visit = arg;

    visit->closed = rota_close(visit->pool);
    test_gate_open(&visit->gate);
    test_check(rota_shutdown(visit->pool) == ROTA_OK);
    test_check(rota_await_termination(visit->pool, 0)
               == ROTA_ETIMEDOUT); /* it waits for this step */
    visit->freed = rota_executor_free(visit->pool);
    return value;
}

TEST(a_pool_is_not_freed_by_a_step_inside_of_it)
{
    struct visit visit;

    begin(&visit, end_pool);
    test_end(visit.source, TEST_SUCCEEDS, &visit);
    test_has_ended(visit.out, TEST_SUCCEEDS, &visit);
    assert_status(visit.closed, ROTA_EDEADLOCK);
    assert_status(visit.freed, ROTA_EBUSY);
    end(&visit);
}

static void *end_this_thread(void *arg)
{
    pthread_exit(arg);
}

/* The thread is the process's timer, which passes the task on, and which goes on with another. */
TEST(a_delayed_task_that_ends_the_timer_s_thread_has_arrived)
{
    struct visit visit;
    rota_executor *delayed;
    rota_future *out;

    begin(&visit, end_pool);
    rota_future_cancel(visit.out);
    assert_ok(rota_delayed(visit.pool, 0, &delayed));
    assert_ok(rota_submit(delayed, end_this_thread, NULL, &out));
    assert_status(rota_future_get(out, NULL), ROTA_EFAILED);
    rota_future_unref(out);
    assert_ok(rota_close(delayed));
    test_gate_open(&visit.gate);
    end(&visit);
}

static void *fail_then_end_the_thread(void *arg)
{
    int *tries = arg;

    return (*tries)++ == 0 ? rota_fail(7) : end_this_thread(NULL);
}

TEST(a_try_that_ends_the_timer_s_thread_has_failed)
{
    struct visit visit;
    int tries = 0;
    rota_call call = {.fn = fail_then_end_the_thread, .arg = &tries};
    rota_retry_options options = {.attempts = 2, .first_delay = 1};
    rota_future *out;

    begin(&visit, end_pool);
    rota_future_cancel(visit.out);
    assert_ok(rota_retry(visit.pool, &call, &options, &out));
    assert_status(rota_future_get(out, NULL), ROTA_EFAILED);
    assert_int_equal(rota_future_error(out), ROTA_ECANCELED);
    assert_int_equal(tries, 2);
    rota_future_unref(out);
    test_gate_open(&visit.gate);
    end(&visit);
}
