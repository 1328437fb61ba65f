/* SPDX-License-Identifier: MIT */
/*
 * Tasks that are cancelled while they wait for their time: they leave the queue at once, or are kept
 * in it if that is wished. And how many may wait.
 */
#include "pools.h"
#include "rota_test_internal.h"

#include "base/block.h"

#include <stdlib.h>

TEST_FIXTURE(.setup = test_clock_before, .teardown = test_clock_after);

/* The thread sanitizer looks at every access, for each of them. */
#if defined(__SANITIZE_THREAD__)
enum { ROUNDS = 20000, MANY = 100000 };
#else
enum { ROUNDS = 200000, MANY = 1000000 };
#endif

static rota_executor *sched_of(unsigned threads, bool keep_cancelled)
{
    return test_sched(
        (rota_sched_options){.core_threads = threads, .keep_cancelled = keep_cancelled});
}

static rota_future *probe_in(rota_executor *sched, test_probe *probe, rota_ns delay, rota_ns period)
{
    rota_call call = test_probe_call(probe);
    rota_future *future = NULL;

    assert_ok(rota_schedule_call(sched, &call, delay, period, &future));
    return future;
}

static size_t queued(rota_executor *sched)
{
    return test_stats(sched).queued;
}

/* -- It leaves at once -------------------------------------------------------------------- */

/* SCHED-28, DWQ-05: from the head, the middle and the end. */
TEST(a_task_that_is_cancelled_leaves_the_queue_at_once)
{
    static const unsigned order[] = {0, 4, 2, 3, 1};
    rota_executor *sched = sched_of(1, false);
    test_probe probes[5] = {{.error = 0}};
    rota_future *futures[5];

    for (unsigned i = 0; i < 5; i++)
        futures[i] = probe_in(sched, &probes[i], ROTA_SEC(1 + i), i % 2 ? ROTA_SEC(1) : 0);
    for (unsigned i = 0; i < 5; i++) {
        assert_true(rota_future_cancel(futures[order[i]]));
        assert_int_equal(queued(sched), 4 - i);
        assert_int_equal(probes[order[i]].discards, 1);
        assert_false(rota_future_cancel(futures[order[i]]));
        rota_future_unref(futures[order[i]]);
    }
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_HOURS(1), 1);
    assert_int_equal(test_stats(sched).completed, 0);
    assert_int_equal(test_stats(sched).submitted, 5);
    assert_ok(rota_close(sched));
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(probes[i].runs, 0);
        assert_int_equal(probes[i].discards, 1);
    }
}

/* The others go on as if it had never been there. */
TEST(those_beside_it_run_in_their_order)
{
    static const unsigned order[] = {1, 3, 4, 6, 7, 9};
    rota_executor *sched = sched_of(1, false);
    test_journal journal;
    test_note notes[10];
    rota_future *futures[10];

    test_notes_init(notes, 10, &journal);
    for (unsigned i = 0; i < 10; i++)
        assert_ok(rota_schedule(sched, test_note_down, &notes[i], ROTA_SEC(i + 1), &futures[i]));
    for (unsigned i = 0; i < 10; i += i == 0 ? 2 : 3)
        assert_true(rota_future_cancel(futures[i]));
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_SEC(10), 1);
    test_journal_is(&journal, order, 6);
    for (unsigned i = 0; i < 10; i++)
        rota_future_unref(futures[i]);
    assert_ok(rota_close(sched));
}

/* "Completed by hand" is an end as well. */
TEST(a_task_that_is_completed_by_hand_leaves_too)
{
    rota_executor *sched = sched_of(1, false);
    test_probe probe = {.error = 0};
    rota_future *future = probe_in(sched, &probe, ROTA_SEC(1), 0);
    rota_future *failed = probe_in(sched, &probe, ROTA_SEC(1), 0);

    assert_true(rota_promise_complete(future, &probe));
    assert_int_equal(queued(sched), 1);
    assert_true(rota_promise_fail(failed, 7));
    assert_int_equal(queued(sched), 0);
    assert_int_equal(probe.discards, 2);
    rota_future_unref(future);
    rota_future_unref(failed);
    assert_int_equal(probe.frees, 1);
    assert_ok(rota_close(sched));
    assert_int_equal(probe.runs, 0);
}

enum { FAR = 100 };

/* Each of them is the head for a while, for which a worker waits. */
static void let_them_wait_and_cancel(rota_executor *sched, test_probe *probe)
{
    rota_future *futures[FAR];

    for (unsigned i = 0; i < FAR; i++) {
        futures[i] = probe_in(sched, probe, ROTA_HOURS(FAR - i), 0);
        test_clock_await_waiting(1);
    }
    for (unsigned i = 0; i < FAR; i++) {
        assert_true(rota_future_cancel(futures[i]));
        rota_future_unref(futures[i]);
    }
    rota__blocks_flush();
}

