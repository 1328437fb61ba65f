/* SPDX-License-Identifier: MIT */
/*
 * What a scheduled pool is made of, what can be changed and read, what is refused, and what its
 * futures tell.
 */
#include "executors.h"
#include "pools.h"
#include "rota_test_internal.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

static int stay(rota_task *task, void *ctx)
{
    return ROTA_OK;
}

static void nothing(void *ctx)
{
}

static void no_before(rota_executor *ex, rota_task *task, void *ctx)
{
}

/* -- Its threads -------------------------------------------------------------------------- */

#ifdef __linux__
static void *look_at_slack(void *arg)
{
    *(int *)arg = prctl(PR_GET_TIMERSLACK);
    return NULL;
}

/* What the system would add to every wait is taken away. */
TEST(its_threads_wait_as_exactly_as_they_can)
{
    int slack = 0;

    if (!test_is_linux())
        skip();
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    assert_ok(rota_execute(sched, look_at_slack, &slack));
    assert_ok(rota_close(sched));
    assert_int_equal(slack, 1);
}
#endif

/* -- Making one --------------------------------------------------------------------------- */

/* SCHED-01, POOL-08 */
TEST(the_defaults_are_those_that_the_header_names)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 3});
    rota_sched_options now = test_sched_options(sched);

    assert_int_equal(now.core_threads, 3);
    assert_int_equal(now.keep_alive, ROTA_MS(10));
    assert_false(now.core_may_time_out);
    assert_false(now.strict_wait);
    assert_ptr_equal(now.on_reject, rota_reject_abort);
    assert_false(now.drop_delayed_on_shutdown);
    assert_false(now.keep_periodic_after_shutdown);
    assert_false(now.keep_cancelled);
    assert_null(now.decorate);
    assert_int_equal(test_stats(sched).threads, 0);
    assert_int_equal(test_stats(sched).core_threads, 3);
    assert_ok(rota_close(sched));
}

static void are_equal(const rota_sched_options *a, const rota_sched_options *b)
{
    assert_int_equal(a->core_threads, b->core_threads);
    assert_true(a->on_reject == b->on_reject && a->reject_ctx == b->reject_ctx);
    assert_string_equal(a->threads.name, b->threads.name);
    assert_true(a->threads.on_start == b->threads.on_start && a->threads.ctx == b->threads.ctx);
    assert_true(a->hooks.before_execute == b->hooks.before_execute);
    assert_ptr_equal(a->hooks.ctx, b->hooks.ctx);
    assert_int_equal(a->keep_alive, b->keep_alive);
    assert_int_equal(a->core_may_time_out, b->core_may_time_out);
    assert_int_equal(a->strict_wait, b->strict_wait);
    assert_int_equal(a->drop_delayed_on_shutdown, b->drop_delayed_on_shutdown);
    assert_int_equal(a->keep_periodic_after_shutdown, b->keep_periodic_after_shutdown);
    assert_int_equal(a->keep_cancelled, b->keep_cancelled);
    assert_true(a->decorate == b->decorate && a->decorate_ctx == b->decorate_ctx);
}

/* POOL-08: "as rota_sched_new takes it". */
TEST(what_is_read_is_what_was_given_and_can_be_given_back)
{
    int ctx = 0;
    const rota_sched_options given = {
        .core_threads = 2,
        .on_reject = rota_reject_discard,
        .reject_ctx = &ctx,
        .threads = {.name = "beat-%u", .on_start = nothing, .ctx = &ctx},
        .hooks = {.before_execute = no_before, .ctx = &ctx},
        .keep_alive = 1,
        .core_may_time_out = true,
        .strict_wait = true,
        .drop_delayed_on_shutdown = true,
        .keep_periodic_after_shutdown = true,
        .keep_cancelled = true,
        .decorate = stay,
        .decorate_ctx = &ctx,
    };
    rota_executor *first = test_sched(given);
    rota_sched_options now = test_sched_options(first);
    rota_executor *second = test_sched(now);
    rota_sched_options again = test_sched_options(second);

    are_equal(&now, &given);
    are_equal(&again, &given);
    assert_ok(rota_close(first));
    assert_ok(rota_close(second));
}

