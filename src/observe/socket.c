/* SPDX-License-Identifier: MIT */
/*
 * socket.c - the few calls of the system that a server needs.
 */
#define _GNU_SOURCE /* accept4 */
#include "observe/page.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(sizeof(struct sockaddr_in6) <= ROTA__ADDRESS_BYTES, "an address must fit");
_Static_assert(INET6_ADDRSTRLEN <= ROTA__ADDRESS_TEXT, "its text must, too");

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* the thread blocks SIGPIPE, as all of the library's do */
#endif

/* -- Addresses ------------------------------------------------------------ */

static bool read_ipv4(rota__address *address, const char *text, unsigned port)
{
    struct sockaddr_in socket = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    if (inet_pton(AF_INET, text, &socket.sin_addr) != 1)
        return false;
    memcpy(address->socket.bytes, &socket, sizeof socket);
    address->size = sizeof socket;
    address->is_loopback = ntohl(socket.sin_addr.s_addr) >> 24 == 127;
    return true;
}

static bool is_loopback(const struct in6_addr *address)
{
    return IN6_IS_ADDR_LOOPBACK(address)
           || (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

static bool read_ipv6(rota__address *address, const char *text, unsigned port)
{
    struct sockaddr_in6 socket = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};

    if (inet_pton(AF_INET6, text, &socket.sin6_addr) != 1)
        return false;
    memcpy(address->socket.bytes, &socket, sizeof socket);
    address->size = sizeof socket;
    address->is_loopback = is_loopback(&socket.sin6_addr);
    return true;
}

bool rota__address_read(rota__address *address, const char *text, unsigned port)
{
    size_t length = strlen(text) + 1;

    if (port > UINT16_MAX || length > sizeof address->text)
        return false;
    memcpy(address->text, text, length);
    return read_ipv4(address, text, port) || read_ipv6(address, text, port);
}

/* -- Listening ------------------------------------------------------------ */

/* What a fork and exec between the two calls would keep open cannot be helped where there is no
   SOCK_CLOEXEC. */
#ifdef SOCK_CLOEXEC
static int open_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int rota__accept(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}
#else
static int prepare(int fd)
{
    if (fd >= 0 && (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0))
        rota__close(&fd);
    return fd;
}

static int open_socket(int family)
{
    return prepare(socket(family, SOCK_STREAM, 0));
}

int rota__accept(int listener)
{
    return prepare(accept(listener, NULL, NULL));
}
#endif

/* Both kinds of address have their port at the same place. */
static unsigned port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } name = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t size = sizeof name;

    getsockname(fd, &name.any, &size);
    return ntohs(name.any.sa_family == AF_INET6 ? name.in6.sin6_port : name.in.sin_port);
}

static bool is_listening(int fd, const rota__address *address)
{
    enum { WAITING = 128 };
    const int yes = 1;

    /* Connections of a page that was there before do not keep its port from this one. */
    return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0
           && bind(fd, (const struct sockaddr *)(const void *)address->socket.bytes,
                   (socklen_t)address->size)
                  == 0
           && listen(fd, WAITING) == 0;
}

int rota__listen(const rota__address *address, unsigned *port)
{
    struct sockaddr any;

    memcpy(&any, address->socket.bytes, sizeof any);
    int fd = open_socket(any.sa_family);
    if (fd < 0)
        return -1;
    if (!is_listening(fd, address)) {
        int error = errno;
        rota__close(&fd);
        errno = error;
        return -1;
    }
    *port = port_of(fd);
    return fd;
}

/* -- Connections ---------------------------------------------------------- */

bool rota__is_passing(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == ECONNABORTED;
}

long rota__receive(int fd, void *bytes, size_t size)
{
    return recv(fd, bytes, size, 0);
}

long rota__send(int fd, const rota__http_part parts[2])
{
    struct iovec vectors[2];
    struct msghdr message = {.msg_iov = vectors, .msg_iovlen = 2};

    for (int i = 0; i < 2; i++)
        vectors[i] = (struct iovec){(void *)(uintptr_t)parts[i].text, parts[i].size};
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

void rota__end_sending(int fd)
{
    shutdown(fd, SHUT_WR);
}

void rota__close(int *fd)
{
    int closed = *fd;

    *fd = -1;
    if (closed >= 0)
        close(closed);
}