/* DWQ-14, OWN-15: workers that wait hold on to nothing, not to a single one. */
TEST(waiting_workers_keep_nothing_of_what_was_cancelled)
{
    rota_executor *sched = sched_of(10, false);
    test_probe probe = {.error = 0};
    unsigned started;
    size_t live;

    assert_ok(rota_pool_prestart(sched, &started));
    test_await_waiting(sched, 10);
    let_them_wait_and_cancel(sched, &probe); /* the heap has its array now */
    live = test_memory_live();
    let_them_wait_and_cancel(sched, &probe);
    assert_int_equal(test_memory_live(), live);
    assert_int_equal(probe.discards, 2 * FAR);
    test_await_waiting(sched, 10);
    assert_ok(rota_close(sched));
}

/* -- It is kept --------------------------------------------------------------------------- */

struct seen {
    atomic_uint before, cancelled, others;
};

static void see_before(rota_executor *ex, rota_task *task, void *ctx)
{
    struct seen *seen = ctx;

    atomic_fetch_add(&seen->before, 1);
}

static void see_after(rota_executor *ex, rota_task *task, int status, int error, void *ctx)
{
    struct seen *seen = ctx;

    atomic_fetch_add(status == ROTA_ECANCELED ? &seen->cancelled : &seen->others, 1);
}

/* SCHED-28, SCHED-29 */
TEST(a_kept_one_reaches_no_hook_when_its_time_comes)
{
    struct seen seen = {0};
    test_probe probe = {.error = 0};
    rota_executor *sched = test_sched((rota_sched_options){
        .core_threads = 1,
        .keep_cancelled = true,
        .hooks = {.before_execute = see_before, .after_execute = see_after, .ctx = &seen}});
    rota_future *once = probe_in(sched, &probe, ROTA_SEC(1), 0);
    rota_future *periodic = probe_in(sched, &probe, ROTA_SEC(1), ROTA_SEC(1));

    assert_true(rota_future_cancel(once));
    assert_true(rota_future_cancel(periodic));
    assert_int_equal(queued(sched), 2);
    test_await_waiting(sched, 1);
    assert_int_equal(seen.before, 0);
    test_pass(sched, ROTA_SEC(3), 1);
    assert_int_equal(queued(sched), 0);
    assert_int_equal(seen.before, 0);
    assert_int_equal(seen.cancelled, 0);
    assert_int_equal(seen.others, 0);
    assert_int_equal(test_stats(sched).completed, 2);
    rota_future_unref(once);
    rota_future_unref(periodic);
    assert_ok(rota_close(sched));
    assert_int_equal(probe.runs, 0);
    assert_int_equal(probe.discards, 2);
}

/* SCHED-28, POOL-51 */
TEST(a_purge_takes_out_the_cancelled_ones_alone)
{
    rota_executor *sched = sched_of(1, true);
    test_probe probes[6] = {{.error = 0}};
    rota_future *futures[6];

    assert_int_equal(rota_pool_purge(sched), 0);
    for (unsigned i = 0; i < 6; i++)
        futures[i] = probe_in(sched, &probes[i], ROTA_SEC(1 + i), i % 2 ? -ROTA_HOURS(1) : 0);
    for (unsigned i = 0; i < 4; i++)
        assert_true(rota_future_cancel(futures[i]));
    assert_int_equal(queued(sched), 6);
    assert_int_equal(rota_pool_purge(sched), 4);
    assert_int_equal(queued(sched), 2);
    assert_int_equal(rota_pool_purge(sched), 0);
    test_await_waiting(sched, 1);
    test_pass(sched, ROTA_SEC(10), 1);
    test_stop(sched);
    for (unsigned i = 0; i < 6; i++) {
        rota_future_unref(futures[i]);
        assert_int_equal(probes[i].runs, i >= 4);
        assert_int_equal(probes[i].discards, i != 4);
    }
}

/* SCHED-26 */
TEST(a_shutdown_throws_kept_ones_out_and_the_pool_ends)
{
    rota_executor *sched = sched_of(1, true);
    test_probe probe = {.error = 0};
    rota_future *future = probe_in(sched, &probe, ROTA_HOURS(1), 0);

    assert_true(rota_future_cancel(future));
    assert_int_equal(queued(sched), 1);
    assert_ok(rota_close(sched));
    rota_future_unref(future);
    assert_int_equal(probe.discards, 1);
}

/* SCHED-26: nothing is left that may run, so there is nothing to wait for. */
TEST(what_is_cancelled_after_the_shutdown_is_not_kept)
{
    rota_executor *sched = sched_of(1, true);
    test_probe probe = {.error = 0};
    rota_future *future = probe_in(sched, &probe, ROTA_HOURS(1), 0);

    assert_ok(rota_shutdown(sched));
    assert_true(rota_future_cancel(future));
    assert_int_equal(queued(sched), 0);
    assert_ok(rota_close(sched));
    rota_future_unref(future);
    assert_int_equal(probe.discards, 1);
}

