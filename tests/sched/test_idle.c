/* SPDX-License-Identifier: MIT */
/*
 * The threads of a scheduled pool: how many there are, and that they sleep while nothing is due
 * (SCHED-18 to SCHED-20).
 */
#include "pools.h"
#include "rota_test_internal.h"

#include "base/time.h"

/* -- A clock that counts how often a thread goes to sleep --------------------------------- */

static atomic_uint sleeps;
static atomic_uint calls; /* that ended one; some systems also wake for no reason, which is none */
static const rota__clock *clock_below;

static void counting_wait(rota__os_word *word, uint32_t expected, rota_ns deadline)
{
    atomic_fetch_add(&sleeps, 1);
    clock_below->wait(word, expected, deadline);
    if (atomic_load(word) != expected)
        atomic_fetch_add(&calls, 1);
}

static int set_up(void **state)
{
    static rota__clock counting;

    test_clock_before(state);
    clock_below = rota__clock_used;
    counting = (rota__clock){clock_below->now, counting_wait};
    rota__clock_replace(&counting);
    atomic_store(&sleeps, 0);
    return 0;
}

TEST_FIXTURE(.setup = set_up, .teardown = test_clock_after);

/* -- Pools that count their threads ------------------------------------------------------- */

static atomic_uint starts, exits;

static void on_start(void *ctx)
{
    atomic_fetch_add(&starts, 1);
}

static void on_exit_of_thread(void *ctx)
{
    atomic_fetch_add(&exits, 1);
}

static rota_executor *counting_sched(rota_sched_options options)
{
    atomic_store(&starts, 0);
    atomic_store(&exits, 0);
    options.threads = (rota_threads){.on_start = on_start, .on_exit = on_exit_of_thread};
    return test_sched(options);
}

/* -- Nothing is due ----------------------------------------------------------------------- */

/* In steps as short as the shortest keep_alive here, and in longer ones. */
static void let_hours_pass(void)
{
    for (unsigned i = 0; i < 500; i++)
        test_clock_advance(ROTA_MS(10));
    for (unsigned i = 0; i < 500; i++)
        test_clock_advance(ROTA_SEC(60));
}

enum { TASKS = 3 };

/* SCHED-20, GEN-15: those that may go do, but for one; none comes again or wakes now and then. */
static void rests(rota_sched_options options, unsigned left)
{
    rota_executor *sched = counting_sched(options);
    unsigned threads = options.core_threads > 0 ? options.core_threads : 1;
    atomic_uint runs = 0;

    for (unsigned i = 0; i < TASKS; i++)
        assert_ok(rota_schedule(sched, test_count, &runs, ROTA_HOURS(100), NULL));
    test_await_count(&starts, threads);
    let_hours_pass();
    test_await_threads(sched, left);
    test_await_waiting(sched, left);
    let_hours_pass();
    assert_int_equal(starts, threads);
    assert_int_equal(test_stats(sched).threads, left);
    assert_true(sleeps <= 20 * threads); /* of 2,000 steps */
    assert_int_equal(runs, 0);
    test_clock_advance(ROTA_HOURS(100));
    test_await_count(&runs, TASKS);
    assert_ok(rota_close(sched));
    assert_int_equal(starts, exits);
}

TEST(with_core_0_the_one_thread_sleeps_until_something_is_due)
{
    rests((rota_sched_options){.core_threads = 0}, 1);
}

TEST(so_it_does_if_idle_threads_go_at_once)
{
    rests((rota_sched_options){.core_threads = 0, .keep_alive = 1}, 1);
}

TEST(so_it_does_if_they_stay_long)
{
    rests((rota_sched_options){.core_threads = 0, .keep_alive = ROTA_SEC(60)}, 1);
}

/* FAULT-32 */
TEST(core_threads_sleep_until_something_is_due)
{
    rests((rota_sched_options){.core_threads = TASKS}, TASKS);
}

TEST(core_threads_that_may_go_do_so_but_for_one_that_sleeps)
{
    rests((rota_sched_options){.core_threads = TASKS, .core_may_time_out = true}, 1);
}

TEST(so_they_do_if_they_go_at_once)
{
    rests((rota_sched_options){.core_threads = TASKS, .core_may_time_out = true, .keep_alive = 1},
          1);
}

