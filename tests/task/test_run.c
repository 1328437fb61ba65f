/* SPDX-License-Identifier: MIT */
/*
 * Tasks that run: what they say of themselves, and how they fail.
 */
#include "rota_test_tasks.h"

#include "exec/run.h"

static int answer;

/* -- rota_fail ---------------------------------------------------------------------------- */

static void *fail_twice(void *arg)
{
    rota_fail(3);
    return rota_fail(*(int *)arg);
}

static void *fail_and_take_back(void *arg)
{
    rota_fail(3);
    rota_fail(0);
    return arg;
}

/* GEN-17, FUT-05: of several failures the last one counts, whatever its sign. */
TEST(the_last_failure_counts)
{
    const int codes[] = {5, -1, INT32_MAX, INT32_MIN};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        int code = codes[i];
        rota_future *future;
        rota_task_run(test_task((rota_call){.fn = fail_twice, .arg = &code}, &future));
        assert_status(rota_future_get(future, NULL), ROTA_EFAILED);
        assert_int_equal(rota_future_error(future), code);
        rota_future_unref(future);
    }
}

/* GEN-17: rota_fail(0) takes the failure back, and the result counts. */
TEST(zero_takes_a_failure_back)
{
    rota_future *future;
    void *result = NULL;

    rota_task_run(test_task((rota_call){.fn = fail_and_take_back, .arg = &answer}, &future));
    assert_ok(rota_future_get(future, &result));
    assert_ptr_equal(result, &answer);
    assert_int_equal(rota_future_error(future), 0);
    rota_future_unref(future);
}

/* GEN-17: outside a task it does nothing, also to the task that comes next. */
TEST(outside_a_task_failing_does_nothing)
{
    test_probe probe = {.error = 0};
    rota_future *future;

    assert_null(rota_fail(7));
    rota_task_run(test_task(test_probe_call(&probe), &future));
    assert_null(rota_fail(7));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
}

/* GEN-17: what is returned beside a failure is ignored, and not freed. */
TEST(a_result_beside_a_failure_is_not_freed)
{
    test_probe probe = {.error = 7};
    void *result = &answer;
    rota_future *future;

    rota_task_run(test_task(test_probe_call(&probe), &future));
    assert_status(rota_future_get(future, &result), ROTA_EFAILED);
    assert_ptr_equal(result, &answer);
    rota_future_unref(future);
    assert_int_equal(probe.frees, 0);
    assert_int_equal(probe.discards, 0);
}

struct pair {
    rota_task *inner;
    int before; /* what the outer one fails with before the inner one runs */
    int after;  /* and after it, unless 0 */
};

static void *run_inner(void *arg)
{
    struct pair *pair = arg;

    rota_fail(pair->before);
    rota_task_run(pair->inner);
    if (pair->after != 0)
        rota_fail(pair->after);
    return NULL;
}

/* GEN-17: a task that runs inside another one fails for itself alone. */
TEST(nested_tasks_fail_each_for_itself)
{
    const int cases[][4] = {/* before, inner, after, so the outer one's error */
                            {0, 5, 0, 0},
                            {3, 0, 0, 3},
                            {3, 5, 0, 3},
                            {3, 5, 4, 4},
                            {0, 0, 4, 4}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_probe probe = {.error = cases[i][1]};
        struct pair pair = {.before = cases[i][0], .after = cases[i][2]};
        rota_future *inner;
        rota_future *outer;
        pair.inner = test_task(test_probe_call(&probe), &inner);
        rota_task_run(test_task((rota_call){.fn = run_inner, .arg = &pair}, &outer));
        assert_int_equal(rota_future_error(inner), cases[i][1]);
        assert_int_equal(rota_future_error(outer), cases[i][3]);
        rota_future_unref(inner);
        rota_future_unref(outer);
    }
}

static int reported;

static void note_error(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    reported = error;
}

/* GEN-17: unobserved_failure gets the code with which a plain task has failed. */
TEST(the_failure_of_a_plain_task_is_reported)
{
    const rota_hooks hooks = {.unobserved_failure = note_error};
    int code = 5;
    rota__run run;

    rota__run_init(&run, NULL, &hooks, &rota__run_once, NULL, NULL);
    rota__run_task(&run, test_plain_task(fail_and_take_back, NULL));
    assert_int_equal(reported, 0);
    rota__run_task(&run, test_plain_task(fail_twice, &code));
    assert_int_equal(reported, 5);
}

/* -- What a task says of itself ----------------------------------------------------------- */

static void *count(void *arg)
{
    ++*(int *)arg;
    return NULL;
}

/* A task has a copy of its call, and its future. */
TEST(a_task_tells_its_call_and_its_future)
{
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future;
    rota_task *task = test_task(call, &future);
    const rota_call *told = rota_task_call(task);

    assert_ptr_equal(told->fn, call.fn);
    assert_ptr_equal(told->arg, &probe);
    assert_ptr_equal(told->discard, call.discard);
    assert_ptr_equal(told->free_result, call.free_result);
    assert_ptr_equal(told->name, call.name);
    assert_ptr_equal(rota_task_future(task), future);
    rota_task_run(task);
    rota_future_unref(future);
}

/* A plain one has no future; it runs once, or never. */
TEST(a_plain_task_has_no_future)
{
    int runs = 0;
    rota_task *task = test_plain_task(count, &runs);

    assert_ptr_equal(rota_task_call(task)->fn, count);
    assert_ptr_equal(rota_task_call(task)->arg, &runs);
    assert_null(rota_task_call(task)->discard);
    assert_null(rota_task_future(task));
    rota_task_run(task);
    assert_int_equal(runs, 1);
    rota_task_discard(test_plain_task(count, &runs));
    assert_int_equal(runs, 1);
}

/* GEN-02: NULL is no task, and does no harm. */
TEST(null_is_allowed)
{
    assert_null(rota_task_call(NULL));
    assert_null(rota_task_future(NULL));
    rota_task_run(NULL);
    rota_task_discard(NULL);
}

/* One cache line for a plain task, two for a future. */
TEST(tasks_are_small)
{
    if (sizeof(void *) != 8)
        skip();
    assert_int_equal(sizeof(struct rota_task), 64);
    assert_true(sizeof(struct rota_future) <= 128);
}

/* -- An executor of one's own ------------------------------------------------------------- */

static int run_here(void *self, rota_task *task)
{
    rota_task_run(task);
    return ROTA_OK;
}

/* GEN-08: what an executor runs at once is done when the call returns. */
TEST(an_executor_may_run_it_at_once)
{
    const rota_executor_ops ops = {.execute = run_here};
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_executor *executor;
    rota_future *future;
    int runs = 0;

    assert_ok(rota_executor_new(&ops, NULL, &executor));
    assert_ok(rota_execute(executor, count, &runs));
    assert_int_equal(runs, 1);
    assert_ok(rota_submit_call(executor, &call, &future));
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_SUCCEEDED);
    rota_future_unref(future);
    assert_ok(rota_close(executor));
    assert_int_equal(probe.runs, 1);
    assert_int_equal(probe.frees, 1);
}
