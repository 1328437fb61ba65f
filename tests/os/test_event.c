/* SPDX-License-Identifier: MIT */
/*
 * A descriptor that turns readable, and stays so.
 */
#define _GNU_SOURCE
#include "rota_test.h"

#include "os/fault.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>

static bool is_readable(int fd)
{
    struct pollfd asked = {.fd = fd, .events = POLLIN};

    return poll(&asked, 1, 0) == 1 && (asked.revents & POLLIN) != 0;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* It turns readable with the first signal, and stays so: nobody reads it. */
TEST(it_is_readable_from_the_first_signal_on)
{
    rota__os_event event;

    assert_ok(rota__os_event_open(&event));
    assert_false(is_readable(event.readable));
    rota__os_event_signal(&event);
    assert_true(is_readable(event.readable));
    assert_true(is_readable(event.readable));
    rota__os_event_signal(&event);
    assert_true(is_readable(event.readable));
    rota__os_event_close(&event);
}

/* GEN-09: signalling never waits, however often: no pipe's buffer is that large. */
TEST(signals_without_a_reader_do_not_wait)
{
    rota__os_event event;

    assert_ok(rota__os_event_open(&event));
    for (int i = 0; i < 200000; i++)
        rota__os_event_signal(&event);
    assert_true(is_readable(event.readable));
    rota__os_event_close(&event);
}

static void wait_for_it(void *arg)
{
    const rota__os_event *event = arg;
    struct pollfd asked = {.fd = event->readable, .events = POLLIN};

    test_check(poll(&asked, 1, -1) == 1);
}

/* A thread that polls is woken. */
TEST(a_signal_wakes_who_polls)
{
    rota__os_event event;

    assert_ok(rota__os_event_open(&event));
    test_thread *poller = test_thread_start(wait_for_it, &event);
    rota__os_event_signal(&event);
    test_thread_join(poller);
    rota__os_event_close(&event);
}

/* It is not passed on to programs that are started, and reading it does not block. */
TEST(it_is_closed_on_exec_and_does_not_block)
{
    rota__os_event event;

    assert_ok(rota__os_event_open(&event));
    assert_true(fcntl(event.readable, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(event.signal, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(event.readable, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(event.signal, F_GETFL) & O_NONBLOCK);
    rota__os_event_close(&event);
}

/* GEN-10: closing leaves no descriptor behind. */
TEST(close_closes_all_of_it)
{
    rota__os_event event;

    assert_ok(rota__os_event_open(&event));
    rota__os_event_close(&event);
    assert_false(is_open(event.readable));
    assert_false(is_open(event.signal));
}

/* GEN-01: a refusal is ROTA_EAGAIN, writes nothing and leaves errno. */
TEST(a_refusal_is_reported)
{
    rota__os_event event = {-5, -6, 0};

    rota__fault_arm(ROTA__FAULT_EVENT, 1, false);
    errno = EDOM;
    assert_status(rota__os_event_open(&event), ROTA_EAGAIN);
    assert_int_equal(errno, EDOM);
    assert_int_equal(event.readable, -5);
    assert_int_equal(event.signal, -6);
    assert_ok(rota__os_event_open(&event));
    rota__os_event_close(&event);
}

/* FAULT-33: the same, from the system itself: no descriptor is left. */
TEST(running_out_of_descriptors_is_reported)
{
    rota__os_event event = {-5, -6, 0};
    struct rlimit saved;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &saved), 0);
    struct rlimit none = {.rlim_cur = 0, .rlim_max = saved.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    errno = EDOM;
    int status = rota__os_event_open(&event);
    int error = errno;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &saved), 0);
    assert_status(status, ROTA_EAGAIN);
    assert_int_equal(error, EDOM);
    assert_int_equal(event.readable, -5);
}

static void *signal_with_cancel_pending(void *arg)
{
    const rota__os_event *event = arg;

    pthread_cancel(pthread_self());
    rota__os_event_clear(event);
    rota__os_event_signal(event);
    rota__os_event_close(&event[1]);
    pthread_testcancel();
    return NULL;
}

/* GEN-14: a thread is not cancelled in the middle of the library. */
TEST(signals_are_no_cancellation_points)
{
    rota__os_event events[2];
    pthread_t thread;

    assert_ok(rota__os_event_open(&events[0]));
    assert_ok(rota__os_event_open(&events[1]));
    assert_int_equal(pthread_create(&thread, NULL, signal_with_cancel_pending, events), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(is_readable(events[0].readable));
    assert_false(is_open(events[1].readable));
    assert_false(is_open(events[1].signal));
    rota__os_event_close(&events[0]);
}

static void cancellation_is_enabled(void)
{
    int state;

    assert_int_equal(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state), 0);
    assert_int_equal(state, PTHREAD_CANCEL_ENABLE);
}

/* GEN-14: whether a thread can be cancelled is left as it was. */
TEST(cancellation_is_left_as_it_was)
{
    rota__os_event event;

    assert_ok(rota__os_event_open(&event));
    cancellation_is_enabled();
    rota__os_event_signal(&event);
    cancellation_is_enabled();
    rota__os_event_clear(&event);
    assert_false(is_readable(event.readable));
    cancellation_is_enabled();
    rota__os_event_close(&event);
    cancellation_is_enabled();
}

/* Whatever the system says: errno is the caller's. */
TEST(errno_is_left_as_it_was)
{
    const rota__os_event none = {-1, -1, 0};

    errno = EDOM;
    rota__os_event_signal(&none);
    assert_int_equal(errno, EDOM);
    rota__os_event_clear(&none);
    assert_int_equal(errno, EDOM);
    rota__os_event_close(&none);
    assert_int_equal(errno, EDOM);
}

/* -- Children of fork(2) ------------------------------------------------------------------ */

static void signal_it(void *event)
{
    rota__os_event_signal(event);
}

static void clear_it(void *event)
{
    rota__os_event_clear(event);
}

static void close_it(void *arg)
{
    const rota__os_event *event = arg;

    rota__os_event_close(event);
    test_check(!is_open(event->readable));
}

static void use_one_of_its_own(void *unused)
{
    rota__os_event event;

    (void)unused;
    test_check(rota__os_event_open(&event) == ROTA_OK);
    rota__os_event_signal(&event);
    test_check(is_readable(event.readable));
    rota__os_event_clear(&event);
    test_check(!is_readable(event.readable));
    rota__os_event_close(&event);
}

/* event.E1: both processes share the descriptor, but only its own process changes it. */
TEST(a_child_neither_signals_nor_clears_the_descriptor_of_its_parent)
{
    rota__os_event event;

    assert_non_null(rota_thread_self()); /* the library notices forks from here on */
    assert_ok(rota__os_event_open(&event));
    assert_int_equal(test_in_child(signal_it, &event), 0);
    assert_false(is_readable(event.readable));
    rota__os_event_signal(&event);
    assert_int_equal(test_in_child(clear_it, &event), 0);
    assert_true(is_readable(event.readable));
    rota__os_event_close(&event);
}

/* event.E1 */
TEST(a_child_closes_its_copy_of_a_descriptor)
{
    rota__os_event event;

    assert_non_null(rota_thread_self());
    assert_ok(rota__os_event_open(&event));
    assert_int_equal(test_in_child(close_it, &event), 0);
    rota__os_event_signal(&event);
    assert_true(is_readable(event.readable));
    rota__os_event_close(&event);
}

/* event.E1 */
TEST(a_child_uses_descriptors_that_it_has_opened)
{
    assert_non_null(rota_thread_self());
    assert_int_equal(test_in_child(use_one_of_its_own, NULL), 0);
}
