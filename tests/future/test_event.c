/* SPDX-License-Identifier: MIT */
/*
 * The descriptor of a future: one, readable from the moment it is done, and gone with it.
 */
#define _GNU_SOURCE
#include "rota_test_tasks.h"

#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/epoll.h>
#endif

static bool is_readable(int fd)
{
    struct pollfd asked = {.fd = fd, .events = POLLIN};

    return poll(&asked, 1, 0) == 1 && (asked.revents & POLLIN) != 0;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0 || errno != EBADF;
}

static unsigned open_count(void)
{
    unsigned count = 0;

    for (int fd = 0; fd < 256; fd++)
        count += is_open(fd);
    return count;
}

static unsigned open_before;

static int prepare(void **state)
{
    open_before = open_count();
    return 0;
}

static int clean_up(void **state)
{
    rota__fault_arm(ROTA__FAULT_EVENT, 0, false);
    if (open_count() != open_before) {
        print_error("%u descriptors were open, now %u\n", open_before, open_count());
        return -1;
    }
    return 0;
}

TEST_FIXTURE(.setup = prepare, .teardown = clean_up);

static rota_future *promise_new(void)
{
    rota_future *promise = NULL;

    assert_ok(rota_promise_new(&promise));
    return promise;
}

static int fd_of(rota_future *future)
{
    int fd = -1;

    assert_ok(rota_future_fd(future, &fd));
    assert_true(fd >= 0);
    return fd;
}

static void end(rota_future *future, int how)
{
    assert_true(how == 0   ? rota_promise_complete(future, NULL)
                : how == 1 ? rota_promise_fail(future, 1)
                : how == 2 ? rota_future_cancel(future)
                           : rota_future_cancel_now(future));
}

enum { WAYS = 4 };

/* -- Readable ----------------------------------------------------------------------------- */

/* GEN-02: it needs a future, and a place for the descriptor. */
TEST(it_needs_both_arguments)
{
    rota_future *promise = promise_new();
    int fd = -7;

    assert_status(rota_future_fd(NULL, &fd), ROTA_EINVAL);
    assert_status(rota_future_fd(promise, NULL), ROTA_EINVAL);
    assert_int_equal(fd, -7);
    rota_future_unref(promise);
}

static void end_all(void *arg)
{
    rota_future **promises = arg;

    for (int how = 0; how < WAYS; how++) {
        end(promises[how], how);
        test_check(rota_future_is_done(promises[how]));
    }
    for (int i = 0; i <= WAYS; i++)
        rota_future_unref(promises[i]);
}

/* FUT-15, FAULT-44: a child of fork(2) that ends or releases its copy does not signal the parent's. */
TEST(a_child_does_not_make_the_descriptor_of_its_parent_readable)
{
    rota_future *promises[WAYS + 1];

    for (int i = 0; i <= WAYS; i++) {
        promises[i] = promise_new();
        fd_of(promises[i]);
    }
    assert_int_equal(test_in_child(end_all, promises), 0);
    for (int i = 0; i <= WAYS; i++) {
        assert_false(is_readable(fd_of(promises[i])));
        assert_true(rota_promise_complete(promises[i], NULL));
        assert_true(is_readable(fd_of(promises[i])));
        rota_future_unref(promises[i]);
    }
}

/* FUT-15: asked for before the end, it turns readable with it and stays so. */
TEST(it_turns_readable_when_the_future_is_done)
{
    for (int how = 0; how < WAYS; how++) {
        rota_future *promise = promise_new();
        int fd = fd_of(promise);
        assert_int_equal(fd_of(promise), fd);
        assert_false(is_readable(fd));
        end(promise, how);
        assert_true(is_readable(fd));
        assert_true(is_readable(fd));
        assert_int_equal(fd_of(promise), fd);
        rota_future_unref(promise);
        assert_false(is_open(fd));
    }
}

/* FUT-07: asked for after the end, it is readable at once. */
TEST(of_a_done_future_it_is_readable_at_once)
{
    for (int how = 0; how < WAYS; how++) {
        rota_future *promise = promise_new();
        end(promise, how);
        int fd = fd_of(promise);
        assert_true(is_readable(fd));
        assert_int_equal(fd_of(promise), fd);
        rota_future_unref(promise);
        assert_false(is_open(fd));
    }
}

static void wait_in_poll(void *arg)
{
    struct pollfd *asked = arg;

    test_check(poll(asked, 1, -1) == 1);
}

/* A thread that polls is woken by the task's end, and sees what the task did. */
TEST(who_polls_is_woken)
{
    test_probe probe = {.error = 0};
    rota_future *future;
    rota_task *task = test_task(test_probe_call(&probe), &future);
    struct pollfd asked = {.fd = fd_of(future), .events = POLLIN};
    test_thread *poller = test_thread_start(wait_in_poll, &asked);

    test_thread_join(test_run_on_thread(task));
    test_thread_join(poller);
    assert_int_equal(asked.revents, POLLIN);
    assert_ok(rota_future_get_timed(future, 0, NULL));
    rota_future_unref(future);
}

