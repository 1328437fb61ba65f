/* SPDX-License-Identifier: MIT */
/*
 * server.h - a small HTTP/1.1 server on 127.0.0.1. One thread waits for everything with epoll: for
 * connections, for requests, and for pages that the pool has made (rota_completion_fd). It never
 * computes, and the pool never waits for a socket.
 */
#ifndef SERVER_H
#define SERVER_H

#include <rota/executor.h>

typedef struct server server;

/* False: said why. The pool must outlive the server. */
bool server_start(rota_executor *pool, unsigned port, server **out);
unsigned server_port(const server *server);
uint64_t server_stop(server *server); /* answers what it has, and frees it: pages answered */
#endif
