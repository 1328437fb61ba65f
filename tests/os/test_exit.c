/* SPDX-License-Identifier: MIT */
/*
 * What is called when a thread ends, whether we started it or not.
 */
#define _GNU_SOURCE
#include "rota_test.h"

#include "os/fault.h"
#include "os/os.h"

struct hook {
    rota__os_exit_hook exit; /* first, so that a pointer to it is one to all */
    int calls;
    int again; /* how often it sets itself once more */
    pthread_t called_on;
};

static void called(rota__os_exit_hook *self)
{
    struct hook *hook = (struct hook *)self;

    hook->calls++;
    hook->called_on = pthread_self();
    if (hook->again-- > 0)
        test_check(rota__os_on_thread_exit(self) == ROTA_OK);
}

static struct hook hooks[2];

static int prepare(void **state)
{
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    hooks[0] = hooks[1] = (struct hook){.exit = {called}};
    return 0;
}

TEST_FIXTURE(.setup = prepare);

static pthread_t run_thread(void *(*body)(void *arg))
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, body, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return thread;
}

static void set(int which)
{
    test_check(rota__os_on_thread_exit(&hooks[which].exit) == ROTA_OK);
}

static void *set_first(void *arg)
{
    set(0);
    test_check(hooks[0].calls == 0);
    return arg;
}

static void *set_first_and_exit(void *arg)
{
    set(0);
    pthread_exit(arg);
}

static void *set_first_then_second(void *arg)
{
    set(0);
    set(1);
    return arg;
}

static void *set_first_and_be_refused(void *arg)
{
    set(0);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 1, false);
    test_check(rota__os_on_thread_exit(&hooks[1].exit) == ROTA_ENOMEM);
    return arg;
}

/* It is called once, on the thread that ends, and not before. */
TEST(it_is_called_when_the_thread_ends)
{
    pthread_t thread = run_thread(set_first);

    assert_int_equal(hooks[0].calls, 1);
    assert_true(pthread_equal(hooks[0].called_on, thread));
}

/* GEN-14: also if the thread ends by pthread_exit. */
TEST(it_is_called_after_pthread_exit)
{
    run_thread(set_first_and_exit);
    assert_int_equal(hooks[0].calls, 1);
}

/* Set once more while it runs, it is called once more: others' destructors may come after it. */
TEST(set_again_within_it_is_called_again)
{
    hooks[0].again = 2;
    run_thread(set_first);
    assert_int_equal(hooks[0].calls, 3);
}

/* The one that was set last is called alone. */
TEST(the_last_one_replaces_those_before)
{
    run_thread(set_first_then_second);
    assert_int_equal(hooks[0].calls, 0);
    assert_int_equal(hooks[1].calls, 1);
}

/* GEN-10: being refused leaves the earlier one in place. */
TEST(a_refusal_leaves_the_one_before)
{
    run_thread(set_first_and_be_refused);
    assert_int_equal(hooks[0].calls, 1);
    assert_int_equal(hooks[1].calls, 0);
}

/* Every thread has its own. */
TEST(threads_do_not_share_it)
{
    run_thread(set_first);
    run_thread(set_first_then_second);
    assert_int_equal(hooks[0].calls, 1);
    assert_int_equal(hooks[1].calls, 1);
}