/* SCHED-01, FACT-04, FAULT-03 */
TEST(what_cannot_be_is_refused)
{
    rota_executor *out = TEST_UNTOUCHED;
    rota_sched_options options = {.core_threads = 1};

    assert_status(rota_sched_new(NULL, &out), ROTA_EINVAL);
    assert_status(rota_sched_new(&options, NULL), ROTA_EINVAL);
    options.keep_alive = -1;
    assert_status(rota_sched_new(&options, &out), ROTA_EINVAL);
    options.keep_alive = 0;
    options.threads.name = "%u-%u";
    assert_status(rota_sched_new(&options, &out), ROTA_EINVAL);
    options.threads.name = NULL;
    options.core_threads = UINT32_MAX;
    assert_status(rota_sched_new(&options, &out), ROTA_EINVAL);
    assert_status(rota_scheduled_pool(1, NULL), ROTA_EINVAL);
    assert_status(rota_single_scheduled(NULL), ROTA_EINVAL);
    assert_ptr_equal(out, TEST_UNTOUCHED);
}

static int make_one(void *arg)
{
    return rota_sched_new(&(rota_sched_options){.core_threads = 1}, arg);
}

static void unmake_one(void *arg)
{
    test_check(rota_close(*(rota_executor **)arg) == ROTA_OK);
}

/* GEN-10 */
TEST(without_memory_there_is_no_pool)
{
    rota_executor *sched;

    test_every_allocation_fails(make_one, unmake_one, &sched, ROTA_ENOMEM);
}

/* -- Settings ----------------------------------------------------------------------------- */

/* POOL-08, POOL-45 */
TEST(the_settings_of_a_pool_are_those_of_this_one)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});

    assert_ok(rota_pool_set_core_threads(sched, 4));
    assert_ok(rota_pool_set_keep_alive(sched, ROTA_SEC(1)));
    assert_ok(rota_pool_set_core_may_time_out(sched, true));
    assert_ok(rota_pool_set_reject(sched, rota_reject_block, sched));
    assert_ok(rota_pool_set_threads(sched, &(rota_threads){.name = "new"}));
    assert_int_equal(test_sched_options(sched).core_threads, 4);
    assert_int_equal(test_sched_options(sched).keep_alive, ROTA_SEC(1));
    assert_true(test_sched_options(sched).core_may_time_out);
    assert_ptr_equal(test_sched_options(sched).on_reject, rota_reject_block);
    assert_ptr_equal(test_sched_options(sched).reject_ctx, sched);
    assert_string_equal(test_sched_options(sched).threads.name, "new");
    assert_status(rota_pool_set_threads(sched, NULL), ROTA_EINVAL);
    assert_status(rota_pool_set_keep_alive(sched, -1), ROTA_EINVAL);
    assert_ok(rota_pool_set_keep_alive(sched, 0)); /* together with core_may_time_out */
    assert_string_equal(test_sched_options(sched).threads.name, "new");
    assert_ok(rota_close(sched));
}

/* SCHED-18: a scheduled pool has no maximum. */
TEST(a_maximum_is_accepted_and_changes_nothing)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 3});
    rota_pool_options before = test_options(sched);

    assert_ok(rota_pool_set_max_threads(sched, 1));
    assert_ok(rota_pool_set_max_threads(sched, UINT32_MAX));
    assert_int_equal(test_options(sched).core_threads, 3);
    assert_int_equal(test_options(sched).max_threads, before.max_threads);
    assert_ok(rota_pool_resize(sched, 5, 1));
    assert_int_equal(test_options(sched).core_threads, 5);
    assert_int_equal(test_options(sched).max_threads, before.max_threads);
    assert_status(rota_pool_set_core_threads(sched, UINT32_MAX), ROTA_EINVAL);
    assert_ok(rota_close(sched));
}

static void all_setters_say(rota_executor *ex, int status)
{
    for (int on = 0; on < 2; on++) {
        assert_status(rota_sched_set_drop_delayed_on_shutdown(ex, on), status);
        assert_status(rota_sched_set_keep_periodic_after_shutdown(ex, on), status);
        assert_status(rota_sched_set_keep_cancelled(ex, on), status);
    }
}

