/* SPDX-License-Identifier: MIT */
/*
 * The cancel listener of a future is notified of its end, unless it was cleared before:
 * cancel_listener.L1 to cancel_listener.L5.
 */
#include "rota_test_tasks.h"

#include "future/future_internal.h"

typedef struct counter {
    rota__cancel_listener listener; /* first */
    unsigned calls;
} counter;

static void count(rota__cancel_listener *listener, rota_future *future)
{
    (void)future;
    ((counter *)listener)->calls++;
}

static rota_task *make(rota_future **out)
{
    static test_probe probe;

    return test_task(test_probe_call(&probe), out);
}

static void finish(rota_task *task, rota_future *future)
{
    rota_task_discard(task);
    rota_future_unref(future);
}

TEST(a_listener_is_notified_once)
{
    counter mine = {.listener.notify = count};
    rota_future *future;
    rota_task *task = make(&future);

    rota__future_set_listener(future, &mine.listener);
    assert_true(rota_future_cancel(future));
    assert_int_equal(mine.calls, 1);
    assert_false(rota__future_clear_listener(future));
    rota__future_notify_listener(future);
    assert_int_equal(mine.calls, 1);
    rota__cancel_listener_await_idle(&mine.listener);
    finish(task, future);
}

TEST(a_listener_is_cleared_once_and_then_not_notified)
{
    counter mine = {.listener.notify = count};
    rota_future *future;
    rota_task *task = make(&future);

    assert_false(rota__future_clear_listener(future));
    rota__future_set_listener(future, &mine.listener);
    assert_true(rota__future_clear_listener(future));
    assert_false(rota__future_clear_listener(future));
    assert_true(rota_future_cancel(future));
    assert_int_equal(mine.calls, 0);
    finish(task, future);
}

TEST(a_listener_is_not_cleared_in_place_of_another)
{
    counter mine = {.listener.notify = count}, other = {.listener.notify = count};
    rota_future *future;
    rota_task *task = make(&future);

    rota__future_set_listener(future, &mine.listener);
    assert_false(rota__future_clear_listener_if(future, &other.listener));
    assert_true(rota__future_clear_listener_if(future, &mine.listener));
    assert_false(rota__future_clear_listener_if(future, &mine.listener));
    finish(task, future);
}
