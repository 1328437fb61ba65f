/* SPDX-License-Identifier: MIT */
#include "connection.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void connection_close(connection *c)
{
    close(c->fd);
    c->fd = -1;
}

static void set_answer(connection *c, const char *status, const char *body, size_t length)
{
    int head = snprintf(c->answer, HEAD_SIZE,
                        "HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\n"
                        "Content-Length: %zu\r\n%s\r\n",
                        status, length, c->last ? "Connection: close\r\n" : "");

    memcpy(c->answer + head, body, length);
    c->have = 0;
    c->length = (size_t)head + length;
    c->sent = 0;
}

void *connection_make_page(void *connection_)
{
    connection *c = connection_;
    char body[BODY_SIZE];

    set_answer(c, "200 OK", body, c->page->make(c->argument, body, sizeof body));
    return c;
}

bool connection_send(connection *c)
{
    while (c->sent < c->length) {
        ssize_t n = send(c->fd, c->answer + c->sent, c->length - c->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            connection_close(c);
        if (n < 0)
            return false;
        c->sent += (size_t)n;
    }
    c->length = c->sent = 0;
    if (c->last)
        connection_close(c);
    return !c->last;
}

void connection_refuse(connection *c, const char *status)
{
    c->last = true;
    set_answer(c, status, status, strlen(status));
    connection_send(c);
}

/* "GET /path HTTP/1.1": finds the page of the path, which becomes a string; else says why not. */
static const char *parse(connection *c)
{
    char *path = c->request + 4;

    if (strncmp(c->request, "GET ", 4) != 0)
        return "405 Method Not Allowed";
    size_t length = strcspn(path, " \r\n");
    if (strncmp(path + length, " HTTP/1.", 8) != 0)
        return "400 Bad Request";
    path[length] = '\0';
    c->page = page_find(path);
    if (c->page == NULL)
        return "404 Not Found";
    c->argument = path + strlen(c->page->path);
    return NULL;
}

/* What has come so far: true, if it is a request that can be served. */
static bool accepted(connection *c)
{
    const char *refusal = NULL;

    c->request[c->have] = '\0';
    if (strstr(c->request, "\r\n\r\n") != NULL)
        refusal = parse(c);
    else if (c->have == REQUEST_SIZE)
        refusal = "431 Request Header Fields Too Large";
    else
        return false;
    if (refusal != NULL)
        connection_refuse(c, refusal);
    return refusal == NULL;
}

/* Clients send one request at a time: what follows the first is not looked at. */
bool connection_receive(connection *c)
{
    while (c->fd >= 0 && c->length == 0) {
        ssize_t n = recv(c->fd, c->request + c->have, REQUEST_SIZE - c->have, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return false;
        if (n <= 0) {
            connection_close(c);
            return false;
        }
        c->have += (size_t)n;
        if (accepted(c))
            return true;
    }
    return false;
}
