/* SPDX-License-Identifier: MIT */
/*
 * What the page says: the text for a browser, and the policy that goes with it; figures as JSON; metrics;
 * and a trace that is longer than a client cares to read.
 */
#define _GNU_SOURCE
#include "observing.h"
#include "page_client.h"
#include "page_text_sha256.h"

TEST_FIXTURE(.setup = observing_before, .teardown = observing_after);

/* -- The text for a browser ------------------------------------------------------------------ */

/* What is between the two, of which there is one each. */
static size_t between(const char *text, const char *begin, const char *end, const char **at)
{
    *at = strstr(text, begin);
    assert_non_null(*at);
    *at += strlen(begin);
    assert_null(strstr(*at, begin));
    const char *stop = strstr(*at, end);
    assert_non_null(stop);
    return (size_t)(stop - *at);
}

/* The policy allows this style and this script, by their hashes; so it has to know them as they are. */
TEST(the_policy_knows_the_style_and_the_script)
{
    client_begin(NULL);
    client_answer answer = client_ask(CLIENT_GET("/"));
    char style[SHA256_TEXT], script[SHA256_TEXT], policy[500];
    const char *at;
    size_t size = between(answer.body, "<style>", "</style>", &at);

    sha256_base64(style, at, size);
    size = between(answer.body, "<script>", "</script>", &at);
    sha256_base64(script, at, size);
    snprintf(policy, sizeof policy,
             "Content-Security-Policy: default-src 'none'; connect-src 'self'; img-src data:; "
             "style-src 'sha256-%s'; script-src 'sha256-%s'; "
             "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
             style, script);
    assert_true(client_has_line(&answer, policy));
    assert_true(client_has_line(&answer, "Content-Type: text/html; charset=utf-8"));
    free(answer.text);
    client_end();
}

/* Nothing is fetched from elsewhere, and no text becomes markup. */
TEST(the_page_is_complete_and_makes_no_markup_of_text)
{
    client_begin(NULL);
    client_answer answer = client_ask(CLIENT_GET("/"));

    assert_null(strstr(answer.body, " src="));
    assert_null(strstr(answer.body, "innerHTML"));
    assert_null(strstr(answer.body, "insertAdjacent"));
    assert_null(strstr(answer.body, "document.write"));
    assert_null(strstr(answer.body, "eval("));
    assert_null(strstr(answer.body, "@import"));
    assert_non_null(strstr(answer.body, "fetch('figures'"));
    free(answer.text);
    client_end();
}

/* -- Figures --------------------------------------------------------------------------------- */

TEST(names_are_escaped)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});

    assert_ok(rota_executor_set_name(pool, "</script>\"\\&'<\xc3\xa4>"));
    client_begin(NULL);
    client_answer answer = client_ask(CLIENT_GET("/figures"));
    assert_int_equal(answer.status, 200);
    assert_true(client_has_line(&answer, "Content-Type: application/json"));
    assert_non_null(strstr(answer.body,
                           "{\"name\":\"\\u003c/script\\u003e\\u0022\\u005c\\u0026\\u0027"
                           "\\u003c\xc3\xa4\\u003e\",\"state\":\"running\""));
    free(answer.text);
    client_end();
    test_stop(pool);
}

/* Reads the number behind "name": in what is told of the executor `of`. */
static long figure(const char *json, const char *of, const char *name)
{
    char key[50];
    const char *at;

    snprintf(key, sizeof key, "{\"name\":\"%s\"", of);
    at = strstr(json, key);
    assert_non_null(at);
    snprintf(key, sizeof key, "\"%s\":", name);
    at = strstr(at, key);
    assert_non_null(at);
    at += strlen(key);
    return strtol(at + (*at == '['), NULL, 10);
}

