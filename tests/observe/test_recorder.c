/* SPDX-License-Identifier: MIT */
/*
 * The recorder, with a clock that the test turns: what is written of tasks, sleeps, full queues and late
 * timers; rings that are full; threads that come and go; what is too old; descriptors that take nothing.
 */
#define _GNU_SOURCE
#include "observing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

TEST_FIXTURE(.setup = observing_before_in_time, .teardown = observing_after_in_time);

/* As events tell it: in microseconds. */
static const char *time_text(rota_ns time)
{
    static char text[40];

    snprintf(text, sizeof text, "\"ts\":%lld.%03d", (long long)(time / 1000), (int)(time % 1000));
    return text;
}

static char *trace(void)
{
    return observing_printed(rota_recorder_print);
}

static bool trace_has(const char *part)
{
    char *text = trace();
    bool has = strstr(text, part) != NULL;

    free(text);
    return has;
}

static unsigned trace_count(const char *part)
{
    char *text = trace();
    unsigned count = observing_occurs(text, part);

    free(text);
    return count;
}

/* In each thread; no end comes before its beginning. */
static void assert_balanced(const char *text)
{
    int open = 0;

    for (const char *at = text; (at = strstr(at, "{\"ph\":\"")) != NULL; at++) {
        if (strncmp(at, "{\"ph\":\"M\"", 9) == 0)
            assert_int_equal(open, 0);
        open += strncmp(at, "{\"ph\":\"B\"", 9) == 0;
        open -= strncmp(at, "{\"ph\":\"E\"", 9) == 0;
        assert_true(open >= 0);
    }
    assert_int_equal(open, 0);
}

/* -- What happens ---------------------------------------------------------------------------- */

TEST(a_task_is_a_beginning_and_an_end)
{
    rota_executor *pool = observing_pool();
    rota_ns begun = rota_now();
    test_gate gate;
    char *text;

    assert_ok(rota_executor_set_name(pool, "office"));
    assert_ok(rota_recorder_start(NULL));
    test_gate_init(&gate);
    assert_ok(rota_submit_call(pool, &(rota_call){.fn = test_wait_at, .arg = &gate, .name = "work"},
                               NULL));
    test_await_count(&gate.begun, 1);
    test_clock_advance(ROTA_MS(3) + 7);
    test_gate_open(&gate);
    test_await_completed(pool, 1);
    text = trace();
    char *begin = strstr(text, "\"name\":\"work\",\"cat\":\"office\"}");
    assert_non_null(begin);
    while (*begin != '\n')
        begin--;
    assert_memory_equal(begin, "\n{\"ph\":\"B\"", 10);
    const char *end = strstr(begin, "{\"ph\":\"E\"");
    assert_non_null(end);
    begin[end - begin - 2] = '\0';
    assert_non_null(strstr(begin, time_text(begun)));
    assert_non_null(strstr(end, time_text(begun + ROTA_MS(3) + 7)));
    free(text);
    assert_ok(rota_close(pool));
}

static void *fail_task(void *arg)
{
    return rota_fail(7);
}

TEST(a_failure_is_seen)
{
    rota_executor *pool = observing_pool();

    assert_ok(rota_recorder_start(NULL));
    observing_run(pool, NULL);
    assert_false(trace_has("\"failed\":true"));
    assert_ok(rota_execute(pool, fail_task, NULL));
    test_await_completed(pool, 2);
    assert_int_equal(trace_count("\"failed\":true"), 1);
    assert_int_equal(trace_count("\"name\":\"task\""), 2); /* without a name of their own */
    assert_ok(rota_close(pool));
}

/* What still runs ends with the last that is known of its thread. */
TEST(what_runs_still_is_closed)
{
    rota_executor *pool = observing_pool();
    test_gate gate;
    char *text;

    assert_ok(rota_recorder_start(NULL));
    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    text = trace();
    assert_balanced(text);
    assert_int_equal(observing_occurs(text, "\"ph\":\"E\""),
                     observing_occurs(text, "\"ph\":\"B\""));
    free(text);
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
}

/* What began before is not there, and so its end is not, either. */
TEST(an_end_without_a_beginning_is_left_out)
{
    rota_executor *pool = observing_pool();
    test_gate gate;
    char *text;

    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_recorder_start(NULL));
    test_gate_open(&gate);
    test_await_completed(pool, 1);
    text = trace();
    assert_balanced(text);
    assert_null(strstr(text, "\"name\":\"task\""));
    free(text);
    assert_ok(rota_close(pool));
}

