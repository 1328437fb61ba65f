/* SPDX-License-Identifier: MIT */
/*
 * http.c - reads the head of a request, and writes that of an answer.
 *
 *   http.H1  What is read lies below `end`; a look at a byte comes after a look whether it is
 *            there.
 *   http.H2  A status is answered only for what no further byte could mend. So the same head gets
 *            the same answer in one piece and byte by byte.
 */
#include "observe/http.h"

#include <stdio.h>
#include <string.h>

/* -- Bytes ---------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

static bool is_token(char c) /* RFC 9110, 5.6.2 */
{
    return is_letter(c) || is_digit(c) || is_one_of(c, "!#$%&'*+-.^_`|~");
}

static bool is_target(char c) /* RFC 3986: path and query */
{
    return is_letter(c) || is_digit(c) || is_one_of(c, "/?-._~!$&'()*+,;=:@%");
}

static bool is_host(char c) /* RFC 3986: a name or an address, with its port */
{
    return is_letter(c) || is_digit(c) || is_one_of(c, "-._~!$&'()*+,;=%:[]");
}

static bool is_value(char c) /* RFC 9110, 5.5 */
{
    return c == '\t' || (unsigned char)c >= 0x80 || (c >= ' ' && c != 0x7f);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same_word(rota__http_part part, const char *word)
{
    if (part.size != strlen(word))
        return false;
    for (size_t i = 0; i < part.size; i++) {
        if (lower(part.text[i]) != lower(word[i]))
            return false;
    }
    return true;
}

bool rota__http_is(rota__http_part part, const char *text)
{
    return part.size == strlen(text) && memcmp(part.text, text, part.size) == 0;
}

/* -- Reading -------------------------------------------------------------- */

struct reader {
    const char *at;
    const char *end;
    bool has_host, has_length;
};

/* As many bytes of a kind as there are. */
static rota__http_part take(struct reader *reader, bool (*is_kind)(char c))
{
    rota__http_part part = {reader->at, 0};

    while (reader->at < reader->end && is_kind(*reader->at)) /* http.H1 */
        reader->at++;
    part.size = (size_t)(reader->at - part.text);
    return part;
}

/* Is this what comes next? ROTA__HTTP_OK, behind it; else BAD, or MORE if it may still come. */
static int expect(struct reader *reader, const char *text)
{
    for (; *text != '\0'; text++) {
        if (reader->at == reader->end)
            return ROTA__HTTP_MORE; /* http.H2: the next byte may be right */
        if (*reader->at != *text)
            return ROTA__HTTP_BAD;
        reader->at++;
    }
    return ROTA__HTTP_OK;
}

static int read_method(struct reader *reader, rota__http_request *request)
{
    enum { LONGEST = 32 };
    rota__http_part method = take(reader, is_token);

    if (method.size > LONGEST)
        return ROTA__HTTP_BAD;
    int status = expect(reader, " ");
    if (status != ROTA__HTTP_OK)
        return status;
    if (method.size == 0)
        return ROTA__HTTP_BAD;
    request->is_head = rota__http_is(method, "HEAD");
    return request->is_head || rota__http_is(method, "GET") ? ROTA__HTTP_OK : ROTA__HTTP_METHOD;
}

/* In origin-form: a path, and perhaps a query, which says nothing to us. */
static int read_target(struct reader *reader, rota__http_request *request)
{
    rota__http_part target = take(reader, is_target);
    const char *query;

    if (target.size > 0 && target.text[0] != '/')
        return ROTA__HTTP_BAD;
    if (target.size > ROTA__HTTP_TARGET)
        return ROTA__HTTP_LONG_TARGET;
    int status = expect(reader, " ");
    if (status != ROTA__HTTP_OK)
        return status;
    if (target.size == 0)
        return ROTA__HTTP_BAD;
    query = memchr(target.text, '?', target.size);
    request->path = target;
    if (query != NULL)
        request->path.size = (size_t)(query - target.text);
    return ROTA__HTTP_OK;
}

static int read_digit(struct reader *reader, char *digit)
{
    if (reader->at == reader->end)
        return ROTA__HTTP_MORE;
    *digit = *reader->at++;
    return is_digit(*digit) ? ROTA__HTTP_OK : ROTA__HTTP_BAD;
}

static int read_version(struct reader *reader)
{
    char major = '\0';
    char minor = '\0';
    int status = expect(reader, "HTTP/");

    if (status == ROTA__HTTP_OK)
        status = read_digit(reader, &major);
    if (status == ROTA__HTTP_OK)
        status = expect(reader, ".");
    if (status == ROTA__HTTP_OK)
        status = read_digit(reader, &minor);
    if (status == ROTA__HTTP_OK)
        status = expect(reader, "\r\n");
    if (status != ROTA__HTTP_OK)
        return status;
    return major == '1' && minor == '1' ? ROTA__HTTP_OK : ROTA__HTTP_VERSION;
}

/* -- Fields --------------------------------------------------------------- */

static rota__http_part trimmed(rota__http_part value)
{
    while (value.size > 0 && is_one_of(value.text[0], " \t")) {
        value.text++;
        value.size--;
    }
    while (value.size > 0 && is_one_of(value.text[value.size - 1], " \t"))
        value.size--;
    return value;
}

/* Where the port's colon is, or the end. */
static size_t host_size(rota__http_part value)
{
    const char *from = value.text;
    const char *end = value.text + value.size;

    if (value.size > 0 && value.text[0] == '[') { /* the colons of an IPv6 address */
        from = memchr(value.text, ']', value.size);
        if (from == NULL)
            return 0;
    }
    const char *colon = memchr(from, ':', (size_t)(end - from));
    return (size_t)((colon != NULL ? colon : end) - value.text);
}

static bool is_port(rota__http_part part) /* behind its colon: digits, or nothing */
{
    enum { LONGEST = 6 };

    if (part.size > LONGEST)
        return false;
    for (size_t i = 1; i < part.size; i++) {
        if (!is_digit(part.text[i]))
            return false;
    }
    return true;
}

static int read_host(rota__http_part value, rota__http_part *host)
{
    size_t size = host_size(value);

    for (size_t i = 0; i < value.size; i++) {
        if (!is_host(value.text[i]))
            return ROTA__HTTP_BAD;
    }
    if (size == 0 || !is_port((rota__http_part){value.text + size, value.size - size}))
        return ROTA__HTTP_BAD;
    *host = (rota__http_part){value.text, size};
    return ROTA__HTTP_OK;
}

/* Zero, in however many digits: there is to be no body. */
static int read_length(rota__http_part value)
{
    int status = value.size > 0 ? ROTA__HTTP_OK : ROTA__HTTP_BAD;

    for (size_t i = 0; i < value.size; i++) {
        if (!is_digit(value.text[i]))
            return ROTA__HTTP_BAD;
        if (value.text[i] != '0')
            status = ROTA__HTTP_BODY;
    }
    return status;
}

/* Twice the same field, of those that count, is how one is smuggled past another. */
static int heed(struct reader *reader, rota__http_part name, rota__http_part value,
                rota__http_request *request)
{
    if (is_same_word(name, "Transfer-Encoding"))
        return ROTA__HTTP_BAD;
    if (is_same_word(name, "Content-Length")) {
        if (reader->has_length)
            return ROTA__HTTP_BAD;
        reader->has_length = true;
        return read_length(value);
    }
    if (is_same_word(name, "Host")) {
        if (reader->has_host)
            return ROTA__HTTP_BAD;
        reader->has_host = true;
        return read_host(value, &request->host);
    }
    return ROTA__HTTP_OK;
}

static int read_field(struct reader *reader, rota__http_request *request)
{
    rota__http_part name = take(reader, is_token);
    int status = expect(reader, ":");

    if (status != ROTA__HTTP_OK)
        return status;
    if (name.size == 0)
        return ROTA__HTTP_BAD;
    rota__http_part value = take(reader, is_value);
    status = expect(reader, "\r\n");
    if (status != ROTA__HTTP_OK)
        return status;
    return heed(reader, name, trimmed(value), request);
}

/* Up to the empty line. A line that begins with a space would go on with the one before it: BAD. */
static int read_fields(struct reader *reader, rota__http_request *request)
{
    int status = ROTA__HTTP_OK;

    while (status == ROTA__HTTP_OK) {
        if (reader->at < reader->end && *reader->at == '\r') {
            status = expect(reader, "\r\n");
            break;
        }
        status = read_field(reader, request);
    }
    if (status == ROTA__HTTP_OK && !reader->has_host)
        return ROTA__HTTP_BAD;
    return status;
}

int rota__http_read(const char *text, size_t size, rota__http_request *request)
{
    size_t shown = size < ROTA__HTTP_HEAD ? size : ROTA__HTTP_HEAD;
    struct reader reader = {.at = text, .end = text + shown};
    rota__http_request read = {.is_head = false};
    int status = read_method(&reader, &read);

    if (status == ROTA__HTTP_OK)
        status = read_target(&reader, &read);
    if (status == ROTA__HTTP_OK)
        status = read_version(&reader);
    if (status == ROTA__HTTP_OK)
        status = read_fields(&reader, &read);
    if (status == ROTA__HTTP_MORE && shown == ROTA__HTTP_HEAD)
        return ROTA__HTTP_LONG_HEAD;
    if (status != ROTA__HTTP_OK)
        return status;
    read.size = (size_t)(reader.at - text);
    *request = read;
    return ROTA__HTTP_OK;
}

/* -- Hosts ---------------------------------------------------------------- */

bool rota__http_is_local(rota__http_part host, const char *address)
{
    if (is_same_word(host, "localhost") || rota__http_is(host, "127.0.0.1")
        || rota__http_is(host, "[::1]"))
        return true;
    if (host.size >= 2 && host.text[0] == '[')
        host = (rota__http_part){host.text + 1, host.size - 2};
    return is_same_word(host, address);
}

/* -- Answers -------------------------------------------------------------- */

const char *rota__http_reason(int status)
{
    switch (status) {
    case ROTA__HTTP_OK:
        return "OK";
    case ROTA__HTTP_FORBIDDEN:
        return "Forbidden";
    case ROTA__HTTP_NOT_FOUND:
        return "Not Found";
    case ROTA__HTTP_METHOD:
        return "Method Not Allowed";
    case ROTA__HTTP_BODY:
        return "Content Too Large";
    case ROTA__HTTP_LONG_TARGET:
        return "URI Too Long";
    case ROTA__HTTP_LONG_HEAD:
        return "Request Header Fields Too Large";
    case ROTA__HTTP_UNAVAILABLE:
        return "Service Unavailable";
    case ROTA__HTTP_VERSION:
        return "HTTP Version Not Supported";
    default:
        return "Bad Request";
    }
}

/* Figures are of one moment, and for whoever asked: nobody keeps them, no other page shows them. */
size_t rota__http_write(char *text, const rota__http_answer *answer)
{
    int length = snprintf(
        text, ROTA__HTTP_ANSWER,
        "HTTP/1.1 %d %s\r\n"
        "Content-Type: %s\r\n"
        "Content-Length: %zu\r\n"
        "Connection: close\r\n"
        "Cache-Control: no-store\r\n"
        "Content-Security-Policy: %s\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\n"
        "Referrer-Policy: no-referrer\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "%s"
        "\r\n",
        answer->status, rota__http_reason(answer->status), answer->type, answer->size,
        answer->policy != NULL ? answer->policy : "default-src 'none'; frame-ancestors 'none'",
        answer->status == ROTA__HTTP_METHOD ? "Allow: GET, HEAD\r\n" : "");

    return (size_t)length;
}
