/* SPDX-License-Identifier: MIT */
/*
 * The head of a request: what is understood, what is refused and with which status, and that it does
 * not matter in which pieces it comes.
 */
#include "observe/http.h"
#include "rota_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST "Host: localhost\r\n"
#define LINE "GET / HTTP/1.1\r\n"

/* -- Reading, from memory that ends where the text does -------------------------------------- */

static int read_first(const char *text, size_t size, rota__http_request *request)
{
    char *copy = malloc(size > 0 ? size : 1);

    assert_non_null(copy);
    memcpy(copy, text, size);
    int status = rota__http_read(copy, size, request);
    free(copy);
    return status;
}

/* The status of the whole, which must be that of the first prefix which has one. */
static int read_in_pieces(const char *text, size_t size)
{
    rota__http_request request = {.size = 0};
    size_t step = size > 1000 ? 41 : 1;
    int whole = read_first(text, size, &request);
    int status = ROTA__HTTP_MORE;

    for (size_t shown = 0; shown < size && status == ROTA__HTTP_MORE; shown += step)
        status = read_first(text, shown, &request);
    if (status != ROTA__HTTP_MORE)
        assert_int_equal(status, whole);
    return whole;
}

static void has_status(const char *text, size_t size, int expected)
{
    int status = read_in_pieces(text, size);

    if (status != expected)
        print_error("%d in place of %d for:\n%.*s\n", status, expected, (int)size, text);
    assert_int_equal(status, expected);
}

/* -- What is understood ---------------------------------------------------------------------- */

struct good {
    const char *text;
    const char *path;
    const char *host;
    bool is_head;
};

static const struct good good[] = {
    {LINE HOST "\r\n", "/", "localhost", false},
    {"HEAD /metrics HTTP/1.1\r\n" HOST "\r\n", "/metrics", "localhost", true},
    {"GET /metrics?a=b&c=%20/? HTTP/1.1\r\n" HOST "\r\n", "/metrics", "localhost", false},
    {"GET /?x HTTP/1.1\r\n" HOST "\r\n", "/", "localhost", false},
    {"GET //a/../%2e HTTP/1.1\r\n" HOST "\r\n", "//a/../%2e", "localhost", false},
    {LINE "host:127.0.0.1:8080\r\n\r\n", "/", "127.0.0.1", false},
    {LINE "HOST: \t [::1]:1 \t\r\n\r\n", "/", "[::1]", false},
    {LINE "Host: [::1]\r\n\r\n", "/", "[::1]", false},
    {LINE "Host: a.example:\r\n\r\n", "/", "a.example", false},
    {LINE "Content-Length: 0\r\n" HOST "\r\n", "/", "localhost", false},
    {LINE HOST "Content-Length: 000\r\n\r\n", "/", "localhost", false},
    {LINE "A:\r\nB: \r\nA: 2\r\nX: \xc3\xa4\x80\xff\t;\"\r\n" HOST "\r\n", "/", "localhost", false},
    {LINE HOST "Connection: keep-alive\r\nUpgrade: h2c\r\n\r\n", "/", "localhost", false},
    {LINE HOST "\r\nGET /metrics HTTP/1.1\r\n\r\n", "/", "localhost", false}, /* the first alone */
    {LINE HOST "\r\n\x80\xff", "/", "localhost", false},
};

TEST(what_is_right_is_understood)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        rota__http_request request = {.size = 0};
        const char *text = good[i].text;

        has_status(text, strlen(text), ROTA__HTTP_OK);
        assert_int_equal(rota__http_read(text, strlen(text), &request), ROTA__HTTP_OK);
        assert_true(rota__http_is(request.path, good[i].path));
        assert_true(rota__http_is(request.host, good[i].host));
        assert_int_equal(request.is_head, good[i].is_head);
        assert_int_equal(request.size, strstr(text, "\r\n\r\n") + 4 - text);
    }
}

/* -- What is refused ------------------------------------------------------------------------- */

struct bad {
    const char *text;
    int status;
};