TEST(a_full_queue_and_a_rejection_are_seen)
{
    rota_executor *pool = test_small_pool(1, 1, 1);
    test_gate gate;

    assert_ok(rota_recorder_start(NULL));
    test_gate_init(&gate);
    test_occupy(pool, &gate, 1);
    assert_ok(rota_execute(pool, test_wait_at, &gate));
    assert_false(trace_has("queue full"));
    assert_status(rota_execute(pool, test_wait_at, &gate), ROTA_EREJECTED);
    assert_int_equal(trace_count("\"ph\":\"i\""), 2);
    assert_true(trace_has("\"name\":\"queue full\""));
    assert_true(trace_has("\"name\":\"reject\""));
    test_gate_open(&gate);
    assert_ok(rota_close(pool));
}

TEST(a_late_timer_is_seen)
{
    atomic_uint runs = 0;
    rota_executor *sched = test_sched((rota_sched_options){.core_threads = 1});
    test_gate gate;

    assert_ok(rota_recorder_start(NULL));
    test_gate_init(&gate);
    test_occupy(sched, &gate, 1);
    assert_ok(rota_schedule(sched, test_count, &runs, ROTA_MS(10), NULL));
    test_clock_advance(ROTA_MS(15));
    assert_false(trace_has("timer late"));
    test_gate_open(&gate);
    test_await_completed(sched, 2);
    assert_int_equal(trace_count("\"name\":\"timer late\""), 1);
    assert_true(trace_has("\"args\":{\"late_ns\":5000000}"));
    assert_ok(rota_close(sched));
}

static void *sleep_until_cancelled(void *arg)
{
    test_gate *gate = arg;

    atomic_fetch_add(&gate->begun, 1);
    rota_sleep(ROTA_SEC(1));
    return NULL;
}

/* A thread of the pool sleeps inside of a task: the pairs are one inside the other. */
TEST(sleeps_are_seen)
{
    rota_executor *pool = observing_pool();
    test_gate gate;
    char *text;

    assert_ok(rota_recorder_start(NULL));
    test_gate_init(&gate);
    assert_ok(rota_execute(pool, sleep_until_cancelled, &gate));
    test_clock_await_waiting(1);
    rota_ns until = rota_now() + ROTA_SEC(1);
    test_clock_advance(ROTA_SEC(1));
    test_await_completed(pool, 1);
    text = trace();
    assert_balanced(text);
    const char *sleeps = strstr(text, "\"name\":\"task\"");
    assert_non_null(sleeps);
    sleeps = strstr(sleeps, "\"name\":\"sleeps\"");
    assert_non_null(sleeps);
    assert_non_null(strstr(sleeps, time_text(until)));
    free(text);
    assert_ok(rota_close(pool));
}

/* -- Rings ----------------------------------------------------------------------------------- */

/* 64 events is the least: so many are known of a thread, and they are the last. */
TEST(a_full_ring_has_the_newest)
{
    rota_executor *pool = observing_pool();
    char *text;

    assert_ok(rota_recorder_start(&(rota_recorder_options){.events = 1}));
    for (unsigned i = 0; i < 200; i++)
        observing_run(pool, "early");
    for (unsigned i = 0; i < 5; i++)
        observing_run(pool, "last");
    text = trace();
    assert_balanced(text);
    assert_int_equal(observing_occurs(text, "\"name\":\"last\""), 5);
    assert_true(observing_occurs(text, "{\"ph\"") <= 64 + 1 + 3); /* and the thread, and ends */
    assert_int_equal(observing_occurs(text, "\"name\":\"thread_name\""), 1);
    free(text);
    assert_ok(rota_close(pool));
}

static unsigned records(void)
{
    unsigned count = 0;

    for (rota__link *link = rota__records.head.next; link != &rota__records.head; link = link->next)
        count++;
    return count;
}

