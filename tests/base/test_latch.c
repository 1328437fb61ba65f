/* SPDX-License-Identifier: MIT */
/*
 * The latch: a signal wakes all waiting threads, also one whose time is up just then.
 */
#include "pools.h"
#include "rota_test_internal.h"

#include "base/time.h"
#include "base/wait.h"

struct waiting {
    rota__mutex lock;
    rota__latch latch;
    rota_ns deadline;
    int status;
};

static void wait_at_latch(void *arg)
{
    struct waiting *waiting = arg;

    rota__mutex_lock(&waiting->lock);
    waiting->status = rota__latch_wait(&waiting->latch, &waiting->lock, waiting->deadline);
}

static test_thread *begin(struct waiting *waiting, rota_ns deadline)
{
    *waiting = (struct waiting){.deadline = deadline, .status = ROTA_EBUSY};
    rota__latch_init(&waiting->latch);
    return test_thread_start(wait_at_latch, waiting);
}

static void signal_it(struct waiting *waiting)
{
    rota__mutex_lock(&waiting->lock);
    rota__latch_signal_all(&waiting->latch);
    rota__mutex_unlock(&waiting->lock);
}

TEST(a_signal_ends_a_wait)
{
    struct waiting waiting;
    test_thread *waiter = begin(&waiting, ROTA_FOREVER);

    test_await_parked(test_thread_handle(waiter));
    signal_it(&waiting);
    test_thread_join(waiter);
    assert_ok(waiting.status);
}

/* Nothing of it is left behind: this would touch a stack that is gone. */
TEST_WITH(test_virtual_time, a_wait_at_a_latch_ends_at_its_deadline)
{
    struct waiting waiting;
    test_thread *waiter = begin(&waiting, test_clock_now() + ROTA_SEC(1));

    test_clock_await_waiting(1);
    test_clock_advance(ROTA_SEC(1));
    test_thread_join(waiter);
    assert_status(waiting.status, ROTA_ETIMEDOUT);
    signal_it(&waiting);
}

static bool is_contended(void *lock)
{
    return rota__load_acquire(&((rota__mutex *)lock)->word) == ROTA__CONTENDED;
}

/* The time of the thread is up while another one has the lock, and signals before it can withdraw. */
TEST_WITH(test_virtual_time, a_signal_that_comes_before_a_withdrawal_counts)
{
    struct waiting waiting;
    test_thread *waiter = begin(&waiting, test_clock_now() + ROTA_SEC(1));

    test_clock_await_waiting(1);
    rota__mutex_lock(&waiting.lock);
    test_clock_advance(ROTA_SEC(1));
    test_until(is_contended, &waiting.lock);
    rota__latch_signal_all(&waiting.latch);
    rota__mutex_unlock(&waiting.lock);
    test_thread_join(waiter);
    assert_ok(waiting.status);
}
