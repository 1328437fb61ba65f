/* SPDX-License-Identifier: MIT */
/*
 * Completers that fail: who is told, how far that goes, and what they are to those who join them.
 */
#include "completers.h"

static rota_fj *task_of(test_counted *counted)
{
    return &counted->completer.task;
}

static void has_failed(test_counted *counted, int code)
{
    assert_true(rota_fj_is_done(task_of(counted)));
    assert_status(rota_join(task_of(counted)), ROTA_EFAILED);
    assert_int_equal(rota_fj_error(task_of(counted)), code);
}

/* -- From anywhere: CC-07 ----------------------------------------------------------------- */

TEST(a_failure_ends_all_above)
{
    test_counted line[3];

    test_counted_line(line, 3);
    rota_set_pending(&line[0].completer, 5);
    rota_fj_fail(task_of(&line[2]), -7);
    for (int i = 0; i < 3; i++) {
        has_failed(&line[i], -7);
        test_counted_is(&line[i], 0, 0, 1);
        assert_int_equal(line[i].code, -7);
        assert_ptr_equal(line[i].caller, &line[i < 2 ? i + 1 : 2].completer);
    }
    assert_int_equal(rota_pending(&line[0].completer), 5);
}

TEST(a_root_fails_alone)
{
    test_counted line[2];

    test_counted_line(line, 2);
    rota_fj_fail(task_of(&line[0]), 3);
    has_failed(&line[0], 3);
    test_counted_is(&line[0], 0, 0, 1);
    assert_false(rota_fj_is_done(task_of(&line[1])));
    test_counted_is(&line[1], 0, 0, 0);
}

TEST(it_fails_once)
{
    test_counted line[2];

    test_counted_line(line, 2);
    rota_fj_fail(task_of(&line[1]), 3);
    rota_fj_fail(task_of(&line[1]), 4);
    rota_fj_fail(task_of(&line[0]), 5);
    assert_false(rota_fj_cancel(task_of(&line[0])));
    for (int i = 0; i < 2; i++) {
        has_failed(&line[i], 3);
        test_counted_is(&line[i], 0, 0, 1);
    }
}

/* FJT-24: 0 is no failure. */
TEST(code_0_is_no_failure)
{
    test_counted c;

    test_counted_init(&c, NULL);
    rota_fj_fail(task_of(&c), 0);
    assert_false(rota_fj_is_done(task_of(&c)));
    test_counted_is(&c, 0, 0, 0);
    rota_complete(&c.completer);
    assert_ok(rota_join(task_of(&c)));
}

/* Header: "false: that goes no higher, and you complete what is above". */
TEST(a_failure_stops_where_it_is_told_to)
{
    test_counted line[3];

    test_counted_line(line, 3);
    line[1].stops_failure = true;
    rota_fj_fail(task_of(&line[2]), 7);
    has_failed(&line[2], 7);
    has_failed(&line[1], 7);
    test_counted_is(&line[1], 0, 0, 1);
    assert_false(rota_fj_is_done(task_of(&line[0])));
    test_counted_is(&line[0], 0, 0, 0);
    rota_try_complete(&line[0].completer);
    assert_ok(rota_join(task_of(&line[0])));
    test_counted_is(&line[0], 0, 1, 0);
}

TEST(a_failure_goes_through_who_is_not_told)
{
    test_counted line[3];

    test_counted_line(line, 3);
    line[1].completer.on_failure = NULL;
    rota_fj_fail(task_of(&line[2]), 7);
    has_failed(&line[1], 7);
    test_counted_is(&line[1], 0, 0, 0);
    has_failed(&line[0], 7);
    test_counted_is(&line[0], 0, 0, 1);
    assert_ptr_equal(line[0].caller, &line[1].completer);
}

/* CC-07: "the unfinished completer chain". */
TEST(a_failure_does_not_reach_who_is_done)
{
    test_counted line[3];

    test_counted_line(line, 3);
    rota_complete_root(&line[2].completer);
    rota_fj_fail(task_of(&line[2]), 7);
    has_failed(&line[1], 7);
    assert_ok(rota_join(task_of(&line[0])));
    assert_int_equal(rota_fj_error(task_of(&line[0])), 0);
    test_counted_is(&line[0], 0, 0, 0);
}

TEST(what_is_complete_does_not_fail)
{
    test_counted line[2];

    test_counted_line(line, 2);
    rota_set_pending(&line[0].completer, 1);
    rota_complete(&line[1].completer);
    rota_fj_fail(task_of(&line[1]), 7);
    assert_ok(rota_join(task_of(&line[1])));
    assert_int_equal(rota_fj_error(task_of(&line[1])), 0);
    assert_false(rota_fj_is_done(task_of(&line[0])));
    test_counted_is(&line[1], 0, 1, 0);
}

/* CC-12 */
TEST(what_has_failed_is_not_told_of_completion)
{
    test_counted line[3];

    test_counted_line(line, 3);
    rota_fj_fail(task_of(&line[2]), 7);
    rota_try_complete(&line[2].completer);
    rota_complete(&line[2].completer);
    rota_complete(&line[0].completer);
    rota_complete_root(&line[0].completer);
    for (int i = 0; i < 3; i++) {
        has_failed(&line[i], 7);
        test_counted_is(&line[i], 0, 0, 1);
    }
}

/* -- In its own compute ------------------------------------------------------------------- */

/* Counts, as the one of completers.h does, and then: */
static void fail_with_two_codes(rota_completer *self)
{
    test_counted *c = (test_counted *)self;

    atomic_fetch_add(&c->computes, 1);
    rota_fj_fail(&self->task, 5);
    rota_fj_fail(&self->task, 6);
    test_check(!rota_fj_is_done(&self->task));
    test_check(atomic_load(&c->failures) == 0);
}

