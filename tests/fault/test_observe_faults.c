/* SPDX-License-Identifier: MIT */
/*
 * What observes when memory, threads or descriptors run out: each call then says so, and has changed
 * nothing; tasks run all the same, and what there was no memory for is missed.
 */
#define _GNU_SOURCE
#include "observe/observe_internal.h"
#include "os/fault.h"
#include "pools.h"
#include "rota_test_internal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rota_executor *pool;
static FILE *nowhere;
static atomic_uint runs, alarms;

static void run_named(const char *name)
{
    const rota_call call = {.fn = test_count, .arg = &runs, .name = name};
    uint64_t before = test_stats(pool).completed;

    assert_ok(rota_submit_call(pool, &call, NULL));
    test_await_completed(pool, before + 1);
}

/* A pool that was seen at work. */
static int prepare(void **state)
{
    nowhere = fopen("/dev/null", "w");
    pool = test_pool((rota_pool_options){.core_threads = 1});
    if (nowhere == NULL || rota_observe(true) != ROTA_OK || rota_recorder_start(NULL) != ROTA_OK)
        return -1;
    run_named("seen");
    return 0;
}

static int clean_up(void **state)
{
    int status = rota_close(pool) + rota_recorder_stop() + rota_observe(false)
                 + rota_recorder_on_signal(0, NULL) + rota_watchdog_stop();

    for (int kind = 0; kind < ROTA__FAULT_KINDS; kind++)
        rota__fault_arm((rota__fault_kind)kind, 0, false);
    rota__observe_forget();
    fclose(nowhere);
    rota__blocks_flush();
    return status + (int)test_memory_live();
}

TEST_FIXTURE(.setup = prepare, .teardown = clean_up);

static int on_signal(void *arg)
{
    return rota_recorder_on_signal(SIGUSR1, "/dev/null/nowhere");
}

/* ROTA_EAGAIN from rota_recorder_on_signal. The first of this process: the descriptor is made then. */
TEST(without_a_descriptor_no_signal_is_taken)
{
    struct sigaction now;

    rota__fault_arm(ROTA__FAULT_EVENT, 1, false);
    assert_status(on_signal(NULL), ROTA_EAGAIN);
    assert_int_equal(sigaction(SIGUSR1, NULL, &now), 0);
    assert_ptr_equal(now.sa_handler, SIG_DFL);
    assert_ok(on_signal(NULL));
    assert_int_equal(raise(SIGUSR1), 0);
}

/* -- Memory ------------------------------------------------------------------------------- */

static bool count_name(const rota_task_figures *figures, void *count)
{
    ++*(unsigned *)count;
    return true;
}

static int by_task(void *arg)
{
    unsigned count = 0;
    int status = rota_figures_by_task(pool, count_name, &count);

    assert_int_equal(count, status == ROTA_OK);
    return status;
}

static int metrics_text(void *arg)
{
    int length = rota_metrics_text(NULL, 0);

    return length > 0 ? ROTA_OK : length;
}

static int metrics_print(void *arg)
{
    return rota_metrics_print(nowhere);
}

static int metrics_write(void *arg)
{
    return rota_metrics_write(fileno(nowhere));
}

static int recorder_print(void *arg)
{
    return rota_recorder_print(nowhere);
}

static int recorder_write(void *arg)
{
    return rota_recorder_write(fileno(nowhere));
}

/* ROTA_ENOMEM from rota_figures_by_task, rota_metrics_text, rota_metrics_print, rota_metrics_write,
   rota_recorder_print, rota_recorder_write. */
TEST(who_looks_needs_memory)
{
    test_every_allocation_fails(by_task, NULL, NULL, ROTA_ENOMEM);
    test_every_allocation_fails(metrics_text, NULL, NULL, ROTA_ENOMEM);
    test_every_allocation_fails(metrics_print, NULL, NULL, ROTA_ENOMEM);
    test_every_allocation_fails(metrics_write, NULL, NULL, ROTA_ENOMEM);
    test_every_allocation_fails(recorder_print, NULL, NULL, ROTA_ENOMEM);
    test_every_allocation_fails(recorder_write, NULL, NULL, ROTA_ENOMEM);
}

static void end_signal(void *arg)
{
    assert_ok(rota_recorder_on_signal(0, NULL));
}

static void hear(const rota_alarm *alarm, void *ctx)
{
    atomic_fetch_add(&alarms, 1);
}

static int start_watchdog(void *arg)
{
    return rota_watchdog_start(&(rota_watchdog_options){
        .longest_task = 1, .period = ROTA_US(100), .cycles = true, .alarm = hear});
}

static void stop_watchdog(void *arg)
{
    assert_ok(rota_watchdog_stop());
}

/* ROTA_ENOMEM from rota_recorder_on_signal, rota_watchdog_start. */
TEST(what_has_a_thread_needs_memory)
{
    assert_ok(rota_recorder_stop()); /* or that thread asks for some, too, because it sleeps */
    test_every_allocation_fails(on_signal, end_signal, NULL, ROTA_ENOMEM);
    test_every_allocation_fails(start_watchdog, stop_watchdog, NULL, ROTA_ENOMEM);
}

/* -- Threads, and their ends -------------------------------------------------------------- */

/* As if the thread were new to the library, which then cannot know when it ends. */
static void be_unknown(bool is_unknown)
{
    rota__self()->watched = false;
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, is_unknown, true);
}

static bool see_nothing(rota_executor *ex, void *ctx)
{
    fail();
    return false;
}

