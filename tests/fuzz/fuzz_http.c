/* SPDX-License-Identifier: MIT */
/*
 * fuzz_http.c - a fuzzer's bytes are what a client sends to the page. Whatever they are, there is one
 * answer, the same in pieces and with anything behind it; and a request that is understood is one to a
 * reader that knows nothing but lines.
 */
#define _GNU_SOURCE /* memmem */
#include "observe/http.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define check(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

static void fail(int line, const char *what)
{
    fprintf(stderr, "FOUND: fuzz_http.c:%d: not so: %s\n", line, what);
    abort();
}

/* From memory that ends where the text does. */
static int read_first(const char *text, size_t size, rota__http_request *request)
{
    char *copy = malloc(size > 0 ? size : 1);

    if (copy == NULL)
        abort();
    memcpy(copy, text, size);
    int status = rota__http_read(copy, size, request);
    if (status == ROTA__HTTP_OK) { /* so that it can be looked at later */
        check(request->path.text >= copy && request->path.text < copy + size);
        check(request->host.text >= copy && request->host.text < copy + size);
        request->path.text = text + (request->path.text - copy);
        request->host.text = text + (request->host.text - copy);
    }
    free(copy);
    return status;
}

/* -- One answer ------------------------------------------------------------------------------ */

static bool is_known(int status)
{
    static const int known[] = {ROTA__HTTP_MORE,    ROTA__HTTP_OK,       ROTA__HTTP_BAD,
                                ROTA__HTTP_METHOD,  ROTA__HTTP_BODY,     ROTA__HTTP_LONG_TARGET,
                                ROTA__HTTP_VERSION, ROTA__HTTP_LONG_HEAD};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (status == known[i])
            return true;
    }
    return false;
}

static void check_pieces(const char *text, size_t size, int status)
{
    rota__http_request request;
    int seen = ROTA__HTTP_MORE;
    size_t step = size > 512 ? 61 : 1;

    for (size_t shown = 0; shown < size && seen == ROTA__HTTP_MORE; shown += step)
        seen = read_first(text, shown, &request);
    check(seen == ROTA__HTTP_MORE || seen == status);
}

/* -- What a request is, to who knows nothing but lines ---------------------------------------- */

static bool is_part(rota__http_part part, const char *from, const char *to)
{
    return part.text >= from && part.text + part.size <= to;
}

static void check_first_line(const rota__http_request *request, const char *text, const char *end)
{
    const char *method = request->is_head ? "HEAD " : "GET ";
    static const char version[] = " HTTP/1.1";
    size_t length = sizeof version - 1;

    check((size_t)(end - text) > strlen(method) + length);
    check(memcmp(text, method, strlen(method)) == 0);
    check(memcmp(end - length, version, length) == 0);
    check(request->path.text == text + strlen(method) && request->path.text[0] == '/');
    check(is_part(request->path, text, end - length));
    check((size_t)(end - length - request->path.text) <= ROTA__HTTP_TARGET);
    for (const char *at = request->path.text; at < end - length; at++)
        check(*at > ' ' && *at < 0x7f);
}

/* Is it a line with that name? */
static bool is_field(const char *name, const char *line)
{
    return strncasecmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':';
}

static void check_lines(const rota__http_request *request, const char *text)
{
    const char *end = text + request->size;
    const char *line = memmem(text, request->size, "\r\n", 2);
    int hosts = 0;

    check(line != NULL);
    check_first_line(request, text, line);
    for (line += 2; line < end - 2;) {
        const char *next = memmem(line, (size_t)(end - line), "\r\n", 2);
        check(next != NULL && next > line);
        const char *colon = memchr(line, ':', (size_t)(next - line));
        check(colon != NULL && colon > line);
        for (const char *at = line; at < colon; at++)
            check(*at > ' ' && *at < 0x7f);
        check(memchr(line, '\n', (size_t)(next - line)) == NULL);
        check(memchr(line, '\0', (size_t)(next - line)) == NULL);
        check(!is_field("transfer-encoding", line));
        hosts += is_field("host", line);
        if (is_field("host", line))
            check(request->host.size > 0 && is_part(request->host, colon, next));
        if (is_field("content-length", line))
            for (const char *at = colon + 1; at < next; at++)
                check(*at == '0' || *at == ' ' || *at == '\t');
        line = next + 2;
    }
    check(line == end - 2 && memcmp(line, "\r\n", 2) == 0);
    check(hosts == 1);
}

static void check_request(const rota__http_request *request, const char *text, size_t size)
{
    rota__http_request again;

    check(request->size <= size && request->size <= ROTA__HTTP_HEAD);
    check(read_first(text, request->size, &again) == ROTA__HTTP_OK); /* without what follows */
    check(read_first(text, request->size - 1, &again) == ROTA__HTTP_MORE);
    check_lines(request, text);
    if (rota__http_is_local(request->host, "127.0.0.1"))
        check(request->host.size == 9 || rota__http_is(request->host, "[::1]")
              || rota__http_is(request->host, "[127.0.0.1]"));
}

static void read_all(const char *text, size_t size)
{
    rota__http_request request = {.size = 0};
    int status = read_first(text, size, &request);

    check(is_known(status));
    check(status != ROTA__HTTP_MORE || size < ROTA__HTTP_HEAD);
    check_pieces(text, size, status);
    if (status == ROTA__HTTP_OK)
        check_request(&request, text, size);
}

/* A field may be there again and again, until the head is too long: the last byte says which part is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;

    read_all(text, size);
    if (size > 0 && data[size - 1] >= 128) {
        size_t begin = data[size - 1] % size;
        size_t part = size - 1 - begin;
        size_t times = part > 0 ? 2 * ROTA__HTTP_HEAD / part + 1 : 0;
        char *more = malloc(begin + part * times + 1);
        if (more == NULL)
            abort();
        memcpy(more, text, begin);
        for (size_t i = 0; i < times; i++)
            memcpy(more + begin + i * part, text + begin, part);
        read_all(more, begin + part * times);
        free(more);
    }
    return 0;
}