/* SCHED-08: for ever is no time to wake up at. */
TEST(a_task_that_never_comes_wakes_nobody)
{
    rota_executor *sched = counting_sched((rota_sched_options){.keep_alive = 1});
    atomic_uint runs = 0;

    assert_ok(rota_schedule(sched, test_count, &runs, INT64_MAX, NULL));
    test_await_count(&starts, 1);
    test_await_waiting(sched, 1);
    let_hours_pass();
    assert_true(sleeps <= 20);
    assert_int_equal(starts, 1);
    test_stop(sched);
    assert_int_equal(runs, 0);
}

/* SCHED-20: also if the last one may go at once from now on. */
TEST(the_last_one_sleeps_on_if_its_keep_alive_becomes_0)
{
    rota_executor *sched = counting_sched((rota_sched_options){.core_threads = 0});
    atomic_uint runs = 0;

    assert_ok(rota_schedule(sched, test_count, &runs, ROTA_HOURS(100), NULL));
    test_await_waiting(sched, 1);
    assert_ok(rota_pool_set_keep_alive(sched, 0));
    let_hours_pass();
    test_await_waiting(sched, 1);
    assert_true(sleeps <= 20);
    assert_int_equal(starts, 1);
    test_clock_advance(ROTA_HOURS(100));
    assert_ok(rota_close(sched));
    assert_int_equal(runs, 1);
}

/* SCHED-20: between the runs of a periodic task, which lie further apart than a thread waits. */
TEST(a_periodic_task_keeps_the_one_thread_that_runs_it)
{
    static const rota_ns keep_alives[] = {0, 1};

    for (unsigned i = 0; i < 2; i++) {
        rota_executor *sched = counting_sched((rota_sched_options){.keep_alive = keep_alives[i]});
        atomic_uint runs = 0;
        rota_future *periodic;

        assert_ok(
            rota_schedule_at_fixed_rate(sched, test_count, &runs, 0, ROTA_SEC(60), &periodic));
        for (unsigned run = 1; run <= 100; run++) {
            test_await_count(&runs, run);
            test_await_waiting(sched, 1);
            test_clock_advance(ROTA_SEC(30));
            test_clock_advance(ROTA_SEC(30));
        }
        assert_int_equal(starts, 1);
        assert_int_equal(test_stats(sched).threads, 1);
        test_stop(sched);
        rota_future_unref(periodic);
    }
}

/* -- One waits for the time, the others until they are called ------------------------------ */

/* DWQ-08, DWQ-10 */
TEST(one_worker_waits_for_the_first_task_and_the_others_for_a_call)
{
    rota_executor *sched = counting_sched((rota_sched_options){.core_threads = 4});
    atomic_uint runs = 0;

    for (unsigned i = 1; i <= 4; i++)
        assert_ok(rota_schedule(sched, test_count, &runs, ROTA_SEC(i), NULL));
    for (unsigned i = 1; i <= 4; i++) {
        test_await_waiting(sched, 4);
        test_clock_await_waiting(1);
        test_clock_advance(ROTA_SEC(1));
        test_await_count(&runs, i);
    }
    test_await_waiting(sched, 4);
    test_clock_await_waiting(0);
    assert_ok(rota_close(sched));
}

/* DWQ-08, SCHED-20: no thundering herd. */
TEST(a_beat_wakes_few_of_many_workers)
{
    enum { THREADS = 50, BEATS = 1000 };
    rota_executor *sched = counting_sched((rota_sched_options){.core_threads = THREADS});
    atomic_uint runs = 0;
    rota_future *beat;
    unsigned started;

    assert_ok(rota_pool_prestart(sched, &started));
    test_await_waiting(sched, THREADS);
    atomic_store(&calls, 0);
    assert_ok(
        rota_schedule_at_fixed_rate(sched, test_count, &runs, ROTA_MS(10), ROTA_MS(10), &beat));
    for (unsigned i = 1; i <= BEATS; i++) {
        test_clock_await_waiting(1);
        test_clock_advance(ROTA_MS(10));
        test_await_count(&runs, i);
    }
    test_await_waiting(sched, THREADS);
    assert_true(calls < THREADS / 2 * BEATS); /* a herd would be all of them, each time */
    assert_true(rota_future_cancel(beat));
    rota_future_unref(beat);
    assert_ok(rota_close(sched));
}

/* -- How many there are ------------------------------------------------------------------- */