TEST(figures_are_those_of_the_executors)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    rota_executor *other = test_pool((rota_pool_options){.core_threads = 3});
    test_probe probe = {.error = 0};
    test_gate gate;

    assert_ok(rota_executor_set_name(pool, "one"));
    assert_ok(rota_executor_set_name(other, "three"));
    test_fill(pool, &gate, &probe, 5);
    client_begin(NULL);
    client_answer answer = client_ask(CLIENT_GET("/figures"));
    assert_non_null(strstr(answer.body, "\"observing\":true"));
    assert_int_equal(figure(answer.body, "one", "threads"), 1);
    assert_int_equal(figure(answer.body, "one", "active"), 1);
    assert_int_equal(figure(answer.body, "one", "queued"), 5);
    assert_int_equal(figure(answer.body, "one", "submitted"), 6);
    assert_int_equal(figure(answer.body, "one", "completed"), 0);
    assert_int_equal(figure(answer.body, "three", "threads"), 0);
    free(answer.text);

    test_gate_open(&gate);
    test_await_completed(pool, 6);
    assert_ok(rota_shutdown(other));
    answer = client_ask(CLIENT_GET("/figures"));
    assert_int_equal(figure(answer.body, "one", "queued"), 0);
    assert_int_equal(figure(answer.body, "one", "completed"), 6);
    assert_true(figure(answer.body, "one", "waiting") > 0);
    assert_non_null(strstr(answer.body, "{\"name\":\"three\",\"state\":\"terminated\""));
    free(answer.text);
    client_end();
    test_stop(pool);
    test_stop(other);
}

/* More executors than fit into what is set aside at first. */
TEST(all_executors_are_told_of)
{
    enum { MANY = 300 };
    rota_executor *pools[MANY];
    int count = 0;

    for (int i = 0; i < MANY; i++)
        pools[i] = test_pool((rota_pool_options){.core_threads = 1});
    client_begin(NULL);
    client_answer answer = client_ask(CLIENT_GET("/figures"));
    for (const char *at = answer.body; (at = strstr(at, "{\"name\":")) != NULL; at++)
        count++;
    assert_int_equal(count, MANY);
    assert_string_equal(answer.body + answer.body_size - 4, "}]}\n");
    free(answer.text);
    answer = client_ask(CLIENT_GET("/metrics"));
    assert_int_equal(answer.status, 200);
    assert_int_equal(answer.body_size, answer.length);
    assert_true(answer.length > 64 << 10);
    free(answer.text);
    client_end();
    for (int i = 0; i < MANY; i++)
        test_stop(pools[i]);
}

/* -- Metrics --------------------------------------------------------------------------------- */

TEST(metrics_are_those_of_the_library)
{
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    char text[20000];
    int length = rota_metrics_text(text, sizeof text);

    client_begin(NULL);
    client_answer answer = client_ask(CLIENT_GET("/metrics"));
    assert_true(client_has_line(&answer, "Content-Type: text/plain; version=0.0.4; charset=utf-8"));
    assert_int_equal(answer.body_size, length);
    assert_string_equal(answer.body, text);
    free(answer.text);
    client_end();
    test_stop(pool);
}

/* -- The trace ------------------------------------------------------------------------------- */

/* Some megabytes of it: more than waits in the sockets between the page and a client. */
static void record_much(void)
{
    enum { TASKS = 40000 };
    rota_executor *pool = test_pool((rota_pool_options){.core_threads = 1});
    atomic_uint runs = 0;

    assert_ok(rota_recorder_start(&(rota_recorder_options){.events = 1 << 17}));
    for (int i = 0; i < TASKS; i++)
        assert_ok(rota_execute(pool, test_count, &runs));
    assert_ok(rota_close(pool));
    assert_int_equal(runs, TASKS);
    assert_ok(rota_recorder_stop());
}

TEST(a_trace_is_what_was_recorded)
{
    record_much();
    client_begin(NULL);
    client_answer answer = client_ask(CLIENT_GET("/trace"));
    assert_int_equal(answer.status, 200);
    assert_int_equal(answer.body_size, answer.length);
    assert_true(answer.length > 1 << 20);
    assert_true(answer.body[0] == '{' || answer.body[0] == '[');
    assert_true(client_has_line(&answer, "Content-Type: application/json"));
    free(answer.text);
    client_end();
}

/* It has asked for the trace, and its first bytes have come; it will read no more of it. */
static int open_lazy_client(void)
{
    const int small = 4096;
    int fd = client_socket();
    char byte;

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    client_connect(fd);
    client_send(fd, CLIENT_GET("/trace"));
    assert_int_equal(recv(fd, &byte, 1, 0), 1);
    return fd;
}

TEST(who_does_not_read_holds_up_nobody)
{
    enum { LAZY = 3 };
    int lazy[LAZY];

    record_much();
    client_begin(NULL);
    for (int i = 0; i < LAZY; i++)
        lazy[i] = open_lazy_client();
    client_gets(CLIENT_GET("/trace"), 200);
    for (int i = 0; i < 10; i++)
        client_gets(CLIENT_GET("/metrics"), 200);
    client_end(); /* and they do not hold up the end */
    for (int i = 0; i < LAZY; i++)
        close(lazy[i]);
}
