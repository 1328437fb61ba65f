/* SPDX-License-Identifier: MIT */
/*
 * Completers in a pool that is shut down, and who waits for them then: CC-13, FJ-23, FJ-24.
 */
#include "completers.h"
#include "rota_test_internal.h"

enum { CHILDREN = 5 };

/* A root that forks its children before or after it waits at a gate. */
typedef struct family {
    test_counted root; /* first */
    test_counted children[CHILDREN];
    test_gate gate;
    bool forks_later;
    rota_executor *pool;
    int status; /* of rota_invoke */
} family;

static rota_fj *task_of(test_counted *counted)
{
    return &counted->completer.task;
}

static void fork_children(family *here)
{
    for (int i = 0; i < CHILDREN; i++)
        rota_fork(task_of(&here->children[i]));
}

static void plant(rota_completer *self)
{
    family *here = (family *)(void *)self;

    rota_set_pending(self, CHILDREN);
    if (!here->forks_later)
        fork_children(here);
    test_wait_at(&here->gate);
    if (here->forks_later)
        fork_children(here);
    rota_try_complete(self);
}

static void family_init(family *here, bool forks_later)
{
    *here = (family){.forks_later = forks_later, .status = 77};
    test_counted_init(&here->root, NULL);
    here->root.completer.compute = plant;
    for (int i = 0; i < CHILDREN; i++)
        test_counted_init(&here->children[i], &here->root);
    test_gate_init(&here->gate);
}

static void invoke_root(void *arg)
{
    family *here = arg;

    here->status = rota_invoke(here->pool, task_of(&here->root));
}

/* When this returns it is queued, and its caller waits; `gate` holds the only worker. */
static test_thread *queue_root(family *here, test_gate *gate)
{
    test_thread *thread;

    here->pool = test_forkjoin_of(1);
    test_gate_init(gate);
    test_occupy(here->pool, gate, 1);
    thread = test_thread_start(invoke_root, here);
    test_fj_await_submissions(here->pool, 1);
    test_await_parked(test_thread_handle(thread));
    return thread;
}

static void nobody_completed(const family *here)
{
    test_counted_is(&here->root, 0, 0, 0);
    for (int i = 0; i < CHILDREN; i++)
        test_counted_is(&here->children[i], 0, 0, 0);
}

/* -- shutdown_now: CC-13, FJ-24 ----------------------------------------------------------- */

TEST(a_queued_root_is_cancelled)
{
    family here;
    test_gate gate;

    family_init(&here, false);
    test_thread *thread = queue_root(&here, &gate);
    assert_ok(rota_shutdown_now(here.pool, NULL));
    test_thread_join(thread);
    assert_status(here.status, ROTA_ECANCELED);
    test_gate_open(&gate);
    assert_ok(rota_close(here.pool));
    nobody_completed(&here);
    assert_int_equal(here.gate.begun, 0);
}

static void stop_at_the_gate(bool forks_later)
{
    family here;
    test_gate gate;

    family_init(&here, forks_later);
    test_thread *thread = queue_root(&here, &gate);
    test_gate_open(&gate);
    test_await_count(&here.gate.begun, 1); /* on the worker */
    assert_ok(rota_shutdown_now(here.pool, NULL));
    test_gate_open(&here.gate);
    test_thread_join(thread);
    assert_ok(rota_close(here.pool));
    assert_status(here.status, ROTA_ECANCELED);
    nobody_completed(&here);
    for (int i = 0; i < CHILDREN; i++)
        assert_status(rota_join(task_of(&here.children[i])), ROTA_ECANCELED);
}

/* The root has begun, and cannot become complete any more. */
TEST(queued_children_are_cancelled_and_who_waits_for_the_root_wakes)
{
    stop_at_the_gate(false);
}

TEST(children_that_are_forked_later_are_cancelled)
{
    stop_at_the_gate(true);
}

/* It takes part, and joins what will not come. */
static void stop_from_inside(rota_completer *self)
{
    family *here = (family *)(void *)self;

    rota_set_pending(self, CHILDREN);
    fork_children(here);
    test_check(rota_shutdown_now(here->pool, NULL) == ROTA_OK);
    rota_try_complete(self);
}

