/* SPDX-License-Identifier: MIT */
/*
 * Hooks: called around each task on its thread, told how it ended, and of failures that nobody sees.
 */
#include "pools.h"

/* -- What they are told ------------------------------------------------------------------- */

enum { MOST = 16 };

struct seen {
    rota_executor *ex;
    rota_task *task;
    rota_future *future;
    const void *arg;
    int status, error;
    pthread_t thread;
};

struct log {
    atomic_uint befores, afters, unobserved, interrupted;
    struct seen before[MOST], after[MOST], failure[MOST];
};

static struct seen look(struct log *log, rota_executor *ex, const rota_call *call)
{
    atomic_fetch_add(&log->interrupted, rota_is_interrupted());
    return (struct seen){.ex = ex, .arg = call->arg, .thread = pthread_self()};
}

static void before(rota_executor *ex, rota_task *task, void *ctx)
{
    struct log *log = ctx;
    struct seen *seen = &log->before[atomic_load(&log->befores)];

    *seen = look(log, ex, rota_task_call(task));
    seen->task = task;
    seen->future = rota_task_future(task);
    atomic_fetch_add(&log->befores, 1);
}

static void after(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    struct log *log = ctx;
    struct seen *seen = &log->after[atomic_load(&log->afters)];

    *seen = look(log, ex, rota_task_call(task));
    seen->task = task;
    seen->status = status;
    seen->error = error;
    atomic_fetch_add(&log->afters, 1);
}

static void unobserved(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    struct log *log = ctx;
    struct seen *seen = &log->failure[atomic_load(&log->unobserved)];

    *seen = look(log, ex, call);
    seen->error = error;
    atomic_fetch_add(&log->unobserved, 1);
}

/* One thread, so that they come in order. */
static rota_executor *logged_pool(struct log *log)
{
    *log = (struct log){.befores = 0};
    return test_pool(
        (rota_pool_options){.core_threads = 1, .hooks = {before, after, unobserved, NULL, log}});
}

static void *fail_with(void *code)
{
    return rota_fail(*(int *)code);
}

static void *end_thread(void *arg)
{
    pthread_exit(arg);
}

struct body {
    struct log *log;
    unsigned befores, afters;
    pthread_t thread;
};

static void *look_at_log(void *arg)
{
    struct body *body = arg;

    body->befores = atomic_load(&body->log->befores);
    body->afters = atomic_load(&body->log->afters);
    body->thread = pthread_self();
    return arg;
}

/* POOL-34 */
TEST(the_hooks_run_around_each_task_on_its_thread)
{
    struct log log;
    rota_executor *pool = logged_pool(&log);
    struct body body = {.log = &log};
    rota_future *future;

    assert_ok(rota_submit(pool, look_at_log, &body, &future));
    assert_ok(rota_close(pool));
    assert_int_equal(body.befores, 1);
    assert_int_equal(body.afters, 0);
    assert_int_equal(log.afters, 1);
    assert_ptr_equal(log.before[0].ex, pool);
    assert_ptr_equal(log.before[0].arg, &body);
    assert_ptr_equal(log.before[0].future, future);
    assert_ptr_equal(log.after[0].task, log.before[0].task);
    assert_true(pthread_equal(log.before[0].thread, body.thread));
    assert_true(pthread_equal(log.after[0].thread, body.thread));
    assert_false(pthread_equal(body.thread, pthread_self()));
    rota_future_unref(future);
}

/* POOL-34 */
TEST(a_task_without_a_future_has_none_in_the_hooks)
{
    struct log log;
    rota_executor *pool = logged_pool(&log);
    atomic_uint runs = 0;

    assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_close(pool));
    assert_null(log.before[0].future);
    assert_ptr_equal(log.before[0].arg, &runs);
    assert_int_equal(log.afters, 1);
}

static void assert_ended(const struct log *log, unsigned i, int status, int error)
{
    assert_status(log->after[i].status, status);
    assert_int_equal(log->after[i].error, error);
}

