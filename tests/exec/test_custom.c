/* SPDX-License-Identifier: MIT */
/*
 * An executor of one's own: what the library asks of its functions, and does without them.
 */
#include "rota_test_internal.h"
#include "rota_test_tasks.h"

#include <string.h>

/* What the functions below answer, and how often they were asked. */
struct own {
    int shutdown_status;
    int await_status;
    unsigned executes;
    unsigned shutdowns;
    unsigned awaits;
    unsigned frees;
    rota_ns timeout; /* of the last await */
};

static int own_execute(void *self, rota_task *task)
{
    struct own *own = self;

    own->executes++;
    rota_task_run(task);
    return ROTA_OK;
}

static int own_shutdown(void *self)
{
    struct own *own = self;

    own->shutdowns++;
    return own->shutdown_status;
}

static int own_await(void *self, rota_ns timeout)
{
    struct own *own = self;

    own->awaits++;
    own->timeout = timeout;
    return own->await_status;
}

static void own_free(void *self)
{
    struct own *own = self;

    own->frees++;
}

static const rota_executor_ops all_ops = {own_execute, own_shutdown, own_await, own_free, {NULL}};

static rota_executor *own_new(struct own *own)
{
    rota_executor *executor = NULL;

    assert_ok(rota_executor_new(&all_ops, own, &executor));
    return executor;
}

/* EXEC-17, GEN-02: without execute there is no executor; nothing is written. */
TEST(an_executor_needs_a_function_that_executes)
{
    const rota_executor_ops without = {.shutdown = own_shutdown, .await_termination = own_await};
    struct own own = {0};
    rota_executor *const untouched = (rota_executor *)&own;
    rota_executor *executor = untouched;

    assert_status(rota_executor_new(NULL, &own, &executor), ROTA_EINVAL);
    assert_status(rota_executor_new(&without, &own, &executor), ROTA_EINVAL);
    assert_status(rota_executor_new(&all_ops, &own, NULL), ROTA_EINVAL);
    assert_status(rota_executor_new(NULL, NULL, NULL), ROTA_EINVAL);
    assert_ptr_equal(executor, untouched);
    assert_int_equal(own.executes + own.shutdowns + own.awaits + own.frees, 0);
}

static void live_a_whole_life(rota_executor_ops ops)
{
    const rota_executor_ops given = ops;
    test_probe probe = {.error = 0};
    struct own own = {0};
    rota_executor *executor;
    rota_call call = test_probe_call(&probe);

    assert_ok(rota_executor_new(&ops, &own, &executor));
    memset(&ops, 0xA5, sizeof ops); /* it was copied */
    assert_ok(rota_submit_call(executor, &call, NULL));
    assert_status(rota_executor_free(executor), ROTA_EBUSY);
    assert_int_equal(rota_executor_state_of(executor), ROTA_RUNNING);
    assert_int_equal(own.awaits, 0);
    for (int i = 0; i < 3; i++)
        assert_ok(rota_shutdown(executor));
    assert_int_equal(own.shutdowns, given.shutdown != NULL);
    assert_status(rota_submit_call(executor, &call, NULL), ROTA_EREJECTED);
    assert_int_equal(own.executes, 1);
    assert_int_equal(rota_executor_state_of(executor), ROTA_TERMINATED);
    assert_ok(rota_await_termination(executor, ROTA_FOREVER));
    assert_int_equal(own.awaits, given.await_termination != NULL);
    assert_int_equal(own.frees, 0);
    assert_ok(rota_executor_free(executor));
    assert_int_equal(own.frees, given.free != NULL);
    assert_int_equal(probe.runs, 1);
    assert_int_equal(probe.discards, 0);
}

/* EXEC-17: all but execute may be missing, in any combination. */
TEST(every_other_function_may_be_missing)
{
    for (unsigned has = 0; has < 8; has++) {
        live_a_whole_life((rota_executor_ops){
            .execute = own_execute,
            .shutdown = has & 1 ? own_shutdown : NULL,
            .await_termination = has & 2 ? own_await : NULL,
            .free = has & 4 ? own_free : NULL,
        });
    }
}

/* EXEC-17: close and close_within free it, too, and once. */
TEST(it_is_freed_once)
{
    struct own own = {0};
    size_t dropped = 99;

    assert_ok(rota_close(own_new(&own)));
    assert_int_equal(own.frees, 1);
    assert_ok(rota_close_within(own_new(&own), 0, &dropped));
    assert_int_equal(own.frees, 2);
    assert_int_equal(dropped, 0);
    assert_int_equal(own.shutdowns, 2);
}

static void *does_nothing(void *arg)
{
    return arg;
}

static int shut_down(rota_executor *executor)
{
    return rota_shutdown(executor);
}

static int shut_down_now(rota_executor *executor)
{
    rota_task_list list = {NULL, 7};
    int status = rota_shutdown_now(executor, &list);

    assert_int_equal(list.count, 7); /* no list beside an error */
    return status;
}

static int close_within(rota_executor *executor)
{
    size_t dropped = 99;
    int status = rota_close_within(executor, ROTA_FOREVER, &dropped);

    assert_int_equal(dropped, 0);
    return status;
}

