/* SPDX-License-Identifier: MIT */
/*
 * Figures, the recorder and the watchdog beside one another, each on and off by itself; threads that come
 * and go, whose records are used again; children of fork(2).
 */
#define _GNU_SOURCE
#include "base/fork.h"
#include "observing.h"

#include <stdlib.h>

TEST_FIXTURE(.setup = observing_before, .teardown = observing_after);

static void hear_nothing(const rota_alarm *alarm, void *ctx)
{
}

static const rota_watchdog_options an_hour = {.longest_task = ROTA_HOURS(1), .alarm = hear_nothing};

/* -- Modes ----------------------------------------------------------------------------------- */

/* Whichever is on, tasks are timed; when the last is off, they are not. */
TEST(each_mode_is_by_itself)
{
    rota_executor *pool = observing_pool();

    assert_ok(rota_recorder_start(NULL));
    assert_ok(rota_watchdog_start(&an_hour));
    observing_run(pool, "all");
    assert_ok(rota_observe(false));
    assert_false(rota_is_observing());
    observing_run(pool, "two");
    assert_ok(rota_recorder_stop());
    observing_run(pool, "one");
    assert_ok(rota_watchdog_stop());
    observing_run(pool, "none");
    assert_int_equal(observing_task(pool, "all").completed, 1);
    assert_int_equal(observing_task(pool, "two").completed, 1);
    assert_int_equal(observing_task(pool, "one").completed, 1);
    assert_null(observing_task(pool, "none").name);

    char *text = observing_printed(rota_recorder_print);
    assert_non_null(strstr(text, "\"all\""));
    assert_non_null(strstr(text, "\"two\""));
    assert_null(strstr(text, "\"one\""));
    free(text);
    assert_ok(rota_close(pool));
}

typedef struct switcher {
    test_barrier *barrier;
    atomic_uint *successes;
} switcher;

static void start_recorder(void *arg)
{
    const switcher *mine = arg;

    for (unsigned i = 0; i < 200; i++) {
        test_barrier_wait(mine->barrier);
        int status = rota_recorder_start(&(rota_recorder_options){.events = 64});
        test_check(status == ROTA_OK || status == ROTA_EBUSY);
        atomic_fetch_add(mine->successes, status == ROTA_OK);
        test_barrier_wait(mine->barrier);
        test_check(rota_recorder_stop() == ROTA_OK);
    }
}

/* Of two that start it at one moment, one has started it. */
TEST(one_of_two_starts_the_recorder)
{
    test_barrier barrier;
    atomic_uint successes = 0;
    switcher mine = {&barrier, &successes};

    test_barrier_init(&barrier, 2);
    test_thread *other = test_thread_start(start_recorder, &mine);
    start_recorder(&mine);
    test_thread_join(other);
    assert_int_equal(successes, 200);
}

static void start_watchdog(void *arg)
{
    const switcher *mine = arg;

    for (unsigned i = 0; i < 50; i++) {
        test_barrier_wait(mine->barrier);
        int status = rota_watchdog_start(&an_hour);
        test_check(status == ROTA_OK || status == ROTA_EBUSY);
        atomic_fetch_add(mine->successes, status == ROTA_OK);
        test_barrier_wait(mine->barrier);
        if (status == ROTA_OK)
            test_check(rota_watchdog_stop() == ROTA_OK);
    }
}

TEST(one_of_two_starts_the_watchdog)
{
    test_barrier barrier;
    atomic_uint successes = 0;
    switcher mine = {&barrier, &successes};

    test_barrier_init(&barrier, 2);
    test_thread *other = test_thread_start(start_watchdog, &mine);
    start_watchdog(&mine);
    test_thread_join(other);
    assert_int_equal(successes, 50);
}

/* -- Records --------------------------------------------------------------------------------- */

static unsigned records(void)
{
    unsigned count = 0;

    for (rota__link *link = rota__records.head.next; link != &rota__records.head; link = link->next)
        count++;
    return count;
}

static void *end_thread(void *arg)
{
    pthread_exit(NULL);
}

/* Each task ends its thread; who comes next goes on with the record of one that has left:
   observe.B3. The last may still be about to leave when the next is there, and so may the one
   before it. */
TEST(the_next_thread_uses_the_record_of_the_last)
{
    rota_executor *pool = observing_pool();

    for (uint64_t i = 1; i <= 20; i++) {
        assert_ok(rota_submit_call(pool, &(rota_call){.fn = end_thread, .name = "ends"}, NULL));
        test_await_completed(pool, i);
    }
    assert_true(records() <= 4);
    assert_int_equal(observing_task(pool, "ends").completed, 20);
    assert_ok(rota_close(pool));
}