/* POOL-33 */
TEST(after_execute_is_told_how_the_task_ended)
{
    int codes[] = {41, -42};
    struct log log;
    rota_executor *pool = logged_pool(&log);
    atomic_uint runs = 0;

    assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_submit(pool, test_count, &runs, NULL));
    assert_ok(rota_execute(pool, fail_with, &codes[0]));
    assert_ok(rota_submit(pool, fail_with, &codes[1], NULL));
    assert_ok(rota_execute(pool, end_thread, NULL));
    assert_ok(rota_submit(pool, end_thread, NULL, NULL));
    assert_ok(rota_close(pool));
    assert_int_equal(log.befores, 6);
    assert_int_equal(log.afters, 6);
    assert_ended(&log, 0, ROTA_OK, 0);
    assert_ended(&log, 1, ROTA_OK, 0);
    assert_ended(&log, 2, ROTA_EFAILED, 41);
    assert_ended(&log, 3, ROTA_EFAILED, -42);
    assert_ended(&log, 4, ROTA_EFAILED, ROTA_ECANCELED);
    assert_ended(&log, 5, ROTA_EFAILED, ROTA_ECANCELED);
    assert_int_equal(log.interrupted, 0);
}

/* POOL-48: a task that is cancelled in the queue counts as completed, and reaches no hook. */
TEST(only_a_task_that_is_cancelled_while_it_runs_reaches_the_hooks)
{
    struct log log;
    rota_executor *pool = logged_pool(&log);
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *queued, *running;
    test_gate gate;

    test_gate_init(&gate);
    assert_ok(rota_submit(pool, test_wait_at, &gate, &running));
    test_await_count(&gate.begun, 1);
    assert_ok(rota_submit_call(pool, &call, &queued));
    assert_true(rota_future_cancel(running));
    assert_true(rota_future_cancel(queued));
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(log.befores, 1);
    assert_int_equal(log.afters, 1);
    assert_ended(&log, 0, ROTA_ECANCELED, 0);
    assert_int_equal(log.unobserved, 0);
    assert_int_equal(probe.runs, 0);
    assert_int_equal(probe.discards, 1);
    rota_future_unref(queued);
    rota_future_unref(running);
}

/* INT-07, INT-08: cancel_now interrupts the task, and the hooks do not see it. */
TEST(hooks_do_not_see_the_interrupt_of_a_task)
{
    struct log log;
    rota_executor *pool = logged_pool(&log);
    rota_future *future;
    test_gate gate;

    test_gate_init(&gate);
    assert_ok(rota_submit(pool, test_sleep_long, &gate, &future));
    test_await_count(&gate.begun, 1);
    assert_true(rota_future_cancel_now(future));
    rota_future_unref(future);
    assert_ok(rota_close(pool));
    assert_int_equal(gate.interrupted, 1);
    assert_int_equal(log.afters, 1);
    assert_int_equal(log.interrupted, 0);
}

static void fail_in_hook(rota_executor *ex, rota_task *task, void *ctx)
{
    rota_fail(5);
}

/* GEN-17: "outside a task it does nothing". */
TEST(a_hook_cannot_fail_a_task)
{
    rota_executor *pool = test_pool(
        (rota_pool_options){.core_threads = 1, .hooks = {.before_execute = fail_in_hook}});
    rota_future *future;
    atomic_uint runs = 0;

    assert_ok(rota_submit(pool, test_count, &runs, &future));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
    assert_ok(rota_close(pool));
}

static void submit_in_hook(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    atomic_uint *left = ctx;

    if (atomic_load(left) > 0) {
        atomic_fetch_sub(left, 1);
        test_check(rota_execute(ex, test_count, left + 1) == ROTA_OK);
    }
}

/* GEN-09, FAULT-14 */
TEST(a_hook_may_call_the_pool)
{
    atomic_uint counts[2] = {5, 0}; /* left, runs */
    rota_executor *pool = test_pool((rota_pool_options){
        .core_threads = 1, .hooks = {.after_execute = submit_in_hook, .ctx = counts}});

    assert_ok(rota_execute(pool, test_count, &counts[1]));
    test_await_completed(pool, 6);
    assert_ok(rota_close(pool));
    assert_int_equal(counts[1], 6);
}

/* -- Failures that nobody sees ------------------------------------------------------------ */

