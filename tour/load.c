/* SPDX-License-Identifier: MIT */
/*
 * load.c - the second process: keeps some connections busy, each with one request at a time, and
 * measures. It tells the first on its standard output, line by line:
 *
 *     at MS REQUESTS P99       ten times a second; P99 is the time that 99 % took, in ns
 *     bucket INDEX COUNT       of the histogram, at the end
 *     end REQUESTS SUM MAX
 */
#include "tour.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct client {
    int fd;
    bool waiting; /* for an answer */
    rota_ns sent;
    size_t have;
    char answer[8192];
} client;

static struct {
    int epoll;
    unsigned waiting;
    uint32_t random;
    rota_ns begin, end, next_line;
    rota_histogram latency;
    client of[WEB_CONNECTIONS];
} load;

static unsigned chance(unsigned below)
{
    load.random ^= load.random << 13;
    load.random ^= load.random >> 17;
    load.random ^= load.random << 5;
    return load.random % below;
}

/* Mostly light, now and then heavy, as it is. */
static const char *choose_path(void)
{
    unsigned n = chance(100);

    return n < 60 ? "/hello/rota" : n < 90 ? "/primes/20000" : "/picture/";
}

static bool ask(client *c)
{
    char request[128];
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                          choose_path());

    c->have = 0;
    c->sent = rota_now();
    if (send(c->fd, request, (size_t)length, MSG_NOSIGNAL) != length)
        return complain("The load process cannot send: %s.", strerror(errno));
    c->waiting = true;
    load.waiting++;
    return true;
}

static bool connect_to(client *c, unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    int on = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address) != 0
        || setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0
        || epoll_ctl(load.epoll, EPOLL_CTL_ADD, c->fd, &event) != 0)
        return complain("The load process cannot connect to port %u: %s.", port, strerror(errno));
    return ask(c);
}

/* Is the whole answer there? */
static bool complete(const client *c)
{
    const char *head_end = strstr(c->answer, "\r\n\r\n");
    const char *length = strstr(c->answer, "Content-Length: ");

    if (head_end == NULL || length == NULL)
        return false;
    return c->have >= (size_t)(head_end + 4 - c->answer) + strtoul(length + 16, NULL, 10);
}

static bool hear(client *c)
{
    ssize_t n = recv(c->fd, c->answer + c->have, sizeof c->answer - 1 - c->have, 0);

    if (n <= 0)
        return complain("The server has hung up on the load process.");
    c->have += (size_t)n;
    c->answer[c->have] = '\0';
    if (!complete(c))
        return true;
    if (strncmp(c->answer, "HTTP/1.1 200", 12) != 0)
        return complain("The server answered: %.*s", (int)strcspn(c->answer, "\r"), c->answer);
    rota_ns now = rota_now();
    rota_histogram_add(&load.latency, now - c->sent);
    c->waiting = false;
    load.waiting--;
    return now >= load.end || ask(c);
}

static void say_progress(rota_ns now)
{
    printf("at %lld %llu %lld\n", (long long)((now - load.begin) / ROTA_MS(1)),
           (unsigned long long)load.latency.count,
           (long long)rota_histogram_quantile(&load.latency, 0.99));
    fflush(stdout);
    load.next_line += WEB_SLOT;
}

static bool run(void)
{
    struct epoll_event events[WEB_CONNECTIONS];

    while (load.waiting > 0) {
        int n = epoll_wait(load.epoll, events, WEB_CONNECTIONS, 10000);
        if (n == 0)
            return complain("The server has not answered for ten seconds.");
        for (int i = 0; i < n; i++) {
            if (!hear(events[i].data.ptr))
                return false;
        }
        rota_ns now = rota_now();
        if (now >= load.next_line && now < load.end)
            say_progress(now);
    }
    return true;
}

static void say_result(void)
{
    for (int i = 0; i < ROTA_HISTOGRAM_BUCKETS; i++) {
        if (load.latency.bucket[i] > 0)
            printf("bucket %d %llu\n", i, (unsigned long long)load.latency.bucket[i]);
    }
    printf("end %llu %llu %lld\n", (unsigned long long)load.latency.count,
           (unsigned long long)load.latency.sum, (long long)load.latency.max);
    fflush(stdout);
}

int load_main(const tour_options *options)
{
    signal(SIGINT, SIG_IGN); /* Ctrl-C is for the first process, which ends this one */
    load.epoll = epoll_create1(EPOLL_CLOEXEC);
    load.random = 2463534242u;
    load.begin = rota_now();
    load.end = load.begin + ROTA_SEC(options->seconds);
    load.next_line = load.begin + WEB_SLOT;
    if (load.epoll < 0) {
        complain("The load process cannot wait for sockets: %s.", strerror(errno));
        return 1;
    }
    for (unsigned i = 0; i < WEB_CONNECTIONS; i++) {
        if (!connect_to(&load.of[i], options->load))
            return 1;
    }
    if (!run())
        return 1;
    say_result();
    return ferror(stdout) ? 1 : 0;
}
