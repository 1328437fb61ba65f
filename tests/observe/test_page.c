/* SPDX-License-Identifier: MIT */
/*
 * The page and its clients: the slow, the impatient, the malformed and the many. Each gets one answer
 * or none, and none of them is in the way of another. Time stands still where a test says nothing
 * else, so that nobody is helped by a timeout.
 */
#define _GNU_SOURCE
#include "page_client.h"
#include "pools.h"
#include "rota_test_internal.h"

enum { PLACES = 8, MANY = 100 };

static int begin(void **state)
{
    int status = test_clock_before(state);

    client_begin(NULL);
    return status;
}

static int end(void **state)
{
    client_end();
    return test_clock_after(state);
}

static const test_fixture test_of_page = {.setup = begin, .teardown = end};

/* -- One client ------------------------------------------------------------------------------ */

TEST_WITH(test_of_page, what_there_is_can_be_asked_for)
{
    client_gets(CLIENT_GET("/"), 200);
    client_gets(CLIENT_GET("/figures"), 200);
    client_gets(CLIENT_GET("/metrics"), 200);
    client_gets(CLIENT_GET("/metrics?format=text"), 200);
    client_gets(CLIENT_GET("/trace"), 200);
}

TEST_WITH(test_of_page, head_is_answered_without_a_body)
{
    static const char *const paths[] = {"/", "/figures", "/metrics", "/trace"};

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        char request[100];
        snprintf(request, sizeof request, "HEAD %s HTTP/1.1\r\nHost: localhost\r\n\r\n", paths[i]);
        client_answer answer = client_ask(request);
        assert_int_equal(answer.status, 200);
        assert_int_equal(answer.body_size, 0);
        assert_true(answer.length > 0);
        free(answer.text);
    }
}

