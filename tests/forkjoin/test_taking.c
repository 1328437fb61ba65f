/* SPDX-License-Identifier: MIT */
/*
 * Tasks that were submitted, and are taken back out: rota_forkjoin_poll_submission and
 * rota_forkjoin_drain_tasks. FJ-27.
 */
#include "executors.h"
#include "forkjoin.h"
#include "os/os.h"

enum { QUEUED = 6 };

/* The only worker waits at the gate; so many are queued from outside, and note when they run. */
struct busy {
    rota_executor *pool;
    test_gate gate;
    test_journal journal;
    test_note notes[QUEUED];
    rota_future *futures[QUEUED];
};

static void queue_notes(void *arg)
{
    struct busy *busy = arg;

    test_notes_init(busy->notes, QUEUED, &busy->journal);
    for (int i = 0; i < QUEUED; i++)
        test_check(rota_submit(busy->pool, test_note_down, &busy->notes[i], &busy->futures[i])
                   == ROTA_OK);
}

static void busy_init(struct busy *busy)
{
    *busy = (struct busy){.pool = test_forkjoin_of(1)};
    test_gate_init(&busy->gate);
    test_occupy(busy->pool, &busy->gate, 1);
}

/* In which they were queued. */
static const unsigned order[] = {0, 1, 2, 3, 4, 5};

static void busy_end(struct busy *busy)
{
    test_gate_open(&busy->gate);
    assert_ok(rota_close(busy->pool));
}

static void unref_futures(struct busy *busy)
{
    for (int i = 0; i < QUEUED; i++)
        rota_future_unref(busy->futures[i]);
}

static void are_all(const struct busy *busy, rota_future_state state)
{
    for (int i = 0; i < QUEUED; i++)
        test_check(rota_future_state_of(busy->futures[i]) == state);
}

static void run_all(rota_task_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        rota_task_run(list->tasks[i]);
    rota_task_list_free(list);
}

/* -- The oldest from outside: FJ-27 ------------------------------------------------------- */

TEST(the_oldest_from_outside_is_taken_first)
{
    struct busy busy;
    rota_task *task;

    busy_init(&busy);
    queue_notes(&busy);
    for (unsigned i = 0; i < QUEUED; i++) {
        assert_int_equal(test_fj_stats(busy.pool).submissions, QUEUED - i);
        assert_ok(rota_forkjoin_poll_submission(busy.pool, &task));
        assert_int_equal(rota_future_state_of(busy.futures[i]), ROTA_FUTURE_PENDING);
        rota_task_run(task);
        assert_ok(rota_future_get(busy.futures[i], NULL));
    }
    assert_status(rota_forkjoin_poll_submission(busy.pool, &task), ROTA_EEMPTY);
    busy_end(&busy);
    test_journal_is(&busy.journal, order, QUEUED);
    unref_futures(&busy);
}

static void take_one_inside(void *arg)
{
    struct busy *busy = arg;
    rota_task *task;

    test_thread_join(test_thread_start(queue_notes, busy));
    test_check(test_fj_stats(busy->pool).submissions == QUEUED);
    test_check(rota_forkjoin_poll_submission(busy->pool, &task) == ROTA_OK);
    are_all(busy, ROTA_FUTURE_PENDING);
    rota_task_run(task);
}

TEST(a_worker_takes_what_came_from_outside)
{
    struct busy busy = {.pool = test_forkjoin_of(1)};

    test_fj_inside(busy.pool, take_one_inside, &busy);
    assert_ok(rota_close(busy.pool));
    test_journal_is(&busy.journal, order, QUEUED);
    unref_futures(&busy);
}

TEST(what_is_not_taken_runs)
{
    const unsigned oldest_last[] = {1, 2, 3, 4, 5, 0};
    struct busy busy;
    rota_task *task;

    busy_init(&busy);
    queue_notes(&busy);
    assert_ok(rota_forkjoin_poll_submission(busy.pool, &task));
    busy_end(&busy);
    assert_int_equal(rota_future_state_of(busy.futures[0]), ROTA_FUTURE_PENDING);
    rota_task_run(task); /* the pool is gone */
    test_journal_is(&busy.journal, oldest_last, QUEUED);
    unref_futures(&busy);
}

TEST(a_cancelled_one_is_taken_as_it_is)
{
    struct busy busy;
    rota_task *task;

    busy_init(&busy);
    queue_notes(&busy);
    assert_true(rota_future_cancel(busy.futures[0]));
    assert_ok(rota_forkjoin_poll_submission(busy.pool, &task));
    rota_task_run(task);
    assert_int_equal(busy.journal.count, 0);
    busy_end(&busy);
    test_journal_is(&busy.journal, &order[1], QUEUED - 1);
    unref_futures(&busy);
}

/* -- All of them: FJ-27 ------------------------------------------------------------------- */

