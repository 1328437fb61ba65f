/* SPDX-License-Identifier: MIT */
/*
 * A future that is ended while its task runs: the body goes on, and nobody sees what comes of it.
 */
#include "rota_test_tasks.h"

#include "future/future_internal.h"

static int value;

/* A body that runs until it is told to end. */
struct body {
    test_latch begun;
    test_latch may_end;
    int sleep;        /* what rota_sleep said, where it was called */
    bool interrupted; /* the flag at the end */
};

static void body_init(struct body *body)
{
    test_latch_init(&body->begun, 1);
    test_latch_init(&body->may_end, 1);
    body->sleep = ROTA_OK;
    body->interrupted = false;
}

static void wait_for_latch(void *arg)
{
    struct body *body = arg;

    test_latch_open(&body->begun);
    test_latch_wait(&body->may_end);
    body->interrupted = rota_is_interrupted();
}

static void sleep_then_wait(void *arg)
{
    struct body *body = arg;

    test_latch_open(&body->begun);
    body->sleep = rota_sleep(ROTA_FOREVER);
    body->interrupted = rota_is_interrupted();
    test_latch_wait(&body->may_end);
}

static void assert_cancelled(rota_future *future)
{
    void *result = &value;

    assert_true(rota_future_is_done(future));
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_CANCELED);
    assert_status(rota_future_get(future, &result), ROTA_ECANCELED);
    assert_ptr_equal(result, &value);
    assert_int_equal(rota_future_error(future), 0);
}

/* FUT-11, FUT-22: cancelled without interrupt, it goes on and does not notice. */
TEST(cancel_lets_the_body_go_on)
{
    const int errors[] = {0, 7};

    for (int i = 0; i < 2; i++) {
        struct body body;
        test_probe probe = {.during = wait_for_latch, .arg = &body, .error = errors[i]};
        rota_future *future;
        body_init(&body);
        test_thread *runner = test_run_on_thread(test_task(test_probe_call(&probe), &future));
        test_latch_wait(&body.begun);
        assert_true(rota_future_cancel(future));
        assert_cancelled(future); /* at once: nobody waits for the body */
        assert_false(rota_future_cancel_now(future));
        test_latch_open(&body.may_end);
        test_thread_join(runner);
        assert_cancelled(future);
        assert_false(body.interrupted);
        assert_int_equal(probe.discards, 0);
        assert_int_equal(probe.frees, errors[i] == 0); /* OWN-17 */
        rota_future_unref(future);
        assert_int_equal(probe.frees, errors[i] == 0);
    }
}

/* FUT-12, FUT-22: cancelled with interrupt, it is woken, and what it returns is lost. */
TEST(cancel_now_wakes_the_body)
{
    struct body body;
    test_probe probe = {.during = sleep_then_wait, .arg = &body};
    rota_future *future;

    body_init(&body);
    test_thread *runner = test_run_on_thread(test_task(test_probe_call(&probe), &future));
    test_latch_wait(&body.begun);
    assert_true(rota_future_cancel_now(future));
    assert_cancelled(future);
    assert_false(rota_future_cancel(future));
    assert_false(rota_future_cancel_now(future));
    test_latch_open(&body.may_end);
    test_thread_join(runner);
    assert_cancelled(future);
    assert_status(body.sleep, ROTA_EINTERRUPTED);
    assert_false(body.interrupted);
    rota_future_unref(future);
    assert_int_equal(probe.frees, 1);
    assert_int_equal(probe.discards, 0);
}

/* FUT-12: the flag is there also for a body that only looks. */
TEST(cancel_now_sets_the_flag)
{
    struct body body;
    test_probe probe = {.during = wait_for_latch, .arg = &body};
    rota_future *future;

    body_init(&body);
    test_thread *runner = test_run_on_thread(test_task(test_probe_call(&probe), &future));
    test_latch_wait(&body.begun);
    assert_true(rota_future_cancel_now(future));
    test_latch_open(&body.may_end);
    test_thread_join(runner);
    assert_true(body.interrupted);
    rota_future_unref(future);
}

/* FUT-17: completed by hand while it runs, the value is kept and the body's result freed. */
TEST(completed_by_hand_it_keeps_that_value)
{
    struct body body;
    test_probe probe = {.during = wait_for_latch, .arg = &body};
    test_probe by_hand = {.error = 0};
    rota_future *future;
    void *result = NULL;

    body_init(&body);
    test_thread *runner = test_run_on_thread(test_task(test_probe_call(&probe), &future));
    test_latch_wait(&body.begun);
    assert_true(rota_promise_complete(future, &by_hand));
    test_latch_open(&body.may_end);
    test_thread_join(runner);
    assert_ok(rota_future_get(future, &result));
    assert_ptr_equal(result, &by_hand);
    assert_int_equal(probe.frees, 1); /* OWN-17 */
    assert_int_equal(by_hand.frees, 0);
    rota_future_unref(future);
    assert_int_equal(probe.frees, 1);
    assert_int_equal(by_hand.frees, 1);
    assert_int_equal(probe.discards, 0);
}

/* FUT-17: failed by hand while it runs, it stays so whatever the body does. */
TEST(failed_by_hand_it_keeps_that_code)
{
    const int errors[] = {0, 7};

    for (int i = 0; i < 2; i++) {
        struct body body;
        test_probe probe = {.during = wait_for_latch, .arg = &body, .error = errors[i]};
        rota_future *future;
        body_init(&body);
        test_thread *runner = test_run_on_thread(test_task(test_probe_call(&probe), &future));
        test_latch_wait(&body.begun);
        assert_true(rota_promise_fail(future, 5));
        test_latch_open(&body.may_end);
        test_thread_join(runner);
        assert_status(rota_future_get(future, NULL), ROTA_EFAILED);
        assert_int_equal(rota_future_error(future), 5);
        rota_future_unref(future);
        assert_int_equal(probe.frees, errors[i] == 0);
    }
}

struct own_end {
    rota_future *future;
    bool (*end)(rota_future *future);
    bool ended;
    bool interrupted;
};

static void end_myself(void *arg)
{
    struct own_end *own = arg;

    own->ended = own->end(own->future);
    own->interrupted = rota_is_interrupted();
}

/* FUT-23: a task may cancel itself; with interrupt, its own flag is set. */
TEST(a_task_may_cancel_itself)
{
    for (int now = 0; now < 2; now++) {
        struct own_end own = {.end = now ? rota_future_cancel_now : rota_future_cancel};
        test_probe probe = {.during = end_myself, .arg = &own};
        rota_task *task = test_task(test_probe_call(&probe), &own.future);
        rota_task_run(task);
        assert_true(own.ended);
        assert_int_equal(own.interrupted, now);
        assert_false(rota_is_interrupted());
        assert_cancelled(own.future);
        rota_future_unref(own.future);
        assert_int_equal(probe.frees, 1);
    }
}

static bool complete_with_value(rota_future *future)
{
    return rota_promise_complete(future, &value);
}

/* FUT-17: or complete itself; what it then returns is lost. */
TEST(a_task_may_complete_itself)
{
    struct own_end own = {.end = complete_with_value};
    test_probe probe = {.during = end_myself, .arg = &own};
    rota_call call = test_probe_call(&probe);
    void *result = NULL;

    call.free_result = NULL;
    rota_task *task = test_task(call, &own.future);
    rota_task_run(task);
    assert_true(own.ended);
    assert_ok(rota_future_get(own.future, &result));
    assert_ptr_equal(result, &value);
    rota_future_unref(own.future);
}