TEST(a_caller_that_takes_part_ends_when_its_pool_is_stopped)
{
    family here;

    family_init(&here, false);
    here.pool = test_forkjoin_of(1);
    here.root.completer.compute = stop_from_inside;
    invoke_root(&here);
    assert_status(here.status, ROTA_ECANCELED);
    assert_ok(rota_close(here.pool));
    nobody_completed(&here);
}

/* A worker that joins a root sees to its end itself, or is woken. */
static void join_and_be_stopped(void *arg)
{
    family *here = arg;
    int status;

    here->root.completer.compute = stop_from_inside;
    rota_fork(task_of(&here->root));
    here->status = rota_join(task_of(&here->root));
    do
        status = rota_await_quiescence(here->pool, ROTA_FOREVER);
    while (status == ROTA_EINTERRUPTED); /* by the stop */
    test_check(status == ROTA_OK);
}

TEST(a_worker_that_joins_ends_when_its_pool_is_stopped)
{
    for (unsigned parallelism = 1; parallelism <= 4; parallelism++) {
        family here;
        family_init(&here, false);
        here.pool = test_forkjoin_of(parallelism);
        test_fj_inside(here.pool, join_and_be_stopped, &here);
        assert_true(here.status == ROTA_ECANCELED
                    || (here.status == ROTA_OK && parallelism > 1)); /* thieves were quicker */
        assert_ok(rota_close(here.pool));
    }
}

/* -- A pool that only takes nothing new --------------------------------------------------- */

/* FJ-23, FJ-33 */
TEST(after_a_shutdown_a_tree_goes_on)
{
    family here;
    test_gate gate;

    family_init(&here, true);
    test_thread *thread = queue_root(&here, &gate);
    assert_ok(rota_shutdown(here.pool));
    test_gate_open(&gate);
    test_gate_open(&here.gate);
    test_thread_join(thread);
    assert_ok(here.status);
    assert_ok(rota_close(here.pool));
    test_counted_is(&here.root, 0, 1, 0);
    for (int i = 0; i < CHILDREN; i++)
        test_counted_is(&here.children[i], 1, 1, 0);
}

/* FJ-03: it is as it was, and may be invoked somewhere else. */
TEST(after_a_shutdown_no_root_is_taken)
{
    rota_executor *pool = test_forkjoin_of(1), *other = test_forkjoin_of(1);
    test_counted c;

    test_counted_init(&c, NULL);
    assert_ok(rota_shutdown(pool));
    assert_status(rota_invoke(pool, task_of(&c)), ROTA_EREJECTED);
    assert_false(rota_fj_is_done(task_of(&c)));
    test_counted_is(&c, 0, 0, 0);
    assert_ok(rota_invoke(other, task_of(&c)));
    test_counted_is(&c, 1, 1, 0);
    assert_ok(rota_close(pool));
    assert_ok(rota_close(other));
}

/* -- Cancelled or ended from outside, while it computes ----------------------------------- */

static void end_while_it_computes(void (*how)(family *here), int status)
{
    family here;
    test_gate gate;

    family_init(&here, true);
    test_thread *thread = queue_root(&here, &gate);
    test_gate_open(&gate);
    test_await_count(&here.gate.begun, 1);
    how(&here);
    test_thread_join(thread); /* "done at once": its compute still waits */
    assert_status(here.status, status);
    assert_int_equal(here.gate.ended, 0);
    test_gate_open(&here.gate);
    assert_ok(rota_await_quiescence(here.pool, ROTA_FOREVER));
    for (int i = 0; i < CHILDREN; i++)
        test_counted_is(&here.children[i], 1, 1, 0);
    assert_status(rota_join(task_of(&here.root)), status);
    assert_ok(rota_close(here.pool));
}

static void cancel_root(family *here)
{
    assert_true(rota_fj_cancel(task_of(&here->root)));
}

static void fail_root(family *here)
{
    rota_fj_fail(task_of(&here->root), 5);
    assert_int_equal(rota_fj_error(task_of(&here->root)), 5);
}

static void complete_root(family *here)
{
    rota_complete_root(&here->children[2].completer);
}

/* CC-09, CC-11, FJT-23 */
TEST(who_waits_wakes_when_the_root_is_ended_by_another)
{
    end_while_it_computes(cancel_root, ROTA_ECANCELED);
    end_while_it_computes(fail_root, ROTA_EFAILED);
    end_while_it_computes(complete_root, ROTA_OK);
}
