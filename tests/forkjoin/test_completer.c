/* SPDX-License-Identifier: MIT */
/*
 * A completer by itself and in a line of parents: its count, and every way to its end. Nothing here
 * runs in a pool.
 */
#include "completers.h"

#include <limits.h>

static void is_not_done(const test_counted *counted)
{
    assert_false(rota_fj_is_done(&counted->completer.task));
}

static void has_ended(test_counted *counted, int status)
{
    assert_true(rota_fj_is_done(&counted->completer.task));
    assert_status(rota_join(&counted->completer.task), status);
    assert_status(rota_join(&counted->completer.task), status);
    assert_int_equal(rota_fj_error(&counted->completer.task), 0);
}

/* -- The count: CC-01, CC-02 -------------------------------------------------------------- */

TEST(a_count_may_be_any_number)
{
    const int counts[] = {-1, 0, 1, INT_MIN, INT_MAX};
    rota_completer c = ROTA_COMPLETER(test_counted_compute, NULL);

    assert_int_equal(rota_pending(&c), 0);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        rota_set_pending(&c, counts[i]);
        assert_int_equal(rota_pending(&c), counts[i]);
    }
}

TEST(counts_are_added)
{
    rota_completer c = ROTA_COMPLETER(test_counted_compute, NULL);

    assert_int_equal(rota_add_pending(&c, 1), 0);
    assert_int_equal(rota_add_pending(&c, 27), 1);
    assert_int_equal(rota_add_pending(&c, -28), 28);
    assert_int_equal(rota_add_pending(&c, -3), 0);
    assert_int_equal(rota_pending(&c), -3);
}

TEST(a_count_is_swapped_if_it_is_the_one_expected)
{
    rota_completer c = ROTA_COMPLETER(test_counted_compute, NULL);

    assert_true(rota_swap_pending(&c, 0, 1));
    assert_true(rota_swap_pending(&c, 1, 2));
    assert_false(rota_swap_pending(&c, 1, 3));
    assert_int_equal(rota_pending(&c), 2);
    assert_true(rota_swap_pending(&c, 2, INT_MIN));
    assert_true(rota_swap_pending(&c, INT_MIN, -7));
    assert_int_equal(rota_pending(&c), -7);
}

TEST(one_is_taken_from_a_count_unless_it_is_0)
{
    rota_completer c = ROTA_COMPLETER(test_counted_compute, NULL);

    rota_set_pending(&c, 2);
    assert_int_equal(rota_take_pending(&c), 2);
    assert_int_equal(rota_take_pending(&c), 1);
    assert_int_equal(rota_take_pending(&c), 0);
    assert_int_equal(rota_take_pending(&c), 0);
    assert_int_equal(rota_pending(&c), 0);
    rota_set_pending(&c, -1);
    assert_int_equal(rota_take_pending(&c), -1);
    assert_int_equal(rota_pending(&c), -2);
    assert_false(rota_fj_is_done(&c.task));
}

/* -- Who is above: CC-09 ------------------------------------------------------------------ */

TEST(every_completer_of_a_line_has_the_same_root)
{
    test_counted line[3];

    test_counted_line(line, 3);
    assert_null(line[0].completer.parent);
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(rota_completer_root(&line[i].completer), &line[0].completer);
        assert_true(i == 0 || line[i].completer.parent == &line[i - 1].completer);
    }
}

TEST(complete_root_ends_the_root_and_nothing_else)
{
    test_counted line[3];

    test_counted_line(line, 3);
    for (int i = 0; i < 3; i++)
        rota_set_pending(&line[i].completer, 1);
    rota_complete_root(&line[2].completer);
    has_ended(&line[0], ROTA_OK);
    is_not_done(&line[1]);
    is_not_done(&line[2]);
    for (int i = 0; i < 3; i++) {
        test_counted_is(&line[i], 0, 0, 0);
        assert_int_equal(rota_pending(&line[i].completer), 1);
    }
    rota_complete_root(&line[1].completer); /* once more is nothing */
    has_ended(&line[0], ROTA_OK);
}

