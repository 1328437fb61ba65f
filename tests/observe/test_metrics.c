/* SPDX-License-Identifier: MIT */
/*
 * Metrics: what they say, to the last digit, and in every language; buffers that are too small, and
 * descriptors that take nothing. check_metrics.py reads them as Prometheus does.
 */
#define _GNU_SOURCE
#include "executors.h"
#include "observing.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

TEST_FIXTURE(.setup = observing_before_in_time, .teardown = observing_after_in_time);

static rota_executor *busy_pool(test_gate *gate)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    const rota_call call = {.fn = test_wait_at, .arg = gate, .name = "work"};

    assert_ok(rota_executor_set_name(pool, "busy"));
    test_gate_init(gate);
    for (unsigned i = 0; i < 2; i++)
        assert_ok(rota_submit_call(pool, &call, NULL));
    test_await_count(&gate->begun, 1);
    return pool;
}

static void close_busy(rota_executor *pool, test_gate *gate)
{
    test_gate_open(gate);
    assert_ok(rota_close(pool));
}

/* A line of it, with the executor's number. */
static void assert_line(const char *text, const rota_executor *ex, const char *name,
                        const char *labels, const char *value)
{
    char line[300];

    snprintf(line, sizeof line, "\n%s{executor=\"busy\",id=\"%u\"%s} %s\n", name,
             (unsigned)ex->number, labels, value);
    if (strstr(text, line) == NULL)
        fail_msg("there is no line %s", line + 1);
}

/* -- What they say --------------------------------------------------------------------------- */

TEST(each_figure_is_a_line)
{
    test_gate gate;
    rota_executor *pool = busy_pool(&gate);
    char *text;

    test_clock_advance(ROTA_SEC(12) + 34);
    text = observing_printed(rota_metrics_print);
    assert_line(text, pool, "rota_executor_state", "", "0");
    assert_line(text, pool, "rota_executor_threads", "", "1");
    assert_line(text, pool, "rota_executor_active_threads", "", "1");
    assert_line(text, pool, "rota_executor_queued_tasks", "", "1");
    assert_line(text, pool, "rota_executor_oldest_queued_seconds", "", "12.000000034");
    assert_line(text, pool, "rota_executor_submitted_tasks_total", "", "2");
    assert_line(text, pool, "rota_executor_completed_tasks_total", "", "0");
    assert_line(text, pool, "rota_executor_failed_tasks_total", "", "0");
    assert_line(text, pool, "rota_executor_rejected_tasks_total", "", "0");
    assert_line(text, pool, "rota_executor_stolen_tasks_total", "", "0");
    free(text);
    close_busy(pool, &gate);
}

/* The first waits no time and runs 3 ms, the second waits 3 ms and runs no time. */
TEST(times_are_in_buckets)
{
    static const char *const names[] = {"rota_task_wait_seconds", "rota_task_run_seconds"};
    test_gate gate;
    rota_executor *pool = busy_pool(&gate);
    char *text;

    test_clock_advance(ROTA_MS(3));
    test_gate_open(&gate);
    test_await_completed(pool, 2);
    text = observing_printed(rota_metrics_print);
    for (unsigned i = 0; i < 2; i++) {
        char name[60];
        snprintf(name, sizeof name, "%s_bucket", names[i]);
        assert_line(text, pool, name, ",task=\"work\",le=\"1e-06\"", "1");
        assert_line(text, pool, name, ",task=\"work\",le=\"0.0025\"", "1");
        assert_line(text, pool, name, ",task=\"work\",le=\"0.005\"", "2");
        assert_line(text, pool, name, ",task=\"work\",le=\"+Inf\"", "2");
        snprintf(name, sizeof name, "%s_sum", names[i]);
        assert_line(text, pool, name, ",task=\"work\"", "0.003000000");
        snprintf(name, sizeof name, "%s_count", names[i]);
        assert_line(text, pool, name, ",task=\"work\"", "2");
    }
    free(text);
    assert_ok(rota_close(pool));
}

