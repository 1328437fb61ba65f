/* SPDX-License-Identifier: MIT */
#include "rota_test_compose.h"

#include "pools.h"

rota_future *test_promise(void)
{
    rota_future *promise = NULL;

    test_check(rota_promise_new(&promise) == ROTA_OK);
    return promise;
}

rota_future *test_done(test_ending ending, void *value)
{
    rota_future *promise = test_promise();

    test_end(promise, ending, value);
    return promise;
}

void test_end(rota_future *promise, test_ending ending, void *value)
{
    if (ending == TEST_SUCCEEDS)
        test_check(rota_promise_complete(promise, value));
    else if (ending == TEST_FAILS)
        test_check(rota_promise_fail(promise, TEST_CODE));
    else
        test_check(rota_future_cancel(promise));
}

static const struct {
    int status;
    rota_future_state state;
} endings[] = {
    [TEST_SUCCEEDS] = {ROTA_OK, ROTA_FUTURE_SUCCEEDED},
    [TEST_FAILS] = {ROTA_EFAILED, ROTA_FUTURE_FAILED},
    [TEST_CANCELLED] = {ROTA_ECANCELED, ROTA_FUTURE_CANCELED},
};

static void has_ended(rota_future *future, test_ending ending, const void *value, int code)
{
    void *result = TEST_UNTOUCHED;
    bool has_value = ending == TEST_SUCCEEDS;

    assert_status(rota_future_get_timed(future, 0, &result), endings[ending].status);
    assert_ptr_equal(result, has_value ? value : TEST_UNTOUCHED);
    assert_int_equal(rota_future_state_of(future), endings[ending].state);
    assert_true(rota_future_is_done(future));
    assert_int_equal(rota_future_error(future), code);
    assert_ptr_equal(rota_future_get_now(future, TEST_UNTOUCHED),
                     has_value ? value : TEST_UNTOUCHED);
    assert_int_equal(rota_future_dependents(future), 0);
}

void test_has_ended(rota_future *future, test_ending ending, const void *value)
{
    has_ended(future, ending, value, ending == TEST_FAILS ? TEST_CODE : 0);
}

void test_has_failed(rota_future *future, int code)
{
    has_ended(future, TEST_FAILS, NULL, code);
}

void test_is_pending(rota_future *future)
{
    assert_false(rota_future_is_done(future));
    assert_status(rota_future_get_timed(future, 0, NULL), ROTA_ETIMEDOUT);
    assert_ptr_equal(rota_future_get_now(future, TEST_UNTOUCHED), TEST_UNTOUCHED);
    assert_int_equal(rota_future_error(future), 0);
}

/* -- Small stacks ------------------------------------------------------------------------- */

struct small {
    void (*body)(void *arg);
    void *arg;
};

static void *small_main(void *arg)
{
    const struct small *self = arg;

    self->body(self->arg);
    return NULL;
}

void test_on_small_stack(void (*body)(void *arg), void *arg)
{
    struct small self = {body, arg};
    pthread_attr_t attributes;
    pthread_t thread;

    test_check(pthread_attr_init(&attributes) == 0);
    test_check(pthread_attr_setstacksize(&attributes, (size_t)256 << 10) == 0);
    test_check(pthread_create(&thread, &attributes, small_main, &self) == 0);
    test_check(pthread_join(thread, NULL) == 0);
    pthread_attr_destroy(&attributes);
}