static const struct bad bad[] = {
    /* the beginning */
    {" GET / HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"\r\n" LINE HOST "\r\n", ROTA__HTTP_BAD},
    {"\n", ROTA__HTTP_BAD},
    {"\x16\x03\x01\x02", ROTA__HTTP_BAD}, /* TLS */
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ROTA__HTTP_METHOD},
    {"GET\t/ HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"G\x80T / HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"G(T / HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"GETGETGETGETGETGETGETGETGETGETGET", ROTA__HTTP_BAD},
    /* the method */
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc", ROTA__HTTP_METHOD},
    {"PUT / HTTP/1.1\r\n", ROTA__HTTP_METHOD},
    {"OPTIONS * HTTP/1.1\r\n", ROTA__HTTP_METHOD},
    {"CONNECT a:1 HTTP/1.1\r\n", ROTA__HTTP_METHOD},
    {"get / HTTP/1.1\r\n", ROTA__HTTP_METHOD},
    {"GETT / HTTP/1.1\r\n", ROTA__HTTP_METHOD},
    {"GE / HTTP/1.1\r\n", ROTA__HTTP_METHOD},
    /* the target */
    {"GET  / HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"GET HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"GET http://localhost/ HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"GET metrics HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"GET * HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"GET ?x HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"GET /#x HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"GET /\"<x> HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"GET /\x01 HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"GET /\xc3\xa4 HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"GET /\\ HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"GET /\r\n\r\n", ROTA__HTTP_BAD}, /* as HTTP/0.9 */
    /* the version */
    {"GET / HTTP/1.0\r\n\r\n", ROTA__HTTP_VERSION},
    {"GET / HTTP/1.2\r\n", ROTA__HTTP_VERSION},
    {"GET / HTTP/2.0\r\n", ROTA__HTTP_VERSION},
    {"GET / HTTP/0.9\r\n", ROTA__HTTP_VERSION},
    {"GET / HTTP/3\r\n", ROTA__HTTP_BAD},
    {"GET / HTTP/1.10\r\n", ROTA__HTTP_BAD},
    {"GET / HTTP/11.1\r\n", ROTA__HTTP_BAD},
    {"GET / HTTP/a.1\r\n", ROTA__HTTP_BAD},
    {"GET / HTTP/1.:\r\n", ROTA__HTTP_BAD},
    {"GET / HTTP/1,1\r\n", ROTA__HTTP_BAD},
    {"GET / http/1.1\r\n", ROTA__HTTP_BAD},
    {"GET / HTTPS/1.1\r\n", ROTA__HTTP_BAD},
    {"GET / HTTP/1.1 \r\n", ROTA__HTTP_BAD},
    {"GET /  HTTP/1.1\r\n", ROTA__HTTP_BAD},
    {"GET / HTTP/1.1\n" HOST "\n", ROTA__HTTP_BAD},
    {"GET / HTTP/1.1\r" HOST, ROTA__HTTP_BAD},
    /* fields */
    {LINE "\r\n", ROTA__HTTP_BAD}, /* without a host */
    {LINE "A: b\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "Most: localhost\r\n\r\n", ROTA__HTTP_BAD},
    {LINE HOST "\rX", ROTA__HTTP_BAD},
    {LINE HOST "\n", ROTA__HTTP_BAD},
    {LINE HOST " folded: x\r\n\r\n", ROTA__HTTP_BAD},
    {LINE HOST "\tfolded\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "A : b\r\n", ROTA__HTTP_BAD},
    {LINE ": b\r\n", ROTA__HTTP_BAD},
    {LINE "A\r\n", ROTA__HTTP_BAD},
    {LINE "A b: c\r\n", ROTA__HTTP_BAD},
    {LINE "X-\xc3\xa4: b\r\n", ROTA__HTTP_BAD},
    {LINE "A: b\nC: d\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "A: b\rC: d\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "A: \x01\r\n", ROTA__HTTP_BAD},
    {LINE "A: \x7f\r\n", ROTA__HTTP_BAD},
    /* the host */
    {LINE "Host:\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "Host: :80\r\n\r\n", ROTA__HTTP_BAD},
    {LINE HOST HOST "\r\n", ROTA__HTTP_BAD},
    {LINE HOST "HOST: localhost\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "Host: a b\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "Host: a/b\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "Host: a@b\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "Host: a:b\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "Host: a:123456\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "Host: ::1\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "Host: [::1\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "Host: [::1]:x\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "Host: [a\r\n\r\n", ROTA__HTTP_BAD},
    {LINE "Host: a\x80\r\n\r\n", ROTA__HTTP_BAD},
    /* a body */
    {LINE HOST "Content-Length: 1\r\n\r\nx", ROTA__HTTP_BODY},
    {LINE HOST "content-length: 0010\r\n\r\n", ROTA__HTTP_BODY},
    {LINE HOST "Content-Length: 99999999999999999999999999\r\n\r\n", ROTA__HTTP_BODY},
    {LINE HOST "Content-Length:\r\n\r\n", ROTA__HTTP_BAD},
    {LINE HOST "Content-Length: -1\r\n\r\n", ROTA__HTTP_BAD},
    {LINE HOST "Content-Length: +0\r\n\r\n", ROTA__HTTP_BAD},
    {LINE HOST "Content-Length: 0x0\r\n\r\n", ROTA__HTTP_BAD},
    {LINE HOST "Content-Length: 0, 0\r\n\r\n", ROTA__HTTP_BAD},
    {LINE HOST "Content-Length: 0\r\nContent-Length: 0\r\n\r\n", ROTA__HTTP_BAD},
    {LINE HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ROTA__HTTP_BAD},
    {LINE HOST "TRANSFER-ENCODING: identity\r\n\r\n", ROTA__HTTP_BAD},
};

TEST(what_is_wrong_is_refused_with_its_status)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        has_status(bad[i].text, strlen(bad[i].text), bad[i].status);
}

TEST(a_zero_byte_is_refused_wherever_it_is)
{
    static const char head[] = "GET /a HTTP/1.1\r\nHost: localhost\r\nA: b\r\n\r\n";

    for (size_t i = 0; i < sizeof head - 1; i++) {
        char text[sizeof head];
        memcpy(text, head, sizeof head);
        text[i] = '\0';
        has_status(text, sizeof head - 1, ROTA__HTTP_BAD);
    }
}

/* Whatever a head is cut short to, it is neither understood nor refused. */
TEST(a_head_that_goes_on_is_waited_for)
{
    static const char head[] = "HEAD /a?b HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 0\r\n\r\n";
    rota__http_request request = {.size = 77};

    for (size_t size = 0; size < sizeof head - 1; size++)
        assert_int_equal(read_first(head, size, &request), ROTA__HTTP_MORE);
    assert_int_equal(request.size, 77);
    assert_int_equal(read_first(head, sizeof head - 1, &request), ROTA__HTTP_OK);
}

/* -- What is too long ------------------------------------------------------------------------ */

/* "GET /aaa... HTTP/1.1", with a target of that size. */
static size_t long_target(char *text, size_t target)
{
    size_t size = 0;

    size += (size_t)sprintf(text, "GET /");
    memset(text + size, 'a', target - 1);
    size += target - 1;
    return size + (size_t)sprintf(text + size, " HTTP/1.1\r\n" HOST "\r\n");
}

TEST(a_target_has_a_limit)
{
    char text[2 * ROTA__HTTP_HEAD];

    has_status(text, long_target(text, ROTA__HTTP_TARGET), ROTA__HTTP_OK);
    has_status(text, long_target(text, ROTA__HTTP_TARGET + 1), ROTA__HTTP_LONG_TARGET);
    has_status(text, long_target(text, ROTA__HTTP_HEAD + 100), ROTA__HTTP_LONG_TARGET);
}

/* A head of that size, in one field or in many. */
static size_t long_head(char *text, size_t size, size_t field)
{
    size_t filled = (size_t)sprintf(text, LINE HOST);

    while (size - 2 - filled >= 2 * field) {
        memset(text + filled, 'a', field);
        text[filled + 1] = ':';
        memcpy(text + filled + field - 2, "\r\n", 2);
        filled += field;
    }
    size_t left = size - 2 - filled;
    memset(text + filled, 'a', left);
    text[filled + 1] = ':';
    memcpy(text + size - 4, "\r\n\r\n", 4);
    return size;
}

TEST(a_head_has_a_limit)
{
    static const size_t fields[] = {4, 5, 50, ROTA__HTTP_HEAD};
    char text[2 * ROTA__HTTP_HEAD];

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        has_status(text, long_head(text, ROTA__HTTP_HEAD, fields[i]), ROTA__HTTP_OK);
        has_status(text, long_head(text, ROTA__HTTP_HEAD + 1, fields[i]), ROTA__HTTP_LONG_HEAD);
        has_status(text, long_head(text, sizeof text, fields[i]), ROTA__HTTP_LONG_HEAD);
    }
}

/* -- Rubbish --------------------------------------------------------------------------------- */

/* One byte of a good head is another: never more is read than there is, in pieces or not. */
TEST(a_head_with_a_wrong_byte_has_one_answer)
{
    static const char head[] = "GET /a HTTP/1.1\r\nHost: [::1]:8\r\nContent-Length: 0\r\n\r\n";
    test_random random;

    test_random_init(&random);
    for (int i = 0; i < 5000; i++) {
        char text[sizeof head];
        memcpy(text, head, sizeof head);
        text[test_random_below(&random, sizeof head - 1)] = (char)test_random_below(&random, 256);
        read_in_pieces(text, sizeof head - 1);
    }
}

/* -- Hosts ----------------------------------------------------------------------------------- */

static bool is_local(const char *host, const char *address)
{
    return rota__http_is_local((rota__http_part){host, strlen(host)}, address);
}

TEST(a_host_is_local_by_itself_or_not)
{
    assert_true(is_local("localhost", "127.0.0.1"));
    assert_true(is_local("LocalHost", "127.0.0.1"));
    assert_true(is_local("127.0.0.1", "::1"));
    assert_true(is_local("[::1]", "127.0.0.1"));
    assert_true(is_local("127.1.2.3", "127.1.2.3"));
    assert_true(is_local("[0:0::1]", "0:0::1"));
    assert_true(is_local("[::FFFF:127.0.0.1]", "::ffff:127.0.0.1"));
    assert_false(is_local("localhost.", "127.0.0.1"));
    assert_false(is_local("localhost.evil.example", "127.0.0.1"));
    assert_false(is_local("evil.example", "127.0.0.1"));
    assert_false(is_local("127.0.0.1.evil.example", "127.0.0.1"));
    assert_false(is_local("127.0.0.2", "127.0.0.1"));
    assert_false(is_local("", "127.0.0.1"));
    assert_false(is_local("[", "127.0.0.1"));
    assert_false(is_local("[]", "127.0.0.1"));
}

/* -- Answers --------------------------------------------------------------------------------- */

TEST(an_answer_says_what_it_is_and_that_it_is_the_last)
{
    static const int statuses[] = {200, 400, 403, 404, 405, 413, 414, 431, 503, 505};
    char text[ROTA__HTTP_ANSWER + 1];

    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        rota__http_answer answer = {.status = statuses[i], .type = "text/plain", .size = 4711};
        char line[100];
        size_t size = rota__http_write(text, &answer);

        assert_true(size < ROTA__HTTP_ANSWER && strlen(text) == size);
        snprintf(line, sizeof line, "HTTP/1.1 %d %s\r\n", statuses[i],
                 rota__http_reason(statuses[i]));
        assert_ptr_equal(strstr(text, line), text);
        assert_ptr_equal(strstr(text, "\r\n\r\n"), text + size - 4);
        assert_non_null(strstr(text, "\r\nContent-Length: 4711\r\n"));
        assert_non_null(strstr(text, "\r\nContent-Type: text/plain\r\n"));
        assert_non_null(strstr(text, "\r\nConnection: close\r\n"));
        assert_non_null(strstr(text, "\r\nContent-Security-Policy: default-src 'none';"));
        assert_true((strstr(text, "\r\nAllow: GET, HEAD\r\n") != NULL) == (statuses[i] == 405));
        assert_true((strstr(line, "Bad Request") != NULL) == (statuses[i] == 400));
    }
}