/* Each has left before the next comes, which goes on in its ring: it is told whose events are whose. */
TEST(threads_that_come_and_go_share_a_ring)
{
    assert_ok(rota_recorder_start(&(rota_recorder_options){.events = 256}));
    for (unsigned i = 0; i < 4; i++) {
        char name[ROTA_NAME_SIZE];
        rota_executor *pool = observing_pool();
        snprintf(name, sizeof name, "comes %u", i);
        assert_ok(rota_executor_set_name(pool, name));
        observing_run(pool, "goes");
        assert_ok(rota_close(pool));
    }
    assert_true(records() <= 2); /* one of them is this thread's, if it has slept */

    char *text = trace();
    assert_balanced(text);
    assert_int_equal(observing_occurs(text, "\"name\":\"goes\""), 4);
    for (unsigned i = 0; i < 4; i++) { /* which is gone: its name is known all the same */
        char part[60];
        snprintf(part, sizeof part, "\"name\":\"goes\",\"cat\":\"comes %u\"", i);
        assert_non_null(strstr(text, part));
    }
    if (test_is_linux())
        assert_true(observing_occurs(text, "\"name\":\"thread_name\"") >= 4);
    free(text);
}

/* -- What is too old ------------------------------------------------------------------------- */

TEST(what_is_too_old_is_not_written)
{
    rota_executor *pool = observing_pool();

    assert_ok(rota_recorder_start(&(rota_recorder_options){.keep = ROTA_MS(500)}));
    observing_run(pool, "old");
    test_clock_advance(ROTA_MS(400));
    observing_run(pool, "new");
    assert_true(trace_has("\"name\":\"old\""));
    test_clock_advance(ROTA_MS(101));
    assert_false(trace_has("\"name\":\"old\""));
    assert_true(trace_has("\"name\":\"new\""));
    assert_ok(rota_recorder_stop());
    test_clock_advance(
        ROTA_HOURS(1)); /* it is the last of what was recorded, whenever it is read */
    assert_true(trace_has("\"name\":\"new\""));
    assert_ok(rota_close(pool));
}

TEST(it_starts_afresh)
{
    rota_executor *pool = observing_pool();

    assert_ok(rota_recorder_start(NULL));
    observing_run(pool, "first");
    assert_status(rota_recorder_start(NULL), ROTA_EBUSY);
    assert_ok(rota_recorder_stop());
    assert_ok(rota_recorder_stop());
    observing_run(pool, "unseen");
    assert_true(trace_has("\"name\":\"first\"")); /* what was recorded stays */
    assert_false(trace_has("\"name\":\"unseen\""));
    test_clock_advance(1);
    assert_ok(rota_recorder_start(NULL));
    assert_false(trace_has("\"name\":\"first\""));
    observing_run(pool, "second");
    assert_ok(rota_recorder_stop());
    test_clock_advance(1);
    assert_ok(rota_recorder_start(&(rota_recorder_options){.events = 100})); /* of another size */
    assert_false(trace_has("\"name\":\"second\""));
    observing_run(pool, "third");
    assert_true(trace_has("\"name\":\"third\""));
    assert_ok(rota_close(pool));
}

TEST(what_cannot_be_is_refused)
{
    assert_status(rota_recorder_start(&(rota_recorder_options){.keep = -1}), ROTA_EINVAL);
    assert_status(rota_recorder_start(&(rota_recorder_options){.events = SIZE_MAX}), ROTA_EINVAL);
    assert_status(rota_recorder_print(NULL), ROTA_EINVAL);
    assert_status(rota_recorder_write(-1), ROTA_EINVAL);
}

TEST(nothing_is_a_trace_too)
{
    char *text = trace();

    assert_string_equal(text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n]}\n");
    free(text);
}

/* -- Descriptors ----------------------------------------------------------------------------- */

TEST(a_descriptor_gets_what_a_file_gets)
{
    rota_executor *pool = observing_pool();
    FILE *file = tmpfile();
    char *text, *copy;

    assert_non_null(file);
    assert_ok(rota_recorder_start(NULL));
    for (unsigned i = 0; i < 100; i++)
        observing_run(pool, "often"); /* more than fits into a buffer */
    assert_ok(rota_recorder_stop());
    text = trace();
    assert_ok(rota_recorder_write(fileno(file)));
    copy = malloc(strlen(text) + 1);
    rewind(file);
    assert_int_equal(fread(copy, 1, strlen(text) + 1, file), strlen(text));
    assert_memory_equal(text, copy, strlen(text));
    free(text);
    free(copy);
    fclose(file);
    assert_ok(rota_close(pool));
}

/* ROTA_EIO from rota_recorder_write, rota_recorder_print. */
TEST(what_takes_nothing_is_told_of)
{
    observing_takes_nothing(rota_recorder_write, rota_recorder_print);
}
