/* SPDX-License-Identifier: MIT */
/*
 * Threads inside the execute of an executor of one's own: it ends with the last of them, and none
 * of them can wait for that.
 */
#include "executors.h"
#include "rota_test_internal.h"
#include "rota_test_tasks.h"

enum { GUESTS = 4 };

/* A thread that is inside as long as its latch is closed. */
struct guest {
    rota_executor *executor;
    atomic_bool inside;
    test_latch latch;
    test_thread *thread;
};

static void *stay(void *arg)
{
    struct guest *guest = arg;

    atomic_store(&guest->inside, true);
    test_latch_wait(&guest->latch);
    return NULL;
}

static void visit(void *arg)
{
    struct guest *guest = arg;

    test_check(rota_execute(guest->executor, stay, guest) == ROTA_OK);
}

static bool is_inside(void *arg)
{
    struct guest *guest = arg;

    return atomic_load(&guest->inside);
}

static void guest_enter(struct guest *guest, rota_executor *executor)
{
    guest->executor = executor;
    atomic_init(&guest->inside, false);
    test_latch_init(&guest->latch, 1);
    guest->thread = test_thread_start(visit, guest);
    test_until(is_inside, guest);
}

static void guest_leave(struct guest *guest)
{
    test_latch_open(&guest->latch);
    test_thread_join(guest->thread);
}

/* EXEC-17: a shut-down executor is terminated when the last thread is out, in whatever order. */
TEST(it_ends_with_the_last_to_leave)
{
    static const unsigned orders[][GUESTS] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}};

    for (size_t order = 0; order < 3; order++) {
        struct guest guests[GUESTS];
        rota_executor *executor;

        assert_ok(test_executor_direct(&executor));
        for (size_t i = 0; i < GUESTS; i++)
            guest_enter(&guests[i], executor);
        assert_ok(rota_shutdown(executor));
        for (size_t i = 0; i < GUESTS; i++) {
            assert_int_equal(rota_executor_state_of(executor), ROTA_SHUTDOWN);
            assert_status(rota_await_termination(executor, 0), ROTA_ETIMEDOUT);
            assert_status(rota_executor_free(executor), ROTA_EBUSY);
            guest_leave(&guests[orders[order][i]]);
        }
        assert_int_equal(rota_executor_state_of(executor), ROTA_TERMINATED);
        assert_ok(rota_await_termination(executor, 0));
        assert_ok(rota_executor_free(executor));
    }
}

/* Those who left before the shutdown do not count. */
TEST(who_left_before_does_not_count)
{
    struct guest guests[2];
    rota_executor *executor;

    assert_ok(test_executor_direct(&executor));
    guest_enter(&guests[0], executor);
    guest_enter(&guests[1], executor);
    guest_leave(&guests[0]);
    assert_ok(rota_shutdown(executor));
    assert_false(rota_is_terminated(executor));
    guest_leave(&guests[1]);
    assert_true(rota_is_terminated(executor));
    assert_ok(rota_executor_free(executor));
}

static void await_the_end(void *arg)
{
    test_check(rota_await_termination(arg, ROTA_FOREVER) == ROTA_OK);
    test_check(rota_executor_state_of(arg) == ROTA_TERMINATED);
}

/* POOL-58: who sleeps until the end, from before the shutdown on, is woken by the last to leave. */
TEST(the_last_to_leave_wakes_who_waits)
{
    test_thread *waiters[3];
    rota_executor *executor;
    struct guest guest;

    assert_ok(test_executor_direct(&executor));
    guest_enter(&guest, executor);
    for (size_t i = 0; i < 3; i++) {
        waiters[i] = test_thread_start(await_the_end, executor);
        test_await_parked(test_thread_handle(waiters[i]));
        if (i == 1)
            assert_ok(rota_shutdown(executor));
    }
    guest_leave(&guest);
    for (size_t i = 0; i < 3; i++)
        test_thread_join(waiters[i]);
    assert_ok(rota_executor_free(executor));
}

static int run_here(void *self, rota_task *task)
{
    rota_task_run(task);
    return ROTA_OK;
}

static int count_awaits(void *self, rota_ns timeout)
{
    atomic_fetch_add((atomic_uint *)self, 1);
    return ROTA_OK;
}