/* FACT-04: but it can be read. */
TEST(a_single_scheduled_pool_cannot_be_changed)
{
    rota_executor *single;
    rota_sched_options before, after;

    assert_ok(rota_single_scheduled(&single));
    before = test_sched_options(single);
    all_setters_say(single, ROTA_ENOTSUP);
    assert_status(rota_pool_set_core_threads(single, 2), ROTA_ENOTSUP);
    assert_status(rota_pool_set_keep_alive(single, 2), ROTA_ENOTSUP);
    after = test_sched_options(single);
    are_equal(&before, &after);
    assert_int_equal(after.core_threads, 1);
    assert_ok(rota_close(single));
}

/*
 * ROTA_ENOTSUP from rota_sched_set_drop_delayed_on_shutdown,
 * rota_sched_set_keep_periodic_after_shutdown, rota_sched_set_keep_cancelled, and all others.
 */
TEST(other_executors_are_not_scheduled)
{
    test_probe probe = {.error = 0};
    rota_call call = test_probe_call(&probe);
    rota_executor *others[2];
    rota_future *out = TEST_UNTOUCHED;
    rota_sched_options options;

    others[0] = test_pool((rota_pool_options){.core_threads = 1});
    assert_ok(test_executor_direct(&others[1]));
    for (unsigned i = 0; i < 2; i++) {
        all_setters_say(others[i], ROTA_ENOTSUP);
        assert_status(rota_sched_options_get(others[i], &options), ROTA_ENOTSUP);
        assert_status(rota_schedule(others[i], call.fn, &probe, 0, &out), ROTA_ENOTSUP);
        assert_status(rota_schedule_call(others[i], &call, 0, 0, &out), ROTA_ENOTSUP);
        assert_status(rota_schedule_skipping(others[i], &call, 0, 1, &out), ROTA_ENOTSUP);
        assert_status(rota_schedule_at_fixed_rate(others[i], call.fn, &probe, 0, 1, &out),
                      ROTA_ENOTSUP);
        assert_status(rota_schedule_with_fixed_delay(others[i], call.fn, &probe, 0, 1, &out),
                      ROTA_ENOTSUP);
        assert_ok(rota_close(others[i]));
    }
    assert_ptr_equal(out, TEST_UNTOUCHED);
    assert_int_equal(probe.runs + probe.discards, 0);
}

/*
 * GEN-02: ROTA_EINVAL from rota_sched_set_drop_delayed_on_shutdown,
 * rota_sched_set_keep_periodic_after_shutdown, rota_sched_set_keep_cancelled, and all others.
 */
TEST(no_executor_is_an_argument_that_cannot_be)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    rota_call call = {.fn = test_count};
    rota_sched_options options;
    rota_future *out = TEST_UNTOUCHED;

    all_setters_say(NULL, ROTA_EINVAL);
    assert_status(rota_sched_options_get(NULL, &options), ROTA_EINVAL);
    assert_status(rota_sched_options_get(sched, NULL), ROTA_EINVAL);
    assert_status(rota_schedule(NULL, test_count, NULL, 0, &out), ROTA_EINVAL);
    assert_status(rota_schedule_call(NULL, &call, 0, 0, &out), ROTA_EINVAL);
    assert_status(rota_schedule_skipping(NULL, &call, 0, 1, &out), ROTA_EINVAL);
    assert_status(rota_schedule_at_fixed_rate(NULL, test_count, NULL, 0, 1, &out), ROTA_EINVAL);
    assert_status(rota_schedule_with_fixed_delay(NULL, test_count, NULL, 0, 1, &out), ROTA_EINVAL);
    assert_ptr_equal(out, TEST_UNTOUCHED);
    assert_ok(rota_close(sched));
}

/* -- Scheduling --------------------------------------------------------------------------- */

