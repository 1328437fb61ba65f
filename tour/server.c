/* SPDX-License-Identifier: MIT */
#include "server.h"
#include "connection.h"
#include "tour.h"
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 64 };

struct server {
    int listener, epoll, stop;
    unsigned port, busy;
    bool stopping;
    uint64_t answered;
    rota_completion *pages;
    connection *connections;
    pthread_t thread;
};

/* -- Requests -------------------------------------------------------------------------------- */

/* To the pool with it; its future comes out of s->pages. */
static void submit(server *s, connection *c)
{
    rota_call call = {.fn = connection_make_page, .arg = c, .name = c->page->name};

    if (rota_completion_submit(s->pages, &call, NULL) != ROTA_OK) {
        connection_refuse(c, "503 Service Unavailable");
        return;
    }
    c->busy = true;
    s->busy++;
}

static void connection_ready(server *s, connection *c)
{
    if (c->fd < 0 || c->busy)
        return;
    if (c->length > 0 && !connection_send(c))
        return;
    if (connection_receive(c))
        submit(s, c);
}

/* The pages that are done go out, and the next requests come in. */
static void send_pages(server *s)
{
    rota_future *done;
    void *result;

    while (rota_completion_poll(s->pages, &done) == ROTA_OK) {
        int status = rota_future_get(done, &result);
        rota_future_unref(done);
        s->busy--;
        if (status != ROTA_OK)
            continue;
        connection *c = result;
        c->busy = false;
        s->answered++;
        connection_ready(s, c);
    }
}

/* -- The loop -------------------------------------------------------------------------------- */

static bool watch(server *s, int fd, uint32_t events, void *what)
{
    struct epoll_event event = {.events = events, .data.ptr = what};

    return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void welcome(server *s, int fd)
{
    connection *c = calloc(1, sizeof *c);

    if (c == NULL || !watch(s, fd, EPOLLIN | EPOLLOUT | EPOLLET, c)) {
        free(c);
        close(fd);
        return;
    }
    c->fd = fd;
    c->next = s->connections;
    s->connections = c;
}

static void accept_all(server *s)
{
    int fd;

    while ((fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
        welcome(s, fd);
}

/* Frees what is closed; all that nobody works on, once the server stops. */
static void sweep(server *s)
{
    for (connection **at = &s->connections; *at != NULL;) {
        connection *c = *at;
        if (s->stopping && !c->busy && c->fd >= 0)
            connection_close(c);
        if (c->fd >= 0 || c->busy) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        free(c);
    }
}

static void dispatch(server *s, void *what)
{
    if (what == &s->listener)
        accept_all(s);
    else if (what == &s->pages)
        send_pages(s);
    else if (what == &s->stop)
        s->stopping = true;
    else
        connection_ready(s, what);
}

static void *loop(void *arg)
{
    server *s = arg;
    struct epoll_event events[EVENTS];

    while (!s->stopping || s->busy > 0) {
        int n = epoll_wait(s->epoll, events, EVENTS, -1);
        for (int i = 0; i < n; i++)
            dispatch(s, events[i].data.ptr);
        sweep(s);
        if (s->stopping && s->stop >= 0)
            epoll_ctl(s->epoll, EPOLL_CTL_DEL, s->stop, NULL);
    }
    return NULL;
}

/* -- From outside ---------------------------------------------------------------------------- */

static bool listen_at(server *s, unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof address;
    int on = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->listener < 0 || setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0
        || bind(s->listener, (struct sockaddr *)&address, size) != 0
        || listen(s->listener, 128) != 0
        || getsockname(s->listener, (struct sockaddr *)&address, &size) != 0)
        return complain("The web server cannot listen at port %u: %s.", port, strerror(errno));
    s->port = ntohs(address.sin_port);
    return true;
}

static bool prepare(server *s, rota_executor *pool)
{
    int done;

    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->epoll < 0 || s->stop < 0)
        return complain("The web server gets no descriptors: %s.", strerror(errno));
    if (!succeeded(rota_completion_new(pool, &s->pages), "The web server cannot start")
        || !succeeded(rota_completion_fd(s->pages, &done), "The web server cannot start"))
        return false;
    if (!watch(s, s->listener, EPOLLIN, &s->listener) || !watch(s, done, EPOLLIN, &s->pages)
        || !watch(s, s->stop, EPOLLIN, &s->stop))
        return complain("The web server cannot wait for its sockets: %s.", strerror(errno));
    return true;
}

static void discard(server *s)
{
    s->stopping = true;
    sweep(s);
    rota_completion_free(s->pages);
    int fds[] = {s->listener, s->epoll, s->stop};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    free(s);
}

/* Signals are for the main thread. */
static int start_thread(server *s)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&s->thread, NULL, loop, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

bool server_start(rota_executor *pool, unsigned port, server **out)
{
    server *s = calloc(1, sizeof *s);

    if (s == NULL)
        return complain("There is no memory for the web server.");
    s->listener = s->epoll = s->stop = -1;
    if (!listen_at(s, port) || !prepare(s, pool)) {
        discard(s);
        return false;
    }
    int error = start_thread(s);
    if (error != 0) {
        discard(s);
        return complain("The web server gets no thread: %s.", strerror(error));
    }
    *out = s;
    return true;
}

unsigned server_port(const server *s)
{
    return s->port;
}

uint64_t server_stop(server *s)
{
    uint64_t one = 1;

    if (write(s->stop, &one, sizeof one) != sizeof one)
        complain("The web server does not hear: %s.", strerror(errno));
    pthread_join(s->thread, NULL);
    uint64_t answered = s->answered;
    discard(s);
    return answered;
}