/* -- Completing: CC-04 to CC-06, CC-12 ---------------------------------------------------- */

TEST(try_complete_counts_down_and_then_completes)
{
    test_counted c;

    test_counted_init(&c, NULL);
    rota_set_pending(&c.completer, 3);
    for (int left = 2; left >= 0; left--) {
        rota_try_complete(&c.completer);
        assert_int_equal(rota_pending(&c.completer), left);
        test_counted_is(&c, 0, 0, 0);
        is_not_done(&c);
    }
    rota_try_complete(&c.completer);
    assert_ptr_equal(c.caller, &c.completer);
    assert_int_equal(rota_pending(&c.completer), 0);
    has_ended(&c, ROTA_OK);
    test_counted_is(&c, 0, 1, 0);
}

/* CC-04: up to the first that still waits for somebody; only a root becomes done. */
TEST(try_complete_goes_on_with_the_parent)
{
    test_counted line[4];

    test_counted_line(line, 4);
    rota_set_pending(&line[1].completer, 1);
    rota_try_complete(&line[3].completer);
    test_counted_is(&line[3], 0, 1, 0);
    test_counted_is(&line[2], 0, 1, 0);
    test_counted_is(&line[1], 0, 0, 0);
    assert_ptr_equal(line[3].caller, &line[3].completer);
    assert_ptr_equal(line[2].caller, &line[3].completer);
    assert_int_equal(rota_pending(&line[1].completer), 0);
    rota_try_complete(&line[1].completer);
    test_counted_is(&line[1], 0, 1, 0);
    test_counted_is(&line[0], 0, 1, 0);
    assert_ptr_equal(line[1].caller, &line[1].completer);
    assert_ptr_equal(line[0].caller, &line[1].completer);
    has_ended(&line[0], ROTA_OK);
    for (int i = 1; i < 4; i++)
        is_not_done(&line[i]);
}

/* CC-01: less than 0 is not 0. */
TEST(a_negative_count_does_not_complete)
{
    test_counted c;

    test_counted_init(&c, NULL);
    rota_set_pending(&c.completer, -1);
    rota_try_complete(&c.completer);
    assert_int_equal(rota_pending(&c.completer), -2);
    is_not_done(&c);
    test_counted_is(&c, 0, 0, 0);
}

/* CC-05 */
TEST(propagate_completion_is_silent)
{
    test_counted line[3];

    test_counted_line(line, 3);
    rota_set_pending(&line[0].completer, 1);
    rota_propagate_completion(&line[2].completer);
    assert_int_equal(rota_pending(&line[0].completer), 0);
    is_not_done(&line[0]);
    rota_propagate_completion(&line[2].completer);
    has_ended(&line[0], ROTA_OK);
    for (int i = 0; i < 3; i++)
        test_counted_is(&line[i], 0, 0, 0);
}

static void completes_whatever_is_pending(int pending, unsigned parents)
{
    test_counted line[2];
    test_counted *c = &line[parents];

    test_counted_line(line, parents + 1);
    rota_set_pending(&c->completer, pending);
    rota_complete(&c->completer);
    assert_int_equal(rota_pending(&c->completer), pending);
    has_ended(c, ROTA_OK);
    test_counted_is(c, 0, 1, 0);
    assert_ptr_equal(c->caller, &c->completer);
    if (parents == 0)
        return;
    has_ended(&line[0], ROTA_OK);
    test_counted_is(&line[0], 0, 1, 0);
    assert_ptr_equal(line[0].caller, &c->completer);
}

/* CC-06 */
TEST(complete_completes_whatever_is_pending)
{
    for (unsigned parents = 0; parents < 2; parents++) {
        completes_whatever_is_pending(0, parents);
        completes_whatever_is_pending(42, parents);
        completes_whatever_is_pending(-1, parents);
    }
}

