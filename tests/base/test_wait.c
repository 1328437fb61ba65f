/* SPDX-License-Identifier: MIT */
/*
 * Parking: the permit of a thread, and waiters, which are threads in somebody's list: wait.K1
 * to wait.K3.
 */
#include "rota_test_internal.h"

#include "base/time.h"
#include "base/wait.h"

#include <sched.h>

enum { EMPTY = 0 }; /* as in base/wait.c */

static uint32_t permit_of(rota_thread *thread)
{
    return rota__load_acquire(&thread->permit);
}

static uint32_t pins_of(rota_thread *thread)
{
    return rota__load_acquire(&thread->holds);
}

/* -- The permit --------------------------------------------------------------------------- */

/* An unpark before the park is not lost: this would hang. */
TEST(an_unpark_that_comes_first_is_kept)
{
    rota_thread *self = rota_thread_self();

    rota__unpark(self);
    rota__park(self, ROTA_FOREVER);
    assert_int_equal(permit_of(self), EMPTY);
}

/* Two are as one: nothing is left for a second park. */
TEST(two_unparks_are_as_one)
{
    rota_thread *self = rota_thread_self();

    rota__unpark(self);
    rota__unpark(self);
    rota__park(self, ROTA_FOREVER);
    assert_int_equal(permit_of(self), EMPTY);
}

/* GEN-04: a park ends at its deadline, however early that is, and leaves no permit. */
TEST(a_park_ends_at_its_deadline)
{
    const rota_ns deadlines[] = {INT64_MIN, -1, 0, rota_now(), rota_now() + ROTA_MS(1)};
    rota_thread *self = rota_thread_self();

    for (size_t i = 0; i < sizeof deadlines / sizeof deadlines[0]; i++) {
        rota__park(self, deadlines[i]);
        assert_int_equal(permit_of(self), EMPTY);
    }
}

static void park_until_told(void *arg)
{
    while (!atomic_load((atomic_bool *)arg))
        rota__park(rota_thread_self(), ROTA_FOREVER);
}

/* An unpark ends a park. */
TEST(a_parked_thread_is_unparked)
{
    atomic_bool told = false;
    test_thread *thread = test_thread_start(park_until_told, &told);

    test_await_parked(test_thread_handle(thread));
    atomic_store(&told, true);
    rota__unpark(test_thread_handle(thread));
    test_thread_join(thread);
}

struct message {
    int text;          /* plain: ordered by the permit alone */
    atomic_bool given; /* relaxed: orders nothing */
    bool asleep;       /* is it received in a park that sleeps? */
};

static void receive(void *arg)
{
    struct message *message = arg;
    rota_thread *self = rota_thread_self();

    if (message->asleep)
        rota__park(self, ROTA_FOREVER);
    while (!atomic_load_explicit(&message->given, memory_order_relaxed))
        sched_yield();
    if (rota__load_relaxed(&self->permit) != EMPTY) /* also if it woke for no reason before */
        rota__park(self, ROTA_FOREVER);
    test_check(message->text == 42);
}

/* wait.K1, GEN-08: who is unparked sees what was done before. The race detector knows if not. */
TEST(an_unpark_passes_memory)
{
    for (int asleep = 0; asleep < 2; asleep++) {
        struct message message = {.asleep = asleep};
        test_thread *thread = test_thread_start(receive, &message);
        rota_thread *handle = test_thread_handle(thread);

        if (message.asleep)
            test_await_parked(handle);
        message.text = 42;
        rota__unpark(handle);
        atomic_store_explicit(&message.given, true, memory_order_relaxed);
        test_thread_join(thread);
    }
}

/* -- Waiters ------------------------------------------------------------------------------ */

struct waiting {
    rota__waiter waiter;
    atomic_bool published;
    rota_ns deadline;
    bool deaf;
    int status;
    int text;      /* written by the waker */
    int text_seen; /* by the waiter */
    bool flag_left;
};

static void wait_for_wake(void *arg)
{
    struct waiting *waiting = arg;

    test_check(rota__waiter_begin_uninterruptible(&waiting->waiter) == ROTA_OK);
    atomic_store(&waiting->published, true);
    if (waiting->deaf)
        rota__waiter_wait_uninterruptible(&waiting->waiter);
    else
        waiting->status = rota__waiter_wait_idle(&waiting->waiter, waiting->deadline);
    if (waiting->status == ROTA_OK)
        waiting->text_seen = waiting->text;
    else
        rota__waiter_cancel(&waiting->waiter); /* wait.K2: nobody else ends it */
    waiting->flag_left = rota_is_interrupted();
}

static test_thread *start_waiting(struct waiting *waiting)
{
    test_thread *thread = test_thread_start(wait_for_wake, waiting);

    test_await_parked(test_thread_handle(thread));
    assert_true(atomic_load(&waiting->published));
    return thread;
}

