/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a future without a limit: outcomes, interrupts, and waits that would never end.
 */
#include "rota_test_internal.h"
#include "rota_test_tasks.h"

#include "future/future_internal.h"
#include "os/fault.h"

static int value;

/* -- Outcomes ----------------------------------------------------------------------------- */

/* FUT-05, FUT-18: all who wait get what the body returned. */
TEST(all_who_wait_get_the_result)
{
    test_probe probe = {.error = 0};
    test_getter getters[4];
    rota_future *future;
    rota_task *task = test_task(test_probe_call(&probe), &future);

    for (int i = 0; i < 4; i++)
        test_getter_start(&getters[i], future, i % 2 == 0 ? ROTA_FOREVER : ROTA_HOURS(1));
    test_thread_join(test_run_on_thread(task));
    for (int i = 0; i < 4; i++)
        test_getter_ends(&getters[i], ROTA_OK, &probe);
    assert_int_equal(probe.runs, 1);
    rota_future_unref(future);
}

/* FUT-17: or the value that was set by hand. */
TEST(all_who_wait_get_the_value)
{
    test_getter getters[2];
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    test_getter_start(&getters[0], promise, ROTA_FOREVER);
    test_getter_start(&getters[1], promise, ROTA_HOURS(1));
    assert_true(rota_promise_complete(promise, &value));
    test_getter_ends(&getters[0], ROTA_OK, &value);
    test_getter_ends(&getters[1], ROTA_OK, &value);
    rota_future_unref(promise);
}

/* FUT-05, FUT-10, GEN-01: no result is written. ROTA_EFAILED from rota_future_get_timed. */
TEST(other_ends_write_no_result)
{
    for (int i = 0; i < 3; i++) {
        test_getter getters[2];
        rota_future *promise;
        assert_ok(rota_promise_new(&promise));
        test_getter_start(&getters[0], promise, ROTA_FOREVER);
        test_getter_start(&getters[1], promise, ROTA_HOURS(1));
        assert_true(i == 0   ? rota_promise_fail(promise, 7)
                    : i == 1 ? rota_future_cancel(promise)
                             : rota_future_cancel_now(promise));
        test_getter_ends(&getters[0], i == 0 ? ROTA_EFAILED : ROTA_ECANCELED, TEST_UNTOUCHED);
        test_getter_ends(&getters[1], i == 0 ? ROTA_EFAILED : ROTA_ECANCELED, TEST_UNTOUCHED);
        rota_future_unref(promise);
    }
}

/* GEN-02: who wants no result passes NULL; NULL is no future. */
TEST(null_is_allowed_for_the_result_alone)
{
    void *result = TEST_UNTOUCHED;
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    rota_promise_complete(promise, &value);
    assert_ok(rota_future_get(promise, NULL));
    assert_ok(rota_future_get_timed(promise, 0, NULL));
    rota_future_unref(promise);
    assert_status(rota_future_get(NULL, &result), ROTA_EINVAL);
    assert_status(rota_future_get_timed(NULL, 0, &result), ROTA_EINVAL);
    assert_ptr_equal(result, TEST_UNTOUCHED);
}

/* -- Interrupts --------------------------------------------------------------------------- */

/* INT-04, INT-05: with the flag set one does not wait, and the flag is taken. */
TEST(an_interrupted_thread_does_not_wait)
{
    const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_HOURS(1), 1, 0, -1, INT64_MIN};
    void *result = TEST_UNTOUCHED;
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    for (size_t i = 0; i < sizeof timeouts / sizeof *timeouts; i++) {
        rota_thread_interrupt(rota_thread_self());
        assert_status(rota_future_get_timed(promise, timeouts[i], &result), ROTA_EINTERRUPTED);
        assert_false(rota_is_interrupted());
    }
    rota_thread_interrupt(rota_thread_self());
    assert_status(rota_future_get(promise, &result), ROTA_EINTERRUPTED);
    assert_ptr_equal(result, TEST_UNTOUCHED);
    assert_int_equal(rota_future_state_of(promise), ROTA_FUTURE_PENDING); /* FUT-08 */
    assert_true(rota_promise_complete(promise, NULL));
    rota_future_unref(promise);
}

/* FUT-08, FUT-19: an interrupt ends one wait, and leaves the others. */
TEST(an_interrupt_ends_one_wait)
{
    test_getter getters[3];
    rota_future *promise;

    assert_ok(rota_promise_new(&promise));
    test_getter_start(&getters[0], promise, ROTA_FOREVER);
    test_getter_start(&getters[1], promise, ROTA_HOURS(1));
    test_getter_start(&getters[2], promise, ROTA_FOREVER);
    rota_thread_interrupt(test_thread_handle(getters[1].thread));
    test_getter_ends(&getters[1], ROTA_EINTERRUPTED, TEST_UNTOUCHED);
    rota_thread_interrupt(test_thread_handle(getters[0].thread));
    test_getter_ends(&getters[0], ROTA_EINTERRUPTED, TEST_UNTOUCHED);
    assert_int_equal(rota_future_state_of(promise), ROTA_FUTURE_PENDING);
    assert_true(rota_promise_complete(promise, &value));
    test_getter_ends(&getters[2], ROTA_OK, &value);
    rota_future_unref(promise);
}

