/* SPDX-License-Identifier: MIT */
/*
 * rota_submit, rota_execute and futures in a fork/join pool: FJ-03, FJ-04, FJ-28, EXEC-18.
 */
#include "forkjoin.h"
#include "rota_test_internal.h"

static void *return_it(void *arg)
{
    return arg;
}

static void *fail_with_7(void *arg)
{
    return rota_fail(7);
}

static rota_executor *one_worker(void)
{
    return test_forkjoin_of(1);
}

/* -- From outside ------------------------------------------------------------------------- */

/* FJ-03, FJ-04 */
TEST(a_submitted_body_gives_its_result)
{
    rota_executor *pool = one_worker();
    rota_future *future;
    void *result = NULL;

    assert_ok(rota_submit(pool, return_it, pool, &future));
    assert_ok(rota_future_get(future, &result));
    assert_ptr_equal(result, pool);
    assert_ok(rota_future_get_timed(future, -1, &result));
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_SUCCEEDED);
    rota_future_unref(future);
    assert_ok(rota_submit(pool, return_it, NULL, &future));
    assert_ok(rota_future_get(future, &result));
    assert_null(result);
    rota_future_unref(future);
    assert_ok(rota_close(pool));
}

/* FJ-03, GEN-02 */
TEST(a_null_body_is_refused)
{
    rota_executor *pool = one_worker();
    rota_future *future = TEST_UNTOUCHED;

    assert_status(rota_submit(pool, NULL, pool, &future), ROTA_EINVAL);
    assert_status(rota_submit_call(pool, NULL, &future), ROTA_EINVAL);
    assert_status(rota_submit_call(pool, &(rota_call){.fn = NULL}, &future), ROTA_EINVAL);
    assert_status(rota_execute(pool, NULL, NULL), ROTA_EINVAL);
    assert_ptr_equal(future, TEST_UNTOUCHED);
    assert_int_equal(test_fj_stats(pool).threads, 0);
    assert_ok(rota_close(pool));
}

/* FUT-08, INT-05 */
TEST(an_interrupt_ends_a_get_from_outside)
{
    rota_executor *pool = one_worker();
    rota_future *future;
    test_getter getter;
    test_gate gate;

    test_gate_init(&gate);
    assert_ok(rota_submit(pool, test_wait_at, &gate, &future));
    test_getter_start(&getter, future, ROTA_FOREVER);
    rota_thread_interrupt(test_thread_handle(getter.thread));
    test_getter_ends(&getter, ROTA_EINTERRUPTED, TEST_UNTOUCHED);
    test_gate_open(&gate);
    rota_future_unref(future);
    assert_ok(rota_close(pool));
    assert_int_equal(gate.interrupted, 0);
}

/* FJ-28, EXEC-04 */
TEST(invoke_any_needs_calls)
{
    const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_SEC(10)};
    rota_executor *pool = one_worker();
    rota_call calls[] = {{.fn = return_it}, {.fn = NULL}};
    rota_future *first = TEST_UNTOUCHED;

    for (int i = 0; i < 2; i++) {
        assert_status(rota_invoke_any(pool, NULL, 1, timeouts[i], &first), ROTA_EINVAL);
        assert_status(rota_invoke_any(pool, calls, 0, timeouts[i], &first), ROTA_EINVAL);
        assert_status(rota_invoke_any(pool, calls + 1, 1, timeouts[i], &first), ROTA_EINVAL);
        assert_status(rota_invoke_any(pool, calls, 2, timeouts[i], &first), ROTA_EINVAL);
    }
    assert_ptr_equal(first, TEST_UNTOUCHED);
    assert_ok(rota_close(pool));
}

/* FJ-28, EXEC-09, EXEC-11 */
TEST(invoke_any_gives_the_result_of_one)
{
    rota_executor *pool = one_worker();
    rota_call calls[] = {{.fn = fail_with_7}, {.fn = return_it, .arg = pool}};
    rota_future *first;
    void *result = NULL;

    assert_ok(rota_invoke_any(pool, calls, 2, ROTA_FOREVER, &first));
    assert_ok(rota_future_get(first, &result));
    assert_ptr_equal(result, pool);
    rota_future_unref(first);
    assert_status(rota_invoke_any(pool, calls, 1, ROTA_SEC(10), &first), ROTA_EFAILED);
    assert_int_equal(rota_future_error(first), 7);
    rota_future_unref(first);
    assert_ok(rota_close(pool));
}