/* Many futures, one loop: only those that are done are told. */
TEST(poll_tells_which_are_done)
{
    rota_future *promises[8];
    struct pollfd asked[8];

    for (int i = 0; i < 8; i++) {
        promises[i] = promise_new();
        asked[i] = (struct pollfd){.fd = fd_of(promises[i]), .events = POLLIN};
        for (int j = 0; j < i; j++)
            assert_int_not_equal(asked[i].fd, asked[j].fd);
    }
    for (int i = 0; i < 8; i += 3)
        rota_promise_complete(promises[i], NULL);
    assert_int_equal(poll(asked, 8, 0), 3);
    for (int i = 0; i < 8; i++) {
        assert_int_equal((asked[i].revents & POLLIN) != 0, i % 3 == 0);
        rota_future_unref(promises[i]);
    }
}

#ifdef __linux__
static int events_now(int loop)
{
    struct epoll_event event;
    int count = epoll_wait(loop, &event, 1, 0);

    if (count == 1)
        assert_int_equal(event.events, EPOLLIN);
    return count;
}

static void check_epoll(uint32_t trigger, bool done_first)
{
    rota_future *promise = promise_new();
    struct epoll_event event = {.events = EPOLLIN | trigger};
    int loop = epoll_create1(EPOLL_CLOEXEC);

    assert_true(loop >= 0);
    if (done_first)
        rota_promise_complete(promise, NULL);
    assert_int_equal(epoll_ctl(loop, EPOLL_CTL_ADD, fd_of(promise), &event), 0);
    if (!done_first) {
        assert_int_equal(events_now(loop), 0);
        rota_promise_complete(promise, NULL);
    }
    assert_int_equal(events_now(loop), 1);
    assert_int_equal(events_now(loop), trigger == EPOLLET ? 0 : 1); /* one edge, one level */
    assert_int_equal(epoll_ctl(loop, EPOLL_CTL_DEL, fd_of(promise), NULL), 0);
    close(loop);
    rota_future_unref(promise);
}
#endif

/* It works in a loop of epoll, by level and by edge, added before the end or after. */
TEST(it_works_with_epoll)
{
#ifdef __linux__
    check_epoll(0, false);
    check_epoll(0, true);
    check_epoll(EPOLLET, false);
    check_epoll(EPOLLET, true);
#else
    skip();
#endif
}

/* -- Refused ------------------------------------------------------------------------------ */

/*
 * GEN-10, FAULT-33: without a descriptor, or without memory, nothing has changed, and later it
 * works.
 */
TEST(a_refusal_changes_nothing)
{
    rota_future *promise = promise_new();
    int fd = -7;

    rota__fault_arm(ROTA__FAULT_EVENT, 1, true);
    size_t live = test_memory_live();
    for (int i = 0; i < 10; i++)
        assert_status(rota_future_fd(promise, &fd), ROTA_EAGAIN);
    rota__fault_arm(ROTA__FAULT_EVENT, 0, false);
    test_memory_fail_at(1, false);
    assert_status(rota_future_fd(promise, &fd), ROTA_ENOMEM);
    test_memory_fail_at(0, false);
    assert_int_equal(fd, -7);
    assert_int_equal(test_memory_live(), live);
    assert_int_equal(open_count(), open_before);

    fd = fd_of(promise);
    rota__fault_arm(ROTA__FAULT_EVENT, 1, true);
    assert_int_equal(fd_of(promise), fd); /* what is there needs nothing more */
    assert_false(is_readable(fd));
    rota_promise_complete(promise, NULL);
    assert_true(is_readable(fd));
    rota_future_unref(promise);
}

/* -- Two at once -------------------------------------------------------------------------- */

struct asker {
    test_barrier *start;
    rota_future *future;
    int fd;
};

static void ask(void *arg)
{
    struct asker *asker = arg;

    test_barrier_wait(asker->start);
    test_check(rota_future_fd(asker->future, &asker->fd) == ROTA_OK);
}

/* GEN-11: two threads that ask at once get the same one, and no other is left open. */
TEST(two_who_ask_at_once_get_the_same)
{
    for (int round = 0; round < 200; round++) {
        test_barrier start;
        struct asker mine = {&start, promise_new(), -1};
        struct asker other = mine;
        test_barrier_init(&start, 2);
        test_thread *thread = test_thread_start(ask, &other);
        ask(&mine);
        test_thread_join(thread);
        assert_int_equal(mine.fd, other.fd);
        assert_false(is_readable(mine.fd));
        rota_future_unref(mine.future);
        assert_int_equal(open_count(), open_before);
    }
}