/* POOL-32 */
TEST(a_failure_of_a_task_without_a_future_is_told_once)
{
    int codes[] = {7, 8};
    struct log log;
    rota_executor *pool = logged_pool(&log);

    assert_ok(rota_execute(pool, fail_with, &codes[0]));
    assert_ok(rota_execute(pool, fail_with, &codes[1]));
    assert_ok(rota_execute(pool, end_thread, NULL));
    assert_ok(rota_close(pool));
    assert_int_equal(log.unobserved, 3);
    assert_int_equal(log.failure[0].error, 7);
    assert_ptr_equal(log.failure[0].arg, &codes[0]);
    assert_ptr_equal(log.failure[0].ex, pool);
    assert_int_equal(log.failure[1].error, 8);
    assert_int_equal(log.failure[2].error, ROTA_ECANCELED);
    assert_int_equal(log.interrupted, 0);
}

static void *interrupt_self_and_fail(void *arg)
{
    rota_thread_interrupt(rota_thread_self());
    return rota_fail(*(int *)arg);
}

/* POOL-32: on the thread of the task, whose interrupt goes with it. */
TEST(a_failure_is_told_on_the_worker_without_the_interrupt_of_the_task)
{
    int code = 7;
    struct log log;
    rota_executor *pool = logged_pool(&log);

    assert_ok(rota_execute(pool, interrupt_self_and_fail, &code));
    assert_ok(rota_close(pool));
    assert_int_equal(log.unobserved, 1);
    assert_true(pthread_equal(log.failure[0].thread, log.before[0].thread));
    assert_false(pthread_equal(log.failure[0].thread, pthread_self()));
    assert_int_equal(log.interrupted, 0);
}

/* POOL-32: nobody holds it, from the beginning or since. */
TEST(a_failure_is_told_when_nobody_holds_the_future)
{
    int code = 9;
    struct log log;
    rota_executor *pool = logged_pool(&log);
    rota_future *future;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_submit(pool, fail_with, &code, NULL));
    assert_ok(rota_submit(pool, fail_with, &code, &future));
    rota_future_unref(future);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    assert_int_equal(log.unobserved, 2);
    assert_int_equal(log.failure[1].error, 9);
}

/* POOL-33 */
TEST(a_failure_that_a_holder_can_see_is_not_told)
{
    int code = 9;
    struct log log;
    rota_executor *pool = logged_pool(&log);
    rota_future *future;

    assert_ok(rota_submit(pool, fail_with, &code, &future));
    assert_ok(rota_close(pool));
    assert_int_equal(log.afters, 1);
    assert_int_equal(log.unobserved, 0);
    assert_int_equal(rota_future_error(future), 9);
    rota_future_unref(future);
}

/* POOL-31, FAULT-34: nothing was unwound. */
TEST(a_failure_does_not_end_the_worker)
{
    int code = 1;
    struct log log;
    rota_executor *pool = logged_pool(&log);

    for (int i = 0; i < MOST; i++)
        assert_ok(rota_execute(pool, fail_with, &code));
    assert_ok(rota_close(pool));
    for (int i = 1; i < MOST; i++)
        assert_true(pthread_equal(log.before[i].thread, log.before[0].thread));
}

static void count_failure(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    atomic_fetch_add((atomic_uint *)ctx, 1);
}

TEST(unobserved_failure_works_without_the_other_hooks)
{
    atomic_uint failures = 0;
    int code = 1;
    rota_executor *pool = test_pool((rota_pool_options){
        .core_threads = 1, .hooks = {.unobserved_failure = count_failure, .ctx = &failures}});

    assert_ok(rota_execute(pool, fail_with, &code));
    assert_ok(rota_submit(pool, fail_with, &code, NULL));
    assert_ok(rota_close(pool));
    assert_int_equal(failures, 2);
}

/* -- The end ------------------------------------------------------------------------------ */

static void count_end(rota_executor *ex, void *ctx)
{
    atomic_fetch_add((atomic_uint *)ctx, 1);
}

/* POOL-36 */
TEST(terminated_is_called_once_however_often_the_pool_is_shut_down)
{
    atomic_uint ends = 0;
    atomic_uint runs = 0;

    for (unsigned i = 1; i <= 20; i++) {
        rota_executor *pool = test_pool((rota_pool_options){
            .core_threads = 3, .hooks = {.terminated = count_end, .ctx = &ends}});
        for (int j = 0; j < 6; j++)
            assert_ok(rota_execute(pool, test_count, &runs));
        assert_ok(rota_shutdown(pool));
        assert_ok(rota_shutdown_now(pool, NULL));
        assert_ok(rota_shutdown(pool));
        assert_ok(rota_close(pool));
        assert_int_equal(ends, i);
    }
}