/* FJ-28, EXEC-04 */
TEST(invoke_all_needs_calls)
{
    const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_SEC(10), 0, -1};
    rota_executor *pool = one_worker();
    rota_call calls[] = {{.fn = return_it}, {.fn = NULL}};
    rota_future *futures[2] = {TEST_UNTOUCHED, TEST_UNTOUCHED};

    for (int i = 0; i < 4; i++) {
        assert_status(rota_invoke_all(pool, NULL, 1, timeouts[i], futures), ROTA_EINVAL);
        assert_status(rota_invoke_all(pool, calls, 2, timeouts[i], futures), ROTA_EINVAL);
        assert_ok(rota_invoke_all(pool, calls, 0, timeouts[i], futures));
    }
    assert_ptr_equal(futures[0], TEST_UNTOUCHED);
    assert_ok(rota_close(pool));
}

/* FJ-28, EXEC-05 */
TEST(invoke_all_gives_all_results)
{
    const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_SEC(10)};
    rota_executor *pool = one_worker();
    rota_call calls[] = {{.fn = return_it, .arg = pool}, {.fn = fail_with_7}, {.fn = return_it}};

    for (int i = 0; i < 2; i++) {
        rota_future *futures[3];
        void *result = NULL;
        assert_ok(rota_invoke_all(pool, calls, 3, timeouts[i], futures));
        assert_ok(rota_future_get(futures[0], &result));
        assert_ptr_equal(result, pool);
        assert_status(rota_future_get(futures[1], NULL), ROTA_EFAILED);
        assert_int_equal(rota_future_error(futures[1]), 7);
        assert_ok(rota_future_get(futures[2], &result));
        assert_null(result);
        for (int j = 0; j < 3; j++)
            rota_future_unref(futures[j]);
    }
    assert_ok(rota_close(pool));
}

enum { SINGLE = 2000 };

/* FJ-13, FJ-14: each finds the worker asleep, or just going to sleep. */
TEST(single_tasks_run_without_any_further_event)
{
    for (unsigned n = 1; n <= 2; n++) {
        rota_executor *pool = test_forkjoin_of(n);
        atomic_uint runs = 0;
        for (unsigned i = 1; i <= SINGLE; i++) {
            assert_ok(rota_execute(pool, test_count, &runs));
            test_await_count(&runs, i);
        }
        assert_true(test_fj_stats(pool).threads <= n);
        assert_ok(rota_close(pool));
    }
}

/* FJ-13: not one thread per task. */
TEST(no_more_threads_than_parallelism_are_made)
{
    rota_executor *pool = test_forkjoin_of(2);
    atomic_uint runs = 0;

    for (unsigned i = 0; i < SINGLE; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    test_await_count(&runs, SINGLE);
    assert_in_range(test_fj_stats(pool).threads, 1, 2);
    assert_ok(rota_close(pool));
}

/* -- From inside -------------------------------------------------------------------------- */

struct level {
    rota_executor *pool;
    unsigned depth;
    atomic_uint *ended;
};

/* Waits for one like itself, one level down. */
static void *descend(void *arg)
{
    const struct level *level = arg;
    struct level next = {level->pool, level->depth - 1, level->ended};
    rota_future *future;
    void *result = NULL;

    if (level->depth > 0) {
        test_check(rota_submit(level->pool, descend, &next, &future) == ROTA_OK);
        test_check(rota_future_get(future, &result) == ROTA_OK);
        test_check(result == &next);
        rota_future_unref(future);
    }
    atomic_fetch_add(level->ended, 1);
    return arg;
}

static void descend_in(rota_executor *pool, unsigned depth)
{
    atomic_uint ended = 0;
    struct level level = {pool, depth, &ended};
    rota_future *future;

    assert_ok(rota_submit(pool, descend, &level, &future));
    assert_ok(rota_future_get(future, NULL));
    rota_future_unref(future);
    assert_int_equal(ended, depth + 1);
}

/* EXEC-18, FJ-16, FJ-20: also more than 16 levels deep, where others stand in. */
TEST(a_worker_may_wait_for_a_future_of_its_own_pool_many_levels_deep)
{
    const unsigned depths[] = {1, 2, 15, 16, 17, 18, 40, 200};

    for (unsigned n = 1; n <= 2; n++) {
        for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
            rota_executor *pool = test_forkjoin_of(n);
            descend_in(pool, depths[i]);
            assert_ok(rota_close(pool));
        }
    }
}

/* The one thread that there may be does it all. */
TEST(sixteen_levels_need_one_thread)
{
    rota_executor *pool =
        test_forkjoin((rota_forkjoin_options){.parallelism = 1, .max_threads = 1});

    descend_in(pool, 15);
    assert_int_equal(test_fj_stats(pool).threads, 1);
    assert_ok(rota_close(pool));
}

enum { CHILDREN = 50 };