TEST(all_from_outside_are_drained_in_their_order)
{
    struct busy busy;
    rota_task_list list;

    busy_init(&busy);
    queue_notes(&busy);
    assert_ok(rota_forkjoin_drain_tasks(busy.pool, &list));
    assert_int_equal(list.count, QUEUED);
    assert_int_equal(test_fj_stats(busy.pool).submissions, 0);
    are_all(&busy, ROTA_FUTURE_PENDING);
    run_all(&list);
    are_all(&busy, ROTA_FUTURE_SUCCEEDED);
    test_journal_is(&busy.journal, order, QUEUED);
    busy_end(&busy);
    unref_futures(&busy);
}

/* Who waits for one wakes. */
TEST(drained_ones_may_be_discarded)
{
    rota_task_list list = {NULL, 77};
    struct busy busy;
    test_getter getter;

    busy_init(&busy);
    queue_notes(&busy);
    test_getter_start(&getter, busy.futures[5], ROTA_FOREVER);
    assert_ok(rota_forkjoin_drain_tasks(busy.pool, &list));
    for (size_t i = 0; i < list.count; i++)
        rota_task_discard(list.tasks[i]);
    rota_task_list_free(&list);
    test_getter_ends(&getter, ROTA_ECANCELED, TEST_UNTOUCHED);
    are_all(&busy, ROTA_FUTURE_CANCELED);
    busy_end(&busy);
    unref_futures(&busy);
}

TEST(of_an_idle_pool_there_is_nothing)
{
    rota_executor *pool = test_forkjoin_of(2);
    rota_task_list list = {NULL, 77};
    rota_task *task = TEST_UNTOUCHED;
    atomic_uint runs = 0;

    assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_await_quiescence(pool, ROTA_FOREVER));
    assert_status(rota_forkjoin_poll_submission(pool, &task), ROTA_EEMPTY);
    assert_ok(rota_forkjoin_drain_tasks(pool, &list));
    assert_int_equal(list.count, 0);
    rota_task_list_free(&list);
    assert_ptr_equal(task, TEST_UNTOUCHED);
    assert_ok(rota_close(pool));
}

/* -- The deques of workers: FJ-27 --------------------------------------------------------- */

static void *submit_and_wait(void *busy)
{
    queue_notes(busy);
    return test_wait_at(&((struct busy *)busy)->gate);
}

/* A worker that does nothing to answer: header, "also in the deques of workers". */
TEST(the_deque_of_a_busy_worker_is_drained)
{
    struct busy busy = {.pool = test_forkjoin_of(1)};
    rota_task_list list = {NULL, 77};
    rota_task *task;

    test_gate_init(&busy.gate);
    assert_ok(rota_execute(busy.pool, submit_and_wait, &busy));
    test_await_count(&busy.gate.begun, 1);
    assert_int_equal(test_fj_stats(busy.pool).queued, QUEUED);
    assert_status(rota_forkjoin_poll_submission(busy.pool, &task), ROTA_EEMPTY);
    assert_ok(rota_forkjoin_drain_tasks(busy.pool, &list));
    assert_true(list.count == QUEUED || !rota__os_membarrier()); /* where the system can do that */
    run_all(&list);
    busy_end(&busy);
    assert_int_equal(busy.journal.count, QUEUED);
    are_all(&busy, ROTA_FUTURE_SUCCEEDED);
    unref_futures(&busy);
}

/* The first are public, as nobody could stand in; the others are not, as nobody asks for them. */
static void *submit_both_kinds(void *arg)
{
    struct busy *busy = arg;

    queue_notes(&busy[0]);
    test_check(rota_block_begin() == ROTA_EREJECTED);
    queue_notes(&busy[1]);
    return test_wait_at(&busy[0].gate);
}

TEST(what_is_public_does_not_hide_what_is_private)
{
    struct busy busy[2] = {
        {.pool = test_forkjoin((rota_forkjoin_options){.parallelism = 1, .max_threads = 1})}};
    rota_task_list list = {NULL, 77};

    busy[1].pool = busy[0].pool;
    test_gate_init(&busy[0].gate);
    assert_ok(rota_execute(busy[0].pool, submit_both_kinds, busy));
    test_await_count(&busy[0].gate.begun, 1);
    assert_ok(rota_forkjoin_drain_tasks(busy[0].pool, &list));
    assert_true(list.count == 2 * QUEUED || !rota__os_membarrier());
    run_all(&list);
    busy_end(&busy[0]);
    for (int i = 0; i < 2; i++) {
        are_all(&busy[i], ROTA_FUTURE_SUCCEEDED);
        unref_futures(&busy[i]);
    }
}

static void drain_own(void *arg)
{
    struct busy *busy = arg;
    rota_task_list list = {NULL, 77};

    queue_notes(busy);
    test_check(rota_forkjoin_drain_tasks(busy->pool, &list) == ROTA_OK);
    test_check(list.count == QUEUED);
    are_all(busy, ROTA_FUTURE_PENDING);
    run_all(&list);
    for (unsigned i = 0; i < QUEUED; i++)
        test_check(busy->journal.numbers[i] == i);
}

