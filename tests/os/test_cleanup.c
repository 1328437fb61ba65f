/* SPDX-License-Identifier: MIT */
/*
 * A cleanup scope runs its handler whether its body returns or ends the thread (GEN-14).
 */
#define _GNU_SOURCE
#include "rota_test.h"

#include "os/cleanup.h"

/* A function that is called inside a scope. */
struct call {
    void (*body)(struct call *call);
    struct call *inner;
    test_latch started;
    bool only_on_unwind;
    int returned;
    int cleaned;
    pthread_t cleaned_on;
};

/* The calls whose handlers have run, in order. */
static struct call *cleaned_calls[4];
static size_t cleaned_count;

static void setup(struct call *call, void (*body)(struct call *call), struct call *inner)
{
    *call = (struct call){.body = body, .inner = inner};
    test_latch_init(&call->started, 1);
    cleaned_count = 0;
}

static void clean(void *arg)
{
    struct call *call = arg;

    call->cleaned++;
    call->cleaned_on = pthread_self();
    cleaned_calls[cleaned_count++] = call;
}

static void call_in_cleanup_scope(struct call *call)
{
    ROTA__CLEANUP_BEGIN(clean, call);
    call->body(call);
    ROTA__CLEANUP_END;
}

static void call_in_unwind_scope(struct call *call)
{
    ROTA__ON_UNWIND_BEGIN(clean, call);
    call->body(call);
    ROTA__ON_UNWIND_END;
}

static void call_in_scope(struct call *call)
{
    if (call->only_on_unwind)
        call_in_unwind_scope(call);
    else
        call_in_cleanup_scope(call);
    call->returned++;
}

static void *thread_main(void *arg)
{
    call_in_scope(arg);
    return arg;
}

static pthread_t start(struct call *call)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, thread_main, call), 0);
    return thread;
}

static void *join(pthread_t thread)
{
    void *result = NULL;

    assert_int_equal(pthread_join(thread, &result), 0);
    return result;
}

static void assert_cleaned_once_by(const struct call *call, pthread_t thread)
{
    assert_int_equal(call->returned, 0);
    assert_int_equal(call->cleaned, 1);
    assert_true(pthread_equal(call->cleaned_on, thread));
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

static void wait_for_cancel(struct call *call)
{
    test_latch_open(&call->started);
    for (;;)
        pthread_testcancel();
}

static void call_inner(struct call *call)
{
    call_in_scope(call->inner);
}

static void call_inner_then_exit(struct call *call)
{
    call_in_scope(call->inner);
    pthread_exit(NULL);
}

/* -- Tests -------------------------------------------------------------------------------- */

/* cleanup.U1: control that reaches the end of a cleanup scope calls the handler. */
TEST(a_body_that_returns_is_cleaned_up)
{
    struct call call;

    setup(&call, do_nothing, NULL);
    call_in_scope(&call);
    assert_int_equal(call.returned, 1);
    assert_int_equal(call.cleaned, 1);
}

/* An unwind handler is not called if the body returns. */
TEST(a_body_that_returns_is_not_unwound)
{
    struct call call;

    setup(&call, do_nothing, NULL);
    call.only_on_unwind = true;
    call_in_scope(&call);
    assert_int_equal(call.returned, 1);
    assert_int_equal(call.cleaned, 0);
}

/* GEN-14: after pthread_exit the handler runs once, on the thread itself; the call does not return. */
TEST(a_body_that_ends_its_thread_is_cleaned_up_by_that_thread)
{
    struct call call;

    for (int i = 0; i < 2; i++) {
        setup(&call, exit_thread, NULL);
        call.only_on_unwind = i == 1;
        pthread_t thread = start(&call);
        assert_null(join(thread));
        assert_cleaned_once_by(&call, thread);
    }
}

/* GEN-14: the same after pthread_cancel. */
TEST(a_body_that_is_cancelled_is_cleaned_up)
{
    struct call call;

    for (int i = 0; i < 2; i++) {
        setup(&call, wait_for_cancel, NULL);
        call.only_on_unwind = i == 1;
        pthread_t thread = start(&call);
        test_latch_wait(&call.started);
        assert_int_equal(pthread_cancel(thread), 0);
        assert_ptr_equal(join(thread), PTHREAD_CANCELED);
        assert_cleaned_once_by(&call, thread);
    }
}

/* A task that runs inside another task is cleaned up before the outer one. */
TEST(nested_scopes_are_cleaned_up_from_the_innermost_outwards)
{
    struct call outer, inner, innermost;

    setup(&innermost, exit_thread, NULL);
    setup(&inner, call_inner, &innermost);
    setup(&outer, call_inner, &inner);
    inner.only_on_unwind = true;
    join(start(&outer));
    assert_int_equal(cleaned_count, 3);
    assert_ptr_equal(cleaned_calls[0], &innermost);
    assert_ptr_equal(cleaned_calls[1], &inner);
    assert_ptr_equal(cleaned_calls[2], &outer);
    assert_int_equal(outer.returned + inner.returned + innermost.returned, 0);
}

/* The handler of a scope that was left is not called again when the thread ends later. */
TEST(a_scope_that_was_left_is_not_cleaned_up_again)
{
    struct call outer, inner, unwinding;

    setup(&inner, do_nothing, NULL);
    setup(&outer, call_inner_then_exit, &inner);
    join(start(&outer));
    assert_int_equal(inner.cleaned, 1);
    assert_int_equal(outer.cleaned, 1);

    setup(&unwinding, do_nothing, NULL);
    unwinding.only_on_unwind = true;
    setup(&outer, call_inner_then_exit, &unwinding);
    join(start(&outer));
    assert_int_equal(unwinding.cleaned, 0);
    assert_int_equal(outer.cleaned, 1);
}