static void submit_and_get(void *arg)
{
    rota_future *futures[CHILDREN];
    void *result;

    for (long i = 0; i < CHILDREN; i++)
        test_check(rota_submit(arg, return_it, &futures[i], &futures[i]) == ROTA_OK);
    for (long i = 0; i < CHILDREN; i++) {
        test_check(rota_future_get(futures[i], &result) == ROTA_OK);
        test_check(result == &futures[i]);
        rota_future_unref(futures[i]);
    }
}

/* FJ-10, FJ-28: by a worker, and by a caller that takes part. */
TEST(a_worker_may_wait_for_many_futures)
{
    for (unsigned n = 1; n <= 3; n++) {
        rota_executor *pool = test_forkjoin_of(n);
        test_fj_inside(pool, submit_and_get, pool);
        test_fj_taking_part(pool, submit_and_get, pool);
        assert_ok(rota_close(pool));
    }
}

static void invoke_all_inside(void *arg)
{
    rota_call calls[] = {{.fn = return_it, .arg = arg}, {.fn = fail_with_7}};
    rota_future *futures[2], *first;

    test_check(rota_invoke_all(arg, calls, 2, ROTA_FOREVER, futures) == ROTA_OK);
    test_check(rota_future_state_of(futures[0]) == ROTA_FUTURE_SUCCEEDED);
    test_check(rota_future_error(futures[1]) == 7);
    rota_future_unref(futures[0]);
    rota_future_unref(futures[1]);
    test_check(rota_invoke_any(arg, calls, 2, ROTA_FOREVER, &first) == ROTA_OK);
    rota_future_unref(first);
}

/* FJ-28: "a caller that is a worker helps instead of blocking". */
TEST(a_worker_may_invoke_all_and_any)
{
    rota_executor *pool =
        test_forkjoin((rota_forkjoin_options){.parallelism = 1, .max_threads = 1});

    test_fj_inside(pool, invoke_all_inside, pool);
    test_fj_taking_part(pool, invoke_all_inside, pool);
    assert_ok(rota_close(pool));
}

struct own {
    rota_future *future;
    test_latch known;
    int status;
};

static void *get_oneself(void *arg)
{
    struct own *own = arg;

    test_latch_wait(&own->known);
    own->status = rota_future_get(own->future, NULL);
    return NULL;
}

/* FAULT-12 */
TEST(a_task_that_waits_for_itself_is_told)
{
    rota_executor *pool = one_worker();
    struct own own = {.status = 77};

    test_latch_init(&own.known, 1);
    assert_ok(rota_submit(pool, get_oneself, &own, &own.future));
    test_latch_open(&own.known);
    assert_ok(rota_future_get(own.future, NULL));
    assert_status(own.status, ROTA_EDEADLOCK);
    rota_future_unref(own.future);
    assert_ok(rota_close(pool));
}

struct meanwhile {
    rota_executor *pool;
    bool seen;
};

static void *look_for_interrupt(void *arg)
{
    struct meanwhile *meanwhile = arg;

    meanwhile->seen = rota_is_interrupted();
    return NULL;
}

static void interrupt_and_get(void *arg)
{
    struct meanwhile *meanwhile = arg;
    rota_future *future;

    test_check(rota_submit(meanwhile->pool, look_for_interrupt, arg, &future) == ROTA_OK);
    rota_thread_interrupt(rota_thread_self());
    (void)rota_future_get(future, NULL);
    rota_interrupted();
    test_check(rota_future_get(future, NULL) == ROTA_OK);
    rota_future_unref(future);
}

/* INT-01: "whatever it runs meanwhile has its own flag". */
TEST(what_is_run_meanwhile_does_not_see_the_interrupt)
{
    struct meanwhile meanwhile = {.pool = one_worker(), .seen = true};

    test_fj_inside(meanwhile.pool, interrupt_and_get, &meanwhile);
    assert_false(meanwhile.seen);
    assert_ok(rota_close(meanwhile.pool));
}

static void submit_and_cancel(void *arg)
{
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_future *future;

    test_check(rota_submit_call(arg, &call, &future) == ROTA_OK);
    test_check(rota_future_cancel(future));
    test_check(rota_future_get(future, NULL) == ROTA_ECANCELED);
    rota_future_unref(future);
    test_check(rota_await_quiescence(arg, ROTA_FOREVER) == ROTA_OK);
    test_check(probe.runs == 0);
    test_check(probe.discards == 1);
}

/* FUT-10: queued in the worker's own deque. */
TEST(a_cancelled_future_in_a_deque_never_runs)
{
    rota_executor *pool = one_worker();

    test_fj_inside(pool, submit_and_cancel, pool);
    test_fj_taking_part(pool, submit_and_cancel, pool);
    assert_ok(rota_close(pool));
}