/* The user is not asked whether it has ended while somebody is inside. */
TEST(nobody_is_asked_while_somebody_is_inside)
{
    const rota_executor_ops ops = {.execute = run_here, .await_termination = count_awaits};
    atomic_uint asked = 0;
    rota_executor *executor;
    struct guest guest;

    assert_ok(rota_executor_new(&ops, &asked, &executor));
    guest_enter(&guest, executor);
    assert_ok(rota_shutdown(executor));
    assert_false(rota_is_terminated(executor));
    assert_status(rota_await_termination(executor, 0), ROTA_ETIMEDOUT);
    assert_int_equal(asked, 0);
    guest_leave(&guest);
    assert_int_equal(rota_executor_state_of(executor), ROTA_TERMINATED);
    assert_int_equal(asked, 1);
    assert_ok(rota_executor_free(executor));
}

static int note_timeout(void *self, rota_ns timeout)
{
    *(rota_ns *)self = timeout;
    return ROTA_OK;
}

static void await_ten_seconds(void *arg)
{
    test_check(rota_await_termination(arg, ROTA_SEC(10)) == ROTA_OK);
}

/* GEN-06: what it takes until nobody is inside is taken off the time that the user is given. */
TEST(the_time_inside_is_taken_off)
{
    const rota_executor_ops ops = {.execute = run_here, .await_termination = note_timeout};
    rota_ns timeout = 0;
    rota_executor *executor;
    struct guest guest;

    test_clock_install();
    assert_ok(rota_executor_new(&ops, &timeout, &executor));
    guest_enter(&guest, executor);
    assert_ok(rota_shutdown(executor));
    test_thread *waiter = test_thread_start(await_ten_seconds, executor);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(7));
    guest_leave(&guest);
    test_thread_join(waiter);
    assert_int_equal(timeout, ROTA_SEC(3));
    assert_ok(rota_executor_free(executor));
    test_clock_remove();
}

/* -- Waiting for oneself ------------------------------------------------------------------ */

struct nested {
    rota_executor *outer;
    rota_executor *inner;
};

static void check_deadlock(rota_executor *executor)
{
    test_check(rota_await_termination(executor, ROTA_FOREVER) == ROTA_EDEADLOCK);
    test_check(rota_await_termination(executor, 0) == ROTA_ETIMEDOUT);
    test_check(rota_close(executor) == ROTA_EDEADLOCK);
    test_check(rota_close_within(executor, 0, NULL) == ROTA_EDEADLOCK);
}

static void *wait_for_both(void *arg)
{
    struct nested *nested = arg;

    check_deadlock(nested->inner);
    check_deadlock(nested->outer);
    return NULL;
}

static void *go_deeper(void *arg)
{
    struct nested *nested = arg;

    test_check(rota_execute(nested->inner, wait_for_both, nested) == ROTA_OK);
    check_deadlock(nested->outer);
    test_check(rota_close(nested->inner) == ROTA_OK); /* it is out of this one */
    return NULL;
}

/* POOL-58, OWN-11: a thread inside of one executor inside of another can wait for neither. */
TEST(a_thread_cannot_wait_for_where_it_is)
{
    struct nested nested;

    assert_ok(test_executor_direct(&nested.outer));
    assert_ok(test_executor_direct(&nested.inner));
    assert_ok(rota_execute(nested.outer, go_deeper, &nested));
    assert_int_equal(rota_executor_state_of(nested.outer), ROTA_RUNNING);
    assert_ok(rota_close(nested.outer));
}

static void *end_thread(void *arg)
{
    pthread_exit(arg);
}

static void be_torn(void *arg)
{
    rota_execute(arg, end_thread, NULL);
}

static void be_torn_with_a_future(void *arg)
{
    rota_submit(arg, end_thread, NULL, NULL);
}

/* GEN-14: a task that ends the thread it runs on, inside execute, is out. */
TEST(a_thread_that_ends_inside_is_out)
{
    rota_executor *executor;

    assert_ok(test_executor_direct(&executor));
    test_thread_join(test_thread_start(be_torn, executor));
    test_thread_join(test_thread_start(be_torn_with_a_future, executor));
    assert_ok(rota_shutdown(executor));
    assert_true(rota_is_terminated(executor));
    assert_ok(rota_close(executor));
}
