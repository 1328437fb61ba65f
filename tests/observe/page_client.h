/* SPDX-License-Identifier: MIT */
/*
 * page_client.h - clients of the page, well-behaved and not. _GNU_SOURCE must be defined.
 *
 *     client_begin(NULL);                                    // the page is there, at some port
 *     client_gets("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 200);
 *     int fd = client_open();                                // or step by step
 *     client_send(fd, "GET /");
 *     ...
 *     client_end();
 */
#ifndef ROTA_TEST_PAGE_CLIENT_H
#define ROTA_TEST_PAGE_CLIENT_H

#include "rota_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <rota/observe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define CLIENT_GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\n\r\n"

static unsigned client_port;

static inline void client_begin(const rota_page_options *options)
{
    client_port = 0;
    test_check(rota_page_start(options, &client_port) == ROTA_OK);
    test_check(client_port > 0 && client_port <= 65535);
}

static inline void client_end(void)
{
    test_check(rota_page_stop() == ROTA_OK);
}

/* As many descriptors as there are already, and so many more. What there could be before. */
static inline struct rlimit client_limit_descriptors(rlim_t more)
{
    struct rlimit usual;
    int next = dup(STDIN_FILENO);

    test_check(next >= 0 && close(next) == 0);
    test_check(getrlimit(RLIMIT_NOFILE, &usual) == 0);
    test_check(setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)next + more, usual.rlim_max})
               == 0);
    return usual;
}

/* -- Step by step ---------------------------------------------------------------------------- */

static inline struct sockaddr_in client_address(void)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)client_port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static inline int client_socket(void)
{
    const struct timeval patience = {.tv_sec = 40}; /* then a test fails in place of hanging */
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    test_check(fd >= 0);
    test_check(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    return fd;
}

static inline void client_connect(int fd)
{
    struct sockaddr_in address = client_address();

    test_check(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
}

static inline int client_open(void)
{
    int fd = client_socket();

    client_connect(fd);
    return fd;
}

static inline void client_send_bytes(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, text, size, MSG_NOSIGNAL);
        test_check(sent > 0);
        text += sent;
        size -= (size_t)sent;
    }
}

static inline void client_send(int fd, const char *text)
{
    client_send_bytes(fd, text, strlen(text));
}

/* The connection has ended, in whichever way. */
static inline bool client_is_at_end(int fd)
{
    char byte;
    ssize_t got = recv(fd, &byte, 1, 0);

    return got == 0 || (got < 0 && errno == ECONNRESET);
}

/* -- Answers --------------------------------------------------------------------------------- */

typedef struct client_answer {
    int status;
    size_t size;   /* of all of it */
    size_t length; /* of the body, as the head says */
    const char *body;
    size_t body_size; /* as it came */
    char *text;
} client_answer;

static inline void client_parse(client_answer *answer)
{
    const char *end = strstr(answer->text, "\r\n\r\n");
    const char *length = strstr(answer->text, "\r\nContent-Length: ");

    test_check(end != NULL && length != NULL && length < end);
    test_check(sscanf(answer->text, "HTTP/1.1 %d ", &answer->status) == 1);
    answer->length = strtoul(length + strlen("\r\nContent-Length: "), NULL, 10);
    answer->body = end + 4;
    answer->body_size = answer->size - (size_t)(answer->body - answer->text);
}

/* All that comes until the other side has ended, and closes. To be freed: answer.text. */
static inline client_answer client_receive(int fd)
{
    client_answer answer = {.size = 0};
    size_t room = 0;
    ssize_t got;

    do {
        if (room - answer.size < 2) {
            room = room * 2 + 4096;
            answer.text = realloc(answer.text, room);
            test_check(answer.text != NULL);
        }
        got = recv(fd, answer.text + answer.size, room - answer.size - 1, 0);
        test_check(got >= 0);
        answer.size += (size_t)got;
    } while (got > 0);
    answer.text[answer.size] = '\0';
    close(fd);
    client_parse(&answer);
    return answer;
}

/* Is this a line of the head? */
static inline bool client_has_line(const client_answer *answer, const char *line)
{
    char whole[600];

    snprintf(whole, sizeof whole, "\r\n%s\r\n", line);
    const char *at = strstr(answer->text, whole);
    return at != NULL && at < answer->body;
}

static inline client_answer client_ask(const char *request)
{
    int fd = client_open();

    client_send(fd, request);
    return client_receive(fd);
}

/* All of an answer comes, and it has this status. */
static inline void client_takes(int fd, int status)
{
    client_answer answer = client_receive(fd);

    if (answer.status != status)
        print_error("%d in place of %d\n", answer.status, status);
    test_check(answer.status == status);
    test_check(answer.body_size == answer.length);
    free(answer.text);
}

static inline void client_gets(const char *request, int status)
{
    int fd = client_open();

    client_send(fd, request);
    client_takes(fd, status);
}

#endif