/* FUT-03, GEN-02 */
TEST(a_task_without_a_function_is_refused)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    rota_call call = {.fn = NULL};
    rota_future *out = TEST_UNTOUCHED;

    assert_status(rota_execute(sched, NULL, NULL), ROTA_EINVAL);
    assert_status(rota_submit(sched, NULL, NULL, &out), ROTA_EINVAL);
    assert_status(rota_submit_call(sched, &call, &out), ROTA_EINVAL);
    assert_status(rota_submit_call(sched, NULL, &out), ROTA_EINVAL);
    assert_status(rota_schedule(sched, NULL, NULL, 1, &out), ROTA_EINVAL);
    assert_status(rota_schedule_call(sched, &call, 1, 1, &out), ROTA_EINVAL);
    assert_status(rota_schedule_call(sched, NULL, 1, 1, &out), ROTA_EINVAL);
    assert_status(rota_schedule_skipping(sched, &call, 1, 1, &out), ROTA_EINVAL);
    assert_status(rota_schedule_skipping(sched, NULL, 1, 1, &out), ROTA_EINVAL);
    assert_status(rota_schedule_at_fixed_rate(sched, NULL, NULL, 1, 1, &out), ROTA_EINVAL);
    assert_status(rota_schedule_with_fixed_delay(sched, NULL, NULL, 1, 1, &out), ROTA_EINVAL);
    assert_ptr_equal(out, TEST_UNTOUCHED);
    assert_int_equal(test_stats(sched).threads, 0);
    assert_ok(rota_close(sched));
}

/* SCHED-11, SCHED-13, FAULT-07 */
TEST(a_period_that_is_none_is_refused)
{
    static const rota_ns none[] = {0, -1, INT64_MIN};
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    atomic_uint runs = 0;
    rota_call call = {.fn = test_count, .arg = &runs};
    rota_future *out = TEST_UNTOUCHED;

    for (unsigned i = 0; i < 3; i++) {
        assert_status(rota_schedule_at_fixed_rate(sched, test_count, &runs, 0, none[i], &out),
                      ROTA_EINVAL);
        assert_status(rota_schedule_with_fixed_delay(sched, test_count, &runs, 0, none[i], &out),
                      ROTA_EINVAL);
        assert_status(rota_schedule_skipping(sched, &call, 0, none[i], &out), ROTA_EINVAL);
    }
    assert_ptr_equal(out, TEST_UNTOUCHED);
    assert_ok(rota_close(sched));
    assert_int_equal(runs, 0);
}

struct attempt {
    rota_executor *sched;
    test_probe probe;
    rota_ns period;
    rota_future *future;
};

static int attempt_schedule(void *arg)
{
    struct attempt *attempt = arg;
    rota_call call = test_probe_call(&attempt->probe);

    return rota_schedule_call(attempt->sched, &call, ROTA_SEC(1), attempt->period,
                              &attempt->future);
}

static void undo_schedule(void *arg)
{
    struct attempt *attempt = arg;

    test_check(rota_future_cancel(attempt->future));
    rota_future_unref(attempt->future);
}

/* GEN-10, DWQ-02: with a thread that is there, memory is all that can fail. */
TEST_WITH(test_virtual_time, without_memory_nothing_is_scheduled)
{
    for (rota_ns period = -1; period <= 1; period++) {
        struct attempt attempt = {.period = period};
        unsigned started;

        attempt.sched = test_sched((rota_sched_options){.core_threads = 1});
        assert_ok(rota_pool_prestart(attempt.sched, &started));
        test_await_waiting(attempt.sched, 1);
        assert_ok(attempt_schedule(&attempt)); /* the heap has its first array now, */
        undo_schedule(&attempt);               /* and keeps it */
        test_every_allocation_fails(attempt_schedule, undo_schedule, &attempt, ROTA_ENOMEM);
        assert_int_equal(test_stats(attempt.sched).queued, 0);
        assert_int_equal(attempt.probe.discards, 2);
        assert_int_equal(attempt.probe.runs, 0);
        assert_ok(rota_close(attempt.sched));
    }
}

/* sched.D2: a periodic task needs no memory to come again, however full the heap is. */
TEST_WITH(test_virtual_time, a_periodic_task_comes_again_without_memory)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    atomic_uint runs[40] = {0};
    rota_future *periodic[40];

    for (unsigned i = 0; i < 40; i++)
        assert_ok(rota_schedule_at_fixed_rate(sched, test_count, &runs[i], 1, 1, &periodic[i]));
    test_await_waiting(sched, 1);
    test_memory_fail_at(1, true);
    for (unsigned i = 0; i < 10; i++)
        test_pass(sched, 1, 1);
    test_memory_fail_at(0, false);
    test_stop(sched);
    for (unsigned i = 0; i < 40; i++) {
        assert_int_equal(runs[i], 10);
        rota_future_unref(periodic[i]);
    }
}

