/* SPDX-License-Identifier: MIT */
/*
 * A guarded call tells how its body ended: by returning, or by ending the thread (GEN-14).
 */
#define _GNU_SOURCE
#include "rota_test.h"

#include "os/os.h"

/* Of one guarded call. */
struct call {
    void (*body)(struct call *call);
    struct call *inner;
    test_latch begun;
    int returned;
    int torn;
    pthread_t torn_on;
};

/* In which order the calls were torn. */
static struct call *torn_calls[4];
static size_t torn_count;

static void begin(struct call *call, void (*body)(struct call *call), struct call *inner)
{
    *call = (struct call){.body = body, .inner = inner};
    test_latch_init(&call->begun, 1);
    torn_count = 0;
}

static void run_body(void *arg)
{
    struct call *call = arg;

    call->body(call);
}

static void note_torn(void *arg)
{
    struct call *call = arg;

    call->torn++;
    call->torn_on = pthread_self();
    torn_calls[torn_count++] = call;
}

static void guard(struct call *call)
{
    rota__os_guarded(run_body, note_torn, call);
    call->returned++;
}

static void *guard_on_thread(void *arg)
{
    guard(arg);
    return arg;
}

static void *join(pthread_t thread)
{
    void *result = NULL;

    assert_int_equal(pthread_join(thread, &result), 0);
    return result;
}

static pthread_t start(struct call *call)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, guard_on_thread, call), 0);
    return thread;
}

/* -- Bodies ------------------------------------------------------------------------------- */

static void do_nothing(struct call *call)
{
    (void)call;
}

static void exit_thread(struct call *call)
{
    (void)call;
    pthread_exit(NULL);
}

static void await_cancel(struct call *call)
{
    test_latch_open(&call->begun);
    for (;;)
        pthread_testcancel();
}

static void guard_inner(struct call *call)
{
    guard(call->inner);
}

static void guard_inner_then_exit(struct call *call)
{
    guard(call->inner);
    pthread_exit(NULL);
}

/* -- Tests -------------------------------------------------------------------------------- */

/* A body that returns is not torn. */
TEST(a_body_that_returns_is_not_torn)
{
    struct call call;

    begin(&call, do_nothing, NULL);
    guard(&call);
    assert_int_equal(call.returned, 1);
    assert_int_equal(call.torn, 0);
}

/* GEN-14: pthread_exit is noticed once, on the thread itself, and the call does not return. */
TEST(a_body_that_exits_is_torn)
{
    struct call call;

    begin(&call, exit_thread, NULL);
    pthread_t thread = start(&call);
    assert_null(join(thread));
    assert_int_equal(call.returned, 0);
    assert_int_equal(call.torn, 1);
    assert_true(pthread_equal(call.torn_on, thread));
}

/* GEN-14: so is cancellation. */
TEST(a_body_that_is_cancelled_is_torn)
{
    struct call call;

    begin(&call, await_cancel, NULL);
    pthread_t thread = start(&call);
    test_latch_wait(&call.begun);
    assert_int_equal(pthread_cancel(thread), 0);
    assert_ptr_equal(join(thread), PTHREAD_CANCELED);
    assert_int_equal(call.returned, 0);
    assert_int_equal(call.torn, 1);
    assert_true(pthread_equal(call.torn_on, thread));
}

/* A task that runs inside another ends with it, and before it. */
TEST(nested_bodies_are_torn_from_within)
{
    struct call outer, inner, innermost;

    begin(&innermost, exit_thread, NULL);
    begin(&inner, guard_inner, &innermost);
    begin(&outer, guard_inner, &inner);
    join(start(&outer));
    assert_int_equal(torn_count, 3);
    assert_ptr_equal(torn_calls[0], &innermost);
    assert_ptr_equal(torn_calls[1], &inner);
    assert_ptr_equal(torn_calls[2], &outer);
    assert_int_equal(outer.returned + inner.returned + innermost.returned, 0);
}

/* What has returned is not torn when the thread ends later. */
TEST(a_guard_lasts_no_longer_than_its_body)
{
    struct call outer, inner;

    begin(&inner, do_nothing, NULL);
    begin(&outer, guard_inner_then_exit, &inner);
    join(start(&outer));
    assert_int_equal(inner.returned, 1);
    assert_int_equal(inner.torn, 0);
    assert_int_equal(outer.returned, 0);
    assert_int_equal(outer.torn, 1);
}