/* SCHED-18, POOL-39, REJ-10: and it takes whatever comes. */
TEST(there_are_never_more_than_the_core_threads)
{
    rota_executor *sched = counting_sched((rota_sched_options){.core_threads = 2});
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    assert_int_equal(test_stats(sched).threads, 0);
    assert_ok(rota_execute(sched, test_wait_at, &gate));
    assert_int_equal(test_stats(sched).threads, 1);
    test_occupy(sched, &gate, 1);
    assert_ok(rota_pool_set_max_threads(sched, 50));
    for (unsigned i = 0; i < 100; i++)
        assert_ok(rota_schedule(sched, test_count, &runs, i % 2, NULL));
    assert_int_equal(test_stats(sched).threads, 2);
    assert_int_equal(test_stats(sched).rejected, 0);
    test_gate_open(&gate);
    test_await_count(&runs, 50);
    test_clock_advance(1);
    assert_ok(rota_close(sched));
    assert_int_equal(runs, 100);
    assert_int_equal(starts, 2);
}

/* SCHED-19, POOL-39 */
TEST(with_core_0_there_is_one_thread_and_it_runs_what_is_due)
{
    rota_executor *sched = counting_sched((rota_sched_options){.core_threads = 0});
    atomic_uint runs = 0;
    test_gate gate;

    test_gate_init(&gate);
    test_occupy(sched, &gate, 1);
    for (unsigned i = 0; i < 100; i++)
        assert_ok(rota_schedule(sched, test_count, &runs, i % 2, NULL));
    test_clock_advance(1);
    test_gate_open(&gate);
    test_await_count(&runs, 100);
    assert_int_equal(starts, 1);
    assert_int_equal(test_stats(sched).largest, 1);
    assert_int_equal(test_options(sched).core_threads, 0);
    assert_ok(rota_close(sched));
}

static bool has_nobody_in_time(void *sched)
{
    test_clock_advance(ROTA_MS(1));
    return test_stats(sched).threads == 0;
}

/* With what it waits for the last one goes, after its keep_alive, and comes again for another. */
TEST(the_last_thread_goes_when_the_only_task_is_cancelled)
{
    rota_executor *sched = counting_sched((rota_sched_options){.core_threads = 0});
    atomic_uint runs = 0;
    rota_future *future;

    for (unsigned i = 1; i <= 3; i++) {
        assert_ok(rota_schedule(sched, test_count, &runs, ROTA_HOURS(1000), &future));
        test_await_count(&starts, i);
        let_hours_pass();
        assert_true(rota_future_cancel(future));
        rota_future_unref(future);
        test_until(has_nobody_in_time, sched);
        assert_int_equal(starts, i);
    }
    assert_ok(rota_execute(sched, test_count, &runs));
    test_await_count(&runs, 1);
    assert_ok(rota_close(sched));
}

/* The same without the least time, and by other ways out of the queue. */
TEST(it_goes_at_once_if_idle_threads_do)
{
    rota_executor *sched = counting_sched((rota_sched_options){
        .core_threads = 2, .core_may_time_out = true, .keep_alive = 1, .keep_cancelled = true});
    atomic_uint runs = 0;
    rota_future *futures[2];

    for (unsigned i = 0; i < 2; i++)
        assert_ok(rota_schedule(sched, test_count, &runs, ROTA_HOURS(1000), &futures[i]));
    test_await_threads(sched, 1);
    assert_true(rota_pool_remove(sched, futures[0]));
    assert_true(rota_future_cancel(futures[1]));
    assert_int_equal(rota_pool_purge(sched), 1);
    test_await_threads(sched, 0);
    rota_future_unref(futures[0]);
    rota_future_unref(futures[1]);
    assert_ok(rota_close(sched));
    assert_int_equal(runs, 0);
}

/* -- Resizing while they wait ------------------------------------------------------------- */

static bool has_one_in_time(void *sched)
{
    test_clock_advance(ROTA_MS(1));
    return test_stats(sched).threads == 1;
}

/* SCHED-19, POOL-40 */
TEST(the_core_can_be_changed_while_they_wait)
{
    rota_executor *sched = counting_sched((rota_sched_options){.core_threads = 1});
    atomic_uint runs = 0;

    for (unsigned i = 0; i < 5; i++)
        assert_ok(rota_schedule(sched, test_count, &runs, ROTA_HOURS(1), NULL));
    test_await_waiting(sched, 1);
    assert_ok(rota_pool_set_core_threads(sched, 3));
    test_await_waiting(sched, 3);
    assert_ok(rota_pool_set_core_threads(sched, 1));
    test_until(has_one_in_time, sched);
    assert_ok(rota_pool_set_core_threads(sched, 0));
    for (unsigned i = 0; i < 100; i++)
        test_clock_advance(ROTA_MS(10));
    assert_int_equal(test_stats(sched).threads, 1);
    assert_int_equal(starts, 3);
    test_clock_advance(ROTA_HOURS(1));
    test_await_count(&runs, 5);
    test_until(has_nobody_in_time, sched);
    assert_ok(rota_close(sched));
}

