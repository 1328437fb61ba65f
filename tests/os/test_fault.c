/* SPDX-License-Identifier: MIT */
/*
 * Refusals on demand: without these working, no test of a failure means anything.
 */
#include "rota_test.h"

#include "os/fault.h"

/* Which of the next five requests are refused, the first as the lowest bit. */
static unsigned refused(rota__fault_kind kind)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < 5; i++)
        bits |= rota__fault(kind) ? 1U << i : 0;
    return bits;
}

enum { FIRST = 1, SECOND = 2, THIRD = 4, FOURTH = 8, FIFTH = 16 };

/* Nothing is refused unless a test asks for it. */
static void nothing_is_refused_at_first(void **state)
{
    for (unsigned kind = 0; kind < ROTA__FAULT_KINDS; kind++)
        assert_int_equal(refused((rota__fault_kind)kind), 0);
}

/* The n-th request alone, counted from 1. */
static void one_request_is_refused(void **state)
{
    rota__fault_arm(ROTA__FAULT_EVENT, 1, false);
    assert_int_equal(refused(ROTA__FAULT_EVENT), FIRST);
    rota__fault_arm(ROTA__FAULT_EVENT, 3, false);
    assert_int_equal(refused(ROTA__FAULT_EVENT), THIRD);
}

/* The n-th and all after it. */
static void all_from_one_on_are_refused(void **state)
{
    rota__fault_arm(ROTA__FAULT_EVENT, 4, true);
    assert_int_equal(refused(ROTA__FAULT_EVENT), FOURTH | FIFTH);
    assert_int_equal(refused(ROTA__FAULT_EVENT), FIRST | SECOND | THIRD | FOURTH | FIFTH);
    rota__fault_arm(ROTA__FAULT_EVENT, 0, true);
    assert_int_equal(refused(ROTA__FAULT_EVENT), 0);
}

/* Requests are counted, refused or not, and anew each time. */
static void requests_are_counted(void **state)
{
    rota__fault_arm(ROTA__FAULT_EVENT, 2, false);
    assert_int_equal(rota__fault_asked(ROTA__FAULT_EVENT), 0);
    refused(ROTA__FAULT_EVENT);
    assert_int_equal(rota__fault_asked(ROTA__FAULT_EVENT), 5);
    rota__fault_arm(ROTA__FAULT_EVENT, 0, false);
    assert_int_equal(rota__fault_asked(ROTA__FAULT_EVENT), 0);
}

/* What is armed for one kind does not concern another. */
static void kinds_do_not_mix(void **state)
{
    rota__fault_arm(ROTA__FAULT_THREAD_START, 1, true);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 2, false);
    rota__fault_arm(ROTA__FAULT_EVENT, 0, false);
    assert_int_equal(refused(ROTA__FAULT_EVENT), 0);
    assert_int_equal(refused(ROTA__FAULT_THREAD_EXIT), SECOND);
    assert_int_equal(rota__fault_asked(ROTA__FAULT_THREAD_START), 0);
    rota__fault_arm(ROTA__FAULT_THREAD_START, 0, false);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
}

static atomic_uint refusals;

static void ask_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++) {
        if (rota__fault(ROTA__FAULT_EVENT))
            atomic_fetch_add(&refusals, 1);
    }
}

/* One request is refused also if several threads make them. */
static void one_is_refused_among_threads(void **state)
{
    test_thread *threads[4];

    rota__fault_arm(ROTA__FAULT_EVENT, 2000, false);
    for (int i = 0; i < 4; i++)
        threads[i] = test_thread_start(ask_often, NULL);
    for (int i = 0; i < 4; i++)
        test_thread_join(threads[i]);
    assert_int_equal(refusals, 1);
    assert_int_equal(rota__fault_asked(ROTA__FAULT_EVENT), 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_refused_at_first),
        cmocka_unit_test(one_request_is_refused),
        cmocka_unit_test(all_from_one_on_are_refused),
        cmocka_unit_test(requests_are_counted),
        cmocka_unit_test(kinds_do_not_mix),
        cmocka_unit_test(one_is_refused_among_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