/* Without an executor there are the names of the metrics alone. */
TEST(there_may_be_no_executor)
{
    char *text = observing_printed(rota_metrics_print);

    assert_int_equal(observing_occurs(text, "# HELP "), 12);
    assert_int_equal(observing_occurs(text, "# TYPE "), 12);
    assert_int_equal(observing_occurs(text, "{"), 0);
    free(text);
}

TEST(two_of_one_name_are_told_apart)
{
    test_gate gates[2];
    rota_executor *first = busy_pool(&gates[0]), *second = busy_pool(&gates[1]);
    char *text = observing_printed(rota_metrics_print);

    assert_line(text, first, "rota_executor_threads", "", "1");
    assert_line(text, second, "rota_executor_threads", "", "1");
    assert_int_equal(observing_occurs(text, "\nrota_executor_threads{"), 2);
    free(text);
    close_busy(first, &gates[0]);
    close_busy(second, &gates[1]);
}

static bool set_comma(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8",
                                        "es_ES.UTF-8", "de_DE",      "fr_FR"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (setlocale(LC_ALL, names[i]) != NULL && localeconv()->decimal_point[0] == ',')
            return true;
    }
    setlocale(LC_ALL, "C");
    return false;
}

TEST(a_decimal_comma_changes_nothing)
{
    test_gate gate;
    rota_executor *pool = busy_pool(&gate);
    char *text, *with_comma;

    test_clock_advance(ROTA_MS(1234));
    text = observing_printed(rota_metrics_print);
    bool has_comma = set_comma();
    with_comma = observing_printed(rota_metrics_print);
    setlocale(LC_ALL, "C");
    assert_string_equal(text, with_comma);
    free(text);
    free(with_comma);
    close_busy(pool, &gate);
    if (!has_comma)
        skip();
}

/* -- Where they go --------------------------------------------------------------------------- */

TEST(a_buffer_is_filled_as_by_snprintf)
{
    test_gate gate;
    rota_executor *pool = busy_pool(&gate);
    char *text = observing_printed(rota_metrics_print), *copy;
    size_t length = strlen(text);

    assert_int_equal(rota_metrics_text(NULL, 0), length);
    copy = malloc(length + 2);
    for (size_t size = 1; size <= length + 2; size += size < length - 1 ? length / 7 : 1) {
        memset(copy, 'x', length + 2);
        assert_int_equal(rota_metrics_text(copy, size), length);
        size_t expected = size <= length ? size - 1 : length;
        assert_int_equal(strlen(copy), expected);
        assert_memory_equal(copy, text, expected);
        for (size_t i = expected + 1; i < length + 2; i++)
            assert_int_equal(copy[i], 'x');
    }
    free(copy);
    free(text);
    close_busy(pool, &gate);
}

TEST(a_descriptor_gets_the_same)
{
    test_gate gate;
    rota_executor *pool = busy_pool(&gate);
    char *text = observing_printed(rota_metrics_print), *copy = malloc(strlen(text) + 1);
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_ok(rota_metrics_write(fileno(file)));
    rewind(file);
    assert_int_equal(fread(copy, 1, strlen(text) + 1, file), strlen(text));
    assert_memory_equal(copy, text, strlen(text));
    fclose(file);
    free(copy);
    free(text);
    close_busy(pool, &gate);
}

/* ROTA_EIO from rota_metrics_write, rota_metrics_print. */
TEST(what_takes_nothing_is_told_of)
{
    observing_takes_nothing(rota_metrics_write, rota_metrics_print);
}

TEST(what_is_missing_is_refused)
{
    assert_status(rota_metrics_text(NULL, 1), ROTA_EINVAL);
    assert_status(rota_metrics_print(NULL), ROTA_EINVAL);
    assert_status(rota_metrics_write(-1), ROTA_EINVAL);
}