/* EXEC-17: shutdown is called once, its status is the answer; nothing new is taken all the same. */
TEST(the_status_of_the_users_shutdown_is_passed_on)
{
    int (*const calls[])(rota_executor *) = {shut_down, shut_down_now, rota_close, close_within};
    const int statuses[] = {ROTA_ENOMEM, ROTA_EBUSY, ROTA_EINVAL, -99, 5};

    for (size_t call = 0; call < sizeof calls / sizeof calls[0]; call++) {
        for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
            struct own own = {.shutdown_status = statuses[i]};
            rota_executor *executor = own_new(&own);

            assert_int_equal(calls[call](executor), statuses[i]);
            assert_true(rota_is_shutdown(executor));
            assert_status(rota_execute(executor, does_nothing, NULL), ROTA_EREJECTED);
            assert_ok(rota_shutdown(executor));
            assert_int_equal(own.frees, 0);
            assert_ok(rota_close(executor));
            assert_int_equal(own.shutdowns, 1);
            assert_int_equal(own.frees, 1);
        }
    }
}

static int look_around(void *self)
{
    rota_executor *executor = *(rota_executor **)self;

    test_check(rota_executor_state_of(executor) == ROTA_SHUTDOWN);
    test_check(rota_execute(executor, does_nothing, NULL) == ROTA_EREJECTED);
    test_check(rota_shutdown(executor) == ROTA_OK); /* and does not come here again */
    test_check(rota_await_termination(executor, 0) == ROTA_ETIMEDOUT);
    test_check(rota_await_termination(executor, ROTA_FOREVER) == ROTA_EDEADLOCK);
    test_check(rota_close(executor) == ROTA_EDEADLOCK);
    test_check(rota_executor_free(executor) == ROTA_EBUSY);
    return ROTA_OK;
}

/* EXEC-17, GEN-09: the user's shutdown may use the executor, which is shut down but not over. */
TEST(inside_the_users_shutdown_it_is_shut_down)
{
    const rota_executor_ops ops = {.execute = own_execute, .shutdown = look_around};
    rota_executor *executor;

    assert_ok(rota_executor_new(&ops, &executor, &executor));
    assert_ok(rota_shutdown(executor));
    assert_true(rota_is_terminated(executor));
    assert_ok(rota_executor_free(executor));
}

/* POOL-58: before the shutdown nobody is asked; then the user's answer counts until it is OK. */
TEST(the_user_says_when_it_has_ended)
{
    struct own own = {.await_status = ROTA_ETIMEDOUT};
    rota_executor *executor = own_new(&own);

    assert_status(rota_await_termination(executor, 0), ROTA_ETIMEDOUT);
    assert_false(rota_is_terminated(executor));
    assert_int_equal(own.awaits, 0);
    assert_ok(rota_shutdown(executor));
    for (int i = 0; i < 3; i++) {
        assert_status(rota_await_termination(executor, ROTA_FOREVER), ROTA_ETIMEDOUT);
        assert_int_equal(rota_executor_state_of(executor), ROTA_SHUTDOWN);
        assert_true(rota_is_shutdown(executor));
        assert_status(rota_executor_free(executor), ROTA_EBUSY);
    }
    assert_int_equal(own.frees, 0);
    own.await_status = ROTA_OK;
    assert_int_equal(rota_executor_state_of(executor), ROTA_TERMINATED);
    own.await_status = ROTA_ETIMEDOUT; /* too late */
    own.awaits = 0;
    assert_ok(rota_await_termination(executor, 0));
    assert_true(rota_is_terminated(executor));
    assert_int_equal(own.awaits, 0);
    assert_ok(rota_executor_free(executor));
    assert_int_equal(own.frees, 1);
}

/* Whatever the user's await answers is the answer; close then frees nothing. */
TEST(any_answer_of_the_user_is_passed_on)
{
    const int statuses[] = {ROTA_EDEADLOCK, ROTA_EBUSY, ROTA_ENOMEM, -99, 5};
    struct own own = {0};
    rota_executor *executor = own_new(&own);

    assert_ok(rota_shutdown(executor));
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        own.await_status = statuses[i];
        assert_int_equal(rota_await_termination(executor, ROTA_FOREVER), statuses[i]);
        assert_int_equal(rota_close(executor), statuses[i]);
        assert_int_equal(rota_close_within(executor, 0, NULL), statuses[i]);
        assert_int_equal(rota_executor_state_of(executor), ROTA_SHUTDOWN);
    }
    assert_int_equal(own.frees, 0);
    own.await_status = ROTA_OK;
    assert_ok(rota_close(executor));
    assert_int_equal(own.frees, 1);
}

/* GEN-04: the user is given the caller's time-out; a look at the state has none. */
TEST(the_user_is_given_the_time_that_is_left)
{
    const rota_ns timeouts[] = {ROTA_FOREVER, ROTA_FOREVER - 1, ROTA_SEC(5), 1, 0};
    struct own own = {.await_status = ROTA_ETIMEDOUT};
    rota_executor *executor = own_new(&own);

    test_clock_install();
    assert_ok(rota_shutdown(executor));
    for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
        assert_status(rota_await_termination(executor, timeouts[i]), ROTA_ETIMEDOUT);
        assert_true(own.timeout == timeouts[i] || i == 1); /* a sum may not be more than for ever */
        assert_true(own.timeout > 0 || timeouts[i] <= 0);
    }
    assert_status(rota_await_termination(executor, INT64_MIN), ROTA_ETIMEDOUT);
    assert_true(own.timeout <= 0);
    own.timeout = 1;
    assert_false(rota_is_terminated(executor));
    assert_true(own.timeout <= 0);
    test_clock_remove();
    own.await_status = ROTA_OK;
    assert_ok(rota_close(executor));
}
