/* SPDX-License-Identifier: MIT */
/*
 * Tasks that were handed out: run, discarded or passed on, once (exec.E1, exec.E2).
 */
#include "executors.h"
#include "rota_test_tasks.h"

#include "base/alloc.h"

static void *doubles(void *arg)
{
    int *number = arg;

    *number *= 2;
    return number;
}

/* A task tells what it was made of, and its future; one of rota_execute has none. */
TEST(a_task_tells_its_call_and_its_future)
{
    test_probe probe = {.error = 0};
    const rota_call call = test_probe_call(&probe);
    int number = 1;
    rota_future *future;
    rota_task *task = test_task(call, &future);
    rota_task *plain = test_plain_task(doubles, &number);

    assert_ptr_equal(rota_task_future(task), future);
    assert_ptr_equal(rota_task_call(task)->fn, call.fn);
    assert_ptr_equal(rota_task_call(task)->arg, &probe);
    assert_ptr_equal(rota_task_call(task)->discard, call.discard);
    assert_ptr_equal(rota_task_call(task)->free_result, call.free_result);
    assert_ptr_equal(rota_task_call(task)->name, call.name);
    assert_null(rota_task_future(plain));
    assert_ptr_equal(rota_task_call(plain)->fn, doubles);
    assert_ptr_equal(rota_task_call(plain)->arg, &number);
    assert_null(rota_task_call(plain)->discard);
    rota_task_discard(task);
    rota_task_discard(plain);
    rota_future_unref(future);
}

/* exec.E2: run here and now, once. */
TEST(a_task_can_be_run)
{
    test_probe probe = {.error = 0};
    int number = 21;
    rota_future *future;
    void *result;

    rota_task_run(test_task(test_probe_call(&probe), &future));
    assert_ok(rota_future_get_timed(future, 0, &result));
    assert_ptr_equal(result, &probe);
    assert_int_equal(probe.runs, 1);
    assert_int_equal(probe.frees, 0);
    rota_future_unref(future);
    assert_int_equal(probe.frees, 1);
    rota_task_run(test_task(test_probe_call(&probe), NULL)); /* one that nobody holds */
    assert_int_equal(probe.runs, 2);
    assert_int_equal(probe.frees, 2);
    rota_task_run(test_plain_task(doubles, &number));
    assert_int_equal(number, 42);
    assert_int_equal(probe.discards, 0);
}

/* exec.E2, OWN-09: or not at all, which cancels its future. */
TEST(a_task_can_be_discarded)
{
    test_probe probe = {.error = 0};
    int number = 21;
    rota_future *future;

    rota_task_discard(test_task(test_probe_call(&probe), &future));
    assert_status(rota_future_get(future, NULL), ROTA_ECANCELED);
    assert_int_equal(probe.discards, 1);
    rota_future_unref(future);
    rota_task_discard(test_task(test_probe_call(&probe), NULL));
    assert_int_equal(probe.discards, 2);
    rota_task_discard(test_plain_task(doubles, &number));
    rota_task_discard(test_task((rota_call){.fn = doubles, .arg = &number}, NULL));
    assert_int_equal(number, 21);
    assert_int_equal(probe.runs + probe.frees, 0);
}

/* FUT-14, FUT-17: one whose future is done only goes; the outcome stays, discard ran with it. */
TEST(a_task_whose_future_is_done_has_no_more_to_do)
{
    void (*const ends[])(rota_task *) = {rota_task_run, rota_task_discard};

    for (size_t i = 0; i < 8; i++) {
        test_probe probe = {.error = 0};
        rota_future *future;
        rota_task *task = test_task(test_probe_call(&probe), &future);
        const int outcomes[] = {ROTA_ECANCELED, ROTA_ECANCELED, ROTA_OK, ROTA_EFAILED};

        assert_true(i / 2 == 0   ? rota_future_cancel(future)
                    : i / 2 == 1 ? rota_future_cancel_now(future)
                    : i / 2 == 2 ? rota_promise_complete(future, &probe)
                                 : rota_promise_fail(future, 9));
        assert_int_equal(probe.discards, 1);
        ends[i % 2](task);
        assert_status(rota_future_get_timed(future, 0, NULL), outcomes[i / 2]);
        rota_future_unref(future);
        assert_int_equal(probe.runs, 0);
        assert_int_equal(probe.discards, 1);
        assert_int_equal(probe.frees, i / 2 == 2);
    }
}

/* GEN-02 */
TEST(no_task_is_nothing_to_do)
{
    rota_executor *direct;

    rota_task_run(NULL);
    rota_task_discard(NULL);
    assert_null(rota_task_call(NULL));
    assert_null(rota_task_future(NULL));
    assert_ok(test_executor_direct(&direct));
    assert_status(rota_execute_task(direct, NULL), ROTA_EINVAL);
    assert_ok(rota_close(direct));
}

