/* SPDX-License-Identifier: MIT */
/* 24_http_epoll.c - a web server: one thread has all connections, in epoll, and a pool the work */
#include <arpa/inet.h>
#include <rota/rota.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { CLIENTS = 1000, ONCE = EPOLLIN | EPOLLONESHOT };
static char texts[CLIENTS][500]; /* by descriptor: a request, then its answer */
static rota_completion *answers;
static int loop;

static void watch(int how, int fd, uint32_t events)
{
    if (fd >= CLIENTS || epoll_ctl(loop, how, fd, &(struct epoll_event){events, {.fd = fd}}) != 0)
        close(fd);
}

static void *square(void *text) /* on a thread of the pool; the loop leaves it alone: ONCE */
{
    unsigned long n = strtoul((char *)text + strlen("GET /"), NULL, 10);

    sprintf(text, "HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n%20lu\n", n * n);
    return text;
}

static void on_request(int fd)
{
    rota_call call = {.fn = square, .arg = texts[fd]};
    ssize_t size = recv(fd, texts[fd], sizeof *texts - 1, 0); /* they are small: all of it */

    if (size <= 0 || rota_completion_submit(answers, &call, NULL) != ROTA_OK)
        close(fd); /* the client has gone, or there is too much to do */
}

static void on_answers(bool *is_over)
{
    for (rota_future *future; rota_completion_poll(answers, &future) == ROTA_OK;) {
        void *text;
        rota_future_get(future, &text); /* it is done */
        rota_future_unref(future);
        int fd = (int)((char(*)[sizeof *texts])text - texts);
        if (send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)strlen(text))
            shutdown(fd, SHUT_RDWR); /* who does not read is not waited for */
        watch(EPOLL_CTL_MOD, fd, ONCE);
        *is_over |= strstr(text, " 0\n") != NULL;
    }
}

int main(int argc, char **argv) /* with its port; GET /12 says 144, and GET /0 ends it */
{
    struct sockaddr_in me = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int door = socket(AF_INET, SOCK_STREAM, 0), done;
    rota_executor *pool;

    me.sin_port = htons((uint16_t)(argc > 1 ? atoi(argv[1]) : 8080));
    loop = epoll_create1(0);
    if (setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) != 0
        || bind(door, (struct sockaddr *)&me, sizeof me) != 0 || listen(door, 100) != 0
        || rota_fixed_pool(4, &pool) != ROTA_OK || rota_completion_new(pool, &answers) != ROTA_OK
        || rota_completion_fd(answers, &done) != ROTA_OK)
        return 1;
    watch(EPOLL_CTL_ADD, door, EPOLLIN);
    watch(EPOLL_CTL_ADD, done, EPOLLIN);
    for (bool is_over = false; !is_over; on_answers(&is_over)) {
        struct epoll_event event;
        if (epoll_wait(loop, &event, 1, -1) != 1 || event.data.fd == done)
            continue;
        if (event.data.fd == door)
            watch(EPOLL_CTL_ADD, accept(door, NULL, NULL), ONCE);
        else
            on_request(event.data.fd);
    }
    rota_completion_free(answers);
    return rota_close(pool) == ROTA_OK ? 0 : 1;
}