/* What was cancelled before stays; what is cancelled after goes. */
TEST(keeping_can_be_switched_while_it_runs)
{
    rota_executor *sched = sched_of(1, true);
    test_probe probe = {.error = 0};
    rota_future *first = probe_in(sched, &probe, ROTA_SEC(1), 0);
    rota_future *second = probe_in(sched, &probe, ROTA_SEC(1), 0);
    rota_future *third = probe_in(sched, &probe, ROTA_SEC(1), 0);

    assert_true(rota_future_cancel(first));
    assert_ok(rota_sched_set_keep_cancelled(sched, false));
    assert_true(rota_future_cancel(second));
    assert_int_equal(queued(sched), 2);
    assert_ok(rota_sched_set_keep_cancelled(sched, true));
    assert_true(rota_future_cancel(third));
    assert_int_equal(queued(sched), 2);
    rota_future_unref(first);
    rota_future_unref(second);
    rota_future_unref(third);
    assert_ok(rota_close(sched));
    assert_int_equal(probe.discards, 3);
}

/* -- Removal ------------------------------------------------------------------------------ */

/* POOL-51 */
TEST(a_queued_task_can_be_removed_once_and_a_running_one_not)
{
    rota_executor *sched = sched_of(1, false);
    rota_executor *other = sched_of(1, false);
    test_probe probes[2] = {{.error = 0}};
    rota_future *running, *queued_ones[2];
    test_gate gate;

    test_gate_init(&gate);
    assert_ok(rota_submit(sched, test_wait_at, &gate, &running));
    test_await_count(&gate.begun, 1);
    queued_ones[0] = probe_in(sched, &probes[0], ROTA_SEC(1), 0);
    queued_ones[1] = probe_in(sched, &probes[1], ROTA_SEC(1), ROTA_SEC(1));
    assert_false(rota_pool_remove(sched, running));
    for (unsigned i = 0; i < 2; i++) {
        assert_false(rota_pool_remove(other, queued_ones[i]));
        assert_true(rota_pool_remove(sched, queued_ones[i]));
        assert_false(rota_pool_remove(sched, queued_ones[i]));
        assert_status(rota_future_get(queued_ones[i], NULL), ROTA_ECANCELED);
        assert_int_equal(probes[i].discards, 1);
        rota_future_unref(queued_ones[i]);
    }
    assert_int_equal(queued(sched), 0);
    test_gate_open(&gate);
    rota_future_unref(running);
    assert_ok(rota_close(sched));
    assert_ok(rota_close(other));
}

/* -- Many --------------------------------------------------------------------------------- */

static void schedule_and_cancel(rota_executor *sched, test_probe *probe, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        rota_future *future = probe_in(sched, probe, ROTA_SEC(600), i % 3 ? 0 : ROTA_SEC(1));
        test_check(rota_future_cancel(future));
        rota_future_unref(future);
    }
}

/* DWQ-15 */
TEST(rounds_of_schedule_and_cancel_need_no_memory)
{
    rota_executor *sched = sched_of(1, false);
    test_probe probe = {.error = 0};
    size_t bytes;

    schedule_and_cancel(sched, &probe, 1000);
    bytes = test_memory_bytes();
    schedule_and_cancel(sched, &probe, ROUNDS);
    assert_int_equal(test_memory_bytes(), bytes);
    assert_int_equal(queued(sched), 0);
    assert_int_equal(probe.discards, 1000 + ROUNDS);
    assert_int_equal(test_stats(sched).completed, 0);
    assert_ok(rota_close(sched));
}

static bool all_have_run(void *runs)
{
    return atomic_load((atomic_uint *)runs) == MANY / 2;
}

/* "Millions may wait." DWQ-02, DWQ-04, DWQ-05: without log n this takes hours. */
TEST(a_million_may_wait_and_half_of_them_be_cancelled)
{
    rota_future **futures = calloc(MANY / 2, sizeof *futures);
    rota_executor *sched = sched_of(1, false);
    atomic_uint runs = 0;
    test_random random;

    test_check(futures != NULL);
    test_random_init(&random);
    for (unsigned i = 0; i < MANY; i++) {
        rota_ns delay = ROTA_MS(1 + (rota_ns)test_random_below(&random, 3600000));
        assert_ok(rota_schedule(sched, test_count, &runs, delay, i % 2 ? &futures[i / 2] : NULL));
    }
    assert_int_equal(queued(sched), MANY);
    for (unsigned i = 0; i < MANY / 2; i++)
        assert_true(rota_future_cancel(futures[i]));
    assert_int_equal(queued(sched), MANY / 2);
    assert_int_equal(runs, 0);
    test_clock_await_waiting(1);
    test_clock_advance(ROTA_HOURS(1));
    test_until(all_have_run, &runs);
    for (unsigned i = 0; i < MANY / 2; i++)
        rota_future_unref(futures[i]);
    free(futures);
    assert_ok(rota_close(sched));
    assert_int_equal(runs, MANY / 2);
}