/* -- Order -------------------------------------------------------------------------------- */

enum { NOTES = 20 };

struct notes {
    test_journal journal;
    test_note notes[NOTES];
};

static void submit_notes(void *arg)
{
    struct notes *notes = arg;

    for (int i = 0; i < NOTES; i++)
        test_check(rota_execute(rota_fj_pool(), test_note_down, &notes->notes[i]) == ROTA_OK);
}

static void order_is(rota_forkjoin_options options, bool newest_first)
{
    rota_executor *pool = test_forkjoin(options);
    struct notes notes;
    unsigned expected[NOTES];

    test_notes_init(notes.notes, NOTES, &notes.journal);
    for (unsigned i = 0; i < NOTES; i++)
        expected[i] = newest_first ? NOTES - 1 - i : i;
    test_fj_inside(pool, submit_notes, &notes);
    assert_ok(rota_close(pool));
    test_journal_is(&notes.journal, expected, NOTES);
}

/* FJ-11 */
TEST(own_tasks_run_newest_first_or_in_fifo_mode_oldest_first)
{
    order_is((rota_forkjoin_options){.parallelism = 1}, true);
    order_is((rota_forkjoin_options){.parallelism = 1, .fifo = true}, false);
}

/* FACT-05 */
TEST(a_work_stealing_pool_keeps_about_the_order_of_submission)
{
    rota_executor *pool = NULL;
    struct notes notes;
    unsigned expected[NOTES];
    test_gate gate;

    assert_ok(rota_work_stealing_pool(1, &pool));
    test_notes_init(notes.notes, NOTES, &notes.journal);
    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    for (unsigned i = 0; i < NOTES; i++) {
        expected[i] = i;
        assert_ok(rota_execute(pool, test_note_down, &notes.notes[i]));
    }
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    test_journal_is(&notes.journal, expected, NOTES);
}

/* -- Hooks -------------------------------------------------------------------------------- */

struct log {
    atomic_uint befores, afters, failures, unobserved;
    int error;
};

static void before(rota_executor *ex, rota_task *task, void *ctx)
{
    test_check(rota_fj_pool() == ex);
    atomic_fetch_add(&((struct log *)ctx)->befores, 1);
}

static void after(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    struct log *log = ctx;

    test_check((status == ROTA_EFAILED) == (error == 7));
    atomic_fetch_add(&log->failures, status == ROTA_EFAILED);
    atomic_fetch_add(&log->afters, 1);
}

static void unobserved(rota_executor *ex, const rota_call *call, int error, void *ctx)
{
    struct log *log = ctx;

    log->error = error;
    atomic_fetch_add(&log->unobserved, 1);
}

static rota_executor *watched(struct log *log, unsigned parallelism)
{
    return test_forkjoin((rota_forkjoin_options){.parallelism = parallelism,
                                                 .hooks = {.before_execute = before,
                                                           .after_execute = after,
                                                           .unobserved_failure = unobserved,
                                                           .ctx = log}});
}

/* FJ-29: once, and the pool keeps working. */
TEST(a_failure_that_nobody_sees_is_told_once)
{
    struct log log = {.error = 0};
    rota_executor *pool = watched(&log, 2);
    test_gate gate;
    rota_future *future;

    assert_ok(rota_execute(pool, fail_with_7, NULL));
    test_await_count(&log.unobserved, 1);
    assert_int_equal(log.error, 7);
    assert_ok(rota_submit(pool, fail_with_7, NULL, &future));
    assert_status(rota_future_get(future, NULL), ROTA_EFAILED);
    test_gate_init(&gate);
    test_occupy(pool, &gate, 2); /* at full parallelism */
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
    rota_future_unref(future); /* it was held until all had ended */
    assert_int_equal(log.unobserved, 1);
    assert_int_equal(log.failures, 2);
}

static void no_task(rota_fj *task)
{
}

static void hooked_inside(void *arg)
{
    rota_fj task = ROTA_FJ(no_task);

    rota_fork(&task);
    test_check(rota_join(&task) == ROTA_OK);
    submit_and_get(arg);
}

/* "hooks are for the tasks of rota_submit and rota_execute" */
TEST(hooks_are_called_around_submitted_tasks_alone)
{
    struct log log = {.error = 0};
    rota_executor *pool = watched(&log, 2);

    test_fj_taking_part(pool, hooked_inside, pool);
    assert_ok(rota_close(pool));
    assert_int_equal(log.befores, CHILDREN);
    assert_int_equal(log.afters, CHILDREN);
    assert_int_equal(log.failures + log.unobserved, 0);
}