/* -- What a future tells ------------------------------------------------------------------ */

/* SCHED-06 */
TEST(a_future_of_no_scheduled_pool_has_no_time)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    rota_future *plain, *promise;
    atomic_uint runs = 0;

    assert_ok(rota_submit(pool, test_count, &runs, &plain));
    assert_ok(rota_promise_new(&promise));
    assert_true(rota_future_delay(NULL) == ROTA_FOREVER);
    assert_true(rota_future_delay(plain) == ROTA_FOREVER);
    assert_true(rota_future_delay(promise) == ROTA_FOREVER);
    assert_false(rota_future_is_periodic(NULL));
    assert_false(rota_future_is_periodic(plain));
    assert_false(rota_future_is_periodic(promise));
    rota_future_unref(plain);
    rota_future_unref(promise);
    assert_ok(rota_close(pool));
}

/* SCHED-02, SCHED-06 */
TEST_WITH(test_virtual_time, a_scheduled_future_tells_how_long_it_still_takes)
{
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    rota_future *later, *now, *past;
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(sched, &gate, 1);
    assert_ok(rota_schedule(sched, test_count, &runs, ROTA_SEC(10), &later));
    assert_ok(rota_submit(sched, test_count, &runs, &now));
    assert_ok(rota_schedule(sched, test_count, &runs, -ROTA_SEC(10), &past));
    assert_int_equal(rota_future_delay(later), ROTA_SEC(10));
    assert_int_equal(rota_future_delay(now), 0);
    assert_int_equal(rota_future_delay(past), 0);
    test_clock_advance(ROTA_SEC(4));
    assert_int_equal(rota_future_delay(later), ROTA_SEC(6));
    assert_int_equal(rota_future_delay(now), -ROTA_SEC(4));
    test_clock_advance(ROTA_SEC(10));
    assert_int_equal(rota_future_delay(later), -ROTA_SEC(4));
    assert_false(rota_future_is_periodic(later) || rota_future_is_periodic(now));
    test_gate_open(&gate);
    assert_ok(rota_close(sched));
    rota_future_unref(later);
    rota_future_unref(now);
    rota_future_unref(past);
}

/* SCHED-03, SCHED-06: periodic it is for good. */
TEST_WITH(test_virtual_time, a_future_is_periodic_if_its_period_is_not_0)
{
    static const rota_ns periods[] = {0, 1, -1, INT64_MAX, INT64_MIN};
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    rota_call call = {.fn = test_count};
    rota_future *future;

    for (unsigned i = 0; i < 5; i++) {
        assert_ok(rota_schedule_call(sched, &call, ROTA_SEC(1), periods[i], &future));
        assert_int_equal(rota_future_is_periodic(future), periods[i] != 0);
        assert_int_equal(rota_future_delay(future), ROTA_SEC(1));
        assert_true(rota_future_cancel(future));
        assert_int_equal(rota_future_is_periodic(future), periods[i] != 0);
        rota_future_unref(future);
    }
    assert_ok(rota_schedule_skipping(sched, &call, ROTA_SEC(1), 1, &future));
    assert_true(rota_future_is_periodic(future));
    rota_future_unref(future);
    assert_ok(rota_close(sched));
}

/* FACT-04, SCHED-10 */
TEST_WITH(test_virtual_time, a_single_scheduled_pool_runs_what_it_is_given)
{
    rota_executor *single;
    atomic_uint runs = 0;
    rota_future *future;
    void *result;

    assert_ok(rota_single_scheduled(&single));
    assert_ok(rota_schedule(single, test_count, &runs, ROTA_SEC(1), &future));
    test_await_waiting(single, 1);
    test_pass(single, ROTA_SEC(1), 1);
    assert_ok(rota_future_get(future, &result));
    assert_ptr_equal(result, &runs);
    rota_future_unref(future);
    assert_ok(rota_close(single));
}