TEST(complete_counts_as_one_for_the_parent)
{
    test_counted parent, children[2];

    test_counted_init(&parent, NULL);
    test_counted_init(&children[0], &parent);
    test_counted_init(&children[1], &parent);
    rota_set_pending(&parent.completer, 1);
    rota_complete(&children[1].completer);
    is_not_done(&parent);
    test_counted_is(&parent, 0, 0, 0);
    rota_complete(&children[0].completer);
    has_ended(&parent, ROTA_OK);
    test_counted_is(&parent, 0, 1, 0);
    assert_ptr_equal(parent.caller, &children[0].completer);
}

/* Without functions to be told by there is nothing to tell. */
TEST(a_completer_without_functions_completes)
{
    rota_completer root = ROTA_COMPLETER(NULL, NULL), child = ROTA_COMPLETER(NULL, &root);

    rota_set_pending(&root, 1);
    rota_try_complete(&child);
    assert_false(rota_fj_is_done(&root.task));
    rota_complete(&child);
    assert_true(rota_fj_is_done(&root.task) && rota_fj_is_done(&child.task));
    assert_ok(rota_join(&root.task));
}

/* -- Loops: CC-08 ------------------------------------------------------------------------- */

TEST(first_complete_counts_down_and_then_gives_itself)
{
    test_counted c;

    test_counted_init(&c, NULL);
    rota_set_pending(&c.completer, 1);
    assert_null(rota_first_complete(&c.completer));
    assert_int_equal(rota_pending(&c.completer), 0);
    assert_ptr_equal(rota_first_complete(&c.completer), &c.completer);
    assert_ptr_equal(rota_first_complete(&c.completer), &c.completer);
    is_not_done(&c);
    test_counted_is(&c, 0, 0, 0);
}

TEST(next_complete_goes_up_and_ends_the_root)
{
    test_counted line[3];

    test_counted_line(line, 3);
    rota_set_pending(&line[0].completer, 1);
    assert_ptr_equal(rota_next_complete(&line[2].completer), &line[1].completer);
    assert_null(rota_next_complete(&line[1].completer));
    is_not_done(&line[0]);
    assert_int_equal(rota_pending(&line[0].completer), 0);
    assert_ptr_equal(rota_next_complete(&line[1].completer), &line[0].completer);
    is_not_done(&line[0]);
    assert_null(rota_next_complete(&line[0].completer));
    has_ended(&line[0], ROTA_OK);
    for (int i = 0; i < 3; i++)
        test_counted_is(&line[i], 0, 0, 0);
}

/* Header: "A loop over those that become complete". */
TEST(a_loop_meets_all_that_become_complete)
{
    test_counted line[3];
    int met = 0;

    test_counted_line(line, 3);
    for (rota_completer *d = rota_first_complete(&line[2].completer); d != NULL;
         d = rota_next_complete(d))
        assert_ptr_equal(d, &line[2 - met++].completer);
    assert_int_equal(met, 3);
    has_ended(&line[0], ROTA_OK);
}

/* -- Arguments ---------------------------------------------------------------------------- */

/* GEN-02 */
TEST(none_is_a_completer_that_counts_0)
{
    assert_int_equal(rota_pending(NULL), 0);
    rota_set_pending(NULL, 7);
    assert_int_equal(rota_add_pending(NULL, 7), 0);
    assert_false(rota_swap_pending(NULL, 0, 7));
    assert_int_equal(rota_take_pending(NULL), 0);
    rota_try_complete(NULL);
    rota_propagate_completion(NULL);
    rota_complete(NULL);
    assert_null(rota_first_complete(NULL));
    assert_null(rota_next_complete(NULL));
    assert_null(rota_completer_root(NULL));
    rota_complete_root(NULL);
    rota_help_complete(NULL, 7);
}