/* wait.K3, GEN-08: a wake ends the wait and passes memory. */
TEST(a_wake_ends_a_wait)
{
    struct waiting waiting = {.deadline = ROTA_FOREVER};
    test_thread *thread = start_waiting(&waiting);

    waiting.text = 42;
    rota__waiter_wake(&waiting.waiter);
    test_thread_join(thread);
    assert_ok(waiting.status);
    assert_int_equal(waiting.text_seen, 42);
    assert_false(waiting.flag_left);
}

/* A wake that comes first is not missed, and beats a deadline that has passed. */
TEST(a_wake_that_comes_first_is_kept)
{
    rota__waiter waiter;

    assert_ok(rota__waiter_begin_uninterruptible(&waiter));
    rota__waiter_wake(&waiter);
    assert_ok(rota__waiter_wait_idle(&waiter, INT64_MIN));
    assert_int_equal(pins_of(rota_thread_self()), 0);
}

/*
 * GEN-06, FAULT-28: time runs out at the deadline, not before, whatever permits are left from
 * earlier.
 */
TEST(a_wait_ends_at_its_deadline)
{
    rota__waiter waiter;
    rota_ns deadline = rota_now() + ROTA_MS(5);

    assert_ok(rota__waiter_begin_uninterruptible(&waiter));
    rota__unpark(rota_thread_self());
    assert_status(rota__waiter_wait_idle(&waiter, deadline), ROTA_ETIMEDOUT);
    assert_true(rota_now() >= deadline);
    rota__waiter_cancel(&waiter);
}

/* GEN-04: a deadline that has passed is not waited for. */
TEST(a_past_deadline_is_over_at_once)
{
    rota__waiter waiter;

    assert_ok(rota__waiter_begin_uninterruptible(&waiter));
    assert_status(rota__waiter_wait_idle(&waiter, INT64_MIN), ROTA_ETIMEDOUT);
    assert_status(rota__waiter_wait_idle(&waiter, 0), ROTA_ETIMEDOUT);
    assert_status(rota__waiter_wait_idle(&waiter, rota_now()), ROTA_ETIMEDOUT);
    rota__waiter_cancel(&waiter);
}

/* An interrupt ends the wait. Who called it clears the flag; the waiter leaves it. */
TEST(an_interrupt_ends_a_wait)
{
    struct waiting waiting = {.deadline = ROTA_FOREVER};
    test_thread *thread = start_waiting(&waiting);

    rota_thread_interrupt(test_thread_handle(thread));
    test_thread_join(thread);
    assert_status(waiting.status, ROTA_EINTERRUPTED);
    assert_true(waiting.flag_left);
}

/* INT-04: the flag beats a deadline that has passed; a wake beats the flag and leaves it. */
TEST(wake_beats_flag_beats_deadline)
{
    rota__waiter waiter;

    rota_thread_interrupt(rota_thread_self());
    assert_ok(rota__waiter_begin_uninterruptible(&waiter));
    assert_status(rota__waiter_wait_idle(&waiter, INT64_MIN), ROTA_EINTERRUPTED);
    assert_status(rota__waiter_wait_idle(&waiter, ROTA_FOREVER), ROTA_EINTERRUPTED);
    rota__waiter_wake(&waiter);
    assert_ok(rota__waiter_wait_idle(&waiter, INT64_MIN));
    assert_true(rota_interrupted());
}

/* INT-11: a deaf wait goes on after an interrupt, whose flag stays. */
TEST(a_deaf_wait_ignores_interrupts)
{
    struct waiting waiting = {.deaf = true};
    test_thread *thread = start_waiting(&waiting);

    rota_thread_interrupt(test_thread_handle(thread));
    test_await_parked(test_thread_handle(thread)); /* again: the interrupt had unparked it */
    waiting.text = 42;
    rota__waiter_wake(&waiting.waiter);
    test_thread_join(thread);
    assert_int_equal(waiting.text_seen, 42);
    assert_true(waiting.flag_left);
}

/* thread.T3: a published waiter pins its thread, until one party has ended it (wait.K2). */
TEST(a_waiter_pins_its_thread)
{
    rota_thread *self = rota_thread_self();
    rota__waiter waiter;
    rota__waiter another;

    assert_int_equal(pins_of(self), 0);
    assert_ok(rota__waiter_begin_uninterruptible(&waiter));
    assert_ok(rota__waiter_begin_uninterruptible(&another));
    assert_int_equal(pins_of(self), 2);
    rota__waiter_wake(&waiter);
    assert_int_equal(pins_of(self), 1);
    rota__waiter_cancel(&another);
    assert_int_equal(pins_of(self), 0);
}

/* Each turn of a backoff ends by itself, the short first ones and the long later ones. */
TEST(a_backoff_goes_on)
{
    unsigned turns = 0;

    for (unsigned i = 0; i < 200; i++) {
        assert_int_equal(turns, i);
        rota__backoff(&turns);
    }
}