/* -- Passing on --------------------------------------------------------------------------- */

/* A task goes from hand to hand, and runs once, where it ends up. */
TEST(a_task_can_be_passed_on)
{
    test_probe probe = {.error = 0};
    int number = 21;
    rota_executor *hand;
    rota_executor *direct;
    test_manual *manual = test_executor_manual(&hand);
    rota_future *future;
    rota_task *task = test_task(test_probe_call(&probe), &future);

    assert_ok(test_executor_direct(&direct));
    for (int i = 0; i < 3; i++) {
        assert_ok(rota_execute_task(hand, task));
        task = test_manual_take(manual, 0);
        assert_ptr_equal(rota_task_future(task), future);
    }
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_PENDING);
    assert_ok(rota_execute_task(direct, task));
    assert_ok(rota_future_get_timed(future, 0, NULL));
    assert_int_equal(probe.runs, 1);
    rota_future_unref(future);
    assert_ok(rota_execute_task(direct, test_plain_task(doubles, &number)));
    assert_int_equal(number, 42);
    assert_ok(rota_close(hand));
    assert_ok(rota_close(direct));
}

/* One that nobody wants any more may be passed on, and does nothing. */
TEST(a_task_whose_future_is_done_can_be_passed_on)
{
    test_probe probe = {.error = 0};
    rota_executor *direct;
    rota_future *future;
    rota_task *task = test_task(test_probe_call(&probe), &future);

    assert_ok(test_executor_direct(&direct));
    assert_true(rota_future_cancel(future));
    assert_ok(rota_execute_task(direct, task));
    assert_int_equal(probe.runs, 0);
    assert_int_equal(probe.discards, 1);
    rota_future_unref(future);
    assert_ok(rota_close(direct));
}

static void be_refused(rota_executor *executor, test_manual *manual, rota_task *task)
{
    const int statuses[] = {ROTA_EREJECTED, ROTA_ENOMEM, ROTA_EINVAL, ROTA_EFAILED, 7};

    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        test_manual_refuse_after(manual, 0, statuses[i]);
        assert_int_equal(rota_execute_task(executor, task), statuses[i]);
    }
    assert_status(rota_execute_task(NULL, task), ROTA_EINVAL);
}

/* exec.E1, OWN-05: one that is refused is still the caller's, as good as before. */
TEST(a_task_that_is_refused_can_still_be_used)
{
    test_probe probe = {.error = 0};
    int number = 21;
    rota_executor *hand;
    test_manual *manual = test_executor_manual(&hand);
    rota_future *futures[2];
    rota_task *tasks[2];
    rota_task *plain = test_plain_task(doubles, &number);

    for (size_t i = 0; i < 2; i++) {
        tasks[i] = test_task(test_probe_call(&probe), &futures[i]);
        be_refused(hand, manual, tasks[i]);
        assert_int_equal(rota_future_state_of(futures[i]), ROTA_FUTURE_PENDING);
    }
    be_refused(hand, manual, plain);
    assert_int_equal(probe.runs + probe.discards, 0);
    rota_task_run(tasks[0]);
    rota_task_discard(tasks[1]);
    rota_task_run(plain);
    assert_ok(rota_future_get_timed(futures[0], 0, NULL));
    assert_status(rota_future_get_timed(futures[1], 0, NULL), ROTA_ECANCELED);
    assert_int_equal(probe.runs, 1);
    assert_int_equal(probe.discards, 1);
    assert_int_equal(number, 42);
    rota_future_unref(futures[0]);
    rota_future_unref(futures[1]);
    assert_ok(rota_close(hand));
}

/* -- Lists -------------------------------------------------------------------------------- */

/* Frees the array alone, leaves it empty, and may be repeated. */
TEST(a_freed_list_is_empty)
{
    test_probe probe = {.error = 0};
    rota_future *future;
    rota_task *task = test_task(test_probe_call(&probe), &future);
    rota_task_list list = {rota__alloc_array(3, sizeof(rota_task *)), 3};

    assert_non_null(list.tasks);
    for (size_t i = 0; i < 3; i++)
        list.tasks[i] = task;
    rota_task_list_free(&list);
    assert_null(list.tasks);
    assert_int_equal(list.count, 0);
    rota_task_list_free(&list);
    rota_task_list_free(NULL);
    assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_PENDING);
    rota_task_run(task);
    assert_int_equal(probe.runs, 1);
    rota_future_unref(future);
}