/* So many threads at a time, so many records, however many executors there have been. */
TEST(there_are_no_more_records_than_threads)
{
    for (unsigned i = 0; i < 20; i++) {
        rota_executor *pool = test_pool((rota_pool_options){.core_threads = 2});
        test_gate gate;
        test_gate_init(&gate);
        test_occupy(pool, &gate, 2);
        test_gate_open(&gate);
        assert_ok(rota_close(pool));
    }
    assert_true(records() <= 2);
}

/* An executor that is gone takes its figures along, and another does not find them. */
TEST(figures_end_with_their_executor)
{
    for (unsigned i = 0; i < 5; i++) {
        rota_executor *pool = observing_pool();
        assert_null(observing_task(pool, "again").name);
        observing_run(pool, "again");
        assert_int_equal(observing_task(pool, "again").completed, 1);
        assert_int_equal(observing_figures(pool).running.count, 1);
        assert_ok(rota_close(pool));
    }
}

/* Of a thread, the most that any has. */
static unsigned cells(void)
{
    unsigned most = 0;

    for (rota__link *link = rota__records.head.next; link != &rota__records.head;
         link = link->next) {
        const rota__record *record = ROTA__CONTAINER(link, rota__record, link);
        most = record->cell_count > most ? record->cell_count : most;
    }
    return most;
}

enum { USED = 100 };

static void use_cells(unsigned rounds)
{
    static char names[USED][ROTA_NAME_SIZE];

    for (unsigned i = 0; i < USED; i++)
        snprintf(names[i], sizeof names[i], "cell %u", i);
    for (unsigned round = 0; round < rounds; round++) {
        rota_executor *pool = observing_pool();
        for (unsigned i = 0; i < USED; i++)
            observing_run(pool, names[i]);
        for (unsigned i = 0; i < USED; i++)
            assert_int_equal(observing_task(pool, names[i]).completed, 1);
        assert_ok(rota_close(pool));
    }
}

/* A thread has no more cells than it needs at a time: it uses those of executors that are gone. */
TEST(cells_are_used_again)
{
    use_cells(4);
    assert_int_equal(cells(), USED);
}

/* Those that a recording has names of are left alone, until there are so many. */
TEST(cells_are_bounded)
{
    assert_ok(rota_recorder_start(NULL));
    use_cells(2);
    assert_int_equal(cells(), 2 * USED);
    use_cells(4);
    assert_int_equal(cells(), 256);
    assert_ok(rota_recorder_stop());
    use_cells(1);
    assert_int_equal(cells(), 256);
}

/* -- Children -------------------------------------------------------------------------------- */

static atomic_uint alarms;

static void hear(const rota_alarm *alarm, void *ctx)
{
    atomic_fetch_add(&alarms, 1);
}

typedef struct parent {
    rota_executor *pool;
    test_gate gate;
} parent;

/* The parent's task does not run here; its own are seen. */
static void in_the_child(void *arg)
{
    parent *past = arg;
    rota_executor *own = observing_pool();
    rota_figures figures;
    test_gate gate;

    test_check(rota_is_observing());
    observing_run(own, "of the child");
    test_check(rota_figures_get(own, &figures) == ROTA_OK);
    test_check(figures.completed == 1 && figures.running.count == 1);
    test_check(rota_figures_get(past->pool, &figures) == ROTA_OK);
    test_check(figures.threads == 0 && figures.queued == 0);
    test_check(rota_watchdog_stop() == ROTA_OK); /* the parent's */

    const rota_watchdog_options options = {.longest_task = 1, .period = 1, .alarm = hear};
    test_check(rota_watchdog_start(&options) == ROTA_OK);
    test_gate_init(&gate);
    test_occupy(own, &gate, 1);
    test_await_count(&alarms, 1);
    test_gate_open(&gate);
    test_check(rota_watchdog_stop() == ROTA_OK);
    test_check(alarms == 1); /* of its own, and of none else */
    test_check(rota_close(own) == ROTA_OK);
}

TEST(a_child_observes_its_own)
{
    parent past;

    if (!TEST_FORKS_ARE_FOLLOWED)
        skip();
    past.pool = observing_pool();
    assert_ok(rota_watchdog_start(&an_hour));
    test_gate_init(&past.gate);
    test_occupy(past.pool, &past.gate, 1);
    assert_int_equal(test_in_child(in_the_child, &past), 0);
    test_gate_open(&past.gate);
    assert_ok(rota_watchdog_stop());
    test_await_completed(past.pool, 1);
    assert_int_equal(observing_figures(past.pool).running.count, 1);
    assert_ok(rota_close(past.pool));
}