TEST(a_thread_whose_end_is_not_seen_is_refused)
{
    assert_ok(rota_recorder_stop());
    be_unknown(true);
    assert_status(rota_executors_visit(see_nothing, NULL), ROTA_ENOMEM);
    assert_status(rota_executors_print(nowhere), ROTA_ENOMEM);
    assert_status(rota_observe(false), ROTA_ENOMEM);
    assert_true(rota_is_observing());
    assert_status(rota_metrics_print(nowhere), ROTA_ENOMEM);
    assert_status(rota_recorder_start(NULL), ROTA_ENOMEM);
    assert_status(rota_recorder_on_signal(SIGUSR1, "/nowhere"), ROTA_ENOMEM);
    assert_status(start_watchdog(NULL), ROTA_ENOMEM);
    assert_ok(rota_recorder_stop());
    assert_ok(rota_watchdog_stop());
    assert_ok(rota_recorder_on_signal(0, NULL));
    be_unknown(false);
    assert_ok(rota_recorder_start(NULL));
}

/* ROTA_EAGAIN from rota_recorder_on_signal, rota_watchdog_start. */
TEST(without_a_thread_nothing_has_begun)
{
    struct sigaction now;

    rota__fault_arm(ROTA__FAULT_THREAD_START, 1, true);
    assert_status(on_signal(NULL), ROTA_EAGAIN);
    assert_int_equal(sigaction(SIGUSR1, NULL, &now), 0);
    assert_ptr_equal(now.sa_handler, SIG_DFL);
    assert_status(start_watchdog(NULL), ROTA_EAGAIN);
    rota__fault_arm(ROTA__FAULT_THREAD_START, 0, false);
    assert_ok(on_signal(NULL));
    assert_ok(start_watchdog(NULL));

    rota__fault_arm(ROTA__FAULT_THREAD_START, 1, true); /* another path needs no other thread */
    assert_ok(rota_recorder_on_signal(SIGUSR1, "/nowhere"));
    assert_int_equal(rota__fault_count(ROTA__FAULT_THREAD_START), 0);
}

static _Thread_local bool is_spared;

static bool is_another(void)
{
    return !is_spared;
}

/* It cannot wait to be told, and so looks and stops all the same. */
TEST(a_watchdog_that_cannot_wait_watches)
{
    test_gate gate;

    is_spared = true;
    atomic_store(&alarms, 0);
    rota__fault_set_filter(is_another);
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 1, true);
    assert_ok(start_watchdog(NULL));
    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    test_await_count(&alarms, 1);
    test_gate_open(&gate);
    test_await_completed(pool, 2); /* it has left the gate */
    assert_ok(rota_watchdog_stop());
    rota__fault_arm(ROTA__FAULT_THREAD_EXIT, 0, false);
    rota__fault_set_filter(NULL);
}

/* -- What there is no memory for is missed ------------------------------------------------ */

static char *trace(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    assert_non_null(file);
    assert_ok(rota_recorder_print(file));
    fclose(file);
    return text;
}

/* The submitter has memory, the worker has none: for a cell. */
TEST(a_task_is_run_and_missed)
{
    rota_figures figures;
    unsigned before = atomic_load(&runs);

    is_spared = true;
    test_memory_fail_only(is_another);
    test_memory_fail_at(1, true);
    run_named("missed");
    run_named("seen"); /* of which there is a cell */
    test_memory_fail_at(0, false);
    test_memory_fail_only(NULL);
    assert_int_equal(runs, before + 2);
    assert_ok(rota_figures_get(pool, &figures));
    assert_int_equal(figures.completed, 3);
    assert_int_equal(figures.running.count, 2);
    run_named("missed");
    assert_ok(rota_figures_get(pool, &figures));
    assert_int_equal(figures.running.count, 3);
}

/* For a ring. */
TEST(a_thread_without_a_ring_is_not_recorded)
{
    char *text;

    assert_ok(rota_recorder_stop());
    assert_ok(rota_recorder_start(&(rota_recorder_options){.events = 128}));
    is_spared = true;
    test_memory_fail_only(is_another);
    test_memory_fail_at(1, true);
    run_named("seen");
    test_memory_fail_at(0, false);
    test_memory_fail_only(NULL);
    text = trace();
    assert_null(strstr(text, "\"seen\""));
    free(text);
    run_named("seen");
    text = trace();
    assert_non_null(strstr(text, "\"seen\""));
    free(text);
}

/* For a record: the first task of a new thread. */
TEST(a_thread_without_a_record_is_not_known)
{
    rota_executor *first = pool, *second = test_pool((rota_pool_options){.core_threads = 1});
    unsigned started;
    rota_figures figures;

    assert_ok(rota_recorder_stop()); /* or it has one because it sleeps */
    assert_ok(rota_pool_prestart(second, &started));
    test_await_waiting(second, 1);
    pool = second;
    is_spared = true;
    test_memory_fail_only(is_another);
    test_memory_fail_at(1, true);
    run_named("seen");
    test_memory_fail_at(0, false);
    test_memory_fail_only(NULL);
    assert_ok(rota_figures_get(pool, &figures));
    assert_int_equal(figures.running.count, 0);
    assert_int_equal(figures.completed, 1);
    run_named("seen");
    assert_ok(rota_figures_get(pool, &figures));
    assert_int_equal(figures.running.count, 1);
    assert_ok(rota_close(second));
    pool = first;
}
