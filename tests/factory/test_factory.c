/* SPDX-License-Identifier: MIT */
/*
 * Ready-made executors: fixed, single, cached, and a thread for each task.
 */
#include "pools.h"

#include <stdlib.h>

/* GEN-02, FACT-01 */
TEST(what_cannot_be_made_is_refused)
{
    rota_executor *made = NULL;

    assert_status(rota_fixed_pool(0, &made), ROTA_EINVAL);
    assert_status(rota_fixed_pool((unsigned)-1, &made), ROTA_EINVAL);
    assert_status(rota_fixed_pool(1, NULL), ROTA_EINVAL);
    assert_status(rota_single_thread(NULL), ROTA_EINVAL);
    assert_status(rota_cached_pool(NULL), ROTA_EINVAL);
    assert_status(rota_thread_per_task(NULL, NULL), ROTA_EINVAL);
    assert_status(rota_thread_per_task(&(rota_threads){.name = "%s"}, &made), ROTA_EINVAL);
    assert_null(made);
}

static void runs_three(rota_executor *made)
{
    atomic_uint runs = 0;

    for (int i = 0; i < 3; i++)
        assert_ok(rota_execute(made, test_count, &runs));
    assert_ok(rota_close(made));
    assert_int_equal(runs, 3);
}

/* FACT-01, FACT-02, FACT-03 */
TEST(each_kind_runs_its_tasks)
{
    rota_executor *made;

    assert_ok(rota_fixed_pool(2, &made));
    runs_three(made);
    assert_ok(rota_single_thread(&made));
    runs_three(made);
    assert_ok(rota_cached_pool(&made));
    runs_three(made);
    assert_ok(rota_thread_per_task(NULL, &made));
    runs_three(made);
}

/* FACT-01 */
TEST(a_fixed_pool_has_so_many_threads_and_a_queue_without_a_bound)
{
    rota_executor *made;
    test_gate gate;

    test_gate_init(&gate);
    assert_ok(rota_fixed_pool(3, &made));
    assert_int_equal(test_options(made).core_threads, 3);
    assert_int_equal(test_options(made).max_threads, 3);
    assert_int_equal(rota_queue_room(rota_pool_queue(made)), ROTA_UNBOUNDED);
    test_occupy(made, &gate, 3);
    for (int i = 0; i < 500; i++)
        assert_ok(rota_execute(made, test_wait_at, &gate));
    assert_int_equal(test_stats(made).threads, 3);
    assert_int_equal(gate.begun, 3);
    test_gate_open(&gate);
    assert_ok(rota_close(made));
    assert_int_equal(gate.ended, 503);
}

/* -- Single ------------------------------------------------------------------------------- */

struct strict {
    atomic_uint running, together;
};

static struct strict strict;

static void *note_alone(void *arg)
{
    atomic_fetch_add(&strict.together, atomic_fetch_add(&strict.running, 1) != 0);
    test_note_down(arg);
    atomic_fetch_sub(&strict.running, 1);
    return NULL;
}

static void *note_and_end_thread(void *arg)
{
    note_alone(arg);
    pthread_exit(NULL);
}

/* FACT-03: also if a task ends the thread. */
TEST(a_single_thread_runs_one_at_a_time_in_the_order_of_submission)
{
    enum { COUNT = 200 };
    rota_executor *made;
    test_journal journal;
    test_note notes[COUNT];
    unsigned expected[COUNT];

    test_notes_init(notes, COUNT, &journal);
    assert_ok(rota_single_thread(&made));
    for (unsigned i = 0; i < COUNT; i++) {
        expected[i] = i;
        assert_ok(rota_execute(made, i % 9 == 5 ? note_and_end_thread : note_alone, &notes[i]));
    }
    test_await_completed(made, COUNT);
    assert_int_equal(test_stats(made).largest, 1);
    assert_ok(rota_close(made));
    test_journal_is(&journal, expected, COUNT);
    assert_int_equal(strict.together, 0);
}

/* -- Cached ------------------------------------------------------------------------------- */

/* FACT-02 */
TEST(a_cached_pool_starts_every_task_at_once_and_uses_its_threads_again)
{
    rota_executor *made;
    test_gate gate, again;

    test_gate_init(&gate);
    test_gate_init(&again);
    assert_ok(rota_cached_pool(&made));
    assert_int_equal(test_options(made).core_threads, 0);
    assert_int_equal(test_options(made).keep_alive, ROTA_SEC(60));
    test_occupy(made, &gate, 12);
    assert_int_equal(test_stats(made).threads, 12);
    test_gate_open(&gate);
    test_await_waiting(made, 12);
    test_occupy(made, &again, 12);
    assert_int_equal(test_stats(made).largest, 12);
    test_gate_open(&again);
    assert_ok(rota_close(made));
}

/* -- A thread for each task --------------------------------------------------------------- */

static void count_start(void *ctx)
{
    atomic_fetch_add((atomic_uint *)ctx, 1);
}

TEST(each_task_has_a_new_thread)
{
    atomic_uint starts = 0, runs = 0;
    const rota_threads threads = {.on_start = count_start, .ctx = &starts};
    rota_executor *made;

    assert_ok(rota_thread_per_task(&threads, &made));
    for (unsigned i = 1; i <= 20; i++) {
        assert_ok(rota_execute(made, test_count, &runs));
        test_await_threads(made, 0);
        assert_int_equal(starts, i);
    }
    assert_ok(rota_close(made));
    assert_int_equal(runs, 20);
}

TEST(tasks_of_a_thread_each_run_at_once_and_can_be_cancelled)
{
    rota_future *futures[8];
    rota_executor *made;
    test_gate gate;

    test_gate_init(&gate);
    assert_ok(rota_thread_per_task(NULL, &made));
    for (int i = 0; i < 8; i++)
        assert_ok(rota_submit(made, test_sleep_long, &gate, &futures[i]));
    test_await_count(&gate.begun, 8);
    for (int i = 0; i < 8; i++) {
        assert_true(rota_future_cancel_now(futures[i]));
        rota_future_unref(futures[i]);
    }
    assert_ok(rota_close(made));
    assert_int_equal(gate.interrupted, 8);
}

/* -- The end of the process --------------------------------------------------------------- */

static void exit_while_tasks_run(void *arg)
{
    rota_executor *made[3];
    test_gate gate;

    test_gate_init(&gate);
    test_check(rota_fixed_pool(1, &made[0]) == ROTA_OK);
    test_check(rota_cached_pool(&made[1]) == ROTA_OK);
    test_check(rota_thread_per_task(NULL, &made[2]) == ROTA_OK);
    for (int i = 0; i < 3; i++)
        test_check(rota_execute(made[i], test_sleep_long, &gate) == ROTA_OK);
    test_await_count(&gate.begun, 3);
    exit(7); /* with all that this brings about */
}

/* FACT-11 */
TEST(the_end_of_the_process_waits_for_no_thread)
{
    assert_int_equal(test_in_child(exit_while_tasks_run, NULL), 7);
}