/* By a worker of the pool, and by a caller that takes part. */
TEST(a_task_drains_what_it_has_submitted)
{
    struct busy busy = {.pool = test_forkjoin_of(1)};

    test_fj_inside(busy.pool, drain_own, &busy);
    unref_futures(&busy);
    test_fj_await_active(busy.pool, 0);
    test_fj_taking_part(busy.pool, drain_own, &busy);
    unref_futures(&busy);
    assert_ok(rota_close(busy.pool));
}

static void drain_around_forks(void *arg)
{
    struct busy *busy = arg;
    test_fib_task f = {ROTA_FJ(test_fib), 12, 0}, g = {ROTA_FJ(test_fib), 11, 0};
    rota_task_list list = {NULL, 77};

    queue_notes(busy);
    rota_fork(&f.task);
    queue_notes(&busy[1]);
    rota_fork(&g.task);
    test_check(rota_forkjoin_drain_tasks(busy->pool, &list) == ROTA_OK);
    test_check(list.count == QUEUED);
    run_all(&list);
    are_all(busy, ROTA_FUTURE_SUCCEEDED);
    are_all(&busy[1], ROTA_FUTURE_PENDING);
    test_check(rota_join(&f.task) == ROTA_OK && f.value == 144);
    test_check(rota_join(&g.task) == ROTA_OK && g.value == 89);
}

/* Header: "unless a forked task lies before them". */
TEST(what_was_forked_stays)
{
    struct busy busy[2] = {{.pool = test_forkjoin_of(1)}};

    busy[1].pool = busy[0].pool;
    test_fj_inside(busy[0].pool, drain_around_forks, busy);
    assert_ok(rota_close(busy[0].pool));
    are_all(&busy[1], ROTA_FUTURE_SUCCEEDED);
    unref_futures(&busy[0]);
    unref_futures(&busy[1]);
}

/* -- After a shutdown: FJ-27 -------------------------------------------------------------- */

/* The last that a shutdown waited for: the pool ends. */
TEST(drained_after_a_shutdown_a_pool_ends)
{
    for (int how = 0; how < 2; how++) {
        rota_task_list list = {NULL, 0};
        rota_task *task = NULL;
        struct busy busy;
        busy_init(&busy);
        queue_notes(&busy);
        assert_ok(rota_shutdown(busy.pool));
        while (how == 0 && rota_forkjoin_poll_submission(busy.pool, &task) == ROTA_OK)
            rota_task_discard(task);
        if (how == 1)
            assert_ok(rota_forkjoin_drain_tasks(busy.pool, &list));
        assert_int_equal(list.count, how == 1 ? QUEUED : 0);
        assert_false(rota_is_terminated(busy.pool));
        test_gate_open(&busy.gate);
        assert_ok(rota_await_termination(busy.pool, ROTA_FOREVER));
        assert_status(rota_forkjoin_poll_submission(busy.pool, &task), ROTA_EEMPTY);
        for (size_t i = 0; i < list.count; i++)
            rota_task_discard(list.tasks[i]);
        rota_task_list_free(&list);
        assert_ok(rota_forkjoin_drain_tasks(busy.pool, &list));
        assert_int_equal(list.count, 0);
        assert_ok(rota_close(busy.pool));
        are_all(&busy, ROTA_FUTURE_CANCELED);
        assert_int_equal(busy.journal.count, 0);
        unref_futures(&busy);
    }
}

/* -- Arguments ---------------------------------------------------------------------------- */

/* GEN-01, GEN-02 */
TEST(wrong_arguments_change_nothing)
{
    rota_task_list list = {NULL, 77};
    rota_task *task = TEST_UNTOUCHED;
    rota_executor *direct;
    struct busy busy;

    busy_init(&busy);
    queue_notes(&busy);
    assert_ok(test_executor_direct(&direct));
    assert_status(rota_forkjoin_poll_submission(NULL, &task), ROTA_EINVAL);
    assert_status(rota_forkjoin_poll_submission(busy.pool, NULL), ROTA_EINVAL);
    assert_status(rota_forkjoin_poll_submission(direct, &task), ROTA_ENOTSUP);
    assert_status(rota_forkjoin_drain_tasks(NULL, &list), ROTA_EINVAL);
    assert_status(rota_forkjoin_drain_tasks(busy.pool, NULL), ROTA_EINVAL);
    assert_status(rota_forkjoin_drain_tasks(direct, &list), ROTA_ENOTSUP);
    assert_ptr_equal(task, TEST_UNTOUCHED);
    assert_int_equal(list.count, 77);
    assert_int_equal(test_fj_stats(busy.pool).submissions, QUEUED);
    assert_ok(rota_close(direct));
    busy_end(&busy);
    unref_futures(&busy);
}