/* Header: "fails it when that returns, and the last call counts". */
TEST(in_its_compute_the_last_code_counts)
{
    rota_executor *pool = test_forkjoin_of(1);
    test_counted c;

    test_counted_init(&c, NULL);
    c.completer.compute = fail_with_two_codes;
    assert_status(rota_invoke(pool, task_of(&c)), ROTA_EFAILED);
    has_failed(&c, 6);
    test_counted_is(&c, 1, 0, 1);
    assert_int_equal(c.code, 6);
    assert_ok(rota_close(pool));
}

static void fail_and_take_it_back(rota_completer *self)
{
    rota_fj_fail(&self->task, 5);
    rota_fj_fail(&self->task, 0);
    rota_try_complete(self);
}

TEST(in_its_compute_a_failure_can_be_taken_back)
{
    rota_executor *pool = test_forkjoin_of(1);
    test_counted c;

    test_counted_init(&c, NULL);
    c.completer.compute = fail_and_take_it_back;
    assert_ok(rota_invoke(pool, task_of(&c)));
    assert_int_equal(rota_fj_error(task_of(&c)), 0);
    test_counted_is(&c, 0, 1, 0);
    assert_ok(rota_close(pool));
}

static void fail_parent(rota_completer *self)
{
    rota_fj_fail(&self->parent->task, 8);
    test_check(rota_fj_is_done(&self->parent->task));
    rota_try_complete(self);
}

static void fork_child(rota_completer *self)
{
    test_counted *c = (test_counted *)self;
    rota_completer *child = c->arg;

    rota_set_pending(self, 1);
    rota_fork(&child->task);
}

/* Header: "anywhere else it fails at once". */
TEST(in_the_compute_of_another_it_fails_at_once)
{
    rota_executor *pool = test_forkjoin_of(1);
    test_counted line[2];

    test_counted_line(line, 2);
    line[0].completer.compute = fork_child;
    line[0].arg = &line[1];
    line[1].completer.compute = fail_parent;
    assert_status(rota_invoke(pool, task_of(&line[0])), ROTA_EFAILED);
    assert_ok(rota_await_quiescence(pool, ROTA_FOREVER));
    has_failed(&line[0], 8);
    test_counted_is(&line[0], 0, 0, 1);
    test_counted_is(&line[1], 0, 1, 0);
    assert_ok(rota_close(pool));
}

enum { CHILDREN = 6 };

struct family {
    test_counted root; /* first */
    test_counted children[CHILDREN];
};

static void fork_family(rota_completer *self)
{
    struct family *family = (struct family *)(void *)self;

    rota_set_pending(self, CHILDREN);
    for (int i = 0; i < CHILDREN; i++)
        rota_fork(task_of(&family->children[i]));
    rota_try_complete(self);
}

static void family_init(struct family *family)
{
    test_counted_init(&family->root, NULL);
    family->root.completer.compute = fork_family;
    for (int i = 0; i < CHILDREN; i++)
        test_counted_init(&family->children[i], &family->root);
}

/* CC-07, CC-12, FJT-20: here the others run all the same. */
TEST(a_child_that_fails_fails_the_root)
{
    for (unsigned parallelism = 1; parallelism <= 4; parallelism++) {
        rota_executor *pool = test_forkjoin_of(parallelism);
        struct family family;

        family_init(&family);
        family.children[2].fails_with = 9;
        assert_status(rota_invoke(pool, task_of(&family.root)), ROTA_EFAILED);
        assert_ok(rota_await_quiescence(pool, ROTA_FOREVER));
        has_failed(&family.root, 9);
        test_counted_is(&family.root, 0, 0, 1);
        assert_ptr_equal(family.root.caller, &family.children[2].completer);
        for (int i = 0; i < CHILDREN; i++)
            test_counted_is(&family.children[i], 1, i != 2, i == 2);
        assert_ok(rota_close(pool));
    }
}

/* on_failure of a child: it goes no higher, and the parent is told as of any other. */
static bool complete_above(rota_completer *self, int code, rota_completer *caller)
{
    test_check(code == 9 && caller == self);
    rota_try_complete(self->parent);
    return false;
}

TEST(a_child_that_fails_may_be_forgiven)
{
    for (unsigned parallelism = 1; parallelism <= 4; parallelism++) {
        rota_executor *pool = test_forkjoin_of(parallelism);
        struct family family;

        family_init(&family);
        for (int i = 0; i < CHILDREN; i += 2) {
            family.children[i].fails_with = 9;
            family.children[i].completer.on_failure = complete_above;
        }
        assert_ok(rota_invoke(pool, task_of(&family.root)));
        assert_ok(rota_await_quiescence(pool, ROTA_FOREVER));
        test_counted_is(&family.root, 0, 1, 0);
        has_failed(&family.children[0], 9);
        assert_ok(rota_close(pool));
    }
}

TEST(a_completer_without_a_compute_fails)
{
    rota_executor *pool = test_forkjoin_of(1);
    struct family family;

    family_init(&family);
    family.children[5].completer.compute = NULL;
    assert_status(rota_invoke(pool, task_of(&family.root)), ROTA_EFAILED);
    assert_ok(rota_await_quiescence(pool, ROTA_FOREVER));
    has_failed(&family.children[5], ROTA_EINVAL);
    has_failed(&family.root, ROTA_EINVAL);
    assert_ok(rota_close(pool));
}
