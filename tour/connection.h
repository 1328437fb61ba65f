/* SPDX-License-Identifier: MIT */
/*
 * connection.h - one client: its request, and the answer to it. It belongs to the loop's thread, except
 * while it is `busy`: then the pool makes the page.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "handlers.h"
#include <stdbool.h>

enum { REQUEST_SIZE = 2048, BODY_SIZE = 4096, HEAD_SIZE = 160 };

typedef struct connection {
    struct connection *next;
    int fd; /* -1: closed */
    bool busy;
    bool last; /* it is closed after this answer */
    const page *page;
    const char *argument; /* in `request` */
    size_t have, length, sent;
    char request[REQUEST_SIZE + 1];
    char answer[HEAD_SIZE + BODY_SIZE];
} connection;

bool connection_receive(connection *c); /* true: there is a request; its page is to be made */
bool connection_send(connection *c);    /* true: all of the answer is out, and another may come */
void connection_refuse(connection *c, const char *status);
void connection_close(connection *c);

void *connection_make_page(void *connection); /* a task: returns the connection */
#endif