/* A shorter keep_alive, and leave to go, reach those that wait. */
TEST(who_may_go_can_be_changed_while_they_wait)
{
    rota_executor *sched =
        counting_sched((rota_sched_options){.core_threads = 3, .keep_alive = ROTA_HOURS(10)});
    atomic_uint runs = 0;

    for (unsigned i = 0; i < 3; i++)
        assert_ok(rota_schedule(sched, test_count, &runs, ROTA_HOURS(1), NULL));
    test_await_waiting(sched, 3);
    assert_ok(rota_pool_set_core_may_time_out(sched, true));
    assert_ok(rota_pool_set_keep_alive(sched, ROTA_MS(5)));
    test_until(has_one_in_time, sched);
    for (unsigned i = 0; i < 100; i++)
        test_clock_advance(ROTA_MS(10));
    assert_int_equal(test_stats(sched).threads, 1);
    assert_int_equal(starts, 3);
    test_clock_advance(ROTA_HOURS(1));
    assert_ok(rota_close(sched));
    assert_int_equal(runs, 3);
}

/* -- Threads that cannot be made ---------------------------------------------------------- */

static int create_if(pthread_t *out, const pthread_attr_t *attr, void *(*start)(void *), void *arg,
                     void *ctx)
{
    atomic_int *allowed = ctx;

    if (atomic_fetch_sub(allowed, 1) <= 0)
        return 11; /* EAGAIN */
    return pthread_create(out, attr, start, arg);
}

static rota_executor *sched_allowed(atomic_int *allowed, unsigned core)
{
    return test_sched((rota_sched_options){.core_threads = core,
                                           .threads = {.create = create_if, .ctx = allowed}});
}

/* SCHED-35 */
TEST(without_a_thread_nothing_is_taken)
{
    for (unsigned core = 0; core < 3; core++) {
        atomic_int allowed = 0;
        rota_executor *sched = sched_allowed(&allowed, core);
        test_probe probe = {.error = 0};
        rota_call call = test_probe_call(&probe);
        rota_future *future = TEST_UNTOUCHED;

        assert_status(rota_schedule_call(sched, &call, 1, 0, &future), ROTA_EAGAIN);
        assert_status(rota_schedule_call(sched, &call, 0, 1, &future), ROTA_EAGAIN);
        assert_status(rota_submit_call(sched, &call, &future), ROTA_EAGAIN);
        assert_ptr_equal(future, TEST_UNTOUCHED);
        assert_int_equal(test_stats(sched).queued, 0);
        assert_int_equal(probe.runs + probe.discards, 0);
        atomic_store(&allowed, 1);
        assert_ok(rota_submit_call(sched, &call, NULL));
        assert_ok(rota_close(sched));
        assert_int_equal(probe.runs, 1);
    }
}

/* SCHED-35 */
TEST(with_one_thread_all_is_taken)
{
    atomic_int allowed = 1;
    rota_executor *sched = sched_allowed(&allowed, 3);
    atomic_uint runs = 0;

    for (unsigned i = 0; i < 5; i++)
        assert_ok(rota_schedule(sched, test_count, &runs, 1, NULL));
    test_await_waiting(sched, 1);
    test_pass(sched, 1, 1);
    assert_int_equal(runs, 5);
    assert_ok(rota_close(sched));
}

static bool has_run_in_time(void *runs)
{
    test_clock_advance(ROTA_SEC(60));
    return atomic_load((atomic_uint *)runs) > 0;
}

static void *end_thread(void *arg)
{
    atomic_fetch_add((atomic_uint *)arg, 1);
    pthread_exit(NULL);
}

/* GEN-14: what waits for its time does not wait in vain. */
TEST(a_thread_that_a_task_has_ended_is_replaced_for_what_is_not_due)
{
    for (unsigned core = 0; core < 2; core++) {
        rota_executor *sched = counting_sched((rota_sched_options){.core_threads = core});
        atomic_uint runs = 0, ended = 0;

        assert_ok(rota_schedule(sched, test_count, &runs, ROTA_HOURS(1), NULL));
        assert_ok(rota_execute(sched, end_thread, &ended));
        test_await_count(&starts, 2);
        test_until(has_run_in_time, &runs); /* who leaves may see to it for a while */
        assert_ok(rota_close(sched));
        assert_int_equal(runs, 1);
        assert_int_equal(ended, 1);
    }
}