/* INT-05, FUT-07, COMP-25: one that is done answers, and the flag is kept. */
TEST(a_done_future_answers_an_interrupted_thread)
{
    const int statuses[] = {ROTA_OK, ROTA_EFAILED, ROTA_ECANCELED};
    const rota_ns timeouts[] = {ROTA_FOREVER, 1, 0, INT64_MIN};

    rota_thread_interrupt(rota_thread_self());
    for (int i = 0; i < 3; i++) {
        rota_future *promise;
        assert_ok(rota_promise_new(&promise));
        assert_true(i == 0   ? rota_promise_complete(promise, &value)
                    : i == 1 ? rota_promise_fail(promise, 7)
                             : rota_future_cancel(promise));
        for (int j = 0; j < 4; j++)
            assert_status(rota_future_get_timed(promise, timeouts[j], NULL), statuses[i]);
        rota_future_unref(promise);
    }
    assert_true(rota_interrupted());
}

/* -- Waits that would not end ------------------------------------------------------------- */

struct self_wait {
    rota_future *outer;
    rota_task *inner; /* does the waiting, if there is one */
    bool interrupted;
};

static void wait_for_outer(void *arg)
{
    struct self_wait *self = arg;

    if (self->interrupted)
        rota_thread_interrupt(rota_thread_self());
    test_check(rota_future_get(self->outer, NULL) == ROTA_EDEADLOCK);
    test_check(rota_future_get_timed(self->outer, ROTA_HOURS(1), NULL) == ROTA_EDEADLOCK);
    test_check(rota_future_get_timed(self->outer, 1, NULL) == ROTA_EDEADLOCK);
    test_check(rota_interrupted() == self->interrupted); /* INT-05 */
    test_check(rota_future_get_timed(self->outer, 0, NULL) == ROTA_ETIMEDOUT);
    test_check(rota_future_get_timed(self->outer, INT64_MIN, NULL) == ROTA_ETIMEDOUT);
}

static void run_inner(void *arg)
{
    struct self_wait *self = arg;

    rota_task_run(self->inner);
}

/* FAULT-12: a task that waits for itself is told so, also when it is interrupted. */
TEST(a_task_cannot_wait_for_itself)
{
    for (int interrupted = 0; interrupted < 2; interrupted++) {
        struct self_wait self = {.interrupted = interrupted};
        test_probe probe = {.during = wait_for_outer, .arg = &self};
        rota_task *task = test_task(test_probe_call(&probe), &self.outer);
        rota_task_run(task);
        assert_ok(rota_future_get(self.outer, NULL));
        rota_future_unref(self.outer);
    }
}

/* So is one that it runs, at any depth, while another thread may wait. */
TEST(nor_can_a_task_inside_it)
{
    struct self_wait self = {.interrupted = false};
    struct self_wait middle = {.interrupted = false};
    test_probe innermost = {.during = wait_for_outer, .arg = &self};
    test_probe inner = {.during = run_inner, .arg = &middle};
    test_probe outer = {.during = run_inner, .arg = &self};
    test_getter getter;

    middle.inner = test_task(test_probe_call(&innermost), NULL);
    self.inner = test_task(test_probe_call(&inner), NULL);
    rota_task *task = test_task(test_probe_call(&outer), &self.outer);
    test_getter_start(&getter, self.outer, ROTA_FOREVER);
    rota_task_run(task);
    test_getter_ends(&getter, ROTA_OK, &outer);
    assert_int_equal(innermost.runs, 1);
    rota_future_unref(self.outer);
}

static void wait_without_hook(void *arg)
{
    rota_future **futures = arg; /* pending, done */

    test_check(rota_thread_self() == NULL);
    test_check(rota_future_get(futures[0], NULL) == ROTA_ENOMEM);
    test_check(rota_future_get_timed(futures[0], ROTA_HOURS(1), NULL) == ROTA_ENOMEM);
    test_check(rota_future_get_timed(futures[0], 0, NULL) == ROTA_ETIMEDOUT);
    test_check(rota_future_get(futures[1], NULL) == ROTA_OK);
}

/* GEN-10: who cannot be woken safely does not wait; later it can. */
TEST(a_thread_the_system_refuses_does_not_wait)
{
    rota_future *futures[2];
    test_getter getter;

    assert_ok(rota_promise_new(&futures[0]));
    assert_ok(rota_promise_new(&futures[1]));
    rota_promise_complete(futures[1], NULL);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 1, true);
    test_thread_join(test_thread_start(wait_without_hook, futures));
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    test_getter_start(&getter, futures[0], ROTA_FOREVER);
    rota_promise_complete(futures[0], &value);
    test_getter_ends(&getter, ROTA_OK, &value);
    rota_future_unref(futures[0]);
    rota_future_unref(futures[1]);
}
