/* SPDX-License-Identifier: MIT */
/*
 * One run of a periodic task, and all the ways in which the last one comes.
 */
#include "rota_test_tasks.h"

#include "future/future_internal.h"

static int value;

/* A periodic task as a scheduler has it, and one holder. */
static rota_future *periodic_new(test_probe *probe)
{
    rota_call call = test_probe_call(probe);
    rota_future *future = rota__future_new(&call, true, sizeof *future);

    assert_non_null(future);
    future->task.periodic = true;
    return future;
}

/* The scheduler lets go of its task, then the holder of the future. */
static void drop(rota_future *future)
{
    rota_task_discard(&future->task);
    rota_future_unref(future);
}

static void assert_counts(const test_probe *probe, unsigned runs, unsigned discards, unsigned frees)
{
    assert_int_equal(probe->runs, runs);
    assert_int_equal(probe->discards, discards);
    assert_int_equal(probe->frees, frees);
}

/* It is over: no run any more, and the argument was discarded once. */
static void assert_over(rota_future *future, const test_probe *probe, int status)
{
    unsigned runs = probe->runs;
    unsigned frees = probe->frees;

    assert_false(test_future_run_and_reset(future));
    assert_status(rota_future_get(future, NULL), status);
    assert_counts(probe, runs, 1, frees);
}

struct count {
    rota__action action;
    int runs;
};

static void count_action(rota__action *self, rota__action_queue *more)
{
    ROTA__CONTAINER(self, struct count, action)->runs++;
}

/* FUT-16, FUT-20: each run leaves it pending; OWN-17: and each result is freed. */
TEST(each_run_leaves_it_pending)
{
    test_probe probe = {.error = 0};
    rota_future *future = periodic_new(&probe);
    struct count actions = {.action = {.run = count_action}};

    assert_true(rota__future_add(future, &actions.action));
    for (unsigned i = 1; i <= 3; i++) {
        assert_true(test_future_run_and_reset(future));
        assert_counts(&probe, i, 0, i);
        assert_int_equal(rota_future_state_of(future), ROTA_FUTURE_PENDING);
        assert_status(rota_future_get_timed(future, 0, NULL), ROTA_ETIMEDOUT);
        assert_int_equal(actions.runs, 0);
    }
    drop(future);
    assert_int_equal(actions.runs, 1);
    assert_counts(&probe, 3, 1, 3);
}

static void look(void *arg)
{
    rota_future **future = arg;

    test_check(rota_future_state_of(*future) == ROTA_FUTURE_RUNNING);
    test_check(!test_future_run_and_reset(*future)); /* FUT-20: it runs already */
    test_future_run(*future);
    test_check(rota_future_get(*future, NULL) == ROTA_EDEADLOCK);
}

/* FUT-04, FUT-20: while it runs it is running, and nobody else can run it. */
TEST(a_run_excludes_others)
{
    rota_future *future;
    test_probe probe = {.during = look, .arg = &future};

    future = periodic_new(&probe);
    assert_true(test_future_run_and_reset(future));
    assert_true(test_future_run_and_reset(future));
    assert_counts(&probe, 2, 0, 2);
    drop(future);
    assert_counts(&probe, 2, 1, 2);
}

/* FUT-20, OWN-19: a failure ends it, with that code; a result beside it is not freed. */
TEST(a_failure_ends_it)
{
    test_probe probe = {.error = 0};
    rota_future *future = periodic_new(&probe);

    assert_true(test_future_run_and_reset(future));
    probe.error = 7;
    assert_false(test_future_run_and_reset(future));
    assert_counts(&probe, 2, 1, 1);
    assert_int_equal(rota_future_error(future), 7);
    assert_over(future, &probe, ROTA_EFAILED);
    drop(future);
    assert_counts(&probe, 2, 1, 1);
}

/* -- Ended from outside ------------------------------------------------------------------- */

static bool complete_by_hand(rota_future *future)
{
    return rota_promise_complete(future, &value);
}

static bool fail_by_hand(rota_future *future)
{
    return rota_promise_fail(future, 3);
}