static const struct refused {
    const char *request;
    int status;
} refused[] = {
    {CLIENT_GET("/nothing"), 404},
    {CLIENT_GET("/metrics/"), 404},
    {CLIENT_GET("/Metrics"), 404},
    {CLIENT_GET("//"), 404},
    {CLIENT_GET("/../etc/passwd"), 404},
    {"HEAD /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
    {"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", 405},
    {"DELETE / HTTP/1.1\r\n\r\n", 405},
    {"OPTIONS * HTTP/1.1\r\n\r\n", 405},
    {"GET / HTTP/1.0\r\n\r\n", 505},
    {"GET / HTTP/2.0\r\n\r\n", 505},
    {"GET / HTTP/1.1\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", 413},
    {"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
    {"\x16\x03\x01\x02\x01\x01\xfc\x03\x03", 400}, /* TLS */
    {"\r\n\r\n", 400},
    {"SSH-2.0-OpenSSH_9.6\r\n", 400},
};

TEST_WITH(test_of_page, what_is_not_understood_is_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        client_answer answer = client_ask(refused[i].request);
        if (answer.status != refused[i].status)
            print_error("%d for: %s\n", answer.status, refused[i].request);
        assert_int_equal(answer.status, refused[i].status);
        assert_true(client_has_line(&answer, "Connection: close"));
        assert_true(client_has_line(&answer, "Allow: GET, HEAD") == (answer.status == 405));
        free(answer.text);
    }
    client_gets(CLIENT_GET("/"), 200);
}

TEST_WITH(test_of_page, what_is_too_long_is_refused_and_the_reason_arrives)
{
    enum { LONG = 60000 };
    char *text = malloc(LONG);

    assert_non_null(text);
    memset(text, 'a', LONG);
    memcpy(text, "GET /", 5);
    int fd = client_open();
    client_send_bytes(fd, text, LONG);
    client_takes(fd, 414);

    memcpy(text, "GET / HTTP/1.1\r\nA: ", 19);
    fd = client_open();
    client_send_bytes(fd, text, LONG);
    client_takes(fd, 431);

    for (size_t i = 16; i + 4 <= LONG; i += 4) /* many fields */
        memcpy(text + i, "a:\r\n", 4);
    fd = client_open();
    client_send_bytes(fd, text, LONG);
    client_takes(fd, 431);
    free(text);
}

/* DNS rebinding: the name of another, which leads here. */
TEST_WITH(test_of_page, another_host_is_refused)
{
    client_gets("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403);
    client_gets("GET /metrics HTTP/1.1\r\nHost: localhost.evil.example:80\r\n\r\n", 403);
    client_gets("GET /figures HTTP/1.1\r\nHost: 127.0.0.2\r\n\r\n", 403);
    client_gets("GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", 200);
    client_gets("GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", 200);
}

TEST_WITH(test_of_page, a_request_may_come_byte_by_byte)
{
    static const char request[] = CLIENT_GET("/metrics");
    int fd = client_open();

    for (size_t i = 0; i < sizeof request - 1; i++)
        client_send_bytes(fd, request + i, 1);
    client_takes(fd, 200);
}

TEST_WITH(test_of_page, of_several_requests_at_once_the_first_is_answered)
{
    int fd = client_open();

    client_send(fd, CLIENT_GET("/metrics") CLIENT_GET("/") CLIENT_GET("/nothing"));
    client_takes(fd, 200);
}

/* -- Clients that leave ---------------------------------------------------------------------- */

TEST_WITH(test_of_page, a_client_may_have_nothing_more_to_say)
{
    int fd = client_open();

    client_send(fd, CLIENT_GET("/"));
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    client_takes(fd, 200);
}

TEST_WITH(test_of_page, half_a_request_is_refused_when_no_more_can_come)
{
    int fd = client_open();

    client_send(fd, "GET / HTTP/1.1\r\nHost: loc");
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    client_takes(fd, 400);
}

TEST_WITH(test_of_page, who_says_nothing_gets_nothing)
{
    int fd = client_open();

    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    assert_true(client_is_at_end(fd));
    close(fd);
}

static void reset(int fd)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    test_check(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    close(fd);
}

/* More of them than there are places, in every state: none stays taken. */
TEST_WITH(test_of_page, clients_that_go_away_leave_their_place)
{
    static const char *const said[] = {
        "", "G", "GET / HTTP/1.1\r\nHost:", "\r\n", CLIENT_GET("/metrics"), CLIENT_GET("/trace")};

    for (int i = 0; i < 3 * PLACES; i++) {
        for (size_t j = 0; j < sizeof said / sizeof said[0]; j++) {
            int fd = client_open();
            client_send(fd, said[j]);
            if (i % 2 == 0)
                reset(fd);
            else
                close(fd);
        }
    }
    client_gets(CLIENT_GET("/"), 200);
}

/* -- Several clients ------------------------------------------------------------------------- */

static void open_all(int *fds, int count, const char *text)
{
    for (int i = 0; i < count; i++) {
        fds[i] = client_open();
        client_send(fds[i], text);
    }
}

TEST_WITH(test_of_page, slow_clients_do_not_hold_up_another)
{
    int slow[PLACES - 1];

    open_all(slow, PLACES - 1, "GET / HTTP/1.1\r\nHost: local");
    for (int i = 0; i < 20; i++)
        client_gets(CLIENT_GET("/metrics"), 200);
    for (int i = 0; i < PLACES - 1; i++) {
        client_send(slow[i], "host\r\n\r\n");
        client_takes(slow[i], 200);
    }
}

/* A client that was refused, has got its answer, and keeps its place until it hangs up or LINGER is
   over. */
static int refused_client(void)
{
    int fd = client_open();
    char byte;

    client_send(fd, "NO / HTTP/1.1\r\n");
    while (recv(fd, &byte, 1, 0) == 1)
        continue;
    return fd;
}

/*
 * All places are taken, and the next client waits until the time of one of them is up. That is seen
 * when something happens: one of those whose time is up says one byte more.
 */
TEST_WITH(test_of_page, slow_clients_lose_their_place_in_time)
{
    int slow[PLACES - 1];

    open_all(slow, PLACES - 1, "GET / HTTP/1.1\r\nA: ");
    client_gets(CLIENT_GET("/"), 200); /* so the others have their places */
    int lingering = refused_client();
    int waiting = client_open();
    client_send(waiting, CLIENT_GET("/"));
    test_clock_advance(ROTA_SEC(1));
    client_send(lingering, "x");
    client_takes(waiting, 200);
    assert_true(client_is_at_end(lingering));
    close(lingering);

    test_clock_advance(ROTA_SEC(4) - 1);
    client_send(slow[0], "b\r\nHost: localhost\r\n\r\n"); /* just in time */
    client_takes(slow[0], 200);
    test_clock_advance(1);
    client_send(slow[1], "b");
    for (int i = 1; i < PLACES - 1; i++) {
        assert_true(client_is_at_end(slow[i]));
        close(slow[i]);
    }
}

/* More of them than there are places. */
TEST_WITH(test_of_page, who_was_served_need_not_hang_up)
{
    int fds[2 * PLACES];
    char byte;

    for (int i = 0; i < 2 * PLACES; i++) {
        fds[i] = client_open();
        client_send(fds[i], CLIENT_GET("/metrics"));
        while (recv(fds[i], &byte, 1, 0) == 1)
            continue;
    }
    for (int i = 0; i < 2 * PLACES; i++)
        close(fds[i]);
}

TEST_WITH(test_of_page, a_hundred_clients_at_once_are_all_served)
{
    int fds[MANY];

    for (int i = 0; i < MANY; i++)
        fds[i] = client_open();
    for (int i = 0; i < MANY; i++)
        client_send(fds[i], i % 2 == 0 ? CLIENT_GET("/metrics") : CLIENT_GET("/nothing"));
    for (int i = 0; i < MANY; i++)
        client_takes(fds[i], i % 2 == 0 ? 200 : 404);
}

static void ask_and_ask(void *arg)
{
    for (int i = 0; i < 50; i++)
        client_gets(i % 5 == 0 ? CLIENT_GET("/trace") : CLIENT_GET("/figures"), 200);
}

TEST_WITH(test_of_page, threads_ask_at_the_same_time)
{
    test_thread *threads[4];

    for (int i = 0; i < 4; i++)
        threads[i] = test_thread_start(ask_and_ask, NULL);
    for (int i = 0; i < 4; i++)
        test_thread_join(threads[i]);
}

TEST_WITH(test_of_page, stop_ends_clients_that_hang)
{
    int fds[3 * PLACES];

    open_all(fds, PLACES / 2, "GET / HTTP/1.1\r\n");
    fds[PLACES / 2] = refused_client();
    open_all(fds + PLACES / 2 + 1, 3 * PLACES - PLACES / 2 - 1, "");
    client_end();
    for (int i = 0; i < 3 * PLACES; i++) {
        assert_true(client_is_at_end(fds[i]));
        close(fds[i]);
    }
}

/* -- A system that refuses: in real time, as the page tries again after some ------------------ */

static int begin_in_time(void **state)
{
    client_begin(NULL);
    return 0;
}

static int end_in_time(void **state)
{
    client_end();
    return 0;
}

static const test_fixture test_in_time = {.setup = begin_in_time, .teardown = end_in_time};

/* The client's end of the connection is the last that there is. */
static void refuses_for_a_while(void)
{
    struct rlimit usual = client_limit_descriptors(1);
    int fd = client_open();

    client_send(fd, CLIENT_GET("/metrics"));
    test_check(setrlimit(RLIMIT_NOFILE, &usual) == 0);
    client_takes(fd, 200);
}

/* So that there are more descriptors than poll is given. */
static void take_descriptors(int taken[], int count)
{
    for (int i = 0; i < count; i++) {
        taken[i] = dup(STDIN_FILENO);
        assert_true(taken[i] >= 0);
    }
}

static void close_all(const int fds[], int count)
{
    for (int i = 0; i < count; i++)
        close(fds[i]);
}

TEST_WITH(test_in_time, without_descriptors_clients_wait)
{
    int taken[20];

    if (TEST_IS_EMULATED)
        skip();
    take_descriptors(taken, 20);
    refuses_for_a_while();
    close_all(taken, 20);
}

/* One for each end of the connection. */
TEST_WITH(test_in_time, without_a_descriptor_there_is_no_trace)
{
    int taken[20];

    if (TEST_IS_EMULATED)
        skip();
    take_descriptors(taken, 20);
    struct rlimit usual = client_limit_descriptors(2);
    client_gets(CLIENT_GET("/trace"), 503);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    client_gets(CLIENT_GET("/trace"), 200);
    close_all(taken, 20);
}

/* So few descriptors that poll refuses to wait for as many. */
TEST_WITH(test_in_time, when_nothing_can_be_waited_for_clients_wait)
{
    if (TEST_IS_EMULATED)
        skip();
    refuses_for_a_while();

    struct rlimit usual = client_limit_descriptors(1);
    int fd = client_open();
    client_end();
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_true(client_is_at_end(fd));
    close(fd);
}