static const struct {
    bool (*end)(rota_future *future);
    int status;
} ends[] = {
    {rota_future_cancel, ROTA_ECANCELED},
    {rota_future_cancel_now, ROTA_ECANCELED},
    {complete_by_hand, ROTA_OK},
    {fail_by_hand, ROTA_EFAILED},
};

enum { ENDS = sizeof ends / sizeof *ends };

static rota_future *ending; /* of which the body below is */

static void end_myself(void *arg)
{
    int how = *(int *)arg;

    test_check(ends[how].end(ending));
    test_check(rota_interrupted() == (ends[how].end == rota_future_cancel_now));
}

static void free_other(void *result)
{
    test_probe *probe = result;

    if (result != &value)
        atomic_fetch_add(&probe->frees, 1);
}

/* Its results are probes, but for the value that is set by hand. */
static rota_future *ending_new(test_probe *probe)
{
    rota_call call = test_probe_call(probe);

    call.free_result = free_other;
    ending = rota__future_new(&call, true, sizeof *ending);
    assert_non_null(ending);
    ending->task.periodic = true;
    return ending;
}

/* FUT-10, FUT-14, FUT-17, OWN-19: ended between two runs, it is discarded there and then. */
TEST(ended_between_runs_it_is_discarded_at_once)
{
    for (int how = 0; how < ENDS; how++) {
        for (unsigned runs = 0; runs < 2; runs++) {
            test_probe probe = {.error = 0};
            rota_future *future = ending_new(&probe);
            for (unsigned i = 0; i < runs; i++)
                assert_true(test_future_run_and_reset(future));
            assert_true(ends[how].end(future));
            assert_counts(&probe, runs, 1, runs);
            assert_over(future, &probe, ends[how].status);
            drop(future);
            assert_counts(&probe, runs, 1, runs);
        }
    }
}

/* FUT-20, FUT-22, OWN-17, OWN-19: ended while it runs, it is discarded when that run ends. */
TEST(ended_while_it_runs_it_is_discarded_after_that)
{
    for (int how = 0; how < ENDS; how++) {
        for (int error = 0; error < 2; error++) {
            test_probe probe = {.error = 0};
            rota_future *future = ending_new(&probe);
            assert_true(test_future_run_and_reset(future));
            probe.during = end_myself;
            probe.arg = &how;
            probe.error = error;
            assert_false(test_future_run_and_reset(future));
            assert_counts(&probe, 2, 1, error == 0 ? 2 : 1);
            assert_over(future, &probe, ends[how].status);
            drop(future);
            assert_counts(&probe, 2, 1, error == 0 ? 2 : 1);
        }
    }
}

static void note_discards(void *arg)
{
    test_probe *probe = arg;

    test_check(rota_future_cancel(ending));
    test_check(atomic_load(&probe->discards) == 0);
}

/* OWN-19: never while the body, which uses it, still runs. */
TEST(the_argument_is_there_until_the_body_ends)
{
    test_probe probe = {.during = note_discards};
    rota_future *future = ending_new(&probe);

    probe.arg = &probe;
    assert_false(test_future_run_and_reset(future));
    assert_counts(&probe, 1, 1, 1);
    drop(future);
}

/* OWN-19: a drained one that is run by hand runs once more, and has that run's outcome. */
TEST(run_by_hand_it_ends_with_that_run)
{
    for (int error = 0; error < 2; error++) {
        test_probe probe = {.error = 0};
        rota_future *future = periodic_new(&probe);
        void *result = TEST_UNTOUCHED;
        assert_true(test_future_run_and_reset(future));
        probe.error = error;
        rota_task_run(&future->task);
        assert_status(rota_future_get(future, &result), error == 0 ? ROTA_OK : ROTA_EFAILED);
        assert_ptr_equal(result, error == 0 ? &probe : TEST_UNTOUCHED);
        assert_counts(&probe, 2, 1, 1);
        rota_future_unref(future);
        assert_counts(&probe, 2, 1, error == 0 ? 2 : 1);
    }
}
